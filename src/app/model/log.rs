//! The message log, and what the status line shows of it: the newest note, preceded by the latest problem
//! until it is resolved or dismissed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::run::JobId;

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    pub fn text(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Seconds since 1970 UTC.
    pub unix: u64,
    pub level: Level,
    pub text: String,
}

impl Entry {
    fn now(level: Level, text: impl Into<String>) -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        Self { unix, level, text: text.into() }
    }

    /// Time of day in UTC, such as `21:04:59`.
    pub fn time(&self) -> String {
        let second = self.unix % 86_400;
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}

/// The subject of a message. The next success on the same subject clears its problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file or a generator, and how it is shown.
    Data,
    Run,
    /// The picked query and its answer.
    Query,
    Selection,
    Color,
    Projection,
    /// The analysis of all rows' neighbours.
    Analysis,
    /// Writing a file or the clipboard.
    File,
    Lesson,
    /// Problems that no later success clears.
    Other,
}

/// The most recent messages.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// The latest problem, neither resolved nor dismissed.
    problem: Option<(Subject, Entry)>,
    /// The last message, unless it is the problem.
    note: Option<Entry>,
}

impl Log {
    const MAX_ENTRIES: usize = 10_000;

    /// Logs a completed action.
    pub fn info(&mut self, text: impl Into<String>) {
        self.add(Subject::Other, Entry::now(Level::Info, text));
    }

    /// Logs a success and clears the problem of this subject.
    pub fn done(&mut self, about: Subject, text: impl Into<String>) {
        self.resolve(about);
        self.info(text);
    }

    pub fn warn(&mut self, about: Subject, text: impl Into<String>) {
        self.add(about, Entry::now(Level::Warning, text));
    }

    pub fn error(&mut self, about: Subject, text: impl Into<String>) {
        self.add(about, Entry::now(Level::Error, text));
    }

    /// Logs an error unless it is already shown: a drag across invalid coordinates reports it once.
    pub fn error_once(&mut self, about: Subject, text: &str) {
        if self.problem().is_none_or(|problem| problem.text != text) {
            self.error(about, text);
        }
    }

    /// Lists a message without showing it in the status line, because the window shows it elsewhere.
    pub fn list(&mut self, level: Level, text: impl Into<String>) {
        self.push(Entry::now(level, text));
    }

    pub fn add(&mut self, about: Subject, entry: Entry) {
        self.push(entry.clone());
        let errs = |entry: &Entry| entry.level == Level::Error;
        match entry.level {
            Level::Error => (self.problem, self.note) = (Some((about, entry)), None),
            // A warning does not replace an error that may be unread.
            Level::Warning if !self.problem.as_ref().is_some_and(|(_, problem)| errs(problem)) => {
                (self.problem, self.note) = (Some((about, entry)), None);
            }
            Level::Warning | Level::Info => self.note = Some(entry),
        }
    }

    /// Clears the problem of this subject.
    pub fn resolve(&mut self, about: Subject) {
        self.problem = self.problem.take().filter(|(of, _)| *of != about);
    }

    /// Clears a problem older than `unix`: the user started something that succeeded after it.
    pub fn resolve_before(&mut self, about: Subject, unix: u64) {
        self.problem = self.problem.take().filter(|(of, entry)| *of != about || entry.unix >= unix);
    }

    /// Removes a note that no longer holds from the status line; the list keeps it.
    pub fn remove_note(&mut self, text: &str) {
        self.note = self.note.take().filter(|note| note.text != text);
    }

    /// Clears the problem at the user's request.
    pub fn dismiss(&mut self) {
        self.problem = None;
    }

    /// Appends a message, dropping the oldest when the list is full.
    fn push(&mut self, entry: Entry) {
        if self.entries.len() == Self::MAX_ENTRIES {
            self.entries.drain(..Self::MAX_ENTRIES / 10);
        }
        self.entries.push(entry);
    }

    /// The problem that the status line shows first.
    pub fn problem(&self) -> Option<&Entry> {
        self.problem.as_ref().map(|(_, entry)| entry)
    }

    /// The note that the status line shows next.
    pub fn note(&self) -> Option<&Entry> {
        self.note.as_ref()
    }

    /// All messages, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn last(&self) -> Option<&Entry> {
        self.entries.last()
    }
}

// Background activity, and how it ended.

