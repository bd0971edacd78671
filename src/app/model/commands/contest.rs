//! What is asked of the comparison of engines.

use crate::app::model::contest::Longest;
use crate::knn::EngineId;

#[derive(Clone, Debug)]
pub enum ContestAction {
    /// Runs all engines that can answer in time, one after another, whatever they answered before.
    Start,
    /// Runs one of them, perhaps once more.
    One(EngineId),
    /// Leaves out of [`Self::Start`] what is predicted to take longer.
    SetLongest(Longest),
    /// Cancels the run under way and those that wait.
    Stop,
    /// Shows the page of an engine, or none.
    Page(Option<EngineId>),
    /// Shows a file of that engine, or none.
    Source(Option<usize>),
    /// Shows its run in all panes.
    Show(EngineId),
}
