//! The k largest inner products: a matrix product in f32, exact products of the points that pass it, and a
//! heap per query. A product and its margin tell which points may have one of the k largest, and no point is
//! missed:
//!
//! Let u = 2⁻²⁴ be the unit roundoff of f32, S the product ⟨p, q⟩ as the matrix product computes it, V as the
//! rule does (in f64), and R the least V in the heap. A point that belongs in the heap has V ≥ R: among equal
//! products the smaller row comes first.
//!
//! - *Multiplication.* In any order of summation, with or without fused multiply-add, |S − ⟨p, q⟩| ≤ γ·Σ|pⱼ
//!   qⱼ| + d·2⁻¹⁴⁹, where γ = d·u/(1 − d·u) (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
//!   §3.1). The last term is what products below the normal numbers lose. By Cauchy and Schwarz, Σ|pⱼ qⱼ| ≤
//!   |p|·|q|.
//! - *The rule.* |V − ⟨p, q⟩| ≤ γ'·|p|·|q|, where γ' is γ for u' = 2⁻⁵³. For d up to 2²² that is less than
//!   u·|p|·|q|.
//!
//! Let Γ = (d + 9)u/(1 − (d + 9)u), which includes one u for the rule and one for |p| and |q| in f64.
//! Together:
//!
//! ```text
//! S + Γ|p|·|q|  ≥  R − d·2⁻¹⁴⁹
//! ```
//!
//! Γ|p| depends only on the point, |q| only on the query. Both are rounded up to f32. The former gets 2u
//! more, which covers the rounding of their product in f32, or 2⁻¹⁵⁰ below the normal numbers. The right side
//! is rounded down. Rounding is monotone, so the left side as computed in f32 reaches the bound if the exact
//! one does. A point that does not reach it is discarded; a NaN product is not.
//!
//! All of this needs sums below the largest f32. If |p|·|q| of a query and the longest point might exceed it,
//! or if there are so many dimensions that Γ is useless, the limit is −∞: all products are computed by the
//! rule.

use std::collections::BinaryHeap;
use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use super::filter::{ROUNDOFF, block_points, bytes, rounded_down};
use super::{GEMM_HEAP, PACKED, product};
use crate::Result;
use crate::host_memory;
use crate::knn::inner_product::{InnerProductProblem, InnerProductSearch, Product, inner_product};

/// Products that are tested together.
const CHUNK: usize = 64;

/// Prepares points for searches by inner product.
///
/// # Errors
/// `EngineError::Limit`, `EngineError::HostMemory`.
pub fn open(products: &InnerProductProblem) -> Result<Box<dyn InnerProductSearch + '_>> {
    let shape = products.shape();
    GEMM_HEAP.limits.check_sizes(GEMM_HEAP.id, &shape)?;
    let threads = rayon::current_num_threads().min(shape.q);
    host_memory::check_bytes(
        (bytes(shape.n, shape.d) + threads * (PACKED + CHUNK * size_of::<Entry>() * shape.k)) as u64,
    )?;
    Ok(Box::new(ProductSearch {
        filter: PointBlocks::new(products.points(), shape.d, gamma(shape.d)),
        products,
    }))
}

struct ProductSearch<'a> {
    products: &'a InnerProductProblem,
    filter: PointBlocks,
}

/// A product ordered for a heap whose root is the worst.
#[derive(PartialEq)]
struct Entry(Product);

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.order(&other.0)
    }
}

/// The k largest products of a query so far.
struct Heap {
    entries: BinaryHeap<Entry>,
    k: usize,
}

impl Heap {
    fn new(k: usize) -> Self {
        Self { entries: BinaryHeap::with_capacity(k), k }
    }

    /// The least product that may enter; −∞ until the heap is full.
    fn least(&self) -> f64 {
        self.entries
            .peek()
            .filter(|_| self.entries.len() == self.k)
            .map_or(f64::NEG_INFINITY, |last| last.0.value)
    }

    fn insert(&mut self, product: Product) {
        if self.entries.len() < self.k {
            self.entries.push(Entry(product));
        } else if let Some(mut last) = self.entries.peek_mut().filter(|last| product.order(&last.0).is_lt()) {
            *last = Entry(product);
        }
    }

