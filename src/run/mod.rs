//! Runs: a [`RunSpec`] executed into a [`RunRecord`], in place ([`execute`], [`Engines`]) or on the worker thread
//! ([`Worker`]).

mod chunks;
mod engines;
mod execute;
mod pose;
mod record;
mod spec;
pub mod stats;
#[cfg(test)]
mod testing;
mod theory;
mod worker;

pub use engines::Engines;
pub use execute::{RunError, execute};
pub use pose::pose;
pub use record::{Phase, RunRecord, SCHEMA_VERSION, Sample, Summary};
pub use spec::{EngineChoice, QuerySpec, RunSpec};
pub use worker::{Event, Job, JobId, Worker};
