//! Counts: a histogram of a measure over queries, with the theoretical expectation.

use egui_plot::{AxisHints, Bar, BarChart, LineStyle, PlotTransform, VLine};

use super::empty::{Pane, PaneContext, without_run};
use super::plots::{hover_label, inline_line_ui, inline_swatch_ui, plot, whole, whole_numbers, y_title};
use crate::app::features::export::PaneData;
use crate::app::features::selection::state::SelectAction;
use crate::app::look::focus::{arrows, is_keyed};
use crate::app::look::{any_of, if_shuffled};
use crate::app::model::CountsView;
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::engines::registry;
use crate::knn::{EngineId, Measure};
use crate::text;

/// Note when the run is not drawn with the picked query.
pub const DIFFERENT_PROBLEM: &str = "This run used other settings; showing the picked query only.";

pub const PANE: Pane = Pane {
    kind: PaneKind::Merges,
    draw: merges_ui,
    data: |session| {
        session.counted_record().filter(|record| !record.measured.is_empty()).map(PaneData::Merges)
    },
    exports: &[],
};

fn merges_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(run) = &session.record else {
        return without_run(session, "counts", "Press Run.").ui(ui, palette);
    };
    let compared = session.compared_record();
    let record =
        session.answered.as_ref().filter(|_| compared.is_none()).map_or(run, |answered| &answered.record);
    let names: Vec<&str> = record.measured.columns().map(|(name, _)| name).collect();
    let wanted = context.state.counts.measure.as_deref();
    let Some(&name) = names.iter().find(|&&name| Some(name) == wanted).or(names.first()) else {
        let next = format!("Choose {} on the left and press Run.", any_of(&registry::with_measures()));
        return empty_ui(ui, &format!("{} has no counters", record.engine), &next, palette);
    };
    let declared = registry::measure(record.engine, name);
    let unit = declared.map_or([name, name], |measure| measure.unit);
    let words = Measure::words(name);
    let bins: &[(u32, u64)] = match (compared, &session.derived) {
        (Some(_), None) => {
            return empty_ui(ui, "Counting…", "Building the run's histograms.", palette);
        }
        (Some(_), Some(derived)) => derived.histogram(name),
        (None, _) => &[],
    };
    let summary = &record.summary;
    let measure = summary.measure(name);
    let (mean, bound) =
        (measure.map_or(0.0, |measure| measure.mean), measure.and_then(|measure| measure.expected));
    let width = bin_width(bins);
    let bins = &binned(bins, width)[..];
    let bar = |&(first, queries): &(u32, u64)| {
        Bar::new(middle(first, width), queries as f64).width(0.8 * f64::from(width))
    };
    let bars: Vec<Bar> = bins.iter().map(bar).collect();
    let picked = session.answered.as_ref().and_then(|answered| answered.counted(name));
    let shuffled = if_shuffled(record.spec.order);
    let selected = session.selected.measure(name).filter(|_| compared.is_some());
    let filled = selected.map_or_else(Vec::new, |selected| binned(&selected.histogram, width));
    let filled: Vec<Bar> =
        filled.iter().map(|bin| bar(bin).fill(palette.selected.gamma_multiply(0.75))).collect();
    ui.horizontal_wrapped(|ui| {
        let in_window = session.picture.is_none();
        if in_window {
            chooser_ui(ui, &names, name, record.engine, context);
        }
        if !session.has_legend() {
            return;
        }
        if compared.is_some() {
            inline_line_ui(ui, palette.text_weak, false, &format!("mean {}", text::digits(mean, 3)));
        }
        if let Some(bound) = bound {
            inline_line_ui(
                ui,
                palette.theory,
                true,
                &format!("theory at most {}{shuffled}", text::digits(bound, 3)),
            );
        }
        if selected.is_some() {
            let queries = text::count(session.selection.queries().len() as u64, "query", "queries");
            inline_swatch_ui(ui, palette.selected, &format!("{queries} selected"));
        }
        if let Some(value) = picked {
            inline_line_ui(
                ui,
                palette.query,
                false,
                &format!("picked query {}", text::thousands(value.into())),
            );
        }
        if in_window && compared.is_none() {
            ui.label(palette.small(DIFFERENT_PROBLEM));
        }
    });
    let least = bins.first().map_or(0.0, |bin| f64::from(bin.0));
    let height = (ui.available_height() - 4.0).max(60.0);
    let shown = plot("", palette)
        .sense(Sense::click_and_drag())
        .id(Id::unique(format!("counts of {name}")))
        .height(height)
        .width(ui.available_width())
        .include_y(0.0)
        .include_x(least - f64::from(width))
        .include_x(bound.unwrap_or(mean) + 0.5)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(format!("{words} of a query"))
                .label_spacing(18.0..=24.0)
                .formatter(whole),
        ])
        .x_grid_spacer(move |input| whole_numbers(input.bounds.1.clamp(1.0, 1e9) as usize))
        .y_axis_label(y_title(ui, height, &["queries"]))
        .y_axis_formatter(whole)
        .label_formatter(hover_label(move |_, at| {
            let first = (at.x - 0.5 * f64::from(width - 1)).round().max(0.0) as u64;
            let last = if width > 1 {
                format!(" to {}", text::thousands(first + u64::from(width) - 1))
            } else {
                String::new()
            };
            Some(format!(
                "{}{last} {}\n{} queries",
                text::thousands(first),
                unit[1],
                text::thousands(at.y as u64)
            ))
        }))
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("queries", bars).color(palette.buffer));
            if !filled.is_empty() {
                plot.bar_chart(BarChart::new("selected queries", filled).color(palette.selected));
            }
            if compared.is_some() {
                plot.vline(VLine::new("mean", mean).color(palette.text_weak).width(1.5));
            }
            if let Some(bound) = bound {
                plot.vline(
                    VLine::new("theory, at most", bound)
                        .color(palette.theory)
                        .width(1.5)
                        .style(LineStyle::dashed_dense()),
                );
            }
            if let Some(value) = picked {
                plot.vline(VLine::new("picked query", f64::from(value)).color(palette.query).width(2.0));
            }
        });
    name_widget(&shown.response, Role::Canvas, &format!("Histogram of {words}"));
    bins_ui(ui, &shown.response, &shown.transform, (name, unit), (bins, width), context);
}

