//! Compares the neighbours of two runs.

use std::collections::HashMap;

use serde::Serialize;

use super::SavedRun;
use super::saved::NeighborSource;
use crate::run::{LoadedRun, QuerySpec, RunFile};

/// The counts of a comparison of two runs' neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerComparison {
    /// Queries of both runs.
    pub queries: u64,
    /// Ranks that both runs have.
    pub ranks: u64,
    /// Queries with a different row at some rank.
    pub other_rows: u64,
    /// Queries with a different squared distance at some rank, bit for bit.
    pub other_distances: u64,
}

impl AnswerComparison {
    /// Compares the answers of saved runs, if that is possible.
    ///
    /// # Errors
    /// Why it is not, as a part of a sentence.
    pub fn new(a: &SavedRun, b: &SavedRun) -> Result<Self, String> {
        let (Some(file_a), Some(file_b)) = (&a.file, &b.file) else {
            return Err("a timings.csv does not contain them".to_owned());
        };
        if file_a.fingerprint != file_b.fingerprint {
            return Err("they searched different clouds".to_owned());
        }
        if file_a.query_fingerprint != file_b.query_fingerprint {
            return Err("their queries are from different clouds".to_owned());
        }
        if file_a.spec.metric != file_b.spec.metric {
            return Err("they used different metrics".to_owned());
        }
        if file_a.spec.exclude_self != file_b.spec.exclude_self {
            return Err("one of them excluded the query's own row".to_owned());
        }
        match (&a.run, &b.run) {
            (Some(a), Some(b)) => Self::of_runs(a, b),
            _ => Self::in_order((a, file_a), (b, file_b)),
        }
    }

    /// For folders, which do not store the queries' rows: compares query by query if both had the same
    /// queries.
    fn in_order(
        (a, file_a): (&SavedRun, &RunFile),
        (b, file_b): (&SavedRun, &RunFile),
    ) -> Result<Self, String> {
        let (found_a, found_b) = (NeighborSource::new(a)?, NeighborSource::new(b)?);
        let same = match (&file_a.spec.queries, &file_b.spec.queries) {
            // Files are compared by their fingerprints, wherever they are.
            (QuerySpec::File { .. }, QuerySpec::File { .. }) => true,
            (QuerySpec::Count(a), QuerySpec::Count(b)) => a == b && file_a.spec.seed == file_b.spec.seed,
            (a, b) => a == b,
        };
        if !same || file_a.summary.q != file_b.summary.q {
            return Err("they had different queries".to_owned());
        }
        let ranks = file_a.spec.k.min(file_b.spec.k);
        let (mut other_rows, mut other_distances) = (0, 0);
        for query in 0..file_a.summary.q as usize {
            let pairs = || (0..ranks).map(|rank| (found_a.at(query, rank), found_b.at(query, rank)));
            other_rows += u64::from(pairs().any(|(a, b)| a.0 != b.0));
            other_distances += u64::from(pairs().any(|(a, b)| a.1.to_bits() != b.1.to_bits()));
        }
        Ok(Self { queries: file_a.summary.q, ranks: ranks as u64, other_rows, other_distances })
    }

    /// For complete runs: compares each query that both have, in any order.
    fn of_runs(a: &LoadedRun, b: &LoadedRun) -> Result<Self, String> {
        let (rows_a, rows_b, found_a, found_b) =
            (a.query_rows(), b.query_rows(), a.neighbors(), b.neighbors());
        let pairs: Vec<(usize, usize)> = if rows_a == rows_b {
            (0..rows_a.len()).map(|query| (query, query)).collect()
        } else {
            // For a row that was queried twice, either answer will do, as they are equal.
            let of_row: HashMap<u32, usize> =
                rows_b.iter().enumerate().map(|(query, &row)| (row, query)).collect();
            rows_a.iter().enumerate().filter_map(|(query, row)| Some((query, *of_row.get(row)?))).collect()
        };
        if pairs.is_empty() {
            return Err("they have no query in common".to_owned());
        }
        let ranks = found_a.k.min(found_b.k);
        let (mut other_rows, mut other_distances) = (0, 0);
        for &(query_a, query_b) in &pairs {
            let ((rows_a, far_a), (rows_b, far_b)) = (found_a.for_query(query_a), found_b.for_query(query_b));
            other_rows += u64::from(rows_a[..ranks] != rows_b[..ranks]);
            other_distances += u64::from(
                far_a[..ranks].iter().zip(&far_b[..ranks]).any(|(a, b)| a.to_bits() != b.to_bits()),
            );
        }
        Ok(Self { queries: pairs.len() as u64, ranks: ranks as u64, other_rows, other_distances })
    }

    pub fn identical(&self) -> bool {
        self.other_rows == 0 && self.other_distances == 0
    }

    /// The counts as one sentence, for the command line and the window.
    pub fn sentence(&self) -> String {
        use crate::text::{count, thousands};
        let Self { queries, ranks, other_rows, other_distances } = self;
        let of = format!(
            "{}, {ranks} {} each",
            count(*queries, "query", "queries"),
            if *ranks == 1 { "rank" } else { "ranks" }
        );
        if self.identical() {
            return format!("The same neighbours, to the bit ({of}).");
        }
        let rows = format!("{} of {of}: different neighbours", thousands(*other_rows));
        match (other_rows, other_distances) {
            (0, far) => {
                format!("The same neighbours, but {} of {of} at different distances.", thousands(*far))
            }
            (_, 0) => format!("{rows}, all at equal distances."),
            (_, far) => format!("{rows}; different distances in {}.", count(*far, "query", "queries")),
        }
    }
}
