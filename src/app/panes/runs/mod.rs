//! Runs: runs of this session and of opened recordings, and a comparison of two.

use std::sync::Arc;

use egui::EventFilter;
use egui_extras::{Column, TableBuilder};

use super::empty::{Pane, PaneContext, without_run};
use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::runs::state::{ListedRun, RunId, RunList, RunsAction, SaveScope};
use crate::app::look::table::{head_ui, header_height, table_bar_ui};
use crate::app::look::{menu_entry_ui, menu_ui};
use crate::app::prelude::*;
use crate::cloud::formats::Cell;
use crate::run::RunFile;
use crate::text;

pub mod comparison;

pub const PANE: Pane = Pane { kind: PaneKind::Runs, draw: runs_ui, data, exports: &[] };

/// The comparison if two runs are chosen, otherwise the list.
fn data(session: &Session) -> Option<PaneData> {
    let runs = &session.runs;
    if let Some(compared) = &runs.compared {
        return Some(PaneData::Comparison(Arc::clone(compared)));
    }
    let rows: Vec<(String, bool, RunFile)> =
        runs.runs().iter().map(|run| (run.name.clone(), run.pinned, run.run.head().clone())).collect();
    (!rows.is_empty()).then_some(PaneData::Runs(rows))
}

fn runs_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let runs = &context.session.runs;
    if runs.runs().is_empty() && runs.deleted().is_none() {
        return without_run(
            context.session,
            "runs",
            "Press Run, or open a recording (.warpscope) with Open… above.",
        )
        .ui(ui, palette);
    }
    let view = context.session.table(PaneKind::Runs);
    // Newest first.
    let all: Vec<&ListedRun> = runs.runs().iter().rev().collect();
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let cell = |at: usize, column: usize| cell(all[at], COLUMNS[column].name);
    let shown: Vec<&ListedRun> =
        view.rows(all.len(), &names, cell, || false).into_iter().map(|at| all[at as usize]).collect();
    if context.session.picture.is_none() {
        toolbar_ui(ui, [shown.len(), all.len()], context);
    }
    let compares = runs.chosen.iter().all(Option::is_some);
    if !compares {
        return table_ui(ui, context, &shown, ui.available_height());
    }
    // Only a few rows high, to leave room for the comparison.
    let (rows, header) = (shown.len() as f32, header_height(view));
    let height = (header + ROW * rows + 18.0).min((ui.available_height() * 0.4).max(header + 3.0 * ROW));
    table_ui(ui, context, &shown, height);
    ui.separator();
    ScrollArea::both()
        .id_salt("comparison")
        .auto_shrink(false)
        .show(ui, |ui| comparison::comparison_ui(ui, context));
}

fn toolbar_ui(ui: &mut Ui, rows: [usize; 2], context: &mut PaneContext<'_>) {
    let (runs, palette, session) = (&context.session.runs, context.palette, context.session);
    let actions = &mut *context.actions;
    let shown = session.record.as_ref().and_then(|record| runs.of_record(record)).map(|listed| listed.id);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(text::count(runs.runs().len() as u64, "run", "runs")).strong());
        menu_ui(ui, "Save recording", |ui| {
            for which in SaveScope::ALL {
                let there = match which {
                    SaveScope::Shown => shown.or(runs.cursor).is_some(),
                    SaveScope::Compared => runs.pair().is_some(),
                    SaveScope::Pinned => runs.runs().iter().any(|run| run.pinned),
                    SaveScope::All => !runs.runs().is_empty(),
                };
                if ui.add_enabled(there, Button::new(which.text())).clicked() {
                    actions.send(Action::StartExport(ExportKind::Recording(which)));
                    ui.close();
                }
            }
        })
        .on_hover_text("Write runs with their points into a file that opens on any machine.");
        command_ui(ui, Command::Open, actions);
        let choices: Vec<(&str, bool)> =
            COLUMNS.iter().skip(CONTROLS).map(|column| (column.name, true)).collect();
        let table = (PaneKind::Runs, session.table(PaneKind::Runs));
        table_bar_ui(ui, table, &choices, rows, palette, actions);
        if let Some(id) = runs.cursor.filter(|&id| runs.get(id).is_some()) {
            let name = runs.get(id).map(|run| run.name.clone()).unwrap_or_default();
            if ui.button("Rename").on_hover_text(format!("Rename “{name}”. F2")).clicked() {
                actions.send(RunsAction::Rename(Some((id, name.clone()))));
            }
            if ui.button("Delete").on_hover_text(format!("Remove “{name}” from the list. Delete")).clicked()
            {
                actions.send(RunsAction::Delete(id));
            }
        }
        if let Some(name) = runs.deleted()
            && ui.button("Undo delete").on_hover_text(format!("Restore “{name}”.")).clicked()
        {
            actions.send(RunsAction::Undelete);
        }
        if runs.chosen.iter().flatten().count() == 1 {
            ui.label(palette.small("Choose another run as B to compare."));
        } else if runs.runs().len() > 1 && runs.chosen == [None, None] {
            ui.label(palette.small("Choose two under A, B to compare them."));
        }
    });
}

