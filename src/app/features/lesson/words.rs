//! Tooltips of the lesson's picture: lane, slot, element or point, with values.

use crate::engines::lockstep::{Key, PADDING, index_of, key_of};
use crate::lesson::algorithms::radix_select::state::Buckets;
use crate::lesson::algorithms::warp_select::state::{Queues, striped_position};
use crate::lesson::picture::Target;
use crate::lesson::state::{Stage, State};
use crate::lesson::{Cursor, Recording, Step, describe};
use crate::text::{count, thousands};

/// The tooltip of a target, based only on what was recorded up to the cursor.
pub fn about(target: Target, cursor: &Cursor) -> Option<String> {
    let (recording, state) = (&**cursor.recording(), cursor.state());
    let shape = state.shape;
    Some(match target {
        Target::Lane(lane) if lane < shape.width && state.buckets().is_some() => {
            bucket_words(lane, state.buckets()?)
        }
        Target::Lane(lane) if lane < shape.width => lane_words(lane, recording, state),
        Target::Queued(element) => queued_words(element, recording, state.queues()?)?,
        Target::Slot(slot) if slot < shape.capacity() => slot_words(slot, recording, state),
        Target::Element(element) if element < shape.capacity() => {
            let (lane, register) = state.lane_and_register_of(element);
            format!(
                "Element {element}: lane {lane}, register {register}\n{}",
                key_words(state.registers[element as usize], recording)
            )
        }
        Target::Comparator(low) => comparator_words(low, cursor)?,
        Target::Point(point) if point < shape.n => point_words(point, recording),
        Target::CodeLine(line) => {
            let (file, _) = recording.code().lines.get(line)?.source?;
            format!("Click to see it in cuda/{file}")
        }
        Target::Position(position) => format!(
            "Step {} of {}: click to go there",
            thousands(position as u64),
            thousands(recording.len() as u64)
        ),
        Target::Lane(_) | Target::Slot(_) | Target::Element(_) | Target::Point(_) => return None,
    })
}

fn lane_words(lane: u32, recording: &Recording, state: &State) -> String {
    let mut words = format!("Lane {lane}");
    if let Some(base) = state.group {
        match base + lane {
            point if point < state.shape.n => {
                words += &format!("\nof this group: {}", point_words(point, recording));
                if state.ballot >> lane & 1 == 1 {
                    words += if state.waiting >> lane & 1 == 1 {
                        "\nvotes; no slot yet"
                    } else {
                        "\nvotes; in the buffer"
                    };
                }
            }
            _ => words += "\nno point of this group: the data end before it",
        }
    }
    if let Some(descent) = state.descent() {
        words += &match (&descent.leaf, descent.node()) {
            (Some(leaf), _) => {
                format!("\nof leaf {}: {}", leaf.number, key_words(leaf.keys[lane as usize], recording))
            }
            (None, Some(node)) if node.keys.get(lane as usize).is_some_and(|&key| key != PADDING) => {
                let (height, number) = node.child(lane);
                let what = if height == 0 { "leaf" } else { "node" };
                format!(
                    "\nthe box of {what} {number}, squared distance {}",
                    describe::key(node.keys[lane as usize])
                )
            }
            _ => "\nno box, or that of the leaf that was visited first".to_owned(),
        };
    }
    if state.heaps().is_some() {
        return words + "\na thread with a query and a heap of its own";
    }
    let (first, registers) = (lane * state.shape.registers, state.shape.registers);
    words += &match registers {
        1 => format!("\nholds element {first}"),
        _ if state.queues().is_some() => {
            format!("\nholds elements {lane}, {}, \u{2026} of the warp's queue", lane + state.shape.width)
        }
        _ => format!("\nholds elements {first} to {}", first + registers - 1),
    };
    words
}

fn queued_words(element: u32, recording: &Recording, queues: &Queues) -> Option<String> {
    let key = key_words(*queues.keys.get(element as usize)?, recording);
    let (lane, place) = striped_position(queues.width, element);
    Some(match (queues.is_list, place) {
        (true, _) => format!("Element {element} of the list, in lane {lane}\n{key}"),
        (false, 0) => format!("Lane {lane}'s queue, the largest key: it falls out next\n{key}"),
        (false, _) => format!("Lane {lane}'s queue, place {place}\n{key}"),
    })
}

fn bucket_words(bucket: u32, buckets: &Buckets) -> String {
    let at = bucket as usize;
    match (buckets.counts.get(at), buckets.sums.get(at)) {
        (None, _) => format!("Bucket {bucket}\nnothing counted yet"),
        (Some(&points), None) => format!("Bucket {bucket}\n{}", count(points.into(), "point", "points")),
        (Some(&points), Some(&sum)) => {
            format!(
                "Bucket {bucket}\n{}, {} up to its end",
                count(points.into(), "point", "points"),
                thousands(sum.into())
            )
        }
    }
}

