//! The constants and structs shared by host and the kernels that measure a device: `cuda/peaks/interface.cuh`, as parsed by
//! `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

include!(concat!(env!("OUT_DIR"), "/peaks_interface.rs"));
