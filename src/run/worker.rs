//! The thread that owns the engines.
//!
//! The window sends [`Job`]s and polls [`Event`]s over two bounded channels. The worker calls `wake` after
//! each event. Neither side waits for the other: a new job replaces the waiting one, unread progress is
//! dropped, and a result displaces older events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::live_query::send_replacing;
use super::{EnginePool, ResidentPoints, RunError, RunRecord, RunSpec};
use crate::cloud::PointCloud;
use crate::run::LoadedSpec;

/// Identifies a job; later jobs have larger numbers.
pub type JobId = u64;

/// A run to execute.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: JobId,
    pub spec: RunSpec,
    /// The spec's cloud, loaded.
    pub cloud: Arc<PointCloud>,
    /// The spec's query file, loaded, if it names one.
    pub query_cloud: Option<Arc<PointCloud>>,
}

/// A message from the worker.
#[derive(Debug)]
pub enum Event {
    Progress {
        id: JobId,
        /// The current step, for the status line: "loading the problem", "repeat 3 of 10", …
        stage: String,
        /// 0 to 1 over the whole job.
        fraction: f32,
    },
    Finished {
        id: JobId,
        record: Arc<RunRecord>,
    },
    /// The job ended without a record.
    Failed {
        id: JobId,
        error: RunError,
    },
}

/// Minimum interval between progress events.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Events buffered for a window that does not poll.
const EVENTS: usize = 64;

/// Numbers submissions, as the window may reuse job ids.
type Ticket = u64;

/// Reserved: no submission has this ticket.
const NO_TICKET: Ticket = 0;

/// The submissions that both sides act on.
#[derive(Default)]
struct Submissions {
    /// The latest submission; work on any other is stale.
    latest: AtomicU64,
    /// The submission to stop.
    cancelled: AtomicU64,
}

impl Submissions {
    fn is_latest(&self, ticket: Ticket) -> bool {
        self.latest.load(Ordering::Acquire) == ticket
    }

    fn should_continue(&self, ticket: Ticket) -> bool {
        self.is_latest(ticket) && self.cancelled.load(Ordering::Acquire) != ticket
    }
}

/// Handle of the worker thread. Dropping it cancels the current job and joins.
pub struct Worker {
    /// `None` while the worker is dropped.
    jobs: Option<Sender<(Ticket, Job)>>,
    /// Removes a waiting job when a newer one arrives.
    waiting: Receiver<(Ticket, Job)>,
    events: Receiver<(Ticket, Event)>,
    submissions: Arc<Submissions>,
    resident: ResidentPoints,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. `wake` is called after every event.
    ///
    /// # Errors
    /// When no thread can be spawned.
    pub fn spawn(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        Self::spawn_with(EnginePool::default(), wake)
    }

    /// The points of the last run, for sharing.
    pub fn resident(&self) -> &ResidentPoints {
        &self.resident
    }

    pub(super) fn spawn_with(engines: EnginePool, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (jobs, waiting) = bounded(1);
        let (sender, events) = bounded(EVENTS);
        let submissions = Arc::<Submissions>::default();
        let resident = engines.resident().clone();
        let mut thread = WorkerThread {
            jobs: waiting.clone(),
            events: EventSender {
                sender,
                unread: events.clone(),
                submissions: Arc::clone(&submissions),
                wake: Box::new(wake),
            },
            engines,
        };
        let thread =
            std::thread::Builder::new().name("warpscope-worker".to_owned()).spawn(move || thread.work())?;
        Ok(Self { jobs: Some(jobs), waiting, events, submissions, resident, thread: Some(thread) })
    }

    /// Cancels the current and waiting jobs and starts this one. No further events of earlier jobs are
    /// delivered.
    pub fn submit(&self, job: Job) {
        let Some(jobs) = &self.jobs else { return };
        let ticket = self.submissions.latest.fetch_add(1, Ordering::AcqRel) + 1;
        send_replacing(jobs, &self.waiting, (ticket, job));
    }

    /// Cancels the job, running or waiting. [`Event::Failed`] with [`RunError::Cancelled`] follows, or the
    /// result if it was already complete.
    pub fn cancel(&self) {
        self.submissions.cancelled.store(self.submissions.latest.load(Ordering::Acquire), Ordering::Release);
    }

