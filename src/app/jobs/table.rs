//! The table of background work. A [`Kind`] defines a kind of task: its purpose, whether a new task replaces
//! the previous one, how to cancel it, and how to apply its result. [`Jobs`] holds running tasks of any type,
//! and [`Jobs::next`] is the only place that polls them.
//!
//! `C` is the context to which results are applied: the window.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::task::{Outcome, Stopped, Task};
use crate::app::model::{Activity, Session};
use crate::progress::Progress;

/// Purposes of tasks. The status line names the first running one in this order. The last ones are never
/// named, because they are short or nothing waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
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
    /// Projecting the cloud.
    Project,
    /// Analysing all rows' neighbours.
    Analyse,
    /// Comparing with another file.
    Against,
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
    Beside,
    /// Reading the names of rows.
    Names,
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
pub enum AtExit {
    /// Cancel it without waiting.
    Forget,
    /// Cancel it and wait until it has removed partial results.
    Stop,
    /// Wait until it is complete.
    Finish,
}

/// How to cancel a task that the status line names.
pub enum Cancel<C> {
    /// Ask the task to stop; its result says that it was cancelled.
    Ask,
    /// Call this instead.
    By(fn(&mut C)),
}

impl<C> Clone for Cancel<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Cancel<C> {}

/// A kind of task with parameters `A` and result `T`.
pub struct Kind<C, A, T> {
    pub slot: Slot,
    /// Thread name, after `warpscope-`.
    pub thread: &'static str,
    /// Whether several may run at once; otherwise the newest wins, and the previous one is cancelled and its
    /// result dropped.
    pub several: bool,
    /// The status line names the task only after this time.
    pub noticed: Duration,
    /// The status line's text, given the progress; `None` if nothing waits for the task.
    pub purpose: fn(&A, Option<f32>) -> Option<Activity>,
    pub cancel: Cancel<C>,
    pub at_exit: fn(&A) -> AtExit,
    /// Applies the result, after the task was removed from the table.
    pub apply: fn(&mut C, A, Outcome<T>),
}

impl<C, A, T> Kind<C, A, T> {
    /// A base for kinds: one task at a time, too short to be named, and dropped when the window closes.
    pub const fn new(slot: Slot, thread: &'static str, apply: fn(&mut C, A, Outcome<T>)) -> Self {
        Self {
            slot,
            thread,
            several: false,
            noticed: Duration::ZERO,
            purpose: |_, _| None,
            cancel: Cancel::Ask,
            at_exit: |_| AtExit::Forget,
            apply,
        }
    }
}

/// A result, ready to be applied.
pub type Applied<C> = Box<dyn FnOnce(&mut C)>;

/// A running task, or a long-lived thread that sends events. The methods about ending apply only to tasks.
pub trait Row<C> {
    /// The next result to apply; the flag says whether it is the last.
    fn next(&mut self) -> Option<(Applied<C>, bool)>;
    /// The activity to show, if any.
    fn purpose(&self, session: &Session) -> Option<Activity>;
    /// How the status line's Cancel acts on it.
    fn cancel(&self) -> Cancel<C>;
    /// Time until it may be named.
    fn unnoticed(&self) -> Option<Duration> {
        None
    }
    fn ask_to_stop(&self) {}
    fn end(self: Box<Self>) {}
    fn about(&self) -> Option<&dyn Any> {
        None
    }
    fn about_mut(&mut self) -> Option<&mut dyn Any> {
        None
    }
    #[cfg(test)]
    fn began(&mut self, _since: Instant) {}
}

/// A running task.
struct Underway<C: 'static, A: 'static, T: 'static> {
    kind: &'static Kind<C, A, T>,
    about: Option<A>,
    task: Result<Task<T>, Option<Stopped>>,
    since: Instant,
}

