//! The window's layout: menus above, problem left, selection right, status line below, panes in the centre.

use std::collections::HashMap;
use std::path::PathBuf;

use egui::{CentralPanel, Checkbox, Frame, Margin, Panel, RadioButton};

use crate::app::context::app::App;
use crate::app::features::lesson::controls;
use crate::app::features::lesson::state::LessonAction;
use crate::app::features::lesson::state::session::PresentationMode;
use crate::app::features::table::FEATURES;
use crate::app::look::{menu_entry_ui, menu_items_ui, menu_ui};
use crate::app::model::pane::join_tabs;
use crate::app::model::{Picture, SCALES, Theme, WindowLayout, file_name};
use crate::app::panes::empty::PaneContext;
use crate::app::panes::tiles::{Panes, min_room};
use crate::app::panes::{self};
use crate::app::prelude::*;
use crate::lesson::lessons::LESSONS;

/// Width of the buttons for the workspaces, in screen points.
const WORKSPACES: f32 = 230.0;

/// Minimum width for tab titles to be readable without scrolling, in screen points.
const TABS: f32 = 480.0;

impl App {
    pub(in crate::app) fn window_ui(&mut self, ui: &mut Ui) {
        let palette = Palette::for_look(self.look(), ui.visuals());
        if let Some(picture) = self.session.picture.clone() {
            return self.picture_ui(ui, &picture, palette);
        }
        let lesson = &self.session.lesson;
        if lesson.open && lesson.presenting != PresentationMode::No {
            self.lesson_ui(ui, palette);
            return self.dialogs_ui(ui, palette);
        }
        let room = WindowLayout::for_width(ui.ctx().content_rect().width());
        let [problem, selection] = self.state.panels(room);
        let side = Frame::NONE.fill(palette.panel).inner_margin(Margin::symmetric(10, 6));
        Panel::top("menus")
            .frame(Frame::NONE.fill(palette.panel).inner_margin(Margin::symmetric(8, 3)))
            .show(ui, |ui| self.menus_ui(ui));
        // The panels below and on the right reserve their space now and are drawn after the panes, because
        // Tab follows the drawing order.
        let below = Panel::bottom("status")
            .frame(Frame::NONE.fill(palette.panel).inner_margin(Margin::symmetric(10, 4)));
        let below = below
            .show(ui, |ui| ui.allocate_space(vec2(ui.available_width(), ui.spacing().interact_size.y)).1)
            .inner;
        if self.session.lesson.open {
            self.lesson_ui(ui, palette);
            self.status_ui(ui, below, false, palette);
            return self.dialogs_ui(ui, palette);
        }
        if room == WindowLayout::One && problem {
            CentralPanel::default()
                .frame(side)
                .show(ui, |ui| super::panels::problem::problem_ui(ui, &mut self.controls(palette)));
            self.pane_rects.clear();
            self.status_ui(ui, below, problem, palette);
            return self.dialogs_ui(ui, palette);
        }
        if problem {
            // Explore leaves more to the picture.
            let (id, width) = match self.state.workspace {
                Workspace::Explore => ("explore", 256.0),
                Workspace::Measure => ("problem", 280.0),
            };
            Panel::left(id).resizable(true).default_size(width).size_range(250.0..=460.0).frame(side).show(
                ui,
                |ui| {
                    super::panels::problem::problem_ui(ui, &mut self.controls(palette));
                },
            );
        }
        let right = selection.then(|| {
            let right = Panel::right("selection")
                .resizable(true)
                .default_size(228.0)
                .size_range(200.0..=460.0)
                .frame(side);
            right.show(ui, |ui| ui.allocate_space(ui.available_size()).1).inner
        });
        CentralPanel::default().frame(Frame::NONE.fill(palette.canvas)).show(ui, |ui| {
            // Hidden if they would take the panes' room.
            if self.state.hints && ui.available_width() > 560.0 {
                super::about::hints_ui(ui, palette, &mut self.actions);
            }
            // egui_tiles mutates the tree while panes read the rest of the state.
            let one_pane = self.state.has_one_pane();
            let mut tree =
                std::mem::replace(&mut self.state.tree, egui_tiles::Tree::empty(Id::unique("panes")));
            self.pane_rects.clear();
            let mut panes = Panes {
                context: PaneContext {
                    state: &self.state,
                    session: &self.session,
                    gpu: self.handles.gpu.as_mut(),
                    lookup: &self.handles.lookup,
                    palette,
                    actions: &mut self.actions,
                },
                rects: &mut self.pane_rects,
                root: tree.root,
                strips: HashMap::new(),
            };
            // If panes next to each other would be too small, only one is shown, with a chooser for the
            // others.
            let (room, least) = (ui.available_size(), min_room(&tree));
            let alone = self.state.maximised || room.x < least.x.max(TABS) || room.y < least.y;
            if alone && !one_pane {
                panes.single_pane_ui(ui);
            } else {
                tree.ui(&mut panes, ui);
                join_tabs(&mut tree);
            }
            self.state.tree = tree;
        });
        if let Some(right) = right {
            in_place(ui, "selection", right, |ui| {
                super::panels::selection::selection_ui(ui, &mut self.controls(palette));
            });
        }
        self.status_ui(ui, below, problem, palette);
        self.dialogs_ui(ui, palette);
    }

