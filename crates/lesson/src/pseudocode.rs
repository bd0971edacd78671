//! An algorithm as pseudocode, and the matching lines of `cuda/`.

use super::step::Step;

/// A line of pseudocode with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Indentation level, from 0.
    pub depth: usize,
    /// The text without indentation.
    pub text: &'static str,
    /// A file by its path below `cuda/`, and a text that occurs exactly once in it, on the matching line.
    pub source: Option<(&'static str, &'static str)>,
}

pub(crate) const fn line(depth: usize, text: &'static str, file: &'static str, search: &'static str) -> Line {
    Line { depth, text, source: Some((file, search)) }
}

pub(crate) const fn plain(depth: usize, text: &'static str) -> Line {
    Line { depth, text, source: None }
}

/// An algorithm in two parts.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// All lines; an empty one before the second part.
    pub lines: &'static [Line],
    /// The index of the second part's first line.
    pub second: usize,
    /// What it is the code of: all of it, and each part.
    pub says: [&'static str; 3],
    pub(crate) line_of: fn(&Step) -> Option<usize>,
}

impl Code {
    /// Index of the line that a step executes; `None` for a step of another algorithm.
    pub fn line_of(&self, step: &Step) -> Option<usize> {
        (self.line_of)(step)
    }
}

pub(crate) const BUFFER: &str = "warp/candidate_buffer.cuh";
