//! Bitonic select for more neighbours than a block's registers hold: 4,096 keys in global memory, and a
//! buffer of half that size in shared memory (Hanák 2023, §5.6).
//!
//! Twin of `cuda/select/bits_global.cuh`: the block of `bits` with a buffer smaller than its list.

use super::bits::{BOUND, Block, ITEMS, bound_word, new_sample, select_row};
use super::{DISTANCES, SamplePlan, Selector, TIMED};
use crate::knn::{MeanBound, Measure, Parameter, Parameters, Shape, theory};

/// Keys in the list, which is the largest k.
pub const KEPT: usize = 4096;

/// Slots of the buffer.
pub const SLOTS: usize = 2048;

/// Threads of a block.
pub const THREADS: usize = 256;

/// The columns of `counters.csv`: those of `bits`.
pub static MEASURES: [Measure; 4] = {
    let [merges, forced, candidates, restarts] = super::bits::MEASURES;
    let mean = |shape: &Shape| theory::expected_merges(shape.n, shape.k, SLOTS);
    [
        Measure {
            theory: Some(MeanBound { mean, condition: "in random order", source: "Hanák 2023, §4.1.6" }),
            ..merges
        },
        forced,
        candidates,
        restarts,
    ]
};

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 3] = [DISTANCES, TIMED, BOUND];

/// The resolved parameters. No CUDA counterpart: host only.
pub fn resolved(sample: SamplePlan, parameters: &Parameters) -> Parameters {
    super::resolved(parameters, [("bound", bound_word(sample).to_owned())])
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let (k, sample) = (shape.k, new_sample(shape, parameters, 1));
    Selector::new(resolved(sample, parameters), move |row, found| {
        select_row(row, k, sample, Block::new(k, KEPT, SLOTS, THREADS), THREADS * ITEMS, found)
    })
}
