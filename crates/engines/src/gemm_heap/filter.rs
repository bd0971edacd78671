//! Filters points by a matrix product, and proves that no neighbour is missed.
//!
//! Points and queries are translated so that the points' mean is the origin: p' and q' are p − c and q − c,
//! rounded. Let u = 2⁻²⁴ be the unit roundoff, P = |p'|², Q = |q'|², S the product ⟨p', q'⟩ as computed, D =
//! |p − q|², all but S exact, and R the distance of the farthest point in the heap by the rule. A point that
//! belongs in the heap has a distance of at most R by the rule, so D ≤ [`reach`]`(R)`.
//!
//! - *Translation.* A coordinate of p' is within u/(1 − u) of that of p − c, relative to itself. So p' − q'
//!   equals p − q up to an error whose length is at most u/(1 − u)·(|p'| + |q'|). Hence |p' − q'|² differs
//!   from D by at most (|p'| + |q'|)²·(2u + …) ≤ 5u·(P + Q), as (a + b)² ≤ 2a² + 2b².
//! - *Multiplication.* In any order of summation, with or without fused multiply-add, |S − ⟨p', q'⟩| ≤
//!   γ·Σ|p'ⱼ q'ⱼ| + d·2⁻¹⁵⁰, where γ = (d + 2)u/(1 − (d + 2)u) (Higham, Accuracy and Stability of Numerical
//!   Algorithms, §3.1). The last term is what products below the normal numbers lose. By Cauchy and Schwarz,
//!   and as 2ab ≤ a² + b², twice that is at most γ·(P + Q) + d·2⁻¹⁴⁹.
//!
//! Let Γ = (d + 9)u/(1 − (d + 9)u), which includes 2u for P and Q in f64. Together: P + Q − 2S ≤ reach(R) +
//! Γ·(P + Q) + d·2⁻¹⁴⁹, or
//!
//! ```text
//! S − (1 − Γ)P/2  ≥  ((1 − Γ)Q − reach(R) − d·2⁻¹⁴⁹)/2
//! ```
//!
//! The second term on the left depends only on the point, the right side only on the query and R. Both are
//! rounded down to f32. For the left side this only makes it larger. Rounding is monotone, so the difference
//! as computed in f32 reaches the bound if the exact one does. A point that does not reach it is discarded; a
//! NaN product is not.
//!
//! All of this needs sums below the largest f32. If |p'||q'| of a query and the farthest point might exceed
//! it, or if there are so many dimensions that Γ is useless, the query's limit is −∞: all of its distances
//! are computed by the rule.

use multiversion::multiversion;
use rayon::prelude::*;

use crate::knn::distance::reach;

/// The unit roundoff of f32.
pub(super) const ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

/// The most points per block: their products with a block of queries stay in a core's cache.
const MAX_POINTS: usize = 1024;

/// The size of a smaller block is a multiple of this.
const GRANULARITY: usize = 16;

/// Points per block, for n points.
pub fn block_points(n: usize) -> usize {
    n.next_multiple_of(GRANULARITY).min(MAX_POINTS)
}

/// Bytes of a filter.
pub fn bytes(n: usize, dims: usize) -> usize {
    4 * n.next_multiple_of(block_points(n)) * dims + 4 * n
}

/// The points relative to their mean, in blocks.
pub struct PointBlocks {
    dims: usize,
    centre: Vec<f32>,
    /// p', block by block, each block dimension by dimension. The last block is padded with zeros.
    columns: Vec<f32>,
    /// (1 − Γ)P/2 of each point, rounded down.
    terms: Vec<f32>,
    /// Points per block.
    block: usize,
    /// The largest P.
    largest: f64,
}

/// A block of points.
pub struct Block<'a> {
    /// The position of its first point.
    pub first: u32,
    /// p', dimension by dimension, padded.
    pub columns: &'a [f32],
    /// One per point, without padding.
    pub terms: &'a [f32],
}

/// The bound that a query's products are compared with.
pub struct Bound {
    /// (1 − Γ)Q; −∞ if nothing can be proven.
    kept: f64,
    dims: usize,
}

impl PointBlocks {
    /// Translates n points of `dims` coordinates, row-major.
    pub fn new(points: &[f32], dims: usize) -> Self {
        let n = points.len() / dims;
        let mut sums = vec![0.0f64; dims];
        for row in points.chunks_exact(dims) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        let centre: Vec<f32> = sums.iter().map(|sum| (sum / n.max(1) as f64) as f32).collect();
        let block = block_points(n);
        let (mut columns, mut terms) = (vec![0.0; n.next_multiple_of(block) * dims], vec![0.0; n]);
        let kept = kept(dims);
        let blocks = columns
            .par_chunks_mut(block * dims)
            .zip(terms.par_chunks_mut(block))
            .zip(points.par_chunks(block * dims));
        let largest = blocks.map(|((columns, terms), rows)| {
            let mut largest = 0.0f64;
            for (at, (row, term)) in rows.chunks_exact(dims).zip(terms).enumerate() {
                let mut norm = 0.0;
                for (axis, (&value, &centre)) in row.iter().zip(&centre).enumerate() {
                    let moved = value - centre;
                    columns[axis * block + at] = moved;
                    norm += f64::from(moved).powi(2);
                }
                *term = rounded_down(kept * norm / 2.0);
                largest = largest.max(norm);
            }
            largest
        });
        let largest = largest.reduce(|| 0.0, f64::max);
        Self { dims, centre, columns, terms, block, largest }
    }

