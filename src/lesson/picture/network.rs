//! The panel of the wires and comparators of a sort or merge.
//!
//! A wire is an element; time runs to the right. Completed layers have the colours of the keys on the wires, the rest is
//! faint. Above 64 wires only the current layer is drawn, with only as many comparators as can be distinguished.

use super::View;
use super::moment::{Running, layers, running};
use super::pen::{ROW, Scale, Style, area, dashed, digits, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Scene, Target};
use super::thing::{Id, Way, What};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::network::{Comparator, Layer};
use crate::lesson::state::Shape;
use crate::lesson::step::{Elements, Pass};
use crate::text::{count, thousands};

/// Maximum number of wires of a network that is drawn completely.
const WIRES: u32 = 64;

/// Maximum number of comparators in a layer that is drawn alone.
const PAIRS: u32 = 16;

/// Maximum number of digits of a key on a wire.
const MOST_DIGITS: usize = 7;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let (shape, text) = (view.cursor.state().shape, view.text);
    let run = running(view.cursor);
    let (pass, layers) = match &run {
        Some(run) => (run.pass, run.layers.clone()),
        None => (Pass::Sort, layers(Pass::Sort, shape.capacity())),
    };
    let mut room = area(0.0, 0.0, wide, high);
    let picture = Picture { view, shape, layers: &layers, run: run.as_ref(), scale: Scale::of(view.cursor.recording()) };
    let heading = room.take_top(text * 1.6);
    scene.label(heading, 0.0, sans(text, Ink::Text), &picture.title(pass));
    let notes = room.take_bottom(text * ROW);
    let left_out = if shape.capacity() <= WIRES { picture.whole(&mut scene, room) } else { picture.compact(&mut scene, room) };
    scene.label(notes, 0.0, sans(text * 0.85, Ink::TextWeak), &picture.note(left_out));
    scene
}

struct Picture<'a> {
    view: &'a View<'a>,
    shape: Shape,
    layers: &'a [Layer],
    run: Option<&'a Running>,
    scale: Scale,
}

/// The progress of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Past,
    Running,
    ToCome,
}

