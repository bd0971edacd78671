//! Everything that was said, with its time, and what of it stands in the status line: the newest note, and
//! before it what went wrong, until something of its kind succeeds or somebody has read it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::run::JobId;

/// How loud an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    /// Something should be known.
    Warning,
    Error,
}

impl Level {
    /// As the log writes it.
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

/// What is said of: what went wrong is settled by the next success of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A file or a generator, and what is shown of it.
    Data,
    Run,
    /// The picked query and its answer.
    Query,
    Selection,
    /// By what points are coloured.
    Color,
    /// On what points are projected.
    Projection,
    /// What the neighbours of all rows say.
    Analysis,
    /// A file or the clipboard, written to.
    File,
    Lesson,
    /// What no later success undoes.
    Other,
}

/// The last thousands of things said.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// What went wrong, and is neither settled nor dismissed.
    trouble: Option<(About, Entry)>,
    /// What was said last, where that is not the trouble.
    note: Option<Entry>,
}

impl Log {
    const MOST: usize = 10_000;

    /// Says something that was done.
    pub fn info(&mut self, text: impl Into<String>) {
        self.say(About::Other, Entry::now(Level::Info, text));
    }

    /// Says what was done, and that what went wrong of its kind is no matter any more.
    pub fn done(&mut self, about: About, text: impl Into<String>) {
        self.settle(about);
        self.info(text);
    }

    /// Says what should be known.
    pub fn warn(&mut self, about: About, text: impl Into<String>) {
        self.say(about, Entry::now(Level::Warning, text));
    }

    /// Says what went wrong.
    pub fn error(&mut self, about: About, text: impl Into<String>) {
        self.say(about, Entry::now(Level::Error, text));
    }

    /// Says what went wrong, unless it still stands there: a drag through places that cannot be asked says it
    /// once.
    pub fn error_once(&mut self, about: About, text: &str) {
        if self.trouble().is_none_or(|trouble| trouble.text != text) {
            self.error(about, text);
        }
    }

    /// Lists what has a place of its own in the window: the status line says nothing of it.
    pub fn list(&mut self, level: Level, text: impl Into<String>) {
        self.keep(Entry::now(level, text));
    }

    pub fn say(&mut self, about: About, entry: Entry) {
        self.keep(entry.clone());
        let errs = |entry: &Entry| entry.level == Level::Error;
        match entry.level {
            Level::Error => (self.trouble, self.note) = (Some((about, entry)), None),
            // It does not push out an error, which may not have been read.
            Level::Warning if !self.trouble.as_ref().is_some_and(|(_, trouble)| errs(trouble)) => {
                (self.trouble, self.note) = (Some((about, entry)), None);
            }
            Level::Warning | Level::Info => self.note = Some(entry),
        }
    }

    /// Something succeeded: what went wrong of its kind is no matter any more.
    pub fn settle(&mut self, about: About) {
        self.trouble = self.trouble.take().filter(|(of, _)| *of != about);
    }

    /// Something else succeeded that began then: the user went on from what had gone wrong before.
    pub fn settle_before(&mut self, about: About, unix: u64) {
        self.trouble = self.trouble.take().filter(|(of, entry)| *of != about || entry.unix >= unix);
    }

    /// What was said last holds no longer, where it is this: the status line stops saying it, and the list
    /// keeps it.
    pub fn withdraw(&mut self, text: &str) {
        self.note = self.note.take().filter(|note| note.text != text);
    }

    /// The user has dismissed what went wrong.
    pub fn dismiss(&mut self) {
        self.trouble = None;
    }

    /// Lists an entry; the oldest go when there are too many.
    fn keep(&mut self, entry: Entry) {
        if self.entries.len() == Self::MOST {
            self.entries.drain(..Self::MOST / 10);
        }
        self.entries.push(entry);
    }

    /// What the status line shows first: what went wrong.
    pub fn trouble(&self) -> Option<&Entry> {
        self.trouble.as_ref().map(|(_, entry)| entry)
    }