    /// The next event, if there is one; never blocks.
    pub fn try_recv(&self) -> Option<Event> {
        self.events.try_iter().find(|(ticket, _)| self.submissions.is_latest(*ticket)).map(|(_, event)| event)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.submissions.latest.store(NO_TICKET, Ordering::Release);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Panics of jobs are caught; any other one is on stderr already.
            let _ = thread.join();
        }
    }
}

/// The thread's event sender.
struct EventSender {
    sender: Sender<(Ticket, Event)>,
    /// Removes unread events to make room for a result.
    unread: Receiver<(Ticket, Event)>,
    submissions: Arc<Submissions>,
    wake: Box<dyn Fn() + Send>,
}

impl EventSender {
    /// Sends an event that may be dropped.
    fn send_lossy(&self, ticket: Ticket, event: Event) {
        if self.submissions.is_latest(ticket) && self.sender.try_send((ticket, event)).is_ok() {
            (self.wake)();
        }
    }

    /// Sends an event that must arrive. It displaces progress, or events of replaced jobs.
    fn send(&self, ticket: Ticket, event: Event) {
        if self.submissions.is_latest(ticket) {
            send_replacing(&self.sender, &self.unread, (ticket, event));
            (self.wake)();
        }
    }
}

/// The worker thread's side.
struct WorkerThread {
    jobs: Receiver<(Ticket, Job)>,
    events: EventSender,
    engines: EnginePool,
}

impl WorkerThread {
    fn work(&mut self) {
        while let Ok((ticket, job)) = self.jobs.recv() {
            let id = job.id;
            let event = match self.run(ticket, &job) {
                Ok(record) => Event::Finished { id, record: Arc::new(record) },
                Err(error) => Event::Failed { id, error },
            };
            self.events.send(ticket, event);
        }
    }

    fn run(&mut self, ticket: Ticket, job: &Job) -> Result<RunRecord, RunError> {
        let events = &self.events;
        let mut last_sent: Option<Instant> = None;
        let mut stage = |stage: &str, fraction: f32| {
            let now = Instant::now();
            // Steps before the first query may take long, so they are reported at once.
            if fraction == 0.0 || last_sent.is_none_or(|last_sent| now - last_sent >= PROGRESS_EVERY) {
                events.send_lossy(ticket, Event::Progress { id: job.id, stage: stage.to_owned(), fraction });
                last_sent = Some(now);
            }
            events.submissions.should_continue(ticket)
        };
        self.engines.catch_panics(|engines| {
            engines.execute(LoadedSpec::new(&job.spec, &job.cloud, job.query_cloud.as_ref()), &mut stage)
        })
    }
}

