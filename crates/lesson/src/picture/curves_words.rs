//! What the curves of a merge show, in words.

use super::meeting::{Dot, Meeting, Phase, Side, is_falling, is_rising};
use super::pen::digits;
use crate::engines::lockstep::distance_of;
use crate::state::Shape;
use crate::text::thousands;

/// What a moment of a merge shows, as a heading.
pub fn title(meeting: &Meeting, shape: Shape) -> String {
    let keys = thousands(shape.capacity().into());
    match &meeting.phase {
        Phase::Apart { sorted: None } => format!("The intermediate result, {keys} keys, before the next merge"),
        Phase::Apart { .. } => format!("Candidates and intermediate result: two lists of {keys} keys"),
        Phase::Facing if !meeting.is_mirrored(shape) => "Candidate i meets element i of the intermediate result".to_owned(),
        Phase::Facing => format!("Candidate i meets element {} \u{2212} i of the intermediate result", thousands((shape.capacity() - 1).into())),
        Phase::Kept if is_tent(meeting) => "The minimum: what is left is a tent".to_owned(),
        Phase::Kept => "The minimum: what is left".to_owned(),
        Phase::Resorting { done, all, layer, .. } => format!("Re-sort: layer {done} of {all}, stride {}", thousands(layer.stride.into())),
        Phase::Merged if is_rising(&meeting.result) => "The merge is done: one rising list".to_owned(),
        Phase::Merged => "The merge is done: the intermediate result is not in order".to_owned(),
    }
}

/// What is seen, in one sentence: it is true of what is drawn, also where a mistake was made on purpose.
pub fn says(meeting: &Meeting) -> String {
    let both = |of: &[Dot]| !of.is_empty() && of.iter().all(Dot::is_padding);
    match &meeting.phase {
        Phase::Apart { .. } if both(&meeting.result) => "There is no intermediate result yet: its keys are all \u{221e}.".to_owned(),
        Phase::Apart { sorted } => match (is_rising(&meeting.result), sorted) {
            (true, None) => RISES.to_owned(),
            (true, Some(true)) => "Both lists rise.".to_owned(),
            (true, Some(false)) => "The intermediate result rises; the candidates are not in order yet.".to_owned(),
            (false, Some(true)) => "The candidates rise. The intermediate result is not in order.".to_owned(),
            (false, _) => "The intermediate result is not in order.".to_owned(),
        },
        Phase::Merged if is_rising(&meeting.result) => RISES.to_owned(),
        Phase::Merged => "The intermediate result is not in order: a smaller key stands right of a larger one.".to_owned(),
        Phase::Facing => match meeting.crossings[..] {
            [] if are_below(&meeting.buffer, &meeting.result) => {
                "They do not cross: no key of the intermediate result is smaller than any candidate.".to_owned()
            }
            [] if are_below(&meeting.result, &meeting.buffer) => "They do not cross: all keys of the intermediate result are smaller.".to_owned(),
            [] => "They do not cross, though both have some of the smallest keys.".to_owned(),
            [at] if is_rising(&meeting.buffer) && is_falling(&meeting.result) => {
                format!("One rises, the other falls: they cross once, between elements {} and {at}.", at - 1)
            }
            [at] => format!("They cross between elements {} and {at}: not one list that rises and one that falls.", at - 1),
            _ => format!("They cross {} times: not one list that rises and one that falls.", meeting.crossings.len()),
        },
        Phase::Kept => match (is_tent(meeting), &meeting.crossings[..]) {
            (true, [at]) => format!("It rises up to element {}, then falls: it is bitonic. Pale: the larger keys, which are out.", at - 1),
            (true, _) if meeting.kept.iter().all(|dot| dot.side == Side::Buffer) => {
                "All candidates stay: they rise. Pale: the intermediate result, which is out.".to_owned()
            }
            (true, _) => "All of the intermediate result stays: mirrored, it falls. Pale: the candidates, which are out.".to_owned(),
            (false, _) => "It is no tent: it does not rise up to one crossing and fall after it.".to_owned(),
        },
        Phase::Resorting { layer, .. } if !meeting.blocks_are_in_order(layer.stride as usize) => {
            format!("Blocks of {} are not bitonic, or not in order.", thousands(layer.stride.into()))
        }
        Phase::Resorting { layer, .. } if layer.stride == 1 => "Every key is in its place: one rising line.".to_owned(),
        Phase::Resorting { layer, .. } => {
            format!("Every block of {} is bitonic, and no key in it is larger than any in the next.", thousands(layer.stride.into()))
        }
    }
}

const RISES: &str = "The intermediate result rises: its smallest key is on the left.";

/// Whether what is kept rises on the left, where candidates are, and falls on the right, where the
/// intermediate result is.
fn is_tent(meeting: &Meeting) -> bool {
    let (left, right) = meeting.kept.split_at(meeting.kept.iter().take_while(|dot| dot.side == Side::Buffer).count());
    right.iter().all(|dot| dot.side == Side::Result) && is_rising(left) && is_falling(right)
}

/// Whether no key of a list is larger than any of the other.
fn are_below(list: &[Dot], other: &[Dot]) -> bool {
    list.iter().map(|dot| dot.key).max() <= other.iter().map(|dot| dot.key).min()
}

/// The keys at an element, in words.
pub fn about(meeting: &Meeting, element: u32) -> String {
    let at = |dots: &[Dot]| dots.iter().find(|dot| dot.element == element).map(|dot| (digits(distance_of(dot.key), 3), dot.side));
    let name = |side| if side == Side::Buffer { "buffer" } else { "result" };
    match (at(&meeting.kept), at(&meeting.lost), at(&meeting.buffer), at(&meeting.result)) {
        (Some((kept, side)), Some((lost, _)), ..) => format!("Element {element}: {kept}, of the {}, is kept; {lost} is out.", name(side)),
        (Some((kept, side)), ..) => format!("Element {element}: {kept}, which comes from the {}.", name(side)),
        (_, _, Some((own, _)), Some((other, _))) => format!("Element {element}: buffer {own}, result {other}."),
        (_, _, own, other) => own.or(other).map_or_else(String::new, |(key, side)| format!("Element {element} of the {}: {key}.", name(side))),
    }
}
