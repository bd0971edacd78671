//! The flags that say what is searched, for whom and how: shared by `run`, `verify` and `sweep`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgGroup, Args, Command};

use super::columns::Searched;
use super::found::Found;
use super::metric::{metric_of, metrics};
use super::queries::QueryChoice;
use super::skip::SkipArgs;
use super::usage::Usage;
use super::{columns, counts, output};
use crate::cloud::{Axis, ColumnChoice, Globe, Order, PointCloud, Source, formats};
use crate::engines::registry;
use crate::knn::{DeviceId, Metric, ProblemError, Setup};
use crate::progress::Silent;
use crate::run::{EngineChoice, QuerySpec, RunSpec, usual};

/// Where the cloud comes from: a file or a generator, exactly one of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cloud", group = ArgGroup::new("cloud").required(true).args(["input", "generate"]))]
pub struct SourceArgs {
    /// Reads the cloud from a file
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Generates the cloud: name:key=value,… such as uniform:n=100000,d=2
    #[arg(long, value_name = "SPEC")]
    pub generate: Option<String>,
    /// Takes these columns as coordinates, by name or 0-based number: lon,lat or 0-63
    #[arg(long, value_name = "NAMES", conflicts_with = "generate", value_parser = columns::parse)]
    columns: Option<ColumnChoice>,
    #[command(flatten)]
    skip: SkipArgs,
    /// Leaves rows with NaN or infinite values out (and, with the metrics angular and cosine, zero rows) instead of refusing them
    #[arg(long)]
    pub drop_nonfinite: bool,
    /// Seeds generated clouds, drawn queries and shuffled order
    #[arg(long, value_name = "NUMBER", default_value_t = usual::SEED, value_parser = counts::whole::<u64>)]
    pub seed: u64,
}

impl SourceArgs {
    /// Where the cloud comes from; `None` where neither is given, which only `sweep` accepts, for a preset.
    pub fn given(&self) -> Option<Source> {
        match (&self.input, &self.generate) {
            (Some(path), _) => Some(Source::File { path: self.skip.of(path), columns: self.columns() }),
            (None, spec) => spec.clone().map(|spec| Source::Generate { spec, seed: self.seed }),
        }
    }

    /// Where the cloud comes from, which clap has asked for.
    fn source(&self) -> Source {
        self.given().unwrap_or_else(|| Source::Generate { spec: String::new(), seed: self.seed })
    }

    fn columns(&self) -> ColumnChoice {
        self.columns.clone().unwrap_or_default()
    }
}

/// How it is searched.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct MethodArgs {
    /// Distance metric [default: haversine for longitude and latitude, sky for positions in the sky, else l2]
    #[arg(long, value_parser = metrics())]
    pub metric: Option<Metric>,
    /// In what order points are met; shuffled is what the theory of merges assumes
    #[arg(long, default_value = "file", value_parser = PossibleValuesParser::new(["file", "shuffled"]).map(|name| order(&name)))]
    pub order: Order,
    /// Leaves a query's own row out of its neighbours
    #[arg(long)]
    pub exclude_self: bool,
}

impl MethodArgs {
    /// How distance is measured: as was asked for, or else `usual`.
    pub fn metric(&self, usual: Metric) -> Metric {
        self.metric.unwrap_or(usual)
    }
}

/// Says that the first line of a file was taken for none of its table.
pub fn note_first_line(source: &Source) {
    if let Source::File { path, .. } = source
        && let Some(note) = formats::note(path, &Silent)
    {
        output::note(&format!("{note}: {}", path.display()));
    }
}

/// Says which column a search on the globe takes as longitude, where their names do not.
pub fn note_assumed(axes: &[Axis]) {
    if let Some(note) = Globe::of(axes).ok().and_then(|globe| globe.note(axes)) {
        output::note(&format!("{note}; --columns chooses others"));
    }
}

/// The order of a name that clap has checked.
pub fn order(name: &str) -> Order {
    if name == Order::Shuffled.name() { Order::Shuffled } else { Order::File }
}

/// Takes an engine with its parameters, and lists the engines in the help.
#[derive(Clone, Debug)]
pub struct EngineParser;

