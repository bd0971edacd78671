//! The runs of this session and of recordings: what is kept of them ([`list`]), which two are compared ([`compared`]), and
//! which are meant ([`which`]).

pub mod compared;
pub mod list;
pub mod which;

use serde::{Deserialize, Serialize};

use crate::run::compare::Quantity;

/// What the comparison draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    /// A histogram.
    Histogram(Quantity),
    /// `max_distance` of all queries over points seen.
    Convergence,
}

impl Figure {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 5] = [
        Self::Histogram(Quantity::Repeats),
        Self::Histogram(Quantity::Chunks),
        Self::Histogram(Quantity::Merges),
        Self::Histogram(Quantity::LastDistance),
        Self::Convergence,
    ];

    /// As it is offered.
    pub fn text(self) -> &'static str {
        match self {
            Self::Histogram(Quantity::Repeats) => "Search, each repeat",
            Self::Histogram(Quantity::Chunks) => "Search, each chunk",
            Self::Histogram(Quantity::Merges) => "Merges per query",
            Self::Histogram(Quantity::LastDistance) => "k-th distances",
            Self::Convergence => "Convergence",
        }
    }
}

/// What Runs shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsView {
    /// Below the timings of a comparison.
    pub figure: Figure,
    /// Whether parameters that both runs share are listed too.
    pub all_parameters: bool,
}

impl Default for RunsView {
    fn default() -> Self {
        Self { figure: Figure::Histogram(Quantity::Repeats), all_parameters: false }
    }
}
