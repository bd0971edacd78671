//! A selection by digits.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use super::kernel::BufferCounts;
use super::{Algorithm, CodeLine, Pseudocode, SpecificStep, line, plain};
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::select::RADIX_SELECT;
use crate::knn::Descriptor;
use crate::recording::Recording;
use crate::step::Step;
pub use state::RadixSelectStep;

// Radix select, with the kernel as its baseline.

/// Final counts of radix select, and of the kernel for the same neighbours.
#[derive(Clone, Debug)]
pub struct RadixSelectBaseline {
    /// The squared distances of all points, by position.
    pub distances: Vec<f32>,
    /// Distances read, in all passes and to gather the neighbours.
    pub reads: u32,
    /// Passes until the k-th was known.
    pub passes: u32,
    /// Counts of the kernel's twin.
    pub buffer: BufferCounts,
}

impl RadixSelectBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&RADIX_SELECT, "radix select's twin");
}

impl Algorithm for RadixSelectBaseline {
    fn code(&self) -> &'static Pseudocode {
        &SELECTION
    }

    fn round_names(&self) -> [&'static str; 2] {
        ["pass", "passes"]
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [None, Some("Pass"), None]
    }

    fn initial_words(&self) -> &'static str {
        "no distance is computed yet"
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
        let trace = cuda.trace_passes(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (recorder::compare(&trace, twin)?, trace.device)))
    }
}

// Radix select in a few lines of pseudocode, and the matching lines of `cuda/`.

/// Radix select: its passes, then its answer.
pub static SELECTION: Pseudocode = Pseudocode {
    lines: &DIGITS,
    second_part: 10,
    titles: [
        "Radix selection, in short",
        "Radix selection, in short: its passes",
        "Radix selection, in short: its answer",
    ],
    line_of: line_of_digits,
};

const PASSES: &str = "select/multi_pass.cuh";

const DIGITS: [CodeLine; 14] = [
    plain(0, "distances \u{2190} those of all points; bits \u{2190} these as numbers"),
    plain(0, "left \u{2190} all points; rank \u{2190} k"),
    plain(0, "for each digit, the most significant one first:"),
    line(
        1,
        "counts \u{2190} how many that are left have which digit",
        PASSES,
        "atomicAdd(&memory.counters[bucket[item] * copies + copy], 1);",
    ),
    line(
        1,
        "sums \u{2190} the counts, added up",
        PASSES,
        "unsigned below = block::exclusive_sum(own, memory.sums);",
    ),
    line(
        1,
        "bucket \u{2190} the first whose sum \u{2265} rank",
        PASSES,
        "memory.found = {bucket, below, size};",
    ),
    plain(1, "rank \u{2190} rank \u{2212} the sum before it; left \u{2190} its points"),
    plain(1, "if rank = the number that are left: stop"),
    line(
        1,
        "if no more than half of what was read is left: write them side by side",
        PASSES,
        "ClassCounts taken = in_order(memory.order, source, class_of",
    ),
    plain(0, ""),
    plain(0, "look at all points once more:"),
    line(
        1,
        "keep those before the bucket, and the first of it up to rank",
        PASSES,
        "in_order(memory.order, last, class_of",
    ),
    plain(1, "sort these k"),
    plain(0, "they are the neighbours"),
];

fn line_of_digits(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Own(SpecificStep::RadixSelect(step)) => match step {
            RadixSelectStep::Digits { .. } => 0,
            RadixSelectStep::Counted { .. } => 3,
            RadixSelectStep::Summed { .. } => 4,
            RadixSelectStep::Bucket { .. } => 5,
            RadixSelectStep::Narrowed => 8,
            RadixSelectStep::Gathered { .. } => 11,
            RadixSelectStep::Sorted => 12,
        },
        Step::Finished => 13,
        _ => return None,
    })
}
