//! The invariants, one a row.

use std::collections::BTreeMap;

use super::{Break, Invariant, Moment, Witness};
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::lesson::picture::Target;
use crate::lesson::picture::moment::is_bitonic;
use crate::lesson::step::{Pass, Step};
use crate::text::{count, significant, thousands};

/// All invariants of the kernel's search. Of those of a step, the first explains why the next step works.
pub const INVARIANTS: [Invariant; 14] = [
    Invariant { id: "votes", says: says_votes, breaks: breaks_votes },
    Invariant { id: "slots", says: says_slots, breaks: breaks_slots },
    Invariant { id: "buffered", says: says_buffered, breaks: |moment, _| breaks_held(moment) },
    Invariant { id: "full", says: says_full, breaks: breaks_full },
    Invariant { id: "padded", says: says_padded, breaks: breaks_padded },
    Invariant { id: "once", says: says_once, breaks: breaks_once },
    Invariant { id: "runs", says: says_runs, breaks: breaks_runs },
    Invariant { id: "halves", says: says_halves, breaks: breaks_halves },
    Invariant { id: "ascending", says: says_ascending, breaks: |moment, _| breaks_ascending(&moment.after.registers) },
    Invariant { id: "bitonic", says: says_bitonic, breaks: breaks_bitonic },
    Invariant { id: "smallest", says: says_smallest, breaks: breaks_smallest },
    Invariant { id: "bound", says: says_bound, breaks: breaks_bound },
    Invariant { id: "kept", says: says_kept, breaks: breaks_kept },
    Invariant { id: "answer", says: says_answer, breaks: breaks_answer },
];

/// A key in words.
fn key(key: Key) -> String {
    if key == PADDING {
        "\u{221e}".to_owned()
    } else {
        format!("{} (point {})", significant(distance_of(key).into()), thousands(index_of(key).into()))
    }
}

fn number(number: impl Into<u64>) -> String {
    thousands(number.into())
}

fn bound(moment: &Moment<'_>) -> String {
    let bound = moment.after.max_distance;
    if bound.is_infinite() { "max_distance, which is infinite".to_owned() } else { format!("max_distance {}", significant(bound.into())) }
}

fn says_votes(moment: &Moment<'_>) -> Option<String> {
    let k = number(moment.after.shape.k);
    Some(match moment.step {
        Step::Ballot { .. } if moment.after.max_distance.is_infinite() => {
            format!("Fewer than {k} neighbours are known: every point may be one of the {k} nearest, so every lane that has a point votes.")
        }
        Step::Ballot { mask: 0 } => format!("{k} points that are no farther than these are known already: none of these can be a neighbour."),
        Step::Ballot { .. } => format!("Lanes that do not vote are no closer than max_distance: none of them can hold one of the {k} nearest."),
        Step::FilteredAgain { mask: 0, .. } => {
            "Those that had to wait are no closer than the new max_distance: nothing is lost if they stay out.".to_owned()
        }
        Step::FilteredAgain { .. } => {
            "Candidates that still wait are closer than the new max_distance; of the others none can be a neighbour.".to_owned()
        }
        _ => return None,
    })
}

fn breaks_votes(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
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
        format!("{holds}, which is closer than {}, and is forgotten.", bound(moment))
    };
    Some(Break { sentence, targets: lanes.into_iter().map(Target::Lane).collect() })
}

fn says_slots(moment: &Moment<'_>) -> Option<String> {
    let Step::Positions { .. } = moment.step else { return None };
    Some(format!("Slots count on from {}: no two lanes write to the same one, and none is left out.", number(moment.after.buffered)))
}

fn breaks_slots(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let Step::Positions { slots } = moment.step else { return None };
    let (slot, right) = slots.iter().zip(moment.after.buffered..).find(|(slot, right)| slot.slot != *right)?;
    let sentence = format!("Lane {} counts slot {}, though {} is the next one.", slot.lane, number(slot.slot), number(right));
    Some(Break { sentence, targets: vec![Target::Lane(slot.lane), Target::Slot(slot.slot)] })
}

fn says_buffered(moment: &Moment<'_>) -> Option<String> {
    let Step::Appended { .. } = moment.step else { return None };
    let closer = if moment.after.max_distance.is_infinite() { "" } else { " that is closer than max_distance" };
    Some(match moment.after.buffered {
        1 => format!("Slot 0 holds a candidate{closer}."),
        slots => format!("Every slot below {} holds a candidate{closer}, each another one.", number(slots)),
    })
}

