//! What the program is, and what it runs on.

use egui::{Label, RichText, ScrollArea, Ui};

use crate::app::look::Palette;
use crate::app::model::{Action, Actions};

/// The window, when it is open.
pub fn about_ui(ui: &Ui, facts: &[(&'static str, String)], palette: &Palette, actions: &mut Actions) {
    let mut open = true;
    let window = egui::Window::new("About Warpscope").open(&mut open).collapsible(false).resizable(false);
    window.anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO).show(ui.ctx(), |ui| {
        ui.set_max_width((ui.ctx().content_rect().width() - 60.0).min(520.0));
        ui.label("A visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.");
        ui.add_space(6.0);
        // At a large scale it is higher than the window.
        let height = (ui.ctx().content_rect().height() - 160.0).max(60.0);
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for (name, value) in facts {
                ui.horizontal_top(|ui| {
                    ui.allocate_ui_with_layout(egui::vec2(96.0, 16.0), egui::Layout::left_to_right(egui::Align::Min), |ui| {
                        ui.set_min_width(96.0);
                        ui.label(RichText::new(*name).color(palette.text_weak));
                    });
                    ui.add(Label::new(value).wrap());
                });
            }
        });
        ui.add_space(6.0);
        if ui.button("Copy").on_hover_text("Copy all of this as text, for a bug report.").clicked() {
            actions.send(Action::CopyAbout);
        }
    });
    if !open {
        actions.send(Action::CloseAbout);
    }
}
