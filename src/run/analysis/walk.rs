//! The way of one query's search through the index that answered it.

use super::super::{Resident, RunError, RunRecord};
use super::problem_of;
use crate::knn::{Descriptor, EngineError, Method, Parameters, Setup, Walk};
use crate::progress::Progress;

/// Searches a query of a record again, by its engine's twin on the CPU, and records the way. `resident` has the points, where they were
/// prepared for a search, and the index that was made of them; where it has none, they are kept there for the next.
///
/// `None` if the engine has no index, or this program no such engine, and if it was cancelled.
///
/// # Errors
/// Those of the problem; what the engine refuses ([`Descriptor::walk`](crate::knn::Descriptor::walk)); too little memory.
pub fn walk(record: &RunRecord, query: usize, resident: &Resident, progress: &dyn Progress) -> Result<Option<Walk>, RunError> {
    let Some((engine, walk)) = record.descriptor().and_then(|engine| Some((engine, engine.walk?))) else { return Ok(None) };
    let parameters = parameters(record, engine)?;
    if resident.is_empty() {
        resident.points(&record.cloud, Setup::from(&record.spec).arrangement())?;
    }
    let (problem, at) = problem_of(record, query, resident)?;
    Ok(walk(&problem, at, &parameters, progress)?)
}

/// What the run searched with. A record may come from a file.
fn parameters(record: &RunRecord, engine: &Descriptor) -> Result<Parameters, EngineError> {
    let Some(method) = &record.method else { return Ok(Parameters::NONE) };
    let method: Method = method.parse().map_err(|why| EngineError::Parameter { engine: engine.id, why: format!("{method}: {why}") })?;
    engine.check_parameters(&method.parameters)?;
    Ok(method.parameters)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::testing::{spec, squares};
    use super::super::super::{Engines, QuerySpec, RunSpec};
    use super::*;
    use crate::engines::registry;
    use crate::knn::{DeviceId, EngineId};
    use crate::progress::Silent;
    use crate::run::EngineChoice;

    /// Whichever engines have a walk, it is the search that the run counted, of a row and of a place.
    #[test]
    fn a_walk_is_the_search_of_the_run() {
        let (cloud, mut engines) = (squares(3000), Engines::default());
        let others = ["step:clusters=7,spheres=naive".parse().unwrap()];
        for engine in registry::with_walk().into_iter().map(|engine| EngineChoice::named(EngineId::new(engine))).chain(others) {
            for queries in [QuerySpec::Rows(vec![5, 2900]), QuerySpec::At(vec![1234.5])] {
                let spec = RunSpec { queries, engine: engine.clone(), device: Some(DeviceId::Cpu), exclude_self: true, ..spec() };
                let record = engines.execute(&spec, &cloud, None, &mut |_, _| true).unwrap();
                for query in 0..record.query_rows.len() {
                    let walk = walk(&record, query, engines.resident(), &Silent).unwrap().expect("it has one");
                    let totals = walk.steps.last().unwrap().totals;
                    for (name, told) in [("accessed", totals.accessed), ("candidates", totals.candidates), ("merges", totals.merges)] {
                        assert_eq!(record.measured.column(name).map(|column| column[query]), Some(told), "{name}");
                    }
                    assert!(totals.accessed < 1500 && walk.k == spec.k + 1);
                }
            }
        }
    }

    #[test]
    fn a_method_that_no_engine_takes_is_refused() {
        let (cloud, mut engines) = (squares(300), Engines::default());
        let spec = RunSpec { engine: EngineChoice::named(EngineId::new("step")), device: Some(DeviceId::Cpu), ..spec() };
        let mut record = engines.execute(&spec, &cloud, None, &mut |_, _| true).unwrap();
        for (method, why) in [("step:clusters=1000000", "clusters"), ("a sentence", "a sentence")] {
            record.head.method = Some(method.to_owned());
            let error = walk(&record, 0, engines.resident(), &Silent).unwrap_err().to_string();
            assert!(error.starts_with("the step engine: ") && error.contains(why), "{error}");
        }
        record.head.method = None;
        assert_eq!(walk(&record, 0, &Resident::default(), &std::sync::atomic::AtomicBool::new(true)).unwrap(), None, "it was cancelled");
    }

    #[test]
    fn points_that_nobody_has_prepared_are_kept() {
        let (cloud, mut engines) = (squares(400), Engines::default());
        let Some(engine) = registry::with_walk().first().map(|name| EngineChoice::named(EngineId::new(name))) else { return };
        let spec = RunSpec { engine, device: Some(DeviceId::Cpu), ..spec() };
        let record = engines.execute(&spec, &cloud, None, &mut |_, _| true).unwrap();
        let resident = Resident::default();
        walk(&record, 3, &resident, &Silent).unwrap().expect("it has one");
        assert!(resident.has(&cloud, Setup::from(&spec).arrangement()));
        // Those of another problem stay.
        let other = squares(30);
        resident.points(&other, Setup::from(&spec).arrangement()).unwrap();
        walk(&record, 3, &resident, &Silent).unwrap().expect("it has one");
        assert!(resident.has(&other, Setup::from(&spec).arrangement()));
        let lockstep = RunSpec { engine: EngineChoice::named(EngineId::new("lockstep")), ..spec };
        let record = Arc::new(engines.execute(&lockstep, &cloud, None, &mut |_, _| true).unwrap());
        assert_eq!(walk(&record, 3, &resident, &Silent).unwrap(), None);
    }
}