impl Picture<'_> {
    fn title(&self, pass: Pass) -> String {
        let (k, all) = (thousands(self.shape.capacity().into()), self.layers.len());
        let what = match pass {
            Pass::Sort => format!("Bitonic sort of {k} keys"),
            Pass::Resort => format!("Bitonic re-sort of {k} keys"),
        };
        let each = format!("{} layers of {} comparators", all, thousands(u64::from(self.shape.capacity() / 2)));
        match self.run.map(Running::done) {
            None => format!("{what}, not running: {each}"),
            Some(0) => format!("{what}, about to begin: {each}"),
            Some(done) => format!("{what}: layer {done} of {all}, {}", self.words(self.layers[done - 1])),
        }
    }

    fn words(&self, layer: Layer) -> String {
        format!("size {}, stride {}", thousands(layer.size.into()), thousands(layer.stride.into()))
    }

    fn note(&self, left_out: Option<String>) -> String {
        let strokes = if self.shape.registers == 1 {
            "Each arrow points to where the larger key goes."
        } else {
            "Each arrow points to where the larger key goes; solid: by shuffle, dashed: inside a lane."
        };
        if let Some(left_out) = left_out {
            return if self.run.is_some_and(|run| run.done() > 0) { format!("{left_out} {strokes}") } else { left_out };
        }
        match self.run.and_then(|run| run.swapped.last()) {
            Some(swapped) => format!("Bright: the {} that swapped. {strokes}", count(swapped.count().into(), "pair", "pairs")),
            None => strokes.to_owned(),
        }
    }

    fn when(&self, layer: usize) -> When {
        match self.run.map_or(0, Running::done) {
            done if layer + 1 == done => When::Running,
            done if layer < done => When::Past,
            _ => When::ToCome,
        }
    }

    /// Draws the complete network.
    fn whole(&self, scene: &mut Scene, mut room: Area) -> Option<String> {
        let (keys, text) = (self.shape.capacity(), self.view.text);
        let sizes = room.take_top(text * 1.15);
        let strides = room.take_top(text * 1.15);
        room.take_top(text * 0.3);
        let row = room.height / keys as f32;
        // Numbers on the wires, if they are readable.
        let small = (row / 1.12).min(text * 0.95);
        let numbers = (small >= text * 0.6).then_some(small);
        let labels = width(Font::Mono, Self::name_size(row, text), "00") + text * 0.5;
        let names = room.take_left(labels);
        room.take_right(text * 0.3);
        let y = |element: u32| room.y + (element as f32 + 0.5) * row;
        self.lane_bands(scene, room, names, row);

        let columns = self.columns(room, numbers);
        if let Some([left, right]) = self.run.and_then(|run| run.done().checked_sub(1)).map(|at| columns.edges[at]) {
            scene.fill(area(left, strides.y, right - left, room.bottom() - strides.y), faint(Ink::Accent, 0.13));
        }
        let done = self.run.map_or(0, Running::done);
        for element in 0..keys {
            let at = y(element);
            let frontier = if self.run.is_none() { room.x } else { columns.frontier(done) };
            scene.path(vec![[frontier, at], [room.right(), at]], line(faint(Ink::TextWeak, 0.45), 0.8));
            let Some(run) = self.run else { continue };
            // A wire keeps its key until the middle of the layer that exchanges it.
            let mut from = room.x;
            let mut key = run.keys[0][element as usize];
            for after in 1..=done + 1 {
                let next = run.keys.get(after).map(|keys| keys[element as usize]);
                if next == Some(key) {
                    continue;
                }
                let to = if after > done { columns.frontier(done) } else { columns.middle_of(after - 1, element) };
                self.wire(scene, [from, at], [to, at], key, row);
                from = to;
                if let Some(next) = next {
                    key = next;
                }
            }
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let when = self.when(at);
            // Which elements meet next may be what is asked.
            if self.view.asking && when == When::ToCome {
                continue;
            }
            let swapped = self.run.and_then(|run| run.swapped.get(at));
            for comparator in layer.comparators(keys) {
                let x = columns.x_of(at, *layer, comparator.low);
                self.comparator(scene, x, [y(comparator.low), y(comparator.high)], comparator, *layer, when, swapped, row);
                if self.has_turned(at, comparator) {
                    turned_mark(scene, x, [y(comparator.low), y(comparator.high)], row, text);
                }
            }
        }
        self.names(scene, names, row);
        if let (Some(size), Some(run)) = (numbers, self.run) {
            self.values(scene, &columns, run, size, y);
        }
        self.headings(scene, &columns, sizes, strides);
        self.layer_spots(scene, &columns, area(room.x, sizes.y, room.width, room.bottom() - sizes.y));
        if numbers.is_some() && self.run.is_some() {
            let x = if done == 0 { columns.before(0) } else { columns.after(done - 1) };
            for element in 0..keys {
                scene.spot(area(x, y(element) - row / 2.0, columns.number, row), Target::Element(element));
            }
        }
        if let (Some(run), true) = (self.run, done > 0) {
            let layer = run.layers[done - 1];
            for comparator in layer.comparators(keys) {
                let x = columns.x_of(done - 1, layer, comparator.low);
                let half = (columns.steps[done - 1] * 0.5).clamp(3.0, text * 0.6);
                let spot = area(x - half, y(comparator.low) - row / 2.0, 2.0 * half, y(comparator.high) - y(comparator.low) + row);
                scene.spot(spot, Target::Comparator(comparator.low));
                if self.asked_for(comparator) {
                    scene.rect(spot, 3.0, None, Some(line(Ink::Text, 1.5)));
                }
            }
        }
        None
    }

    /// Whether the comparator is under the pointer, in this or another panel.
    fn asked_for(&self, comparator: Comparator) -> bool {
        match self.view.hover {
            Some(Target::Comparator(low)) => low == comparator.low,
            Some(Target::Element(element)) => element == comparator.low || element == comparator.high,
            _ => false,
        }
    }

    /// Whether a comparator of a completed layer decided otherwise than before something was changed by hand.
    fn has_turned(&self, layer: usize, comparator: Comparator) -> bool {
        let run = self.run.filter(|run| layer < run.done());
        let elements = run.and_then(|run| self.view.cursor.recording().turned()?.at(run.start + layer));
        elements.is_some_and(|elements| elements.contains(comparator.low))
    }

    fn wire(&self, scene: &mut Scene, from: [f32; 2], to: [f32; 2], key: Key, row: f32) {
        if to[0] <= from[0] {
            return;
        }
        let thick = (row * 0.22).clamp(1.2, 4.0);
        if key == PADDING {
            scene.path(vec![from, to], dashed(Ink::TextWeak, 1.0, 3.0));
        } else {
            scene.path(vec![from, to], line(Ink::Scale(self.scale.magnitude(distance_of(key))), thick));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "where, what, and when")]
    fn comparator(
        &self,
        scene: &mut Scene,
        x: f32,
        [top, bottom]: [f32; 2],
        comparator: Comparator,
        layer: Layer,
        when: When,
        swapped: Option<&Elements>,
        row: f32,
    ) {
        let swaps = swapped.is_some_and(|swapped| swapped.contains(comparator.low));
        let (paint, stroke) = match (when, swaps) {
            (When::Running, true) => (Ink::Accent.into(), (row * 0.28).clamp(1.8, 4.0)),
            (When::Running, false) => (Ink::Text.into(), (row * 0.12).clamp(0.9, 2.0)),
            (When::Past, true) => (faint(Ink::Accent, 0.75), 1.2),
            (When::Past, false) => (faint(Ink::TextWeak, 0.45), 0.8),
            (When::ToCome, _) => (faint(Ink::TextWeak, 0.55), 0.8),
        };
        let in_lane = layer.lane_stride(self.shape.registers).is_none();
        let stroke = if in_lane { dashed(paint, stroke, 2.5) } else { line(paint, stroke) };
        scene.path(vec![[x, top], [x, bottom]], stroke);
        let dot = (row * 0.16).clamp(0.8, 3.2) * if when == When::Running { 1.25 } else { 0.8 };
        // A dot where the smaller key goes, an arrowhead where the larger goes.
        let (small, large, direction) = if comparator.ascending { (top, bottom, 1.0) } else { (bottom, top, -1.0) };
        scene.dots(vec![[x, small]], dot, Some(paint), None);
        let head = (row * 0.6).clamp(2.0, 10.0) * if when == When::Running { 1.0 } else { 0.7 };
        scene.head([x, large + direction * dot * 0.5], [0.0, direction], head, paint);
    }

    /// Shades the wires of every second lane.
    fn lane_bands(&self, scene: &mut Scene, room: Area, names: Area, row: f32) {
        if self.shape.registers == 1 {
            return;
        }
        let high = row * self.shape.registers as f32;
        for lane in 0..self.shape.width {
            let band = area(names.x, room.y + lane as f32 * high, room.right() - names.x, high);
            if lane % 2 == 0 {
                scene.fill(band, faint(Ink::Field, 0.75));
            }
        }
    }

    /// Font size of wire names; if rows are low, only every second wire or so is named.
    fn name_size(row: f32, text: f32) -> f32 {
        (row * 0.95).clamp(text * 0.6, text * 0.8)
    }

    fn names(&self, scene: &mut Scene, names: Area, row: f32) {
        let size = Self::name_size(row, self.view.text);
        let every = [1, 2, 4, 8, 16].into_iter().find(|&every| row * every as f32 >= size).unwrap_or(32);
        for element in (0..self.shape.capacity()).step_by(every as usize) {
            let at = names.y + (element as f32 + 0.5) * row;
            scene.text([names.right() - self.view.text * 0.35, at], [1.0, 0.5], mono(size, Ink::TextWeak), element.to_string());
        }
    }

    /// Draws the keys before and after the current layer.
    fn values(&self, scene: &mut Scene, columns: &Columns, run: &Running, size: f32, y: impl Fn(u32) -> f32) {
        let done = run.done();
        let last = done.saturating_sub(1);
        let sides: &[(usize, f32)] =
            &if done == 0 { vec![(0, columns.before(0))] } else { vec![(last, columns.before(last)), (done, columns.after(last))] };
        for &(at, x) in sides {
            for (element, &key) in (0u32..).zip(&run.keys[at]) {
                let moved = done > 0 && run.swapped[last].contains(element & !run.layers[last].stride);
                let room = area(x, y(element) - size * 0.56, columns.number, size * 1.12);
                if key == PADDING {
                    scene.rect(room, 2.0, Some(Ink::Canvas.into()), Some(dashed(Ink::TextWeak, 0.8, 2.0)));
                    scene.text(room.center(), [0.5, 0.5], mono(size, Ink::TextWeak), "\u{221e}");
                    continue;
                }
                let magnitude = self.scale.magnitude(distance_of(key));
                let frame = moved.then(|| line(Ink::Accent, (size * 0.14).max(1.2)));
                // Along its wire, and with the comparator to the other one. A key of another sort is another thing.
                let way = if moved && at == done {
                    let x = columns.middle_of(last, element);
                    vec![[x, y(element ^ run.layers[last].stride)], [x, y(element)]]
                } else {
                    Vec::new()
                };
                let id = Id { what: What::Key(key), part: run.start };
                scene.thing(id, room, Way::Along(way), |scene| {
                    scene.rect(room.inner(0.3), 2.0, Some(Ink::Scale(magnitude).into()), frame);
                    scene.text(room.center(), [0.5, 0.5], mono(size * 0.92, Ink::OnScale(magnitude)), digits(distance_of(key), columns.digits));
                });
            }
        }
    }

    fn headings(&self, scene: &mut Scene, columns: &Columns, sizes: Area, strides: Area) {
        let text = self.view.text;
        let mut at = 0;
        while at < self.layers.len() {
            let size = self.layers[at].size;
            let last = self.layers.iter().rposition(|layer| layer.size == size).unwrap_or(at);
            let (left, right) = (columns.edges[at][0], columns.edges[last][1]);
            let lit = (at..=last).any(|at| self.when(at) == When::Running);
            let rect = area(left, sizes.y, right - left, sizes.height);
            let style = sans(text * 0.8, if lit { Ink::Accent } else { Ink::TextWeak });
            let long = format!("size {size}");
            let words = if width(style.font, style.size, &long) <= rect.width { long } else { size.to_string() };
            if width(style.font, style.size * 0.75, &words) <= rect.width {
                scene.label(rect, 0.5, style, &words);
            }
            scene.path(vec![[left + 1.0, sizes.bottom()], [right - 1.0, sizes.bottom()]], line(style.paint, if lit { 2.0 } else { 0.8 }));
            at = last + 1;
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let [left, right] = columns.edges[at];
            let lit = self.when(at) == When::Running;
            let rect = area(left, strides.y, right - left, strides.height);
            let words = if lit && rect.width > text * 4.5 { format!("stride {}", layer.stride) } else { layer.stride.to_string() };
            let style = sans(text * 0.75, if lit { Ink::Accent } else { Ink::TextWeak });
            if width(style.font, style.size * 0.75, &words) <= rect.width {
                scene.label(rect, 0.5, style, &words);
            }
        }
    }

    /// A click on a layer moves to the position after it.
    fn layer_spots(&self, scene: &mut Scene, columns: &Columns, room: Area) {
        let Some(run) = self.run else { return };
        for (at, [left, right]) in columns.edges.iter().enumerate() {
            scene.spot(area(*left, room.y, right - left, room.height), Target::Position(run.start + at + 1));
        }
    }

    /// The columns of the layers: overlapping comparators are side by side, the current layer is between its keys.
    fn columns(&self, room: Area, numbers: Option<f32>) -> Columns {
        const GAP: f32 = 1.6;
        let done = self.run.map_or(0, Running::done);
        let (mut digits, mut number) = (3, 0.0);
        if let (Some(size), Some(run)) = (numbers, self.run) {
            let longest =
                |count: usize| run.keys[0].iter().map(|&key| super::pen::digits(distance_of(key), count).chars().count()).max().unwrap_or(1);
            digits = if longest(3) > 5 && room.width < size * 60.0 { 2 } else { 3 };
            // Keys that differ must not look equal where they meet.
            digits = (digits..=MOST_DIGITS).find(|&digits| run.tells_apart(digits)).unwrap_or(MOST_DIGITS);
            number = width(Font::Mono, size * 0.92, &"0".repeat(longest(digits))) + size * 0.5;
        }
        let padding = number + if number > 0.0 { self.view.text * 0.25 } else { 0.0 };
        let extra = if done == 0 { padding } else { 2.0 * padding };
        let width_of = |layer: &Layer, step: f32| step * (layer.stride as f32 + GAP);
        let units: f32 = self.layers.iter().map(|layer| width_of(layer, 1.0)).sum();
        let room_for_all = (room.width - extra).max(1.0);
        // The current layer may take more than its share, so that its comparators can be distinguished.
        let lit = done.checked_sub(1).map(|at| &self.layers[at]);
        let (step, lit_step) = match lit {
            Some(layer) => {
                let alone = (self.view.text * 0.9).min(room_for_all * 0.35 / width_of(layer, 1.0)).max(room_for_all / units);
                let others = units - width_of(layer, 1.0);
                if others > 0.0 { (((room_for_all - width_of(layer, alone)) / others).max(0.1), alone) } else { (alone, room_for_all / units) }
            }
            None => (room_for_all / units, room_for_all / units),
        };
        let (mut x, mut edges, mut firsts, mut steps) = (room.x, Vec::new(), Vec::new(), Vec::new());
        for (at, layer) in self.layers.iter().enumerate() {
            let left = x;
            let lit = done == at + 1;
            let step = if lit { lit_step } else { step };
            let before = if lit || (done == 0 && at == 0) { padding } else { 0.0 };
            firsts.push(x + before + step * (GAP + 1.0) / 2.0);
            steps.push(step);
            x += before + width_of(layer, step) + if lit { padding } else { 0.0 };
            edges.push([left, x]);
        }
        Columns { edges, firsts, strides: self.layers.iter().map(|layer| layer.stride).collect(), steps, number, padding, digits }
    }

    /// Draws all layers as a strip, and some comparators of the current one.
    fn compact(&self, scene: &mut Scene, mut room: Area) -> Option<String> {
        let (keys, text) = (self.shape.capacity(), self.view.text);
        let done = self.run.map_or(0, Running::done);
        let most = if done == 0 { room.height * 0.9 } else { room.height * 0.45 };
        self.schedule(scene, room.take_top(most.min(text * if done == 0 { 18.0 } else { 12.0 })));
        room.take_top(text * 0.6);
        let Some(run) = self.run.filter(|_| done > 0) else {
            return Some(format!("{} wires are too many to draw: each square is a layer; ^ 4 is a shuffle with lane ^ 4.", thousands(keys.into())));
        };
        let (layer, swapped) = (run.layers[done - 1], &run.swapped[done - 1]);
        // As many pairs as can be distinguished, around the one under the pointer.
        let pairs = ((room.height / (text * 1.1) / 2.0) as u32).clamp(2, PAIRS).min(keys / 2);
        let all: Vec<Comparator> = layer.comparators(keys).collect();
        let asked = match self.view.hover {
            Some(Target::Comparator(low)) => Some(low),
            Some(Target::Element(element)) => Some(layer.comparator_of(element).low),
            _ => None,
        };
        let at = asked.and_then(|low| all.iter().position(|comparator| comparator.low == low)).unwrap_or(0);
        let first = (at - at % pairs as usize).min(all.len() - pairs as usize);
        let shown = &all[first..first + pairs as usize];
        // One row per element: the lower ones, then their partners, unless they interleave.
        let mut elements: Vec<u32> = shown.iter().flat_map(|pair| [pair.low, pair.high]).collect();
        elements.sort_unstable();
        let row = room.height / elements.len() as f32;
        let y_of = |element: u32| elements.binary_search(&element).map_or(0.0, |at| room.y + (at as f32 + 0.5) * row);
        let size = (row / 1.15).min(text * 0.9);
        let name = width(Font::Mono, size, &keys.to_string()) + text * 0.6;
        let number = width(Font::Mono, size, "0.00000") + text * 0.4;
        let wires = area(room.x + name + number, room.y, (room.width - 2.0 * (name + number)).max(text), room.height);
        for (at, element) in elements.iter().enumerate() {
            let y = y_of(*element);
            // A gap where elements are left out between two rows.
            if at > 0 && elements[at - 1] + 1 != *element {
                scene.path(vec![[room.x, y - row / 2.0], [room.right(), y - row / 2.0]], dashed(faint(Ink::TextWeak, 0.8), 0.8, 4.0));
            }
            scene.text([room.x + name - text * 0.4, y], [1.0, 0.5], mono(size, Ink::TextWeak), element.to_string());
            for (moment, x) in [(done - 1, room.x + name), (done, wires.right())] {
                let key = run.keys[moment][*element as usize];
                let moved = swapped.contains(element & !layer.stride);
                self.value(scene, area(x, y - row * 0.46, number, row * 0.92), key, size, moved);
            }
            let (before, after) = (run.keys[done - 1][*element as usize], run.keys[done][*element as usize]);
            let pair = layer.comparator_of(*element);
            let index = shown.iter().position(|one| *one == pair).unwrap_or(0);
            let x = Self::compact_x(wires, index, shown, layer);
            self.wire(scene, [wires.x, y], [x, y], before, row);
            self.wire(scene, [x, y], [wires.right(), y], after, row);
        }
        for (index, comparator) in shown.iter().enumerate() {
            let x = Self::compact_x(wires, index, shown, layer);
            let ends = [y_of(comparator.low), y_of(comparator.high)];
            self.comparator(scene, x, ends, *comparator, layer, When::Running, Some(swapped), row);
            if self.has_turned(done - 1, *comparator) {
                turned_mark(scene, x, ends, row, text);
            }
            let spot = area(x - text * 0.5, ends[0] - row / 2.0, text, ends[1] - ends[0] + row);
            scene.spot(spot, Target::Comparator(comparator.low));
            if asked == Some(comparator.low) {
                scene.rect(spot, 3.0, None, Some(line(Ink::Text, 1.5)));
            }
        }
        Some(format!(
            "{} of {} comparators are drawn, from element {} on; {} swapped in all.",
            shown.len(),
            thousands(all.len() as u64),
            thousands(shown[0].low.into()),
            thousands(swapped.count().into())
        ))
    }

    /// The horizontal position of a comparator; overlapping ones are side by side.
    fn compact_x(wires: Area, index: usize, shown: &[Comparator], layer: Layer) -> f32 {
        let beside = (layer.stride as usize).min(shown.len());
        wires.x + wires.width * (0.12 + 0.76 * ((index % beside) as f32 + 0.5) / beside as f32)
    }

    fn value(&self, scene: &mut Scene, room: Area, key: Key, size: f32, moved: bool) {
        if key == PADDING {
            scene.text(room.center(), [0.5, 0.5], mono(size, Ink::TextWeak), "\u{221e}");
            return;
        }
        let magnitude = self.scale.magnitude(distance_of(key));
        let frame = moved.then(|| line(Ink::Accent, (size * 0.14).max(1.2)));
        scene.rect(room.inner(0.5), 2.0, Some(Ink::Scale(magnitude).into()), frame);
        let style = Style { paint: Ink::OnScale(magnitude).into(), ..mono(size * 0.95, Ink::Text) };
        scene.label(room.inner(0.8), 0.5, style, &digits(distance_of(key), 3));
    }

    /// Draws one square per layer: a column per size, strides decreasing downwards.
    fn schedule(&self, scene: &mut Scene, mut room: Area) {
        let text = self.view.text;
        let head = room.take_top(text * 1.1);
        let widest: Vec<u32> = self.layers.iter().map(|layer| layer.size).collect();
        let mut sizes = widest;
        sizes.dedup();
        let rows = self.layers.iter().map(|layer| layer.stride.ilog2() + 1).max().unwrap_or(1);
        let names = width(Font::Sans, text * 0.7, "stride 1,024") + text * 0.4;
        let left = room.take_left(names.min(room.width * 0.3));
        let (wide, high) = ((room.width / sizes.len() as f32).min(text * 5.0), room.height / rows as f32);
        for (column, size) in sizes.iter().enumerate() {
            let rect = area(room.x + column as f32 * wide, head.y, wide, head.height);
            let long = format!("size {}", thousands((*size).into()));
            let words = if width(Font::Sans, text * 0.75, &long) <= wide { long } else { size.to_string() };
            scene.label(rect.inner(1.0), 0.5, sans(text * 0.75, Ink::TextWeak), &words);
        }
        for row in 0..rows {
            let rect = area(left.x, room.y + row as f32 * high, left.width - text * 0.4, high);
            let stride = 1u32 << (rows - 1 - row);
            scene.label(rect, 1.0, sans(text * 0.7, Ink::TextWeak), &format!("stride {stride}"));
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let column = sizes.iter().position(|size| *size == layer.size).unwrap_or(0);
            let row = rows - 1 - layer.stride.ilog2();
            let cell = area(room.x + column as f32 * wide, room.y + row as f32 * high, wide, high);
            let body = cell.inner((wide.min(high) * 0.08).min(1.5));
            let shuffles = layer.lane_stride(self.shape.registers).is_some();
            let (fill, frame) = match self.when(at) {
                When::Running => (Some(Ink::Accent.into()), Some(line(Ink::Accent, 2.0))),
                When::Past => (Some(faint(Ink::Accent, 0.35)), None),
                When::ToCome => (Some(faint(Ink::Field, 1.0)), None),
            };
            scene.rect(body, 2.0, fill, frame);
            let ink = if self.when(at) == When::Running { Ink::OnAccent } else { Ink::TextWeak };
            let words = if shuffles { format!("^ {}", layer.stride / self.shape.registers) } else { "in lane".to_owned() };
            let style = sans((text * 0.7).min(body.height / ROW), ink);
            if style.size >= text * 0.45 && width(style.font, style.size, &words) <= body.width {
                scene.label(body, 0.5, style, &words);
            }
            if let Some(run) = self.run {
                scene.spot(cell, Target::Position(run.start + at + 1));
            }
        }
    }
}

