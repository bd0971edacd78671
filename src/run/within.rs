//! All neighbours within a distance of each query: counted first, so that all of them fit or none is looked for.

use rayon::prelude::*;

use crate::engines::registry;
use crate::knn::cost::Stage;
use crate::knn::within::{Within, limit};
use crate::knn::{Descriptor, DeviceKind, EngineError, EngineId, Problem, Shape, own_first};
use crate::memory;
use crate::progress::Progress;

/// Queries between two looks at whether the work is cancelled.
const BLOCK: usize = 1 << 10;

/// Bytes of a neighbour: a row and a squared distance.
const BYTES: u64 = 8;

/// Why not all neighbours within a distance can be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WithinError {
    #[error("radius {0}: a distance is 0 or more")]
    Radius(f64),
    /// The engine finds only so many.
    #[error("{engine} finds the k nearest only: {} list all within a radius", able())]
    Engine { engine: EngineId },
    #[error(transparent)]
    Failed(#[from] EngineError),
    /// What was counted does not fit into memory.
    #[error("{found} neighbours are within {radius}: they take {needed} MiB, and {free} MiB are free; take a smaller radius or fewer queries")]
    Memory { found: u64, radius: f64, needed: u64, free: u64 },
    #[error("cancelled")]
    Cancelled,
}

fn able() -> String {
    registry::able_within().map(|engine| engine.id.as_str()).collect::<Vec<_>>().join(" and ")
}

/// The neighbours of each query, nearest first, and those that are as near by their position.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighborhoods {
    /// Where a query's begin, in the two below, and the next one's: one more than there are queries.
    pub offsets: Vec<u64>,
    /// Rows of the cloud.
    pub rows: Vec<u32>,
    pub squared_distances: Vec<f32>,
}

impl Neighborhoods {
    pub fn queries(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The rows and squared distances of a query's.
    pub fn of(&self, query: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
        (&self.rows[range.clone()], &self.squared_distances[range])
    }

    /// Puts each query's own row first among the neighbours that are as near.
    pub fn put_own_first(&mut self, own_row: impl Fn(usize) -> u32) {
        for query in 0..self.queries() {
            let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
            own_first(&mut self.rows[range.clone()], &mut self.squared_distances[range], own_row(query));
        }
    }

    /// The first `most` of the first query's alone.
    ///
    /// # Panics
    /// If there is no query.
    pub fn first(&self, most: usize) -> Self {
        let (rows, squared_distances) = self.of(0);
        let count = rows.len().min(most);
        Self { offsets: vec![0, count as u64], rows: rows[..count].to_vec(), squared_distances: squared_distances[..count].to_vec() }
    }

    /// How many a query has.
    pub fn count(&self, query: usize) -> u64 {
        self.offsets[query + 1] - self.offsets[query]
    }
}

/// The engine that is taken where none is asked for: which is predicted to find some neighbours of each query first.
pub fn usual(problem: &Problem) -> &'static Descriptor {
    const SOME: usize = 32;
    let shape = Shape { k: SOME, ..problem.shape() };
    let ms = |engine: &Descriptor| {
        let cost = (engine.cost)(&shape, DeviceKind::Cpu);
        let fits = engine.limits.check(engine.id, &shape, problem.metric()).is_ok();
        if fits { cost.ms(Stage::Setup, |_| 1.0) + cost.ms(Stage::Search, |_| 1.0) } else { f64::INFINITY }
    };
    registry::able_within().min_by(|a, b| ms(a).total_cmp(&ms(b))).expect("some engines list what is within a radius")
}

