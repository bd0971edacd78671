//! The selectors as engines on the CPU, and their rows in the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use multiversion::multiversion;

use super::bits::{self, Bits};
use super::sort::{self, Sort};
use super::warp_select::{self, WarpSelect};
use super::{Counts, Selector, cost};
use super::{multi_pass, radix_select, sample_select};
use crate::engines::blocks::{Kept, answer_in_blocks};
use crate::engines::cuda::{self, CudaSelect};
use crate::engines::lockstep::distance::{GroupedPoints, squared_distances};
use crate::engines::lockstep::{Lanes, distance_of, index_of};
use crate::engines::{host_memory, processor};
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Limits, Metric, Neighbors, Parameters,
    Problem, Search, SetupPhase, Shape,
};

/// An engine that is a selector, on both devices.
pub struct Kind {
    pub descriptor: &'static Descriptor,
    /// The selector for a problem's sizes, on the CPU.
    pub selector: fn(&Shape, &Parameters) -> Box<dyn Selector>,
    /// The same on a GPU.
    pub on_gpu: cuda::LoadSelector,
}

/// What the rows of all selectors have in common.
const SELECTION: Descriptor = Descriptor {
    id: EngineId::new("selection"),
    group: Group::Selection,
    about: "",
    source: "",
    runs_on: &[DeviceKind::Gpu, DeviceKind::Cpu],
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
    open: |device| open(device, &BITS_KIND),
};

/// The registry's row for `bits`.
pub static BITS: Descriptor = Descriptor {
    id: EngineId::new("bits"),
    about: "Bitonic select: a block a query sorts the K smallest in registers and merges a buffer of candidates into them.",
    source: "Hanák 2023, §4.1",
    limits: Limits { k: bits::MOST_K, ..SELECTION.limits },
    measures: &bits::MEASURES,
    parameters: &bits::PARAMETERS,
    ..SELECTION
};

/// The registry's row for `warp-select`.
pub static WARP_SELECT: Descriptor = Descriptor {
    id: EngineId::new("warp-select"),
    about: "Warp select: a warp a query, each lane with a short queue; all are merged when one of them holds nothing but neighbours.",
    source: "Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3",
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
    limits: Limits { k: warp_select::MOST_K, ..SELECTION.limits },
    measures: &warp_select::MEASURES,
    parameters: &warp_select::PARAMETERS,
    cost: cost::warp_select,
    open: |device| open(device, &BLOCK_SELECT_KIND),
    ..SELECTION
};

/// The registry's row for `sample-select`.
pub static SAMPLE_SELECT: Descriptor = Descriptor {
    id: EngineId::new("sample-select"),
    about: "Sample select: splitters from a sample divide distances into buckets, pass after pass, until the k-th is found; for any k.",
    source: "Ribizel and Anzt 2020; Hanák 2023, §3.7.1, §4.3",
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
    limits: Limits { k: u32::MAX as usize, ..SELECTION.limits },
    measures: &sort::MEASURES,
    parameters: &sort::PARAMETERS,
    cost: cost::sort,
    open: |device| open(device, &SORT_KIND),
    ..SELECTION
};

static BITS_KIND: Kind = Kind { descriptor: &BITS, selector: |shape, parameters| Box::new(Bits::new(shape, parameters)), on_gpu: cuda::load_bits };

static WARP_SELECT_KIND: Kind =
    Kind { descriptor: &WARP_SELECT, selector: |shape, parameters| Box::new(WarpSelect::new(shape, parameters, 1)), on_gpu: cuda::load_warp_select };

static BLOCK_SELECT_KIND: Kind = Kind {
    descriptor: &BLOCK_SELECT,
    selector: |shape, parameters| Box::new(WarpSelect::new(shape, parameters, warp_select::WARPS)),
    on_gpu: cuda::load_block_select,
};

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
const WARP: usize = 32;

/// Queries per parallel work item.
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
        let there = problem.cache().get(DeviceId::Cpu, |_: &GroupedPoints<WARP>| true);
        let bytes = if there.is_some() { 0 } else { size_of_val(problem.points()) as u64 };
        let selector = (self.kind.selector)(&problem.shape(), parameters);
        // A row of distances for each thread, and what becomes of it.
        let rows = ((4 * problem.n() + selector.row_bytes(problem.n())) * rayon::current_num_threads()) as u64;
        host_memory::check(problem, bytes + rows + (size_of::<Counts>() * problem.q()) as u64)?;
        let start = Instant::now();
        let resident = there.is_some();
        let points = there.unwrap_or_else(|| {
            let points = Arc::new(GroupedPoints::new(problem.points(), problem.dims()));
            problem.cache().insert(DeviceId::Cpu, Arc::clone(&points));
            points
        });
        let upload_ms = (!resident).then(|| start.elapsed().as_secs_f64() * 1e3);
        let neighbors = Neighbors::unanswered(problem.q(), problem.k());
        Ok(Box::new(SelectSearch { kind: self.kind, problem, points, upload_ms, selector, neighbors, kept: Kept::default() }))
    }
}

/// A problem, and its points.
struct SelectSearch<'a> {
    kind: &'static Kind,
    problem: &'a Problem,
    points: Arc<GroupedPoints<WARP>>,
    upload_ms: Option<f64>,
    selector: Box<dyn Selector>,
    neighbors: Neighbors,
    /// Of the last search.
    kept: Kept<Counts>,
}

/// Computes a query's distances to all points. Those of what pads the last group are infinite.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn row_of(points: &GroupedPoints<WARP>, query: &[f32], distances: &mut Vec<Lanes<f32, WARP>>) {
    distances.clear();
    for group in 0..points.groups() {
        let [of_group] = squared_distances(points.range(group..group + 1), [query]);
        distances.push(of_group);
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
        self.selector.parameters()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * BLOCK).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (points, selector, dims) = (&self.points, &self.selector, self.problem.dims());
        answer_in_blocks(self.problem, queries, BLOCK, build, &mut self.neighbors, &mut self.kept, |queries, rows| {
            let (mut row, mut found) = (Vec::with_capacity(points.groups()), Vec::new());
            for query in queries.chunks_exact(dims) {
                row_of(points, query, &mut row);
                let counts = selector.select(&row.as_flattened()[..points.n()], &mut found);
                rows.put(found.iter().map(|&key| (index_of(key), distance_of(key))), counts);
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
