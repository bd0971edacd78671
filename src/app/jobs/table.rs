//! The table of background work. A [`TaskKind`] defines a kind of task: its purpose, whether a new task
//! replaces the previous one, how to cancel it, and how to apply its result. [`Jobs`] holds running tasks of
//! any type, and [`Jobs::next`] is the only place that polls them.
//!
//! `C` is the context to which results are applied: the window.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::task::{Outcome, StopReason, Task};
use crate::app::model::{Activity, Session};
use crate::progress::Progress;

/// Purposes of tasks. The status line names the first running one in this order. The last ones are never
/// named, because they are short or nothing waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskPurpose {
    /// Reading or generating a cloud. Before a run, which waits for it.
    Load,
    /// Reading a recording.
    Open,
    /// Running the problem in the left panel.
    Run,
    /// Recording a lesson's search.
    Record,
    /// Writing a file of the lesson, a graph, a recording or a session.
    Export,
    /// Reading another file of the same rows for the second view.
    OpenSecond,
    /// Projecting the cloud onto directions.
    Project,
    /// Projecting the second view.
    ProjectSecond,
    /// Analysing all rows' neighbours.
    Analyse,
    /// Comparing with another file.
    CompareFiles,
    /// Computing the values that colour points.
    Color,
    /// Recording the walk of a search through an index.
    Walk,
    /// Explaining why a row is, or is not, among the neighbours.
    Why,
    /// Finding all rows within a distance of the query.
    Nearby,
    /// Reading a file again to detect changes.
    Check,
    /// Answering the picked query.
    Ask,
    /// Computing a change of the selection.
    Select,
    /// Finding the clicked point.
    Pick,
    /// Finding the hovered point.
    Hover,
    /// Finding the row that a dragged query snaps to.
    Snap,
    /// Reading the hovered point's other columns.
    Lookup,
    /// Reading the listed neighbours' other columns.
    NeighborColumns,
    /// Searching the picked row in the second view's file.
    AnswerSecond,
    /// Reading the other columns of the second view's neighbours.
    SecondColumns,
    /// Reading the names of rows.
    Names,
    /// Reading the other columns of points listed in a table.
    PointColumns,
    /// Sorting a table, or reading the column that sorts it.
    Order,
    /// Searching the names of rows.
    Search,
    /// Computing the expected convergence of an answer.
    Theory,
    /// Computing histograms, bands and timeline of a run.
    Derive,
    /// Comparing two runs.
    Compare,
    /// Listing the columns of a file.
    Columns,
    /// Reading the first rows of a file.
    Preview,
    /// Checking whether an engine can run.
    Probe,
    /// Waiting for the desktop's file dialog.
    Dialog,
    /// Listing a folder for the built-in file dialog.
    List,
    /// Writing a table or a picture.
    Save,
}

/// What happens to a task when the window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitPolicy {
    /// Cancel it without waiting.
    Forget,
    /// Cancel it and wait until it has removed partial results.
    Stop,
    /// Wait until it is complete.
    Finish,
}

/// How to cancel a task that the status line names.
pub enum CancelMethod<C> {
    /// Ask the task to stop; its result says that it was cancelled.
    Ask,
    /// Call this instead.
    By(fn(&mut C)),
}

impl<C> Clone for CancelMethod<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for CancelMethod<C> {}

/// A kind of task with parameters `A` and result `T`.
pub struct TaskKind<C, A, T> {
    pub slot: TaskPurpose,
    /// Thread name, after `warpscope-`.
    pub thread: &'static str,
    /// Whether several may run at once; otherwise the newest wins, and the previous one is cancelled and its
    /// result dropped.
    pub concurrent: bool,
    /// The status line names the task only after this time.
    pub shown_after: Duration,
    /// The status line's text, given the progress; `None` if nothing waits for the task.
    pub purpose: fn(&A, Option<f32>) -> Option<Activity>,
    pub cancel: CancelMethod<C>,
    pub at_exit: fn(&A) -> ExitPolicy,
    /// Applies the result, after the task was removed from the table.
    pub apply: fn(&mut C, A, Outcome<T>),
}

impl<C, A, T> TaskKind<C, A, T> {
    /// A base for kinds: one task at a time, too short to be named, and dropped when the window closes.
    pub const fn new(slot: TaskPurpose, thread: &'static str, apply: fn(&mut C, A, Outcome<T>)) -> Self {
        Self {
            slot,
            thread,
            concurrent: false,
            shown_after: Duration::ZERO,
            purpose: |_, _| None,
            cancel: CancelMethod::Ask,
            at_exit: |_| ExitPolicy::Forget,
            apply,
        }
    }
}

/// A result, ready to be applied.
pub type Applied<C> = Box<dyn FnOnce(&mut C)>;

