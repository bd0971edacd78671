//! How long work tells of itself and is asked to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a long piece of work.
///
/// Implementations are cheap: workers call them every few milliseconds.
pub trait Progress: Sync {
    /// `done` of `total` units (bytes, rows, queries) are through; `total` is 0 where it is not known.
    fn update(&self, done: u64, total: u64);

    /// Whether the work should stop at the next safe point.
    fn cancelled(&self) -> bool;
}

/// Nobody watches.
pub struct Silent;

impl Progress for Silent {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

/// Only listens to a cancel flag.
impl Progress for AtomicBool {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
