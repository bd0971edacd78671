//! Warps with many registers per lane: cells too small for numbers become a map of colours, and one lane, or
//! one row of the buffer, is written out beside it.

use super::View;
use super::cells::{Cell, Grid};
use super::moment::element_under;
use super::network::draw_key;
use super::pen::{ROW, Scale, area, digits, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Scene, Target};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::state::{Shape, State};
use crate::step::Step;
use crate::text::thousands;

/// Minimum number of registers per lane for a map.
const REGISTERS: u32 = 16;

/// The part that is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The registers of a lane.
    Lane(u32),
    /// The slots of a row of the buffer.
    Slots(u32),
}

/// Whether cells are a map.
pub fn applies(shape: Shape) -> bool {
    shape.registers >= REGISTERS
}

/// Draws the cells of a grid without gaps between the registers of a lane. Padding is hatched.
pub fn cells(scene: &mut Scene, grid: &Grid, scale: &Scale, holds: impl Fn(u32, u32) -> Cell) {
    for column in 0..grid.columns {
        for row in 0..grid.rows {
            let mut cell = grid.full(column, row);
            // Lanes have gaps; cells in a lane overlap slightly, to avoid visible seams.
            cell.width -= (cell.width * 0.08).min(1.5);
            cell.height = (cell.height + 0.3).min(grid.area.bottom() - cell.y);
            let (key, opacity) = match holds(column, row) {
                Cell::Free => {
                    scene.fill(cell, faint(Ink::Field, 0.35));
                    continue;
                }
                Cell::Leftover(key) => (key, 0.3),
                Cell::Used(key) | Cell::Taken(key) => (key, 1.0),
            };
            if key == PADDING {
                scene.fill(cell, faint(Ink::Field, 0.35));
                let hatch = line(faint(Ink::TextWeak, 0.7 * opacity), (cell.height * 0.12).clamp(0.5, 1.2));
                scene.path(vec![[cell.x, cell.bottom()], [cell.right(), cell.y]], hatch);
            } else {
                scene.fill(cell, faint(Ink::Scale(scale.magnitude(distance_of(key))), opacity));
            }
        }
    }
}

impl Focus {
    /// The hovered part, or the part that the last step changed.
    pub fn new(view: &View<'_>) -> Self {
        let shape = view.state().shape;
        let lane = |element: u32| Self::Lane(shape.lane_and_register(element).0);
        match view.hover {
            Some(Target::Lane(lane)) if lane < shape.width => return Self::Lane(lane),
            Some(Target::Slot(slot)) if slot < shape.capacity() => return Self::Slots(slot / shape.width),
            Some(Target::Comparator(element)) if element < shape.capacity() => return lane(element),
            _ => {}
        }
        if let Some(element) = element_under(view).filter(|&element| element < shape.capacity()) {
            return lane(element);
        }
        match view.step() {
            Some(Step::Layer { swapped, .. }) => lane(swapped.iter().next().unwrap_or(0)),
            Some(Step::Minimum { taken }) => lane(taken.iter().next().unwrap_or(0)),
            Some(Step::MaxDistance { .. }) => lane(shape.k - 1),
            Some(Step::Appended { placed }) if !placed.is_empty() => {
                Self::Slots(placed[placed.len() - 1].slot / shape.width)
            }
            Some(Step::Padded { first }) if *first < shape.capacity() => Self::Slots(first / shape.width),
            Some(Step::BufferFull) => Self::Slots(shape.registers - 1),
            _ => Self::Lane(0),
        }
    }

    /// The cells in focus: column, row, and the key.
    pub fn keys(self, state: &State) -> Vec<(u32, u32, Key)> {
        let shape = state.shape;
        match self {
            Self::Lane(lane) => (0..shape.registers)
                .map(|register| {
                    (lane, register, state.registers[(lane * shape.registers + register) as usize])
                })
                .collect(),
            Self::Slots(row) => (0..shape.width)
                .map(|column| (column, row, state.buffer[(row * shape.width + column) as usize]))
                .collect(),
        }
    }

    fn words(self, shape: Shape) -> [String; 2] {
        let (name, first, length, what) = match self {
            Self::Lane(lane) => (format!("Lane {lane}"), lane * shape.registers, shape.registers, "elements"),
            Self::Slots(row) => (format!("Row {row} of the buffer"), row * shape.width, shape.width, "slots"),
        };
        [name, format!("{what} {} to {}", thousands(first.into()), thousands((first + length - 1).into()))]
    }
}

