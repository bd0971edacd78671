//! Per-thread heaps: a warp with one query and one heap per thread.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use std::sync::LazyLock;

use super::kernel::recorder::record;
use super::{Algorithm, Pseudocode, SpecificStep};
use crate::engines::select;
use crate::knn::Descriptor;
use crate::meter::{Meter, Strategy, WorkTimeline};
use crate::recording::Recording;
use crate::state::Shape;
use crate::step::Step;
pub use state::HeapStep;

// Per-thread heaps, with one thread and the kernel's warp as baselines.

/// The baseline of per-thread heaps: one thread and the kernel, compared by the [`Meter`].
#[derive(Clone, Copy, Debug)]
pub struct HeapBaseline;

impl HeapBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&select::THREAD_HEAP, "thread heap's twin");
}

impl Algorithm for HeapBaseline {
    fn code(&self) -> &'static Pseudocode {
        &HEAPS
    }

    fn round_names(&self) -> [&'static str; 2] {
        ["insertion", "insertions"]
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Some lane inserts"), Some("Lane 0 inserts"), Some("k-th")]
    }

    fn initial_words(&self) -> &'static str {
        "each lane has its own query, and all heaps are empty"
    }

    fn state_bytes(&self, shape: Shape) -> usize {
        8 * (shape.width * shape.k) as usize
    }

    fn meter(&self, recording: &Recording) -> Option<Meter> {
        let (problem, width, data) =
            (recording.problem(), recording.shape().width, &recording.parameters.data);
        let kernel = record(problem.clone(), recording.query(), width, None, data).ok()?;
        let [threads, warp] = [recording, &kernel].map(WorkTimeline::replay);
        Some(Meter::new(recording, Strategy::ThreadPerQuery, threads, warp))
    }
}

// Per-thread heaps in a few lines of pseudocode, and the matching lines of `cuda/`.

/// Per-thread heaps: the scan, then a key that sinks.
pub static HEAPS: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        [
            "A heap in each thread, in short",
            "A heap in each thread: its search",
            "A heap in each thread: a key sinks",
        ],
        include_str!("code.txt"),
        line_of_threads,
    )
});

fn line_of_threads(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Own(SpecificStep::Heap(step)) => match step {
            HeapStep::Heaps { .. } => 0,
            HeapStep::OwnDistances { .. } => 2,
            HeapStep::Branched { .. } => 3,
            HeapStep::Rejoined { .. } => 5,
            HeapStep::Extracted { .. } => 6,
            HeapStep::Sank { .. } => 13,
        },
        Step::Finished => 7,
        _ => return None,
    })
}
