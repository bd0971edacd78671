//! Warp select: one queue per lane, and one of the warp.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use super::kernel::BufferCounts;
use super::{Algorithm, CodeLine, Pseudocode, SpecificStep, line, plain};
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::select;
use crate::knn::Descriptor;
use crate::recording::Recording;
use crate::step::Step;
pub use state::WarpSelectStep;

// Warp select, with the kernel's buffer as its baseline.

/// Final counts of warp select, and of the kernel's candidate buffer for the same neighbours.
#[derive(Clone, Copy, Debug)]
pub struct WarpSelectBaseline {
    /// Keys of a lane's queue, Q.
    pub length: u32,
    /// Merges of the lanes' queues into the warp's.
    pub merges: u32,
    /// Keys that lanes inserted into their queues.
    pub inserts: u32,
    /// Keys that merges brought into the warp's queue.
    pub keys_merged: u32,
    /// Counts of the kernel's twin, whose buffer has as many slots as the warp's queue has keys.
    pub buffer: BufferCounts,
}

impl WarpSelectBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&select::WARP_SELECT, "warp select's twin");
}

impl Algorithm for WarpSelectBaseline {
    fn code(&self) -> &'static Pseudocode {
        &QUEUES
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Key taken"), Some("Merge"), Some("k-th")]
    }

    fn initial_words(&self) -> &'static str {
        "all queues are empty"
    }

    fn sizes(&self) -> String {
        format!(", Q = {}", self.length)
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
        let trace = cuda.trace_queues(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (recorder::compare(&trace, twin, self.length)?, trace.device)))
    }
}

// Warp select in a few lines of pseudocode, and the matching lines of `cuda/`.

/// Warp select: the scan, then a merge.
pub static QUEUES: Pseudocode = Pseudocode {
    lines: &LANES,
    second_part: 8,
    titles: [
        "Warp select, in short",
        "Warp select, in short: its search",
        "Warp select, in short: its merge",
    ],
    line_of: line_of_queues,
};

const WARP_SELECT: &str = "select/warp_select.cuh";

const LANES: [CodeLine; 14] = [
    line(
        0,
        "my queue, Q keys, and the warp's, K keys: all \u{221e}",
        WARP_SELECT,
        "lane_queue[i] = PADDING;",
    ),
    plain(0, "for each group of W points, one a lane:"),
    line(1, "distance \u{2190} that of my point", WARP_SELECT, "queues.add(distance, batch * BATCH"),
    line(
        1,
        "if distance < the first key of my queue: drop that, insert (distance, point)",
        WARP_SELECT,
        "bool inserts = takes(distance);",
    ),
    line(
        1,
        "if the first key of any lane < the k-th: merge",
        WARP_SELECT,
        "bool broken = __any_sync(ALL_LANES, lane_queue[0] < limit);",
    ),
    line(
        0,
        "merge once more",
        WARP_SELECT,
        "selection.distances + query * selection.pitch, selection.n, 0, 1);",
    ),
    line(
        0,
        "the first k keys of the warp's queue are the neighbours",
        WARP_SELECT,
        "__device__ __forceinline__ void write(const AnswerRow& row) const {",
    ),
    plain(0, ""),
    plain(0, "merge:"),
    line(1, "sort the queues of all lanes as one list", WARP_SELECT, "warp::sort_any(lane_queue, lane);"),
    line(
        1,
        "element K\u{2212}1\u{2212}i of the warp's queue \u{2194} element i of the list: the smaller is the \
         warp's",
        WARP_SELECT,
        "Key to_warp = __shfl_xor_sync(ALL_LANES, lane_queue[i], WARP - 1);",
    ),
    line(
        1,
        "sort the warp's queue, which is bitonic",
        "warp/network.cuh",
        "void merge_any(Key (&keys)[R], unsigned lane) {",
    ),
    line(1, "sort my queue, the largest key first", WARP_SELECT, "for (int round = 0; round < Q; ++round) {"),
    line(
        1,
        "the k-th \u{2190} element k\u{2212}1 of the warp's queue",
        WARP_SELECT,
        "limit = __shfl_sync(ALL_LANES, mine, (k - 1) % WARP);",
    ),
];

fn line_of_queues(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Own(SpecificStep::WarpSelect(step)) => match step {
            WarpSelectStep::Queues { .. } => 0,
            WarpSelectStep::Inserted { .. } => 3,
            WarpSelectStep::Checked { .. } => 4,
            WarpSelectStep::Drained => 5,
            WarpSelectStep::QueuesSorted => 9,
            WarpSelectStep::Exchanged { .. } => 10,
            WarpSelectStep::WarpQueueSorted => 11,
            WarpSelectStep::QueuesDescend => 12,
        },
        Step::Group { .. } => 2,
        Step::Finished => 6,
        Step::MaxDistance { .. } => 13,
        _ => return None,
    })
}