/// The measure, or a chooser if the run has several.
fn chooser_ui(ui: &mut Ui, names: &[&str], shown: &str, engine: EngineId, context: &mut PaneContext<'_>) {
    let title = |name: &str| text::sentence_case(&Measure::words(name));
    if let [_] = names {
        ui.label(format!("{} per query:", title(shown)));
        return;
    }
    let combo = ComboBox::from_id_salt("measure").selected_text(title(shown)).width(0.0);
    let response = combo.show_ui(ui, |ui| {
        for &name in names {
            let help = registry::measure(engine, name).map_or("", |measure| measure.help);
            let response = ui.selectable_label(name == shown, title(name));
            let clicked = response.clicked();
            if !help.is_empty() {
                response.on_hover_text(help);
            }
            if clicked {
                context.actions.send(Action::SetCounts(CountsView { measure: Some(name.to_owned()) }));
            }
        }
    });
    name_widget(&response.response, Role::ComboBox, "Measure");
    ui.label("per query:");
}

/// Number of values per bar: 1 if each fits a bar, else 2, 5, 10, 20, ….
fn bin_width(values: &[(u32, u64)]) -> u32 {
    /// Number of bars that are distinguishable and clickable in a pane of normal width.
    const BARS: u32 = 80;
    let range = values.first().zip(values.last()).map_or(0, |(first, last)| last.0 - first.0);
    let steps = (0..9).flat_map(|power| [1, 2, 5].map(|step| step * 10u32.pow(power)));
    steps.into_iter().find(|&width| range / width < BARS).unwrap_or(1_000_000_000)
}

