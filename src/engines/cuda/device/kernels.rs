//! The device code: embedded by `build.rs`, or compiled by NVRTC at run time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use bytemuck::Pod;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream};
use cudarc::nvrtc::Ptx;

use super::driver::{self, say};
use super::nvrtc;
use crate::engines::cuda::direct::{Cut, Policy, Variant, WARP_KNN_CUT, warp_knn_entry};
use crate::knn::{Build, Problem};

/// Coordinates to be compared from which on a kernel is compiled for their d alone: some milliseconds' work, which is met
/// again and again, against a second of compiling once.
const WORTH_COMPILING: u64 = 1 << 33;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

/// What is compiled on its own and becomes a module: a line of `cuda/units.txt`, for one capacity and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The entry file in `cuda/`, without its extension.
    pub source: &'static str,
    /// K, or 0 for any.
    pub capacity: u32,
    /// d, or 0 for any.
    pub dims: u32,
    /// Compiled for this d alone; 0: for any. Only NVRTC does that.
    pub exact_dims: u32,
    /// Cut to size in another way than the table says. Only NVRTC does that.
    pub policy: Option<Policy>,
    /// What it holds of the search.
    pub builds: Builds,
}

/// Which builds of the search a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builds {
    /// All that runs use: timed, counted and profiled.
    Runs,
    /// One of them. NVRTC compiles them one by one, side by side.
    One(Build),
    /// The traced one, which is never embedded: each staging of points has its own, and only a lesson asks for it.
    Traced,
}

impl Builds {
    /// `WARPSCOPE_BUILDS` of `cuda/direct/warp_knn.cu`.
    pub fn number(self) -> u32 {
        match self {
            Self::Runs => 7,
            Self::One(build) => 1 << build as u32,
            Self::Traced => 8,
        }
    }
}

impl Unit {
    /// A unit as the table says.
    pub fn new(source: &'static str, capacity: u32, dims: u32) -> Self {
        Self { source, capacity, dims, exact_dims: 0, policy: None, builds: Builds::Runs }
    }

    /// The source's text, includes resolved.
    pub fn text(self) -> &'static str {
        self.row().2
    }

    /// Whether programs carry it compiled, if they are built with an nvcc.
    fn is_to_be_embedded(self) -> bool {
        self.row().1
    }

    fn row(self) -> &'static (&'static str, bool, &'static str) {
        embedded::SOURCES.iter().find(|(source, ..)| *source == self.source).expect("the unit is in cuda/units.txt")
    }

    /// Its fat binary, where this program has it.
    fn embedded(self) -> Option<&'static [u8]> {
        let Self { source, capacity, dims, .. } = self;
        let is = |&&(of, k, d, _): &&(&str, u32, u32, _)| (of, k, d) == (source, capacity, dims);
        let code = embedded::EMBEDDED.iter().find(is).map(|&(_, _, _, code)| code);
        code.filter(|_| self == Self::new(source, capacity, dims))
    }

    /// Where a build of the search is: with the others where they are embedded, else by itself. What comes with every build
    /// comes with the traced one, too.
    pub fn of_build(self, build: Build) -> Self {
        if self.embedded().is_some() || self.builds == Builds::Traced { self } else { Self { builds: Builds::One(build), ..self } }
    }
}

/// A kernel that answers queries, ready to be launched.
#[derive(Clone)]
pub struct Kernel {
    pub function: CudaFunction,
    pub cut: Cut,
}

/// Loads kernels and keeps them.
pub struct Kernels {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    modules: HashMap<Unit, Arc<CudaModule>>,
    functions: HashMap<(Unit, String), CudaFunction>,
    searches: HashMap<(Unit, Build), Kernel>,
    /// What could not be compiled, and why: it is not tried again.
    failed: HashMap<Unit, String>,
}

impl Kernels {
    /// Nothing loaded yet.
    pub fn new(context: Arc<CudaContext>, stream: Arc<CudaStream>) -> Self {
        Self { context, stream, modules: HashMap::new(), functions: HashMap::new(), searches: HashMap::new(), failed: HashMap::new() }
    }

    /// Loads a small unit, to see whether any can be had, and says where they come from.
    pub fn probe(&mut self, unit: Unit) -> Result<String, String> {
        let (module, origin) = self.load(unit)?;
        self.modules.insert(unit, module);
        Ok(origin)
    }

    /// The unit that answers a problem of n points, d dimensions and q queries best by the direct kernel. d = 2 and 3 are
    /// embedded. Any other d up to 32 is compiled for itself where there is NVRTC and the work is worth the wait, because
    /// tiles of dimensions that do not fit waste up to all but one of them; beyond 32 that is little, and one kernel serves all.
    pub fn unit_for(&mut self, problem: &Problem) -> Unit {
        let unit = Variant::new(problem.k(), problem.dims()).unit();
        let work = problem.n() as u64 * problem.q() as u64 * problem.dims() as u64;
        if unit.dims != 0 || problem.dims() > 32 || work < WORTH_COMPILING {
            return unit;
        }
        let exact = Unit { exact_dims: problem.dims() as u32, ..unit };
        self.compile_ahead(&[exact], &[Build::Timed, Build::Counted]);
        if self.module(exact.of_build(Build::Timed)).is_ok() { exact } else { unit }
    }

