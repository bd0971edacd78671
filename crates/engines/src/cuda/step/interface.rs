//! The constants and structs shared by host and STEP's kernels: `cuda/step/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::ValidAsZeroBits;
use cudarc::driver::sys::CUdeviceptr;

use crate::step;

include!(concat!(env!("OUT_DIR"), "/step_interface.rs"));

// SAFETY: plain numbers in the device's layout, for which all-zero bits are valid.
unsafe impl ValidAsZeroBits for Visits {}

// The device's struct is read as the type of the twin, so their layouts must match.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Visits>() == size_of::<step::Visits>());
    assert!(offset_of!(Visits, merges) == offset_of!(step::Visits, merges));
    assert!(offset_of!(Visits, candidates) == offset_of!(step::Visits, candidates));
    assert!(offset_of!(Visits, accessed) == offset_of!(step::Visits, accessed));
    assert!(offset_of!(Visits, clusters) == offset_of!(step::Visits, clusters));
    assert!(offset_of!(Visits, left_out) == offset_of!(step::Visits, left_out));
    assert!(offset_of!(Visits, groups) == offset_of!(step::Visits, groups));
    assert!(CANDIDATES as usize == step::CANDIDATES && SEED_THREADS as usize == step::BLOCK);
};
