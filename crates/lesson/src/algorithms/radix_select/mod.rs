//! A selection by digits.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use std::sync::LazyLock;

use super::kernel::BufferCounts;
use super::{Algorithm, Pseudocode, SpecificStep};
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
pub static SELECTION: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        [
            "Radix selection, in short",
            "Radix selection, in short: its passes",
            "Radix selection, in short: its answer",
        ],
        include_str!("code.txt"),
        line_of_digits,
    )
});

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
