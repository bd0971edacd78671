//! All neighbours within a radius of each query. They are counted before they are stored, so that memory is
//! reserved for the exact number.

use rayon::prelude::*;

use super::{AnswerBatch, BatchAnswers, BatchError, QueryRows, engine};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::exact::{Margin, Query, RadiusTest, RankedPoint, Ranking};
use crate::knn::cost::Stage;
use crate::knn::{Descriptor, DeviceKind, Goal, Metric, Problem, Radius, RadiusIndex, Shape, put_own_first};
use crate::memory;
use crate::progress::Progress;
use crate::run::{LoadedSpec, RunSpec, build_problem};

/// Queries between cancellation checks.
const BLOCK: usize = 1 << 10;

/// Bytes of a neighbour: a row, a squared distance and a distance.
const NEIGHBOR_BYTES: u64 = 16;

/// Limit on neighbours per batch, unless a single query has more.
const MAX_BATCH_NEIGHBORS: u64 = 1 << 22;

/// A batch may use 1/`MEMORY_SHARE` of the free memory.
const MEMORY_SHARE: u64 = 16;

/// All neighbours within a radius of a job's queries.
pub struct RadiusBatches {
    problem: Problem,
    queries: QueryRows,
    pub engine: &'static Descriptor,
    radius: Radius,
}

impl RadiusBatches {
    pub(super) fn new(radius: Radius, loaded: LoadedSpec<'_>) -> Result<Self, BatchError> {
        let spec = &RunSpec { k: 1, ..loaded.spec.clone() };
        let loaded = LoadedSpec { spec, ..loaded };
        let problem = build_problem(loaded)?;
        let engine = engine(Goal::Within(radius), &spec.engine, || default_engine(&problem))?;
        let rows = (0..problem.q()).map(|query| problem.query_row(query)).collect();
        Ok(Self { queries: QueryRows::new(loaded, rows)?, problem, engine, radius })
    }

    pub fn queries(&self) -> usize {
        self.problem.q()
    }

    /// Passes the neighbours to `take`. `at_once` makes a single batch; `own_first` puts a query's own row
    /// first among equals.
    ///
    /// # Errors
    /// [`BatchError`], and errors of `take`.
    pub fn for_each<E: From<BatchError>>(
        &self,
        (at_once, own_first): (bool, bool),
        progress: &dyn Progress,
        mut take: impl FnMut(AnswerBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let search = RadiusSearch::new(&self.problem, &self.queries.cloud, self.engine, self.radius)?;
        let take = |mut found: Neighborhoods| {
            if own_first {
                found.put_own_first(|query| self.queries.rows[query]);
            }
            let Neighborhoods { start, offsets, rows, squared_distances, distances } = &found;
            let queries = self.queries.range(*start..start + found.queries());
            let found = BatchAnswers::Within {
                offsets,
                metric: self.problem.metric(),
                rows,
                squared: squared_distances,
                distances,
            };
            take(AnswerBatch { cloud: self.problem.cloud(), queries, first: *start, found })
        };
        if at_once {
            [search.all(progress)?].into_iter().try_for_each(take)
        } else {
            search.in_batches(progress, take)
        }
    }
}

/// The neighbours of consecutive queries, nearest first by the file's values, ties by row.
#[derive(Clone, Debug, PartialEq)]
struct Neighborhoods {
    /// Number of the first query in the problem.
    start: usize,
    /// CSR offsets into the following; length q + 1.
    offsets: Vec<u64>,
    /// Rows of the cloud.
    rows: Vec<u32>,
    squared_distances: Vec<f32>,
    /// In the metric's unit.
    distances: Vec<f64>,
}

impl Neighborhoods {
    fn queries(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Puts each query's own row first among neighbours at the same distance.
    fn put_own_first(&mut self, own_row: impl Fn(usize) -> u32) {
        for query in 0..self.queries() {
            let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
            put_own_first(
                &mut self.rows[range.clone()],
                &mut self.squared_distances[range],
                own_row(self.start + query),
            );
        }
    }
}

/// The default engine: the one predicted to be fastest for a small k.
fn default_engine(problem: &Problem) -> &'static Descriptor {
    const SMALL_K: usize = 32;
    let shape = Shape { k: SMALL_K, ..problem.shape() };
    let ms = |engine: &Descriptor| {
        let cost = (engine.cost)(&shape, DeviceKind::Cpu);
        let fits = engine.limits.check(engine.id, &shape, problem.metric()).is_ok();
        if fits { cost.ms(Stage::Setup, |_| 1.0) + cost.ms(Stage::Search, |_| 1.0) } else { f64::INFINITY }
    };
    registry::supporting(Goal::Within(Radius::new(Metric::L2, 0.0)))
        .min_by(|a, b| ms(a).total_cmp(&ms(b)))
        .expect("some engines search within a radius")
}

/// Decides which points are within a radius, by the file's values: by their f32 distance where rounding
/// cannot matter, otherwise in f64 or exactly, so that 0.3 is within 0.3.
struct RadiusPredicate<'a> {
    problem: &'a Problem,
    ranking: Ranking<'a>,
    test: RadiusTest,
    radius: f64,
    /// Squared distances up to this are within the radius, regardless of rounding.
    surely_within: f32,
    /// Squared distances above this are beyond the radius, regardless of rounding.
    possibly_within: f32,
}

