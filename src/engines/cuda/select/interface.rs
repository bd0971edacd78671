//! The constants and structs shared by host and the selectors' kernels: `cuda/select/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

use crate::engines::select;

include!(concat!(env!("OUT_DIR"), "/select_interface.rs"));

// The twin counts and reads as the device does.
const _: () = {
    assert!(COUNTS as usize == select::COUNTS);
    assert!(BITS_ITEMS as usize == select::bits::ITEMS && MOST_MINIMA as usize == select::MOST_MINIMA);
    assert!(SELECT_WARPS as usize == select::warp_select::WARPS && SELECT_GROUPS as usize == select::warp_select::GROUPS);
    assert!(FEW as usize == select::multi_pass::FEW && MOST_BUCKETS as usize == select::sample_select::MOST_BUCKETS);
    assert!(ROW_BITS == select::sort::SORT_BITS && ROW_PASSES as usize == select::sort::SORT_PASSES);
};
