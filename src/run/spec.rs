//! What is to be run: everything that is needed to have the run again, and what a file declares of itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cloud::{ColumnChoice, Globe, Order, PointCloud, Source, formats};
use crate::engines::registry;
use crate::knn::{
    Descriptor, DeviceId, EngineId, MOST_ALTERNATIVES, Method, Metric, Parameters, Ranking, alternatives,
    split_methods,
};
use crate::nearest::nearest;
use crate::printable::name as printable;
use crate::progress::Silent;

/// What is asked for where nobody says otherwise, in the window and on the command line.
///
/// Three defaults differ on purpose. The window's seed is 1, that of the cloud it shows first. The window
/// searches in shuffled order, which the theory shown beside the counters assumes, and the command line in
/// file order, so that equal distances come in the order of rows. And the window makes 1 warm-up and 5
/// repeats, since somebody is waiting, where `warpscope run` makes 10 and 10.
pub mod usual {
    pub const K: usize = 32;
    /// Queries that are drawn, or all rows where there are fewer.
    pub const QUERIES: u64 = 1000;
    /// Untimed and timed repeats of a run of a sweep.
    pub const WARMUP: u32 = 3;
    pub const REPEATS: u32 = 10;
    /// Seeds generated clouds, drawn queries and shuffled order.
    pub const SEED: u64 = 0;
}

/// The engine of a run, or the planner's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// What the planner takes.
    #[default]
    Auto,
    /// This one, with these parameters, or an error.
    #[serde(untagged)]
    Named(Method),
}

impl EngineChoice {
    /// An engine that is left all its parameters.
    pub fn named(engine: EngineId) -> Self {
        Self::Named(Method::new(engine))
    }

    /// Reads a list of choices, of which each may have alternatives: `cuda:window=8|16,kdtree` are three.
    ///
    /// # Errors
    /// The sentence of the first that cannot be, or that there are more than [`MOST_ALTERNATIVES`].
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut choices = Vec::new();
        for method in split_methods(text) {
            for alternative in alternatives(&method)? {
                choices.push(alternative.parse()?);
            }
            if choices.len() > MOST_ALTERNATIVES {
                return Err(format!("there are more than {MOST_ALTERNATIVES} methods; give fewer of them"));
            }
        }
        Ok(choices)
    }

    /// All engines, and `auto` before them.
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

    /// What is not left to the engine.
    pub fn parameters(&self) -> &Parameters {
        static NONE: Parameters = Parameters::NONE;
        match self {
            Self::Auto => &NONE,
            Self::Named(method) => &method.parameters,
        }
    }

    /// The most neighbours that an engine of these finds.
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

    /// Reads a choice and holds it against the registry.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        if name == "auto" {
            return Err("auto takes no parameters: name the engine that they are for".to_owned());
        }
        let Some(engine) = name.parse().ok().and_then(registry::find) else {
            let list = if name.contains([',', '|']) {
                " (one is taken here; sweep and verify take lists)"
            } else {
                ""
            };
            let names = registry::names();
            return Err(match nearest(name, names.iter().copied().chain(["auto"])) {
                Some(meant) if list.is_empty() => {
                    format!("there is no engine `{name}`: did you mean {meant}?")
                }
                _ => format!("there is no engine `{name}`; there are auto, {}{list}", names.join(", ")),
            });
        };
        let method: Method = text.parse()?;
        engine.check_parameters(&method.parameters).map_err(|error| error.to_string())?;
        Ok(Self::Named(method))
    }
}

/// Whose neighbours are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuerySpec {
    /// Every row of the cloud.
    All,
    /// This many rows of the cloud, drawn with the run's seed.
    Count(u64),
    /// These records of the cloud's file, by 0-based number.
    Rows(Vec<u64>),
    /// One place, in the units of the data's file: no row of it.
    At(Vec<f64>),
    /// A file of queries.
    File {
        #[serde(serialize_with = "crate::cloud::path_as_text")]
        path: PathBuf,
        /// Which of its columns are coordinates.
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
    /// Where it runs; where nobody says, on the first device of the engine's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceId>,
    pub order: Order,
    /// Whether a query leaves its own row out.
    pub exclude_self: bool,
    /// Seeds shuffled order and drawn queries.
    pub seed: u64,
    /// Untimed repeats before the timed ones.
    pub warmup: u32,
    pub repeats: u32,
    /// Whether rows with NaN or ±∞ (and, under the angular metric, zero rows) are left out instead of
    /// refused.
    pub drop_nonfinite: bool,
    /// Whether the profiled build runs too.
    pub profile: bool,
}

impl RunSpec {
    /// One pass under l2, in the file's order, on the engine that `auto` takes.
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
pub struct Declared {
    /// As the file has it.
    name: String,
    /// `None` where it is not offered.
    pub ranking: Option<Ranking>,
}

impl Declared {
    /// What a file declares. One that cannot be read is reported when its data are.
    pub fn of(path: &Path) -> Option<Self> {
        formats::attribute(path, "distance", &Silent)
            .ok()?
            .map(|name| Self { ranking: Ranking::by_any_name(&name), name })
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
            Some(Ranking::Distance(metric)) if metric.is_on_sphere() && !Globe::fits(cloud) => (
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
    fn an_engine_is_saved_as_it_is_spelled() {
        let cut = "cuda:kernel=direct,warps=8".parse().unwrap();
        for choice in EngineChoice::all().chain([cut]) {
            let json = serde_json::to_string(&choice).unwrap();
            assert_eq!(json, format!("\"{choice}\""));
            assert_eq!(serde_json::from_str::<EngineChoice>(&json).unwrap(), choice);
            assert_eq!(choice.to_string().parse::<EngineChoice>().unwrap(), choice);
        }
    }

    #[test]
    fn a_choice_is_held_against_the_registry() {
        let why = |text: &str| text.parse::<EngineChoice>().unwrap_err();
        assert_eq!(
            why("gpu"),
            format!("there is no engine `gpu`; there are auto, {}", registry::names().join(", "))
        );
        assert_eq!(
            why("lockstep:warps=8"),
            "the lockstep engine: unknown parameter `warps`; the engine has no parameters"
        );
        assert!(why("cuda:warps=99").contains("warps = 99: must be 1 to 32"));
        // A recording may name what this program does not have.
        assert!(serde_json::from_str::<EngineChoice>("\"quantum:qubits=3\"").is_ok());
        assert!(serde_json::from_str::<EngineChoice>("\"Quantum!\"").is_err());
    }
}
