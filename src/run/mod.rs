//! Runs: a [`RunSpec`] executed into a [`RunRecord`], in place ([`execute`], [`Engines`]) or on the worker thread
//! ([`Worker`]).

pub mod answers;
mod chunks;
pub mod compare;
mod engines;
mod execute;
mod file;
mod pose;
mod record;
mod spec;
pub mod stats;
pub mod sweep;
#[cfg(test)]
pub(crate) mod testing;
mod timeline;
pub mod verify;
mod worker;

pub use engines::Engines;
pub use execute::{RunError, execute};
pub use file::RunFile;
pub use pose::pose;
pub use record::{Phase, RunRecord, SCHEMA_VERSION, Sample, Summary};
pub use spec::{EngineChoice, QuerySpec, RunSpec};
pub use timeline::{Multiprocessor, PhaseSpan, PhaseTrack, Timeline, WarpTime};
pub use worker::{Event, Job, JobId, Worker};