// The list, with a row for each run.

const ROW: f32 = 24.0;

/// A column of the list, of a fixed width, so that nothing moves while values change.
struct RunColumn {
    name: &'static str,
    width: f32,
    /// Numbers are at the right.
    is_number: bool,
}

/// Number of columns that are always shown: the run's controls and its name.
const CONTROLS: usize = 3;

const COLUMNS: [RunColumn; 13] = {
    const fn column(name: &'static str, width: f32, is_number: bool) -> RunColumn {
        RunColumn { name, width, is_number }
    }
    [
        column("A, B", 30.0, false),
        column("pin", 30.0, false),
        column("run", 250.0, false),
        column("search, median", 108.0, true),
        column("IQR", 150.0, true),
        column("rate", 100.0, true),
        column("engine", 112.0, false),
        column("n", 84.0, true),
        column("q", 72.0, true),
        column("d", 52.0, true),
        column("k", 64.0, true),
        column("began", 130.0, false),
        column("device", 240.0, false),
    ]
};

/// The table, in this height.
fn table_ui(ui: &mut Ui, context: &mut PaneContext<'_>, order: &[&ListedRun], height: f32) {
    let runs = &context.session.runs;
    let record = context.session.record.as_ref();
    let current = record.and_then(|record| runs.of_record(record)).map(|run| run.id);
    let (palette, view) = (context.palette, context.session.table(PaneKind::Runs));
    let shown: Vec<&RunColumn> = (COLUMNS.iter().enumerate())
        .filter(|(at, column)| *at < CONTROLS || view.shows(column.name, true))
        .map(|(_, column)| column)
        .collect();
    let header = header_height(view);
    ScrollArea::horizontal().id_salt("runs").max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        let mut table = TableBuilder::new(ui)
            .id_salt("runs")
            .striped(true)
            .cell_layout(Layout::left_to_right(Align::Center))
            .max_scroll_height(height - header)
            .min_scrolled_height(0.0)
            .auto_shrink([false, true]);
        for column in &shown {
            table = table.column(match column.name {
                "run" => Column::initial(column.width).at_least(120.0).clip(true).resizable(true),
                _ => Column::exact(column.width).clip(true),
            });
        }
        let table = table.header(header, |mut header| {
            for column in &shown {
                header.col(|ui| {
                    if column.name == "A, B" {
                        ui.add(Label::new(palette.weak(column.name)).extend());
                    } else {
                        let table = (PaneKind::Runs, view);
                        let kind = [column.is_number, matches!(column.name, "run" | "engine" | "device")];
                        head_ui(ui, column.name, kind, table, palette, context.actions);
                    }
                });
            }
        });
        table.body(|body| {
            body.rows(ROW, order.len(), |mut row| {
                let at = row.index();
                row.set_selected(current == Some(order[at].id));
                let neighbor =
                    |by: isize| at.checked_add_signed(by).and_then(|at| order.get(at)).map(|run| run.id);
                let adjacent = [neighbor(-1), neighbor(1)];
                for column in &shown {
                    row.col(|ui| cell_ui(ui, column, order[at], adjacent, runs, palette, context.actions));
                }
            });
        });
        // Room for the floating scroll bar below the last row.
        ui.add_space(ui.spacing().scroll.bar_width + 2.0);
    });
}

