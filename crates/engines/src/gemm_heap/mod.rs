//! The peer on the processor: all products of points and queries by a matrix product, and a heap for each query's nearest (Hanák 2023, §5.6.1).
//!
//! | file | holds |
//! |---|---|
//! | `filter.rs` | which points the products leave, and why no neighbour is missed |
//! | `inner_product.rs` | the k largest inner products |
//! | `margin.rs` | which points the products leave there, and why none is missed |
//! | `product.rs` | the matrix product |
//! | `cost.rs` | the cost model |
//!
//! Queries in blocks are shared between threads. A block meets the points block by block; what a product leaves is computed by the rule of
//! [`crate::knn::Problem`], and goes into the heap if it is nearer than the farthest there. So the answers are those of every engine to the bit.

mod cost;
mod filter;
mod inner_product;
mod margin;
mod product;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::blocks::{Kept, Rows, answer_in_blocks};
use super::kdtree_threads::Heap;
use super::lockstep::{distance_of, key_of};
use super::{host_memory, processor};
use crate::knn::distance::squared_distances;
use crate::knn::{
    Answer, Build, Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Group, Keeps, Limits, Measure, Metric, Neighbors,
    Parameters, Place, Problem, Search, SetupPhase, Shape, code,
};
use filter::{Bound, Filter};

/// The largest k: that of the selectors that it is compared with.
const MOST_K: usize = 2048;

/// Products that are looked at together.
const CHUNK: usize = 64;

/// The most queries of a block.
const MOST_QUERIES: usize = 64;

/// The columns of `counters.csv`.
static MEASURES: [Measure; 2] = [
    Measure {
        name: "candidates",
        unit: ["candidate", "candidates"],
        help: "Points that the product leaves, whose distances are computed by the rule; the last digits of products are the processor's.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
    Measure {
        name: "inserts",
        unit: ["insert", "inserts"],
        help: "Points nearer than the farthest in the heap, which took its place.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
];

/// The registry's row for `gemm-heap`.
pub static GEMM_HEAP: Descriptor = Descriptor {
    id: EngineId::new("gemm-heap"),
    group: Group::Selection,
    about: "Matrix product and heaps on the processor: the peer that the selectors of a GPU are held against.",
    source: "Hanák 2023, §5.6.1",
    code: code!["crates/engines/src/gemm_heap/mod.rs"],
    document: "docs/selection.md",
    lesson: None,
    runs_on: &[DeviceKind::Cpu],
    keeps: &[
        Keeps::new(Place::Memory, "products of a block of queries with 1,024 points", "a thread", |_| 64 * 1024),
        Keeps::new(Place::Memory, "heap of the k nearest so far", "a query", |shape| shape.k),
        Keeps::new(Place::Memory, "points about their mean, and their norms", "all queries", Shape::points),
    ],
    limits: Limits { k: MOST_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &MEASURES,
    convergence: None,
    active_threads: None,
    phases: &[],
    parameters: &[],
    is_exhaustive: true,
    distances: |_, _, _| None,
    twin_of: None,
    cost: |shape, _| cost::cost(shape),
    traces: false,
    walk: None,
    within: None,
    inner_products: Some(inner_product::open),
    open: |_| Ok(Box::new(GemmHeap)),
};

/// Bytes that `gemm` packs matrices into in each thread: a level-two cache's worth of one, and a panel of the other.
const PACKED: usize = 4 << 20;

/// The engine. It runs everywhere.
#[derive(Debug)]
struct GemmHeap;

impl Engine for GemmHeap {
    fn descriptor(&self) -> &'static Descriptor {
        &GEMM_HEAP
    }

    fn device_id(&self) -> DeviceId {
        DeviceId::Cpu
    }

    fn device(&self) -> DeviceInfo {
        DeviceInfo { id: Some(self.device_id()), name: "CPU, matrix product".to_owned(), details: processor::details() }
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, _parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        let there = problem.cache().get(DeviceId::Cpu, |_: &Filter| true);
        let (threads, dims) = (rayon::current_num_threads(), problem.dims());
        let of_filter = if there.is_some() { 0 } else { filter::bytes(problem.n(), dims) };
        // Of each thread: products, queries about the centre, heaps, and what `gemm` packs.
        let of_thread = MOST_QUERIES * (4 * filter::block_points(problem.n()) + 4 * dims + 8 * problem.k()) + PACKED;
        host_memory::check(problem, (of_filter + threads.min(problem.q()) * of_thread + size_of::<Counts>() * problem.q()) as u64)?;
        let resident = there.is_some();
        let start = Instant::now();
        let filter = there.unwrap_or_else(|| {
            let filter = Arc::new(Filter::new(problem.points(), dims));
            problem.cache().insert(DeviceId::Cpu, Arc::clone(&filter));
            filter
        });
        let upload_ms = (!resident).then(|| start.elapsed().as_secs_f64() * 1e3);
        let neighbors = Neighbors::unanswered(problem.q(), problem.k());
        Ok(Box::new(GemmSearch { problem, filter, upload_ms, neighbors, kept: Kept::default() }))
    }
}

/// What is counted of a query, in the order of [`MEASURES`].
type Counts = [u32; 2];

/// A problem, and its points about their centre.
struct GemmSearch<'a> {
    problem: &'a Problem,
    filter: Arc<Filter>,
    upload_ms: Option<f64>,
    neighbors: Neighbors,
    /// Of the last search.
    kept: Kept<Counts>,
}

impl Search for GemmSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.upload_ms.map(|ms| (SetupPhase::Upload, ms)).into_iter().collect()
    }

    fn resident(&self) -> bool {
        self.upload_ms.is_none()
    }

    fn first_chunk(&self) -> usize {
        (rayon::current_num_threads() * MOST_QUERIES).min(self.problem.q())
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        let start = Instant::now();
        let (problem, filter) = (self.problem, &self.filter);
        // As many blocks as threads, where there are few queries.
        let block = queries.len().div_ceil(rayon::current_num_threads()).clamp(1, MOST_QUERIES);
        answer_in_blocks(problem, queries, block, build, &mut self.neighbors, &mut self.kept, |queries, rows| answer(problem, filter, queries, rows));
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        let start = Instant::now();
        neighbors.clone_from(&self.neighbors);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        self.kept.collect(&MEASURES, answer, |counts| counts);
        Ok(())
    }
}

