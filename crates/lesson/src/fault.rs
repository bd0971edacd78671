//! Faults injected into the kernel's search: what each omits, which invariant it breaks, and its effect.
//!
//! The lockstep twin itself has the fault ([`super::record_faulty`]), so its steps are shown like any others.

use super::invariants::{FirstViolation, first_violation, keys};
use super::lessons::{self, Lesson};
use super::recording::Recording;
use super::state::{Counts, State};
use crate::Result;
pub use crate::engines::lockstep::Fault;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::error::LessonError;
use crate::text::{count, significant, thousands};

/// A fault, explained.
#[derive(Clone, Copy, Debug)]
pub struct FaultInfo {
    /// The fault.
    pub fault: Fault,
    /// Its name on the command line.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What is omitted or confused, in one sentence.
    pub about: &'static str,
    /// The affected line of the kernel's pseudocode, from 0.
    pub line: usize,
    /// What to look at.
    pub look_for: &'static str,
    /// Whether neighbours are wrong; else the search only does more work.
    pub is_wrong: bool,
    /// The id of a lesson whose data show it.
    pub lesson: &'static str,
    /// The id of the lesson after which it can be understood.
    pub taught_in: &'static str,
    /// The generator of points, without n, that replaces the lesson's, if needed.
    pub generator: Option<&'static str>,
}

/// All faults.
pub const FAULTS: [FaultInfo; 7] = [
    FaultInfo {
        fault: Fault::NoBarrier,
        id: "no-barrier",
        title: "No barrier before the swap",
        about: "Lanes read the buffer without waiting until the others have written to it; here the upper \
                half of the warp is always late.",
        line: 17,
        look_for: "Slots that were counted but not written: the swap takes their old contents, and late \
                   writes are overwritten.",
        is_wrong: true,
        lesson: "buffer",
        taught_in: "buffer",
        generator: None,
    },
    FaultInfo {
        fault: Fault::Direction,
        id: "direction",
        title: "Direction from the wrong bit",
        about: "A comparator sorts in ascending order if the bit above that of the size is 0, not the bit \
                of the size itself.",
        line: 20,
        look_for: "Neighbouring runs in the same direction: two of them are not bitonic, and the next size \
                   cannot merge them.",
        is_wrong: true,
        lesson: "merge",
        taught_in: "sort",
        generator: None,
    },
    FaultInfo {
        fault: Fault::NoMirror,
        id: "no-mirror",
        title: "No mirror",
        about: "The minimum compares element i with element i of the intermediate result, not with element \
                K \u{2212} 1 \u{2212} i.",
        line: 23,
        look_for: "Pairs of small keys: one of the two is lost, while a pair of large keys keeps one.",
        is_wrong: true,
        lesson: "merge",
        taught_in: "merge",
        generator: None,
    },
    FaultInfo {
        fault: Fault::NoRevote,
        id: "no-revote",
        title: "No second vote",
        about: "Candidates without a slot go into the buffer after the merge, though max_distance has \
                fallen.",
        line: 11,
        look_for: "Candidates that are no closer than max_distance: they fill slots, and the merges drop \
                   them.",
        is_wrong: false,
        lesson: "buffer",
        taught_in: "buffer",
        generator: None,
    },
    FaultInfo {
        fault: Fault::Dropped,
        id: "dropped",
        title: "Candidates without a slot are lost",
        about: "Once the buffer is full and merged, the lanes continue with the next group, though some had \
                no slot.",
        line: 11,
        look_for: "Lanes that voted, had no slot, and do not vote again although they are closer than \
                   max_distance.",
        is_wrong: true,
        lesson: "buffer",
        taught_in: "buffer",
        generator: None,
    },
    FaultInfo {
        fault: Fault::Stale,
        id: "stale",
        title: "max_distance is not updated",
        about: "After a merge max_distance is not set to the distance of the k-th element.",
        line: 29,
        look_for: "Every point remains a candidate: the merges sort all of them, and find the right ones.",
        is_wrong: false,
        lesson: "search",
        taught_in: "buffer",
        generator: None,
    },
    FaultInfo {
        fault: Fault::DistanceOnly,
        id: "distance-only",
        title: "Only distances are compared",
        about: "Keys are compared by distance only, not by distance and then point: among equal distances, \
                their place in the network decides.",
        line: 20,
        look_for: "Equal distances in the wrong order: which of them is among the k nearest differs from \
                   engine to engine.",
        is_wrong: true,
        lesson: "merge",
        taught_in: "sort",
        generator: Some("duplicates:d=2,distinct=9"),
    },
];