impl<'a> RadiusPredicate<'a> {
    fn new(problem: &'a Problem, queries: &'a PointCloud, radius: Radius) -> Option<Self> {
        let test = RadiusTest::new(problem.metric(), radius)?;
        let margin = Margin::new(problem.metric(), problem.cloud(), queries);
        let [within, beyond] = test.chord();
        Some(Self {
            problem,
            ranking: Ranking::new(problem.metric(), problem.cloud(), queries, problem.q()),
            test,
            radius: radius.distance,
            surely_within: margin.squared_surely_within(within),
            possibly_within: margin.squared_at_most(beyond),
        })
    }

    /// Passes each neighbour of a query to `found`, except the query's own row if that is excluded.
    fn visit(
        &self,
        index: &dyn RadiusIndex,
        query: usize,
        found: &mut dyn FnMut(u32, &Query, &mut Vec<f64>),
    ) {
        let own = self.problem.own_row(query);
        let target = self.ranking.query(self.problem.query_row(query) as usize);
        let mut vector = Vec::new();
        index.visit(self.problem.query(query), self.possibly_within, &mut |position, squared| {
            let row = self.problem.row(position);
            let mut is_within = || {
                let ranked = self.ranking.rank(&target, row, &mut vector);
                self.ranking.is_within(&target, ranked, &self.test)
            };
            if own != Some(row) && (squared <= self.surely_within || is_within()) {
                found(row, &target, &mut vector);
            }
        });
    }
}

/// A search for all neighbours within a radius, in the metric's own unit and by the file's values. It
/// excludes a query's own row if the problem does.
struct RadiusSearch<'a> {
    bound: RadiusPredicate<'a>,
    index: Box<dyn RadiusIndex + 'a>,
}

impl<'a> RadiusSearch<'a> {
    /// `queries` is the cloud that the queries are rows of. The problem's k is ignored.
    ///
    /// # Errors
    /// [`BatchError`].
    pub fn new(
        problem: &'a Problem,
        queries: &'a PointCloud,
        engine: &Descriptor,
        radius: Radius,
    ) -> Result<Self, BatchError> {
        let bound =
            RadiusPredicate::new(problem, queries, radius).ok_or(BatchError::Radius(radius.distance))?;
        let open = engine.within.filter(|_| engine.runs_on.contains(&DeviceKind::Cpu));
        let open = open.ok_or(BatchError::Engine { engine: engine.id, goal: Goal::Within(radius) })?;
        Ok(Self { bound, index: open(problem)? })
    }

    /// The neighbours of all queries. Counting stops as soon as they exceed the free memory.
    ///
    /// # Errors
    /// [`BatchError`].
    pub fn all(&self, progress: &dyn Progress) -> Result<Neighborhoods, BatchError> {
        let mut counts = Vec::new();
        self.count(
            0,
            &mut counts,
            memory::available().map_or(u64::MAX, |free| free / NEIGHBOR_BYTES),
            progress,
        )?;
        self.collect(0, &counts, self.bound.problem.q(), progress)
    }

