//! Recordings: runs in a file, so that a run on a server can be opened on a laptop.
//!
//! A `.warpscope` is a zip of `recording.json` and NumPy arrays; `docs/recording.md` describes it.
//! [`write()`] writes to any writer; `export::recording` writes a file atomically. [`read()`] does not trust
//! its input.

mod clouds;
mod manifest;
mod npy;
mod read;
mod write;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LoadedRun, SchemaVersion};
use crate::cloud::{Fingerprint, PointCloud};
pub use clouds::is_below;
pub use npy::head as npy_head;
pub use read::{CloudLoadMode, read};
pub use write::{CloudStorage, Extras, WindowState, write, write_with};

#[cfg(test)]
mod tests;

/// The extension of recordings.
pub const EXTENSION: &str = "warpscope";

/// The version of `recording.json`. It increases when a program that knows only the previous one would
/// misread the file. Programs ignore additions they do not know.
pub const SCHEMA_VERSION: u32 = SchemaVersion::Second.number();

/// The member with the state of the window, which only the window interprets.
pub const SESSION: &str = "session.json";

/// A run of a recording.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The display name. Names in a recording are made unique when it is written and read.
    pub name: String,
    /// Whether it is kept when the list of runs gets long.
    pub pinned: bool,
    pub run: LoadedRun,
}

/// The content of a recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The version of the program that wrote it.
    pub written_by: String,
    /// Whether it contains the points of all clouds.
    pub points: bool,
    /// Its runs, in file order.
    pub runs: Vec<RecordedRun>,
    /// The indices of two runs that were compared, A and B.
    pub compared: Option<[usize; 2]>,
    /// The content of [`SESSION`] as written by a window, or why it cannot be read.
    pub session: Option<Result<Vec<u8>, String>>,
    /// The cloud that the window showed, if included or found again.
    pub cloud: Option<Arc<PointCloud>>,
    /// Fingerprints of clouds that were read from their sources, as their points are not included.
    pub sources: Vec<Fingerprint>,
}

/// Why a recording cannot be read. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// An error of the operating system.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// The error as reported by the system.
        why: io::Error,
        path: PathBuf,
    },
    /// The file is not a recording.
    #[error("not a recording: {why}: {}", path.display())]
    Foreign {
        /// Why it is not.
        why: String,
        path: PathBuf,
    },
    /// It was written by a later version of the program.
    #[error(
        "a newer recording: its schema is version {version}, but this program reads up to {SCHEMA_VERSION}; \
         open it with Warpscope {written_by} or later: {}",
        path.display()
    )]
    Newer {
        /// Schema version of the file, above [`SCHEMA_VERSION`].
        version: u64,
        /// Version of the program that wrote it.
        written_by: String,
        path: PathBuf,
    },
    /// The recording is damaged.
    #[error("damaged: {what}: {why}: {}", path.display())]
    Damaged {
        /// The damaged part: the archive, a member such as `recording.json`, or a cloud or run by number.
        what: String,
        /// What is wrong with it.
        why: String,
        path: PathBuf,
    },
    /// The selected run does not exist, or the selection is ambiguous.
    #[error("{what}: {there}: {}", path.display())]
    NoRun {
        /// What is wrong with the selection.
        what: String,
        /// The available runs, as a list for the message.
        there: String,
        path: PathBuf,
    },
    /// It does not fit in memory.
    #[error("too large: not enough memory for {what}: {}", path.display())]
    Memory {
        /// The member that does not fit.
        what: String,
        path: PathBuf,
    },
    #[error("cancelled")]
    Cancelled,
}

/// Whether a path has the extension of a recording.
pub fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// Splits `FILE.warpscope#name` or `FILE.warpscope#2` into the file and its run; numbers start at 1.
pub fn split_run(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if is_recording(path) {
        return Some((path.to_owned(), None));
    }
    let text = path.to_str()?;
    let mark = format!(".{EXTENSION}#");
    // ASCII lowercasing preserves byte positions.
    let at = text.to_ascii_lowercase().find(&mark)?;
    let end = at + mark.len();
    Some((PathBuf::from(&text[..end - 1]), Some(text[end..].to_owned())))
}

impl Recording {
    /// The run with a name or, if no run has that name, with that number from 1; without a selection, the
    /// only run.
    ///
    /// # Errors
    /// [`RecordingError::NoRun`], listing the available runs.
    pub fn pick(&self, asked: Option<&str>, path: &Path) -> Result<&RecordedRun, RecordingError> {
        let no_run = |what: String, why: &str| {
            const LISTED: usize = 8;
            let names: Vec<String> = self
                .runs
                .iter()
                .take(LISTED)
                .enumerate()
                .map(|(at, run)| format!("#{} {}", at + 1, run.name))
                .collect();
            let more = if self.runs.len() > LISTED {
                format!("; … {} in all", self.runs.len())
            } else {
                String::new()
            };
            Err(RecordingError::NoRun {
                what,
                there: format!("{why} {}{more}", names.join("; ")),
                path: path.to_owned(),
            })
        };
        match (asked, &self.runs[..]) {
            (None, [only]) => Ok(only),
            (None, []) => no_run("no run".to_owned(), "the recording is empty"),
            (None, _) => no_run(
                "several runs".to_owned(),
                &format!(
                    "select one with {}#NUMBER:",
                    path.file_name().unwrap_or_default().to_string_lossy()
                ),
            ),
            (Some(asked), runs) => {
                let numbered =
                    || asked.parse::<usize>().ok().and_then(|number| runs.get(number.checked_sub(1)?));
                runs.iter()
                    .find(|run| run.name == asked)
                    .or_else(numbered)
                    .map_or_else(|| no_run(format!("no run `{asked}`"), "available:"), Ok)
            }
        }
    }
}

/// The name itself or, if taken, the first free one of `name (2)`, `name (3)`, ….
pub fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    free_from(name, &mut 2, taken)
}

/// Makes names unique; the first of equal names is unchanged.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (mut unique, mut seen, mut next) = (Vec::new(), HashSet::new(), HashMap::new());
    for name in names {
        // Continues from the name's last number, as a hostile file may have very many equal names.
        let name = free_from(name, next.entry(name).or_insert(2), |name| seen.contains(name));
        seen.insert(name.clone());
        unique.push(name);
    }
    unique
}

fn free_from(name: &str, next: &mut u64, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    loop {
        let numbered = format!("{name} ({next})");
        *next += 1;
        if !taken(&numbered) {
            return numbered;
        }
    }
}

#[cfg(test)]
mod tests_of_names {
    use super::*;

    #[test]
    fn duplicate_names_are_numbered() {
        assert_eq!(
            unique(["a", "b", "a", "a (2)", "a", "a (2)"]),
            ["a", "b", "a (2)", "a (2) (2)", "a (3)", "a (2) (3)"]
        );
        let once = unique(["a", "a", "a (2)"]);
        assert_eq!(unique(once.iter().map(String::as_str)), once, "unique names are unchanged");
        assert_eq!(unique(vec!["a"; 100_000]).last().unwrap(), "a (100000)");
        assert_eq!(free_name("a", |name| ["a", "a (2)"].contains(&name)), "a (3)");
    }
}
