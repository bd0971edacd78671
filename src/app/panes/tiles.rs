//! The tiles of the centre, which contain the panes.

use std::collections::HashMap;

use egui::emath::GuiRounding as _;
use egui::{Frame, Margin, StrokeKind};
use egui_tiles::{
    Container, LinearDir, SimplificationOptions, TabState, Tile, TileId, Tiles, Tree, UiResponse,
};

use super::empty::PaneContext;
use super::pane;
use crate::app::features::answer_summary::answer_summary;
use crate::app::features::export::state::ExportKind;
use crate::app::look::{menu_entry_ui, menu_ui};
use crate::app::model::pane::DataFormats;
use crate::app::model::{WindowLayout, source_name};
use crate::app::prelude::*;
use crate::text;

/// Margin inside a pane, in screen points.
pub const PANE_MARGIN: i8 = 6;

/// Minimum size of a usable pane, tab included: controls or legend, and a figure below.
const MIN_PANE_SIZE: Vec2 = vec2(240.0, 240.0);

/// Width of the maximise button, and of the button that lists hidden tabs.
const MAXIMISE_WIDTH: f32 = 22.0;

const EXPORT: &str = "Export";

/// Margin around a tab's title.
const TAB_MARGIN: f32 = 8.0;

/// Minimum size of all tiles next to and above each other, in screen points; hidden tabs need no room.
pub fn min_room(tree: &Tree<PaneKind>) -> Vec2 {
    fn min_size(tree: &Tree<PaneKind>, tile: TileId) -> Vec2 {
        let Some(Tile::Container(container)) = tree.tiles.get(tile) else { return MIN_PANE_SIZE };
        let visible = || container.children().filter(|&&child| tree.is_visible(child));
        let shown = || visible().map(|&child| min_size(tree, child));
        let most = shown().fold(MIN_PANE_SIZE, Vec2::max);
        let sum = shown().fold(Vec2::ZERO, |sum, one| sum + one);
        match container {
            Container::Tabs(_) => most,
            Container::Linear(linear) if linear.dir == LinearDir::Horizontal => vec2(sum.x, most.y),
            Container::Linear(_) => vec2(most.x, sum.y),
            Container::Grid(_) => {
                let tiles = shown().count();
                let columns = (tiles as f32).sqrt().ceil().max(1.0);
                most * vec2(columns, (tiles as f32 / columns).ceil())
            }
        }
    }
    tree.root().map_or(Vec2::ZERO, |root| min_size(tree, root))
}

pub struct Panes<'a> {
    pub context: PaneContext<'a>,
    /// Rectangle of each pane drawn.
    pub rects: &'a mut HashMap<PaneKind, Rect>,
    /// The root tile, which cannot be dragged.
    pub root: Option<TileId>,
    pub strips: HashMap<PaneKind, TabStrip>,
}

pub struct TabStrip {
    /// Room reserved for the active pane's buttons.
    place: Rect,
    /// All tabs, if they do not fit.
    hidden: Vec<PaneKind>,
    /// The tile, and the empty part of its tab strip, which can be dragged.
    ground: Option<(TileId, Rect)>,
}

