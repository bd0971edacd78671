//! Analyses of one query of a record: the rank of a row and the reverse rank, all rows within a distance, the
//! expected bound, and the path of its search through an index.

use super::{BAND_POINTS, problem_of};
use crate::engines::lockstep::{self, distances_to};
use crate::knn::theory::expected_max_distance;
use crate::knn::within::limit;
use crate::knn::{Descriptor, EngineError, Method, Parameters, Problem, ProblemParameters, Queries, Walk};
use crate::progress::Progress;
use crate::run::{ResidentPoints, RunError, RunRecord};

/// Positions to process between two checks for cancellation.
const BLOCK: usize = 1 << 16;

/// A row of the data as seen from a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRank {
    pub row: u32,
    /// Squared distance to the query, by the rule of all engines.
    pub squared_distance: f32,
    /// Number of closer points, and of equally close ones earlier in processing order. Excludes the query's
    /// own row.
    pub rank: usize,
    /// The reverse rank: points that precede the query as seen from the row. `None` if the query is not a
    /// row, or is this row.
    pub reverse_rank: Option<usize>,
    /// Position in processing order.
    pub position: u32,
    /// Squared bound when the search reached the point; ∞ before the first bound. `None` if the engine
    /// recorded no history.
    pub bound: Option<f32>,
    /// Each axis's share of the squared distance, largest first. Empty at distance 0, and if the searched
    /// axes are not the cloud's.
    pub shares: Vec<(usize, f64)>,
}

impl RowRank {
    /// Whether the row and the query are each among the other's `k` nearest points; `None` if the query is
    /// not a row.
    pub fn is_mutual(&self, k: usize) -> Option<bool> {
        self.reverse_rank.map(|reverse| self.rank < k && reverse < k)
    }
}

