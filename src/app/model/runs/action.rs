//! What is asked of runs and recordings.

use crate::app::model::runs::RunsView;
use crate::app::model::runs::list::RunId;

/// What the pane asks for.
#[derive(Clone, Debug)]
pub enum RunsAction {
    /// A run is to be shown in all panes.
    Show(RunId),
    /// It stays when the list gets long, or not.
    Pin(RunId, bool),
    /// A name is being typed; `None` leaves the old one.
    Rename(Option<(RunId, String)>),
    /// The name is to be taken as it is typed.
    TakeName,
    /// It is to be taken out of the list.
    Delete(RunId),
    /// What was deleted last is to come back.
    Undelete,
    /// It is to be compared, or no more.
    Choose(RunId),
    /// A becomes B.
    Swap,
    /// Nothing is to be compared.
    ChooseNone,
    /// The pane's switches.
    SetView(RunsView),
}

/// Which runs go into a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The one that is shown.
    Shown,
    /// The two that are compared.
    Compared,
    /// Those that are pinned.
    Pinned,
    /// All of the list.
    All,
}

impl Saved {
    /// All, as the menu lists them.
    pub const ALL: [Self; 4] = [Self::Shown, Self::Compared, Self::Pinned, Self::All];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Shown => "The shown run…",
            Self::Compared => "The two compared runs…",
            Self::Pinned => "All pinned runs…",
            Self::All => "All runs…",
        }
    }
}
