//! The table of what goes on in the background. A [`Kind`] says once of a task what it is for, whether one
//! takes the place of the one before, what Cancel does, and what takes in its result; [`Jobs`] holds those
//! that are under way, whatever their types, and [`Jobs::next`] is the one place that looks whether any has
//! something to say.
//!
//! `C` is what results are taken in by: the window.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::task::{Outcome, Stopped, Task};
use crate::app::model::{Activity, Session};
use crate::progress::Progress;

/// What tasks are for. Where several are under way, the status line names the first in this order; the last
/// ones are never named, as they take a moment or nobody waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// A cloud is read or generated. Before a run, because it is what the next run waits for.
    Load,
    /// A recording is read.
    Open,
    /// The problem on the left is answered.
    Run,
    /// A lesson's search is recorded.
    Record,
    /// A file of the lesson, a graph, a recording or a session is written.
    Export,
    /// The cloud is projected.
    Project,
    /// What the neighbours of all rows say of them is worked out.
    Analyse,
    /// What another file says of the rows.
    Against,
    /// Values by which points are coloured are worked out.
    Color,
    /// The way of a search through an index is recorded.
    Walk,
    /// Why a row is, or is not, among the neighbours is worked out.
    Why,
    /// All rows within a distance of the query are found.
    Nearby,
    /// A file is read again, to see whether it has changed.
    Check,
    /// The picked query is answered.
    Ask,
    /// A change of the selection is worked out.
    Select,
    /// What a click means is searched.
    Pick,
    /// What the pointer rests on is searched.
    Hover,
    /// The row that a dragged query goes to is searched.
    Snap,
    /// The other columns of the point that the pointer rests on are read.
    Lookup,
    /// Those of the neighbours that are listed.
    Beside,
    /// What the rows are called.
    Names,
    /// Rows are searched by what they are called.
    Search,
    /// What theory expects of the answer.
    Theory,
    /// Histogram, band and timeline of a run.
    Derive,
    /// Two runs are compared.
    Compare,
    /// The columns of a file are listed.
    Columns,
    /// The first rows of a file are read.
    Preview,
    /// Whether an engine can run is found out.
    Probe,
    /// A file is chosen in a dialog of the desktop.
    Dialog,
    /// A folder is listed in our own dialog.
    List,
    /// A table or a picture is written.
    Save,
}

/// What becomes of a task when the window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtExit {
    /// It is cancelled, and not waited for.
    Forget,
    /// It is cancelled, and waited for: what it began is removed.
    Stop,
    /// All of it is done first.
    Finish,
}

/// What Cancel does with a task that the status line names.
pub enum Cancel<C> {
    /// It is asked to stop, and says that it was.
    Ask,
    /// Calls this in place of asking the task to stop.
    By(fn(&mut C)),
}

impl<C> Clone for Cancel<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Cancel<C> {}

/// A row of the table: a kind of task, with what is asked of it (`A`) and what comes of it (`T`).
pub struct Kind<C, A, T> {
    /// What it is for.
    pub slot: Slot,
    /// The name of its thread, after `warpscope-`.
    pub thread: &'static str,
    /// Whether several may be under way; else the newest wins, and the one before it is cancelled and its
    /// result lost.
    pub several: bool,
    /// After so long it is worth a word in the status line.
    pub noticed: Duration,
    /// That word, from how far it is; `None` for what nobody waits for.
    pub purpose: fn(&A, Option<f32>) -> Option<Activity>,
    /// How Cancel stops it.
    pub cancel: Cancel<C>,
    /// What becomes of it when the window closes.
    pub at_exit: fn(&A) -> AtExit,
    /// What takes in its result. It is out of the table by then.
    pub apply: fn(&mut C, A, Outcome<T>),
}

impl<C, A, T> Kind<C, A, T> {
    /// One at a time, so short that the status line does not name it, and nothing is lost if the window
    /// closes first: what most kinds begin with.
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

/// A result, and who takes it in.
pub type Applied<C> = Box<dyn FnOnce(&mut C)>;

/// What is under way: a task, or a thread that lives as long as the window and says something now and then.
/// Of such a thread nothing is asked that has an end.
pub trait Row<C> {
    /// What it has to say, to be taken in; true when that was the last.
    fn next(&mut self) -> Option<(Applied<C>, bool)>;
    /// What it does, where that is worth a word.
    fn purpose(&self, session: &Session) -> Option<Activity>;
    /// What the status line's Cancel does to it.
    fn cancel(&self) -> Cancel<C>;
    /// How long until it is worth a word.
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

/// A task that is under way.
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

/// All that is under way, in the order of [`Slot`].
pub struct Jobs<C> {
    rows: Vec<(Slot, Box<dyn Row<C>>)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<C: 'static> Jobs<C> {
    /// None yet. `wake` is called when there is something to see.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { rows: Vec::new(), wake: Arc::new(wake) }
    }

