//! The layers of a sort as stairs: a column for each layer, grouped by size, as high as its stride. A size is a flight that leads down
//! from half of it to 1, and each flight is one step higher than the one before.

use super::moment::Running;
use super::pen::{ROW, area, dashed, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Paint, Scene, Target};
use super::wires::When;
use crate::knn::network::Layer;
use crate::text::{count, thousands};

/// The layers of a sort, and how far it is.
pub struct Stairs<'a> {
    pub layers: &'a [Layer],
    /// Keys per lane, R: strides below it stay inside a lane.
    pub registers: u32,
    pub run: Option<&'a Running>,
    /// Size of running text, in points.
    pub text: f32,
}

impl Stairs<'_> {
    /// Draws them, with the sizes below and the strides on the left.
    pub fn draw(&self, scene: &mut Scene, mut room: Area) {
        let text = self.text;
        self.legend(scene, room.take_bottom(text * ROW));
        let sizes = room.take_bottom(text * 1.15);
        let current = room.take_top(text * 1.15);
        let rows = self.layers.iter().map(|layer| layer.stride.ilog2() + 1).max().unwrap_or(1);
        let high = room.height / rows as f32;
        self.strides(scene, &mut room, rows, high);
        let groups = self.layers.chunk_by(|a, b| a.size == b.size).count();
        // Flights are one column apart.
        let wide = room.width / (self.layers.len() + groups - 1) as f32;
        let (mut x, mut at) = (room.x, 0);
        for flight in self.layers.chunk_by(|a, b| a.size == b.size) {
            let lit = (at..at + flight.len()).any(|at| When::of(self.run, at) == When::Running);
            let below = area(x, sizes.y, wide * flight.len() as f32, sizes.height);
            self.size(scene, below, area(room.x, sizes.y, room.width, sizes.height), flight[0].size, lit, wide);
            for layer in flight {
                let steps = (layer.stride.ilog2() + 1) as f32;
                let column = area(x, room.bottom() - steps * high, wide, steps * high);
                self.step(scene, column, *layer, When::of(self.run, at));
                if When::of(self.run, at) == When::Running {
                    self.name(scene, current, column, *layer);
                }
                if let Some(run) = self.run {
                    scene.spot(area(x, room.y, wide, room.height), Target::Position(run.start + at + 1));
                }
                (x, at) = (x + wide, at + 1);
            }
            x += wide;
        }
    }

    /// Names the height of each step, and cuts their room off.
    fn strides(&self, scene: &mut Scene, room: &mut Area, rows: u32, high: f32) {
        let size = (self.text * 0.72).min(high * 1.05);
        let names = room.take_left(width(Font::Sans, self.text * 0.72, "stride 512") + self.text * 0.4);
        let every = [1, 2, 4].into_iter().find(|&every| high * every as f32 >= self.text * 0.62).unwrap_or(8);
        for row in 0..rows {
            let y = room.bottom() - (row + 1) as f32 * high;
            scene.path(vec![[room.x, y], [room.right(), y]], line(faint(Ink::Grid, 0.6), 0.7));
            // From the top, which is named with the word.
            if (rows - 1 - row).is_multiple_of(every) {
                let stride = thousands(1u64 << row);
                let words = if row + 1 == rows { format!("stride {stride}") } else { stride };
                let style = sans(size.max(self.text * 0.5), Ink::TextWeak);
                scene.text([names.right() - self.text * 0.35, y + high / 2.0], [1.0, 0.5], style, words);
            }
        }
    }

    fn size(&self, scene: &mut Scene, flight: Area, sizes: Area, size: u32, lit: bool, wide: f32) {
        let style = sans(self.text * 0.75, if lit { Ink::Accent } else { Ink::TextWeak });
        let short = thousands(size.into());
        let long = format!("size {short}");
        let needed = |words: &str| width(style.font, style.size, words);
        let words = if needed(&long) <= flight.width { long } else { short };
        if needed(&words) <= flight.width + wide * 0.9 {
            let x = flight.center()[0].clamp(sizes.x + needed(&words) / 2.0, sizes.right() - needed(&words) / 2.0);
            scene.text([x, flight.center()[1] + 1.0], [0.5, 0.5], style, words);
        }
        scene.path(vec![[flight.x + 0.5, flight.y + 1.0], [flight.right() - 0.5, flight.y + 1.0]], line(style.paint, if lit { 2.0 } else { 0.8 }));
    }

    fn step(&self, scene: &mut Scene, column: Area, layer: Layer, when: When) {
        let body = column.inner((column.width * 0.08).min(1.5));
        let (fill, stroke): (Paint, Paint) = match (when, self.shuffles(layer)) {
            (When::Running, true) => (Ink::Accent.into(), Ink::Text.into()),
            (When::Running, false) => (faint(Ink::Accent, 0.6), Ink::Text.into()),
            (When::Past, true) => (faint(Ink::Accent, 0.6), faint(Ink::Accent, 0.7)),
            (When::Past, false) => (faint(Ink::Accent, 0.2), faint(Ink::Accent, 0.9)),
            (When::ToCome, true) => (faint(Ink::Field, 1.0), faint(Ink::TextWeak, 0.7)),
            (When::ToCome, false) => (faint(Ink::Field, 0.3), faint(Ink::TextWeak, 0.7)),
        };
        let thick = if when == When::Running { 1.8 } else { 0.9 };
        let stroke = if self.shuffles(layer) { line(stroke, thick) } else { dashed(stroke, thick, 2.0) };
        scene.rect(body, 1.5, Some(fill), Some(stroke));
    }

    fn shuffles(&self, layer: Layer) -> bool {
        layer.lane_stride(self.registers).is_some()
    }

    /// Says of the current layer where its keys go.
    fn name(&self, scene: &mut Scene, row: Area, column: Area, layer: Layer) {
        let words = match layer.lane_stride(self.registers) {
            Some(lanes) => format!("shuffle with lane ^ {lanes}"),
            None => "inside each lane".to_owned(),
        };
        let style = sans(self.text * 0.8, Ink::Accent);
        let half = width(style.font, style.size, &words) / 2.0;
        let middle = column.center()[0].clamp(row.x + half, (row.right() - half).max(row.x + half));
        scene.text([middle, row.center()[1]], [0.5, 0.5], style, words);
    }

    /// How many layers are of which kind.
    fn legend(&self, scene: &mut Scene, mut room: Area) {
        let shuffles = self.layers.iter().filter(|layer| self.shuffles(**layer)).count();
        let style = sans(self.text * 0.8, Ink::TextWeak);
        let kinds = [(shuffles, "shuffles between lanes", "shuffle between lanes"), (self.layers.len() - shuffles, "inside lanes", "inside lanes")];
        for (at, (layers, one, many)) in kinds.into_iter().enumerate().filter(|(_, (layers, ..))| *layers > 0) {
            let words = format!("{} {}", count(layers as u64, "layer", "layers"), if layers == 1 { one } else { many });
            let wide = width(style.font, style.size, &words) + style.size * 2.4;
            let mut entry = room.take_left(wide);
            let mark = entry.take_left(style.size).inner(1.0);
            let mark = area(mark.x, mark.center()[1] - mark.width / 2.0, mark.width, mark.width);
            let (fill, stroke) = [(0.6, line(faint(Ink::Accent, 0.7), 0.9)), (0.2, dashed(faint(Ink::Accent, 0.9), 0.9, 2.0))][at];
            scene.rect(mark, 1.0, Some(faint(Ink::Accent, fill)), Some(stroke));
            entry.take_left(style.size * 0.4);
            scene.label(entry, 0.0, style, &words);
        }
    }
}
