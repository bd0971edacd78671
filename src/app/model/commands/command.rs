//! Commands: actions with a name, and perhaps a menu entry and keys.

use std::sync::LazyLock;

use egui::{Key, KeyboardShortcut, Modifiers};
use strum::{EnumIter, IntoEnumIterator as _};

use crate::app::features::analysis::state::AnalysisKind;
use crate::app::model::pane::PaneKind;
use crate::lesson::Level;

/// An action with a name and no arguments. Most are in a menu; the finder lists all of them, the shortcut
/// sheet those with keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter)]
pub enum Command {
    Open,
    SaveSession,
    SaveSessionAs,
    ExportGraph,
    SaveWindow,
    Quit,
    Run,
    Cancel,
    NextQuery,
    PreviousQuery,
    LessonOfQuery,
    FitView,
    FocusQuery,
    Undo,
    Redo,
    MoveTool,
    RectangleTool,
    LassoTool,
    SelectAll,
    SelectNone,
    InvertSelection,
    GrowSelection,
    ZoomToSelection,
    UseAsQueries,
    ExportSelection,
    Analyse,
    CompareRows,
    OpenSecond,
    FindLeaks,
    CompareEngines,
    ShowWalk,
    WalkForward,
    WalkBack,
    PlayWalk,
    ToggleProblem,
    ToggleSelection,
    ScaleUp,
    ScaleDown,
    ScaleReset,
    PresenterScale,
    NextLook,
    Maximise,
    ResetLayout,
    SideBySide,
    Explore,
    Measure,
    Show(PaneKind),
    TimelineCloser,
    TimelineFarther,
    TimelineEarlier,
    TimelineLater,
    Lesson,
    NextLesson,
    PreviousLesson,
    PlayPause,
    Faster,
    Slower,
    StepForward,
    StepBack,
    NextMerge,
    PreviousMerge,
    NextHit,
    PreviousHit,
    NextStage,
    PreviousStage,
    NextBound,
    PreviousBound,
    ToStart,
    ToEnd,
    LevelSearch,
    LevelMerge,
    LevelStage,
    LevelLayer,
    LevelLane,
    Predict,
    KernelLine,
    Zoom,
    ZoomNext,
    Presenter,
    Bare,
    Find,
    Contents,
    Shortcuts,
    About,
}

/// The mode in which a command is available. Two commands may share keys if no mode has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Explorer,
    Lesson,
    Both,
}

