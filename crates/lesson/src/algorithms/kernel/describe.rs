//! The sentences of the kernel's search, and of the steps that other searches share with it.

use crate::describe::{capital, hex, lanes, range, smallest};
use crate::engines::lockstep::{Fault, lanes_below};
use crate::state::State;
use crate::step::{SortPass, Step};
use crate::text::{count, significant, thousands};

/// Describes a step of the kernel's search. `after` is the state after it.
pub fn describe_kernel(step: &Step, after: &State) -> String {
    let shape = after.shape;
    let (capacity, width) = (shape.capacity(), shape.width);
    let all = thousands(capacity.into());
    let bound = bound(after.max_distance);
    match step {
        Step::Batch { first, end } => {
            format!(
                "The block loads {} into shared memory: {}.",
                count(u64::from(end - first), "point", "points"),
                range("point", *first, end - 1)
            )
        }
        Step::Group { base, distances } => group(*base, distances, after),
        Step::Ballot { mask: 0 } => format!(
            "No lane's point is closer than {bound}: ballot {}, and the group is done.",
            hex(0, width)
        ),
        Step::Ballot { mask } => {
            let verb = if mask.count_ones() == 1 { "is" } else { "are" };
            format!(
                "{} {verb} closer than {bound}: ballot {}.",
                capital(&lanes(*mask, width)),
                hex(*mask, width)
            )
        }
        Step::Positions { slots } => {
            positions(slots.iter().map(|slot| (slot.lane, slot.slot)).collect(), after)
        }
        Step::Appended { placed } => {
            let (Some(first), Some(last)) = (placed.first(), placed.last()) else {
                return "No candidate has a slot.".to_owned();
            };
            let what = count(placed.len() as u64, "candidate goes", "candidates go");
            let waiting = match after.waiting.count_ones() {
                0 => String::new(),
                1 => format!(" {} waits.", capital(&lanes(after.waiting, width))),
                _ => format!(" {} wait.", capital(&lanes(after.waiting, width))),
            };
            format!(
                "{what} into the buffer, {}: it holds {} of {all}.{waiting}",
                range("slot", first.slot, last.slot),
                thousands(after.buffered.into())
            )
        }
        Step::BufferFull => format!(
            "The buffer is full: all {all} slots are taken, so it is merged with the intermediate result."
        ),
        Step::Padded { first } => {
            let (slots, verb) =
                (range("slot", *first, capacity - 1), if first + 1 == capacity { "is" } else { "are" });
            format!(
                "No points are left. The buffer holds {} of {all}: {slots} {verb} filled with infinite \
                 distances, and it is merged.",
                thousands(u64::from(*first))
            )
        }
        Step::Swap => {
            format!(
                "Buffer and registers swap contents: the {all} candidates are now in the registers, where \
                 shuffles reach them, and the intermediate result waits in the buffer."
            )
        }
        Step::Layer { pass, layer, shuffle, swapped } => {
            let how = match shuffle {
                Some(lanes) => format!("each lane compares with lane ^ {lanes} by shuffle"),
                None => "each lane compares its own keys, without a shuffle".to_owned(),
            };
            let pairs = match swapped.count() {
                1 => format!("1 of {} pairs swaps", thousands((capacity / 2).into())),
                swaps => {
                    format!("{} of {} pairs swap", thousands(swaps.into()), thousands((capacity / 2).into()))
                }
            };
            // What a whole sort achieves comes first: it is a stage, whose layers may not be shown.
            let begin = match (pass, layer.size == capacity && layer.stride == 1) {
                (SortPass::Sort, true) => "The candidates are sorted. The last layer",
                (SortPass::Resort, true) => "The intermediate result is sorted again. The last layer",
                (SortPass::Sort, false) => "Sort",
                (SortPass::Resort, false) => "Re-sort",
            };
            format!(
                "{begin}, size {}, stride {}: {how}; {pairs}.",
                thousands(layer.size.into()),
                thousands(layer.stride.into()),
            )
        }
        Step::Minimum { taken } => format!(
            "Element i becomes the smaller of candidate i and element {} \u{2212} i of the intermediate \
             result: {} of the candidates stay, {} of the intermediate result. The {all} smallest remain, \
             in bitonic order.",
            thousands((capacity - 1).into()),
            thousands((capacity - taken.count()).into()),
            thousands(taken.count().into())
        ),
        Step::MaxDistance { points_seen, before, max_distance } => {
            new_bound(*points_seen, *before, *max_distance, after)
        }
        Step::FilteredAgain { rest, mask } => {
            let asked = capital(&lanes(*rest, width));
            let had = if rest.count_ones() == 1 { "had no slot and votes" } else { "had no slot and vote" };
            let answer = match mask.count_ones() {
                0 => "none is still closer".to_owned(),
                1 => format!("{} is still closer", lanes(*mask, width)),
                _ => format!("{} are still closer", lanes(*mask, width)),
            };
            format!("{asked} {had} again, against {bound}: {answer}, ballot {}.", hex(*mask, width))
        }
        Step::Finished => finished(after),
        // A step of another algorithm.
        Step::Own(_) => String::new(),
    }
}

