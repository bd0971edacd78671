//! The expanded form of squared distances, ‖x‖² − 2⟨x, y⟩ + ‖y‖², and its errors.
//!
//! Twin of `cuda/select/expanded.cuh`: norms and products are summed dimension by dimension, one rounding per
//! step.

use multiversion::multiversion;

use crate::lockstep::distance::{Coordinates, GroupedPoints};
use crate::lockstep::{Key, Lanes, index_of, key_of};

const WARP: usize = 32;

/// A distance from a product and the squared norms. Negative values and NaN become zero.
#[inline(always)]
pub fn expanded(product: f32, point_norm: f32, query_norm: f32) -> f32 {
    let distance = (-2.0f32).mul_add(product, point_norm) + query_norm;
    if distance > 0.0 { distance } else { 0.0 }
}

/// The squared norms of all points, group by group. Those of padding are infinite.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn distances_norms(points: &GroupedPoints<WARP>) -> Vec<Lanes<f32, WARP>> {
    let norm = |group: usize| {
        let mut acc = [0.0; WARP];
        for Coordinates(values) in points.range(group..group + 1) {
            for lane in 0..WARP {
                acc[lane] = values[lane].mul_add(values[lane], acc[lane]);
            }
        }
        acc
    };
    (0..points.groups()).map(norm).collect()
}

/// Computes a query's distances to all points by the expanded form.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn distances_expanded(
    points: &GroupedPoints<WARP>,
    norms: &[Lanes<f32, WARP>],
    query: &[f32],
    distances: &mut Vec<Lanes<f32, WARP>>,
) {
    let query_norm = query.iter().fold(0.0f32, |acc, &value| value.mul_add(value, acc));
    distances.clear();
    for (group, norms) in norms.iter().enumerate() {
        let mut acc = [0.0; WARP];
        for (Coordinates(values), &q) in points.range(group..group + 1).iter().zip(query) {
            for lane in 0..WARP {
                acc[lane] = values[lane].mul_add(q, acc[lane]);
            }
        }
        for lane in 0..WARP {
            acc[lane] = expanded(acc[lane], norms[lane], query_norm);
        }
        distances.push(acc);
    }
}

/// The number of points found by the expanded form that are not among the nearest by the rule; `limit` is the
/// key of the last of those. `row` holds all distances by the rule.
pub fn distances_wrong(found: &[Key], row: &[f32], limit: Key) -> u32 {
    let keys = found
        .iter()
        .filter_map(|&key| row.get(index_of(key) as usize).map(|&distance| key_of(distance, index_of(key))));
    keys.filter(|&key| key > limit).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockstep::PADDING;

    #[test]
    fn expanded_distances_lose_precision() {
        // At a distance of 1,000 from the origin, f32 cannot resolve the difference between the squared norms
        // of points 0.01 apart.
        let points: Vec<f32> = (0..100u16).map(|i| 1000.0 + f32::from(i) * 0.01).collect();
        let grouped = GroupedPoints::new(&points, 1);
        let mut row = Vec::new();
        distances_expanded(&grouped, &distances_norms(&grouped), &[1000.0], &mut row);
        let expanded = &row.as_flattened()[..100];
        assert!(expanded.iter().all(|&distance| distance >= 0.0 && distance.is_sign_positive()));
        let exact: Vec<f32> = points.iter().map(|point| (point - 1000.0).powi(2)).collect();
        assert!(
            expanded[10] != exact[10] && (expanded[99] - exact[99]).abs() < 0.5,
            "{} for {}",
            expanded[99],
            exact[99]
        );
    }

    #[test]
    fn small_integer_distances_are_exact() {
        let points: Vec<f32> = (0..70u8).flat_map(|i| [f32::from(i % 7), f32::from(i / 7)]).collect();
        let grouped = GroupedPoints::new(&points, 2);
        let mut row = Vec::new();
        distances_expanded(&grouped, &distances_norms(&grouped), &[3.0, 2.0], &mut row);
        let exact: Vec<f32> =
            points.chunks(2).map(|point| (point[0] - 3.0).powi(2) + (point[1] - 2.0).powi(2)).collect();
        assert_eq!(row.as_flattened()[..70], exact);
    }

    #[test]
    fn wrong_neighbours_are_counted() {
        let row = [0.5, 0.25, 0.25, 1.0];
        let found = [key_of(0.0, 3), key_of(0.0, 1), key_of(0.1, 2), PADDING];
        assert_eq!(
            distances_wrong(&found, &row, key_of(0.25, 1)),
            2,
            "among equal distances the first ranks first"
        );
        assert_eq!(distances_wrong(&found, &row, PADDING), 0);
    }
}
