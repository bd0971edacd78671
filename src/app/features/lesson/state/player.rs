//! The player: a position in a lesson's recordings, and moves to other positions.

use std::ops::Range;

use crate::lesson::align::align;
use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::picture::page::{panels_of, position_at};
use crate::lesson::picture::{Panel, View};
use crate::lesson::{Cursor, Level, Mark};

/// Available speeds, in steps per second.
pub const SPEEDS: [f32; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// The recordings of a lesson, with a position in each.
#[derive(Clone)]
pub struct Player {
    pub lesson: &'static Lesson,
    /// One recording, or several that are compared.
    pub takes: Vec<Take>,
    cursors: Vec<Cursor>,
    /// For each take, the levels with distinct steps: in the excerpt, and in the whole search.
    levels: Vec<[[bool; Level::ALL.len()]; 2]>,
    active: usize,
    /// The step size.
    pub level: Level,
    /// Whether to show the whole search instead of the lesson's excerpt.
    pub whole: bool,
    /// The previous position, if the last move was a step forward.
    stepped_from: Option<usize>,
    /// When the next step is due during playback, in seconds of egui's clock; `None` when paused.
    due: Option<f64>,
}

impl Player {
    /// A player at the start of the lesson's excerpt. `takes` must not be empty.
    pub fn new(lesson: &'static Lesson, takes: Vec<Take>) -> Self {
        let cursors = takes.iter().map(|take| Cursor::new(take.recording.clone())).collect();
        let levels = takes
            .iter()
            .map(|take| [take.range.clone(), 0..take.recording.len()].map(|range| levels(take, range)))
            .collect();
        let mut player = Self {
            lesson,
            takes,
            cursors,
            levels,
            active: 0,
            level: lesson.level,
            whole: false,
            stepped_from: None,
            due: None,
        };
        player.seek(0);
        player
    }

    /// The selected take, which the others follow.
    pub fn active(&self) -> usize {
        self.active
    }

    pub fn take(&self) -> &Take {
        &self.takes[self.active]
    }

    pub fn cursor(&self) -> &Cursor {
        &self.cursors[self.active]
    }

    /// The lesson's panels at the current position, largest first.
    pub fn panels(&self) -> Vec<Panel> {
        panels_of(self.lesson, &View::new(self.cursor(), 14.0))
    }

    /// The positions in all takes.
    pub fn cursors(&self) -> &[Cursor] {
        &self.cursors
    }

    /// Selects another take, at its current position.
    pub fn choose(&mut self, take: usize) {
        if take < self.takes.len() && take != self.active {
            self.active = take;
            self.seek(self.cursor().position());
        }
    }

    /// The reachable positions.
    pub fn range(&self) -> Range<usize> {
        if self.whole { 0..self.take().recording.len() } else { self.take().range.clone() }
    }

    /// Shows the whole search, or only the lesson's excerpt.
    pub fn set_whole(&mut self, whole: bool) {
        self.whole = whole;
        self.seek(self.cursor().position());
    }

    /// Moves to the position that corresponds to another player's, in the same take.
    pub fn follow(&mut self, other: &Self) {
        self.choose(other.active);
        let from = (&*other.take().recording, other.range());
        let to = (&*self.take().recording, self.range());
        let position = align(from, other.cursor().position(), to);
        self.seek(position);
    }

    /// Whether comparators are marked as deciding differently since a point was moved.
    pub fn has_marks(&self) -> bool {
        self.takes.iter().any(|take| take.recording.changed_comparators().is_some())
    }

    /// Removes the marks from takes and cursors, which each hold the recording.
    pub fn remove_marks(&mut self) {
        for (take, cursor) in self.takes.iter_mut().zip(&mut self.cursors) {
            let position = cursor.position();
            take.mark_changed_comparators(None);
            *cursor = Cursor::new(take.recording.clone());
            cursor.seek(position);
        }
    }

    /// Moves to a position, clamped to the range; the other takes move to the same number of points seen.
    pub fn seek(&mut self, position: usize) {
        let range = self.range();
        let position = position.clamp(range.start, range.end);
        self.stepped_from = None;
        self.cursors[self.active].seek(position);
        if self.takes.len() < 2 {
            return;
        }
        let seen = self.cursor().state().counts.points_seen;
        let at = if position == range.end {
            |take: &Take, _: u32| take.range.end
        } else if position == range.start {
            |take: &Take, _: u32| take.range.start
        } else {
            |take: &Take, seen: u32| position_at(&take.recording, seen)
        };
        for (other, (cursor, take)) in self.cursors.iter_mut().zip(&self.takes).enumerate() {
            if other != self.active {
                cursor.seek(at(take, seen));
            }
        }
    }

    /// Steps forward at the current level; returns false at the end.
    pub fn forward(&mut self) -> bool {
        let (before, next) = (self.cursor().position(), self.cursor().next(self.level));
        self.seek(next);
        self.stepped_from = Some(before);
        self.cursor().position() > before
    }

    /// The position before the last step forward; `None` after any other move.
    pub fn stepped_from(&self) -> Option<usize> {
        self.stepped_from
    }

    /// Steps back at the current level.
    pub fn back(&mut self) {
        self.seek(self.cursor().previous(self.level));
    }

    /// Moves to the next mark of a kind, or to the end.
    pub fn next_mark(&mut self, mark: Mark) {
        self.seek(self.cursor().next_mark(mark).unwrap_or(usize::MAX));
    }

    /// Moves to the previous mark of a kind, or to the start.
    pub fn previous_mark(&mut self, mark: Mark) {
        self.seek(self.cursor().previous_mark(mark).unwrap_or(0));
    }

    pub fn is_playing(&self) -> bool {
        self.due.is_some()
    }

    /// Starts playback; at the end, from the start.
    pub fn play(&mut self, now: f64) {
        if self.cursor().position() >= self.range().end {
            self.seek(0);
        }
        self.due = Some(now);
    }

    pub fn pause(&mut self) {
        self.due = None;
    }

    /// Performs the steps that are due; returns the seconds until the next.
    pub fn advance(&mut self, now: f64, steps_per_second: f32) -> Option<f64> {
        /// After a longer gap between frames, skipped steps are not made up.
        const MAX_GAP_SECS: f64 = 0.25;
        let mut due = self.due?;
        if now - due > MAX_GAP_SECS {
            due = now;
        }
        while due <= now {
            if !self.forward() {
                self.due = None;
                return None;
            }
            due += 1.0 / f64::from(steps_per_second.max(0.01));
        }
        self.due = Some(due);
        Some(due - now)
    }

    /// Whether a level has steps in the current range that coarser levels lack.
    pub fn has_level(&self, level: Level) -> bool {
        self.levels[self.active][usize::from(self.whole)][level as usize]
    }

    /// Positions in the current range where merges end.
    pub fn merges(&self) -> impl Iterator<Item = usize> + '_ {
        let recording = &self.take().recording;
        let range = self.range();
        (0..recording.merges())
            .filter_map(|merge| recording.position_of_merge(merge))
            .filter(move |at| *at > range.start && *at <= range.end)
    }
}

