//! Per-thread heaps: a warp with one query and one heap per thread.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use super::kernel::recorder::record;
use super::{Algorithm, CodeLine, Pseudocode, SpecificStep, line, plain};
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
pub static HEAPS: Pseudocode = Pseudocode {
    lines: &THREADS,
    second_part: 9,
    titles: [
        "A heap in each thread, in short",
        "A heap in each thread: its search",
        "A heap in each thread: a key sinks",
    ],
    line_of: line_of_threads,
};

const HEAP: &str = "kdtree/heap.cuh";
const THREAD_HEAP: &str = "select/thread_heap.cuh";

const THREADS: [CodeLine; 14] = [
    line(0, "my heap, k keys, the largest at its root: all \u{221e}", HEAP, "at(i) = PADDING;"),
    plain(0, "for each point, the same in all lanes:"),
    line(
        1,
        "distance \u{2190} that of the point to my query",
        THREAD_HEAP,
        "float distance = tile[lane][point];",
    ),
    line(1, "if distance < my root:", THREAD_HEAP, "if (distance < bound) {"),
    plain(2, "(distance, point) sinks from the root, in place of what was there"),
    line(2, "my root \u{2190} the largest that is left", THREAD_HEAP, "bound = distance_of(heap.root);"),
    line(
        0,
        "for end \u{2190} k, \u{2026} 2: root \u{2194} entry end\u{2212}1, which sinks among those before it",
        HEAP,
        "at(end - 1) = at(0);",
    ),
    line(
        0,
        "the k keys, now ascending, are the neighbours",
        THREAD_HEAP,
        "selection.indices[at + i] = index_of(heap.at(i));",
    ),
    plain(0, ""),
    plain(0, "a key sinks:"),
    plain(1, "while its entry has children:"),
    plain(2, "child \u{2190} the larger of the two"),
    plain(2, "if child \u{2264} key: stop"),
    line(2, "child \u{2194} key", HEAP, "at(hole) = larger;"),
];

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
