//! What is asked of the analyses of all rows.

use crate::app::model::analysis::AnalysisView;

#[derive(Clone, Debug)]
pub enum AnalysisAction {
    Set(AnalysisView),
    /// Searches the neighbours of every row, and works out what they say.
    Start,
}
