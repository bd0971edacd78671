//! The kernel's search with a mistake made on purpose: what is left out, what that breaks, and what comes of
//! it.
//!
//! The lockstep twin itself makes the mistake ([`super::record_faulty`]), so that its steps are shown like
//! any others.

use super::invariants::{Broken, first_broken, keys};
use super::lessons::{self, Lesson};
use super::recording::Recording;
use super::state::{Counts, State};
pub use crate::engines::lockstep::Fault;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::error::LessonError;
use crate::text::{count, significant, thousands};

/// A mistake, explained.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The mistake itself.
    pub fault: Fault,
    /// Its name on the command line.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What is left out or confused, in one sentence.
    pub about: &'static str,
    /// The line of the kernel's pseudocode that it is made in, from 0.
    pub line: usize,
    /// What to look at.
    pub look_for: &'static str,
    /// Whether neighbours come out wrong; else the search only does more work.
    pub is_wrong: bool,
    /// The id of a lesson in whose data it matters.
    pub lesson: &'static str,
    /// The id of the lesson from which on it can be understood.
    pub taught: &'static str,
    /// The generator of points, without n, in place of the lesson's where that matters.
    pub generator: Option<&'static str>,
}

/// All mistakes.
pub const FAULTS: [Row; 7] = [
    Row {
        fault: Fault::NoBarrier,
        id: "no-barrier",
        title: "No barrier before the swap",
        about: "Lanes read the buffer without waiting until the others have written to it; here the upper \
                half of the warp always comes too late.",
        line: 17,
        look_for: "Slots that were counted but not written: the swap takes what they held before, and what \
                   comes late is overwritten.",
        is_wrong: true,
        lesson: "buffer",
        taught: "buffer",
        generator: None,
    },
    Row {
        fault: Fault::Direction,
        id: "direction",
        title: "Direction from the wrong bit",
        about: "A comparator sorts in ascending order if the bit above that of the size is 0, not the bit \
                of the size itself.",
        line: 20,
        look_for: "Neighbouring runs that go the same way: two of them are not bitonic, and the next size \
                   cannot merge them.",
        is_wrong: true,
        lesson: "merge",
        taught: "sort",
        generator: None,
    },
    Row {
        fault: Fault::NoMirror,
        id: "no-mirror",
        title: "Mirror left out",
        about: "The minimum compares element i with element i of the intermediate result, not with element \
                K \u{2212} 1 \u{2212} i.",
        line: 23,
        look_for: "Small keys that meet small ones: of each pair one is lost, while two large ones leave \
                   one behind.",
        is_wrong: true,
        lesson: "merge",
        taught: "merge",
        generator: None,
    },
    Row {
        fault: Fault::NoRevote,
        id: "no-revote",
        title: "No second vote",
        about: "Candidates that found no slot go into the buffer after the merge, though max_distance has \
                fallen.",
        line: 11,
        look_for: "Candidates that are no closer than max_distance: they fill slots, and the merges drop \
                   them.",
        is_wrong: false,
        lesson: "buffer",
        taught: "buffer",
        generator: None,
    },
    Row {
        fault: Fault::Dropped,
        id: "dropped",
        title: "Candidates without a slot are forgotten",
        about: "Once the buffer is full and merged, the lanes go on to the next group, though some of them \
                had found no slot.",
        line: 11,
        look_for: "Lanes that voted, had no slot, and are not asked again although they are closer than \
                   max_distance.",
        is_wrong: true,
        lesson: "buffer",
        taught: "buffer",
        generator: None,
    },
    Row {
        fault: Fault::Stale,
        id: "stale",
        title: "max_distance stays as it was",
        about: "After a merge max_distance is not set to the distance of the k-th element.",
        line: 29,
        look_for: "Every point goes on being a candidate: the merges sort all of them, and find the right \
                   ones.",
        is_wrong: false,
        lesson: "search",
        taught: "buffer",
        generator: None,
    },
    Row {
        fault: Fault::DistanceOnly,
        id: "distance-only",
        title: "Distances alone are compared",
        about: "Keys are compared by distance alone, not by distance and then point, so that where they lie \
                decides among equal distances.",
        line: 20,
        look_for: "Equal distances in the wrong order: which of them is among the k nearest differs from \
                   engine to engine.",
        is_wrong: true,
        lesson: "merge",
        taught: "sort",
        generator: Some("duplicates:d=2,distinct=9"),
    },
];

