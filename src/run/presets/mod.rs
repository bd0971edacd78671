//! Sweeps with a name: those behind the figures of a publication, a file each (`step.toml`, `hanak.toml`).
//!
//! A preset becomes a [`Sweep`] like any other, so that everything that a sweep can do it can do too.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Table;

use super::sweep::{Room, Size, Sweep, Work};
use super::{EngineChoice, QuerySpec, RunSpec};
use crate::cloud::Source;
use crate::engines::registry;
use crate::knn::{DeviceId, DeviceKind, Metric};

/// A sweep with a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// One for each part of a figure that the sweep measures: `step-5a` and `step-5b` are one sweep, and
    /// either name means both.
    pub names: Vec<String>,
    /// Whose figure it is.
    pub publication: Publication,
    /// What the figure shows, in one line.
    pub about: String,
    pub data: Data,
    pub metric: Metric,
    /// Points of a generated cloud; empty where a file has them, or where `work` says how many.
    pub n: Vec<u64>,
    /// In place of `n`.
    pub work: Option<Work>,
    /// Queries; where there is one number and the cloud has fewer rows, all rows.
    pub q: Vec<u64>,
    pub k: Vec<usize>,
    /// In place of `k`: percent of n.
    #[serde(default)]
    pub shares: Vec<u32>,
    /// Dimensions of a generated cloud; empty where a file has them.
    pub d: Vec<u64>,
    /// As `--engine` takes them. Speedups are against the first.
    pub methods: String,
    /// Untimed repeats, before the [`usual`](super::usual) number of timed ones.
    pub warmup: u32,
    pub panels: Vec<Panel>,
    /// How the panels are laid out; `None` draws them against the size that varies.
    pub axes: Option<Axes>,
    /// What the text of the publication says of this figure.
    #[serde(default)]
    pub stated: Vec<Stated>,
}

/// Who published a figure, for the words around it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Above the list of its presets: `STEP (Wang and Ino 2025)`.
    pub title: String,
    /// `the paper (Wang and Ino 2025)`.
    pub who: String,
    /// In the legend: `the paper (RTX 3070)`.
    pub short: String,
    /// What it measured on.
    pub device: String,
}

/// What a figure is drawn against, beside its methods.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    pub x: Against,
    /// A size of which each value has a line of its own.
    pub curve: Option<Size>,
    /// A size of which each value has a panel of its own.
    pub panel: Option<Size>,
    /// A parameter of methods of which the fastest value counts, at each place anew.
    pub best: Option<String>,
}

/// What stands on an x axis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    Size(Size),
    /// k in percent of n.
    Share,
    /// A parameter of the methods.
    Parameter {
        name: String,
        /// What it is a number of.
        about: String,
    },
}

/// Where a preset's points come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// A generator's spec without n and d.
    Generated(String),
    /// A file that the user has to name.
    File {
        /// What the publication used.
        published: String,
        /// What is alike and easy to get.
        instead: String,
    },
}

/// What a part of a figure draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Panel {
    /// Median search time in milliseconds, without the index.
    Time,
    /// Points accessed and points retained, means over queries.
    Points,
    /// Mean distances a second, whether they are computed, selected from or both, beside the share of the
    /// memory's bandwidth that reading each of them once takes.
    Throughput,
    /// How many times faster than the first method, of means.
    Speedup,
    /// The mean search time in times of what upload and download take.
    Transfer,
    /// Of the k neighbours by distances in another form, those that are wrong: means over queries.
    Wrong,
    /// Active threads of a warp, of 32.
    ActiveThreads,
}

/// A sentence of a publication about a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// What it says, in our words.
    pub says: String,
    /// The places in the figure that it names, if it does: x and y in the panel's units.
    #[serde(default)]
    pub at: Vec<(Panel, f64, f64)>,
}

/// Why a preset is no sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("there is no preset `{name}`; `--preset list` lists them")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// Points are to come from a file that was not named.
    #[error("{name} needs --input FILE: the publication used {published}; {instead} can stand in for it")]
    Input {
        /// The first name of the preset.
        name: String,
        /// What the publication used.
        published: String,
        /// What is alike.
        instead: String,
    },
    /// A row of the table names an engine or parameter that is not there.
    #[error("{name}: {why}")]
    Method {
        /// The first name of the preset.
        name: String,
        /// The parser's sentence.
        why: String,
    },
}

/// The figures of a publication. What one does not say is as in its base, if it names one, or else as in the
/// default.
#[derive(Deserialize)]
struct Figures {
    default: Table,
    base: HashMap<String, Table>,
    preset: Vec<Table>,
}

impl Figures {
    fn presets(mut self) -> Result<Vec<Preset>, toml::de::Error> {
        let mut whole = |mut preset: Table| {
            let mut all = self.default.clone();
            if let Some(base) = preset.remove("base").and_then(|name| self.base.get(name.as_str()?)) {
                all.extend(base.clone());
            }
            all.extend(preset);
            all.try_into()
        };
        std::mem::take(&mut self.preset).into_iter().map(&mut whole).collect()
    }
}

