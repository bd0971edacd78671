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
pub struct NoProgress;

impl Progress for NoProgress {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

/// A stage of longer work. Maps its progress to the range `from` to `to` of the whole.
pub struct SubProgress<'a> {
    pub parent: &'a dyn Progress,
    pub from: f64,
    pub to: f64,
}

impl Progress for SubProgress<'_> {
    fn update(&self, done: u64, total: u64) {
        /// The resolution of the progress display.
        const WHOLE: f64 = 10_000.0;
        let share = if total == 0 { 0.0 } else { done.min(total) as f64 / total as f64 };
        self.parent.update((WHOLE * (self.from + (self.to - self.from) * share)) as u64, WHOLE as u64);
    }

    fn cancelled(&self) -> bool {
        self.parent.cancelled()
    }
}

/// A cancel flag; reports are ignored.
impl Progress for AtomicBool {
    fn update(&self, _done: u64, _total: u64) {}

    fn cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn sub_progress_is_scaled_to_its_range() {
        struct RecordedProgress(Mutex<Vec<f64>>);
        impl Progress for RecordedProgress {
            fn update(&self, done: u64, total: u64) {
                self.0.lock().unwrap().push(done as f64 / total as f64);
            }
            fn cancelled(&self) -> bool {
                true
            }
        }
        let recorded = RecordedProgress(Mutex::default());
        let stretch = SubProgress { parent: &recorded, from: 0.5, to: 0.75 };
        [(0, 4), (2, 4), (9, 4), (3, 0)].into_iter().for_each(|(done, total)| stretch.update(done, total));
        assert_eq!(*recorded.0.lock().unwrap(), [0.5, 0.625, 0.75, 0.5]);
        assert!(stretch.cancelled());
    }
}
