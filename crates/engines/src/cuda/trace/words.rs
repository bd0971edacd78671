//! The words of a trace, taken one event after the other, each of a kind and what follows.

use super::events::TraceError;
use crate::lockstep::{Key, Lanes, key_of};

/// Lanes of a GPU's warp.
const WARP: usize = 32;

/// A reader of words, from the first on.
pub struct Words<'a> {
    words: &'a [u32],
    /// Index of the event's first word.
    event: usize,
    /// Index of the next word.
    next: usize,
}

impl<'a> Words<'a> {
    pub fn new(words: &'a [u32]) -> Self {
        Self { words, event: 0, next: 0 }
    }

    /// Begins the next event: its kind.
    pub fn kind(&mut self) -> Result<u32, TraceError> {
        self.event = self.next;
        self.number()
    }

    /// The error for a kind that does not exist.
    pub fn no_kind(&self, kind: u32) -> TraceError {
        TraceError::Kind { at: self.event, kind }
    }

    /// Index of the event's first word.
    pub fn at(&self) -> usize {
        self.event
    }

    /// So many of the event's words.
    pub fn take(&mut self, count: usize) -> Result<&'a [u32], TraceError> {
        let (taken, _) = self.words[self.next..].split_at_checked(count).ok_or(TraceError::Cut { at: self.event })?;
        self.next += count;
        Ok(taken)
    }

    /// One of the event's words.
    pub fn number(&mut self) -> Result<u32, TraceError> {
        Ok(self.take(1)?[0])
    }

    /// A key of two words: position, bits of the squared distance.
    pub fn key(&mut self) -> Result<Key, TraceError> {
        Ok(key(self.take(2)?))
    }

    /// A key a lane.
    pub fn keys(&mut self) -> Result<Lanes<Key, WARP>, TraceError> {
        let words = self.take(2 * WARP)?;
        Ok(std::array::from_fn(|lane| key(&words[2 * lane..])))
    }

    /// So many keys a lane, register by register.
    pub fn queue(&mut self, registers: usize) -> Result<Vec<Lanes<Key, WARP>>, TraceError> {
        (0..registers).map(|_| self.keys()).collect()
    }

    /// After the last event.
    ///
    /// # Errors
    /// [`TraceError::Rest`] if words are left.
    pub fn end(&self) -> Result<(), TraceError> {
        if self.next < self.words.len() { Err(TraceError::Rest { at: self.next }) } else { Ok(()) }
    }
}

fn key(words: &[u32]) -> Key {
    key_of(f32::from_bits(words[1]), words[0])
}
