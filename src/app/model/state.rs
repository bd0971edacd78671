//! The saved state of the window: the problem being edited, the view of each pane, layout, look and scale.

use std::path::{Path, PathBuf};

use egui_tiles::Tree;
use serde::{Deserialize, Serialize};

use super::camera;
use super::draft::Draft;
use super::files::FileRoles;
use super::pane::PaneKind;
use super::picture::PictureSettings;
use super::views::{
    self, ConvergenceView, CountsView, PlaneView, PlaneWindow, SpaceView, Theme, TimingsView,
};
use super::workspace::Workspace;
use crate::app::features::analysis::state::AnalysisView;
use crate::app::features::color::state::ColorView;
use crate::app::features::lesson::state::session::LessonView;
use crate::app::features::projection::state::ProjectionView;
use crate::app::features::runs::state::RunsView;
use crate::app::features::saved::state::Layout;
use crate::app::features::second::state::SecondView;
use crate::app::features::walk::state::WalkView;
use crate::cloud::Source;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub draft: Draft,
    pub plane: PlaneView,
    pub space: SpaceView,
    pub color: ColorView,
    /// Projection of clouds with more than two dimensions, in Plane and Space.
    pub projection: ProjectionView,
    /// The second view of the rows.
    pub second: SecondView,
    pub convergence: ConvergenceView,
    pub counts: CountsView,
    pub timings: TimingsView,
    pub analysis: AnalysisView,
    pub walk: WalkView,
    pub runs: RunsView,
    pub workspace: Workspace,
    /// The layout of the workspace, and that of the other one.
    pub tree: Tree<PaneKind>,
    pub other_tree: Tree<PaneKind>,
    /// The pane shown last; the only visible one if the centre has no room for two.
    pub pane: PaneKind,
    /// Whether that pane fills the window.
    #[serde(skip)]
    pub maximised: bool,
    pub look: Theme,
    /// UI scale, within [`SCALES`].
    pub scale: f32,
    /// Whether to disable animations, whatever the system prefers.
    pub reduce_motion: bool,
    /// Whether to keep animations although the system prefers less motion.
    pub full_motion: bool,
    /// The lesson's player and presenter.
    pub lesson: LessonView,
    /// Recently opened files, latest first.
    pub recent: Vec<PathBuf>,
    /// The folder used last in a file dialog.
    pub folder: Option<PathBuf>,
    /// Column choices for recent files, latest first.
    pub file_roles: Vec<FileRoles>,
    /// Whether to show the first-launch hints.
    pub hints: bool,
    /// Whether to keep the settings when another file is opened.
    pub keep_settings: bool,
    /// Values to restore when the projector scale is switched off.
    pub before_presenter: Option<PresenterBackup>,
    pub show_problem: bool,
    /// Whether a window too narrow for both shows the left panel rather than the panes.
    pub problem_alone: bool,
    pub show_selection: bool,
    /// Whether a window with room for one panel shows the right one, if both are enabled.
    pub selection_first: bool,
    /// Settings of the last picture of a pane.
    pub picture: PictureSettings,
}

impl Default for State {
    fn default() -> Self {
        Self {
            draft: Draft::default(),
            plane: PlaneView::default(),
            space: SpaceView::default(),
            color: ColorView::default(),
            projection: ProjectionView::default(),
            second: SecondView::default(),
            convergence: ConvergenceView::default(),
            counts: CountsView::default(),
            timings: TimingsView::default(),
            analysis: AnalysisView::default(),
            walk: WalkView::default(),
            runs: RunsView::default(),
            workspace: Workspace::Explore,
            tree: Workspace::Explore.layout(),
            other_tree: Workspace::Measure.layout(),
            pane: PaneKind::Plane,
            maximised: false,
            look: Theme::default(),
            scale: 1.0,
            reduce_motion: false,
            full_motion: false,
            lesson: LessonView::default(),
            recent: Vec::new(),
            folder: None,
            file_roles: Vec::new(),
            hints: true,
            keep_settings: false,
            before_presenter: None,
            show_problem: true,
            problem_alone: false,
            show_selection: true,
            selection_first: false,
            picture: PictureSettings::default(),
        }
    }
}

/// Minimum width for a panel and panes, in screen points.
const MIN_WIDTH_TWO: f32 = 560.0;

/// Minimum width for both panels and panes, in screen points.
const MIN_WIDTH_THREE: f32 = 860.0;

/// What a window has room for: left panel, right panel, panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLayout {
    /// The left panel or a pane.
    One,
    /// One panel, and panes.
    Two,
    /// Both panels, and panes.
    Three,
}

impl WindowLayout {
    /// The room in a window of this width, in screen points.
    pub fn for_width(width: f32) -> Self {
        match width {
            width if width < MIN_WIDTH_TWO => Self::One,
            width if width < MIN_WIDTH_THREE => Self::Two,
            _ => Self::Three,
        }
    }
}

