//! Convergence: `max_distance` against points seen, with steps for the picked query, a band for all queries,
//! and the expected curve.

use egui_plot::{FilledArea, LineStyle};

use super::empty::{Pane, PaneContext, without_run};
use super::merges::DIFFERENT_PROBLEM;
use super::plots::{decades, hover_label, inline_line_ui, inline_swatch_ui, line, plot, power};
use crate::app::features::export::PaneData;
use crate::app::look::{any_of, if_shuffled};
use crate::app::prelude::*;
use crate::engines::registry;
use crate::run::analysis::{BandPoint, evenly_spaced};
use crate::text;

/// Maximum number of selected queries drawn as lines.
const MAX_LINES: usize = 40;

pub const PANE: Pane = Pane {
    kind: PaneKind::Convergence,
    draw: convergence_ui,
    data: |session| {
        session.counted_record().filter(|record| record.convergence.queries() > 0).map(PaneData::Convergence)
    },
    exports: &[],
};

fn convergence_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let compared = session.compared_record();
    let Some(record) = compared.or(session.answered.as_ref().map(|answered| &answered.record)) else {
        return without_run(session, "curves", "Press Run, or click a point in Plane or Space.")
            .ui(ui, palette);
    };
    if record.convergence.queries() == 0 {
        let next =
            format!("Choose {} on the left and press Run to record it.", any_of(&registry::with_history()));
        return empty_ui(ui, &format!("{} records no max_distance history", record.engine), &next, palette);
    }
    let mut view = context.state.convergence;
    let in_window = session.picture.is_none();
    ui.horizontal_wrapped(|ui| {
        if in_window {
            ui.label("Search radius² while scanning points");
            ui.checkbox(&mut view.log_y, "Log y axis");
        }
        if session.has_legend() {
            legend_ui(ui, context, compared.is_some(), record.convergence.queries());
        }
        if in_window && compared.is_none() && session.record.is_some() {
            ui.label(palette.small(DIFFERENT_PROBLEM));
        }
    });
    if view != context.state.convergence {
        context.actions.send(Action::SetConvergence(view));
    }
    let log_y = view.log_y;
    let evenly = egui_plot::log_grid_spacer(10);
    let up = move |value: f64| if log_y { value.log10() } else { value };
    // A distance of 0 (duplicates) has no position on a log scale.
    let fits = move |value: f64| value.is_finite() && (!log_y || value > 0.0);
    let at = move |x: f64, y: f64| [x.log10(), up(y)];

    let derived = session.derived.as_ref().filter(|_| compared.is_some());
    let whole: Vec<BandPoint> = derived.iter().flat_map(|derived| &derived.band).copied().collect();
    let band: Vec<BandPoint> =
        whole.iter().filter(|step| fits(step.low) && fits(step.high)).copied().collect();
    let xs: Vec<f64> = band.iter().map(|step| step.points_seen.log10()).collect();
    let lows: Vec<f64> = band.iter().map(|step| up(step.low)).collect();
    let highs: Vec<f64> = band.iter().map(|step| up(step.high)).collect();
    let medians: Vec<[f64; 2]> =
        whole.iter().filter(|step| fits(step.median)).map(|step| at(step.points_seen, step.median)).collect();
    let replayed = session.theory.as_ref().and_then(|curve| curve.replayed.as_ref());
    let walked = match (replayed, &session.answered) {
        (Some((seen, distances)), _) => steps(seen, distances),
        (None, Some(answered)) if answered.query < answered.record.convergence.queries() => {
            let (seen, distances) = answered.record.convergence.for_query(answered.query);
            steps(seen, distances)
        }
        (None, _) => Vec::new(),
    };
    let picked: Vec<[f64; 2]> = walked.iter().filter(|p| fits(p[1])).map(|&[x, y]| at(x, y)).collect();
    let expected_points = || session.theory.iter().flat_map(|curve| &curve.points);
    let theory: Vec<[f64; 2]> = expected_points().filter(|p| fits(p[1])).map(|&[x, y]| at(x, y)).collect();
    let zeros = whole.iter().any(|step| step.low == 0.0)
        || walked.iter().chain(expected_points()).any(|p| p[1] == 0.0);
    if log_y && zeros {
        ui.label(palette.small("distances of 0 are not drawn on a log scale"));
    }

    let queries = if compared.is_some() { &session.selection.queries()[..] } else { &[] };
    let lines: Vec<Vec<[f64; 2]>> = evenly_spaced(queries.len(), MAX_LINES)
        .map(|place| queries[place] as usize)
        .filter(|&query| query < record.convergence.queries())
        .map(|query| {
            let (seen, distances) = record.convergence.for_query(query);
            steps(seen, distances).into_iter().filter(|p| fits(p[1])).map(|[x, y]| at(x, y)).collect()
        })
        .collect();
    if queries.len() > MAX_LINES {
        let all = text::thousands(queries.len() as u64);
        ui.label(palette.small(format!("showing {MAX_LINES} of {all} selected queries, evenly spaced")));
    }
    let figure = plot(if log_y { "convergence, log" } else { "convergence" }, palette)
        .height((ui.available_height() - 4.0).max(60.0))
        .width(ui.available_width())
        .x_axis_label("points seen")
        .x_grid_spacer(decades)
        .x_axis_formatter(power)
        .y_axis_label(if in_window { "" } else { "squared max_distance" })
        .y_grid_spacer(move |input| if log_y { decades(input) } else { evenly(input) })
        .y_axis_formatter(
            move |mark, range| if log_y { power(mark, range) } else { text::digits(mark.value, 3) },
        )
        .label_formatter(hover_label(move |name, at| {
            let distance = if log_y { 10f64.powf(at.y) } else { at.y };
            Some(format!(
                "{name}\n{} points seen\n{}",
                text::digits(10f64.powf(at.x), 3),
                text::digits(distance, 3)
            ))
        }));
    figure.show(ui, |plot| {
        let fill = palette.intermediate.gamma_multiply(0.22);
        if !xs.is_empty() {
            plot.add(FilledArea::new("10 to 90 % of queries", &xs, &lows, &highs).fill_color(fill));
        }
        if !medians.is_empty() {
            plot.line(line("median of queries", medians, palette.intermediate, 1.5));
        }
        for of_query in lines {
            plot.line(line("selected queries", of_query, palette.selected.gamma_multiply(0.4), 1.0));
        }
        if !theory.is_empty() {
            plot.line(line("theory", theory, palette.theory, 1.5).style(LineStyle::dashed_dense()));
        }
        if !picked.is_empty() {
            plot.line(line("picked query", picked, palette.query, 2.0));
        }
    });
}

