//! Recordings: runs in a file, so that what ran on a server opens on a laptop.
//!
//! A `.warpscope` is a zip of `recording.json` and NumPy arrays; `docs/recording.md` describes it.
//! [`write()`] writes onto anything; `export::recording` puts it into a file that is whole or not there.
//! [`read()`] trusts nothing that it reads.

mod clouds;
mod manifest;
mod npy;
mod read;
mod write;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::SomeRun;
use crate::cloud::{Fingerprint, PointCloud};
pub use clouds::is_below;
pub use npy::head as npy_head;
pub use read::{Points, read};
pub use write::{Beside, Keep, Shown, write, write_with};

#[cfg(test)]
mod tests;

/// What a recording's name ends in.
pub const EXTENSION: &str = "warpscope";

/// The version of `recording.json`. It goes up when a program that knows only the one before would misread
/// the file; what is only added is left out by programs that do not know it.
pub const SCHEMA_VERSION: u32 = 1;

/// The member that holds what a window showed; only the window knows what it says.
pub const SESSION: &str = "session.json";

/// A run of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What people call it. In a recording no other run is called so: names are made unique as it is written
    /// and read.
    pub name: String,
    /// Whether it is kept when the list of runs gets long.
    pub pinned: bool,
    pub run: SomeRun,
}

/// What a recording holds.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The version of the program that wrote it.
    pub written_by: String,
    /// Whether it holds the points of all that was searched.
    pub points: bool,
    /// Its runs, in the order in which they were written.
    pub runs: Vec<Recorded>,
    /// The places of two runs that were compared as they were recorded, A and B.
    pub compared: Option<[usize; 2]>,
    /// What a window wrote beside them into [`SESSION`], as it stands there, or why it cannot be read.
    pub session: Option<Result<Vec<u8>, String>>,
    /// The cloud that the window showed, where it is there or was found again.
    pub cloud: Option<Arc<PointCloud>>,
    /// Clouds that were read from where they come from, as it does not hold their points, by their names.
    pub sources: Vec<Fingerprint>,
}

/// Why a recording is not read. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The operating system's word.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// What the system says.
        why: io::Error,
        path: PathBuf,
    },
    /// It is something else.
    #[error("not a recording: {why}: {}", path.display())]
    Foreign {
        /// What it is not.
        why: String,
        path: PathBuf,
    },
    /// A later program wrote it.
    #[error(
        "a newer recording: its schema is version {version}, and {SCHEMA_VERSION} is the last that is read \
         here; open it with Warpscope {written_by} or later: {}",
        path.display()
    )]
    Newer {
        /// Schema version of the file, above [`SCHEMA_VERSION`].
        version: u64,
        /// Version of the program that wrote it.
        written_by: String,
        path: PathBuf,
    },
    /// It was a recording once.
    #[error("damaged: {what}: {why}: {}", path.display())]
    Damaged {
        /// The damaged part: the archive, a member such as `recording.json`, or a cloud or run by number.
        what: String,
        /// What is wrong with it.
        why: String,
        path: PathBuf,
    },
    /// No run, or more than one, is meant.
    #[error("{what}: {there}: {}", path.display())]
    NoRun {
        /// What is wrong with what was asked for.
        what: String,
        /// The runs that the recording has, as a list for the message.
        there: String,
        path: PathBuf,
    },
    /// It does not fit.
    #[error("too large: there is no memory for {what}: {}", path.display())]
    Memory {
        /// Name of the member that does not fit.
        what: String,
        path: PathBuf,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Whether a file's name is that of a recording.
pub fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// `FILE.warpscope#name` and `FILE.warpscope#2` are one run of a file; the number counts from 1.
pub fn split_run(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if is_recording(path) {
        return Some((path.to_owned(), None));
    }
    let text = path.to_str()?;
    let mark = format!(".{EXTENSION}#");
    // Byte for byte as long as the path, whatever letters are in it.
    let at = text.to_ascii_lowercase().find(&mark)?;
    let end = at + mark.len();
    Some((PathBuf::from(&text[..end - 1]), Some(text[end..].to_owned())))
}

impl Recording {
    /// The run that is asked for by name or, where none is called so, by number from 1; without a name, the
    /// only one.
    ///
    /// # Errors
    /// [`RecordingError::NoRun`], with those that there are.
    pub fn pick(&self, asked: Option<&str>, path: &Path) -> Result<&Recorded, RecordingError> {
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
                &format!("say which with {}#NUMBER:", path.file_name().unwrap_or_default().to_string_lossy()),
            ),
            (Some(asked), runs) => {
                let numbered =
                    || asked.parse::<usize>().ok().and_then(|number| runs.get(number.checked_sub(1)?));
                runs.iter()
                    .find(|run| run.name == asked)
                    .or_else(numbered)
                    .map_or_else(|| no_run(format!("no run `{asked}`"), "there are"), Ok)
            }
        }
    }
}

/// The name itself or, where it is taken, the first of `name (2)`, `name (3)`, … that is free.
pub fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    free_from(name, &mut 2, taken)
}

/// Names, each once: of equal ones the first stays as it is.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (mut unique, mut seen, mut next) = (Vec::new(), HashSet::new(), HashMap::new());
    for name in names {
        // Goes on where the name's last number was: a file may hold as many equal names as fit.
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
    fn equal_names_are_numbered() {
        assert_eq!(
            unique(["a", "b", "a", "a (2)", "a", "a (2)"]),
            ["a", "b", "a (2)", "a (2) (2)", "a (3)", "a (2) (3)"]
        );
        let once = unique(["a", "a", "a (2)"]);
        assert_eq!(unique(once.iter().map(String::as_str)), once, "what was made unique stays as it is");
        assert_eq!(unique(vec!["a"; 100_000]).last().unwrap(), "a (100000)");
        assert_eq!(free_name("a", |name| ["a", "a (2)"].contains(&name)), "a (3)");
    }
}
