//! Distances in f64 from a GPU are bit-identical to those of the CPU.
//!
//! These tests need a GPU: `scripts/gpu-check` runs them.

use std::sync::Arc;

use warpscope::cloud::{Column, Order, PointCloud, Source, Table};
use warpscope::engines::cuda::open_exact;
use warpscope::exact::{Ranking, Refiner};
use warpscope::knn::{DeviceId, Metric, NONE, Neighbors, Problem, ProblemParameters, Queries};

/// Values of f32, row by row; no row is zero.
fn cloud(rows: usize, dims: usize, seed: u32) -> Arc<PointCloud> {
    let value = |at: u32| (at.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 8) as f32 * 0.37 - 2.9e6;
    cloud_of(rows, dims, |at| f64::from(value(at)))
}

fn cloud_of(rows: usize, dims: usize, value: impl Fn(u32) -> f64) -> Arc<PointCloud> {
    let columns = (0..dims).map(|axis| Column { name: format!("c{axis}") }).collect();
    let values = (0..(rows * dims) as u32).map(value).collect();
    let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
    Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).expect("a cloud"))
}

/// Compares the bits of a metric's distances on the GPU and the CPU.
fn assert_bits(metric: Metric, points: &Arc<PointCloud>, queries: &Arc<PointCloud>) {
    let k = 5;
    let (rows, dims) = (points.len(), points.dims());
    let ranking = Ranking::new(metric, points, queries, 0);
    let stored = ranking.stored_rows().expect("f32 holds the values");
    let query_rows: Vec<u32> = (0..queries.len() as u32).rev().collect();
    let mut candidates: Vec<u32> = (0..query_rows.len() * k).map(|at| (at * 17 % rows) as u32).collect();
    candidates[k - 1] = NONE;
    let mut device = open_exact(DeviceId::Gpu(0), stored, candidates.len()).expect("a GPU");
    let squared = device.squared(&query_rows, &candidates).expect("distances");
    assert_eq!(squared.len(), candidates.len());
    for (at, &row) in candidates.iter().enumerate().filter(|(_, row)| **row != NONE) {
        let query = ranking.query(query_rows[at / k] as usize);
        let expected = ranking.rank(&query, row, &mut Vec::new());
        assert_eq!(squared[at].sqrt().to_bits(), expected.distance.to_bits(), "{metric}, d = {dims}, {at}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_distances_are_bit_identical_to_cpu() {
    for dims in [1, 3, 15, 16, 17, 33, 100, 768, 1537] {
        let (points, others) = (cloud(61, dims, 1), cloud(30, dims, 77));
        assert_bits(Metric::L2, &points, &points);
        assert_bits(Metric::L2, &points, &others);
        assert_bits(Metric::Cosine, &points, &points);
        assert_bits(Metric::Angular, &points, &others);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_distances_of_extreme_values_are_bit_identical_to_cpu() {
    for dims in [1, 3, 17, 100] {
        // From subnormal numbers to the largest; the first row is zero.
        let value = |at: u32| match (at / dims, at % 5) {
            (0, _) => 0.0,
            (row, 0) => f32::from_bits(row + at),
            (row, 1) => -f32::MIN_POSITIVE / (row as f32),
            (row, 2) => f32::MAX / (row as f32),
            (_, 3) => 0.0,
            (row, _) => 1.0 + row as f32,
        };
        let points = cloud_of(61, dims as usize, |at| f64::from(value(at)));
        assert_bits(Metric::L2, &points, &points);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_refinement_matches_cpu() {
    let (rows, dims, k) = (3000, 300, 20);
    let points = cloud(rows, dims, 5);
    for metric in [Metric::L2, Metric::Cosine] {
        let setup = ProblemParameters {
            k,
            metric,
            order: Order::Shuffled,
            seed: 0,
            exclude_self: true,
            drop_zero_rows: false,
        };
        let queries = Queries::Rows((0..rows as u32).step_by(3).collect());
        let problem = Problem::new(&points, &queries, setup).expect("a problem");
        // Infinite distances rule out unlisted points, so nothing is widened.
        let found = Neighbors {
            k,
            indices: (0..problem.q() * k).map(|at| (at * 31 % rows) as u32).collect(),
            squared_distances: vec![f32::INFINITY; problem.q() * k],
        };
        let refiner = Refiner::new(&problem, &points, None);
        let stored = Ranking::new(metric, &points, &points, 0).stored_rows().expect("f32 holds the values");
        let device = open_exact(DeviceId::Gpu(0), stored, problem.q() * k).expect("a GPU");
        let on_gpu = refiner.refine(&found, k, Some(device), &mut |_| true).expect("not cancelled");
        let on_cpu = refiner.refine(&found, k, None, &mut |_| true).expect("not cancelled");
        assert!(on_gpu.on_device && !on_cpu.on_device);
        assert_eq!((on_gpu.rows, on_gpu.distances), (on_cpu.rows, on_cpu.distances), "{metric}");
    }
}
