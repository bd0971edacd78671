//! Named sweeps that reproduce the figures of publications, one file each (`step.toml`, `hanak.toml`).
//!
//! A preset becomes an ordinary [`Sweep`].

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::Error as _;
use toml::Table;

use super::sweep::{FreeMemory, Size, Sweep, WorkBudget};
use super::{EngineChoice, QuerySpec, RunSpec};
use crate::cloud::Source;
use crate::engines::registry;
use crate::knn::{DeviceId, DeviceKind, Metric};

/// A named sweep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// One name for each part of a figure that the sweep measures: `step-5a` and `step-5b` are one sweep, and
    /// either name selects both.
    pub names: Vec<String>,
    /// The publication of the figure.
    pub publication: Publication,
    /// The content of the figure, in one line.
    pub about: String,
    pub data: DataSource,
    pub metric: Metric,
    /// Points of a generated cloud; empty for a file, or if `work` determines them.
    pub n: Vec<u64>,
    /// Replaces `n`.
    pub work: Option<WorkBudget>,
    /// Queries. If there is one number and the cloud has fewer rows, all rows.
    pub q: Vec<u64>,
    pub k: Vec<usize>,
    /// Replaces `k`, in percent of n.
    #[serde(default)]
    pub shares: Vec<u32>,
    /// Dimensions of a generated cloud; empty for a file.
    pub d: Vec<u64>,
    /// In the syntax of `--engine`. Speedups are relative to the first.
    pub methods: String,
    /// Untimed repeats before the timed ones, whose number is [`defaults`](super::defaults).
    pub warmup: u32,
    pub panels: Vec<PanelQuantity>,
    /// The layout of the panels; `None` plots against the size that varies.
    pub axes: Option<FigureLayout>,
    /// Statements about this figure in the publication's text.
    #[serde(default)]
    pub stated: Vec<Statement>,
}

/// A publication, as named in texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The heading of its presets: `STEP (Wang and Ino 2025)`.
    pub title: String,
    /// In sentences: `the paper (Wang and Ino 2025)`.
    pub who: String,
    /// In the legend: `the paper (RTX 3070)`.
    pub short: String,
    /// The device it measured on.
    pub device: String,
}

/// The layout of a figure, besides its methods.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureLayout {
    pub x: XQuantity,
    /// A size with a line per value.
    pub curve: Option<Size>,
    /// A size with a panel per value.
    pub panel: Option<Size>,
    /// A parameter of methods whose fastest value counts, at each point separately.
    pub best: Option<String>,
}

/// The quantity on the x axis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum XQuantity {
    Size(Size),
    /// k in percent of n.
    Share,
    /// A parameter of the methods.
    Parameter {
        name: String,
        /// The parameter's meaning.
        about: String,
    },
}

/// The source of a preset's points.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataSource {
    /// A generator's spec without n and d.
    Generated(String),
    /// A file that the user has to provide.
    File {
        /// The file used by the publication.
        published: String,
        /// A similar file that is easy to get.
        instead: String,
    },
}

/// The quantity of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PanelQuantity {
    /// Median search time in milliseconds, excluding the index.
    Time,
    /// Distance evaluations and retained points, means over queries.
    Points,
    /// Mean distances per second, whether computed, selected from or both, with the share of the memory
    /// bandwidth that reading each once needs.
    Throughput,
    /// Ratio of the first method's mean time to the method's.
    Speedup,
    /// The mean search time as a multiple of the time for upload and download.
    Transfer,
    /// Wrong neighbours among the k by distances in another form, means over queries.
    Wrong,
    /// Active threads of 32 in a warp.
    ActiveThreads,
}

/// A statement of a publication about a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The statement, paraphrased.
    pub says: String,
    /// The points in the figure that it gives, if any: x and y in the panel's units.
    #[serde(default)]
    pub at: Vec<(PanelQuantity, f64, f64)>,
}

/// Why a preset cannot become a sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("unknown preset `{name}`; `--preset list` lists them")]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// The points come from a file that was not given.
    #[error("preset `{name}` needs --input FILE: the publication used {published}; {instead} can replace it")]
    Input {
        /// The first name of the preset.
        name: String,
        /// The file used by the publication.
        published: String,
        /// A similar file.
        instead: String,
    },
    /// A row of the table has an unknown engine or parameter.
    #[error("{name}: {why}")]
    Method {
        /// The first name of the preset.
        name: String,
        /// The parser's sentence.
        why: String,
    },
}

