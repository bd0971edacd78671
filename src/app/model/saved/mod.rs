//! A session that is put down, to be picked up again: what the window shows of a cloud and its runs. In a file it is
//! `session.json` of a recording, which holds the runs themselves (`docs/recording.md`); between two starts it is what the
//! window goes on with.
//!
//! | part | does |
//! |---|---|
//! | [`SavedSession`] | the cloud, the query, the selection, which runs are shown and compared |
//! | [`view`] | fields, axes, cameras, colours, layout, held against the cloud |
//! | [`layout`] | the tiles of the centre |
//! | [`ranges`] | ascending numbers |

pub mod layout;
pub mod ranges;
pub mod view;

use serde::{Deserialize, Serialize};

use crate::app::model::files::FileState;
use crate::app::model::saved::ranges::Ranges;
use crate::app::model::saved::view::SavedView;
use crate::cloud::{Fingerprint, Source};

/// The version of `session.json`. It goes up when a program that knows only the one before would misread it; what is only
/// added is left out by programs that do not know it.
pub const SCHEMA_VERSION: u32 = 1;

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
    #[serde(default)]
    pub query: Option<SavedQuery>,
    /// The neighbour that is selected in the table.
    #[serde(default)]
    pub rank: Option<usize>,
    /// What is selected beside the query.
    #[serde(default)]
    pub selection: Option<SavedSelection>,
    #[serde(default)]
    pub view: SavedView,
}

/// A cloud, by where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCloud {
    /// A file with its columns, or a generator's spec.
    pub source: Source,
    /// Whether rows with NaN or ±∞ were left out.
    pub drop_nonfinite: bool,
    /// Its content, by name.
    pub fingerprint: Fingerprint,
    /// What its file was as it was read, where that is known.
    #[serde(default)]
    pub file: Option<FileState>,
}

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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSelection {
    /// Rows of the cloud.
    pub rows: Ranges,
    /// Queries of the shown run.
    pub queries: Ranges,
    /// How they were chosen.
    pub by: String,
}

impl SavedSession {
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
