//! Bitonic select for more neighbours than a block's registers hold: 4,096 keys in global memory, a buffer of half as many in shared memory
//! (Hanák 2023, §5.6).
//!
//! Twin of `cuda/select/bits_global.cuh`: the block of `bits`, whose buffer is smaller than what it keeps.

use super::bits::{BOUND, Block, ITEMS, bound_word, sample_of, select_row};
use super::{Counts, DISTANCES, Sample, Selector, TIMED, shared};
use crate::knn::{Measure, Parameter, Parameters, Shape, Theory, theory};
use crate::lockstep::Key;

/// Keys that are kept, the largest k.
pub const KEPT: usize = 4096;

/// Keys of the buffer.
pub const SLOTS: usize = 2048;

/// Threads of a block.
pub const THREADS: usize = 256;

/// The columns of `counters.csv`: those of `bits`.
pub static MEASURES: [Measure; 4] = {
    let [merges, forced, candidates, restarts] = super::bits::MEASURES;
    let mean = |shape: &Shape| theory::expected_merges(shape.n, shape.k, SLOTS);
    [Measure { theory: Some(Theory { mean, condition: "in random order", source: "Hanák 2023, §4.1.6" }), ..merges }, forced, candidates, restarts]
};

/// What can be chosen.
pub static PARAMETERS: [Parameter; 3] = [DISTANCES, TIMED, BOUND];

/// What parameters resolve to. No namesake: of the host.
pub fn resolved(sample: Sample, parameters: &Parameters) -> Parameters {
    Parameters::from_iter(shared(parameters).into_iter().chain([("bound", bound_word(sample).to_owned())]))
}

/// The selector.
pub struct BitsGlobal {
    k: usize,
    sample: Sample,
    parameters: Parameters,
}

impl BitsGlobal {
    pub fn new(shape: &Shape, parameters: &Parameters) -> Self {
        let sample = sample_of(shape, parameters, 1);
        Self { k: shape.k, sample, parameters: resolved(sample, parameters) }
    }
}

impl Selector for BitsGlobal {
    /// No namesake: an entry point there.
    fn select(&self, row: &[f32], found: &mut Vec<Key>) -> Counts {
        select_row(row, self.k, self.sample, Block::new(self.k, KEPT, SLOTS, THREADS), THREADS * ITEMS, found)
    }

    /// No namesake: of the host.
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }
}
