//! What is kept between two starts: the problem being edited, the view of each pane, layout, look and scale.

use std::path::{Path, PathBuf};

use egui_tiles::{Container, Linear, LinearDir, Tiles, Tree};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::color::ColorView;
use super::draft::Draft;
use super::lesson::LessonView;
use super::projection::ProjectionView;
use super::runs::RunsView;
use super::tokens::Look;

/// A pane of the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, VariantArray)]
pub enum PaneKind {
    /// Two axes of the cloud.
    Plane,
    /// Three axes of the cloud.
    Space,
    /// The picked query's neighbours.
    Neighbors,
    /// Time per phase.
    Timings,
    /// Phases and warps in time.
    Timeline,
    /// Merges per query.
    Merges,
    /// `max_distance` over points seen.
    Convergence,
    /// What was run and opened, and two of them side by side.
    Runs,
    /// Everything that was said.
    Log,
}

impl PaneKind {
    /// All, as the View menu lists them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The tab's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plane => "Plane",
            Self::Space => "Space",
            Self::Neighbors => "Neighbours",
            Self::Timings => "Timings",
            Self::Timeline => "Timeline",
            Self::Merges => "Merges",
            Self::Convergence => "Convergence",
            Self::Runs => "Runs",
            Self::Log => "Log",
        }
    }

    /// The name of an exported file, without its ending.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Space => "space",
            Self::Neighbors => "neighbors",
            Self::Timings => "timings",
            Self::Timeline => "timeline",
            Self::Merges => "merges",
            Self::Convergence => "convergence",
            Self::Runs => "runs",
            Self::Log => "log",
        }
    }
}

/// What Plane shows, in local coordinates of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaneView {
    /// Right and up.
    pub axes: [usize; 2],
    /// In the middle of the pane, and local units per point of the screen; `None` fits the cloud.
    pub window: Option<PlaneWindow>,
    /// Diameter of a data point, in points of the screen.
    pub point_size: f32,
    /// Whether lines join the query and its neighbours.
    pub lines: bool,
    /// Whether a lens enlarges neighbours that are too close to be told apart.
    pub lens: bool,
}

/// A place and a scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaneWindow {
    /// Local coordinates of the pane's middle.
    pub center: [f64; 2],
    /// Local units per point of the screen.
    pub units_per_point: f64,
}

impl PlaneView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { axes: other.axes, window: other.window, ..self }
    }
}

impl Default for PlaneView {
    fn default() -> Self {
        Self { axes: [0, 1], window: None, point_size: 2.0, lines: true, lens: true }
    }
}

/// What Space shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpaceView {
    /// x, y and z (up).
    pub axes: [usize; 3],
    /// Radians about z.
    pub yaw: f64,
    /// Radians above the horizon.
    pub pitch: f64,
    /// From eye to target, in half extents of the cloud.
    pub distance: f64,
    /// Looked at, in half extents about the cloud's middle.
    pub target: [f64; 3],
    /// Diameter of a data point, in points of the screen.
    pub point_size: f32,
    /// Whether lines join the query and its neighbours.
    pub lines: bool,
    /// Whether height shows as colour.
    pub color_by_height: bool,
}

impl SpaceView {
    /// The same switches, looking where another one looks.
    pub fn looking(self, other: &Self) -> Self {
        Self { point_size: self.point_size, lines: self.lines, color_by_height: self.color_by_height, ..*other }
    }
}

impl Default for SpaceView {
    fn default() -> Self {
        Self { axes: [0, 1, 2], yaw: -0.9, pitch: 0.5, distance: 3.2, target: [0.0; 3], point_size: 2.0, lines: true, color_by_height: true }
    }
}

/// What Convergence shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConvergenceView {
    /// Whether `max_distance` is on a log scale too.
    pub log_y: bool,
}

impl Default for ConvergenceView {
    fn default() -> Self {
        Self { log_y: true }
    }
}

/// All of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The left panel's fields.
    pub draft: Draft,
    /// Plane's view.
    pub plane: PlaneView,
    /// Space's view.
    pub space: SpaceView,
    /// By what points are coloured, in Plane and Space.
    pub color: ColorView,
    /// Whether a cloud of more than two dimensions is projected, in Plane and Space.
    pub projection: ProjectionView,
    /// Convergence's view.
    pub convergence: ConvergenceView,
    /// What Runs shows.
    pub runs: RunsView,
    /// The centre's tiles.
    pub tree: Tree<PaneKind>,
    /// The pane that was shown last: the only one where the centre has no room for two beside each other.
    pub pane: PaneKind,
    /// Light, dark, ….
    pub look: Look,
    /// 0.75 to 3.
    pub scale: f32,
    /// The lesson's player and presenter.
    pub lesson: LessonView,
    /// Files that were opened, the latest first.
    pub recent: Vec<PathBuf>,
    /// Whether the hints of the first start are shown.
    pub hints: bool,
    /// What is to come back when the projector's scale is left.
    pub before_presenter: Option<BeforePresenter>,
    /// Whether the left panel is shown.
    pub show_problem: bool,
    /// Whether a window with room for one thing shows the left panel, not the panes.
    pub problem_alone: bool,
    /// Whether the right panel is shown.
    pub show_selection: bool,
    /// Whether a window with room for one panel beside panes shows the right one, where both are to be shown.
    pub selection_first: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            draft: Draft::default(),
            plane: PlaneView::default(),
            space: SpaceView::default(),
            color: ColorView::default(),
            projection: ProjectionView::default(),
            convergence: ConvergenceView::default(),
            runs: RunsView::default(),
            tree: default_layout(),
            pane: PaneKind::Plane,
            look: Look::default(),
            scale: 1.0,
            lesson: LessonView::default(),
            recent: Vec::new(),
            hints: true,
            before_presenter: None,
            show_problem: true,
            problem_alone: false,
            show_selection: true,
            selection_first: false,
        }
    }
}

