//! The status line: activity, the last message, and the device.

use crate::app::model::Level;
use crate::app::model::log::Entry;
use crate::app::prelude::*;
use crate::text;

/// Draws the line; `problem` says whether the left panel is visible.
pub fn status_ui(ui: &mut Ui, session: &Session, problem: bool, palette: &Palette, actions: &mut Actions) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.button("?").on_hover_text(Command::Shortcuts.text()).clicked() {
            actions.send(Command::Shortcuts);
        }
        device_ui(ui, session, palette);
        selected_ui(ui, session, palette, actions);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            // Loads and runs have their Cancel button in the left panel, if visible.
            let on_the_left = matches!(session.activity, Activity::Loading { .. } | Activity::Running { .. });
            // A lesson has its own points; the explorer's runs would only confuse.
            let is_elsewhere = session.lesson.open && matches!(session.activity, Activity::Running { .. });
            if session.activity.is_busy() && !(on_the_left && problem) && !is_elsewhere {
                command_ui(ui, Command::Cancel, actions);
            }
            if let Some(text) = activity_text(&session.activity).filter(|_| !is_elsewhere) {
                ui.add(Label::new(RichText::new(text).color(palette.accent)).truncate());
            }
            message_ui(ui, session, palette, actions);
        });
    });
}

/// The unresolved problem, then the last message.
fn message_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    /// Share of the width reserved for the last message.
    const REST: f32 = 0.35;
    let (log, lesson) = (&session.log, &session.lesson);
    let note = log
        .note()
        .filter(|note| !lesson.open || note.level != Level::Info || lesson.before.as_ref() != Some(*note));
    let color = |entry: &Entry| match entry.level {
        Level::Info => palette.text_weak,
        Level::Warning => palette.warning,
        Level::Error => palette.error,
    };
    let entry_ui = |ui: &mut Ui, entry: &Entry| {
        let text =
            if entry.level == Level::Error { format!("Error: {}", entry.text) } else { entry.text.clone() };
        ui.add(Label::new(RichText::new(text).color(color(entry))).truncate()).on_hover_text(&entry.text);
    };
    if let Some(problem) = log.problem() {
        let dismiss = ui.add(Button::new(palette.weak("×")).frame(false).min_size(vec2(18.0, 18.0)));
        name_widget(&dismiss, Role::Button, "Dismiss the message");
        if dismiss.on_hover_text("Dismiss (Escape). Log still lists it.").clicked() {
            actions.send(Action::DismissProblem);
        }
        let room = ui.available_width() * if note.is_some() { 1.0 - REST } else { 1.0 };
        ui.scope(|ui| {
            ui.set_max_width(room);
            entry_ui(ui, problem);
        });
    }
    match note {
        Some(note) => entry_ui(ui, note),
        None if log.problem().is_none() => drop(ui.label(palette.weak("Ready"))),
        None => {}
    }
}

fn activity_text(activity: &Activity) -> Option<String> {
    let percent = |fraction: &Option<f32>| {
        fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default()
    };
    Some(match activity {
        Activity::Idle => return None,
        Activity::Loading { what, fraction } => format!("Loading {what}{}", percent(fraction)),
        Activity::Recording { what, fraction } => format!("Recording {what}{}", percent(fraction)),
        Activity::Preparing { what, fraction } => format!("{what}{}", percent(fraction)),
        Activity::Checking { what, fraction } => {
            format!("Checking {what} for changes{}", percent(fraction))
        }
        Activity::Exporting { path, fraction } => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            format!("Writing {name}{}", percent(fraction))
        }
        Activity::Running { stage, fraction } => format!("Running, {stage}, {:.0} %", fraction * 100.0),
        Activity::Asking => "Answering the picked query…".to_owned(),
        Activity::Selecting => "Selecting…".to_owned(),
    })
}

/// The number of selected rows, which a click shows.
fn selected_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    let rows = session.selection.rows().len() as u64;
    if rows == 0 || session.lesson.open {
        return;
    }
    let said =
        RichText::new(format!("{} selected", text::count(rows, "row", "rows"))).color(palette.selected);
    let [zoom, clear] = [Command::ZoomToSelection, Command::SelectNone].map(|command| {
        let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
        format!("{}: {keys}", command.text())
    });
    let about = format!("A click zooms to them. {zoom}. {clear}. Under Selection they can be exported.");
    if ui.add(Button::new(said).frame(false)).on_hover_text(about).clicked() {
        actions.send(Command::ZoomToSelection);
    }
}

/// The GPU, or why no GPU is available.
fn device_ui(ui: &mut Ui, session: &Session, palette: &Palette) {
    let Some(status) = session.gpu() else { return };
    match &status.device {
        None => {}
        Some(Ok(device)) => {
            ui.label(palette.weak(&device.name));
        }
        Some(Err(_)) => {
            // Permanent, so it is as quiet as a device's name.
            let why = text::sentence_case(status.unavailable_reason().unwrap_or_default());
            let about = format!("No NVIDIA GPU is needed: engine auto searches on the CPU. {why}.");
            ui.label(palette.weak("No GPU")).on_hover_text(about);
        }
    }
}
