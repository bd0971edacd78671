//! Questions about the tree search.

use super::state::leaf_count;
use super::{TreeBaseline, TreeStep};
use crate::algorithms::AlgorithmQuestions;
use crate::algorithms::kernel::questions as kernel;
use crate::algorithms::kernel::questions::kernel_question;
use crate::describe::key;
use crate::engines::lockstep::{PADDING, distance_of};
use crate::print::distances_from_lane_0;
use crate::questions::{Answer, Question, QuestionPicker, Topic};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::thousands;

impl AlgorithmQuestions for TreeBaseline {
    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
        let shape = recording.shape();
        // The picture still shows the node that is done, not the one in which the search continues.
        if matches!(topic, Topic::Child | Topic::Visited) && before.descent()?.done.is_some() {
            return None;
        }
        let leaves = leaf_count(before);
        let possible = 1..=u32::try_from(leaves).unwrap_or(u32::MAX);
        Some(match (topic, recording.steps()[at].tree()) {
            (Topic::Leaves, _) => {
                let right = self.visits.leaves;
                let text = format!(
                    "{} points in {leaves} leaves, k = {}: how many leaves will be visited, nearest box \
                     first?",
                    thousands(shape.n.into()),
                    shape.k
                );
                pick.ask(0, text, Answer::Number { right, within: right / 3 }).with_range(possible)
            }
            (Topic::Order, _) => {
                let right = self.curve_order.leaves;
                let text = format!(
                    "If boxes were visited in curve order, not nearest first: how many of the {leaves} \
                     leaves would be visited?"
                );
                pick.ask(0, text, Answer::Number { right, within: right / 3 }).with_range(possible)
            }
            (Topic::Child, Some(TreeStep::Child { lane })) => {
                let node = before.descent()?.node()?;
                let (_, nearest) = node.nearest()?;
                // At the displayed precision, the nearest box must be unique.
                let waiting = (0..).zip(&node.keys).filter(|(lane, _)| node.waiting >> lane & 1 == 1);
                if waiting.filter(|&(_, &other)| key(other) == key(nearest)).count() > 1
                    || node.waiting.count_ones() < 3
                {
                    return None;
                }
                let text = "Of the remaining boxes, which lane's is visited next?".to_owned();
                pick.ask(0, text, Answer::Number { right: *lane, within: 0 })
            }
            (Topic::Visited, Some(step @ (TreeStep::Child { .. } | TreeStep::Pruned { .. }))) => {
                let (lane, nearest) = before.descent()?.node()?.nearest()?;
                if before.last() == PADDING || key(nearest) == key(before.last()) {
                    return None;
                }
                let text = format!(
                    "The nearest remaining box, lane {lane}'s, is at {}; neighbour {} is at {}: is it \
                     visited?",
                    key(nearest),
                    shape.k,
                    key(before.last())
                );
                pick.ask(lane, text, Answer::YesNo(matches!(step, TreeStep::Child { .. })))
            }
            _ => return kernel_question(pick),
        })
    }

    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        match (topic, recording.steps()[at].tree()) {
            (Topic::Child | Topic::Visited, Some(TreeStep::Child { .. })) => true,
            (Topic::Visited, Some(TreeStep::Pruned { lanes })) => *lanes != 0,
            _ => kernel::suits(topic, at, recording),
        }
    }

    fn is_yes(&self, step: &Step) -> bool {
        !matches!(step.tree(), Some(TreeStep::Pruned { .. }))
    }

    fn printed_data(&self, topic: Topic, step: &Step, state: &State) -> String {
        match (topic, step.tree()) {
            (Topic::Votes, Some(TreeStep::Leaf { keys, .. })) => {
                distances_from_lane_0(&keys.iter().map(|&key| distance_of(key)).collect::<Vec<_>>())
            }
            (Topic::Child, _) => {
                let Some(node) = state.descent().and_then(|descent| descent.path.last()) else {
                    return String::new();
                };
                let left = |(lane, &key): (u32, _)| {
                    if node.waiting >> lane & 1 == 1 { distance_of(key) } else { f32::INFINITY }
                };
                distances_from_lane_0(&(0..).zip(&node.keys).map(left).collect::<Vec<_>>())
            }
            _ => String::new(),
        }
    }

    fn why(&self, question: &Question, _recording: &Recording) -> Option<String> {
        let why = match question.topic {
            Topic::Leaves => {
                "The visited leaves are near the circle through the k-th neighbour; all others were pruned \
                 by their boxes."
            }
            Topic::Order => {
                "Near points that are found late lower the bound late: until then, more boxes have to be \
                 visited."
            }
            _ => return None,
        };
        Some(why.to_owned())
    }
}
