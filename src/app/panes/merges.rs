//! Merges: how many of the queries needed how many, with what theory expects.

use egui::{Pos2, Response, RichText, Ui};
use egui_plot::{AxisHints, Bar, BarChart, LineStyle, PlotTransform, VLine};

use crate::app::features::export::PaneData;
use crate::app::look::widgets::empty_ui;
use crate::app::look::words::if_shuffled;
use crate::app::model::commands::selection::SelectAction;
use crate::app::model::pane::PaneKind;
use crate::app::model::selection::how::How;
use crate::app::panes::descriptor::{Pane, PaneContext};
use crate::app::panes::empty::without_run;
use crate::app::panes::timings::{inline_line_ui, inline_swatch_ui, plot, whole_numbers};
use crate::engines::registry;
use crate::knn::Measure;
use crate::text;

/// Why the run is not drawn beside the picked query.
pub const OTHER_QUESTION: &str = "the run asked another question (k, metric, order, engine): only the picked query is drawn";

/// See the module.
pub const PANE: Pane = Pane {
    kind: PaneKind::Merges,
    draw: merges_ui,
    data: |session| session.counted_record().filter(|record| !record.measured.is_empty()).map(PaneData::Merges),
    more: &[],
};

/// The pane.
fn merges_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(run) = &session.record else {
        return without_run(session, "merges", "Press Run to count them.").ui(ui, palette);
    };
    let compared = session.compared_record();
    let record = session.answered.as_ref().filter(|_| compared.is_none()).map_or(run, |answered| &answered.record);
    let Some((name, _)) = record.measured.columns().next() else {
        let next = "Run lockstep or cuda on the left: they count every merge of the candidate buffer.";
        return empty_ui(ui, &format!("{} has no candidate buffer, so no merges", record.engine), next, palette);
    };
    let declared = registry::measure(record.engine, name);
    let unit = declared.map_or([name, name], |measure| measure.unit);
    let words = Measure::words(name);
    let merges: &[(u32, u64)] = match (compared, &session.derived) {
        (Some(_), None) => return empty_ui(ui, "Counting…", "The run is done; its merges are being counted.", palette),
        (Some(_), Some(derived)) => derived.histogram(name),
        (None, _) => &[],
    };
    let summary = &record.summary;
    let measure = summary.measure(name);
    let (mean, bound) = (measure.map_or(0.0, |measure| measure.mean), measure.and_then(|measure| measure.expected));
    let bars: Vec<Bar> = merges.iter().map(|&(merges, queries)| Bar::new(f64::from(merges), queries as f64).width(0.8)).collect();
    let picked = session.answered.as_ref().and_then(|answered| answered.counted(name));
    let shuffled = if_shuffled(record.spec.order);
    let selected = session.selected.measure(name).filter(|_| compared.is_some());
    let chosen: &[(u32, u64)] = selected.map_or(&[], |selected| &selected.histogram);
    let filled: Vec<Bar> = chosen
        .iter()
        .map(|&(merges, queries)| Bar::new(f64::from(merges), queries as f64).width(0.8).fill(palette.selected.gamma_multiply(0.75)))
        .collect();
    ui.horizontal_wrapped(|ui| {
        ui.label(format!("{} per query:", text::sentence_case(&words)));
        if compared.is_some() {
            inline_line_ui(ui, palette.text_weak, false, &format!("mean {}", text::digits(mean, 3)));
        }
        if let Some(bound) = bound {
            inline_line_ui(ui, palette.theory, true, &format!("theory at most {}{shuffled}", text::digits(bound, 3)));
        }
        if selected.is_some() {
            let queries = text::count(session.selection.queries().len() as u64, "query", "queries");
            inline_swatch_ui(ui, palette.selected, &format!("{queries} selected"));
        }
        if let Some(value) = picked {
            inline_line_ui(ui, palette.query, false, &format!("picked query {}", text::thousands(value.into())));
        }
        if compared.is_none() {
            ui.label(RichText::new(OTHER_QUESTION).color(palette.text_weak).small());
        }
    });
    let least = merges.first().map_or(0.0, |bin| f64::from(bin.0));
    let shown = plot("merges", palette)
        .height((ui.available_height() - 4.0).max(60.0))
        .width(ui.available_width())
        .include_y(0.0)
        .include_x(least - 1.0)
        .include_x(bound.unwrap_or(mean) + 0.5)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(format!("{words} of a query"))
                .label_spacing(18.0..=24.0)
                .formatter(|mark, _| if mark.value.fract() == 0.0 && mark.value >= 0.0 { text::thousands(mark.value as u64) } else { String::new() }),
        ])
        .x_grid_spacer(move |input| whole_numbers(input.bounds.1.clamp(1.0, 1e9) as usize))
        .y_axis_label("queries")
        .y_axis_formatter(|mark, _| if mark.value.fract() == 0.0 && mark.value >= 0.0 { text::thousands(mark.value as u64) } else { String::new() })
        .label_formatter(move |at| match at {
            egui_plot::HoverPosition::NearDataPoint { position, .. } => {
                Some(format!("{:.0} {}\n{} queries", position.x, unit[1], text::thousands(position.y as u64)))
            }
            egui_plot::HoverPosition::Elsewhere { .. } => None,
        })
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("queries", bars).color(palette.buffer));
            if !filled.is_empty() {
                plot.bar_chart(BarChart::new("selected queries", filled).color(palette.selected));
            }
            if compared.is_some() {
                plot.vline(VLine::new("mean", mean).color(palette.text_weak).width(1.5));
            }
            if let Some(bound) = bound {
                plot.vline(VLine::new("theory, at most", bound).color(palette.theory).width(1.5).style(LineStyle::dashed_dense()));
            }
            if let Some(value) = picked {
                plot.vline(VLine::new("picked query", f64::from(value)).color(palette.query).width(2.0));
            }
        });
    shown.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, format!("Histogram of {words}")));
    bins_ui(ui, &shown.response, &shown.transform, (name, unit), merges, context);
}

/// A click on a bin selects its queries; with Shift all bins from the last one clicked to this; with Ctrl it adds or removes it.
fn bins_ui(
    ui: &Ui,
    response: &Response,
    transform: &PlotTransform,
    (name, unit): (&str, [&str; 2]),
    merges: &[(u32, u64)],
    context: &mut PaneContext<'_>,
) {
    let bin_at = |pointer: Pos2| {
        let value = transform.value_from_position(pointer);
        let bin = value.x.round();
        // Anywhere over a bar, so that low ones can be hit; between bars is none.
        let there = (value.x - bin).abs() <= 0.45 && transform.frame().contains(pointer);
        merges.iter().map(|bin| bin.0).find(|&merges| there && f64::from(merges) == bin)
    };
    let Some(pointer) = response.hover_pos().or(response.interact_pointer_pos()) else { return };
    let Some(bin) = bin_at(pointer) else { return };
    ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    if !response.clicked() {
        return;
    }
    let id = response.id.with("last bin");
    let last = ui.data(|data| data.get_temp::<u32>(id)).unwrap_or(bin);
    let how = How::of_click(ui.input(|input| input.modifiers));
    if how == How::Add {
        context.actions.send(SelectAction::measure(name, unit, last.min(bin)..=last.max(bin), How::Replace));
    } else {
        ui.data_mut(|data| data.insert_temp(id, bin));
        context.actions.send(SelectAction::measure(name, unit, bin..=bin, how));
    }
}
