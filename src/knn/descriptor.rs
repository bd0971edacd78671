//! What an engine says of itself. Everything outside its folder that differs between engines reads it here.

use serde::Serialize;

use super::{Cost, DeviceId, DeviceKind, Engine, EngineError, EngineId, Measure, Metric, Parameter, Problem};

/// How engines are grouped where they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Computes the distance of every point to every query, on a GPU.
    Exhaustive,
    /// Leaves points out by an index.
    Indexed,
    /// A k-selection kernel of the literature.
    Selection,
    /// Runs on the host's processor only.
    Cpu,
}

impl Group {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Exhaustive, Self::Indexed, Self::Selection, Self::Cpu];

    /// As a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Exhaustive => "Exhaustive, on a GPU",
            Self::Indexed => "Indexed",
            Self::Selection => "k-selection of the literature",
            Self::Cpu => "On the CPU",
        }
    }
}

/// The sizes of a problem as an engine sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Points.
    pub n: usize,
    /// Queries.
    pub q: usize,
    /// Dimensions.
    pub d: usize,
    /// Neighbours that the engine finds: one more than are reported with `exclude_self`.
    pub k: usize,
}

/// The largest problem that an engine takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Neighbours per query, the query's own row included.
    pub k: usize,
    /// Dimensions.
    pub d: usize,
    /// Points.
    pub n: usize,
    /// How distance may be measured.
    pub metrics: &'static [Metric],
}

impl Limits {
    /// Refuses a problem that is larger. This is the one place where limits are enforced.
    ///
    /// # Errors
    /// [`EngineError::Limit`], [`EngineError::Metric`].
    pub fn check(&self, engine: EngineId, shape: &Shape, metric: Metric) -> Result<(), EngineError> {
        for (what, limit, value) in [("k", self.k, shape.k), ("d", self.d, shape.d), ("n", self.n, shape.n)] {
            if value > limit {
                return Err(EngineError::Limit { engine, what, limit: limit as u64, value: value as u64 });
            }
        }
        if !self.metrics.contains(&metric) {
            return Err(EngineError::Metric { engine, metric });
        }
        Ok(())
    }
}

/// A part of a warp's search that the profiled build times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfilePhase {
    /// As it is spelled in files and panes.
    pub name: &'static str,
    /// What is done in it.
    pub help: &'static str,
}

/// One engine.
#[derive(Debug)]
pub struct Descriptor {
    /// Its name.
    pub id: EngineId,
    /// Under which heading it is listed.
    pub group: Group,
    /// What it is, in a line.
    pub about: &'static str,
    /// Where the algorithm comes from: paper and section, or the kernel's specification.
    pub source: &'static str,
    /// On what it runs; the first kind is taken where nobody says.
    pub runs_on: &'static [DeviceKind],
    /// What it takes.
    pub limits: Limits,
    /// What its counted build counts; nothing where it has none.
    pub measures: &'static [Measure],
    /// The measure that counts the steps of its convergence history, where it keeps one.
    pub convergence: Option<&'static str>,
    /// What its profiled build times; nothing where it has none.
    pub phases: &'static [ProfilePhase],
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// Whether it computes the distance of every point to every query, so that distances a second mean something.
    pub is_exhaustive: bool,
    /// The engine whose algorithm it runs on another device under a name of its own: both count the same.
    pub twin_of: Option<EngineId>,
    /// What a problem costs, at rates that were measured on one machine; the planner scales them to the one at hand.
    pub cost: fn(&Shape) -> Cost,
    /// Whether it writes down a query's search step by step, for lessons.
    pub traces: bool,
    /// Opens it on a device of a kind in `runs_on`.
    pub open: fn(DeviceId) -> Result<Box<dyn Engine>, EngineError>,
}

impl Descriptor {
    /// The engine that its algorithm is called after: engines of one algorithm agree in what they count, too.
    pub fn algorithm(&self) -> EngineId {
        self.twin_of.unwrap_or(self.id)
    }

    /// Whether it has a counted build.
    pub fn counts(&self) -> bool {
        !self.measures.is_empty()
    }

    /// Where it runs when nobody says.
    pub fn default_device(&self) -> DeviceId {
        self.runs_on.first().copied().unwrap_or(DeviceKind::Cpu).first()
    }

    /// A measure by its column's name.
    pub fn measure(&self, name: &str) -> Option<&'static Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// Whether it takes a problem with these parameters.
    ///
    /// # Errors
    /// As [`Limits::check`]'s, and [`EngineError::Parameter`].
    pub fn check(&self, problem: &Problem, parameters: &super::Parameters) -> Result<(), EngineError> {
        self.limits.check(self.id, &problem.shape(), problem.metric())?;
        self.check_parameters(parameters)
    }

    /// Whether these parameters are its own.
    ///
    /// # Errors
    /// [`EngineError::Parameter`].
    pub fn check_parameters(&self, parameters: &super::Parameters) -> Result<(), EngineError> {
        parameters.check(self.parameters).map_err(|why| EngineError::Parameter { engine: self.id, why })
    }

    /// Opens it on a device, or where it runs when nobody says.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], with what is missing and how to get it.
    pub fn open_on(&self, device: Option<DeviceId>) -> Result<Box<dyn Engine>, EngineError> {
        let device = device.unwrap_or_else(|| self.default_device());
        if !self.runs_on.contains(&device.kind()) {
            let kinds: Vec<&str> = self.runs_on.iter().map(|kind| kind.name()).collect();
            let why = format!("it runs on {}, not on device {device}", kinds.join(" or "));
            return Err(EngineError::Unavailable { engine: self.id, why });
        }
        (self.open)(device)
    }
}