/// Values that the projector scale changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresenterBackup {
    pub scale: f32,
    /// Point diameters in Plane and Space.
    pub point_sizes: [f32; 2],
    /// Visibility of the left and right panels.
    pub panels: [bool; 2],
}

impl State {
    /// Maximum number of recent files.
    pub const MAX_RECENT: usize = 10;

    /// Maximum number of files whose column choices are remembered.
    pub const MAX_FILE_ROLES: usize = 50;

    /// Clamps all values to what can be shown. A saved state may have been edited by hand or corrupted, and a
    /// window that crashes at every launch could not even reset it.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        let clamped =
            |scale: f32| if scale.is_nan() { 1.0 } else { scale.clamp(*SCALES.start(), *SCALES.end()) };
        self.scale = clamped(self.scale);
        if let Some(before) = &mut self.before_presenter {
            before.scale = clamped(before.scale);
            before.point_sizes = before.point_sizes.map(views::diameter);
        }
        for plane in [&mut self.plane, &mut self.second.plane] {
            plane.window = plane.window.filter(PlaneWindow::is_valid);
            plane.point_size = views::diameter(plane.point_size);
        }
        self.space.point_size = views::diameter(self.space.point_size);
        camera::clamp_view(&mut self.space);
        if !self.lesson.speed.is_finite() || self.lesson.speed <= 0.0 {
            self.lesson.speed = LessonView::default().speed;
        }
        // Keeps what is usable of a tree with missing or cyclic parts.
        let usable = |tree: &Tree<PaneKind>, workspace: Workspace| {
            Layout::from_tree(tree).map_or_else(|| workspace.layout(), |layout| layout.tree(workspace))
        };
        self.tree = usable(&self.tree, self.workspace);
        self.other_tree = usable(&self.other_tree, self.workspace.other());
        // Versions without workspaces had all panes in one layout.
        if self.workspace == Workspace::Explore && self.tree.tiles.find_pane(&PaneKind::Timings).is_some() {
            self.other_tree = std::mem::replace(&mut self.tree, Workspace::Explore.layout());
        }
        self
    }

    /// Exchanges the layouts if another workspace is to be shown.
    pub fn switch_to(&mut self, workspace: Workspace) {
        if self.workspace != workspace {
            self.workspace = workspace;
            std::mem::swap(&mut self.tree, &mut self.other_tree);
        }
    }

    /// Whether the layout has only one pane, as in a pane's picture.
    pub fn has_one_pane(&self) -> bool {
        self.tree.tiles.len() <= 2
    }

    /// Whether animations are disabled, given what the system prefers, if that is known.
    pub fn reduces_motion(&self, system: Option<bool>) -> bool {
        self.reduce_motion || (system == Some(true) && !self.full_motion)
    }

    /// Chooses whether animations are disabled. A choice that equals the system's follows it from then on.
    pub fn choose_motion(&mut self, reduce: bool, system: Option<bool>) {
        let system = system == Some(true);
        (self.reduce_motion, self.full_motion) = (reduce && !system, !reduce && system);
    }

    /// Visibility of the left and right panels, given the room.
    pub fn panels(&self, room: WindowLayout) -> [bool; 2] {
        if self.maximised {
            return [false; 2];
        }
        match room {
            WindowLayout::One => [self.problem_alone, false],
            // The answer is in the left panel.
            WindowLayout::Two | WindowLayout::Three if self.workspace == Workspace::Explore => {
                [self.show_problem, false]
            }
            WindowLayout::Two if self.show_problem && self.show_selection => {
                [!self.selection_first, self.selection_first]
            }
            WindowLayout::Two | WindowLayout::Three => [self.show_problem, self.show_selection],
        }
    }

    /// Whether the panel with the answer is visible, given the room.
    pub fn shows_answer(&self, room: WindowLayout) -> bool {
        let [left, right] = self.panels(room);
        if self.workspace == Workspace::Explore { left } else { right }
    }

    /// Shows or hides the left panel, replacing the right one if necessary.
    pub fn toggle_problem(&mut self, room: WindowLayout) {
        let [shown, _] = self.panels(room);
        if room == WindowLayout::One {
            self.problem_alone = !shown;
        } else {
            (self.show_problem, self.selection_first) = (!shown, false);
        }
    }

    /// Shows or hides the right panel, replacing the left one if necessary. Hiding it restores the left one.
    pub fn toggle_selection(&mut self, room: WindowLayout) {
        let [_, shown] = self.panels(room);
        let in_its_place = room == WindowLayout::Two && shown && self.show_problem;
        if !in_its_place {
            self.show_selection = !shown;
        }
        self.selection_first = !shown;
    }

    /// Moves a file to the front of the recent files.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(Self::MAX_RECENT);
    }

    /// The remembered column choices for a source's file.
    pub fn roles_of(&self, source: &Source) -> Option<&FileRoles> {
        let path = FileRoles::path_of(source)?;
        self.file_roles.iter().find(|kept| kept.path == path)
    }

    /// Remembers the column choices for a source's file, replacing earlier ones; `None` forgets them.
    pub fn remember_roles(&mut self, source: &Source, chosen: Option<FileRoles>) {
        let Some(path) = FileRoles::path_of(source) else { return };
        self.file_roles.retain(|kept| kept.path != path);
        let fits = |chosen: &FileRoles| chosen.columns.len() + path.len() <= FileRoles::MAX_LENGTH;
        if let Some(chosen) = chosen.filter(fits) {
            self.file_roles.insert(0, FileRoles { path: path.to_owned(), ..chosen });
            self.file_roles.truncate(Self::MAX_FILE_ROLES);
        }
    }

    /// Switches the projector scale on, or off again with the previous values.
    pub fn toggle_presenter(&mut self) {
        if let Some(before) = self.before_presenter.take() {
            self.scale = before.scale;
            [self.plane.point_size, self.space.point_size] = before.point_sizes;
            [self.show_problem, self.show_selection] = before.panels;
            return;
        }
        self.before_presenter = Some(PresenterBackup {
            scale: self.scale,
            point_sizes: [self.plane.point_size, self.space.point_size],
            panels: [self.show_problem, self.show_selection],
        });
        self.scale = 1.75;
        (self.plane.point_size, self.space.point_size) =
            (self.plane.point_size.max(3.5), self.space.point_size.max(3.5));
        (self.show_problem, self.show_selection) = (false, false);
    }
}

