//! The specification of a run, sufficient to repeat it, and what a data file declares about itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cloud::{ColumnChoice, GlobeAxes, Order, PointCloud, Source, formats};
use crate::engines::registry;
use crate::knn::{
    Descriptor, DeviceId, EngineId, MAX_ALTERNATIVES, Method, Metric, Parameters, Ranking, alternatives,
    split_methods,
};
use crate::printable::name as printable;
use crate::progress::NoProgress;
use crate::suggest::suggest;

/// Default settings of the window and the command line.
///
/// Three defaults differ on purpose. The window's seed is 1, that of the cloud it shows first. The window
/// searches in shuffled order, which the theory shown with the counters assumes; the command line uses file
/// order, so that ties are ordered by row. The window makes 1 warm-up and 5 repeats, since a user is waiting;
/// `warpscope run` makes 10 and 10.
pub mod defaults {
    pub const K: usize = 32;
    /// Sampled queries, or all rows if there are fewer.
    pub const QUERIES: u64 = 1000;
    /// Untimed and timed repeats of a sweep's runs.
    pub const WARMUP: u32 = 3;
    pub const REPEATS: u32 = 10;
    /// Seed for generated clouds, sampled queries and shuffled order.
    pub const SEED: u64 = 0;
}

/// The engine of a run, or the planner's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// The planner's choice.
    #[default]
    Auto,
    /// This engine with these parameters, or an error.
    #[serde(untagged)]
    Named(Method),
}

impl EngineChoice {
    /// An engine with default parameters.
    pub fn named(engine: EngineId) -> Self {
        Self::Named(Method::new(engine))
    }

    /// Parses a list of choices. Parameters may have alternatives: `cuda:window=8|16,kdtree` is three
    /// choices.
    ///
    /// # Errors
    /// The first invalid choice, or more than [`MAX_ALTERNATIVES`].
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut choices = Vec::new();
        for method in split_methods(text) {
            for alternative in alternatives(&method)? {
                choices.push(alternative.parse()?);
            }
            if choices.len() > MAX_ALTERNATIVES {
                return Err(format!("more than {MAX_ALTERNATIVES} methods; give fewer"));
            }
        }
        Ok(choices)
    }

    /// All engines, preceded by `auto`.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Auto).chain(registry::ENGINES.iter().map(|engine| Self::named(engine.id)))
    }

    /// The engines that may answer.
    pub fn engines(&self) -> impl Iterator<Item = &'static Descriptor> {
        registry::ENGINES.iter().copied().filter(move |engine| match self {
            Self::Auto => true,
            Self::Named(method) => method.engine == engine.id,
        })
    }

    /// The parameters that were given.
    pub fn parameters(&self) -> &Parameters {
        static NONE: Parameters = Parameters::NONE;
        match self {
            Self::Auto => &NONE,
            Self::Named(method) => &method.parameters,
        }
    }

    /// The largest k of these engines.
    pub fn k_limit(&self) -> usize {
        self.engines().map(|engine| engine.limits.k).max().unwrap_or(0)
    }
}

impl std::fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Named(method) => method.fmt(f),
        }
    }
}

impl std::str::FromStr for EngineChoice {
    type Err = String;

    /// Parses a choice and checks it against the registry.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        if name == "auto" {
            return Err("auto has no parameters; name the engine they belong to".to_owned());
        }
        let Some(engine) = name.parse().ok().and_then(registry::find) else {
            let list = if name.contains([',', '|']) {
                " (only one is allowed here; sweep and verify accept lists)"
            } else {
                ""
            };
            let names = registry::names();
            return Err(match suggest(name, names.iter().copied().chain(["auto"])) {
                Some(meant) if list.is_empty() => {
                    format!("unknown engine `{name}`: did you mean {meant}?")
                }
                _ => format!("unknown engine `{name}`; available: auto, {}{list}", names.join(", ")),
            });
        };
        let method: Method = text.parse()?;
        engine.check_parameters(&method.parameters).map_err(|error| error.to_string())?;
        Ok(Self::Named(method))
    }
}

/// The queries of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuerySpec {
    /// Every row of the cloud.
    All,
    /// This many rows of the cloud, sampled with the run's seed.
    Count(u64),
    /// These records of the cloud's file, by 0-based number.
    Rows(Vec<u64>),
    /// A point in the units of the data's file, not a row.
    At(Vec<f64>),
    /// A file of queries.
    File {
        #[serde(serialize_with = "crate::cloud::path_as_text")]
        path: PathBuf,
        /// Its coordinate columns.
        #[serde(default)]
        columns: ColumnChoice,
    },
}

