//! The k-nearest-neighbour problem and the engine interface, independent of any device.

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{memory, progress};
use warpscope_cloud as cloud;

mod answer;
mod best_lists;
pub mod cost;
mod descriptor;
pub mod distance;
mod engine;
pub mod exact_distances;
mod id;
pub mod inner_product;
mod measure;
mod method;
mod metric;
pub mod network;
pub mod peaks;
mod points;
mod problem;
mod radius;
pub mod reference;
mod streams;
pub mod theory;
pub mod walk;
pub mod warp;
pub mod within;

pub use answer::{
    Answer, CONVERGENCE_ENTRIES, Convergence, Counters, NONE, Neighbors, Profile, WarpSpan, put_own_first,
};
pub use best_lists::BestLists;
pub use cost::{Cost, Stage, Term};
pub use descriptor::{
    Buffer, Descriptor, Goal, Group, Limits, MemorySpace, ProfilePhase, Shape, SourceFile, Walker,
};
pub use engine::{
    DeviceInfo, Engine, EngineError, KernelBuild, MAX_COUNTED_CHUNK, PreparedSearch, SetupPhase,
    answer_bytes, check_answers,
};
pub use id::{DeviceId, DeviceKind, EngineId, GpuSet};
pub use measure::{MeanBound, Measure, Measurements};
pub use method::{
    AllowedValues, MAX_ALTERNATIVES, Method, Parameter, Parameters, alternatives, split_methods,
};
pub use metric::{INNER_PRODUCT, Metric, Ranking};
pub use peaks::Peaks;
pub use points::{Cache, PointSettings, Points};
pub use problem::{Problem, ProblemError, ProblemParameters, Queries};
pub use radius::{AngleUnit, Radius, Unit};
pub use streams::{Lane, MAX_STREAM_SPANS, StreamPhase, StreamSpan};
pub use walk::Walk;
pub use within::RadiusIndex;
