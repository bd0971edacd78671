//! The warp-per-query kernel on an NVIDIA GPU.
//!
//! Each kernel has a file or folder, named as in `cuda/`. The others are shared:
//!
//! | file | holds |
//! |---|---|
//! | `device/` | driver, memory, modules and NVRTC |
//! | `direct/` | the engine `cuda`: its policy, point layout and launches |
//! | `exact.rs` | distances in f64 of given pairs |
//! | `filtered/` | the tensor-core filtered search, for more dimensions |
//! | `index/` | the engine `bvh`: the tree of boxes, built and searched |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `kdtree.rs` | the engine `kdtree-threads`: a k-d tree, one thread per query |
//! | `peaks.rs` | measures the peak rates of a device |
//! | `search.rs` | code shared by all engines on a GPU |
//! | `select/` | the selectors from the literature, on a matrix of distances |
//! | `split/` | the engine `cuda-split`: few queries, with the points split over the whole GPU |
//! | `step/` | the engines `step` and `step-exhaustive`: clusters, sorted for each query |
//! | `trace/` | one query's search, recorded by the GPU event by event |
//! | `tune.rs` | searches for the fastest policy on a device |
//!
//! All unsafe code of the engines is here, except for one call (`gemm_heap/product.rs`). The driver is called
//! through `cudarc`, whose safe layer covers memory, streams and events; launches, cuBLAS and NVRTC are
//! inherently unsafe.

mod device;
mod direct;
mod exact;
mod filtered;
mod index;
mod interface;
mod kdtree;
mod peaks;
mod search;
mod select;
mod split;
mod step;
pub mod trace;
mod tune;

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig};
use cudarc::nvrtc::Ptx;

pub use device::driver::{count as gpus, free_memory, limit_memory, start};
use device::pipe::Pipe;
pub use device::source_of;
use device::units::Unit;
use device::{driver, kernels};
pub use direct::Policy;
use direct::Variant;
pub use exact::open_exact;
pub use index::open_bvh;
pub use kdtree::open_kdtree;
pub use peaks::peaks;
pub use select::{
    LoadSelector, load_bits, load_bits_fused, load_bits_global, load_block_select, load_distances,
    load_merge_path, load_merge_queue, load_partial_bitonic, load_radix_select, load_sample_select,
    load_sort, load_thread_heap, load_warp_select, open_selector,
};
pub use split::SPLIT;
pub use step::open_step;
pub use tune::{Row, Trial, TuningResult, table, tune, updated_table};

use crate::Result;
use crate::knn::{
    AllowedValues, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Parameter,
    Parameters, PreparedSearch, Problem, code, warp as rules,
};

/// The result of a call of the driver.
type DriverResult<T = ()> = std::result::Result<T, cudarc::driver::DriverError>;

/// The registry's row for `cuda`.
pub static DIRECT: Descriptor = Descriptor {
    about: "The warp-per-query kernel on an NVIDIA GPU.",
    source: "warp-per-query kernel, docs/kernel.md; the filter, docs/filter.md",
    code: code![
        "cuda/direct/warp_knn.cuh",
        "cuda/warp/candidate_buffer.cuh",
        "cuda/warp/bitonic.cuh",
        "cuda/filtered/filter.cuh"
    ],
    document: "docs/kernel.md",
    lesson: Some("search"),
    runs_on: &[DeviceKind::Gpu],
    buffers: &rules::BUFFERS,
    measures: &rules::MEASURES,
    convergence: Some(rules::CONVERGENCE),
    phases: &rules::PHASES,
    parameters: &PARAMETERS,
    // With the filter, tensor cores compute most distances, at a lower precision.
    distances: |n, parameters, _| (parameters.get("kernel") != Some("filter")).then_some(n as f64),
    cost: |shape, _| direct::cost(shape),
    traces: true,
    ..Descriptor::new(EngineId::new("cuda"), |device| Ok(Box::new(Cuda::open_on(device)?)))
};

/// The parameters of `cuda`; [`Policy`] documents the numbers.
static PARAMETERS: [Parameter; 9] = {
    const fn number(name: &'static str, help: &'static str, most: u32) -> Parameter {
        Parameter { name, help, values: AllowedValues::Numbers(1..=most), default: "from the tuned table" }
    }
    [
        Parameter {
            name: "kernel",
            help: "Compute every distance directly, or filter points on the tensor cores first.",
            values: AllowedValues::Words(&["direct", "filter"]),
            default: "the filter from 4 dimensions on, if there are enough points",
        },
        number("warps", "Warps per block.", 32),
        number("queries", "Queries per warp, which share the points that it has loaded.", 8),
        number("window", "Groups of 32 points scanned per vote.", 32),
        number(
            "batch",
            "Points staged together, in whole windows; exactly one window unless d is 2 or 3.",
            16_384,
        ),
        number("slots", "Batches in shared memory at a time, from compute capability 9.0 on.", 8),
        number("tile", "Dimensions staged together, unless d is 2 or 3.", 64),
        Parameter {
            name: "blocks",
            help: "Blocks per multiprocessor to aim for, which caps the registers; 0 leaves that to the \
                   compiler.",
            values: AllowedValues::Numbers(0..=32),
            default: "from the tuned table",
        },
        Parameter {
            name: "exact-d",
            help: "Whether the kernel is compiled for exactly this number of dimensions.",
            values: AllowedValues::Words(&["no", "yes"]),
            default: "yes if that saves more time than compiling takes",
        },
    ]
};

