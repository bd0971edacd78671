//! The constants and structs shared by host and filter kernels: `cuda/filtered/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

use crate::cuda::interface::TallyOut;

include!(concat!(env!("OUT_DIR"), "/filtered_interface.rs"));
