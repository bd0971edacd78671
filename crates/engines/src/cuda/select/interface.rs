//! The constants and structs shared by host and the selectors' kernels: `cuda/select/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

use crate::select;
use crate::select::partial_bitonic::Storage;

include!(concat!(env!("OUT_DIR"), "/select_interface.rs"));

// The twin counts and reads as the device does.
const _: () = {
    assert!(COUNTS as usize == select::COUNTS);
    assert!(BITS_ITEMS as usize == select::bits::ITEMS && BITS_KEYS as usize == select::bits::KEYS);
    assert!(BITS_FEWEST_THREADS as usize == select::bits::FEWEST_THREADS && MOST_MINIMA as usize == select::MOST_MINIMA);
    assert!(BITS_STAGES as usize == select::bits::stages(select::bits::FEWEST_THREADS));
    assert!(BITS_WIDE_STAGES as usize == select::bits::stages(2 * select::bits::FEWEST_THREADS));
    assert!(QUEUE_GROUPS as usize == select::merge_queue::GROUPS);
    assert!(PARTIAL_KEYS as usize == select::partial_bitonic::KEYS && PARTIAL_TEAMS as usize == select::partial_bitonic::TEAMS);
    assert!(
        storage::REGISTERS == Storage::Registers as u32 && storage::SHUFFLES == Storage::Shuffles as u32 && storage::SHARED == Storage::Shared as u32
    );
    assert!(PATH_KEYS as usize == select::merge_path::KEYS);
    assert!(GLOBAL_KEPT as usize == select::bits_global::KEPT && GLOBAL_SLOTS as usize == select::bits_global::SLOTS);
    assert!(GLOBAL_THREADS as usize == select::bits_global::THREADS);
    assert!(FUSED_QUERIES as usize == select::bits_fused::QUERIES && FUSED_GROUPS as usize == select::bits_fused::GROUPS);
    assert!(SELECT_WARPS as usize == select::warp_select::WARPS && SELECT_GROUPS as usize == select::warp_select::GROUPS);
    assert!(SELECT_FEW as usize == select::warp_select::FEW);
    assert!(FEW as usize == select::multi_pass::FEW && MOST_BUCKETS as usize == select::sample_select::MOST_BUCKETS);
    assert!(ROW_BITS == select::sort::SORT_BITS && ROW_PASSES as usize == select::sort::SORT_PASSES);
};
