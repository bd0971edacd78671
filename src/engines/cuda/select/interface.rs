//! The constants and structs shared by host and the selectors' kernels: `cuda/select/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

use crate::engines::select;

include!(concat!(env!("OUT_DIR"), "/select_interface.rs"));

// The twin counts and reads as the device does.
const _: () = {
    assert!(COUNTS as usize == select::COUNTS);
    assert!(BITS_ITEMS as usize == select::bits::ITEMS && MOST_MINIMA as usize == select::MOST_MINIMA);
    assert!(GLOBAL_KEPT as usize == select::bits_global::KEPT && GLOBAL_SLOTS as usize == select::bits_global::SLOTS);
    assert!(BITS_THREADS as usize == select::bits_global::THREADS, "of bits-global");
    assert!(FUSED_QUERIES as usize == select::bits_fused::QUERIES && FUSED_GROUPS as usize == select::bits_fused::GROUPS);
    assert!(SELECT_WARPS as usize == select::warp_select::WARPS && SELECT_GROUPS as usize == select::warp_select::GROUPS);
};
