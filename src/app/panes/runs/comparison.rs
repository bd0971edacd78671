//! Comparison of two runs: times, answers, parameters.

use egui::Grid;
use egui_plot::{AxisHints, Bar, BarChart, Corner, FilledArea, Legend};

use crate::app::features::runs::state::{Figure, ListedRun, RunComparison, RunsAction, RunsView};
use crate::app::look::{any_of, heading_ui};
use crate::app::panes::empty::PaneContext;
use crate::app::panes::plots::{decades, hover_label, inline_swatch_ui, line, plot, power, scrolled_plot_ui};
use crate::app::prelude::*;
use crate::engines::registry;
use crate::knn::Measure;
use crate::run::compare::{
    DurationStats, Histogram, IN_TURN, OUTLIER_RULE, PhaseComparison, Quantity, Verdict,
};
use crate::text;

pub fn comparison_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let runs = &context.session.runs;
    let Some([a, b]) = runs.pair() else { return };
    if let Some(sentence) = runs.compared.as_ref().and_then(|compared| compared.comparison.sentence()) {
        let sentence = sentence.replace(IN_TURN, "Compare engines, in Engines, runs engines in turn.");
        ui.add(Label::new(RichText::new(sentence).size(15.0)).wrap());
    }
    heads_ui(ui, [a, b], context);
    let Some(compared) = runs.compared.clone() else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(context.palette.weak("Comparing…"));
        });
        return;
    };
    // Side by side if there is room; timings first, because they matter most.
    if ui.available_width() > 840.0 {
        ui.horizontal_top(|ui| {
            let half = ui.available_width() / 2.0 - 8.0;
            ui.vertical(|ui| {
                ui.set_width(half);
                timings_ui(ui, &compared, context.palette);
                parameters_ui(ui, &compared, context);
            });
            ui.vertical(|ui| figure_ui(ui, &compared, context));
        });
    } else {
        timings_ui(ui, &compared, context.palette);
        figure_ui(ui, &compared, context);
        parameters_ui(ui, &compared, context);
    }
}

fn heads_ui(ui: &mut Ui, pair: [&ListedRun; 2], context: &mut PaneContext<'_>) {
    for (side, run) in pair.into_iter().enumerate() {
        ui.horizontal(|ui| {
            inline_swatch_ui(ui, context.palette.runs[side], ["A", "B"][side]);
            ui.add(Label::new(RichText::new(&run.name).strong()).truncate());
        });
    }
    ui.horizontal_wrapped(|ui| {
        if ui.button("Swap A and B").clicked() {
            context.actions.send(RunsAction::Swap);
        }
        if ui.button("Stop comparing").clicked() {
            context.actions.send(RunsAction::ChooseNone);
        }
    });
}

fn timings_ui(ui: &mut Ui, compared: &RunComparison, palette: &Palette) {
    let comparison = &compared.comparison;
    if let Some(answers) = &comparison.answers {
        let color = if answers.identical() { palette.text } else { palette.warning };
        ui.label(RichText::new(answers.sentence()).color(color));
    } else if let Some(why) = &comparison.no_answers {
        ui.label(palette.weak(format!("Neighbours are not compared: {why}.")));
    }
    heading_ui(ui, "Time per phase");
    if comparison.phases.is_empty() {
        ui.label(palette.weak("No phase was timed in both."));
    }
    Grid::new("compared phases").num_columns(6).spacing([12.0, 3.0]).show(ui, |ui| {
        for (name, color) in [
            ("phase", palette.text_weak),
            ("A", palette.runs[0]),
            ("B", palette.runs[1]),
            ("B − A", palette.text_weak),
            ("B ÷ A", palette.text_weak),
        ] {
            ui.label(RichText::new(name).color(color).strong());
        }
        ui.end_row();
        for phase in &comparison.phases {
            phase_ui(ui, phase, palette);
            ui.end_row();
        }
    });
    ui.label(palette.small(format!(
        "Medians, and under them the interquartile range (IQR) of the repeats, without outliers \
         ({OUTLIER_RULE}). Under the ratio, the limits between which it lies with a confidence of 95 %; a \
         difference is called one where 1 is not between them.",
    )));
}

fn phase_ui(ui: &mut Ui, phase: &PhaseComparison, palette: &Palette) {
    let small = |text: String| palette.small(text);
    let cell = |ui: &mut Ui, above: RichText, below: RichText| {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(Label::new(above).extend());
            ui.add(Label::new(below).extend());
        });
    };
    let of_spread = |ui: &mut Ui, spread: &DurationStats| {
        let below = match spread.repeats {
            1 => "once".to_owned(),
            _ => format!(
                "{} to {}, {}×",
                text::time(spread.lower_quartile),
                text::time(spread.upper_quartile),
                spread.counted()
            ),
        };
        cell(ui, number(text::time(spread.median)).size(12.0), small(below));
    };
    let engines = if phase.engine_a == phase.engine_b {
        String::new()
    } else {
        format!("{} | {}", phase.engine_a, phase.engine_b)
    };
    cell(ui, RichText::new(phase.phase.name()).color(palette.phase(phase.phase)).strong(), small(engines));
    of_spread(ui, &phase.a);
    of_spread(ui, &phase.b);
    let verdict = phase.verdict;
    let color = verdict_color(verdict, palette);
    cell(
        ui,
        number(text::difference(phase.delta_ms)).size(12.0).color(color),
        RichText::new(phase.text()).small().color(color),
    );
    let between = phase.interval.map_or_else(String::new, |of| of.text());
    let ratio = phase.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{}×", text::digits(ratio, 3)));
    cell(ui, number(ratio).size(12.0).color(color), RichText::new(between).small().color(color));
}

