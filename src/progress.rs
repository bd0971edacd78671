//! Progress reports and cancellation of long-running work.

use std::sync::atomic::{AtomicBool, Ordering};

/// Receives progress reports and requests cancellation.
///
/// Implementations are cheap: workers call them every few milliseconds.
pub trait Progress: Sync {
    /// Reports that `done` of `total` units (bytes, rows, queries) are complete; `total` is 0 if unknown.
    fn update(&self, done: u64, total: u64);

    /// Whether the work should stop at the next safe point.
    fn cancelled(&self) -> bool;
}

/// Ignores reports and never cancels.
pub struct Silent;

impl Progress for Silent {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

/// A cancel flag; reports are ignored.
impl Progress for AtomicBool {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
