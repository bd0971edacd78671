//! Invariants of a merge: its swap, layers, minimum and new bound.

use std::collections::BTreeMap;

use super::{History, Moment, Violation, key, number, ordinal};
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::picture::Target;
use crate::picture::moment::is_bitonic;
use crate::step::{SortPass, Step};
use crate::text::significant;

pub(super) fn describe_once(moment: &Moment<'_>) -> Option<String> {
    let Step::Swap = moment.step else { return None };
    Some(
        "Every point occurs once: candidates in the registers, the intermediate result, ascending, in the \
         buffer."
            .to_owned(),
    )
}

pub(super) fn check_once(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let shape = moment.after.shape;
    let intermediate = moment.intermediate();
    let mut elements = BTreeMap::new();
    for (element, &held) in (0u32..).zip(&moment.after.registers).filter(|(_, held)| **held != PADDING) {
        if let Some(other) = elements.insert(held, element) {
            let sentence =
                format!("Elements {} and {} both hold {}.", number(other), number(element), key(held));
            return Some(Violation {
                sentence,
                targets: vec![Target::Element(other), Target::Element(element)],
            });
        }
    }
    let twice = intermediate
        .iter()
        .zip(0u32..)
        .find_map(|(held, element)| elements.get(held).map(|&there| (element, there, *held)));
    if let Some((element, there, held)) = twice {
        let sentence =
            format!("{} is in register element {} and in the intermediate result.", key(held), number(there));
        return Some(Violation {
            sentence,
            targets: vec![Target::Element(there), Target::Slot(shape.slot_of(element))],
        });
    }
    let fall = intermediate.windows(2).position(|pair| pair[0] > pair[1])?;
    let sentence = format!(
        "The intermediate result does not ascend: {} comes before {}.",
        key(intermediate[fall]),
        key(intermediate[fall + 1])
    );
    Some(Violation {
        sentence,
        targets: [fall, fall + 1].map(|element| Target::Slot(shape.slot_of(element as u32))).to_vec(),
    })
}

pub(super) fn describe_runs(moment: &Moment<'_>) -> Option<String> {
    match moment.step {
        Step::Layer { pass: SortPass::Sort, layer, .. }
            if layer.stride == 1 && layer.size < moment.after.shape.capacity() =>
        {
            Some(format!(
                "Runs of {} alternate in direction, up and down, so every {} keys are bitonic.",
                number(layer.size),
                number(2 * layer.size)
            ))
        }
        _ => None,
    }
}

pub(super) fn check_runs(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let keys = &moment.after.registers;
    let up = |element: usize| element as u32 & layer.size == 0;
    let is_wrong = |&element: &usize| {
        let [a, b] = [keys[element], keys[element + 1]];
        !(element as u32 + 1).is_multiple_of(layer.size) && if up(element) { a > b } else { a < b }
    };
    let element = (0..keys.len() - 1).find(is_wrong)?;
    let how = if up(element) { "ascend" } else { "descend" };
    let sentence = format!(
        "Elements {} and {} should {how}: they hold {} and {}.",
        element,
        element + 1,
        key(keys[element]),
        key(keys[element + 1])
    );
    Some(Violation::at_elements(sentence, [element, element + 1]))
}

pub(super) fn describe_halves(moment: &Moment<'_>) -> Option<String> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let (capacity, all) = (moment.after.shape.capacity(), number(2 * layer.stride));
    if layer.stride == 1 {
        return None;
    }
    Some(if 2 * layer.stride == capacity {
        "First half \u{2264} second half, both bitonic: each half can be sorted alone.".to_owned()
    } else if layer.size == capacity {
        format!(
            "In every {all} keys first half \u{2264} second half, both bitonic: each half can be sorted \
             alone."
        )
    } else {
        format!(
            "In every {all} keys first half \u{2264} second half (\u{2265} in runs that descend), both \
             bitonic: each half can be sorted alone."
        )
    })
}

pub(super) fn check_halves(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let Step::Layer { layer, .. } = moment.step else { return None };
    let half = layer.stride as usize;
    for (block, keys) in moment.after.registers.chunks(2 * half).enumerate() {
        let first = block * 2 * half;
        let up = first as u32 & layer.size == 0;
        let (left, right) = keys.split_at(half);
        let at = |side: &[Key], largest: bool| {
            let places = 0..side.len();
            if largest { places.max_by_key(|&at| side[at]) } else { places.min_by_key(|&at| side[at]) }
                .unwrap_or(0)
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
            return Some(Violation::at_elements(sentence, [a_at, b_at]));
        }
        for (side, start) in [(left, first), (right, first + half)] {
            if !is_bitonic(side) {
                let end = start + half;
                let sentence = format!(
                    "Elements {} to {} are not bitonic.",
                    number(start as u64),
                    number(end as u64 - 1)
                );
                return Some(Violation::at_elements(sentence, start..end));
            }
        }
    }
    None
}

