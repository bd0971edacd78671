//! Where the records of a text begin, every so many of them and as far as it was read, so that the next record that somebody
//! asks for is not looked for from the beginning.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::input::Input;

/// Records from one mark to the next.
const EVERY: u64 = 1 << 14;

/// What makes a file another one: its path, its size, and when it was written.
type File = (PathBuf, u64, Option<SystemTime>);

/// The marks of the text that was read last.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Known>);

/// Marks of a file, ascending: a record and the byte at which it begins.
#[derive(Debug, Default)]
pub(super) struct Known {
    file: Option<File>,
    marks: Vec<(u64, u64)>,
}

impl Marks {
    /// The marks of a file, none if another one was read last.
    pub(super) fn of(&self, input: &Input<'_>) -> MutexGuard<'_, Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Some((input.path().to_owned(), input.size(), input.modified()));
        if known.file != file {
            *known = Known { file, marks: Vec::new() };
        }
        known
    }
}

impl Known {
    /// The last mark that is not beyond a record.
    pub fn before(&self, record: u64) -> Option<(u64, u64)> {
        self.marks[..self.marks.partition_point(|&(at, _)| at <= record)].last().copied()
    }

    /// Whether a record is to be marked, and is not.
    pub fn wants(&self, record: u64) -> bool {
        record.is_multiple_of(EVERY) && self.marks.last().is_none_or(|&(last, _)| last < record)
    }

    /// Marks a record that is wanted.
    pub fn add(&mut self, record: u64, byte: u64) {
        self.marks.push((record, byte));
    }
}
