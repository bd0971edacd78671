//! What the panel of the lanes and the buffer shows, in words.

use super::cells::{Cell, Look};
use super::pen::digits;
use super::scene::{Ink, Target};
use super::warp::slot_holds;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::state::{Stage, State};
use crate::step::Step;
use crate::text::{count, thousands};

/// The content of the registers, and its colour.
pub(super) fn registers_hold(state: &State) -> (Ink, String) {
    match state.stage {
        Stage::Sort => (Ink::Buffer, "Registers: the candidates".to_owned()),
        Stage::Merge => (Ink::Intermediate, "Registers: the smaller keys".to_owned()),
        _ if state.counts.merges == 0 => (Ink::Intermediate, "Registers: intermediate result, still empty".to_owned()),
        _ => (Ink::Intermediate, "Registers: intermediate result".to_owned()),
    }
}

pub(super) fn buffer_holds(state: &State, step: Option<&Step>) -> (Ink, String) {
    let capacity = state.shape.capacity();
    match state.stage {
        Stage::Sort => (Ink::Intermediate, "Buffer: the intermediate result".to_owned()),
        Stage::Merge if matches!(step, Some(Step::Minimum { .. })) => (Ink::Intermediate, "Buffer: the intermediate result".to_owned()),
        Stage::Merge => (Ink::Intermediate, "Buffer: no longer needed".to_owned()),
        _ => (Ink::Buffer, format!("Buffer: {} of {} slots taken", thousands(state.buffered.into()), thousands(capacity.into()))),
    }
}

/// A description of the target under the pointer, with its values.
pub(super) fn about(state: &State, hover: Target) -> Option<String> {
    let shape = state.shape;
    let key = |key: Key| {
        if key == PADDING {
            "\u{221e}, no point".to_owned()
        } else {
            format!("squared distance {}, point {}", digits(distance_of(key), 3), thousands(index_of(key).into()))
        }
    };
    match hover {
        Target::Element(element) if element < shape.capacity() => {
            let (lane, register) = shape.lane_and_register(element);
            Some(format!("Element {element} = lane {lane}, register {register}: {}", key(state.registers[element as usize])))
        }
        Target::Slot(slot) if slot < shape.capacity() => {
            let holds = match slot_holds(state, slot, state.buffer[slot as usize]) {
                Cell::Free => "free".to_owned(),
                Cell::Leftover(held) => format!("left over: {}", key(held)),
                Cell::Used(held) | Cell::Taken(held) => key(held),
            };
            Some(format!("Slot {slot}: {holds}"))
        }
        Target::Lane(lane) if lane < shape.width => {
            let first = lane * shape.registers;
            let elements =
                if shape.registers == 1 { format!("element {first}") } else { format!("elements {first} to {}", first + shape.registers - 1) };
            Some(format!("Lane {lane} holds {elements}"))
        }
        _ => None,
    }
}

/// The meaning of the arrows and cells.
pub(super) fn legend_of(step: Option<&Step>, look: Option<Look>) -> String {
    let cells = match look {
        Some(Look::Numbers { .. }) => "Numbers: squared distances.",
        Some(Look::Bars) => "Bars: the higher, the farther.",
        Some(Look::Colors) => "Colours: squared distances.",
        None => "Colours: squared distances; hatched: \u{221e}.",
    };
    match step {
        Some(Step::Layer { shuffle: Some(_), swapped, .. }) => {
            format!("Arcs: shuffles. Bright: the {} that swapped. {cells}", count(swapped.count().into(), "pair", "pairs"))
        }
        Some(Step::Layer { swapped, .. }) if look.is_none() => {
            format!("Inside each lane: {} swapped. {cells}", count(swapped.count().into(), "pair", "pairs"))
        }
        Some(Step::Layer { swapped, .. }) => {
            format!("Dashes: exchanges inside a lane. Bright: the {} that swapped. {cells}", count(swapped.count().into(), "pair", "pairs"))
        }
        Some(Step::Minimum { .. }) => {
            format!("Marked: from the intermediate result. {cells}")
        }
        Some(Step::Swap) => format!("Keys move straight up and down. {cells}"),
        Some(Step::Appended { .. }) => format!("Marked: candidates that were just appended. {cells}"),
        Some(Step::MaxDistance { .. }) => format!("Marked: element k\u{2212}1, whose distance is the new max_distance. {cells}"),
        _ => cells.to_owned(),
    }
}
