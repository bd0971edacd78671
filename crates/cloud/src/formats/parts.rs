//! Files with several clouds: naming them and selecting one.
//!
//! `FILE:NAME` selects one, in every format that can have several, and `FILE:skip-lines=COUNT` reads a text
//! without its first lines. The path of an existing file is never split, so that names with colons open
//! unchanged.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{FormatError, Input, Result, cut, printable};
use crate::roles::{has_word, is_in, lower_words};

/// Usual names of point arrays, in order of preference; `train` is the data of ann-benchmarks.
const PREFERRED: [&str; 10] =
    ["points", "x", "data", "vectors", "embeddings", "features", "coordinates", "xyz", "arr_0", "train"];

/// Words in the names of arrays that accompany vectors.
const BESIDE: &str = "label labels id ids pid index indices idx token tokens mask masks box boxes bbox \
                      bboxes seg segmentation score scores neighbor neighbors neighbour neighbours distance \
                      distances";
/// Words at the end of vector names, such as `token_embeddings`.
const VECTORS: &str = "embedding embeddings vector vectors feature features point points coordinates";

/// One of the clouds in a file: an array in an archive, a data set, a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
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

impl Entry {
    /// A readable entry.
    pub(super) fn new(name: String, rows: u64, columns: u64, table: bool, about: impl Into<String>) -> Self {
        Self { name, rows, columns, table, about: about.into(), unread: None }
    }

    /// An unreadable entry.
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

/// The parts by name and size, truncated if there are many.
pub(super) fn list(parts: &[Entry]) -> String {
    cut(parts.len(), |at| format!("`{}` ({})", printable(&parts[at].name), parts[at].size()))
}

/// The index of the part that a path names, or of the obvious one: the only table, the table with a usual
/// name, or the only list if there is no table.
///
/// # Errors
/// [`FormatError::Ambiguous`] if the choice is ambiguous, no part has the name, or there are no parts.
pub(super) fn choose(parts: &[Entry], input: &Input<'_>) -> Result<usize> {
    if let Some(name) = input.part() {
        let plain = |name: &str| name.trim_matches('/').to_owned();
        let found = parts
            .iter()
            .position(|part| part.name == name)
            .or_else(|| parts.iter().position(|part| plain(&part.name) == plain(name)));
        let none =
            || input.malformed(format!("part `{name}`"), format!("not found; available: {}", list(parts)));
        return found.ok_or_else(none);
    }
    for table in [true, false] {
        let several: Vec<usize> =
            (0..parts.len()).filter(|&at| parts[at].unread.is_none() && parts[at].table == table).collect();
        // One of several lists is unlikely to be the cloud, even with a usual name.
        let named = || {
            PREFERRED.iter().find_map(|name| {
                several.iter().copied().find(|&at| parts[at].name.eq_ignore_ascii_case(name))
            })
        };
        match several[..] {
            [] => {}
            [only] => return Ok(only),
            _ => {
                let open = || FormatError::Ambiguous { parts: parts.to_vec(), path: input.path.clone() };
                return named().filter(|_| table).ok_or_else(open);
            }
        }
    }
    Err(match parts {
        [] => input.malformed("no arrays", "the file has none"),
        // With a single part, the reader's own error is more specific.
        [_] => return Ok(0),
        _ => input.malformed(
            "no arrays",
            format!("none has numbers in rows and columns; available: {}", list(parts)),
        ),
    })
}

/// Rejects a name for a file with a single cloud; `what` is the kind of file.
pub(super) fn check_single(what: &str, input: &Input<'_>) -> Result<()> {
    let refused = |name: &str| {
        Err(input.malformed(format!("part `{name}`"), format!("{what} holds one cloud; leave the name out")))
    };
    input.part().map_or(Ok(()), refused)
}

/// The state of an array before it is read, from harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
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
    parts: &[Entry],
    states: &[State],
    input: &Input<'_>,
) -> Result<usize> {
    let what = |at: usize| format!("{kind} `{}`", printable(&parts[at].name));
    let why = |at: usize| parts[at].unread.as_deref().unwrap_or_default();
    if input.part().is_some() {
        let at = choose(parts, input)?;
        return if states[at] == State::Damaged { Err(input.malformed(what(at), why(at))) } else { Ok(at) };
    }
    if let Some(at) = states.iter().position(|&state| state == State::Damaged) {
        let others = if parts.len() > 1 { "; choose another with FILE:NAME" } else { "" };
        return Err(input.malformed(what(at), format!("{}{others}", why(at))));
    }
    let plain = |at: usize| parts[at].name.rsplit('/').next().unwrap_or_default();
    let has = |name: &str| (0..parts.len()).any(|at| plain(at) == name);
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
    let arrays: Vec<usize> = (0..parts.len()).filter(|&at| states[at] != State::Scalar).collect();
    if let [only] = arrays[..] {
        return Ok(only);
    }
    let usual = |at: usize| PREFERRED.iter().position(|name| parts[at].name.eq_ignore_ascii_case(name));
    let is_real = |at: usize| !parts[at].about.starts_with(['i', 'u', 'b']);
    let is_vectors = |at: usize| {
        let words = lower_words(plain(at));
        words.last().is_some_and(|last| is_in(last, VECTORS)) || !has_word(&words, BESIDE)
    };
    let whole = |table: bool| {
        arrays.iter().copied().filter(move |&at| states[at] == State::Whole && parts[at].table == table)
    };
    let vectors = || whole(true).filter(|&at| parts[at].columns > 1 && is_vectors(at));
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
        Some(chosen) if usual(chosen).is_some() && parts[chosen].table => false,
        Some(chosen) if is_real(chosen) && is_vectors(chosen) => {
            states[at] == State::Unread && (usual(at).is_some() || !parts[chosen].table)
        }
        Some(chosen) if !parts[chosen].table => true,
        None if vectors().next().is_some() => false,
        _ => usual(at).is_some() || states[at] == State::Unread,
    };
    let unread = arrays.iter().copied().filter(|&at| states[at] > State::Scalar).find(|&at| may_be_meant(at));
    match (chosen, unread) {
        (_, Some(at)) => Err(input.unsupported(
            what(at),
            format!("{}; choose another with FILE:NAME; available: {}", why(at), list(parts)),
        )),
        (Some(at), None) => Ok(at),
        (None, None) if arrays.iter().any(|&at| states[at] == State::Whole) => {
            Err(FormatError::Ambiguous { parts: parts.to_vec(), path: input.path.clone() })
        }
        (None, None) => choose(parts, input),
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
