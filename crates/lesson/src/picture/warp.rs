//! The panel of the lanes with their registers, and the buffer.
//!
//! Element i = L·R + r is lane L's register r, in column L and row r; slot s is in column s mod W and row s /
//! W. So a swap moves keys vertically, and the minimum compares with the cell mirrored at the middle.

use super::cells::{Cell, CellStyle, Grid, MoveArrows, colour_mark};
use super::moment::{are_runs_sorted, first_break, is_bitonic};
use super::pen::{ROW, Scale, TextStyle, digits, faint, line, sans, width};
use super::scene::{Area, Ink, Scene, Target};
use super::sentence::{broken, broken_here};
use super::{View, heatmap};
use crate::algorithms::SpecificStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::knn::network::Layer;
use crate::state::{Shape, Stage, State};
use crate::step::{SortPass, Step};
use crate::text::{count, thousands};

/// A property that a list of keys should have at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderCheck {
    /// The property, in a few words.
    pub says: String,
    /// Whether the property holds.
    pub holds: bool,
    /// Whether a sort is in progress, so that missing order is not a violation.
    pub open: bool,
    /// The first element that is larger than its successor, if the property is about that.
    pub breaks_at: Option<usize>,
}

/// The expected property of the registers, and whether it holds.
pub fn order_check(state: &State, step: Option<&Step>) -> OrderCheck {
    let keys = &state.registers;
    let breaks_at = first_break(keys);
    let Some(at) = breaks_at else {
        return OrderCheck { says: "sorted ascending".to_owned(), holds: true, open: false, breaks_at };
    };
    match step {
        Some(
            Step::Minimum { .. } | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Exchanged { .. })),
        ) => {
            let holds = is_bitonic(keys);
            let says = if holds { "bitonic" } else { "not bitonic" };
            OrderCheck { says: says.to_owned(), holds, open: false, breaks_at: None }
        }
        Some(Step::Layer { pass: SortPass::Sort, layer: Layer { size, stride: 1 }, .. }) => {
            let holds = are_runs_sorted(keys, *size as usize);
            let says = format!(
                "runs of {size}: {}",
                if holds { "sorted, alternately up and down" } else { "not sorted" }
            );
            OrderCheck { says, holds, open: false, breaks_at: None }
        }
        Some(
            Step::Swap
            | Step::Layer { .. }
            | Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Gathered { .. })),
        ) => OrderCheck { says: "not sorted yet".to_owned(), holds: false, open: true, breaks_at: None },
        _ => OrderCheck {
            says: format!("sorted only up to element {at}"),
            holds: false,
            open: false,
            breaks_at,
        },
    }
}

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let shape = state.shape;
    let step = view.step();
    let scale = Scale::for_recording(view.recording());
    title(&mut scene, room.take_top(text * 1.9), shape, &scale, text);
    let notes = room.take_bottom(text * ROW);
    // Row labels on the left, and equal space on the right, so that the lanes are centred.
    let margin = text * 1.6;
    room.take_left(margin);
    let beside = heatmap::applies(shape)
        .then(|| heatmap::WrittenKeys::cut(&mut room, shape.registers.max(shape.width), text));
    room.take_right(margin * 0.5);

    let lanes = room.take_top(text * ROW);
    let heading = text * 1.5;
    // Headings are above the registers and below the buffer: the space in between is for arrows.
    let rows = (room.height - 2.0 * heading).max(1.0);
    let between = (rows * 0.1).clamp(2.0, text * 2.5);
    let share = match shape.registers {
        1 => 0.24,
        2 => 0.18,
        4 => 0.14,
        _ => 0.1,
    };
    let least = (rows * share).clamp(2.0, text * 5.0);
    let one = ((rows - least - between) / 2.0).min(text * 4.5 * shape.registers as f32).max(0.5);
    let arrows = (rows - between - 2.0 * one).min(text * 9.0);
    let strip = room.take_top(arrows);
    let registers_heading = room.take_top(heading);
    let gutter = if shape.registers == 1 {
        0.0
    } else {
        (room.width / shape.width as f32 * 0.13).clamp(1.0, text * 1.2)
    };
    let grid = |area: Area| Grid { area, columns: shape.width, rows: shape.registers, gutter };
    let registers = grid(room.take_top(one));
    room.take_top(between);
    let buffer = grid(room.take_top(one));
    let buffer_heading = room.take_top(heading);

    lane_numbers(&mut scene, lanes, &registers, view, step);
    let keys = state.registers.iter().chain(&state.buffer).copied().filter(|&key| key != PADDING);
    let look = beside.is_none().then(|| registers.look(keys, text));

    let held = order_check(state, step);
    let (concept, says) = registers_hold(state);
    let is_broken = broken(view.cursor).is_some();
    // In a narrow map, only the badge states it.
    let told = (beside.is_none() || registers_heading.width > text * 26.0).then_some((&held, is_broken));
    headline(&mut scene, registers_heading, concept, &says, told, text);
    let in_registers =
        |lane, register| Cell::Taken(state.registers[(lane * shape.registers + register) as usize]);
    cells(&mut scene, &registers, &scale, look, in_registers);
    for element in 0..shape.capacity() {
        let (lane, register) = shape.lane_and_register(element);
        scene.spot(registers.cell(lane, register), Target::Element(element));
    }
    if beside.is_some() {
        heatmap::row_names(
            &mut scene,
            &registers,
            ["r0".to_owned(), format!("r{}", shape.registers - 1)],
            text,
        );
        heatmap::row_names(
            &mut scene,
            &buffer,
            [0, (shape.registers - 1) * shape.width].map(|slot| slot.to_string()),
            text,
        );
    } else {
        row_labels(&mut scene, &registers, "r", |row| row.to_string(), text);
        row_labels(&mut scene, &buffer, "", |row| (row * shape.width).to_string(), text);
    }

    let (concept, says) = buffer_holds(state, step);
    headline(&mut scene, buffer_heading, concept, &says, None, text);
    let in_buffer = |column, row| {
        let slot = row * shape.width + column;
        let key = state.buffer[slot as usize];
        // The keys compared by the minimum are still shown.
        if matches!(step, Some(Step::Minimum { .. })) {
            Cell::Used(key)
        } else {
            slot_holds(state, slot, key)
        }
    };
    cells(&mut scene, &buffer, &scale, look, in_buffer);
    for slot in 0..shape.capacity() {
        scene.spot(buffer.cell(slot % shape.width, slot / shape.width), Target::Slot(slot));
    }

    // Overlays for the last step.
    let moves = MoveArrows { registers: &registers, buffer: &buffer, shape, text, marks: beside.is_none() };
    match step {
        Some(Step::Layer { layer, shuffle, swapped, .. }) => {
            moves.exchanges(&mut scene, strip, *layer, *shuffle, swapped);
        }
        Some(Step::Minimum { taken }) => moves.minimum(&mut scene, state, taken),
        Some(Step::Swap) => moves.swap(&mut scene),
        Some(Step::Appended { placed }) => {
            for candidate in placed.iter().filter(|_| moves.marks) {
                buffer.mark(
                    &mut scene,
                    candidate.slot % shape.width,
                    candidate.slot / shape.width,
                    Ink::Candidate,
                );
            }
        }
        Some(Step::MaxDistance { max_distance, .. }) if max_distance.is_finite() => {
            let (lane, register) = shape.lane_and_register(shape.k - 1);
            registers.mark(&mut scene, lane, register, Ink::Accent);
        }
        _ => {}
    }
    if let Some(at) = held.breaks_at {
        break_mark(&mut scene, &registers, shape, at as u32, is_broken);
    }
    for target in broken_here(view.cursor) {
        match *target {
            Target::Element(element) => {
                let (lane, register) = shape.lane_and_register(element);
                registers.mark(&mut scene, lane, register, Ink::Error);
            }
            Target::Slot(slot) => buffer.mark(&mut scene, slot % shape.width, slot / shape.width, Ink::Error),
            _ => {}
        }
    }
    if let Some(beside) = beside {
        let focus = heatmap::Focus::new(view);
        heatmap::frame(&mut scene, &registers, &buffer, focus);
        beside.draw(&mut scene, view, focus, |cell| has_moved(step, shape, cell));
    } else if let Some(hover) = view.hover {
        hovered(&mut scene, hover, step, &registers, &buffer, shape);
    }
    let note = view.hover.and_then(|hover| about(state, hover)).unwrap_or_else(|| legend_of(step, look));
    scene.label(notes, 0.0, sans(text * 0.85, Ink::TextWeak), &note);
    scene
}