/// Sums the queries of each bar; bars are given by their first value, ascending.
fn binned(values: &[(u32, u64)], width: u32) -> Vec<(u32, u64)> {
    let first = |value: u32| value / width * width;
    let bars = values.chunk_by(|a, b| first(a.0) == first(b.0));
    bars.map(|bar| (first(bar[0].0), bar.iter().map(|&(_, queries)| queries).sum())).collect()
}

/// Centre of a bar.
fn middle(first: u32, width: u32) -> f64 {
    f64::from(first) + 0.5 * f64::from(width - 1)
}

/// Selects the queries of a clicked bin; Shift selects all bins from the last one clicked, Ctrl toggles the
/// bin.
fn bins_ui(
    ui: &Ui,
    response: &Response,
    transform: &PlotTransform,
    (name, unit): (&str, [&str; 2]),
    (bins, width): (&[(u32, u64)], u32),
    context: &mut PaneContext<'_>,
) {
    let bin_at = |pointer: Pos2| {
        let value = transform.value_from_position(pointer);
        // The full height above a bar counts, so that low bars are easy to hit.
        let there = |bin: u32| {
            (value.x - middle(bin, width)).abs() <= 0.45 * f64::from(width)
                && transform.frame().contains(pointer)
        };
        bins.iter().map(|bin| bin.0).find(|&bin| there(bin))
    };
    let pointed = response.hover_pos().or(response.interact_pointer_pos()).and_then(bin_at);
    if pointed.is_some() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    }
    let Some(bin) = keyed_ui(ui, response, transform, (bins, width), context).or(pointed) else { return };
    if !response.clicked() {
        return;
    }
    let id = response.id.with("last bin");
    let last = ui.data(|data| data.get_temp::<u32>(id)).unwrap_or(bin);
    let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
    if how == SelectMode::Add {
        context.actions.send(SelectAction::measure(
            name,
            unit,
            last.min(bin)..=last.max(bin).saturating_add(width - 1),
            SelectMode::Replace,
        ));
    } else {
        ui.data_mut(|data| data.insert_temp(id, bin));
        context.actions.send(SelectAction::measure(name, unit, bin..=bin.saturating_add(width - 1), how));
    }
}

/// The outlined bin chosen by arrow keys.
fn keyed_ui(
    ui: &Ui,
    response: &Response,
    transform: &PlotTransform,
    (bins, width): (&[(u32, u64)], u32),
    context: &PaneContext<'_>,
) -> Option<u32> {
    if !is_keyed(response) {
        return None;
    }
    let (id, by) = (response.id.with("bin by keys"), arrows(ui, response).x as isize);
    let at: usize = ui.data(|data| data.get_temp(id)).unwrap_or(0);
    let at = at.saturating_add_signed(by).min(bins.len().checked_sub(1)?);
    ui.data_mut(|data| data.insert_temp(id, at));
    let (bin, queries) = bins[at];
    let half = 0.45 * f64::from(width);
    let corner =
        |x: f64, y: f64| transform.position_from_point(&egui_plot::PlotPoint::new(middle(bin, width) + x, y));
    let bar = Rect::from_two_pos(corner(-half, 0.0), corner(half, queries as f64)).expand(1.0);
    ui.painter().with_clip_rect(*transform.frame()).rect_stroke(
        bar,
        0.0,
        Stroke::new(1.5, context.palette.text),
        egui::StrokeKind::Outside,
    );
    Some(bin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_ranges_are_binned() {
        let few = [(3, 1), (4, 2), (82, 1)];
        assert_eq!((bin_width(&few), binned(&few, 1)), (1, few.to_vec()));
        let many = [(3, 1), (9, 2), (10, 4), (801, 1)];
        assert_eq!((bin_width(&many), binned(&many, 10)), (10, vec![(0, 3), (10, 4), (800, 1)]));
        assert_eq!(bin_width(&[(0, 1), (u32::MAX, 1)]), 100_000_000);
        assert_eq!((bin_width(&[]), binned(&[], 1)), (1, vec![]));
    }
}