impl<C: 'static, A: 'static, T: Send + 'static> Row<C> for Underway<C, A, T> {
    fn next(&mut self) -> Option<(Applied<C>, bool)> {
        let outcome = match &mut self.task {
            Ok(task) => task.try_finish()?,
            Err(why) => Err(why.take()?),
        };
        let (about, apply) = (self.about.take()?, self.kind.apply);
        Some((Box::new(move |to| apply(to, about, outcome)), true))
    }

    fn purpose(&self, _: &Session) -> Option<Activity> {
        let about = self.about.as_ref().filter(|_| self.since.elapsed() >= self.kind.noticed)?;
        (self.kind.purpose)(about, self.task.as_ref().ok().and_then(Task::fraction))
    }

    fn cancel(&self) -> Cancel<C> {
        self.kind.cancel
    }

    fn unnoticed(&self) -> Option<Duration> {
        self.kind.noticed.checked_sub(self.since.elapsed()).filter(|left| !left.is_zero())
    }

    fn ask_to_stop(&self) {
        if let Ok(task) = &self.task {
            task.cancel();
        }
    }

    fn end(self: Box<Self>) {
        let (Ok(task), Some(about)) = (self.task, self.about) else { return };
        match (self.kind.at_exit)(&about) {
            AtExit::Forget => drop(task),
            AtExit::Stop => task.stop(),
            AtExit::Finish => task.finish(),
        }
    }

    fn about(&self) -> Option<&dyn Any> {
        self.about.as_ref().map(|about| about as &dyn Any)
    }

    fn about_mut(&mut self) -> Option<&mut dyn Any> {
        self.about.as_mut().map(|about| about as &mut dyn Any)
    }

    #[cfg(test)]
    fn began(&mut self, since: Instant) {
        self.since = since;
    }
}

/// All running tasks, in the order of [`Slot`].
pub struct Jobs<C> {
    rows: Vec<(Slot, Box<dyn Row<C>>)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<C: 'static> Jobs<C> {
    /// An empty table. `wake` is called when something changes.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { rows: Vec::new(), wake: Arc::new(wake) }
    }

    /// Starts a task. A failure to spawn its thread becomes its result.
    pub fn start<A: 'static, T: Send + 'static>(
        &mut self,
        kind: &'static Kind<C, A, T>,
        about: A,
        work: impl FnOnce(&dyn Progress) -> T + Send + 'static,
    ) {
        if !kind.several {
            self.stop(kind);
        }
        let wake = Arc::clone(&self.wake);
        let task = Task::start(kind.thread, move || wake(), work)
            .map_err(|error| Some(Stopped::NoThread(error.to_string())));
        if task.is_err() {
            (self.wake)();
        }
        self.insert(kind.slot, Underway { kind, about: Some(about), task, since: Instant::now() });
    }

    /// Adds a row, such as a long-lived thread.
    pub fn insert(&mut self, slot: Slot, row: impl Row<C> + 'static) {
        let at = self.rows.partition_point(|(other, _)| *other <= slot);
        self.rows.insert(at, (slot, Box::new(row)));
    }

    /// The next result of any task.
    pub fn next(&mut self) -> Option<Applied<C>> {
        let (at, (said, last)) =
            self.rows.iter_mut().enumerate().find_map(|(at, (_, row))| Some((at, row.next()?)))?;
        if last {
            self.rows.remove(at);
        }
        Some(said)
    }

    /// The activity that the status line names, and the time until another may have to be named.
    pub fn activity(&self, session: &Session) -> (Option<(Slot, Activity)>, Option<Duration>) {
        let named = self.rows.iter().find_map(|(slot, row)| Some((*slot, row.purpose(session)?)));
        (named, self.rows.iter().filter_map(|(_, row)| row.unnoticed()).min())
    }

    /// Cancels the task that the status line names, if any: asks it to stop, or returns what to do instead.
    pub fn cancel(&mut self, session: &Session) -> Option<Cancel<C>> {
        let row = &self.rows.iter().find(|(_, row)| row.purpose(session).is_some())?.1;
        let cancel = row.cancel();
        if matches!(cancel, Cancel::Ask) {
            row.ask_to_stop();
        }
        Some(cancel)
    }

    pub fn has<A, T>(&self, kind: &Kind<C, A, T>) -> bool {
        self.rows.iter().any(|(slot, _)| *slot == kind.slot)
    }

    /// Number of running tasks, including those that are never named.
    pub fn tasks(&self) -> usize {
        self.rows.iter().filter(|(_, row)| row.about().is_some()).count()
    }

    /// The parameters of the running task.
    pub fn about<A: 'static, T>(&self, kind: &Kind<C, A, T>) -> Option<&A> {
        let row = &self.rows.iter().find(|(slot, _)| *slot == kind.slot)?.1;
        row.about()?.downcast_ref()
    }

    /// The parameters of the running task, mutable.
    pub fn about_mut<A: 'static, T>(&mut self, kind: &Kind<C, A, T>) -> Option<&mut A> {
        let row = &mut self.rows.iter_mut().find(|(slot, _)| *slot == kind.slot)?.1;
        row.about_mut()?.downcast_mut()
    }

    /// Sets the start time, for tests.
    #[cfg(test)]
    pub fn began(&mut self, slot: Slot, since: Instant) {
        for (_, row) in self.rows.iter_mut().filter(|(other, _)| *other == slot) {
            row.began(since);
        }
    }

    /// Cancels the task and drops its result; returns whether there was one.
    pub fn stop<A, T>(&mut self, kind: &Kind<C, A, T>) -> bool {
        let before = self.rows.len();
        self.rows.retain(|(slot, _)| *slot != kind.slot);
        self.rows.len() < before
    }
}