/// Looks up a mistake by its name.
///
/// # Errors
/// [`LessonError::Fault`] if there is none.
pub fn named(name: &str) -> Result<&'static Row, LessonError> {
    FAULTS
        .iter()
        .find(|row| row.id == name)
        .ok_or_else(|| LessonError::Fault { name: name.to_owned(), ids: FAULTS.map(|row| row.id).join(", ") })
}

/// The explanation of a mistake.
pub fn row(fault: Fault) -> &'static Row {
    // A test finds each of them in the table.
    FAULTS.iter().find(|row| row.fault == fault).unwrap_or(&FAULTS[0])
}

/// A neighbour that is not the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its place among the neighbours, from 0.
    pub rank: u32,
    /// What was found, [`PADDING`] for none.
    pub found: Key,
    /// What should have been.
    pub right: Key,
}

/// What a mistake leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Consequences {
    /// The first invariant that does not hold, if the data bring it about.
    pub broken: Option<Broken>,
    /// The wrong ones among the neighbours, nearest first.
    pub wrong: Vec<Wrong>,
    /// Number of neighbours.
    pub neighbours: u32,
    /// What the search counted, and what it counts without the mistake.
    pub counts: [Counts; 2],
}

impl Consequences {
    /// Compares a search with a mistake with the same one without.
    pub(super) fn of(faulty: &Recording, sound: &Recording) -> Self {
        let [end, right] = [end(faulty), end(sound)];
        let mut nearest = keys(faulty);
        nearest.sort_unstable();
        nearest.truncate(end.shape.k as usize);
        let ranks = (0..).zip(nearest.iter().zip(&end.registers));
        let wrong = ranks
            .filter(|(_, (right, found))| right != found)
            .map(|(rank, (&right, &found))| Wrong { rank, found, right })
            .collect();
        Self {
            broken: first_broken(faulty),
            wrong,
            neighbours: nearest.len() as u32,
            counts: [end.counts, right.counts],
        }
    }

    /// The neighbours that were not found, nearest first.
    pub fn missing(&self) -> Vec<Key> {
        // Where nothing is wrong, what is found is what is right.
        let found: Vec<Key> = self.wrong.iter().map(|wrong| wrong.found).collect();
        self.wrong.iter().map(|wrong| wrong.right).filter(|right| !found.contains(right)).collect()
    }

    /// What came of it, in a sentence.
    pub fn verdict(&self) -> String {
        let [counts, right] = self.counts;
        if let Some(first) = self.wrong.first() {
            let rank = thousands(u64::from(first.rank) + 1);
            let instead =
                format!("neighbour {rank} should be {}, and is {}.", words(first.right), words(first.found));
            let missing = self.missing();
            if missing.is_empty() {
                return format!("All neighbours are found, but in the wrong order: {instead}");
            }
            return format!(
                "{} of {} {} missing: {instead}",
                thousands(missing.len() as u64),
                count(self.neighbours.into(), "neighbour", "neighbours"),
                if missing.len() == 1 { "is" } else { "are" },
            );
        }
        if (counts.merges, counts.candidates) == (right.merges, right.candidates) {
            return "Nothing comes of it with these data: the neighbours are right, and so are the counts."
                .to_owned();
        }
        format!(
            "The neighbours are right, but that took {} in {}, not {} in {}.",
            count(counts.candidates.into(), "candidate", "candidates"),
            count(counts.merges.into(), "merge", "merges"),
            thousands(right.candidates.into()),
            thousands(right.merges.into())
        )
    }
}

/// The mistakes that can be told by whoever has come as far as a lesson; all where these are too few to
/// choose from.
pub fn known_by(lesson: &Lesson) -> Vec<&'static Row> {
    let number = |row: &Row| lessons::named(row.taught).map_or(0, |lesson| lesson.number);
    let known: Vec<&Row> = FAULTS.iter().filter(|row| number(row) <= lesson.number).collect();
    if known.len() > 2 { known } else { FAULTS.iter().collect() }
}

/// A neighbour in words.
pub fn words(key: Key) -> String {
    if key == PADDING {
        "none".to_owned()
    } else {
        format!("point {} at {}", thousands(index_of(key).into()), significant(distance_of(key).into()))
    }
}

/// The state after the last step.
fn end(recording: &Recording) -> State {
    let mut state = recording.start();
    recording.steps().iter().for_each(|step| state.apply(step));
    state
}