    /// Writes the products, largest first, padded with [`Product::NONE`].
    fn write_sorted(self, found: &mut [Product]) {
        let sorted = self.entries.into_sorted_vec().into_iter().map(|entry| entry.0);
        found
            .iter_mut()
            .zip(sorted.chain(std::iter::repeat(Product::NONE)))
            .for_each(|(to, product)| *to = product);
    }
}

/// A query that is being answered.
struct QueryState<'a> {
    query: &'a [f32],
    own_row: Option<u32>,
    /// `None` if all products are computed by the rule.
    scale: Option<f32>,
    limit: f32,
    heap: Heap,
}

impl QueryState<'_> {
    /// Adds the qualifying products with the points from `first` on.
    fn add_products(&mut self, filter: &PointBlocks, points: &[f32], first: usize, products: &[f32]) {
        let (dims, scale) = (filter.dims, self.scale.unwrap_or(0.0));
        for (chunk, products) in products.chunks(CHUNK).enumerate() {
            let first = first + chunk * CHUNK;
            let margins = &filter.margins[first..first + products.len()];
            if !any_reaches(products, margins, scale, self.limit) {
                continue;
            }
            for (row, (&product, &margin)) in (first..).zip(products.iter().zip(margins)) {
                if reaches(product, margin, scale, self.limit) && self.own_row != Some(row as u32) {
                    let value = inner_product(&points[row * dims..][..dims], self.query);
                    self.heap.insert(Product { row: row as u32, value });
                }
            }
            if self.scale.is_some() {
                self.limit = filter.limit(self.heap.least());
            }
        }
    }
}

impl InnerProductSearch for ProductSearch<'_> {
    fn search(&self, queries: Range<usize>, found: &mut [Product]) {
        let (filter, points) = (&self.filter, self.products.points());
        let (dims, k, n) = (filter.dims, self.products.shape().k, filter.margins.len());
        let coordinates = &self.products.queries()[queries.start * dims..queries.end * dims];
        let mut states: Vec<QueryState<'_>> = coordinates
            .chunks_exact(dims)
            .zip(queries)
            .map(|(query, number)| QueryState {
                query,
                own_row: self.products.own_row(number),
                scale: filter.scale(query),
                limit: f32::NEG_INFINITY,
                heap: Heap::new(k),
            })
            .collect();
        let mut products = Vec::new();
        for (number, columns) in filter.columns.chunks_exact(filter.block * dims).enumerate() {
            product::multiply(columns, coordinates, dims, &mut products);
            let first = number * filter.block;
            let there = filter.block.min(n - first);
            for (state, products) in states.iter_mut().zip(products.chunks_exact(filter.block)) {
                state.add_products(filter, points, first, &products[..there]);
            }
        }
        for (state, found) in states.into_iter().zip(found.chunks_exact_mut(k)) {
            state.heap.write_sorted(found);
        }
    }
}

/// The points in blocks, and the error margins of their products.
struct PointBlocks {
    dims: usize,
    /// Points per block.
    block: usize,
    /// Block by block, each block dimension by dimension. The last block is padded with zeros.
    columns: Vec<f32>,
    /// Γ|p| of each point, rounded up.
    margins: Vec<f32>,
    /// The largest |p|.
    longest: f64,
    /// Γ; ∞ if nothing can be proven.
    gamma: f64,
}

/// Γ; ∞ beyond 2²² dimensions.
fn gamma(dims: usize) -> f64 {
    let errors = (dims as f64 + 9.0) * ROUNDOFF;
    if dims <= 1 << 22 { errors / (1.0 - errors) } else { f64::INFINITY }
}

