//! Loads modules, embedded or compiled by NVRTC at run time, and caches them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use bytemuck::Pod;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream};
use cudarc::nvrtc::Ptx;

use super::driver::{self, error_text};
use super::nvrtc;
use super::units::{EMBEDDED_ABOUT, Unit, build_name};
use crate::cuda::direct::{KernelConfig, Variant, WARP_KNN_CONFIG, warp_knn_entry};
use crate::knn::{KernelBuild, Problem};

/// Minimum coordinates per pass (queries × n × d) for compiling a kernel for this exact d: such a pass takes
/// some milliseconds in every run, compared with one second of compilation once.
const WORTH_COMPILING: u64 = 1 << 33;

/// A query kernel, ready to launch.
#[derive(Clone)]
pub struct Kernel {
    pub function: CudaFunction,
    pub config: KernelConfig,
}

/// Loads modules on demand and caches them.
pub struct KernelCache {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    modules: HashMap<Unit, Arc<CudaModule>>,
    functions: HashMap<(Unit, String), CudaFunction>,
    searches: HashMap<(Unit, KernelBuild), Kernel>,
    /// Units that failed to compile, with the error; they are not retried.
    failed: HashMap<Unit, String>,
}

impl KernelCache {
    pub fn new(context: Arc<CudaContext>, stream: Arc<CudaStream>) -> Self {
        Self {
            context,
            stream,
            modules: HashMap::new(),
            functions: HashMap::new(),
            searches: HashMap::new(),
            failed: HashMap::new(),
        }
    }

    /// Loads a small unit to check that kernels can be loaded at all; returns their origin.
    pub fn probe(&mut self, unit: Unit) -> Result<String, String> {
        let (module, origin) = self.load(unit)?;
        self.modules.insert(unit, module);
        Ok(origin)
    }

    /// The direct kernel's unit for a problem. d = 2 and 3 are embedded. For any other d up to 32 a unit is
    /// compiled for that d, if NVRTC is available and the work justifies the wait: padding d to whole tiles
    /// may waste all but one dimension of a tile. Beyond 32 the waste is small and one kernel serves all.
    pub fn unit_for(&mut self, problem: &Problem) -> Unit {
        let unit = Variant::new(problem.k(), problem.dims()).unit();
        let work = problem.n() as u64 * problem.q() as u64 * problem.dims() as u64;
        if unit.dims != 0 || problem.dims() > 32 || work < WORTH_COMPILING {
            return unit;
        }
        let exact = Unit { exact_dims: problem.dims() as u32, ..unit };
        self.compile_ahead(&[exact], &[KernelBuild::Timed, KernelBuild::Counted]);
        if self.module(exact.for_build(KernelBuild::Timed)).is_ok() { exact } else { unit }
    }

    /// Loads one build of the search kernel.
    pub fn search(&mut self, unit: Unit, build: KernelBuild) -> Result<Kernel, String> {
        let unit = unit.for_build(build);
        if let Some(kernel) = self.searches.get(&(unit, build)) {
            return Ok(kernel.clone());
        }
        let kernel = self.kernel(unit, build_name(build))?;
        self.searches.insert((unit, build), kernel.clone());
        Ok(kernel)
    }

    /// Loads the traced build of the search kernel. `unit` must be of [`BuildSet::Traced`].
    pub fn traced(&mut self, unit: Unit) -> Result<Kernel, String> {
        self.kernel(unit, "traced")
    }

    fn kernel(&mut self, unit: Unit, build: &str) -> Result<Kernel, String> {
        let function = self.function(unit, &warp_knn_entry(unit.capacity, unit.dims, build))?;
        let config: KernelConfig = self.constant(unit, WARP_KNN_CONFIG)?;
        // More than 48 KiB of shared memory requires opting in.
        function
            .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, config.shared_bytes as i32)
            .map_err(error_text)?;
        Ok(Kernel { function, config })
    }

    /// Reads a named constant from a unit's module.
    pub fn constant<T: Pod>(&mut self, unit: Unit, name: &str) -> Result<T, String> {
        let module = self.module(unit)?;
        let bytes = module
            .get_global(name, &self.stream)
            .and_then(|bytes| self.stream.clone_dtoh(&bytes))
            .map_err(error_text)?;
        bytemuck::try_pod_read_unaligned(&bytes).map_err(|_| {
            format!("the module's {name} has {} bytes, expected {}", bytes.len(), size_of::<T>())
        })
    }

    /// Loads a named kernel from a unit's module.
    pub fn function(&mut self, unit: Unit, name: &str) -> Result<CudaFunction, String> {
        let key = (unit, name.to_owned());
        if let Some(function) = self.functions.get(&key) {
            return Ok(function.clone());
        }
        let function = self.module(unit)?.load_function(name).map_err(error_text)?;
        self.functions.insert(key, function.clone());
        Ok(function)
    }

    /// Compiles builds that are not embedded, in parallel, so that loading them later is cheap. A build that
    /// fails to compile reports its error when it is loaded.
    pub fn compile_ahead(&mut self, units: &[Unit], builds: &[KernelBuild]) {
        let all = units
            .iter()
            .filter(|unit| unit.embedded().is_none())
            .flat_map(|unit| builds.iter().map(|&build| unit.for_build(build)));
        let waiting: Vec<Unit> =
            all.filter(|unit| !self.modules.contains_key(unit) && !self.failed.contains_key(unit)).collect();
        let threads = thread::available_parallelism().map_or(1, usize::from).min(waiting.len());
        let context = &self.context;
        let waiting = Mutex::new(waiting);
        let compiled = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(unit) = { waiting.lock().expect("no thread panics").pop() } {
                        let code = nvrtc::compile(context, unit);
                        compiled.lock().expect("no thread panics").push((unit, code));
                    }
                });
            }
        });
        for (unit, code) in compiled.into_inner().expect("no thread panics") {
            match code.and_then(|(code, _)| self.context.load_module(code).map_err(error_text)) {
                Ok(module) => drop(self.modules.insert(unit, module)),
                Err(why) => drop(self.failed.insert(unit, unit.why_not(&why))),
            }
        }
    }

    fn module(&mut self, unit: Unit) -> Result<Arc<CudaModule>, String> {
        if let Some(module) = self.modules.get(&unit) {
            return Ok(Arc::clone(module));
        }
        if let Some(why) = self.failed.get(&unit) {
            return Err(why.clone());
        }
        let (module, _) = self.load(unit)?;
        self.modules.insert(unit, Arc::clone(&module));
        Ok(module)
    }

    fn load(&self, unit: Unit) -> Result<(Arc<CudaModule>, String), String> {
        let refused =
            match unit.embedded().map(|code| self.context.load_module(Ptx::from_binary(code.to_vec()))) {
                Some(Ok(module)) => return Ok((module, format!("embedded, {}", EMBEDDED_ABOUT))),
                Some(Err(error)) => {
                    Some(format!("they do not load: {}{}", error_text(error), driver::too_old_for_embedded()))
                }
                None => None,
            };
        let compiled = nvrtc::compile(&self.context, unit).and_then(|(code, origin)| {
            match self.context.load_module(code) {
                Ok(module) => Ok((module, origin)),
                Err(error) => {
                    Err(format!("the kernels compiled by NVRTC do not load: {}", error_text(error)))
                }
            }
        });
        compiled.map_err(|why| match refused {
            Some(embedded) => {
                format!("this program embeds kernels ({}), but {embedded}, and {why}", EMBEDDED_ABOUT)
            }
            None => unit.why_not(&why),
        })
    }
}