impl Panes<'_> {
    /// A pane's title, with the file that the second view shows.
    fn title(&self, pane: PaneKind) -> String {
        match &self.context.session.second.other {
            Some(other) if pane == PaneKind::Second => format!("{}: {}", pane.title(), source_name(other)),
            _ => pane.title().to_owned(),
        }
    }

    /// Draws one pane, with a chooser above.
    pub fn single_pane_ui(&mut self, ui: &mut Ui) {
        let shown = self.context.state.pane;
        // Only if the right panel with the answer is hidden.
        let room = WindowLayout::for_width(ui.ctx().content_rect().width());
        let answered =
            self.context.session.answered.as_ref().filter(|_| !self.context.state.shows_answer(room));
        let mut sentence =
            answered.map(|answered| answer_summary(ui, self.context.session, answered).sentence());
        Frame::NONE.fill(self.context.palette.panel).inner_margin(Margin::symmetric(PANE_MARGIN, 2)).show(
            ui,
            |ui| {
                ui.horizontal(|ui| {
                    let combo = ComboBox::from_id_salt("pane")
                        .width(120.0)
                        .height(380.0)
                        .selected_text(shown.title());
                    let response = combo.show_ui(ui, |ui| {
                        for &pane in PaneKind::ALL {
                            if ui.selectable_label(pane == shown, pane.title()).clicked() {
                                self.context.actions.send(Command::Show(pane));
                            }
                        }
                    });
                    name_chooser(&response.response, "Pane", shown.title());
                    let maximised = self.context.state.maximised;
                    let controls = export_width(ui)
                        + if maximised { MAXIMISE_WIDTH + ui.spacing().item_spacing.x } else { 0.0 };
                    let room = (ui.available_width() - controls - ui.spacing().item_spacing.x).max(0.0);
                    let height = ui.spacing().interact_size.y;
                    let fits = sentence.as_ref().is_some_and(|sentence| width_of(ui, sentence) <= room);
                    ui.allocate_ui_with_layout(
                        vec2(room, height),
                        Layout::left_to_right(Align::Center),
                        |ui| {
                            ui.set_min_width(room);
                            if let Some(sentence) = sentence.take_if(|_| fits) {
                                ui.label(sentence);
                            }
                        },
                    );
                    if maximised {
                        self.maximise_ui(ui, shown);
                    }
                    self.export_ui(ui, shown);
                });
                // If the sentence does not fit next to the buttons, it goes below them.
                if let Some(sentence) = sentence {
                    ui.add(Label::new(sentence).wrap());
                }
            },
        );
        self.content_ui(ui, shown);
    }

    fn content_ui(&mut self, ui: &mut Ui, kind: PaneKind) {
        self.rects.insert(kind, ui.available_rect_before_wrap());
        let context = &mut self.context;
        Frame::NONE.inner_margin(Margin::same(PANE_MARGIN)).show(ui, |ui| (pane(kind).draw)(ui, context));
    }

    /// A menu of all tabs, for a strip that is too narrow.
    fn tabs_ui(&mut self, ui: &mut Ui, shown: PaneKind, tabs: &[PaneKind]) {
        let actions = &mut self.context.actions;
        let response = menu_ui(ui, "»", |ui| {
            for &tab in tabs {
                menu_entry_ui(
                    ui,
                    egui::RadioButton::new(tab == shown, tab.title()),
                    Command::Show(tab),
                    actions,
                );
            }
        });
        name_widget(&response, Role::Button, "All tabs here");
        response.on_hover_text("All tabs of this strip, which has no room for them.");
    }

    fn maximise_ui(&mut self, ui: &mut Ui, pane: PaneKind) {
        let maximised = self.context.state.maximised;
        let (rect, response) =
            ui.allocate_exact_size(vec2(MAXIMISE_WIDTH, ui.spacing().interact_size.y), Sense::click());
        let name = if maximised { "Restore".to_owned() } else { format!("Maximise {}", pane.title()) };
        name_widget(&response, Role::Button, &name);
        let visuals = ui.style().interact(&response);
        if response.hovered() || response.has_focus() {
            ui.painter().rect(
                rect,
                visuals.corner_radius,
                visuals.weak_bg_fill,
                visuals.bg_stroke,
                StrokeKind::Inside,
            );
        }
        let window =
            Rect::from_center_size(rect.center(), vec2(11.0, 9.0)).round_to_pixels(ui.pixels_per_point());
        let stroke = Stroke::new(1.5, self.context.palette.text);
        if maximised {
            let small = Rect::from_min_max(window.min + vec2(0.0, 3.0), window.max - vec2(3.0, 0.0));
            ui.painter().rect_stroke(small, 0.0, stroke, StrokeKind::Middle);
            let [a, b, c] = [
                small.left_top() + vec2(3.0, -3.0),
                window.right_top(),
                window.right_bottom() - vec2(0.0, 3.0),
            ];
            ui.painter().line(vec![a, b, c], stroke);
        } else {
            ui.painter().rect_stroke(window, 0.0, stroke, StrokeKind::Middle);
            ui.painter().hline(
                window.x_range(),
                window.top() + 1.0,
                Stroke::new(2.0, self.context.palette.text),
            );
        }
        let keys = Command::Maximise.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
        if response.on_hover_text(format!("{name}  {keys}")).clicked() {
            self.toggle(pane);
        }
    }

    fn toggle(&mut self, pane: PaneKind) {
        let actions = &mut self.context.actions;
        actions.send(Command::Show(pane));
        actions.send(Command::Maximise);
    }

    fn export_ui(&mut self, ui: &mut Ui, pane: PaneKind) {
        let actions = &mut self.context.actions;
        let selected = self.context.session.selection.rows().len();
        let response = menu_ui(ui, EXPORT, |ui| {
            let table = ExportKind::Data(pane).is_table();
            let data = if table { "Data as CSV, TSV, Parquet or npz…" } else { "Data as CSV…" };
            menu_entry_ui(ui, Button::new(data), Action::StartExport(ExportKind::Data(pane)), actions);
            if pane.info().formats == DataFormats::Points && selected > 0 {
                let only = format!("Selected rows only ({})…", text::thousands(selected as u64));
                menu_entry_ui(ui, Button::new(only), Action::StartExport(ExportKind::Selection), actions);
            }
            if table {
                let copy = menu_entry_ui(ui, Button::new("Copy the table"), Action::CopyTable(pane), actions);
                copy.on_hover_text("Tab-separated, to paste into a spreadsheet.");
            }
            for entry in super::pane(pane).exports {
                let response =
                    menu_entry_ui(ui, Button::new(entry.text), Action::StartExport(entry.kind), actions);
                if !entry.about.is_empty() {
                    response.on_hover_text(entry.about);
                }
            }
            menu_entry_ui(
                ui,
                Button::new("Picture as PNG or SVG…"),
                Action::StartExport(ExportKind::Picture(pane)),
                actions,
            );
        });
        let name = format!("Export {}", pane.title());
        name_widget(&response, Role::Button, &name);
    }
}