fn slot_words(slot: u32, recording: &Recording, state: &State) -> String {
    let key = state.buffer[slot as usize];
    match state.stage {
        // During sort and merge, the buffer holds the intermediate result.
        Stage::Sort | Stage::Merge => {
            format!("Slot {slot}, of the intermediate result\n{}", key_words(key, recording))
        }
        _ if slot >= state.buffered && state.stage != Stage::Full => format!("Slot {slot} is free"),
        _ => format!("Slot {slot}\n{}", key_words(key, recording)),
    }
}

fn comparator_words(low: u32, cursor: &Cursor) -> Option<String> {
    let step = cursor.step()?;
    let Step::Layer { layer, shuffle, swapped, .. } = &*step else { return None };
    let high = low ^ layer.stride;
    let shape = cursor.state().shape;
    if low.max(high) >= shape.capacity() {
        return None;
    }
    let value = |element: u32| describe::key(cursor.state().registers[element as usize]);
    let how = match shuffle {
        Some(lanes) => format!(
            "lanes {} and {}, by shuffle with lane ^ {lanes}",
            shape.lane_and_register(low).0,
            shape.lane_and_register(high).0
        ),
        None => format!("both in lane {}", shape.lane_and_register(low).0),
    };
    let bit = low & layer.size;
    let way = if bit == 0 {
        "in ascending order: the smaller key goes to the lower element"
    } else {
        "in descending order: the larger key goes to the lower element"
    };
    let done = if swapped.contains(low) { "swapped" } else { "stayed" };
    Some(format!(
        "Elements {low} and {high}: {how}\n{low} & {} = {bit}, so {way}\n{done}; now {} and {}",
        layer.size,
        value(low),
        value(high)
    ))
}

fn key_words(key: Key, recording: &Recording) -> String {
    if key == PADDING {
        return "nothing yet: padding, at an infinite distance".to_owned();
    }
    let point = index_of(key);
    format!("{}, squared distance {}", point_name(point, recording), describe::key(key))
}

fn point_words(point: u32, recording: &Recording) -> String {
    let width = recording.shape().width;
    let distance = recording
        .distances(point / width * width)
        .get((point % width) as usize)
        .copied()
        .unwrap_or(f32::INFINITY);
    format!("{}, squared distance {}", point_name(point, recording), describe::key(key_of(distance, point)))
}

/// The position in processing order, and the row if it differs.
fn point_name(point: u32, recording: &Recording) -> String {
    let row = if (point as usize) < recording.problem().n() { recording.problem().row(point) } else { point };
    if row == point {
        format!("point {}", thousands(point.into()))
    } else {
        format!("point {} (row {})", thousands(point.into()), thousands(row.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::lesson::state::player::tests::player;
    use crate::lesson::{Level, Mark};

    #[test]
    fn every_target_has_a_description_at_every_step() {
        for id in ["wide", "buffer", "order", "pruning", "warp-select", "radix-select"] {
            let mut player = player(id);
            (player.whole, player.level) = (true, Level::Lane);
            player.seek(0);
            let shape = player.cursor().state().shape;
            for _ in 0..60 {
                let cursor = player.cursor();
                for lane in 0..shape.width {
                    let name = if cursor.state().buckets().is_some() { "Bucket" } else { "Lane" };
                    assert!(
                        about(Target::Lane(lane), cursor)
                            .is_some_and(|words| words.starts_with(&format!("{name} {lane}\n")))
                    );
                }
                for at in 0..shape.capacity() {
                    assert!(
                        about(Target::Slot(at), cursor).is_some()
                            && about(Target::Element(at), cursor).is_some()
                    );
                }
                let keys = cursor.state().queues().map_or(0, |queues| queues.keys.len() as u32);
                assert!(
                    (0..keys).all(|at| about(Target::Queued(at), cursor).is_some())
                        && about(Target::Queued(keys), cursor).is_none()
                );
                for wrong in [
                    Target::Lane(99),
                    Target::Slot(u32::MAX),
                    Target::Element(u32::MAX),
                    Target::Point(u32::MAX),
                    Target::CodeLine(99),
                ] {
                    assert_eq!(about(wrong, cursor), None);
                }
                let _ = about(Target::Comparator(u32::MAX), cursor);
                player.forward();
            }
        }
    }

    #[test]
    fn descriptions_show_the_recorded_values() {
        let mut player = player("search");
        player.level = Level::Lane;
        player.next_mark(Mark::Merge);
        let cursor = player.cursor();
        let key = cursor.state().registers[3];
        let words = about(Target::Element(3), cursor).expect("an element");
        assert!(words.starts_with("Element 3: lane 3, register 0\n"), "{words}");
        assert!(words.ends_with(&format!("squared distance {}", describe::key(key))), "{words}");
        player.seek(0);
        let words = about(Target::Element(3), player.cursor()).expect("an element");
        assert!(words.contains("padding"), "{words}");
        assert_eq!(about(Target::Slot(0), player.cursor()).as_deref(), Some("Slot 0 is free"));
    }
}