/// Assumed number of multiprocessors if the device does not report it; deliberately small.
const FEW_MULTIPROCESSORS: u32 = 16;

/// The engine `cuda`. It owns the device's context and a stream, and caches the loaded kernels.
pub struct Cuda {
    device_id: DeviceId,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    kernels: kernels::KernelCache,
    pipe: Pipe,
    device: DeviceInfo,
    /// Result of the accuracy probe ([`filtered`]): the loss of the tensor cores relative to what the filter
    /// assumes; `None` until measured.
    tensor_core_loss: Option<Result<f64, String>>,
}

impl Cuda {
    /// Opens the first GPU that the driver reports (subject to `CUDA_VISIBLE_DEVICES`) and checks that
    /// kernels can be loaded.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], which says what is missing and how to get it.
    pub fn open() -> Result<Self> {
        Self::open_on(DeviceKind::Gpu.first())
    }

    /// Opens a given GPU.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_on(device: DeviceId) -> Result<Self> {
        Self::open_with(DIRECT.id, device, Variant { capacity: 32, dims: 2 }.unit())
    }

    /// Opens a GPU for the engine `id`, whose smallest kernel is in `unit`.
    fn open_with(id: EngineId, device_id: DeviceId, unit: Unit) -> Result<Self> {
        let unavailable = |why: String| EngineError::Unavailable { engine: id, why };
        let context = driver::open(device_id).map_err(unavailable)?;
        let stream = context.new_stream().map_err(|error| unavailable(driver::error_text(error)))?;
        let mut kernels = kernels::KernelCache::new(Arc::clone(&context), Arc::clone(&stream));
        let origin = kernels.probe(unit).map_err(unavailable)?;
        let device = driver::describe(device_id, &context, &origin);
        Ok(Self {
            device_id,
            context,
            stream,
            kernels,
            pipe: Pipe::default(),
            device,
            tensor_core_loss: None,
        })
    }

    /// Like [`Engine::load`], but with a direct kernel compiled by NVRTC: with `policy` instead of the
    /// table's, or for the problem's exact d.
    ///
    /// # Errors
    /// Those of [`Engine::load`], and [`EngineError::Unavailable`] if it cannot be compiled.
    pub fn load_compiled<'a>(
        &'a mut self,
        problem: &Problem,
        policy: Option<Policy>,
        exact_dims: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        let exact_dims = if exact_dims { problem.dims() as u32 } else { 0 };
        let unit = Unit { policy, exact_dims, ..Variant::new(problem.k(), problem.dims()).unit() };
        Ok(Box::new(direct::load_unit(self, problem, unit)?))
    }

    /// The largest loss observed in a tensor-core sum, relative to what `docs/filter.md` assumes. Above 1 the
    /// filter is not used. Measured on first use, in well under a millisecond of GPU time.
    ///
    /// # Errors
    /// One sentence, if the kernel is unavailable or fails.
    pub fn tensor_core_loss(&mut self) -> Result<f64, String> {
        let (kernels, stream) = (&mut self.kernels, &self.stream);
        self.tensor_core_loss.get_or_insert_with(|| filtered::worst_loss(kernels, stream)).clone()
    }

    /// Loads a kernel of a unit, for an engine.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`].
    fn kernel(&mut self, engine: EngineId, unit: Unit, name: &str) -> Result<CudaFunction> {
        self.kernels.function(unit, name).map_err(|why| EngineError::Unavailable { engine, why })
    }

    fn multiprocessors(&self) -> u32 {
        let count = self.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        count.ok().and_then(|count| u32::try_from(count).ok()).unwrap_or(FEW_MULTIPROCESSORS)
    }

    /// Bytes of free memory, under the user's limit.
    fn free(&self) -> DriverResult<u64> {
        driver::free(&self.context)
    }

    fn failed(&self, error: cudarc::driver::DriverError) -> EngineError {
        let free = || self.free().unwrap_or(0);
        driver::engine_error(error, &self.device.name, free)
    }

    /// Runs a kernel that traps, to test the behaviour after a fault in a kernel. This process cannot use any
    /// GPU afterwards.
    #[doc(hidden)]
    pub fn trap(&mut self) -> EngineError {
        const TRAP: &str =
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry trap_now() { trap; }";
        let run = || {
            let function = self.context.load_module(Ptx::from_src(TRAP))?.load_function("trap_now")?;
            // SAFETY: the kernel has no parameters and touches no memory.
            unsafe { self.stream.launch_builder(&function).launch(LaunchConfig::for_num_elems(1)) }?;
            self.stream.synchronize()
        };
        self.failed(run().expect_err("the kernel traps"))
    }
}

impl Engine for Cuda {
    fn descriptor(&self) -> &'static Descriptor {
        &DIRECT
    }

    fn device_id(&self) -> DeviceId {
        self.device_id
    }

    fn is_lost(&self) -> bool {
        driver::is_lost()
    }

    fn device(&self) -> DeviceInfo {
        let mut device = self.device.clone();
        device.details.extend(driver::telemetry(&self.context));
        device
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>> {
        Ok(Box::new(direct::load(self, problem, parameters, profile)?))
    }
}