/// The title of a tile in its tab and while dragged: the pane, the first tabs of a strip, or tiles next to
/// each other.
fn title_of(tiles: &Tiles<PaneKind>, tile: TileId) -> String {
    /// Number of tabs listed.
    const MAX_NAMED: usize = 3;
    match tiles.get(tile) {
        Some(Tile::Pane(pane)) => pane.title().to_owned(),
        Some(Tile::Container(Container::Tabs(tabs))) => {
            let named: Vec<String> =
                tabs.children.iter().take(MAX_NAMED).map(|&child| title_of(tiles, child)).collect();
            let more = if tabs.children.len() > MAX_NAMED { ", …" } else { "" };
            format!("{}{more}", named.join(", "))
        }
        Some(Tile::Container(container)) => {
            container.children().map(|&child| title_of(tiles, child)).collect::<Vec<_>>().join(" | ")
        }
        None => String::new(),
    }
}

/// Makes the empty part of a tab strip draggable, which moves all its panes. It takes no keyboard focus.
fn strip_background_ui(ui: &mut Ui, strip: TileId, ground: Rect) {
    let mut inside = ui.new_child(egui::UiBuilder::new().id_salt("ground").max_rect(ground));
    inside.set_clip_rect(ground);
    // Sensing clicks too delays the drag until the pointer moves.
    let response = inside.interact(ground, inside.scope_id().with("strip"), Sense::CLICK | Sense::DRAG);
    if response.on_hover_cursor(egui::CursorIcon::Grab).drag_started() {
        ui.ctx().set_dragged_id(strip.egui_id(Id::unique("panes")));
    }
}

fn width_of(ui: &Ui, text: &str) -> f32 {
    let font = egui::TextStyle::Button.resolve(ui.style());
    ui.painter().layout_no_wrap(text.to_owned(), font, Color32::WHITE).size().x
}

fn export_width(ui: &Ui) -> f32 {
    width_of(ui, EXPORT) + 2.0 * ui.spacing().button_padding.x
}

impl egui_tiles::Behavior<PaneKind> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, pane: &mut PaneKind) -> UiResponse {
        // Drawn between tabs and pane, because Tab follows the drawing order.
        if let Some(TabStrip { place, hidden: tabs, ground }) = self.strips.remove(pane) {
            if let Some((strip, ground)) = ground {
                strip_background_ui(ui, strip, ground);
            }
            let mut inside = ui.new_child(
                egui::UiBuilder::new()
                    .id_salt("strip")
                    .max_rect(place)
                    .layout(Layout::left_to_right(Align::Center)),
            );
            inside.set_clip_rect(place.expand(2.0));
            if !tabs.is_empty() {
                self.tabs_ui(&mut inside, *pane, &tabs);
            }
            self.maximise_ui(&mut inside, *pane);
            self.export_ui(&mut inside, *pane);
        }
        self.content_ui(ui, *pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &PaneKind) -> egui::WidgetText {
        self.title(*pane).into()
    }

