//! Actions. Menus, shortcuts and the shortcut sheet are generated from [`command::Command`]. Panes send
//! [`Action`]s; only the `apply` modules of features and shell carry them out.

use std::ops::Range;
use std::path::PathBuf;

use super::draft::Draft;
use super::files::Sample;
use super::pane::PaneKind;
use super::table::TableView;
use super::views::{ConvergenceView, CountsView, PlaneView, SpaceView, Theme, TimelineView, TimingsView};
use crate::app::features::analysis::state::AnalysisAction;
use crate::app::features::chooser::state::ChooserAction;
use crate::app::features::color::state::ColorAction;
use crate::app::features::columns::state::ColumnsAction;
use crate::app::features::datasets::state::DatasetsAction;
use crate::app::features::engine_comparison::state::EnginesAction;
use crate::app::features::export::state::{ExportDialog, ExportKind};
use crate::app::features::lesson::state::LessonAction;
use crate::app::features::live::state::LiveAction;
use crate::app::features::manual::state::Manual;
use crate::app::features::picking::state::PickAction;
use crate::app::features::projection::state::ProjectionView;
use crate::app::features::quit::state::QuitAction;
use crate::app::features::runs::state::RunsAction;
use crate::app::features::second::state::SecondAction;
use crate::app::features::selection::state::SelectAction;
use crate::app::features::unusable::state::UnusableAction;
use crate::app::features::walk::state::WalkAction;
use crate::app::model::commands::command::Command;

pub mod command;

/// A change that a pane, a panel or a menu requests.
#[derive(Clone, Debug)]
pub enum Action {
    /// A command from a menu or a shortcut.
    Command(Command),
    /// Replace the left panel's fields.
    SetDraft(Box<Draft>),
    /// Load and show the data that the fields name.
    Load,
    OpenPath(PathBuf),
    OpenSample(&'static Sample),
    /// Open files that were dropped together.
    OpenPaths(Vec<PathBuf>),
    BrowseQueries,
    /// Ask for the file of the points that the opened session lacks.
    FindData,
    SetPlane(PlaneView),
    SetSpace(SpaceView),
    SetConvergence(ConvergenceView),
    SetCounts(CountsView),
    SetTimings(TimingsView),
    /// Pan or zoom Timeline, or expand a multiprocessor.
    SetTimeline(TimelineView),
    /// Run engines in turn and compare them.
    Engines(EnginesAction),
    Live(LiveAction),
    /// Make a row of the cloud the query.
    PickRow(u32),
    PickQuery(usize),
    /// A click, drag or hover in Plane or Space.
    Pick(PickAction),
    Select(SelectAction),
    /// Set the text of the row field of "why".
    TypeWhy(String),
    /// Explain why that row is, or is not, among the neighbours.
    AskWhy,
    /// Set the text of the radius field.
    TypeRadius(String),
    /// Select all rows within that radius of the picked query.
    SelectNearby,
    /// Set order, conditions and columns of a pane's table.
    SetTable(PaneKind, Box<TableView>),
    /// Positions that the table of points shows.
    ShowPoints(Range<usize>),
    /// Select a neighbour in the table, by rank.
    SelectRank(Option<usize>),
    /// Change the projection that shows a cloud of more than two dimensions.
    SetProjection(ProjectionView),
    Color(ColorAction),
    SetLook(Theme),
    /// Set the UI scale, 0.75 to 3.
    SetScale(f32),
    /// Show changes at once instead of animating them.
    ReduceMotion(bool),
    /// Open the dialog for an export.
    StartExport(ExportKind),
    /// Replace the export dialog's fields; `None` closes it.
    SetExport(Option<ExportDialog>),
    /// Open the dialog for the target file of the export.
    BrowseExport,
    SaveExport,
    /// An action of the built-in file dialog.
    Choose(ChooserAction),
    /// Copy a pane's table as tab-separated text.
    CopyTable(PaneKind),
    /// Replace the finder's fields; `None` closes it.
    SetFinder(Option<CommandPalette>),
    ForgetRecent,
    /// Show or hide the first-launch hints.
    ShowHints(bool),
    DismissProblem,
    /// Whether to keep the settings when another file is opened.
    KeepSettings(bool),
    CloseShortcuts,
    /// Set the manual's state; `None` closes it.
    SetManual(Option<Manual>),
    CopyAddress(String),
    CopyAbout,
    CloseAbout,
    /// An action of the dialog that lists the clouds of a file.
    Datasets(DatasetsAction),
    /// An action of the dialog that asks before runs are lost.
    Quit(QuitAction),
    /// An action of the dialog that offers to open a file without its unusable rows.
    Unusable(UnusableAction),
    /// An action of the dialog that sets a file's column roles.
    Columns(ColumnsAction),
    Lesson(LessonAction),
    Runs(RunsAction),
    Walk(WalkAction),
    Analysis(AnalysisAction),
    Second(SecondAction),
}

/// Converts the actions of features into [`Action`].
macro_rules! actions_of {
    ($($variant:ident($part:ty)),+) => {$(
        impl From<$part> for Action {
            fn from(part: $part) -> Self {
                Self::$variant(part)
            }
        }
    )+};
}

actions_of!(
    Command(Command),
    Engines(EnginesAction),
    Live(LiveAction),
    Runs(RunsAction),
    Color(ColorAction),
    Lesson(LessonAction),
    Datasets(DatasetsAction),
    Quit(QuitAction),
    Choose(ChooserAction),
    Columns(ColumnsAction),
    Unusable(UnusableAction),
    Select(SelectAction),
    Pick(PickAction),
    Walk(WalkAction),
    Analysis(AnalysisAction),
    Second(SecondAction)
);

/// The actions of one frame, in order.
#[derive(Debug, Default)]
pub struct Actions(Vec<Action>);

impl Actions {
    pub fn send(&mut self, action: impl Into<Action>) {
        self.0.push(action.into());
    }

    /// Returns all queued actions and empties the queue.
    pub fn take(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.0)
    }
}

// Input of the finder.

/// The typed text, and the index of the selected entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPalette {
    pub text: String,
    pub at: usize,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::app::model::commands::command::Mode;

    #[test]
    fn shortcuts_are_unique_within_a_mode() {
        for mode in [Mode::Explorer, Mode::Lesson] {
            let mut taken = HashMap::new();
            for command in Command::all().iter().copied().filter(|command| command.mode().is_in(mode)) {
                if let Some(shortcut) = command.shortcut()
                    && let Some(other) = taken.insert((shortcut.modifiers, shortcut.logical_key), command)
                {
                    panic!("{command:?} and {other:?} share {shortcut:?}");
                }
            }
        }
    }

    #[test]
    fn commands_are_unique_and_have_tooltips() {
        for &command in Command::all() {
            assert_eq!(Command::all().iter().filter(|&&other| other == command).count(), 1);
            assert!(command.tooltip().ends_with('.'), "{command:?}");
            assert!(!command.text().ends_with(':'), "{command:?}");
        }
        let mut texts: Vec<&str> = Command::all().iter().map(|command| command.text()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Command::all().len());
    }

    #[test]
    fn every_pane_has_a_show_command() {
        for &pane in PaneKind::ALL {
            assert!(Command::Show(pane).text().ends_with(pane.title()));
        }
    }
}