/// All neighbours of each query that are within `radius`, in the metric's own unit, without its own row where the problem excludes that. The
/// problem's k is not looked at.
///
/// # Errors
/// [`WithinError`].
pub fn within(problem: &Problem, engine: &Descriptor, radius: f64, progress: &dyn Progress) -> Result<Neighborhoods, WithinError> {
    let limit = limit(problem.metric(), radius).ok_or(WithinError::Radius(radius))?;
    let open = engine.within.filter(|_| engine.runs_on.contains(&DeviceKind::Cpu)).ok_or(WithinError::Engine { engine: engine.id })?;
    let index = open(problem)?;
    let offsets = counted(problem, &*index, limit, progress)?;
    let found = offsets[problem.q()];
    // Each thread has a query's neighbours beside, while they are sorted.
    let most = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let needed = found.saturating_add(most.saturating_mul(rayon::current_num_threads() as u64)).saturating_mul(BYTES);
    let free = memory::available();
    let room = || Some((memory::room(found as usize)?, memory::room(found as usize)?));
    let Some((rows, squared_distances)) = free.is_none_or(|free| needed <= free).then(room).flatten() else {
        return Err(WithinError::Memory { found, radius, needed: needed.div_ceil(1 << 20), free: free.unwrap_or(0) >> 20 });
    };
    let mut all = Neighborhoods { offsets, rows, squared_distances };
    fill(problem, &*index, limit, &mut all, progress)?;
    Ok(all)
}

/// Where each query's neighbours will begin.
fn counted(problem: &Problem, index: &dyn Within, limit: f32, progress: &dyn Progress) -> Result<Vec<u64>, WithinError> {
    let q = problem.q();
    let mut offsets = vec![0];
    let mut total = 0;
    for start in (0..q).step_by(BLOCK) {
        step(progress, start, 2 * q)?;
        let count = |query: usize| {
            let (mut count, own) = (0u64, problem.own_row(query));
            index.visit(problem.query(query), limit, &mut |position, _| count += u64::from(own != Some(problem.row(position))));
            count
        };
        let counts: Vec<u64> = (start..q.min(start + BLOCK)).into_par_iter().map(count).collect();
        offsets.extend(counts.into_iter().map(|count| {
            total += count;
            total
        }));
    }
    Ok(offsets)
}

/// Finds them again, and writes them down.
fn fill(problem: &Problem, index: &dyn Within, limit: f32, all: &mut Neighborhoods, progress: &dyn Progress) -> Result<(), WithinError> {
    let q = problem.q();
    let found = all.offsets[q] as usize;
    all.rows.resize(found, 0);
    all.squared_distances.resize(found, 0.0);
    let (mut rows, mut distances) = (&mut all.rows[..], &mut all.squared_distances[..]);
    for start in (0..q).step_by(BLOCK) {
        step(progress, q + start, 2 * q)?;
        let mut queries = Vec::with_capacity(BLOCK);
        for query in start..q.min(start + BLOCK) {
            let count = (all.offsets[query + 1] - all.offsets[query]) as usize;
            queries.push((query, rows.split_off_mut(..count).unwrap_or_default(), distances.split_off_mut(..count).unwrap_or_default()));
        }
        queries.into_par_iter().for_each(|(query, rows, distances)| {
            // (the distance's bits, the position): bits of floats from 0 on are in the order of the floats.
            let mut found = Vec::with_capacity(rows.len());
            let own = problem.own_row(query);
            index.visit(problem.query(query), limit, &mut |position, distance| {
                if own != Some(problem.row(position)) {
                    found.push((distance.to_bits(), position));
                }
            });
            found.sort_unstable();
            for ((distance, position), (to, at)) in found.into_iter().zip(rows.iter_mut().zip(distances)) {
                (*to, *at) = (problem.row(position), f32::from_bits(distance));
            }
        });
    }
    Ok(())
}

