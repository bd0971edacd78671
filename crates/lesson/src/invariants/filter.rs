//! Invariants of filtering, appending, and the answer.

use std::collections::BTreeMap;

use super::{History, Moment, Violation, bound, key, number};
use crate::engines::lockstep::{PADDING, distance_of};
use crate::picture::Target;
use crate::step::Step;
use crate::text::count;

pub(super) fn describe_votes(moment: &Moment<'_>) -> Option<String> {
    let k = number(moment.after.shape.k);
    Some(match moment.step {
        Step::Ballot { .. } if moment.after.max_distance.is_infinite() => {
            format!(
                "Fewer than {k} points were merged: every point may be one of the {k} nearest, so every \
                 lane that has a point votes."
            )
        }
        Step::Ballot { mask: 0 } => format!(
            "{k} points at least as near as these are known already: none of these can be a neighbour."
        ),
        Step::Ballot { .. } => format!(
            "Lanes that do not vote are no closer than max_distance: none of them can hold one of the {k} \
             nearest."
        ),
        Step::FilteredAgain { mask: 0, .. } => "The waiting candidates are no closer than the new \
                                                max_distance: nothing is lost by rejecting them."
            .to_owned(),
        Step::FilteredAgain { .. } => "Candidates that still wait are closer than the new max_distance; \
                                       none of the others can be a neighbour."
            .to_owned(),
        _ => return None,
    })
}

pub(super) fn check_votes(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let (asked, mask) = match moment.step {
        Step::Ballot { mask } => (u32::MAX, *mask),
        Step::FilteredAgain { rest, mask } => (*rest, *mask),
        _ => return None,
    };
    let group = moment.group();
    let is_wrong = |&lane: &u32| {
        let closer = distance_of(group[lane as usize]) < moment.after.max_distance;
        asked >> lane & 1 == 1 && closer != (mask >> lane & 1 == 1)
    };
    let lanes: Vec<u32> = (0..group.len() as u32).filter(is_wrong).collect();
    let &lane = lanes.first()?;
    let holds = format!("Lane {lane} holds {}", key(group[lane as usize]));
    let sentence = if mask >> lane & 1 == 1 {
        format!("{holds}, which is no closer than {}, and yet goes into the buffer.", bound(moment))
    } else {
        format!(
            "{holds}, which is closer than {}, but is neither in the buffer nor in the intermediate result.",
            bound(moment)
        )
    };
    Some(Violation { sentence, targets: lanes.into_iter().map(Target::Lane).collect() })
}

pub(super) fn describe_slots(moment: &Moment<'_>) -> Option<String> {
    let Step::Positions { .. } = moment.step else { return None };
    Some(format!(
        "Slots continue from {}: no two lanes write to the same one, and none is skipped.",
        number(moment.after.buffered)
    ))
}

pub(super) fn check_slots(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let Step::Positions { slots } = moment.step else { return None };
    let (slot, right) =
        slots.iter().zip(moment.after.buffered..).find(|(slot, right)| slot.slot != *right)?;
    let sentence = format!(
        "Lane {} counts slot {}, though {} is the next one.",
        slot.lane,
        number(slot.slot),
        number(right)
    );
    Some(Violation { sentence, targets: vec![Target::Lane(slot.lane), Target::Slot(slot.slot)] })
}

pub(super) fn describe_buffered(moment: &Moment<'_>) -> Option<String> {
    let Step::Appended { .. } = moment.step else { return None };
    let closer =
        if moment.after.max_distance.is_infinite() { "" } else { " that is closer than max_distance" };
    Some(match moment.after.buffered {
        1 => format!("Slot 0 holds a candidate{closer}."),
        slots => format!("Every slot below {} holds a candidate{closer}, no two the same.", number(slots)),
    })
}

/// Finds slots in use that are padding, are not closer than `max_distance`, or hold a duplicate.
pub(super) fn check_buffer(moment: &Moment<'_>) -> Option<Violation> {
    let after = moment.after;
    let mut slots = BTreeMap::new();
    for (slot, &held) in (0u32..after.buffered).zip(&after.buffer) {
        let wrong = match slots.insert(held, slot) {
            _ if held == PADDING => Some("holds no candidate".to_owned()),
            _ if distance_of(held) >= after.max_distance => {
                Some(format!("holds {}, which is no closer than {}", key(held), bound(moment)))
            }
            Some(other) => Some(format!("holds {}, as slot {} does", key(held), number(other))),
            None => None,
        };
        if let Some(wrong) = wrong {
            return Some(Violation {
                sentence: format!("Slot {} {wrong}.", number(slot)),
                targets: vec![Target::Slot(slot)],
            });
        }
    }
    None
}

pub(super) fn describe_full(moment: &Moment<'_>) -> Option<String> {
    let Step::BufferFull = moment.step else { return None };
    Some(format!(
        "All {} slots hold a candidate, no two the same: the swap brings them all into registers.",
        number(moment.after.shape.capacity())
    ))
}

pub(super) fn check_full(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let (after, capacity) = (moment.after, moment.after.shape.capacity());
    if after.buffered == capacity {
        return check_buffer(moment);
    }
    let late = capacity - after.buffered;
    let sentence = format!(
        "The lanes counted {} candidates, but {} not been written yet: a lane that reads {} now gets the \
         old contents.",
        number(capacity),
        count(late.into(), "slot has", "slots have"),
        if late == 1 { "it" } else { "them" }
    );
    Some(Violation { sentence, targets: (after.buffered..capacity).map(Target::Slot).collect() })
}

pub(super) fn describe_padded(moment: &Moment<'_>) -> Option<String> {
    let Step::Padded { first } = moment.step else { return None };
    Some(format!(
        "Slots below {} hold candidates, the others \u{221e}, which sorts after every point.",
        number(*first)
    ))
}

pub(super) fn check_padded(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let Step::Padded { first } = moment.step else { return None };
    if *first != moment.after.buffered {
        let sentence = format!(
            "{} hold candidates, but the slots from {} on were filled.",
            count(moment.after.buffered.into(), "slot", "slots"),
            number(*first)
        );
        return Some(Violation {
            sentence,
            targets: vec![Target::Slot((*first).min(moment.after.buffered))],
        });
    }
    let wrong = (*first..).zip(&moment.after.buffer[*first as usize..]).find(|(_, held)| **held != PADDING);
    wrong
        .map(|(slot, &held)| Violation {
            sentence: format!("Slot {} still holds {}.", number(slot), key(held)),
            targets: vec![Target::Slot(slot)],
        })
        .or_else(|| check_buffer(moment))
}

pub(super) fn describe_answer(moment: &Moment<'_>) -> Option<String> {
    let Step::Finished = moment.step else { return None };
    let shape = moment.after.shape;
    Some(format!(
        "The first {} keys are the nearest of all {}, nearest first: nothing was lost.",
        number(shape.k.min(shape.n)),
        count(shape.n.into(), "point", "points")
    ))
}

pub(super) fn check_answer(moment: &Moment<'_>, history: &History) -> Option<Violation> {
    let mut nearest = history.keys.clone();
    nearest.sort_unstable();
    nearest.truncate(moment.after.shape.k as usize);
    let (at, (&wanted, &held)) =
        nearest.iter().zip(&moment.after.registers).enumerate().find(|(_, (wanted, held))| wanted != held)?;
    let sentence = format!(
        "Neighbour {} should be {}, but element {} holds {}.",
        number(at as u64 + 1),
        key(wanted),
        number(at as u64),
        key(held)
    );
    Some(Violation::at_elements(sentence, [at]))
}
