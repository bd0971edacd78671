//! Questions about selections: their texts and answers, and what known mistakes lead to.

use super::{Answer, Ask, Question, Reply, slips};
use crate::describe::key;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::queues::Queues;
use crate::recording::{Queued, Recording};
use crate::state::State;
use crate::step::Step;
use crate::text::{count, significant, thousands};

/// A question about a step of warp select, or about all of it; `None` if it would have no clear answer.
pub fn of_queues(recording: &Recording, queued: &Queued, ask: Ask, at: usize, before: &State) -> Option<Question> {
    let shape = before.shape;
    let last = before.last();
    let (text, answer, slips) = match (ask, &recording.steps()[at]) {
        (Ask::Merges, _) => {
            let text = format!(
                "{} points, k = {}, a queue of {} in each of {} lanes: how many merges will there be?",
                thousands(shape.n.into()),
                thousands(shape.k.into()),
                count(queued.length.into(), "key", "keys"),
                shape.width
            );
            (text, Answer::Number { right: queued.merges, within: queued.merges / 4 }, Vec::new())
        }
        (Ask::Takes, Step::Inserted { placed }) => {
            let (distances, queues) = (recording.distances(before.group?), before.queues.as_ref()?);
            // At the displayed precision each lane's answer must be clear.
            let close = |(lane, &distance): (u32, &f32)| {
                let first = queues.first(lane);
                distance.is_finite() && first != PADDING && significant(distance.into()) == key(first)
            };
            if (0..).zip(&distances).any(close) {
                return None;
            }
            let mask = placed.iter().fold(0, |lanes, taken| lanes | 1 << taken.lane);
            let below = (0..).zip(&distances).fold(0, |lanes, (lane, &distance)| lanes | u32::from(distance < distance_of(last)) << lane);
            let says = "These are the lanes whose distance is below the k-th, which is how the kernel's buffer takes candidates. A lane of warp select compares with the largest key of its own queue."
                .to_owned();
            let text = "Which lanes take their distance into their queue, and lose its largest key?".to_owned();
            (text, Answer::Lanes(mask), slips(Reply::Lanes(mask), [(Reply::Lanes(below), says)]))
        }
        (Ask::Breaks, Step::Checked { broken }) => {
            let queues = before.queues.as_ref()?;
            let close = |lane: u32| queues.first(lane) != last && key(queues.first(lane)) == key(last);
            if last == PADDING || (0..shape.width).any(close) {
                return None;
            }
            let says = match broken.count_ones() {
                0 => "Some keys in the queues may be below the k-th. They wait there: only when the largest key of a lane is below it, too, would a neighbour fall out next."
                    .to_owned(),
                1 => "One lane is enough: the next key that it takes would drop a neighbour.".to_owned(),
                lanes => format!("{lanes} lanes hold nothing but keys below the k-th: the next key that one of them takes would drop a neighbour."),
            };
            let text = format!("The k-th is at {}: does this group cause a merge?", key(last));
            let right = *broken != 0;
            (text, Answer::YesNo(right), slips(Reply::YesNo(right), [(Reply::YesNo(!right), says)]))
        }
        _ => return None,
    };
    let possible = if ask == Ask::Merges { 1 } else { 0 }..=u32::MAX;
    Some(Question { slips, possible, ..Question::new(ask, at, 0, text, answer) })
}

/// A question about a pass of a selection by digits.
pub fn of_buckets(recording: &Recording, ask: Ask, at: usize, before: &State) -> Option<Question> {
    let buckets = before.buckets.as_ref()?;
    let Step::Bucket { digit, below, inside } = recording.steps()[at] else { return None };
    let (k, rank) = (before.shape.k, thousands(buckets.rank.into()));
    let (text, answer, slips, possible) = match ask {
        Ask::Bucket => {
            let unreduced = buckets.sums.partition_point(|&sum| sum < k) as u32;
            let forgot = format!(
                "There the sum reaches k = {}. But {} in smaller buckets of earlier passes: of those that are left, number {rank} is looked for.",
                thousands(k.into()),
                if buckets.below == 1 { "1 neighbour lies".to_owned() } else { format!("{} neighbours lie", thousands(buckets.below.into())) }
            );
            let largest = (0u32..).zip(&buckets.counts).max_by_key(|&(bucket, &count)| (count, std::cmp::Reverse(bucket)))?.0;
            let most = format!(
                "That bucket holds the most points. The sum of the counts decides: where it first reaches {rank}, there is the one looked for."
            );
            let mut slips = slips(Reply::Number(digit), [(Reply::Number(unreduced), forgot), (Reply::Number(largest), most)]);
            // No sum may reach k.
            slips.retain(|slip| slip.reply != Reply::Number(buckets.sums.len() as u32));
            let text = format!("Of the {} that are left, number {rank} is looked for: which bucket is it in?", thousands(buckets.left.into()));
            // The last digit may be shorter than the others.
            (text, Answer::Number { right: digit, within: 0 }, slips, 0..=buckets.counts.len() as u32 - 1)
        }
        Ask::Left => {
            let upto = format!(
                "So many lie up to the end of bucket {digit}. Of these, {} before it are neighbours for sure and are not looked at again.",
                thousands(below.into())
            );
            let behind = format!("So many lie outside bucket {digit}: they are decided. Only those inside are left.");
            let slips = slips(Reply::Number(inside), [(Reply::Number(below + inside), upto), (Reply::Number(buckets.left - inside), behind)]);
            let text = format!("Number {rank} of {} is looked for: how many points are left after this pass?", thousands(buckets.left.into()));
            (text, Answer::Number { right: inside, within: 0 }, slips, 1..=buckets.left)
        }
        _ => return None,
    };
    Some(Question { slips, possible, ..Question::new(ask, at, 0, text, answer) })
}

/// The largest keys of the lanes' queues.
pub fn largest(queues: &Queues) -> Vec<Key> {
    (0..queues.width).map(|lane| queues.first(lane)).collect()
}