/// Slots in use that hold no candidate, one that is not closer than `max_distance`, or one that another slot holds, too.
fn breaks_held(moment: &Moment<'_>) -> Option<Break> {
    let after = moment.after;
    let mut slots = BTreeMap::new();
    for (slot, &held) in (0u32..after.buffered).zip(&after.buffer) {
        let wrong = match slots.insert(held, slot) {
            _ if held == PADDING => Some("holds no candidate".to_owned()),
            _ if distance_of(held) >= after.max_distance => Some(format!("holds {}, which is no closer than {}", key(held), bound(moment))),
            Some(other) => Some(format!("holds {}, as slot {} does", key(held), number(other))),
            None => None,
        };
        if let Some(wrong) = wrong {
            return Some(Break { sentence: format!("Slot {} {wrong}.", number(slot)), targets: vec![Target::Slot(slot)] });
        }
    }
    None
}

fn says_full(moment: &Moment<'_>) -> Option<String> {
    let Step::BufferFull = moment.step else { return None };
    Some(format!("All {} slots hold a candidate, each another one: the swap brings them all into registers.", number(moment.after.shape.capacity())))
}

fn breaks_full(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let (after, capacity) = (moment.after, moment.after.shape.capacity());
    if after.buffered == capacity {
        return breaks_held(moment);
    }
    let late = capacity - after.buffered;
    let sentence = format!(
        "The lanes counted {} candidates, but {} not been written yet: whoever reads {} now gets what was there before.",
        number(capacity),
        count(late.into(), "slot has", "slots have"),
        if late == 1 { "it" } else { "them" }
    );
    Some(Break { sentence, targets: (after.buffered..capacity).map(Target::Slot).collect() })
}

fn says_padded(moment: &Moment<'_>) -> Option<String> {
    let Step::Padded { first } = moment.step else { return None };
    Some(format!("Slots below {} hold candidates, the others \u{221e}, which is sorted behind every point.", number(*first)))
}

fn breaks_padded(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let Step::Padded { first } = moment.step else { return None };
    if *first != moment.after.buffered {
        let sentence = format!(
            "{} hold candidates, but the slots from {} on were filled.",
            count(moment.after.buffered.into(), "slot", "slots"),
            number(*first)
        );
        return Some(Break { sentence, targets: vec![Target::Slot((*first).min(moment.after.buffered))] });
    }
    let wrong = (*first..).zip(&moment.after.buffer[*first as usize..]).find(|(_, held)| **held != PADDING);
    wrong
        .map(|(slot, &held)| Break { sentence: format!("Slot {} still holds {}.", number(slot), key(held)), targets: vec![Target::Slot(slot)] })
        .or_else(|| breaks_held(moment))
}

fn says_once(moment: &Moment<'_>) -> Option<String> {
    let Step::Swap = moment.step else { return None };
    Some("Every point is there once: candidates in the registers, the intermediate result, ascending, in the buffer.".to_owned())
}

fn breaks_once(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let shape = moment.after.shape;
    let intermediate = moment.intermediate();
    let mut elements = BTreeMap::new();
    for (element, &held) in (0u32..).zip(&moment.after.registers).filter(|(_, held)| **held != PADDING) {
        if let Some(other) = elements.insert(held, element) {
            let sentence = format!("Elements {} and {} both hold {}.", number(other), number(element), key(held));
            return Some(Break { sentence, targets: vec![Target::Element(other), Target::Element(element)] });
        }
    }
    let twice = intermediate.iter().zip(0u32..).find_map(|(held, element)| elements.get(held).map(|&there| (element, there, *held)));
    if let Some((element, there, held)) = twice {
        let sentence = format!("{} is in register element {} and in the intermediate result.", key(held), number(there));
        return Some(Break { sentence, targets: vec![Target::Element(there), Target::Slot(shape.slot_of(element))] });
    }
    let fall = intermediate.windows(2).position(|pair| pair[0] > pair[1])?;
    let sentence = format!("The intermediate result does not ascend: {} comes before {}.", key(intermediate[fall]), key(intermediate[fall + 1]));
    Some(Break { sentence, targets: [fall, fall + 1].map(|element| Target::Slot(shape.slot_of(element as u32))).to_vec() })
}

fn says_runs(moment: &Moment<'_>) -> Option<String> {
    match moment.step {
        Step::Layer { pass: Pass::Sort, layer, .. } if layer.stride == 1 && layer.size < moment.after.shape.capacity() => {
            Some(format!("Runs of {} alternate in direction, up and down, so every {} keys are bitonic.", number(layer.size), number(2 * layer.size)))
        }
        _ => None,
    }
}

