//! Many runs that differ in n, q, k, d or the engine.

use std::sync::Arc;

use super::{EngineChoice, Engines, QuerySpec, RunError, RunRecord, RunSpec};
use crate::cloud::{self, Axis, PointCloud, Source, generate};
use crate::knn::{ProblemError, Setup};
use crate::progress::Progress;

/// What is varied. An empty list leaves what the base says.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The run that all others are like.
    pub base: RunSpec,
    /// Points of a generated cloud.
    pub n: Vec<u64>,
    /// Whose neighbours; if empty, the base's queries, or all rows where there are fewer.
    pub q: Vec<QuerySpec>,
    /// Neighbours to report per query.
    pub k: Vec<usize>,
    /// Dimensions of a generated cloud.
    pub d: Vec<u64>,
    pub engines: Vec<EngineChoice>,
}

/// A size of a problem that a sweep can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Points.
    N,
    /// Queries.
    Q,
    /// Neighbours per query.
    K,
    /// Dimensions.
    D,
}

impl Size {
    pub const ALL: [Self; 4] = [Self::N, Self::Q, Self::K, Self::D];

    /// As flags and columns spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::Q => "q",
            Self::K => "k",
            Self::D => "d",
        }
    }

    /// What it is a number of.
    pub fn about(self) -> &'static str {
        match self {
            Self::N => "points",
            Self::Q => "queries",
            Self::K => "neighbours per query",
            Self::D => "dimensions",
        }
    }

    /// Its value in a run.
    pub fn of(self, record: &RunRecord) -> u64 {
        match self {
            Self::N => record.summary.n,
            Self::Q => record.summary.q,
            Self::K => record.spec.k as u64,
            Self::D => record.summary.d,
        }
    }
}

/// A run of a sweep.
#[derive(Debug)]
pub struct SweepRow {
    pub spec: RunSpec,
    /// The cloud's axes; none where it could not be loaded.
    pub axes: Vec<Axis>,
    pub result: Result<RunRecord, RunError>,
}

impl Sweep {
    /// The listed values of a size, ascending, each once; `None` stands for all queries, after all numbers.
    pub fn values(&self, size: Size) -> Vec<Option<u64>> {
        let count = |queries: &QuerySpec| if let QuerySpec::Count(count) = queries { Some(*count) } else { None };
        let mut values: Vec<Option<u64>> = match size {
            Size::N => self.n.iter().copied().map(Some).collect(),
            Size::Q => self.q.iter().map(count).collect(),
            Size::K => self.k.iter().map(|&k| Some(k as u64)).collect(),
            Size::D => self.d.iter().copied().map(Some).collect(),
        };
        values.sort_by_key(|value| value.unwrap_or(u64::MAX));
        values.dedup();
        values
    }

    /// The only size of which it has several values; `None` if there is none or more than one.
    pub fn varied(&self) -> Option<Size> {
        let mut varied = Size::ALL.into_iter().filter(|size| self.values(*size).len() > 1);
        varied.next().filter(|_| varied.next().is_none())
    }

    /// All runs, those on one cloud after one another.
    pub fn specs(&self) -> Vec<RunSpec> {
        fn or_base<T: Clone>(list: &[T]) -> Vec<Option<T>> {
            if list.is_empty() { vec![None] } else { list.iter().cloned().map(Some).collect() }
        }
        let mut specs = Vec::new();
        for d in or_base(&self.d) {
            for n in or_base(&self.n) {
                for q in or_base(&self.q) {
                    for k in or_base(&self.k) {
                        for engine in or_base(&self.engines) {
                            let mut spec = self.base.clone();
                            for (key, value) in [("n", n), ("d", d)] {
                                if let (Source::Generate { spec, .. }, Some(value)) = (&mut spec.data, value) {
                                    *spec = with_parameter(spec, key, value);
                                }
                            }
                            spec.queries = q.clone().unwrap_or(spec.queries);
                            spec.k = k.unwrap_or(spec.k);
                            spec.engine = engine.unwrap_or(spec.engine);
                            specs.push(spec);
                        }
                    }
                }
            }
        }
        specs
    }

    /// Refuses what none of its clouds could make right: k out of range, no queries, a generator's spec that makes no sense.
    ///
    /// # Errors
    /// [`RunError::Problem`] and [`RunError::Cloud`], of the first run that cannot be.
    pub fn check(&self) -> Result<(), RunError> {
        for spec in self.specs() {
            Setup::from(&spec).check_within(spec.engine.k_limit())?;
            if spec.queries == QuerySpec::Count(0) {
                return Err(ProblemError::NoQueries.into());
            }
            // How large a cloud may be is left to its run: the last of growing sizes may be too much, and that is a row.
            if let Source::Generate { spec, .. } = &spec.data {
                generate::check(spec)?;
            }
        }
        Ok(())
    }

