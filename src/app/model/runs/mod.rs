//! The runs of this session and of recordings: the list of them ([`list`]), the comparison of two ([`compared`]), and the
//! choice of those that go into a recording ([`which`]).

pub mod compared;
pub mod list;
pub mod which;

use serde::{Deserialize, Serialize};

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
