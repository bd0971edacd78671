//! Neighbours: the picked query's, nearest first, or sorted by a column.

pub mod columns;

use egui::style::ScrollStyle;
use egui::{Align, Label, Layout, RichText, ScrollArea, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::pictures::picture_ui;
use crate::app::features::selection::state::Hovered;
use crate::app::features::selection::state::SelectAction;
use crate::app::look::focus::arrows;
use crate::app::look::{number, sort_head_ui};
use crate::app::model::how::How;
use crate::app::model::{Action, Answered, PaneKind, Picked};
use crate::app::panes::descriptor::{More, Pane, PaneContext};
use crate::app::panes::empty::without_answer;
use crate::app::panes::neighbors::columns::{Columns, is_whole};
use crate::run::QuerySpec;
use crate::text;

pub const PANE: Pane = Pane {
    kind: PaneKind::Neighbors,
    draw: neighbors_ui,
    data: |session| session.answered.clone().map(|answered| PaneData::Neighbors(answered, session.listed_beside().cloned())),
    more: &[More {
        kind: ExportKind::AllNeighbors,
        text: "All neighbours of the run…",
        about: "Of every query: a table, or ivecs and ibin as benchmarks have them.",
    }],
};

/// Where it is kept to which row keys went.
const MOVED: &str = "row of Neighbours that keys went to";

/// The side of a row's picture.
const PICTURE: f32 = 28.0;

/// The column before which it stands: after rank and row.
const PICTURED: usize = 2;

fn neighbors_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(answered) = &session.answered else {
        return without_answer(session).ui(ui, palette);
    };
    let columns = Columns::new(session, answered);
    ui.horizontal(|ui| {
        ui.label(title(answered, columns.neighbors.len() as u64));
        if let Some(note) = columns.note() {
            ui.add(Label::new(RichText::new(note).color(palette.text_weak).small()).truncate());
        }
    });
    // Always visible: it shows that there are more columns.
    ui.spacing_mut().scroll = ScrollStyle::thin();
    // For another cloud, scroll back to the first column.
    let cloud = std::sync::Arc::as_ptr(&answered.record.cloud);
    ScrollArea::horizontal().id_salt(cloud).auto_shrink(false).show(ui, |ui| table_ui(ui, context, &columns));
}

/// How many neighbours there are, and of which query.
fn title(answered: &Answered, found: u64) -> String {
    let k = answered.record.spec.k as u64;
    let of = match &answered.record.spec.queries {
        QuerySpec::At(at) if at.len() <= 3 => {
            format!("of the place {}", at.iter().map(|&value| text::coordinate(value)).collect::<Vec<_>>().join(", "))
        }
        QuerySpec::At(_) => "of a place".to_owned(),
        _ => format!("of query row {}", text::thousands(answered.query_cloud().record(answered.row() as usize))),
    };
    let own = answered.record.query_cloud.is_none() && answered.neighbors().any(|(row, _)| row == answered.row());
    let itself = if own { ", itself included" } else { "" };
    let title = format!("{} {of}{itself}", text::count(found, "neighbour", "neighbours"));
    if found < k { format!("{title}; k = {} is more than there are points", text::thousands(k)) } else { title }
}

