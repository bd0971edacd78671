//! The table: an engine a row, with the time of its search as a bar.

use egui::{Align, Button, Label, Layout, RichText, ScrollArea, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::app::look::{Palette, number};
use crate::app::model::contest::deviation;
use crate::app::model::{Actions, Contest, ContestAction};
use crate::app::panes::descriptor::PaneContext;
use crate::knn::{EngineId, Measure};
use crate::run::RunRecord;
use crate::run::analysis::{Limit, Roofline};
use crate::run::planner::{Candidate, about};
use crate::text;

/// What is free on the right of numbers.
const GAP: f32 = 6.0;

const HEADER: f32 = 20.0;
const ROW: f32 = 24.0;

/// Heads and widths of the columns between the engine's name and what it counted.
const COLUMNS: [(&str, f32, &str); 6] = [
    ("predicted", 64.0, "What one search of all queries should take, by earlier runs on this machine."),
    ("search", 66.0, "Median of the repeats."),
    ("±", 58.0, "One standard deviation of the repeats."),
    ("", 84.0, "The median as a bar; the longest is the slowest engine."),
    ("× fastest", 58.0, "How many times as long as the fastest."),
    (
        "memory",
        56.0,
        "The share of the device's memory bandwidth that reading points and queries once and writing the answers takes of this time. A matrix of distances is not counted.",
    ),
];

/// All engines: what answered first, fastest first, then what can, then what cannot.
pub fn table_ui(ui: &mut Ui, context: &mut PaneContext<'_>, candidates: &[Candidate], is_asked: bool) {
    let contest = &context.session.contest;
    let palette = context.palette;
    let answer = |engine: EngineId| contest.answer(engine).filter(|_| is_asked);
    let time = |candidate: &Candidate| answer(candidate.engine).map(|record| record.summary.search_ms_median);
    let mut order: Vec<&Candidate> = candidates.iter().collect();
    let key = |candidate: &Candidate| {
        let forecast = candidate.forecast.map_or(f64::INFINITY, |forecast| forecast.search_ms);
        match (time(candidate), &candidate.why_not) {
            (Some(ms), _) => (0, ms),
            (None, None) => (1, forecast),
            (None, Some(_)) => (2, forecast),
        }
    };
    order.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let times: Vec<f64> = candidates.iter().filter_map(time).collect();
    let scale = Scale { fastest: times.iter().copied().fold(f64::INFINITY, f64::min), slowest: times.iter().copied().fold(0.0, f64::max) };
    let height = ui.available_height();
    ScrollArea::horizontal().id_salt("engines").auto_shrink([false, true]).show(ui, |ui| {
        let mut table = TableBuilder::new(ui)
            .id_salt("engines")
            .striped(true)
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::initial(112.0).at_least(80.0))
            .max_scroll_height(height - HEADER)
            .min_scrolled_height(0.0)
            .auto_shrink([false, true]);
        for (_, width, _) in COLUMNS {
            table = table.column(Column::initial(width).at_least(28.0));
        }
        let table = table.column(Column::initial(58.0)).column(Column::initial(46.0)).column(Column::remainder().at_least(96.0));
        let table = table.header(HEADER, |mut header| {
            let counted = [
                ("answer", 0.0, "Whether its neighbours are those of the engine that answered first."),
                ("", 0.0, ""),
                ("counted", 0.0, "Means of all queries."),
            ];
            let heads = [("engine", 0.0, "A click shows how it works.")].into_iter().chain(COLUMNS).chain(counted);
            for (place, (name, _, hover)) in heads.enumerate() {
                let is_number = (1..=COLUMNS.len()).contains(&place);
                header.col(|ui| {
                    let layout = if is_number { Layout::right_to_left(Align::Center) } else { Layout::left_to_right(Align::Center) };
                    let label = ui.with_layout(layout, |ui| {
                        ui.add_space(if is_number { GAP } else { 0.0 });
                        ui.add(Label::new(RichText::new(name).color(palette.text_weak).small()).extend())
                    });
                    if !hover.is_empty() {
                        label.inner.on_hover_text(hover);
                    }
                });
            }
        });
        table.body(|body| {
            body.rows(ROW, order.len(), |mut row| {
                let candidate = order[row.index()];
                row.set_selected(contest.page == Some(candidate.engine));
                let answer = answer(candidate.engine);
                let failure = contest.failure(candidate.engine).filter(|_| is_asked);
                row_ui(&mut row, candidate, (answer.map(|record| &**record), failure), contest, scale, palette, context.actions);
            });
        });
        // The bar, which floats, is below the last row.
        ui.add_space(ui.spacing().scroll.bar_width + 2.0);
    });
}

