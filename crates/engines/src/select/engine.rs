//! The selectors as engines on the CPU, and their rows in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::vec::Drain;

use multiversion::multiversion;

use super::bits_fused::{self, BitsFused};
use super::{Counts, PointSelector, Selector, cost};
use super::{
    bits, bits_global, distances, merge_path, merge_queue, partial_bitonic, sort, thread_heap, warp_select,
};
use super::{multi_pass, radix_select, sample_select};
use crate::Result;
use crate::cpu::{self, Chunk, CpuSearch, GROUP, Searcher};
use crate::cuda;
use crate::knn::{
    Answer, Buffer, Descriptor, DeviceId, Engine, EngineId, Group, Limits, MemorySpace, Metric, Parameters,
    PreparedSearch, Problem, Shape, code,
};
use crate::lockstep::distance::{GroupedPoints, squared_distances};
use crate::lockstep::{Key, Lanes, distance_of, index_of};

/// The matrix of distances, one row per query.
const MATRIX: Buffer = Buffer::new(MemorySpace::Memory, "row of distances", "a query", Shape::points);

/// The common parts of all selectors' rows.
const SELECTION: Descriptor = Descriptor {
    group: Group::Selection,
    document: "docs/selection.md",
    limits: Limits { k: 0, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    cost: cost::bits,
    ..Descriptor::new(EngineId::new("selection"), |device| {
        open(device, &BITS, bits::selector, cuda::load_bits)
    })
};

/// The registry's row for `bits`.
pub static BITS: Descriptor = Descriptor {
    id: EngineId::new("bits"),
    about: "Bitonic select: one block per query keeps the K smallest sorted in registers and merges a \
            buffer of candidates into them.",
    source: "Hanák 2023, §4.1",
    code: code!["cuda/select/bits.cuh", "crates/engines/src/select/bits.rs"],
    buffers: &[
        Buffer::new(
            MemorySpace::Registers,
            "K smallest so far, sorted, consecutive ones in a thread",
            "a block",
            |shape| bits::capacity(shape.k),
        ),
        Buffer::new(MemorySpace::Shared, "candidate buffer", "a block", |shape| bits::capacity(shape.k)),
        Buffer::new(MemorySpace::Shared, "batches of distances in flight", "a block", |shape| {
            let threads = bits::threads(bits::capacity(shape.k));
            bits::stages(threads) * bits::ITEMS * threads
        }),
        MATRIX,
    ],
    limits: Limits { k: bits::MAX_K, ..SELECTION.limits },
    measures: &bits::MEASURES,
    parameters: &bits::PARAMETERS,
    ..SELECTION
};

/// The registry's row for `bits-global`.
pub static BITS_GLOBAL: Descriptor = Descriptor {
    id: EngineId::new("bits-global"),
    about: "Bitonic select for large k: like bits, but the sorted list is in global memory, and the buffer \
            is half as large.",
    source: "Hanák 2023, §5.6",
    code: code!["cuda/select/bits_global.cuh", "crates/engines/src/select/bits_global.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Shared, "candidate buffer, half as large as the list", "a block", |_| {
            bits_global::SLOTS
        }),
        Buffer::new(MemorySpace::Memory, "K smallest so far, sorted", "a query", |_| bits_global::KEPT),
        MATRIX,
    ],
    limits: Limits { k: bits_global::KEPT, ..SELECTION.limits },
    measures: &bits_global::MEASURES,
    parameters: &bits_global::PARAMETERS,
    cost: cost::bits_global,
    open: |device| open(device, &BITS_GLOBAL, bits_global::selector, cuda::load_bits_global),
    ..SELECTION
};

