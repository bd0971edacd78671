//! The constants and structs shared by host and the kernels of `kdtree-threads`: `cuda/kdtree/interface.cuh`, as parsed by
//! `build/interface.rs`.

use cudarc::driver::ValidAsZeroBits;
use cudarc::driver::sys::CUdeviceptr;

use crate::kdtree_threads;

include!(concat!(env!("OUT_DIR"), "/kdtree_interface.rs"));

// SAFETY: plain numbers in the device's layout, for which all-zero bits are valid.
unsafe impl ValidAsZeroBits for Visits {}

// The device's struct is read as the type of the twin, so their layouts must match.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Visits>() == size_of::<kdtree_threads::Visits>());
    assert!(offset_of!(Visits, accessed) == offset_of!(kdtree_threads::Visits, accessed));
    assert!(offset_of!(Visits, candidates) == offset_of!(kdtree_threads::Visits, candidates));
    assert!(offset_of!(Visits, steps) == offset_of!(kdtree_threads::Visits, steps));
};