/// The nearest of a query that were met, and what a product must reach to be looked at.
struct Nearest {
    heap: Heap,
    bound: Bound,
    limit: f32,
    counts: Counts,
}

/// Answers a block of queries.
fn answer(problem: &Problem, filter: &Filter, queries: &[f32], rows: &mut Rows<'_, Counts>) {
    let dims = problem.dims();
    let centred = filter.centred(queries);
    let nearest = |query| {
        let bound = filter.bound(query);
        Nearest { heap: Heap::new(problem.k()), limit: bound.limit(f32::INFINITY), bound, counts: Counts::default() }
    };
    let mut nearest: Vec<Nearest> = centred.chunks_exact(dims).map(nearest).collect();
    let (mut products, mut positions, mut distances) = (Vec::new(), Vec::new(), Vec::new());
    for block in filter.blocks() {
        product::multiply(block.columns, &centred, dims, &mut products);
        let of_queries = queries.chunks_exact(dims).zip(products.chunks_exact(products.len() / nearest.len()));
        for (nearest, (query, products)) in nearest.iter_mut().zip(of_queries) {
            for (chunk, (products, terms)) in products.chunks(CHUNK).zip(block.terms.chunks(CHUNK)).enumerate() {
                if !filter::any_reaches(products, terms, nearest.limit) {
                    continue;
                }
                let first = block.first + (chunk * CHUNK) as u32;
                let limit = nearest.limit;
                let left = (first..).zip(products.iter().zip(terms)).filter(|(_, (product, term))| filter::reaches(**product, **term, limit));
                positions.clear();
                positions.extend(left.map(|(position, _)| position));
                squared_distances(problem.points(), query, &positions, &mut distances);
                nearest.take(&positions, &distances);
            }
        }
    }
    for mut nearest in nearest {
        nearest.heap.sort();
        rows.put(nearest.heap.neighbours(), nearest.counts);
    }
}

