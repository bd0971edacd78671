//! Points: all rows as a table that can be sorted, filtered, and used to select rows and pick the query.

use std::sync::Arc;

use egui::style::ScrollStyle;

use super::empty::{Pane, PaneContext, without_cloud};
use super::rows::{RowEvent, RowsTable, columns_of, rows_ui};
use crate::app::features::export::{PaneData, SelectionExport};
use crate::app::features::selection::state::SelectAction;
use crate::app::look::table::table_bar_ui;
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::text;

pub const PANE: Pane = Pane { kind: PaneKind::Points, draw: points_ui, data, exports: &[] };

const BY: &str = "rows of Points";

/// The rows that are shown, with all that is known of them.
fn data(session: &Session) -> Option<PaneData> {
    match session.points.items() {
        None => session.cloud.clone().map(PaneData::Points),
        Some(rows) => {
            let rows = SelectionExport::new(session, rows.as_slice().into())?;
            // These rows need not be those around the selection's query.
            Some(PaneData::Rows(Box::new(SelectionExport { center: None, ..rows })))
        }
    }
}

fn points_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (palette, session) = (context.palette, context.session);
    let Some(cloud) = &session.cloud else { return without_cloud(session).ui(ui, palette) };
    let (points, view) = (&session.points, session.table(PaneKind::Points));
    let page = points.page.as_ref().filter(|page| Arc::ptr_eq(&page.cloud, cloud));
    let columns = columns_of(&session.roles, cloud, None, page);
    let mut table = RowsTable::new(cloud, None, (page, true), &points.whole, columns, view);
    table.page = points.wanted(cloud.len());
    let items = points.items().map(|items| items.as_slice());
    let shown = items.map_or_else(|| table.count(), <[u32]>::len);
    ui.horizontal_wrapped(|ui| {
        ui.label(text::count(table.count() as u64, "point", "points"));
        if session.picture.is_none() {
            let rows = [shown, table.count()];
            table_bar_ui(ui, (PaneKind::Points, view), &table.choices(), rows, palette, context.actions);
        }
        if let Some(items) = items.filter(|items| !items.is_empty() && items.len() < table.count())
            && ui.small_button("Select these").on_hover_text("Select the rows that are listed.").clicked()
        {
            context.actions.send(SelectAction::rows(items.to_vec(), SelectMode::Replace, BY));
        }
        if let Some(note) = points.wait(view).or_else(|| table.note()) {
            ui.add(Label::new(palette.small(note)).truncate());
        }
    });
    ui.spacing_mut().scroll = ScrollStyle::thin();
    let anchor_id = Id::unique("last row of Points");
    let anchor: usize = ui.data(|data| data.get_temp(anchor_id)).unwrap_or(0).min(shown.saturating_sub(1));
    let area = ScrollArea::horizontal().id_salt(Arc::as_ptr(cloud)).auto_shrink(false);
    let (visible, event) =
        area.show(ui, |ui| rows_ui(ui, context, (PaneKind::Points, view), &table, items, anchor)).inner;
    if visible != points.visible && !visible.is_empty() {
        context.actions.send(Action::ShowPoints(visible));
    }
    let Some((at, event, how)) = event else { return };
    let row_at = |at: usize| items.map_or(at as u32, |items| items[at]);
    match (event, how) {
        (RowEvent::DoubleClick | RowEvent::Enter, SelectMode::Replace) => {
            context.actions.send(Action::PickRow(row_at(at)));
        }
        (RowEvent::Click, SelectMode::Add) => {
            let rows = (anchor.min(at)..=anchor.max(at)).map(row_at).collect();
            return context.actions.send(SelectAction::rows(rows, SelectMode::Add, BY));
        }
        _ => context.actions.send(SelectAction::rows(vec![row_at(at)], how, BY)),
    }
    ui.data_mut(|data| data.insert_temp(anchor_id, at));
}