fn breaks_runs(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let keys = &moment.after.registers;
    let up = |element: usize| element as u32 & layer.size == 0;
    let is_wrong = |&element: &usize| {
        let [a, b] = [keys[element], keys[element + 1]];
        !(element as u32 + 1).is_multiple_of(layer.size) && if up(element) { a > b } else { a < b }
    };
    let element = (0..keys.len() - 1).find(is_wrong)?;
    let how = if up(element) { "ascend" } else { "descend" };
    let sentence = format!("Elements {} and {} should {how}: they hold {} and {}.", element, element + 1, key(keys[element]), key(keys[element + 1]));
    Some(Break { sentence, targets: [element, element + 1].map(|element| Target::Element(element as u32)).to_vec() })
}

fn says_halves(moment: &Moment<'_>) -> Option<String> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let (capacity, half, all) = (moment.after.shape.capacity(), number(layer.stride), number(2 * layer.stride));
    if layer.stride == 1 {
        return None;
    }
    Some(if 2 * layer.stride == capacity {
        format!("Left half \u{2264} right half, both bitonic: each {half} can be sorted alone.")
    } else if layer.size == capacity {
        format!("In every {all} keys left half \u{2264} right half, both bitonic: each {half} can be sorted alone.")
    } else {
        format!("In every {all} keys left half \u{2264} right half, or \u{2265} in runs that descend, both bitonic: each {half} can be sorted alone.")
    })
}

fn breaks_halves(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let half = layer.stride as usize;
    for (block, keys) in moment.after.registers.chunks(2 * half).enumerate() {
        let first = block * 2 * half;
        let up = first as u32 & layer.size == 0;
        let (left, right) = keys.split_at(half);
        let at = |side: &[Key], largest: bool| {
            let places = 0..side.len();
            if largest { places.max_by_key(|&at| side[at]) } else { places.min_by_key(|&at| side[at]) }.unwrap_or(0)
        };
        let (a, b) = (at(left, up), at(right, !up));
        if if up { left[a] > right[b] } else { left[a] < right[b] } {
            let (a_at, b_at) = (first + a, first + half + b);
            let sign = if up { "\u{2264}" } else { "\u{2265}" };
            let sentence = format!(
                "Element {} should be {sign} element {}: they hold {} and {}.",
                number(a_at as u64),
                number(b_at as u64),
                key(left[a]),
                key(right[b])
            );
            return Some(Break { sentence, targets: [a_at, b_at].map(|element| Target::Element(element as u32)).to_vec() });
        }
        for (side, start) in [(left, first), (right, first + half)] {
            if !is_bitonic(side) {
                let end = start + half;
                let sentence = format!("Elements {} to {} are not bitonic.", number(start as u64), number(end as u64 - 1));
                return Some(Break { sentence, targets: (start as u32..end as u32).map(Target::Element).collect() });
            }
        }
    }
    None
}

fn says_ascending(moment: &Moment<'_>) -> Option<String> {
    let Step::Layer { pass, layer, .. } = moment.step else { return None };
    let shape = moment.after.shape;
    if layer.size != shape.capacity() || layer.stride != 1 {
        return None;
    }
    Some(match pass {
        Pass::Sort => {
            "The registers ascend; the intermediate result, read from its end, descends. That is why the smaller of each pair will do.".to_owned()
        }
        Pass::Resort => format!("The registers ascend, so element {} is the {} smallest key.", number(shape.k - 1), ordinal(shape.k)),
    })
}

/// A number as a rank: 1st, 2nd, 3rd, 4th, 11th.
fn ordinal(rank: u32) -> String {
    let ending = match (rank % 10, rank % 100) {
        (1, hundred) if hundred != 11 => "st",
        (2, hundred) if hundred != 12 => "nd",
        (3, hundred) if hundred != 13 => "rd",
        _ => "th",
    };
    format!("{}{ending}", number(rank))
}

fn breaks_ascending(keys: &[Key]) -> Option<Break> {
    let at = keys.windows(2).position(|pair| pair[0] > pair[1])?;
    let sentence = format!("Elements {} and {} should ascend: they hold {} and {}.", at, at + 1, key(keys[at]), key(keys[at + 1]));
    Some(Break { sentence, targets: [at, at + 1].map(|element| Target::Element(element as u32)).to_vec() })
}

fn says_bitonic(moment: &Moment<'_>) -> Option<String> {
    let Step::Minimum { .. } = moment.step else { return None };
    Some(format!(
        "The {0} smallest keys of both are left, and they are bitonic: the layers of size {0} alone sort them.",
        number(moment.after.shape.capacity())
    ))
}

