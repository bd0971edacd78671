//! What can be done. Menus, shortcuts and the sheet of shortcuts are all made from [`Command`]; panes send [`Action`]s,
//! and [`super::apply`] is the one place that carries them out.

use std::path::PathBuf;

use egui::{Key, KeyboardShortcut, Modifiers};

use super::draft::Draft;
use super::export::{ExportDialog, ExportKind};
use super::state::{ConvergenceView, PaneKind, PlaneView, SpaceView};
use super::tokens::Look;

/// A thing to do that has a name, needs nothing else to be known, and is in a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "Command::tooltip says what each does")]
pub enum Command {
    Open,
    SaveWindow,
    Quit,
    Run,
    Cancel,
    NextQuery,
    PreviousQuery,
    FitView,
    FocusQuery,
    ToggleProblem,
    ToggleSelection,
    ScaleUp,
    ScaleDown,
    ScaleReset,
    ResetLayout,
    ShowPlane,
    ShowSpace,
    ShowNeighbors,
    ShowTimings,
    ShowMerges,
    ShowConvergence,
    ShowLog,
    Shortcuts,
}

impl Command {
    /// All, in the order of the sheet.
    pub const ALL: [Self; 23] = [
        Self::Open,
        Self::SaveWindow,
        Self::Quit,
        Self::Run,
        Self::Cancel,
        Self::NextQuery,
        Self::PreviousQuery,
        Self::FitView,
        Self::FocusQuery,
        Self::ToggleProblem,
        Self::ToggleSelection,
        Self::ScaleUp,
        Self::ScaleDown,
        Self::ScaleReset,
        Self::ResetLayout,
        Self::ShowPlane,
        Self::ShowSpace,
        Self::ShowNeighbors,
        Self::ShowTimings,
        Self::ShowMerges,
        Self::ShowConvergence,
        Self::ShowLog,
        Self::Shortcuts,
    ];

    /// Of the File menu.
    pub const FILE: [Self; 3] = [Self::Open, Self::SaveWindow, Self::Quit];
    /// Of the Query menu.
    pub const QUERY: [Self; 4] = [Self::Run, Self::Cancel, Self::NextQuery, Self::PreviousQuery];
    /// Of the View menu, before the panes, looks and scales.
    pub const VIEW: [Self; 5] = [Self::FitView, Self::FocusQuery, Self::ToggleProblem, Self::ToggleSelection, Self::ResetLayout];
    /// Of the View menu.
    pub const SCALE: [Self; 3] = [Self::ScaleUp, Self::ScaleDown, Self::ScaleReset];

