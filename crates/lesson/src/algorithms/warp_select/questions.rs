//! Questions about warp select, with the answers that known misconceptions lead to.

use super::state::Queues;
use super::{WarpSelectBaseline, WarpSelectStep};
use crate::algorithms::AlgorithmQuestions;
use crate::describe::key;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::print::{distances_from_lane_0, keys_from_lane_0};
use crate::questions::{Answer, Question, QuestionPicker, Reply, Topic};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::{count, significant, thousands};

impl AlgorithmQuestions for WarpSelectBaseline {
    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
        let shape = before.shape;
        let last = before.last();
        Some(match (topic, recording.steps()[at].warp_select()) {
            (Topic::Merges, _) => {
                let text = format!(
                    "{} points, k = {}, a queue of {} in each of {} lanes: how many merges will there be?",
                    thousands(shape.n.into()),
                    thousands(shape.k.into()),
                    count(self.length.into(), "key", "keys"),
                    shape.width
                );
                let answer = Answer::Number { right: self.merges, within: self.merges / 4 };
                pick.ask(0, text, answer).with_range(1..=u32::MAX)
            }
            (Topic::Takes, Some(WarpSelectStep::Inserted { placed })) => {
                let (distances, queues) = (recording.distances(before.group?), before.queues()?);
                // At the displayed precision each lane's answer must be clear.
                let close = |(lane, &distance): (u32, &f32)| {
                    let first = queues.first(lane);
                    distance.is_finite() && first != PADDING && significant(distance.into()) == key(first)
                };
                if (0..).zip(&distances).any(close) {
                    return None;
                }
                let mask = placed.iter().fold(0, |lanes, taken| lanes | 1 << taken.lane);
                let below = (0..).zip(&distances).fold(0, |lanes, (lane, &distance)| {
                    lanes | u32::from(distance < distance_of(last)) << lane
                });
                let says = "These are the lanes whose distance is below the k-th: that is the kernel's \
                            test. A lane of warp select compares with the largest key of its own queue."
                    .to_owned();
                let text =
                    "Which lanes insert their distance into their queue and drop its largest key?".to_owned();
                pick.ask(0, text, Answer::Lanes(mask)).with_misconceptions([(Reply::Lanes(below), says)])
            }
            (Topic::Breaks, Some(WarpSelectStep::Checked { broken })) => {
                let queues = before.queues()?;
                let close = |lane: u32| queues.first(lane) != last && key(queues.first(lane)) == key(last);
                if last == PADDING || (0..shape.width).any(close) {
                    return None;
                }
                let says = match broken.count_ones() {
                    0 => "Some keys in the queues may be below the k-th. They stay there: only if a lane's \
                          largest key is below it, too, could a neighbour drop out next."
                        .to_owned(),
                    1 => "One lane is enough: its next key could drop a neighbour.".to_owned(),
                    lanes => format!(
                        "{lanes} lanes hold only keys below the k-th: the next key of any of them could \
                         drop a neighbour."
                    ),
                };
                let text = format!("The k-th is at {}: does this group cause a merge?", key(last));
                let right = *broken != 0;
                pick.ask(0, text, Answer::YesNo(right)).with_misconceptions([(Reply::YesNo(!right), says)])
            }
            _ => return None,
        })
    }

    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        match (topic, recording.steps()[at].warp_select()) {
            (Topic::Takes, Some(WarpSelectStep::Inserted { placed })) => {
                !placed.is_empty() && placed.len() < recording.shape().width as usize
            }
            (Topic::Breaks, Some(WarpSelectStep::Checked { .. })) => true,
            _ => false,
        }
    }

    fn is_yes(&self, step: &Step) -> bool {
        !matches!(step.warp_select(), Some(WarpSelectStep::Checked { broken: 0 }))
    }

    fn printed_data(&self, topic: Topic, step: &Step, state: &State) -> String {
        let keys = || {
            keys_from_lane_0("Largest keys of the queues", &state.queues().map(largest).unwrap_or_default())
        };
        match (topic, step) {
            (Topic::Takes, Step::Group { distances, .. }) => distances_from_lane_0(distances) + &keys(),
            (Topic::Breaks, _) => keys(),
            _ => String::new(),
        }
    }

    fn why(&self, question: &Question, recording: &Recording) -> Option<String> {
        if question.topic != Topic::Merges {
            return None;
        }
        Some(format!(
            "A merge of the lanes' queues brings in {} keys on average, because one lane is enough to cause \
             it. A buffer of {} needs {} for the same points, and brings in {} per merge.",
            significant(f64::from(self.keys_merged) / f64::from(self.merges)),
            thousands(recording.shape().capacity().into()),
            count(self.buffer.merges.into(), "merge", "merges"),
            significant(f64::from(self.buffer.keys_merged) / f64::from(self.buffer.merges))
        ))
    }
}

/// The largest keys of the lanes' queues.
pub fn largest(queues: &Queues) -> Vec<Key> {
    (0..queues.width).map(|lane| queues.first(lane)).collect()
}