/// The registry's row for `bits-fused`.
pub static BITS_FUSED: Descriptor = Descriptor {
    id: EngineId::new("bits-fused"),
    about: "Fused bitonic select: distances and selection in one kernel, without a matrix; the lists of \
            eight queries are merged together.",
    source: "Hanák 2023, §4.2",
    code: code!["cuda/select/bits_fused.cuh", "crates/engines/src/select/bits_fused.rs"],
    buffers: &[
        Buffer::new(
            MemorySpace::Registers,
            "distances of eight queries to eight groups of points",
            "a lane",
            |_| bits_fused::QUERIES * bits_fused::GROUPS,
        ),
        Buffer::new(
            MemorySpace::Shared,
            "K smallest so far of each of eight queries, sorted",
            "a warp",
            |shape| bits_fused::QUERIES * bits_fused::capacity(shape.k),
        ),
        Buffer::new(MemorySpace::Shared, "candidate buffers of eight queries", "a warp", |shape| {
            bits_fused::QUERIES * bits_fused::capacity(shape.k)
        }),
        Buffer::new(MemorySpace::Shared, "window of points, four dimensions of each", "a block", |_| {
            32 * bits_fused::GROUPS * 4
        }),
        Buffer::new(MemorySpace::Memory, "points", "all queries", Shape::points),
    ],
    limits: Limits { k: bits_fused::MAX_K, ..SELECTION.limits },
    measures: &bits_fused::MEASURES,
    cost: cost::bits_fused,
    open: |device| open(device, &BITS_FUSED, |shape, _| BitsFused::new(shape), cuda::load_bits_fused),
    ..SELECTION
};

/// The registry's row for `warp-select`.
pub static WARP_SELECT: Descriptor = Descriptor {
    id: EngineId::new("warp-select"),
    about: "Warp select: one warp per query, with a short queue in each lane; all queues are merged when \
            one contains only neighbours.",
    source: "Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3",
    code: code!["cuda/select/warp_select.cuh", "crates/engines/src/select/warp_select.rs"],
    lesson: Some("warp-select"),
    buffers: &[
        Buffer::new(MemorySpace::Registers, "K smallest so far, sorted", "a warp", |shape| {
            warp_select::capacity(shape.k)
        }),
        Buffer::new(MemorySpace::Registers, "queue of candidates, largest first", "a lane", |shape| {
            warp_select::default_queue(shape.k)
        }),
        MATRIX,
    ],
    limits: Limits { k: warp_select::MAX_K, ..SELECTION.limits },
    measures: &warp_select::MEASURES,
    parameters: &warp_select::PARAMETERS,
    cost: cost::warp_select,
    open: |device| {
        open(
            device,
            &WARP_SELECT,
            |shape, parameters| warp_select::selector(shape, parameters, 1),
            cuda::load_warp_select,
        )
    },
    ..SELECTION
};

/// The registry's row for `block-select`.
pub static BLOCK_SELECT: Descriptor = Descriptor {
    id: EngineId::new("block-select"),
    about: "Block select: like warp-select, but the warps of a block share a query and merge their results \
            at the end.",
    source: "Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3",
    code: code!["cuda/select/warp_select.cuh", "crates/engines/src/select/warp_select.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Registers, "K smallest so far, sorted", "a warp", |shape| {
            warp_select::capacity(shape.k)
        }),
        Buffer::new(MemorySpace::Registers, "queue of candidates, largest first", "a lane", |shape| {
            warp_select::default_queue(shape.k)
        }),
        Buffer::new(MemorySpace::Shared, "results of half of the warps, at the end", "a block", |shape| {
            let capacity = warp_select::capacity(shape.k);
            warp_select::block_select_warps(capacity) / 2 * capacity
        }),
        MATRIX,
    ],
    limits: Limits { k: warp_select::MAX_K, ..SELECTION.limits },
    measures: &warp_select::MEASURES,
    parameters: &warp_select::PARAMETERS,
    cost: cost::warp_select,
    open: |device| open(device, &BLOCK_SELECT, warp_select::block_selector, cuda::load_block_select),
    ..SELECTION
};

/// The registry's row for `merge-queue`.
pub static MERGE_QUEUE: Descriptor = Descriptor {
    id: EngineId::new("merge-queue"),
    about: "Merge queue: one warp per query, with sorted levels that double in size; a level is merged with \
            the next when the next one's largest key exceeds its own.",
    source: "Tang et al. 2015; Hanák 2023, §3.6.2",
    code: code!["cuda/select/merge_queue.cuh", "crates/engines/src/select/merge_queue.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Registers, "first level, sorted, largest first", "a warp", |_| 32),
        Buffer::new(
            MemorySpace::Shared,
            "all levels; from the third on, each is twice as large as the previous",
            "a warp",
            |shape| merge_queue::capacity(shape.k),
        ),
        Buffer::new(MemorySpace::Shared, "candidate buffer", "a warp", |_| 128),
        MATRIX,
    ],
    limits: Limits { k: merge_queue::MAX_K, ..SELECTION.limits },
    measures: &merge_queue::MEASURES,
    parameters: &merge_queue::PARAMETERS,
    cost: cost::merge_queue,
    open: |device| open(device, &MERGE_QUEUE, merge_queue::selector, cuda::load_merge_queue),
    ..SELECTION
};

