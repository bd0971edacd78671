//! Builds the [`Problem`] that a spec describes, over the points that the last one was about where they are
//! the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{QuerySpec, RunError, RunSpec};
use crate::cloud::{PointCloud, order, query_point};
use crate::knn::{Arrangement, Points, Problem, ProblemError, Queries, Setup};

/// Builds a spec's problem over its loaded cloud, and over its loaded query file if it names one.
///
/// # Errors
/// [`RunError::Record`], [`RunError::Count`], [`RunError::QueriesNotLoaded`] for the queries, and what
/// [`Problem::new`] refuses.
pub fn build_problem(
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    query_cloud: Option<&Arc<PointCloud>>,
) -> Result<Problem, RunError> {
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
pub fn query_cloud_of(
    spec: &RunSpec,
    cloud: &PointCloud,
    query_cloud: Option<&Arc<PointCloud>>,
) -> Result<Option<Arc<PointCloud>>, RunError> {
    Ok(match &spec.queries {
        QuerySpec::At(at) => Some(Arc::new(query_point::cloud(at, cloud)?)),
        _ => query_cloud.cloned(),
    })
}

/// Whom a spec asks for.
///
/// # Errors
/// As [`build_problem`]'s of the queries.
pub(super) fn queries(
    spec: &RunSpec,
    cloud: &PointCloud,
    query_cloud: Option<&Arc<PointCloud>>,
) -> Result<Queries, RunError> {
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
        None if record < last => Err(RunError::Record {
            record,
            why: "it was dropped, as it has NaN or infinite values".to_owned(),
        }),
        None => Err(RunError::Record { record, why: format!("the cloud's rows go from 0 to {last}") }),
    };
    records.iter().map(row_of).collect()
}

/// Points in processing order, with what engines made of them: of one cloud in one arrangement, as the last
/// problem had them. Clones share them, so that several threads' engines do.
#[derive(Clone, Default)]
pub struct Resident(Arc<Mutex<Option<Arc<Points>>>>);

impl Resident {
    /// A cloud's points so arranged: those that are here, or in their place new ones.
    ///
    /// # Errors
    /// As [`Points::new`].
    pub fn points(
        &self,
        cloud: &Arc<PointCloud>,
        arrangement: Arrangement,
    ) -> Result<Arc<Points>, ProblemError> {
        // Whoever else asks meanwhile waits: mostly for the same points.
        let mut here = self.lock();
        if let Some(points) = here.as_ref().filter(|points| points.are_of(cloud, arrangement)) {
            return Ok(Arc::clone(points));
        }
        // What was here goes first: its room may be needed.
        *here = None;
        let points = Arc::new(Points::new(cloud, arrangement)?);
        *here = Some(Arc::clone(&points));
        Ok(points)
    }

    /// Whether a cloud's points so arranged are here.
    pub fn has(&self, cloud: &Arc<PointCloud>, arrangement: Arrangement) -> bool {
        self.lock().as_ref().is_some_and(|points| points.are_of(cloud, arrangement))
    }

    /// Whether no points are here.
    pub fn is_empty(&self) -> bool {
        self.lock().is_none()
    }

    /// Those of a cloud so arranged, where they are here and nobody is making them.
    pub fn peek(&self, cloud: &Arc<PointCloud>, arrangement: Arrangement) -> Option<Arc<Points>> {
        let here = self.0.try_lock().ok()?;
        here.as_ref().filter(|points| points.are_of(cloud, arrangement)).map(Arc::clone)
    }

    /// Lets go of what engines made of the points, on devices and off, and says whether there was anything.
    pub fn release_made(&self) -> bool {
        self.lock().as_ref().is_some_and(|points| super::planner::release_made(points))
    }

    /// Lets go of everything: the cloud is no longer of interest. What goes on with it keeps it as long as it
    /// needs to.
    pub fn release(&self) {
        if let Some(points) = self.lock().take() {
            points.cache().clear();
        }
    }

    /// A panic in another thread leaves whole points, or none.
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

    fn arrangement(order: Order, seed: u64) -> Arrangement {
        Arrangement::new(Metric::L2, order, seed, false)
    }

    #[test]
    fn the_last_points_are_here_for_every_clone() {
        let (resident, cloud) = (Resident::default(), squares(40));
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
    fn what_is_released_is_gone() {
        let (resident, cloud) = (Resident::default(), squares(40));
        let points = resident.points(&cloud, arrangement(Order::File, 0)).unwrap();
        points.cache().insert(DeviceId::Cpu, Arc::new(1u8));
        assert!(resident.release_made() && !resident.release_made());
        points.cache().insert(DeviceId::Cpu, Arc::new(1u8));
        resident.release();
        assert!(
            points.cache().get(DeviceId::Cpu, |_: &u8| true).is_none(),
            "also of points that somebody still has"
        );
        let gone = Arc::downgrade(&points);
        drop(points);
        assert!(gone.upgrade().is_none());
        assert_eq!(Arc::strong_count(&cloud), 1);
    }
}
