//! Bitonic select: one block per query keeps the K smallest of a row sorted and collects candidates in a
//! buffer of K keys (Hanák 2023, §4.1).
//!
//! Twin of `cuda/select/bits.cuh`, whose counted build fills slots in the order of threads, as this code
//! does.

use super::bitonic::BitonicNetwork;
use super::sample::{SamplePlan, sampled_bound};
use super::{Counts, DISTANCES, Selector, TIMED, value_or};
use crate::knn::{AllowedValues, MeanBound, Measure, Parameter, Parameters, Shape, theory};
use crate::lockstep::{Key, PADDING, distance_of, index_of, key_of};

/// Default number of distances that a thread reads at a time, in vectors of four.
pub const ITEMS: usize = 8;

/// Keys per thread if K exceeds the minimum number of threads.
pub const KEYS: usize = 4;
pub const FEWEST_THREADS: usize = 128;

/// Threads of a block with K keys. No CUDA counterpart: a constant of each kernel.
pub fn threads(capacity: usize) -> usize {
    (capacity / KEYS).max(FEWEST_THREADS)
}

/// Batches of a block in shared memory, one of which is being processed. Wide blocks need fewer, because they
/// have enough loads in flight. No CUDA counterpart: a constant.
pub const fn stages(threads: usize) -> usize {
    if threads > FEWEST_THREADS { 2 } else { 3 }
}

/// The largest k.
pub const MAX_K: usize = 2048;

/// The columns of `counters.csv`, in the order of [`Counts`].
pub static MEASURES: [Measure; 4] = [
    Measure {
        theory: Some(MeanBound {
            mean: |shape| theory::expected_merges(shape.n, shape.k, capacity(shape.k)),
            condition: "in random order",
            source: "Hanák 2023, §4.1.6",
        }),
        ..Measure::new("merges", ["merge", "merges"], "Merges of the buffer into the K smallest.")
    },
    Measure::new(
        "forced",
        ["forced merge", "forced merges"],
        "Merges of a buffer that was not full, at the end of a row.",
    ),
    Measure::new(
        "candidates",
        ["candidate", "candidates"],
        "Distances below the bound, added to the buffer.",
    ),
    Measure::new(
        "restarts",
        ["restart", "restarts"],
        "Rows read again because the bound from the sample was too small.",
    ),
];

/// Whether a sample bounds the k-th distance first.
pub(super) const BOUND: Parameter = Parameter {
    name: "bound",
    help: "Whether a sample of a row bounds the k-th distance before the row is read.",
    values: AllowedValues::Words(&["sample", "none"]),
    default: "sample if it should save more time than it takes",
};

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 7] = [
    DISTANCES,
    TIMED,
    BOUND,
    Parameter {
        name: "items",
        help: "Distances that a thread reads at a time; values other than the default are compiled on \
               demand.",
        values: AllowedValues::Words(&["1", "2", "4", "8", "12", "16"]),
        default: "8",
    },
    Parameter {
        name: "slots",
        help: "How the timed search on a GPU allocates buffer slots: each thread by itself, or a warp \
               together; no effect on a CPU.",
        values: AllowedValues::Words(&["atomic", "ballot"]),
        default: "atomic",
    },
    Parameter {
        name: "prefetch",
        help: "Whether a GPU prefetches the batch after the next into its L2 cache; no effect on a CPU.",
        values: AllowedValues::Words(&["on", "off"]),
        default: "off",
    },
    Parameter {
        name: "parts",
        help: "Blocks of a GPU that share a row in the timed search; no effect on a CPU.",
        values: AllowedValues::Numbers(1..=1024),
        default: "1; more if there are too few queries to fill the GPU",
    },
];

/// K: the smallest power of two, at least 128, that holds k. A smaller buffer would cost more in merges than
/// it saves in sorting. No CUDA counterpart: the host chooses the kernel.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(128)
}

/// The sample for a problem of this shape, if a row is divided into `parts` parts. No CUDA counterpart: the
/// host passes it to the kernels.
pub fn new_sample(shape: &Shape, parameters: &Parameters, parts: usize) -> SamplePlan {
    match parameters.get("bound") {
        Some("none") => SamplePlan::default(),
        _ => SamplePlan::new(shape.n, shape.k, parts),
    }
}

/// The value of `bound` for a sample. No CUDA counterpart: host only.
pub(super) fn bound_word(sample: SamplePlan) -> &'static str {
    if sample.is_some() { "sample" } else { "none" }
}

/// Distances that a thread reads at a time. No CUDA counterpart: a macro.
pub fn items(parameters: &Parameters) -> usize {
    parameters.number("items").map_or(ITEMS, |items| items as usize)
}

/// The resolved parameters, if a row is divided into `parts` parts. No CUDA counterpart: the host passes them
/// to the kernels.
pub fn resolved(sample: SamplePlan, parameters: &Parameters, parts: usize) -> Parameters {
    let own = [
        ("bound", bound_word(sample).to_owned()),
        ("items", items(parameters).to_string()),
        ("slots", value_or(parameters, "slots", "atomic")),
        ("prefetch", value_or(parameters, "prefetch", "off")),
        ("parts", parts.to_string()),
    ];
    super::resolved(parameters, own)
}