    /// Runs all, one after the other, and hands each row over as soon as it is there. A run that fails is a row too and
    /// does not end the sweep; being cancelled does.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], and the first error of `on_row`.
    pub fn run<E: From<RunError>>(
        &self,
        engines: &mut Engines,
        progress: &dyn Progress,
        mut on_row: impl FnMut(SweepRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let specs = self.specs();
        let mut loaded: Option<(Source, Arc<PointCloud>)> = None;
        for (at, spec) in specs.iter().enumerate() {
            // A run is a thousand units of progress.
            let mut stage = |_: &str, fraction: f32| {
                progress.update(1000 * at as u64 + (fraction * 1000.0) as u64, 1000 * specs.len() as u64);
                !progress.cancelled()
            };
            let cloud = match &loaded {
                Some((source, cloud)) if *source == spec.data => Ok(Arc::clone(cloud)),
                // Only the cancel flag is passed on: the bar counts runs.
                _ => cloud::load(&spec.data, spec.drop_nonfinite, &Quiet(progress)).map(Arc::new).map_err(RunError::from),
            };
            let axes = cloud.as_ref().map_or_else(|_| Vec::new(), |cloud| cloud.axes().to_vec());
            let result = cloud.and_then(|cloud| {
                loaded = Some((spec.data.clone(), Arc::clone(&cloud)));
                let queries = match &spec.queries {
                    QuerySpec::File { path, columns } => {
                        let source = Source::File { path: path.clone(), columns: columns.clone() };
                        Some(Arc::new(cloud::load_queries(&source, &cloud, spec.drop_nonfinite, &Quiet(progress))?))
                    }
                    _ => None,
                };
                let mut spec = spec.clone();
                if self.q.is_empty() && matches!(spec.queries, QuerySpec::Count(count) if count > cloud.len() as u64) {
                    spec.queries = QuerySpec::All;
                }
                engines.execute(&spec, &cloud, queries.as_ref(), &mut stage)
            });
            if progress.cancelled() {
                return Err(RunError::Cancelled.into());
            }
            on_row(SweepRow { spec: spec.clone(), axes, result })?;
        }
        Ok(())
    }
}

/// Passes on the wish to stop, and nothing else.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// A generator's spec, `name:key=value,…`, with one key set.
fn with_parameter(spec: &str, key: &str, value: u64) -> String {
    let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
    let others = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    let others = others.filter(|parameter| parameter.split('=').next().is_none_or(|other| other.trim() != key));
    let all: Vec<String> = others.map(str::to_owned).chain([format!("{key}={value}")]).collect();
    format!("{}:{}", name.trim(), all.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::testing::spec;
    use super::*;
    use crate::knn::EngineId;

    #[test]
    fn a_parameter_is_set_or_replaced() {
        assert_eq!(with_parameter("uniform", "n", 5), "uniform:n=5");
        assert_eq!(with_parameter("uniform:n=7, d=3", "n", 5), "uniform:d=3,n=5");
        assert_eq!(with_parameter("gaussian-mixture:n=7,clusters=2", "d", 5), "gaussian-mixture:n=7,clusters=2,d=5");
    }

    #[test]
    fn every_combination_is_run_once_and_clouds_stay_together() {
        let base = RunSpec { data: Source::Generate { spec: "uniform".to_owned(), seed: 1 }, ..spec() };
        let engines = vec![EngineChoice::Auto, EngineChoice::named(EngineId::new("kdtree"))];
        let sweep = Sweep { base: base.clone(), n: vec![10, 20], q: [1, 2, 3].map(QuerySpec::Count).to_vec(), k: vec![4], d: vec![2, 3], engines };
        let specs = sweep.specs();
        assert_eq!(specs.len(), 2 * 3 * 2 * 2);
        for (at, spec) in specs.iter().enumerate() {
            assert!(!specs[..at].contains(spec), "{spec:?} is there twice");
            assert_eq!((spec.k, spec.seed), (4, base.seed));
        }
        let mut clouds: Vec<Source> = specs.iter().map(|spec| spec.data.clone()).collect();
        clouds.dedup();
        assert_eq!(clouds.len(), 4, "each cloud is loaded once: {clouds:?}");
        assert_eq!(clouds[1], Source::Generate { spec: "uniform:n=20,d=2".to_owned(), seed: 1 });

        let none = Sweep { base: base.clone(), n: vec![], q: vec![], k: vec![], d: vec![], engines: vec![] };
        assert_eq!(none.specs(), [base]);
    }
}
