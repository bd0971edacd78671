//! The selectors as engines on the CPU, and their rows in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use multiversion::multiversion;

use super::bits::{self, Bits};
use super::bits_fused::{self, BitsFused};
use super::bits_global::{self, BitsGlobal};
use super::distances::{self, DistancesAlone};
use super::merge_path::{self, MergePath};
use super::merge_queue::{self, MergeQueue};
use super::partial_bitonic::{self, PartialBitonic};
use super::sort::{self, Sort};
use super::thread_heap::{self, ThreadHeap};
use super::warp_select::{self, WarpSelect};
use super::{Counts, FromPoints, Selector, cost};
use super::{multi_pass, radix_select, sample_select};
use crate::blocks::{Kept, answer_in_blocks};
use crate::cuda::{self, CudaSelect};
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Metric, Neighbors, Parameters,
    Place, Problem, Search, SetupPhase, Shape, code,
};
use crate::lockstep::distance::{GroupedPoints, squared_distances};
use crate::lockstep::{Key, Lanes, distance_of, index_of};
use crate::{host_memory, processor};

/// An engine that is a selector, on both devices.
pub struct Kind {
    pub descriptor: &'static Descriptor,
    /// The selector for a problem's sizes, on the CPU.
    pub selector: fn(&Shape, &Parameters) -> Box<dyn FromPoints>,
    /// The same on a GPU.
    pub on_gpu: cuda::LoadSelector,
}

/// The matrix of distances, a row a query.
const MATRIX: Keeps = Keeps::new(Place::Memory, "row of distances", "a query", Shape::points);