/// Ranks a row as seen from a query of a record, with `resident` points if available. `None` if cancelled,
/// or if the row was dropped because it has no direction.
///
/// # Errors
/// Errors of the problem, and too little memory.
///
/// # Panics
/// If the cloud has no such row.
pub fn rank_row(
    record: &RunRecord,
    query: usize,
    row: u32,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<Option<RowRank>, RunError> {
    if resident.is_empty() {
        resident.points(&record.cloud, ProblemParameters::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    let Some(position) = (0..problem.n() as u32).find(|&position| problem.row(position) == row) else {
        return Ok(None);
    };
    let own = if problem.queries_are_rows() { Some(problem.query_row(at)) } else { None };
    let Some((squared_distance, rank)) = rank(&problem, at, position, own, progress) else { return Ok(None) };
    let reverse_rank = match own.filter(|&own| own != row) {
        None => None,
        Some(own) => {
            let setup =
                ProblemParameters { k: 1, exclude_self: false, ..ProblemParameters::from(&record.spec) };
            let from_row = Problem::with_points(
                &resident.points(&record.cloud, setup.arrangement())?,
                &Queries::Rows(vec![row]),
                setup,
            )?;
            let Some(of_query) = (0..problem.n() as u32).find(|&position| problem.row(position) == own)
            else {
                return Ok(None);
            };
            let Some((_, reverse_rank)) = self::rank(&from_row, 0, of_query, Some(row), progress) else {
                return Ok(None);
            };
            Some(reverse_rank)
        }
    };
    Ok(Some(RowRank {
        row,
        squared_distance,
        rank,
        reverse_rank,
        position,
        bound: bound(record, query, position),
        shares: shares(record, &problem, at, position),
    }))
}

/// The squared distance of the point at a position, and the number of points that precede it; `None` if
/// cancelled.
fn rank(
    problem: &Problem,
    query: usize,
    position: u32,
    own: Option<u32>,
    progress: &dyn Progress,
) -> Option<(f32, usize)> {
    let at = position as usize;
    let distance = distances_to(problem, query, at..at + 1)[0];
    let mut before = 0;
    for start in (0..problem.n()).step_by(BLOCK) {
        if progress.cancelled() {
            return None;
        }
        let distances = distances_to(problem, query, start..(start + BLOCK).min(problem.n()));
        let comes_before = |&(at, other): &(usize, f32)| {
            (other, at as u32) < (distance, position) && Some(problem.row(at as u32)) != own
        };
        before += distances
            .into_iter()
            .enumerate()
            .map(|(offset, other)| (start + offset, other))
            .filter(comes_before)
            .count();
    }
    Some((distance, before))
}

/// The bound when a position was reached, from the history of the search.
fn bound(record: &RunRecord, query: usize, position: u32) -> Option<f32> {
    if record.convergence.queries() <= query {
        return None;
    }
    let (seen, bounds) = record.convergence.for_query(query);
    let merges = seen.iter().take_while(|&&seen| seen <= position).count();
    // If the history is truncated, the bounds between its last two entries are unknown.
    let all = record
        .measured
        .column("merges")
        .and_then(|merges| merges.get(query))
        .is_none_or(|&merges| merges as usize == seen.len());
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
    let squares: Vec<f64> = point
        .iter()
        .zip(problem.query(query))
        .map(|(p, q)| (f64::from(*p) - f64::from(*q)).powi(2))
        .collect();
    let sum: f64 = squares.iter().sum();
    if sum <= 0.0 {
        return Vec::new();
    }
    let mut shares: Vec<(usize, f64)> = squares.into_iter().map(|square| square / sum).enumerate().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

/// The rows within `radius` (in the metric's own unit) of a query, ascending; the query's own row is excluded
/// only if the run excludes it.
/// Uses `resident` points if available. `None` if cancelled, or if `radius` is not a number of 0 or more.
///
/// # Errors
/// Errors of the problem, and too little memory.
pub fn rows_within(
    record: &RunRecord,
    query: usize,
    radius: f64,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<Option<Vec<u32>>, RunError> {
    let Some(limit) = limit(record.spec.metric, radius) else { return Ok(None) };
    if resident.is_empty() {
        resident.points(&record.cloud, ProblemParameters::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    let own = (record.spec.exclude_self && problem.queries_are_rows()).then(|| problem.query_row(at));
    let mut rows = Vec::new();
    for start in (0..problem.n()).step_by(BLOCK) {
        if progress.cancelled() {
            return Ok(None);
        }
        progress.update(start as u64, problem.n() as u64);
        let distances = distances_to(&problem, at, start..(start + BLOCK).min(problem.n()));
        let within = distances.into_iter().zip(start as u32..).filter(|&(distance, _)| distance <= limit);
        rows.extend(within.map(|(_, position)| problem.row(position)).filter(|&row| Some(row) != own));
    }
    rows.sort_unstable();
    Ok(Some(rows))
}

/// The expected `max_distance` of one query after a number of points in random order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TheoryCurve {
    /// (points seen, squared `max_distance`).
    pub points: Vec<[f64; 2]>,
    /// Points seen and squared `max_distance` after every merge, if the query had more merges than a run
    /// records.
    pub replayed: Option<(Vec<u32>, Vec<f32>)>,
}

impl TheoryCurve {
    /// Computes the curve from the query's distances to all points, with `resident` points if available.
    pub fn new(record: &RunRecord, query: usize, resident: &ResidentPoints) -> Self {
        let Ok((problem, at)) = problem_of(record, query, resident) else { return Self::default() };
        let mut distances = distances(&problem, at);
        distances.sort_unstable_by(f32::total_cmp);
        let (n, k) = (distances.len(), ProblemParameters::from(&record.spec).found_k());
        let mut points: Vec<[f64; 2]> = Vec::new();
        for step in 0..if n < k || k == 0 { 0 } else { BAND_POINTS } {
            let seen = (k as f64 * (n as f64 / k as f64).powf(step as f64 / (BAND_POINTS - 1) as f64)).round()
                as usize;
            let seen = seen.clamp(k, n);
            if points.last().is_none_or(|last| last[0] < seen as f64) {
                points.push([seen as f64, f64::from(expected_max_distance(&distances, k, seen))]);
            }
        }
        Self { points, replayed: replayed(record, query, &problem, at) }
    }
}

/// Squared distances of a query to all searched points, by the rule of all engines.
fn distances(problem: &Problem, query: usize) -> Vec<f32> {
    /// Points to regroup at a time.
    const PART: usize = 1 << 16;
    let n = problem.n();
    (0..n)
        .step_by(PART)
        .flat_map(|from| lockstep::distances_to(problem, query, from..(from + PART).min(n)))
        .collect()
}

/// Repeats the search with the kernel's twin, to get all merges of a query whose history is truncated.
fn replayed(record: &RunRecord, query: usize, problem: &Problem, at: usize) -> Option<(Vec<u32>, Vec<f32>)> {
    let merges = *record.measured.column(&record.convergence.counted_by)?.get(query)?;
    if merges as usize <= record.convergence.for_query(query).0.len() {
        return None;
    }
    let (again, history) = lockstep::replay(problem, at);
    // If the counters differ, the replay is not the run's search.
    record
        .measured
        .for_query(query)
        .map(|(_, value)| value)
        .eq(again.row())
        .then(|| history.into_iter().unzip())
}

/// Searches a query of a record again with the CPU twin of its engine, and records the path. Uses `resident`
/// points and index if available; otherwise they are stored there.
///
/// `None` if the engine is unknown or has no index, and if cancelled.
///
/// # Errors
/// Errors of the problem; unsupported parameters ([`Descriptor::walk`](crate::knn::Descriptor::walk)); too
/// little memory.
pub fn walk(
    record: &RunRecord,
    query: usize,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<Option<Walk>, RunError> {
    let Some((engine, walk)) = record.descriptor().and_then(|engine| Some((engine, engine.walk?))) else {
        return Ok(None);
    };
    let parameters = parameters(record, engine)?;
    if resident.is_empty() {
        resident.points(&record.cloud, ProblemParameters::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    Ok(walk(&problem, at, &parameters, progress)?)
}

/// The parameters of the run. They are checked, as a record may come from a file.
fn parameters(record: &RunRecord, engine: &Descriptor) -> Result<Parameters, EngineError> {
    let Some(method) = &record.method else { return Ok(Parameters::NONE) };
    let method: Method = method
        .parse()
        .map_err(|why| EngineError::Parameter { engine: engine.id, why: format!("{method}: {why}") })?;
    engine.check_parameters(&method.parameters)?;
    Ok(method.parameters)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engines::registry;
    use crate::knn::{Convergence, DeviceId, EngineId, Measurements, Metric, warp};
    use crate::progress::NoProgress;
    use crate::run::problem::build_problem;
    use crate::run::testing::records::record;
    use crate::run::testing::{self, spec, squares};
    use crate::run::{EngineChoice, EnginePool, LoadedSpec, QuerySpec, RunSpec};

    fn all(exclude_self: bool) -> (RunRecord, EnginePool) {
        let (cloud, mut engines) = (squares(200), EnginePool::default());
        let spec = RunSpec {
            queries: QuerySpec::All,
            engine: "lockstep".parse().unwrap(),
            exclude_self,
            k: 20,
            ..spec()
        };
        let record = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
        (record, engines)
    }

    /// Ranks are those of the answer, and mutual neighbours are recognised.
    #[test]
    fn row_ranks_match_the_answer() {
        let (record, engines) = all(true);
        for query in [0, 7, 150, 199] {
            let (rows, distances) = record.neighbors.for_query(query);
            for (rank, (&row, &distance)) in rows.iter().zip(distances).enumerate() {
                let seen = rank_row(&record, query, row, engines.resident(), &NoProgress)
                    .unwrap()
                    .expect("it is there");
                assert_eq!((seen.rank, seen.squared_distance), (rank, distance), "query {query}, row {row}");
                let back = record
                    .neighbors
                    .for_query(row as usize)
                    .0
                    .iter()
                    .position(|&other| other == query as u32);
                assert_eq!(seen.reverse_rank.filter(|&back| back < 20), back);
                assert_eq!(seen.is_mutual(20), Some(back.is_some()));
            }
        }
    }

    /// The farthest row comes after all others. It was reached after the bound excluded it, or during the
    /// first fill.
    #[test]
    fn the_farthest_row_ranks_last() {
        let (record, engines) = all(true);
        let far = rank_row(&record, 0, 199, engines.resident(), &NoProgress).unwrap().expect("it is there");
        assert_eq!(far.rank, 198);
        let bound = far.bound.expect("lockstep keeps its history");
        assert!(bound.is_infinite() || bound >= record.neighbors.for_query(0).1[19]);
        assert_eq!(far.shares.len(), record.cloud.dims());
        assert!((far.shares.iter().map(|share| share.1).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_query_itself_ranks_first_and_cancelling_returns_none() {
        let (record, engines) = all(false);
        let own = rank_row(&record, 3, 3, engines.resident(), &NoProgress).unwrap().expect("it is there");
        assert_eq!((own.rank, own.reverse_rank, own.squared_distance, own.shares.len()), (0, None, 0.0, 0));
        assert_eq!(
            rank_row(&record, 3, 4, engines.resident(), &std::sync::atomic::AtomicBool::new(true)).unwrap(),
            None
        );
    }

    #[test]
    fn points_exactly_at_the_radius_are_included() {
        // Points at 0, 1, 4, 9, … on a line.
        let cloud = squares(40);
        let spec = RunSpec { k: 1, queries: QuerySpec::Rows(vec![2, 0]), ..spec() };
        let record = EnginePool::default()
            .answer(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true)
            .expect("an answer");
        let rows = |query, radius| {
            rows_within(&record, query, radius, &ResidentPoints::default(), &NoProgress).expect("no failure")
        };
        assert_eq!(rows(0, 5.0), Some(vec![0, 1, 2, 3]));
        assert_eq!((rows(0, 4.9), rows(1, 0.0)), (Some(vec![0, 1, 2]), Some(vec![0])));
        assert_eq!(
            (rows(0, f64::INFINITY).map(|rows| rows.len()), rows(0, -1.0), rows(0, f64::NAN)),
            (Some(40), None, None)
        );
        let without = RunSpec { exclude_self: true, ..spec };
        let record = EnginePool::default()
            .answer(crate::run::LoadedSpec::new(&without, &cloud, None), &mut |_, _| true)
            .expect("an answer");
        let rows = rows_within(&record, 0, 5.0, &ResidentPoints::default(), &NoProgress);
        assert_eq!(rows.expect("no failure"), Some(vec![0, 1, 3]));
    }

    #[test]
    fn queries_with_truncated_histories_are_replayed() {
        // Every point is closer to the last one than all points before it.
        let n = 3200;
        let mut record = RunRecord::clone(&record());
        record.cloud = testing::cloud(1, (0..n).map(|at| f64::from(n - at)).collect());
        record.head.spec.queries = QuerySpec::Rows(vec![n as u64 - 1]);
        record.query_rows = vec![n as u32 - 1];
        let problem = build_problem(LoadedSpec::new(&record.spec, &record.cloud, None)).expect("a problem");
        let (counters, history) = lockstep::replay(&problem, 0);
        assert!(counters.merges > 64);
        let counted = |row: [u32; 3]| {
            let mut measured = Measurements::default();
            measured.extend(&warp::MEASURES, [row]);
            measured
        };
        record.measured = counted(counters.row());
        record.convergence =
            Convergence { counted_by: warp::CONVERGENCE.to_owned(), ..Convergence::default() };
        record.convergence.push(history.iter().take(64).copied());

        let (seen, distances) = TheoryCurve::new(&record, 0, &ResidentPoints::default())
            .replayed
            .expect("most merges are not recorded");
        assert_eq!(seen.len(), counters.merges as usize);
        assert_eq!(
            (seen.last(), distances.last()),
            (Some(&(n as u32)), Some(&9.0)),
            "k = 4, at distances 0 to 3"
        );
        let [merges, candidates, groups_hit] = counters.row();
        record.measured = counted([merges, candidates + 1, groups_hit]);
        assert_eq!(
            TheoryCurve::new(&record, 0, &ResidentPoints::default()).replayed,
            None,
            "the counters differ"
        );
    }

    #[test]
    fn the_theory_curve_decreases_to_the_kth_distance() {
        let record = record();
        let curve = TheoryCurve::new(&record, 0, &ResidentPoints::default()).points;
        let (problem, at) = problem_of(&record, 0, &ResidentPoints::default()).expect("a problem");
        let mut all = distances(&problem, at);
        all.sort_unstable_by(f32::total_cmp);
        assert_eq!(all.len(), 50);
        let end = curve.last().expect("n is at least k");
        assert_eq!(end[0], 50.0);
        assert!((end[1] - f64::from(all[3])).abs() < 1e-6, "after all points the bound is the k-th distance");
        assert!(curve.windows(2).all(|pair| pair[1][1] <= pair[0][1]));

        // With `exclude_self`, the search has one more neighbour: the query itself.
        let mut without = RunRecord::clone(&record);
        without.head.spec.exclude_self = true;
        let end = TheoryCurve::new(&without, 0, &ResidentPoints::default())
            .points
            .last()
            .copied()
            .expect("n is at least k + 1");
        assert!((end[1] - f64::from(all[4])).abs() < 1e-6);
    }

    #[test]
    fn prepared_points_are_reused_without_evicting_unrelated_ones() {
        let (record, resident) = (record(), ResidentPoints::default());
        let own = ProblemParameters::from(&record.spec).arrangement();
        let of_another =
            ProblemParameters { metric: Metric::Angular, ..ProblemParameters::from(&record.spec) }
                .arrangement();
        resident.points(&record.cloud, of_another).expect("points");
        let apart = TheoryCurve::new(&record, 1, &resident);
        assert!(resident.contains(&record.cloud, of_another), "points of another problem are left in place");
        resident.points(&record.cloud, own).expect("points");
        assert_eq!(TheoryCurve::new(&record, 1, &resident), apart);
    }

    /// Every engine with a walk reproduces the search that the run counted, for a row and for a point.
    #[test]
    fn a_walk_reproduces_the_runs_search() {
        let (cloud, mut engines) = (squares(3000), EnginePool::default());
        let others = ["step:clusters=7,spheres=naive".parse().unwrap()];
        for engine in registry::with_walk()
            .into_iter()
            .map(|engine| EngineChoice::named(EngineId::new(engine)))
            .chain(others)
        {
            for queries in [QuerySpec::Rows(vec![5, 2900]), QuerySpec::At(vec![1234.5])] {
                let spec = RunSpec {
                    queries,
                    engine: engine.clone(),
                    device: Some(DeviceId::Cpu),
                    exclude_self: true,
                    ..spec()
                };
                let record = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
                for query in 0..record.query_rows.len() {
                    let walk =
                        walk(&record, query, engines.resident(), &NoProgress).unwrap().expect("it has one");
                    let totals = walk.steps.last().unwrap().totals;
                    for (name, told) in [
                        ("distance_evals", totals.distance_evals),
                        ("candidates", totals.candidates),
                        ("merges", totals.merges),
                    ] {
                        assert_eq!(
                            record.measured.column(name).map(|column| column[query]),
                            Some(told),
                            "{name}"
                        );
                    }
                    assert!(totals.distance_evals < 1500 && walk.k == spec.k + 1);
                }
            }
        }
    }

    #[test]
    fn unsupported_methods_are_rejected() {
        let (cloud, mut engines) = (squares(300), EnginePool::default());
        let spec = RunSpec {
            engine: EngineChoice::named(EngineId::new("step")),
            device: Some(DeviceId::Cpu),
            ..spec()
        };
        let mut record = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
        for (method, why) in [("step:clusters=1000000", "clusters"), ("a sentence", "a sentence")] {
            record.head.method = Some(method.to_owned());
            let error = walk(&record, 0, engines.resident(), &NoProgress).unwrap_err().to_string();
            assert!(error.starts_with("the step engine: ") && error.contains(why), "{error}");
        }
        record.head.method = None;
        assert_eq!(
            walk(&record, 0, &ResidentPoints::default(), &std::sync::atomic::AtomicBool::new(true)).unwrap(),
            None,
            "cancelled"
        );
    }

    #[test]
    fn newly_prepared_points_are_cached() {
        let (cloud, mut engines) = (squares(400), EnginePool::default());
        let Some(engine) = registry::with_walk().first().map(|name| EngineChoice::named(EngineId::new(name)))
        else {
            return;
        };
        let spec = RunSpec { engine, device: Some(DeviceId::Cpu), ..spec() };
        let record = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
        let resident = ResidentPoints::default();
        walk(&record, 3, &resident, &NoProgress).unwrap().expect("it has one");
        assert!(resident.contains(&cloud, ProblemParameters::from(&spec).arrangement()));
        // Resident points of another problem are kept.
        let other = squares(30);
        resident.points(&other, ProblemParameters::from(&spec).arrangement()).unwrap();
        walk(&record, 3, &resident, &NoProgress).unwrap().expect("it has one");
        assert!(resident.contains(&other, ProblemParameters::from(&spec).arrangement()));
        let lockstep = RunSpec { engine: EngineChoice::named(EngineId::new("lockstep")), ..spec };
        let record =
            Arc::new(engines.execute(LoadedSpec::new(&lockstep, &cloud, None), &mut |_, _| true).unwrap());
        assert_eq!(walk(&record, 3, &resident, &NoProgress).unwrap(), None);
    }
}
