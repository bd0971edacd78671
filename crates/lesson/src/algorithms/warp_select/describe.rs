//! The sentences of warp select, where they differ from those of the kernel.

use crate::algorithms::SpecificStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::algorithms::warp_select::state::Queues;
use crate::describe::{capital, key, lanes, range, smallest};
use crate::engines::lockstep::{PADDING, distance_of};
use crate::state::State;
use crate::step::{AppendedCandidate, Step};
use crate::text::{count, significant, thousands};

/// Describes a step that only this algorithm has. `after` is the state after it.
fn describe_own(step: &WarpSelectStep, after: &State, queues: &Queues) -> Option<String> {
    let shape = after.shape;
    let (width, capacity) = (shape.width, shape.capacity());
    let (k, all) = (thousands(shape.k.into()), thousands(capacity.into()));
    let listed = thousands(queues.keys.len() as u64);
    Some(match step {
        WarpSelectStep::Queues { length } => format!(
            "The warp's queue has room for {}{}; each of the {width} lanes has its own queue of {length}. \
             All queues are empty.",
            count(capacity.into(), "key", "keys"),
            if capacity == shape.k { String::new() } else { format!(", of which the first {k} matter") },
        ),
        WarpSelectStep::Inserted { placed } if placed.is_empty() => "No lane's distance is below the \
                                                                     largest key of its own queue: no key \
                                                                     is inserted, and the group is done."
            .to_owned(),
        WarpSelectStep::Inserted { placed } => inserted(placed, after),
        WarpSelectStep::Checked { broken: 0 } => {
            format!(
                "No lane's largest key is below the k-th, {}: no neighbour can drop out next. The invariant \
                 holds.",
                last(after)
            )
        }
        WarpSelectStep::Checked { broken } => broken_in(*broken, after, queues),
        WarpSelectStep::Drained => "No points are left, but keys in the lanes' queues may still be \
                                    neighbours: they are merged once more."
            .to_owned(),
        WarpSelectStep::QueuesSorted => {
            let below = queues.keys.iter().filter(|&&key| key < after.last()).count();
            let verb = if below == 1 { "is" } else { "are" };
            let of = match after.last() {
                PADDING => String::new(),
                _ => format!(" {} of them {verb} below the k-th, {}.", thousands(below as u64), last(after)),
            };
            format!(
                "The {listed} keys of all queues are sorted as one list by a bitonic network, with \
                 shuffles: element i is in lane i mod {width}.{of}"
            )
        }
        WarpSelectStep::Exchanged { taken } => {
            let shown = if taken.count() == 1 {
                "1 key comes".to_owned()
            } else {
                format!("{} keys come", thousands(taken.count().into()))
            };
            format!(
                "Element i of the list is compared with element {} \u{2212} i of the warp's queue, which \
                 keeps the smaller: {shown} from the list. The warp's queue is now bitonic.",
                thousands(u64::from(capacity - 1))
            )
        }
        WarpSelectStep::WarpQueueSorted => {
            format!("The layers of size {all} sort the warp's queue again: it ascends.")
        }
        WarpSelectStep::QueuesDescend => "Each lane sorts its own queue, without a shuffle: the largest key \
                                          is first again, the next to drop out."
            .to_owned(),
    })
}