fn length(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn rounded_up(value: f64) -> f32 {
    -rounded_down(-value)
}

impl PointBlocks {
    /// Prepares n points, row-major, with the given Γ.
    fn new(points: &[f32], dims: usize, gamma: f64) -> Self {
        let n = points.len() / dims;
        let block = block_points(n);
        let (mut columns, mut margins) = (vec![0.0; n.next_multiple_of(block) * dims], vec![0.0; n]);
        let blocks = columns
            .par_chunks_mut(block * dims)
            .zip(margins.par_chunks_mut(block))
            .zip(points.par_chunks(block * dims));
        let longest = blocks.map(|((columns, margins), rows)| {
            let mut longest = 0.0f64;
            for (at, (row, margin)) in rows.chunks_exact(dims).zip(margins).enumerate() {
                row.iter().enumerate().for_each(|(axis, &value)| columns[axis * block + at] = value);
                let length = length(row);
                *margin = rounded_up(gamma * (1.0 + 2.0 * ROUNDOFF) * length);
                longest = longest.max(length);
            }
            longest
        });
        let longest = longest.reduce(|| 0.0, f64::max);
        Self { dims, block, columns, margins, longest, gamma }
    }

    /// |q|, rounded up; `None` if nothing can be proven about the query's products.
    fn scale(&self, query: &[f32]) -> Option<f32> {
        let length = length(query);
        let is_sure = self.gamma.is_finite() && length * self.longest < f64::from(f32::MAX) / 4.0;
        is_sure.then(|| rounded_up(length)).filter(|scale| scale.is_finite())
    }

    /// The least sum of a product and its margin, if the product is at least `least` by the rule.
    fn limit(&self, least: f64) -> f32 {
        rounded_down((least - (self.dims as f64 + 1.0) * 2f64.powi(-149)).next_down())
    }
}

/// Whether a product plus its margin reaches a limit or is NaN.
#[inline(always)]
fn reaches(product: f32, margin: f32, scale: f32, limit: f32) -> bool {
    let is_below = product + margin * scale < limit;
    !is_below
}

/// Whether [`reaches`] holds for any of the products.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn any_reaches(products: &[f32], margins: &[f32], scale: f32, limit: f32) -> bool {
    products
        .iter()
        .zip(margins)
        .fold(false, |any, (&product, &margin)| any | reaches(product, margin, scale, limit))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::knn::Queries;
    use crate::testing;

    fn products(values: &[f32], dims: usize, k: usize) -> InnerProductProblem {
        let cloud = Arc::new(testing::cloud(dims, values.iter().map(|&value| f64::from(value)).collect()));
        InnerProductProblem::new(&cloud, &Queries::Rows((0..cloud.len() as u32).collect()), k, false).unwrap()
    }

    /// The answers to all queries, computed with the given Γ.
    fn found(products: &InnerProductProblem, gamma: f64) -> Vec<Product> {
        let shape = products.shape();
        let largest = ProductSearch { filter: PointBlocks::new(products.points(), shape.d, gamma), products };
        let mut found = vec![Product { row: 7, value: 7.0 }; shape.q * shape.k];
        largest.search(0..shape.q, &mut found);
        found
    }

    /// The answers by the rule alone and a sort.
    fn expected(products: &InnerProductProblem) -> Vec<Product> {
        let shape = products.shape();
        let mut expected = Vec::new();
        for query in products.queries().chunks_exact(shape.d) {
            let rows = products.points().chunks_exact(shape.d).zip(0u32..);
            let mut all: Vec<Product> =
                rows.map(|(row, number)| Product { row: number, value: inner_product(row, query) }).collect();
            all.sort_by(Product::order);
            all.resize(all.len().max(shape.k), Product::NONE);
            expected.extend_from_slice(&all[..shape.k]);
        }
        expected
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn filter_never_drops_a_neighbour(
            values in proptest::collection::vec(-1.0f32..1.0, 300..900),
            dims in prop_oneof![1usize..9, Just(32usize), Just(300)],
            k in 1usize..20,
            exponent in -75i32..63,
            offset in prop_oneof![Just(0.0f32), -1e4f32..1e4],
            steps in prop_oneof![Just(0.0f32), Just(2.0)],
        ) {
            let scale = 2f32.powi(exponent);
            // Integer coordinates make ties.
            let value =
                |value: f32| (if steps > 0.0 { (value * steps).round() } else { value } + offset) * scale;
            let values: Vec<f32> = values[..values.len() / dims * dims].iter().map(|&at| value(at)).collect();
            let products = products(&values, dims, k);
            prop_assert_eq!(found(&products, gamma(dims)), expected(&products));
        }
    }

    #[test]
    fn integer_products_are_exact() {
        let value = |at: u32| f32::from((at.wrapping_mul(2_654_435_761) >> 12) as u16) - 32_768.0;
        let values: Vec<f32> = (0..3 * 500).map(value).collect();
        let products = products(&values, 3, 9);
        let found = found(&products, gamma(3));
        for (query, found) in found.chunks_exact(9).enumerate() {
            let of = |row: usize| {
                (0..3)
                    .map(|axis| values[row * 3 + axis] as i128 * values[query * 3 + axis] as i128)
                    .sum::<i128>()
            };
            let mut rows: Vec<usize> = (0..500).collect();
            rows.sort_by_key(|&row| (-of(row), row));
            for (found, row) in found.iter().zip(rows) {
                assert_eq!((found.row as usize, found.value), (row, of(row) as f64), "query {query}");
            }
        }
    }

    #[test]
    fn zero_margin_misses_products() {
        // The f32 sum of 2²⁴ and ones loses ones, the f64 sum none. How many are lost depends on the order of
        // the sum, so 2²⁴ is placed in several positions.
        let (dims, huge) = (65, 16_777_216.0f32);
        let mut is_missed = false;
        for place in (0..dims).step_by(8) {
            let with_huge = |others: f32| {
                let mut row = vec![others; dims];
                row[place] = huge;
                row
            };
            // A point with 2²⁴ + 64 after a chunk of points with 2²⁴ + 62, which f32 adds exactly: the heap
            // is full when the larger one is tested.
            let mut rival = with_huge(0.0);
            rival[(place + 1) % dims] = 62.0;
            let all: Vec<f32> =
                rival.repeat(CHUNK).into_iter().chain(with_huge(1.0)).chain(vec![1.0; dims]).collect();
            let (products, asked) = (products(&all, dims, 1), CHUNK + 1);
            let largest = Product { row: CHUNK as u32, value: f64::from(huge) + 64.0 };
            assert_eq!(found(&products, gamma(dims))[asked], largest, "{place}");
            is_missed |= found(&products, 0.0)[asked] != largest;
        }
        assert!(is_missed, "a margin of 0 would do");
    }

    #[test]
    fn f32_overflow_falls_back_to_the_exact_rule() {
        let big = 3e38f32;
        let values = [
            [big, big, -big],
            [big, -big, big],
            [-big, big, big],
            [1.0, 2.0, 3.0],
            [0.0, 0.0, 0.0],
            [big, big, big],
        ]
        .concat();
        let all = products(&values, 3, 4);
        assert_eq!(found(&all, gamma(3)), expected(&all));
    }

    #[test]
    fn filter_rejects_most_products() {
        let values: Vec<f32> = (0..32 * 4000u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / 2f32.powi(24) - 0.5)
            .collect();
        let (filter, query) = (PointBlocks::new(&values, 32, gamma(32)), &values[..32]);
        let mut all: Vec<f64> = values.chunks_exact(32).map(|row| inner_product(row, query)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let (scale, limit) = (filter.scale(query).unwrap(), filter.limit(all[4]));
        let mut of_block = Vec::new();
        let left = filter.columns.chunks_exact(filter.block * 32).enumerate().map(|(number, columns)| {
            product::multiply(columns, query, 32, &mut of_block);
            let margins = &filter.margins[number * filter.block..];
            of_block
                .iter()
                .zip(margins)
                .filter(|(product, margin)| reaches(**product, **margin, scale, limit))
                .count()
        });
        assert_eq!(left.sum::<usize>(), 5);
    }

    #[test]
    fn scale_is_unavailable_when_no_bound_holds() {
        let filter = PointBlocks::new(&[3e38; 3], 3, gamma(3));
        assert_eq!((filter.scale(&[3e38, 0.0, 0.0]), filter.scale(&[0.0; 3])), (None, Some(0.0)));
        assert_eq!(
            PointBlocks::new(&[1.0], 1, gamma(1 << 23)).scale(&[1.0]),
            None,
            "Γ is useless in this many dimensions"
        );
        assert!(gamma(3) < 1e-6 && gamma(1 << 22) < 0.5);
    }

    #[test]
    fn margins_are_rounded_up() {
        let row = [0.1f32, 0.7, -0.3];
        let filter = PointBlocks::new(&row, 3, gamma(3));
        let (margin, scale) = (f64::from(filter.margins[0]), f64::from(filter.scale(&row).unwrap()));
        assert!(margin >= gamma(3) * length(&row) && margin < gamma(3) * length(&row) * (1.0 + 1e-6));
        assert!(scale >= length(&row) && scale < length(&row) * (1.0 + 1e-6));
        assert!(f64::from(filter.limit(0.1)) < 0.1 && filter.limit(0.1) >= 0.1f32.next_down().next_down());
        assert!(
            reaches(f32::NAN, 0.0, 0.0, 1.0) && reaches(1.0, 0.0, 0.0, 1.0) && !reaches(0.5, 0.1, 1.0, 1.0)
        );
    }
}
