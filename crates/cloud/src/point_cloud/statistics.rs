//! The bulk of an axis, where most of its values are, and duplicate points.

use std::cmp::Ordering;
use std::sync::OnceLock;

use rayon::slice::ParallelSliceMut as _;
use serde::Serialize;

use super::PointCloud;

/// Rows sampled for the estimate.
const SAMPLE_ROWS: usize = 4096;

/// The share of values excluded at each end.
const TAIL: f64 = 0.01;

/// Margin beyond each quantile, as a share of the distance between them.
const MARGIN: f64 = 0.15;

/// The bulk is the whole extent unless that is wider by this factor.
const OUTLIER_RATIO: f64 = 2.0;

/// The bulk of each axis, computed on first use.
#[derive(Clone, Debug)]
pub(super) struct BulkRanges(Box<[OnceLock<[f64; 2]>]>);

impl BulkRanges {
    pub(super) fn new(dims: usize) -> Self {
        Self((0..dims).map(|_| OnceLock::new()).collect())
    }
}

/// The interval that contains nearly all values, given an ascending sample and the whole range: from the 1st to
/// the 99th percentile plus a margin, or the whole range if that is not much wider.
pub fn bulk(sample: &[f32], whole: [f64; 2]) -> [f64; 2] {
    let tail = (sample.len() as f64 * TAIL) as usize;
    let end = |at: usize| sample.get(at).map(|&value| f64::from(value));
    let (Some(low), Some(high)) = (end(tail), end(sample.len().wrapping_sub(1 + tail))) else { return whole };
    let margin = (high - low) * MARGIN;
    let bulk = [(low - margin).max(whole[0]), (high + margin).min(whole[1])];
    let whole_suffices = whole[1] - whole[0] <= OUTLIER_RATIO * (bulk[1] - bulk[0]);
    if whole_suffices || bulk[0] >= bulk[1] { whole } else { bulk }
}

impl PointCloud {
    /// At most `most` rows, evenly spread over the cloud.
    pub fn sample_rows(&self, most: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let seen = self.len().min(most);
        (0..seen).map(move |at| at * self.len() / seen)
    }

    /// The interval of an axis, in local coordinates, that contains nearly all points, as [`bulk`] estimates
    /// it from 4,096 evenly spread rows.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn bulk(&self, axis: usize) -> [f64; 2] {
        *self.bulk.0[axis].get_or_init(|| {
            let Some(column) = self.axes().get(axis) else { return [0.0; 2] };
            let whole = [column.min - column.origin, column.max - column.origin];
            let mut values: Vec<f32> =
                self.sample_rows(SAMPLE_ROWS).map(|row| self.point(row)[axis]).collect();
            values.sort_unstable_by(f32::total_cmp);
            bulk(&values, whole)
        })
    }
}

// Duplicate points, before and after rounding to f32.

/// The number of points minus the number of distinct points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// By the file's values.
    pub before_rounding: u64,
    /// By the searched f32 coordinates.
    pub after_rounding: u64,
}

impl PointCloud {
    /// Counts duplicates. Sorts all rows, then sorts runs of rows that are equal after rounding by the file's
    /// values, because only these can be equal before rounding.
    pub fn duplicates(&self) -> Duplicates {
        let dims = self.dims();
        // -0.0 was normalised to 0.0 and nothing is NaN, so equal bits mean equal coordinates.
        let bits: &[u32] = bytemuck::cast_slice(&self.points);
        let bits_of = |row: u32| &bits[row as usize * dims..][..dims];
        let mut rows: Vec<u32> = (0..self.len() as u32).collect();
        rows.par_sort_unstable_by(|&a, &b| bits_of(a).cmp(bits_of(b)));
        let own = |a: u32, b: u32| {
            let axes = (0..dims).map(|axis| [a, b].map(|row| self.coordinate(row as usize, axis)));
            axes.map(|[a, b]| a.partial_cmp(&b).unwrap_or(Ordering::Equal))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| self.long_decimals.compare_rows([a, b].map(|row| row as usize), dims))
        };
        let mut found = Duplicates { before_rounding: 0, after_rounding: 0 };
        for equal in rows.chunk_by_mut(|&a, &b| bits_of(a) == bits_of(b)).filter(|equal| equal.len() > 1) {
            let after = equal.len() as u64 - 1;
            found.after_rounding += after;
            found.before_rounding += if self.exact.is_none() && self.long_decimals.is_empty() {
                after
            } else {
                equal.par_sort_unstable_by(|&a, &b| own(a, b));
                equal.windows(2).filter(|pair| own(pair[0], pair[1]).is_eq()).count() as u64
            };
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::cloud;

    fn bulk(values: Vec<f64>) -> [f64; 2] {
        cloud(&["x"], values).bulk(0)
    }

    #[test]
    fn outliers_are_excluded_from_the_bulk() {
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(bulk(even.clone()), [0.0, 999.0]);
        let [low, high] = bulk([even, vec![1e6, -1e6]].concat());
        assert!((-200.0..=0.0).contains(&low) && (999.0..1200.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn mostly_equal_values_use_their_full_range() {
        assert_eq!(bulk(vec![3.0; 50]), [3.0, 3.0]);
        let mut values = vec![0.0; 500];
        values[7] = 9.0;
        assert_eq!(bulk(values), [0.0, 9.0]);
    }

    #[test]
    fn one_value_is_its_own_range() {
        assert_eq!(super::bulk(&[3.0], [3.0, 3.0]), [3.0, 3.0]);
        assert_eq!(super::bulk(&[], [0.0, 1.0]), [0.0, 1.0]);
    }

    #[test]
    fn bulk_ranges_are_relative_to_the_origin() {
        let [low, high] = bulk((0..1000).map(|at| 5e6 + f64::from(at) * 0.1).collect());
        assert!((low + 49.95).abs() < 1e-6 && (high - 49.95).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn duplicates_are_counted_before_and_after_rounding() {
        let duplicates = |values: &[f64]| cloud(&["x", "y"], values.to_vec()).duplicates();
        let near = 1.0 + 1e-12;
        let found = duplicates(&[1.0, 5.0, near, 5.0, 1.0, 5.0, 1.0, 5.5, near, 5.0, 0.0, 5.0, -0.0, 5.0]);
        assert_eq!(found, Duplicates { before_rounding: 3, after_rounding: 4 });
        let exact = duplicates(&[1.0, 5.0, 2.0, 5.0, 1.0, 5.0]);
        assert_eq!(exact, Duplicates { before_rounding: 1, after_rounding: 1 });
    }
}