fn group(base: u32, distances: &[f32], after: &State) -> String {
    let width = after.shape.width;
    let end = base.saturating_add(width).min(after.shape.n);
    let nearest = smallest(distances);
    let points = range("point", base, end - 1);
    // The last group may have fewer points.
    match end - base {
        there if there == width => {
            format!("Every lane computes the squared distance of one point, {points}{nearest}.")
        }
        1 => format!(
            "Lane 0 computes the squared distance of the last point, {points}{nearest}; no other lane has a \
             point."
        ),
        there => format!(
            "Lanes 0 to {} compute the squared distance of one point each, {points}{nearest}; the other \
             lanes have no point.",
            there - 1
        ),
    }
}

/// Explains the last lane with a slot: it has the most lanes below it.
fn positions(slots: Vec<(u32, u32)>, after: &State) -> String {
    let capacity = after.shape.capacity();
    let fitting: Vec<_> = slots.iter().filter(|(_, slot)| *slot < capacity).collect();
    let Some(&&(lane, slot)) = fitting.last() else { return "No slot is free.".to_owned() };
    let below = (after.ballot & lanes_below(lane)).count_ones();
    let why = match below {
        0 => "no lower lane votes".to_owned(),
        1 => "one lower lane also votes".to_owned(),
        _ => format!("{below} lower lanes also vote"),
    };
    let waiting = slots.len() - fitting.len();
    let late = match slots.get(fitting.len()) {
        Some((lane, slot)) if waiting == 1 => {
            format!(
                " Lane {lane} would write to slot {}, which does not exist: it waits.",
                thousands((*slot).into())
            )
        }
        Some((lane, slot)) => {
            format!(
                " Lane {lane} would write to slot {}, which does not exist: it and {} more wait.",
                thousands((*slot).into()),
                waiting - 1
            )
        }
        None => String::new(),
    };
    format!(
        "Lane {lane} writes to slot {} + {below} = {}, because {why}.{late}",
        thousands(after.buffered.into()),
        thousands(slot.into())
    )
}

fn new_bound(points_seen: u32, before: f32, now: f32, after: &State) -> String {
    let (k, merge) = (after.shape.k, after.counts.merges);
    let seen = if points_seen == after.shape.n {
        format!("; all {} were seen", count(points_seen.into(), "point", "points"))
    } else {
        String::new()
    };
    if now.is_infinite() {
        return format!(
            "Merge {merge} is done. Fewer than {} neighbours are known, so max_distance stays \
             infinite{seen}.",
            thousands(k.into())
        );
    }
    let change = if before == now {
        format!("stays at {}", significant(now.into()))
    } else {
        format!(
            "falls from {} to {}",
            if before.is_infinite() { "infinity".to_owned() } else { significant(before.into()) },
            significant(now.into())
        )
    };
    format!(
        "Merge {merge} is done. max_distance {change}, the squared distance of neighbour {}{seen}.",
        thousands(k.into())
    )
}

