//! Answers that somebody else computed, as benchmarks ship them, against the float64 oracle.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use crate::cloud::{Coordinates, PointCloud};
use crate::knn::{Metric, Problem, reference};
use crate::progress::Progress;

/// Queries that are judged between two looks at the cancel flag.
const CHUNK: usize = 64;

/// What was found of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswersVerdict {
    /// Queries that were compared.
    pub queries: u64,
    /// Ranks where they name another point than the oracle, as far away as that.
    pub ties: u64,
    /// The first thing that is wrong.
    pub mismatch: Option<String>,
}

/// Why answers cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// They have fewer neighbours to a query.
    #[error("the answers are {width} neighbours to a query, and k is {k}; ask for --k {width} or fewer")]
    Width {
        /// As many as there are.
        width: usize,
        /// As many as were asked for.
        k: usize,
    },
    /// There is none for a query.
    #[error("the answers are to {rows} queries, and row {record} of the queries is asked for")]
    Rows {
        /// As many as there are.
        rows: usize,
        /// The query's record number in its file.
        record: u64,
    },
    /// Answers name a query's own row, which was left out.
    #[error("the answers name the query's own row, and --exclude-self leaves it out")]
    Self_,
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Compares answers with the oracle's: a row for each query of its file, in the file's order, of the record numbers of its
/// neighbours, nearest first; of more than k, the first k.
///
/// At each rank the point that they name must be as far away as the oracle's, within max(1e-5, (d + 2)·2⁻²⁴).
///
/// # Errors
/// [`AnswersError`] where there is nothing to compare. A wrong answer is an [`AnswersVerdict::mismatch`].
pub fn check(
    problem: &Problem,
    metric: Metric,
    cloud: &PointCloud,
    queries: &PointCloud,
    answers: &Coordinates,
    progress: &dyn Progress,
) -> Result<AnswersVerdict, AnswersError> {
    let (k, width, rows) = (problem.k(), answers.columns.len(), answers.rows());
    if k != problem.reported_k() {
        return Err(AnswersError::Self_);
    }
    if width < k {
        return Err(AnswersError::Width { width, k });
    }
    let records: Vec<u64> = (0..problem.q()).map(|query| queries.record(problem.query_row(query) as usize)).collect();
    if let Some(&record) = records.iter().find(|&&record| record >= rows as u64) {
        return Err(AnswersError::Rows { rows, record });
    }
    let mut position_of = vec![None; cloud.len()];
    for position in 0..problem.n() as u32 {
        position_of[problem.row(position) as usize] = Some(position);
    }
    let judge = |query: usize| {
        let first = records[query] as usize * width;
        let named: Vec<f64> = (first..first + k).map(|at| answers.values.get(at)).collect();
        let position =
            |record: f64| cloud.row_of_record(record as u64).filter(|_| record >= 0.0 && record.fract() == 0.0).and_then(|row| position_of[row]);
        judge(problem, metric, query, &named, position).map_err(|why| format!("query {query}, {why}"))
    };
    let mut verdict = AnswersVerdict { queries: 0, ties: 0, mismatch: None };
    for start in (0..problem.q()).step_by(CHUNK) {
        if progress.cancelled() {
            return Err(AnswersError::Cancelled);
        }
        let found: Vec<Result<u64, String>> = (start..(start + CHUNK).min(problem.q())).into_par_iter().map(judge).collect();
        for found in found {
            match found {
                Ok(ties) => verdict.ties += ties,
                Err(why) => return Ok(AnswersVerdict { mismatch: Some(why), ..verdict }),
            }
            verdict.queries += 1;
        }
        progress.update(verdict.queries, problem.q() as u64);
    }
    Ok(verdict)
}

/// The ranks at which another point is named than the oracle's, if all are as far away.
fn judge(problem: &Problem, metric: Metric, query: usize, named: &[f64], position_of: impl Fn(f64) -> Option<u32>) -> Result<u64, String> {
    let dims = problem.dims();
    let relative = 1e-5f64.max((dims as f64 + 2.0) * 2f64.powi(-24));
    // Unit vectors were rounded before whoever computed the answers measured angles.
    let absolute = if metric == Metric::Angular { 2f64.powi(-21) } else { 0.0 };
    let (positions, distances) = reference::neighbours(problem, query);
    let (mut ties, mut seen) = (0, HashSet::new());
    // Past the n-th there is nothing to compare.
    for (rank, (&expected, &distance)) in positions.iter().zip(&distances).enumerate() {
        let record = named[rank];
        let position = position_of(record).ok_or_else(|| format!("rank {rank}: row {record} is named, which is none of the cloud's points"))?;
        if !seen.insert(position) {
            return Err(format!("rank {rank}: row {record} is named twice"));
        }
        let point = &problem.points()[position as usize * dims..][..dims];
        let found: f64 = point.iter().zip(problem.query(query)).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
        if (found - distance).abs() > relative * distance + absolute {
            let row = problem.row(expected);
            return Err(format!(
                "rank {rank}: row {record} is named, at squared distance {found:e}; row {row} is nearer or farther, at {distance:e}"
            ));
        }
        ties += u64::from(position != expected);
    }
    Ok(ties)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{spec, squares};
    use super::super::{RunSpec, pose};
    use super::*;
    use crate::cloud::Column;
    use crate::progress::Silent;

    fn check_rows(k: usize, width: usize, change: impl Fn(&mut Vec<f64>)) -> Result<AnswersVerdict, AnswersError> {
        let cloud = squares(20);
        let problem = pose(&RunSpec { k, ..spec() }, &cloud, None).unwrap();
        let wide = pose(&RunSpec { k: width, ..spec() }, &cloud, None).unwrap();
        let mut values: Vec<f64> = (0..20)
            .flat_map(|query| reference::neighbours(&wide, query).0.into_iter().map(|position| f64::from(wide.row(position))).collect::<Vec<_>>())
            .collect();
        change(&mut values);
        check(&problem, Metric::L2, &cloud, &cloud, &Coordinates { columns: Column::unnamed(width), values: values.into() }, &Silent)
    }

    #[test]
    fn right_answers_agree_and_wrong_ones_are_named() {
        let right = check_rows(3, 5, |_| ()).unwrap();
        assert_eq!(right, AnswersVerdict { queries: 20, ties: 0, mismatch: None });
        let why = |change: &dyn Fn(&mut Vec<f64>)| check_rows(3, 5, change).unwrap().mismatch.unwrap();
        assert!(why(&|rows| rows[5 * 4 + 1] = 19.0).starts_with("query 4, rank 1: row 19 is named, at squared distance "));
        assert_eq!(why(&|rows| rows[0] = 99.0), "query 0, rank 0: row 99 is named, which is none of the cloud's points");
        assert_eq!(why(&|rows| rows[5] = -1.0), "query 1, rank 0: row -1 is named, which is none of the cloud's points");
        // What stands past the k-th is not asked for.
        assert_eq!(check_rows(3, 5, |rows| rows[4] = 99.0).unwrap().mismatch, None);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert!(matches!(check_rows(5, 3, |_| ()), Err(AnswersError::Width { width: 3, k: 5 })));
        assert!(matches!(check_rows(3, 3, |rows| rows.truncate(30)), Err(AnswersError::Rows { rows: 10, record: 10 })));
    }
}