/// Bounds of the UI scale.
pub const SCALES: std::ops::RangeInclusive<f32> = 0.75..=3.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::color::state::ColorBy;
    use crate::app::features::runs::state::Figure;
    use crate::app::model::single_layout;
    use crate::app::testing::MemoryStorage;
    use crate::knn::{DeviceId, EngineId};
    use crate::run::EngineChoice;
    use crate::run::compare::Quantity;

    /// A choice is an exception from the system's preference, and ends once it equals it.
    #[test]
    fn motion_follows_the_system_unless_chosen_otherwise() {
        let mut state = State::default();
        assert_eq!(
            [None, Some(false), Some(true)].map(|system| state.reduces_motion(system)),
            [false, false, true]
        );
        state.choose_motion(false, Some(true));
        assert!(!state.reduces_motion(Some(true)) && !state.reduces_motion(None));
        state.choose_motion(true, Some(true));
        assert_eq!([Some(true), Some(false)].map(|system| state.reduces_motion(system)), [true, false]);
        state.choose_motion(true, None);
        assert_eq!([Some(true), Some(false), None].map(|system| state.reduces_motion(system)), [true; 3]);
        // As an earlier version saved it.
        let saved: State = serde_json::from_str(r#"{"reduce_motion": true}"#).expect("a state");
        assert!(saved.reduces_motion(Some(false)));
    }

    /// Every saved number, set to values out of range.
    #[test]
    fn out_of_range_saved_numbers_are_corrected() {
        fn numbers(value: &serde_json::Value, at: &str, all: &mut Vec<String>) {
            match value {
                serde_json::Value::Number(_) => all.push(at.to_owned()),
                serde_json::Value::Array(list) => list
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| numbers(value, &format!("{at}/{index}"), all)),
                serde_json::Value::Object(map) => {
                    map.iter().for_each(|(key, value)| numbers(value, &format!("{at}/{key}"), all))
                }
                _ => {}
            }
        }
        let plane = PlaneView {
            window: Some(PlaneWindow { center: [0.0; 2], units_per_point: 1.0 }),
            ..PlaneView::default()
        };
        let saved = serde_json::to_value(State { plane, ..State::default() }).expect("a state");
        let mut places = Vec::new();
        numbers(&saved, "", &mut places);
        assert!(places.len() > 25, "{places:?}");
        for place in &places {
            for number in [0.0, -1.0, 1e30, -1e30] {
                let mut wrong = saved.clone();
                *wrong.pointer_mut(place).expect("it was found there") = number.into();
                // If the field cannot hold the number, loading fails and the window starts with defaults.
                let Ok(state) = serde_json::from_value::<State>(wrong) else { continue };
                let state = state.clamped();
                assert!(SCALES.contains(&state.scale) && state.lesson.speed > 0.0, "{place} = {number}");
                assert!(
                    state.plane.window.is_none_or(|window| window.is_valid()) && state.space.distance > 0.0,
                    "{place} = {number}"
                );
                assert!(
                    (0.5..=32.0).contains(&state.plane.point_size)
                        && Layout::from_tree(&state.tree).is_some(),
                    "{place} = {number}"
                );
            }
        }
        for scale in [f32::NAN, f32::INFINITY, 0.0] {
            assert!(SCALES.contains(&State { scale, ..State::default() }.clamped().scale), "{scale}");
        }
        let usual = State::default();
        assert_eq!(
            serde_json::to_value(usual.clone().clamped().draft).ok(),
            serde_json::to_value(usual.draft).ok(),
            "valid values are kept"
        );
    }

    #[test]
    fn the_number_of_remembered_column_roles_is_bounded() {
        let source =
            |at: usize| Source::File { path: format!("/there/{at}.csv").into(), columns: Default::default() };
        let mut state = State::default();
        for at in 0..State::MAX_FILE_ROLES + 5 {
            let roles = FileRoles { columns: at.to_string(), ..FileRoles::default() };
            state.remember_roles(&source(at), Some(roles));
        }
        assert_eq!(state.file_roles.len(), State::MAX_FILE_ROLES);
        assert!(state.roles_of(&source(4)).is_none());
        assert_eq!(state.roles_of(&source(7)).map(|kept| kept.columns.as_str()), Some("7"));
        state.remember_roles(&source(7), None);
        state.remember_roles(
            &source(8),
            Some(FileRoles { columns: "0,".repeat(FileRoles::MAX_LENGTH), ..FileRoles::default() }),
        );
        assert!(
            state.roles_of(&source(7)).is_none() && state.roles_of(&source(8)).is_none(),
            "very long choices are not saved"
        );
    }

    #[test]
    fn state_round_trips_through_json() {
        let mut state = State { scale: 1.5, look: Theme::Dark, ..State::default() };
        state.draft.k = "7".to_owned();
        let text = serde_json::to_string(&state).expect("the state is plain data");
        let back: State = serde_json::from_str(&text).expect("its own text");
        assert_eq!((back.draft, back.scale, back.look), (state.draft, state.scale, state.look));
        assert_eq!(back.tree.tiles.len(), state.tree.tiles.len());
    }

    #[test]
    fn state_loads_with_missing_and_unknown_fields() {
        let back: State = serde_json::from_str(r#"{"scale": 2.0, "gone": 1}"#)
            .expect("missing and unknown fields are allowed");
        assert_eq!(back.scale, 2.0);
        assert_eq!(back.draft, Draft::default());
    }

    #[test]
    fn state_of_the_first_version_loads() {
        let stored = MemoryStorage(include_str!("../../../tests/data/first-version/state.ron").to_owned());
        let state: State = eframe::get_value(&stored, "any").expect("it is read");
        assert_eq!(state.draft.engine, EngineChoice::named(EngineId::new("kdtree")));
        assert_eq!(state.color.by, ColorBy::measure("groups_hit"));
        assert_eq!(state.runs.figure, Figure::Histogram(Quantity::Measure("merges".to_owned())));
        // Analysis and Engines were added later and open on demand.
        assert_eq!(state.tree.tiles.len(), 14, "panes keep their positions");
        // Its only layout becomes that of the workspace with its panes.
        let mut state = state.clamped();
        assert_eq!(Layout::from_tree(&state.tree), Layout::from_tree(&Workspace::Explore.layout()));
        state.switch_to(Workspace::Measure);
        assert_eq!((state.tree.tiles.len(), state.clamped().workspace), (14, Workspace::Measure));
    }

    #[test]
    fn each_workspace_keeps_its_layout() {
        let mut state = State { tree: single_layout(PaneKind::Space), ..State::default() };
        assert_eq!(state.panels(WindowLayout::Three), [true, false], "the answer is in the left panel");
        assert!(state.shows_answer(WindowLayout::Three) && !state.shows_answer(WindowLayout::One));
        state.switch_to(Workspace::Measure);
        assert_eq!(state.panels(WindowLayout::Three), [true, true]);
        assert!(state.tree.tiles.find_pane(&PaneKind::Timings).is_some());
        state.switch_to(Workspace::Measure);
        state.switch_to(Workspace::Explore);
        assert!(state.has_one_pane());
    }

    #[test]
    fn state_round_trips_through_eframe_storage() {
        for engine in ["auto", "lockstep", "cuda:kernel=direct,warps=8"] {
            let mut state = State::default();
            state.draft.engine = engine.parse().expect("an engine");
            state.draft.device = Some(DeviceId::Gpu(1));
            state.color.by = ColorBy::measure("visited");
            state.runs.figure = Figure::Histogram(Quantity::Measure("visited".to_owned()));
            let mut stored = MemoryStorage(String::new());
            eframe::set_value(&mut stored, "any", &state);
            let back: State = eframe::get_value(&stored, "any").expect("its own text");
            assert_eq!((back.draft, back.color, back.runs), (state.draft, state.color, state.runs));
        }
    }
}
