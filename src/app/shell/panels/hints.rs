//! What this is, in one glance: shown until it is read.

use egui::{Frame, Margin, RichText, Ui, vec2};

use crate::app::look::{Palette, command_ui, keys_text, menu_entry_ui, menu_ui};
use crate::app::model::{Action, Actions, Command, SAMPLES};

/// The strip over the panes.
pub fn hints_ui(ui: &mut Ui, palette: &Palette, actions: &mut Actions) {
    Frame::NONE.fill(palette.field).inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            let colored = |text: &str, color| RichText::new(text.to_owned()).color(color).strong();
            ui.spacing_mut().item_spacing = vec2(4.0, 2.0);
            ui.label("Warpscope finds the nearest neighbours of a point in your data.");
            command_ui(ui, Command::Open, actions);
            menu_ui(ui, "Try a sample", |ui| samples_ui(ui, actions));
            ui.label("Then");
            ui.label(colored("click a point", palette.query));
            ui.label("or drag the ring: the");
            ui.label(colored("neighbours", palette.neighbor));
            ui.label("follow.");
            let keys = |command: Command| command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
            let (lesson, find) = (keys(Command::Lesson), keys(Command::Find));
            ui.label(format!("How it works: {lesson}. All commands: {find}."));
            if ui.button("Got it").on_hover_text("The Help menu brings these hints back.").clicked() {
                actions.send(Action::ShowHints(false));
            }
        });
    });
    ui.add_space(2.0);
}

/// The clouds that ship with the program, in a menu.
pub fn samples_ui(ui: &mut Ui, actions: &mut Actions) {
    for sample in &SAMPLES {
        menu_entry_ui(ui, egui::Button::new(sample.title), Action::OpenSample(sample), actions).on_hover_text(sample.about);
    }
}