/// A running task, or a long-lived thread that sends events. The methods about ending apply only to tasks.
pub trait Job<C> {
    /// The next result to apply; the flag says whether it is the last.
    fn next(&mut self) -> Option<(Applied<C>, bool)>;
    /// The activity to show, if any.
    fn purpose(&self, session: &Session) -> Option<Activity>;
    /// How the status line's Cancel acts on it.
    fn cancel(&self) -> CancelMethod<C>;
    /// Time until it may be named.
    fn time_until_shown(&self) -> Option<Duration> {
        None
    }
    fn ask_to_stop(&self) {}
    fn end(self: Box<Self>) {}
    fn params(&self) -> Option<&dyn Any> {
        None
    }
    fn params_mut(&mut self) -> Option<&mut dyn Any> {
        None
    }
    #[cfg(test)]
    fn set_start(&mut self, _since: Instant) {}
}

/// A running task.
struct RunningTask<C: 'static, A: 'static, T: 'static> {
    kind: &'static TaskKind<C, A, T>,
    params: Option<A>,
    task: Result<Task<T>, Option<StopReason>>,
    since: Instant,
}

impl<C: 'static, A: 'static, T: Send + 'static> Job<C> for RunningTask<C, A, T> {
    fn next(&mut self) -> Option<(Applied<C>, bool)> {
        let outcome = match &mut self.task {
            Ok(task) => task.try_finish()?,
            Err(why) => Err(why.take()?),
        };
        let (params, apply) = (self.params.take()?, self.kind.apply);
        Some((Box::new(move |to| apply(to, params, outcome)), true))
    }

    fn purpose(&self, _: &Session) -> Option<Activity> {
        let params = self.params.as_ref().filter(|_| self.since.elapsed() >= self.kind.shown_after)?;
        (self.kind.purpose)(params, self.task.as_ref().ok().and_then(Task::fraction))
    }

    fn cancel(&self) -> CancelMethod<C> {
        self.kind.cancel
    }

    fn time_until_shown(&self) -> Option<Duration> {
        self.kind.shown_after.checked_sub(self.since.elapsed()).filter(|left| !left.is_zero())
    }

    fn ask_to_stop(&self) {
        if let Ok(task) = &self.task {
            task.cancel();
        }
    }

    fn end(self: Box<Self>) {
        let (Ok(task), Some(params)) = (self.task, self.params) else { return };
        match (self.kind.at_exit)(&params) {
            ExitPolicy::Forget => drop(task),
            ExitPolicy::Stop => task.stop(),
            ExitPolicy::Finish => task.finish(),
        }
    }

    fn params(&self) -> Option<&dyn Any> {
        self.params.as_ref().map(|params| params as &dyn Any)
    }

    fn params_mut(&mut self) -> Option<&mut dyn Any> {
        self.params.as_mut().map(|params| params as &mut dyn Any)
    }

    #[cfg(test)]
    fn set_start(&mut self, since: Instant) {
        self.since = since;
    }
}

/// All running tasks, in the order of [`TaskPurpose`].
pub struct Jobs<C> {
    jobs: Vec<(TaskPurpose, Box<dyn Job<C>>)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<C: 'static> Jobs<C> {
    /// An empty table. `wake` is called when something changes.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { jobs: Vec::new(), wake: Arc::new(wake) }
    }

    /// Starts a task. A failure to spawn its thread becomes its result.
    pub fn start<A: 'static, T: Send + 'static>(
        &mut self,
        kind: &'static TaskKind<C, A, T>,
        params: A,
        work: impl FnOnce(&dyn Progress) -> T + Send + 'static,
    ) {
        if !kind.concurrent {
            self.stop(kind);
        }
        let wake = Arc::clone(&self.wake);
        let task = Task::start(kind.thread, move || wake(), work)
            .map_err(|error| Some(StopReason::NoThread(error.to_string())));
        if task.is_err() {
            (self.wake)();
        }
        self.insert(kind.slot, RunningTask { kind, params: Some(params), task, since: Instant::now() });
    }

    /// Adds a row, such as a long-lived thread.
    pub fn insert(&mut self, slot: TaskPurpose, job: impl Job<C> + 'static) {
        let at = self.jobs.partition_point(|(other, _)| *other <= slot);
        self.jobs.insert(at, (slot, Box::new(job)));
    }

    /// The next result of any task.
    pub fn next(&mut self) -> Option<Applied<C>> {
        let (at, (apply, last)) =
            self.jobs.iter_mut().enumerate().find_map(|(at, (_, job))| Some((at, job.next()?)))?;
        if last {
            self.jobs.remove(at);
        }
        Some(apply)
    }

    /// The activity that the status line names, and the time until another may have to be named.
    pub fn activity(&self, session: &Session) -> (Option<(TaskPurpose, Activity)>, Option<Duration>) {
        let named = self.jobs.iter().find_map(|(slot, job)| Some((*slot, job.purpose(session)?)));
        (named, self.jobs.iter().filter_map(|(_, job)| job.time_until_shown()).min())
    }

    /// Cancels the task that the status line names, if any: asks it to stop, or returns what to do instead.
    pub fn cancel(&mut self, session: &Session) -> Option<CancelMethod<C>> {
        let job = &self.jobs.iter().find(|(_, job)| job.purpose(session).is_some())?.1;
        let cancel = job.cancel();
        if matches!(cancel, CancelMethod::Ask) {
            job.ask_to_stop();
        }
        Some(cancel)
    }

    pub fn has<A, T>(&self, kind: &TaskKind<C, A, T>) -> bool {
        self.jobs.iter().any(|(slot, _)| *slot == kind.slot)
    }

    /// Number of running tasks, including those that are never named.
    pub fn tasks(&self) -> usize {
        self.jobs.iter().filter(|(_, job)| job.params().is_some()).count()
    }

    /// The parameters of the running task.
    pub fn params<A: 'static, T>(&self, kind: &TaskKind<C, A, T>) -> Option<&A> {
        let job = &self.jobs.iter().find(|(slot, _)| *slot == kind.slot)?.1;
        job.params()?.downcast_ref()
    }

    /// The parameters of the running task, mutable.
    pub fn params_mut<A: 'static, T>(&mut self, kind: &TaskKind<C, A, T>) -> Option<&mut A> {
        let job = &mut self.jobs.iter_mut().find(|(slot, _)| *slot == kind.slot)?.1;
        job.params_mut()?.downcast_mut()
    }

    /// Sets the start time, for tests.
    #[cfg(test)]
    pub fn set_start(&mut self, slot: TaskPurpose, since: Instant) {
        for (_, job) in self.jobs.iter_mut().filter(|(other, _)| *other == slot) {
            job.set_start(since);
        }
    }

    /// Cancels the task and drops its result; returns whether there was one.
    pub fn stop<A, T>(&mut self, kind: &TaskKind<C, A, T>) -> bool {
        let before = self.jobs.len();
        self.jobs.retain(|(slot, _)| *slot != kind.slot);
        self.jobs.len() < before
    }
}

