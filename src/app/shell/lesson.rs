//! The lesson's part of the window: lessons left, the picture in the middle, question and player below.

use egui::{CentralPanel, Frame, Margin, Panel, RichText, Ui, vec2};

use crate::app::features::lesson::ask;
use crate::app::features::lesson::controls::{Controls, controls_ui};
use crate::app::features::lesson::motion;
use crate::app::features::lesson::panel::panel_ui;
use crate::app::features::lesson::picture::{Look, picture_ui};
use crate::app::features::lesson::source::source_ui;
use crate::app::look::{Palette, command_ui};
use crate::app::model::{Command, LessonAction, Presenting, lesson_of};
use crate::app::shell::app::App;

/// Windows lower than this, in points, as at a large scale, leave the player's second row to the menus.
const LOW: f32 = 520.0;

/// The size of the picture's text, beside panels.
const TEXT: f32 = 13.0;

impl App {
    /// Everything between the menus and the status line.
    pub(in crate::app::shell) fn lesson_ui(&mut self, ui: &mut Ui, palette: &'static Palette) {
        let (presenting, look) = (self.session.lesson.presenting, self.look());
        let panel = Frame::NONE.fill(palette.panel);
        let window = ui.ctx().content_rect().size();
        // Where there is no room for both, the picture comes first.
        if self.state.show_problem && presenting == Presenting::No && window.x >= 900.0 {
            let side = panel.inner_margin(Margin::symmetric(10, 6));
            Panel::left("lessons").resizable(true).default_size(270.0).size_range(230.0..=420.0).frame(side).show(ui, |ui| {
                panel_ui(ui, &self.state, &self.session, palette, &mut self.actions);
            });
        }
        let text = if presenting == Presenting::No { TEXT } else { (window.y / 40.0).min(window.x / 70.0).clamp(TEXT, 40.0) };
        let (session, actions) = (&self.session.lesson, &mut self.actions);
        let player = session.player.as_ref().filter(|player| player.lesson.number == self.state.lesson.number);
        // While there are questions, the presenter has no room for the player, which would be locked most of the time.
        let asks = session.quiz.is_some();
        let hidden = presenting == Presenting::Bare || (presenting == Presenting::Presenter && asks);
        if let Some(player) = player.filter(|_| !hidden) {
            let frame = panel.inner_margin(Margin::symmetric(10, 5));
            Panel::bottom("player").frame(frame).show(ui, |ui| {
                let asking = session.is_held();
                let controls = Controls { view: &self.state.lesson, asking, brief: presenting != Presenting::No || window.y < LOW, palette };
                controls_ui(ui, player, controls, actions);
            });
        }
        // The question also where there is only the picture: without it, nobody knows what is asked.
        if let Some((player, quiz)) = player.zip(session.quiz.as_ref()) {
            let frame = Frame::NONE.fill(palette.field).inner_margin(Margin::symmetric(12, 8));
            Panel::bottom("question").frame(frame).show(ui, |ui| {
                ask::ask_ui(ui, quiz, player, text.max(14.0), palette, actions);
            });
        }
        CentralPanel::default().frame(Frame::NONE.fill(palette.canvas).inner_margin(Margin::same(4))).show(ui, |ui| match player {
            Some(player) => {
                // Beside the question, the picture has less room; the question itself is large.
                let text = if asks && presenting != Presenting::No { (text * 0.8).max(TEXT) } else { text };
                let together = self.state.lesson.side_by_side;
                let hints = !self.state.lesson.has_dragged;
                let motion = motion::length(self.state.reduce_motion, player.is_playing().then_some(self.state.lesson.speed));
                let look = Look { together, text, palette: Palette::base(look, ui.visuals()), tokens: palette, hints, motion };
                picture_ui(ui, &mut self.handles.picture_of_lesson, session, player, look, actions);
            }
            None => waiting_ui(ui, session.error.as_deref(), lesson_of(self.state.lesson.number).title, palette, actions),
        });
        if let Some((player, shown)) = player.zip(session.source) {
            source_ui(ui, shown, player, palette, actions);
        }
    }
}

/// While there is nothing to show: what is going on, or why nothing is.
fn waiting_ui(ui: &mut Ui, error: Option<&str>, title: &str, palette: &Palette, actions: &mut crate::app::model::commands::Actions) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() / 2.0 - 50.0).max(8.0));
        ui.label(RichText::new(title).size(18.0).color(palette.text));
        match error {
            Some(error) => {
                ui.label(RichText::new(error).color(palette.error));
                if ui.button("Back to the lesson's own").clicked() {
                    actions.send(LessonAction::Reset);
                }
            }
            None => {
                ui.add(egui::Spinner::new().size(24.0).color(palette.accent));
                ui.label(RichText::new("The search is being recorded.").color(palette.text_weak));
                ui.allocate_ui(vec2(120.0, 26.0), |ui| command_ui(ui, Command::Cancel, actions));
            }
        }
    });
}