pub(super) fn describe_ascending(moment: &Moment<'_>) -> Option<String> {
    let Step::Layer { pass, layer, .. } = moment.step else { return None };
    let shape = moment.after.shape;
    if layer.size != shape.capacity() || layer.stride != 1 {
        return None;
    }
    Some(match pass {
        SortPass::Sort => {
            "The registers ascend; the intermediate result, read from its end, descends. So the \
                       smaller of each pair is enough."
                .to_owned()
        }
        SortPass::Resort => format!(
            "The registers ascend, so element {} is the {} smallest key.",
            number(shape.k - 1),
            ordinal(shape.k)
        ),
    })
}

pub(super) fn check_ascending(keys: &[Key]) -> Option<Violation> {
    let at = keys.windows(2).position(|pair| pair[0] > pair[1])?;
    let sentence = format!(
        "Elements {} and {} should ascend: they hold {} and {}.",
        at,
        at + 1,
        key(keys[at]),
        key(keys[at + 1])
    );
    Some(Violation::at_elements(sentence, [at, at + 1]))
}

pub(super) fn describe_bitonic(moment: &Moment<'_>) -> Option<String> {
    let Step::Minimum { .. } = moment.step else { return None };
    Some(format!(
        "The {0} smallest keys of both remain, and they are bitonic: the layers of size {0} alone sort them.",
        number(moment.after.shape.capacity())
    ))
}

pub(super) fn check_bitonic(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let keys = &moment.after.registers;
    let sentence = "The remaining keys are not bitonic: they rise and fall more than once.";
    (!is_bitonic(keys)).then(|| Violation::at_elements(sentence.to_owned(), 0..keys.len()))
}

pub(super) fn describe_smallest(moment: &Moment<'_>) -> Option<String> {
    let Step::Minimum { .. } = moment.step else { return None };
    Some(format!(
        "The {} smallest keys of both lists are in the registers.",
        number(moment.after.shape.capacity())
    ))
}

pub(super) fn check_smallest(moment: &Moment<'_>, history: &History) -> Option<Violation> {
    let (kept, capacity) = (&moment.after.registers, moment.after.registers.len());
    let mut both = [history.before.as_slice(), &moment.after.buffer].concat();
    both.sort_unstable();
    let largest = both[capacity - 1];
    let mut there = kept.clone();
    there.sort_unstable();
    let lost: Vec<Key> =
        both[..capacity].iter().copied().filter(|wanted| there.binary_search(wanted).is_err()).collect();
    let &nearest = lost.first()?;
    let sentence = format!(
        "{} of the {} smallest keys of both lists {} lost, the nearest of them {}; larger ones stay.",
        number(lost.len() as u64),
        number(capacity as u64),
        if lost.len() == 1 { "is" } else { "are" },
        key(nearest)
    );
    let larger = (0u32..).zip(kept).filter(|(_, held)| **held > largest);
    Some(Violation { sentence, targets: larger.map(|(element, _)| Target::Element(element)).collect() })
}

pub(super) fn describe_bound(moment: &Moment<'_>) -> Option<String> {
    let Step::MaxDistance { points_seen, .. } = moment.step else { return None };
    let k = moment.after.shape.k;
    Some(if moment.after.last() == PADDING {
        format!(
            "Fewer than {} neighbours are known, so every point may still be one: max_distance is infinite.",
            number(k)
        )
    } else {
        format!(
            "max_distance is the squared distance of the {} nearest of the {} points seen: a point that is \
             no closer cannot be a neighbour.",
            ordinal(k),
            number(*points_seen)
        )
    })
}

pub(super) fn check_bound(moment: &Moment<'_>, _: &History) -> Option<Violation> {
    let last = moment.after.last();
    let right = distance_of(last);
    (moment.after.max_distance != right).then(|| {
        let is = if moment.after.max_distance.is_infinite() {
            "infinite".to_owned()
        } else {
            significant(moment.after.max_distance.into())
        };
        let k = moment.after.shape.k;
        Violation {
            sentence: format!("max_distance is {is}, but the {} smallest key is {}.", ordinal(k), key(last)),
            targets: vec![Target::Element(k - 1)],
        }
    })
}

pub(super) fn describe_kept(moment: &Moment<'_>) -> Option<String> {
    let Step::MaxDistance { points_seen, .. } = moment.step else { return None };
    let shape = moment.after.shape;
    Some(format!(
        "The {} nearest of the {} points seen are in the registers: nothing is lost.",
        number(shape.k),
        number(*points_seen)
    ))
}

pub(super) fn check_kept(moment: &Moment<'_>, history: &History) -> Option<Violation> {
    let Step::MaxDistance { points_seen, .. } = moment.step else { return None };
    let after = moment.after;
    let mut there = after.registers.clone();
    there.sort_unstable();
    let mut lost = history.keys[..*points_seen as usize].to_vec();
    lost.sort_unstable();
    lost.truncate(after.shape.k as usize);
    lost.retain(|wanted| there.binary_search(wanted).is_err());
    let &nearest = lost.first()?;
    let sentence = format!(
        "{} of the {} nearest points seen {} lost: {}.",
        number(lost.len() as u64),
        number(after.shape.k),
        if lost.len() == 1 { "is" } else { "are" },
        key(nearest)
    );
    Some(Violation { sentence, targets: vec![Target::Point(index_of(nearest))] })
}
