//! Small clouds and records for tests of what is made of them.

use std::sync::Arc;

use crate::cloud::{Column, PointCloud, Source, Table};
use crate::knn::{Convergence, DeviceInfo, EngineId, Measured, Neighbors, Profile, WarpSpan, warp};
use crate::run::{Phase, QuerySpec, RunFile, RunRecord, RunSpec, SCHEMA_VERSION, Sample, Summary};

/// n points in the unit cube about 0, from a linear congruence.
pub fn cloud(n: usize, dims: usize, seed: u64) -> Arc<PointCloud> {
    scaled(n, seed, &vec![1.0; dims])
}

/// Points of four dimensions, each with its own extent.
#[cfg_attr(not(feature = "gui"), expect(dead_code, reason = "for tests of the window"))]
pub fn stretched(n: usize, scales: [f64; 4]) -> Arc<PointCloud> {
    scaled(n, 1, &scales)
}

fn scaled(n: usize, seed: u64, scales: &[f64]) -> Arc<PointCloud> {
    let dims = scales.len();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((state >> 40) as u32) / f64::from(1u32 << 24) * 2.0 - 1.0
    };
    let columns = (0..dims).map(|axis| Column { name: ["x", "y", "z", "w"][axis].to_owned() }).collect();
    let table = Table { columns, values: (0..n * dims).map(|at| draw() * scales[at % dims]).collect() };
    let source = Source::Generate { spec: format!("test:n={n}"), seed };
    Arc::new(PointCloud::from_table(table, source, None, false).expect("a cloud"))
}

/// What three queries counted, with these merges.
pub fn measured(merges: [u32; 3]) -> Measured {
    let mut measured = Measured::default();
    measured.extend(&warp::MEASURES, (0..3).map(|query| [merges[query], 20 + query as u32, 2]));
    measured
}

/// Three queries with k = 4, made by hand over 50 points.
pub fn record() -> Arc<RunRecord> {
    let cloud = cloud(50, 2, 7);
    let mut convergence = Convergence { counted_by: warp::CONVERGENCE.to_owned(), ..Convergence::default() };
    for scale in [1.0f32, 2.0, 3.0] {
        convergence.push([(10, 0.5 * scale), (30, 0.1 * scale), (50, 0.05 * scale)]);
    }
    let sample = |phase, repeat, duration_ms| Sample { phase, repeat, chunk: 0, start_ms: f64::from(repeat), duration_ms };
    let head = RunFile {
        schema_version: SCHEMA_VERSION,
        warpscope_version: "0".to_owned(),
        commit: None,
        started_unix: 0,
        spec: RunSpec { repeats: 2, ..RunSpec::new(cloud.source().clone(), QuerySpec::Rows(vec![3, 5, 8]), 4) },
        engine: EngineId::new("lockstep"),
        fallback: None,
        predicted_ms: None,
        method: None,
        note: None,
        resident: false,
        device: DeviceInfo::default(),
        peaks: None,
        machine: None,
        fingerprint: cloud.fingerprint().clone(),
        query_fingerprint: None,
        axes: cloud.axes().to_vec(),
        dropped_rows: 0,
        dropped_queries: 0,
        summary: Summary { n: 50, q: 3, d: 2, ..Summary::default() },
    };
    Arc::new(RunRecord {
        head,
        cloud,
        query_cloud: None,
        query_rows: vec![3, 5, 8],
        neighbors: Neighbors {
            k: 4,
            indices: vec![3, 1, 2, 4, 5, 6, 7, 9, 8, 10, 11, 12],
            squared_distances: vec![0.0, 0.01, 0.02, 0.05, 0.0, 0.02, 0.04, 0.1, 0.0, 0.03, 0.06, 0.15],
        },
        measured: measured([3; 3]),
        convergence,
        profile: None,
        samples: vec![sample(Phase::Upload, 0, 0.2), sample(Phase::Search, 0, 1.0), sample(Phase::Search, 1, 1.2), sample(Phase::Download, 0, 0.1)],
    })
}

/// [`record`] with the profile of a device of two multiprocessors: the first two queries are of one warp, on the first.
#[cfg_attr(not(feature = "gui"), expect(dead_code, reason = "for tests of the window"))]
pub fn profiled_record() -> Arc<RunRecord> {
    let mut record = RunRecord::clone(&record());
    let span = |start_ns, stop_ns, sm, warp| WarpSpan { start_ns, stop_ns, sm, warp };
    record.samples.push(Sample { phase: Phase::Profiled, repeat: 0, chunk: 0, start_ms: 4.0, duration_ms: 1.0 });
    let spans = vec![span(1000, 401_000, 0, 0), span(1000, 501_000, 0, 0), span(21_000, 901_000, 1, 4)];
    record.profile = Some(Profile { cycles: [100, 500, 20, 200, 50, 10].repeat(3), spans, ..Profile::new(&warp::PHASES) });
    Arc::new(record)
}