/// A value to sort and filter by.
fn cell(run: &ListedRun, column: &str) -> Cell {
    let (head, text) = (run.run.head(), |text: &str| Cell::Text(text.to_owned()));
    let summary = &head.summary;
    Cell::Number(match column {
        "pin" => f64::from(u8::from(!run.pinned)),
        "run" => return text(&run.name),
        "search, median" => summary.search_ms_median,
        "IQR" => run.search.upper_quartile - run.search.lower_quartile,
        "rate" => return summary.distances_per_second.map_or(Cell::Missing, Cell::Number),
        "engine" => return text(head.engine.as_str()),
        "n" => summary.n as f64,
        "q" => summary.q as f64,
        "d" => summary.d as f64,
        "k" => head.spec.k as f64,
        "began" => head.started_unix as f64,
        "device" => return text(&head.device.name),
        _ => return Cell::Missing,
    })
}

/// The text of a value, and its tooltip.
fn texts(run: &ListedRun, column: &str) -> (String, String) {
    let (head, search) = (run.run.head(), &run.search);
    let summary = &head.summary;
    let plain = |text: String| (text, String::new());
    let repeats = || {
        let repeats = text::count(search.repeats as u64, "repeat", "repeats");
        format!("{repeats} of {} to {}", text::time(search.min), text::time(search.max))
    };
    match column {
        "search, median" => (text::time(summary.search_ms_median), repeats()),
        "IQR" if search.repeats < 2 => ("one repeat".to_owned(), repeats()),
        "IQR" => {
            let [low, high] = [search.lower_quartile, search.upper_quartile].map(text::time);
            (format!("{low} to {high}"), repeats())
        }
        "rate" => plain(summary.distances_per_second.map_or_else(|| "–".to_owned(), text::rate)),
        "engine" => (head.engine.to_string(), head.method.clone().unwrap_or_default()),
        "n" => plain(text::thousands(summary.n)),
        "q" => plain(text::thousands(summary.q)),
        "d" => plain(text::thousands(summary.d)),
        "k" => plain(text::thousands(head.spec.k as u64)),
        "began" => (text::moment(head.started_unix), "UTC".to_owned()),
        _ => {
            let from = run.from.as_ref().map(|path| format!("Opened from {}", path.display()));
            (head.device.name.clone(), from.unwrap_or_default())
        }
    }
}

fn cell_ui(
    ui: &mut Ui,
    column: &RunColumn,
    run: &ListedRun,
    adjacent: [Option<RunId>; 2],
    runs: &RunList,
    palette: &Palette,
    actions: &mut Actions,
) {
    match column.name {
        "A, B" => choose_ui(ui, run, runs, palette, actions),
        "pin" => pin_ui(ui, run, actions),
        "run" => match &runs.renaming {
            Some((id, text)) if *id == run.id => rename_ui(ui, *id, text, actions),
            _ => name_ui(ui, run, adjacent, palette, actions),
        },
        name => {
            let (text, hover) = texts(run, name);
            let align = if column.is_number { Layout::right_to_left } else { Layout::left_to_right };
            ui.with_layout(align(Align::Center), |ui| {
                let response = ui.add(Label::new(number(text).size(12.0)).truncate());
                if !hover.is_empty() {
                    response.on_hover_text(hover);
                }
            });
        }
    }
}

fn pin_ui(ui: &mut Ui, run: &ListedRun, actions: &mut Actions) {
    let mut pinned = run.pinned;
    let response = ui.checkbox(&mut pinned, "").on_hover_text("A pinned run is kept when the list is full.");
    let name = format!("Pin {}", run.name);
    response.widget_info(|| egui::WidgetInfo::selected(Role::CheckBox, true, pinned, &name));
    if response.clicked() {
        actions.send(RunsAction::Pin(run.id, pinned));
    }
}

/// The button for A, B, or neither.
fn choose_ui(ui: &mut Ui, run: &ListedRun, runs: &RunList, palette: &Palette, actions: &mut Actions) {
    let side = runs.chosen.iter().position(|&chosen| chosen == Some(run.id));
    let button = match side {
        None => Button::new(RichText::new(" ").monospace()),
        Some(side) => Button::new(RichText::new(["A", "B"][side]).monospace().strong().color(palette.canvas))
            .fill(palette.runs[side]),
    };
    let response = ui.add(button).on_hover_text("Compare this run with another.");
    let name = format!("Compare {}", run.name);
    response.widget_info(|| egui::WidgetInfo::selected(Role::CheckBox, true, side.is_some(), &name));
    if response.clicked() {
        actions.send(RunsAction::Choose(run.id));
    }
}

