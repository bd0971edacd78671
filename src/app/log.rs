//! Everything that was said, with its time.

use std::time::{SystemTime, UNIX_EPOCH};

/// How loud an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something was done.
    Info,
    /// Something should be known.
    Warning,
    /// Something failed.
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

/// A thing said.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Seconds since 1970 UTC.
    pub unix: u64,
    /// How loud.
    pub level: Level,
    /// What.
    pub text: String,
}

impl Entry {
    /// `21:04:59`, UTC.
    pub fn time(&self) -> String {
        let second = self.unix % 86_400;
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}

/// The last thousands of things said.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
}

impl Log {
    const MOST: usize = 10_000;

    /// Says something now.
    pub fn say(&mut self, level: Level, text: impl Into<String>) {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        self.push(Entry { unix, level, text: text.into() });
    }

    /// Says something that was done.
    pub fn info(&mut self, text: impl Into<String>) {
        self.say(Level::Info, text);
    }

    /// Says what should be known.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.say(Level::Warning, text);
    }

    /// Says what went wrong.
    pub fn error(&mut self, text: impl Into<String>) {
        self.say(Level::Error, text);
    }

    /// Adds an entry; the oldest go when there are too many.
    pub fn push(&mut self, entry: Entry) {
        if self.entries.len() == Self::MOST {
            self.entries.drain(..Self::MOST / 10);
        }
        self.entries.push(entry);
    }

    /// Oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What the status line shows.
    pub fn last(&self) -> Option<&Entry> {
        self.entries.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_day() {
        assert_eq!(Entry { unix: 86_400 + 3_661, level: Level::Info, text: String::new() }.time(), "01:01:01");
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
