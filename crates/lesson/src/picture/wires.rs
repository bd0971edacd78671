//! Wires, comparators and keys of a network, as the whole network and its rows in focus draw them.

use super::moment::Running;
use super::pen::{Scale, area, dashed, digits, faint, line, mono};
use super::scene::{Area, Ink, Scene};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::network::{Comparator, Layer};

/// The progress of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    Past,
    Running,
    ToCome,
}

impl When {
    /// How far the sort that is running has come with a layer.
    pub fn of(run: Option<&Running>, layer: usize) -> Self {
        match run.map_or(0, Running::done) {
            done if layer + 1 == done => Self::Running,
            done if layer < done => Self::Past,
            _ => Self::ToCome,
        }
    }
}

/// Part of a wire with the key that it carries; `row` is the height of its row.
pub fn wire(scene: &mut Scene, scale: &Scale, from: [f32; 2], to: [f32; 2], key: Key, row: f32) {
    if to[0] <= from[0] {
        return;
    }
    let thick = (row * 0.22).clamp(1.2, 4.0);
    if key == PADDING {
        scene.path(vec![from, to], dashed(Ink::TextWeak, 1.0, 3.0));
    } else {
        scene.path(vec![from, to], line(Ink::Scale(scale.magnitude(distance_of(key))), thick));
    }
}

/// A comparator as it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    pub comparator: Comparator,
    /// Whether both elements are in the same lane.
    pub in_lane: bool,
    pub when: When,
    pub swaps: bool,
    /// Height of a row, in points.
    pub row: f32,
}

impl Drawn {
    /// A comparator of a layer, where lanes hold so many `registers`.
    pub fn new(comparator: Comparator, layer: Layer, registers: u32, when: When, swaps: bool, row: f32) -> Self {
        Self { comparator, in_lane: layer.lane_stride(registers).is_none(), when, swaps, row }
    }

    /// Draws it between the heights of its wires.
    pub fn draw(&self, scene: &mut Scene, x: f32, [top, bottom]: [f32; 2]) {
        let row = self.row;
        let (paint, stroke) = match (self.when, self.swaps) {
            (When::Running, true) => (Ink::Accent.into(), (row * 0.28).clamp(1.8, 4.0)),
            (When::Running, false) => (Ink::Text.into(), (row * 0.12).clamp(0.9, 2.0)),
            (When::Past, true) => (faint(Ink::Accent, 0.75), 1.2),
            (When::Past, false) => (faint(Ink::TextWeak, 0.45), 0.8),
            (When::ToCome, _) => (faint(Ink::TextWeak, 0.55), 0.8),
        };
        let stroke = if self.in_lane { dashed(paint, stroke, 2.5) } else { line(paint, stroke) };
        scene.path(vec![[x, top], [x, bottom]], stroke);
        let is_running = self.when == When::Running;
        let dot = (row * 0.16).clamp(0.8, 3.2) * if is_running { 1.25 } else { 0.8 };
        // A dot where the smaller key goes, an arrowhead where the larger goes.
        let (small, large, direction) = if self.comparator.ascending { (top, bottom, 1.0) } else { (bottom, top, -1.0) };
        scene.dots(vec![[x, small]], dot, Some(paint), None);
        let head = (row * 0.6).clamp(2.0, 10.0) * if is_running { 1.0 } else { 0.7 };
        scene.head([x, large + direction * dot * 0.5], [0.0, direction], head, paint);
    }
}

/// A key in a box of its colour, framed if it has just `moved`.
pub fn value(scene: &mut Scene, scale: &Scale, room: Area, key: Key, (size, count): (f32, usize), moved: bool) {
    if key == PADDING {
        scene.rect(room, 2.0, Some(Ink::Canvas.into()), Some(dashed(Ink::TextWeak, 0.8, 2.0)));
        scene.text(room.center(), [0.5, 0.5], mono(size, Ink::TextWeak), "\u{221e}");
        return;
    }
    let magnitude = scale.magnitude(distance_of(key));
    let frame = moved.then(|| line(Ink::Accent, (size * 0.14).max(1.2)));
    scene.rect(room.inner(0.3), 2.0, Some(Ink::Scale(magnitude).into()), frame);
    scene.text(room.center(), [0.5, 0.5], mono(size * 0.92, Ink::OnScale(magnitude)), digits(distance_of(key), count));
}

/// Outlines a comparator that has turned.
pub fn turned_mark(scene: &mut Scene, x: f32, [top, bottom]: [f32; 2], row: f32, text: f32) {
    let half = (row * 0.35).clamp(2.5, text * 0.45);
    let outline = area(x - half, top - half, 2.0 * half, bottom - top + 2.0 * half);
    scene.rect(outline, half, None, Some(line(Ink::Accent, (text * 0.13).max(1.5))));
}
