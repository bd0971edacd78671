//! The warp-per-query kernel on an NVIDIA GPU.
//!
//! One folder a kernel, named as in `cuda/`, and what they share:
//!
//! | file | holds |
//! |---|---|
//! | `device/` | driver, memory, modules and NVRTC: what every kernel needs |
//! | `direct/` | the kernel that computes every distance: its policy, its order of the points |
//! | `filtered/` | the search behind the tensor-core filter, for more dimensions |
//! | `split/` | the engine `cuda-split`: few queries, the points split over the whole chip |
//! | `interface.rs` | tallies and traces, as kernels write them |
//! | `search.rs` | the engine `cuda`: launches, and what they count |
//! | `trace/` | one query's search, written down by the GPU event by event |
//! | `tune.rs` | finds the policy that is fastest on a device |
//!
//! Everything unsafe is here: the driver's functions are reached through `cudarc`, whose safe layer covers memory,
//! streams and events; launches and NVRTC are not safe by nature.

mod device;
mod direct;
mod filtered;
mod interface;
mod search;
mod split;
pub mod trace;
mod tune;

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

pub use device::source_of;
use device::units::Unit;
use device::{driver, kernels};
pub use direct::Policy;
use direct::Variant;
pub use split::CudaSplit;
pub use tune::{Row, Trial, Tuned, table, tune, updated_table};

use crate::knn::{DeviceInfo, Engine, EngineError, EngineKind, MAX_K, Problem, Search};

/// The engine. It owns the device's context and a stream, and keeps the kernels that it loaded.
pub struct Cuda {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    kernels: kernels::Kernels,
    device: DeviceInfo,
    /// What the tensor cores lose over what the filter grants them, once it was measured.
    tensor_core_loss: Option<Result<f64, String>>,
}

impl Cuda {
    /// Opens the first device that the driver shows (`CUDA_VISIBLE_DEVICES` chooses) and makes sure that there is code
    /// for it.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] with what is missing and how to get it.
    pub fn open() -> Result<Self, EngineError> {
        Self::open_with(EngineKind::Cuda, Variant { capacity: 32, dims: 2 }.unit())
    }

    /// The same for the engine `kind`, whose smallest kernel is in `unit`.
    fn open_with(kind: EngineKind, unit: Unit) -> Result<Self, EngineError> {
        let unavailable = |why: String| EngineError::Unavailable { engine: kind, why };
        let context = driver::open().map_err(unavailable)?;
        let stream = context.new_stream().map_err(|error| unavailable(driver::say(error)))?;
        let mut kernels = kernels::Kernels::new(Arc::clone(&context), Arc::clone(&stream));
        let origin = kernels.probe(unit).map_err(unavailable)?;
        let device = driver::describe(&context, &origin);
        Ok(Self { context, stream, kernels, device, tensor_core_loss: None })
    }

    /// As [`Engine::load`] does, with a direct kernel that NVRTC compiles: cut to size by `policy` instead of the table, or
    /// for the problem's d alone.
    ///
    /// # Errors
    /// As [`Engine::load`]'s, and [`EngineError::Unavailable`] when it cannot be compiled.
    pub fn load_compiled<'a>(&'a mut self, problem: &Problem, policy: Option<Policy>, exact_dims: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let exact_dims = if exact_dims { problem.dims() as u32 } else { 0 };
        let unit = Unit { policy, exact_dims, ..Variant::new(problem.k(), problem.dims()).unit() };
        Ok(Box::new(search::CudaSearch::with_unit(self, problem, false, unit)?))
    }

    /// The most that the tensor cores were seen to lose of a sum, over what `docs/filter.md` grants them: above 1 the filter
    /// is not used. Measured when it is first asked for, in well under a millisecond of the GPU's time.
    ///
    /// # Errors
    /// One sentence, where the kernel cannot be had or fails.
    pub fn tensor_core_loss(&mut self) -> Result<f64, String> {
        let (kernels, stream) = (&mut self.kernels, &self.stream);
        self.tensor_core_loss.get_or_insert_with(|| filtered::worst_loss(kernels, stream)).clone()
    }

    /// The device's name and what the driver says, for an error.
    fn failed(&self, error: cudarc::driver::DriverError) -> EngineError {
        EngineError::Device { device: self.device.name.clone(), why: driver::say(error) }
    }
}

impl Engine for Cuda {
    fn kind(&self) -> EngineKind {
        EngineKind::Cuda
    }

    fn device(&self) -> DeviceInfo {
        let mut device = self.device.clone();
        device.details.extend(driver::telemetry(&self.context));
        device
    }

    fn load<'a>(&'a mut self, problem: &'a Problem, profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        if problem.k() > MAX_K {
            return Err(EngineError::Limit { engine: EngineKind::Cuda, what: "k", limit: MAX_K as u64, value: problem.k() as u64 });
        }
        Ok(Box::new(search::CudaSearch::new(self, problem, profile)?))
    }
}