    /// What the panels' controls show.
    pub(super) fn controls<'a>(&'a mut self, palette: &'a Palette) -> UiContext<'a> {
        let Self { state, session, actions, .. } = self;
        UiContext { state, session, palette, actions }
    }

    fn status_ui(&mut self, ui: &mut Ui, place: Rect, problem: bool, palette: &Palette) {
        in_place(ui, "status", place, |ui| {
            super::panels::status::status_ui(ui, &self.session, problem, palette, &mut self.actions);
        });
    }

    /// Draws one pane for a picture.
    fn picture_ui(&mut self, ui: &mut Ui, picture: &Picture, palette: &'static Palette) {
        self.pane_rects = [(picture.pane, ui.ctx().content_rect())].into();
        let mut context = PaneContext {
            state: &self.state,
            session: &self.session,
            gpu: self.handles.gpu.as_mut(),
            lookup: &self.handles.lookup,
            palette,
            actions: &mut self.actions,
        };
        CentralPanel::default()
            .frame(Frame::NONE.fill(palette.canvas))
            .show(ui, |ui| panes::picture::picture_ui(ui, picture, &mut context));
    }

    /// Draws dialogs over everything else.
    fn dialogs_ui(&mut self, ui: &Ui, palette: &Palette) {
        for feature in FEATURES {
            (feature.dialogs)(self, ui, palette);
        }
        if self.session.about {
            super::about::about_ui(ui, &self.about(), palette, &mut self.actions);
        }
        super::panels::finder::finder_ui(ui, &self.state, &self.session, palette, &mut self.actions);
        drop_target_ui(ui, palette);
    }

    fn menus_ui(&mut self, ui: &mut Ui) {
        let one = WindowLayout::for_width(ui.ctx().content_rect().width()) == WindowLayout::One
            && !self.session.lesson.open
            && !self.state.has_one_pane();
        let (state, session, history, actions) =
            (&self.state, &self.session, &self.history, &mut self.actions);
        egui::MenuBar::new().ui(ui, |ui| {
            menu_ui(ui, "File", |ui| {
                menu_items_ui(ui, &Command::FILE[..1], actions);
                recent_ui(ui, &state.recent, actions);
                let mut keep = state.keep_settings;
                menu_entry_ui(
                    ui,
                    Checkbox::new(&mut keep, "Keep settings"),
                    Action::KeepSettings(!state.keep_settings),
                    actions,
                )
                .on_hover_text("Keep k, engine, queries and other settings when opening another file.");
                menu_ui(ui, "Open a sample", |ui| super::about::samples_ui(ui, actions));
                menu_items_ui(ui, &Command::FILE[1..], actions);
                if let Some(player) = session.lesson.player.as_ref().filter(|_| session.lesson.open) {
                    ui.separator();
                    controls::export_ui(ui, player, actions);
                }
            });
            menu_ui(ui, "Edit", |ui| {
                let moved = session.lesson.drag.can_undo().then_some("the last move");
                history_entry_ui(
                    ui,
                    Command::Undo,
                    if session.lesson.open { moved } else { history.undo_name() },
                    actions,
                );
                history_entry_ui(ui, Command::Redo, history.redo_name(), actions);
                ui.separator();
                menu_items_ui(ui, &Command::EDIT, actions);
            });
            menu_ui(ui, "Query", |ui| {
                menu_items_ui(ui, &Command::QUERY, actions);
            });
            menu_ui(ui, "View", |ui| {
                menu_items_ui(ui, &Command::VIEW, actions);
                ui.separator();
                for &pane in PaneKind::ALL {
                    menu_items_ui(ui, &[Command::Show(pane)], actions);
                }
                ui.separator();
                for look in Theme::ALL {
                    menu_entry_ui(
                        ui,
                        RadioButton::new(state.look == look, look.text()),
                        Action::SetLook(look),
                        actions,
                    );
                }
                ui.separator();
                menu_items_ui(ui, &Command::SCALE, actions);
                for scale in [*SCALES.start(), 1.0, 1.5, 2.0, *SCALES.end()] {
                    let radio = RadioButton::new(state.scale == scale, format!("{:.0} %", scale * 100.0));
                    menu_entry_ui(ui, radio, Action::SetScale(scale), actions);
                }
                ui.separator();
                let reduces = state.reduces_motion(session.system_reduces_motion);
                let about = "Show changes at once, without animation.";
                menu_entry_ui(
                    ui,
                    Checkbox::new(&mut reduces.clone(), "Reduce motion"),
                    Action::ReduceMotion(!reduces),
                    actions,
                )
                .on_hover_text(about);
                let system = match session.system_reduces_motion {
                    Some(true) => "The system asks for it",
                    Some(false) => "The system does not ask for it",
                    None => "The system does not say whether it prefers it",
                };
                ui.label(RichText::new(system).small().weak());
            });
            menu_ui(ui, "Lesson", |ui| {
                menu_items_ui(ui, &Command::LESSON, actions);
                ui.separator();
                for lesson in &LESSONS {
                    let current = session.lesson.open && state.lesson.number == lesson.number;
                    let radio = RadioButton::new(current, format!("{}  {}", lesson.number, lesson.title));
                    menu_entry_ui(ui, radio, LessonAction::Open(lesson.number), actions);
                }
            });
            if session.lesson.open {
                menu_ui(ui, "Go", |ui| menu_items_ui(ui, &Command::GO, actions));
            }
            if one {
                let problem = Button::new("Problem").selected(state.problem_alone);
                if ui.add(problem).on_hover_text(Command::ToggleProblem.tooltip()).clicked() {
                    actions.send(Command::ToggleProblem);
                }
            }
            menu_ui(ui, "Help", |ui| {
                menu_items_ui(ui, &Command::HELP, actions);
                if ui.add_enabled(!state.hints, Button::new("Show the hints again")).clicked() {
                    actions.send(Action::ShowHints(true));
                    ui.close();
                }
            });
            if ui.available_width() > WORKSPACES {
                workspaces_ui(ui, (!session.lesson.open).then_some(state.workspace), actions);
            }
        });
    }
}

