//! The kernel's search: it evaluates every point and collects candidates in a buffer.

pub(crate) mod describe;
mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;

use std::sync::LazyLock;

use super::heap::recorder::record_lanes;
use super::{Algorithm, Pseudocode};
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
pub static KERNEL: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        ["The kernel, in short", "The kernel, in short: its search", "The kernel, in short: its merge"],
        include_str!("code.txt"),
        line_of_scan,
    )
});

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