/// The status line mentions a query or a selection only after this time.
pub const SHOWN_AFTER: Duration = Duration::from_millis(300);

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    #[default]
    Idle,
    /// Reading or generating a cloud.
    Loading {
        /// File name or generator spec.
        what: String,
        /// 0 to 1, if known.
        fraction: Option<f32>,
    },
    Recording {
        /// Text of the status line, such as "lesson 3".
        what: String,
        /// 0 to 1, if known.
        fraction: Option<f32>,
    },
    /// Computing a projection, or reading a column that colours points.
    Preparing {
        /// Text of the status line, such as "Reading column label".
        what: String,
        fraction: Option<f32>,
    },
    /// Reading a file again, to detect changes.
    Checking {
        what: String,
        fraction: Option<f32>,
    },
    Exporting {
        path: PathBuf,
        fraction: Option<f32>,
    },
    Running {
        /// As the worker reports it.
        stage: String,
        /// 0 to 1.
        fraction: f32,
    },
    /// Answering the picked query, if that takes a while.
    Asking,
    /// Selecting points, if that takes a while.
    Selecting,
}

impl Activity {
    /// Whether there is something to cancel.
    pub fn is_busy(&self) -> bool {
        !matches!(self, Self::Idle)
    }
}

/// The worker's current job.
#[derive(Clone, Debug)]
pub struct CurrentJob {
    pub id: JobId,
    pub stage: String,
    pub fraction: f32,
}

/// Why a request gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureReason {
    Cancelled,
    Failed(String),
}

/// How the last load, run and query ended, if without a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastFailures {
    /// Of a file or a generator.
    pub load: Option<FailureReason>,
    /// Of the problem in the left panel.
    pub run: Option<FailureReason>,
    /// Of the picked query.
    pub ask: Option<FailureReason>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_times_show_the_time_of_day() {
        assert_eq!(
            Entry { unix: 86_400 + 3_661, level: Level::Info, text: String::new() }.time(),
            "01:01:01"
        );
    }

    #[test]
    fn errors_remain_until_resolved_or_dismissed() {
        let shown = |log: &Log| {
            [log.problem(), log.note()].map(|entry| entry.map(|entry| entry.text.clone()).unwrap_or_default())
        };
        let mut log = Log::default();
        log.info("a");
        log.error(Subject::Data, "gone");
        assert_eq!(shown(&log), ["gone", ""], "earlier messages are outdated");
        log.done(Subject::Run, "b");
        log.warn(Subject::Data, "c");
        assert_eq!(shown(&log), ["gone", "c"], "the error may be unread");
        log.done(Subject::Data, "d");
        assert_eq!(shown(&log), ["", "d"]);
        log.add(Subject::Data, Entry { unix: 100, level: Level::Error, text: "gone".to_owned() });
        log.resolve_before(Subject::Data, 100);
        assert_eq!(shown(&log), ["gone", ""], "the successful task may have begun earlier");
        log.resolve_before(Subject::Data, 101);
        assert_eq!(shown(&log), ["", ""]);
        log.warn(Subject::Run, "full");
        assert_eq!(shown(&log), ["full", ""]);
        log.error(Subject::Query, "no answer");
        log.list(Level::Warning, "no GPU");
        assert_eq!(shown(&log), ["no answer", ""]);
        log.dismiss();
        assert_eq!((shown(&log), log.entries().len()), (["", ""].map(str::to_owned), 9));
        for (entries, told) in [(10, "at first"), (10, "while it stands there"), (11, "once it was settled")]
        {
            if entries == 11 {
                log.resolve(Subject::Query);
            }
            log.error_once(Subject::Query, "no answer");
            assert_eq!((log.problem().is_some(), log.entries().len()), (true, entries), "{told}");
        }
    }

    #[test]
    fn only_the_matching_note_is_removed() {
        let mut log = Log::default();
        log.info("on the globe");
        log.remove_note("another");
        assert!(log.note().is_some());
        log.remove_note("on the globe");
        assert_eq!((log.note(), log.entries().len()), (None, 1));
    }

    #[test]
    fn the_oldest_entries_are_dropped() {
        let mut log = Log::default();
        for line in 0..=Log::MAX_ENTRIES {
            log.info(line.to_string());
        }
        assert!(log.entries().len() <= Log::MAX_ENTRIES);
        assert_eq!(log.last().map(|entry| entry.text.clone()), Some(Log::MAX_ENTRIES.to_string()));
    }
}