/// The registry's row for `thread-heap`. It reports no active threads: at each point a warp takes as many
/// steps as the lane that sifts deepest, which per-query counts do not show.
pub static THREAD_HEAP: Descriptor = Descriptor {
    id: EngineId::new("thread-heap"),
    about: "Thread heap: one thread per query with a binary heap; the baseline that shows what divergence \
            costs a selection.",
    source: "Hanák 2023, §3.6.1",
    code: code!["cuda/select/thread_heap.cuh", "crates/engines/src/select/thread_heap.rs"],
    lesson: Some("heap"),
    buffers: &[
        Buffer::new(MemorySpace::Registers, "root of the heap", "a thread", |_| 1),
        Buffer::new(MemorySpace::Shared, "tile of distances, transposed", "a warp", |_| 32 * 32),
        Buffer::new(MemorySpace::Shared, "heap of the k smallest so far", "a thread", |shape| shape.k)
            .only_if(|shape| shape.k <= thread_heap::MAX_SHARED_K),
        Buffer::new(MemorySpace::Memory, "heap of the k smallest so far", "a thread", |shape| shape.k)
            .only_if(|shape| shape.k > thread_heap::MAX_SHARED_K),
        MATRIX,
    ],
    limits: Limits { k: thread_heap::MAX_K, ..SELECTION.limits },
    measures: &thread_heap::MEASURES,
    parameters: &thread_heap::PARAMETERS,
    cost: cost::thread_heap,
    open: |device| open(device, &THREAD_HEAP, thread_heap::selector, cuda::load_thread_heap),
    ..SELECTION
};

/// The registry's row for `partial-bitonic`.
pub static PARTIAL_BITONIC: Descriptor = Descriptor {
    id: EngineId::new("partial-bitonic"),
    about: "Partial bitonic sort: one block per query sorts chunk after chunk and merges each into the K \
            smallest, without a filter.",
    source: "Hanák 2023, §3.5.1",
    code: code!["cuda/select/partial_bitonic.cuh", "crates/engines/src/select/partial_bitonic.rs"],
    buffers: &[
        Buffer::new(
            MemorySpace::Registers,
            "chunk of K distances that is sorted",
            "a warp or a block",
            |shape| partial_bitonic::capacity(shape.k),
        ),
        Buffer::new(MemorySpace::Shared, "K smallest so far, sorted", "a warp or a block", |shape| {
            partial_bitonic::capacity(shape.k)
        }),
        MATRIX,
    ],
    limits: Limits { k: partial_bitonic::MAX_K, ..SELECTION.limits },
    measures: &partial_bitonic::MEASURES,
    parameters: &partial_bitonic::PARAMETERS,
    cost: cost::partial_bitonic,
    open: |device| open(device, &PARTIAL_BITONIC, partial_bitonic::selector, cuda::load_partial_bitonic),
    ..SELECTION
};

/// The registry's row for `merge-path`.
pub static MERGE_PATH: Descriptor = Descriptor {
    id: EngineId::new("merge-path"),
    about: "Merge path: like partial-bitonic, but threads sort and merge runs; each finds its part of a \
            merge by binary search.",
    source: "Hanák 2023, §3.4.2",
    code: code!["cuda/select/merge_path.cuh", "crates/engines/src/select/merge_path.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Registers, "keys that a thread sorts by itself", "a thread", |_| {
            merge_path::KEYS
        }),
        Buffer::new(
            MemorySpace::Shared,
            "runs that are merged, and the K smallest so far",
            "a block",
            |shape| 2 * merge_path::capacity(shape.k),
        ),
        MATRIX,
    ],
    limits: Limits { k: merge_path::MAX_K, ..SELECTION.limits },
    measures: &merge_path::MEASURES,
    parameters: &merge_path::PARAMETERS,
    cost: cost::merge_path,
    open: |device| open(device, &MERGE_PATH, merge_path::selector, cuda::load_merge_path),
    ..SELECTION
};

