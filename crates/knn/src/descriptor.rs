//! What an engine declares about itself. Code outside an engine's folder depends only on this declaration.

use serde::Serialize;

use super::{
    Cost, DeviceId, DeviceKind, Engine, EngineError, EngineId, Measure, Measurements, Metric, Parameter,
    Parameters, Problem, Radius, Walk, theory, warp,
};
use crate::progress::Progress;

/// The heading under which an engine is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Computes the distance of every point to every query.
    Exhaustive,
    /// Prunes points with an index.
    Indexed,
    /// A k-selection kernel from the literature.
    Selection,
    /// Runs on the CPU only.
    Cpu,
}

impl Group {
    /// All groups, in listing order.
    pub const ALL: [Self; 4] = [Self::Exhaustive, Self::Indexed, Self::Selection, Self::Cpu];

    /// The heading in listings.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Exhaustive => "Exhaustive",
            Self::Indexed => "Indexed",
            Self::Selection => "Published k-selection",
            Self::Cpu => "CPU only",
        }
    }
}

/// The sizes of a problem as an engine sees it: n points and q queries in d dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    pub n: usize,
    pub q: usize,
    pub d: usize,
    /// Neighbours to find per query: one more than are reported with `exclude_self`.
    pub k: usize,
}

/// The largest problem that an engine supports.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest k, including the query's own row.
    pub k: usize,
    /// Largest number of dimensions.
    pub d: usize,
    /// Largest number of points.
    pub n: usize,
    pub metrics: &'static [Metric],
}

impl Limits {
    /// Rejects a problem that exceeds the limits.
    ///
    /// # Errors
    /// [`EngineError::Limit`], [`EngineError::Metric`].
    pub fn check(&self, engine: EngineId, shape: &Shape, metric: Metric) -> Result<(), EngineError> {
        self.check_sizes(engine, shape)?;
        if !self.metrics.contains(&metric) {
            return Err(EngineError::Metric { engine, metric });
        }
        Ok(())
    }

    /// The same for the sizes only. Limits are enforced only in these two functions.
    ///
    /// # Errors
    /// [`EngineError::Limit`].
    pub fn check_sizes(&self, engine: EngineId, shape: &Shape) -> Result<(), EngineError> {
        for (what, limit, value) in [("k", self.k, shape.k), ("d", self.d, shape.d), ("n", self.n, shape.n)] {
            if value > limit {
                return Err(EngineError::Limit { engine, what, limit: limit as u64, value: value as u64 });
            }
        }
        Ok(())
    }
}

/// A phase of a warp's search that the profiled build times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfilePhase {
    /// Display name in files and panes.
    pub name: &'static str,
    /// One sentence on the work of this phase.
    pub help: &'static str,
    /// Whether the phase maintains the k best, rather than scanning points.
    pub merges: bool,
}

/// Records the search of one query, given by number, as the engine performs it with checked parameters.
/// Returns `None` if cancelled.
pub type Walker = fn(&Problem, usize, &Parameters, &dyn Progress) -> Result<Option<Walk>, EngineError>;

/// An engine's row in the registry.
#[derive(Debug)]
pub struct Descriptor {
    pub id: EngineId,
    /// The heading under which it is listed.
    pub group: Group,
    /// One line of description.
    pub about: &'static str,
    /// Where the algorithm comes from: paper and section, or the kernel's specification.
    pub source: &'static str,
    /// Source files of the algorithm, the kernel before its CPU twin. Excludes code shared with other
    /// engines.
    pub code: &'static [SourceFile],
    /// Path in the repository of the document that explains it.
    pub document: &'static str,
    /// Id of the lesson that steps through it.
    pub lesson: Option<&'static str>,
    /// Supported kinds of device, the default first.
    pub runs_on: &'static [DeviceKind],
    /// Its data structures, fastest memory first.
    pub buffers: &'static [Buffer],
    pub limits: Limits,
    /// Columns of the counted build; empty if there is none.
    pub measures: &'static [Measure],
    /// The measure that counts entries of the convergence history; `None` without a history.
    pub convergence: Option<&'static str>,
    /// Mean number of active threads per warp, from the counts of all queries in the order they were
    /// answered. A lane is active if it has a point to test or, with one thread per query, an unfinished
    /// query. `None` if the counts do not determine it.
    pub active_threads: Option<fn(&Measurements) -> Option<f64>>,
    /// Phases timed by the profiled build; empty if there is none.
    pub phases: &'static [ProfilePhase],
    pub parameters: &'static [Parameter],
    /// Whether it computes the distance of every point to every query, so that distances per second are
    /// meaningful.
    pub is_exhaustive: bool,
    /// Mean FP32 distance evaluations per query, from n, the parameters used and the counts. `None` if
    /// unknown.
    pub distances: fn(usize, &Parameters, &Measurements) -> Option<f64>,
    /// The engine whose algorithm this engine implements on another device, with the same counts.
    pub twin_of: Option<EngineId>,
    /// The cost model for a kind of device, at rates measured on one machine. The planner scales them to the
    /// current machine.
    pub cost: fn(&Shape, DeviceKind) -> Cost,
    /// Whether it can trace a query's search step by step, for lessons.
    pub traces: bool,
    /// Repeats the search of one query on the CPU and records its path through the index, which is the same
    /// on every device. `None` without an index. Rejects more than [`walk::AXES`](super::walk::AXES)
    /// dimensions, which cannot be drawn.
    pub walk: Option<Walker>,
    /// Lists all points within a distance, on the CPU. `None` if it finds only the k nearest.
    pub within: Option<super::within::Opener>,
    /// Finds the largest inner products, on the CPU. `None` if it supports only distances.
    pub inner_products: Option<super::inner_product::Opener>,
    /// Opens it on a device whose kind is in `runs_on`.
    pub open: fn(DeviceId) -> Result<Box<dyn Engine>, EngineError>,
}

