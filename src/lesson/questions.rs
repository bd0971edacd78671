//! Questions to ask before a step is shown. The correct answer is what was recorded.

use std::ops::Range;

use super::descent::leaves;
use super::describe::{hex, key, lanes};
use super::heaps::lanes_in;
use super::moments::spread;
use super::questions_heaps::{of_heaps, rounds_of_lanes};
use super::questions_select::{of_buckets, of_queues};
use super::recording::{Beside, Recording};
use super::state::State;
use super::step::Step;
use crate::engines::lockstep::{PADDING, distance_of};
use crate::knn::network::Comparator;
use crate::knn::theory;
use crate::text::{significant, thousands};

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Which lanes vote in this ballot?
    Votes,
    /// Which slot does this lane write?
    Slot,
    /// With which lane does this one exchange keys?
    Partner,
    /// Do these two elements swap?
    Swaps,
    /// Does this element come from the intermediate result?
    Taken,
    /// How many merges will there be?
    Merges,
    /// Of a tree: how many leaves will be visited?
    Leaves,
    /// Of a tree: how many leaves would be visited if boxes were visited as they lie?
    Order,
    /// Of a tree: which lane's child is visited next?
    Child,
    /// Of a tree: is the nearest child that is left visited?
    Visited,
    /// Of warp select: which lanes take their key?
    Takes,
    /// Of warp select: does this group cause a merge?
    Breaks,
    /// Of a selection by digits: which bucket holds the k-th?
    Bucket,
    /// Of a selection by digits: how many points are left after this pass?
    Left,
    /// Of threads with a query each: which lanes insert this point?
    Inserts,
    /// Of threads with a query each: does a lane that does not insert have to wait?
    Waits,
    /// Of threads with a query each: how many rounds of sinking does the warp spend?
    Rounds,
    /// Of threads with a query each: how many lanes' slots are idle in these rounds?
    Idle,
}

impl Ask {
    /// Whether it is about the whole search: until it is answered, nothing that is still to come may be seen.
    pub fn is_about_all(self) -> bool {
        matches!(self, Self::Merges | Self::Leaves | Self::Order)
    }
}

/// The correct answer, with its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exactly these lanes, one bit each.
    Lanes(u32),
    /// A number with a tolerance.
    Number {
        /// The value that was recorded.
        right: u32,
        /// The largest difference that is accepted.
        within: u32,
    },
    /// True for yes, false for no.
    YesNo(bool),
}

/// The answer that the user gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The selected lanes, one bit each.
    Lanes(u32),
    /// The number that was entered.
    Number(u32),
    /// True for yes, false for no.
    YesNo(bool),
}

impl Answer {
    /// Whether a reply is correct.
    pub fn accepts(self, reply: Reply) -> bool {
        match (self, reply) {
            (Self::Lanes(right), Reply::Lanes(given)) => right == given,
            (Self::Number { right, within }, Reply::Number(given)) => right.abs_diff(given) <= within,
            (Self::YesNo(right), Reply::YesNo(given)) => right == given,
            _ => false,
        }
    }

    /// The answer in words, for a warp of `width` lanes.
    pub fn text(self, width: u32) -> String {
        match self {
            Self::Lanes(mask) => format!("{}: ballot {}", lanes(mask, width), hex(mask, width)),
            Self::Number { right, within: 0 } => thousands(right.into()),
            Self::Number { right, within } => format!("{} (a guess up to {} off counts)", thousands(right.into()), thousands(within.into())),
            Self::YesNo(right) => if right { "yes" } else { "no" }.to_owned(),
        }
    }
}

/// A question about the step from position `at` to `at` + 1, or about the whole search ([`Ask::is_about_all`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The kind of question.
    pub ask: Ask,
    /// The position at which it is asked: nothing later may be shown.
    pub at: usize,
    /// The subject: a lane ([`Ask::Slot`], [`Ask::Partner`], [`Ask::Visited`], [`Ask::Waits`]), an element ([`Ask::Taken`], the lower one
    /// for [`Ask::Swaps`]), else 0.
    pub subject: u32,
    /// The question as shown to the user.
    pub text: String,
    /// The correct answer, as recorded.
    pub answer: Answer,
    /// Wrong answers to which a known mistake leads.
    pub slips: Vec<Slip>,
}

/// A wrong answer that is no accident.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    /// What is said.
    pub reply: Reply,
    /// What it is right of, and why that was not asked for.
    pub says: String,
}

impl Question {
    /// The correct answer in words, for a warp of `width` lanes.
    pub fn right(&self, width: u32) -> String {
        match (self.ask, self.answer) {
            // No ballot is held.
            (Ask::Takes | Ask::Inserts, Answer::Lanes(mask)) => lanes(mask, width),
            _ => self.answer.text(width),
        }
    }

