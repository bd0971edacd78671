//! A place in a recording.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::recording::Recording;
use super::state::{State, work};
use super::step::Step;

/// What one step of the player is: it stops after the steps of this level and of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Batches, and the end.
    Search,
    /// Each merge as a whole.
    Merge,
    /// Candidates appended, buffer full, swap, sort, minimum, re-sort.
    Stage,
    /// Each ballot, and each layer of compare-exchanges.
    Layer,
    /// Everything: also distances, and every lane's slot.
    Lane,
}

impl Level {
    /// All, coarsest first.
    pub const ALL: [Self; 5] = [Self::Search, Self::Merge, Self::Stage, Self::Layer, Self::Lane];

    /// As it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Merge => "merge",
            Self::Stage => "stage",
            Self::Layer => "layer",
            Self::Lane => "lane",
        }
    }
}

/// What one can jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A ballot with candidates.
    BallotHit,
    /// The end of a merge.
    Merge,
    /// The end of a stage, or anything coarser.
    Stage,
    /// A merge that changed `max_distance`.
    MaxDistance,
}

/// A prefix of a recording's steps, and the state after them.
#[derive(Clone, Debug)]
pub struct Cursor {
    recording: Arc<Recording>,
    position: usize,
    state: State,
    replayed: u64,
}

impl Cursor {
    /// Before the first step.
    pub fn new(recording: Arc<Recording>) -> Self {
        let state = State::new(recording.shape());
        Self { recording, position: 0, state, replayed: 0 }
    }

    /// What it is a place in.
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// Steps done.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The warp after them.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The last step that was done, with all its values.
    pub fn step(&self) -> Option<Cow<'_, Step>> {
        self.position.checked_sub(1).map(|at| self.recording.step(at))
    }

    /// Keys that the last [`Cursor::seek`] may have moved.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Goes to a position, past the end to the last: onwards from here or from a keyframe, whichever is nearer.
    pub fn seek(&mut self, position: usize) {
        let position = position.min(self.recording.len());
        let (keyframe, state) = self.recording.keyframe(position);
        if position < self.position || keyframe > self.position {
            self.state.clone_from(state);
            self.position = keyframe;
        }
        self.replayed = 0;
        for step in &self.recording.steps()[self.position..position] {
            self.state.apply(step);
            self.replayed += work(step, self.state.shape);
        }
        self.position = position;
    }

    /// The position after the next step of a level, or the end.
    pub fn next(&self, level: Level) -> usize {
        let recording = &self.recording;
        (self.position..recording.len()).find(|&at| recording.level(at) <= level).map_or(recording.len(), |at| at + 1)
    }

    /// The position after the step of a level before the last, or the start.
    pub fn previous(&self, level: Level) -> usize {
        let recording = &self.recording;
        (0..self.position.saturating_sub(1)).rev().find(|&at| recording.level(at) <= level).map_or(0, |at| at + 1)
    }

    /// The position after the next mark of a kind.
    pub fn next_mark(&self, mark: Mark) -> Option<usize> {
        let Some(marks) = self.marks(mark) else {
            return (self.position..self.recording.len()).find(|&at| self.recording.level(at) <= Level::Stage).map(|at| at + 1);
        };
        marks.get(marks.partition_point(|&at| (at as usize) < self.position)).map(|&at| at as usize + 1)
    }

    /// The position after the mark of a kind before this one.
    pub fn previous_mark(&self, mark: Mark) -> Option<usize> {
        let Some(marks) = self.marks(mark) else {
            return (0..self.position.saturating_sub(1)).rev().find(|&at| self.recording.level(at) <= Level::Stage).map(|at| at + 1);
        };
        let before = marks.partition_point(|&at| at as usize + 1 < self.position);
        before.checked_sub(1).map(|at| marks[at] as usize + 1)
    }

    fn marks(&self, mark: Mark) -> Option<&[u32]> {
        match mark {
            Mark::BallotHit => Some(&self.recording.hits),
            Mark::Merge => Some(&self.recording.merges),
            Mark::MaxDistance => Some(&self.recording.changes),
            Mark::Stage => None,
        }
    }
}
