//! What is asked of the comparison of engines.

use crate::knn::EngineId;

#[derive(Clone, Debug)]
pub enum ContestAction {
    /// Runs all engines that can answer, one after another.
    Start,
    /// Runs one of them.
    One(EngineId),
    /// Cancels the run under way and those that wait.
    Stop,
    /// Shows the page of an engine, or none.
    Page(Option<EngineId>),
    /// Shows its run in all panes.
    Show(EngineId),
}
