//! The lesson's layout: lessons on the left, the picture in the centre, question and player below.

use egui::{CentralPanel, Frame, Margin, Panel};

use crate::app::context::app::App;
use crate::app::features::lesson::ask::{self, QuestionLayout};
use crate::app::features::lesson::controls::{PlayerOptions, controls_ui};
use crate::app::features::lesson::paint;
use crate::app::features::lesson::panel::panel_ui;
use crate::app::features::lesson::picture::{PictureOptions, picture_ui};
use crate::app::features::lesson::source::source_ui;
use crate::app::features::lesson::state::LessonAction;
use crate::app::features::lesson::state::session::{PresentationMode, lesson_of};
use crate::app::prelude::*;
use crate::lesson::picture::View;
use crate::lesson::picture::page::sentence_height;

/// Below this window height in points, as at a large scale, menus replace the player's second row.
const LOW_WINDOW: f32 = 520.0;

/// Text size of the picture next to panels.
const TEXT: f32 = 13.0;

/// Lines and columns of text that fill the presenter's window. The smallest text can be read on a thumbnail
/// 480 pixels wide.
const LINES: f32 = 30.0;
const COLUMNS: f32 = 53.0;

/// Minimum height of a question next to panels, in points; most questions fit.
const MIN_QUESTION_HEIGHT: f32 = 132.0;

/// Scale of text below the presenter's picture.
const BELOW_SCALE: f32 = 0.8;

/// Height of the presenter's player, for running text of a size.
fn player_height(text: f32) -> f32 {
    text * 1.2 + 40.0
}

impl App {
    /// Draws everything between the menus and the status line.
    pub(in crate::app) fn lesson_ui(&mut self, ui: &mut Ui, palette: &'static Palette) {
        let (presenting, look) = (self.session.lesson.presenting, self.look());
        let panel = Frame::NONE.fill(palette.panel);
        let window = ui.ctx().content_rect().size();
        // If there is no room for both, the picture takes precedence.
        if self.state.show_problem && presenting == PresentationMode::No && window.x >= 900.0 {
            let side = panel.inner_margin(Margin::symmetric(10, 6));
            Panel::left("lessons")
                .resizable(true)
                .default_size(270.0)
                .size_range(230.0..=420.0)
                .frame(side)
                .show(ui, |ui| {
                    panel_ui(ui, &mut self.controls(palette));
                });
        }
        let presented = presenting != PresentationMode::No;
        let text =
            if presented { (window.y / LINES).min(window.x / COLUMNS).clamp(TEXT, 44.0) } else { TEXT };
        let (session, actions) = (&self.session.lesson, &mut self.actions);
        let player =
            session.player.as_ref().filter(|player| player.lesson.number == self.state.lesson.number);
        let quiz = session.quiz.as_ref();
        if let Some(player) =
            player.filter(|_| presenting != PresentationMode::Bare && !(presented && quiz.is_some()))
        {
            let frame = panel.inner_margin(Margin::symmetric(10, 5));
            below("player", player_height(text), presented).frame(frame).show(ui, |ui| {
                let (asking, brief) = (session.is_held(), presented || window.y < LOW_WINDOW);
                let controls = PlayerOptions {
                    view: &self.state.lesson,
                    asking,
                    brief,
                    zoomed: session.zoom.is_some(),
                    text: presented.then_some(text * BELOW_SCALE),
                    palette,
                };
                if presented {
                    ui.add_space(((ui.available_height() - controls.height()) / 2.0).max(0.0));
                }
                controls_ui(ui, player, controls, actions);
            });
        }
        // Also when only the picture is shown, which would be meaningless without the question.
        if let Some((player, quiz)) = player.zip(quiz) {
            let frame = Frame::NONE
                .fill(palette.field)
                .inner_margin(Margin::symmetric(12, if presented { 4 } else { 8 }));
            // Next to panels, the height fits the content but rarely changes.
            let highest = if presented { 64.0 } else { window.y * 0.4 };
            // In place of the player and the sentence, so that the picture does not move.
            let sentence = sentence_height(&View::new(player.cursor(), text), window.x);
            let panel = below("question", player_height(text) + sentence, presented);
            let panel = if presented { panel } else { panel.min_size(MIN_QUESTION_HEIGHT.min(highest)) };
            panel.frame(frame).show(ui, |ui| {
                ScrollArea::vertical().auto_shrink([false, !presented]).min_scrolled_height(highest).show(
                    ui,
                    |ui| {
                        let room = if presented {
                            QuestionLayout { size: text * BELOW_SCALE, is_tight: true }
                        } else {
                            QuestionLayout { size: 14.0, is_tight: false }
                        };
                        if presented {
                            (ui.spacing_mut().item_spacing.y, ui.spacing_mut().button_padding.y) = (2.0, 1.0);
                        }
                        ask::ask_ui(ui, quiz, player, room, palette, actions);
                    },
                );
            });
        }
        CentralPanel::default().frame(Frame::NONE.fill(palette.canvas).inner_margin(Margin::same(4))).show(
            ui,
            |ui| match player {
                Some(player) => {
                    let together = self.state.lesson.side_by_side;
                    let hints = !self.state.lesson.has_dragged;
                    let motion = paint::motion_seconds(
                        self.state.reduces_motion(self.session.system_reduces_motion),
                        player.is_playing().then_some(self.state.lesson.speed),
                    );
                    let zoom = session.zoom;
                    let look = PictureOptions {
                        together,
                        text,
                        presented,
                        zoom,
                        palette: Palette::base(look, ui.visuals()),
                        tokens: palette,
                        hints,
                        motion,
                    };
                    picture_ui(ui, &mut self.handles.picture_of_lesson, session, player, look, actions);
                }
                None => waiting_ui(
                    ui,
                    session.error.as_deref(),
                    lesson_of(self.state.lesson.number).title,
                    palette,
                    actions,
                ),
            },
        );
        if let Some((player, shown)) = player.zip(session.source) {
            source_ui(ui, shown, player, palette, actions);
        }
    }
}

fn below(name: &'static str, high: f32, presented: bool) -> Panel {
    let panel = Panel::bottom(name);
    if presented { panel.exact_size(high) } else { panel }
}

/// Placeholder: what is loading, or why nothing is shown.
fn waiting_ui(
    ui: &mut Ui,
    error: Option<&str>,
    title: &str,
    palette: &Palette,
    actions: &mut crate::app::model::commands::Actions,
) {
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
                ui.label(palette.weak("The search is being recorded."));
                ui.allocate_ui(vec2(120.0, 26.0), |ui| command_ui(ui, Command::Cancel, actions));
            }
        }
    });
}
