//! Selects the moments of a lesson that are shown in a film or handout.

use super::cursor::Level;
use super::lessons::{Lesson, Take};
use super::recording::Recording;

/// Default maximum number of pictures in a film.
pub const MAX_FRAMES: usize = 120;

/// Default maximum number of pictures in a handout.
pub const MAX_PRINTED: usize = 16;

/// A selection of moments; `None` means the lesson's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The first position of the range.
    pub from: Option<usize>,
    /// The last position of the range.
    pub to: Option<usize>,
    /// Include steps at this level of detail and coarser.
    pub level: Option<Level>,
    /// Include every n-th position.
    pub every: usize,
    /// Maximum number of positions; if there are more, they are thinned evenly, keeping the first and last.
    pub max: usize,
}

/// Selected positions in a recording, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moments {
    /// The selected positions; a position is the number of completed steps.
    pub positions: Vec<usize>,
    /// Every position of the level within the range.
    pub all: Vec<usize>,
    /// The level that positions stop at.
    pub level: Level,
}

impl Moments {
    /// The next candidate after a position.
    pub fn next_after(&self, position: usize) -> Option<usize> {
        self.all.get(self.all.partition_point(|&at| at <= position)).copied()
    }
}

/// Why a selection is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MomentError {
    /// A position is past the end.
    #[error("invalid step {position}: must be between 0 and {steps}")]
    Past {
        /// The position that was requested.
        position: usize,
        /// Number of steps in the recording.
        steps: usize,
    },
    /// The range runs backwards.
    #[error("from step {from} to step {to}: the range is backwards")]
    Backwards {
        /// The first position requested.
        from: usize,
        /// The last position requested.
        to: usize,
    },
    /// A count of 0 selects nothing.
    #[error("{what} = 0: must be at least 1")]
    None {
        /// Name of the count.
        what: &'static str,
    },
}

/// Checks that a position is within a recording.
///
/// # Errors
/// [`MomentError::Past`] if it is not.
pub fn check(recording: &Recording, position: usize) -> Result<usize, MomentError> {
    let steps = recording.len();
    if position <= steps { Ok(position) } else { Err(MomentError::Past { position, steps }) }
}

impl Selection {
    /// The lesson's own range at its own level of detail, in at most `max` pictures.
    pub fn for_lesson(max: usize) -> Self {
        Self { from: None, to: None, level: None, every: 1, max }
    }

    /// Resolves the selection for a take: the position before the first step, those after each step of the
    /// level, and the last one.
    ///
    /// # Errors
    /// [`MomentError`] if the selection is invalid for this recording.
    pub fn moments(&self, lesson: &Lesson, take: &Take) -> Result<Moments, MomentError> {
        let recording = &take.recording;
        for (what, number) in [("every", self.every), ("max-pictures", self.max)] {
            if number == 0 {
                return Err(MomentError::None { what });
            }
        }
        let (from, to) = (
            check(recording, self.from.unwrap_or(take.range.start))?,
            check(recording, self.to.unwrap_or(take.range.end))?,
        );
        // A single given end may be beyond the lesson's other end.
        let (from, to) = match (self.from, self.to) {
            (Some(_), None) if from > to => (from, recording.len()),
            (None, Some(_)) if from > to => (0, to),
            (Some(_), Some(_)) if from > to => return Err(MomentError::Backwards { from, to }),
            _ => (from, to),
        };
        let level = self.level.unwrap_or(lesson.level);
        let stops =
            (from + 1..=to).filter(|&position| position == to || recording.level(position - 1) <= level);
        let all: Vec<usize> = std::iter::once(from).chain(stops).collect();
        let chosen: Vec<usize> = all.iter().step_by(self.every).copied().collect();
        Ok(Moments { positions: spread(&chosen, self.max), all, level })
    }
}

/// At most `max` of the numbers, evenly spaced, including the first and last; if only one, the last.
pub(super) fn spread(numbers: &[usize], max: usize) -> Vec<usize> {
    if numbers.len() <= max {
        return numbers.to_vec();
    }
    let last = numbers.len() - 1;
    if max == 1 {
        return vec![numbers[last]];
    }
    (0..max).map(|i| numbers[i * last / (max - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::{self, Overrides};
    use crate::progress::NoProgress;

    fn take(id: &str) -> (&'static Lesson, Take) {
        let lesson = lessons::named(id).unwrap();
        (lesson, lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0))
    }

    #[test]
    fn lesson_moments_span_the_whole_range() {
        let (lesson, take) = take("merge");
        let moments = Selection::for_lesson(100).moments(lesson, &take).unwrap();
        assert_eq!(
            (moments.positions[0], *moments.positions.last().unwrap()),
            (take.range.start, take.range.end)
        );
        // The minimum, log2(16) layers, and the new max_distance.
        assert_eq!(moments.positions.len(), 1 + 1 + 4 + 1);
        assert_eq!(moments.all, moments.positions);
    }

    #[test]
    fn excess_moments_are_thinned_evenly() {
        let (lesson, take) = take("search");
        let all = Selection { level: Some(Level::Lane), ..Selection::for_lesson(usize::MAX) };
        let positions = all.moments(lesson, &take).unwrap().positions;
        assert_eq!(
            positions,
            (0..=take.recording.len()).collect::<Vec<_>>(),
            "every step is one of the finest level"
        );
        let few = Selection { max: 10, ..all }.moments(lesson, &take).unwrap();
        assert_eq!((few.positions.len(), &few.all), (10, &positions));
        assert_eq!((few.positions[0], few.positions[9]), (0, take.recording.len()));
        let third =
            Selection { every: 3, from: Some(6), to: Some(20), ..all }.moments(lesson, &take).unwrap();
        assert_eq!((third.positions, third.all), (vec![6, 9, 12, 15, 18], (6..=20).collect()));
        assert_eq!(
            Selection { max: 1, ..all }.moments(lesson, &take).unwrap().positions,
            [take.recording.len()]
        );
    }

    #[test]
    fn a_single_limit_may_extend_beyond_the_lesson() {
        let (lesson, take) = take("merge");
        let late = Selection { from: Some(take.range.end + 5), ..Selection::for_lesson(9999) }
            .moments(lesson, &take)
            .unwrap();
        assert_eq!(
            (late.positions[0], *late.positions.last().unwrap()),
            (take.range.end + 5, take.recording.len())
        );
        let early = Selection { to: Some(4), ..Selection::for_lesson(9999) }.moments(lesson, &take).unwrap();
        assert_eq!(early.positions[0], 0);
    }

    #[test]
    fn invalid_selections_are_rejected() {
        let (lesson, take) = take("sort");
        let steps = take.recording.len();
        let fails = |selection: Selection| selection.moments(lesson, &take).unwrap_err().to_string();
        let base = Selection::for_lesson(10);
        assert_eq!(
            fails(Selection { to: Some(steps + 1), ..base }),
            format!("invalid step {}: must be between 0 and {steps}", steps + 1)
        );
        assert_eq!(
            fails(Selection { from: Some(5), to: Some(4), ..base }),
            "from step 5 to step 4: the range is backwards"
        );
        assert_eq!(fails(Selection { max: 0, ..base }), "max-pictures = 0: must be at least 1");
        assert_eq!(fails(Selection { every: 0, ..base }), "every = 0: must be at least 1");
    }
}