/// The registry's row for `sample-select`.
pub static SAMPLE_SELECT: Descriptor = Descriptor {
    id: EngineId::new("sample-select"),
    about: "Sample select: splitters from a sample divide distances into buckets, pass after pass, until \
            the k-th is found; any k.",
    source: "Ribizel and Anzt 2020; Hanák 2023, §3.7.1, §4.3",
    code: code![
        "cuda/select/sample_select.cuh",
        "cuda/select/sample.cuh",
        "cuda/select/multi_pass.cuh",
        "crates/engines/src/select/sample_select.rs"
    ],
    buffers: &[
        Buffer::new(
            MemorySpace::Shared,
            "splitters as a search tree, and counts of the buckets",
            "a block",
            |_| sample_select::MAX_BUCKETS,
        ),
        Buffer::new(MemorySpace::Memory, "bucket of the k-th", "a query", |shape| shape.n / 2),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &multi_pass::MEASURES,
    parameters: &sample_select::PARAMETERS,
    cost: cost::sample_select,
    open: |device| open(device, &SAMPLE_SELECT, sample_select::sample_select, cuda::load_sample_select),
    ..SELECTION
};

/// The registry's row for `radix-select`.
pub static RADIX_SELECT: Descriptor = Descriptor {
    id: EngineId::new("radix-select"),
    about: "Radix select: digits divide distances into buckets, the most significant first, until the k-th \
            is found; any k.",
    source: "Alabi, Blanchard, Gordon and Steinbach 2012; Hanák 2023, §3.7.2",
    code: code![
        "cuda/select/radix_select.cuh",
        "cuda/select/multi_pass.cuh",
        "crates/engines/src/select/radix_select.rs"
    ],
    lesson: Some("radix-select"),
    buffers: &[
        Buffer::new(MemorySpace::Shared, "counts of the digits", "a block", |_| 1 << 8),
        Buffer::new(MemorySpace::Memory, "bucket of the k-th", "a query", |shape| shape.n / 2),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &multi_pass::MEASURES,
    parameters: &radix_select::PARAMETERS,
    cost: cost::radix_select,
    open: |device| open(device, &RADIX_SELECT, radix_select::radix_select, cuda::load_radix_select),
    ..SELECTION
};

/// The registry's row for `sort`.
pub static SORT: Descriptor = Descriptor {
    id: EngineId::new("sort"),
    about: "A radix sort of all distances of a query: the baseline of all selectors; any k.",
    source: "Satish, Harris and Garland 2009; Hanák 2023, §3.4.3",
    code: code!["cuda/select/sort.cuh", "crates/engines/src/select/sort.rs"],
    buffers: &[
        Buffer::new(MemorySpace::Shared, "digit counts, and a tile sorted by digit", "a block", |_| {
            1 << sort::SORT_BITS
        }),
        Buffer::new(MemorySpace::Memory, "distances and positions, twice", "a query", |shape| 2 * shape.n),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &sort::MEASURES,
    parameters: &sort::PARAMETERS,
    cost: cost::sort,
    open: |device| open(device, &SORT, sort::selector, cuda::load_sort),
    ..SELECTION
};

/// The registry's row for `distance-matrix`.
pub static DISTANCES_ALONE: Descriptor = Descriptor {
    id: EngineId::new("distance-matrix"),
    about: "Times several distance-matrix kernels and counts errors of the expanded form; bits computes the \
            answer, untimed.",
    source: "Hanák 2023, §3.3 and §5.2",
    code: code![
        "cuda/select/distances.cuh",
        "cuda/select/expanded.cuh",
        "crates/engines/src/select/distances.rs"
    ],
    buffers: &[
        Buffer::new(MemorySpace::Registers, "distances of eight queries to eight points", "a thread", |_| 64),
        Buffer::new(
            MemorySpace::Shared,
            "tiles of points and queries, eight dimensions of each, twice",
            "a block",
            |_| 2 * 2 * 128 * 8,
        ),
        MATRIX,
    ],
    limits: Limits { k: distances::MAX_K, ..SELECTION.limits },
    measures: &distances::MEASURES,
    parameters: &distances::PARAMETERS,
    // The expanded form computes products instead of distances.
    distances: |n, parameters, _| distances::is_exact(distances::kernel_name(parameters)).then_some(n as f64),
    open: |device| match device {
        DeviceId::Cpu => cpu::open(&DISTANCES_ALONE, "CPU, distances", None, distances::load),
        DeviceId::Gpu(_) | DeviceId::Gpus(_) => {
            cuda::open_selector(device, &DISTANCES_ALONE, cuda::load_distances)
        }
    },
    ..SELECTION
};

/// Opens a selector: on the CPU `selector` makes it for a problem's shape and parameters, on a GPU `on_gpu`
/// does.
fn open<S: PointSelector + 'static>(
    device: DeviceId,
    descriptor: &'static Descriptor,
    selector: fn(&Shape, &Parameters) -> S,
    on_gpu: cuda::LoadSelector,
) -> Result<Box<dyn Engine>> {
    match device {
        DeviceId::Gpu(_) | DeviceId::Gpus(_) => cuda::open_selector(device, descriptor, on_gpu),
        DeviceId::Cpu => cpu::open(descriptor, "CPU, selection", None, move |problem, parameters| {
            load(descriptor, problem, selector(&problem.shape(), parameters))
        }),
    }
}

/// Queries per work item, unless more are answered together.
const BLOCK: usize = 4;

fn load<'p, S: PointSelector + 'static>(
    descriptor: &'static Descriptor,
    problem: &'p Problem,
    selector: S,
) -> Result<Box<dyn PreparedSearch + 'p>> {
    // Per thread: distances, working copies, and results.
    let of_thread = selector.bytes_per_thread(&problem.shape()) + size_of::<Key>() * problem.k();
    let rows = (of_thread * rayon::current_num_threads()) as u64;
    let (points, setup) = cpu::grouped(problem, rows + cpu::counts_bytes::<Counts>(problem))?;
    Ok(Box::new(CpuSearch::new(problem, setup, SelectionSearcher { descriptor, points, selector })))
}

struct SelectionSearcher<S> {
    descriptor: &'static Descriptor,
    points: Arc<GroupedPoints<GROUP>>,
    selector: S,
}

/// Computes a query's distances to groups of points. Those to padding are infinite.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn compute_row(
    points: &GroupedPoints<GROUP>,
    groups: Range<usize>,
    query: &[f32],
    distances: &mut Vec<Lanes<f32, GROUP>>,
) {
    distances.clear();
    for group in groups {
        let [of_group] = squared_distances(points.range(group..group + 1), [query]);
        distances.push(of_group);
    }
}

