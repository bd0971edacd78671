//! What the host and the kernels of `cuda-split` agree on: `cuda/split/interface.cuh`, as `build/interface.rs` reads it.

use cudarc::driver::sys::CUdeviceptr;

include!(concat!(env!("OUT_DIR"), "/split_interface.rs"));