/// The legend, above the plot so that it covers no curves.
fn legend_ui(ui: &mut Ui, context: &PaneContext<'_>, compared: bool, total: usize) {
    let (palette, session) = (context.palette, context.session);
    if let Some(answered) = &session.answered {
        inline_line_ui(ui, palette.query, false, "picked query");
        let expected = if_shuffled(answered.record.spec.order);
        let of = if session.theory_lags { "a moment ago" } else { "picked query" };
        if session.theory.is_some() {
            inline_line_ui(ui, palette.theory, true, &format!("theory{expected}, {of}"));
        }
    }
    if let Some(derived) = session.derived.as_ref().filter(|_| compared) {
        let of_queries = if derived.band_queries < total {
            format!(
                "{} of {} queries",
                text::thousands(derived.band_queries as u64),
                text::thousands(total as u64)
            )
        } else {
            "queries".to_owned()
        };
        inline_swatch_ui(ui, palette.intermediate, &format!("median of {of_queries}, 10 to 90 %"));
    }
    if compared && !session.selection.queries().is_empty() {
        inline_line_ui(ui, palette.selected, false, "selected queries");
    }
}

/// The picked query's `max_distance`, which is constant between merges.
fn steps(seen: &[u32], distances: &[f32]) -> Vec<[f64; 2]> {
    let mut steps = Vec::with_capacity(seen.len() * 2);
    for (entry, (&points_seen, &distance)) in seen.iter().zip(distances).enumerate() {
        steps.push([f64::from(points_seen), f64::from(distance)]);
        if let Some(&next) = seen.get(entry + 1) {
            steps.push([f64::from(next), f64::from(distance)]);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn max_distance_is_constant_between_merges() {
        let record = record();
        let (seen, distances) = record.convergence.for_query(0);
        let steps = steps(seen, distances);
        assert_eq!(steps.iter().map(|step| step[0]).collect::<Vec<_>>(), [10.0, 30.0, 30.0, 50.0, 50.0]);
        assert_eq!(steps[0][1], steps[1][1]);
        assert!(steps[2][1] < steps[1][1]);
    }
}