fn verdict_color(verdict: Verdict, palette: &Palette) -> Color32 {
    match verdict {
        Verdict::OtherJob | Verdict::TooFew | Verdict::NoneShown | Verdict::Unclear | Verdict::Slight => {
            palette.text_weak
        }
        Verdict::Faster => palette.intermediate,
        Verdict::Slower => palette.error,
    }
}

fn parameters_ui(ui: &mut Ui, compared: &RunComparison, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let view = context.state.runs.clone();
    let parameters = &compared.comparison.parameters;
    let differing = parameters.iter().filter(|parameter| parameter.differs()).count();
    heading_ui(ui, "Parameters and conditions");
    let mut all = view.all_parameters;
    ui.horizontal_wrapped(|ui| {
        ui.label(match differing {
            0 => "All the same.".to_owned(),
            _ => format!(
                "{} of {} differ.",
                text::thousands(differing as u64),
                text::thousands(parameters.len() as u64)
            ),
        });
        ui.checkbox(&mut all, "Show all");
    });
    if all != view.all_parameters {
        context.actions.send(RunsAction::SetView(RunsView { all_parameters: all, ..view }));
    }
    if differing == 0 && !all {
        return;
    }
    Grid::new("compared parameters").num_columns(4).spacing([12.0, 3.0]).striped(true).show(ui, |ui| {
        for (name, color) in
            [("", palette.text_weak), ("", palette.text_weak), ("A", palette.runs[0]), ("B", palette.runs[1])]
        {
            ui.label(RichText::new(name).color(color).strong());
        }
        ui.end_row();
        for parameter in parameters.iter().filter(|parameter| all || parameter.differs()) {
            let differs = parameter.differs();
            ui.label(RichText::new(if differs { "≠" } else { "" }).color(palette.warning).strong());
            ui.label(palette.weak(&parameter.name));
            for value in [&parameter.a, &parameter.b] {
                let text = if value.is_empty() { "–" } else { value };
                let text = RichText::new(text).size(12.0).color(if differs {
                    palette.text
                } else {
                    palette.text_weak
                });
                ui.scope(|ui| {
                    ui.set_max_width(230.0);
                    ui.add(Label::new(text).wrap());
                });
            }
            ui.end_row();
        }
    });
}

// Histograms and convergence of two runs, overlaid.

const HEIGHT: f32 = 200.0;

/// The chooser and the chosen figure.
pub fn figure_ui(ui: &mut Ui, compared: &RunComparison, context: &mut PaneContext<'_>) {
    let view = context.state.runs.clone();
    heading_ui(ui, "Distributions");
    let mut figure = view.figure.clone();
    ui.horizontal_wrapped(|ui| {
        let histograms = compared.quantities.iter().cloned().map(Figure::Histogram);
        for offered in histograms.chain([Figure::Convergence]) {
            let text = offered.text();
            ui.selectable_value(&mut figure, offered, text);
        }
    });
    if figure != view.figure {
        context.actions.send(RunsAction::SetView(RunsView { figure, ..view.clone() }));
    }
    let weak = |ui: &mut Ui, text: &str| ui.label(context.palette.weak(text));
    match &view.figure {
        Figure::Histogram(quantity) => match compared.histogram(quantity) {
            Some(histogram) => histogram_ui(ui, quantity, histogram, context.palette),
            None => {
                weak(ui, &missing_figure_note(quantity));
            }
        },
        Figure::Convergence if compared.bands.iter().all(Vec::is_empty) => {
            weak(
                ui,
                &format!(
                    "Neither run keeps a history of max_distance; runs of {} do.",
                    any_of(&registry::with_history())
                ),
            );
        }
        Figure::Convergence => convergence_ui(ui, compared, context.palette),
    }
}

/// Why neither run has this distribution.
fn missing_figure_note(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Measure(name) => {
            let counting = registry::counting(name);
            let who = if counting.is_empty() {
                String::new()
            } else {
                format!("; runs of {} do", any_of(&counting))
            };
            format!("Neither run counts {}{who}.", Measure::words(name))
        }
        _ => "Neither run has any.".to_owned(),
    }
}

