//! Timings: time per phase, search time of each repeat, and a roofline plot.

use std::collections::BTreeMap;

use egui_plot::{AxisHints, Bar, BarChart, HLine, LineStyle, PlotPoints, Points};

use super::empty::{Pane, PaneContext, without_run};
use super::plots::{
    decades, fitting_title, hover_label, inline_line_ui, inline_swatch_ui, line, plot, power, prefixed,
    scrolled_plot_ui, swatch_ui, whole_numbers, y_title,
};
use crate::app::features::export::PaneData;
use crate::app::model::{TimingsFigure, TimingsView, shown_run};
use crate::app::prelude::*;
use crate::knn::Peaks;
use crate::run::analysis::{self, Roofline};
use crate::run::planner::Planner;
use crate::run::{Phase, RunRecord};
use crate::text;

pub const PANE: Pane = Pane {
    kind: PaneKind::Timings,
    draw: timings_ui,
    data: |session| session.counted_record().map(PaneData::Timings),
    exports: &[],
};

/// Minimum height of a figure; a lower pane scrolls.
const MIN_FIGURE_HEIGHT: f32 = 150.0;

fn timings_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(record) = session.record.as_ref().or(session.answered.as_ref().map(|answered| &answered.record))
    else {
        return without_run(session, "timings", "Press Run to measure.").ui(ui, palette);
    };
    let phases = per_repeat(record);
    // Computed once for the run shown; single answers have few queries, so computing is cheap.
    let is_shown = session.has_record(record);
    let roofline = if is_shown {
        session.derived.as_ref().and_then(|derived| derived.roofline.clone())
    } else {
        Roofline::of_run(record)
    };
    let size = ui.available_size();
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        if session.picture.is_none() {
            let bound = roofline.as_ref().map(Roofline::sentence);
            let sentences =
                [analysis::where_time_goes(record), bound, analysis::outlook(record, &Planner::shared())]
                    .into_iter()
                    .flatten();
            ui.scope(|ui| {
                ui.set_max_width(size.x);
                ui.add(Label::new(sentences.collect::<Vec<_>>().join(" ")).wrap());
            });
        }
        if let Some(shown) = shown_run(record, &context.state.draft).filter(|_| session.picture.is_none()) {
            ui.label(palette.small(shown));
        }
        if session.has_legend() {
            phases_ui(ui, &phases, palette);
        }
        let view = context.state.timings;
        if session.picture.is_none() && phases.contains_key(&Phase::Search) {
            let mut figure = view.figure;
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                ui.set_max_width(size.x);
                for offered in TimingsFigure::ALL {
                    ui.selectable_value(&mut figure, offered, offered.text());
                }
                ui.label(palette.weak(about(record, view.figure)));
            });
            if figure != view.figure {
                context.actions.send(Action::SetTimings(TimingsView { figure }));
            }
        }
        match view.figure {
            TimingsFigure::Repeats => searches_ui(ui, &phases, size, palette),
            TimingsFigure::Roofline => roofline_ui(ui, record, roofline.as_ref(), size, palette),
        }
    });
}

/// The caption of a figure.
fn about(record: &RunRecord, figure: TimingsFigure) -> String {
    match figure {
        TimingsFigure::Repeats => {
            // Only engines that compute all distances have a rate.
            let rate = record
                .summary
                .distances_per_second
                .map_or_else(String::new, |rate| format!(" at {}", text::rate(rate)));
            format!("Search time on {}{rate}", record.engine)
        }
        TimingsFigure::Roofline => "Hardware limits (line) and this search (dot)".to_owned(),
    }
}

fn phases_ui(ui: &mut Ui, phases: &BTreeMap<Phase, Vec<f64>>, palette: &Palette) {
    egui::Grid::new("phases").num_columns(4).spacing([9.0, 2.0]).min_row_height(17.0).show(ui, |ui| {
        // Nothing is clickable, so lines can be as low as their text.
        ui.spacing_mut().interact_size.y = 17.0;
        // Columns of varying width come last.
        for name in ["phase", "runs", "median", "range"] {
            ui.label(palette.weak(name));
        }
        ui.end_row();
        for (&phase, times) in phases {
            let (least, median, most) = spread(times);
            swatch_ui(ui, palette.phase(phase), phase.name()).on_hover_text(phase.about());
            let cell = |ui: &mut Ui, text: String| ui.label(number(text).size(12.0));
            cell(ui, text::thousands(times.len() as u64));
            cell(ui, text::time(median));
            cell(ui, if times.len() == 1 { String::new() } else { text::times(least, most) });
            ui.end_row();
        }
    });
}

fn searches_ui(ui: &mut Ui, phases: &BTreeMap<Phase, Vec<f64>>, size: Vec2, palette: &Palette) {
    let Some(searches) = phases.get(&Phase::Search) else { return };
    let (_, median, _) = spread(searches);
    let color = palette.phase(Phase::Search);
    let bars: Vec<Bar> = searches
        .iter()
        .enumerate()
        .map(|(repeat, &ms)| Bar::new(repeat as f64 + 1.0, ms).width(0.7).fill(color))
        .collect();
    let searches_count = searches.len();
    let repeats = searches_count as f64;
    plot("timings", palette)
        .height((size.y - ui.min_rect().height() - 10.0).max(MIN_FIGURE_HEIGHT))
        .width(size.x)
        .include_y(0.0)
        .default_x_bounds(0.4, repeats + 0.6)
        .x_grid_spacer(move |_| whole_numbers(searches_count))
        .custom_x_axes(vec![AxisHints::new_x().label("repeat").label_spacing(18.0..=24.0).formatter(
            |mark, _| {
                if mark.value.fract() == 0.0 && mark.value >= 1.0 {
                    text::thousands(mark.value as u64)
                } else {
                    String::new()
                }
            },
        )])
        .custom_y_axes(vec![
            AxisHints::new_y().label_spacing(14.0..=20.0).formatter(|mark, _| text::time(mark.value)),
        ])
        .label_formatter(hover_label(|_, at| Some(format!("repeat {:.0}\n{}", at.x, text::time(at.y)))))
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("search", bars).color(color));
            plot.hline(
                HLine::new("median", median).color(palette.text).width(1.5).style(LineStyle::dashed_dense()),
            );
        });
}