/// What the rows of all selectors have in common.
const SELECTION: Descriptor = Descriptor {
    id: EngineId::new("selection"),
    group: Group::Selection,
    about: "",
    source: "",
    code: &[],
    document: "docs/selection.md",
    lesson: None,
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
    keeps: &[],
    limits: Limits { k: 0, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &[],
    convergence: None,
    active_threads: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: true,
    distances: |n, _, _| Some(n as f64),
    twin_of: None,
    cost: cost::bits,
    traces: false,
    walk: None,
    within: None,
    inner_products: None,
    open: |device| open(device, &BITS_KIND),
};

/// The registry's row for `bits`.
pub static BITS: Descriptor = Descriptor {
    id: EngineId::new("bits"),
    about: "Bitonic select: a block a query sorts the K smallest in registers and merges a buffer of candidates into them.",
    source: "Hanák 2023, §4.1",
    code: code!["cuda/select/bits.cuh", "crates/engines/src/select/bits.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "K smallest so far, sorted, consecutive ones in a thread", "a block", |shape| bits::capacity(shape.k)),
        Keeps::new(Place::Shared, "candidate buffer", "a block", |shape| bits::capacity(shape.k)),
        Keeps::new(Place::Shared, "batches of distances under way", "a block", |shape| {
            let threads = bits::threads(bits::capacity(shape.k));
            bits::stages(threads) * bits::ITEMS * threads
        }),
        MATRIX,
    ],
    limits: Limits { k: bits::MOST_K, ..SELECTION.limits },
    measures: &bits::MEASURES,
    parameters: &bits::PARAMETERS,
    ..SELECTION
};

/// The registry's row for `bits-global`.
pub static BITS_GLOBAL: Descriptor = Descriptor {
    id: EngineId::new("bits-global"),
    about: "Bitonic select for large k: as bits, but what is kept lies in global memory, and the buffer holds half as much.",
    source: "Hanák 2023, §5.6",
    code: code!["cuda/select/bits_global.cuh", "crates/engines/src/select/bits_global.rs"],
    keeps: &[
        Keeps::new(Place::Shared, "candidate buffer, half as large", "a block", |_| bits_global::SLOTS),
        Keeps::new(Place::Memory, "K smallest so far, sorted", "a query", |_| bits_global::KEPT),
        MATRIX,
    ],
    limits: Limits { k: bits_global::KEPT, ..SELECTION.limits },
    measures: &bits_global::MEASURES,
    parameters: &bits_global::PARAMETERS,
    cost: cost::bits_global,
    open: |device| open(device, &BITS_GLOBAL_KIND),
    ..SELECTION
};

/// The registry's row for `bits-fused`.
pub static BITS_FUSED: Descriptor = Descriptor {
    id: EngineId::new("bits-fused"),
    about: "Fused bitonic select: distances and selection in one kernel, without a matrix; the lists of eight queries are merged together.",
    source: "Hanák 2023, §4.2",
    code: code!["cuda/select/bits_fused.cuh", "crates/engines/src/select/bits_fused.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "distances of eight queries to eight groups of points", "a lane", |_| bits_fused::QUERIES * bits_fused::GROUPS),
        Keeps::new(Place::Shared, "K smallest so far of each of eight queries, sorted", "a warp", |shape| {
            bits_fused::QUERIES * bits_fused::capacity(shape.k)
        }),
        Keeps::new(Place::Shared, "candidate buffers of eight queries", "a warp", |shape| bits_fused::QUERIES * bits_fused::capacity(shape.k)),
        Keeps::new(Place::Shared, "window of points, four dimensions of each", "a block", |_| 32 * bits_fused::GROUPS * 4),
        Keeps::new(Place::Memory, "points", "all queries", Shape::points),
    ],
    limits: Limits { k: bits_fused::MOST_K, ..SELECTION.limits },
    measures: &bits_fused::MEASURES,
    cost: cost::bits_fused,
    open: |device| open(device, &BITS_FUSED_KIND),
    ..SELECTION
};

/// The registry's row for `warp-select`.
pub static WARP_SELECT: Descriptor = Descriptor {
    id: EngineId::new("warp-select"),
    about: "Warp select: a warp a query, each lane with a short queue; all are merged when one of them holds nothing but neighbours.",
    source: "Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3",
    code: code!["cuda/select/warp_select.cuh", "crates/engines/src/select/warp_select.rs"],
    lesson: Some("warp-select"),
    keeps: &[
        Keeps::new(Place::Registers, "K smallest so far, sorted", "a warp", |shape| warp_select::capacity(shape.k)),
        Keeps::new(Place::Registers, "queue of candidates, largest first", "a lane", |shape| warp_select::default_queue(shape.k)),
        MATRIX,
    ],
    limits: Limits { k: warp_select::MOST_K, ..SELECTION.limits },
    measures: &warp_select::MEASURES,
    parameters: &warp_select::PARAMETERS,
    cost: cost::warp_select,
    open: |device| open(device, &WARP_SELECT_KIND),
    ..SELECTION
};

/// The registry's row for `block-select`.
pub static BLOCK_SELECT: Descriptor = Descriptor {
    id: EngineId::new("block-select"),
    about: "Block select: as warp-select, but the warps of a block share a query and merge what they found at the end.",
    source: "Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3",
    code: code!["cuda/select/warp_select.cuh", "crates/engines/src/select/warp_select.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "K smallest so far, sorted", "a warp", |shape| warp_select::capacity(shape.k)),
        Keeps::new(Place::Registers, "queue of candidates, largest first", "a lane", |shape| warp_select::default_queue(shape.k)),
        Keeps::new(Place::Shared, "what half of the warps found, at the end", "a block", |shape| {
            let capacity = warp_select::capacity(shape.k);
            warp_select::block_select_warps(capacity) / 2 * capacity
        }),
        MATRIX,
    ],
    limits: Limits { k: warp_select::MOST_K, ..SELECTION.limits },
    measures: &warp_select::MEASURES,
    parameters: &warp_select::PARAMETERS,
    cost: cost::warp_select,
    open: |device| open(device, &BLOCK_SELECT_KIND),
    ..SELECTION
};

/// The registry's row for `merge-queue`.
pub static MERGE_QUEUE: Descriptor = Descriptor {
    id: EngineId::new("merge-queue"),
    about: "Merge queue: a warp a query with sorted levels that double in size, each merged with the next when its largest is too small.",
    source: "Tang et al. 2015; Hanák 2023, §3.6.2",
    code: code!["cuda/select/merge_queue.cuh", "crates/engines/src/select/merge_queue.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "first level, sorted, largest first", "a warp", |_| 32),
        Keeps::new(Place::Shared, "all levels, each but the second twice as large as the one before", "a warp", |shape| {
            merge_queue::capacity(shape.k)
        }),
        Keeps::new(Place::Shared, "buffer of candidates", "a warp", |_| 128),
        MATRIX,
    ],
    limits: Limits { k: merge_queue::MOST_K, ..SELECTION.limits },
    measures: &merge_queue::MEASURES,
    parameters: &merge_queue::PARAMETERS,
    cost: cost::merge_queue,
    open: |device| open(device, &MERGE_QUEUE_KIND),
    ..SELECTION
};

/// The registry's row for `thread-heap`. A warp takes as many steps as the deepest of its lanes sinks at each point, which no query's own counts
/// tell: so there are no active threads.
pub static THREAD_HEAP: Descriptor = Descriptor {
    id: EngineId::new("thread-heap"),
    about: "Thread heap: a thread a query with a binary heap, the baseline that shows what divergence costs a selection.",
    source: "Hanák 2023, §3.6.1",
    code: code!["cuda/select/thread_heap.cuh", "crates/engines/src/select/thread_heap.rs"],
    lesson: Some("heap"),
    keeps: &[
        Keeps::new(Place::Registers, "root of the heap", "a thread", |_| 1),
        Keeps::new(Place::Shared, "tile of distances, turned", "a warp", |_| 32 * 32),
        Keeps::new(Place::Shared, "heap of the k smallest so far", "a thread", |shape| shape.k).only_if(|shape| shape.k <= thread_heap::MOST_SHARED),
        Keeps::new(Place::Memory, "heap of the k smallest so far", "a thread", |shape| shape.k).only_if(|shape| shape.k > thread_heap::MOST_SHARED),
        MATRIX,
    ],
    limits: Limits { k: thread_heap::MOST_K, ..SELECTION.limits },
    measures: &thread_heap::MEASURES,
    parameters: &thread_heap::PARAMETERS,
    cost: cost::thread_heap,
    open: |device| open(device, &THREAD_HEAP_KIND),
    ..SELECTION
};

/// The registry's row for `partial-bitonic`.
pub static PARTIAL_BITONIC: Descriptor = Descriptor {
    id: EngineId::new("partial-bitonic"),
    about: "Partial bitonic sort: a block a query sorts chunk after chunk and merges each into the K smallest, with no filter before it.",
    source: "Hanák 2023, §3.5.1",
    code: code!["cuda/select/partial_bitonic.cuh", "crates/engines/src/select/partial_bitonic.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "chunk of K distances that is sorted", "a warp or a block", |shape| partial_bitonic::capacity(shape.k)),
        Keeps::new(Place::Shared, "K smallest so far, sorted", "a warp or a block", |shape| partial_bitonic::capacity(shape.k)),
        MATRIX,
    ],
    limits: Limits { k: partial_bitonic::MOST_K, ..SELECTION.limits },
    measures: &partial_bitonic::MEASURES,
    parameters: &partial_bitonic::PARAMETERS,
    cost: cost::partial_bitonic,
    open: |device| open(device, &PARTIAL_BITONIC_KIND),
    ..SELECTION
};

/// The registry's row for `merge-path`.
pub static MERGE_PATH: Descriptor = Descriptor {
    id: EngineId::new("merge-path"),
    about: "Merge path: as partial-bitonic, but runs are sorted and merged by threads that each find their part of a merge by binary search.",
    source: "Hanák 2023, §3.4.2",
    code: code!["cuda/select/merge_path.cuh", "crates/engines/src/select/merge_path.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "keys that a thread sorts by itself", "a thread", |_| merge_path::KEYS),
        Keeps::new(Place::Shared, "runs that are merged, and the K smallest so far", "a block", |shape| 2 * merge_path::capacity(shape.k)),
        MATRIX,
    ],
    limits: Limits { k: merge_path::MOST_K, ..SELECTION.limits },
    measures: &merge_path::MEASURES,
    parameters: &merge_path::PARAMETERS,
    cost: cost::merge_path,
    open: |device| open(device, &MERGE_PATH_KIND),
    ..SELECTION
};

/// The registry's row for `sample-select`.
pub static SAMPLE_SELECT: Descriptor = Descriptor {
    id: EngineId::new("sample-select"),
    about: "Sample select: splitters from a sample divide distances into buckets, pass after pass, until the k-th is found; for any k.",
    source: "Ribizel and Anzt 2020; Hanák 2023, §3.7.1, §4.3",
    code: code![
        "cuda/select/sample_select.cuh",
        "cuda/select/sample.cuh",
        "cuda/select/multi_pass.cuh",
        "crates/engines/src/select/sample_select.rs"
    ],
    keeps: &[
        Keeps::new(Place::Shared, "splitters as a search tree, and counts of the buckets", "a block", |_| sample_select::MOST_BUCKETS),
        Keeps::new(Place::Memory, "bucket of the k-th", "a query", |shape| shape.n / 2),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &multi_pass::MEASURES,
    parameters: &sample_select::PARAMETERS,
    cost: cost::sample_select,
    open: |device| open(device, &SAMPLE_SELECT_KIND),
    ..SELECTION
};

/// The registry's row for `radix-select`.
pub static RADIX_SELECT: Descriptor = Descriptor {
    id: EngineId::new("radix-select"),
    about: "Radix select: digits divide distances into buckets, the most significant first, until the k-th is found; for any k.",
    source: "Alabi, Blanchard, Gordon and Steinbach 2012; Hanák 2023, §3.7.2",
    code: code!["cuda/select/radix_select.cuh", "cuda/select/multi_pass.cuh", "crates/engines/src/select/radix_select.rs"],
    lesson: Some("radix-select"),
    keeps: &[
        Keeps::new(Place::Shared, "counts of the digits", "a block", |_| 1 << 8),
        Keeps::new(Place::Memory, "bucket of the k-th", "a query", |shape| shape.n / 2),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &multi_pass::MEASURES,
    parameters: &radix_select::PARAMETERS,
    cost: cost::radix_select,
    open: |device| open(device, &RADIX_SELECT_KIND),
    ..SELECTION
};

/// The registry's row for `sort`.
pub static SORT: Descriptor = Descriptor {
    id: EngineId::new("sort"),
    about: "A radix sort of all distances of a query: the baseline of every selection, for any k.",
    source: "Satish, Harris and Garland 2009; Hanák 2023, §3.4.3",
    code: code!["cuda/select/sort.cuh", "crates/engines/src/select/sort.rs"],
    keeps: &[
        Keeps::new(Place::Shared, "counts of the digits, and a tile in their order", "a block", |_| 1 << sort::SORT_BITS),
        Keeps::new(Place::Memory, "distances and positions, twice", "a query", |shape| 2 * shape.n),
        MATRIX,
    ],
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &sort::MEASURES,
    parameters: &sort::PARAMETERS,
    cost: cost::sort,
    open: |device| open(device, &SORT_KIND),
    ..SELECTION
};

/// The registry's row for `distance-matrix`.
pub static DISTANCES_ALONE: Descriptor = Descriptor {
    id: EngineId::new("distance-matrix"),
    about: "The distances alone: how long the matrix takes by several kernels, and what its expanded form gets wrong; bits answers, untimed.",
    source: "Hanák 2023, §3.3 and §5.2",
    code: code!["cuda/select/distances.cuh", "cuda/select/expanded.cuh", "crates/engines/src/select/distances.rs"],
    keeps: &[
        Keeps::new(Place::Registers, "distances of eight queries to eight points", "a thread", |_| 64),
        Keeps::new(Place::Shared, "tiles of points and queries, eight dimensions of each, twice", "a block", |_| 2 * 2 * 128 * 8),
        MATRIX,
    ],
    limits: Limits { k: distances::MOST_K, ..SELECTION.limits },
    measures: &distances::MEASURES,
    parameters: &distances::PARAMETERS,
    // The expanded form computes products.
    distances: |n, parameters, _| distances::is_exact(distances::kernel_of(parameters)).then_some(n as f64),
    open: |device| match device {
        DeviceId::Cpu => Ok(Box::new(DistancesAlone { kind: &DISTANCES_KIND })),
        DeviceId::Gpu(_) => open(device, &DISTANCES_KIND),
    },
    ..SELECTION
};

static DISTANCES_KIND: Kind = Kind { descriptor: &DISTANCES_ALONE, on_gpu: cuda::load_distances, ..BITS_KIND };

static BITS_KIND: Kind = Kind { descriptor: &BITS, selector: |shape, parameters| Box::new(Bits::new(shape, parameters)), on_gpu: cuda::load_bits };

static BITS_GLOBAL_KIND: Kind =
    Kind { descriptor: &BITS_GLOBAL, selector: |shape, parameters| Box::new(BitsGlobal::new(shape, parameters)), on_gpu: cuda::load_bits_global };

static BITS_FUSED_KIND: Kind = Kind { descriptor: &BITS_FUSED, selector: |shape, _| Box::new(BitsFused::new(shape)), on_gpu: cuda::load_bits_fused };

static WARP_SELECT_KIND: Kind =
    Kind { descriptor: &WARP_SELECT, selector: |shape, parameters| Box::new(WarpSelect::new(shape, parameters, 1)), on_gpu: cuda::load_warp_select };

static BLOCK_SELECT_KIND: Kind = Kind {
    descriptor: &BLOCK_SELECT,
    selector: |shape, parameters| Box::new(WarpSelect::new(shape, parameters, warp_select::block_select_warps(warp_select::capacity(shape.k)))),
    on_gpu: cuda::load_block_select,
};

static MERGE_QUEUE_KIND: Kind =
    Kind { descriptor: &MERGE_QUEUE, selector: |shape, parameters| Box::new(MergeQueue::new(shape, parameters)), on_gpu: cuda::load_merge_queue };

static THREAD_HEAP_KIND: Kind =
    Kind { descriptor: &THREAD_HEAP, selector: |shape, parameters| Box::new(ThreadHeap::new(shape, parameters)), on_gpu: cuda::load_thread_heap };

static PARTIAL_BITONIC_KIND: Kind = Kind {
    descriptor: &PARTIAL_BITONIC,
    selector: |shape, parameters| Box::new(PartialBitonic::new(shape, parameters)),
    on_gpu: cuda::load_partial_bitonic,
};

static MERGE_PATH_KIND: Kind =
    Kind { descriptor: &MERGE_PATH, selector: |shape, parameters| Box::new(MergePath::new(shape, parameters)), on_gpu: cuda::load_merge_path };

static SORT_KIND: Kind = Kind { descriptor: &SORT, selector: |shape, parameters| Box::new(Sort::new(shape, parameters)), on_gpu: cuda::load_sort };

static SAMPLE_SELECT_KIND: Kind = Kind {
    descriptor: &SAMPLE_SELECT,
    selector: |shape, parameters| Box::new(sample_select::sample_select(shape, parameters)),
    on_gpu: cuda::load_sample_select,
};

static RADIX_SELECT_KIND: Kind = Kind {
    descriptor: &RADIX_SELECT,
    selector: |shape, parameters| Box::new(radix_select::radix_select(shape, parameters)),
    on_gpu: cuda::load_radix_select,
};

fn open(device: DeviceId, kind: &'static Kind) -> Result<Box<dyn Engine>, EngineError> {
    match device {
        DeviceId::Cpu => Ok(Box::new(Select { kind })),
        DeviceId::Gpu(_) => Ok(Box::new(CudaSelect::open_on(device, kind)?)),
    }
}

/// Lanes of a group of points.
pub const GROUP: usize = 32;

/// Queries per parallel work item, where they are not answered together.
const BLOCK: usize = 4;

/// A selector on the CPU. It runs everywhere.
struct Select {
    kind: &'static Kind,
}

impl Engine for Select {
    fn descriptor(&self) -> &'static Descriptor {
        self.kind.descriptor
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, selection".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let selector = (self.kind.selector)(&problem.shape(), parameters);
        // Distances of each thread, what becomes of them, and what is found in them.
        let of_thread = selector.bytes_of_thread(problem.n()) + size_of::<Key>() * problem.k();
        let rows = (of_thread * rayon::current_num_threads()) as u64;
        let (points, upload_ms) = grouped(problem, rows + (size_of::<Counts>() * problem.q()) as u64)?;
        let neighbors = Neighbors::unanswered(problem.q(), problem.k());
        Ok(Box::new(SelectSearch { kind: self.kind, problem, points, upload_ms, selector, neighbors, kept: Kept::default() }))
    }
}

/// A problem's points in groups, which are kept with them, and the milliseconds of grouping them, unless they were there. `extra`: the bytes
/// that the search will take beside them.
///
/// # Errors
/// [`EngineError::HostMemory`].
pub fn grouped(problem: &Problem, extra: u64) -> Result<(Arc<GroupedPoints<GROUP>>, Option<f64>), EngineError> {
    let there = problem.cache().get(DeviceId::Cpu, |_: &GroupedPoints<GROUP>| true);
    host_memory::check(problem, extra + if there.is_some() { 0 } else { size_of_val(problem.points()) as u64 })?;
    if let Some(points) = there {
        return Ok((points, None));
    }
    let start = Instant::now();
    let points = Arc::new(GroupedPoints::new(problem.points(), problem.dims()));
    problem.cache().insert(DeviceId::Cpu, Arc::clone(&points));
    Ok((points, Some(start.elapsed().as_secs_f64() * 1e3)))
}

/// A problem, and its points.
struct SelectSearch<'a> {
    kind: &'static Kind,
    problem: &'a Problem,
    points: Arc<GroupedPoints<GROUP>>,
    upload_ms: Option<f64>,
    selector: Box<dyn FromPoints>,
    neighbors: Neighbors,
    /// Of the last search.
    kept: Kept<Counts>,
}

impl SelectSearch<'_> {
    /// Queries per parallel work item.
    fn block(&self) -> usize {
        BLOCK.max(self.selector.together())
    }
}

