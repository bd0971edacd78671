//! The CPU baseline of the selectors: computes all products of points and queries by a matrix product and
//! keeps each query's nearest in a heap (Hanák 2023, §5.6.1).
//!
//! | file | holds |
//! |---|---|
//! | `filter.rs` | which points pass the filter, and the proof that no neighbour is missed |
//! | `inner_product.rs` | the same for the k largest inner products |
//! | `product.rs` | the matrix product |
//!
//! Threads take blocks of queries. For each block of points, the points that pass the filter get their
//! distances by the rule of [`crate::knn::Problem`], and enter the heap if they are nearer than the farthest
//! there. So the answers are bit-identical to those of every engine.

mod filter;
mod inner_product;
mod product;

use std::sync::Arc;
use std::vec::Drain;

use super::cpu::{self, AnswerWriter, Chunk, CpuSearch, Searcher};
use super::kdtree_threads::Heap;
use super::lockstep::{distance_of, key_of};
use crate::Result;
use crate::knn::distance::squared_distances;
use crate::knn::{
    Answer, Buffer, Cost, Descriptor, DeviceKind, EngineId, Group, Limits, Measure, MemorySpace, Metric,
    Parameters, PreparedSearch, Problem, SetupPhase, Shape, code,
};
use filter::{Bound, PointBlocks};

/// The largest k, equal to that of the selectors it is compared with.
const MAX_K: usize = 2048;

/// Products that are tested together.
const CHUNK: usize = 64;

/// The most queries per block.
const MAX_QUERIES: usize = 64;

