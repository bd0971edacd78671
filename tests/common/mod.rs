//! Random problems, and engines that run them as a run does.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::cloud::{Column, Order, PointCloud, Source, Table};
use warpscope::knn::{
    Answer, Engine, KernelBuild, Metric, Parameters, Problem, ProblemError, ProblemParameters, Queries,
};

/// The distribution of a test problem's points.
#[derive(Clone, Copy, Debug)]
pub enum PointDistribution {
    /// In a cube with edges of 2 to this power.
    Uniform { exponent: i32 },
    /// Duplicates of a few points.
    Duplicates { places: usize },
    /// On the corners of a grid: many ties.
    Grid { side: u32 },
    /// Only the first axes vary.
    FlatAxes { varying: usize },
    /// Each nearer to the last point than the one before.
    Descending,
    /// On a sphere about the first, which is the query: distances differ only by rounding.
    Sphere,
}

/// A test problem of random points, determined by `seed`.
#[derive(Clone, Debug)]
pub struct Case {
    pub shape: PointDistribution,
    pub n: usize,
    pub dims: usize,
    pub k: usize,
    pub metric: Metric,
    pub order: Order,
    pub exclude_self: bool,
    /// Rows to query; otherwise the first, the last and a few more.
    pub query_rows: Option<Vec<u32>>,
    /// Whether queries are a separate cloud.
    pub foreign: bool,
    pub seed: u64,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            shape: PointDistribution::Uniform { exponent: 0 },
            n: 100,
            dims: 2,
            k: 32,
            metric: Metric::L2,
            order: Order::File,
            exclude_self: false,
            query_rows: None,
            foreign: false,
            seed: 1,
        }
    }
}

impl Case {
    /// A random case: any shape, size, metric and order.
    pub fn any() -> impl Strategy<Value = Self> {
        let shape = prop_oneof![
            (-50i32..=60).prop_map(|exponent| PointDistribution::Uniform { exponent }),
            (1usize..40).prop_map(|places| PointDistribution::Duplicates { places }),
            (2u32..6).prop_map(|side| PointDistribution::Grid { side }),
            (1usize..4).prop_map(|varying| PointDistribution::FlatAxes { varying }),
            Just(PointDistribution::Descending),
            Just(PointDistribution::Sphere),
        ];
        let dims = prop_oneof![4 => 1usize..6, 1 => 6usize..40, 1 => Just(64usize), 1 => Just(128usize)];
        let k = prop_oneof![
            4 => 1usize..80,
            1 => 80usize..300,
            1 => prop::sample::select(vec![1usize, 31, 32, 33, 64, 65, 1000, 1023])
        ];
        let n = prop_oneof![1 => 1usize..70, 3 => 70usize..1500];
        let flags = (prop::sample::select(&Metric::ALL[..]), any::<bool>(), any::<bool>(), any::<bool>());
        (shape, n, dims, k, flags, any::<u64>()).prop_map(
            |(shape, n, dims, k, (metric, shuffled, exclude_self, foreign), seed)| Self {
                shape,
                n,
                dims,
                k,
                metric,
                order: if shuffled { Order::Shuffled } else { Order::File },
                exclude_self,
                query_rows: None,
                foreign,
                seed,
            },
        )
    }

    /// A cloud of the given number of points. Under haversine it has two columns in degrees, whatever `dims`
    /// is.
    fn cloud(&self, count: usize, seed: u64, frame: Option<&PointCloud>) -> Arc<PointCloud> {
        if self.metric != Metric::Haversine {
            return cloud(self.points(count, seed), self.dims, frame);
        }
        let mut values = Self { dims: 2, ..self.clone() }.points(count, seed);
        for place in values.chunks_exact_mut(2) {
            (place[0], place[1]) = (place[0] * 74.0 % 360.0, place[1] * 46.0 % 90.0);
        }
        cloud(values, 2, frame)
    }

    fn points(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut unit = move || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let (n, dims) = (count, self.dims);
        match self.shape {
            PointDistribution::Uniform { exponent } => {
                (0..n * dims).map(|_| unit() * 2f64.powi(exponent)).collect()
            }
            PointDistribution::Duplicates { places } => {
                let places: Vec<Vec<f64>> =
                    (0..places).map(|_| (0..dims).map(|_| unit()).collect()).collect();
                (0..n)
                    .flat_map(|_| {
                        places[((unit() + 0.5) * (places.len() - 1) as f64).round() as usize].clone()
                    })
                    .collect()
            }
            PointDistribution::Grid { side } => {
                (0..n * dims).map(|_| ((unit() + 0.5) * f64::from(side - 1)).round()).collect()
            }
            PointDistribution::FlatAxes { varying } => (0..n)
                .flat_map(|_| {
                    (0..dims).map(|axis| if axis < varying { unit() } else { 7.0 }).collect::<Vec<_>>()
                })
                .collect(),
            PointDistribution::Descending => (0..n)
                .flat_map(|row| std::iter::once((n - row) as f64).chain(std::iter::repeat_n(0.0, dims - 1)))
                .collect(),
            PointDistribution::Sphere => {
                let mut values = vec![0.0; dims];
                for _ in 1..n {
                    let direction: Vec<f64> = (0..dims).map(|_| unit()).collect();
                    let norm = direction.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-9);
                    values.extend(direction.iter().map(|value| 3.0 * value / norm));
                }
                values
            }
        }
    }
}

/// A cloud of row-major values.
pub fn cloud(values: Vec<f64>, dims: usize, frame: Option<&PointCloud>) -> Arc<PointCloud> {
    let columns = (0..dims).map(|axis| Column { name: format!("d{axis}") }).collect();
    let source = Source::Generate { spec: "a test".to_owned(), seed: 0 };
    Arc::new(
        PointCloud::from_table(Table { columns, values }, source, frame, false)
            .expect("finite values make a cloud"),
    )
}

/// Builds the problem of a case.
///
/// # Errors
/// If the problem is invalid.
pub fn build_problem(case: &Case) -> Result<Problem, ProblemError> {
    let data = case.cloud(case.n, case.seed, None);
    let queries = if case.foreign {
        Queries::Cloud(case.cloud(7, case.seed ^ 1, Some(&data)))
    } else {
        let last = case.n as u32 - 1;
        Queries::Rows(case.query_rows.clone().unwrap_or_else(|| vec![0, last, last / 2, last / 3, last]))
    };
    let setup = ProblemParameters {
        k: case.k,
        metric: case.metric,
        order: case.order,
        seed: case.seed,
        exclude_self: case.exclude_self,
        drop_zero_rows: true,
    };
    Problem::new(&data, &queries, setup)
}

/// Answers all queries in two chunks with the counted build.
pub fn answer(engine: &mut dyn Engine, problem: &Problem) -> Answer {
    answer_with(engine, problem, &Parameters::NONE)
}

/// The same with parameters.
pub fn answer_with(engine: &mut dyn Engine, problem: &Problem, parameters: &Parameters) -> Answer {
    let mut answer = Answer::default();
    let mut search = engine.load(problem, parameters, false).unwrap_or_else(|error| panic!("{error}"));
    let half = problem.q() / 2;
    for range in [0..half, half..problem.q()] {
        if !range.is_empty() {
            search.search(range, KernelBuild::Counted).unwrap_or_else(|error| panic!("{error}"));
            search.collect(&mut answer).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    search.download(&mut answer.neighbors).unwrap_or_else(|error| panic!("{error}"));
    // Cached setup is not timed.
    assert!(search.resident() || !search.setup_ms().is_empty());
    answer
}
