//! Invariants of the kernel's search: what holds after each step, and why that makes the next step work.
//!
//! [`badge`] states the invariant at a position. [`first_violation`] checks all of them from the first step
//! on; only a faulty search ([`super::fault`]) breaks one. The functions of [`INVARIANTS`] are in `filter`
//! and `merge`; [`History`] holds what they need from earlier steps.

mod filter;
mod merge;

use std::ops::ControlFlow;

use super::algorithms::Baseline;
use super::picture::Target;
use super::recording::Recording;
use super::state::State;
use super::step::Step;
use crate::engines::lockstep::{self, Key, PADDING, distance_of, index_of, key_of};
use crate::text::{self, significant, thousands};

/// A property of the search.
#[derive(Debug)]
pub struct Invariant {
    /// A short name.
    pub id: &'static str,
    /// States the property with its numbers, if it applies to this step.
    describe: fn(&Moment<'_>) -> Option<String>,
    /// Finds a violation; called only where `describe` applies.
    check: fn(&Moment<'_>, &History) -> Option<Violation>,
}

/// All invariants of the kernel's search. The first that applies to a step explains why the next step works.
pub const INVARIANTS: [Invariant; 14] = [
    Invariant { id: "votes", describe: filter::describe_votes, check: filter::check_votes },
    Invariant { id: "slots", describe: filter::describe_slots, check: filter::check_slots },
    Invariant {
        id: "buffered",
        describe: filter::describe_buffered,
        check: |moment, _| filter::check_buffer(moment),
    },
    Invariant { id: "full", describe: filter::describe_full, check: filter::check_full },
    Invariant { id: "padded", describe: filter::describe_padded, check: filter::check_padded },
    Invariant { id: "once", describe: merge::describe_once, check: merge::check_once },
    Invariant { id: "runs", describe: merge::describe_runs, check: merge::check_runs },
    Invariant { id: "halves", describe: merge::describe_halves, check: merge::check_halves },
    Invariant {
        id: "ascending",
        describe: merge::describe_ascending,
        check: |moment, _| merge::check_ascending(&moment.after.registers),
    },
    Invariant { id: "bitonic", describe: merge::describe_bitonic, check: merge::check_bitonic },
    Invariant { id: "smallest", describe: merge::describe_smallest, check: merge::check_smallest },
    Invariant { id: "bound", describe: merge::describe_bound, check: merge::check_bound },
    Invariant { id: "kept", describe: merge::describe_kept, check: merge::check_kept },
    Invariant { id: "answer", describe: filter::describe_answer, check: filter::check_answer },
];

/// A step and the state after it.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    recording: &'a Recording,
    step: &'a Step,
    after: &'a State,
}

/// Data from earlier steps that the checks need.
#[derive(Clone, Debug)]
pub struct History {
    /// The keys of all points, by position.
    keys: Vec<Key>,
    /// The registers before the last step, if that was a minimum.
    before: Vec<Key>,
}

/// How an invariant is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// What is wrong, with its numbers.
    pub sentence: String,
    /// The lanes, slots and elements concerned.
    pub targets: Vec<Target>,
}

impl Violation {
    /// A violation at elements of the registers.
    fn at_elements(sentence: String, elements: impl IntoIterator<Item = usize>) -> Self {
        Self {
            sentence,
            targets: elements.into_iter().map(|element| Target::Element(element as u32)).collect(),
        }
    }
}

/// The first broken invariant of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstViolation {
    /// Number of completed steps, including the one after which it is broken.
    pub position: usize,
    /// The invariant's short name.
    pub invariant: &'static str,
    /// What should hold.
    pub expected: String,
    /// What is wrong, with its numbers.
    pub sentence: String,
    /// The lanes, slots and elements concerned.
    pub targets: Vec<Target>,
}

/// The invariant shown at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Badge {
    /// Whether all invariants have held so far.
    pub holds: bool,
    /// The invariant that explains why the next step works, or the first violation.
    pub text: String,
}

