//! The player: where in a lesson's recordings we are, and what brings us elsewhere.

use std::ops::Range;

use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::picture::page::{panels_of, position_at};
use crate::lesson::picture::{Panel, View};
use crate::lesson::same_moment::same_moment;
use crate::lesson::{Cursor, Level, Mark};

/// Steps a second that can be chosen.
pub const SPEEDS: [f32; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// A lesson as it was recorded, and a place in each of its takes.
#[derive(Clone)]
pub struct Player {
    pub lesson: &'static Lesson,
    /// Its recordings: one, or several that are compared.
    pub takes: Vec<Take>,
    cursors: Vec<Cursor>,
    /// Of each take, which levels have steps of their own: in its part, and in all of it.
    levels: Vec<[[bool; Level::ALL.len()]; 2]>,
    active: usize,
    /// What a step is.
    pub level: Level,
    /// Whether all of the search is shown, not only what the lesson is about.
    pub whole: bool,
    /// The position that the last move came from, if that was a step forward.
    stepped_from: Option<usize>,
    /// When the next step of its own accord is due, in seconds of the window's clock; `None` while it pauses.
    due: Option<f64>,
}

impl Player {
    /// At the start of what the lesson is about. There is at least one take.
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

    /// The take that is stepped through; others follow.
    pub fn active(&self) -> usize {
        self.active
    }

    /// The take of [`Self::active`].
    pub fn take(&self) -> &Take {
        &self.takes[self.active]
    }

    /// The cursor of the active take.
    pub fn cursor(&self) -> &Cursor {
        &self.cursors[self.active]
    }

    /// The panels of the lesson at the present moment, the largest first.
    pub fn panels(&self) -> Vec<Panel> {
        panels_of(self.lesson, &View::of(self.cursor(), 14.0))
    }

    /// Where each take is.
    pub fn cursors(&self) -> &[Cursor] {
        &self.cursors
    }

    /// Steps through another take, from where it is.
    pub fn choose(&mut self, take: usize) {
        if take < self.takes.len() && take != self.active {
            self.active = take;
            self.seek(self.cursor().position());
        }
    }

    /// The positions that can be gone to.
    pub fn range(&self) -> Range<usize> {
        if self.whole { 0..self.take().recording.len() } else { self.take().range.clone() }
    }

    /// Shows all of the search, or only what the lesson is about.
    pub fn set_whole(&mut self, whole: bool) {
        self.whole = whole;
        self.seek(self.cursor().position());
    }

    /// Goes to the moment that another player of the same lesson shows, of the same take.
    pub fn follow(&mut self, other: &Self) {
        self.choose(other.active);
        let from = (&*other.take().recording, other.range());
        let to = (&*self.take().recording, self.range());
        let position = same_moment(from, other.cursor().position(), to);
        self.seek(position);
    }

    /// Whether comparators are marked that decide otherwise than before something was moved.
    pub fn has_marks(&self) -> bool {
        self.takes.iter().any(|take| take.recording.turned().is_some())
    }

    /// Shows all comparators alike again: of takes and cursors, which each have the recording.
    pub fn remove_marks(&mut self) {
        for (take, cursor) in self.takes.iter_mut().zip(&mut self.cursors) {
            let position = cursor.position();
            take.mark_turned(None);
            *cursor = Cursor::new(take.recording.clone());
            cursor.seek(position);
        }
    }

    /// Goes to a position, or as near as one can; the other takes go to where as many points were seen.
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

    /// One step on at the level of detail; false at the end.
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

    /// One step back at the level of detail.
    pub fn back(&mut self) {
        self.seek(self.cursor().previous(self.level));
    }

    /// To the next mark of a kind, or the end.
    pub fn next_mark(&mut self, mark: Mark) {
        self.seek(self.cursor().next_mark(mark).unwrap_or(usize::MAX));
    }

    /// To the mark of a kind before, or the start.
    pub fn previous_mark(&mut self, mark: Mark) {
        self.seek(self.cursor().previous_mark(mark).unwrap_or(0));
    }

    /// Whether it goes on by itself.
    pub fn is_playing(&self) -> bool {
        self.due.is_some()
    }

    /// Goes on by itself from now on, from the start when it is at the end.
    pub fn play(&mut self, now: f64) {
        if self.cursor().position() >= self.range().end {
            self.seek(0);
        }
        self.due = Some(now);
    }

    /// Stays where it is.
    pub fn pause(&mut self) {
        self.due = None;
    }

    /// Does the steps that are due; gives the seconds to the next one.
    pub fn advance(&mut self, now: f64, steps_per_second: f32) -> Option<f64> {
        /// A window that was away for longer does not catch up.
        const LATE: f64 = 0.25;
        let mut due = self.due?;
        if now - due > LATE {
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

    /// Whether a level has steps of its own in what is shown: some that the level before does not stop at.
    pub fn has_level(&self, level: Level) -> bool {
        self.levels[self.active][usize::from(self.whole)][level as usize]
    }

    /// Where merges end in what is shown.
    pub fn merges(&self) -> impl Iterator<Item = usize> + '_ {
        let recording = &self.take().recording;
        let range = self.range();
        (0..recording.merges())
            .filter_map(|merge| recording.position_of_merge(merge))
            .filter(move |at| *at > range.start && *at <= range.end)
    }
}

/// The levels that steps of a range are of.
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
    use crate::lesson::lessons::{Choice, named};
    use crate::progress::Silent;

    pub fn player(id: &str) -> Player {
        let lesson = named(id).expect("there is such a lesson");
        Player::new(lesson, lesson.record(Choice::default(), &Silent).expect("its own data"))
    }

    #[test]
    fn it_stays_in_what_the_lesson_is_about_until_all_is_asked_for() {
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
    fn going_back_is_exact() {
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
    fn takes_that_are_compared_have_seen_as_many_points() {
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
    fn it_plays_at_its_speed_and_stops_at_the_end() {
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
        assert_eq!(player.cursor().position(), player.range().start + 3, "it does not catch up");
        for step in 0..stops {
            player.advance(100.0 + step as f64, 2.0);
        }
        assert!(!player.is_playing() && player.cursor().position() == player.range().end);
        player.play(200.0);
        assert_eq!(player.cursor().position(), player.range().start, "again from the start");
    }

    #[test]
    fn levels_without_steps_of_their_own_are_known() {
        let player = player("sort");
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|&level| player.has_level(level)).collect();
        assert_eq!(levels, [Level::Stage, Level::Layer]);
        let mut player = player;
        player.set_whole(true);
        assert!(
            Level::ALL.into_iter().all(|level| player.has_level(level)),
            "all of the search has steps of all of them"
        );
    }
}
