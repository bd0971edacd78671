//! Runs: a [`RunSpec`] executed into a [`RunRecord`], in place ([`execute`]) or on the worker thread ([`Worker`]).

mod execute;
mod record;
mod spec;
mod worker;

pub use execute::{RunError, execute};
pub use record::{Phase, RunRecord, SCHEMA_VERSION, Sample, Summary};
pub use spec::{EngineChoice, QuerySpec, RunSpec};
pub use worker::{Event, Job, JobId, Worker};
