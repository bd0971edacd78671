//! Merges: how many of the queries needed how many, with what theory expects.

use egui::Ui;
use egui_plot::{Bar, BarChart, Corner, Legend, LineStyle, VLine};

use super::PaneContext;
use super::timings::{has_room, plot};
use crate::app::format;
use crate::app::widgets::empty_ui;
use crate::cloud::Order;

/// The pane.
pub fn merges_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(record) = &session.record else {
        let next = if session.activity.is_busy() { "They come when the run is done." } else { "Press Run to count them." };
        return empty_ui(ui, "No merges yet", next, palette);
    };
    if record.counters.is_empty() {
        let next = "Run lockstep or cuda on the left: they count every merge of the candidate buffer.";
        return empty_ui(ui, &format!("{} has no candidate buffer, so no merges", record.engine), next, palette);
    }
    let Some(derived) = &session.derived else { return };
    let summary = &record.summary;
    let mean = summary.mean_merges.unwrap_or_default();
    ui.label(format!(
        "Merges per query: mean {}, theory at most {} for shuffled order",
        format::significant(mean),
        format::significant(summary.expected_merges)
    ));
    let bars: Vec<Bar> = derived.merges.iter().map(|&(merges, queries)| Bar::new(f64::from(merges), queries as f64).width(0.8)).collect();
    let picked = session.answered.as_ref().and_then(|answered| answered.counters());
    let theory = if record.spec.order == Order::Shuffled { "theory, at most" } else { "theory, at most (if shuffled)" };
    let least = derived.merges.first().map_or(0.0, |bin| f64::from(bin.0));
    let with_legend = has_room(ui);
    let figure = plot("merges", palette)
        .height((ui.available_height() - 4.0).max(60.0))
        .width(ui.available_width())
        .include_y(0.0)
        .include_x(least - 1.0)
        .x_axis_label("merges of a query")
        .y_axis_label("queries")
        .x_axis_formatter(|mark, _| if mark.value.fract() == 0.0 && mark.value >= 0.0 { format::count(mark.value as u64) } else { String::new() })
        .y_axis_formatter(|mark, _| if mark.value.fract() == 0.0 && mark.value >= 0.0 { format::count(mark.value as u64) } else { String::new() })
        .label_formatter(|at| match at {
            egui_plot::HoverPosition::NearDataPoint { position, .. } => {
                Some(format!("{:.0} merges\n{} queries", position.x, format::count(position.y as u64)))
            }
            egui_plot::HoverPosition::Elsewhere { .. } => None,
        });
    let legend = Legend::default().position(Corner::LeftTop).follow_insertion_order(true).background_alpha(0.8);
    let figure = if with_legend { figure.legend(legend) } else { figure };
    figure.show(ui, |plot| {
        plot.bar_chart(BarChart::new("queries", bars).color(palette.buffer));
        plot.vline(VLine::new("mean", mean).color(palette.text_weak).width(1.5));
        plot.vline(VLine::new(theory, summary.expected_merges).color(palette.theory).width(1.5).style(LineStyle::dashed_dense()));
        if let Some(counters) = picked {
            plot.vline(VLine::new("picked query", f64::from(counters.merges)).color(palette.query).width(2.0));
        }
    });
}
