//! What is selected: rows of the cloud and queries of the run, each worked out from the other, so that points, bins of a
//! histogram, rows of a table and spans of a timeline can highlight one another.

use std::sync::Arc;

use crate::run::RunRecord;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    rows: Arc<[u32]>,
    queries: Arc<[u32]>,
    by: String,
}

impl Selection {
    /// Rows of the cloud, in any order, and with them the queries of `record` that ask for them. `by` says how they were
    /// chosen: "rectangle in Plane".
    pub fn of_rows(mut rows: Vec<u32>, record: Option<&RunRecord>, by: impl Into<String>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        let asks = |record: &RunRecord| -> Arc<[u32]> {
            let asked = record.query_rows.iter().enumerate().filter(|(_, row)| rows.binary_search(row).is_ok());
            asked.map(|(query, _)| query as u32).collect()
        };
        let queries = record.filter(|record| record.query_cloud.is_none()).map_or_else(Arc::default, asks);
        Self { rows: rows.into(), queries, by: by.into() }
    }

    /// Queries of `record`, in any order, and with them the rows that they ask for, where they are rows of the cloud.
    /// `by`: "16 merges".
    ///
    /// # Panics
    /// If the record has no such query.
    pub fn of_queries(mut queries: Vec<u32>, record: &RunRecord, by: impl Into<String>) -> Self {
        queries.sort_unstable();
        queries.dedup();
        let mut rows: Vec<u32> =
            if record.query_cloud.is_none() { queries.iter().map(|&query| record.query_rows[query as usize]).collect() } else { Vec::new() };
        rows.sort_unstable();
        rows.dedup();
        Self { rows: rows.into(), queries: queries.into(), by: by.into() }
    }

    /// Rows of the cloud, ascending.
    pub fn rows(&self) -> &Arc<[u32]> {
        &self.rows
    }

    /// Queries of the run, ascending.
    pub fn queries(&self) -> &Arc<[u32]> {
        &self.queries
    }

    /// How they were chosen.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.queries.is_empty()
    }

    /// Whether a row of the cloud is.
    pub fn has_row(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Whether a query of the run is.
    pub fn has_query(&self, query: u32) -> bool {
        self.queries.binary_search(&query).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn rows_and_queries_give_each_other() {
        let record = record();
        let by_rows = Selection::of_rows(vec![8, 20, 3, 8], Some(&record), "rectangle in Plane");
        assert_eq!((&by_rows.rows()[..], &by_rows.queries()[..]), (&[3, 8, 20][..], &[0, 2][..]));
        let by_queries = Selection::of_queries(vec![2, 0], &record, "3 merges");
        assert_eq!((&by_queries.rows()[..], &by_queries.queries()[..]), (&[3, 8][..], &[0, 2][..]));
        assert!(by_rows.has_row(20) && !by_queries.has_row(20) && by_queries.has_query(2) && !by_queries.has_query(1));
        assert!(Selection::default().is_empty() && !by_rows.is_empty());
    }

    #[test]
    fn queries_of_a_file_of_their_own_are_no_rows() {
        let mut record = RunRecord::clone(&record());
        record.query_cloud = Some(Arc::clone(&record.cloud));
        assert!(Selection::of_rows(vec![3, 8], Some(&record), "").queries().is_empty());
        let by_queries = Selection::of_queries(vec![1], &record, "");
        assert!(by_queries.rows().is_empty() && by_queries.has_query(1));
    }
}
