//! Checks the order by the file's values ([`crate::exact`]) on a sample of queries, by ranking every point.

use serde::Serialize;

use crate::cloud::PointCloud;
use crate::exact::{Refiner, nearest_of_all};
use crate::knn::{NONE, Neighbors, Problem};
use crate::progress::Progress;

/// Maximum number of queries in the sample.
const MAX_QUERIES: usize = 100;

/// Maximum number of coordinates that are compared; one query is checked in any case.
const MAX_COMPARISONS: usize = 2_000_000_000;

/// Lists of the k nearest by the file's values, compared with those found by ranking every point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileOrderVerdict {
    /// Queries in the sample, the first of all.
    pub queries: u64,
    /// The first wrong list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
}

/// Refines an engine's answers, given as positions, to the file's order and checks the lists. `None` if
/// cancelled.
pub fn check(
    problem: &Problem,
    cloud: &PointCloud,
    queries: &PointCloud,
    found: &Neighbors,
    progress: &dyn Progress,
) -> Option<FileOrderVerdict> {
    let each = problem.n().saturating_mul(problem.dims()).max(1);
    let count = problem.q().min(MAX_QUERIES).min((MAX_COMPARISONS / each).max(1));
    let sample = problem.query_range(0..count);
    let slots = ..count * found.k;
    let found = sample.report(Neighbors {
        k: found.k,
        indices: found.indices[slots].to_vec(),
        squared_distances: found.squared_distances[slots].to_vec(),
    });
    // All neighbours, which need a radius search, and half of them, for which the others are candidates.
    let refiner = Refiner::new(&sample, queries, None);
    let half = found.k.div_ceil(2);
    let refine = |k| refiner.refine(&found, k, None, &mut |_| !progress.cancelled());
    let [all, first] = [refine(found.k)?, refine(half)?];
    let mut mismatch = None;
    for query in 0..count {
        if progress.cancelled() {
            return None;
        }
        let expected = nearest_of_all(&sample, queries, query, found.k);
        let lists = [(&all.rows, found.k), (&first.rows, half)].map(|(rows, k)| &rows[query * k..][..k]);
        let differs = |rows: &&[u32]| (0..rows.len()).find(|&rank| rows[rank] != expected[rank]);
        if let Some((rows, rank)) = lists.iter().find_map(|rows| Some((rows, differs(rows)?))) {
            let name = |row: u32| match row {
                NONE => "none".to_owned(),
                row => format!("row {}", cloud.record(row as usize)),
            };
            mismatch = Some(format!(
                "query {query}, rank {rank}: expected {} by the file's values, found {}",
                name(expected[rank]),
                name(rows[rank])
            ));
            break;
        }
    }
    Some(FileOrderVerdict { queries: count as u64, mismatch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::reference;
    use crate::progress::NoProgress;
    use crate::run::testing::{cloud, spec};
    use crate::run::{LoadedSpec, QuerySpec, RunSpec, build_problem};

    #[test]
    fn points_merged_by_f32_are_ordered_by_file_values() {
        // Steps of 1e-8 at 1, which f32 does not resolve, in descending order.
        let cloud = cloud(1, (0..300).map(|at| 1.0 + f64::from(300 - at) * 1e-8).chain([1e5]).collect());
        for exclude_self in [false, true] {
            let spec = RunSpec { k: 5, exclude_self, queries: QuerySpec::All, ..spec() };
            let problem = build_problem(LoadedSpec::new(&spec, &cloud, None)).unwrap();
            let lists: Vec<_> =
                (0..problem.q()).map(|query| reference::neighbours(&problem, query)).collect();
            let found = Neighbors {
                k: problem.k(),
                indices: lists.iter().flat_map(|(positions, _)| positions.clone()).collect(),
                squared_distances: lists
                    .iter()
                    .flat_map(|(_, far)| far.iter().map(|&far| far as f32))
                    .collect(),
            };
            let checked = check(&problem, &cloud, &cloud, &found, &NoProgress).unwrap();
            assert_eq!(checked, FileOrderVerdict { queries: 100, mismatch: None });
        }
    }
}