/// The roofline: FP32 instructions per second against instructions per byte, both logarithmic, with the
/// search below the limits of memory and arithmetic.
fn roofline_ui(ui: &mut Ui, record: &RunRecord, roofline: Option<&Roofline>, size: Vec2, palette: &Palette) {
    let weak = |ui: &mut Ui, text: &str| _ = ui.label(palette.weak(text));
    let Some(roofline) = roofline else {
        return weak(ui, "No roofline: this run has no measured device peak, or exceeded it. Run again.");
    };
    let (Some(intensity), Some(achieved)) = (roofline.intensity(), roofline.achieved()) else {
        return weak(ui, &format!("{} does not count FP32 distances here.", record.engine));
    };
    let Peaks { fp32_per_second, bytes_per_second, .. } = roofline.peaks;
    let ridge = bytes_per_second.map_or(intensity, |bytes| fp32_per_second / bytes);
    let ends = [intensity.min(ridge) / 10.0, intensity.max(ridge) * 10.0];
    let log = |intensity: f64, rate: f64| [intensity.log10(), rate.log10()];
    let roof: Vec<[f64; 2]> = [ends[0], ridge, ends[1]].map(|at| log(at, roofline.roof(at))).to_vec();
    let below = vec![log(intensity, achieved), log(intensity, roofline.roof(intensity))];
    ui.horizontal_wrapped(|ui| {
        ui.set_max_width(size.x);
        let (unit, scale) = text::unit_prefix(fp32_per_second);
        let memory = bytes_per_second.map_or_else(String::new, |bytes| {
            let (unit, scale) = text::unit_prefix(bytes);
            format!(", memory {} {unit}B/s", text::significant(bytes / scale))
        });
        inline_line_ui(
            ui,
            palette.theory,
            false,
            &format!("FP32 {} {unit} instructions/s{memory}", text::significant(fp32_per_second / scale)),
        );
        inline_swatch_ui(
            ui,
            palette.phase(Phase::Search),
            &format!("{}, {:.0} % of the limit", record.engine, achieved / roofline.roof(intensity) * 100.0),
        );
    });
    let height = (size.y - ui.min_rect().height() - 10.0).max(MIN_FIGURE_HEIGHT);
    let per_byte =
        ["FP32 instructions per byte of points, queries and answers", "FP32 instructions per byte"];
    let figure = plot("roofline", palette)
        .height(height)
        .width(size.x - 4.0)
        .x_axis_label(fitting_title(ui, size.x - 60.0, &per_byte))
        .y_axis_label(y_title(ui, height, &["FP32 instructions per second", "FP32 per second", "FP32/s"]))
        .x_grid_spacer(decades)
        .y_grid_spacer(decades)
        .x_axis_formatter(power)
        .y_axis_formatter(prefixed)
        .include_y(achieved.log10() - 0.5)
        .include_y(fp32_per_second.log10() + 0.3)
        .label_formatter(hover_label(|name, at| {
            let [intensity, rate] = [at.x, at.y].map(|log| text::digits(10f64.powf(log), 3));
            Some(format!("{name}\n{intensity} instructions per byte\n{rate} instructions per second"))
        }));
    scrolled_plot_ui(ui, |ui| {
        figure.show(ui, |plot| {
            plot.line(line("hardware limit", roof, palette.theory, 2.0));
            plot.line(
                line("gap to the limit", below, palette.text_weak, 1.0).style(LineStyle::dashed_dense()),
            );
            let at = vec![log(intensity, achieved)];
            plot.points(
                Points::new(record.engine.to_string(), PlotPoints::from(at))
                    .color(palette.phase(Phase::Search))
                    .radius(5.0),
            );
        })
    });
}

/// Milliseconds of each repeat by phase, summed over chunks.
fn per_repeat(record: &RunRecord) -> BTreeMap<Phase, Vec<f64>> {
    let mut sums: BTreeMap<Phase, BTreeMap<u32, f64>> = BTreeMap::new();
    for sample in &record.samples {
        *sums.entry(sample.phase).or_default().entry(sample.repeat).or_default() += sample.duration_ms;
    }
    sums.into_iter().map(|(phase, repeats)| (phase, repeats.into_values().collect())).collect()
}

/// Minimum, median and maximum.
fn spread(times: &[f64]) -> (f64, f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else { return (0.0, 0.0, 0.0) };
    let middle = sorted.len() / 2;
    let median = if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted[middle]
    };
    (least, median, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn chunks_are_summed_within_each_repeat() {
        let phases = per_repeat(&record());
        assert_eq!(phases[&Phase::Search], [1.0, 1.2]);
        assert_eq!(spread(&phases[&Phase::Search]), (1.0, 1.1, 1.2));
        assert_eq!(spread(&[3.0, 1.0, 2.0]), (1.0, 2.0, 3.0));
    }
}
