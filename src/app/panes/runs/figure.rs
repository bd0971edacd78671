//! Histograms and convergence of two runs, one over the other.

use egui::{RichText, Stroke, Ui};
use egui_plot::{AxisHints, Bar, BarChart, Corner, FilledArea, HoverPosition, Legend, Line, PlotPoints};

use crate::app::features::runs::state::list::Compared;
use crate::app::features::runs::state::{Figure, RunsAction, RunsView};
use crate::app::look::{Palette, any_of, heading_ui};
use crate::app::panes::decades::{decades, power};
use crate::app::panes::descriptor::PaneContext;
use crate::app::panes::timings::plot;
use crate::engines::registry;
use crate::knn::Measure;
use crate::run::compare::{Histogram, Quantity};
use crate::text;

/// How high a figure is.
const HEIGHT: f32 = 200.0;

/// The chooser and the chosen figure.
pub fn figure_ui(ui: &mut Ui, compared: &Compared, context: &mut PaneContext<'_>) {
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
    let weak = |ui: &mut Ui, text: &str| ui.label(RichText::new(text).color(context.palette.text_weak));
    match &view.figure {
        Figure::Histogram(quantity) => match compared.histogram(quantity) {
            Some(histogram) => histogram_ui(ui, quantity, histogram, context.palette),
            None => {
                weak(ui, &nothing_of(quantity));
            }
        },
        Figure::Convergence if compared.bands.iter().all(Vec::is_empty) => {
            weak(ui, &format!("Neither run keeps a history of max_distance; runs of {} do.", any_of(&registry::with_history())));
        }
        Figure::Convergence => convergence_ui(ui, compared, context.palette),
    }
}

/// Why neither run has a distribution.
fn nothing_of(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Measure(name) => {
            let counting = registry::counting(name);
            let who = if counting.is_empty() { String::new() } else { format!("; runs of {} do", any_of(&counting)) };
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
    plot("", palette)
        .id(egui::Id::unique(&id))
        .height(HEIGHT)
        .width(ui.available_width().max(240.0))
        .include_y(0.0)
        .custom_x_axes(vec![AxisHints::new_x().label(label).label_spacing(if is_time { 50.0..=80.0 } else { 30.0..=60.0 }).formatter(
            move |mark, range| {
                // At the very end a label would be cut.
                let has_room = mark.value < range.end() - 0.03 * (range.end() - range.start());
                if has_room && (!whole || mark.value.fract() == 0.0) { written(mark.value) } else { String::new() }
            },
        )])
        .custom_y_axes(vec![AxisHints::new_y().label("share, %").label_spacing(12.0..=24.0)])
        .label_formatter(move |at| match at {
            HoverPosition::NearDataPoint { plot_name, position, .. } => {
                let bin = edges.windows(2).position(|pair| (place(pair[0])..place(pair[1])).contains(&position.x))?;
                let side = usize::from(*plot_name == "B");
                let all: u64 = counts[side].iter().sum();
                Some(format!(
                    "{plot_name}: {} of {}\n{} to {}",
                    text::thousands(counts[side][bin]),
                    text::thousands(all),
                    written(place(edges[bin])),
                    written(place(edges[bin + 1]))
                ))
            }
            HoverPosition::Elsewhere { .. } => None,
        })
        .legend(Legend::default().position(Corner::RightTop).follow_insertion_order(true).background_alpha(0.8))
        .show(ui, |plot| {
            for (name, shares, color) in [("A", a, palette.runs[0]), ("B", b, palette.runs[1])] {
                let bars = histogram.edges.windows(2).zip(shares).filter(|(_, share)| *share > 0.0).map(|(pair, share)| {
                    let (from, to) = (place(pair[0]), place(pair[1]));
                    Bar::new(f64::midpoint(from, to), share).width(to - from).fill(color.gamma_multiply(0.45)).stroke(Stroke::new(1.0, color))
                });
                plot.bar_chart(BarChart::new(name, bars.collect()).color(color));
            }
        });
}

fn convergence_ui(ui: &mut Ui, compared: &Compared, palette: &Palette) {
    ui.label(RichText::new("Squared max_distance: median of the queries, and the band of 10 to 90 %").color(palette.text_weak).small());
    plot("", palette)
        .id(egui::Id::unique("compared convergence"))
        .height(HEIGHT)
        .width(ui.available_width().max(240.0))
        .x_axis_label("points seen")
        .x_grid_spacer(decades)
        .y_grid_spacer(decades)
        .x_axis_formatter(power)
        .y_axis_formatter(power)
        .label_formatter(|hover| match hover {
            HoverPosition::NearDataPoint { plot_name, position, .. } => {
                Some(format!("{plot_name}\n{} points seen\n{}", text::digits(10f64.powf(position.x), 3), text::digits(10f64.powf(position.y), 3)))
            }
            HoverPosition::Elsewhere { .. } => None,
        })
        .legend(Legend::default().position(Corner::LeftBottom).follow_insertion_order(true).background_alpha(0.8))
        .show(ui, |plot| {
            for (side, name) in ["A", "B"].into_iter().enumerate() {
                let color = palette.runs[side];
                // A distance of 0 (duplicates) has no place on a log scale.
                let shown: Vec<_> = compared.bands[side].iter().filter(|step| step.low > 0.0 && step.high.is_finite()).collect();
                let xs: Vec<f64> = shown.iter().map(|step| step.points_seen.log10()).collect();
                let lows: Vec<f64> = shown.iter().map(|step| step.low.log10()).collect();
                let highs: Vec<f64> = shown.iter().map(|step| step.high.log10()).collect();
                let medians: Vec<[f64; 2]> = shown.iter().map(|step| [step.points_seen.log10(), step.median.log10()]).collect();
                if !xs.is_empty() {
                    plot.add(FilledArea::new(format!("{name}, 10 to 90 %"), &xs, &lows, &highs).fill_color(color.gamma_multiply(0.2)));
                    plot.line(Line::new(format!("{name}, median"), PlotPoints::from(medians)).color(color).width(1.5).allow_band(false));
                }
            }
        });
}
