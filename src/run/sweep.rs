//! Runs that vary in n, q, k, d or the engine.

use std::sync::Arc;

use super::{EngineChoice, EnginePool, QuerySpec, RunError, RunRecord, RunSpec};
use serde::Deserialize;

use crate::cloud::{self, Axis, PointCloud, Source, generate};
use crate::knn::{ProblemError, ProblemParameters};
use crate::progress::Progress;
use crate::run::LoadedSpec;
use crate::text::{count, thousands};

/// The lists to vary. For an empty list, the base's value is used.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The common settings.
    pub base: RunSpec,
    /// Points of a generated cloud.
    pub n: Vec<u64>,
    /// Replaces `n`: n follows from the work of a run.
    pub work: Option<WorkBudget>,
    /// Queries; if empty, the base's, or all rows if there are fewer.
    pub q: Vec<QuerySpec>,
    /// Neighbours to report per query.
    pub k: Vec<usize>,
    /// Replaces `k`: neighbours as percentages of n.
    pub shares: Vec<u32>,
    /// Dimensions of a generated cloud.
    pub d: Vec<u64>,
    pub engines: Vec<EngineChoice>,
    /// Whether a run whose k exceeds its engine's limit is skipped instead of refused.
    pub skip_unsupported: bool,
    /// Free memory for generated clouds and their answers; n is halved until they fit.
    pub free_memory: FreeMemory,
}

/// Work that all runs of a sweep have in common, for any q and d; it determines n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct WorkBudget {
    /// n·q·d.
    pub product: u64,
    /// Limit on a cloud's coordinates, n·d, if the product would give more.
    #[serde(default = "WorkBudget::unlimited")]
    pub values: u64,
}

impl WorkBudget {
    fn unlimited() -> u64 {
        u64::MAX
    }

    fn points(self, q: u64, d: u64) -> u64 {
        (self.product / q.saturating_mul(d).max(1)).min(self.values / d.max(1)).max(1)
    }
}

/// Free memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeMemory {
    /// Free memory of the host.
    pub host: u64,
    /// Smallest free memory of the devices.
    pub device: u64,
}

impl FreeMemory {
    pub const UNLIMITED: Self = Self { host: u64::MAX, device: u64::MAX };

    /// Whether a generated cloud and its answers fit. The host holds the points three times (as generated, in
    /// search order and in an engine's layout) and the answers three times (in the engine, downloaded and
    /// reported). A device holds both once, and some rows of a distance matrix with its selection; more rows
    /// only help, as the matrix is computed tile by tile.
    fn fits(self, [n, q, k, d]: [u64; 4]) -> bool {
        const ROWS: u64 = 8;
        let (points, answers) =
            (4u64.saturating_mul(n).saturating_mul(d), 8u64.saturating_mul(q).saturating_mul(k.min(n)));
        n * d <= generate::MAX_VALUES
            && 3 * (points + answers) <= self.host
            && points + answers + 4 * ROWS * n <= self.device
    }
}

/// A size of a problem that a sweep can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    /// The name in flags and columns.
    pub fn name(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::Q => "q",
            Self::K => "k",
            Self::D => "d",
        }
    }

    /// The meaning of the number.
    pub fn about(self) -> &'static str {
        match self {
            Self::N => "points",
            Self::Q => "queries",
            Self::K => "neighbours per query",
            Self::D => "dimensions",
        }
    }

    /// Its value in a run.
    pub fn value(self, record: &RunRecord) -> u64 {
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
    /// The cloud's axes; empty if it could not be loaded.
    pub axes: Vec<Axis>,
    pub result: Result<RunRecord, RunError>,
}

impl Sweep {
    /// A sweep without variation.
    pub fn new(base: RunSpec) -> Self {
        Self {
            base,
            n: Vec::new(),
            work: None,
            q: Vec::new(),
            k: Vec::new(),
            shares: Vec::new(),
            d: Vec::new(),
            engines: Vec::new(),
            skip_unsupported: false,
            free_memory: FreeMemory::UNLIMITED,
        }
    }

