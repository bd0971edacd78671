//! A session that is put down, to be picked up again: what the window shows of a cloud and its runs. In a file it is
//! `session.json` of a recording, which holds the runs themselves (`docs/recording.md`); between two starts it is what the
//! window goes on with.
//!
//! | part | does |
//! |---|---|
//! | [`SavedSession`] | the cloud, the query, the selection, which runs are shown and compared |
//! | `view` | fields, axes, cameras, colours, layout, held against the cloud |
//! | `layout` | the tiles of the centre |
//! | `ranges` | ascending numbers |
//! | `check` | whether a cloud's file is still what it was |
//! | `save`, `resume` | the two places that put a session down and pick it up |

mod check;
mod layout;
mod ranges;
mod resume;
mod save;
mod view;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use check::Checking;
pub use layout::Layout;
pub use ranges::Ranges;
pub use resume::absolute;
use serde::{Deserialize, Serialize};
pub use view::SavedView;

use super::session::{Picked, Session};
use super::state::State;
use crate::cloud::formats::file_of;
use crate::cloud::{Fingerprint, Source};

/// The version of `session.json`. It goes up when a program that knows only the one before would misread it; what is only
/// added is left out by programs that do not know it.
pub const SCHEMA_VERSION: u32 = 1;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSession {
    /// [`SCHEMA_VERSION`] when it was written.
    pub schema_version: u32,
    /// When it was written, seconds since 1970 UTC.
    pub saved_unix: u64,
    /// Whether the recording was to hold the points of its clouds.
    pub points: bool,
    /// The cloud that is shown.
    pub cloud: Option<SavedCloud>,
    /// The name of the run that is shown.
    pub shown: Option<String>,
    /// The names of the runs that are compared, A and B.
    #[serde(default)]
    pub compared: [Option<String>; 2],
    /// The query.
    #[serde(default)]
    pub query: Option<SavedQuery>,
    /// The neighbour that is selected in the table.
    #[serde(default)]
    pub rank: Option<usize>,
    /// What is selected beside the query.
    #[serde(default)]
    pub selection: Option<SavedSelection>,
    /// How it looks.
    #[serde(default)]
    pub view: SavedView,
}

/// A cloud, by where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCloud {
    /// Where from.
    pub source: Source,
    /// Whether rows with NaN or ±∞ were left out.
    pub drop_nonfinite: bool,
    /// Its content, by name.
    pub fingerprint: Fingerprint,
    /// What its file was as it was read, where that is known.
    #[serde(default)]
    pub file: Option<FileState>,
}

/// What the system says of a file: while it says the same, the file is not read again to see whether it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its length.
    pub bytes: u64,
    /// When it was written last, since 1970 UTC.
    pub modified: Duration,
}

impl FileState {
    /// Of a source's file; `None` for what is no file, and where the system does not say.
    pub fn of(source: &Source) -> Option<Self> {
        let Source::File { path, .. } = source else { return None };
        let meta = file_of(path).metadata().ok()?;
        Some(Self { bytes: meta.len(), modified: meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()? })
    }

    /// Whether it was written last before then, for sure: some systems note times in steps of two seconds.
    fn is_before(self, then: SystemTime) -> bool {
        const STEP: Duration = Duration::from_secs(2);
        then.duration_since(UNIX_EPOCH).is_ok_and(|then| self.modified + STEP < then)
    }
}

/// The query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedQuery {
    /// A row of the cloud.
    Row(u32),
    /// A query of the shown run, where queries are a file of their own.
    Query(usize),
    /// Any place, in the units of the data's file.
    Place(Vec<f64>),
}

/// A selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSelection {
    /// Rows of the cloud.
    pub rows: Ranges,
    /// Queries of the shown run.
    pub queries: Ranges,
    /// How they were chosen.
    pub by: String,
}

/// The file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether points go into it.
    pub points: bool,
}

