//! Recall: the share of the truth that the answers of an approximate index contain.
//!
//! Recall at k is the share of a query's k true neighbours among its first k answers. If distances are known,
//! an answer counts by its distance: one at the distance of the k-th true neighbour is a hit, whichever of
//! several equally distant points the truth lists.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::Serialize;

use super::{AnswerError, CHUNK, PositionMap, row_of};
use crate::cloud::{Coordinates, PointCloud};
use crate::exact::{RankedPoint, Ranking};
use crate::knn::{NONE, Neighbors, Problem};
use crate::progress::Progress;
use crate::run::stats::SummaryStats;
use crate::text::count;

/// Why recall cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// One of the tables has too few neighbours per query.
    #[error(
        "recall at {k} needs {k} neighbours per query, but {table} has {width}; pass --at {width} or less"
    )]
    Width {
        /// The answers or the truth.
        table: &'static str,
        /// Neighbours per query in that table.
        width: usize,
        k: usize,
    },
    /// Answers and truth have different numbers of queries.
    #[error("the answers have {}, but the truth has {truth}", count(*.answers as u64, "query", "queries"))]
    Unequal { answers: usize, truth: usize },
    /// The truth lists a row that cannot be a neighbour.
    #[error("the truth lists row {record} at rank {rank} of query {query}: {what}")]
    Truth {
        query: usize,
        rank: usize,
        record: f64,
        /// Why the row is invalid.
        what: &'static str,
    },
    /// The answers belong to other queries.
    #[error(transparent)]
    Answers(#[from] AnswerError),
    /// The truth belongs to other queries.
    #[error("the truth: {0}")]
    TruthRows(AnswerError),
    #[error("cancelled")]
    Cancelled,
}

/// The true neighbours of a problem's queries.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// From an engine: rows of the cloud, in the order of the problem's queries.
    Found(&'a Neighbors),
    /// From a file, in the layout of the answers. Their distances are recomputed.
    Listed(&'a Coordinates),
}

/// How ties with the k-th neighbour are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TieDetection {
    /// Each answer's distance was computed; ties count as hits.
    Computed,
    /// Distances come from the truth. An answer that the truth does not list may tie with its last entry.
    Listed,
    /// There are row numbers only; an answer counts if the truth lists it.
    #[serde(rename = "not_told")]
    RowsOnly,
}

/// Flawed answers, which are never hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlawCounts {
    /// Ranks without an answer: −1, or not a number.
    pub missing: u64,
    /// Rows listed before for the same query.
    pub duplicates: u64,
    /// Numbers that are not a row of the cloud or, without a cloud, not a row number.
    pub out_of_range: u64,
    /// The query's own row, if it is excluded.
    pub own: u64,
}

impl std::ops::AddAssign for FlawCounts {
    fn add_assign(&mut self, other: Self) {
        self.missing += other.missing;
        self.duplicates += other.duplicates;
        self.out_of_range += other.out_of_range;
        self.own += other.own;
    }
}

/// The recall of each query.
#[derive(Clone, Debug)]
pub struct Recall {
    ks: Vec<usize>,
    ties: TieDetection,
    /// Queries × ks.
    counts: Vec<Counts>,
    flaws: Vec<FlawCounts>,
}

/// The counts of a query at one k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    hits: u32,
    /// True neighbours: k, or fewer if there are fewer.
    possible: u32,
    /// Answers that may tie with the k-th but are not counted.
    undecided: u32,
}

/// Recall at one k, over all queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecallAt {
    pub k: usize,
    #[serde(flatten)]
    pub spread: SummaryStats,
    /// Queries whose recall is 1.
    pub perfect: u64,
    /// Answers that may tie with the k-th, which the truth cannot decide; they count as misses.
    #[serde(rename = "untold")]
    pub undecided: u64,
}

impl Recall {
    /// The ks, ascending.
    pub fn ks(&self) -> &[usize] {
        &self.ks
    }

    pub fn ties(&self) -> TieDetection {
        self.ties
    }

    pub fn queries(&self) -> usize {
        self.flaws.len()
    }