    /// Passes the neighbours to `take` in batches of consecutive queries, at least one. Only one batch is in
    /// memory.
    ///
    /// # Errors
    /// [`BatchError`], and errors of `take`.
    pub fn in_batches<E: From<BatchError>>(
        &self,
        progress: &dyn Progress,
        take: impl FnMut(Neighborhoods) -> Result<(), E>,
    ) -> Result<(), E> {
        self.in_batches_of(
            memory::available().map_or(MAX_BATCH_NEIGHBORS, |free| {
                MAX_BATCH_NEIGHBORS.min(free / MEMORY_SHARE / NEIGHBOR_BYTES)
            }),
            progress,
            take,
        )
    }

    fn in_batches_of<E: From<BatchError>>(
        &self,
        most: u64,
        progress: &dyn Progress,
        mut take: impl FnMut(Neighborhoods) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut start, mut counts) = (0, Vec::new());
        loop {
            self.count(start, &mut counts, most, progress)?;
            let mut total = 0;
            let fitting = counts
                .iter()
                .take_while(|&&count| {
                    total += count;
                    total <= most
                })
                .count();
            let part: Vec<u64> = counts.drain(..fitting.max(1).min(counts.len())).collect();
            take(self.collect(start, &part, start + part.len(), progress)?)?;
            start += part.len();
            if start == self.bound.problem.q() {
                return Ok(());
            }
        }
    }

    /// Counts the neighbours of the queries from `start` on and appends to `counts`, which may already have
    /// the first ones. Stops when there are more than `most`.
    fn count(
        &self,
        start: usize,
        counts: &mut Vec<u64>,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<(), BatchError> {
        let q = self.bound.problem.q();
        let mut total: u64 = counts.iter().sum();
        while total <= most && start + counts.len() < q {
            let next = start + counts.len();
            step(progress, start + next, 2 * q)?;
            let count = |query: usize| {
                let mut count = 0u64;
                self.bound.visit(&*self.index, query, &mut |_, _, _| count += 1);
                count
            };
            // Start with few queries, as each may have all points.
            let block: Vec<u64> =
                (next..q.min(next + counts.len().clamp(16, BLOCK))).into_par_iter().map(count).collect();
            total += block.iter().sum::<u64>();
            counts.extend(block);
        }
        Ok(())
    }

    /// The neighbours of the queries from `start` to `end`. If `counts` ends earlier, memory is short.
    fn collect(
        &self,
        start: usize,
        counts: &[u64],
        end: usize,
        progress: &dyn Progress,
    ) -> Result<Neighborhoods, BatchError> {
        let found: u64 = counts.iter().sum();
        // Each thread also holds one query's neighbours while it sorts them.
        let sorted = counts
            .iter()
            .max()
            .map_or(0, |most| most.saturating_mul(rayon::current_num_threads() as u64))
            .min(found);
        let needed = (found + sorted).saturating_mul(NEIGHBOR_BYTES);
        let free = memory::available();
        let fits = start + counts.len() == end && free.is_none_or(|free| needed <= free);
        let count = found as usize;
        let room = || Some((memory::room(count)?, memory::room(count)?, memory::room(count)?));
        let Some((rows, squared_distances, distances)) = fits.then(room).flatten() else {
            let (counted, queries) = (counts.len(), self.bound.problem.q());
            let (needed, free) = (needed.div_ceil(1 << 20), free.unwrap_or(0) >> 20);
            return Err(BatchError::WithinMemory {
                found,
                counted,
                queries,
                radius: self.bound.radius,
                needed,
                free,
            });
        };
        let mut offsets = vec![0];
        offsets.extend(counts.iter().scan(0, |total, count| {
            *total += count;
            Some(*total)
        }));
        let mut part = Neighborhoods { start, offsets, rows, squared_distances, distances };
        self.fill(&mut part, progress)?;
        Ok(part)
    }

    /// Repeats the search and stores the neighbours.
    fn fill(&self, part: &mut Neighborhoods, progress: &dyn Progress) -> Result<(), BatchError> {
        let (q, count) = (self.bound.problem.q(), part.queries());
        let found = part.offsets[count] as usize;
        part.rows.resize(found, 0);
        part.squared_distances.resize(found, 0.0);
        part.distances.resize(found, 0.0);
        let mut rows = &mut part.rows[..];
        let (mut squared, mut distances) = (&mut part.squared_distances[..], &mut part.distances[..]);
        for block in (0..count).step_by(BLOCK) {
            step(progress, 2 * part.start + count + block, 2 * q)?;
            let mut queries = Vec::with_capacity(BLOCK);
            for query in block..count.min(block + BLOCK) {
                let count = (part.offsets[query + 1] - part.offsets[query]) as usize;
                queries.push((
                    part.start + query,
                    rows.split_off_mut(..count).unwrap_or_default(),
                    squared.split_off_mut(..count).unwrap_or_default(),
                    distances.split_off_mut(..count).unwrap_or_default(),
                ));
            }
            queries.into_par_iter().for_each(|(query, rows, squared, distances)| {
                let ranking = &self.bound.ranking;
                let mut found: Vec<RankedPoint> = Vec::with_capacity(rows.len());
                self.bound.visit(&*self.index, query, &mut |row, target, vector| {
                    found.push(ranking.rank(target, row, vector));
                });
                let target = ranking.query(self.bound.problem.query_row(query) as usize);
                let (mut tied, mut vector) = (Vec::new(), Vec::new());
                ranking.sort(&target, &mut found, &mut tied);
                rows.iter_mut().zip(&found).for_each(|(row, ranked)| *row = ranked.row);
                ranking.distances(&target, (&found, &tied), &mut vector, |at, to, distance| {
                    (squared[at], distances[at]) = (to, distance);
                });
            });
        }
        Ok(())
    }
}

