//! What is asked of the analyses of all rows.

use std::path::PathBuf;

use crate::app::model::analysis::{AnalysisKind, AnalysisView};

#[derive(Clone, Debug)]
pub enum AnalysisAction {
    Set(AnalysisView),
    /// Searches the neighbours of every row, and works out what they say.
    Start,
    /// Asks for the file of an analysis that is of two.
    Browse(AnalysisKind),
    /// Has it worked out with this file.
    Against(AnalysisKind, PathBuf),
}