/// The figures of a publication. Missing fields come from the preset's base, if it has one, and then from the
/// default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    default: Table,
    base: HashMap<String, Table>,
    preset: Vec<Table>,
}

impl Figures {
    fn presets(mut self) -> Result<Vec<Preset>, toml::de::Error> {
        let mut whole = |mut preset: Table| {
            let mut all = self.default.clone();
            if let Some(name) = preset.remove("base") {
                let base = name.as_str().and_then(|name| self.base.get(name));
                let base = base.ok_or_else(|| toml::de::Error::custom(format!("unknown base {name:?}")))?;
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
        files.into_iter().flat_map(|presets| presets.expect("tests parse these files")).collect()
    });
    PRESETS.iter()
}

/// Finds a preset by name.
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

    /// The preset's sweep over its own cloud, generated with `seed`, or over `source`. A file has its own n
    /// and d.
    ///
    /// # Errors
    /// [`PresetError`], except for an unknown name.
    pub fn sweep(&self, source: Option<Source>, seed: u64) -> Result<Sweep, PresetError> {
        let name = self.name();
        let data = match (source, self.data.clone()) {
            (Some(source), _) => source,
            (None, DataSource::Generated(spec)) => Source::Generate { spec, seed },
            (None, DataSource::File { published, instead }) => {
                return Err(PresetError::Input { name, published, instead });
            }
        };
        let is_generated = matches!(data, Source::Generate { .. });
        let of_cloud = |list: &[u64]| if is_generated { list.to_vec() } else { Vec::new() };
        // A single number of queries goes into the base, so that a smaller cloud can answer all its rows
        // instead.
        let (queries, q) = match self.q[..] {
            [one] => (QuerySpec::Count(one), Vec::new()),
            _ => (QuerySpec::All, self.q.iter().copied().map(QuerySpec::Count).collect()),
        };
        let base = RunSpec {
            metric: self.metric,
            seed,
            warmup: self.warmup,
            // A row rounded to 0 has no angle.
            drop_nonfinite: self.metric.compares_directions(),
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
            skip_unsupported: true,
            ..Sweep::new(base)
        })
    }

    /// Whether a sweep has the publication's sizes and data, so that the published numbers are comparable.
    /// Never for a file, whose content is unknown.
    pub fn is_as_published(&self, sweep: &Sweep) -> bool {
        let sizes = |sweep: &Sweep| {
            let mut sizes: Vec<_> = sweep
                .specs()
                .into_iter()
                .map(|spec| (spec.data, spec.metric, spec.queries, spec.k))
                .collect();
            // Runs of different engines at one size are adjacent.
            sizes.dedup();
            sizes
        };
        let same = |own: Sweep| sizes(&Sweep { engines: sweep.engines.clone(), ..own }) == sizes(sweep);
        matches!(self.data, DataSource::Generated(_)) && self.sweep(None, sweep.base.seed).is_ok_and(same)
    }
}

/// The free memory of the devices that a sweep uses.
pub fn free_memory(sweep: &Sweep) -> FreeMemory {
    let of_engines = sweep.engines.iter().flat_map(EngineChoice::engines).map(registry::default_device);
    let mut devices: Vec<DeviceId> =
        sweep.base.device.map_or_else(|| of_engines.collect(), |device| vec![device]);
    devices.sort_unstable();
    devices.dedup();
    let gpus = devices.into_iter().filter(|device| device.kind() == DeviceKind::Gpu);
    FreeMemory {
        host: registry::free_memory(DeviceId::Cpu).unwrap_or(u64::MAX),
        device: gpus.filter_map(registry::free_memory).min().unwrap_or(u64::MAX),
    }
}

/// Replaces methods that do not run on a kind of device by their twins there. The sentences say which
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
            None => said.push(format!("{method} does not run on {} and is skipped", kind.name())),
        }
    }
    (kept, said)
}

#[cfg(test)]
mod tests;
