//! Questions about radix select, with the answers that known misconceptions lead to.

use super::RadixSelectBaseline;
use crate::algorithms::AlgorithmQuestions;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::questions::{Answer, Question, QuestionPicker, Reply, Topic};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::thousands;

impl AlgorithmQuestions for RadixSelectBaseline {
    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
        let buckets = before.buckets()?;
        let Some(&RadixSelectStep::Bucket { digit, below, inside }) = recording.steps()[at].radix_select()
        else {
            return None;
        };
        let (k, rank) = (before.shape.k, thousands(buckets.rank.into()));
        Some(match topic {
            Topic::Bucket => {
                let unreduced = buckets.sums.partition_point(|&sum| sum < k) as u32;
                let forgot = format!(
                    "There the sum reaches k = {}. But {} in smaller buckets of earlier passes: among the \
                     remaining points, rank {rank} is wanted.",
                    thousands(k.into()),
                    if buckets.below == 1 {
                        "1 neighbour is".to_owned()
                    } else {
                        format!("{} neighbours are", thousands(buckets.below.into()))
                    }
                );
                let largest = (0u32..)
                    .zip(&buckets.counts)
                    .max_by_key(|&(bucket, &count)| (count, std::cmp::Reverse(bucket)))?
                    .0;
                let most = format!(
                    "That bucket holds the most points. But the sum of the counts decides: the wanted \
                     bucket is where it first reaches {rank}."
                );
                let text = format!(
                    "Among the {} remaining points, rank {rank} is wanted: which bucket is it in?",
                    thousands(buckets.left.into())
                );
                // The last digit may be shorter than the others.
                let mut question = pick
                    .ask(0, text, Answer::Number { right: digit, within: 0 })
                    .with_range(0..=buckets.counts.len() as u32 - 1)
                    .with_misconceptions([
                        (Reply::Number(unreduced), forgot),
                        (Reply::Number(largest), most),
                    ]);
                // The sums may never reach k.
                let past_the_end = Reply::Number(buckets.sums.len() as u32);
                question.misconceptions.retain(|misconception| misconception.reply != past_the_end);
                question
            }
            Topic::Left => {
                let upto = format!(
                    "That many are up to the end of bucket {digit}. Of these, {} before it are known \
                     neighbours and are not read again.",
                    thousands(below.into())
                );
                let behind = format!(
                    "That many are outside bucket {digit}: they are decided. Only those inside remain."
                );
                let text = format!(
                    "Rank {rank} of {} is wanted: how many points remain after this pass?",
                    thousands(buckets.left.into())
                );
                let others = buckets.left - inside;
                pick.ask(0, text, Answer::Number { right: inside, within: 0 })
                    .with_range(1..=buckets.left)
                    .with_misconceptions([
                        (Reply::Number(below + inside), upto),
                        (Reply::Number(others), behind),
                    ])
            }
            _ => return None,
        })
    }

    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        matches!(topic, Topic::Bucket | Topic::Left)
            && matches!(recording.steps()[at].radix_select(), Some(RadixSelectStep::Bucket { .. }))
    }

    fn printed_data(&self, topic: Topic, _step: &Step, state: &State) -> String {
        match state.buckets() {
            Some(buckets) if matches!(topic, Topic::Bucket | Topic::Left) => {
                format!(
                    " Counts from bucket 0 on: {}.",
                    buckets.counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                )
            }
            _ => String::new(),
        }
    }
}