impl Descriptor {
    /// Defaults: an exhaustive engine on all devices and for all metrics that declares nothing else.
    pub const fn new(id: EngineId, open: fn(DeviceId) -> Result<Box<dyn Engine>, EngineError>) -> Self {
        Self {
            id,
            group: Group::Exhaustive,
            about: "",
            source: "",
            code: &[],
            document: "docs/measure.md",
            lesson: None,
            runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
            buffers: &[],
            limits: Limits { k: warp::MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
            measures: &[],
            convergence: None,
            active_threads: None,
            phases: &[],
            parameters: &[],
            is_exhaustive: true,
            distances: |n, _, _| Some(n as f64),
            twin_of: None,
            cost: |_, _| Cost::default(),
            traces: false,
            walk: None,
            within: None,
            inner_products: None,
            open,
        }
    }

    /// The engine that names the algorithm. Engines with the same algorithm have equal counts.
    pub fn algorithm(&self) -> EngineId {
        self.twin_of.unwrap_or(self.id)
    }

    /// Whether it supports a goal.
    pub fn finds(&self, goal: Goal) -> bool {
        match goal {
            Goal::Nearest => true,
            Goal::Within(_) => self.within.is_some(),
            Goal::LargestProduct => self.inner_products.is_some(),
        }
    }

    /// Whether it has a counted build.
    pub fn counts(&self) -> bool {
        !self.measures.is_empty()
    }

    /// The first device of its first supported kind, which this machine may lack.
    pub fn first_device(&self) -> DeviceId {
        self.runs_on.first().copied().unwrap_or(DeviceKind::Cpu).first()
    }

    /// Looks up a measure by column name.
    pub fn measure(&self, name: &str) -> Option<&'static Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// Checks a problem and parameters against what this engine supports.
    ///
    /// # Errors
    /// Those of [`Limits::check`], and [`EngineError::Parameter`].
    pub fn check(&self, problem: &Problem, parameters: &Parameters) -> Result<(), EngineError> {
        self.limits.check(self.id, &problem.shape(), problem.metric())?;
        self.check_parameters(parameters)
    }

    /// Checks that the parameters are declared and their values allowed.
    ///
    /// # Errors
    /// [`EngineError::Parameter`].
    pub fn check_parameters(&self, parameters: &Parameters) -> Result<(), EngineError> {
        parameters.check(self.parameters).map_err(|why| EngineError::Parameter { engine: self.id, why })
    }

    /// Opens it on a device.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open_on(&self, device: DeviceId) -> Result<Box<dyn Engine>, EngineError> {
        if !self.runs_on.contains(&device.kind()) {
            let kinds: Vec<&str> = self.runs_on.iter().map(|kind| kind.name()).collect();
            let why = format!("it runs on {}, not on device {device}", kinds.join(" or "));
            return Err(EngineError::Unavailable { engine: self.id, why });
        }
        (self.open)(device)
    }
}

/// Kinds of neighbours to find. An engine declares which it supports ([`Descriptor::finds`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The k nearest points.
    Nearest,
    /// All points within a distance.
    Within(Radius),
    /// The k rows whose inner product with the query is largest.
    LargestProduct,
}

/// The memories of a GPU, fastest first. A CPU twin holds everything in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemorySpace {
    /// Private to a thread.
    Registers,
    /// Shared by a block, on its multiprocessor.
    Shared,
    /// Device memory; host memory on a CPU.
    Memory,
}

impl MemorySpace {
    /// All, fastest first.
    pub const ALL: [Self; 3] = [Self::Registers, Self::Shared, Self::Memory];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Registers => "Registers",
            Self::Shared => "Shared memory",
            Self::Memory => "Device memory",
        }
    }
}

/// A data structure of an engine, in registers or memory.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub memory: MemorySpace,
    /// Short description: `K nearest so far, sorted`.
    pub name: &'static str,
    /// Owner of one copy: `a warp`, `a block`, `a query`, `all queries`.
    pub owner: &'static str,
    /// Number of elements per copy.
    pub elements: fn(&Shape) -> usize,
    /// Whether the engine needs it for a problem needs it.
    pub is_used: fn(&Shape) -> bool,
}

impl Buffer {
    pub const fn new(
        memory: MemorySpace,
        name: &'static str,
        owner: &'static str,
        elements: fn(&Shape) -> usize,
    ) -> Self {
        Self { memory, name, owner, elements, is_used: |_| true }
    }

    /// The same, but only for some problems.
    pub const fn only_if(self, is_used: fn(&Shape) -> bool) -> Self {
        Self { is_used, ..self }
    }
}

impl Shape {
    /// The number of points, as the size of a data structure.
    pub fn points(&self) -> usize {
        self.n
    }

    /// K of the warp-per-query engines: k rounded up to a power of two, at least 32.
    pub fn capacity(&self) -> usize {
        theory::capacity(self.k)
    }
}

/// A source file of the repository that implements an engine, embedded so that it can be shown with the
/// explanation.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile {
    /// Path in the repository: `cuda/select/bits.cuh`.
    pub path: &'static str,
    pub text: &'static str,
}

/// Embeds source files, given by their paths in the repository, as [`SourceFile`].
#[macro_export]
macro_rules! code {
    ($($path:literal),+ $(,)?) => {
        &[$(
            $crate::SourceFile {
                path: $path,
                text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path)),
            }
        ),+]
    };
}