/// Draws the cells of a grid; as a map of colours if there are many per lane.
fn cells(
    scene: &mut Scene,
    grid: &Grid,
    scale: &Scale,
    look: Option<CellStyle>,
    holds: impl Fn(u32, u32) -> Cell,
) {
    let Some(look) = look else { return heatmap::cells(scene, grid, scale, holds) };
    for row in 0..grid.rows {
        for column in 0..grid.columns {
            grid.draw(scene, column, row, holds(column, row), look, scale);
        }
    }
}

fn title(scene: &mut Scene, mut room: Area, shape: Shape, scale: &Scale, text: f32) {
    let words = if shape.registers == 1 {
        format!("Warp: {} lanes, one register each", shape.width)
    } else {
        format!("Warp: {} lanes \u{d7} {} registers", shape.width, shape.registers)
    };
    let mut legend = room.take_right(room.width * 0.55);
    // The short title omits the registers, which are visible.
    let words = if width(super::scene::Font::Sans, text, &words) > room.width {
        format!("Warp: {} lanes", shape.width)
    } else {
        words
    };
    scene.label(room, 0.0, sans(text, Ink::Text), &words);
    legend.take_left(text);
    legend.height -= text * 0.1;
    scale.legend(scene, legend, text);
}

fn lane_numbers(scene: &mut Scene, room: Area, grid: &Grid, view: &View<'_>, step: Option<&Step>) {
    let text = view.text;
    let size = (text * 0.85).min(room.height / ROW);
    // Every number if they fit, else every second or fourth.
    let widest = width(super::scene::Font::Sans, size, "00") + text * 0.2;
    let every = [1, 2, 4, 8].into_iter().find(|&every| grid.wide() * every as f32 >= widest).unwrap_or(16);
    let votes = match step {
        Some(Step::Ballot { mask } | Step::FilteredAgain { mask, .. }) => *mask,
        _ => 0,
    };
    for lane in 0..grid.columns {
        let mut rect = grid.cell(lane, 0);
        (rect.y, rect.height) = (room.y, room.height);
        let hovered = view.hover == Some(Target::Lane(lane));
        if hovered {
            scene.rect(rect.inner(0.5), 2.0, Some(faint(Ink::Accent, 0.3)), None);
        }
        if lane % every == 0 {
            let ink = if votes >> lane & 1 == 1 { Ink::Candidate } else { Ink::TextWeak };
            scene.text(rect.center(), [0.5, 0.5], sans(size, ink), lane.to_string());
        }
        scene.spot(rect, Target::Lane(lane));
    }
    let mut left = room;
    left.x = 0.0;
    left.width = grid.area.x - text * 0.35;
    let size = view.font_size(0.7);
    if width(super::scene::Font::Sans, size, "lane") <= left.width {
        scene.label(left, 1.0, sans(size, Ink::TextWeak), "lane");
    }
}

