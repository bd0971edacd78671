//! What a search with a candidate buffer counts, for others to be held against.

use crate::recording::Recording;
use crate::step::Step;

/// What a search with a candidate buffer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffered {
    /// Points that went into the buffer.
    pub candidates: u32,
    /// Merges of the buffer.
    pub merges: u32,
    /// Keys that merges brought into the intermediate result.
    pub came: u32,
}

impl Buffered {
    /// Counts the steps of a recorded search of the kernel's twin.
    pub fn of(recording: &Recording) -> Self {
        let capacity = recording.shape().capacity();
        let mut counts = Self { candidates: 0, merges: 0, came: 0 };
        let mut merged = 0;
        for step in recording.steps() {
            match step {
                Step::Appended { placed } => counts.candidates += placed.len() as u32,
                Step::Minimum { taken } => {
                    // What pads the buffer stays where the intermediate result is padding, too.
                    counts.came += (capacity - taken.count()).min(counts.candidates - merged);
                    merged = counts.candidates;
                }
                Step::MaxDistance { .. } => counts.merges += 1,
                _ => {}
            }
        }
        counts
    }
}
