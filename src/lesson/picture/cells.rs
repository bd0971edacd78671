//! Cells of keys: W columns, R rows, coloured by distance.

use super::pen::{self, Scale, dashed, digits, faint, line, mono, width};
use super::scene::{Area, Font, Ink, Scene};
use crate::engines::lockstep::{Key, PADDING, distance_of};

/// A table of W × R cells in a place.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// All cells together.
    pub area: Area,
    /// W.
    pub columns: u32,
    /// R.
    pub rows: u32,
    /// What is kept free on the right of each column, for strokes between its cells.
    pub gutter: f32,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Nothing, or what does not count any more.
    Free,
    /// A key that is not needed any more.
    Leftover(Key),
    /// A key.
    Taken(Key),
}

/// How cells show their keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// Numbers of so many digits, in a size.
    Numbers {
        /// Significant ones.
        digits: usize,
        /// Of the font.
        size: f32,
    },
    /// Bars, the higher the farther.
    Bars,
    /// Colours alone.
    Colors,
}

impl Grid {
    /// One cell.
    pub fn cell(&self, column: u32, row: u32) -> Area {
        let (wide, high) = (self.area.width / self.columns as f32, self.area.height / self.rows as f32);
        pen::area(self.area.x + column as f32 * wide, self.area.y + row as f32 * high, wide, high)
    }

    /// The height of a cell.
    pub fn high(&self) -> f32 {
        self.area.height / self.rows as f32
    }

    /// The width of a cell.
    pub fn wide(&self) -> f32 {
        self.area.width / self.columns as f32
    }

    /// A cell without its gutter.
    pub fn full(&self, column: u32, row: u32) -> Area {
        let cell = self.cell(column, row);
        Area { width: cell.width - self.gutter, ..cell }
    }

    /// What is drawn of a cell: not the gap to the next.
    pub fn body(&self, column: u32, row: u32) -> Area {
        let cell = self.full(column, row);
        let gap = (cell.width.min(cell.height) * 0.06).clamp(0.3, 1.5);
        cell.inner(gap)
    }

    /// How cells of this size can show keys so that all fit: as numbers where they can be read.
    pub fn look(&self, keys: impl Iterator<Item = Key> + Clone, text: f32) -> Look {
        for count in [3, 2] {
            let longest = keys.clone().map(|key| digits(distance_of(key), count).chars().count()).max().unwrap_or(1).max(4);
            let one = width(Font::Mono, 1.0, &"0".repeat(longest));
            let size = (text * 0.95).min(self.high() / 1.25).min(((self.wide() - self.gutter) * 0.9 - 4.0) / one);
            if size >= text * 0.68 {
                return Look::Numbers { digits: count, size };
            }
        }
        if self.high() >= text * 1.4 && self.high() > self.wide() * 0.8 { Look::Bars } else { Look::Colors }
    }

    /// Draws what a cell holds.
    pub fn draw(&self, scene: &mut Scene, column: u32, row: u32, holds: Cell, look: Look, scale: &Scale) {
        let body = self.body(column, row);
        let round = (body.width.min(body.height) * 0.12).min(3.0);
        let (key, opacity) = match holds {
            Cell::Free => {
                scene.rect(body, round, Some(faint(Ink::Field, 0.35)), Some(line(faint(Ink::Line, 0.7), 0.8)));
                return;
            }
            Cell::Leftover(key) => (key, 0.3),
            Cell::Taken(key) => (key, 1.0),
        };
        if key == PADDING {
            scene.rect(body, round, None, Some(dashed(faint(Ink::TextWeak, opacity * 0.8), 1.0, 2.5)));
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

    /// Marks a cell: a frame, or a dot where cells are small.
    pub fn mark(&self, scene: &mut Scene, column: u32, row: u32, ink: Ink) {
        let body = self.body(column, row);
        let small = body.width.min(body.height);
        if small < 9.0 {
            scene.dots(vec![body.center()], (small * 0.32).max(0.8), Some(ink.into()), Some(line(Ink::Canvas, 0.6)));
        } else {
            let width = (small * 0.09).clamp(1.5, 3.5);
            // Around it, not over its number, and still in its own cell.
            scene.rect(self.full(column, row).inner(width / 2.0), 2.5, None, Some(line(Ink::Canvas, width * 1.8)));
            scene.rect(self.full(column, row).inner(width / 2.0), 2.5, None, Some(line(ink, width)));
        }
    }
}