    /// The distinct listed values of a size, ascending; `None` stands for all queries and comes last.
    pub fn values(&self, size: Size) -> Vec<Option<u64>> {
        let count =
            |queries: &QuerySpec| if let QuerySpec::Count(count) = queries { Some(*count) } else { None };
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

    /// Whether a size has several values. Sizes that follow from others, as n follows from work, do not
    /// count.
    pub fn varies(&self, size: Size) -> bool {
        self.values(size).len() > 1 || (size == Size::K && self.shares.len() > 1)
    }

    /// The only size with several values, if there is exactly one.
    pub fn varied(&self) -> Option<Size> {
        let mut varied = Size::ALL.into_iter().filter(|size| self.varies(*size));
        varied.next().filter(|_| varied.next().is_none())
    }

    /// All runs, grouped by cloud.
    pub fn specs(&self) -> Vec<RunSpec> {
        let mut specs = self.all_specs();
        if self.skip_unsupported {
            specs.retain(|spec| spec.k <= spec.engine.k_limit());
        }
        specs
    }

    fn all_specs(&self) -> Vec<RunSpec> {
        fn or_base<T: Clone>(list: &[T]) -> Vec<Option<T>> {
            if list.is_empty() { vec![None] } else { list.iter().cloned().map(Some).collect() }
        }
        let mut specs = Vec::new();
        for d in or_base(&self.d) {
            for n in or_base(&self.n) {
                for q in or_base(&self.q) {
                    let queries = q.unwrap_or_else(|| self.base.queries.clone());
                    let (data, n) = self.cloud(n, &queries, d);
                    for k in or_base(&self.neighbours_among(n)) {
                        for engine in or_base(&self.engines) {
                            let mut spec =
                                RunSpec { data: data.clone(), queries: queries.clone(), ..self.base.clone() };
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

    /// The cloud of a combination, and the number of points of a generated one. An unspecified number is left
    /// to the generator.
    fn cloud(&self, n: Option<u64>, queries: &QuerySpec, d: Option<u64>) -> (Source, Option<u64>) {
        let Source::Generate { spec, seed } = &self.base.data else { return (self.base.data.clone(), None) };
        let own = generate::check(spec).ok();
        let value = |key| own.as_ref().and_then(|own| own.value(key)).map(|value| value as u64);
        let q = if let QuerySpec::Count(count) = queries { Some(*count) } else { None };
        let dims = d.or_else(|| value("d"));
        let wanted = n.or_else(|| Some(self.work?.points(q?, dims?)));
        let full = wanted.or_else(|| value("n"));
        let fitted = full.map(|n| self.fitted(n, q, dims.unwrap_or(3)));
        let mut spec = spec.clone();
        for (key, value) in [("n", fitted.filter(|_| wanted.is_some() || fitted != full)), ("d", d)] {
            if let Some(value) = value {
                spec = with_parameter(&spec, key, value);
            }
        }
        (Source::Generate { spec, seed: *seed }, fitted)
    }

    /// The largest of n, n/2, n/4, … that fits, but not fewer points than sampled queries.
    fn fitted(&self, mut n: u64, q: Option<u64>, d: u64) -> u64 {
        let fits = |n: u64| {
            let k = self.neighbours_among(Some(n)).into_iter().max().unwrap_or(self.base.k);
            self.free_memory.fits([n, q.unwrap_or(n), k as u64, d])
        };
        while self.free_memory != FreeMemory::UNLIMITED && n / 2 >= q.unwrap_or(1).max(1) && !fits(n) {
            n /= 2;
        }
        n
    }

    /// The listed numbers of neighbours for a number of points.
    fn neighbours_among(&self, n: Option<u64>) -> Vec<usize> {
        match n {
            Some(n) if !self.shares.is_empty() => {
                self.shares.iter().map(|&share| (n * u64::from(share) / 100).max(1) as usize).collect()
            }
            _ => self.k.clone(),
        }
    }

    /// All requested numbers of neighbours.
    pub fn neighbours(&self) -> Vec<usize> {
        self.all_specs().iter().map(|spec| spec.k).collect()
    }

    /// A sentence about sizes that were halved to fit; `None` if none were.
    pub fn halved(&self) -> Option<String> {
        let points = |sweep: &Self| -> Vec<u64> {
            let points = |spec: &RunSpec| match &spec.data {
                Source::Generate { spec, .. } => {
                    generate::check(spec).ok().and_then(|spec| spec.value("n")).map_or(0, |n| n as u64)
                }
                _ => 0,
            };
            sweep.all_specs().iter().map(points).collect()
        };
        let mut changed: Vec<(u64, u64)> =
            points(&Self { free_memory: FreeMemory::UNLIMITED, ..self.clone() })
                .into_iter()
                .zip(points(self))
                .collect();
        changed.retain(|(wanted, fitted)| wanted != fitted);
        changed.sort_unstable();
        changed.dedup();
        let (wanted, fitted) = changed.pop()?;
        let free = |name: &str, bytes: u64| {
            (bytes < u64::MAX).then(|| format!("{} MiB on the {name}", thousands(bytes >> 20)))
        };
        let free: Vec<String> =
            [free("host", self.free_memory.host), free("device", self.free_memory.device)]
                .into_iter()
                .flatten()
                .collect();
        let more = if changed.is_empty() {
            String::new()
        } else {
            format!(", and {} more", count(changed.len() as u64, "size", "sizes"))
        };
        Some(format!(
            "n = {} instead of {}{more}: only {} are free",
            thousands(fitted),
            thousands(wanted),
            free.join(" and ")
        ))
    }

    /// Refuses settings that are wrong for any cloud: k out of range, no queries, an invalid generator spec.
    ///
    /// # Errors
    /// [`RunError::Problem`] and [`RunError::Cloud`], for the first invalid run.
    pub fn check(&self) -> Result<(), RunError> {
        let all = self.all_specs();
        let some = self.specs();
        // If all runs are skipped, checks all of them, so that the first one gives the reason.
        for spec in if some.is_empty() { all } else { some } {
            ProblemParameters::from(&spec).check_within(spec.engine.k_limit())?;
            if spec.queries == QuerySpec::Count(0) {
                return Err(ProblemError::NoQueries.into());
            }
            // The size of a cloud is checked by its run: if the largest of several sizes is too much, that is
            // a row.
            if let Source::Generate { spec, .. } = &spec.data {
                generate::check(spec)?;
            }
        }
        Ok(())
    }

    /// Makes all runs and passes each row on as soon as it is complete. A failed run is a row and does not
    /// end the sweep; cancellation does.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], and the first error of `on_row`.
    pub fn run<E: From<RunError>>(
        &self,
        engines: &mut EnginePool,
        progress: &dyn Progress,
        mut on_row: impl FnMut(SweepRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let specs = self.specs();
        let mut loaded: Option<(Source, Arc<PointCloud>)> = None;
        for (at, spec) in specs.iter().enumerate() {
            // A run counts as a thousand units of progress.
            let mut stage = |_: &str, fraction: f32| {
                progress.update(1000 * at as u64 + (fraction * 1000.0) as u64, 1000 * specs.len() as u64);
                !progress.cancelled()
            };
            let cloud = match &loaded {
                Some((source, cloud)) if *source == spec.data => Ok(Arc::clone(cloud)),
                // Passes on only the cancel flag, as the bar counts runs.
                _ => cloud::load(&spec.data, spec.drop_nonfinite, &SilentProgress(progress))
                    .map(Arc::new)
                    .map_err(RunError::from),
            };
            let axes = cloud.as_ref().map_or_else(|_| Vec::new(), |cloud| cloud.axes().to_vec());
            let result = cloud.and_then(|cloud| {
                loaded = Some((spec.data.clone(), Arc::clone(&cloud)));
                let queries = match &spec.queries {
                    QuerySpec::File { path, columns } => {
                        let source = Source::File { path: path.clone(), columns: columns.clone() };
                        Some(Arc::new(cloud::load_queries(
                            &source,
                            &cloud,
                            spec.drop_nonfinite,
                            &SilentProgress(progress),
                        )?))
                    }
                    _ => None,
                };
                let mut spec = spec.clone();
                if self.q.is_empty()
                    && matches!(spec.queries, QuerySpec::Count(count) if count > cloud.len() as u64)
                {
                    spec.queries = QuerySpec::All;
                }
                engines.execute(LoadedSpec::new(&spec, &cloud, queries.as_ref()), &mut stage)
            });
            if progress.cancelled() {
                return Err(RunError::Cancelled.into());
            }
            on_row(SweepRow { spec: spec.clone(), axes, result })?;
        }
        Ok(())
    }
}

/// Passes on cancellation, but not progress.
struct SilentProgress<'a>(&'a dyn Progress);

impl Progress for SilentProgress<'_> {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// A generator's spec, `name:key=value,…`, with one key set.
fn with_parameter(spec: &str, key: &str, value: u64) -> String {
    let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
    let others = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    let others =
        others.filter(|parameter| parameter.split('=').next().is_none_or(|other| other.trim() != key));
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
        assert_eq!(
            with_parameter("gaussian-mixture:n=7,clusters=2", "d", 5),
            "gaussian-mixture:n=7,clusters=2,d=5"
        );
    }

    #[test]
    fn combinations_are_unique_and_grouped_by_cloud() {
        let base = RunSpec { data: Source::Generate { spec: "uniform".to_owned(), seed: 1 }, ..spec() };
        let engines = vec![EngineChoice::Auto, EngineChoice::named(EngineId::new("kdtree"))];
        let q = [1, 2, 3].map(QuerySpec::Count).to_vec();
        let sweep =
            Sweep { n: vec![10, 20], q, k: vec![4], d: vec![2, 3], engines, ..Sweep::new(base.clone()) };
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

        assert_eq!(Sweep::new(base.clone()).specs(), [base]);
    }

    fn generated(sweep: &Sweep) -> Vec<(String, QuerySpec, usize)> {
        let of = |spec: RunSpec| match spec.data {
            Source::Generate { spec: cloud, .. } => (cloud, spec.queries, spec.k),
            other => panic!("{other:?}"),
        };
        sweep.specs().into_iter().map(of).collect()
    }

    fn uniform() -> Sweep {
        Sweep::new(RunSpec { data: Source::Generate { spec: "uniform".to_owned(), seed: 1 }, ..spec() })
    }

    #[test]
    fn constant_work_adapts_n_to_q_and_d() {
        let q = [1, 4, 16].map(QuerySpec::Count).to_vec();
        let work = Some(WorkBudget { product: 1024, values: 512 });
        let sweep = Sweep { q, d: vec![2, 4], k: vec![3], work, ..uniform() };
        let found = generated(&sweep);
        let clouds: Vec<&str> = found.iter().map(|(cloud, ..)| cloud.as_str()).collect();
        // With one query there are at most 512 coordinates.
        assert_eq!(
            clouds,
            ["n=256,d=2", "n=128,d=2", "n=32,d=2", "n=128,d=4", "n=64,d=4", "n=16,d=4"]
                .map(|sizes| format!("uniform:{sizes}"))
        );
        assert_eq!(sweep.varied(), None, "q and d");
        assert_eq!(Sweep { d: vec![2], ..sweep }.varied(), Some(Size::Q), "n follows");
    }

    #[test]
    fn k_shares_are_percentages_of_n() {
        let sweep = Sweep { n: vec![10, 1000], shares: vec![1, 50], ..uniform() };
        assert_eq!(generated(&sweep).iter().map(|(.., k)| *k).collect::<Vec<_>>(), [1, 5, 10, 500]);
        assert!(sweep.varies(Size::K) && sweep.varied().is_none());
        let halved = Sweep {
            free_memory: FreeMemory { host: u64::MAX, device: 25_000 },
            q: vec![QuerySpec::Count(1)],
            d: vec![2],
            ..sweep
        };
        assert_eq!(generated(&halved).iter().map(|(.., k)| *k).collect::<Vec<_>>(), [1, 5, 5, 250]);
    }

    #[test]
    fn n_is_halved_to_fit_memory_and_reported() {
        let sweep = Sweep {
            n: vec![1 << 10, 1 << 20],
            q: vec![QuerySpec::Count(10)],
            k: vec![8],
            d: vec![4],
            ..uniform()
        };
        assert_eq!(sweep.halved(), None);
        let with_memory = |host, device| Sweep { free_memory: FreeMemory { host, device }, ..sweep.clone() };
        // Of the host's 16 MiB, three copies of 2¹⁸ points in 4 dimensions need 12.
        assert_eq!(generated(&with_memory(16 << 20, u64::MAX))[1].0, "uniform:n=262144,d=4");
        assert_eq!(
            with_memory(16 << 20, u64::MAX).halved().unwrap(),
            "n = 262,144 instead of 1,048,576: only 16 MiB on the host are free"
        );
        // Of the device's 1 MiB, 2¹⁴ points need 256 KiB, and 8 rows of distances 512 KiB.
        assert_eq!(generated(&with_memory(16 << 20, 1 << 20))[1].0, "uniform:n=16384,d=4");
        assert_eq!(generated(&with_memory(16 << 20, 1 << 20))[0].0, "uniform:n=1024,d=4");
        // n is not reduced below the number of sampled queries.
        assert_eq!(
            generated(&with_memory(0, 0)).iter().map(|(cloud, ..)| cloud.as_str()).collect::<Vec<_>>(),
            ["uniform:n=16,d=4"; 2]
        );
        assert!(
            with_memory(0, 0)
                .halved()
                .unwrap()
                .contains(", and 1 size more: only 0 MiB on the host and 0 MiB on the device are free")
        );
    }

    #[test]
    fn unsupported_combinations_are_skipped_or_rejected() {
        let engines = EngineChoice::list("lockstep,bits").unwrap();
        let sweep = Sweep { k: vec![8, 2000], engines, ..uniform() };
        assert!(sweep.check().is_err());
        let sweep = Sweep { skip_unsupported: true, ..sweep };
        sweep.check().unwrap();
        let of = |spec: &RunSpec| format!("{} {}", spec.engine, spec.k);
        assert_eq!(sweep.specs().iter().map(of).collect::<Vec<_>>(), ["lockstep 8", "bits 8", "bits 2000"]);
        let none = Sweep { k: vec![2000], engines: EngineChoice::list("lockstep").unwrap(), ..sweep };
        assert!(none.specs().is_empty() && none.check().is_err(), "all runs are skipped");
    }
}