/// Draws a colour mark, its meaning, and on the right whether the keys are sorted; unsorted keys count as an
/// error only if the search `is_broken`.
fn headline(
    scene: &mut Scene,
    mut room: Area,
    concept: Ink,
    says: &str,
    held: Option<(&OrderCheck, bool)>,
    text: f32,
) {
    colour_mark(scene, &mut room, concept, text);
    let style = sans(text * 0.9, Ink::Text);
    if let Some((held, is_broken)) = held {
        let full = width(style.font, style.size, &held.says) + text * 1.3;
        let mut verdict = room.take_right(full.min(room.width * 0.5));
        let square = text * 0.85;
        let tick = verdict.take_left(text * 1.2);
        let ink = match (held.holds, is_broken) {
            (true, _) => Ink::Text,
            (false, true) => Ink::Error,
            (false, false) => Ink::TextWeak,
        };
        if held.holds || is_broken {
            scene.tick_or_cross([tick.x, tick.center()[1] - square / 2.0], square, held.holds);
        }
        scene.label(verdict, 0.0, TextStyle { paint: ink.into(), ..style }, &held.says);
        room.take_right(text * 0.6);
    }
    scene.label(room, 0.0, style, says);
}

/// Whether the key in a slot is in use.
pub fn slot_holds(state: &State, slot: u32, key: Key) -> Cell {
    match state.stage {
        Stage::Sort => Cell::Taken(key),
        Stage::Merge => Cell::Leftover(key),
        // Padding is written after the slots in use.
        Stage::Full => Cell::Taken(key),
        _ if slot < state.buffered => Cell::Taken(key),
        _ => Cell::Free,
    }
}

