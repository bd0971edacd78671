//! The results of a sweep as a figure: one line per method over the size that varied, on logarithmic axes
//! unless the range of a quantity is known.
//!
//! | module | contents |
//! |---|---|
//! | here | the numbers as curves, collected run by run, and their names |
//! | `draw` | the drawing, for print, with axes |

mod draw;

use crate::cloud::Source;
use crate::draw::svg::svg;
use crate::knn::Method;
use crate::palette::LIGHT;
use crate::run::presets::{FigureLayout, PanelQuantity, Preset, Publication, Statement, XQuantity};
use crate::run::sweep::{Size, Sweep};
use crate::run::{EngineChoice, Phase, RunRecord, stats};
use crate::text::{count, sentence_case};

/// Why a sweep has no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// No size varies, or several do.
    #[error(
        "a figure needs exactly one varying size; give several values for only one of --n, --q, --k and --d"
    )]
    OneSize,
    /// A size varies that the preset's figure cannot show.
    #[error("the figure of {preset} cannot show several values of --{size}; give one")]
    NotPlotted {
        /// First name of the preset.
        preset: String,
        /// The size, as in its flag.
        size: &'static str,
    },
}

/// A figure that grows with the runs of a sweep.
#[derive(Debug)]
pub struct Figure {
    title: String,
    axes: FigureLayout,
    panels: Vec<PanelQuantity>,
    /// Speedups are relative to the first.
    methods: Vec<EngineChoice>,
    lines: Legend,
    measured: Vec<Measurement>,
    /// The preset's first name.
    preset: Option<String>,
    /// Whether n follows from the other sizes.
    n_follows: bool,
    /// Settings that all runs share: metric, data, repeats.
    metric_and_data: Vec<String>,
    repeats: Option<String>,
    /// The devices, each once.
    devices: Vec<String>,
    /// The publication, its statements, and whether the sweep's sizes and data are those of the publication.
    publication: Option<&'static Publication>,
    stated: &'static [Statement],
    is_as_published: bool,
}

/// The drawn numbers of a run.
#[derive(Debug)]
struct Measurement {
    method: usize,
    /// n, q, k and d.
    sizes: [u64; 4],
    /// Search time in milliseconds over the repeats: median, mean and standard deviation.
    ms: f64,
    mean_ms: f64,
    deviation_ms: f64,
    /// Mean transfer times in milliseconds. The upload excludes points that were on the device already.
    upload_ms: f64,
    download_ms: f64,
    /// Measured read bandwidth of the device, in bytes per second.
    peak: Option<f64>,
    wrong: Option<f64>,
    accessed: Option<f64>,
    retained: Option<f64>,
    active: Option<f64>,
}

impl Measurement {
    fn size(&self, size: Size) -> u64 {
        self.sizes[Size::ALL.iter().position(|of| *of == size).unwrap_or_default()]
    }

    /// Standard deviation of the search time, relative to its mean.
    fn relative(&self) -> f64 {
        self.deviation_ms / self.mean_ms
    }
}

/// A line in a panel.
#[derive(Debug, PartialEq)]
struct Curve {
    /// Index into [`Figure::series`].
    series: usize,
    /// Whether it shows the panel's second quantity.
    dashed: bool,
    /// By ascending x; only positive numbers, which have a logarithm.
    points: Vec<[f64; 2]>,
    /// Standard deviation at each point, relative to the value; 0 if unknown.
    deviations: Vec<f64>,
    /// Text at each point: the parameter value that was fastest there.
    notes: Vec<String>,
}

