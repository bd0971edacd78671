//! Neighbours: the picked query's, nearest first.

use egui::{Align, Layout, RichText, ScrollArea, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use super::PaneContext;
use super::empty::without_answer;
use crate::app::commands::Action;
use crate::app::format;
use crate::app::selection::{Hovered, How, SelectAction};
use crate::app::session::Picked;
use crate::app::state::PaneKind;
use crate::app::widgets::number;
use crate::knn::Metric;
use crate::run::QuerySpec;

/// Coordinates that are shown; the export has them all.
const SHOWN: usize = 12;

/// The pane.
pub fn neighbors_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let Some(answered) = &context.session.answered else {
        return without_answer(context.session).ui(ui, palette);
    };
    let cloud = &answered.record.cloud;
    let metric = answered.record.spec.metric;
    let neighbors: Vec<(u32, f32)> = answered.neighbors().collect();
    let found = neighbors.len() as u64;
    let k = answered.record.spec.k as u64;
    let of = match &answered.record.spec.queries {
        QuerySpec::At(at) if at.len() <= 3 => {
            format!("of the place {}", at.iter().map(|&value| format::coordinate(value)).collect::<Vec<_>>().join(", "))
        }
        QuerySpec::At(_) => "of a place".to_owned(),
        _ => format!("of query row {}", format::count(answered.query_cloud().record(answered.row() as usize))),
    };
    let mut title = format!("{} {of}", format::counted(found, "neighbour", "neighbours"));
    if found < k {
        title = format!("{title}; k = {} is more than there are points", format::count(k));
    }
    ui.horizontal(|ui| {
        ui.label(title);
        if cloud.dims() > SHOWN {
            let note = format!("the first {SHOWN} of {} coordinates are shown; the export has all", cloud.dims());
            ui.label(RichText::new(note).color(palette.text_weak).small());
        }
    });
    let columns: Vec<usize> = (0..cloud.dims().min(SHOWN)).collect();
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let table = TableBuilder::new(ui)
            .striped(true)
            .sense(Sense::click())
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::initial(60.0))
            .column(Column::initial(80.0))
            .columns(Column::initial(104.0), 2 + columns.len())
            .auto_shrink(false);
        let table = table.header(20.0, |mut header| {
            let distance = if metric == Metric::Angular { "angle (rad)" } else { "distance" };
            for name in ["rank", "row", "squared distance", distance] {
                header.col(|ui| {
                    ui.label(RichText::new(name).color(palette.text_weak));
                });
            }
            for &axis in &columns {
                header.col(|ui| {
                    ui.label(RichText::new(&cloud.axes()[axis].name).color(palette.text_weak));
                });
            }
        });
        let mut pointed = false;
        table.body(|body| {
            body.rows(20.0, neighbors.len(), |mut row| {
                let rank = row.index();
                let (index, squared) = neighbors[rank];
                row.set_selected(context.session.rank == Some(rank));
                let here = Hovered { what: Picked::Row(index), pane: PaneKind::Neighbors };
                // Also the one whose point the pointer rests on.
                row.set_hovered(context.session.hovered.is_some_and(|hovered| hovered.what == here.what));
                let selected = context.session.selection.has_row(index);
                let mut cell = |text: String| {
                    row.col(|ui| {
                        ui.add(egui::Label::new(number(text)).selectable(false));
                    });
                };
                cell(format!("{} {}", if selected { "●" } else { " " }, rank + 1));
                cell(format::count(cloud.record(index as usize)));
                cell(format::digits(f64::from(squared), 6));
                cell(format::digits(metric.distance(squared), 6));
                for &axis in &columns {
                    cell(format::coordinate(cloud.coordinate(index as usize, axis)));
                }
                let response = row.response();
                pointed |= response.hovered();
                if response.hovered() && context.session.hovered != Some(here) {
                    context.actions.send(SelectAction::Hover(Some(here)));
                }
                if response.clicked() {
                    let how = How::of_click(response.ctx.input(|input| input.modifiers));
                    choose(rank, how, &neighbors, context);
                }
            });
        });
        if !pointed && context.session.hovered.is_some_and(|hovered| hovered.pane == PaneKind::Neighbors) {
            context.actions.send(SelectAction::Hover(None));
        }
    });
}

/// A click on a row: alone it selects it, or lets go of it; with Shift all from the last one clicked to this; with Ctrl it adds
/// or removes this one.
fn choose(rank: usize, how: How, neighbors: &[(u32, f32)], context: &mut PaneContext<'_>) {
    let by = "rows of Neighbours";
    let row = neighbors[rank].0;
    match (how, context.session.rank) {
        (How::Replace, Some(at)) if at == rank => {
            context.actions.send(Action::SelectRank(None));
            context.actions.send(SelectAction::rows(vec![row], How::Remove, by));
        }
        (How::Add, Some(from)) => {
            let between = &neighbors[from.min(rank)..=from.max(rank).min(neighbors.len() - 1)];
            context.actions.send(SelectAction::rows(between.iter().map(|&(row, _)| row).collect(), How::Add, by));
        }
        _ => {
            context.actions.send(Action::SelectRank(Some(rank)));
            context.actions.send(SelectAction::rows(vec![row], how, by));
        }
    }
}
