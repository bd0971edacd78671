//! Runs: the runs of this session and of opened recordings, and two of them compared.

pub mod comparison;
pub mod figure;
pub mod table;

use std::sync::Arc;

use egui::{RichText, ScrollArea, Ui};

use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::runs::state::RunsAction;
use crate::app::features::runs::state::Saved;
use crate::app::look::widgets::{command_ui, menu_ui};
use crate::app::model::{Action, Command, PaneKind, Session};
use crate::app::panes::descriptor::{Pane, PaneContext};
use crate::app::panes::empty::without_run;
use crate::run::RunFile;
use crate::text;

pub const PANE: Pane = Pane { kind: PaneKind::Runs, draw: runs_ui, data, more: &[] };

/// The comparison where two runs are chosen, otherwise the list.
fn data(session: &Session) -> Option<PaneData> {
    let runs = &session.runs;
    if let Some(compared) = &runs.compared {
        return Some(PaneData::Comparison(Arc::clone(compared)));
    }
    let rows: Vec<(String, bool, RunFile)> = runs.runs().iter().map(|run| (run.name.clone(), run.pinned, run.run.head().clone())).collect();
    (!rows.is_empty()).then_some(PaneData::Runs(rows))
}

fn runs_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let runs = &context.session.runs;
    if runs.runs().is_empty() && runs.deleted().is_none() {
        return without_run(context.session, "runs", "Press Run, or open a recording (.warpscope) with Open… above.").ui(ui, palette);
    }
    if context.session.picture.is_none() {
        toolbar_ui(ui, context);
    }
    let compares = runs.chosen.iter().all(Option::is_some);
    if !compares {
        return table::table_ui(ui, context, ui.available_height());
    }
    // The list stays a few rows high: the comparison below needs the room.
    let rows = runs.runs().len() as f32;
    let height = (table::HEADER + table::ROW * rows + 18.0).min((ui.available_height() * 0.4).max(table::HEADER + 3.0 * table::ROW));
    table::table_ui(ui, context, height);
    ui.separator();
    ScrollArea::both().id_salt("comparison").auto_shrink(false).show(ui, |ui| comparison::comparison_ui(ui, context));
}

fn toolbar_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (runs, palette, session) = (&context.session.runs, context.palette, context.session);
    let actions = &mut *context.actions;
    let shown = session.record.as_ref().and_then(|record| runs.of_record(record)).map(|kept| kept.id);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(text::count(runs.runs().len() as u64, "run", "runs")).strong());
        menu_ui(ui, "Save recording", |ui| {
            for which in Saved::ALL {
                let there = match which {
                    Saved::Shown => shown.or(runs.cursor).is_some(),
                    Saved::Compared => runs.pair().is_some(),
                    Saved::Pinned => runs.runs().iter().any(|run| run.pinned),
                    Saved::All => !runs.runs().is_empty(),
                };
                if ui.add_enabled(there, egui::Button::new(which.text())).clicked() {
                    actions.send(Action::StartExport(ExportKind::Recording(which)));
                    ui.close();
                }
            }
        })
        .on_hover_text("Write runs with their points into a file that opens on any machine.");
        command_ui(ui, Command::Open, actions);
        if let Some(id) = runs.cursor.filter(|&id| runs.get(id).is_some()) {
            let name = runs.get(id).map(|run| run.name.clone()).unwrap_or_default();
            if ui.button("Rename").on_hover_text(format!("Rename “{name}”. F2")).clicked() {
                actions.send(RunsAction::Rename(Some((id, name.clone()))));
            }
            if ui.button("Delete").on_hover_text(format!("Remove “{name}” from the list. Delete")).clicked() {
                actions.send(RunsAction::Delete(id));
            }
        }
        if let Some(name) = runs.deleted()
            && ui.button("Undo delete").on_hover_text(format!("Restore “{name}”.")).clicked()
        {
            actions.send(RunsAction::Undelete);
        }
        if runs.chosen.iter().flatten().count() == 1 {
            ui.label(RichText::new("Choose another run as B to compare.").color(palette.text_weak).small());
        } else if runs.runs().len() > 1 && runs.chosen == [None, None] {
            ui.label(RichText::new("Choose two under A, B to compare them.").color(palette.text_weak).small());
        }
    });
}