    /// A query's recall at `ks()[at]`; 1 if it has no neighbours.
    pub fn recall(&self, query: usize, at: usize) -> f64 {
        let Counts { hits, possible, .. } = self.counts[query * self.ks.len() + at];
        if possible == 0 { 1.0 } else { f64::from(hits) / f64::from(possible) }
    }

    /// A query's hits at `ks()[at]`, and the number of its true neighbours.
    pub fn hits(&self, query: usize, at: usize) -> (u32, u32) {
        let Counts { hits, possible, .. } = self.counts[query * self.ks.len() + at];
        (hits, possible)
    }

    /// The flaws of a query's answers.
    pub fn flaws_of(&self, query: usize) -> FlawCounts {
        self.flaws[query]
    }

    /// The flaws of all queries together.
    pub fn flaws(&self) -> FlawCounts {
        let mut all = FlawCounts::default();
        self.flaws.iter().for_each(|&flaws| all += flaws);
        all
    }

    /// A summary over all queries for each k; empty if there are no queries.
    pub fn summary(&self) -> Vec<RecallAt> {
        let at = |(at, &k)| {
            let perfect = (0..self.queries()).filter(|&query| self.recall(query, at) >= 1.0).count() as u64;
            let undecided = self
                .counts
                .iter()
                .skip(at)
                .step_by(self.ks.len())
                .map(|counts| u64::from(counts.undecided))
                .sum();
            Some(RecallAt {
                k,
                spread: SummaryStats::new((0..self.queries()).map(|query| self.recall(query, at)))?,
                perfect,
                undecided,
            })
        };
        self.ks.iter().enumerate().filter_map(at).collect()
    }

    /// The queries with the lowest recall at `ks()[at]`, the worst first, without perfect ones.
    pub fn worst(&self, at: usize, most: usize) -> Vec<usize> {
        let mut queries: Vec<usize> =
            (0..self.queries()).filter(|&query| self.recall(query, at) < 1.0).collect();
        queries.sort_by(|&a, &b| self.recall(a, at).total_cmp(&self.recall(b, at)));
        queries.truncate(most);
        queries
    }
}

/// The recall of answers to a problem's queries, at each of `ks`. Both tables are laid out as for
/// [`super::check`]. An answer is a hit if its real distance, by the file's values, is at most that of the
/// k-th true neighbour.
///
/// # Errors
/// [`RecallError`].
pub fn of_problem(
    problem: &Problem,
    cloud: &PointCloud,
    queries: &PointCloud,
    answers: &Coordinates,
    truth: Truth<'_>,
    ks: &[usize],
    progress: &dyn Progress,
) -> Result<Recall, RecallError> {
    let most = check_width("the file of answers", answers.columns.len(), ks)?;
    let row_of_answers = row_of(problem, queries, answers.rows())?;
    let row_of_truth = match truth {
        Truth::Found(found) => {
            check_width("the truth", found.k, ks)?;
            None
        }
        Truth::Listed(named) => {
            check_width("the truth", named.columns.len(), ks)?;
            Some(row_of(problem, queries, named.rows()).map_err(RecallError::TruthRows)?)
        }
    };
    let positions = PositionMap::new(problem, cloud);
    let name = |query: usize, record: f64| match positions.position(record).map(|at| problem.row(at)) {
        _ if is_missing(record) => Entry::Missing,
        Some(row) if problem.own_row(query) == Some(row) => Entry::Own,
        Some(row) => Entry::Point(row.into()),
        None => Entry::OutOfRange,
    };
    let ranking = Ranking::new(problem.metric(), cloud, queries, 2 * most * problem.q());
    let judge = |query: usize| {
        let mut listed: Vec<u32> = Vec::new();
        match (truth, &row_of_truth) {
            (Truth::Listed(named), Some(row_of)) => {
                for (rank, record) in row(named, row_of(query), most).enumerate() {
                    let refused = |what| RecallError::Truth { query, rank, record, what };
                    match name(query, record) {
                        Entry::Missing => break,
                        Entry::Point(row) => listed.push(row as u32),
                        Entry::Own => return Err(refused("it is the query's own, which is excluded")),
                        Entry::OutOfRange => return Err(refused("it is not a point of the cloud")),
                    }
                }
            }
            (Truth::Found(found), _) => {
                listed.extend(found.for_query(query).0.iter().take_while(|&&row| row != NONE));
            }
            (Truth::Listed(_), None) => {}
        }
        let possible = most.min(listed.len());
        let records = row(answers, row_of_answers(query), most);
        let (named, flaws) = classify(records, |record| name(query, record), possible);
        // Distances are compared by their numbers in the order of all rows that either table lists.
        let target = ranking.query(problem.query_row(query) as usize);
        let rows = listed.iter().copied().chain(named.iter().flatten().map(|&row| row as u32));
        let rows: HashSet<u32> = rows.collect();
        let mut vector = Vec::new();
        let mut ranked: Vec<RankedPoint> =
            rows.into_iter().map(|row| ranking.rank(&target, row, &mut vector)).collect();
        let numbers = ranking.number_distances(&target, &mut ranked);
        let number_of: HashMap<u32, f64> =
            ranked.iter().zip(numbers).map(|(ranked, number)| (ranked.row, number.into())).collect();
        // The distance and number of true neighbours at each k.
        let farthest =
            |k: usize| listed[..k].iter().map(|row| number_of[row]).fold(f64::NEG_INFINITY, f64::max);
        let bounds: Vec<(f64, usize)> =
            ks.iter().map(|&k| k.min(listed.len())).map(|k| (farthest(k), k)).collect();
        let keys: Vec<Option<Distance>> =
            named.iter().map(|point| point.map(|row| Distance::Exactly(number_of[&(row as u32)]))).collect();
        Ok((counts(ks, &keys, &bounds), flaws))
    };
    collect(problem.q(), ks, TieDetection::Computed, judge, progress)
}