    /// Starts a task. Where the system has no thread for it, that is what comes of it.
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

    /// Takes in a row, such as a thread that is to be heard.
    pub fn insert(&mut self, slot: Slot, row: impl Row<C> + 'static) {
        let at = self.rows.partition_point(|(other, _)| *other <= slot);
        self.rows.insert(at, (slot, Box::new(row)));
    }

    /// The first thing that any of them has to say.
    pub fn next(&mut self) -> Option<Applied<C>> {
        let (at, (said, last)) =
            self.rows.iter_mut().enumerate().find_map(|(at, (_, row))| Some((at, row.next()?)))?;
        if last {
            self.rows.remove(at);
        }
        Some(said)
    }

    /// What the status line names, and when another is to be named at the latest.
    pub fn activity(&self, session: &Session) -> (Option<(Slot, Activity)>, Option<Duration>) {
        let named = self.rows.iter().find_map(|(slot, row)| Some((*slot, row.purpose(session)?)));
        (named, self.rows.iter().filter_map(|(_, row)| row.unnoticed()).min())
    }

    /// Cancels what the status line names, if it names anything: asks it to stop, or gives what is to be done
    /// instead.
    pub fn cancel(&mut self, session: &Session) -> Option<Cancel<C>> {
        let row = &self.rows.iter().find(|(_, row)| row.purpose(session).is_some())?.1;
        let cancel = row.cancel();
        if matches!(cancel, Cancel::Ask) {
            row.ask_to_stop();
        }
        Some(cancel)
    }

    /// Whether a task of a kind is under way.
    pub fn has<A, T>(&self, kind: &Kind<C, A, T>) -> bool {
        self.rows.iter().any(|(slot, _)| *slot == kind.slot)
    }

    /// How many tasks are under way, also those that nobody waits for.
    pub fn tasks(&self) -> usize {
        self.rows.iter().filter(|(_, row)| row.about().is_some()).count()
    }

    /// What was asked of it.
    pub fn about<A: 'static, T>(&self, kind: &Kind<C, A, T>) -> Option<&A> {
        let row = &self.rows.iter().find(|(slot, _)| *slot == kind.slot)?.1;
        row.about()?.downcast_ref()
    }

    /// The same, to be asked otherwise.
    pub fn about_mut<A: 'static, T>(&mut self, kind: &Kind<C, A, T>) -> Option<&mut A> {
        let row = &mut self.rows.iter_mut().find(|(slot, _)| *slot == kind.slot)?.1;
        row.about_mut()?.downcast_mut()
    }

    /// As if it had begun then, for tests.
    #[cfg(test)]
    pub fn began(&mut self, slot: Slot, since: Instant) {
        for (_, row) in self.rows.iter_mut().filter(|(other, _)| *other == slot) {
            row.began(since);
        }
    }

    /// Lets go of it: it is cancelled, and its result is lost. True when there was one.
    pub fn stop<A, T>(&mut self, kind: &Kind<C, A, T>) -> bool {
        let before = self.rows.len();
        self.rows.retain(|(slot, _)| *slot != kind.slot);
        self.rows.len() < before
    }
}

impl<C> Drop for Jobs<C> {
    /// Tables, pictures, recordings and sessions that are being written are finished, however large.
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
    fn the_newest_wins_and_what_is_stopped_is_not_heard() {
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
        assert!(matches!(jobs.cancel(&Session::default()), Some(Cancel::Ask)), "it says itself that it was");
        wait(&mut jobs, &mut said, 2);
        assert_eq!(said[1], (5, Ok(1)));
    }

    #[test]
    fn what_takes_a_moment_is_not_named_and_what_breaks_says_so() {
        let (mut jobs, mut said) = (Jobs::new(|| {}), Said::new());
        for about in [1, 2] {
            jobs.start(&SLOW, about, |_| panic!("on purpose"));
        }
        let (named, later) = jobs.activity(&Session::default());
        assert!(named.is_none() && later.is_some_and(|later| later > Duration::from_secs(3_000)));
        assert!(jobs.cancel(&Session::default()).is_none(), "what is not named is not cancelled");
        wait(&mut jobs, &mut said, 2);
        assert!(
            said.iter().all(|(_, outcome)| *outcome == Err(Stopped::Broken("on purpose".to_owned()))),
            "{said:?}"
        );
    }
}
