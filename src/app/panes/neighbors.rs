//! Neighbours: the picked query's neighbours, nearest first or sorted by a column.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::style::ScrollStyle;

use super::empty::{ExportEntry, Pane, PaneContext, without_answer};
use super::rows::{Neighbors, RowEvent, RowsTable, columns_of, rows_ui};
use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::selection::state::SelectAction;
use crate::app::look::table::table_bar_ui;
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::run::QuerySpec;
use crate::text;

pub const PANE: Pane = Pane {
    kind: PaneKind::Neighbors,
    draw: neighbors_ui,
    data: |session| {
        session
            .answered
            .clone()
            .map(|answered| PaneData::Neighbors(answered, session.listed_columns().cloned()))
    },
    exports: &[ExportEntry {
        kind: ExportKind::AllNeighbors,
        text: "All neighbours of the run…",
        about: "Of every query: a table, or ivecs and ibin as benchmarks have them.",
    }],
};

fn neighbors_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (palette, session) = (context.palette, context.session);
    let Some(answered) = &session.answered else {
        return without_answer(session).ui(ui, palette);
    };
    let view = session.table(PaneKind::Neighbors);
    let cloud = &answered.record.cloud;
    let other_columns = session.other_columns.as_ref().filter(|of| Arc::ptr_eq(&of.cloud, cloud));
    let (is_read, whole) = (session.listed_columns().is_some(), BTreeMap::new());
    let neighbors = Neighbors::new(answered);
    let columns = columns_of(&session.roles, cloud, Some(neighbors.metric()), other_columns);
    let table = RowsTable::new(cloud, Some(neighbors), (other_columns, is_read), &whole, columns, view);
    let items = table.cached_items(ui, view);
    let items = items.as_ref().map(|items| items.as_slice());
    let shown = items.map_or_else(|| table.count(), <[u32]>::len);
    ui.horizontal_wrapped(|ui| {
        ui.label(title(answered, table.count() as u64));
        if session.picture.is_none() {
            let rows = [shown, table.count()];
            table_bar_ui(ui, (PaneKind::Neighbors, view), &table.choices(), rows, palette, context.actions);
        }
        if let Some(note) = table.note() {
            ui.add(Label::new(palette.small(note)).truncate());
        }
    });
    // An always visible scroll bar shows that there are more columns.
    ui.spacing_mut().scroll = ScrollStyle::thin();
    let place = |rank: usize| match items {
        Some(items) => items.iter().position(|&item| item as usize == rank),
        None => Some(rank),
    };
    let current = session.rank.and_then(place).unwrap_or(0);
    // Per cloud, so that another cloud starts at the first column.
    let area = ScrollArea::horizontal().id_salt(Arc::as_ptr(cloud)).auto_shrink(false);
    let (_, event) =
        area.show(ui, |ui| rows_ui(ui, context, (PaneKind::Neighbors, view), &table, items, current)).inner;
    let Some((at, event, how)) = event else { return };
    let rank_at = |at: usize| items.map_or(at, |items| items[at] as usize);
    let rows = |from: usize, to: usize| (from..=to).map(|at| table.row(rank_at(at))).collect::<Vec<_>>();
    choose(event, how, (at, rank_at(at)), session.rank.map(|rank| (rank, place(rank))), rows, context);
}

/// A click selects or deselects a row; Shift selects all rows from the last one chosen, Ctrl toggles the row.
/// Arrow keys select the row that they reach. `chosen` is the chosen rank and its position.
fn choose(
    event: RowEvent,
    how: SelectMode,
    (at, rank): (usize, usize),
    chosen: Option<(usize, Option<usize>)>,
    rows: impl Fn(usize, usize) -> Vec<u32>,
    context: &mut PaneContext<'_>,
) {
    let by = "rows of Neighbours";
    let mut send = |rank: Option<usize>, rows: Vec<u32>, how: SelectMode| {
        context.actions.send(Action::SelectRank(rank));
        context.actions.send(SelectAction::rows(rows, how, by));
    };
    match (how, chosen) {
        _ if event == RowEvent::Reached => send(Some(rank), rows(at, at), how),
        (SelectMode::Replace, Some((chosen, _))) if chosen == rank => {
            send(None, rows(at, at), SelectMode::Remove)
        }
        (SelectMode::Add, Some((chosen, from))) => {
            // In table order.
            let from = from.unwrap_or(0);
            send(Some(chosen), rows(from.min(at), from.max(at)), SelectMode::Add);
        }
        _ => {
            let row = rows(at, at);
            let goes =
                how == SelectMode::Toggle && row.iter().all(|&row| context.session.selection.has_row(row));
            send(Some(rank).filter(|_| !goes), row, how);
        }
    }
}

/// The number of neighbours, and the query.
fn title(answered: &QueryAnswer, found: u64) -> String {
    let k = answered.record.spec.k as u64;
    let of = match &answered.record.spec.queries {
        QuerySpec::At(at) if at.len() <= 3 => {
            format!(
                "of the place {}",
                at.iter().map(|&value| text::coordinate(value)).collect::<Vec<_>>().join(", ")
            )
        }
        QuerySpec::At(_) => "of a place".to_owned(),
        _ => format!(
            "of query row {}",
            text::thousands(answered.query_cloud().record(answered.row() as usize))
        ),
    };
    let own =
        answered.record.query_cloud.is_none() && answered.neighbors().any(|(row, _)| row == answered.row());
    let itself = if own { ", itself included" } else { "" };
    let title = format!("{} {of}{itself}", text::count(found, "neighbour", "neighbours"));
    if found < k {
        format!("{title}; k = {} is more than there are points", text::thousands(k))
    } else {
        title
    }
}
