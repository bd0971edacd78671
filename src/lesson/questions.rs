//! What to ask before a step is shown. The right answer is what was recorded.

use std::ops::Range;

use super::describe::{hex, key, lanes};
use super::moments::spread;
use super::recording::Recording;
use super::state::State;
use super::step::Step;
use crate::knn::network::Comparator;
use crate::knn::theory;
use crate::text::{significant, thousands};

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Which lanes vote?
    Votes,
    /// Which slot does this lane write?
    Slot,
    /// With which lane does this one exchange keys?
    Partner,
    /// Do these two swap?
    Swaps,
    /// Does this element come from the intermediate result?
    Taken,
    /// How many merges will there be?
    Merges,
}

/// What may be answered, and is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These lanes, one bit each.
    Lanes(u32),
    /// A number, and how far off a guess still counts.
    Number {
        /// Exactly.
        right: u32,
        /// At most so far off.
        within: u32,
    },
    /// Yes or no.
    YesNo(bool),
}

/// What somebody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// These lanes.
    Lanes(u32),
    /// This number.
    Number(u32),
    /// Yes or no.
    YesNo(bool),
}

impl Answer {
    /// Whether a reply is right.
    pub fn accepts(self, reply: Reply) -> bool {
        match (self, reply) {
            (Self::Lanes(right), Reply::Lanes(given)) => right == given,
            (Self::Number { right, within }, Reply::Number(given)) => right.abs_diff(given) <= within,
            (Self::YesNo(right), Reply::YesNo(given)) => right == given,
            _ => false,
        }
    }

    /// In words, in a warp of `width` lanes.
    pub fn text(self, width: u32) -> String {
        match self {
            Self::Lanes(mask) => format!("{}: ballot {}", lanes(mask, width), hex(mask, width)),
            Self::Number { right, within: 0 } => right.to_string(),
            Self::Number { right, within } => format!("{right} (a guess up to {within} off counts)"),
            Self::YesNo(right) => if right { "yes" } else { "no" }.to_owned(),
        }
    }
}

/// A question about the step from position `at` to `at` + 1 (of [`Ask::Merges`], about the whole search).
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its kind.
    pub ask: Ask,
    /// The position at which it is asked: what is shown may be the state there, and nothing later.
    pub at: usize,
    /// What is asked about: a lane ([`Ask::Slot`], [`Ask::Partner`]), an element ([`Ask::Taken`], the lower one of
    /// [`Ask::Swaps`]), else 0.
    pub subject: u32,
    /// The question.
    pub text: String,
    /// What is right.
    pub answer: Answer,
}

/// Questions of each kind, in the order in which they come up: up to `each` of a kind, spread over a range of steps.
pub fn questions(recording: &Recording, range: Range<usize>, asks: &[Ask], each: usize) -> Vec<Question> {
    let mut found = Vec::new();
    for &ask in asks {
        let about: Vec<usize> = range.clone().filter(|&at| suits(ask, &recording.steps()[at], recording)).collect();
        let about = match ask {
            Ask::Merges => vec![range.start],
            // One step has elements enough.
            Ask::Taken => about.iter().cycle().take(if about.is_empty() { 0 } else { each }).copied().collect(),
            _ => spread(&about, each),
        };
        found.extend(about.into_iter().map(|at| (at, ask)));
    }
    found.sort_unstable();
    let mut state = State::new(recording.shape());
    let mut position = 0;
    let mut asked = Vec::new();
    for (at, ask) in found {
        let number = asked.iter().filter(|question: &&Question| question.ask == ask).count();
        let (keyframe, kept) = recording.keyframe(at);
        if keyframe > position {
            state = kept.clone();
            position = keyframe;
        }
        for step in &recording.steps()[position..at] {
            state.apply(step);
        }
        position = at;
        asked.extend(question(recording, ask, at, &state, number));
    }
    asked
}

/// Whether a step is worth such a question.
fn suits(ask: Ask, step: &Step, recording: &Recording) -> bool {
    let shape = recording.shape();
    match (ask, step) {
        // Where all vote, as before the first merge, there is nothing to find out.
        (Ask::Votes, Step::Ballot { mask }) => *mask != 0 && mask.count_ones() < shape.width,
        (Ask::Slot, Step::Positions { slots }) => slots.len() > 1 && slots.len() < shape.width as usize && slots[1].slot < shape.capacity(),
        (Ask::Partner, Step::Layer { shuffle, .. }) => shuffle.is_some(),
        (Ask::Swaps, Step::Layer { .. }) | (Ask::Taken, Step::Minimum { .. }) => true,
        _ => false,
    }
}