    /// What mistake leads to a reply, if it is a known one.
    pub fn slip(&self, reply: Reply) -> Option<&str> {
        self.slips.iter().find(|slip| slip.reply == reply).map(|slip| slip.says.as_str())
    }
}

/// Questions of each kind, in order of their positions: up to `each` per kind, spread over a range of steps.
pub fn questions(recording: &Recording, range: Range<usize>, asks: &[Ask], each: usize) -> Vec<Question> {
    let mut found = Vec::new();
    for &ask in asks {
        let about: Vec<usize> = range.clone().filter(|&at| suits(ask, at, recording)).collect();
        let about = match ask {
            _ if ask.is_about_all() => vec![range.start],
            // A single step has enough elements.
            // Both answers come up.
            Ask::Breaks | Ask::Waits => {
                let breaks = |at: &&usize| !matches!(recording.steps()[**at], Step::Checked { broken: 0 } | Step::Branched { lanes: 0 });
                let (yes, no): (Vec<usize>, Vec<usize>) = about.iter().partition(breaks);
                [spread(&yes, each.div_ceil(2)), spread(&no, each / 2)].concat()
            }
            // Each pass is asked about once.
            Ask::Bucket => spread(&about.iter().copied().step_by(2).collect::<Vec<_>>(), each),
            Ask::Left => spread(&about.iter().copied().skip(1).step_by(2).collect::<Vec<_>>(), each),
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
        let (keyframe, saved) = recording.keyframe(at);
        if keyframe > position {
            state = saved.clone();
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

/// Whether a step makes a good question of a kind.
fn suits(ask: Ask, at: usize, recording: &Recording) -> bool {
    let (step, shape) = (&recording.steps()[at], recording.shape());
    match (ask, step) {
        // If all lanes vote, as before the first merge, the answer is trivial.
        (Ask::Votes, Step::Ballot { mask }) => *mask != 0 && mask.count_ones() < shape.width,
        (Ask::Slot, Step::Positions { slots }) => slots.len() > 1 && slots.len() < shape.width as usize && slots[1].slot < shape.capacity(),
        (Ask::Partner, Step::Layer { shuffle, .. }) => shuffle.is_some(),
        (Ask::Swaps, Step::Layer { .. }) | (Ask::Taken, Step::Minimum { .. }) => true,
        (Ask::Child, Step::Child { .. }) | (Ask::Visited, Step::Child { .. }) => true,
        (Ask::Visited, Step::LeftOut { lanes }) => *lanes != 0,
        (Ask::Takes, Step::Inserted { placed }) => !placed.is_empty() && placed.len() < shape.width as usize,
        (Ask::Inserts, Step::Branched { lanes }) => *lanes != 0 && lanes.count_ones() < shape.width,
        (Ask::Waits, Step::Branched { lanes }) => lanes.count_ones() < shape.width,
        (Ask::Rounds | Ask::Idle, Step::Sank { lanes, .. }) => {
            // The first round of an insertion in which lanes need different numbers of them.
            let begins = matches!(recording.steps()[at - 1], Step::Branched { .. });
            let own = rounds_of_lanes(recording, at, shape.width);
            let needs: Vec<u32> = lanes_in(*lanes).map(|lane| own[lane as usize]).collect();
            begins && lanes.count_ones() < shape.width && needs.len() > 1 && needs.len() < 7 && needs.iter().any(|&needed| needed != needs[0])
        }
        (Ask::Breaks, Step::Checked { .. }) | (Ask::Bucket | Ask::Left, Step::Bucket { .. }) => true,
        _ => false,
    }
}

fn question(recording: &Recording, ask: Ask, at: usize, before: &State, number: usize) -> Option<Question> {
    match recording.held_against() {
        Beside::Theory | Beside::Tree(_) => {}
        Beside::Queues(queued) => return of_queues(recording, queued, ask, at, before),
        Beside::Digits(_) => return of_buckets(recording, ask, at, before),
        Beside::Heaps => return of_heaps(recording, ask, at, before, number),
    }
    let shape = recording.shape();
    let capacity = shape.capacity();
    let (subject, text, answer) = match (ask, &recording.steps()[at]) {
        (Ask::Merges, _) => {
            let Ok(merges) = u32::try_from(recording.merges()) else { return None };
            let text = format!("{} points, k = {}, a buffer of {capacity}: how many merges will there be?", thousands(shape.n.into()), shape.k);
            // If every point is a candidate, the number is known; otherwise the theoretical bound is accepted as an answer
            // unless it is far off.
            // far off.
            let worst = theory::worst_case_merges(shape.n as usize, capacity as usize);
            let bound = super::account::expected(shape, shape.n).merges.floor() as u32;
            let within = if u64::from(merges) == worst { 0 } else { bound.saturating_sub(merges).min(merges / 2).max(merges / 4) };
            (0, text, Answer::Number { right: merges, within })
        }
        (Ask::Votes, Step::Ballot { mask }) => {
            let bound = significant(before.max_distance.into());
            // At the displayed precision, which is the same in picture and question, every vote must be clear.
            let close = |&distance: &f32| distance != before.max_distance && significant(distance.into()) == bound;
            let distances = match &before.descent {
                Some(descent) => descent.leaf.as_ref()?.keys.iter().map(|&key| distance_of(key)).collect(),
                None => recording.distances(before.group?),
            };
            // Every point is closer than infinity.
            if before.max_distance.is_infinite() || distances.iter().any(close) {
                return None;
            }
            let text = format!("max_distance is {bound}. Which lanes vote?");
            (0, text, Answer::Lanes(*mask))
        }
        (Ask::Leaves, _) => {
            let (leaves, right) = (leaves(before), recording.index()?.visits.leaves);
            let text = format!(
                "{} points in {leaves} leaves, k = {}: how many leaves will be visited, the nearest box first?",
                thousands(shape.n.into()),
                shape.k
            );
            (0, text, Answer::Number { right, within: right / 3 })
        }
        (Ask::Order, _) => {
            let right = recording.index()?.as_they_lie.leaves;
            let text = format!("And of the {} leaves, how many would be visited if boxes were visited as they lie on the curve?", leaves(before));
            (0, text, Answer::Number { right, within: right / 3 })
        }
        (Ask::Child, Step::Child { lane }) => {
            let node = before.descent.as_ref()?.node()?;
            let (_, nearest) = node.nearest()?;
            // At the displayed precision no other box is as near.
            let waiting = (0..).zip(&node.keys).filter(|(lane, _)| node.waiting >> lane & 1 == 1);
            if waiting.filter(|&(_, &other)| key(other) == key(nearest)).count() > 1 || node.waiting.count_ones() < 3 {
                return None;
            }
            (0, "Of the boxes that are left, which lane's is visited next?".to_owned(), Answer::Number { right: *lane, within: 0 })
        }
        (Ask::Visited, step @ (Step::Child { .. } | Step::LeftOut { .. })) => {
            let (lane, nearest) = before.descent.as_ref()?.node()?.nearest()?;
            if before.last() == PADDING || key(nearest) == key(before.last()) {
                return None;
            }
            let text = format!(
                "The nearest box that is left, lane {lane}'s, is at {}; neighbour {} is at {}: is it visited?",
                key(nearest),
                shape.k,
                key(before.last())
            );
            (lane, text, Answer::YesNo(matches!(step, Step::Child { .. })))
        }
        (Ask::Slot, Step::Positions { slots }) => {
            let there: Vec<_> = slots.iter().filter(|slot| slot.slot < capacity).collect();
            // Not the first candidate: it has no lower lanes.
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
            // Alternate yes and no if both occur; keys that read the same make no question.
            let differs = |pair: &Comparator| key(before.registers[pair.low as usize]) != key(before.registers[pair.high as usize]);
            let pairs: Vec<Comparator> = layer.comparators(capacity).filter(differs).collect();
            let wanted: Vec<&Comparator> = pairs.iter().filter(|pair| swapped.contains(pair.low) == number.is_multiple_of(2)).collect();
            let pair = *if wanted.is_empty() { pairs.get(number % pairs.len().max(1))? } else { wanted[number % wanted.len()] };
            let name =
                |element| format!("element {element} (lane {}, {})", shape.lane_and_register(element).0, key(before.registers[element as usize]));
            let text = format!("Size {}, stride {}: do {} and {} swap?", layer.size, layer.stride, name(pair.low), name(pair.high));
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
    Some(Question { ask, at, subject, text, answer, slips: Vec::new() })
}

fn per_lane(registers: u32) -> String {
    if registers == 1 { "one key per lane".to_owned() } else { format!("{registers} keys per lane") }
}

/// Mistakes with what they lead to, but for those that lead to the right answer or where another one does.
pub(super) fn slips<const N: usize>(right: Reply, mistakes: [(Reply, String); N]) -> Vec<Slip> {
    let mut slips: Vec<Slip> = Vec::new();
    for (reply, says) in mistakes {
        if reply != right && slips.iter().all(|slip| slip.reply != reply) {
            slips.push(Slip { reply, says });
        }
    }
    slips
}
