//! What this is, in one glance: shown until it is read.

use egui::{Frame, Margin, RichText, Ui, vec2};

use crate::app::look::{Palette, keys_text};
use crate::app::model::{Action, Actions, Command};

/// The strip over the panes.
pub fn hints_ui(ui: &mut Ui, palette: &Palette, actions: &mut Actions) {
    Frame::NONE.fill(palette.field).inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            let colored = |text: &str, color| RichText::new(text.to_owned()).color(color).strong();
            ui.spacing_mut().item_spacing = vec2(4.0, 2.0);
            ui.label(colored("Click a point", palette.query));
            ui.label("or drag the query.");
            ui.label(colored("Plane", palette.neighbor));
            ui.label("shows its k nearest neighbours,");
            ui.label(colored("Convergence", palette.intermediate));
            ui.label("how the search closed in on them.");
            let keys = |command: Command| command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
            let (open, lesson, find) = (keys(Command::Open), keys(Command::Lesson), keys(Command::Find));
            ui.label(format!("Your own points: {open}, or drop a file here. The lesson: {lesson}. Anything: {find}."));
            if ui.button("Got it").on_hover_text("They can be had again from the Help menu.").clicked() {
                actions.send(Action::ShowHints(false));
            }
        });
    });
    ui.add_space(2.0);
}