/// The recall of answers compared row by row with a truth from a file. With the truth's `distances`, an
/// answer that ties with the k-th neighbour is a hit if the truth lists it.
///
/// # Errors
/// [`RecallError`].
pub fn of_files(
    answers: &Coordinates,
    truth: &Coordinates,
    distances: Option<&Coordinates>,
    ks: &[usize],
    progress: &dyn Progress,
) -> Result<Recall, RecallError> {
    let most = check_width("the file of answers", answers.columns.len(), ks)?;
    let width = truth.columns.len();
    check_width("the truth", width, ks)?;
    if answers.rows() != truth.rows() {
        return Err(RecallError::Unequal { answers: answers.rows(), truth: truth.rows() });
    }
    let judge = |query: usize| {
        let listed: Vec<f64> = row(truth, query, width).take_while(|&record| !is_missing(record)).collect();
        // Without distances, uses ranks instead.
        let far = |rank: usize| {
            distances.map_or(rank as f64, |distances| distances.values.get(query * width + rank))
        };
        let mut rank_of = HashMap::with_capacity(listed.len());
        for (rank, &record) in listed.iter().enumerate() {
            if !is_row(record) {
                return Err(RecallError::Truth { query, rank, record, what: "it is not a row number" });
            }
            rank_of.entry(record as u64).or_insert(rank);
        }
        let bounds: Vec<(f64, usize)> = ks
            .iter()
            .map(|&k| k.min(listed.len()))
            .map(|k| (k.checked_sub(1).map_or(f64::NEG_INFINITY, far), k))
            .collect();
        // An unlisted answer is at least as far away as the last listed one.
        let all_are_listed = listed.len() < width;
        let beyond = match listed.len().checked_sub(1) {
            Some(last) if distances.is_some() && !all_are_listed => Distance::AtLeast(far(last)),
            _ => Distance::Exactly(f64::INFINITY),
        };
        let name = |record: f64| match record {
            record if is_missing(record) => Entry::Missing,
            record if is_row(record) => Entry::Point(record as u64),
            _ => Entry::OutOfRange,
        };
        let (named, flaws) = classify(row(answers, query, most), name, max_possible(&bounds));
        let key = |record: u64| rank_of.get(&record).map_or(beyond, |&rank| Distance::Exactly(far(rank)));
        let keys: Vec<Option<Distance>> = named.into_iter().map(|named| named.map(key)).collect();
        Ok((counts(ks, &keys, &bounds), flaws))
    };
    collect(
        answers.rows(),
        ks,
        if distances.is_some() { TieDetection::Listed } else { TieDetection::RowsOnly },
        judge,
        progress,
    )
}

