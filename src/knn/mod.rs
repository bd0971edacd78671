//! The problem of k nearest neighbours, free of any device.

mod answer;
mod engine;
mod kept;
pub mod network;
mod points;
mod problem;
pub mod reference;
pub mod theory;

pub use answer::{Answer, CONVERGENCE_ENTRIES, Convergence, Counters, NONE, Neighbors, Profile, WarpPhase, WarpSpan};
pub use engine::{Build, DeviceInfo, Engine, EngineError, EngineKind, MAX_COUNTED_CHUNK, Search};
pub use kept::Kept;
pub use points::{Arrangement, Points};
pub use problem::{MAX_K, Metric, Problem, ProblemError, Queries, Setup};
