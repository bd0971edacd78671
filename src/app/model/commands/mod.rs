//! What can be done. Menus, shortcuts and the sheet of shortcuts are all made from [`command::Command`]; panes send
//! [`Action`]s, and `shell/apply` is the one place that carries them out.

pub mod color;
pub mod command;
pub mod lesson;
pub mod live;
pub mod picking;
pub mod runs;
pub mod selection;

use std::path::PathBuf;

use crate::app::model::commands::color::ColorAction;
use crate::app::model::commands::command::Command;
use crate::app::model::commands::lesson::LessonAction;
use crate::app::model::commands::live::LiveAction;
use crate::app::model::commands::picking::PickAction;
use crate::app::model::commands::runs::RunsAction;
use crate::app::model::commands::selection::SelectAction;
use crate::app::model::draft::Draft;
use crate::app::model::export::{ExportDialog, ExportKind};
use crate::app::model::finder::Finder;
use crate::app::model::look::Look;
use crate::app::model::pane::PaneKind;
use crate::app::model::parts::PartsAction;
use crate::app::model::projection::ProjectionView;
use crate::app::model::timeline::TimelineView;
use crate::app::model::views::{ConvergenceView, CountsView, PlaneView, SpaceView};

/// What panes ask for.
#[derive(Clone, Debug)]
pub enum Action {
    /// A command of the menus.
    Command(Command),
    /// The left panel's fields changed.
    SetDraft(Box<Draft>),
    /// The data field is to be loaded and shown.
    Load,
    /// A file is to be loaded and shown.
    OpenPath(PathBuf),
    /// Files were dropped together.
    OpenPaths(Vec<PathBuf>),
    /// A dialog for the file of queries.
    BrowseQueries,
    SetPlane(PlaneView),
    SetSpace(SpaceView),
    /// Changes the switches above Convergence.
    SetConvergence(ConvergenceView),
    SetCounts(CountsView),
    /// Timeline moved, or a multiprocessor was opened.
    SetTimeline(TimelineView),
    /// Something of the live query.
    Live(LiveAction),
    /// A row of the cloud is the query.
    PickRow(u32),
    /// A query of the record is the query.
    PickQuery(usize),
    /// What the pointer means in Plane or Space.
    Pick(PickAction),
    /// Something of the selection.
    Select(SelectAction),
    /// A neighbour is selected in the table.
    SelectRank(Option<usize>),
    /// A cloud of more than two dimensions is shown otherwise.
    SetProjection(ProjectionView),
    /// Something of the colours of points.
    Color(ColorAction),
    /// The look of the window.
    SetLook(Look),
    /// Factor on the size of everything, 0.75 to 3.
    SetScale(f32),
    /// An export is to be set up.
    StartExport(ExportKind),
    /// The export's fields changed; `None` closes it.
    SetExport(Option<ExportDialog>),
    /// A dialog for the export's file.
    BrowseExport,
    /// The export is to be written.
    SaveExport,
    /// A pane's table is to be copied, with tabs.
    CopyTable(PaneKind),
    /// The finder's fields changed; `None` closes it.
    SetFinder(Option<Finder>),
    /// Forget the files that were opened.
    ForgetRecent,
    /// Whether the hints of the first start are shown.
    ShowHints(bool),
    /// Somebody has read what went wrong.
    DismissTrouble,
    /// The sheet of shortcuts is to be closed.
    CloseShortcuts,
    /// Something of the dialog that asks which cloud of a file is meant.
    Parts(PartsAction),
    /// Something of the lesson.
    Lesson(LessonAction),
    /// Something of the list of runs.
    Runs(RunsAction),
}

impl From<Command> for Action {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

impl From<LiveAction> for Action {
    fn from(action: LiveAction) -> Self {
        Self::Live(action)
    }
}

impl From<RunsAction> for Action {
    fn from(action: RunsAction) -> Self {
        Self::Runs(action)
    }
}

impl From<ColorAction> for Action {
    fn from(action: ColorAction) -> Self {
        Self::Color(action)
    }
}

impl From<LessonAction> for Action {
    fn from(action: LessonAction) -> Self {
        Self::Lesson(action)
    }
}

impl From<PartsAction> for Action {
    fn from(action: PartsAction) -> Self {
        Self::Parts(action)
    }
}

impl From<SelectAction> for Action {
    fn from(action: SelectAction) -> Self {
        Self::Select(action)
    }
}

impl From<PickAction> for Action {
    fn from(action: PickAction) -> Self {
        Self::Pick(action)
    }
}

/// Collects a frame's actions.
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::app::model::commands::command::Mode;

    #[test]
    fn no_two_commands_share_a_shortcut_in_a_mode() {
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
    fn every_command_is_listed_once_and_says_what_it_does() {
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
    fn every_pane_has_its_command() {
        for &pane in PaneKind::ALL {
            assert!(Command::Show(pane).text().ends_with(pane.title()));
        }
    }
}
