//! Strokes in the panel of the warp for what the last step moved.

use std::collections::BTreeSet;

use super::cells::Grid;
use super::pen::{arc, dashed, faint, line, sans, width};
use super::scene::{Area, Ink, Scene};
use crate::knn::network::Layer;
use crate::state::{Shape, State};
use crate::step::Elements;

/// The grids that keys moved in.
pub struct Moves<'a> {
    pub registers: &'a Grid,
    pub buffer: &'a Grid,
    pub shape: Shape,
    /// Size of running text, in points.
    pub text: f32,
    /// Whether cells are large enough to be marked one by one.
    pub marks: bool,
}

impl Moves<'_> {
    /// Draws arrows between lanes, or within each lane.
    pub fn exchanges(&self, scene: &mut Scene, strip: Area, layer: Layer, shuffle: Option<u32>, swapped: &Elements) {
        let (grid, shape, text) = (self.registers, self.shape, self.text);
        match shuffle {
            Some(stride) => {
                // Arcs between more distant lanes are higher.
                let levels = (shape.width as f32).log2();
                let share = 0.35 + 0.65 * ((stride as f32).log2() + 1.0) / levels;
                let rise = (strip.height - 5.0).max(2.0) * share.min(1.0);
                let bottom = strip.bottom() - 1.0;
                let mut pairs: Vec<(u32, u32)> = (0..shape.width).filter(|lane| lane & stride == 0).map(|lane| (lane, 0)).collect();
                for low in swapped.iter() {
                    let lane = shape.lane_and_register(low).0;
                    if let Some(pair) = pairs.iter_mut().find(|pair| pair.0 == lane) {
                        pair.1 += 1;
                    }
                }
                // Exchanged pairs are drawn on top.
                pairs.sort_by_key(|pair| pair.1);
                for (lane, swaps) in pairs {
                    let (from, to) = (grid.cell(lane, 0).center()[0], grid.cell(lane ^ stride, 0).center()[0]);
                    let curve = arc([from, bottom], [to, bottom], rise);
                    let (ink, width) = if swaps > 0 { (Ink::Accent, (text * 0.16).max(1.6)) } else { (Ink::TextWeak, 1.0) };
                    let head = (text * 0.5).min(grid.wide() * 0.5).min(rise * 0.6);
                    let (start, end) = ([curve[0][0] - curve[1][0], curve[0][1] - curve[1][1]], [to - curve[15][0], bottom - curve[15][1]]);
                    let opacity = if swaps > 0 { 1.0 } else { 0.55 };
                    scene.path(curve, line(faint(ink, opacity), width));
                    scene.head([from, bottom], start, head, faint(ink, opacity));
                    scene.head([to, bottom], end, head, faint(ink, opacity));
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
                    let ((lane, low), (_, high)) = (shape.lane_and_register(comparator.low), shape.lane_and_register(comparator.high));
                    let (from, to) = (grid.full(lane, low), grid.full(lane, high));
                    // Side by side, so that they do not hide each other.
                    let beside = ((low % layer.stride) as f32 + 0.5) / layer.stride as f32;
                    let stroke = if swaps { (grid.gutter * 0.3).clamp(0.8, 2.6) } else { (grid.gutter * 0.15).clamp(0.4, 1.0) };
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
                    scene.text([strip.right(), strip.y], [1.0, 0.0], sans(text * 0.85, Ink::Accent), "inside each lane, no shuffle");
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
    pub fn minimum(&self, scene: &mut Scene, state: &State, taken: &Elements) {
        let (registers, buffer, shape) = (self.registers, self.buffer, self.shape);
        let lanes: BTreeSet<u32> = taken.iter().map(|element| shape.lane_and_register(element).0).collect();
        for lane in lanes {
            let column = state.meets(lane * shape.registers) % shape.width;
            let start = [buffer.full(column, 0).center()[0], buffer.area.y - 1.0];
            let end = [registers.full(lane, 0).center()[0], registers.area.bottom() + 1.0];
            scene.path(vec![start, end], line(faint(Ink::Intermediate, 0.85), 1.6));
            let head = (registers.wide() * 0.3).min(9.0).min((start[1] - end[1]) * 0.5);
            scene.head(end, [end[0] - start[0], end[1] - start[1]], head, Ink::Intermediate);
        }
        for element in taken.iter().filter(|_| self.marks) {
            let (lane, register) = shape.lane_and_register(element);
            let slot = state.meets(element);
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
            scene.head([left, top], [0.0, -1.0], head, Ink::Buffer);
            scene.path(vec![[right, top], [right, bottom]], line(faint(Ink::Intermediate, 0.8), 1.3));
            scene.head([right, bottom], [0.0, 1.0], head, Ink::Intermediate);
        }
    }
}
