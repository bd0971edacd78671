//! Below: one line with what goes on, the last thing said, and what answers.

use egui::{Align, Label, Layout, RichText, Ui};

use crate::app::commands::{Actions, Command};
use crate::app::log::Level;
use crate::app::session::{Activity, Session};
use crate::app::tokens::Palette;
use crate::app::widgets::command_ui;
use crate::knn::EngineKind;

/// The line; `problem` says whether the panel of the problem is in sight.
pub fn status_ui(ui: &mut Ui, session: &Session, problem: bool, palette: &Palette, actions: &mut Actions) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.button("?").on_hover_text(Command::Shortcuts.text()).clicked() {
            actions.send(Command::Shortcuts);
        }
        device_ui(ui, session, palette);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            // A load and a run have their Cancel where they were begun, while that is in sight.
            let on_the_left = matches!(session.activity, Activity::Loading { .. } | Activity::Running { .. });
            if session.activity.is_busy() && !(on_the_left && problem) {
                command_ui(ui, Command::Cancel, actions);
            }
            if let Some(text) = what_goes_on(&session.activity) {
                ui.add(Label::new(RichText::new(text).color(palette.accent)).truncate());
            }
            let Some(entry) = session.log.last() else {
                ui.label(RichText::new("Ready").color(palette.text_weak));
                return;
            };
            let color = match entry.level {
                Level::Info => palette.text_weak,
                Level::Warning => palette.warning,
                Level::Error => palette.error,
            };
            let text = if entry.level == Level::Error { format!("Error: {}", entry.text) } else { entry.text.clone() };
            ui.add(Label::new(RichText::new(text).color(color)).truncate()).on_hover_text(&entry.text);
        });
    });
}

fn what_goes_on(activity: &Activity) -> Option<String> {
    let percent = |fraction: &Option<f32>| fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
    Some(match activity {
        Activity::Idle => return None,
        Activity::Loading { what, fraction } => format!("Loading {what}{}", percent(fraction)),
        Activity::Recording { what, fraction } => format!("Recording {what}{}", percent(fraction)),
        Activity::Preparing { what, fraction } => format!("{what}{}", percent(fraction)),
        Activity::Exporting { path, fraction } => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            format!("Writing {name}{}", percent(fraction))
        }
        Activity::Running { stage, fraction } => format!("Running, {stage}, {:.0} %", fraction * 100.0),
        Activity::Asking => "Answering the picked query…".to_owned(),
        Activity::Selecting => "Selecting…".to_owned(),
    })
}

/// What answers here, and why it is not a GPU.
fn device_ui(ui: &mut Ui, session: &Session, palette: &Palette) {
    let cuda = session.engines.iter().find(|status| status.kind == EngineKind::Cuda).and_then(|status| status.device.as_ref());
    match cuda {
        None => {}
        Some(Ok(device)) => {
            ui.label(RichText::new(&device.name).color(palette.text_weak));
        }
        Some(Err(why)) => {
            ui.label(RichText::new("No CUDA").color(palette.warning)).on_hover_text(why);
        }
    }
}
