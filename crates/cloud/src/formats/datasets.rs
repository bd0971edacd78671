//! Files with several clouds: naming them and selecting one.
//!
//! `FILE:NAME` selects one, in every format that can have several, and `FILE:skip-lines=COUNT` reads a text
//! without its first lines. The path of an existing file is never split, so that names with colons open
//! unchanged.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{FormatError, Input, Result, join_first, printable};
use crate::roles::{has_word, is_in, lower_words};

/// Usual names of point arrays, in order of preference; `train` is the data of ann-benchmarks.
const PREFERRED: [&str; 10] =
    ["points", "x", "data", "vectors", "embeddings", "features", "coordinates", "xyz", "arr_0", "train"];

/// Words in the names of arrays that accompany vectors.
const COMPANIONS: &str = "label labels id ids pid index indices idx token tokens mask masks box boxes bbox \
                          bboxes seg segmentation score scores neighbor neighbors neighbour neighbours \
                          distance distances";
/// Words at the end of vector names, such as `token_embeddings`.
const VECTORS: &str = "embedding embeddings vector vectors feature features point points coordinates";

/// One of the clouds in a file: an array in an archive, a data set, a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// The name after the colon of `FILE:NAME`.
    pub name: String,
    /// Number of data records.
    pub rows: u64,
    /// Number of values per record.
    pub columns: u64,
    /// Whether it is a table. A one-dimensional list is rarely the cloud if the file has tables.
    pub table: bool,
    /// The element type, for display.
    pub about: String,
    /// Why it cannot be read, if so.
    pub unread: Option<String>,
}

impl DatasetInfo {
    /// A readable dataset.
    pub(super) fn new(name: String, rows: u64, columns: u64, table: bool, about: impl Into<String>) -> Self {
        Self { name, rows, columns, table, about: about.into(), unread: None }
    }

    /// An unreadable dataset.
    pub(super) fn unread(name: String, why: String) -> Self {
        Self { unread: Some(why), ..Self::new(name, 0, 0, false, "") }
    }

    /// Rows and columns for display: `1,000 × 3` without the grouping, `7` for a list.
    pub fn size(&self) -> String {
        match (&self.unread, self.table) {
            (Some(_), _) => "not read".to_owned(),
            (None, true) => format!("{} × {}", self.rows, self.columns),
            (None, false) => self.rows.to_string(),
        }
    }
}

/// The datasets by name and size, truncated if there are many.
pub(super) fn list(datasets: &[DatasetInfo]) -> String {
    join_first(datasets.len(), |at| format!("`{}` ({})", printable(&datasets[at].name), datasets[at].size()))
}

/// The index of the dataset that a path names, or of the obvious one: the only table, the table with a usual
/// name, or the only list if there is no table.
///
/// # Errors
/// [`FormatError::Ambiguous`] if the choice is ambiguous, no dataset has the name, or there are no datasets.
pub(super) fn choose(datasets: &[DatasetInfo], input: &Input<'_>) -> Result<usize> {
    if let Some(name) = input.dataset() {
        let plain = |name: &str| name.trim_matches('/').to_owned();
        let found = datasets
            .iter()
            .position(|dataset| dataset.name == name)
            .or_else(|| datasets.iter().position(|dataset| plain(&dataset.name) == plain(name)));
        let none =
            || input.malformed(format!("part `{name}`"), format!("not found; available: {}", list(datasets)));
        return found.ok_or_else(none);
    }
    for table in [true, false] {
        let several: Vec<usize> = (0..datasets.len())
            .filter(|&at| datasets[at].unread.is_none() && datasets[at].table == table)
            .collect();
        // One of several lists is unlikely to be the cloud, even with a usual name.
        let named = || {
            PREFERRED.iter().find_map(|name| {
                several.iter().copied().find(|&at| datasets[at].name.eq_ignore_ascii_case(name))
            })
        };
        match several[..] {
            [] => {}
            [only] => return Ok(only),
            _ => {
                let open =
                    || FormatError::Ambiguous { datasets: datasets.to_vec(), path: input.path.clone() };
                return named().filter(|_| table).ok_or_else(open);
            }
        }
    }
    Err(match datasets {
        [] => input.malformed("no arrays", "the file has none"),
        // With a single dataset, the reader's own error is more specific.
        [_] => return Ok(0),
        _ => input.malformed(
            "no arrays",
            format!("none has numbers in rows and columns; available: {}", list(datasets)),
        ),
    })
}

/// Rejects a name for a file with a single cloud; `what` is the kind of file.
pub(super) fn check_single(what: &str, input: &Input<'_>) -> Result<()> {
    let refused = |name: &str| {
        Err(input.malformed(format!("part `{name}`"), format!("{what} holds one cloud; leave the name out")))
    };
    input.dataset().map_or(Ok(()), refused)
}

/// The state of an array before it is read, from harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DatasetState {
    Whole,
    /// One value, such as a version.
    Scalar,
    /// Valid, but text.
    Text,
    /// Valid, but with an unsupported shape, type or compression.
    Unread,
    Damaged,
}

