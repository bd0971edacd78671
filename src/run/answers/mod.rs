//! Answers computed elsewhere: checked against the float64 oracle ([`check`]), or, for an approximate index,
//! compared with the truth ([`recall`]).

mod read;
pub mod recall;

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use crate::cloud::{Coordinates, PointCloud};
use crate::exact::nearest_of_all;
use crate::knn::{Metric, NONE, Problem, reference};
use crate::progress::Progress;
use crate::text::{ExactFloat, count};

pub use read::{names, neighbors_of_run, query_rows, read, read_with_distances};

/// Queries to judge between two checks for cancellation.
const CHUNK: usize = 64;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerVerdict {
    /// Queries that were compared.
    pub queries: u64,
    /// Queries with a wrong answer.
    pub wrong: u64,
    /// Ranks of correct queries with another point than the oracle's, at the same distance.
    pub ties: u64,
    /// The first wrong answer.
    pub mismatch: Option<String>,
}

impl AnswerVerdict {
    /// Whether so many answers are wrong that the file probably answers other queries: at least five and nine
    /// in ten, or all of two or more. Answers of an approximate index may be wrong as often but have a high
    /// recall, so `recall` is considered if known.
    pub fn suggests_other_queries(&self, recall: Option<f64>) -> bool {
        let all = self.wrong >= 2 && self.wrong == self.queries;
        let many = all || self.wrong >= 5 && self.wrong.saturating_mul(10) >= self.queries.saturating_mul(9);
        many && recall.is_none_or(|recall| recall < 0.5)
    }
}

fn queries(number: u64) -> String {
    count(number, "query", "queries")
}

/// Why answers cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The answers have fewer than k neighbours per query.
    #[error("the answers have {width} neighbours per query, but k is {k}; pass --k {width} or less")]
    Width {
        /// Neighbours per query in the answers.
        width: usize,
        /// k of the job.
        k: usize,
    },
    /// The number of answers is neither that of the queries nor that of the rows in the queries' file.
    #[error(
        "the file answers {}, but this job has {} (from {}); pass the --queries and --seed it was made with",
        queries(*.rows as u64),
        queries(*.asked as u64),
        count(*.records, "row", "rows")
    )]
    Rows {
        /// Queries in the answers.
        rows: usize,
        /// q, the queries of the job.
        asked: usize,
        /// Rows of the queries' file, including dropped ones.
        records: u64,
    },
    #[error("cancelled")]
    Cancelled,
}

/// Compares answers with the oracle's. A row has the record numbers of a query's neighbours, nearest first;
/// only the first k count. There is a row for each query, in order, or one for each row of the queries' file.
///
/// At each rank the point must be as far away as the oracle's, within max(1e-5, (d + 2)·2⁻²⁴). A list that is
/// exactly that of the file's values is right, too.
///
/// # Errors
/// [`AnswerError`] if there is nothing to compare. A wrong answer is an [`AnswerVerdict::mismatch`].
pub fn check(
    problem: &Problem,
    metric: Metric,
    cloud: &PointCloud,
    queries: &PointCloud,
    answers: &Coordinates,
    progress: &dyn Progress,
) -> Result<AnswerVerdict, AnswerError> {
    let (k, width) = (problem.reported_k(), answers.columns.len());
    if width < k {
        return Err(AnswerError::Width { width, k });
    }
    let row_of = row_of(problem, queries, answers.rows())?;
    let positions = PositionMap::new(problem, cloud);
    let judge = |query: usize| {
        let row = row_of(query);
        let named: Vec<f64> = (row * width..row * width + k).map(|at| answers.values.get(at)).collect();
        let judged = judge(problem, metric, query, &named, |record| positions.position(record));
        judged.or_else(|why| {
            let rows = named.iter().map(|&record| positions.position(record).map(|at| problem.row(at)));
            let nearest = nearest_of_all(problem, queries, query, k);
            // The answers of `knn`, which the f32 rule may order otherwise.
            if rows.eq(nearest.into_iter().map(|row| (row != NONE).then_some(row))) {
                Ok(0)
            } else {
                Err(format!("query {query}, {why}"))
            }
        })
    };
    let mut verdict = AnswerVerdict { queries: 0, wrong: 0, ties: 0, mismatch: None };
    for start in (0..problem.q()).step_by(CHUNK) {
        if progress.cancelled() {
            return Err(AnswerError::Cancelled);
        }
        let found: Vec<Result<u64, String>> =
            (start..(start + CHUNK).min(problem.q())).into_par_iter().map(judge).collect();
        for found in found {
            verdict.queries += 1;
            match found {
                Ok(ties) => verdict.ties += ties,
                Err(why) => {
                    verdict.wrong += 1;
                    verdict.mismatch.get_or_insert(why);
                }
            }
        }
        progress.update(verdict.queries, problem.q() as u64);
    }
    Ok(verdict)
}

