//! State of the dialog that chooses one cloud of a file with several.

use std::path::PathBuf;

use crate::app::model::after_load::Then;
use crate::cloud::formats::Entry;

#[derive(Clone, Debug)]
pub struct PartsDialog {
    pub path: PathBuf,
    /// The datasets, including unreadable ones.
    pub parts: Vec<Entry>,
    /// Index of the selected, readable entry.
    pub selected: usize,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsAction {
    Select(usize),
    /// Load the selected dataset.
    Open,
    /// Cancel the load.
    Close,
}

impl PartsDialog {
    /// A dialog for a load that continues with `then`; the first table is selected. `None` if nothing is
    /// readable.
    pub fn new(path: PathBuf, parts: Vec<Entry>, then: Then) -> Option<Self> {
        let first =
            |table: bool| parts.iter().position(|part| part.unread.is_none() && (part.table || !table));
        let selected = first(true).or_else(|| first(false))?;
        Some(Self { path, parts, selected, then })
    }

    /// Whether the load is for queries rather than data.
    pub fn is_of_queries(&self) -> bool {
        matches!(self.then, Then::RunQueries(_))
    }
}
