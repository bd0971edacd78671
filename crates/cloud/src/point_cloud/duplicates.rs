//! Points that are there more than once, as 32-bit floats and as the file has them.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut as _;
use serde::Serialize;

use super::PointCloud;

/// Points less distinct points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// By the file's own values.
    pub before_rounding: u64,
    /// By the coordinates that are searched.
    pub after_rounding: u64,
}

impl PointCloud {
    /// Counts duplicates: sorts all rows, and those that are equal after rounding once more by the file's values, as only they can be equal there.
    pub fn duplicates(&self) -> Duplicates {
        let dims = self.dims();
        // -0.0 was normalised to 0.0 and nothing is NaN, so equal bits mean equal coordinates.
        let bits: &[u32] = bytemuck::cast_slice(&self.points);
        let bits_of = |row: u32| &bits[row as usize * dims..][..dims];
        let mut rows: Vec<u32> = (0..self.len() as u32).collect();
        rows.par_sort_unstable_by(|&a, &b| bits_of(a).cmp(bits_of(b)));
        let own = |a: u32, b: u32| {
            let axes = (0..dims).map(|axis| [a, b].map(|row| self.coordinate(row as usize, axis)));
            axes.map(|[a, b]| a.partial_cmp(&b).unwrap_or(Ordering::Equal)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut found = Duplicates { before_rounding: 0, after_rounding: 0 };
        for equal in rows.chunk_by_mut(|&a, &b| bits_of(a) == bits_of(b)).filter(|equal| equal.len() > 1) {
            let after = equal.len() as u64 - 1;
            found.after_rounding += after;
            found.before_rounding += if self.exact.is_none() {
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
    use crate::{Column, Source, Table};

    #[test]
    fn rounding_makes_duplicates() {
        let cloud = |values: &[f64]| {
            let columns = ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec();
            let table = Table { columns, values: values.to_vec() };
            PointCloud::from_table(table, Source::Coordinates(String::new()), None, false).expect("a cloud")
        };
        let near = 1.0 + 1e-12;
        let found = cloud(&[1.0, 5.0, near, 5.0, 1.0, 5.0, 1.0, 5.5, near, 5.0, 0.0, 5.0, -0.0, 5.0]).duplicates();
        assert_eq!(found, Duplicates { before_rounding: 3, after_rounding: 4 });
        let exact = cloud(&[1.0, 5.0, 2.0, 5.0, 1.0, 5.0]).duplicates();
        assert_eq!(exact, Duplicates { before_rounding: 1, after_rounding: 1 });
    }
}