impl Mode {
    /// Whether a command of this mode is available in `other`.
    pub fn is_in(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

type Keys = Option<(Modifiers, Key)>;

const fn plain(key: Key) -> Keys {
    Some((Modifiers::NONE, key))
}

const fn shift(key: Key) -> Keys {
    Some((Modifiers::SHIFT, key))
}

const fn command(key: Key) -> Keys {
    Some((Modifiers::COMMAND, key))
}

const fn command_shift(key: Key) -> Keys {
    Some((Modifiers::COMMAND.plus(Modifiers::SHIFT), key))
}

struct CommandInfo {
    text: &'static str,
    tooltip: &'static str,
    mode: Mode,
    keys: Keys,
}

const fn entry(mode: Mode, keys: Keys, text: &'static str, tooltip: &'static str) -> CommandInfo {
    CommandInfo { text, tooltip, mode, keys }
}

impl Command {
    /// All commands, in the order of the shortcut sheet.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
            let panes = |command| match command {
                Command::Show(_) => PaneKind::ALL.iter().copied().map(Command::Show).collect(),
                command => vec![command],
            };
            Command::iter().flat_map(panes).collect()
        });
        &ALL
    }

    /// Commands of the File menu.
    pub const FILE: [Self; 6] =
        [Self::Open, Self::SaveSession, Self::SaveSessionAs, Self::ExportGraph, Self::SaveWindow, Self::Quit];
    /// Commands of the Query menu.
    pub const QUERY: [Self; 7] = [
        Self::Run,
        Self::Cancel,
        Self::Find,
        Self::NextQuery,
        Self::PreviousQuery,
        Self::ShowWalk,
        Self::LessonOfQuery,
    ];
    /// Commands of the Edit menu, after Undo and Redo.
    pub const EDIT: [Self; 10] = [
        Self::MoveTool,
        Self::RectangleTool,
        Self::LassoTool,
        Self::SelectAll,
        Self::SelectNone,
        Self::InvertSelection,
        Self::GrowSelection,
        Self::ZoomToSelection,
        Self::UseAsQueries,
        Self::ExportSelection,
    ];
    /// Commands of the View menu, before panes, looks and scales.
    pub const VIEW: [Self; 10] = [
        Self::Explore,
        Self::Measure,
        Self::Lesson,
        Self::FitView,
        Self::FocusQuery,
        Self::Maximise,
        Self::ToggleProblem,
        Self::ToggleSelection,
        Self::SideBySide,
        Self::ResetLayout,
    ];
    /// Scale commands of the View menu.
    pub const SCALE: [Self; 4] = [Self::ScaleUp, Self::ScaleDown, Self::ScaleReset, Self::PresenterScale];
    /// Commands of the Help menu.
    pub const HELP: [Self; 4] = [Self::Contents, Self::Find, Self::Shortcuts, Self::About];
    /// Commands of the Lesson menu, before the lessons.
    pub const LESSON: [Self; 8] = [
        Self::Lesson,
        Self::LessonOfQuery,
        Self::Predict,
        Self::KernelLine,
        Self::Zoom,
        Self::ZoomNext,
        Self::Presenter,
        Self::Bare,
    ];
    /// Navigation commands of the Lesson menu.
    pub const GO: [Self; 15] = [
        Self::PlayPause,
        Self::Faster,
        Self::Slower,
        Self::StepForward,
        Self::StepBack,
        Self::NextMerge,
        Self::PreviousMerge,
        Self::NextHit,
        Self::PreviousHit,
        Self::NextStage,
        Self::PreviousStage,
        Self::NextBound,
        Self::PreviousBound,
        Self::ToStart,
        Self::ToEnd,
    ];

    fn entry(self) -> CommandInfo {
        use Mode::{Both, Explorer, Lesson};
        match self {
            Self::Open => entry(
                Both,
                command(Key::O),
                "Open…",
                "Open points (text, JSON, word vectors, .npy, .npz, .fvecs, .fbin, IDX, HDF5, Parquet, \
                 Arrow, PLY, PCD, LAS, LAZ, E57), a recording or a session.",
            ),
            Self::SaveSession => entry(
                Explorer,
                command(Key::S),
                "Save session",
                "Save the cloud, query, selection, views and all runs. The first save asks for a file.",
            ),
            Self::SaveSessionAs => {
                entry(Explorer, None, "Save session as…", "Save the session to another file.")
            }
            Self::ExportGraph => entry(
                Explorer,
                None,
                "Export neighbour graph…",
                "Write every row's neighbours as an edge list, a SciPy sparse matrix or umap-learn arrays.",
            ),
            Self::SaveWindow => entry(
                Both,
                command_shift(Key::S),
                "Save picture of the window…",
                "Write the whole window to a PNG or an SVG file.",
            ),
            Self::Quit => entry(
                Both,
                command(Key::Q),
                "Quit",
                "Close the window. Settings are saved; you are asked about unsaved runs.",
            ),
            Self::Run => entry(
                Explorer,
                command(Key::Enter),
                "Run",
                "Benchmark the search: warm-up, timed repeats, one pass with counters.",
            ),
            Self::Cancel => entry(
                Both,
                plain(Key::Escape),
                "Cancel",
                "Cancel the running task. In a lesson with nothing running, leave full screen.",
            ),
            Self::NextQuery => entry(
                Explorer,
                plain(Key::N),
                "Next query",
                "Pick the next selected row; without a selection, the next query of the run, or the next row.",
            ),
            Self::PreviousQuery => entry(
                Explorer,
                plain(Key::P),
                "Previous query",
                "Pick the previous selected row; without a selection, the previous query of the run, or the \
                 previous row.",
            ),
            Self::LessonOfQuery => entry(
                Explorer,
                plain(Key::L),
                "Lesson from this query",
                "Watch, step by step, how a warp finds the picked query's neighbours.",
            ),
            Self::FitView => entry(
                Explorer,
                plain(Key::F),
                "Fit the views to the cloud",
                "Fit the whole cloud in Plane and Space; press again to fit most points. Over Timeline: zoom \
                 to the picked query's warp.",
            ),
            Self::FocusQuery => entry(
                Explorer,
                plain(Key::Z),
                "Zoom to the query",
                "Zoom Plane and Space to the picked query and its neighbours.",
            ),
            Self::Undo => entry(
                Both,
                command(Key::Z),
                "Undo",
                "Undo the last change of the selection, the query, k, metric, engine, columns, a view, the \
                 colours or the projection; in a lesson, the last move of the query or a point.",
            ),
            Self::Redo => {
                entry(Explorer, command_shift(Key::Z), "Redo", "Redo the last undone change; also Ctrl+Y.")
            }
            Self::MoveTool => entry(
                Explorer,
                plain(Key::V),
                "Move tool",
                "Drag to move the view; Shift+drag selects a rectangle.",
            ),
            Self::RectangleTool => entry(
                Explorer,
                plain(Key::R),
                "Rectangle tool",
                "Drag a rectangle to select points; in Space, hidden points too.",
            ),
            Self::LassoTool => entry(
                Explorer,
                plain(Key::Y),
                "Lasso tool",
                "Draw around points to select them; in Space, hidden points too.",
            ),
            Self::SelectAll => {
                entry(Explorer, command(Key::A), "Select all", "Select all rows, and all queries of the run.")
            }
            Self::SelectNone => entry(
                Explorer,
                command_shift(Key::A),
                "Clear the selection",
                "Deselect all rows; the query stays.",
            ),
            Self::InvertSelection => entry(
                Explorer,
                command_shift(Key::I),
                "Invert the selection",
                "Swap selected and unselected rows.",
            ),
            Self::GrowSelection => entry(
                Explorer,
                plain(Key::G),
                "Add neighbours to the selection",
                "Add the selected queries' neighbours. With nothing selected, select the picked query's \
                 neighbours.",
            ),
            Self::ZoomToSelection => entry(
                Explorer,
                shift(Key::Z),
                "Zoom to the selection",
                "Zoom Plane and Space to the selected points.",
            ),
            Self::UseAsQueries => {
                entry(Explorer, None, "Use as queries", "Use the selected rows as queries for the next run.")
            }
            Self::ExportSelection => entry(
                Explorer,
                None,
                "Export selected rows…",
                "Write the selected rows to a file, with all columns and measurements.",
            ),
            Self::Analyse => entry(
                Explorer,
                None,
                AnalysisKind::START,
                "Report density, outliers, hubs, duplicates and label agreement in Analysis.",
            ),
            Self::CompareRows => entry(
                Explorer,
                None,
                "Compare with another file…",
                "Compare neighbours with a second embedding of the same rows.",
            ),
            Self::OpenSecond => entry(
                Explorer,
                None,
                "Show another file side by side…",
                "Show another file of the same rows, such as a second embedding. Picking a row picks it in \
                 both.",
            ),
            Self::FindLeaks => entry(
                Explorer,
                None,
                "Find leaks in another file…",
                "Find rows of another file, such as test data, within a distance of a row here.",
            ),
            Self::CompareEngines => entry(
                Explorer,
                None,
                "Compare engines",
                "Run this search on every available engine and compare times and answers.",
            ),
            Self::ShowWalk => entry(
                Explorer,
                plain(Key::B),
                "Walk through the search",
                "Step through the boxes or clusters that the picked query's search visited or pruned.",
            ),
            Self::WalkForward => entry(
                Explorer,
                plain(Key::Period),
                "Next step of the walk",
                "Step forward through the search.",
            ),
            Self::WalkBack => entry(
                Explorer,
                plain(Key::Comma),
                "Previous step of the walk",
                "Step back through the search.",
            ),
            Self::PlayWalk => {
                entry(Explorer, plain(Key::Space), "Play or pause the walk", "Play the search step by step.")
            }
            Self::ToggleProblem => entry(
                Both,
                command(Key::B),
                "Show or hide the left panel",
                "Data, question and engine; in a lesson, the list of lessons.",
            ),
            Self::ToggleSelection => entry(
                Explorer,
                command(Key::I),
                "Show or hide the right panel",
                "The answer, the query and the selection.",
            ),
            Self::ScaleUp => entry(
                Both,
                command(Key::Equals),
                "Larger text and controls",
                "25 percentage points larger, up to 300 %.",
            ),
            Self::ScaleDown => entry(
                Both,
                command(Key::Minus),
                "Smaller text and controls",
                "25 percentage points smaller, down to 75 %.",
            ),
            Self::ScaleReset => {
                entry(Both, command(Key::Num0), "Text and controls at 100 %", "The desktop's own size.")
            }
            Self::NextLook => entry(
                Both,
                command_shift(Key::L),
                "Next colour theme",
                "Light, dark, high contrast, or the system's.",
            ),
            Self::Maximise => entry(
                Explorer,
                plain(Key::M),
                "Maximise the pane, or restore it",
                "Fill the window with the pane under the pointer, or double-click its tab. Escape restores \
                 it.",
            ),
            Self::ResetLayout => entry(
                Explorer,
                None,
                "Reset the layout",
                "Arrange this workspace's panes as on the first start.",
            ),
            Self::SideBySide => entry(
                Explorer,
                plain(Key::T),
                "Two views side by side",
                "Show a second view with its own axes, projection or file; press again for one view.",
            ),
            Self::Explore => {
                entry(Both, command_shift(Key::E), "Explore", "Your data, a question and its answer.")
            }
            Self::Measure => entry(
                Both,
                command_shift(Key::M),
                "Measure",
                "Time a search: method, repeats, runs, timeline and engines.",
            ),
            Self::Show(pane) => {
                let info = pane.info();
                CommandInfo {
                    text: info.show,
                    tooltip: info.about,
                    mode: Explorer,
                    keys: info.key.and_then(command),
                }
            }
            Self::TimelineCloser => entry(
                Explorer,
                plain(Key::W),
                "Zoom in on time",
                "Timeline shows half as much time, around the pointer.",
            ),
            Self::TimelineFarther => {
                entry(Explorer, plain(Key::S), "Zoom out in time", "Timeline shows twice as much time.")
            }
            Self::TimelineEarlier => {
                entry(Explorer, plain(Key::A), "Earlier", "Timeline moves towards the start of the run.")
            }
            Self::TimelineLater => {
                entry(Explorer, plain(Key::D), "Later", "Timeline moves towards the end of the run.")
            }
            Self::Lesson => entry(
                Both,
                command(Key::L),
                "The lesson, or back to the explorer",
                "How a warp finds k neighbours, step by step, from a recorded search.",
            ),
            Self::NextLesson => {
                entry(Lesson, command(Key::PageDown), "Next lesson", "Go to the next lesson.")
            }
            Self::PreviousLesson => {
                entry(Lesson, command(Key::PageUp), "Previous lesson", "Go to the previous lesson.")
            }
            Self::PlayPause => {
                entry(Lesson, plain(Key::Space), "Play or pause", "Play the steps at the chosen speed.")
            }
            Self::Faster => entry(Lesson, plain(Key::ArrowUp), "Faster", "Twice as many steps a second."),
            Self::Slower => entry(Lesson, plain(Key::ArrowDown), "Slower", "Half as many steps a second."),
            Self::StepForward => entry(
                Lesson,
                plain(Key::ArrowRight),
                "Step forward",
                "To the next step at this level of detail; also Page Down.",
            ),
            Self::StepBack => entry(
                Lesson,
                plain(Key::ArrowLeft),
                "Step back",
                "To the previous step, exactly as it was; also Page Up.",
            ),
            Self::NextMerge => {
                entry(Lesson, shift(Key::ArrowRight), "Next merge", "To the end of the next merge.")
            }
            Self::PreviousMerge => {
                entry(Lesson, shift(Key::ArrowLeft), "Previous merge", "To the end of the previous merge.")
            }
            Self::NextHit => {
                entry(Lesson, plain(Key::B), "Next ballot hit", "To the next ballot with a candidate.")
            }
            Self::PreviousHit => entry(
                Lesson,
                shift(Key::B),
                "Previous ballot hit",
                "To the previous ballot with a candidate.",
            ),
            Self::NextStage => entry(
                Lesson,
                plain(Key::S),
                "Next stage",
                "To the end of the next stage: append, swap, sort, minimum, re-sort.",
            ),
            Self::PreviousStage => {
                entry(Lesson, shift(Key::S), "Previous stage", "To the end of the previous stage.")
            }
            Self::NextBound => entry(
                Lesson,
                plain(Key::M),
                "Next change of max_distance",
                "To the next merge that lowers the bound.",
            ),
            Self::PreviousBound => entry(
                Lesson,
                shift(Key::M),
                "Previous change of max_distance",
                "To the previous merge that lowered the bound.",
            ),
            Self::ToStart => {
                entry(Lesson, plain(Key::Home), "To the start", "Before the first step of this lesson.")
            }
            Self::ToEnd => {
                entry(Lesson, plain(Key::End), "To the end", "After the last step of this lesson.")
            }
            Self::LevelSearch => {
                entry(Lesson, plain(Key::Num1), "Level 1, search", "A step is a batch of points.")
            }
            Self::LevelMerge => entry(Lesson, plain(Key::Num2), "Level 2, merge", "A step is a whole merge."),
            Self::LevelStage => entry(
                Lesson,
                plain(Key::Num3),
                "Level 3, stage",
                "A step is one stage of a merge, or candidates entering the buffer.",
            ),
            Self::LevelLayer => entry(
                Lesson,
                plain(Key::Num4),
                "Level 4, layer",
                "A step is a ballot, or a layer of compare-exchanges.",
            ),
            Self::LevelLane => entry(
                Lesson,
                plain(Key::Num5),
                "Level 5, lane",
                "A step is any lane operation, including distances and slots.",
            ),
            Self::Predict => entry(
                Lesson,
                plain(Key::P),
                "Predict",
                "New questions each time: what happens next, and why? The next state stays hidden until you \
                 answer.",
            ),
            Self::KernelLine => entry(
                Lesson,
                plain(Key::K),
                "Line of the kernel",
                "Show the CUDA source of the current step.",
            ),
            Self::Zoom => entry(
                Lesson,
                plain(Key::Z),
                "Zoom a panel, or show all",
                "Zoom the panel under the pointer, or the largest one; or double-click a panel. Escape shows \
                 all panels.",
            ),
            Self::ZoomNext => entry(
                Lesson,
                shift(Key::Z),
                "Zoom the next panel",
                "Zoom the lesson's next panel, including the code.",
            ),
            Self::Presenter => entry(
                Lesson,
                plain(Key::F5),
                "Presenter",
                "Full screen, large type, high contrast, with the player.",
            ),
            Self::Bare => {
                entry(Lesson, plain(Key::F6), "Only the picture", "Full screen with only the picture.")
            }
            Self::PresenterScale => entry(
                Explorer,
                plain(Key::F5),
                "Projector size, or back",
                "Everything at 175 %, large points, no side panels; press again to go back.",
            ),
            Self::Find => entry(
                Both,
                command(Key::P),
                "Find a row or a command…",
                "Type part of a name, a file’s path, k 64, an engine, a colour, an axis or a sample; also \
                 Ctrl+F.",
            ),
            Self::Contents => entry(
                Both,
                plain(Key::F1),
                "Contents",
                "Read and search the tour, formats, engines and all other documents.",
            ),
            Self::About => entry(
                Both,
                None,
                "About Warpscope",
                "Version, licence, GPU, graphics adapter and settings folder.",
            ),
            Self::Shortcuts => {
                entry(Both, plain(Key::Questionmark), "Keyboard shortcuts", "List all keyboard shortcuts.")
            }
        }
    }

    /// The menu text; ends in "…" if the command opens a dialog.
    pub fn text(self) -> &'static str {
        self.entry().text
    }

    pub fn tooltip(self) -> &'static str {
        self.entry().tooltip
    }

    pub fn mode(self) -> Mode {
        self.entry().mode
    }

    /// The command's keys. Keys without a modifier do nothing while a text field has focus.
    pub fn shortcut(self) -> Option<KeyboardShortcut> {
        self.entry().keys.map(|(modifiers, key)| KeyboardShortcut::new(modifiers, key))
    }

    /// Whether the shortcut is ignored while a text field has the focus.
    pub fn is_typed(self) -> bool {
        // Text fields handle these keys themselves.
        let of_text = matches!(self, Self::SelectAll | Self::Undo | Self::Redo);
        of_text
            || (self.entry().keys.is_some_and(|(modifiers, _)| !modifiers.command) && self != Self::Cancel)
    }

    /// The command that selects a level of detail.
    pub fn level(level: Level) -> Self {
        match level {
            Level::Search => Self::LevelSearch,
            Level::Merge => Self::LevelMerge,
            Level::Stage => Self::LevelStage,
            Level::Layer => Self::LevelLayer,
            Level::Lane => Self::LevelLane,
        }
    }
}
