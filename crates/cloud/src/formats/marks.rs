//! An index of record offsets in a text file, one per [`EVERY`] records as far as it was read, so that later look-ups need
//! not start at the beginning.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::input::Input;
use super::stamp::Stamp;

/// Number of records between marks.
const EVERY: u64 = 1 << 14;

/// Identity of a text: its file, and the lines before it.
type File = (Stamp, u64);

/// The marks of the most recently read text file.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Known>);

/// Marks of a file, ascending: record number and byte offset.
#[derive(Debug, Default)]
pub(super) struct Known {
    file: Option<File>,
    marks: Vec<(u64, u64)>,
}

impl Marks {
    /// The marks of a file; empty if another file was read last.
    pub(super) fn of(&self, input: &Input<'_>) -> MutexGuard<'_, Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Some((input.stamp().clone(), input.skipped()));
        if known.file != file {
            *known = Known { file, marks: Vec::new() };
        }
        known
    }
}

impl Known {
    /// The last mark at or before a record.
    pub fn before(&self, record: u64) -> Option<(u64, u64)> {
        self.marks[..self.marks.partition_point(|&(at, _)| at <= record)].last().copied()
    }

    /// Whether a record should have a mark and does not yet.
    pub fn wants(&self, record: u64) -> bool {
        record.is_multiple_of(EVERY) && self.marks.last().is_none_or(|&(last, _)| last < record)
    }

    /// Adds a mark for a record that [`Self::wants`] one.
    pub fn add(&mut self, record: u64, byte: u64) {
        self.marks.push((record, byte));
    }
}
