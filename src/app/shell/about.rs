//! The About window (version and system, for bug reports) and the first hints.

use egui::{Frame, Margin};

use crate::app::context::app::App;
use crate::app::look::{menu_entry_ui, menu_ui};
use crate::app::model::SAMPLES;
use crate::app::prelude::*;
use crate::version;

impl App {
    /// Names and values, in display order.
    pub(in crate::app) fn about(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Warpscope", version::version()),
            ("Licence", "MIT or Apache-2.0, at your choice".to_owned()),
            ("System", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ];
        let gpus = self.session.engines.iter().filter(|status| status.is_gpu());
        let mut names: Vec<String> = Vec::new();
        for status in gpus {
            let gpu = match &status.device {
                None => "detecting…".to_owned(),
                Some(Err(_)) => format!("none: {}", status.unavailable_reason().unwrap_or_default()),
                Some(Ok(device)) => {
                    let driver = device
                        .details
                        .iter()
                        .filter(|(name, _)| name.contains("driver") || name.contains("compute capability"));
                    let details: Vec<String> =
                        driver.map(|(name, value)| format!("{name} {value}")).collect();
                    if details.is_empty() {
                        device.name.clone()
                    } else {
                        format!("{}, {}", device.name, details.join(", "))
                    }
                }
            };
            if !names.contains(&gpu) {
                names.push(gpu);
            }
        }
        facts.extend(names.into_iter().map(|gpu| ("GPU", gpu)));
        let adapter = self.handles.render_state.as_ref().map(|render_state| render_state.adapter.get_info());
        let adapter = adapter.map_or_else(
            || "none".to_owned(),
            |info| {
                let driver: Vec<&str> = [info.driver.as_str(), info.driver_info.as_str()]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect();
                let driver =
                    if driver.is_empty() { String::new() } else { format!(", {}", driver.join(" ")) };
                format!("{} ({}{driver})", info.name, info.backend)
            },
        );
        facts.push(("Graphics", adapter));
        let folder = self
            .settings
            .as_ref()
            .map_or_else(|| "not saved".to_owned(), |settings| settings.folder().display().to_string());
        facts.push(("Settings", folder));
        facts
    }

    /// Copies the same facts as lines of text.
    pub(in crate::app) fn copy_about(&mut self) {
        let lines: Vec<String> =
            self.about().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        self.handles.ctx.copy_text(lines.join("\n"));
        self.session.log.info("copied: version and system details");
    }
}

/// Draws the About window while it is open.
pub fn about_ui(ui: &Ui, facts: &[(&'static str, String)], palette: &Palette, actions: &mut Actions) {
    let mut open = true;
    let window = egui::Window::new("About Warpscope").open(&mut open).collapsible(false).resizable(false);
    window.anchor(Align2::CENTER_CENTER, Vec2::ZERO).show(ui.ctx(), |ui| {
        ui.set_max_width((ui.ctx().content_rect().width() - 60.0).min(520.0));
        ui.label("A visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.");
        ui.add_space(6.0);
        // At a large scale the content is higher than the window.
        let height = (ui.ctx().content_rect().height() - 160.0).max(60.0);
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for (name, value) in facts {
                ui.horizontal_top(|ui| {
                    ui.allocate_ui_with_layout(vec2(96.0, 16.0), Layout::left_to_right(Align::Min), |ui| {
                        ui.set_min_width(96.0);
                        ui.label(palette.weak(*name));
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

/// The strip of first-launch hints above the panes.
pub fn hints_ui(ui: &mut Ui, palette: &Palette, actions: &mut Actions) {
    Frame::NONE.fill(palette.field).inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            let colored = |text: &str, color| RichText::new(text.to_owned()).color(color).strong();
            ui.spacing_mut().item_spacing = vec2(4.0, 2.0);
            ui.label("Warpscope finds the");
            ui.label(colored("nearest neighbours", palette.neighbor));
            ui.label("of the");
            ui.label(colored("point you click", palette.query));
            ui.label("and shows how they were found.");
            command_ui(ui, Command::Open, actions);
            menu_ui(ui, "Try a sample", |ui| samples_ui(ui, actions));
            if ui.button("Learn how it works").on_hover_text(Command::Lesson.tooltip()).clicked() {
                actions.send(Command::Lesson);
            }
            let dismiss = ui.add(Button::new(palette.weak("×")).frame(false));
            name_widget(&dismiss, Role::Button, "Dismiss the hints");
            if dismiss.on_hover_text("The Help menu brings these hints back.").clicked() {
                actions.send(Action::ShowHints(false));
            }
        });
    });
    ui.add_space(2.0);
}

pub fn samples_ui(ui: &mut Ui, actions: &mut Actions) {
    for sample in &SAMPLES {
        menu_entry_ui(ui, Button::new(sample.title), Action::OpenSample(sample), actions)
            .on_hover_text(sample.about);
    }
}