/// How much a window has room for, of the problem, the selection and panes between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The problem, or a pane.
    One,
    /// A panel, and panes beside it.
    Two,
    /// All.
    Three,
}

/// What the projector's scale changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeforePresenter {
    /// The UI scale.
    pub scale: f32,
    /// Diameters of points in Plane and Space.
    pub point_sizes: [f32; 2],
    /// Whether the left and the right panel were shown.
    pub panels: [bool; 2],
}

impl State {
    /// As many files are remembered.
    const RECENT: usize = 10;

    /// Whether the centre is one pane in any case, as for a picture of it.
    pub fn has_one_pane(&self) -> bool {
        self.tree.tiles.len() <= 2
    }

    /// Whether the problem and the selection are in sight, where there is room for so much.
    pub fn panels(&self, room: Room) -> [bool; 2] {
        match room {
            Room::One => [self.problem_alone, false],
            Room::Two if self.show_problem && self.show_selection => [!self.selection_first, self.selection_first],
            Room::Two | Room::Three => [self.show_problem, self.show_selection],
        }
    }

    /// Shows the problem, if need be in place of the selection, or hides it.
    pub fn toggle_problem(&mut self, room: Room) {
        let [shown, _] = self.panels(room);
        if room == Room::One {
            self.problem_alone = !shown;
        } else {
            (self.show_problem, self.selection_first) = (!shown, false);
        }
    }

    /// Shows the selection, if need be in place of the problem, or hides it: then the problem comes back.
    pub fn toggle_selection(&mut self, room: Room) {
        let [_, shown] = self.panels(room);
        let in_its_place = room == Room::Two && shown && self.show_problem;
        if !in_its_place {
            self.show_selection = !shown;
        }
        self.selection_first = !shown;
    }

    /// Puts a file at the head of those that were opened.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(Self::RECENT);
    }

    /// Takes the projector's scale, or leaves it for what was before.
    pub fn toggle_presenter(&mut self) {
        if let Some(before) = self.before_presenter.take() {
            self.scale = before.scale;
            [self.plane.point_size, self.space.point_size] = before.point_sizes;
            [self.show_problem, self.show_selection] = before.panels;
            return;
        }
        self.before_presenter = Some(BeforePresenter {
            scale: self.scale,
            point_sizes: [self.plane.point_size, self.space.point_size],
            panels: [self.show_problem, self.show_selection],
        });
        self.scale = 1.75;
        (self.plane.point_size, self.space.point_size) = (self.plane.point_size.max(3.5), self.space.point_size.max(3.5));
        (self.show_problem, self.show_selection) = (false, false);
    }
}

/// The least and the largest UI scale.
pub const SCALES: std::ops::RangeInclusive<f32> = 0.75..=3.0;

/// Plane large on the left, Convergence over Timings beside it, everything else as tabs behind them.
pub fn default_layout() -> Tree<PaneKind> {
    let mut tiles = Tiles::default();
    let mut tabs = |kinds: &[PaneKind]| {
        let panes = kinds.iter().map(|&kind| tiles.insert_pane(kind)).collect();
        tiles.insert_tab_tile(panes)
    };
    let views = tabs(&[PaneKind::Plane, PaneKind::Space]);
    let how = tabs(&[PaneKind::Convergence, PaneKind::Merges, PaneKind::Neighbors]);
    let time = tabs(&[PaneKind::Timings, PaneKind::Timeline, PaneKind::Runs, PaneKind::Log]);
    let right = tiles.insert_vertical_tile(vec![how, time]);
    let mut linear = Linear::new(LinearDir::Horizontal, vec![views, right]);
    linear.shares.set_share(views, 1.25);
    linear.shares.set_share(right, 1.0);
    let root = tiles.insert_container(Container::Linear(linear));
    Tree::new(egui::Id::unique("panes"), root, tiles)
}

/// One pane alone, for pictures of it.
pub fn single_layout(kind: PaneKind) -> Tree<PaneKind> {
    Tree::new_tabs(egui::Id::unique("panes"), vec![kind])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_survives_saving() {
        let mut state = State { scale: 1.5, look: Look::Dark, ..State::default() };
        state.draft.k = "7".to_owned();
        let text = serde_json::to_string(&state).expect("the state is plain data");
        let back: State = serde_json::from_str(&text).expect("its own text");
        assert_eq!((back.draft, back.scale, back.look), (state.draft, state.scale, state.look));
        assert_eq!(back.tree.tiles.len(), state.tree.tiles.len());
    }

    #[test]
    fn a_state_from_an_older_version_keeps_what_it_can() {
        let back: State = serde_json::from_str(r#"{"scale": 2.0, "gone": 1}"#).expect("fields may come and go");
        assert_eq!(back.scale, 2.0);
        assert_eq!(back.draft, Draft::default());
    }
}
