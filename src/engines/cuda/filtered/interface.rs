//! What the host and the kernels of the tensor-core filter agree on: `cuda/filtered/interface.cuh`, as `build/interface.rs` reads it.

use cudarc::driver::sys::CUdeviceptr;

use crate::engines::cuda::interface::TallyOut;

include!(concat!(env!("OUT_DIR"), "/filtered_interface.rs"));
