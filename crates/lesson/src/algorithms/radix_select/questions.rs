//! Questions about a selection by digits: their texts and answers, and what known mistakes lead to.

use super::Chosen;
use crate::algorithms::AlgorithmQuestions;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::questions::{Answer, Ask, Pick, Question, Reply, slips};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::thousands;

impl AlgorithmQuestions for Chosen {
    fn question(
        &self,
        recording: &Recording,
        ask: Ask,
        at: usize,
        before: &State,
        _pick: &mut Pick<'_>,
    ) -> Option<Question> {
        let buckets = before.buckets()?;
        let Some(&RadixSelectStep::Bucket { digit, below, inside }) = recording.steps()[at].radix_select()
        else {
            return None;
        };
        let (k, rank) = (before.shape.k, thousands(buckets.rank.into()));
        let (text, answer, slips, possible) = match ask {
            Ask::Bucket => {
                let unreduced = buckets.sums.partition_point(|&sum| sum < k) as u32;
                let forgot = format!(
                    "There the sum reaches k = {}. But {} in smaller buckets of earlier passes: of those \
                     that are left, number {rank} is looked for.",
                    thousands(k.into()),
                    if buckets.below == 1 {
                        "1 neighbour lies".to_owned()
                    } else {
                        format!("{} neighbours lie", thousands(buckets.below.into()))
                    }
                );
                let largest = (0u32..)
                    .zip(&buckets.counts)
                    .max_by_key(|&(bucket, &count)| (count, std::cmp::Reverse(bucket)))?
                    .0;
                let most = format!(
                    "That bucket holds the most points. The sum of the counts decides: where it first \
                     reaches {rank}, there is the one looked for."
                );
                let mut slips = slips(
                    Reply::Number(digit),
                    [(Reply::Number(unreduced), forgot), (Reply::Number(largest), most)],
                );
                // No sum may reach k.
                slips.retain(|slip| slip.reply != Reply::Number(buckets.sums.len() as u32));
                let text = format!(
                    "Of the {} that are left, number {rank} is looked for: which bucket is it in?",
                    thousands(buckets.left.into())
                );
                // The last digit may be shorter than the others.
                (text, Answer::Number { right: digit, within: 0 }, slips, 0..=buckets.counts.len() as u32 - 1)
            }
            Ask::Left => {
                let upto = format!(
                    "So many lie up to the end of bucket {digit}. Of these, {} before it are neighbours for \
                     sure and are not looked at again.",
                    thousands(below.into())
                );
                let behind = format!(
                    "So many lie outside bucket {digit}: they are decided. Only those inside are left."
                );
                let slips = slips(
                    Reply::Number(inside),
                    [(Reply::Number(below + inside), upto), (Reply::Number(buckets.left - inside), behind)],
                );
                let text = format!(
                    "Number {rank} of {} is looked for: how many points are left after this pass?",
                    thousands(buckets.left.into())
                );
                (text, Answer::Number { right: inside, within: 0 }, slips, 1..=buckets.left)
            }
            _ => return None,
        };
        Some(Question { slips, possible, ..Question::new(ask, at, 0, text, answer) })
    }

    fn suits(&self, ask: Ask, at: usize, recording: &Recording) -> bool {
        matches!(ask, Ask::Bucket | Ask::Left)
            && matches!(recording.steps()[at].radix_select(), Some(RadixSelectStep::Bucket { .. }))
    }

    fn given(&self, ask: Ask, _step: &Step, state: &State) -> String {
        match state.buckets() {
            Some(buckets) if matches!(ask, Ask::Bucket | Ask::Left) => {
                format!(
                    " Counts from bucket 0 on: {}.",
                    buckets.counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                )
            }
            _ => String::new(),
        }
    }
}