#[cfg(test)]
mod soak;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::super::testing::{self, Script, spec, squares};
    use super::*;

    fn worker(script: Script) -> (Worker, Arc<AtomicUsize>) {
        let wakes = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&wakes);
        let engines = testing::engines(move |_| Ok(script.clone()));
        let wake = move || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        (Worker::spawn_with(engines, wake).unwrap(), wakes)
    }

    /// A job whose number of rows is its id.
    fn job(id: JobId) -> Job {
        Job { id, spec: spec(), cloud: squares(id as usize), query_cloud: None }
    }

    fn slow() -> Script {
        Script { per_query: Duration::from_millis(1), ..Script::default() }
    }

    /// All events up to the first that ends a job.
    fn until_end(worker: &Worker) -> Vec<Event> {
        let began = Instant::now();
        let mut events = Vec::new();
        loop {
            match worker.try_recv() {
                Some(event @ Event::Progress { .. }) => events.push(event),
                Some(event) => {
                    events.push(event);
                    return events;
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no end after {events:?}");
        }
    }

    fn wait_until_running(worker: &Worker) {
        while !matches!(worker.try_recv(), Some(Event::Progress { fraction, .. }) if fraction > 0.0) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn jobs_report_progress_and_completion() {
        let (worker, wakes) = worker(slow());
        let began = Instant::now();
        worker.submit(job(100));
        let events = until_end(&worker);
        let Some(Event::Finished { id: 100, record }) = events.last() else { panic!("{events:?}") };
        assert_eq!(record.neighbors.queries(), 100);
        assert!(events.len() > 3, "{events:?}");
        // Events with fraction 0 and the last one are sent at once.
        let most = 10 + began.elapsed().as_millis() / PROGRESS_EVERY.as_millis();
        assert!((events.len() as u128) < most, "{events:?}");
        while wakes.load(Ordering::Relaxed) < events.len() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{} wakes for {} events",
                wakes.load(Ordering::Relaxed),
                events.len()
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(wakes.load(Ordering::Relaxed), events.len());
    }

    #[test]
    fn a_new_job_replaces_the_previous_one() {
        let (worker, _) = worker(slow());
        worker.submit(job(1000));
        wait_until_running(&worker);
        for id in 11..=20 {
            worker.submit(job(id));
        }
        for event in until_end(&worker) {
            let (Event::Progress { id, .. } | Event::Finished { id, .. } | Event::Failed { id, .. }) = event;
            assert_eq!(id, 20, "an event of a replaced job arrived");
        }
        std::thread::sleep(Duration::from_millis(50));
        assert!(worker.try_recv().is_none());
    }

    #[test]
    fn an_unread_result_is_dropped_when_a_new_job_arrives() {
        let (worker, wakes) = worker(Script::default());
        worker.submit(job(10));
        let began = Instant::now();
        while wakes.load(Ordering::Relaxed) < 3 && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        worker.submit(job(12));
        assert!(matches!(until_end(&worker).last(), Some(Event::Finished { id: 12, .. })));
    }

    #[test]
    fn cancelling_stops_the_job_and_the_next_one_runs() {
        let script = slow();
        let calls = Arc::clone(&script.calls);
        let (worker, _) = worker(script);
        worker.submit(job(1000));
        wait_until_running(&worker);
        worker.cancel();
        let before = calls.lock().unwrap().len();
        assert!(matches!(
            until_end(&worker).last(),
            Some(Event::Failed { id: 1000, error: RunError::Cancelled })
        ));
        let after = calls.lock().unwrap().len();
        assert!(after <= before + 1, "{} chunks were searched after the cancel", after - before);
        worker.submit(job(5));
        assert!(matches!(until_end(&worker).last(), Some(Event::Finished { id: 5, .. })));
    }

    #[test]
    fn waiting_jobs_can_be_cancelled() {
        let (worker, _) = worker(slow());
        worker.submit(job(1000));
        wait_until_running(&worker);
        worker.submit(job(900));
        worker.cancel();
        assert!(matches!(
            until_end(&worker).last(),
            Some(Event::Failed { id: 900, error: RunError::Cancelled })
        ));
    }

    #[test]
    fn a_panic_fails_the_job_but_not_the_thread() {
        let (worker, _) = worker(Script { panic_after: Some(15), ..Script::default() });
        worker.submit(job(30));
        let events = until_end(&worker);
        let Some(Event::Failed { id: 30, error }) = events.last() else { panic!("{events:?}") };
        assert_eq!(
            error.to_string(),
            "the run failed unexpectedly: the test says so; please report this as a bug"
        );
        worker.submit(Job { spec: RunSpec { warmup: 0, repeats: 1, ..spec() }, ..job(5) });
        assert!(matches!(until_end(&worker).last(), Some(Event::Finished { id: 5, .. })));
    }

    #[test]
    fn a_full_channel_still_delivers_the_result() {
        let (sender, events) = bounded(2);
        let submissions = Arc::new(Submissions::default());
        submissions.latest.store(7, Ordering::Release);
        let sender = EventSender { sender, unread: events.clone(), submissions, wake: Box::new(|| ()) };
        for _ in 0..5 {
            sender.send_lossy(7, Event::Progress { id: 1, stage: "at it".to_owned(), fraction: 0.5 });
        }
        sender.send(7, Event::Failed { id: 1, error: RunError::Cancelled });
        let heard: Vec<Event> = events.try_iter().map(|(_, event)| event).collect();
        assert!(matches!(heard.as_slice(), [Event::Progress { .. }, Event::Failed { .. }]), "{heard:?}");
    }

    #[test]
    fn dropping_the_worker_cancels_and_joins() {
        let (worker, _) = worker(slow());
        worker.submit(job(1000));
        wait_until_running(&worker);
        let submissions = Arc::clone(&worker.submissions);
        let began = Instant::now();
        drop(worker);
        // The whole job takes at least six seconds.
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        assert_eq!(Arc::strong_count(&submissions), 1, "the thread has ended and released its state");
    }
}
