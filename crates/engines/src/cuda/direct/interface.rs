//! The constants and structs shared by host and direct kernel: `cuda/direct/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

use crate::cuda::interface::TallyOut;

include!(concat!(env!("OUT_DIR"), "/direct_interface.rs"));
