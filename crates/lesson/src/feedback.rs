//! Feedback on a question: what it refers to in the picture, and why the answer is right.

use std::sync::Arc;

use super::account::account;
use super::cursor::Cursor;
use super::picture::Target;
use super::picture::sentence::sentence;
use super::questions::{Question, QuestionSubject, Topic};
use super::recording::Recording;
use super::step::Step;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of, lanes_below};
use crate::text::{count, significant, significant_to, thousands};

/// The targets of a question, marked in the picture while it is open.
pub fn subjects(question: &Question, recording: &Recording) -> Vec<Target> {
    let subject = question.subject;
    match question.topic.info().about {
        QuestionSubject::All => Vec::new(),
        QuestionSubject::Lane => vec![Target::Lane(subject)],
        QuestionSubject::Comparator => {
            let partner = match recording.steps().get(question.at) {
                Some(Step::Layer { layer, .. }) => Some(Target::Element(subject ^ layer.stride)),
                _ => None,
            };
            std::iter::once(Target::Element(subject)).chain(partner).collect()
        }
        QuestionSubject::Element => {
            vec![Target::Element(subject), Target::Slot(recording.shape().mirror_of(subject))]
        }
    }
}

/// The target of an answered question, whose computation the picture shows.
pub fn explained_target(question: &Question) -> Option<Target> {
    match question.topic.info().about {
        QuestionSubject::All => None,
        QuestionSubject::Lane => Some(Target::Lane(question.subject)),
        QuestionSubject::Comparator => Some(Target::Comparator(question.subject)),
        QuestionSubject::Element => Some(Target::Element(question.subject)),
    }
}

/// Why the answer is right: from the step before the cursor, or from the whole search.
pub fn why(question: &Question, cursor: &Cursor) -> String {
    let recording = cursor.recording();
    if let Some(why) = &question.why {
        return why.clone();
    }
    if let Some(why) = recording.algorithm().why(question, recording) {
        return why;
    }
    match question.topic {
        Topic::Merges => {}
        Topic::Votes | Topic::Slot | Topic::Partner | Topic::Swaps | Topic::Taken => {
            return worked_example(question, recording).unwrap_or_else(|| sentence(cursor));
        }
        _ => return sentence(cursor),
    }
    let account = account(cursor.state());
    format!(
        "In random order, at most {} are expected on average; if every point were a candidate, there would \
         be {}.",
        significant(account.expected_at_end.merges),
        account.worst_merges
    )
}

/// The answer worked out with the numbers of the question.
fn worked_example(question: &Question, recording: &Arc<Recording>) -> Option<String> {
    let (shape, subject) = (recording.shape(), question.subject);
    let mut before = Cursor::new(Arc::clone(recording));
    before.seek(question.at);
    let state = before.state();
    match (question.topic, recording.steps().get(question.at)?) {
        (Topic::Partner, Step::Layer { layer, shuffle: Some(lanes), .. }) => {
            let stride = match shape.registers {
                1 => format!("The stride is {lanes}"),
                registers => format!(
                    "A stride of {} keys is {} / {registers} = {lanes} in lanes",
                    layer.stride, layer.stride
                ),
            };
            Some(format!(
                "{stride}, the one bit in which the two lanes' numbers differ: {subject} ^ {lanes} = {}.",
                subject ^ lanes
            ))
        }
        (Topic::Votes, Step::Ballot { mask }) => {
            let bound = significant(state.max_distance.into());
            let distances: Vec<f32> = match state.descent().and_then(|descent| descent.leaf.as_ref()) {
                Some(leaf) => leaf.keys.iter().map(|&key| distance_of(key)).collect(),
                None => recording.distances(state.group?),
            };
            let others = (0u32..)
                .zip(&distances)
                .filter(|(lane, distance)| mask >> lane & 1 == 0 && distance.is_finite());
            let (lane, nearest) = others.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
            Some(format!(
                "Their distances are below {bound}. The nearest of the others, lane {lane}, has {}.",
                significant((*nearest).into())
            ))
        }
        (Topic::Slot, Step::Positions { slots }) => {
            let slot = slots.iter().find(|slot| slot.lane == subject)?.slot;
            let below = (state.ballot & lanes_below(subject)).count_ones();
            let lanes = count(below.into(), "lower lane votes", "lower lanes vote");
            Some(format!(
                "The buffer holds {}, and {lanes}: slot {} + {below} = {slot}.",
                state.buffered, state.buffered
            ))
        }
        (Topic::Swaps, Step::Layer { layer, swapped, .. }) => {
            let (low, high) =
                (state.registers[subject as usize], state.registers[(subject ^ layer.stride) as usize]);
            let [a, b] = distinct_words(low, high);
            let bit = subject & layer.size;
            let upwards = bit == 0;
            let verdict = if swapped.contains(subject) { "they swap" } else { "they stay" };
            let order = if low == high {
                "="
            } else if low > high {
                ">"
            } else {
                "<"
            };
            // In the last size, and so in a re-sort, all pairs sort in ascending order.
            if layer.size == shape.capacity() {
                return Some(format!(
                    "Size {} sorts all pairs in ascending order. {a} {order} {b}, so {verdict}.",
                    layer.size
                ));
            }
            Some(format!(
                "{subject} & {} = {bit}, so this pair sorts {}: the smaller key goes to element {}. {a} \
                 {order} {b}, so {verdict}.",
                layer.size,
                if upwards { "in ascending order" } else { "in descending order" },
                if upwards { subject } else { subject ^ layer.stride },
            ))
        }
        (Topic::Taken, Step::Minimum { taken }) => {
            let [own, other] = distinct_words(
                state.registers[subject as usize],
                state.buffer[shape.mirror_of(subject) as usize],
            );
            let from = if taken.contains(subject) {
                "the key of the intermediate result stays"
            } else {
                "the candidate stays"
            };
            Some(format!("The smaller of {own} and {other} is kept: {from}."))
        }
        _ => None,
    }
}

/// Two keys with enough digits to differ; for equal distances, with their positions.
fn distinct_words(a: Key, b: Key) -> [String; 2] {
    let read = |key: Key, to: usize| {
        if key == PADDING { "\u{221e}".to_owned() } else { significant_to(distance_of(key).into(), to) }
    };
    if a != b && a != PADDING && b != PADDING && distance_of(a) == distance_of(b) {
        return [a, b].map(|key| format!("{} (point {})", read(key, 3), thousands(index_of(key).into())));
    }
    let to = (3..=9).find(|&to| a == b || read(a, to) != read(b, to)).unwrap_or(9);
    [read(a, to), read(b, to)]
}
