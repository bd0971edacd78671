//! Work on a thread of its own, with progress, cancel and one result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::progress::Progress;

/// Why a task ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It panicked, and said this.
    #[error("the thread stopped without an answer: {0}")]
    Broken(String),
    /// The thread could not be started.
    #[error("the system has no thread to give: {0}")]
    NoThread(String),
}

/// What comes of a task.
pub type Outcome<T> = Result<T, Stopped>;

/// Work in progress. Dropped, it is cancelled, and its result is lost.
pub struct Task<T> {
    watch: Arc<Watch>,
    result: Receiver<Outcome<T>>,
    thread: Option<JoinHandle<()>>,
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
        let watch = Arc::new(Watch {
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            wake: Box::new(wake),
        });
        let (sender, result) = bounded(1);
        let theirs = Arc::clone(&watch);
        let thread = thread::Builder::new().name(format!("warpscope-{name}")).spawn(move || {
            // Also after a panic: who waits must not wait for ever.
            let _wake = Wake(Arc::clone(&theirs));
            // Nobody listens any more when the work was replaced.
            let _ = sender.send(
                catch_unwind(AssertUnwindSafe(|| work(&*theirs)))
                    .map_err(|panic| Stopped::Broken(said(&*panic))),
            );
        })?;
        Ok(Self { watch, result, thread: Some(thread) })
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
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

    /// Asks to stop, and waits until the thread is gone: nothing is left half done.
    pub fn stop(self) {
        self.cancel();
        self.finish();
    }

    /// Waits until the thread has done all of it.
    pub fn finish(mut self) {
        if let Some(thread) = self.thread.take() {
            // What broke it was said where it broke.
            let _ = thread.join();
        }
    }

    /// The result, once it is there.
    pub fn try_finish(&self) -> Option<Outcome<T>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Stopped::Broken("it was ended".to_owned()))),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stops_it_waits_for_its_last_word() {
        let ended = Arc::new(AtomicBool::new(false));
        let (theirs, (started, waiting)) = (Arc::clone(&ended), bounded(1));
        let work = move |progress: &dyn Progress| {
            let _ = started.send(());
            while !progress.cancelled() {
                thread::yield_now();
            }
            // As long as it takes to remove what was begun.
            thread::sleep(std::time::Duration::from_millis(50));
            theirs.store(true, Ordering::Relaxed);
        };
        let task = Task::start("test", || {}, work).expect("a thread");
        waiting.recv().expect("it runs");
        task.stop();
        assert!(ended.load(Ordering::Relaxed));
    }
}
