//! Maps the rows of a cloud to records of its file.

use std::ops::Range;

/// Runs of consecutive records: the first row of each run and its record, both ascending.
#[derive(Clone, Debug, Default)]
pub struct RecordMap {
    runs: Vec<(u32, u32)>,
    rows: u32,
}

impl RecordMap {
    /// Consecutive records.
    pub fn run(first: u32, rows: usize) -> Self {
        Self { runs: vec![(0, first)], rows: rows as u32 }
    }

    /// Appends a record, which must be larger than all previous ones.
    pub fn push(&mut self, record: u32) {
        if self.runs.last().is_none_or(|&(row, first)| record - first != self.rows - row) {
            self.runs.push((self.rows, record));
        }
        self.rows += 1;
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The record of an existing row.
    pub fn record(&self, row: usize) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first as usize <= row) - 1;
        let (first, record) = self.runs[run];
        u64::from(record) + (row as u64 - u64::from(first))
    }

    /// The records below `total` that have no row.
    pub fn missing(&self, total: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let end = |at: usize| {
            let ((row, first), next) =
                (self.runs[at], self.runs.get(at + 1).map_or(self.rows, |&(next, _)| next));
            u64::from(first) + u64::from(next - row)
        };
        let ends = std::iter::once(0).chain((0..self.runs.len()).map(end));
        let firsts = self.runs.iter().map(|&(_, first)| u64::from(first)).chain([total]);
        ends.zip(firsts).map(|(end, first)| end..first).filter(|gap| !gap.is_empty())
    }

    /// The row of a record; `None` if it was dropped.
    pub fn row(&self, record: u64) -> Option<usize> {
        let run = self.runs.partition_point(|&(_, first)| u64::from(first) <= record).checked_sub(1)?;
        let (row, first) = self.runs[run];
        let row = u64::from(row) + (record - u64::from(first));
        let end = self.runs.get(run + 1).map_or(self.rows, |&(next, _)| next);
        (row < u64::from(end)).then_some(row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_records_map_both_ways() {
        let records = [2, 3, 4, 7, 9, 10, 4_000_000_000];
        let mut map = RecordMap::default();
        records.iter().for_each(|&record| map.push(record));
        assert_eq!((map.rows(), map.runs.len()), (7, 4));
        for (row, &record) in records.iter().enumerate() {
            assert_eq!((map.record(row), map.row(record.into())), (record.into(), Some(row)));
        }
        assert_eq!(map.missing(12).take(3).collect::<Vec<_>>(), [0..2, 5..7, 8..9]);
        assert_eq!(map.missing(4_000_000_003).last(), Some(4_000_000_001..4_000_000_003));
        for record in [0, 1, 5, 6, 8, 11, 3_999_999_999, 4_000_000_001, u64::MAX] {
            assert_eq!(map.row(record), None, "{record}");
        }
    }
}