fn row_labels(scene: &mut Scene, grid: &Grid, prefix: &str, name: impl Fn(u32) -> String, text: f32) {
    let size = (text * 0.72).min(grid.high() * 1.2);
    let every = [1, 2, 4, 8, 16, 32]
        .into_iter()
        .find(|&every| grid.high() * every as f32 >= size * 1.1)
        .unwrap_or(64);
    if size < 5.0 && grid.rows > 1 && every >= grid.rows {
        return;
    }
    for row in (0..grid.rows).step_by(every as usize) {
        let mut rect = grid.cell(0, row);
        let middle = rect.center()[1];
        rect.height = size * ROW;
        rect.y = (middle - rect.height / 2.0).clamp(0.0, (scene.size[1] - rect.height).max(0.0));
        (rect.x, rect.width) = (0.0, grid.area.x - 3.0);
        scene.label(rect, 1.0, sans(size, Ink::TextWeak), &format!("{prefix}{}", name(row)));
    }
}

/// Marks the first element that is out of order.
fn break_mark(scene: &mut Scene, grid: &Grid, shape: Shape, element: u32, is_broken: bool) {
    let ((lane, register), (next, _)) =
        (shape.lane_and_register(element), shape.lane_and_register(element + 1));
    let cell = grid.cell(lane, register);
    let width = (grid.high() * 0.12).clamp(1.5, 3.0);
    let points = if lane == next {
        [[cell.x, cell.bottom()], [cell.right(), cell.bottom()]]
    } else {
        [[cell.right(), cell.y], [cell.right(), cell.bottom()]]
    };
    scene.path(points.to_vec(), line(if is_broken { Ink::Error } else { Ink::TextWeak }, width));
}

fn hovered(
    scene: &mut Scene,
    hover: Target,
    step: Option<&Step>,
    registers: &Grid,
    buffer: &Grid,
    shape: Shape,
) {
    match hover {
        Target::Lane(lane) if lane < shape.width => {
            for grid in [registers, buffer] {
                let mut column = grid.cell(lane, 0);
                column.height = grid.area.height;
                scene.hovered(column);
            }
        }
        Target::Element(element) if element < shape.capacity() => {
            let (lane, register) = shape.lane_and_register(element);
            scene.hovered(registers.cell(lane, register));
        }
        // Both elements of a comparator.
        Target::Comparator(low) if low < shape.capacity() => {
            if let Some(Step::Layer { layer, .. }) = step {
                let pair = layer.comparator_of(low);
                for (lane, register) in [pair.low, pair.high].map(|element| shape.lane_and_register(element))
                {
                    scene.hovered(registers.cell(lane, register));
                }
            }
        }
        Target::Slot(slot) if slot < shape.capacity() => {
            scene.hovered(buffer.cell(slot % shape.width, slot / shape.width))
        }
        _ => {}
    }
}

/// Whether the last step moved a key to an element or a slot.
fn has_moved(step: Option<&Step>, shape: Shape, target: Target) -> bool {
    match (step, target) {
        (Some(Step::Layer { layer, swapped, .. }), Target::Element(element)) => {
            swapped.contains(element & !layer.stride)
        }
        (Some(Step::Minimum { taken }), Target::Element(element)) => taken.contains(element),
        (Some(Step::Appended { placed }), Target::Slot(slot)) => {
            placed.iter().any(|candidate| candidate.slot == slot)
        }
        (Some(Step::MaxDistance { .. }), Target::Element(element)) => element == shape.k - 1,
        _ => false,
    }
}

