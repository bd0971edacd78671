//! The squared distance, bit-identical to every other engine's.

use multiversion::multiversion;

/// Computes the squared distances from `query` to the points at `positions` into `distances`, in dimension
/// order and with one rounding per step. Points have `query.len()` values.
///
/// `mul_add` is one instruction on processors with FMA, otherwise a correct but slow C library function.
#[multiversion(targets("x86_64+avx+fma", "aarch64+neon"))]
pub fn squared_distances(points: &[f32], query: &[f32], positions: &[u32], distances: &mut Vec<f32>) {
    distances.clear();
    for &position in positions {
        let point = &points[position as usize * query.len()..][..query.len()];
        let mut sum = 0.0f32;
        for (p, q) in point.iter().zip(query) {
            let difference = p - q;
            sum = difference.mul_add(difference, sum);
        }
        distances.push(sum);
    }
}

/// The squared distance of a query to the nearest place of a box, by the same rule. Rounding is monotone, so no
/// point of the box has a smaller squared distance.
#[multiversion(targets("x86_64+avx+fma", "aarch64+neon"))]
pub fn squared_distance_to_box(query: &[f32], extents: &[[f32; 2]]) -> f32 {
    let mut sum = 0.0f32;
    for (&q, &[low, high]) in query.iter().zip(extents) {
        let difference = q.clamp(low, high) - q;
        sum = difference.mul_add(difference, sum);
    }
    sum
}

/// The squared distance between two boxes, by the same rule: no pair of their points has a smaller squared
/// distance.
#[multiversion(targets("x86_64+avx+fma", "aarch64+neon"))]
pub fn squared_gap(one: &[[f32; 2]], other: &[[f32; 2]]) -> f32 {
    let mut sum = 0.0f32;
    for (one, other) in one.iter().zip(other) {
        let difference = (one[0] - other[1]).max(other[0] - one[1]).max(0.0);
        sum = difference.mul_add(difference, sum);
    }
    sum
}

/// The largest exact squared distance of a point whose reported squared distance is at most
/// `squared_distance`.
///
/// The rule's rounding errors are doubled to cover those of f64 and second-order terms.
pub fn reach(squared_distance: f32, dims: usize) -> f64 {
    let dims = dims as f64;
    f64::from(squared_distance) * (1.0 + 2.0 * (dims + 2.0) * 2f64.powi(-24)) + dims * 2f64.powi(-149)
}

/// Whether this processor has the fused multiply-add that [`squared_distances`] relies on for speed.
pub fn in_hardware() -> bool {
    #[cfg(target_arch = "x86_64")]
    let there = std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let there = cfg!(target_arch = "aarch64");
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_multiply_add_rounds_once() {
        // (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴: the last term survives only if the square is not rounded before the
        // next step's addition.
        let (a, b) = (1.0 + 2f32.powi(-12), 2f32.powi(-12));
        let mut distances = Vec::new();
        squared_distances(&[b, a, a, b], &[0.0, 0.0], &[0, 1], &mut distances);
        let exact = f64::from(a).powi(2) + f64::from(b).powi(2);
        assert_eq!(distances[0], exact as f32);
        assert_eq!(distances[1], a.mul_add(a, 0.0).max(b.mul_add(b, a * a)));
    }
}
