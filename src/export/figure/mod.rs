//! What a sweep measured as a figure: a line for each method against the size that varied, on logarithmic axes unless a quantity has known ends.
//!
//! | module | holds |
//! |---|---|
//! | here | the numbers, collected run by run, as curves |
//! | `axis` | scales and their ticks |
//! | `draw` | the picture, for print |

mod axis;
mod draw;

use crate::cloud::Source;
use crate::lesson::picture::svg::svg;
use crate::palette::LIGHT;
use crate::run::presets::{Panel, Preset, Stated};
use crate::run::sweep::{Size, Sweep};
use crate::run::{EngineChoice, RunRecord};
use crate::text::sentence_case;

/// Why a sweep has no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// Several sizes vary, or none does.
    #[error("a figure is drawn against one size: give several values for one of --n, --q, --k and --d, and one or none for each of the others")]
    OneSize,
}

/// A figure that grows with the runs of a sweep.
#[derive(Debug)]
pub struct Figure {
    title: String,
    x: Size,
    panels: Vec<Panel>,
    /// A line each; speedups are against the first.
    methods: Vec<EngineChoice>,
    measured: Vec<Measured>,
    /// The preset's first name.
    preset: Option<&'static str>,
    /// What all runs have in common: sizes, metric and data.
    conditions: Vec<String>,
    /// What they ran on, each once.
    devices: Vec<String>,
    /// What a publication says of its figure, and whether its numbers are comparable with these.
    stated: &'static [Stated],
    is_as_published: bool,
}

/// A run in the numbers that are drawn.
#[derive(Debug)]
struct Measured {
    method: usize,
    x: f64,
    ms: f64,
    accessed: Option<f64>,
    retained: Option<f64>,
    active: Option<f64>,
}

/// A line of a panel.
#[derive(Debug, PartialEq)]
struct Curve {
    method: usize,
    /// Whether it is the second quantity of the panel.
    dashed: bool,
    /// By ascending x; positive numbers only, as others have no logarithm.
    points: Vec<[f64; 2]>,
}

impl Figure {
    /// A figure of what a sweep will measure, with the panels and the publication's statements of its preset.
    ///
    /// # Errors
    /// [`FigureError::OneSize`].
    pub fn new(sweep: &Sweep, preset: Option<&Preset>) -> Result<Self, FigureError> {
        let x = sweep.varied().ok_or(FigureError::OneSize)?;
        Ok(Self {
            title: preset.map_or_else(|| format!("Search against the number of {}", x.about()), |preset| sentence_case(preset.about)),
            x,
            panels: preset.map_or(&[Panel::Time, Panel::Points][..], |preset| preset.panels).to_vec(),
            methods: sweep.engines.clone(),
            measured: Vec::new(),
            preset: preset.and_then(|preset| preset.names.first().copied()),
            conditions: Vec::new(),
            devices: Vec::new(),
            stated: preset.map_or(&[], |preset| preset.stated),
            is_as_published: preset.is_some_and(|preset| preset.is_as_published(sweep)),
        })
    }

    /// Takes in a run of the sweep, whose engine was `asked` for.
    pub fn add(&mut self, asked: &EngineChoice, record: &RunRecord) {
        let Some(method) = self.methods.iter().position(|method| method == asked) else { return };
        let mean = |name: &str| record.summary.measure(name).map(|measure| measure.mean);
        let x = self.x.of(record) as f64;
        // What an engine says of itself there, such as `CPU, clusters`, is in the legend already.
        let device = record.device.name.split(',').next().unwrap_or_default().to_owned();
        self.measured.push(Measured {
            method,
            x,
            ms: record.summary.search_ms_median,
            accessed: mean("accessed"),
            retained: mean("candidates"),
            active: record.summary.active_threads,
        });
        if self.conditions.is_empty() {
            let others = Size::ALL.into_iter().filter(|size| *size != self.x);
            let sizes = others.map(|size| format!("{} = {}", size.name(), axis::label(size.of(record) as f64)));
            self.conditions = sizes.chain([record.spec.metric.name().to_owned(), data(&record.spec.data)]).collect();
        }
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }

    /// The lines of a panel that have a point.
    fn curves(&self, panel: Panel) -> Vec<Curve> {
        let mut curves = Vec::new();
        for method in 0..self.methods.len() {
            for dashed in [false, true] {
                let of = |run: &Measured| match (panel, dashed) {
                    (Panel::Time, false) => Some(run.ms),
                    (Panel::Speedup, false) => {
                        self.measured.iter().find(|first| first.method == 0 && first.x == run.x).map(|first| first.ms / run.ms)
                    }
                    (Panel::Points, false) => run.accessed,
                    (Panel::Points, true) => run.retained,
                    (Panel::ActiveThreads, false) => run.active,
                    (Panel::Time | Panel::Speedup | Panel::ActiveThreads, true) => None,
                };
                let runs = self.measured.iter().filter(|run| run.method == method);
                let mut points: Vec<[f64; 2]> = runs.filter_map(|run| Some([run.x, of(run)?])).collect();
                points.retain(|point| point.iter().all(|value| *value > 0.0 && value.is_finite()));
                points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                if !points.is_empty() {
                    curves.push(Curve { method, dashed, points });
                }
            }
        }
        curves
    }

    /// Whether a count was 0, which a logarithmic axis has no place for.
    fn has_zeros(&self) -> bool {
        self.panels.contains(&Panel::Points) && self.measured.iter().any(|run| [run.accessed, run.retained].contains(&Some(0.0)))
    }

    /// The places that a publication names in a panel; none where sizes or data are others.
    fn stated_in(&self, panel: Panel) -> Vec<[f64; 2]> {
        let all = self.stated.iter().flat_map(|stated| stated.at).filter(|_| self.is_as_published);
        all.filter(|(of, ..)| *of == panel).map(|&(_, x, y)| [x, y]).collect()
    }

    /// The figure so far as a file, on a light ground.
    pub fn svg(&self) -> String {
        svg(&draw::scene(self), &LIGHT)
    }
}

/// Where the points come from; a generator's sizes stand elsewhere.
fn data(source: &Source) -> String {
    let Source::Generate { spec, seed } = source else { return source.to_string() };
    let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
    let is_size = |parameter: &&str| ["n", "d", ""].contains(&parameter.split('=').next().unwrap_or_default().trim());
    let others: Vec<&str> = parameters.split(',').filter(|parameter| !is_size(parameter)).collect();
    let colon = if others.is_empty() { "" } else { ":" };
    format!("{}{colon}{} (seed {seed})", name.trim(), others.join(","))
}

#[cfg(test)]
mod tests;