/// The meaning of a number in a table of answers.
enum Entry {
    Missing,
    OutOfRange,
    Own,
    Point(u64),
}

/// The distance of an answer.
#[derive(Clone, Copy, Debug)]
enum Distance {
    Exactly(f64),
    AtLeast(f64),
}

fn is_missing(record: f64) -> bool {
    record.is_nan() || record == -1.0
}

fn is_row(record: f64) -> bool {
    record >= 0.0 && record.fract() == 0.0 && record < u64::MAX as f64
}

fn row(table: &Coordinates, row: usize, most: usize) -> impl Iterator<Item = f64> + '_ {
    let start = row * table.columns.len();
    (start..start + most).map(|at| table.values.get(at))
}

/// Checks that a table has enough neighbours for the largest k, and returns that k.
fn check_width(table: &'static str, width: usize, ks: &[usize]) -> Result<usize, RecallError> {
    let most = ks.iter().copied().max().unwrap_or(0);
    if width < most { Err(RecallError::Width { table, width, k: most }) } else { Ok(most) }
}

/// The number of true neighbours of a query at the largest k.
fn max_possible(bounds: &[(f64, usize)]) -> usize {
    bounds.iter().map(|&(_, possible)| possible).max().unwrap_or(0)
}

/// Classifies answers: distinct points, and flaws. Empty ranks count as missing only up to the number of true
/// neighbours.
fn classify(
    records: impl Iterator<Item = f64>,
    name: impl Fn(f64) -> Entry,
    possible: usize,
) -> (Vec<Option<u64>>, FlawCounts) {
    let (mut flaws, mut seen) = (FlawCounts::default(), HashSet::new());
    let mut named = |(rank, record): (usize, f64)| {
        match name(record) {
            Entry::Missing => flaws.missing += u64::from(rank < possible),
            Entry::OutOfRange => flaws.out_of_range += 1,
            Entry::Own => flaws.own += 1,
            Entry::Point(point) if !seen.insert(point) => flaws.duplicates += 1,
            Entry::Point(point) => return Some(point),
        }
        None
    };
    let points = records.enumerate().map(&mut named).collect();
    (points, flaws)
}

/// Counts the answers within each bound; bounds are (distance, number of true neighbours).
fn counts(ks: &[usize], keys: &[Option<Distance>], bounds: &[(f64, usize)]) -> Vec<Counts> {
    let at = |(&k, &(bound, possible)): (&usize, &(f64, usize))| {
        let mut counts = Counts { possible: possible as u32, ..Counts::default() };
        for key in keys.iter().take(k).flatten() {
            match key {
                Distance::Exactly(far) => counts.hits += u32::from(*far <= bound),
                Distance::AtLeast(far) => counts.undecided += u32::from(*far <= bound),
            }
        }
        // With fewer than k true neighbours, ties must not raise the hits above their number.
        counts.hits = counts.hits.min(counts.possible);
        counts
    };
    ks.iter().zip(bounds).map(at).collect()
}

type QueryCounts = (Vec<Counts>, FlawCounts);

