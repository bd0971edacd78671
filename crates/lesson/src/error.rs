//! Why a lesson cannot be recorded or read.

use crate::cloud::CloudError;
use crate::engines::cuda::trace::TraceError;
use crate::knn::{EngineError, Metric, ProblemError};
use crate::memory::Short;

/// Why a lesson cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LessonError {
    /// The width is not one of the supported ones.
    #[error("width = {width}: a warp of a lesson has 4, 8, 16 or 32 lanes")]
    Width {
        /// The width that was requested.
        width: u32,
    },
    /// k exceeds the capacity of the warp.
    #[error("k = {k}: a warp of {width} lanes holds up to {most} neighbours, 32 a lane")]
    K {
        /// The k that was requested.
        k: usize,
        /// Number of lanes of the warp.
        width: u32,
        /// The largest k, 32·W.
        most: usize,
    },
    /// There is no lesson of that id or number.
    #[error("lesson {name}: there are lessons 1 to {last}: {ids}")]
    Name {
        /// The id or number that was requested.
        name: String,
        /// Number of the last lesson.
        last: u32,
        /// The ids of all lessons.
        ids: String,
    },
    /// The width is not the number of children of a tree's node.
    #[error("width = {width}: a node of the tree has 32 children, a lane each (--width 32)")]
    TreeWidth {
        /// The width that was requested.
        width: u32,
    },
    /// The width is not that of a GPU's warp.
    #[error("width = {width}: a GPU's warp has 32 lanes (--width 32)")]
    GpuWidth {
        /// The width that was requested.
        width: u32,
    },
    /// What is recorded has no build for a GPU that writes down its steps.
    #[error(
        "this lesson is recorded by the twin alone: no kernel writes down a heap in each thread (--engine \
         lockstep)"
    )]
    TwinAlone,
    /// A typed key is no squared distance.
    #[error("key {text}: a key is a squared distance, which is 0 or a number from 1e-12 to 1e12")]
    Key {
        /// The key as typed.
        text: String,
    },
    /// There are too few or too many keys.
    #[error("{given} keys: lesson {lesson} needs {needed} with k = {k} and {width} lanes")]
    KeyCount {
        /// The number of keys that were typed.
        given: usize,
        /// The lesson's id.
        lesson: &'static str,
        /// The number of keys that it needs.
        needed: usize,
        /// Neighbours asked for.
        k: usize,
        /// Number of lanes.
        width: u32,
    },
    /// The lesson has no place for typed keys.
    #[error(
        "lesson {lesson}: with k = {k} and {width} lanes its keys cannot be typed; that is for at most \
         {most} keys, in lessons sort, wide and merge"
    )]
    NoKeys {
        /// The lesson's id.
        lesson: &'static str,
        /// Neighbours asked for.
        k: usize,
        /// Number of lanes.
        width: u32,
        /// Most keys that can be typed.
        most: usize,
    },
    /// A point that was moved does not exist.
    #[error("row {row}: no such point can be moved; rows go from 0 to {}", .rows - 1)]
    MovedRow {
        /// The row that was named.
        row: u32,
        /// Number of rows.
        rows: usize,
    },
    /// A place is not finite.
    #[error("place ({at}): both coordinates must be finite numbers")]
    Place {
        /// The coordinates.
        at: String,
    },
    /// Query and points do not lie in a plane.
    #[error(
        "query and points can be moved where the data have two columns and the metric is l2, and here they \
         have {dims} and it is {metric}"
    )]
    Unmovable {
        /// Number of columns.
        dims: usize,
        /// The metric.
        metric: Metric,
    },
    /// There is no mistake of that name.
    #[error("{name} is no mistake that can be made on purpose: there are {ids}")]
    Fault {
        /// The name that was requested.
        name: String,
        /// The names of all mistakes.
        ids: String,
    },
    /// Only the kernel's search has mistakes to make.
    #[error(
        "lesson {lesson} cannot be broken: mistakes are made in the kernel's search, as in lesson search"
    )]
    Unbreakable {
        /// The lesson's id.
        lesson: &'static str,
    },
    /// The GPU engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The GPU's trace cannot be decoded.
    #[error("the GPU's trace: {0}")]
    Trace(#[from] TraceError),
    /// A comparator on the GPU changed only one of its elements.
    #[error(
        "step {step}: on the GPU element {element} changed, and element {partner}, which it was compared \
         with, did not"
    )]
    Torn {
        /// The step, counted from 1.
        step: usize,
        /// The element that changed.
        element: u32,
        /// The element that did not.
        partner: u32,
    },
    /// A step of the GPU differs from the twin's.
    #[error("step {step}: the GPU has {gpu}, its twin {twin}")]
    Differs {
        /// The step, counted from 1.
        step: usize,
        /// The GPU's step, or an excerpt.
        gpu: String,
        /// The twin's step, or an excerpt.
        twin: String,
    },
    /// The GPU's steps equal the twin's but do not lead to the answer that it returned.
    #[error("rank {rank}: the GPU's neighbours are not those that its own steps lead to")]
    Answers {
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
    Memory(Short),
    /// A file of steps is malformed.
    #[error("line {line}: {why}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// Without `#[from]`, which would make it a source: the sentence contains it already, and chains of errors
/// would print it twice.
impl From<Short> for LessonError {
    fn from(short: Short) -> Self {
        Self::Memory(short)
    }
}