/// Like [`choose`], for arrays, which differ by name, type and shape. A damaged array, or an unreadable one
/// that may be the intended one, is rejected by `kind` and name; no other array is read in its place.
///
/// # Errors
/// [`FormatError::Malformed`] for a damaged array, [`FormatError::Unsupported`] for one that is not read; and
/// those of [`choose`].
pub(super) fn choose_array(
    kind: &str,
    datasets: &[DatasetInfo],
    states: &[DatasetState],
    input: &Input<'_>,
) -> Result<usize> {
    let what = |at: usize| format!("{kind} `{}`", printable(&datasets[at].name));
    let why = |at: usize| datasets[at].unread.as_deref().unwrap_or_default();
    if input.dataset().is_some() {
        let at = choose(datasets, input)?;
        return if states[at] == DatasetState::Damaged {
            Err(input.malformed(what(at), why(at)))
        } else {
            Ok(at)
        };
    }
    if let Some(at) = states.iter().position(|&state| state == DatasetState::Damaged) {
        let others = if datasets.len() > 1 { "; choose another with FILE:NAME" } else { "" };
        return Err(input.malformed(what(at), format!("{}{others}", why(at))));
    }
    let plain = |at: usize| datasets[at].name.rsplit('/').next().unwrap_or_default();
    let has = |name: &str| (0..datasets.len()).any(|at| plain(at) == name);
    let sparse = || {
        Err(input.unsupported(
            "a sparse matrix",
            "save it dense, for instance with numpy.save(FILE, matrix.toarray())",
        ))
    };
    // SciPy's layout.
    if has("format") && has("shape") && has("data") {
        return sparse();
    }
    let arrays: Vec<usize> = (0..datasets.len()).filter(|&at| states[at] != DatasetState::Scalar).collect();
    if let [only] = arrays[..] {
        return Ok(only);
    }
    let usual = |at: usize| PREFERRED.iter().position(|name| datasets[at].name.eq_ignore_ascii_case(name));
    let is_real = |at: usize| !datasets[at].about.starts_with(['i', 'u', 'b']);
    let is_vectors = |at: usize| {
        let words = lower_words(plain(at));
        words.last().is_some_and(|last| is_in(last, VECTORS)) || !has_word(&words, COMPANIONS)
    };
    let whole = |table: bool| {
        let is_whole = move |&at: &usize| states[at] == DatasetState::Whole && datasets[at].table == table;
        arrays.iter().copied().filter(is_whole)
    };
    let vectors = || whole(true).filter(|&at| datasets[at].columns > 1 && is_vectors(at));
    let only = |found: &mut dyn Iterator<Item = usize>| found.next().filter(|_| found.next().is_none());
    let any_real = whole(true).any(is_real);
    let by_type = || only(&mut vectors().filter(|&at| is_real(at) || !any_real));
    let lone = || if whole(true).next().is_none() { only(&mut whole(false)) } else { None };
    let chosen = vectors()
        .filter(|&at| usual(at).is_some())
        .min_by_key(|&at| usual(at))
        .or_else(by_type)
        .or_else(lone);
    if chosen.is_none() && has("indptr") {
        return sparse();
    }
    // An unreadable array may be the intended one, unless the chosen one fits as well.
    let may_be_meant = |at: usize| match chosen {
        Some(chosen) if usual(chosen).is_some() && datasets[chosen].table => false,
        Some(chosen) if is_real(chosen) && is_vectors(chosen) => {
            states[at] == DatasetState::Unread && (usual(at).is_some() || !datasets[chosen].table)
        }
        Some(chosen) if !datasets[chosen].table => true,
        None if vectors().next().is_some() => false,
        _ => usual(at).is_some() || states[at] == DatasetState::Unread,
    };
    let unread =
        arrays.iter().copied().filter(|&at| states[at] > DatasetState::Scalar).find(|&at| may_be_meant(at));
    match (chosen, unread) {
        (_, Some(at)) => Err(input.unsupported(
            what(at),
            format!("{}; choose another with FILE:NAME; available: {}", why(at), list(datasets)),
        )),
        (Some(at), None) => Ok(at),
        (None, None) if arrays.iter().any(|&at| states[at] == DatasetState::Whole) => {
            Err(FormatError::Ambiguous { datasets: datasets.to_vec(), path: input.path.clone() })
        }
        (None, None) => choose(datasets, input),
    }
}

/// Prefix of a name that skips the first lines of a text, before their number.
const WITHOUT_LINES: &str = "skip-lines=";

/// Builds `FILE:skip-lines=COUNT`, which reads a text without its first lines.
pub fn path_without_lines(path: &Path, count: u64) -> PathBuf {
    path_of(path, &format!("{WITHOUT_LINES}{count}"))
}

/// The number of lines that a name says to skip.
pub(super) fn lines_before(name: &str) -> Option<u64> {
    name.strip_prefix(WITHOUT_LINES)?.parse().ok()
}

/// Splits `FILE:NAME` into the file and the name.
pub(super) fn split(path: &Path) -> (PathBuf, Option<String>) {
    if let Some(text) = path.to_str()
        && text.contains(':')
        && !path.exists()
    {
        let is_file = |file: &str| Path::new(file).is_file();
        if let Some((at, _)) =
            text.match_indices(':').find(|&(at, _)| is_file(&text[..at]) && at + 1 < text.len())
        {
            return (PathBuf::from(&text[..at]), Some(text[at + 1..].to_owned()));
        }
    }
    (path.to_owned(), None)
}

/// The file of a path that may be `FILE` or `FILE:NAME`.
pub fn file_of(path: &Path) -> PathBuf {
    split(path).0
}

/// Builds `FILE:NAME`, replacing any name already in the path.
pub fn path_of(path: &Path, name: &str) -> PathBuf {
    let mut text = file_of(path).into_os_string();
    text.push(":");
    text.push(name);
    text.into()
}
