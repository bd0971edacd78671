//! A legend of colours in rows, as many as fit the width.

use super::pen::{area, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};

/// Colour, meaning, and whether the dot is filled.
pub(crate) type Entry = (Ink, String, bool);

/// Font size of the legend relative to running text.
pub(super) const TYPE: f32 = 0.78;

/// Height of a line of the legend relative to its type.
pub(super) const LINE: f32 = 1.5;

/// Width of an entry.
pub(super) fn wide(words: &str, size: f32) -> f32 {
    width(Font::Sans, size, words) + size * 2.0
}

/// Row and horizontal offset of each legend entry.
fn places(entries: &[Entry], size: f32, room: f32) -> Vec<(usize, f32)> {
    let (mut row, mut x) = (0, 0.0);
    let offset = |(_, words, _): &Entry| {
        let needs = wide(words, size);
        if x > 0.0 && x + needs > room {
            (row, x) = (row + 1, 0.0);
        }
        let at = (row, x);
        x += needs;
        at
    };
    entries.iter().map(offset).collect()
}

/// The number of rows in a room of some width.
pub(super) fn rows(entries: &[Entry], size: f32, room: f32) -> usize {
    // As many rows as may be needed later, so that the plane does not move.
    places(entries, size, room).last().map_or(1, |(row, _)| row + 1).max(2)
}

pub(super) fn draw(scene: &mut Scene, room: Area, entries: &[Entry], size: f32) {
    let row = size * LINE;
    for ((ink, words, filled), (at, x)) in entries.iter().zip(places(entries, size, room.width)) {
        let mut rect = area(room.x + x, room.y + at as f32 * row, (room.width - x).min(wide(words, size)), row);
        if rect.bottom() > room.bottom() + 0.5 {
            return;
        }
        let dot = rect.take_left(size);
        let (fill, stroke) = if *filled { (Some((*ink).into()), None) } else { (None, Some(line(*ink, size * 0.15))) };
        scene.dots(vec![dot.center()], size * 0.36, fill, stroke);
        rect.take_left(size * 0.2);
        scene.label(rect, 0.0, sans(size, Ink::TextWeak), words);
    }
}
