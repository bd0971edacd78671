//! Facts about a selection that are too expensive to compute in each frame.

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::Selection;
use crate::cloud::PointCloud;
use crate::run::{RunRecord, analysis};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectionStats {
    /// For each axis, the selected rows with the smallest and the largest coordinate; empty without rows.
    pub extremes: Vec<(u32, u32)>,
    pub measures: Vec<MeasureStats>,
}

/// A measure of the selected queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasureStats {
    /// Name of the measure's column.
    pub name: String,
    /// (value, number of queries), ascending, without zeros.
    pub histogram: Vec<(u32, u64)>,
    pub mean: f64,
}

impl MeasureStats {
    pub fn range(&self) -> (u32, u32) {
        let at = |bin: Option<&(u32, u64)>| bin.map_or(0, |bin| bin.0);
        (at(self.histogram.first()), at(self.histogram.last()))
    }
}

impl SelectionStats {
    pub fn new(selection: &Selection, cloud: &PointCloud, record: Option<&RunRecord>) -> Self {
        let extremes = extremes(selection.rows(), cloud);
        let Some(record) = record.filter(|_| !selection.queries().is_empty()) else {
            return Self { extremes, ..Self::default() };
        };
        let queries = selection.queries();
        let of_measure = |(name, values): (&str, &[u32])| {
            let histogram = analysis::histogram(queries.iter().map(|&query| values[query as usize]));
            let sum: f64 = histogram.iter().map(|&(value, queries)| f64::from(value) * queries as f64).sum();
            MeasureStats { name: name.to_owned(), histogram, mean: sum / queries.len() as f64 }
        };
        Self { extremes, measures: record.measured.columns().map(of_measure).collect() }
    }

    pub fn measure(&self, name: &str) -> Option<&MeasureStats> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// Smallest and largest coordinate of the selected rows along an axis, in the file's units.
    pub fn range(&self, cloud: &PointCloud, axis: usize) -> Option<(f64, f64)> {
        let &(least, largest) = self.extremes.get(axis)?;
        Some((cloud.coordinate(least as usize, axis), cloud.coordinate(largest as usize, axis)))
    }
}

/// For each axis, the rows with the smallest and the largest coordinate.
pub fn extremes(rows: &[u32], cloud: &PointCloud) -> Vec<(u32, u32)> {
    /// Rows per parallel chunk.
    const ROWS_PER_CHUNK: usize = 1 << 14;
    let Some(&first) = rows.first() else { return Vec::new() };
    let dims = cloud.dims();
    let at = |row: u32, axis: usize| cloud.point(row as usize)[axis];
    let wider = |mut known: Vec<(u32, u32)>, rows: &[u32]| {
        for &row in rows {
            let point = cloud.point(row as usize);
            for (axis, (least, largest)) in known.iter_mut().enumerate() {
                *least = if point[axis] < at(*least, axis) { row } else { *least };
                *largest = if point[axis] > at(*largest, axis) { row } else { *largest };
            }
        }
        known
    };
    let parts: Vec<&[u32]> = rows.chunks(ROWS_PER_CHUNK).collect();
    let all: Vec<Vec<(u32, u32)>> =
        parts.into_par_iter().map(|part| wider(vec![(part[0], part[0]); dims], part)).collect();
    all.into_iter().fold(vec![(first, first); dims], |known, part| {
        let rows: Vec<u32> = part.into_iter().flat_map(|(least, largest)| [least, largest]).collect();
        wider(known, &rows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, measured, record};

    #[test]
    fn coordinate_ranges_cover_the_selected_rows() {
        let cloud = cloud(40_000, 3, 5);
        let rows: Vec<u32> = (0..40_000).filter(|row| row % 2 == 1).collect();
        let facts = SelectionStats::new(&Selection::of_rows(rows.clone(), None, ""), &cloud, None);
        for axis in 0..3 {
            let of = |row: &u32| cloud.coordinate(*row as usize, axis);
            let least = rows.iter().map(of).fold(f64::INFINITY, f64::min);
            let largest = rows.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(facts.range(&cloud, axis), Some((least, largest)));
        }
        assert_eq!(SelectionStats::new(&Selection::default(), &cloud, None), SelectionStats::default());
    }

    #[test]
    fn merge_histograms_count_the_selected_queries() {
        let mut record = RunRecord::clone(&record());
        record.measured = measured([3, 3, 6]);
        let of = |queries: Vec<u32>| {
            SelectionStats::new(&Selection::of_queries(queries, &record, ""), &record.cloud, Some(&record))
        };
        let facts = of(vec![0, 1, 2]);
        let merges = facts.measure("merges").expect("counted");
        assert_eq!(
            (merges.histogram.clone(), merges.mean, merges.range()),
            (vec![(3, 2), (6, 1)], 4.0, (3, 6))
        );
    }
}
