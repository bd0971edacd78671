//! Grids of key cells: W columns, R rows, coloured by distance.

use std::collections::BTreeSet;

use super::pen::{self, Scale, arc, dashed, digits, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Scene, TrackId, TrackKey, Transition};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::network::Layer;
use crate::state::{Shape, State};
use crate::step::ElementSet;

/// The geometry of a grid of W × R cells.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Bounds of all cells together.
    pub area: Area,
    /// Number of columns, W.
    pub columns: u32,
    /// Number of rows, R.
    pub rows: u32,
    /// Width kept free to the right of each column, for strokes between its cells.
    pub gutter: f32,
}

/// Minimum readable font size relative to running text.
const SMALLEST: f32 = 0.68;

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// No key, or a stale one.
    Free,
    /// A key that is no longer needed.
    Leftover(Key),
    /// A key that was in use until now.
    Used(Key),
    /// A key in use.
    Taken(Key),
}

/// How cells display their keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellStyle {
    /// As numbers with a precision and font size.
    Numbers {
        /// Number of significant digits.
        digits: usize,
        /// Font size in points.
        size: f32,
    },
    /// As bars whose height grows with distance.
    Bars,
    /// As colours without numbers.
    Colors,
}

impl Grid {
    /// Bounds of one cell.
    pub fn cell(&self, column: u32, row: u32) -> Area {
        let (wide, high) = (self.area.width / self.columns as f32, self.area.height / self.rows as f32);
        pen::area(self.area.x + column as f32 * wide, self.area.y + row as f32 * high, wide, high)
    }

    /// Height of a cell.
    pub fn high(&self) -> f32 {
        self.area.height / self.rows as f32
    }

    /// Width of a cell.
    pub fn wide(&self) -> f32 {
        self.area.width / self.columns as f32
    }

    /// Bounds of a cell without its gutter.
    pub fn full(&self, column: u32, row: u32) -> Area {
        let cell = self.cell(column, row);
        Area { width: cell.width - self.gutter, ..cell }
    }

    /// Bounds of the visible part of a cell, without the gap to the next one.
    pub fn body(&self, column: u32, row: u32) -> Area {
        let cell = self.full(column, row);
        let gap = (cell.width.min(cell.height) * 0.06).clamp(0.3, 1.5);
        cell.inner(gap)
    }

    /// The richest display that fits cells of this size: numbers if they are readable.
    pub fn look(&self, keys: impl Iterator<Item = Key> + Clone, text: f32) -> CellStyle {
        // If four characters do not fit, there is no need to format any key.
        let least = width(Font::Mono, text * SMALLEST, "0000");
        let possible =
            self.high() >= text * SMALLEST * 1.25 && (self.wide() - self.gutter) * 0.9 - 4.0 >= least;
        for count in [3, 2].into_iter().filter(|_| possible) {
            let longest = keys
                .clone()
                .map(|key| digits(distance_of(key), count).chars().count())
                .max()
                .unwrap_or(1)
                .max(4);
            let one = width(Font::Mono, 1.0, &"0".repeat(longest));
            let size =
                (text * 0.95).min(self.high() / 1.25).min(((self.wide() - self.gutter) * 0.9 - 4.0) / one);
            if size >= text * SMALLEST {
                return CellStyle::Numbers { digits: count, size };
            }
        }
        if self.high() >= text * 1.4 && self.high() > self.wide() * 0.8 {
            CellStyle::Bars
        } else {
            CellStyle::Colors
        }
    }

    /// The richest display without bars, for grids that are read across rows.
    pub fn flat_look(&self, keys: impl Iterator<Item = Key> + Clone, text: f32) -> CellStyle {
        match self.look(keys, text) {
            CellStyle::Bars => CellStyle::Colors,
            look => look,
        }
    }

    /// Draws the content of one cell. A key in use is tracked to the next scene.
    pub fn draw(
        &self,
        scene: &mut Scene,
        column: u32,
        row: u32,
        holds: Cell,
        look: CellStyle,
        scale: &Scale,
    ) {
        match holds {
            Cell::Taken(key) if key != PADDING => {
                let area = self.body(column, row);
                scene.track(TrackKey::new(TrackId::Key(key)), area, Transition::Arc, |scene| {
                    self.content(scene, column, row, holds, look, scale)
                });
            }
            _ => self.content(scene, column, row, holds, look, scale),
        }
    }