fn step(progress: &dyn Progress, done: usize, of: usize) -> Result<(), BatchError> {
    if progress.cancelled() {
        return Err(BatchError::Cancelled);
    }
    progress.update(done as u64, of as u64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use std::sync::Arc;

    use super::*;
    use crate::cloud::{GlobeAxes, Order};
    use crate::knn::{EngineId, ProblemParameters, Queries, Unit};
    use crate::progress::NoProgress;
    use crate::run::testing;

    impl Neighborhoods {
        /// Rows and squared distances of a query's neighbours.
        fn neighbors(&self, query: usize) -> (&[u32], &[f32]) {
            let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
            (&self.rows[range.clone()], &self.squared_distances[range])
        }

        fn distances(&self, query: usize) -> &[f64] {
            &self.distances[self.offsets[query] as usize..self.offsets[query + 1] as usize]
        }

        fn count(&self, query: usize) -> u64 {
            self.offsets[query + 1] - self.offsets[query]
        }
    }

    fn metres(distance: f64) -> Radius {
        Radius::new(Metric::L2, distance)
    }

    fn problem(names: &[&str], values: Vec<f64>, metric: Metric, exclude_self: bool) -> Problem {
        let cloud = testing::named(names, values);
        let setup = ProblemParameters {
            k: 1,
            metric,
            order: Order::Shuffled,
            seed: 3,
            exclude_self,
            drop_zero_rows: false,
        };
        Problem::new(&cloud, &Queries::Rows((0..cloud.len() as u32).collect()), setup).unwrap()
    }

    /// The distance of two rows in f64, from the values of the table.
    fn distance(problem: &Problem, globe: Option<GlobeAxes>, query: usize, row: usize) -> f64 {
        let cloud = problem.cloud();
        let [a, b] = [query, row].map(|row| match globe {
            Some(globe) if problem.metric() == Metric::Haversine => {
                globe.row_unit_vector(cloud, row).to_vec()
            }
            _ => (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)).collect::<Vec<f64>>(),
        });
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let angle =
            || if a == b { 0.0 } else { (dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()).min(1.0).acos() };
        match problem.metric() {
            Metric::L2 => a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            Metric::Haversine => angle() * 6371.0088,
            _ => angle(),
        }
    }

    #[test]
    fn points_at_the_radius_are_compared_by_file_values() {
        let rows = |cloud: &Arc<PointCloud>, metric, number: &str, unit: &str| {
            let setup = ProblemParameters {
                k: 1,
                metric,
                order: Order::File,
                seed: 3,
                exclude_self: false,
                drop_zero_rows: false,
            };
            let problem = Problem::new(cloud, &Queries::Rows(vec![0]), setup).unwrap();
            let unit = Unit::of(metric).iter().find(|row| row.name == unit).unwrap();
            [false, true].map(|open| {
                let radius = Radius { open, ..unit.radius(number, metric).unwrap() };
                let found = within(&problem, cloud, default_engine(&problem), radius, &NoProgress).unwrap();
                found.neighbors(0).0.len()
            })
        };
        let values: Vec<f64> = (0..10).flat_map(|at| [f64::from(at) / 10.0, 0.0]).collect();
        let binary = testing::named(&["x", "y"], values.clone());
        let text = testing::decimals(&["x", "y"], values);
        // A file's text says 0.1; the f64 nearest to 0.1 is above it, and that nearest to 0.7 below.
        for (number, of_text, of_binary) in [
            ("0.1", [2, 1], [1, 1]),
            ("0.2", [3, 2], [2, 2]),
            ("0.3", [4, 3], [4, 4]),
            ("0.4", [5, 4], [4, 4]),
            ("0.7", [8, 7], [8, 8]),
            ("0.70000000000000000001", [8, 8], [8, 8]),
        ] {
            assert_eq!(rows(&text, Metric::L2, number, ""), of_text, "{number}");
            assert_eq!(rows(&binary, Metric::L2, number, ""), of_binary, "{number}");
        }
        let right = testing::named(
            &["x", "y"],
            vec![1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 0.0, 5.0, 1.0, 1e-9, 1e-9, 1.0, -1e-9, 1.0],
        );
        assert_eq!(rows(&right, Metric::Angular, "90", "deg"), [6, 4]);
        assert_eq!(rows(&right, Metric::Angular, "45", "deg"), [3, 2]);
        assert_eq!(rows(&right, Metric::Angular, "180", "deg"), [8, 7]);
        assert_eq!(rows(&right, Metric::Angular, "3.2", "rad"), [8, 8]);
        assert_eq!(rows(&right, Metric::Cosine, "1", ""), [6, 4]);
        let positions = vec![0.0, 0.0, 0.1, 0.0, 0.0, -0.1, 0.3, 0.0, 180.0, 0.0];
        let globe = testing::decimals(&["lon", "lat"], positions);
        assert_eq!(rows(&globe, Metric::Sky, "6", "arcmin"), [3, 1]);
        assert_eq!(rows(&globe, Metric::Sky, "0.1", ""), [3, 1]);
        assert_eq!(rows(&globe, Metric::Haversine, "20015.2", ""), [5, 5]);
    }

    /// The rows of each query's neighbours, ascending, by computing every distance.
    fn by_hand(problem: &Problem, radius: f64) -> Vec<Vec<u32>> {
        let globe = GlobeAxes::from_axes(problem.cloud().axes()).ok();
        let near = |query: usize| {
            let row = problem.query_row(query) as usize;
            let is_near = |other: &u32| {
                distance(problem, globe, row, *other as usize) <= radius
                    && problem.own_row(query) != Some(*other)
            };
            (0..problem.n() as u32).filter(is_near).collect()
        };
        (0..problem.q()).map(near).collect()
    }

    fn within(
        problem: &Problem,
        queries: &PointCloud,
        engine: &Descriptor,
        radius: Radius,
        progress: &dyn Progress,
    ) -> Result<Neighborhoods, BatchError> {
        RadiusSearch::new(problem, queries, engine, radius)?.all(progress)
    }

    #[test]
    fn batched_radius_results_respect_the_size_limit() {
        let problem =
            problem(&["x"], (0..2500).map(|at| f64::from(at * at % 611)).collect(), Metric::L2, true);
        let search =
            RadiusSearch::new(&problem, problem.cloud(), default_engine(&problem), metres(20.0)).unwrap();
        let all = search.all(&NoProgress).unwrap();
        let largest = (0..2500).map(|query| all.count(query)).max().unwrap();
        for most in [0, 1, 1000, 300_000, u64::MAX] {
            let mut next = 0;
            let take = |part: Neighborhoods| {
                assert!(
                    part.start == next && part.queries() > 0 && part.rows.len() as u64 <= most.max(largest),
                    "{most}"
                );
                for query in 0..part.queries() {
                    assert_eq!(part.neighbors(query), all.neighbors(next + query), "{most}");
                }
                next += part.queries();
                Ok::<(), BatchError>(())
            };
            search.in_batches_of(most, &NoProgress, take).unwrap();
            assert_eq!(next, 2500, "{most}");
        }
    }

    #[test]
    fn counting_stops_above_the_limit() {
        let problem = problem(&["x"], (0..5000).map(f64::from).collect(), Metric::L2, false);
        let search =
            RadiusSearch::new(&problem, problem.cloud(), default_engine(&problem), metres(1e9)).unwrap();
        let mut counts = Vec::new();
        search.count(0, &mut counts, 6_000_000, &NoProgress).unwrap();
        assert_eq!(counts, vec![5000; 2 * BLOCK]);
        let why = search.collect(0, &counts, 5000, &NoProgress).unwrap_err().to_string();
        let start = "10240000 neighbours within 1000000000.0 for 2048 of 5000 queries need ";
        assert!(
            why.starts_with(start) && why.contains("MiB is free; use a smaller --radius, use -k instead"),
            "{why}"
        );
    }

    #[test]
    fn radius_search_matches_brute_force() {
        let scattered = |dims: usize, n: usize, distinct: u32| -> Vec<f64> {
            (0..dims * n)
                .map(|at| f64::from((at as u32).wrapping_mul(2_654_435_761) % 65_521 % distinct) / 128.0)
                .collect()
        };
        let globe: Vec<f64> = (0..600)
            .flat_map(|i| [f64::from(i * 37 % 360) - 180.0, f64::from(i * 61 % 180) - 90.0])
            .collect();
        for (names, values, metric, radii) in [
            (&["x"][..], scattered(1, 500, 65_521), Metric::L2, [0.0, 1.5, 1e9]),
            (&["x", "y"], scattered(2, 700, 50), Metric::L2, [0.0, 0.1, 0.05 * 2f64.sqrt()]),
            (&["x", "y", "z"], scattered(3, 700, 3), Metric::L2, [0.0, 0.01, 5.0]),
            (
                &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"],
                scattered(13, 300, 65_521),
                Metric::L2,
                [1.0, 900.0, 1e9],
            ),
            (&["a", "b", "c", "d"], scattered(4, 300, 65_521), Metric::Angular, [0.0, 0.3, 4.0]),
            (&["longitude", "latitude"], globe, Metric::Haversine, [0.0, 500.0, 30_000.0]),
        ] {
            for radius in radii {
                for exclude_self in [false, true] {
                    let problem = problem(names, values.clone(), metric, exclude_self);
                    let want = by_hand(&problem, radius);
                    let globe = GlobeAxes::from_axes(problem.cloud().axes()).ok();
                    let radius = Radius::new(metric, radius);
                    for engine in registry::supporting(Goal::Within(radius)) {
                        let found = within(&problem, problem.cloud(), engine, radius, &NoProgress).unwrap();
                        for (query, want) in want.iter().enumerate() {
                            let (rows, _) = found.neighbors(query);
                            let mut sorted = rows.to_vec();
                            sorted.sort_unstable();
                            assert_eq!(&sorted, want, "{}, {names:?}, {metric}, {radius:?}", engine.id);
                            let distances = found.distances(query);
                            assert!(distances.is_sorted());
                            let from = problem.query_row(query) as usize;
                            for (&row, &found) in rows.iter().zip(distances) {
                                let expected = distance(&problem, globe, from, row as usize);
                                assert!(
                                    (found - expected).abs() <= 1e-4 * expected.max(1.0),
                                    "{found} {expected}"
                                );
                            }
                        }
                    }
                    let counts: Vec<usize> = want.iter().map(Vec::len).collect();
                    assert!(
                        exclude_self || counts.iter().all(|&count| count > 0),
                        "a row is within any radius of itself"
                    );
                }
            }
        }
    }

    #[test]
    fn unsupported_radius_searches_are_rejected() {
        let problem = problem(&["x"], vec![1.0, 2.0, 3.0], Metric::L2, false);
        let of = |engine: &str, radius: f64| {
            within(
                &problem,
                problem.cloud(),
                registry::find(EngineId::new(engine)).unwrap(),
                metres(radius),
                &NoProgress,
            )
            .unwrap_err()
            .to_string()
        };
        assert_eq!(
            of("lockstep", 1.0),
            "lockstep finds the k nearest only; use bvh or kdtree for all within a radius"
        );
        assert_eq!(of("bvh", -1.0), "radius -1: must be 0 or more");
        let stopped =
            within(&problem, problem.cloud(), default_engine(&problem), metres(1.0), &AtomicBool::new(true));
        assert!(matches!(stopped, Err(BatchError::Cancelled)));
    }
}