/// The column of written keys: all in focus, or as many as are legible.
pub struct WrittenKeys {
    area: Area,
    rows: usize,
    /// Every n-th key is written.
    every: usize,
    size: f32,
    /// Width of a name and of a key.
    widths: [f32; 2],
}

impl WrittenKeys {
    /// Cuts the room for a number of keys off the right side of the panel.
    pub fn cut(room: &mut Area, keys: u32, text: f32) -> Self {
        let size = text * 0.8;
        let widths = [
            width(Font::Mono, size * 0.85, "00") + size * 0.4,
            width(Font::Mono, size, "0.0000") + size * 0.4,
        ];
        let rows = ((room.height - 2.0 * text * ROW) / (size * LINE)).max(1.0) as usize;
        let needed = |columns: usize| (widths[0] + widths[1]) * columns as f32 + text * 0.8;
        let columns = [1, 2, 4].into_iter().find(|columns| columns * rows >= keys as usize).unwrap_or(4);
        let columns = if needed(columns) <= room.width * 0.35 { columns } else { 1 };
        let every = (keys as usize).div_ceil(columns * rows).next_power_of_two();
        let rows = (keys as usize / every).div_ceil(columns);
        Self { area: room.take_right(needed(columns).max(text * 7.0)), rows, every, size, widths }
    }

    /// Writes the keys in focus; `has_moved` says which of them the last step moved.
    pub fn draw(&self, scene: &mut Scene, view: &View<'_>, focus: Focus, has_moved: impl Fn(Target) -> bool) {
        let (text, state, scale) = (view.text, view.state(), Scale::for_recording(view.recording()));
        let mut room = self.area;
        room.take_left(text * 0.8);
        let [name, elements] = focus.words(state.shape);
        scene.label(room.take_top(text * ROW), 0.0, sans(text * 0.9, Ink::Text), &name);
        scene.label(room.take_top(text * ROW), 0.0, sans(text * 0.75, Ink::TextWeak), &elements);
        let [name, number] = self.widths;
        let row = (self.size * LINE).min(room.height / self.rows as f32);
        for (place, (at, (column, cell, key))) in
            focus.keys(state).into_iter().enumerate().step_by(self.every).enumerate()
        {
            let (x, y) = (
                room.x + (place / self.rows) as f32 * (name + number),
                room.y + (place % self.rows) as f32 * row,
            );
            scene.text(
                [x + name * 0.8, y + row / 2.0],
                [1.0, 0.5],
                mono(self.size * 0.85, Ink::TextWeak),
                at.to_string(),
            );
            let body = area(x + name, y + row * 0.04, number * 0.94, row * 0.92);
            let target = match focus {
                Focus::Lane(_) => Target::Element(column * state.shape.registers + cell),
                Focus::Slots(_) => Target::Slot(cell * state.shape.width + column),
            };
            let longest = digits(distance_of(key), 3).chars().count();
            let size = self.size.min(number * 0.9 / width(Font::Mono, 1.0, &"0".repeat(longest)));
            draw_key(scene, &scale, body, key, (size, 3), has_moved(target));
            scene.spot(body, target);
        }
    }
}

/// Height of a line of keys, relative to their size.
const LINE: f32 = 1.25;

/// Names the first and the last row of a grid, as there is no room for more.
pub fn row_names(scene: &mut Scene, grid: &Grid, names: [String; 2], text: f32) {
    let size = (text * 0.7).min(grid.area.height * 0.5);
    for ((name, y), side) in names.into_iter().zip([grid.area.y, grid.area.bottom()]).zip([0.0, 1.0]) {
        scene.text([grid.area.x - text * 0.3, y], [1.0, side], sans(size, Ink::TextWeak), name);
    }
}

/// Frames the cells in focus in their grid.
pub fn frame(scene: &mut Scene, registers: &Grid, buffer: &Grid, focus: Focus) {
    let rect = match focus {
        Focus::Lane(lane) => Area { height: registers.area.height, ..registers.full(lane, 0) },
        Focus::Slots(row) => Area { width: buffer.area.width, ..buffer.cell(0, row) },
    };
    scene.rect(rect, 1.0, None, Some(line(Ink::Text, 1.6)));
}