/// Computes a query's distances to groups of points. Those of what pads the last group are infinite.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn row_of(points: &GroupedPoints<GROUP>, groups: Range<usize>, query: &[f32], distances: &mut Vec<Lanes<f32, GROUP>>) {
    distances.clear();
    for group in groups {
        let [of_group] = squared_distances(points.range(group..group + 1), [query]);
        distances.push(of_group);
    }
}

/// A selector with a row of distances before it.
impl<S: Selector> FromPoints for S {
    fn together(&self) -> usize {
        1
    }

    fn bytes_of_thread(&self, n: usize) -> usize {
        4 * n + self.row_bytes(n)
    }

    fn answer(&self, points: &GroupedPoints<GROUP>, queries: &[&[f32]], put: &mut dyn FnMut(&[Key], Counts)) {
        let (mut row, mut found) = (Vec::with_capacity(points.groups()), Vec::new());
        for query in queries {
            row_of(points, 0..points.groups(), query, &mut row);
            let counts = self.select(&row.as_flattened()[..points.n()], &mut found);
            put(&found, counts);
        }
    }

    fn resolved(&self) -> Parameters {
        self.parameters()
    }
}

impl Search for SelectSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.upload_ms.map(|ms| (SetupPhase::Upload, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.upload_ms.is_none()
    }

    fn parameters(&self) -> Parameters {
        self.selector.resolved()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * self.block()).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (problem, points, selector) = (self.problem, &self.points, &self.selector);
        let (dims, together) = (problem.dims(), selector.together());
        answer_in_blocks(problem, queries, self.block(), build, &mut self.neighbors, &mut self.kept, |wanted, rows| {
            let range = rows.first()..rows.first() + wanted.len() / dims;
            // All that are answered together with one of the range.
            for first in (range.start / together * together..range.end).step_by(together) {
                let queries: Vec<&[f32]> = problem.queries().chunks_exact(dims).skip(first).take(together).collect();
                let mut query = first;
                selector.answer(points, &queries, &mut |found, counts| {
                    if range.contains(&query) {
                        rows.put(found.iter().map(|&key| (index_of(key), distance_of(key))), counts);
                    }
                    query += 1;
                });
            }
        });
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.kept.collect_rows(self.kind.descriptor.measures, answer);
        Ok(())
    }
}
