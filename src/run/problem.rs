//! Builds the [`Problem`] that a spec describes.

use std::sync::Arc;

use super::{QuerySpec, Resident, RunError, RunSpec};
use crate::cloud::{PointCloud, order, query_point};
use crate::knn::{Problem, Queries, Setup};

/// Builds a spec's problem over its loaded cloud, and over its loaded query file if it names one.
///
/// # Errors
/// [`RunError::Record`], [`RunError::Count`], [`RunError::QueriesNotLoaded`] for the queries, and what
/// [`Problem::new`] refuses.
pub fn build_problem(spec: &RunSpec, cloud: &Arc<PointCloud>, query_cloud: Option<&Arc<PointCloud>>) -> Result<Problem, RunError> {
    let queries = queries(spec, cloud, query_cloud)?;
    Ok(Problem::new(cloud, &queries, spec.into())?)
}

/// The same over the points of the problem before, where they are this one's too.
///
/// # Errors
/// As [`build_problem`]'s.
pub fn build_problem_over(
    resident: &Resident,
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    query_cloud: Option<&Arc<PointCloud>>,
) -> Result<Problem, RunError> {
    let queries = queries(spec, cloud, query_cloud)?;
    let setup = Setup::from(spec);
    setup.check()?;
    let points = resident.points(cloud, setup.arrangement())?;
    Ok(Problem::over(&points, &queries, setup)?)
}

/// The queries' own cloud, where they are no rows: a place's is made here.
///
/// # Errors
/// [`RunError::Cloud`] where the place is none.
pub fn query_cloud_of(spec: &RunSpec, cloud: &PointCloud, query_cloud: Option<&Arc<PointCloud>>) -> Result<Option<Arc<PointCloud>>, RunError> {
    Ok(match &spec.queries {
        QuerySpec::At(at) => Some(Arc::new(query_point::cloud(at, cloud)?)),
        _ => query_cloud.cloned(),
    })
}

/// Whom a spec asks for.
///
/// # Errors
/// As [`build_problem`]'s of the queries.
pub(super) fn queries(spec: &RunSpec, cloud: &PointCloud, query_cloud: Option<&Arc<PointCloud>>) -> Result<Queries, RunError> {
    let rows = cloud.len();
    Ok(match &spec.queries {
        QuerySpec::All => Queries::Rows((0..rows as u32).collect()),
        &QuerySpec::Count(count) => match usize::try_from(count) {
            Ok(count) if count <= rows => Queries::Rows(order::sample(rows, count, spec.seed)),
            _ => return Err(RunError::Count { count, rows }),
        },
        QuerySpec::Rows(records) => Queries::Rows(rows_of(cloud, records)?),
        QuerySpec::At(at) => Queries::Cloud(Arc::new(query_point::cloud(at, cloud)?)),
        QuerySpec::File { path, .. } => {
            Queries::Cloud(Arc::clone(query_cloud.ok_or_else(|| RunError::QueriesNotLoaded { path: path.display().to_string() })?))
        }
    })
}

impl From<&RunSpec> for Setup {
    fn from(spec: &RunSpec) -> Self {
        Self {
            k: spec.k,
            metric: spec.metric,
            order: spec.order,
            seed: spec.seed,
            exclude_self: spec.exclude_self,
            drop_zero_rows: spec.drop_nonfinite,
        }
    }
}

fn rows_of(cloud: &PointCloud, records: &[u64]) -> Result<Vec<u32>, RunError> {
    let last = cloud.record(cloud.len() - 1);
    let row_of = |&record: &u64| match cloud.row_of_record(record) {
        Some(row) => Ok(row as u32),
        // Beyond the last kept record a dropped row cannot be told from one that never was.
        None if record < last => Err(RunError::Record { record, why: "it was dropped, as it has NaN or infinite values".to_owned() }),
        None => Err(RunError::Record { record, why: format!("the cloud's rows go from 0 to {last}") }),
    };
    records.iter().map(row_of).collect()
}