impl Nearest {
    /// Takes those points that are nearer than the farthest.
    fn take(&mut self, positions: &[u32], distances: &[f32]) {
        self.counts[0] += positions.len() as u32;
        for (&position, &distance) in positions.iter().zip(distances) {
            let key = key_of(distance, position);
            if key < self.heap.root() {
                self.heap.replace(key);
                self.counts[1] += 1;
            }
        }
        self.limit = self.bound.limit(distance_of(self.heap.root()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lockstep::PADDING;

    /// The k nearest by the engine's parts, and by the rule alone.
    fn both(points: &[f32], queries: &[f32], dims: usize, k: usize) -> [Vec<u64>; 2] {
        let filter = Filter::new(points, dims);
        let centred = filter.centred(queries);
        let n = points.len() / dims;
        let all: Vec<u32> = (0..n as u32).collect();
        let (mut products, mut distances) = (Vec::new(), Vec::new());
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for (query, about) in queries.chunks_exact(dims).zip(centred.chunks_exact(dims)) {
            squared_distances(points, query, &all, &mut distances);
            let mut keys: Vec<u64> = all.iter().zip(&distances).map(|(&position, &distance)| key_of(distance, position)).collect();
            keys.sort_unstable();
            keys.resize(keys.len().max(k), PADDING);
            expected.extend_from_slice(&keys[..k]);
            // The tightest limit that there ever is leaves all of them.
            let limit = filter.bound(about).limit(distance_of(keys[k - 1]));
            let mut left = Vec::new();
            for block in filter.blocks() {
                product::multiply(block.columns, about, dims, &mut products);
                for (position, (&product, &term)) in (block.first..).zip(products.iter().zip(block.terms)) {
                    if filter::reaches(product, term, limit) {
                        left.push(key_of(distances[position as usize], position));
                    }
                }
            }
            left.sort_unstable();
            left.resize(left.len().max(k), PADDING);
            found.extend_from_slice(&left[..k]);
        }
        [found, expected]
    }

    proptest! {
        #[test]
        fn no_neighbour_is_missed(
            values in proptest::collection::vec(-1.0f32..1.0, 40..400),
            dims in 1usize..9,
            k in 1usize..20,
            exponent in -60i32..60,
            offset in prop_oneof![Just(0.0f32), -1e4f32..1e4],
        ) {
            let scale = 2f32.powi(exponent);
            let values: Vec<f32> = values.iter().map(|value| (value + offset) * scale).collect();
            let values = &values[..values.len() / dims * dims];
            let [found, expected] = both(values, &values[..dims * 3], dims, k);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn products_beyond_f32_leave_everything() {
        // Partial sums overflow though distances do not: the sum would be infinite, or no number.
        let big = 1.8e19f32;
        let points: Vec<f32> = [[big, big, -big, -big], [big, big, big, big], [-big, -big, big, big], [0.0, 0.0, 0.0, 0.0]].concat();
        let [found, expected] = both(&points, &points, 4, 2);
        assert_eq!(found, expected);
    }

    #[test]
    fn far_from_the_points_little_is_left() {
        let points: Vec<f32> = (0..5000u16).flat_map(|i| [1e6 + f32::from(i % 71), 1e6 + f32::from(i / 71)]).collect();
        let filter = Filter::new(&points, 2);
        let query = filter.centred(&[1e6 + 35.0, 1e6 + 35.0]);
        let (limit, mut products) = (filter.bound(&query).limit(4.0), Vec::new());
        let left = filter.blocks().map(|block| {
            product::multiply(block.columns, &query, 2, &mut products);
            products.iter().zip(block.terms).filter(|(product, term)| filter::reaches(**product, **term, limit)).count()
        });
        assert_eq!(left.sum::<usize>(), 13, "the points of a grid within 2 of one of them");
    }
}