impl Figure {
    /// An empty figure for a sweep, with the panels and the publication's statements of its preset.
    ///
    /// # Errors
    /// [`FigureError`].
    pub fn new(sweep: &Sweep, preset: Option<&'static Preset>) -> Result<Self, FigureError> {
        let of_preset = preset.and_then(|preset| Some((preset.axes.as_ref()?, preset)));
        let axes = match of_preset {
            Some((axes, preset)) => {
                let has_place = |size: Size| {
                    axes.x == XQuantity::Size(size) || [axes.curve, axes.panel].contains(&Some(size))
                };
                let share = |size: Size| size == Size::K && axes.x == XQuantity::Share;
                match Size::ALL
                    .into_iter()
                    .find(|&size| sweep.varies(size) && !has_place(size) && !share(size))
                {
                    Some(size) => {
                        return Err(FigureError::NotPlotted { preset: preset.name(), size: size.name() });
                    }
                    None => axes.clone(),
                }
            }
            None => FigureLayout {
                x: XQuantity::Size(sweep.varied().ok_or(FigureError::OneSize)?),
                curve: None,
                panel: None,
                best: None,
            },
        };
        let title = match (preset, &axes.x) {
            (Some(preset), _) => sentence_case(&preset.about),
            (None, XQuantity::Size(size)) => format!("Search against the number of {}", size.about()),
            (None, _) => "Search".to_owned(),
        };
        Ok(Self {
            title,
            lines: Legend::new(&sweep.engines, of_preset.map(|(axes, _)| axes)),
            axes,
            panels: preset
                .map_or(&[PanelQuantity::Time, PanelQuantity::Points][..], |preset| &preset.panels)
                .to_vec(),
            methods: sweep.engines.clone(),
            measured: Vec::new(),
            preset: preset.map(Preset::name),
            n_follows: sweep.work.is_some() && sweep.n.is_empty(),
            metric_and_data: Vec::new(),
            repeats: None,
            devices: Vec::new(),
            publication: preset.map(|preset| &preset.publication),
            stated: preset.map_or(&[], |preset| &preset.stated),
            is_as_published: preset.is_some_and(|preset| preset.is_as_published(sweep)),
        })
    }

    /// Adds a run of the sweep; `asked` is the engine as it was requested.
    pub fn add(&mut self, asked: &EngineChoice, record: &RunRecord) {
        let Some(method) = self.methods.iter().position(|method| method == asked) else { return };
        let mean = |name: &str| record.summary.measure(name).map(|measure| measure.mean);
        let [mean_ms, deviation_ms] = stats::mean_and_deviation(&stats::search_ms(&record.samples))
            .unwrap_or([record.summary.search_ms_median, 0.0]);
        let [upload_ms, download_ms] = [Phase::Upload, Phase::Download]
            .map(|phase| stats::mean_ms(&record.samples, phase).unwrap_or(0.0));
        // Details after the comma, such as in `CPU, clusters`, are in the legend already.
        let device = record.device.name.split(',').next().unwrap_or_default().to_owned();
        self.measured.push(Measurement {
            method,
            sizes: Size::ALL.map(|size| size.value(record)),
            ms: record.summary.search_ms_median,
            mean_ms,
            deviation_ms,
            upload_ms,
            download_ms,
            peak: record.peaks.and_then(|peaks| peaks.bytes_per_second),
            wrong: mean("wrong"),
            accessed: mean("distance_evals"),
            retained: mean("candidates"),
            active: record.summary.active_threads,
        });
        let spec = &record.spec;
        if self.metric_and_data.is_empty() {
            self.metric_and_data = vec![spec.metric.name().to_owned(), data(&spec.data)];
            let repeats = count(spec.repeats.into(), "repeat", "repeats");
            self.repeats = Some(format!(
                "Means of {repeats} after {} untimed; bars are \u{b1} one standard deviation.",
                spec.warmup
            ));
        }
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }

    /// What runs share, and the ranges of sizes that are not shown otherwise.
    fn conditions(&self) -> Vec<String> {
        let with_q = self.n_follows && [self.axes.curve, self.axes.panel].contains(&Some(Size::Q));
        let is_drawn = |size: Size| match (&self.axes.x, size) {
            (XQuantity::Size(x), _) if *x == size => true,
            (XQuantity::Share, Size::K) => true,
            (_, Size::N) if with_q => true,
            _ => [self.axes.curve, self.axes.panel].contains(&Some(size)),
        };
        let of_size = |size: Size| {
            let values = self.values(size);
            let [first, .., last] = values[..] else {
                return values.first().map(|value| named(size, *value));
            };
            Some(format!("{} to {}", named(size, first), draw::label(last as f64)))
        };
        let sizes = Size::ALL.into_iter().filter(|size| !is_drawn(*size)).filter_map(of_size);
        sizes.chain(self.metric_and_data.iter().cloned()).chain(self.lines.common.iter().cloned()).collect()
    }

