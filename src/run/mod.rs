//! Runs: a [`RunSpec`] executed into a [`RunRecord`], in place ([`execute`], [`Engines`]) or on the worker thread
//! ([`Worker`]); or one query answered at once, over points that stay where they are ([`Engines::ask`], [`Asker`]).

pub mod analysis;
pub mod answers;
mod ask;
mod batches;
mod chunks;
pub mod compare;
mod declared;
mod engines;
mod execute;
mod file;
pub mod graph;
mod machine;
pub mod planner;
pub mod presets;
mod problem;
mod record;
pub mod recording;
mod resident;
mod some;
mod spec;
pub mod stats;
pub mod sweep;
#[cfg(test)]
pub(crate) mod testing;
mod timeline;
pub mod verify;
mod worker;

pub use ask::{Ask, AskId, Asker, Reply};
pub use batches::{Batch, BatchError, Batches, Found, QueryBatches};
pub use declared::Declared;
pub use engines::Engines;
pub use execute::{RunError, execute};
pub use file::{CloudFile, RunFile, RunFileError};
pub use machine::Machine;
pub use problem::{build_problem, query_cloud_of};
pub use record::{MeasureMean, Phase, Run, RunRecord, SCHEMA_VERSION, Sample, Summary};
pub use resident::Resident;
pub use some::SomeRun;
pub use spec::{EngineChoice, QuerySpec, RunSpec, usual};
pub use timeline::{Multiprocessor, PhaseSpan, PhaseTrack, Place, Timeline, WarpTime};
pub use worker::{Event, Job, JobId, Worker};