fn breaks_bitonic(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let keys = &moment.after.registers;
    let targets = || (0..keys.len() as u32).map(Target::Element).collect();
    (!is_bitonic(keys))
        .then(|| Break { sentence: "The keys that are left are not bitonic: they rise and fall more than once.".to_owned(), targets: targets() })
}

fn says_smallest(moment: &Moment<'_>) -> Option<String> {
    let Step::Minimum { .. } = moment.step else { return None };
    Some(format!("The {} smallest keys of both lists are in the registers.", number(moment.after.shape.capacity())))
}

fn breaks_smallest(moment: &Moment<'_>, witness: &Witness) -> Option<Break> {
    let (kept, capacity) = (&moment.after.registers, moment.after.registers.len());
    let mut both = [witness.before.as_slice(), &moment.after.buffer].concat();
    both.sort_unstable();
    let largest = both[capacity - 1];
    let mut there = kept.clone();
    there.sort_unstable();
    let lost: Vec<Key> = both[..capacity].iter().copied().filter(|wanted| there.binary_search(wanted).is_err()).collect();
    let &nearest = lost.first()?;
    let sentence = format!(
        "{} of the {} smallest keys of both lists {} lost, the nearest of them {}; larger ones stay.",
        number(lost.len() as u64),
        number(capacity as u64),
        if lost.len() == 1 { "is" } else { "are" },
        key(nearest)
    );
    let larger = (0u32..).zip(kept).filter(|(_, held)| **held > largest);
    Some(Break { sentence, targets: larger.map(|(element, _)| Target::Element(element)).collect() })
}

fn says_bound(moment: &Moment<'_>) -> Option<String> {
    let Step::MaxDistance { max_distance, .. } = moment.step else { return None };
    let k = moment.after.shape.k;
    Some(if max_distance.is_infinite() {
        format!("Fewer than {} neighbours are known, so every point may still be one: max_distance is infinite.", number(k))
    } else {
        format!("max_distance is the distance of the {} smallest key: what is no closer cannot be a neighbour any more.", ordinal(k))
    })
}

fn breaks_bound(moment: &Moment<'_>, _: &Witness) -> Option<Break> {
    let last = moment.after.last();
    let right = distance_of(last);
    (moment.after.max_distance != right).then(|| {
        let is = if moment.after.max_distance.is_infinite() { "infinite".to_owned() } else { significant(moment.after.max_distance.into()) };
        let k = moment.after.shape.k;
        Break {
            sentence: format!("max_distance is {is}, but the {} smallest key is {}.", ordinal(k), key(last)),
            targets: vec![Target::Element(k - 1)],
        }
    })
}

fn says_kept(moment: &Moment<'_>) -> Option<String> {
    let Step::MaxDistance { .. } = moment.step else { return None };
    Some(format!("The {} nearest of the points seen are in the registers, or wait in their lanes: nothing is lost.", number(moment.after.shape.k)))
}

fn breaks_kept(moment: &Moment<'_>, witness: &Witness) -> Option<Break> {
    let after = moment.after;
    let waits = (0u32..).zip(moment.group()).filter(|(lane, _)| after.waiting >> lane & 1 == 1).map(|(_, key)| key);
    let mut there: Vec<Key> = after.registers.iter().copied().chain(waits).collect();
    there.sort_unstable();
    let lost: Vec<Key> = witness.nearest.iter().copied().filter(|wanted| there.binary_search(wanted).is_err()).collect();
    let &nearest = lost.first()?;
    let sentence = format!(
        "{} of the {} nearest points seen {} lost: {}.",
        number(lost.len() as u64),
        number(after.shape.k),
        if lost.len() == 1 { "is" } else { "are" },
        key(nearest)
    );
    Some(Break { sentence, targets: vec![Target::Point(index_of(nearest))] })
}

fn says_answer(moment: &Moment<'_>) -> Option<String> {
    let Step::Finished = moment.step else { return None };
    let shape = moment.after.shape;
    Some(format!(
        "The first {} keys are the nearest of all {}, nearest first: nothing was lost.",
        number(shape.k.min(shape.n)),
        count(shape.n.into(), "point", "points")
    ))
}

fn breaks_answer(moment: &Moment<'_>, witness: &Witness) -> Option<Break> {
    let (at, (&wanted, &held)) = witness.nearest.iter().zip(&moment.after.registers).enumerate().find(|(_, (wanted, held))| wanted != held)?;
    let sentence = format!("Neighbour {} should be {}, but element {} holds {}.", number(at as u64 + 1), key(wanted), number(at as u64), key(held));
    Some(Break { sentence, targets: vec![Target::Element(at as u32)] })
}
