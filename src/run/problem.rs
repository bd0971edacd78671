//! Builds the [`Problem`] that a spec describes, reusing the points of the previous problem if possible.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::planner::{Job, Purpose};
use super::{QuerySpec, RunError, RunSpec};
use crate::cloud::{PointCloud, order, query_point};
use crate::knn::{PointSettings, Points, Problem, ProblemError, ProblemParameters, Queries};

/// A spec with its cloud loaded, and its query file if it names one.
#[derive(Clone, Copy)]
pub struct LoadedSpec<'a> {
    pub spec: &'a RunSpec,
    pub cloud: &'a Arc<PointCloud>,
    pub query_cloud: Option<&'a Arc<PointCloud>>,
}

impl<'a> LoadedSpec<'a> {
    pub fn new(
        spec: &'a RunSpec,
        cloud: &'a Arc<PointCloud>,
        query_cloud: Option<&'a Arc<PointCloud>>,
    ) -> Self {
        Self { spec, cloud, query_cloud }
    }

    /// Its sizes, to predict times.
    pub fn planner_job(self, purpose: Purpose) -> Job {
        let queries = self.query_cloud.map(|queries| queries.len());
        Job::new(self.spec, purpose, self.cloud.len(), self.cloud.dims(), queries)
    }
}

/// Builds the problem of a loaded spec.
///
/// # Errors
///
/// [`RunError::Record`], [`RunError::Count`], [`RunError::QueriesNotLoaded`] for the queries, and errors of
/// [`Problem::new`].
pub fn build_problem(loaded: LoadedSpec<'_>) -> Result<Problem, RunError> {
    Ok(Problem::new(loaded.cloud, &queries(loaded)?, loaded.spec.into())?)
}

/// As [`build_problem`], reusing the resident points if they are the same.
///
/// # Errors
/// Errors of [`build_problem`].
pub fn build_resident_problem(
    resident: &ResidentPoints,
    loaded: LoadedSpec<'_>,
) -> Result<Problem, RunError> {
    let queries = queries(loaded)?;
    let setup = ProblemParameters::from(loaded.spec);
    setup.check()?;
    let points = resident.points(loaded.cloud, setup.arrangement())?;
    Ok(Problem::with_points(&points, &queries, setup)?)
}

/// The queries' own cloud, unless they are rows of `cloud`. A point given by coordinates gets a cloud here.
///
/// # Errors
/// [`RunError::Cloud`] if the coordinates are invalid.
pub fn query_cloud_of(loaded: LoadedSpec<'_>) -> Result<Option<Arc<PointCloud>>, RunError> {
    Ok(match &loaded.spec.queries {
        QuerySpec::At(at) => Some(Arc::new(query_point::cloud(at, loaded.cloud)?)),
        _ => loaded.query_cloud.cloned(),
    })
}

/// The queries of a spec.
///
/// # Errors
/// Errors of [`build_problem`] for the queries.
pub(super) fn queries(loaded: LoadedSpec<'_>) -> Result<Queries, RunError> {
    let LoadedSpec { spec, cloud, query_cloud } = loaded;
    let rows = cloud.len();
    Ok(match &spec.queries {
        QuerySpec::All => Queries::Rows((0..rows as u32).collect()),
        &QuerySpec::Count(count) => match usize::try_from(count) {
            Ok(count) if count <= rows => Queries::Rows(order::sample(rows, count, spec.seed)),
            _ => return Err(RunError::Count { count, rows }),
        },
        QuerySpec::Rows(records) => Queries::Rows(rows_of(cloud, records)?),
        QuerySpec::At(at) => Queries::Cloud(Arc::new(query_point::cloud(at, cloud)?)),
        QuerySpec::File { path, .. } => Queries::Cloud(Arc::clone(
            query_cloud.ok_or_else(|| RunError::QueriesNotLoaded { path: path.display().to_string() })?,
        )),
    })
}

impl From<&RunSpec> for ProblemParameters {
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
        // Beyond the last kept record, a dropped row looks like one that never existed.
        None if record < last => Err(RunError::Record {
            record,
            why: "it was dropped because it has NaN or infinite values".to_owned(),
        }),
        None => Err(RunError::Record { record, why: format!("must be between 0 and {last}") }),
    };
    records.iter().map(row_of).collect()
}

