//! What this is, in one glance: shown until it is read.

use egui::{Frame, Margin, RichText, Ui};

use crate::app::commands::{Action, Actions, Command};
use crate::app::tokens::Palette;
use crate::app::widgets::{command_ui, keys_text};

/// The strip over the panes.
pub fn hints_ui(ui: &mut Ui, palette: &Palette, actions: &mut Actions) {
    Frame::NONE.fill(palette.field).inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            let colored = |text: &str, color| RichText::new(text.to_owned()).color(color).strong();
            ui.label(colored("Click a point", palette.query));
            ui.label("and it becomes the query.");
            ui.label(colored("Plane", palette.neighbor));
            ui.label("shows its k nearest neighbours,");
            ui.label(colored("Convergence", palette.intermediate));
            ui.label("how the search closed in on them, and Timings what it took.");
            let open = Command::Open.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
            ui.label(format!("Your own points: {open}, or drop a file here."));
            command_ui(ui, Command::Find, actions);
            command_ui(ui, Command::Lesson, actions);
            if ui.button("Got it").on_hover_text("They can be had again from the Help menu.").clicked() {
                actions.send(Action::ShowHints(false));
            }
        });
    });
    ui.add_space(2.0);
}