/// Describes a step. `after` is the state after it; `None` if the sentence of the kernel applies.
pub fn describe(step: &Step, after: &State, queues: &Queues) -> Option<String> {
    let shape = after.shape;
    let (width, k) = (shape.width, thousands(shape.k.into()));
    let listed = thousands(queues.keys.len() as u64);
    Some(match step {
        Step::Own(SpecificStep::WarpSelect(step)) => describe_own(step, after, queues)?,
        Step::MaxDistance { before, max_distance, .. } => {
            let merges = after.counts.merges;
            let change = match (max_distance.is_infinite(), before == max_distance) {
                (true, _) => format!("fewer than {k} neighbours are known"),
                (_, true) => format!("the k-th stays at {}", significant((*max_distance).into())),
                _ if before.is_infinite() => {
                    format!("the k-th is at {} now", significant((*max_distance).into()))
                }
                _ => format!(
                    "the k-th falls from {} to {}",
                    significant((*before).into()),
                    significant((*max_distance).into())
                ),
            };
            format!(
                "Merge {merges} is done: {change}. So far a merge sorted {listed} keys and brought in {} on \
                 average.",
                significant(f64::from(queues.keys_merged) / f64::from(merges.max(1)))
            )
        }
        Step::Finished => {
            let found = after.neighbours().count();
            format!(
                "The search is done: {} in the warp's queue. Of {}, {} went into a lane's queue and {} into \
                 the warp's, in {}.",
                if found == 1 {
                    "the neighbour is".to_owned()
                } else {
                    format!("the {} neighbours are", thousands(found as u64))
                },
                count(shape.n.into(), "point", "points"),
                thousands(after.counts.candidates.into()),
                thousands(queues.keys_merged.into()),
                count(after.counts.merges.into(), "merge", "merges")
            )
        }
        Step::Group { base, distances } => {
            let end = base.saturating_add(width).min(shape.n);
            let nearest = smallest(distances);
            let who = if end - base == width {
                "Every lane reads".to_owned()
            } else {
                format!("{} lanes read", end - base)
            };
            let who = if end - base == 1 { "Lane 0 reads".to_owned() } else { who };
            format!("{who} the squared distance of one point, {}{nearest}.", range("point", *base, end - 1))
        }
        _ => return None,
    })
}

fn inserted(placed: &[AppendedCandidate], after: &State) -> String {
    let took = placed.iter().fold(0, |lanes, key| lanes | 1 << key.lane);
    let (who, one) = (capital(&lanes(took, after.shape.width)), placed.len() == 1);
    let vain = placed.iter().filter(|placed| placed.key > after.last()).count();
    let vain = match vain {
        _ if after.last() == PADDING => String::new(),
        0 if one => format!(" It is below the k-th, {}, too.", last(after)),
        0 => format!(" All are below the k-th, {}, too.", last(after)),
        1 if one => {
            format!(" It is not below the k-th, {}: a lane compares only with its own queue.", last(after))
        }
        all if all == placed.len() => {
            format!(" None is below the k-th, {}: a lane compares only with its own queue.", last(after))
        }
        some => {
            format!(
                " {some} of them {} not below the k-th, {}: a lane compares only with its own queue.",
                if some == 1 { "is" } else { "are" },
                last(after)
            )
        }
    };
    format!(
        "{who} {} a distance below the largest key of {} own queue: that key drops out, and the new one is \
         inserted in order.{vain}",
        if one { "has" } else { "have" },
        if one { "its" } else { "their" },
    )
}

fn broken_in(broken: u32, after: &State, queues: &Queues) -> String {
    let (width, k) = (after.shape.width, thousands(after.shape.k.into()));
    let lane = broken.trailing_zeros();
    let first = key(queues.first(lane));
    let why = match after.last() {
        PADDING => format!(
            "Fewer than {k} neighbours are known, and lane {lane}'s queue is full: its largest key, \
             {first}, may be one, and would drop out next"
        ),
        _ => format!(
            "In lane {lane} even the largest key, {first}, is below the k-th, {}: a neighbour could drop \
             out next",
            last(after)
        ),
    };
    let of = broken.count_ones();
    let others = match of {
        _ if of == width => "All lanes break the invariant, and all queues are merged.".to_owned(),
        1 => format!("1 of {width} lanes breaks the invariant, and the queues of all are merged."),
        _ => format!("{of} of {width} lanes break the invariant, and the queues of all are merged."),
    };
    format!("{why}. {others}")
}

/// The k-th key of the warp's queue.
fn last(after: &State) -> String {
    match after.last() {
        PADDING => "which is still infinite".to_owned(),
        last => significant(distance_of(last).into()),
    }
}
