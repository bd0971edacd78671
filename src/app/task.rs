//! Work on a thread of its own, with progress, cancel and one result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::progress::Progress;

/// Work in progress. Dropped, it is cancelled, and its result is lost.
pub struct Task<T> {
    watch: Arc<Watch>,
    result: Receiver<T>,
}

struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Progress for Watch {
    fn update(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        let before = self.done.swap(done, Ordering::Relaxed);
        // A repaint for each half percent is enough.
        if total > 0 && before * 200 / total != done * 200 / total {
            (self.wake)();
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts. `wake` is called when there is something to see.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(
        name: &str,
        wake: impl Fn() + Send + Sync + 'static,
        work: impl FnOnce(&dyn Progress) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let watch = Arc::new(Watch { done: AtomicU64::new(0), total: AtomicU64::new(0), cancelled: AtomicBool::new(false), wake: Box::new(wake) });
        let (sender, result) = bounded(1);
        let theirs = Arc::clone(&watch);
        thread::Builder::new().name(format!("warpscope-{name}")).spawn(move || {
            // Also after a panic: who waits must not wait for ever.
            let _wake = Wake(Arc::clone(&theirs));
            // Nobody listens any more when the work was replaced.
            let _ = sender.send(work(&*theirs));
        })?;
        Ok(Self { watch, result })
    }
}

struct Wake(Arc<Watch>);

impl Drop for Wake {
    fn drop(&mut self) {
        (self.0.wake)();
    }
}

impl<T> Task<T> {
    /// 0 to 1, when the work knows how much there is.
    pub fn fraction(&self) -> Option<f32> {
        let total = self.watch.total.load(Ordering::Relaxed);
        (total > 0).then(|| (self.watch.done.load(Ordering::Relaxed) as f64 / total as f64).min(1.0) as f32)
    }

    /// Asks to stop at the next safe point.
    pub fn cancel(&self) {
        self.watch.cancelled.store(true, Ordering::Relaxed);
    }

    /// The result, once it is there. `Err(())` when the thread ended without one.
    pub fn try_finish(&self) -> Option<Result<T, ()>> {
        match self.result.try_recv() {
            Ok(result) => Some(Ok(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(())),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}