    fn content(&self, scene: &mut Scene, column: u32, row: u32, holds: Cell, look: CellStyle, scale: &Scale) {
        let body = self.body(column, row);
        let round = (body.width.min(body.height) * 0.12).min(3.0);
        let (key, opacity) = match holds {
            Cell::Free => {
                // The frames of small cells would hide their content.
                let frame = (body.width.min(body.height) > 8.0).then(|| line(faint(Ink::Line, 0.7), 0.8));
                scene.rect(body, round, Some(faint(Ink::Field, 0.35)), frame);
                return;
            }
            Cell::Leftover(key) => (key, 0.3),
            Cell::Used(key) | Cell::Taken(key) => (key, 1.0),
        };
        if key == PADDING {
            let small = body.width.min(body.height) < 6.0;
            let stroke = if small {
                line(faint(Ink::TextWeak, opacity * 0.35), 0.5)
            } else {
                dashed(faint(Ink::TextWeak, opacity * 0.8), 1.0, 2.5)
            };
            scene.rect(body, round, None, Some(stroke));
            let size = (body.height * 0.7)
                .min(body.width * 0.8)
                .min(if let CellStyle::Numbers { size, .. } = look { size * 1.1 } else { 14.0 });
            if size >= 6.0 {
                scene.text(body.center(), [0.5, 0.5], mono(size, faint(Ink::TextWeak, opacity)), "\u{221e}");
            }
            return;
        }
        let distance = distance_of(key);
        let magnitude = scale.magnitude(distance);
        match look {
            CellStyle::Bars => {
                scene.rect(body, round, Some(faint(Ink::Field, 0.5)), None);
                let mut room = body;
                let high = body.height * (0.08 + 0.92 * magnitude);
                scene.rect(
                    room.take_bottom(high),
                    round.min(high / 2.0),
                    Some(faint(Ink::Scale(magnitude), opacity)),
                    None,
                );
            }
            _ => scene.rect(body, round, Some(faint(Ink::Scale(magnitude), opacity)), None),
        }
        if let CellStyle::Numbers { digits: count, size } = look {
            let ink = if opacity < 1.0 { Ink::Text } else { Ink::OnScale(magnitude) };
            scene.text(body.center(), [0.5, 0.5], mono(size, ink), digits(distance, count));
        }
    }

    /// Marks a cell with a frame, or with a dot if cells are small.
    pub fn mark(&self, scene: &mut Scene, column: u32, row: u32, ink: Ink) {
        let body = self.body(column, row);
        let small = body.width.min(body.height);
        if small < 9.0 {
            scene.dots(
                vec![body.center()],
                (small * 0.32).max(0.8),
                Some(ink.into()),
                Some(line(Ink::Canvas, 0.6)),
            );
        } else {
            let width = (small * 0.09).clamp(1.5, 3.5);
            // Around the cell, not over its number, and still within its bounds.
            scene.rect(
                self.full(column, row).inner(width / 2.0),
                2.5,
                None,
                Some(line(Ink::Canvas, width * 1.8)),
            );
            scene.rect(self.full(column, row).inner(width / 2.0), 2.5, None, Some(line(ink, width)));
        }
    }
}

/// Draws a colour mark at the left of a room, and cuts it off.
pub(crate) fn colour_mark(scene: &mut Scene, room: &mut Area, ink: Ink, text: f32) {
    let size = (text * 0.7).min(room.height * 0.6);
    let mark = room.take_left(size * 1.5);
    scene.rect(pen::area(mark.x, mark.center()[1] - size / 2.0, size, size), 2.0, Some(ink.into()), None);
}

/// A colour mark and its meaning.
pub(crate) fn chip(scene: &mut Scene, mut room: Area, ink: Ink, says: &str, text: f32) {
    colour_mark(scene, &mut room, ink, text);
    scene.label(room, 0.0, sans(text * 0.9, Ink::Text), says);
}

// Strokes in the panel of the warp that show the moves of the last step.

/// The grids that keys moved in.
pub struct MoveArrows<'a> {
    pub registers: &'a Grid,
    pub buffer: &'a Grid,
    pub shape: Shape,
    /// Size of running text, in points.
    pub text: f32,
    /// Whether cells are large enough to be marked one by one.
    pub marks: bool,
}