impl TypedValueParser for EngineParser {
    type Value = EngineChoice;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<EngineChoice, clap::Error> {
        text_of(value).and_then(str::parse).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(engines_in_help()))
    }
}

/// Takes a list of engines with their parameters, of which each may have alternatives: `cuda:window=8|16,kdtree` are three.
#[derive(Clone, Debug)]
pub struct EnginesParser;

impl TypedValueParser for EnginesParser {
    type Value = Vec<EngineChoice>;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Vec<EngineChoice>, clap::Error> {
        text_of(value).and_then(EngineChoice::list).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(engines_in_help()))
    }
}

/// Takes what may be an engine of another program; shells complete those of this one.
#[derive(Clone, Debug)]
pub struct AnyEngineParser;

impl TypedValueParser for AnyEngineParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        text_of(value).map(str::to_owned).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(engines_in_help()))
    }
}

fn engines_in_help() -> impl Iterator<Item = PossibleValue> {
    let auto = PossibleValue::new("auto").help("The engine that is predicted to be fastest of those that can run");
    let engines = registry::ENGINES.iter().map(|engine| {
        let parameters: Vec<&str> = engine.parameters.iter().map(|parameter| parameter.name).collect();
        let also = if parameters.is_empty() { String::new() } else { format!(" Parameters: {}", parameters.join(", ")) };
        PossibleValue::new(engine.id.as_str()).help(format!("{}{also}", engine.about))
    });
    std::iter::once(auto).chain(engines)
}

pub fn text_of(value: &OsStr) -> Result<&str, String> {
    value.to_str().ok_or_else(|| "it is no text".to_owned())
}

pub fn invalid(command: &Command, argument: Option<&Arg>, value: &OsStr, why: &str) -> clap::Error {
    let name = argument.map_or_else(String::new, ToString::to_string);
    let what = format!("invalid value '{}' for '{name}': {why}", value.to_string_lossy());
    clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n")).with_cmd(command)
}

/// Where it is searched.
#[derive(Clone, Debug, Args)]
pub struct DeviceArgs {
    /// Where the engine runs: cpu, or a GPU by its number, 0, 1, … [default: the first that the engine runs on]
    #[arg(long, value_name = "DEVICE", help_heading = "Search")]
    pub device: Option<DeviceId>,
}

impl DeviceArgs {
    /// Refuses an engine that is named and does not run on the kind of device that is.
    ///
    /// # Errors
    /// [`Usage`].
    pub fn check(&self, engines: &[EngineChoice]) -> anyhow::Result<()> {
        let Some(device) = self.device else { return Ok(()) };
        for choice in engines.iter().filter(|choice| **choice != EngineChoice::Auto) {
            if let Some(engine) = choice.engines().find(|engine| !engine.runs_on.contains(&device.kind())) {
                let kinds: Vec<&str> = engine.runs_on.iter().map(|kind| kind.name()).collect();
                bail!(Usage(format!("--device {device}: the {} engine runs on {}", engine.id, kinds.join(" or "))));
            }
        }
        Ok(())
    }
}

/// Arguments shared by `run` and `verify`: the cloud, the queries, k and the method.
#[derive(Debug, Args)]
pub struct ProblemArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Whose neighbours are asked for [default: 1000, or all where there are fewer]
    ///
    /// The rows of a FILE; COUNT rows of the cloud, drawn with the seed; all of its rows; or those of a list:
    /// rows:0,5,10-20 (ends included) or rows:@FILE (one number a line); or one place in the cloud's own units that need not
    /// be a row: at:-0.1275,51.507. A file named like a number is ./1000; the queries of a benchmark in HDF5 are
    /// FILE.hdf5:test.
    #[arg(long, value_name = "FILE|COUNT|all|rows:LIST|at:X,Y,…", help_heading = "Search")]
    pub queries: Option<QueryChoice>,
    /// Neighbours per query
    #[arg(long, value_name = "NUMBER", default_value_t = usual::K, allow_negative_numbers = true, value_parser = counts::whole::<usize>, help_heading = "Search")]
    k: usize,
    #[command(flatten)]
    pub method: MethodArgs,
}

/// A spec with what it names, loaded.
pub struct Loaded {
    pub spec: RunSpec,
    pub cloud: Arc<PointCloud>,
    pub query_cloud: Option<Arc<PointCloud>>,
    pub searched: Searched,
}