/// The points of the last problem in processing order, with the data that engines prepared for them: one
/// cloud in one arrangement. Clones share them across the engines of several threads.
#[derive(Clone, Default)]
pub struct ResidentPoints(Arc<Mutex<Option<Arc<Points>>>>);

impl ResidentPoints {
    /// A cloud's points in an arrangement; builds them if others are resident.
    ///
    /// # Errors
    /// Errors of [`Points::new`].
    pub fn points(
        &self,
        cloud: &Arc<PointCloud>,
        arrangement: PointSettings,
    ) -> Result<Arc<Points>, ProblemError> {
        // The lock is held while points are built, as other threads mostly need the same ones.
        let mut here = self.lock();
        if let Some(points) = here.as_ref().filter(|points| points.matches(cloud, arrangement)) {
            return Ok(Arc::clone(points));
        }
        // The old points are freed first, to make room.
        *here = None;
        let points = Arc::new(Points::new(cloud, arrangement)?);
        *here = Some(Arc::clone(&points));
        Ok(points)
    }

    /// Whether a cloud's points in this arrangement are resident.
    pub fn contains(&self, cloud: &Arc<PointCloud>, arrangement: PointSettings) -> bool {
        self.lock().as_ref().is_some_and(|points| points.matches(cloud, arrangement))
    }

    /// Whether no points are resident.
    pub fn is_empty(&self) -> bool {
        self.lock().is_none()
    }

    /// A cloud's points in this arrangement, if resident and not being built.
    pub fn peek(&self, cloud: &Arc<PointCloud>, arrangement: PointSettings) -> Option<Arc<Points>> {
        let here = self.0.try_lock().ok()?;
        here.as_ref().filter(|points| points.matches(cloud, arrangement)).map(Arc::clone)
    }

    /// Releases data that engines prepared, on devices and on the host; returns whether there was any.
    pub fn release_prepared(&self) -> bool {
        self.lock().as_ref().is_some_and(|points| super::planner::release_prepared(points))
    }

    /// Releases everything, as the cloud is no longer needed. Searches in progress keep their reference.
    pub fn release(&self) {
        if let Some(points) = self.lock().take() {
            points.cache().clear();
        }
    }

    /// Ignores poisoning: after a panic there are complete points, or none.
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Points>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Order;
    use crate::knn::{DeviceId, Metric};
    use crate::run::testing::squares;

    fn arrangement(order: Order, seed: u64) -> PointSettings {
        PointSettings::new(Metric::L2, order, seed, false)
    }

    #[test]
    fn clones_share_the_most_recent_points() {
        let (resident, cloud) = (ResidentPoints::default(), squares(40));
        let first = resident.points(&cloud, arrangement(Order::Shuffled, 1)).unwrap();
        let again = resident.clone().points(&cloud, arrangement(Order::Shuffled, 1)).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other_seed = resident.points(&cloud, arrangement(Order::Shuffled, 2)).unwrap();
        let other_order = resident.points(&cloud, arrangement(Order::File, 2)).unwrap();
        let equal_cloud = resident.points(&squares(40), arrangement(Order::File, 2)).unwrap();
        assert!(
            !Arc::ptr_eq(&first, &other_seed)
                && !Arc::ptr_eq(&other_seed, &other_order)
                && !Arc::ptr_eq(&other_order, &equal_cloud)
        );
    }

    #[test]
    fn release_drops_points_and_their_caches() {
        let (resident, cloud) = (ResidentPoints::default(), squares(40));
        let points = resident.points(&cloud, arrangement(Order::File, 0)).unwrap();
        points.cache().insert(DeviceId::Cpu, Arc::new(1u8));
        assert!(resident.release_prepared() && !resident.release_prepared());
        points.cache().insert(DeviceId::Cpu, Arc::new(1u8));
        resident.release();
        assert!(
            points.cache().get(DeviceId::Cpu, |_: &u8| true).is_none(),
            "even for points that are still referenced"
        );
        let gone = Arc::downgrade(&points);
        drop(points);
        assert!(gone.upgrade().is_none());
        assert_eq!(Arc::strong_count(&cloud), 1);
    }
}
