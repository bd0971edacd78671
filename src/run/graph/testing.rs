//! Graphs for tests.

use std::sync::Arc;

use super::super::testing::{self, spec};
use super::super::{Engines, RunRecord, RunSpec};
use super::KnnGraph;
use crate::cloud::PointCloud;
use crate::cloud::{Source, load};
use crate::progress::Silent;

/// Every row's k nearest others.
pub fn neighbours_of(cloud: &Arc<PointCloud>, k: usize) -> RunRecord {
    let spec = RunSpec { k, exclude_self: true, ..spec() };
    Engines::default().answer(&spec, cloud, None, &mut |_, _| true).unwrap()
}

/// The same of points on a line.
pub fn line(values: &[f64], k: usize) -> RunRecord {
    neighbours_of(&testing::cloud(1, values.to_vec()), k)
}

/// The same of a generated cloud.
pub fn generated(spec: &str, k: usize) -> RunRecord {
    let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
    neighbours_of(&Arc::new(load(&source, false, &Silent).unwrap()), k)
}

pub fn graph(record: &RunRecord) -> KnnGraph<'_> {
    KnnGraph::of_run(record).unwrap()
}