impl ProblemArgs {
    /// Loads the cloud and the queries, for one timed repeat of `auto`. `engines` are those that are to answer; none is any.
    ///
    /// # Errors
    /// Whatever keeps them from being loaded.
    pub fn load(&self, engines: &[EngineChoice]) -> anyhow::Result<Loaded> {
        self.asked().load(engines)
    }

    pub fn asked(&self) -> Asked<'_> {
        Asked { source: &self.source, queries: self.queries.as_ref(), k: self.k, method: &self.method, found: None }
    }
}

/// What is asked, from the flags of any command.
pub struct Asked<'a> {
    pub source: &'a SourceArgs,
    pub queries: Option<&'a QueryChoice>,
    pub k: usize,
    pub method: &'a MethodArgs,
    /// How the answers were found that are to be checked.
    pub found: Option<&'a Found>,
}

impl Asked<'_> {
    /// Refuses what no file could make right, before any is read.
    pub fn check(&self, engines: &[EngineChoice]) -> anyhow::Result<()> {
        let &MethodArgs { order, exclude_self, .. } = self.method;
        let metric = self.method.metric(Metric::L2);
        let &SourceArgs { seed, drop_nonfinite, .. } = self.source;
        let setup = Setup { k: self.k, metric, order, seed, exclude_self, drop_zero_rows: drop_nonfinite };
        let limit = engines.iter().map(EngineChoice::k_limit).max().unwrap_or_else(|| EngineChoice::Auto.k_limit());
        setup.check_within(limit)?;
        match self.queries {
            Some(QueryChoice::Count(0)) => Err(ProblemError::NoQueries.into()),
            Some(QueryChoice::At(_)) if exclude_self => bail!(Usage("--exclude-self: the query is a place, and so no row of the cloud".to_owned())),
            Some(QueryChoice::File(_)) if exclude_self => {
                bail!(Usage("--exclude-self: the queries come from a file, and so are no rows of the cloud".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Loads the cloud and the queries.
    ///
    /// # Errors
    /// Whatever keeps them from being loaded.
    pub fn load(&self, engines: &[EngineChoice]) -> anyhow::Result<Loaded> {
        self.check(engines)?;
        let data = self.source.source();
        columns::check_once(&data)?;
        let drop_nonfinite = self.source.drop_nonfinite;
        let found = self.found.filter(|_| self.source.columns.is_none());
        let mut guess = None;
        let cloud = columns::as_answered(&data, found.map(|found| (found.file(), found.columns())), |source| {
            columns::load(source, drop_nonfinite).map(|(cloud, guessed)| {
                guess = guessed;
                cloud
            })
        })?;
        let (data, cloud) = (cloud.source().clone(), Arc::new(cloud));
        note_first_line(&data);
        if let Some(guess) = &guess {
            columns::note_taken(guess);
        }
        let (mut queries, note) = QueryChoice::resolve(self.queries, &cloud, &self.source.columns(), self.source.seed)?;
        let query_cloud = match &mut queries {
            QuerySpec::File { path, columns: chosen } => {
                let source = Source::File { path: path.clone(), columns: chosen.clone() };
                let load = |source: &Source| columns::load_queries(source, &cloud, guess.is_some(), drop_nonfinite);
                let asked = columns::as_answered(&source, found.map(|found| (found.file(), found.query_columns())), load)?;
                if *chosen == ColumnChoice::Default {
                    columns::note_of_queries(asked.axes(), cloud.axes(), path);
                }
                if let Source::File { columns, .. } = asked.source() {
                    chosen.clone_from(columns);
                }
                Some(Arc::new(asked))
            }
            _ => None,
        };
        let &MethodArgs { order, exclude_self, .. } = self.method;
        let metric = metric_of(self.method.metric, &cloud)?;
        let spec = RunSpec { metric, order, exclude_self, seed: self.source.seed, drop_nonfinite, ..RunSpec::new(data, queries, self.k) };
        if let Some(note) = note {
            output::note(&note);
        }
        let searched = Searched::of(&cloud, guess.as_ref());
        Ok(Loaded { spec, cloud, query_cloud, searched })
    }
}