fn question(recording: &Recording, ask: Ask, at: usize, before: &State, number: usize) -> Option<Question> {
    let shape = recording.shape();
    let capacity = shape.capacity();
    let (subject, text, answer) = match (ask, &recording.steps()[at]) {
        (Ask::Merges, _) => {
            let Ok(merges) = u32::try_from(recording.merges()) else { return None };
            let text = format!("{} points, k = {}, a buffer of {capacity}: how many merges will there be?", thousands(shape.n.into()), shape.k);
            // Where every point is a candidate, it can be known; else who knows the theory's bound is right, unless that is
            // far off.
            let worst = theory::worst_case_merges(shape.n as usize, capacity as usize);
            let bound = super::account::expected(shape, shape.n).merges.floor() as u32;
            let within = if u64::from(merges) == worst { 0 } else { bound.saturating_sub(merges).min(merges / 2).max(merges / 4) };
            (0, text, Answer::Number { right: merges, within })
        }
        (Ask::Votes, Step::Ballot { mask }) => {
            let bound = significant(before.max_distance.into());
            // As far as digits are shown, and the picture has as many as the question, every vote must be plain to see.
            let close = |&distance: &f32| distance != before.max_distance && significant(distance.into()) == bound;
            // Against infinity every point passes.
            if before.max_distance.is_infinite() || recording.distances(before.group?).iter().any(close) {
                return None;
            }
            let text = format!("max_distance is {bound}. Which lanes vote?");
            (0, text, Answer::Lanes(*mask))
        }
        (Ask::Slot, Step::Positions { slots }) => {
            let there: Vec<_> = slots.iter().filter(|slot| slot.slot < capacity).collect();
            // Not the first: somebody must be below.
            let slot = there[1 + number % (there.len() - 1)];
            let text = format!(
                "The ballot is {}, and the buffer holds {}. Which slot does lane {} write?",
                hex(before.ballot, shape.width),
                before.buffered,
                slot.lane
            );
            (slot.lane, text, Answer::Number { right: slot.slot, within: 0 })
        }
        (Ask::Partner, Step::Layer { layer, shuffle: Some(stride), .. }) => {
            let lane = (number as u32 * 5 + 3) % shape.width;
            let text = format!(
                "Size {}, stride {}, {}: with which lane does lane {lane} exchange keys?",
                layer.size,
                layer.stride,
                per_lane(shape.registers)
            );
            (lane, text, Answer::Number { right: lane ^ stride, within: 0 })
        }
        (Ask::Swaps, Step::Layer { layer, swapped, .. }) => {
            // Yes and no in turn, where both are to be had; keys that read alike are no question.
            let differs = |pair: &Comparator| key(before.registers[pair.low as usize]) != key(before.registers[pair.high as usize]);
            let pairs: Vec<Comparator> = layer.comparators(capacity).filter(differs).collect();
            let wanted: Vec<&Comparator> = pairs.iter().filter(|pair| swapped.contains(pair.low) == number.is_multiple_of(2)).collect();
            let pair = *if wanted.is_empty() { pairs.get(number % pairs.len().max(1))? } else { wanted[number % wanted.len()] };
            let place = |element| format!("element {element} (lane {}, {})", shape.place_of(element).0, key(before.registers[element as usize]));
            let text = format!("Size {}, stride {}: do {} and {} swap?", layer.size, layer.stride, place(pair.low), place(pair.high));
            (pair.low, text, Answer::YesNo(swapped.contains(pair.low)))
        }
        (Ask::Taken, Step::Minimum { taken }) => {
            let both = |element: u32| (before.registers[element as usize], before.buffer[shape.mirror_of(element) as usize]);
            let differs = |element: &u32| key(both(*element).0) != key(both(*element).1);
            let first = (number as u32 * 11 + 5) % capacity;
            let element = (first..capacity).chain(0..first).find(differs)?;
            let (own, other) = both(element);
            let text = format!(
                "Buffer element {element} is {}, intermediate element {} is {}: does element {element} come from the intermediate result?",
                key(own),
                capacity - 1 - element,
                key(other)
            );
            (element, text, Answer::YesNo(taken.contains(element)))
        }
        _ => return None,
    };
    Some(Question { ask, at, subject, text, answer })
}

fn per_lane(registers: u32) -> String {
    if registers == 1 { "one key a lane".to_owned() } else { format!("{registers} keys a lane") }
}
