//! What the host and the direct kernel agree on: `cuda/direct/interface.cuh`, as `build/interface.rs` reads it.

use cudarc::driver::sys::CUdeviceptr;

use crate::engines::cuda::interface::TallyOut;

include!(concat!(env!("OUT_DIR"), "/direct_interface.rs"));
