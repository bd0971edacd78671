//! The panes of the centre, one file each, and the tiles that hold them.

mod bar;
mod convergence;
mod empty;
mod highlight;
mod hover;
mod log;
mod merges;
mod neighbors;
mod plane;
mod points;
mod runs;
mod space;
mod timeline;
mod timings;

use std::collections::HashMap;

use egui::{Align, ComboBox, Frame, Layout, Margin, Rect, Ui};
use egui_tiles::{SimplificationOptions, TabState, Tile, TileId, Tiles, UiResponse};

use super::commands::{Action, Actions, Command};
use super::export::ExportKind;
use super::handles::Handles;
use super::session::Session;
use super::state::{PaneKind, State};
use super::tokens::Palette;
use super::widgets::menu_ui;

/// Room around what is in a pane, in points of the screen.
pub const PANE_MARGIN: i8 = 6;

/// What a pane reads, and where it asks for changes.
pub struct PaneContext<'a> {
    /// Views and fields.
    pub state: &'a State,
    /// Cloud, record, selection.
    pub session: &'a Session,
    /// The points on the GPU.
    pub handles: &'a mut Handles,
    /// Colours.
    pub palette: &'static Palette,
    /// Where to ask.
    pub actions: &'a mut Actions,
}

/// Draws the tiles.
pub struct Panes<'a> {
    /// For each pane.
    pub context: PaneContext<'a>,
    /// Where each pane was drawn.
    pub rects: &'a mut HashMap<PaneKind, Rect>,
}

impl Panes<'_> {
    /// One pane alone, which is chosen above it.
    pub fn one_ui(&mut self, ui: &mut Ui) {
        let shown = self.context.state.pane;
        Frame::NONE.fill(self.context.palette.panel).inner_margin(Margin::symmetric(PANE_MARGIN, 2)).show(ui, |ui| {
            ui.horizontal(|ui| {
                let combo = ComboBox::from_id_salt("pane").width(120.0).height(300.0).selected_text(shown.title());
                let response = combo.show_ui(ui, |ui| {
                    for &pane in PaneKind::ALL {
                        if ui.selectable_label(pane == shown, pane.title()).clicked() {
                            self.context.actions.send(Command::show(pane));
                        }
                    }
                });
                response.response.widget_info(|| {
                    let mut info = egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Pane");
                    info.current_text_value = Some(shown.title().to_owned());
                    info
                });
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| self.export_ui(ui, shown));
            });
        });
        self.content_ui(ui, shown);
    }

    fn content_ui(&mut self, ui: &mut Ui, pane: PaneKind) {
        self.rects.insert(pane, ui.available_rect_before_wrap());
        let context = &mut self.context;
        Frame::NONE.inner_margin(Margin::same(PANE_MARGIN)).show(ui, |ui| match pane {
            PaneKind::Plane => plane::plane_ui(ui, context),
            PaneKind::Space => space::space_ui(ui, context),
            PaneKind::Neighbors => neighbors::neighbors_ui(ui, context),
            PaneKind::Timings => timings::timings_ui(ui, context),
            PaneKind::Timeline => timeline::timeline_ui(ui, context),
            PaneKind::Merges => merges::merges_ui(ui, context),
            PaneKind::Convergence => convergence::convergence_ui(ui, context),
            PaneKind::Runs => runs::runs_ui(ui, context),
            PaneKind::Log => log::log_ui(ui, context),
        });
    }

    /// What of a pane goes into files.
    fn export_ui(&mut self, ui: &mut Ui, pane: PaneKind) {
        let actions = &mut self.context.actions;
        let response = menu_ui(ui, "Export", |ui| {
            let table = ExportKind::Data(pane).is_table();
            if ui.button(if table { "Data as CSV, TSV, Parquet or npz…" } else { "Data as CSV…" }).clicked() {
                actions.send(Action::StartExport(ExportKind::Data(pane)));
                ui.close();
            }
            if table && ui.button("Copy the table").on_hover_text("With tabs, as spreadsheets paste it.").clicked() {
                actions.send(Action::CopyTable(pane));
                ui.close();
            }
            let all = "Of every query: a table, or ivecs and ibin as benchmarks have them.";
            if pane == PaneKind::Neighbors && ui.button("All neighbours of the run…").on_hover_text(all).clicked() {
                actions.send(Action::StartExport(ExportKind::AllNeighbors));
                ui.close();
            }
            if pane == PaneKind::Timeline && ui.button("Trace for Perfetto…").clicked() {
                actions.send(Action::StartExport(ExportKind::Trace));
                ui.close();
            }
            if ui.button("Picture as PNG or SVG…").clicked() {
                actions.send(Action::StartExport(ExportKind::Picture(pane)));
                ui.close();
            }
        });
        let name = format!("Export {}", pane.title());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    }
}

impl egui_tiles::Behavior<PaneKind> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, pane: &mut PaneKind) -> UiResponse {
        self.content_ui(ui, *pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &PaneKind) -> egui::WidgetText {
        pane.title().into()
    }

    fn top_bar_right_ui(&mut self, tiles: &Tiles<PaneKind>, ui: &mut Ui, _tile: TileId, tabs: &egui_tiles::Tabs, _scroll: &mut f32) {
        let Some(Tile::Pane(pane)) = tabs.active.and_then(|active| tiles.get(active)) else { return };
        self.export_ui(ui, *pane);
    }

    fn simplification_options(&self) -> SimplificationOptions {
        // A pane that is alone keeps its tab: its name and its menu.
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn tab_bar_color(&self, _visuals: &egui::Visuals) -> egui::Color32 {
        self.context.palette.panel
    }

    fn tab_bg_color(&self, _visuals: &egui::Visuals, _tiles: &Tiles<PaneKind>, _tile: TileId, state: &TabState) -> egui::Color32 {
        if state.active { self.context.palette.canvas } else { egui::Color32::TRANSPARENT }
    }

    fn tab_text_color(&self, _visuals: &egui::Visuals, _tiles: &Tiles<PaneKind>, _tile: TileId, state: &TabState) -> egui::Color32 {
        if state.active { self.context.palette.text } else { self.context.palette.text_weak }
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        2.0
    }
}