/// A selector that reads a row of computed distances.
impl PointSelector for Selector {
    fn batch_size(&self) -> usize {
        1
    }

    fn bytes_per_thread(&self, shape: &Shape) -> usize {
        let [of_distance, of_neighbour] = self.bytes;
        (4 + of_distance) * shape.n + of_neighbour * shape.k
    }

    fn answer(&self, points: &GroupedPoints<GROUP>, queries: &[&[f32]], put: &mut dyn FnMut(&[Key], Counts)) {
        let (mut row, mut found) = (Vec::with_capacity(points.groups()), Vec::new());
        for query in queries {
            compute_row(points, 0..points.groups(), query, &mut row);
            let counts = self.select(&row.as_flattened()[..points.n()], &mut found);
            put(&found, counts);
        }
    }

    fn resolved(&self) -> Parameters {
        self.parameters.clone()
    }
}

impl<S: PointSelector> Searcher for SelectionSearcher<S> {
    type Visits = Counts;

    fn queries_per_thread(&self) -> usize {
        BLOCK.max(self.selector.batch_size())
    }

    fn search(&mut self, chunk: Chunk<'_, Counts>) {
        let (problem, points, selector) = (chunk.problem, &self.points, &self.selector);
        let (dims, batch) = (problem.dims(), selector.batch_size());
        chunk.in_blocks(self.queries_per_thread(), |wanted, rows| {
            let range = rows.first()..rows.first() + wanted.len() / dims;
            // All queries that are answered together with one of the range.
            for first in (range.start / batch * batch..range.end).step_by(batch) {
                let queries: Vec<&[f32]> =
                    problem.queries().chunks_exact(dims).skip(first).take(batch).collect();
                let mut query = first;
                selector.answer(points, &queries, &mut |found, counts| {
                    if range.contains(&query) {
                        rows.put(found.iter().map(|&key| (index_of(key), distance_of(key))), counts);
                    }
                    query += 1;
                });
            }
        });
    }

    fn collect(&self, visits: Drain<'_, Counts>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend_rows(self.descriptor.measures, visits);
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        self.selector.resolved()
    }
}
