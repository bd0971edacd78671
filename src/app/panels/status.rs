//! Below: one line with what goes on, the last thing said, and what answers.

use egui::{Align, Label, Layout, RichText, Ui};

use crate::app::commands::{Actions, Command};
use crate::app::log::Level;
use crate::app::session::{Activity, Session};
use crate::app::tokens::Palette;
use crate::app::widgets::command_ui;
use crate::knn::EngineKind;

/// The line.
pub fn status_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.button("?").on_hover_text(Command::Shortcuts.text()).clicked() {
            actions.send(Command::Shortcuts);
        }
        device_ui(ui, session, palette);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let preparing = matches!(session.activity, Activity::Preparing { .. });
            if preparing || (session.lesson.open && session.activity.is_busy()) {
                command_ui(ui, Command::Cancel, actions);
            }
            match &session.activity {
                Activity::Idle => {}
                Activity::Loading { what, fraction } => {
                    let percent = fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
                    ui.label(RichText::new(format!("Loading {what}{percent}")).color(palette.accent));
                }
                Activity::Recording { what, fraction } => {
                    let percent = fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
                    ui.label(RichText::new(format!("Recording {what}{percent}")).color(palette.accent));
                }
                Activity::Preparing { what, fraction } => {
                    let percent = fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
                    ui.label(RichText::new(format!("{what}{percent}")).color(palette.accent));
                }
                Activity::Exporting { path, fraction } => {
                    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                    let percent = fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
                    ui.label(RichText::new(format!("Writing {name}{percent}")).color(palette.accent));
                }
                Activity::Running { stage, fraction, pick } => {
                    let what = if *pick { "Answering the picked point" } else { "Running" };
                    ui.label(RichText::new(format!("{what}, {stage}, {:.0} %", fraction * 100.0)).color(palette.accent));
                }
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
