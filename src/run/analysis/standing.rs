//! Where one row stands among the neighbours of a query, and the query among the row's: why it is, or is not, among the k nearest.

use super::super::{Resident, RunError, RunRecord};
use super::problem_of;
use crate::engines::lockstep::distances_to;
use crate::knn::{Problem, Queries, Setup};
use crate::progress::Progress;

/// Positions whose distances are worked out between two looks at whether it was cancelled.
const BLOCK: usize = 1 << 16;

/// Where a row of the data stands, seen from a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub row: u32,
    /// Squared distance to the query, by the one rule.
    pub squared_distance: f32,
    /// Points that come before it: nearer ones, and equally near ones before it in processing order. Of a query that is a row, that row
    /// is not counted.
    pub rank: usize,
    /// The same from the row's side: points that come before the query. `None` where the query is no row, or is this row.
    pub back: Option<usize>,
    /// Position in processing order.
    pub position: u32,
    /// The squared bound when the search met the point, ∞ before there was one; `None` where the engine kept no history of it.
    pub bound: Option<f32>,
    /// Each axis's share of the squared distance, the largest first; empty at distance 0, and where the axes searched are not the cloud's.
    pub shares: Vec<(usize, f64)>,
}

impl Standing {
    /// Whether each is among the `k` nearest other points of the other; `None` where the query is no row.
    pub fn is_mutual(&self, k: usize) -> Option<bool> {
        self.back.map(|back| self.rank < k && back < k)
    }
}