    /// A build of the search, ready to be launched.
    pub fn search(&mut self, unit: Unit, build: Build) -> Result<Kernel, String> {
        let unit = unit.of_build(build);
        if let Some(kernel) = self.searches.get(&(unit, build)) {
            return Ok(kernel.clone());
        }
        let kernel = self.kernel(unit, build_name(build))?;
        self.searches.insert((unit, build), kernel.clone());
        Ok(kernel)
    }

    /// The traced build of the search, ready to be launched. `unit` must be one of [`Builds::Traced`].
    pub fn traced(&mut self, unit: Unit) -> Result<Kernel, String> {
        self.kernel(unit, "traced")
    }

    fn kernel(&mut self, unit: Unit, build: &str) -> Result<Kernel, String> {
        let function = self.function(unit, &warp_knn_entry(unit.capacity, unit.dims, build))?;
        let cut: Cut = self.constant(unit, WARP_KNN_CUT)?;
        // More than 48 KiB must be asked for.
        function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cut.shared_bytes as i32).map_err(say)?;
        Ok(Kernel { function, cut })
    }

    /// A constant that a unit's module carries, by its name.
    pub fn constant<T: Pod>(&mut self, unit: Unit, name: &str) -> Result<T, String> {
        let module = self.module(unit)?;
        let bytes = module.get_global(name, &self.stream).and_then(|bytes| self.stream.clone_dtoh(&bytes)).map_err(say)?;
        bytemuck::try_pod_read_unaligned(&bytes).map_err(|_| format!("the module's {name} has {} bytes, not {}", bytes.len(), size_of::<T>()))
    }

    /// A unit's kernel by its name.
    pub fn function(&mut self, unit: Unit, name: &str) -> Result<CudaFunction, String> {
        let key = (unit, name.to_owned());
        if let Some(function) = self.functions.get(&key) {
            return Ok(function.clone());
        }
        let function = self.module(unit)?.load_function(name).map_err(say)?;
        self.functions.insert(key, function.clone());
        Ok(function)
    }

    /// Compiles builds of searches that are not embedded side by side, so that loading them costs little later. One that
    /// fails says so when it is asked for.
    pub fn compile_ahead(&mut self, units: &[Unit], builds: &[Build]) {
        let all = units.iter().filter(|unit| unit.embedded().is_none()).flat_map(|unit| builds.iter().map(|&build| unit.of_build(build)));
        let waiting: Vec<Unit> = all.filter(|unit| !self.modules.contains_key(unit) && !self.failed.contains_key(unit)).collect();
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
            match code.and_then(|(code, _)| self.context.load_module(code).map_err(say)) {
                Ok(module) => drop(self.modules.insert(unit, module)),
                Err(why) => drop(self.failed.insert(unit, without_embedded(unit, &why))),
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
        let refused = match unit.embedded().map(|code| self.context.load_module(Ptx::from_binary(code.to_vec()))) {
            Some(Ok(module)) => return Ok((module, format!("embedded, {}", embedded::EMBEDDED_ABOUT))),
            Some(Err(error)) => Some(format!("they do not load: {}{}", say(error), driver::too_old_for_embedded())),
            None => None,
        };
        let compiled = nvrtc::compile(&self.context, unit).and_then(|(code, origin)| match self.context.load_module(code) {
            Ok(module) => Ok((module, origin)),
            Err(error) => Err(format!("what NVRTC compiled does not load: {}", say(error))),
        });
        compiled.map_err(|why| match refused {
            Some(embedded) => format!("this program embeds kernels ({}), but {embedded}, and {why}", embedded::EMBEDDED_ABOUT),
            None => without_embedded(unit, &why),
        })
    }
}

/// Why a unit that is not embedded cannot be had.
fn without_embedded(unit: Unit, why: &str) -> String {
    if unit.builds == Builds::Traced {
        format!("the traced kernel is compiled when it is asked for, and {why}")
    } else if unit.exact_dims != 0 || unit.policy.is_some() || !unit.is_to_be_embedded() {
        format!("this kernel is compiled when it is asked for, and {why}")
    } else {
        format!("this program embeds no kernels ({}), and {why}", embedded::EMBEDDED_ABOUT)
    }
}

impl Variant {
    /// Its unit, as the table says.
    pub fn unit(self) -> Unit {
        Unit::new("direct/warp_knn", self.capacity, self.dims)
    }
}

/// As kernels end their names.
pub fn build_name(build: Build) -> &'static str {
    match build {
        Build::Timed => "timed",
        Build::Counted => "counted",
        Build::Profiled => "profiled",
    }
}