fn histogram_ui(ui: &mut Ui, quantity: &Quantity, histogram: &Histogram, palette: &Palette) {
    let log = histogram.log;
    let place = move |value: f64| if log { value.log10() } else { value };
    let is_time = matches!(quantity, Quantity::Repeats | Quantity::Chunks);
    let (whole, measure) = match quantity {
        Quantity::Measure(name) => (true, Measure::words(name)),
        _ => (false, String::new()),
    };
    let written = move |at: f64| {
        let value = if log { 10f64.powf(at) } else { at };
        match (is_time, whole) {
            (true, _) => text::time(value),
            (_, true) => text::thousands(value.max(0.0).round() as u64),
            _ => text::digits(value, 3),
        }
    };
    let label = match quantity {
        Quantity::Repeats => "search time of a repeat".to_owned(),
        Quantity::Chunks => "search time of a chunk of queries".to_owned(),
        Quantity::Measure(_) => format!("{measure} of a query"),
        Quantity::LastDistance => "distance of a query's last neighbour".to_owned(),
    };
    let (a, b) = histogram.shares();
    let counts = [histogram.a.clone(), histogram.b.clone()];
    let edges = histogram.edges.clone();
    let id = format!("histogram {quantity:?}");
    let figure = plot("", palette)
        .id(Id::unique(&id))
        .height(HEIGHT)
        .width(ui.available_width().max(240.0) - 4.0)
        .include_y(0.0)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(label)
                .label_spacing(if is_time { 50.0..=80.0 } else { 30.0..=60.0 })
                .formatter(move |mark, range| {
                    // At the end of the axis a label would be clipped.
                    let has_room = mark.value < range.end() - 0.03 * (range.end() - range.start());
                    if has_room && (!whole || mark.value.fract() == 0.0) {
                        written(mark.value)
                    } else {
                        String::new()
                    }
                }),
        ])
        .custom_y_axes(vec![AxisHints::new_y().label("share, %").label_spacing(12.0..=24.0)])
        .label_formatter(hover_label(move |name, at| {
            let bin = edges.windows(2).position(|pair| (place(pair[0])..place(pair[1])).contains(&at.x))?;
            let side = usize::from(name == "B");
            let all: u64 = counts[side].iter().sum();
            Some(format!(
                "{name}: {} of {}\n{} to {}",
                text::thousands(counts[side][bin]),
                text::thousands(all),
                written(place(edges[bin])),
                written(place(edges[bin + 1]))
            ))
        }))
        .legend(
            Legend::default().position(Corner::RightTop).follow_insertion_order(true).background_alpha(0.8),
        );
    scrolled_plot_ui(ui, |ui| {
        figure.show(ui, |plot| {
            for (name, shares, color) in [("A", a, palette.runs[0]), ("B", b, palette.runs[1])] {
                let bars = histogram.edges.windows(2).zip(shares).filter(|(_, share)| *share > 0.0).map(
                    |(pair, share)| {
                        let (from, to) = (place(pair[0]), place(pair[1]));
                        Bar::new(f64::midpoint(from, to), share)
                            .width(to - from)
                            .fill(color.gamma_multiply(0.45))
                            .stroke(Stroke::new(1.0, color))
                    },
                );
                plot.bar_chart(BarChart::new(name, bars.collect()).color(color));
            }
        })
    });
}

fn convergence_ui(ui: &mut Ui, compared: &RunComparison, palette: &Palette) {
    ui.label(palette.small("Squared max_distance: median of the queries, and the band of 10 to 90 %"));
    plot("", palette)
        .id(Id::unique("compared convergence"))
        .height(HEIGHT)
        .width(ui.available_width().max(240.0))
        .x_axis_label("points seen")
        .x_grid_spacer(decades)
        .y_grid_spacer(decades)
        .x_axis_formatter(power)
        .y_axis_formatter(power)
        .label_formatter(hover_label(|name, at| {
            Some(format!(
                "{name}\n{} points seen\n{}",
                text::digits(10f64.powf(at.x), 3),
                text::digits(10f64.powf(at.y), 3)
            ))
        }))
        .legend(
            Legend::default().position(Corner::LeftBottom).follow_insertion_order(true).background_alpha(0.8),
        )
        .show(ui, |plot| {
            for (side, name) in ["A", "B"].into_iter().enumerate() {
                let color = palette.runs[side];
                // A distance of 0 (duplicates) has no position on a log scale.
                let shown: Vec<_> = compared.bands[side]
                    .iter()
                    .filter(|step| step.low > 0.0 && step.high.is_finite())
                    .collect();
                let xs: Vec<f64> = shown.iter().map(|step| step.points_seen.log10()).collect();
                let lows: Vec<f64> = shown.iter().map(|step| step.low.log10()).collect();
                let highs: Vec<f64> = shown.iter().map(|step| step.high.log10()).collect();
                let medians: Vec<[f64; 2]> =
                    shown.iter().map(|step| [step.points_seen.log10(), step.median.log10()]).collect();
                if !xs.is_empty() {
                    plot.add(
                        FilledArea::new(format!("{name}, 10 to 90 %"), &xs, &lows, &highs)
                            .fill_color(color.gamma_multiply(0.2)),
                    );
                    plot.line(line(format!("{name}, median"), medians, color, 1.5));
                }
            }
        });
}