impl SavedSession {
    /// What a window shows.
    pub fn of(state: &State, session: &Session) -> Self {
        let saved_unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let cloud = session.cloud.as_ref().map(|cloud| SavedCloud {
            source: cloud.source().clone(),
            drop_nonfinite: cloud.dropped() > 0,
            fingerprint: cloud.fingerprint().clone(),
            file: session.loaded_file.as_ref().filter(|(of, _)| of == cloud.fingerprint()).map(|(_, file)| *file),
        });
        let query = match (session.picked, session.picked_point()) {
            (Some(Picked::Row(row)), _) => Some(SavedQuery::Row(row)),
            (Some(Picked::Query(query)), _) => Some(SavedQuery::Query(query)),
            (Some(Picked::Place), Some((place, row))) => Some(SavedQuery::Place((0..place.dims()).map(|axis| place.coordinate(row, axis)).collect())),
            (Some(Picked::Place) | None, _) => None,
        };
        let numbers = |numbers: &[u32]| Ranges::of(numbers.iter().map(|&number| number.into()));
        let selection = &session.selection;
        let selection = (!selection.is_empty()).then(|| SavedSelection {
            rows: numbers(selection.rows()),
            queries: numbers(selection.queries()),
            by: selection.by().to_owned(),
        });
        let runs = &session.runs;
        let name = |id| runs.get(id).map(|kept| kept.name.clone());
        Self {
            schema_version: SCHEMA_VERSION,
            saved_unix,
            points: session.file.as_ref().is_none_or(|file| file.points),
            cloud,
            shown: session.record.as_ref().and_then(|record| runs.of_record(record)).map(|kept| kept.name.clone()),
            compared: runs.chosen.map(|chosen| chosen.and_then(name)),
            query,
            rank: session.rank,
            selection,
            view: SavedView::of(state, session),
        }
    }

    /// Reads what a file says.
    ///
    /// # Errors
    /// Why it says nothing, as the end of a sentence.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u64,
        }
        let head: Head = serde_json::from_slice(text).map_err(|why| why.to_string())?;
        if head.schema_version > u64::from(SCHEMA_VERSION) {
            return Err(format!(
                "a later version of Warpscope wrote it (schema {}, and {SCHEMA_VERSION} is the last that is read here)",
                head.schema_version
            ));
        }
        serde_json::from_slice(text).map_err(|why| why.to_string())
    }

    /// As a file says it.
    ///
    /// # Errors
    /// Never, as all of it is plain data.
    pub fn text(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec_pretty(self).map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::selection::Selection;
    use crate::app::testing::record;

    fn saved() -> SavedSession {
        let record = record();
        let mut session = Session { cloud: Some(Arc::clone(&record.cloud)), picked: Some(Picked::Row(8)), rank: Some(2), ..Session::default() };
        session.selection = Selection::of_rows(vec![3, 4, 5, 9], Some(&record), "lasso in Plane");
        let id = session.runs.add(None, true, crate::run::SomeRun::Whole(Arc::clone(&record)), None);
        session.runs.chosen = [None, Some(id)];
        session.record = Some(record);
        SavedSession::of(&State::default(), &session)
    }

    #[test]
    fn a_file_that_was_written_while_it_was_read_is_not_known() {
        let at = |secs| UNIX_EPOCH + Duration::from_secs(secs);
        let file = FileState { bytes: 1, modified: Duration::from_secs(100) };
        assert_eq!([99, 100, 102, 103].map(|secs| file.is_before(at(secs))), [false, false, false, true]);
    }

    #[test]
    fn it_reads_back() {
        let saved = saved();
        assert_eq!((saved.query.clone(), saved.rank, saved.shown.is_some()), (Some(SavedQuery::Row(8)), Some(2), true));
        assert_eq!(saved.compared, [None, saved.shown.clone()]);
        assert_eq!(SavedSession::read(&saved.text().expect("plain data")), Ok(saved));
    }

    #[test]
    fn what_is_missing_is_as_at_the_first_start_and_what_is_foreign_says_so() {
        let least = SavedSession::read(br#"{"schema_version": 1, "saved_unix": 0, "points": true, "later": 1}"#).expect("fields may come and go");
        assert_eq!((least.query, least.view), (None, SavedView::default()));
        let why = |text: &str| SavedSession::read(text.as_bytes()).expect_err("no session");
        assert!(why("{").contains("EOF"));
        assert!(why("[]").contains("expected"), "{}", why("[]"));
        assert!(why(r#"{"schema_version": 2}"#).starts_with("a later version of Warpscope wrote it"));
    }
}
