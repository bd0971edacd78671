//! A saved session: what the window shows of a cloud and its runs. In a file it is `session.json` of a recording, which holds
//! the runs themselves (`docs/recording.md`); the last one is also stored with the settings, so that the window reopens where
//! it was closed.
//!
//! | part | does |
//! |---|---|
//! | [`SavedSession`] | the cloud, the query, the selection, which runs are shown and compared |
//! | [`view`] | fields, axes, cameras, colours, layout, validated against the cloud |
//! | [`layout`] | the tiles of the centre |
//! | [`ranges`] | ascending numbers as ranges |

pub mod layout;
pub mod ranges;
pub mod view;

use serde::{Deserialize, Serialize};

use crate::app::features::saved::state::ranges::Ranges;
use crate::app::features::saved::state::view::SavedView;
use crate::app::model::files::FileState;
use crate::cloud::{Fingerprint, Source};

/// The version of `session.json`. It is raised when a program that knows only the previous one would misread the file; fields
/// that are merely added are ignored by older programs.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSession {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// When it was written, in seconds since 1970 UTC.
    pub saved_unix: u64,
    /// Whether the recording should hold the points of its clouds.
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
    /// The selection, which is separate from the query.
    #[serde(default)]
    pub selection: Option<SavedSelection>,
    /// Selections that were given a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SavedSet>,
    #[serde(default)]
    pub view: SavedView,
}

/// A cloud, identified by its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCloud {
    /// A file with its columns, or a generator's spec.
    pub source: Source,
    /// Whether rows with NaN or ±∞ were dropped.
    pub drop_nonfinite: bool,
    /// Hash of the points, to tell whether the source still has the same content.
    pub fingerprint: Fingerprint,
    /// Size and modification time of the file when it was read; `None` where unknown.
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
    /// Any position, in the units of the data's file.
    #[serde(rename = "place")]
    Coordinates(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSelection {
    /// Rows of the cloud.
    pub rows: Ranges,
    /// Queries of the shown run.
    pub queries: Ranges,
    /// How they were chosen: "rectangle in Plane".
    pub by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSet {
    pub name: String,
    /// Rows of the cloud.
    pub rows: Ranges,
}

impl SavedSession {
    /// Parses the text of a `session.json`.
    ///
    /// # Errors
    /// Why it cannot be parsed, as the end of a sentence.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u64,
        }
        let head: Head = serde_json::from_slice(text).map_err(|why| why.to_string())?;
        if head.schema_version > u64::from(SCHEMA_VERSION) {
            return Err(format!(
                "a later version of Warpscope wrote it (schema {}, and {SCHEMA_VERSION} is the last that is read here); open it with that one",
                head.schema_version
            ));
        }
        serde_json::from_slice(text).map_err(|why| why.to_string())
    }

    /// The text of its `session.json`.
    ///
    /// # Errors
    /// Never in practice: all of it is plain data.
    pub fn text(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec_pretty(self).map_err(|why| why.to_string())
    }
}
