//! State of the dialog that chooses one cloud of a file with several.

use std::path::PathBuf;

use crate::app::model::after_load::PostLoadAction;
use crate::cloud::formats::DatasetInfo;

#[derive(Clone, Debug)]
pub struct DatasetsDialog {
    pub path: PathBuf,
    /// The datasets, including unreadable ones.
    pub datasets: Vec<DatasetInfo>,
    /// Index of the selected, readable entry.
    pub selected: usize,
    pub then: PostLoadAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetsAction {
    Select(usize),
    /// Load the selected dataset.
    Open,
    /// Cancel the load.
    Close,
}

impl DatasetsDialog {
    /// A dialog for a load that continues with `then`; the first table is selected. `None` if nothing is
    /// readable.
    pub fn new(path: PathBuf, datasets: Vec<DatasetInfo>, then: PostLoadAction) -> Option<Self> {
        let first =
            |table: bool| datasets.iter().position(|entry| entry.unread.is_none() && (entry.table || !table));
        let selected = first(true).or_else(|| first(false))?;
        Some(Self { path, datasets, selected, then })
    }

    /// Whether the load is for queries rather than data.
    pub fn is_of_queries(&self) -> bool {
        matches!(self.then, PostLoadAction::RunQueries(_))
    }
}