fn collect(
    queries: usize,
    ks: &[usize],
    ties: TieDetection,
    judge: impl Fn(usize) -> Result<QueryCounts, RecallError> + Sync,
    progress: &dyn Progress,
) -> Result<Recall, RecallError> {
    let mut recall = Recall {
        ks: ks.to_vec(),
        ties,
        counts: Vec::with_capacity(queries * ks.len()),
        flaws: Vec::with_capacity(queries),
    };
    for start in (0..queries).step_by(CHUNK) {
        if progress.cancelled() {
            return Err(RecallError::Cancelled);
        }
        let chunk: Vec<Result<QueryCounts, RecallError>> =
            (start..(start + CHUNK).min(queries)).into_par_iter().map(&judge).collect();
        for judged in chunk {
            let (counts, flaws) = judged?;
            recall.counts.extend(counts);
            recall.flaws.push(flaws);
        }
        progress.update(recall.flaws.len() as u64, queries as u64);
    }
    Ok(recall)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{cloud, spec, squares};
    use super::super::super::{QuerySpec, RunSpec, build_problem};
    use super::*;
    use crate::cloud::Column;
    use crate::knn::reference;
    use crate::progress::NoProgress;
    use crate::run::LoadedSpec;

    fn table(width: usize, values: &[f64]) -> Coordinates {
        Coordinates::new(Column::unnamed(width), values.to_vec())
    }

    /// Recall of each query at each k.
    fn all(recall: &Recall) -> Vec<Vec<f64>> {
        (0..recall.queries())
            .map(|query| (0..recall.ks().len()).map(|at| recall.recall(query, at)).collect())
            .collect()
    }

    /// By hand: points on a line at 0, 1, −1, 2, −2, 3, and a query at the first.
    fn line(answers: &[f64], truth: Truth<'_>, ks: &[usize]) -> Recall {
        let data = cloud(1, vec![0.0, 1.0, -1.0, 2.0, -2.0, 3.0]);
        let problem = build_problem(LoadedSpec::new(
            &RunSpec { k: 6, queries: QuerySpec::Rows(vec![0]), ..spec() },
            &data,
            None,
        ))
        .unwrap();
        of_problem(&problem, &data, &data, &table(answers.len(), answers), truth, ks, &NoProgress).unwrap()
    }

    #[test]
    fn ties_with_the_kth_neighbour_count_as_hits() {
        let found =
            Neighbors { k: 4, indices: vec![0, 1, 2, 3], squared_distances: vec![0.0, 1.0, 1.0, 4.0] };
        let named = table(4, &[0.0, 1.0, 2.0, 3.0]);
        for truth in [Truth::Found(&found), Truth::Listed(&named)] {
            // Row 2 ties with row 1, and row 4 with row 3.
            assert_eq!(all(&line(&[0.0, 2.0, 1.0, 4.0], truth, &[1, 2, 4])), [[1.0, 1.0, 1.0]]);
            assert_eq!(all(&line(&[2.0, 0.0, 5.0, 3.0], truth, &[1, 2, 4])), [[0.0, 1.0, 0.75]]);
            assert_eq!(line(&[2.0, 0.0, 5.0, 3.0], truth, &[4]).hits(0, 0), (3, 4));
        }
    }

    #[test]
    fn invalid_indices_count_as_flaws_not_hits() {
        let found =
            Neighbors { k: 4, indices: vec![0, 1, 2, 3], squared_distances: vec![0.0, 1.0, 1.0, 4.0] };
        let recall = line(&[0.0, 0.0, -1.0, 6.0], Truth::Found(&found), &[1, 4]);
        assert_eq!(
            (all(&recall), recall.flaws()),
            (vec![vec![1.0, 0.25]], FlawCounts { missing: 1, duplicates: 1, out_of_range: 1, own: 0 })
        );
        let recall = line(&[f64::NAN, 0.5, f64::INFINITY, -7.0], Truth::Found(&found), &[4]);
        assert_eq!(
            (recall.recall(0, 0), recall.flaws()),
            (0.0, FlawCounts { missing: 1, duplicates: 0, out_of_range: 3, own: 0 })
        );
        let truth = table(2, &[0.0, 9.0]);
        let data = squares(5);
        let problem = build_problem(LoadedSpec::new(
            &RunSpec { k: 2, queries: QuerySpec::Rows(vec![0]), ..spec() },
            &data,
            None,
        ))
        .unwrap();
        let error =
            of_problem(&problem, &data, &data, &truth, Truth::Listed(&truth), &[2], &NoProgress).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the truth lists row 9 at rank 1 of query 0: it is not a point of the cloud"
        );
        let error =
            of_problem(&problem, &data, &data, &truth, Truth::Listed(&truth), &[3], &NoProgress).unwrap_err();
        assert_eq!(
            error.to_string(),
            "recall at 3 needs 3 neighbours per query, but the file of answers has 2; pass --at 2 or less"
        );
    }

    #[test]
    fn the_querys_own_row_is_not_a_hit_with_exclude_self() {
        let data = squares(4);
        let own = RunSpec { k: 2, exclude_self: true, ..spec() };
        let problem = build_problem(LoadedSpec::new(&own, &data, None)).unwrap();
        let answers = table(2, &[0.0, 1.0, 0.0, 2.0, 1.0, 3.0, 2.0, 1.0]);
        let truth = Neighbors {
            k: 2,
            indices: vec![1, 2, 0, 2, 1, 0, 2, 1],
            squared_distances: vec![1.0, 16.0, 1.0, 9.0, 9.0, 16.0, 25.0, 64.0],
        };
        let recall =
            of_problem(&problem, &data, &data, &answers, Truth::Found(&truth), &[2], &NoProgress).unwrap();
        // Row 3 is at 25 from row 2, which exceeds 16.
        assert_eq!((all(&recall), recall.flaws().own), (vec![vec![0.5], vec![1.0], vec![0.5], vec![1.0]], 1));
        assert_eq!(
            (recall.worst(0, 9), recall.worst(0, 1), recall.summary()[0].perfect),
            (vec![0, 2], vec![0], 2)
        );
    }

    #[test]
    fn oracle_answers_have_recall_one_for_any_order_of_ties() {
        // Every distance occurs at least four times.
        let data = cloud(2, (0..100).flat_map(|i| [f64::from(i % 5), f64::from(i / 5 % 5)]).collect());
        let problem = build_problem(LoadedSpec::new(&RunSpec { k: 7, ..spec() }, &data, None)).unwrap();
        let of = |query: usize| {
            let (positions, distances) = reference::neighbours(&problem, query);
            (positions.into_iter().map(|position| problem.row(position)).collect::<Vec<u32>>(), distances)
        };
        let mut truth = Neighbors::unanswered(100, 7);
        for query in 0..100 {
            let (rows, distances) = of(query);
            truth.indices[query * 7..][..7].copy_from_slice(&rows[..7]);
            truth.squared_distances[query * 7..]
                .iter_mut()
                .zip(distances)
                .take(7)
                .for_each(|(to, from)| *to = from as f32);
        }
        // Of each set of equal rows, lists the last instead of the first.
        let mirrored: Vec<f64> = truth.indices.iter().map(|&row| f64::from((row + 75) % 100)).collect();
        let recall = of_problem(
            &problem,
            &data,
            &data,
            &table(7, &mirrored),
            Truth::Found(&truth),
            &[1, 3, 7],
            &NoProgress,
        )
        .unwrap();
        for at in recall.summary() {
            assert_eq!((at.spread.min, at.perfect, at.undecided), (1.0, 100, 0), "{at:?}");
        }
    }

    #[test]
    fn ties_are_recognized_within_the_ground_truths_list() {
        let truth = table(4, &[10.0, 11.0, 12.0, 13.0, 5.0, 6.0, -1.0, -1.0]);
        let answers = table(3, &[12.0, 10.0, 13.0, 6.0, 7.0, 5.0]);
        let by_name = of_files(&answers, &truth, None, &[1, 2, 3], &NoProgress).unwrap();
        assert_eq!(
            (by_name.ties(), all(&by_name)),
            (TieDetection::RowsOnly, vec![vec![0.0, 0.5, 2.0 / 3.0], vec![0.0, 0.5, 1.0]])
        );
        let far = table(4, &[1.0, 2.0, 2.0, 3.0, 1.0, 1.0, f64::INFINITY, f64::INFINITY]);
        let told = of_files(&answers, &truth, Some(&far), &[1, 2, 3], &NoProgress).unwrap();
        // 12 ties with 11 at k = 2; 6 ties with 5 at k = 1; 7 cannot be near, as all points are listed.
        assert_eq!(
            (told.ties(), all(&told)),
            (TieDetection::Listed, vec![vec![0.0, 1.0, 2.0 / 3.0], vec![1.0, 0.5, 1.0]])
        );
        assert!(told.summary().iter().all(|at| at.undecided == 0));
        // 99 may be as far away as the last listed answer.
        let narrow = of_files(
            &table(2, &[10.0, 99.0]),
            &table(2, &[10.0, 11.0]),
            Some(&table(2, &[1.0, 2.0])),
            &[1, 2],
            &NoProgress,
        )
        .unwrap();
        assert_eq!(
            (all(&narrow), narrow.summary()[0].undecided, narrow.summary()[1].undecided),
            (vec![vec![1.0, 0.5]], 0, 1)
        );
        let error = of_files(&answers, &table(4, &[1.0; 4]), None, &[1], &NoProgress).unwrap_err();
        assert_eq!(error.to_string(), "the answers have 2 queries, but the truth has 1");
    }
}