/// Looks up a fault by its name.
///
/// # Errors
/// [`LessonError::Fault`] if there is none.
pub fn named(name: &str) -> Result<&'static FaultInfo> {
    FAULTS
        .iter()
        .find(|row| row.id == name)
        .ok_or_else(|| LessonError::Fault { name: name.to_owned(), ids: FAULTS.map(|row| row.id).join(", ") })
}

/// The row of a fault.
pub fn row(fault: Fault) -> &'static FaultInfo {
    // A test checks that every fault is in the table.
    FAULTS.iter().find(|row| row.fault == fault).unwrap_or(&FAULTS[0])
}

/// A neighbour that is not the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongNeighbour {
    /// Its place among the neighbours, from 0.
    pub rank: u32,
    /// The key found, [`PADDING`] for none.
    pub found: Key,
    /// The right key.
    pub right: Key,
}

/// The effect of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Consequences {
    /// The first broken invariant, if these data break one.
    pub broken: Option<FirstViolation>,
    /// The wrong ones among the neighbours, nearest first.
    pub wrong: Vec<WrongNeighbour>,
    /// Number of neighbours.
    pub neighbours: u32,
    /// The counts with the fault, and without.
    pub counts: [Counts; 2],
}

impl Consequences {
    /// Compares a faulty search with the sound one.
    pub(super) fn compare(faulty: &Recording, sound: &Recording) -> Self {
        let [end, right] = [end(faulty), end(sound)];
        let mut nearest = keys(faulty);
        nearest.sort_unstable();
        nearest.truncate(end.shape.k as usize);
        let ranks = (0..).zip(nearest.iter().zip(&end.registers));
        let wrong = ranks
            .filter(|(_, (right, found))| right != found)
            .map(|(rank, (&right, &found))| WrongNeighbour { rank, found, right })
            .collect();
        Self {
            broken: first_violation(faulty),
            wrong,
            neighbours: nearest.len() as u32,
            counts: [end.counts, right.counts],
        }
    }

    /// The neighbours that were not found, nearest first.
    pub fn missing(&self) -> Vec<Key> {
        // Ranks that are not wrong hold the right key.
        let found: Vec<Key> = self.wrong.iter().map(|wrong| wrong.found).collect();
        self.wrong.iter().map(|wrong| wrong.right).filter(|right| !found.contains(right)).collect()
    }

    /// The effect, in a sentence.
    pub fn verdict(&self) -> String {
        let [counts, right] = self.counts;
        if let Some(first) = self.wrong.first() {
            let rank = thousands(u64::from(first.rank) + 1);
            let instead =
                format!("neighbour {rank} should be {}, but is {}.", words(first.right), words(first.found));
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
            return "No effect on these data: the neighbours and the counts are right.".to_owned();
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

/// The faults that can be understood after a lesson; all, if these are too few to choose from.
pub fn faults_known_after(lesson: &Lesson) -> Vec<&'static FaultInfo> {
    let number = |row: &FaultInfo| lessons::named(row.taught_in).map_or(0, |lesson| lesson.number);
    let known: Vec<&FaultInfo> = FAULTS.iter().filter(|row| number(row) <= lesson.number).collect();
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