impl MoveArrows<'_> {
    /// Draws arrows between lanes, or within each lane.
    pub fn exchanges(
        &self,
        scene: &mut Scene,
        strip: Area,
        layer: Layer,
        shuffle: Option<u32>,
        swapped: &ElementSet,
    ) {
        let (grid, shape, text) = (self.registers, self.shape, self.text);
        match shuffle {
            Some(stride) => {
                // Arcs between more distant lanes are higher.
                let levels = (shape.width as f32).log2();
                let share = 0.35 + 0.65 * ((stride as f32).log2() + 1.0) / levels;
                let rise = (strip.height - 5.0).max(2.0) * share.min(1.0);
                let bottom = strip.bottom() - 1.0;
                let mut pairs: Vec<(u32, u32)> =
                    (0..shape.width).filter(|lane| lane & stride == 0).map(|lane| (lane, 0)).collect();
                for low in swapped.iter() {
                    let lane = shape.lane_and_register(low).0;
                    if let Some(pair) = pairs.iter_mut().find(|pair| pair.0 == lane) {
                        pair.1 += 1;
                    }
                }
                // Exchanged pairs are drawn on top.
                pairs.sort_by_key(|pair| pair.1);
                for (lane, swaps) in pairs {
                    let (from, to) =
                        (grid.cell(lane, 0).center()[0], grid.cell(lane ^ stride, 0).center()[0]);
                    let curve = arc([from, bottom], [to, bottom], rise);
                    let (ink, width) =
                        if swaps > 0 { (Ink::Accent, (text * 0.16).max(1.6)) } else { (Ink::TextWeak, 1.0) };
                    let head = (text * 0.5).min(grid.wide() * 0.5).min(rise * 0.6);
                    let (start, end) = (
                        [curve[0][0] - curve[1][0], curve[0][1] - curve[1][1]],
                        [to - curve[15][0], bottom - curve[15][1]],
                    );
                    let opacity = if swaps > 0 { 1.0 } else { 0.55 };
                    scene.path(curve, line(faint(ink, opacity), width));
                    scene.arrowhead([from, bottom], start, head, faint(ink, opacity));
                    scene.arrowhead([to, bottom], end, head, faint(ink, opacity));
                }
                let words = format!("lane ^ {stride}");
                let style = sans(text * 0.85, Ink::Accent);
                let wide = width(style.font, style.size, &words);
                if strip.height > text * 1.2 {
                    // In the corner, where arcs are low.
                    scene.text([strip.right() - wide, strip.y], [0.0, 0.0], style, words);
                }
            }
            None => {
                for comparator in layer.comparators(shape.capacity()).filter(|_| self.marks) {
                    let swaps = swapped.contains(comparator.low);
                    let ((lane, low), (_, high)) =
                        (shape.lane_and_register(comparator.low), shape.lane_and_register(comparator.high));
                    let (from, to) = (grid.full(lane, low), grid.full(lane, high));
                    // Side by side, so that they do not hide each other.
                    let beside = ((low % layer.stride) as f32 + 0.5) / layer.stride as f32;
                    let stroke = if swaps {
                        (grid.gutter * 0.3).clamp(0.8, 2.6)
                    } else {
                        (grid.gutter * 0.15).clamp(0.4, 1.0)
                    };
                    let x = from.right() + grid.gutter * (0.1 + 0.8 * beside);
                    let paint = if swaps { Ink::Accent.into() } else { faint(Ink::TextWeak, 0.7) };
                    let ends = [[x, from.center()[1]], [x, to.center()[1]]];
                    scene.path(ends.to_vec(), dashed(paint, stroke, 3.0));
                    if grid.high() > 9.0 {
                        for end in ends {
                            scene.path(vec![[from.right() - 1.0, end[1]], end], line(paint, stroke));
                        }
                    }
                }
                if strip.height > text * 1.2 {
                    scene.text(
                        [strip.right(), strip.y],
                        [1.0, 0.0],
                        sans(text * 0.85, Ink::Accent),
                        "inside each lane, no shuffle",
                    );
                }
            }
        }
        for low in swapped.iter().filter(|_| self.marks) {
            for element in [low, low ^ layer.stride] {
                let (lane, register) = shape.lane_and_register(element);
                grid.mark(scene, lane, register, Ink::Accent);
            }
        }
    }

    /// Draws arrows from the buffer to the registers: lane L's keys come from the mirrored column.
    pub fn minimum(&self, scene: &mut Scene, state: &State, taken: &ElementSet) {
        let (registers, buffer, shape) = (self.registers, self.buffer, self.shape);
        let lanes: BTreeSet<u32> = taken.iter().map(|element| shape.lane_and_register(element).0).collect();
        for lane in lanes {
            let column = state.merge_partner(lane * shape.registers) % shape.width;
            let start = [buffer.full(column, 0).center()[0], buffer.area.y - 1.0];
            let end = [registers.full(lane, 0).center()[0], registers.area.bottom() + 1.0];
            scene.path(vec![start, end], line(faint(Ink::Intermediate, 0.85), 1.6));
            let head = (registers.wide() * 0.3).min(9.0).min((start[1] - end[1]) * 0.5);
            scene.arrowhead(end, [end[0] - start[0], end[1] - start[1]], head, Ink::Intermediate);
        }
        for element in taken.iter().filter(|_| self.marks) {
            let (lane, register) = shape.lane_and_register(element);
            let slot = state.merge_partner(element);
            registers.mark(scene, lane, register, Ink::Intermediate);
            buffer.mark(scene, slot % shape.width, slot / shape.width, Ink::Intermediate);
        }
    }

    /// Draws an arrow each way between the registers and the buffer, for every lane.
    pub fn swap(&self, scene: &mut Scene) {
        let (registers, buffer, text) = (self.registers, self.buffer, self.text);
        let (top, bottom) = (registers.area.bottom() + 1.0, buffer.area.y - 1.0);
        for lane in 0..registers.columns {
            let cell = registers.cell(lane, 0);
            let apart = cell.width * 0.16;
            let head = (text * 0.45).min(cell.width * 0.3).min((bottom - top) * 0.4);
            let [left, right] = [cell.center()[0] - apart, cell.center()[0] + apart];
            scene.path(vec![[left, bottom], [left, top]], line(faint(Ink::Buffer, 0.8), 1.3));
            scene.arrowhead([left, top], [0.0, -1.0], head, Ink::Buffer);
            scene.path(vec![[right, top], [right, bottom]], line(faint(Ink::Intermediate, 0.8), 1.3));
            scene.arrowhead([right, bottom], [0.0, 1.0], head, Ink::Intermediate);
        }
    }
}