/// All presets, in listing order.
pub fn all() -> impl Iterator<Item = &'static Preset> {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
        let of_file = |text: &str| toml::from_str::<Figures>(text).and_then(Figures::presets);
        let files = [include_str!("step.toml"), include_str!("hanak.toml")].map(of_file);
        files
            .into_iter()
            .flat_map(|presets| presets.expect("a file of presets that tests read is whole"))
            .collect()
    });
    PRESETS.iter()
}

/// The preset of a name.
///
/// # Errors
/// [`PresetError::Unknown`].
pub fn find(name: &str) -> Result<&'static Preset, PresetError> {
    all()
        .find(|preset| preset.names.iter().any(|known| known == name))
        .ok_or_else(|| PresetError::Unknown { name: name.to_owned() })
}

impl Preset {
    /// The first name.
    pub fn name(&self) -> String {
        self.names.first().cloned().unwrap_or_default()
    }

    /// The sweep that it stands for, over its own cloud drawn with `seed`, or over `source`. A file brings
    /// its own n and d.
    ///
    /// # Errors
    /// [`PresetError`], except for an unknown name.
    pub fn sweep(&self, source: Option<Source>, seed: u64) -> Result<Sweep, PresetError> {
        let name = self.name();
        let data = match (source, self.data.clone()) {
            (Some(source), _) => source,
            (None, Data::Generated(spec)) => Source::Generate { spec, seed },
            (None, Data::File { published, instead }) => {
                return Err(PresetError::Input { name, published, instead });
            }
        };
        let is_generated = matches!(data, Source::Generate { .. });
        let of_cloud = |list: &[u64]| if is_generated { list.to_vec() } else { Vec::new() };
        // One number of queries is the base's: a smaller cloud, of fewer points or another file, then answers
        // for all its rows.
        let (queries, q) = match self.q[..] {
            [one] => (QuerySpec::Count(one), Vec::new()),
            _ => (QuerySpec::All, self.q.iter().copied().map(QuerySpec::Count).collect()),
        };
        let base = RunSpec {
            metric: self.metric,
            seed,
            warmup: self.warmup,
            // A row that is rounded to 0 has no angle.
            drop_nonfinite: self.metric.is_of_directions(),
            ..RunSpec::new(data, queries, self.k.first().copied().unwrap_or(1))
        };
        let engines = EngineChoice::list(&self.methods).map_err(|why| PresetError::Method { name, why })?;
        let (k, shares) = (self.k.clone(), self.shares.clone());
        let work = self.work.filter(|_| is_generated);
        Ok(Sweep {
            n: of_cloud(&self.n),
            work,
            q,
            k,
            shares,
            d: of_cloud(&self.d),
            engines,
            leaves_out: true,
            ..Sweep::new(base)
        })
    }

    /// Whether a sweep has the sizes and the data of the publication, so that its numbers belong beside the
    /// measured ones. With a file nobody knows.
    pub fn is_as_published(&self, sweep: &Sweep) -> bool {
        let sizes = |sweep: &Sweep| {
            let mut sizes: Vec<_> = sweep
                .specs()
                .into_iter()
                .map(|spec| (spec.data, spec.metric, spec.queries, spec.k))
                .collect();
            // The engines' runs of a size follow one another.
            sizes.dedup();
            sizes
        };
        let same = |own: Sweep| sizes(&Sweep { engines: sweep.engines.clone(), ..own }) == sizes(sweep);
        matches!(self.data, Data::Generated(_)) && self.sweep(None, sweep.base.seed).is_ok_and(same)
    }
}

/// The memory that is free where the methods of a sweep run.
pub fn room(sweep: &Sweep) -> Room {
    let of_engines = sweep.engines.iter().flat_map(EngineChoice::engines).map(registry::default_device);
    let mut devices: Vec<DeviceId> =
        sweep.base.device.map_or_else(|| of_engines.collect(), |device| vec![device]);
    devices.sort_unstable();
    devices.dedup();
    let gpus = devices.into_iter().filter(|device| device.kind() == DeviceKind::Gpu);
    Room {
        host: registry::free_memory(DeviceId::Cpu).unwrap_or(u64::MAX),
        device: gpus.filter_map(registry::free_memory).min().unwrap_or(u64::MAX),
    }
}

/// The methods that a kind of device runs: each itself, or else its twin there. The sentences say which
/// changed.
pub fn on_device(methods: Vec<EngineChoice>, kind: DeviceKind) -> (Vec<EngineChoice>, Vec<String>) {
    let (mut kept, mut said) = (Vec::new(), Vec::new());
    for method in methods {
        if method.engines().any(|engine| engine.runs_on.contains(&kind)) {
            kept.push(method);
            continue;
        }
        let is_twin =
            |twin: Option<_>| twin.is_some_and(|twin| method.engines().any(|engine| engine.id == twin));
        match registry::ENGINES
            .iter()
            .find(|engine| is_twin(engine.twin_of) && engine.runs_on.contains(&kind))
        {
            Some(twin) => {
                said.push(format!("{method} does not run on {}; its twin {} does", kind.name(), twin.id));
                kept.push(EngineChoice::named(twin.id));
            }
            None => said.push(format!("{method} does not run on {} and is left out", kind.name())),
        }
    }
    (kept, said)
}

#[cfg(test)]
mod tests;