/// Maps a query to its row in a table with a row per query or per row of the queries' file.
fn row_of<'a>(
    problem: &'a Problem,
    queries: &'a PointCloud,
    rows: usize,
) -> Result<impl Fn(usize) -> usize + 'a, AnswerError> {
    let records = queries.len() as u64 + queries.dropped();
    let by_query = rows == problem.q();
    if !by_query && rows as u64 != records {
        return Err(AnswerError::Rows { rows, asked: problem.q(), records });
    }
    Ok(move |query| if by_query { query } else { queries.record(problem.query_row(query) as usize) as usize })
}

/// Maps record numbers to points.
struct PositionMap<'a> {
    cloud: &'a PointCloud,
    /// By the cloud's rows; `None` for rows excluded from the problem.
    by_row: Vec<Option<u32>>,
}

impl<'a> PositionMap<'a> {
    fn new(problem: &Problem, cloud: &'a PointCloud) -> Self {
        let mut by_row = vec![None; cloud.len()];
        for position in 0..problem.n() as u32 {
            by_row[problem.row(position) as usize] = Some(position);
        }
        Self { cloud, by_row }
    }

    fn position(&self, record: f64) -> Option<u32> {
        let row =
            self.cloud.row_of_record(record as u64).filter(|_| record >= 0.0 && record.fract() == 0.0)?;
        self.by_row[row]
    }
}

/// The number of ranks with another point than the oracle's, if all are as far away.
fn judge(
    problem: &Problem,
    metric: Metric,
    query: usize,
    named: &[f64],
    position_of: impl Fn(f64) -> Option<u32>,
) -> Result<u64, String> {
    let dims = problem.dims();
    let relative = 1e-5f64.max((dims as f64 + 2.0) * 2f64.powi(-24));
    let own = problem.own_row(query);
    let (positions, distances) = reference::neighbours(problem, query);
    let expected =
        positions.iter().zip(&distances).filter(|&(&position, _)| own != Some(problem.row(position)));
    let (mut ties, mut seen) = (0, HashSet::new());
    // The zip ends with the shorter list. The oracle may have one more neighbour, in place of the query's own
    // row.
    for ((rank, &record), (&expected, &distance)) in named.iter().enumerate().zip(expected) {
        let position = position_of(record)
            .ok_or_else(|| format!("rank {rank}: row {record} is not a point of the cloud"))?;
        if own == Some(problem.row(position)) {
            return Err(format!("rank {rank}: row {record} is the query's own, which is excluded"));
        }
        if !seen.insert(position) {
            return Err(format!("rank {rank}: row {record} appears twice"));
        }
        let point = &problem.points()[position as usize * dims..][..dims];
        let found: f64 = point
            .iter()
            .zip(problem.query(query))
            .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2))
            .sum();
        if !is_same_distance(metric, found, distance, relative) {
            let row = problem.row(expected);
            let [found, distance] = [found, distance].map(ExactFloat);
            return Err(format!(
                "rank {rank}: row {record} at squared distance {found}, but the oracle has row {row} at \
                 {distance}"
            ));
        }
        ties += u64::from(position != expected);
    }
    Ok(ties)
}