/// The columns of `counters.csv`.
static MEASURES: [Measure; 2] = [
    Measure {
        name: "candidates",
        unit: ["candidate", "candidates"],
        help: "Points that pass the filter, so that their distances are computed by the rule; the exact \
               number depends on the CPU.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
    Measure {
        name: "inserts",
        unit: ["insert", "inserts"],
        help: "Points that replaced the farthest in the heap.",
        theory: None,
        worst_case: Some(|shape| shape.n as f64),
    },
];

/// The registry's row for `gemm-heap`.
pub static GEMM_HEAP: Descriptor = Descriptor {
    group: Group::Selection,
    about: "Matrix product and heaps on the CPU: the baseline that the selectors of a GPU are compared with.",
    source: "Hanák 2023, §5.6.1",
    code: code!["crates/engines/src/gemm_heap/mod.rs"],
    document: "docs/selection.md",
    runs_on: &[DeviceKind::Cpu],
    buffers: &[
        Buffer::new(
            MemorySpace::Memory,
            "products of a block of queries with 1,024 points",
            "a thread",
            |_| 64 * 1024,
        ),
        Buffer::new(MemorySpace::Memory, "heap of the k nearest so far", "a query", |shape| shape.k),
        Buffer::new(
            MemorySpace::Memory,
            "points relative to their mean, and their norms",
            "all queries",
            Shape::points,
        ),
    ],
    limits: Limits { k: MAX_K, d: usize::MAX, n: u32::MAX as usize, metrics: &Metric::ALL },
    measures: &MEASURES,
    distances: |_, _, _| None,
    cost: |shape, _| cost(shape),
    inner_products: Some(inner_product::open),
    ..Descriptor::new(EngineId::new("gemm-heap"), |_| {
        cpu::open(&GEMM_HEAP, "CPU, matrix product", None, load)
    })
};

/// Bytes per thread for the matrices that `gemm` packs: one fills the L2 cache, of the other it packs a
/// panel.
const PACKED: usize = 4 << 20;

/// The counters of a query, in the order of [`MEASURES`].
type Counts = [u32; 2];

/// Translates the points to their mean, unless that is cached.
fn load<'a>(problem: &'a Problem, _parameters: &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> {
    let (n, dims) = (problem.n(), problem.dims());
    // Per thread: products, translated queries, heaps, and the buffers of `gemm`.
    let of_thread = MAX_QUERIES * (4 * filter::block_points(n) + 4 * dims + 8 * problem.k()) + PACKED;
    let search_bytes = (rayon::current_num_threads().min(problem.q()) * of_thread) as u64
        + cpu::counts_bytes::<Counts>(problem);
    let make = || PointBlocks::new(problem.points(), dims);
    let (filter, setup) =
        cpu::prepared(problem, SetupPhase::Upload, filter::bytes(n, dims) as u64, search_bytes, make)?;
    Ok(Box::new(CpuSearch::new(problem, setup, GemmHeap { filter })))
}

/// The points relative to their mean.
struct GemmHeap {
    filter: Arc<PointBlocks>,
}

impl Searcher for GemmHeap {
    type Visits = Counts;

    fn queries_per_thread(&self) -> usize {
        MAX_QUERIES
    }

    fn search(&mut self, chunk: Chunk<'_, Counts>) {
        let problem = chunk.problem;
        // With few queries, one block per thread.
        let block = chunk.queries.len().div_ceil(rayon::current_num_threads()).clamp(1, MAX_QUERIES);
        chunk.in_blocks(block, |queries, rows| answer(problem, &self.filter, queries, rows));
    }

    fn collect(&self, visits: Drain<'_, Counts>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend(&MEASURES, visits);
        Ok(())
    }
}

/// Cost of translating the points and of searching. The search is divided among the threads. Rates are for
/// one core of a 2023 server.
fn cost(shape: &Shape) -> Cost {
    let (n, q, d, k) = (shape.n as f64, shape.q as f64, shape.d as f64, shape.k as f64);
    let threads = q.clamp(1.0, rayon::current_num_threads() as f64);
    let pairs = n * q / threads;
    // Points that are among the k nearest when they are visited.
    let inserts = k * (1.0 + (n / k).max(1.0).ln()) * q / threads;
    Cost::default()
        .setup("allocation", 1.0, 0.02)
        .setup("centre", n * d, 2e-6)
        .search("launch", 1.0, 0.05)
        .search("product", pairs * d, 3e-8)
        .search("limits", pairs, 4e-7)
        .search("heaps", inserts * (d + 4.0 * (k + 1.0).log2()), 3e-6)
}

/// The nearest points of a query so far, and the limit that a product must reach.
struct QueryState {
    heap: Heap,
    bound: Bound,
    limit: f32,
    counts: Counts,
}

/// Answers a block of queries.
fn answer(problem: &Problem, filter: &PointBlocks, queries: &[f32], rows: &mut AnswerWriter<'_, Counts>) {
    let dims = problem.dims();
    let centred = filter.centred(queries);
    let nearest = |query| {
        let bound = filter.bound(query);
        QueryState {
            heap: Heap::new(problem.k()),
            limit: bound.limit(f32::INFINITY),
            bound,
            counts: Counts::default(),
        }
    };
    let mut nearest: Vec<QueryState> = centred.chunks_exact(dims).map(nearest).collect();
    let (mut products, mut positions, mut distances) = (Vec::new(), Vec::new(), Vec::new());
    for block in filter.blocks() {
        product::multiply(block.columns, &centred, dims, &mut products);
        let of_queries =
            queries.chunks_exact(dims).zip(products.chunks_exact(products.len() / nearest.len()));
        for (nearest, (query, products)) in nearest.iter_mut().zip(of_queries) {
            for (chunk, (products, terms)) in
                products.chunks(CHUNK).zip(block.terms.chunks(CHUNK)).enumerate()
            {
                if !filter::any_reaches(products, terms, nearest.limit) {
                    continue;
                }
                let first = block.first + (chunk * CHUNK) as u32;
                let limit = nearest.limit;
                let left = (first..)
                    .zip(products.iter().zip(terms))
                    .filter(|(_, (product, term))| filter::reaches(**product, **term, limit));
                positions.clear();
                positions.extend(left.map(|(position, _)| position));
                squared_distances(problem.points(), query, &positions, &mut distances);
                nearest.insert(&positions, &distances);
            }
        }
    }
    for mut nearest in nearest {
        nearest.heap.sort();
        rows.put(nearest.heap.neighbours(), nearest.counts);
    }
}

impl QueryState {
    /// Inserts the points that are nearer than the farthest.
    fn insert(&mut self, positions: &[u32], distances: &[f32]) {
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

    /// The k nearest by this engine, and by the rule alone.
    fn both(points: &[f32], queries: &[f32], dims: usize, k: usize) -> [Vec<u64>; 2] {
        let filter = PointBlocks::new(points, dims);
        let centred = filter.centred(queries);
        let n = points.len() / dims;
        let all: Vec<u32> = (0..n as u32).collect();
        let (mut products, mut distances) = (Vec::new(), Vec::new());
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for (query, about) in queries.chunks_exact(dims).zip(centred.chunks_exact(dims)) {
            squared_distances(points, query, &all, &mut distances);
            let mut keys: Vec<u64> =
                all.iter().zip(&distances).map(|(&position, &distance)| key_of(distance, position)).collect();
            keys.sort_unstable();
            keys.resize(keys.len().max(k), PADDING);
            expected.extend_from_slice(&keys[..k]);
            // The tightest limit that a search can reach lets all of them pass.
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
        fn filter_never_drops_a_neighbour(
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
    fn overflowing_products_pass_the_filter() {
        // Partial sums overflow though distances do not: the result would be infinite or NaN.
        let big = 1.8e19f32;
        let points: Vec<f32> =
            [[big, big, -big, -big], [big, big, big, big], [-big, -big, big, big], [0.0, 0.0, 0.0, 0.0]]
                .concat();
        let [found, expected] = both(&points, &points, 4, 2);
        assert_eq!(found, expected);
    }

    #[test]
    fn filter_is_selective_far_from_the_origin() {
        let points: Vec<f32> =
            (0..5000u16).flat_map(|i| [1e6 + f32::from(i % 71), 1e6 + f32::from(i / 71)]).collect();
        let filter = PointBlocks::new(&points, 2);
        let query = filter.centred(&[1e6 + 35.0, 1e6 + 35.0]);
        let (limit, mut products) = (filter.bound(&query).limit(4.0), Vec::new());
        let left = filter.blocks().map(|block| {
            product::multiply(block.columns, &query, 2, &mut products);
            products
                .iter()
                .zip(block.terms)
                .filter(|(product, term)| filter::reaches(**product, **term, limit))
                .count()
        });
        assert_eq!(left.sum::<usize>(), 13, "the points of a grid within 2 of one of them");
    }
}
