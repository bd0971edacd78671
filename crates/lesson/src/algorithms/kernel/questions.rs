//! Questions about the kernel's search, and about the steps that the tree search shares with it.

use super::TheoryBaseline;
use crate::account::expected;
use crate::algorithms::AlgorithmQuestions;
use crate::describe::{hex, key};
use crate::engines::lockstep::distance_of;
use crate::knn::network::Comparator;
use crate::knn::theory;
use crate::print::distances_from_lane_0;
use crate::questions::{Answer, Question, QuestionPicker, Topic};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::{significant, thousands};

impl AlgorithmQuestions for TheoryBaseline {
    fn printed_data(&self, topic: Topic, step: &Step, _state: &State) -> String {
        match (topic, step) {
            (Topic::Votes, Step::Group { distances, .. }) => distances_from_lane_0(distances),
            _ => String::new(),
        }
    }
}

/// A question about a step, or about the whole search; `None` if it would have no clear answer.
pub fn kernel_question(pick: &mut QuestionPicker<'_>) -> Option<Question> {
    let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
    let shape = recording.shape();
    let capacity = shape.capacity();
    Some(match (topic, &recording.steps()[at]) {
        (Topic::Merges, _) => {
            let Ok(merges) = u32::try_from(recording.merges()) else { return None };
            let text = format!(
                "{} points, k = {}, a buffer of {capacity}: how many merges will there be?",
                thousands(shape.n.into()),
                shape.k
            );
            // If every point is a candidate, the number is exact; otherwise the theoretical bound is accepted
            // unless it is far off.
            let worst = theory::worst_case_merges(shape.n as usize, capacity as usize);
            let bound = expected(shape, shape.n).merges.floor() as u32;
            let within = if u64::from(merges) == worst {
                0
            } else {
                bound.saturating_sub(merges).min(merges / 2).max(merges / 4)
            };
            // At the end the buffer is merged, so there is at least one merge.
            pick.ask(0, text, Answer::Number { right: merges, within }).with_range(1..=u32::MAX)
        }
        (Topic::Votes, Step::Ballot { mask }) => {
            let bound = significant(before.max_distance.into());
            // At the displayed precision, which is the same in picture and question, every vote must be
            // clear.
            let close =
                |&distance: &f32| distance != before.max_distance && significant(distance.into()) == bound;
            let distances = match before.descent() {
                Some(descent) => descent.leaf.as_ref()?.keys.iter().map(|&key| distance_of(key)).collect(),
                None => recording.distances(before.group?),
            };
            // Every point is closer than infinity.
            if before.max_distance.is_infinite() || distances.iter().any(close) {
                return None;
            }
            let text = format!("max_distance is {bound}. Which lanes vote yes?");
            pick.ask(0, text, Answer::Lanes(*mask))
        }
        (Topic::Slot, Step::Positions { slots }) => {
            let there: Vec<_> = slots.iter().filter(|slot| slot.slot < capacity).collect();
            // Not the first candidate: it has no lower lanes.
            let slot = pick.random.choose(&there[1..])?;
            let text = format!(
                "The ballot is {}, and the buffer holds {}. Which slot does lane {} write?",
                hex(before.ballot, shape.width),
                before.buffered,
                slot.lane
            );
            pick.ask(slot.lane, text, Answer::Number { right: slot.slot, within: 0 })
        }
        (Topic::Partner, Step::Layer { layer, shuffle: Some(stride), .. }) => {
            let lane = pick.random.below(shape.width as usize) as u32;
            let text = format!(
                "Size {}, stride {}, {}: with which lane does lane {lane} exchange keys?",
                layer.size,
                layer.stride,
                per_lane(shape.registers)
            );
            pick.ask(lane, text, Answer::Number { right: lane ^ stride, within: 0 })
        }
        (Topic::Swaps, Step::Layer { layer, swapped, .. }) => {
            // Keys that look the same at the displayed precision make no question.
            let differs = |pair: &Comparator| {
                key(before.registers[pair.low as usize]) != key(before.registers[pair.high as usize])
            };
            let pairs: Vec<Comparator> = layer.comparators(capacity).filter(differs).collect();
            let pair = *pick.choose(&pairs, |pair| swapped.contains(pair.low))?;
            let name = |element| {
                format!(
                    "element {element} (lane {}, {})",
                    shape.lane_and_register(element).0,
                    key(before.registers[element as usize])
                )
            };
            let text = format!(
                "Size {}, stride {}: do {} and {} swap?",
                layer.size,
                layer.stride,
                name(pair.low),
                name(pair.high)
            );
            pick.ask(pair.low, text, Answer::YesNo(swapped.contains(pair.low)))
        }
        (Topic::Taken, Step::Minimum { taken }) => {
            let both = |element: u32| {
                (before.registers[element as usize], before.buffer[shape.mirror_of(element) as usize])
            };
            let differs = |element: &u32| key(both(*element).0) != key(both(*element).1);
            let elements: Vec<u32> = (0..capacity).filter(differs).collect();
            let element = *pick.choose(&elements, |element| taken.contains(*element))?;
            let (own, other) = both(element);
            let text = format!(
                "Candidate {element} is {}, element {} of the intermediate result is {}: does the key of \
                 the intermediate result stay?",
                key(own),
                capacity - 1 - element,
                key(other)
            );
            pick.ask(element, text, Answer::YesNo(taken.contains(element)))
        }
        _ => return None,
    })
}

fn per_lane(registers: u32) -> String {
    if registers == 1 { "one key per lane".to_owned() } else { format!("{registers} keys per lane") }
}

/// Whether a step suits a kind of question.
pub(crate) fn suits(topic: Topic, at: usize, recording: &Recording) -> bool {
    let shape = recording.shape();
    match (topic, &recording.steps()[at]) {
        // If all lanes vote, as before the first merge, the answer is trivial.
        (Topic::Votes, Step::Ballot { mask }) => *mask != 0 && mask.count_ones() < shape.width,
        (Topic::Slot, Step::Positions { slots }) => {
            slots.len() > 1 && slots.len() < shape.width as usize && slots[1].slot < shape.capacity()
        }
        (Topic::Partner, Step::Layer { shuffle, .. }) => shuffle.is_some(),
        (Topic::Swaps, Step::Layer { .. }) | (Topic::Taken, Step::Minimum { .. }) => true,
        _ => false,
    }
}