fn name_ui(
    ui: &mut Ui,
    run: &ListedRun,
    adjacent: [Option<RunId>; 2],
    palette: &Palette,
    actions: &mut Actions,
) {
    let part = run.run.record().is_none();
    // A selected row has its own background and text colour.
    let usual = if part { palette.text_weak } else { palette.text };
    let text = RichText::new(&run.name).color(ui.visuals().override_text_color.unwrap_or(usual));
    let response = ui.add(Button::new(text).frame(false).truncate());
    let hint = if part {
        "Its points are not in the recording: only timings and counters can be compared. F2 renames, Delete \
         deletes."
    } else {
        "Show it in all panes; Ctrl+click compares it. F2 renames, Delete deletes."
    };
    let response = response.on_hover_text(format!("{}\n{hint}", run.name));
    if response.clicked() {
        let compares = ui.input(|input| input.modifiers.command);
        actions.send(if compares { RunsAction::Choose(run.id) } else { RunsAction::Show(run.id) });
        response.request_focus();
    }
    if response.double_clicked() {
        actions.send(RunsAction::Rename(Some((run.id, run.name.clone()))));
    }
    response.context_menu(|ui| {
        for (text, action) in [
            ("Show", RunsAction::Show(run.id)),
            ("Rename", RunsAction::Rename(Some((run.id, run.name.clone())))),
            (if run.pinned { "Unpin" } else { "Pin" }, RunsAction::Pin(run.id, !run.pinned)),
            ("Compare", RunsAction::Choose(run.id)),
            ("Delete", RunsAction::Delete(run.id)),
        ] {
            menu_entry_ui(ui, Button::new(text), action, actions);
        }
    });
    // The next row to focus may not be drawn yet.
    let next_focus = Id::unique("run with the keys");
    let focus = |id: RunId| ui.memory_mut(|memory| memory.data.insert_temp(next_focus, id));
    if ui.memory(|memory| memory.data.get_temp::<RunId>(next_focus)) == Some(run.id) {
        ui.memory_mut(|memory| memory.data.remove::<RunId>(next_focus));
        response.request_focus();
    }
    if !response.has_focus() {
        return;
    }
    ui.painter().rect_stroke(
        response.rect.expand(1.0),
        3.0,
        Stroke::new(1.0, palette.accent),
        egui::StrokeKind::Outside,
    );
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    for (key, by) in [(Key::ArrowUp, 0), (Key::ArrowDown, 1)] {
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key))
            && let Some(next) = adjacent[by]
        {
            focus(next);
            actions.send(RunsAction::Show(next));
        }
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
    if pressed(Key::F2) {
        actions.send(RunsAction::Rename(Some((run.id, run.name.clone()))));
    }
    if pressed(Key::Delete) {
        actions.send(RunsAction::Delete(run.id));
        if let Some(next) = adjacent[1].or(adjacent[0]) {
            focus(next);
        }
    }
}

fn rename_ui(ui: &mut Ui, id: RunId, text: &str, actions: &mut Actions) {
    let mut typed = text.to_owned();
    let field = Id::unique(("name of run", id));
    let first =
        ui.memory_mut(|memory| !memory.has_focus(field) && memory.data.get_temp::<bool>(field).is_none());
    // The field has its own background, where a selected row's text colour would be unreadable.
    ui.visuals_mut().override_text_color = None;
    let response = ui.add(TextEdit::singleline(&mut typed).id(field).desired_width(ui.available_width()));
    name_widget(&response, Role::TextInput, "Name of the run");
    if first {
        ui.memory_mut(|memory| memory.data.insert_temp(field, true));
        response.request_focus();
        return;
    }
    if typed != text {
        actions.send(RunsAction::Rename(Some((id, typed))));
    }
    if response.lost_focus() {
        ui.memory_mut(|memory| memory.data.remove::<bool>(field));
        let given_up = ui.input(|input| input.key_pressed(Key::Escape));
        actions.send(if given_up { RunsAction::Rename(None) } else { RunsAction::TakeName });
    }
}