/// The selector. No CUDA counterpart: an entry point.
pub fn selector(shape: &Shape, parameters: &Parameters) -> Selector {
    let (k, size) = (shape.k, capacity(shape.k));
    let (sample, batch) = (new_sample(shape, parameters, 1), threads(size) * items(parameters));
    let parts = parameters.number("parts").unwrap_or(1) as usize;
    Selector::new(resolved(sample, parameters, parts), move |row, found| {
        select_row(row, k, sample, Block::new(k, size, size, threads(size)), batch, found)
    })
}

pub(super) struct Block {
    k: usize,
    threads: usize,
    /// For the buffer and for the kept keys.
    networks: [BitonicNetwork; 2],
    keys: Vec<Key>,
    slots: usize,
    buffer: Vec<Key>,
    all_taken: usize,
    /// Candidates must be below this key.
    limit: Key,
    /// Candidates must not be above this distance.
    bound: f32,
    counts: Counts,
}

impl Block {
    /// A block of `threads` threads with `size` kept keys and at most `size` buffer slots. The first k kept
    /// keys are the answer.
    pub(super) fn new(k: usize, size: usize, slots: usize, threads: usize) -> Self {
        Self {
            k,
            threads,
            networks: [BitonicNetwork::new(slots, threads), BitonicNetwork::new(size, threads)],
            keys: vec![PADDING; size],
            slots,
            buffer: Vec::with_capacity(slots),
            all_taken: 0,
            limit: 0,
            bound: 0.0,
            counts: Counts::default(),
        }
    }

    fn restart(&mut self, bound: f32) {
        (self.bound, self.limit) = (bound, key_of(bound, 0));
        self.buffer.clear();
        self.all_taken = 0;
        self.keys.fill(PADDING);
    }

    /// Appends all candidates of a batch, in the order in which threads get slots. Merges whenever the buffer
    /// is full.
    fn append_all(&mut self, waiting: &mut Vec<Key>) {
        loop {
            let free = self.slots - self.buffer.len();
            let limit = self.limit;
            waiting.retain(|&key| key < limit);
            let taken = waiting.len().min(free);
            self.buffer.extend(waiting.drain(..taken));
            self.counts[2] += taken as u32;
            self.all_taken += taken;
            if taken < free {
                return;
            }
            self.merge(false);
            if waiting.is_empty() {
                return;
            }
        }
    }

    /// Merges the buffer into the kept keys.
    fn merge(&mut self, forced: bool) {
        self.counts[0] += 1;
        self.counts[1] += u32::from(forced);
        let [of_buffer, of_kept] = self.networks;
        let threads = of_buffer.threads_for(self.buffer.len());
        self.buffer.resize(self.slots, PADDING);
        of_buffer.sort(&mut self.buffer, threads);
        // The smaller of elements i and K - 1 - i; past the buffer's end, the other would be padding.
        for (key, &candidate) in self.keys.iter_mut().rev().zip(&self.buffer) {
            *key = candidate.min(*key);
        }
        of_kept.merge(&mut self.keys);
        self.limit = self.keys[self.k - 1].min(key_of(f32::INFINITY, 0));
        self.bound = distance_of(self.limit);
        self.buffer.clear();
    }
}

/// Collects the candidates of a row, batch by batch.
fn stream(block: &mut Block, row: &[f32], size: usize) {
    let threads = block.threads;
    let width = (size / threads).min(4);
    let mut waiting = Vec::new();
    for (number, batch) in row.chunks(size).enumerate() {
        let bound = block.bound;
        // Most batches have no candidate.
        if !batch.iter().fold(false, |any, &distance| any | (distance <= bound)) {
            continue;
        }
        let candidates = batch.iter().enumerate().filter(|&(_, &distance)| distance <= bound);
        waiting.extend(candidates.map(|(at, &distance)| key_of(distance, (number * size + at) as u32)));
        // Item by item, then thread by thread: a thread's items are vectors of four neighbours (or all of
        // them, if fewer), one block width apart.
        waiting.sort_by_key(|&key| {
            let at = index_of(key) as usize % size;
            let (vector, thread, item) = (at / (width * threads), at / width % threads, at % width);
            (vector * width + item) * threads + thread
        });
        block.append_all(&mut waiting);
    }
}

/// Finds the k smallest of a row, as one block. It reads `batch` distances at a time.
pub(super) fn select_row(
    row: &[f32],
    k: usize,
    sample: SamplePlan,
    mut block: Block,
    batch: usize,
    found: &mut Vec<Key>,
) -> Counts {
    let mut bound = if sample.is_some() { sampled_bound(row, sample) } else { f32::INFINITY };
    loop {
        block.restart(bound);
        stream(&mut block, row, batch);
        // The bound was too small: repeat without a bound.
        if block.all_taken >= k.min(row.len()) || bound == f32::INFINITY {
            break;
        }
        block.counts[3] += 1;
        bound = f32::INFINITY;
    }
    if !block.buffer.is_empty() {
        block.merge(true);
    }
    found.clear();
    found.extend_from_slice(&block.keys[..k]);
    block.counts
}