/// The invariant that holds after a number of steps or, once one is broken, the first violation; `state` is
/// the state at `position`. `None` if no invariant applies, and in searches other than the kernel's.
pub fn badge(recording: &Recording, position: usize, state: &State) -> Option<Badge> {
    if let Some(broken) = recording.consequences().and_then(|consequences| consequences.broken.as_ref())
        && position >= broken.position
    {
        let since = if position == broken.position {
            String::new()
        } else {
            format!("Since step {}: ", thousands(broken.position as u64))
        };
        return Some(Badge { holds: false, text: since + &broken.sentence });
    }
    if !is_kernel(recording) {
        return None;
    }
    let moment = Moment { recording, step: recording.steps().get(position.checked_sub(1)?)?, after: state };
    let text = INVARIANTS.iter().find_map(|invariant| (invariant.describe)(&moment))?;
    Some(Badge { holds: true, text })
}

/// The first violated invariant, if any; within a step, in the table's order.
pub fn first_violation(recording: &Recording) -> Option<FirstViolation> {
    let mut found = None;
    visit_steps(recording, |position, moment, history| {
        found = INVARIANTS.iter().find_map(|invariant| {
            let expected = (invariant.describe)(moment)?;
            let Violation { sentence, targets } = (invariant.check)(moment, history)?;
            Some(FirstViolation { position, invariant: invariant.id, expected, sentence, targets })
        });
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn is_kernel(recording: &Recording) -> bool {
    matches!(recording.baseline(), Baseline::Kernel(_))
}

/// Visits each step of the kernel's search with its position, the number of completed steps.
fn visit_steps(
    recording: &Recording,
    mut visit: impl FnMut(usize, &Moment<'_>, &History) -> ControlFlow<()>,
) {
    if !is_kernel(recording) {
        return;
    }
    let mut state = recording.start();
    let mut history = History::new(recording);
    for (at, step) in recording.steps().iter().enumerate() {
        history.record(step, &state);
        state.apply(step);
        if visit(at + 1, &Moment { recording, step, after: &state }, &history).is_break() {
            return;
        }
    }
}

impl History {
    fn new(recording: &Recording) -> Self {
        Self { keys: keys(recording), before: Vec::new() }
    }

    /// Saves what applying a step to a state would overwrite.
    fn record(&mut self, step: &Step, before: &State) {
        if let Step::Minimum { .. } = step {
            self.before.clone_from(&before.registers);
        }
    }
}

/// The keys of all points of a recording, by position.
pub(super) fn keys(recording: &Recording) -> Vec<Key> {
    let problem = recording.problem();
    let distances = lockstep::distances_to(problem, recording.query(), 0..problem.n());
    distances.into_iter().zip(0..).map(|(distance, position)| key_of(distance, position)).collect()
}

impl Moment<'_> {
    /// The keys of the current group by lane, [`PADDING`] past the last point.
    fn group(&self) -> Vec<Key> {
        let Some(base) = self.after.group else { return Vec::new() };
        let key = |(distance, lane): (f32, u32)| {
            if base + lane < self.after.shape.n { key_of(distance, base + lane) } else { PADDING }
        };
        self.recording.distances(base).into_iter().zip(0..).map(key).collect()
    }

    /// The intermediate result by element while the buffer holds it.
    fn intermediate(&self) -> Vec<Key> {
        let shape = self.after.shape;
        (0..shape.capacity()).map(|element| self.after.buffer[shape.slot_of(element) as usize]).collect()
    }
}

// Keys and numbers in the sentences of invariants.

/// A key in words.
fn key(key: Key) -> String {
    if key == PADDING {
        "\u{221e}".to_owned()
    } else {
        format!("{} (point {})", significant(distance_of(key).into()), thousands(index_of(key).into()))
    }
}

fn number(number: impl Into<u64>) -> String {
    thousands(number.into())
}

fn bound(moment: &Moment<'_>) -> String {
    let bound = moment.after.max_distance;
    if bound.is_infinite() {
        "max_distance, which is infinite".to_owned()
    } else {
        format!("max_distance {}", significant(bound.into()))
    }
}

/// A number as a rank.
fn ordinal(rank: u32) -> String {
    text::ordinal(rank.into())
}
