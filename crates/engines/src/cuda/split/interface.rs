//! The constants and structs shared by host and `cuda-split` kernels: `cuda/split/interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;

include!(concat!(env!("OUT_DIR"), "/split_interface.rs"));
