//! The runs of this session and of recordings: the list of them, with the comparison of two ([`list`]); what is asked of them, and which
//! go into a recording.

pub mod list;

use serde::{Deserialize, Serialize};

use crate::app::features::runs::state::list::RunId;
use crate::knn::Measure;
use crate::run::compare::Quantity;
use crate::text::sentence_case;

/// The chart below a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    Histogram(Quantity),
    /// `max_distance` of all queries against points seen.
    Convergence,
}

impl Figure {
    /// The label in the chooser.
    pub fn text(&self) -> String {
        match self {
            Self::Histogram(Quantity::Repeats) => "Search, each repeat".to_owned(),
            Self::Histogram(Quantity::Chunks) => "Search, each chunk".to_owned(),
            Self::Histogram(Quantity::Measure(name)) => format!("{} per query", sentence_case(&Measure::words(name))),
            Self::Histogram(Quantity::LastDistance) => "k-th distances".to_owned(),
            Self::Convergence => "Convergence".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsView {
    /// Shown below the timings of a comparison.
    pub figure: Figure,
    /// Whether parameters that are equal in both runs are listed too.
    pub all_parameters: bool,
}

impl Default for RunsView {
    fn default() -> Self {
        Self { figure: Figure::Histogram(Quantity::Repeats), all_parameters: false }
    }
}

/// Which runs go into a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Shown,
    Compared,
    Pinned,
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
    /// Exchanges A and B of the comparison.
    Swap,
    /// Nothing is to be compared.
    ChooseNone,
    SetView(RunsView),
}