impl<C> Drop for Jobs<C> {
    /// Waits for tables, pictures, recordings and sessions to be written completely.
    fn drop(&mut self) {
        for (_, row) in self.rows.drain(..) {
            row.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Said = Vec<(u32, Outcome<u32>)>;

    static DOUBLE: Kind<Said, u32, u32> = Kind {
        slot: Slot::Load,
        thread: "double",
        several: false,
        noticed: Duration::ZERO,
        purpose: |_, fraction| Some(Activity::Loading { what: "twice".to_owned(), fraction }),
        cancel: Cancel::Ask,
        at_exit: |_| AtExit::Stop,
        apply: |said, about, outcome| said.push((about, outcome)),
    };

    static SLOW: Kind<Said, u32, u32> = Kind {
        slot: Slot::Select,
        thread: "slow",
        several: true,
        noticed: Duration::from_secs(3_600),
        purpose: |_, _| Some(Activity::Selecting),
        cancel: Cancel::By(Vec::clear),
        at_exit: |_| AtExit::Forget,
        apply: |said, about, outcome| said.push((about, outcome)),
    };

    fn hear(jobs: &mut Jobs<Said>, said: &mut Said) {
        while let Some(apply) = jobs.next() {
            apply(said);
        }
    }

    fn wait(jobs: &mut Jobs<Said>, said: &mut Said, count: usize) {
        while said.len() < count {
            hear(jobs, said);
            std::thread::yield_now();
        }
    }

    #[test]
    fn new_jobs_replace_old_ones_and_stopped_jobs_stay_silent() {
        let (mut jobs, mut said) = (Jobs::new(|| {}), Said::new());
        let until_cancelled = |progress: &dyn Progress| {
            while !progress.cancelled() {
                std::thread::yield_now();
            }
            1
        };
        jobs.start(&DOUBLE, 1, until_cancelled);
        jobs.start(&DOUBLE, 2, |_| 4);
        wait(&mut jobs, &mut said, 1);
        assert_eq!(said, [(2, Ok(4))]);
        jobs.start(&DOUBLE, 3, until_cancelled);
        assert!(jobs.stop(&DOUBLE) && !jobs.stop(&DOUBLE) && !jobs.has(&DOUBLE));
        jobs.start(&DOUBLE, 4, until_cancelled);
        *jobs.about_mut(&DOUBLE).expect("it is under way") = 5;
        assert_eq!(jobs.activity(&Session::default()).0.map(|(slot, _)| slot), Some(Slot::Load));
        assert!(
            matches!(jobs.cancel(&Session::default()), Some(Cancel::Ask)),
            "its own result reports the cancellation"
        );
        wait(&mut jobs, &mut said, 2);
        assert_eq!(said[1], (5, Ok(1)));
    }

    #[test]
    fn short_jobs_are_not_shown_and_panics_are_reported() {
        let (mut jobs, mut said) = (Jobs::new(|| {}), Said::new());
        for about in [1, 2] {
            jobs.start(&SLOW, about, |_| panic!("on purpose"));
        }
        let (named, later) = jobs.activity(&Session::default());
        assert!(named.is_none() && later.is_some_and(|later| later > Duration::from_secs(3_000)));
        assert!(jobs.cancel(&Session::default()).is_none(), "tasks not shown cannot be cancelled");
        wait(&mut jobs, &mut said, 2);
        assert!(
            said.iter().all(|(_, outcome)| *outcome == Err(Stopped::Broken("on purpose".to_owned()))),
            "{said:?}"
        );
    }
}