    /// The distinct values of a size, ascending.
    fn values(&self, size: Size) -> Vec<u64> {
        let mut values: Vec<u64> = self.measured.iter().map(|run| run.size(size)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// A size's value for legends and panel titles, with n if n follows from q.
    fn value_label(&self, size: Size, value: u64) -> String {
        let mut of_n =
            self.measured.iter().filter(|run| run.size(size) == value).map(|run| run.size(Size::N));
        let first = of_n.next().filter(|_| self.n_follows && size == Size::Q);
        match first.filter(|first| of_n.all(|n| n == *first)) {
            Some(n) => format!("{}, {}", named(Size::N, n), named(size, value)),
            None => named(size, value),
        }
    }

    /// The values that have a panel each; a single `None` if panels are not split by a size.
    fn panel_values(&self) -> Vec<Option<u64>> {
        match self.axes.panel.map(|size| self.values(size)).filter(|values| !values.is_empty()) {
            Some(values) => values.into_iter().map(Some).collect(),
            None => vec![None],
        }
    }

    /// Identifies a run's line: its method's name, and the value of a size.
    fn series_of(&self, run: &Measurement) -> (usize, Option<u64>) {
        (self.lines.of_method[run.method], self.axes.curve.map(|size| run.size(size)))
    }

    /// All lines, in the order of methods.
    fn series(&self) -> Vec<(usize, Option<u64>)> {
        let mut all: Vec<_> = self.measured.iter().map(|run| self.series_of(run)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A line's name in the legend.
    fn series_name(&self, (line, value): (usize, Option<u64>)) -> String {
        let name = &self.lines.names[line];
        match self.axes.curve.zip(value) {
            Some((size, value)) if name.is_empty() => self.value_label(size, value),
            Some((size, value)) => format!("{name}, {}", self.value_label(size, value)),
            None => name.clone(),
        }
    }

    fn x(&self, run: &Measurement) -> Option<f64> {
        match &self.axes.x {
            XQuantity::Size(size) => Some(run.size(*size) as f64),
            // k is a whole number, so for few points the share is not exactly the requested one.
            XQuantity::Share => {
                Some((1e4 * run.size(Size::K) as f64 / run.size(Size::N) as f64).round() / 1e2)
            }
            XQuantity::Parameter { name, .. } => {
                self.methods[run.method].parameters().number(name).map(f64::from)
            }
        }
    }

    /// A run's value in a panel, and its relative standard deviation.
    fn y(&self, panel: PanelQuantity, dashed: bool, run: &Measurement) -> Option<[f64; 2]> {
        let exact = |value: Option<f64>| value.map(|value| [value, 0.0]);
        match (panel, dashed) {
            (PanelQuantity::Time, false) => exact(Some(run.ms)),
            (PanelQuantity::Throughput, false) => Some([
                run.size(Size::N) as f64 * run.size(Size::Q) as f64 / (run.mean_ms / 1e3),
                run.relative(),
            ]),
            (PanelQuantity::Speedup, false) => {
                let first =
                    self.measured.iter().find(|first| first.method == 0 && first.sizes == run.sizes)?;
                // With a line per size, the first method would only add lines at 1.
                if self.axes.curve.is_some() && run.method == 0 {
                    return None;
                }
                let deviation = if run.method == 0 { 0.0 } else { first.relative().hypot(run.relative()) };
                Some([first.mean_ms / run.mean_ms, deviation])
            }
            (PanelQuantity::Transfer, false) => {
                // Only the first run of a cloud uploaded its points.
                let of_cloud = |other: &&Measurement| {
                    other.method == run.method
                        && [Size::N, Size::Q, Size::D]
                            .into_iter()
                            .all(|size| other.size(size) == run.size(size))
                };
                let upload_ms =
                    self.measured.iter().filter(of_cloud).map(|run| run.upload_ms).fold(0.0, f64::max);
                Some([run.mean_ms / (upload_ms + run.download_ms), run.relative()])
            }
            (PanelQuantity::Points, false) => exact(run.accessed),
            (PanelQuantity::Points, true) => exact(run.retained),
            (PanelQuantity::Wrong, false) => exact(run.wrong),
            (PanelQuantity::ActiveThreads, false) => exact(run.active),
            (
                PanelQuantity::Time
                | PanelQuantity::Throughput
                | PanelQuantity::Speedup
                | PanelQuantity::Transfer
                | PanelQuantity::Wrong
                | PanelQuantity::ActiveThreads,
                true,
            ) => None,
        }
    }

    /// The non-empty lines of a panel, for one of [`Self::panel_values`].
    fn curves(&self, panel: PanelQuantity, panel_value: Option<u64>) -> Vec<Curve> {
        let is_in_panel = |run: &&Measurement| {
            self.axes.panel.zip(panel_value).is_none_or(|(size, value)| run.size(size) == value)
        };
        let mut curves = Vec::new();
        for (series, of) in self.series().into_iter().enumerate() {
            for dashed in [false, true] {
                let runs = self.measured.iter().filter(is_in_panel).filter(|run| self.series_of(run) == of);
                let mut points: Vec<([f64; 3], &Measurement)> = runs
                    .filter_map(|run| {
                        self.y(panel, dashed, run)
                            .and_then(|[y, deviation]| Some(([self.x(run)?, y, deviation], run)))
                    })
                    .collect();
                points.retain(|([x, y, _], _)| {
                    [x, y].into_iter().all(|value| *value > 0.0 && value.is_finite())
                });
                // Runs at the same x differ in the parameter whose best value counts; keep the fastest.
                points.sort_by(|([a, ..], one), ([b, ..], other)| {
                    a.total_cmp(b).then(one.mean_ms.total_cmp(&other.mean_ms))
                });
                points.dedup_by_key(|([x, ..], _)| *x);
                if !points.is_empty() {
                    let note = |run: &Measurement| {
                        self.axes
                            .best
                            .as_ref()
                            .and_then(|name| self.methods[run.method].parameters().get(name))
                            .unwrap_or_default()
                    };
                    curves.push(Curve {
                        series,
                        dashed,
                        points: points.iter().map(|([x, y, _], _)| [*x, *y]).collect(),
                        deviations: points.iter().map(|([.., deviation], _)| *deviation).collect(),
                        notes: points.iter().map(|(_, run)| note(run).to_owned()).collect(),
                    });
                }
            }
        }
        curves
    }

    /// Measured read bandwidth in bytes per second, if all runs were on one device.
    fn peak(&self) -> Option<f64> {
        let mut peaks = self
            .measured
            .iter()
            .map(|run| run.peak)
            .collect::<Option<Vec<f64>>>()
            .filter(|_| self.devices.len() == 1)?;
        // The bandwidth is measured again if a run exceeds it; the largest is right.
        peaks.sort_by(f64::total_cmp);
        peaks.pop()
    }

    /// Whether a count was 0, which a logarithmic axis cannot show.
    fn has_zeros(&self) -> bool {
        let counts = |run: &Measurement| {
            [
                (PanelQuantity::Points, run.accessed),
                (PanelQuantity::Points, run.retained),
                (PanelQuantity::Wrong, run.wrong),
            ]
        };
        self.measured
            .iter()
            .flat_map(counts)
            .any(|(panel, count)| self.panels.contains(&panel) && count == Some(0.0))
    }

    /// The points that a publication states for a panel; none if its sizes or data differ.
    fn stated_in(&self, panel: PanelQuantity) -> Vec<[f64; 2]> {
        let all = self.stated.iter().flat_map(|stated| &stated.at).filter(|_| self.is_as_published);
        all.filter(|(of, ..)| *of == panel).map(|&(_, x, y)| [x, y]).collect()
    }

    /// The current figure as an SVG file on a light background.
    pub fn svg(&self) -> String {
        svg(&draw::drawing(self), &LIGHT)
    }
}

fn named(size: Size, value: u64) -> String {
    format!("{} = {}", size.name(), draw::label(value as f64))
}

/// The source of the points; sizes of a generator are shown elsewhere.
fn data(source: &Source) -> String {
    let Source::Generate { spec, seed } = source else { return source.to_string() };
    let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
    let is_size =
        |parameter: &&str| ["n", "d", ""].contains(&parameter.split('=').next().unwrap_or_default().trim());
    let others: Vec<&str> = parameters.split(',').filter(|parameter| !is_size(parameter)).collect();
    let colon = if others.is_empty() { "" } else { ":" };
    format!("{}{colon}{} (seed {seed})", name.trim(), others.join(","))
}

#[cfg(test)]
mod tests;

/// The names of lines.
#[derive(Debug, Default, PartialEq)]
pub struct Legend {
    /// The distinct names, in the order of methods. A single name is empty if sizes distinguish the lines.
    pub names: Vec<String>,
    /// The index into `names` of each method.
    pub of_method: Vec<usize>,
    /// What all methods have in common.
    pub common: Vec<String>,
}

impl Legend {
    /// Names for a preset's figure: methods that differ only in the parameter on the x axis, or in the one
    /// whose best value counts, share a name; common parameters are left out. Without axes, each method has
    /// its full name.
    pub fn new(methods: &[EngineChoice], axes: Option<&FigureLayout>) -> Self {
        let Some(axes) = axes else {
            return Self {
                names: methods.iter().map(ToString::to_string).collect(),
                of_method: (0..methods.len()).collect(),
                common: Vec::new(),
            };
        };
        let shared: Vec<(String, String)> = methods.first().map_or_else(Vec::new, |first| {
            let by_all = |(name, value): &(&str, &str)| {
                methods.iter().all(|method| method.parameters().get(name) == Some(value))
            };
            first
                .parameters()
                .iter()
                .filter(by_all)
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        });
        let x = if let XQuantity::Parameter { name, .. } = &axes.x { Some(name.as_str()) } else { None };
        let name_of = |choice: &EngineChoice| {
            let EngineChoice::Named(Method { engine, parameters }) = choice else {
                return choice.to_string();
            };
            let mut method = Method { engine: *engine, parameters: parameters.clone() };
            let best = axes.best.as_deref().filter(|name| parameters.get(name).is_some());
            for name in shared.iter().map(|(name, _)| name.as_str()).chain(x).chain(best) {
                method.parameters.unset(name);
            }
            best.map_or_else(|| method.to_string(), |best| format!("{method}, best {best}"))
        };
        let mut lines = Self::default();
        for name in methods.iter().map(name_of) {
            let at = lines.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                lines.names.push(name);
                lines.names.len() - 1
            });
            lines.of_method.push(at);
        }
        if let ([name], Some(_)) = (&mut lines.names[..], axes.curve) {
            lines.common.push(std::mem::take(name));
        }
        lines.common.extend(shared.into_iter().map(|(name, value)| format!("{name}={value}")));
        lines
    }
}

#[cfg(test)]
mod tests_of_lines {
    use super::*;
    use crate::run::sweep::Size;

    fn lines(methods: &str, axes: Option<FigureLayout>) -> Legend {
        Legend::new(&EngineChoice::list(methods).unwrap(), axes.as_ref())
    }

    const AXES: FigureLayout =
        FigureLayout { x: XQuantity::Size(Size::K), curve: None, panel: None, best: None };

    #[test]
    fn shared_parameters_are_listed_once() {
        let found = lines("bits:slots=ballot,timed=selection,warp-select:timed=selection", Some(AXES));
        assert_eq!(
            (found.names, found.common),
            (
                vec!["bits:slots=ballot".to_owned(), "warp-select".to_owned()],
                vec!["timed=selection".to_owned()]
            )
        );
        let found = lines("bits:timed=selection", None);
        assert_eq!(
            (found.names, found.common),
            (vec!["bits:timed=selection".to_owned()], vec![]),
            "a sweep without a preset"
        );
    }

    #[test]
    fn best_and_default_values_form_separate_lines() {
        let found = lines(
            "warp-select:queue=2|3,bits,warp-select",
            Some(FigureLayout { best: Some("queue".to_owned()), ..AXES }),
        );
        assert_eq!(found.names, ["warp-select, best queue", "bits", "warp-select"]);
        assert_eq!(found.of_method, [0, 0, 1, 2]);
    }

    #[test]
    fn axis_parameter_values_share_one_line() {
        let x = XQuantity::Parameter { name: "parts".to_owned(), about: String::new() };
        let found =
            lines("bits:parts=1|2|4,timed=selection", Some(FigureLayout { x, curve: Some(Size::K), ..AXES }));
        assert_eq!((found.names, found.of_method), (vec![String::new()], vec![0, 0, 0]));
        assert_eq!(found.common, ["bits", "timed=selection"]);
    }
}
