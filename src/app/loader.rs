//! Reading and generating on a thread of its own, with progress and cancel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::cloud::{CloudError, PointCloud, Source, load, load_queries};
use crate::progress::Progress;

/// What to load.
#[derive(Clone, Debug)]
pub struct LoadJob {
    /// From where.
    pub source: Source,
    /// Whether rows with NaN or ±∞ are left out.
    pub drop_nonfinite: bool,
    /// For a file of queries: the data in whose frame they are.
    pub data: Option<Arc<PointCloud>>,
}

/// How a load ended.
pub type Loaded = Result<Arc<PointCloud>, CloudError>;

/// A load in progress. Dropped, it is cancelled, and its result is lost.
pub struct Loading {
    /// What was asked.
    pub job: LoadJob,
    watch: Arc<Watch>,
    result: Receiver<Loaded>,
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

impl Loading {
    /// Starts. `wake` is called when there is something to see.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(job: LoadJob, wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let watch = Arc::new(Watch { done: AtomicU64::new(0), total: AtomicU64::new(0), cancelled: AtomicBool::new(false), wake: Box::new(wake) });
        let (sender, result) = bounded(1);
        let (theirs, asked) = (Arc::clone(&watch), job.clone());
        thread::Builder::new().name("warpscope-load".to_owned()).spawn(move || {
            let loaded = match &asked.data {
                None => load(&asked.source, asked.drop_nonfinite, &*theirs),
                Some(data) => load_queries(&asked.source, data, asked.drop_nonfinite, &*theirs),
            };
            // Nobody listens any more when the load was replaced.
            let _ = sender.send(loaded.map(Arc::new));
            (theirs.wake)();
        })?;
        Ok(Self { job, watch, result })
    }

    /// 0 to 1, when the reader knows how much there is.
    pub fn fraction(&self) -> Option<f32> {
        let total = self.watch.total.load(Ordering::Relaxed);
        (total > 0).then(|| (self.watch.done.load(Ordering::Relaxed) as f64 / total as f64).min(1.0) as f32)
    }

    /// Asks to stop; the result is then [`CloudError::Cancelled`].
    pub fn cancel(&self) {
        self.watch.cancelled.store(true, Ordering::Relaxed);
    }

    /// The result, once it is there. `Err(())` when the thread ended without one, which a reader never should.
    pub fn try_finish(&self) -> Option<Result<Loaded, ()>> {
        match self.result.try_recv() {
            Ok(loaded) => Some(Ok(loaded)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(())),
        }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.cancel();
    }
}
