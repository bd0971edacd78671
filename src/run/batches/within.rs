//! All neighbours within a radius of each query. They are counted before they are stored, so that memory is
//! reserved for the exact number.

use rayon::prelude::*;

use super::{AnswerBatch, BatchError, QueryRows, engine};
use crate::engines::registry;
use crate::knn::cost::Stage;
use crate::knn::{Descriptor, DeviceKind, Goal, Metric, Problem, Radius, Shape};
use crate::memory;
use crate::progress::Progress;
use crate::run::radius::{
    BLOCK, MAX_BATCH_NEIGHBORS, NEIGHBOR_BYTES, Neighborhoods, RadiusSearch, fitting, too_many,
};
use crate::run::{EngineChoice, LoadedSpec, RunSpec, build_problem};

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
        let engine = Self::engine_for(radius, &spec.engine, &problem)?;
        let rows = (0..problem.q()).map(|query| problem.query_row(query)).collect();
        Ok(Self { queries: QueryRows::new(loaded, rows)?, problem, engine, radius })
    }

    /// The chosen engine, or the one predicted to be fastest.
    ///
    /// # Errors
    /// [`BatchError::Engine`] and [`BatchError::NoEngine`].
    pub(in crate::run) fn engine_for(
        radius: Radius,
        choice: &EngineChoice,
        problem: &Problem,
    ) -> Result<&'static Descriptor, BatchError> {
        engine(Goal::Within(radius), choice, || default_engine(problem))
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
            let queries = self.queries.range(found.start..found.start + found.queries());
            let (cloud, metric) = (self.problem.cloud(), self.problem.metric());
            take(AnswerBatch { cloud, queries, first: found.start, found: found.answers(metric) })
        };
        if at_once {
            [search.all(progress)?].into_iter().try_for_each(take)
        } else {
            search.in_batches(progress, take)
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

impl RadiusSearch<'_> {
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
        self.collect(0, &counts, self.problem.q(), progress)
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
            let part: Vec<u64> = counts.drain(..fitting(&counts, most)).collect();
            take(self.collect(start, &part, start + part.len(), progress)?)?;
            start += part.len();
            if start == self.problem.q() {
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
        let q = self.problem.q();
        let mut total: u64 = counts.iter().sum();
        while total <= most && start + counts.len() < q {
            let next = start + counts.len();
            step(progress, start + next, 2 * q)?;
            let count = |query: usize| {
                let mut count = 0u64;
                let own = self.problem.own_row(query);
                self.visit(query, own, &mut |_| count += 1);
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
        let (q, about) = (self.problem.q(), (self.radius, self.problem.q()));
        if start + counts.len() < end {
            let found: u64 = counts.iter().sum();
            return Err(too_many(found, found.saturating_mul(NEIGHBOR_BYTES), counts.len(), about));
        }
        let mut part = Neighborhoods::new(start, counts, about)?;
        for block in (0..counts.len()).step_by(BLOCK) {
            step(progress, 2 * start + counts.len() + block, 2 * q)?;
            // Repeats the search and stores the neighbours.
            part.fill(
                block..counts.len().min(block + BLOCK),
                &self.ranking,
                |query| self.problem.query_row(start + query),
                |query, _| self.rows(start + query, self.problem.own_row(start + query)),
            );
        }
        Ok(part)
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
    use crate::cloud::{GlobeAxes, Order, PointCloud};
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
