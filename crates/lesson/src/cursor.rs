//! A position in a recording, and the state of the warp there.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::recording::Recording;
use super::state::{State, step_cost};
use super::step::Step;

/// The level of detail of the player: it stops after steps at this level and coarser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Batches of points, and the end of the search.
    Search,
    /// Each complete merge, but none of its stages.
    Merge,
    /// Candidates appended, buffer full, swap, sort, minimum, re-sort.
    Stage,
    /// Each ballot, and each layer of compare-exchanges.
    Layer,
    /// Everything, including distances and every lane's slot.
    Lane,
}

impl Level {
    /// All levels, coarsest first.
    pub const ALL: [Self; 5] = [Self::Search, Self::Merge, Self::Stage, Self::Layer, Self::Lane];

    /// The level's name in files and on the command line.
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

/// A kind of event to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A ballot with at least one candidate.
    BallotHit,
    /// The completion of a merge.
    Merge,
    /// The completion of a stage, or of anything coarser.
    Stage,
    /// A merge that changed `max_distance`.
    MaxDistance,
}

/// A prefix of a recording's steps, and the state after it.
#[derive(Clone, Debug)]
pub struct Cursor {
    recording: Arc<Recording>,
    position: usize,
    state: State,
    replayed: u64,
}

impl Cursor {
    /// Starts before the first step.
    pub fn new(recording: Arc<Recording>) -> Self {
        let state = recording.start();
        Self { recording, position: 0, state, replayed: 0 }
    }

    /// The recording that it moves in.
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// The number of completed steps.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The state after those steps.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The last completed step with all its values; `None` at position 0.
    pub fn step(&self) -> Option<Cow<'_, Step>> {
        self.position.checked_sub(1).map(|at| self.recording.step(at))
    }

    /// Number of keys that the last [`Cursor::seek`] may have moved.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Moves to a position, clamped to the end: forwards from here or from a keyframe, whichever is nearer.
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
            self.replayed += step_cost(step, self.state.shape);
        }
        self.position = position;
    }

    /// The position after the next step of a level, or the end.
    pub fn next(&self, level: Level) -> usize {
        let recording = &self.recording;
        (self.position..recording.len())
            .find(|&at| recording.level(at) <= level)
            .map_or(recording.len(), |at| at + 1)
    }

    /// The position after the previous step of a level, or the start.
    pub fn previous(&self, level: Level) -> usize {
        let recording = &self.recording;
        (0..self.position.saturating_sub(1))
            .rev()
            .find(|&at| recording.level(at) <= level)
            .map_or(0, |at| at + 1)
    }

    /// The position after the next mark of a kind.
    pub fn next_mark(&self, mark: Mark) -> Option<usize> {
        let Some(marks) = self.marks(mark) else {
            return (self.position..self.recording.len())
                .find(|&at| self.recording.level(at) <= Level::Stage)
                .map(|at| at + 1);
        };
        marks.get(marks.partition_point(|&at| (at as usize) < self.position)).map(|&at| at as usize + 1)
    }

    /// The position after the previous mark of a kind.
    pub fn previous_mark(&self, mark: Mark) -> Option<usize> {
        let Some(marks) = self.marks(mark) else {
            return (0..self.position.saturating_sub(1))
                .rev()
                .find(|&at| self.recording.level(at) <= Level::Stage)
                .map(|at| at + 1);
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