fn table_ui(ui: &mut Ui, context: &mut PaneContext<'_>, columns: &Columns<'_>) {
    let palette = context.palette;
    let sight = ui.clip_rect().x_range();
    let sort = context.session.sorts.get(&PaneKind::Neighbors);
    let (widths, order) = (columns.widths(ui, sort), columns.order(ui, sort));
    // One place for the keys in all rows, at the one that was chosen last; the arrows move it.
    let current = context.session.rank.and_then(|rank| order.iter().position(|&of| of == rank)).unwrap_or(0);
    let moved = ui.data_mut(|data| data.remove_temp::<usize>(egui::Id::unique(MOVED)));
    let cloud = context.session.answered.as_ref().map(|answered| std::sync::Arc::clone(&answered.record.cloud));
    let pictured = cloud.and_then(|cloud| Some((context.session.pictures(&cloud)?, cloud)));
    let height = if pictured.is_some() { PICTURE + 4.0 } else { 20.0 };
    let mut table = TableBuilder::new(ui).striped(true).sense(Sense::CLICK).cell_layout(Layout::left_to_right(Align::Center)).auto_shrink(false);
    for (at, width) in widths.into_iter().enumerate() {
        if at == PICTURED && pictured.is_some() {
            table = table.column(Column::exact(PICTURE + 4.0));
        }
        table = table.column(Column::exact(width));
    }
    if let Some(moved) = moved {
        table = table.scroll_to_row(moved, None);
    }
    let table = table.header(20.0, |mut header| {
        for (at, name) in columns.names().into_iter().enumerate() {
            // Rank and row, which a reader may expect to begin at 1.
            let counts = at < 2;
            if at == PICTURED && pictured.is_some() {
                header.col(|_| {});
            }
            header.col(|ui| {
                if !is_whole(ui.max_rect().x_range(), sight) {
                    return;
                }
                let head = sort_head_ui(ui, RichText::new(name).color(palette.text_weak), PaneKind::Neighbors, sort, context.actions);
                head.on_hover_text(if counts {
                    "Counted from 0, as in files. A click sorts."
                } else {
                    "A click sorts: up, down, and by rank again."
                });
            });
        }
    });
    let mut pointed = false;
    let neighbors = &columns.neighbors;
    let mut keyed = None;
    table.body(|body| {
        body.rows(height, neighbors.len(), |mut row| {
            let rank = order[row.index()];
            let (index, _) = neighbors[rank];
            row.set_selected(context.session.rank == Some(rank));
            let here = Hovered { what: Picked::Row(index), pane: PaneKind::Neighbors };
            // Also the row whose point is under the pointer in another pane.
            row.set_hovered(context.session.hovered.is_some_and(|hovered| hovered.what == here.what));
            let has_keys = row.index() == current;
            for (at, shown) in columns.texts(rank, context.session.selection.has_row(index)).enumerate() {
                if let Some((pictures, cloud)) = pictured.as_ref().filter(|_| at == PICTURED) {
                    row.col(|ui| {
                        if is_whole(ui.max_rect().x_range(), sight) {
                            picture_ui(ui, cloud, index as usize, *pictures, PICTURE);
                        }
                    });
                }
                row.col(|ui| {
                    if has_keys && at == 0 {
                        keyed =
                            Some(ui.interact(ui.max_rect(), egui::Id::unique("row of Neighbours with the keys"), Sense::focusable_noninteractive()));
                    }
                    if is_whole(ui.max_rect().x_range(), sight) {
                        let label = Label::new(number(shown.text)).selectable(false);
                        ui.add(if shown.long { label.truncate() } else { label.extend() });
                    }
                });
            }
            let response = row.response();
            pointed |= response.hovered();
            if response.hovered() && context.session.hovered != Some(here) {
                context.actions.send(SelectAction::Hover(Some(here)));
            }
            if response.clicked() {
                let how = How::of_click(response.ctx.input(|input| input.modifiers));
                choose(rank, how, neighbors, &order, context);
            }
        });
    });
    if let Some(keyed) = keyed {
        keys_ui(ui, &keyed, current, neighbors, &order, context);
    }
    if !pointed && context.session.hovered.is_some_and(|hovered| hovered.pane == PaneKind::Neighbors) {
        context.actions.send(SelectAction::Hover(None));
    }
}

/// The arrows choose the row above or below, with Shift beside those that are chosen; Enter and Space do as a click.
fn keys_ui(ui: &Ui, row: &egui::Response, at: usize, neighbors: &[(u32, f32)], order: &[usize], context: &mut PaneContext<'_>) {
    let Some(&rank) = order.get(at) else { return };
    let name = format!("Neighbour of rank {}, row {}", text::thousands(rank as u64), text::thousands(u64::from(neighbors[rank].0)));
    let chosen = context.session.rank == Some(rank);
    row.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, chosen, &name));
    let by = arrows(ui, row).y as isize;
    if !row.has_focus() {
        return;
    }
    let (shift, pressed) = ui.input(|input| (input.modifiers.shift, input.key_pressed(egui::Key::Enter) || input.key_pressed(egui::Key::Space)));
    if pressed {
        choose(rank, How::of_click(ui.input(|input| input.modifiers)), neighbors, order, context);
    } else if by != 0
        && let Some(&next) = at.checked_add_signed(by).and_then(|next| order.get(next))
    {
        let how = if shift { How::Add } else { How::Replace };
        context.actions.send(Action::SelectRank(Some(next)));
        context.actions.send(SelectAction::rows(vec![neighbors[next].0], how, "rows of Neighbours"));
        ui.data_mut(|data| data.insert_temp(egui::Id::unique(MOVED), at.saturating_add_signed(by)));
    }
}

/// A click on a row selects or deselects it; with Shift it selects all from the last one clicked to this; with Ctrl it adds
/// or removes this one.
fn choose(rank: usize, how: How, neighbors: &[(u32, f32)], order: &[usize], context: &mut PaneContext<'_>) {
    let by = "rows of Neighbours";
    let row = neighbors[rank].0;
    match (how, context.session.rank) {
        (How::Replace, Some(at)) if at == rank => {
            context.actions.send(Action::SelectRank(None));
            context.actions.send(SelectAction::rows(vec![row], How::Remove, by));
        }
        (How::Add, Some(from)) => {
            // As they stand in the table.
            let place = |rank: usize| order.iter().position(|&of| of == rank);
            let (from, to) = (place(from).unwrap_or(0), place(rank).unwrap_or(0));
            let between = order[from.min(to)..=from.max(to)].iter().map(|&rank| neighbors[rank].0);
            context.actions.send(SelectAction::rows(between.collect(), How::Add, by));
        }
        _ => {
            let goes = how == How::Toggle && context.session.selection.has_row(row);
            context.actions.send(Action::SelectRank(Some(rank).filter(|_| !goes)));
            context.actions.send(SelectAction::rows(vec![row], how, by));
        }
    }
}
