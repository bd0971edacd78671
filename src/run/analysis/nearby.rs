//! All rows within a distance of a query of a record.

use super::super::{Resident, RunError, RunRecord};
use super::problem_of;
use crate::engines::lockstep::distances_to;
use crate::knn::Setup;
use crate::knn::within::limit;
use crate::progress::Progress;

/// Positions whose distances are worked out between two looks at whether it was cancelled.
const BLOCK: usize = 1 << 16;

/// The rows whose distance to a query, by the one rule, is at most `radius` in the metric's own unit, ascending, without the query's own row; over
/// `resident`'s points where it has them. `None` if it was cancelled, or if `radius` is not a number of 0 or more.
///
/// # Errors
/// Those of the problem, and too little memory.
pub fn nearby(record: &RunRecord, query: usize, radius: f64, resident: &Resident, progress: &dyn Progress) -> Result<Option<Vec<u32>>, RunError> {
    let Some(limit) = limit(record.spec.metric, radius) else { return Ok(None) };
    if resident.is_empty() {
        resident.points(&record.cloud, Setup::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    let own = problem.queries_are_rows().then(|| problem.query_row(at));
    let mut rows = Vec::new();
    for start in (0..problem.n()).step_by(BLOCK) {
        if progress.cancelled() {
            return Ok(None);
        }
        progress.update(start as u64, problem.n() as u64);
        let distances = distances_to(&problem, at, start..(start + BLOCK).min(problem.n()));
        let within = distances.into_iter().zip(start as u32..).filter(|&(distance, _)| distance <= limit);
        rows.extend(within.map(|(_, position)| problem.row(position)).filter(|&row| Some(row) != own));
    }
    rows.sort_unstable();
    Ok(Some(rows))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{spec, squares};
    use super::super::super::{Engines, QuerySpec, RunSpec};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn what_is_as_far_as_the_radius_is_within() {
        // At 0, 1, 4, 9, … on a line.
        let cloud = squares(40);
        let spec = RunSpec { k: 1, queries: QuerySpec::Rows(vec![2, 0]), ..spec() };
        let record = Engines::default().answer(&spec, &cloud, None, &mut |_, _| true).expect("an answer");
        let rows = |query, radius| nearby(&record, query, radius, &Resident::default(), &Silent).expect("no failure");
        assert_eq!(rows(0, 5.0), Some(vec![0, 1, 3]));
        assert_eq!((rows(0, 4.9), rows(1, 0.0)), (Some(vec![0, 1]), Some(vec![])));
        assert_eq!((rows(0, f64::INFINITY).map(|rows| rows.len()), rows(0, -1.0), rows(0, f64::NAN)), (Some(39), None, None));
    }
}