// The texts of the panel.

/// The content of the registers, and its colour.
pub(super) fn registers_hold(state: &State) -> (Ink, String) {
    match state.stage {
        Stage::Sort => (Ink::Buffer, "Registers: the candidates".to_owned()),
        Stage::Merge => (Ink::Intermediate, "Registers: the smaller keys".to_owned()),
        _ if state.counts.merges == 0 => {
            (Ink::Intermediate, "Registers: intermediate result, still empty".to_owned())
        }
        _ => (Ink::Intermediate, "Registers: intermediate result".to_owned()),
    }
}

pub(super) fn buffer_holds(state: &State, step: Option<&Step>) -> (Ink, String) {
    let capacity = state.shape.capacity();
    match state.stage {
        Stage::Sort => (Ink::Intermediate, "Buffer: the intermediate result".to_owned()),
        Stage::Merge if matches!(step, Some(Step::Minimum { .. })) => {
            (Ink::Intermediate, "Buffer: the intermediate result".to_owned())
        }
        Stage::Merge => (Ink::Intermediate, "Buffer: no longer needed".to_owned()),
        _ => (
            Ink::Buffer,
            format!(
                "Buffer: {} of {} slots taken",
                thousands(state.buffered.into()),
                thousands(capacity.into())
            ),
        ),
    }
}

/// A description of the target under the pointer, with its values.
pub(super) fn about(state: &State, hover: Target) -> Option<String> {
    let shape = state.shape;
    let key = |key: Key| {
        if key == PADDING {
            "\u{221e}, no point".to_owned()
        } else {
            format!(
                "squared distance {}, point {}",
                digits(distance_of(key), 3),
                thousands(index_of(key).into())
            )
        }
    };
    match hover {
        Target::Element(element) if element < shape.capacity() => {
            let (lane, register) = shape.lane_and_register(element);
            Some(format!(
                "Element {element} = lane {lane}, register {register}: {}",
                key(state.registers[element as usize])
            ))
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
            let elements = if shape.registers == 1 {
                format!("element {first}")
            } else {
                format!("elements {first} to {}", first + shape.registers - 1)
            };
            Some(format!("Lane {lane} holds {elements}"))
        }
        _ => None,
    }
}

/// The meaning of the arrows and cells.
pub(super) fn legend_of(step: Option<&Step>, look: Option<CellStyle>) -> String {
    let cells = match look {
        Some(CellStyle::Numbers { .. }) => "Numbers: squared distances.",
        Some(CellStyle::Bars) => "Bars: the higher, the farther.",
        Some(CellStyle::Colors) => "Colours: squared distances.",
        None => "Colours: squared distances; hatched: \u{221e}.",
    };
    match step {
        Some(Step::Layer { shuffle: Some(_), swapped, .. }) => {
            format!(
                "Arcs: shuffles. Bright: the {} that swapped. {cells}",
                count(swapped.count().into(), "pair", "pairs")
            )
        }
        Some(Step::Layer { swapped, .. }) if look.is_none() => {
            format!("Inside each lane: {} swapped. {cells}", count(swapped.count().into(), "pair", "pairs"))
        }
        Some(Step::Layer { swapped, .. }) => {
            format!(
                "Dashes: exchanges inside a lane. Bright: the {} that swapped. {cells}",
                count(swapped.count().into(), "pair", "pairs")
            )
        }
        Some(Step::Minimum { .. }) => {
            format!("Marked: from the intermediate result. {cells}")
        }
        Some(Step::Swap) => format!("Keys move straight up and down. {cells}"),
        Some(Step::Appended { .. }) => format!("Marked: candidates that were just appended. {cells}"),
        Some(Step::MaxDistance { .. }) => {
            format!("Marked: element k\u{2212}1, whose distance is the new max_distance. {cells}")
        }
        _ => cells.to_owned(),
    }
}
