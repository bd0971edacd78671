//! Grids of key cells: W columns, R rows, coloured by distance.

use super::pen::{self, Scale, dashed, digits, faint, line, mono, width};
use super::scene::{Area, Font, Ink, Scene};
use super::thing::{Id, Way, What};
use crate::engines::lockstep::{Key, PADDING, distance_of};

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
    /// No key, or one that is no longer valid.
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
pub enum Look {
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
    pub fn look(&self, keys: impl Iterator<Item = Key> + Clone, text: f32) -> Look {
        // If four characters do not fit, there is no need to format any key.
        let least = width(Font::Mono, text * SMALLEST, "0000");
        let possible = self.high() >= text * SMALLEST * 1.25 && (self.wide() - self.gutter) * 0.9 - 4.0 >= least;
        for count in [3, 2].into_iter().filter(|_| possible) {
            let longest = keys.clone().map(|key| digits(distance_of(key), count).chars().count()).max().unwrap_or(1).max(4);
            let one = width(Font::Mono, 1.0, &"0".repeat(longest));
            let size = (text * 0.95).min(self.high() / 1.25).min(((self.wide() - self.gutter) * 0.9 - 4.0) / one);
            if size >= text * SMALLEST {
                return Look::Numbers { digits: count, size };
            }
        }
        if self.high() >= text * 1.4 && self.high() > self.wide() * 0.8 { Look::Bars } else { Look::Colors }
    }

    /// Draws the content of one cell. A key in use is followed to the next scene.
    pub fn draw(&self, scene: &mut Scene, column: u32, row: u32, holds: Cell, look: Look, scale: &Scale) {
        match holds {
            Cell::Taken(key) if key != PADDING => {
                let area = self.body(column, row);
                scene.thing(Id::of(What::Key(key)), area, Way::Past, |scene| self.content(scene, column, row, holds, look, scale));
            }
            _ => self.content(scene, column, row, holds, look, scale),
        }
    }

    fn content(&self, scene: &mut Scene, column: u32, row: u32, holds: Cell, look: Look, scale: &Scale) {
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
            let stroke = if small { line(faint(Ink::TextWeak, opacity * 0.35), 0.5) } else { dashed(faint(Ink::TextWeak, opacity * 0.8), 1.0, 2.5) };
            scene.rect(body, round, None, Some(stroke));
            let size = (body.height * 0.7).min(body.width * 0.8).min(if let Look::Numbers { size, .. } = look { size * 1.1 } else { 14.0 });
            if size >= 6.0 {
                scene.text(body.center(), [0.5, 0.5], mono(size, faint(Ink::TextWeak, opacity)), "\u{221e}");
            }
            return;
        }
        let distance = distance_of(key);
        let magnitude = scale.magnitude(distance);
        match look {
            Look::Bars => {
                scene.rect(body, round, Some(faint(Ink::Field, 0.5)), None);
                let mut room = body;
                let high = body.height * (0.08 + 0.92 * magnitude);
                scene.rect(room.take_bottom(high), round.min(high / 2.0), Some(faint(Ink::Scale(magnitude), opacity)), None);
            }
            _ => scene.rect(body, round, Some(faint(Ink::Scale(magnitude), opacity)), None),
        }
        if let Look::Numbers { digits: count, size } = look {
            let ink = if opacity < 1.0 { Ink::TextWeak } else { Ink::OnScale(magnitude) };
            scene.text(body.center(), [0.5, 0.5], mono(size, ink), digits(distance, count));
        }
    }

    /// Marks a cell with a frame, or with a dot if cells are small.
    pub fn mark(&self, scene: &mut Scene, column: u32, row: u32, ink: Ink) {
        let body = self.body(column, row);
        let small = body.width.min(body.height);
        if small < 9.0 {
            scene.dots(vec![body.center()], (small * 0.32).max(0.8), Some(ink.into()), Some(line(Ink::Canvas, 0.6)));
        } else {
            let width = (small * 0.09).clamp(1.5, 3.5);
            // Around the cell, not over its number, and still within its bounds.
            scene.rect(self.full(column, row).inner(width / 2.0), 2.5, None, Some(line(Ink::Canvas, width * 1.8)));
            scene.rect(self.full(column, row).inner(width / 2.0), 2.5, None, Some(line(ink, width)));
        }
    }
}