fn levels(take: &Take, range: Range<usize>) -> [bool; Level::ALL.len()] {
    let mut levels = [false; Level::ALL.len()];
    for at in range {
        levels[take.recording.level(at) as usize] = true;
    }
    levels
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::lesson::lessons::{Overrides, named};
    use crate::progress::NoProgress;

    pub fn player(id: &str) -> Player {
        let lesson = named(id).expect("there is such a lesson");
        Player::new(lesson, lesson.record(Overrides::default(), &NoProgress).expect("its own data"))
    }

    #[test]
    fn the_player_stays_in_the_lesson_range_by_default() {
        let mut player = player("merge");
        let range = player.take().range.clone();
        assert!(range.start > 0 && player.cursor().position() == range.start);
        player.back();
        assert_eq!(player.cursor().position(), range.start);
        player.seek(usize::MAX);
        assert_eq!(player.cursor().position(), range.end);
        assert!(!player.forward());
        player.set_whole(true);
        player.seek(0);
        assert_eq!(player.cursor().position(), 0);
        player.set_whole(false);
        assert_eq!(player.cursor().position(), range.start);
    }

    #[test]
    fn seeking_back_restores_the_state() {
        let mut player = player("search");
        player.level = Level::Layer;
        player.seek(player.range().end / 2);
        let state = player.cursor().state().clone();
        let position = player.cursor().position();
        for _ in 0..7 {
            player.forward();
        }
        player.next_mark(Mark::Merge);
        player.seek(position);
        assert_eq!(*player.cursor().state(), state);
    }

    #[test]
    fn compared_takes_are_aligned_by_points_seen() {
        let mut player = player("order");
        assert_eq!(player.takes.len(), 3);
        player.level = Level::Merge;
        player.choose(2);
        for _ in 0..4 {
            player.forward();
            let seen: Vec<u32> =
                player.cursors().iter().map(|cursor| cursor.state().counts.points_seen).collect();
            assert!(seen.iter().all(|&other| other == seen[2]), "{seen:?}");
        }
        player.seek(usize::MAX);
        for (cursor, take) in player.cursors().iter().zip(&player.takes) {
            assert_eq!(cursor.position(), take.range.end);
        }
    }

    #[test]
    fn playback_runs_at_constant_speed_to_the_end() {
        let mut player = player("sort");
        let stops = player.range().len();
        player.play(10.0);
        assert_eq!(player.advance(10.0, 2.0), Some(0.5));
        assert_eq!(player.cursor().position(), player.range().start + 1);
        let rest = player.advance(10.4, 2.0).expect("it plays");
        assert!((rest - 0.1).abs() < 1e-9, "{rest}");
        assert_eq!(player.cursor().position(), player.range().start + 1, "not yet");
        player.advance(10.5, 2.0);
        assert_eq!(player.cursor().position(), player.range().start + 2);
        player.advance(99.0, 2.0);
        assert_eq!(player.cursor().position(), player.range().start + 3, "skipped steps are not made up");
        for step in 0..stops {
            player.advance(100.0 + step as f64, 2.0);
        }
        assert!(!player.is_playing() && player.cursor().position() == player.range().end);
        player.play(200.0);
        assert_eq!(player.cursor().position(), player.range().start, "playback restarts");
    }

    #[test]
    fn levels_without_steps_are_unavailable() {
        let player = player("sort");
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|&level| player.has_level(level)).collect();
        assert_eq!(levels, [Level::Stage, Level::Layer]);
        let mut player = player;
        player.set_whole(true);
        assert!(
            Level::ALL.into_iter().all(|level| player.has_level(level)),
            "the whole search has steps at every level"
        );
    }
}
