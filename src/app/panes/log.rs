//! Log: all messages, newest last.

use super::empty::{Pane, PaneContext};
use crate::app::features::export::PaneData;
use crate::app::model::Level;
use crate::app::prelude::*;

pub const PANE: Pane = Pane {
    kind: PaneKind::Log,
    draw: log_ui,
    data: |session| Some(PaneData::Log(session.log.entries().to_vec())),
    exports: &[],
};

fn log_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let entries = context.session.log.entries();
    if entries.is_empty() {
        return empty_ui(ui, "No messages yet", "Loads, runs, exports and errors are listed here.", palette);
    }
    let height = ui.text_style_height(&egui::TextStyle::Body);
    ScrollArea::both().auto_shrink(false).stick_to_bottom(true).show_rows(
        ui,
        height,
        entries.len(),
        |ui, rows| {
            for entry in &entries[rows] {
                let color = match entry.level {
                    Level::Info => palette.text,
                    Level::Warning => palette.warning,
                    Level::Error => palette.error,
                };
                ui.horizontal(|ui| {
                    ui.label(RichText::new(entry.time()).monospace().color(palette.text_weak));
                    ui.label(RichText::new(format!("{:<7}", entry.level.text())).monospace().color(color));
                    ui.add(Label::new(RichText::new(&entry.text).color(color)).extend());
                });
            }
        },
    );
}