/// Whether two squared distances are equal within the rounding of another program. Unit vectors were rounded
/// before they were compared here: points by up to 2⁻²⁴ of the Earth's radius, and so two distances by four
/// times that.
fn is_same_distance(metric: Metric, found: f64, expected: f64, relative: f64) -> bool {
    let difference = (found - expected).abs();
    match metric {
        Metric::L2 => difference <= relative * expected,
        Metric::Angular | Metric::Cosine => difference <= relative * expected + 2f64.powi(-21),
        Metric::Haversine | Metric::Sky => {
            difference <= relative * expected || (found.sqrt() - expected.sqrt()).abs() <= 2f64.powi(-22)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{cloud, spec, squares};
    use super::super::{QuerySpec, RunSpec, build_problem};
    use super::*;
    use crate::cloud::Column;
    use crate::progress::NoProgress;
    use crate::run::LoadedSpec;

    fn table(width: usize, values: Vec<f64>) -> Coordinates {
        Coordinates::new(Column::unnamed(width), values)
    }

    /// The oracle's answers, by row number.
    fn oracle(spec: &RunSpec, cloud: &Arc<PointCloud>, width: usize) -> Vec<f64> {
        let wide =
            build_problem(LoadedSpec::new(&RunSpec { k: width, ..spec.clone() }, cloud, None)).unwrap();
        let of = |query| reference::neighbours(&wide, query).0.into_iter().map(|position| wide.row(position));
        (0..wide.q())
            .flat_map(|query| {
                of(query)
                    .filter(|&row| wide.own_row(query) != Some(row))
                    .take(width)
                    .map(f64::from)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn check_rows(
        spec: &RunSpec,
        width: usize,
        change: impl Fn(&mut Vec<f64>),
    ) -> Result<AnswerVerdict, AnswerError> {
        let cloud = squares(20);
        let mut values = oracle(spec, &cloud, width);
        change(&mut values);
        check(
            &build_problem(LoadedSpec::new(spec, &cloud, None)).unwrap(),
            Metric::L2,
            &cloud,
            &cloud,
            &table(width, values),
            &NoProgress,
        )
    }

    /// `knn` writes such lists.
    #[test]
    fn lists_by_the_files_values_are_right() {
        // The first row makes f32 coarse: the others become 0, 0 or 0.5, 0.5 and 0.
        let cloud = crate::run::testing::cloud(
            1,
            [0.0, 0.24, 0.26, 0.01].map(|x| if x > 0.0 { 5e6 + x } else { x }).into(),
        );
        let spec = RunSpec { queries: QuerySpec::All, k: 3, ..spec() };
        let problem = build_problem(LoadedSpec::new(&spec, &cloud, None)).unwrap();
        let lists = [[0.0, 3.0, 1.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 1.0, 2.0]];
        let positions = PositionMap::new(&problem, &cloud);
        let by_f32 = |query: usize| {
            judge(&problem, Metric::L2, query, &lists[query], |record| positions.position(record))
        };
        assert!((0..4).any(|query| by_f32(query).is_err()), "the test needs lists that f32 orders otherwise");
        let verdict =
            check(&problem, Metric::L2, &cloud, &cloud, &table(3, lists.concat()), &NoProgress).unwrap();
        assert_eq!(verdict.mismatch, None);
    }

    #[test]
    fn wrong_answers_are_counted_and_the_first_is_reported() {
        let check_rows = |change: &dyn Fn(&mut Vec<f64>)| check_rows(&spec(), 5, change).unwrap();
        assert_eq!(check_rows(&|_| ()), AnswerVerdict { queries: 20, wrong: 0, ties: 0, mismatch: None });
        let why = |change: &dyn Fn(&mut Vec<f64>)| check_rows(change).mismatch.unwrap();
        assert!(
            why(&|rows| rows[5 * 4 + 1] = 19.0).starts_with("query 4, rank 1: row 19 at squared distance ")
        );
        assert!(why(&|rows| rows[5 * 19] = 0.0).ends_with(", but the oracle has row 19 at 0"));
        assert_eq!(why(&|rows| rows[0] = 99.0), "query 0, rank 0: row 99 is not a point of the cloud");
        assert_eq!(why(&|rows| rows[5] = -1.0), "query 1, rank 0: row -1 is not a point of the cloud");
        assert!(!check_rows(&|rows| rows[..5 * 17].fill(99.0)).suggests_other_queries(None));
        let most = check_rows(&|rows| rows[..5 * 18].fill(99.0));
        assert!(most.suggests_other_queries(None) && most.suggests_other_queries(Some(0.1)), "nine of ten");
        assert!(!most.suggests_other_queries(Some(0.9)), "an approximate index may be wrong everywhere");
        let few = |wrong, queries| {
            AnswerVerdict { queries, wrong, ties: 0, mismatch: None }.suggests_other_queries(None)
        };
        assert_eq!(
            [(1, 1), (2, 2), (4, 4), (3, 4), (0, 0)].map(|(wrong, queries)| few(wrong, queries)),
            [false, true, true, false, false]
        );
        let two = check_rows(&|rows| (rows[35], rows[85]) = (99.0, 99.0));
        assert_eq!((two.queries, two.wrong), (20, 2), "only wrong queries count");
        assert!(two.mismatch.unwrap().starts_with("query 7, "), "the first is reported");
        // Answers past the k-th are ignored.
        assert_eq!(check_rows(&|rows| rows[4] = 99.0).mismatch, None);
    }

    #[test]
    fn answers_may_cover_the_queries_or_the_whole_file() {
        // Records 1 and 4 are dropped, so rows and records have different numbers.
        let data = cloud(1, vec![0.0, f64::NAN, 4.0, 9.0, f64::NAN, 16.0, 25.0]);
        let verdict = |queries: &QuerySpec, rows: Vec<f64>| {
            let problem = build_problem(LoadedSpec::new(
                &RunSpec { k: 2, queries: queries.clone(), ..spec() },
                &data,
                None,
            ))
            .unwrap();
            check(&problem, Metric::L2, &data, &data, &table(2, rows), &NoProgress)
        };
        let missing = [-1.0; 2];
        let by_record = [[0.0, 2.0], missing, [2.0, 0.0], [3.0, 2.0], missing, [5.0, 3.0], [6.0, 5.0]];
        let listed = QuerySpec::Rows(vec![6, 3]);
        for (queries, rows) in [
            (&QuerySpec::All, by_record.concat()),
            (
                &QuerySpec::All,
                [by_record[0], by_record[2], by_record[3], by_record[5], by_record[6]].concat(),
            ),
            (&listed, by_record.concat()),
            (&listed, [by_record[6], by_record[3]].concat()),
        ] {
            assert_eq!(verdict(queries, rows.clone()).unwrap().mismatch, None, "{queries:?}: {rows:?}");
        }
        assert_eq!(
            verdict(&listed, [by_record[3], by_record[6]].concat()).unwrap().wrong,
            2,
            "in the wrong order"
        );
        let drawn = QuerySpec::Count(3);
        let asked =
            build_problem(LoadedSpec::new(&RunSpec { queries: drawn.clone(), ..spec() }, &data, None))
                .unwrap();
        let rows: Vec<f64> = (0..3)
            .flat_map(|query| by_record[data.record(asked.query_row(query) as usize) as usize])
            .collect();
        assert_eq!(
            verdict(&drawn, rows).unwrap(),
            AnswerVerdict { queries: 3, wrong: 0, ties: 0, mismatch: None }
        );
        let why = verdict(&drawn, by_record[..4].concat()).unwrap_err().to_string();
        assert_eq!(
            why,
            "the file answers 4 queries, but this job has 3 queries (from 7 rows); pass the --queries and \
             --seed it was made with"
        );
    }

    #[test]
    fn exclude_self_rejects_the_querys_own_row() {
        let own = RunSpec { exclude_self: true, ..spec() };
        assert_eq!(
            check_rows(&own, 3, |_| ()).unwrap(),
            AnswerVerdict { queries: 20, wrong: 0, ties: 0, mismatch: None }
        );
        let verdict = check_rows(&own, 3, |rows| rows[0] = 0.0).unwrap();
        assert_eq!(
            verdict.mismatch.as_deref(),
            Some("query 0, rank 0: row 0 is the query's own, which is excluded")
        );
        // Any of the equal rows is correct, except the query's own.
        let equal = cloud(1, vec![3.0; 5]);
        let problem = build_problem(LoadedSpec::new(&RunSpec { k: 1, ..own }, &equal, None)).unwrap();
        let verdict = |rows: [f64; 5]| {
            check(&problem, Metric::L2, &equal, &equal, &table(1, rows.to_vec()), &NoProgress).unwrap()
        };
        assert_eq!(verdict([1.0, 2.0, 3.0, 4.0, 0.0]).wrong, 0);
        assert_eq!(verdict([1.0, 1.0, 3.0, 4.0, 0.0]).wrong, 1);
    }

    #[test]
    fn too_few_neighbours_per_query_is_an_error() {
        assert!(matches!(
            check_rows(&RunSpec { k: 5, ..spec() }, 3, |_| ()),
            Err(AnswerError::Width { width: 3, k: 5 })
        ));
    }
}
