//! The kernel's search: it evaluates every point and collects candidates in a buffer.

pub(crate) mod describe;
mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;

use super::heap::recorder::record_lanes;
use super::{Algorithm, BUFFER, CodeLine, Pseudocode, line, plain};
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::lockstep::LOCKSTEP;
use crate::knn::Descriptor;
use crate::meter::{Meter, Strategy, WorkTimeline};
use crate::recording::Recording;
use crate::step::{SortPass, Step};

// The kernel's algorithm, with theory as its baseline.

/// The baseline of the kernel: theory.
#[derive(Clone, Copy, Debug)]
pub struct TheoryBaseline;

impl TheoryBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&LOCKSTEP, "the kernel's twin");
}

impl Algorithm for TheoryBaseline {
    fn code(&self) -> &'static Pseudocode {
        &KERNEL
    }

    fn meter(&self, recording: &Recording) -> Option<Meter> {
        let (problem, width, data) =
            (recording.problem(), recording.shape().width, &recording.parameters.data);
        let threads = record_lanes(problem.clone(), recording.query(), width, data);
        let [threads, warp] = [&threads, recording].map(WorkTimeline::replay);
        Some(Meter::new(recording, Strategy::Warp, threads, warp))
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
        recorder::record_on_gpu(twin, cuda)
    }
}

// The kernel in a few lines of pseudocode, and the matching lines of `cuda/`.

/// The kernel: the search, then the merge.
pub static KERNEL: Pseudocode = Pseudocode {
    lines: &SCAN,
    second_part: 16,
    titles: ["The kernel, in short", "The kernel, in short: its search", "The kernel, in short: its merge"],
    line_of: line_of_scan,
};

const SEARCH: &str = "direct/warp_knn.cuh";
const NETWORK: &str = "warp/bitonic.cuh";

const SCAN: [CodeLine; 30] = [
    plain(0, "for each batch of points:"),
    line(
        1,
        "the block loads the batch into shared memory",
        SEARCH,
        "const float* rows = batches.enter(batch)",
    ),
    line(
        1,
        "barrier of the block: the whole batch has arrived",
        SEARCH,
        "const float* rows = batches.enter(batch)",
    ),
    plain(1, "for each group of W points in it, one a lane:"),
    line(
        2,
        "distance \u{2190} squared distance of my point to the query",
        SEARCH,
        "distances[g] = squared_distance<D>(points[g], queries[i]);",
    ),
    line(
        2,
        "candidates \u{2190} ballot(distance < max_distance)",
        BUFFER,
        "unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);",
    ),
    plain(2, "while candidates \u{2260} 0:"),
    line(
        3,
        "slot \u{2190} buffered + popcount(candidates & lanes below me)",
        BUFFER,
        "unsigned slot = buffered + __popc(candidates & lanes_below(lane));",
    ),
    line(
        3,
        "if I vote and slot < K: buffer[slot] \u{2190} (distance, point)",
        BUFFER,
        "buffer[slot] = key_of(distance, base + lane);",
    ),
    plain(3, "buffered \u{2190} buffered + slots written"),
    line(3, "if buffered = K: merge", BUFFER, "if (buffered == CAPACITY) {"),
    line(
        3,
        "candidates \u{2190} ballot(I vote, had no slot, and distance < max_distance)",
        BUFFER,
        "candidate && !appends && distance < max_distance",
    ),
    line(1, "barrier of the block: all warps have read the batch", SEARCH, "batches.leave(batch);"),
    line(0, "if buffered > 0: fill the buffer up with \u{221e}, merge", BUFFER, "buffer[slot] = PADDING;"),
    line(
        0,
        "the first k elements are the neighbours",
        BUFFER,
        "__device__ __forceinline__ void write(const AnswerRow& row) const {",
    ),
    plain(0, ""),
    plain(0, "merge:"),
    line(
        1,
        "barrier of the warp: all lanes have written their candidates",
        BUFFER,
        "// Other lanes wrote the slots that a lane reads.",
    ),
    line(1, "swap the buffer and the registers", BUFFER, "keys[r] = candidate;"),
    plain(1, "for size \u{2190} 2, 4, \u{2026} K, for stride \u{2190} size/2, \u{2026} 2, 1:"),
    line(
        2,
        "stride \u{2265} R: other \u{2190} shuffle(mine, lane ^ stride/R); keep the smaller or the larger",
        NETWORK,
        "Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);",
    ),
    line(
        2,
        "stride < R: compare and exchange two registers of my own",
        NETWORK,
        "exchange_in_lane(keys[low], keys[low + STRIDE], ascending(low));",
    ),
    line(
        1,
        "barrier of the warp: the intermediate result is in the buffer",
        BUFFER,
        "// shuffles of the sort do not order shared memory, so that takes a barrier.",
    ),
    line(
        1,
        "element i \u{2190} min(element i, element K\u{2212}1\u{2212}i of the buffer)",
        BUFFER,
        "Key other = buffer[(R - 1 - r) * WARP + (WARP - 1 - lane)];",
    ),
    line(
        1,
        "barrier of the warp: all lanes have read the buffer",
        BUFFER,
        "// The next appends must not overtake these reads.",
    ),
    plain(1, "for stride \u{2190} K/2, \u{2026} 2, 1:"),
    line(
        2,
        "stride \u{2265} R: other \u{2190} shuffle(mine, lane ^ stride/R); keep the smaller or the larger",
        NETWORK,
        "Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);",
    ),
    line(
        2,
        "stride < R: compare and exchange two registers of my own",
        NETWORK,
        "exchange_in_lane(keys[low], keys[low + STRIDE], ascending(low));",
    ),
    plain(1, "buffered \u{2190} 0"),
    line(
        1,
        "max_distance \u{2190} distance of element k\u{2212}1",
        BUFFER,
        "max_distance = distance_of(element(k - 1));",
    ),
];