/// Outlines a comparator that has turned.
fn turned_mark(scene: &mut Scene, x: f32, [top, bottom]: [f32; 2], row: f32, text: f32) {
    let half = (row * 0.35).clamp(2.5, text * 0.45);
    let outline = area(x - half, top - half, 2.0 * half, bottom - top + 2.0 * half);
    scene.rect(outline, half, None, Some(line(Ink::Accent, (text * 0.13).max(1.5))));
}

struct Columns {
    /// Left and right edge of each layer.
    edges: Vec<[f32; 2]>,
    /// Position of the first comparator in each layer.
    firsts: Vec<f32>,
    strides: Vec<u32>,
    /// Distance between adjacent comparators in each layer.
    steps: Vec<f32>,
    /// Width of a key; 0 if keys are not shown.
    number: f32,
    /// Width of a key including the gap beside it.
    padding: f32,
    /// Number of digits of a key.
    digits: usize,
}

impl Columns {
    /// Horizontal position: the comparators of a block of 2 × stride overlap, and are side by side.
    fn x_of(&self, at: usize, layer: Layer, low: u32) -> f32 {
        self.firsts[at] + (low % layer.stride) as f32 * self.steps[at]
    }

    fn middle_of(&self, at: usize, element: u32) -> f32 {
        self.firsts[at] + (element % self.strides[at]) as f32 * self.steps[at]
    }

    /// Position of the keys before a layer.
    fn before(&self, at: usize) -> f32 {
        self.edges[at][0]
    }

    /// Position of the keys after a layer.
    fn after(&self, at: usize) -> f32 {
        self.edges[at][1] - self.number
    }

    /// How far the keys have advanced.
    fn frontier(&self, done: usize) -> f32 {
        match done {
            0 => self.edges[0][0] + self.padding,
            done => self.edges[done - 1][1],
        }
    }
}