impl<C> Drop for Jobs<C> {
    /// Waits for tables, pictures, recordings and sessions to be written completely.
    fn drop(&mut self) {
        for (_, job) in self.jobs.drain(..) {
            job.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Results = Vec<(u32, Outcome<u32>)>;

    static DOUBLE: TaskKind<Results, u32, u32> = TaskKind {
        slot: TaskPurpose::Load,
        thread: "double",
        concurrent: false,
        shown_after: Duration::ZERO,
        purpose: |_, fraction| Some(Activity::Loading { what: "twice".to_owned(), fraction }),
        cancel: CancelMethod::Ask,
        at_exit: |_| ExitPolicy::Stop,
        apply: |results, params, outcome| results.push((params, outcome)),
    };

    static SLOW: TaskKind<Results, u32, u32> = TaskKind {
        slot: TaskPurpose::Select,
        thread: "slow",
        concurrent: true,
        shown_after: Duration::from_secs(3_600),
        purpose: |_, _| Some(Activity::Selecting),
        cancel: CancelMethod::By(Vec::clear),
        at_exit: |_| ExitPolicy::Forget,
        apply: |results, params, outcome| results.push((params, outcome)),
    };

    fn hear(jobs: &mut Jobs<Results>, results: &mut Results) {
        while let Some(apply) = jobs.next() {
            apply(results);
        }
    }

    fn wait(jobs: &mut Jobs<Results>, results: &mut Results, count: usize) {
        while results.len() < count {
            hear(jobs, results);
            std::thread::yield_now();
        }
    }

    #[test]
    fn replaced_and_stopped_jobs_deliver_no_result() {
        let (mut jobs, mut results) = (Jobs::new(|| {}), Results::new());
        let until_cancelled = |progress: &dyn Progress| {
            while !progress.cancelled() {
                std::thread::yield_now();
            }
            1
        };
        jobs.start(&DOUBLE, 1, until_cancelled);
        jobs.start(&DOUBLE, 2, |_| 4);
        wait(&mut jobs, &mut results, 1);
        assert_eq!(results, [(2, Ok(4))]);
        jobs.start(&DOUBLE, 3, until_cancelled);
        assert!(jobs.stop(&DOUBLE) && !jobs.stop(&DOUBLE) && !jobs.has(&DOUBLE));
        jobs.start(&DOUBLE, 4, until_cancelled);
        *jobs.params_mut(&DOUBLE).expect("it is under way") = 5;
        assert_eq!(jobs.activity(&Session::default()).0.map(|(slot, _)| slot), Some(TaskPurpose::Load));
        assert!(
            matches!(jobs.cancel(&Session::default()), Some(CancelMethod::Ask)),
            "its own result reports the cancellation"
        );
        wait(&mut jobs, &mut results, 2);
        assert_eq!(results[1], (5, Ok(1)));
    }

    #[test]
    fn short_jobs_are_not_shown_and_panics_are_reported() {
        let (mut jobs, mut results) = (Jobs::new(|| {}), Results::new());
        for params in [1, 2] {
            jobs.start(&SLOW, params, |_| panic!("on purpose"));
        }
        let (named, later) = jobs.activity(&Session::default());
        assert!(named.is_none() && later.is_some_and(|later| later > Duration::from_secs(3_000)));
        assert!(jobs.cancel(&Session::default()).is_none(), "tasks not shown cannot be cancelled");
        wait(&mut jobs, &mut results, 2);
        assert!(
            results.iter().all(|(_, outcome)| *outcome == Err(StopReason::Panicked("on purpose".to_owned()))),
            "{results:?}"
        );
    }
}
