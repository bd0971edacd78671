//! The search that a command requests, before and after its data are loaded.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;

use super::columns::{self, AnswerColumns, OpenedTiles, SearchedColumns};
use super::queries::QueryChoice;
use super::usage::UsageError;
use super::{output, values};
use crate::cloud::{ColumnChoice, Order, PointCloud, Source};
use crate::export::provenance::Provenance;
use crate::knn::{DeviceId, Goal, Metric, Problem, ProblemError, ProblemParameters, Ranking};
use crate::run::{
    EngineChoice, LoadedSpec, QuerySpec, RunError, RunSpec, build_problem, defaults, query_cloud_of,
};

/// A search as requested by flags and the user's defaults, before any file is read.
#[derive(Clone, Debug)]
pub struct Request {
    pub source: Source,
    pub drop_nonfinite: bool,
    /// The queries; a sample of the rows if not given.
    pub queries: Option<QueryChoice>,
    pub k: usize,
    /// The metric or inner product; if not given, what the file declares or its columns suggest.
    pub ranking: Option<Ranking>,
    pub order: Order,
    pub exclude_self: bool,
    pub seed: u64,
    /// Engines to choose from; empty for all.
    pub engines: Vec<EngineChoice>,
    pub device: Option<DeviceId>,
    /// The columns used by the answers to be checked.
    pub answered: Option<AnswerColumns>,
    /// A column of labels, which is not inferred to be a coordinate.
    pub labels: Option<String>,
}

impl Request {
    pub fn new(source: Source, k: usize) -> Self {
        Self {
            source,
            drop_nonfinite: false,
            queries: None,
            k,
            ranking: None,
            order: Order::File,
            exclude_self: false,
            seed: defaults::SEED,
            engines: Vec::new(),
            device: None,
            answered: None,
            labels: None,
        }
    }

    /// Rejects usage errors before any file is read.
    ///
    /// # Errors
    /// [`UsageError`], and [`ProblemError`] of k and the queries.
    pub fn check(&self) -> anyhow::Result<()> {
        check_device(self.device, &self.engines)?;
        if self.exclude_self {
            self.check_own_row_flag("--exclude-self")?;
        }
        let limit = self
            .engines
            .iter()
            .map(EngineChoice::k_limit)
            .max()
            .unwrap_or_else(|| EngineChoice::Auto.k_limit());
        ProblemParameters::from(&self.spec(self.source.clone(), QuerySpec::All, Metric::default()))
            .check_within(limit)?;
        if self.queries == Some(QueryChoice::Count(0)) { Err(ProblemError::NoQueries.into()) } else { Ok(()) }
    }

    /// Whether rows without a direction are dropped, which changes the numbers of the others.
    pub fn drops_zero_rows(&self) -> bool {
        let metric = self.ranking.and_then(Ranking::metric).unwrap_or_default();
        self.drop_nonfinite && metric.compares_directions()
    }

