//! Files with several clouds: what they are called, and which one is read.
//!
//! `FILE:NAME` names one, in every format that has some. Nothing is split off a path under which there is a file, so
//! that names with colons open as they are.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FormatError;
use super::input::{Input, printable};

/// What people call their points, in order of preference; `train` is what ann-benchmarks searches.
const PREFERRED: [&str; 10] = ["points", "x", "data", "vectors", "embeddings", "features", "coordinates", "xyz", "arr_0", "train"];

/// One of the clouds of a file: an array of an archive, a data set, a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Stands behind the colon of `FILE:NAME`.
    pub name: String,
    /// Data records.
    pub rows: u64,
    /// Values of a record.
    pub columns: u64,
    /// Whether it is a table; one that is not is a list of numbers, which is hardly meant where there are tables.
    pub table: bool,
    /// What it is, in a few words: the element type.
    pub about: String,
    /// Why it is not read, where it is not.
    pub unread: Option<String>,
}

impl Part {
    /// Rows and columns for people: `1,000 × 3` without the grouping, `7` for a list.
    pub fn size(&self) -> String {
        match (&self.unread, self.table) {
            (Some(_), _) => "not read".to_owned(),
            (None, true) => format!("{} × {}", self.rows, self.columns),
            (None, false) => self.rows.to_string(),
        }
    }
}

/// The parts by name and size, cut where it gets long.
pub(super) fn list(parts: &[Part]) -> String {
    super::sheet::cut(parts.len(), |at| format!("`{}` ({})", printable(&parts[at].name), parts[at].size()))
}

/// The part that a path names, or the one that is clearly meant: the only table, one among tables with a name that people
/// give their points, the only list where there is no table.
///
/// # Errors
/// [`FormatError::Parts`] when it is open which is meant, and when there is none of the name or none at all.
pub(super) fn choose(parts: &[Part], input: &Input<'_>) -> Result<usize, FormatError> {
    if let Some(name) = input.part() {
        let plain = |name: &str| name.trim_matches('/').to_owned();
        let found = parts.iter().position(|part| part.name == name).or_else(|| parts.iter().position(|part| plain(&part.name) == plain(name)));
        let none = || input.malformed(format!("part `{name}`"), format!("there is none; there are {}", list(parts)));
        return found.ok_or_else(none);
    }
    for table in [true, false] {
        let several: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].unread.is_none() && parts[at].table == table).collect();
        // One of several lists of numbers is hardly the cloud, whatever its name.
        let named = || PREFERRED.iter().find_map(|name| several.iter().copied().find(|&at| parts[at].name.eq_ignore_ascii_case(name)));
        match several[..] {
            [] => {}
            [only] => return Ok(only),
            _ => {
                let open = || FormatError::Parts { parts: parts.to_vec(), path: input.path().to_owned() };
                return named().filter(|_| table).ok_or_else(open);
            }
        }
    }
    Err(match parts {
        [] => input.malformed("no arrays", "there are none in the file"),
        // With one part, its own error says more.
        [_] => return Ok(0),
        _ => input.malformed("no arrays", format!("none holds numbers in rows and columns; there are {}", list(parts))),
    })
}

/// The file of `FILE:NAME`, and the name.
pub(super) fn split(path: &Path) -> (PathBuf, Option<String>) {
    if let Some(text) = path.to_str()
        && text.contains(':')
        && !path.exists()
    {
        let is_file = |file: &str| Path::new(file).is_file();
        if let Some((at, _)) = text.match_indices(':').find(|&(at, _)| is_file(&text[..at]) && at + 1 < text.len()) {
            return (PathBuf::from(&text[..at]), Some(text[at + 1..].to_owned()));
        }
    }
    (path.to_owned(), None)
}

/// The file that a path means, be it `FILE` or `FILE:NAME`.
pub fn file_of(path: &Path) -> PathBuf {
    split(path).0
}

/// `FILE:NAME`, whatever part the path names already.
pub fn path_of(path: &Path, name: &str) -> PathBuf {
    let mut text = file_of(path).into_os_string();
    text.push(":");
    text.push(name);
    text.into()
}