    /// What the status line shows after it: what was said since.
    pub fn note(&self) -> Option<&Entry> {
        self.note.as_ref()
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn last(&self) -> Option<&Entry> {
        self.entries.last()
    }
}

// What goes on in the background, and how it ended.

/// After so long an ask, or a selection, is worth a word in the status line.
pub const NOTICED: Duration = Duration::from_millis(300);

/// What the background does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    #[default]
    Idle,
    /// A cloud is read from a file or generated.
    Loading {
        /// A file's name or a generator's spec.
        what: String,
        /// 0 to 1, when it is known.
        fraction: Option<f32>,
    },
    Recording {
        /// What the status line names: "lesson 3".
        what: String,
        /// 0 to 1, when it is known.
        fraction: Option<f32>,
    },
    /// What a view shows is worked out: a projection, or a column of the file that colours points.
    Preparing {
        /// As the status line shows it: "Reading column label".
        what: String,
        fraction: Option<f32>,
    },
    /// A file is read again, to see whether it has changed.
    Checking {
        what: String,
        fraction: Option<f32>,
    },
    Exporting {
        path: PathBuf,
        fraction: Option<f32>,
    },
    Running {
        /// As the worker says it.
        stage: String,
        /// Fraction done, 0 to 1.
        fraction: f32,
    },
    /// The picked query is answered, which takes a while.
    Asking,
    /// Points are selected, which takes a while.
    Selecting,
}

impl Activity {
    /// Whether something is going on, which Cancel stops.
    pub fn is_busy(&self) -> bool {
        !matches!(self, Self::Idle)
    }
}

/// A job that the worker has.
#[derive(Clone, Debug)]
pub struct Running {
    pub id: JobId,
    pub stage: String,
    pub fraction: f32,
}

/// Why nothing came of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Cancelled,
    /// It failed: a sentence.
    Failed(String),
}

/// How the last load, the last run and the last ask ended, where nothing came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// Of a file or a generator.
    pub load: Option<Ended>,
    /// Of the problem on the left.
    pub run: Option<Ended>,
    /// Of the picked query.
    pub ask: Option<Ended>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_day() {
        assert_eq!(
            Entry { unix: 86_400 + 3_661, level: Level::Info, text: String::new() }.time(),
            "01:01:01"
        );
    }

    #[test]
    fn what_went_wrong_stays_until_it_is_settled_or_dismissed() {
        let shown = |log: &Log| {
            [log.trouble(), log.note()].map(|entry| entry.map(|entry| entry.text.clone()).unwrap_or_default())
        };
        let mut log = Log::default();
        log.info("a");
        log.error(About::Data, "gone");
        assert_eq!(shown(&log), ["gone", ""], "what was said before it is old");
        log.done(About::Run, "b");
        log.warn(About::Data, "c");
        assert_eq!(shown(&log), ["gone", "c"], "nobody may have read it yet");
        log.done(About::Data, "d");
        assert_eq!(shown(&log), ["", "d"]);
        log.say(About::Data, Entry { unix: 100, level: Level::Error, text: "gone".to_owned() });
        log.settle_before(About::Data, 100);
        assert_eq!(shown(&log), ["gone", ""], "what succeeded may have begun before");
        log.settle_before(About::Data, 101);
        assert_eq!(shown(&log), ["", ""]);
        log.warn(About::Run, "full");
        assert_eq!(shown(&log), ["full", ""]);
        log.error(About::Query, "no answer");
        log.list(Level::Warning, "no GPU");
        assert_eq!(shown(&log), ["no answer", ""]);
        log.dismiss();
        assert_eq!((shown(&log), log.entries().len()), (["", ""].map(str::to_owned), 9));
        for (entries, told) in [(10, "at first"), (10, "while it stands there"), (11, "once it was settled")]
        {
            if entries == 11 {
                log.settle(About::Query);
            }
            log.error_once(About::Query, "no answer");
            assert_eq!((log.trouble().is_some(), log.entries().len()), (true, entries), "{told}");
        }
    }

    #[test]
    fn only_the_note_that_is_withdrawn_goes() {
        let mut log = Log::default();
        log.info("on the globe");
        log.withdraw("another");
        assert!(log.note().is_some());
        log.withdraw("on the globe");
        assert_eq!((log.note(), log.entries().len()), (None, 1));
    }

    #[test]
    fn the_oldest_go() {
        let mut log = Log::default();
        for line in 0..=Log::MOST {
            log.info(line.to_string());
        }
        assert!(log.entries().len() <= Log::MOST);
        assert_eq!(log.last().map(|entry| entry.text.clone()), Some(Log::MOST.to_string()));
    }
}
