//! A file with several clouds: which one is meant.

use std::path::PathBuf;

use crate::app::model::after_load::Then;
use crate::cloud::formats::Entry;

/// The question, while it is open.
#[derive(Clone, Debug)]
pub struct PartsDialog {
    pub path: PathBuf,
    /// Its clouds, and what is none.
    pub parts: Vec<Entry>,
    /// The one that is selected, which is read.
    pub selected: usize,
    pub then: Then,
}

/// What the dialog asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsAction {
    Select(usize),
    /// The selected one is to be loaded.
    Open,
    /// None is to be loaded.
    Close,
}

impl PartsDialog {
    /// Asks about a load that was to end in `then`; the first table is selected. None where nothing can be
    /// read.
    pub fn new(path: PathBuf, parts: Vec<Entry>, then: Then) -> Option<Self> {
        let first =
            |table: bool| parts.iter().position(|part| part.unread.is_none() && (part.table || !table));
        let selected = first(true).or_else(|| first(false))?;
        Some(Self { path, parts, selected, then })
    }

    /// Whether the queries are asked for, and not the data.
    pub fn is_of_queries(&self) -> bool {
        matches!(self.then, Then::RunQueries(_))
    }
}