fn step(progress: &dyn Progress, done: usize, of: usize) -> Result<(), WithinError> {
    if progress.cancelled() {
        return Err(WithinError::Cancelled);
    }
    progress.update(done as u64, of as u64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::cloud::{Column, Order, PointCloud, Source, Table};
    use crate::knn::{Metric, Queries, Setup};
    use crate::progress::Silent;

    fn problem(names: &[&str], values: Vec<f64>, metric: Metric, exclude_self: bool) -> Problem {
        let columns = names.iter().map(|name| Column { name: (*name).to_owned() }).collect();
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let cloud = Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).unwrap());
        let setup = Setup { k: 1, metric, order: Order::Shuffled, seed: 3, exclude_self, drop_zero_rows: false };
        Problem::new(&cloud, &Queries::Rows((0..cloud.len() as u32).collect()), setup).unwrap()
    }

    /// Every distance computed.
    fn by_hand(problem: &Problem, radius: f64) -> Neighborhoods {
        let (mut offsets, mut rows, mut squared_distances) = (vec![0], Vec::new(), Vec::new());
        let positions: Vec<u32> = (0..problem.n() as u32).collect();
        for query in 0..problem.q() {
            let mut distances = Vec::new();
            crate::knn::distance::squared_distances(problem.points(), problem.query(query), &positions, &mut distances);
            let mut near: Vec<(f32, u32)> = distances.into_iter().zip(0..).collect();
            near.retain(|&(squared, position)| problem.metric().distance(squared) <= radius && problem.own_row(query) != Some(problem.row(position)));
            near.sort_by(|a, b| a.partial_cmp(b).unwrap());
            rows.extend(near.iter().map(|&(_, position)| problem.row(position)));
            squared_distances.extend(near.iter().map(|&(squared, _)| squared));
            offsets.push(rows.len() as u64);
        }
        Neighborhoods { offsets, rows, squared_distances }
    }

    #[test]
    fn every_neighbour_within_is_listed_and_none_beyond() {
        let scattered = |dims: usize, n: usize, distinct: u32| -> Vec<f64> {
            (0..dims * n).map(|at| f64::from((at as u32).wrapping_mul(2_654_435_761) % 65_521 % distinct) / 100.0).collect()
        };
        let globe: Vec<f64> = (0..600).flat_map(|i| [f64::from(i * 37 % 360) - 180.0, f64::from(i * 61 % 180) - 90.0]).collect();
        for (names, values, metric, radii) in [
            (&["x"][..], scattered(1, 500, 65_521), Metric::L2, [0.0, 1.5, 1e9]),
            (&["x", "y"], scattered(2, 700, 50), Metric::L2, [0.0, 0.1, 0.05 * 2f64.sqrt()]),
            (&["x", "y", "z"], scattered(3, 700, 3), Metric::L2, [0.0, 0.01, 5.0]),
            (&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"], scattered(13, 300, 65_521), Metric::L2, [1.0, 900.0, 1e9]),
            (&["a", "b", "c", "d"], scattered(4, 300, 65_521), Metric::Angular, [0.0, 0.3, 4.0]),
            (&["longitude", "latitude"], globe, Metric::Haversine, [0.0, 500.0, 30_000.0]),
        ] {
            for radius in radii {
                for exclude_self in [false, true] {
                    let problem = problem(names, values.clone(), metric, exclude_self);
                    let want = by_hand(&problem, radius);
                    for engine in registry::able_within() {
                        let found = within(&problem, engine, radius, &Silent).unwrap();
                        assert_eq!(found, want, "{}, {names:?}, {metric}, {radius}", engine.id);
                    }
                    let counts: Vec<u64> = (0..problem.q()).map(|query| want.count(query)).collect();
                    assert!(exclude_self || counts.iter().all(|&count| count > 0), "a row is within any radius of itself");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_listed_is_said() {
        let problem = problem(&["x"], vec![1.0, 2.0, 3.0], Metric::L2, false);
        let of =
            |engine: &str, radius: f64| within(&problem, registry::find(EngineId::new(engine)).unwrap(), radius, &Silent).unwrap_err().to_string();
        assert_eq!(of("lockstep", 1.0), "lockstep finds the k nearest only: bvh and kdtree list all within a radius");
        assert_eq!(of("bvh", -1.0), "radius -1: a distance is 0 or more");
        let stopped = within(&problem, usual(&problem), 1.0, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(WithinError::Cancelled)));
    }
}