/// Everything that determines a run's answers and timings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    pub data: Source,
    pub queries: QuerySpec,
    /// Neighbours to report per query.
    pub k: usize,
    pub metric: Metric,
    pub engine: EngineChoice,
    /// The device; by default the first of the engine's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceId>,
    pub order: Order,
    /// Whether a query's own row is excluded.
    pub exclude_self: bool,
    /// Seed for shuffled order and sampled queries.
    pub seed: u64,
    /// Untimed repeats before the timed ones.
    pub warmup: u32,
    pub repeats: u32,
    /// Whether rows with NaN or ±∞ (and, under the angular metric, zero rows) are dropped instead of refused.
    pub drop_nonfinite: bool,
    /// Whether the profiled build runs too.
    pub profile: bool,
}

impl RunSpec {
    /// One pass under l2, in file order, on the engine that `auto` chooses.
    pub fn new(data: Source, queries: QuerySpec, k: usize) -> Self {
        Self {
            data,
            queries,
            k,
            metric: Metric::L2,
            engine: EngineChoice::Auto,
            device: None,
            order: Order::File,
            exclude_self: false,
            seed: 0,
            warmup: 0,
            repeats: 1,
            drop_nonfinite: false,
            profile: false,
        }
    }
}

/// A file's attribute `distance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredMetric {
    /// As written in the file.
    name: String,
    /// `None` if it is not supported.
    pub ranking: Option<Ranking>,
}

impl DeclaredMetric {
    /// Reads what a file declares. A file that cannot be read is reported when its data are read.
    pub fn read(path: &Path) -> Option<Self> {
        formats::attribute(path, "distance", &NoProgress)
            .ok()?
            .map(|name| Self { ranking: Ranking::from_alias(&name), name })
    }

    /// The metric for searching a cloud that only has distances, if the cloud allows it, and a note unless
    /// that is L2.
    pub fn metric(&self, cloud: &PointCloud) -> (Option<Metric>, Option<String>) {
        match self.ranking {
            Some(Ranking::InnerProduct) => (
                None,
                Some(
                    "the file declares the inner product, which only `warpscope knn` supports; using l2"
                        .to_owned(),
                ),
            ),
            Some(Ranking::Distance(metric)) if metric.is_on_sphere() && !GlobeAxes::matches(cloud) => (
                None,
                Some(format!(
                    "the file declares the metric {}, which needs longitude and latitude; using l2",
                    metric.name()
                )),
            ),
            Some(Ranking::Distance(metric)) => (Some(metric), self.sentence()),
            None => (None, self.sentence()),
        }
    }

    /// The note to show; `None` for L2, which is the default.
    pub fn sentence(&self) -> Option<String> {
        match self.ranking {
            Some(Ranking::Distance(Metric::L2)) => None,
            Some(ranking) => Some(format!("metric {}, from the file's `distance` attribute", ranking.name())),
            None => Some(format!(
                "the file's `distance` attribute is `{}`, which is not supported; using l2",
                printable(self.name.trim())
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_choices_are_serialized_as_typed() {
        let cut = "cuda:kernel=direct,warps=8".parse().unwrap();
        for choice in EngineChoice::all().chain([cut]) {
            let json = serde_json::to_string(&choice).unwrap();
            assert_eq!(json, format!("\"{choice}\""));
            assert_eq!(serde_json::from_str::<EngineChoice>(&json).unwrap(), choice);
            assert_eq!(choice.to_string().parse::<EngineChoice>().unwrap(), choice);
        }
    }

    #[test]
    fn engine_choices_are_checked_against_the_registry() {
        let why = |text: &str| text.parse::<EngineChoice>().unwrap_err();
        assert_eq!(
            why("gpu"),
            format!("unknown engine `gpu`; available: auto, {}", registry::names().join(", "))
        );
        assert_eq!(
            why("lockstep:warps=8"),
            "the lockstep engine: unknown parameter `warps`; the engine has no parameters"
        );
        assert!(why("cuda:warps=99").contains("warps = 99: must be 1 to 32"));
        // A recording may name an engine that this program does not have.
        assert!(serde_json::from_str::<EngineChoice>("\"quantum:qubits=3\"").is_ok());
        assert!(serde_json::from_str::<EngineChoice>("\"Quantum!\"").is_err());
    }
}
