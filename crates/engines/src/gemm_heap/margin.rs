//! Which points may have one of the k largest inner products, by a product in f32 and its margin, and why none is missed.
//!
//! Let u = 2⁻²⁴ be the unit roundoff of f32, S the product ⟨p, q⟩ as the matrix product computes it, V as the rule does (in f64), and R the
//! least V in the heap. A point that belongs into the heap has V ≥ R: of equal ones the smaller row comes first.
//!
//! - *Multiplying.* Whatever the order of the sum, with or without fused multiply-add, |S − ⟨p, q⟩| ≤ γ·Σ|pⱼ qⱼ| + d·2⁻¹⁴⁹, where
//!   γ = d·u/(1 − d·u) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.1), and the last term is what products below the normal
//!   numbers lose. By Cauchy and Schwarz, Σ|pⱼ qⱼ| ≤ |p|·|q|.
//! - *The rule.* |V − ⟨p, q⟩| ≤ γ'·|p|·|q|, where γ' is γ for u' = 2⁻⁵³. For d up to 2²² that is less than u·|p|·|q|.
//!
//! Together, with Γ = (d + 9)u/(1 − (d + 9)u), of which one u is for the rule and one for |p| and |q| in f64:
//!
//! ```text
//! S + Γ|p|·|q|  ≥  R − d·2⁻¹⁴⁹
//! ```
//!
//! Γ|p| is a number of each point, |q| one of each query; both are rounded up to f32, and the former has 2u more, which the rounding of their
//! product in f32 may lose, or 2⁻¹⁵⁰ where it is below the normal numbers. The right side is rounded down. Rounding is monotone, so that the left
//! side as computed in f32 reaches what the exact one reaches. A point that does not reach it is left out; one whose product is no number is not.
//!
//! All of that needs sums that stay below the largest f32. Where |p|·|q| of a query and the longest point might not, or where there are so many
//! dimensions that Γ says nothing, the limit is −∞: all products are computed by the rule.

use multiversion::multiversion;
use rayon::prelude::*;

use super::filter::{ROUNDOFF, block_points, rounded_down};

/// The points in blocks, and what their products may be off by.
pub struct Filter {
    pub dims: usize,
    /// Points of a block.
    pub block: usize,
    /// Block by block, in a block dimension by dimension. The last block is padded with zeros.
    pub columns: Vec<f32>,
    /// Γ|p| of each point, rounded up.
    pub margins: Vec<f32>,
    /// The largest |p|.
    longest: f64,
    /// Γ; ∞ where nothing can be said.
    gamma: f64,
}

/// Γ; ∞ beyond 2²² dimensions.
pub fn gamma(dims: usize) -> f64 {
    let errors = (dims as f64 + 9.0) * ROUNDOFF;
    if dims <= 1 << 22 { errors / (1.0 - errors) } else { f64::INFINITY }
}

fn length(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn rounded_up(value: f64) -> f32 {
    -rounded_down(-value)
}

impl Filter {
    /// n points, row-major, with this Γ.
    pub fn new(points: &[f32], dims: usize, gamma: f64) -> Self {
        let n = points.len() / dims;
        let block = block_points(n);
        let (mut columns, mut margins) = (vec![0.0; n.next_multiple_of(block) * dims], vec![0.0; n]);
        let blocks = columns.par_chunks_mut(block * dims).zip(margins.par_chunks_mut(block)).zip(points.par_chunks(block * dims));
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

    /// |q|, rounded up; `None` where nothing can be said of the query's products.
    pub fn scale(&self, query: &[f32]) -> Option<f32> {
        let length = length(query);
        let is_sure = self.gamma.is_finite() && length * self.longest < f64::from(f32::MAX) / 4.0;
        is_sure.then(|| rounded_up(length)).filter(|scale| scale.is_finite())
    }

    /// What a product and its margin must reach, if it is at least `least` by the rule.
    pub fn limit(&self, least: f64) -> f32 {
        rounded_down((least - (self.dims as f64 + 1.0) * 2f64.powi(-149)).next_down())
    }
}

/// Whether a product with its margin reaches a limit, or is no number.
#[inline(always)]
pub fn reaches(product: f32, margin: f32, scale: f32, limit: f32) -> bool {
    let is_below = product + margin * scale < limit;
    !is_below
}

/// Whether any of some products does.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn any_reaches(products: &[f32], margins: &[f32], scale: f32, limit: f32) -> bool {
    products.iter().zip(margins).fold(false, |any, (&product, &margin)| any | reaches(product, margin, scale, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_can_be_said_there_is_no_scale() {
        let filter = Filter::new(&[3e38; 3], 3, gamma(3));
        assert_eq!((filter.scale(&[3e38, 0.0, 0.0]), filter.scale(&[0.0; 3])), (None, Some(0.0)));
        assert_eq!(Filter::new(&[1.0], 1, gamma(1 << 23)).scale(&[1.0]), None, "Γ says nothing of so many dimensions");
        assert!(gamma(3) < 1e-6 && gamma(1 << 22) < 0.5);
    }

    #[test]
    fn margins_are_rounded_up() {
        let row = [0.1f32, 0.7, -0.3];
        let filter = Filter::new(&row, 3, gamma(3));
        let (margin, scale) = (f64::from(filter.margins[0]), f64::from(filter.scale(&row).unwrap()));
        assert!(margin >= gamma(3) * length(&row) && margin < gamma(3) * length(&row) * (1.0 + 1e-6));
        assert!(scale >= length(&row) && scale < length(&row) * (1.0 + 1e-6));
        assert!(f64::from(filter.limit(0.1)) < 0.1 && filter.limit(0.1) >= 0.1f32.next_down().next_down());
        assert!(reaches(f32::NAN, 0.0, 0.0, 1.0) && reaches(1.0, 0.0, 0.0, 1.0) && !reaches(0.5, 0.1, 1.0, 1.0));
    }
}