fn line_of_scan(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Batch { .. } => 1,
        Step::Group { .. } => 4,
        Step::Ballot { .. } => 5,
        Step::Positions { .. } => 7,
        Step::Appended { .. } => 8,
        Step::BufferFull => 10,
        Step::FilteredAgain { .. } => 11,
        Step::Padded { .. } => 13,
        Step::Finished => 14,
        Step::Swap => 18,
        Step::Layer { pass: SortPass::Sort, shuffle: Some(_), .. } => 20,
        Step::Layer { pass: SortPass::Sort, shuffle: None, .. } => 21,
        Step::Minimum { .. } => 23,
        Step::Layer { pass: SortPass::Resort, shuffle: Some(_), .. } => 26,
        Step::Layer { pass: SortPass::Resort, shuffle: None, .. } => 27,
        Step::MaxDistance { .. } => 29,
        _ => return None,
    })
}

// The counts of a search with a candidate buffer, as a baseline for others.

/// Counts of a search with a candidate buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCounts {
    /// Points that went into the buffer.
    pub candidates: u32,
    /// Merges of the buffer.
    pub merges: u32,
    /// Keys that merges brought into the intermediate result.
    pub keys_merged: u32,
}

impl BufferCounts {
    /// Counts the steps of a recorded search of the kernel's twin.
    pub fn count(recording: &Recording) -> Self {
        let capacity = recording.shape().capacity();
        let mut counts = Self { candidates: 0, merges: 0, keys_merged: 0 };
        let mut merged = 0;
        for step in recording.steps() {
            match step {
                Step::Appended { placed } => counts.candidates += placed.len() as u32,
                Step::Minimum { taken } => {
                    // Padding of the buffer also stays where the intermediate result is padding.
                    counts.keys_merged += (capacity - taken.count()).min(counts.candidates - merged);
                    merged = counts.candidates;
                }
                Step::MaxDistance { .. } => counts.merges += 1,
                _ => {}
            }
        }
        counts
    }
}