fn finished(after: &State) -> String {
    let counts = &after.counts;
    let found: Vec<_> = after.neighbours().collect();
    let (Some(nearest), Some(farthest)) = (found.first(), found.last()) else {
        return "The search is done: there were no points.".to_owned();
    };
    let found = match found.len() {
        1 => {
            format!("the neighbour is in a register, at squared distance {}", significant(nearest.1.into()))
        }
        many => format!(
            "the {} neighbours are in the registers, nearest first, at squared distances from {} to {}",
            thousands(many as u64),
            significant(nearest.1.into()),
            significant(farthest.1.into())
        ),
    };
    format!(
        "The search is done: {found}. Of {} {} went into the buffer, in {}.",
        count(after.shape.n.into(), "point,", "points,"),
        thousands(counts.candidates.into()),
        count(counts.merges.into(), "merge", "merges"),
    )
}

fn bound(max_distance: f32) -> String {
    if max_distance.is_infinite() {
        "max_distance, which is still infinite".to_owned()
    } else {
        format!("max_distance {}", significant(max_distance.into()))
    }
}

// Sentences of the steps that a fault changes: they say what the search does, without naming the fault.

/// Describes a step of a faulty search; `None` if the fault does not change it.
pub(crate) fn describe_fault(step: &Step, after: &State, fault: Fault) -> Option<String> {
    let (shape, all) = (after.shape, thousands(after.shape.capacity().into()));
    match (fault, step) {
        (Fault::NoBarrier, Step::Appended { placed }) if after.waiting != 0 => {
            let wrote = count(placed.len() as u64, "candidate is", "candidates are");
            let (who, verb) = (
                capital(&lanes(after.waiting, shape.width)),
                if after.waiting.count_ones() == 1 { "has" } else { "have" },
            );
            Some(format!(
                "{wrote} written to the buffer, which holds {} of {all}. {who} {verb} not written yet.",
                thousands(after.buffered.into())
            ))
        }
        (Fault::NoBarrier, Step::BufferFull) => Some(format!(
            "All {all} slots are assigned, {} hold a candidate, and the buffer is merged.",
            thousands(after.buffered.into())
        )),
        (Fault::NoMirror, Step::Minimum { taken }) => {
            let stay = thousands((shape.capacity() - taken.count()).into());
            let come = thousands(taken.count().into());
            Some(format!(
                "Element i becomes the smaller of candidate i and element i of the intermediate result: \
                 {stay} of the candidates stay, {come} of the intermediate result."
            ))
        }
        (Fault::NoRevote, Step::FilteredAgain { rest, .. }) => {
            let verb = if rest.count_ones() == 1 { "had no slot, and goes" } else { "had no slot, and go" };
            Some(format!(
                "{} {verb} into the buffer now, regardless of max_distance.",
                capital(&lanes(*rest, shape.width))
            ))
        }
        (Fault::Dropped, Step::FilteredAgain { rest, .. }) => {
            let verb = if rest.count_ones() == 1 { "had no slot, and does" } else { "had no slot, and do" };
            Some(format!("{} {verb} not vote again: the group is done.", capital(&lanes(*rest, shape.width))))
        }
        (Fault::Stale, Step::MaxDistance { max_distance, .. }) => {
            let bound = if max_distance.is_infinite() {
                "infinite".to_owned()
            } else {
                significant((*max_distance).into())
            };
            Some(format!(
                "Merge {} is done. max_distance is {bound}, as before.",
                thousands(after.counts.merges.into())
            ))
        }
        _ => None,
    }
}