    /// The blocks, in the order of positions.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let blocks = self.columns.chunks_exact(self.block * self.dims).zip(self.terms.chunks(self.block));
        blocks.enumerate().map(|(block, (columns, terms))| Block {
            first: (block * self.block) as u32,
            columns,
            terms,
        })
    }

    /// Translates queries, row-major, to the points' mean.
    pub fn centred(&self, queries: &[f32]) -> Vec<f32> {
        queries
            .chunks_exact(self.dims)
            .flat_map(|query| query.iter().zip(&self.centre).map(|(value, centre)| value - centre))
            .collect()
    }

    /// The bound for the products of a translated query.
    pub fn bound(&self, query: &[f32]) -> Bound {
        let norm: f64 = query.iter().map(|&value| f64::from(value).powi(2)).sum();
        let most = f64::from(f32::MAX) / 4.0;
        // The range check also rejects infinite and NaN norms.
        let is_sure =
            kept(self.dims) >= 0.5 && (0.0..most * most).contains(&(norm * self.largest)) && norm.is_finite();
        Bound { kept: if is_sure { kept(self.dims) * norm } else { f64::NEG_INFINITY }, dims: self.dims }
    }
}

impl Bound {
    /// The least value of a point's product minus its term, if its distance by the rule is at most
    /// `squared_distance`.
    pub fn limit(&self, squared_distance: f32) -> f32 {
        rounded_down(
            (self.kept - reach(squared_distance, self.dims) - self.dims as f64 * 2f64.powi(-149)) / 2.0,
        )
    }
}

/// 1 − Γ.
fn kept(dims: usize) -> f64 {
    let errors = (dims as f64 + 9.0) * ROUNDOFF;
    1.0 - errors / (1.0 - errors).max(ROUNDOFF)
}

/// The largest f32 not above `value`.
pub(super) fn rounded_down(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

/// Whether a product minus its point's term reaches a limit or is NaN.
#[inline(always)]
pub fn reaches(product: f32, term: f32, limit: f32) -> bool {
    let is_below = product - term < limit;
    !is_below
}

/// Whether [`reaches`] holds for any of the products.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn any_reaches(products: &[f32], terms: &[f32], limit: f32) -> bool {
    products.iter().zip(terms).fold(false, |any, (&product, &term)| any | reaches(product, term, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_down_never_exceeds_the_value() {
        assert_eq!(rounded_down(0.1), 0.1f32.next_down());
        assert_eq!((rounded_down(0.25), rounded_down(f64::NEG_INFINITY)), (0.25, f32::NEG_INFINITY));
        assert_eq!((rounded_down(1e300), rounded_down(-1e300)), (f32::MAX, f32::NEG_INFINITY));
        for value in [-0.3, 1e-42, -1e-46, 16_777_217.0] {
            assert!(
                f64::from(rounded_down(value)) <= value && f64::from(rounded_down(value).next_up()) > value,
                "{value}"
            );
        }
    }

    #[test]
    fn nan_products_pass_the_filter() {
        assert!(
            reaches(f32::NAN, 1.0, 0.0)
                && reaches(f32::INFINITY, f32::INFINITY, 3.0)
                && !reaches(1.0, 2.0, 0.0)
        );
        assert!(
            any_reaches(&[0.0, f32::NAN], &[9.0, 9.0], 0.0)
                && !any_reaches(&[0.0; 3], &[9.0; 3], 0.0)
                && !any_reaches(&[], &[], 0.0)
        );
    }

    #[test]
    fn filter_is_disabled_if_products_may_overflow() {
        let filter = PointBlocks::new(&[1e19, -1e19], 1);
        assert_eq!(
            filter.bound(&[1e20]).limit(0.0),
            f32::NEG_INFINITY,
            "products of such a query may be beyond f32"
        );
        assert!(filter.bound(&[1e18]).limit(0.0) > 0.0);
        assert_eq!(filter.bound(&[f32::INFINITY]).limit(1.0), f32::NEG_INFINITY);
        assert!(kept(3) > 0.999_999 && kept(1 << 23) < 0.5 && kept(1 << 30) < 0.0);
    }
}