    /// Rejects a flag about the query's own row if queries are not rows.
    ///
    /// # Errors
    /// [`UsageError`].
    pub fn check_own_row_flag(&self, flag: &str) -> anyhow::Result<()> {
        match &self.queries {
            Some(QueryChoice::At(_)) => {
                bail!(UsageError(format!(
                    "{flag}: not available for a query given by coordinates; needs a query that is a row of \
                     the cloud"
                )))
            }
            Some(QueryChoice::File(_)) => {
                bail!(UsageError(format!(
                    "{flag}: not available for queries from a file; needs queries that are rows of the cloud"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Loads the cloud and the queries, and prints notes on what was inferred.
    ///
    /// # Errors
    /// Errors of reading the files, of the columns and of the metric.
    pub fn load(&self) -> anyhow::Result<Job> {
        let answered = self.usable_answers();
        self.over(columns::read(&self.source, self.drop_nonfinite, answered, self.labels.as_deref())?)
    }

    /// As [`Self::load`], for a cloud that is larger than the memory. `None` if it fits, or if its format has
    /// to be read whole. `needs_all` and `outputs` are as for [`columns::open_tiles`].
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn open_tiles(
        &self,
        needs_all: Option<&str>,
        outputs: &[&Path],
    ) -> anyhow::Result<Option<(Job, OpenedTiles)>> {
        let metric = self.ranking.and_then(Ranking::metric).unwrap_or_default();
        let Some((tiles, loaded)) =
            columns::open_tiles(&self.source, self.drop_nonfinite, metric, needs_all, outputs)?
        else {
            return Ok(None);
        };
        Ok(Some((self.over(loaded)?, tiles)))
    }

    /// The job over a cloud, with its queries.
    fn over(&self, loaded: columns::LoadedCloud) -> anyhow::Result<Job> {
        let columns::LoadedCloud { cloud, columns, guess } = loaded;
        let answered = self.usable_answers();
        let mut queries = QueryChoice::resolve(self.queries.as_ref(), &cloud, &columns, self.seed)?;
        let query_cloud = match &mut queries {
            QuerySpec::File { path, columns: chosen } => {
                let source = Source::File { path: path.clone(), columns: chosen.clone() };
                let answered = answered.map(|answered| (&*answered.file, answered.query_columns.as_deref()));
                let load = |source: &Source| {
                    columns::load_queries(source, &cloud, guess.is_some(), self.drop_nonfinite)
                };
                let loaded = columns::load_like_answers(&source, answered, load)?;
                if *chosen == ColumnChoice::Default {
                    columns::note_query_columns(loaded.axes(), cloud.axes(), path);
                }
                if let Source::File { columns, .. } = loaded.source() {
                    chosen.clone_from(columns);
                }
                Some(Arc::new(loaded))
            }
            _ => None,
        };
        let ranking = values::ranking_of(self.ranking, &cloud)?;
        let metric = ranking.metric().unwrap_or_default();
        let spec =
            self.spec(output::source_to_store(cloud.source()), output::queries_to_store(queries), metric);
        Ok(Job {
            ranking,
            spec,
            query_cloud,
            searched: SearchedColumns::new(&cloud, guess.as_ref()),
            columns,
            cloud,
        })
    }

    /// The columns of answers, unless columns were given.
    fn usable_answers(&self) -> Option<&AnswerColumns> {
        let given = matches!(self.source, Source::File { columns: ColumnChoice::Named(_), .. });
        self.answered.as_ref().filter(|_| !given)
    }

    /// A run spec with one repeat.
    fn spec(&self, data: Source, queries: QuerySpec, metric: Metric) -> RunSpec {
        let engine = if let [engine] = &self.engines[..] { engine.clone() } else { EngineChoice::Auto };
        let &Self { order, exclude_self, seed, device, drop_nonfinite, .. } = self;
        RunSpec {
            metric,
            order,
            exclude_self,
            seed,
            engine,
            device,
            drop_nonfinite,
            ..RunSpec::new(data, queries, self.k)
        }
    }
}

/// Rejects a named engine that does not run on the named kind of device.
///
/// # Errors
/// [`UsageError`].
pub fn check_device(device: Option<DeviceId>, engines: &[EngineChoice]) -> anyhow::Result<()> {
    let Some(device) = device else { return Ok(()) };
    for choice in engines.iter().filter(|choice| **choice != EngineChoice::Auto) {
        if let Some(engine) = choice.engines().find(|engine| !engine.runs_on.contains(&device.kind())) {
            let kinds: Vec<&str> = engine.runs_on.iter().map(|kind| kind.name()).collect();
            bail!(UsageError(format!(
                "--device {device}: the {} engine runs on {} only",
                engine.id,
                kinds.join(" or ")
            )));
        }
    }
    Ok(())
}

/// A request with its data loaded.
#[derive(Clone)]
pub struct Job {
    /// The metric of the spec, or inner product.
    pub ranking: Ranking,
    pub spec: RunSpec,
    pub cloud: Arc<PointCloud>,
    /// Queries from a file.
    pub query_cloud: Option<Arc<PointCloud>>,
    pub searched: SearchedColumns,
    /// The columns as chosen; [`ColumnChoice::Default`] if they were inferred.
    pub columns: ColumnChoice,
}

impl Job {
    /// The spec with its data.
    pub fn loaded(&self) -> LoadedSpec<'_> {
        LoadedSpec::new(&self.spec, &self.cloud, self.query_cloud.as_ref())
    }

    /// # Errors
    /// [`RunError`] if the problem is invalid.
    pub fn problem(&self) -> Result<Problem, RunError> {
        build_problem(self.loaded())
    }

    /// The cloud that the queries are rows of; for `at:`, a cloud of one point.
    ///
    /// # Errors
    /// [`RunError`] if the coordinates of `at:` are invalid.
    pub fn cloud_of_queries(&self) -> Result<Arc<PointCloud>, RunError> {
        Ok(query_cloud_of(self.loaded())?.unwrap_or_else(|| Arc::clone(&self.cloud)))
    }

    /// Whether the query is given by coordinates rather than as a row.
    pub fn is_at_position(&self) -> bool {
        matches!(self.spec.queries, QuerySpec::At(_))
    }

    /// The provenance that is stored with the answers.
    pub fn provenance(&self, goal: Goal) -> Provenance {
        let found = Provenance::new(&self.spec, &self.cloud, self.query_cloud.as_deref());
        let (k, radius) =
            if let Goal::Within(radius) = goal { (None, Some(radius.distance)) } else { (found.k, None) };
        Provenance {
            metric: self.ranking.name().to_owned(),
            columns_by: Some(self.searched.columns_by.clone()),
            k,
            radius,
            ..found
        }
    }
}