/// Works it out for a query of a record, over `resident`'s points where it has them. `None` if it was cancelled, or if the row was left out
/// of the search as one without a direction.
///
/// # Errors
/// Those of the problem, and too little memory.
///
/// # Panics
/// If the cloud has no such row.
pub fn standing(record: &RunRecord, query: usize, row: u32, resident: &Resident, progress: &dyn Progress) -> Result<Option<Standing>, RunError> {
    if resident.is_empty() {
        resident.points(&record.cloud, Setup::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    let Some(position) = (0..problem.n() as u32).find(|&position| problem.row(position) == row) else { return Ok(None) };
    let own = if problem.queries_are_rows() { Some(problem.query_row(at)) } else { None };
    let Some((squared_distance, rank)) = rank(&problem, at, position, own, progress) else { return Ok(None) };
    let back = match own.filter(|&own| own != row) {
        None => None,
        Some(own) => {
            let setup = Setup { k: 1, exclude_self: false, ..Setup::from(&record.spec) };
            let from_row = Problem::over(&resident.points(&record.cloud, setup.arrangement())?, &Queries::Rows(vec![row]), setup)?;
            let Some(of_query) = (0..problem.n() as u32).find(|&position| problem.row(position) == own) else { return Ok(None) };
            let Some((_, back)) = self::rank(&from_row, 0, of_query, Some(row), progress) else { return Ok(None) };
            Some(back)
        }
    };
    Ok(Some(Standing {
        row,
        squared_distance,
        rank,
        back,
        position,
        bound: bound(record, query, position),
        shares: shares(record, &problem, at, position),
    }))
}

/// The squared distance of the point at a position, and how many others come before it; `None` if it was cancelled.
fn rank(problem: &Problem, query: usize, position: u32, own: Option<u32>, progress: &dyn Progress) -> Option<(f32, usize)> {
    let at = position as usize;
    let distance = distances_to(problem, query, at..at + 1)[0];
    let mut before = 0;
    for start in (0..problem.n()).step_by(BLOCK) {
        if progress.cancelled() {
            return None;
        }
        let distances = distances_to(problem, query, start..(start + BLOCK).min(problem.n()));
        let comes_before = |&(at, other): &(usize, f32)| (other, at as u32) < (distance, position) && Some(problem.row(at as u32)) != own;
        before += distances.into_iter().enumerate().map(|(offset, other)| (start + offset, other)).filter(comes_before).count();
    }
    Some((distance, before))
}

/// The bound when a position was met, by the history of the search.
fn bound(record: &RunRecord, query: usize, position: u32) -> Option<f32> {
    if record.convergence.queries() <= query {
        return None;
    }
    let (seen, bounds) = record.convergence.of(query);
    let merges = seen.iter().take_while(|&&seen| seen <= position).count();
    // Of more merges than are kept, those before the last are not known.
    let all = record.measured.column("merges").and_then(|merges| merges.get(query)).is_none_or(|&merges| merges as usize == seen.len());
    if !all && merges + 1 == seen.len() {
        return None;
    }
    (!seen.is_empty()).then(|| merges.checked_sub(1).map_or(f32::INFINITY, |last| bounds[last]))
}

fn shares(record: &RunRecord, problem: &Problem, query: usize, position: u32) -> Vec<(usize, f64)> {
    let dims = problem.dims();
    if dims != record.cloud.dims() {
        return Vec::new();
    }
    let point = &problem.points()[position as usize * dims..][..dims];
    let squares: Vec<f64> = point.iter().zip(problem.query(query)).map(|(p, q)| (f64::from(*p) - f64::from(*q)).powi(2)).collect();
    let sum: f64 = squares.iter().sum();
    if sum <= 0.0 {
        return Vec::new();
    }
    let mut shares: Vec<(usize, f64)> = squares.into_iter().map(|square| square / sum).enumerate().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{spec, squares};
    use super::super::super::{Engines, QuerySpec, RunSpec};
    use super::*;
    use crate::progress::Silent;

    fn all(exclude_self: bool) -> (RunRecord, Engines) {
        let (cloud, mut engines) = (squares(200), Engines::default());
        let spec = RunSpec { queries: QuerySpec::All, engine: "lockstep".parse().unwrap(), exclude_self, k: 20, ..spec() };
        let record = engines.execute(&spec, &cloud, None, &mut |_, _| true).unwrap();
        (record, engines)
    }

    /// Ranks are those of the answer, and neighbours of each other know it.
    #[test]
    fn neighbours_stand_where_the_answer_has_them() {
        let (record, engines) = all(true);
        for query in [0, 7, 150, 199] {
            let (rows, distances) = record.neighbors.of(query);
            for (rank, (&row, &distance)) in rows.iter().zip(distances).enumerate() {
                let standing = standing(&record, query, row, engines.resident(), &Silent).unwrap().expect("it is there");
                assert_eq!((standing.rank, standing.squared_distance), (rank, distance), "query {query}, row {row}");
                let back = record.neighbors.of(row as usize).0.iter().position(|&other| other == query as u32);
                assert_eq!(standing.back.filter(|&back| back < 20), back);
                assert_eq!(standing.is_mutual(20), Some(back.is_some()));
            }
        }
    }

    /// The farthest row is behind all others, and was met when the bound already excluded it, or was part of the first fill.
    #[test]
    fn a_far_row_is_behind_all_others() {
        let (record, engines) = all(true);
        let far = standing(&record, 0, 199, engines.resident(), &Silent).unwrap().expect("it is there");
        assert_eq!(far.rank, 198);
        let bound = far.bound.expect("lockstep keeps its history");
        assert!(bound.is_infinite() || bound >= record.neighbors.of(0).1[19]);
        assert_eq!(far.shares.len(), record.cloud.dims());
        assert!((far.shares.iter().map(|share| share.1).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_query_stands_before_all_and_a_cancelled_question_has_no_answer() {
        let (record, engines) = all(false);
        let own = standing(&record, 3, 3, engines.resident(), &Silent).unwrap().expect("it is there");
        assert_eq!((own.rank, own.back, own.squared_distance, own.shares.len()), (0, None, 0.0, 0));
        assert_eq!(standing(&record, 3, 4, engines.resident(), &std::sync::atomic::AtomicBool::new(true)).unwrap(), None);
    }
}
