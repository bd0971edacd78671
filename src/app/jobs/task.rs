//! A task on its own thread, with progress, cancellation and one result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::progress::Progress;

/// Why a task ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// It panicked, with this message.
    #[error("the worker thread stopped unexpectedly: {0}")]
    Panicked(String),
    #[error("cannot spawn a thread: {0}")]
    NoThread(String),
}

/// The result of a task.
pub type Outcome<T> = Result<T, StopReason>;

/// A running task. Dropping it cancels it and loses its result.
pub struct Task<T> {
    watch: Arc<TaskState>,
    result: Receiver<Outcome<T>>,
    thread: Option<JoinHandle<()>>,
}

struct TaskState {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Progress for TaskState {
    fn update(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        let before = self.done.swap(done, Ordering::Relaxed);
        // Repainting every half percent is enough.
        if total > 0 && before * 200 / total != done * 200 / total {
            (self.wake)();
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts the task. `wake` is called when something changes.
    ///
    /// # Errors
    /// If the thread cannot be spawned.
    pub fn start(
        name: &str,
        wake: impl Fn() + Send + Sync + 'static,
        work: impl FnOnce(&dyn Progress) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let watch = Arc::new(TaskState {
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            wake: Box::new(wake),
        });
        let (sender, result) = bounded(1);
        let theirs = Arc::clone(&watch);
        let thread = thread::Builder::new().name(format!("warpscope-{name}")).spawn(move || {
            // Also after a panic, so that nothing waits forever.
            let _wake = WakeOnDrop(Arc::clone(&theirs));
            // If the task was replaced, there is no receiver.
            let _ = sender.send(
                catch_unwind(AssertUnwindSafe(|| work(&*theirs)))
                    .map_err(|panic| StopReason::Panicked(panic_message(&*panic))),
            );
        })?;
        Ok(Self { watch, result, thread: Some(thread) })
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
}

struct WakeOnDrop(Arc<TaskState>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        (self.0.wake)();
    }
}

impl<T> Task<T> {
    /// Progress from 0 to 1, if the total is known.
    pub fn fraction(&self) -> Option<f32> {
        let total = self.watch.total.load(Ordering::Relaxed);
        (total > 0).then(|| (self.watch.done.load(Ordering::Relaxed) as f64 / total as f64).min(1.0) as f32)
    }

    /// Asks to stop at the next safe point.
    pub fn cancel(&self) {
        self.watch.cancelled.store(true, Ordering::Relaxed);
    }

    /// Asks to stop and waits for the thread, so that nothing is left incomplete.
    pub fn stop(self) {
        self.cancel();
        self.finish();
    }

    /// Waits for the task to complete.
    pub fn finish(mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic was already reported where it happened.
            let _ = thread.join();
        }
    }

    /// The result, if the task has ended.
    pub fn try_finish(&self) -> Option<Outcome<T>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(StopReason::Panicked("it was ended".to_owned()))),
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
    fn stopping_a_task_waits_for_its_thread() {
        let ended = Arc::new(AtomicBool::new(false));
        let (theirs, (started, waiting)) = (Arc::clone(&ended), bounded(1));
        let work = move |progress: &dyn Progress| {
            let _ = started.send(());
            while !progress.cancelled() {
                thread::yield_now();
            }
            // Simulates removing partial results.
            thread::sleep(std::time::Duration::from_millis(50));
            theirs.store(true, Ordering::Relaxed);
        };
        let task = Task::start("test", || {}, work).expect("a thread");
        waiting.recv().expect("it runs");
        task.stop();
        assert!(ended.load(Ordering::Relaxed));
    }
}
