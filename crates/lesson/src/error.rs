//! Why a lesson cannot be recorded or read.

use crate::cloud::CloudError;
use crate::engines::cuda::trace::TraceError;
use crate::knn::{EngineError, Metric, ProblemError};
use crate::memory::InsufficientMemory;

/// Why a lesson cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LessonError {
    /// Unsupported width.
    #[error("width = {width}: must be 4, 8, 16 or 32 lanes")]
    Width {
        /// The width that was requested.
        width: u32,
    },
    /// k exceeds the capacity of the warp.
    #[error("k = {k}: a warp of {width} lanes holds up to {most} neighbours, 32 per lane")]
    K {
        /// The k that was requested.
        k: usize,
        /// Number of lanes of the warp.
        width: u32,
        /// The largest k, 32·W.
        most: usize,
    },
    /// Unknown lesson.
    #[error("unknown lesson `{name}`; available: 1 to {last}, or {ids}")]
    Name {
        /// The id or number that was requested.
        name: String,
        /// Number of the last lesson.
        last: u32,
        /// The ids of all lessons.
        ids: String,
    },
    /// The width differs from the number of children of a tree node.
    #[error("width = {width}: must be 32, because a tree node has 32 children, one per lane (--width 32)")]
    TreeWidth {
        /// The width that was requested.
        width: u32,
    },
    /// The width differs from a GPU's warp.
    #[error("width = {width}: must be 32, because a GPU's warp has 32 lanes (--width 32)")]
    GpuWidth {
        /// The width that was requested.
        width: u32,
    },
    /// The algorithm has no traced GPU build.
    #[error(
        "this lesson runs only on the CPU twin: no kernel traces per-thread heaps; use --engine lockstep"
    )]
    TwinOnly,
    /// A typed key is not a squared distance.
    #[error("key {text}: must be a squared distance: 0, or between 1e-12 and 1e12")]
    Key {
        /// The key as typed.
        text: String,
    },
    /// There are too few or too many keys.
    #[error("{given} keys: lesson `{lesson}` needs {needed} with k = {k} and {width} lanes")]
    KeyCount {
        /// Number of typed keys.
        given: usize,
        /// The lesson's id.
        lesson: &'static str,
        /// Number of keys that the lesson needs.
        needed: usize,
        /// Requested number of neighbours.
        k: usize,
        /// Number of lanes.
        width: u32,
    },
    /// The lesson does not take typed keys.
    #[error(
        "lesson `{lesson}` accepts no keys with k = {k} and {width} lanes; only lessons `sort`, `wide` and \
         `merge` accept keys, up to {most}"
    )]
    NoKeys {
        /// The lesson's id.
        lesson: &'static str,
        /// Requested number of neighbours.
        k: usize,
        /// Number of lanes.
        width: u32,
        /// Maximum number of typed keys.
        most: usize,
    },
    /// A moved point does not exist.
    #[error("cannot move row {row}: must be between 0 and {}", .rows - 1)]
    MovedRow {
        /// The requested row.
        row: u32,
        /// Number of rows.
        rows: usize,
    },
    /// A coordinate is not finite.
    #[error("point ({at}): both coordinates must be finite numbers")]
    NotFinite {
        /// The coordinates.
        at: String,
    },
    /// Query and points are not in a plane.
    #[error(
        "cannot move the query or points: expected two columns and metric l2, found d = {dims} and metric \
         {metric}"
    )]
    NotMovable {
        /// Number of columns.
        dims: usize,
        /// The metric.
        metric: Metric,
    },
    /// Unknown fault.
    #[error("unknown fault `{name}`; available: {ids}")]
    Fault {
        /// The name that was requested.
        name: String,
        /// The names of all faults.
        ids: String,
    },
    /// Only the kernel's search has faults.
    #[error("lesson `{lesson}` has no faults; use a lesson on the kernel's search, such as `search`")]
    NoFaults {
        /// The lesson's id.
        lesson: &'static str,
    },
    /// The GPU engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The GPU's trace cannot be decoded.
    #[error("invalid GPU trace: {0}")]
    Trace(#[from] TraceError),
    /// A comparator on the GPU changed only one of its elements.
    #[error("step {step}: on the GPU element {element} changed, but its partner, element {partner}, did not")]
    HalfSwap {
        /// The step, counted from 1.
        step: usize,
        /// The element that changed.
        element: u32,
        /// The element that did not.
        partner: u32,
    },
    /// A step of the GPU differs from the twin's.
    #[error("step {step}: the GPU has {gpu}, but its CPU twin has {twin}")]
    StepDiffers {
        /// The step, counted from 1.
        step: usize,
        /// The GPU's step, or an excerpt.
        gpu: String,
        /// The twin's step, or an excerpt.
        twin: String,
    },
    /// The GPU's steps equal the twin's, but its returned answer differs from their result.
    #[error("rank {rank}: the GPU's neighbours differ from the result of its own steps")]
    WrongAnswer {
        /// The first wrong rank, counted from 0.
        rank: usize,
    },
    /// The data of a lesson could not be loaded.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// The problem is invalid.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The lesson needs more memory than is free.
    #[error("the lesson {0}; use fewer points")]
    Memory(InsufficientMemory),
    /// A file of steps is malformed.
    #[error("line {line}: {why}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// Not `#[from]`, which would make it a source: the message already contains it, and error chains would print
/// it twice.
impl From<InsufficientMemory> for LessonError {
    fn from(short: InsufficientMemory) -> Self {
        Self::Memory(short)
    }
}
