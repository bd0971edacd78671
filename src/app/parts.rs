//! A file with several clouds: which one is meant.

use std::path::PathBuf;

use super::App;
use super::draft::DataKind;
use super::handles::Then;
use super::log::About;
use crate::cloud::Source;
use crate::cloud::formats::{Part, path_of};
use crate::run::{QuerySpec, RunSpec};

/// The question, while it is open.
#[derive(Clone, Debug)]
pub struct PartsDialog {
    /// The file.
    pub path: PathBuf,
    /// Its clouds, and what is none.
    pub parts: Vec<Part>,
    /// The one that is selected, which is read.
    pub selected: usize,
    then: Then,
}

/// What the dialog asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsAction {
    /// One is selected.
    Select(usize),
    /// The selected one is to be loaded.
    Open,
    /// None is to be loaded.
    Close,
}

impl PartsDialog {
    /// Asks about a load that was to end in `then`; the first table is selected. None where nothing can be read.
    pub fn new(path: PathBuf, parts: Vec<Part>, then: Then) -> Option<Self> {
        let first = |table: bool| parts.iter().position(|part| part.unread.is_none() && (part.table || !table));
        let selected = first(true).or_else(|| first(false))?;
        Some(Self { path, parts, selected, then })
    }

    /// Whether the queries are asked for, and not the data.
    pub fn is_of_queries(&self) -> bool {
        matches!(self.then, Then::RunQueries(_))
    }
}

impl App {
    /// Carries out what the dialog asks for.
    pub(super) fn parts_action(&mut self, action: PartsAction) {
        match action {
            PartsAction::Select(part) => {
                if let Some(dialog) = &mut self.session.parts
                    && dialog.parts.get(part).is_some_and(|part| part.unread.is_none())
                {
                    dialog.selected = part;
                }
            }
            PartsAction::Open => {
                if let Some(dialog) = self.session.parts.take() {
                    self.open_part(dialog);
                }
            }
            PartsAction::Close => {
                self.session.parts = None;
                self.session.log.info("no cloud of the file was chosen");
            }
        }
    }

    /// Goes on with the load, whose path now names the part; so does the field that it came from.
    fn open_part(&mut self, dialog: PartsDialog) {
        let path = path_of(&dialog.path, &dialog.parts[dialog.selected].name);
        let draft = &mut self.state.draft;
        match dialog.then {
            Then::Show | Then::Resume(_) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                match draft.source() {
                    Ok(source) => self.load(source, Then::Show),
                    Err(error) => self.session.log.error(About::Data, error.sentence),
                }
            }
            Then::Run(spec) => {
                (draft.data, draft.path) = (DataKind::File, path.display().to_string());
                let Source::File { columns, .. } = spec.data else { return };
                let data = Source::File { path, columns };
                self.load(data.clone(), Then::Run(RunSpec { data, ..spec }));
            }
            Then::RunQueries(spec) => {
                draft.query_path = path.display().to_string();
                let (QuerySpec::File { columns, .. }, Some(cloud)) = (&spec.queries, self.session.cloud.clone()) else { return };
                let queries = QuerySpec::File { path, columns: columns.clone() };
                self.run_on(&cloud, RunSpec { queries, ..spec });
            }
        }
    }
}