    fn tab_title_for_tile(&mut self, tiles: &Tiles<PaneKind>, tile: TileId) -> egui::WidgetText {
        match tiles.get(tile) {
            Some(Tile::Pane(pane)) => self.title(*pane).into(),
            _ => title_of(tiles, tile).into(),
        }
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PaneKind>,
        ui: &mut Ui,
        tile: TileId,
        tabs: &egui_tiles::Tabs,
        _scroll: &mut f32,
    ) {
        let bar = ui.max_rect();
        let pane =
            |tile: &TileId| if let Some(Tile::Pane(pane)) = tiles.get(*tile) { Some(*pane) } else { None };
        let Some(active) = tabs.active.as_ref().and_then(pane) else { return };
        let all: Vec<PaneKind> = tabs.children.iter().filter_map(pane).collect();
        let gap = ui.spacing().item_spacing.x;
        let width = export_width(ui) + gap + MAXIMISE_WIDTH;
        let of_tabs: f32 = all.iter().map(|&pane| width_of(ui, &self.title(pane)) + 2.0 * TAB_MARGIN).sum();
        let hides = of_tabs > ui.available_width() - width - gap;
        let width = if hides { width + gap + MAXIMISE_WIDTH } else { width };
        let size = vec2(width, ui.spacing().interact_size.y);
        let (_, place) = ui.allocate_space(size);
        let ground = Rect::from_x_y_ranges(bar.left() + of_tabs..=place.left() - gap, bar.y_range());
        let ground = (self.root != Some(tile) && ground.is_positive()).then_some((tile, ground));
        self.strips.insert(active, TabStrip { place, hidden: if hides { all } else { Vec::new() }, ground });
    }

    fn is_tile_draggable(&self, tiles: &Tiles<PaneKind>, tile: TileId) -> bool {
        // A strip's background would take keyboard focus without having a name;
        // `strip_background_ui` replaces it.
        matches!(tiles.get(tile), Some(Tile::Pane(_)))
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<PaneKind>, tile: TileId, response: Response) -> Response {
        let in_front = matches!(tiles.get(tile), Some(Tile::Pane(pane)) if *pane == self.context.state.pane);
        let shown = response.ctx.data(|data| data.get_temp::<PaneKind>(Id::unique("tab that was shown")));
        if response.gained_focus() || (in_front && shown != Some(self.context.state.pane)) {
            response
                .ctx
                .data_mut(|data| data.insert_temp(Id::unique("tab that was shown"), self.context.state.pane));
            response.scroll_to_me_animation(None, egui::style::ScrollAnimation::none());
        }
        if let Some(Tile::Pane(pane)) = tiles.get(tile)
            && response.double_clicked()
        {
            self.toggle(*pane);
        }
        response
    }

    fn simplification_options(&self) -> SimplificationOptions {
        // A single pane keeps its tab, which has its name and menu.
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn tab_bar_color(&self, _visuals: &egui::Visuals) -> Color32 {
        self.context.palette.panel
    }

    fn tab_bg_color(
        &self,
        _visuals: &egui::Visuals,
        _tiles: &Tiles<PaneKind>,
        _tile: TileId,
        state: &TabState,
    ) -> Color32 {
        if state.active { self.context.palette.canvas } else { Color32::TRANSPARENT }
    }

    fn tab_text_color(
        &self,
        _visuals: &egui::Visuals,
        _tiles: &Tiles<PaneKind>,
        _tile: TileId,
        state: &TabState,
    ) -> Color32 {
        if state.active { self.context.palette.text } else { self.context.palette.text_weak }
    }

    fn tab_title_spacing(&self, _visuals: &egui::Visuals) -> f32 {
        TAB_MARGIN
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::{Workspace, single_layout};

    #[test]
    fn nested_tiles_add_their_minimum_sizes() {
        assert_eq!(min_room(&single_layout(PaneKind::Plane)), MIN_PANE_SIZE);
        assert_eq!(min_room(&Workspace::Measure.layout()), MIN_PANE_SIZE * vec2(1.0, 2.0));
        let mut tiles = Tiles::default();
        let panes: Vec<TileId> = PaneKind::ALL.iter().take(5).map(|&pane| tiles.insert_pane(pane)).collect();
        let rows = tiles.insert_vertical_tile(panes[..3].to_vec());
        let grid = tiles.insert_grid_tile(panes[3..].to_vec());
        let root = tiles.insert_horizontal_tile(vec![rows, grid]);
        let mut tree = Tree::new(Id::unique("tiles"), root, tiles);
        assert_eq!(min_room(&tree), MIN_PANE_SIZE * vec2(3.0, 3.0));
        tree.set_visible(panes[0], false);
        assert_eq!(min_room(&tree), MIN_PANE_SIZE * vec2(3.0, 2.0));
    }
}