/// The ends of the bars' scale in milliseconds.
#[derive(Clone, Copy)]
struct Scale {
    fastest: f64,
    slowest: f64,
}

fn row_ui(
    row: &mut TableRow<'_, '_>,
    candidate: &Candidate,
    (answer, failure): (Option<&RunRecord>, Option<&str>),
    contest: &Contest,
    scale: Scale,
    palette: &Palette,
    actions: &mut Actions,
) {
    let engine = candidate.engine;
    row.col(|ui| {
        let usual = if candidate.why_not.is_none() { palette.text } else { palette.text_weak };
        let text = RichText::new(engine.as_str()).color(ui.visuals().override_text_color.unwrap_or(usual));
        if ui.add(Button::new(text).frame(false)).on_hover_text("Show how it works.").clicked() {
            let shown = contest.page == Some(engine);
            actions.send(ContestAction::Page((!shown).then_some(engine)));
        }
    });
    number_ui(row, candidate.forecast.map_or_else(|| "–".to_owned(), |forecast| about(forecast.search_ms)));
    let median = answer.map(|record| record.summary.search_ms_median);
    number_ui(row, median.map(text::time).unwrap_or_default());
    number_ui(row, answer.and_then(deviation).map(text::time).unwrap_or_default());
    row.col(|ui| {
        if let Some(ms) = median {
            bar_ui(ui, (ms / scale.slowest) as f32, palette);
        }
    });
    number_ui(row, median.map(|ms| format!("{}×", text::significant(ms / scale.fastest))).unwrap_or_default());
    let share = answer.and_then(Roofline::of_run).and_then(|roofline| roofline.share(Limit::Memory));
    number_ui(row, share.map(|share| if share < 0.01 { "< 1 %".to_owned() } else { format!("{:.0} %", share * 100.0) }).unwrap_or_default());
    row.col(|ui| {
        let (text, color) = match contest.differing(engine).filter(|_| answer.is_some()) {
            None => return,
            Some(0) => ("equal".to_owned(), palette.text),
            Some(queries) => (format!("{queries} differ"), palette.error),
        };
        ui.add(Label::new(RichText::new(text).color(color).size(12.0)).extend());
    });
    row.col(|ui| {
        if answer.is_some() {
            if ui.small_button("Show").on_hover_text("Show its run in all panes.").clicked() {
                actions.send(ContestAction::Show(engine));
            }
        } else if candidate.why_not.is_none() {
            let button = ui.add_enabled(contest.under_way().is_none(), Button::new("Run").small());
            let name = format!("Run {engine}");
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if button.clicked() {
                actions.send(ContestAction::One(engine));
            }
        }
    });
    row.col(|ui| {
        let (text, color) = match (answer, failure, &candidate.why_not) {
            (Some(record), ..) => (counted(record), palette.text),
            (None, Some(why), _) => (text::sentence_case(why), palette.error),
            (None, None, Some(why)) => (text::sentence_case(why), palette.text_weak),
            (None, None, None) => return,
        };
        let label = ui.add(Label::new(RichText::new(&text).color(color).size(12.0)).truncate());
        label.on_hover_text(text);
    });
}

/// A number at the right of its cell, so that digits stand below one another.
fn number_ui(row: &mut TableRow<'_, '_>, text: String) {
    row.col(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(GAP);
            ui.add(Label::new(number(text).size(12.0)).extend());
        });
    });
}

/// A bar of so much of the cell's width.
fn bar_ui(ui: &mut Ui, share: f32, palette: &Palette) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(ui.available_width() - 6.0, 12.0), Sense::hover());
    let width = (rect.width() * share.clamp(0.0, 1.0)).max(2.0);
    ui.painter().rect_filled(egui::Rect::from_min_size(rect.min, egui::vec2(width, rect.height())), 2.0, palette.phases[1]);
}

/// What an engine counted, means of all queries.
fn counted(record: &RunRecord) -> String {
    let measure = |measure: &crate::run::MeasureMean| format!("{} {}", Measure::words(&measure.name), text::significant(measure.mean));
    record.summary.measures.iter().map(measure).collect::<Vec<_>>().join(", ")
}
