//! The constants and structs shared by host and the index's kernels: `cuda/index/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::ValidAsZeroBits;
use cudarc::driver::sys::CUdeviceptr;

use crate::index;

include!(concat!(env!("OUT_DIR"), "/index_interface.rs"));

// SAFETY: plain numbers in the device's layout, for which all-zero bits are valid.
unsafe impl ValidAsZeroBits for Visits {}

// The device's struct is read as the type of the twin, so their layouts must match.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Visits>() == size_of::<index::Visits>());
    assert!(offset_of!(Visits, merges) == offset_of!(index::Visits, merges));
    assert!(offset_of!(Visits, candidates) == offset_of!(index::Visits, candidates));
    assert!(offset_of!(Visits, accessed) == offset_of!(index::Visits, accessed));
    assert!(offset_of!(Visits, leaves) == offset_of!(index::Visits, leaves));
    assert!(offset_of!(Visits, nodes) == offset_of!(index::Visits, nodes));
    assert!(offset_of!(Visits, left_out) == offset_of!(index::Visits, left_out));
    assert!(HEIGHTS as usize == index::HEIGHTS && MOST_DIMS as usize == index::BVH.limits.d);
};