/// A button for each workspace and one for the lessons; `shown` is `None` in a lesson.
fn workspaces_ui(ui: &mut Ui, shown: Option<Workspace>, actions: &mut Actions) {
    const GAP: f32 = 24.0;
    ui.add_space(GAP);
    let workspaces = Workspace::ALL.iter().map(|&workspace| (workspace.command(), Some(workspace)));
    for (command, workspace) in workspaces.chain([(Command::Lesson, None)]) {
        let text = if workspace.is_none() { "Learn" } else { command.text() };
        let button = ui.add(Button::selectable(workspace == shown, text));
        let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
        if button.on_hover_text(format!("{} {keys}", command.tooltip())).clicked() && workspace != shown {
            actions.send(command);
        }
    }
}

/// Draws into a reserved rectangle.
fn in_place(ui: &mut Ui, name: &str, place: Rect, add: impl FnOnce(&mut Ui)) {
    let layout = Layout::top_down(Align::Min);
    let mut inside = ui.new_child(egui::UiBuilder::new().id_salt(name).max_rect(place).layout(layout));
    inside.set_clip_rect(place.expand(3.0));
    add(&mut inside);
}

fn recent_ui(ui: &mut Ui, recent: &[PathBuf], actions: &mut Actions) {
    ui.add_enabled_ui(!recent.is_empty(), |ui| {
        menu_ui(ui, "Open recent", |ui| {
            for path in recent {
                let entry =
                    menu_entry_ui(ui, Button::new(file_name(path)), Action::OpenPath(path.clone()), actions);
                entry.on_hover_text(path.display().to_string());
            }
            ui.separator();
            menu_entry_ui(ui, Button::new("Clear this list"), Action::ForgetRecent, actions);
        });
    });
}

/// Undo or redo as a menu entry, naming the step.
fn history_entry_ui(ui: &mut Ui, command: Command, name: Option<&str>, actions: &mut Actions) {
    let text = name.map_or(command.text().to_owned(), |name| format!("{} {name}", command.text()));
    let keys = command.shortcut().map(|shortcut| keys_text(ui.ctx(), &shortcut)).unwrap_or_default();
    let button = Button::new(text).shortcut_text(keys);
    if ui.add_enabled(name.is_some(), button).on_hover_text(command.tooltip()).clicked() {
        actions.send(command);
        ui.close();
    }
}

/// Highlights the window as a drop target while a file is dragged over it.
fn drop_target_ui(ui: &Ui, palette: &Palette) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Foreground, Id::unique("drop")));
    let rect = ui.ctx().content_rect();
    painter.rect_filled(rect, 0.0, palette.canvas.gamma_multiply(0.85));
    painter.text(
        rect.center(),
        Align2::CENTER_CENTER,
        "Drop to open",
        FontId::proportional(28.0),
        palette.text,
    );
}