    /// As menus say it; "…" where it asks for more.
    pub fn text(self) -> &'static str {
        match self {
            Self::Open => "Open…",
            Self::SaveWindow => "Save picture of the window…",
            Self::Quit => "Quit",
            Self::Run => "Run",
            Self::Cancel => "Cancel",
            Self::NextQuery => "Next query",
            Self::PreviousQuery => "Previous query",
            Self::FitView => "Fit the views to the cloud",
            Self::FocusQuery => "Zoom to the query",
            Self::ToggleProblem => "Show or hide the problem",
            Self::ToggleSelection => "Show or hide the selection",
            Self::ScaleUp => "Larger text and controls",
            Self::ScaleDown => "Smaller text and controls",
            Self::ScaleReset => "Text and controls at 100 %",
            Self::ResetLayout => "Reset the layout",
            Self::ShowPlane => "Show Plane",
            Self::ShowSpace => "Show Space",
            Self::ShowNeighbors => "Show Neighbours",
            Self::ShowTimings => "Show Timings",
            Self::ShowMerges => "Show Merges",
            Self::ShowConvergence => "Show Convergence",
            Self::ShowLog => "Show Log",
            Self::Shortcuts => "Keyboard shortcuts",
        }
    }

    /// What it does, as a sentence.
    pub fn tooltip(self) -> &'static str {
        match self {
            Self::Open => "Choose a file of points: text, .npy, .npz, .fvecs, .fbin, PLY, LAS or LAZ.",
            Self::SaveWindow => "Write the whole window to a PNG file.",
            Self::Quit => "Close the window; settings are kept.",
            Self::Run => "Answer the problem on the left.",
            Self::Cancel => "Stop loading or running at the next safe point.",
            Self::NextQuery => "Pick the next query of the run.",
            Self::PreviousQuery => "Pick the query before this one.",
            Self::FitView => "Show the whole cloud in Plane and Space.",
            Self::FocusQuery => "Show the picked query and its neighbours large in Plane and Space.",
            Self::ToggleProblem => "The panel on the left.",
            Self::ToggleSelection => "The panel on the right.",
            Self::ScaleUp => "A quarter larger, up to 300 %.",
            Self::ScaleDown => "A quarter smaller, down to 75 %.",
            Self::ScaleReset => "As the desktop has it.",
            Self::ResetLayout => "Put the panes back to where they were on the first start.",
            Self::ShowPlane => "Two axes of the cloud.",
            Self::ShowSpace => "Three axes of the cloud.",
            Self::ShowNeighbors => "The table of the picked query's neighbours.",
            Self::ShowTimings => "Time per phase and repeat.",
            Self::ShowMerges => "How many merges queries needed.",
            Self::ShowConvergence => "How max_distance shrinks as points are seen.",
            Self::ShowLog => "Everything that was said.",
            Self::Shortcuts => "This sheet.",
        }
    }

    /// The keys, if it has any. Keys without a modifier do nothing while a text field has the focus.
    pub fn shortcut(self) -> Option<KeyboardShortcut> {
        let command = |key| Some(KeyboardShortcut::new(Modifiers::COMMAND, key));
        let plain = |key| Some(KeyboardShortcut::new(Modifiers::NONE, key));
        match self {
            Self::Open => command(Key::O),
            Self::SaveWindow => Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S)),
            Self::Quit => command(Key::Q),
            Self::Run => command(Key::Enter),
            Self::Cancel => plain(Key::Escape),
            Self::NextQuery => plain(Key::N),
            Self::PreviousQuery => plain(Key::P),
            Self::FitView => plain(Key::F),
            Self::FocusQuery => plain(Key::Z),
            Self::ToggleProblem => command(Key::B),
            Self::ToggleSelection => command(Key::I),
            Self::ScaleUp => command(Key::Equals),
            Self::ScaleDown => command(Key::Minus),
            Self::ScaleReset => command(Key::Num0),
            Self::ResetLayout => None,
            Self::ShowPlane => command(Key::Num1),
            Self::ShowSpace => command(Key::Num2),
            Self::ShowNeighbors => command(Key::Num3),
            Self::ShowTimings => command(Key::Num4),
            Self::ShowMerges => command(Key::Num5),
            Self::ShowConvergence => command(Key::Num6),
            Self::ShowLog => command(Key::Num7),
            Self::Shortcuts => plain(Key::Questionmark),
        }
    }

    /// Shows a pane.
    pub fn show(pane: PaneKind) -> Self {
        match pane {
            PaneKind::Plane => Self::ShowPlane,
            PaneKind::Space => Self::ShowSpace,
            PaneKind::Neighbors => Self::ShowNeighbors,
            PaneKind::Timings => Self::ShowTimings,
            PaneKind::Merges => Self::ShowMerges,
            PaneKind::Convergence => Self::ShowConvergence,
            PaneKind::Log => Self::ShowLog,
        }
    }
}

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
    /// A dialog for the file of queries.
    BrowseQueries,
    /// Plane moved.
    SetPlane(PlaneView),
    /// Space moved.
    SetSpace(SpaceView),
    /// Convergence's switches.
    SetConvergence(ConvergenceView),
    /// A row of the cloud is the query.
    PickRow(u32),
    /// A query of the record is the query.
    PickQuery(usize),
    /// A neighbour is selected in the table.
    SelectRank(Option<usize>),
    /// The look of the window.
    SetLook(Look),
    /// The UI scale.
    SetScale(f32),
    /// An export is to be set up.
    StartExport(ExportKind),
    /// The export's fields changed; `None` closes it.
    SetExport(Option<ExportDialog>),
    /// A dialog for the export's file.
    BrowseExport,
    /// The export is to be written.
    SaveExport,
    /// The sheet of shortcuts is to be closed.
    CloseShortcuts,
}

impl From<Command> for Action {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

/// Collects a frame's actions.
#[derive(Debug, Default)]
pub struct Actions(Vec<Action>);

impl Actions {
    /// Asks for something.
    pub fn send(&mut self, action: impl Into<Action>) {
        self.0.push(action.into());
    }

    /// Hands all over.
    pub fn take(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.0)
    }
}

/// Sends the commands whose keys were pressed. Once per frame, outside all menus.
pub fn shortcuts(ctx: &egui::Context, busy: bool, actions: &mut Actions) {
    let typing = ctx.egui_wants_keyboard_input();
    for command in Command::ALL {
        let Some(shortcut) = command.shortcut() else { continue };
        // With nothing to cancel, Escape closes menus and dialogs.
        if (typing && shortcut.modifiers.is_none() && command != Command::Cancel) || (command == Command::Cancel && !busy) {
            continue;
        }
        let pressed = ctx.input_mut(|input| {
            input.consume_shortcut(&shortcut)
                // Larger is ⌘= or ⌘+, and a keyboard may need Shift for either; ? always needs it.
                || (command == Command::ScaleUp && input.consume_key(Modifiers::COMMAND, Key::Plus))
                || (command == Command::Shortcuts && input.consume_key(Modifiers::SHIFT, Key::Questionmark))
        });
        if pressed {
            actions.send(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn no_two_commands_share_a_shortcut() {
        let mut taken = HashMap::new();
        for command in Command::ALL {
            if let Some(shortcut) = command.shortcut()
                && let Some(other) = taken.insert((shortcut.modifiers, shortcut.logical_key), command)
            {
                panic!("{command:?} and {other:?} share {shortcut:?}");
            }
        }
    }

    #[test]
    fn every_command_is_listed_once_and_says_what_it_does() {
        for command in Command::ALL {
            assert_eq!(Command::ALL.iter().filter(|&&other| other == command).count(), 1);
            assert!(command.tooltip().ends_with('.'), "{command:?}");
            assert!(!command.text().ends_with(':'), "{command:?}");
        }
        let mut texts: Vec<_> = Command::ALL.map(Command::text).to_vec();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Command::ALL.len());
    }

    #[test]
    fn every_pane_has_its_command() {
        for pane in PaneKind::ALL {
            assert!(Command::show(pane).text().ends_with(pane.title()));
        }
    }
}
