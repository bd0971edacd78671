//! The panel of the wires and comparators of a sort or merge.
//!
//! A wire is an element; time runs to the right. Completed layers have the colours of the keys on the wires,
//! the rest is faint. If wires would be too close to read, the layers are drawn as stairs, and sixteen wires
//! are in focus.

use super::View;
use super::focus::{self, Stairs};
use super::moment::{RunningSort, element_under, layers, running_sort};
use super::pen::{self, ROW, Scale, area, dashed, digits, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Scene, Target, TrackId, TrackKey, Transition};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::network::{Comparator, Layer};
use crate::state::Shape;
use crate::step::SortPass;
use crate::text::{count, thousands};

/// Maximum number of wires of a completely drawn network: in any room, and in a room where they are legible.
const WIRES: [u32; 2] = [32, 64];

/// Minimum height of a legible row, relative to running text.
const LEGIBLE: f32 = 0.7;

/// Height of sizes and strides above the wires, and the gap below them, relative to running text.
const HEADS: f32 = 2.6;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (shape, text) = (view.state().shape, view.text);
    let run = running_sort(view.cursor);
    let (pass, layers) = match &run {
        Some(run) => (run.pass, run.layers.clone()),
        None => (SortPass::Sort, layers(SortPass::Sort, shape.capacity())),
    };
    let scale = Scale::for_recording(view.recording());
    let picture = NetworkPicture { view, shape, layers: &layers, run: run.as_ref(), scale };
    let heading = room.take_top(text * 1.6);
    scene.label(heading, 0.0, sans(text, Ink::Text), &picture.title(pass));
    let notes = room.take_bottom(text * ROW);
    let in_focus = if picture.is_legible(room) {
        picture.whole(&mut scene, room)
    } else {
        Some(picture.stairs(&mut scene, room))
    };
    scene.label(notes, 0.0, sans(text * 0.85, Ink::TextWeak), &picture.note(in_focus));
    scene
}

struct NetworkPicture<'a> {
    view: &'a View<'a>,
    shape: Shape,
    layers: &'a [Layer],
    run: Option<&'a RunningSort>,
    scale: Scale,
}

impl NetworkPicture<'_> {
    fn title(&self, pass: SortPass) -> String {
        let (k, all) = (thousands(self.shape.capacity().into()), self.layers.len());
        let what = match pass {
            SortPass::Sort => format!("Bitonic sort of {k} keys"),
            SortPass::Resort => format!("Bitonic re-sort of {k} keys"),
        };
        let each =
            format!("{} layers of {} comparators", all, thousands(u64::from(self.shape.capacity() / 2)));
        match self.run.map(RunningSort::done) {
            None => format!("{what}, not running: {each}"),
            Some(0) => format!("{what}, about to begin: {each}"),
            Some(done) => format!("{what}: layer {done} of {all}, {}", self.words(self.layers[done - 1])),
        }
    }

    fn words(&self, layer: Layer) -> String {
        format!("size {}, stride {}", thousands(layer.size.into()), thousands(layer.stride.into()))
    }

    fn note(&self, in_focus: Option<String>) -> String {
        let strokes = if self.shape.registers == 1 {
            "Each arrow points to where the larger key goes."
        } else {
            "Each arrow points to where the larger key goes; solid: by shuffle, dashed: inside a lane."
        };
        if let Some(in_focus) = in_focus {
            return in_focus;
        }
        match self.run.and_then(|run| run.swapped.last()) {
            Some(swapped) => format!(
                "Bright: the {} that swapped. {strokes}",
                count(swapped.count().into(), "pair", "pairs")
            ),
            None => strokes.to_owned(),
        }
    }

    /// Whether all wires can be drawn in a room.
    fn is_legible(&self, room: Area) -> bool {
        let keys = self.shape.capacity();
        let row = (room.height - self.view.text * HEADS) / keys as f32;
        keys <= WIRES[0] || (keys <= WIRES[1] && row >= self.view.text * LEGIBLE)
    }

    /// Draws the layers as stairs, and below them some rows of the current one. Returns a description of the
    /// focus.
    fn stairs(&self, scene: &mut Scene, mut room: Area) -> String {
        let text = self.view.text;
        let share = if self.run.is_some() { 0.4 } else { 0.9 };
        let top = room.take_top((room.height * share).min(text * 16.0));
        Stairs { layers: self.layers, registers: self.shape.registers, run: self.run, text }.draw(scene, top);
        room.take_top(text * 0.5);
        match self.run {
            Some(run) => focus::draw(scene, room, self.view, run, self.shape.registers),
            None => "A column for each layer, as high as its stride.".to_owned(),
        }
    }

    /// Draws the complete network.
    fn whole(&self, scene: &mut Scene, mut room: Area) -> Option<String> {
        let (keys, text) = (self.shape.capacity(), self.view.text);
        let sizes = room.take_top(text * 1.15);
        let strides = room.take_top(text * 1.15);
        room.take_top(text * (HEADS - 2.3));
        let row = room.height / keys as f32;
        // Numbers on the wires, if they are readable.
        let small = (row / 1.12).min(text * 0.95);
        let numbers = (small >= text * 0.6).then_some(small);
        let labels = width(Font::Mono, Self::name_size(row, text), "00") + text * 0.5;
        let names = room.take_left(labels);
        room.take_right(text * 0.3);
        let y = |element: u32| room.y + (element as f32 + 0.5) * row;
        self.lane_bands(scene, room, names, row);

        let columns = LayerLayout::new(room, self.layers, self.run, self.view.text, numbers);
        if let Some([left, right]) =
            self.run.and_then(|run| run.done().checked_sub(1)).map(|at| columns.edges[at])
        {
            scene.fill(
                area(left, strides.y, right - left, room.bottom() - strides.y),
                faint(Ink::Accent, 0.13),
            );
        }
        let done = self.run.map_or(0, RunningSort::done);
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
                let to =
                    if after > done { columns.frontier(done) } else { columns.middle_of(after - 1, element) };
                draw_wire(scene, &self.scale, [from, at], [to, at], key, row);
                from = to;
                if let Some(next) = next {
                    key = next;
                }
            }
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let when = LayerStatus::at(self.run, at);
            // A question may be about the next pairs.
            if self.view.asking && when == LayerStatus::Pending {
                continue;
            }
            let swapped = self.run.and_then(|run| run.swapped.get(at));
            for comparator in layer.comparators(keys) {
                let x = columns.x_of(at, *layer, comparator.low);
                let swaps = swapped.is_some_and(|swapped| swapped.contains(comparator.low));
                ComparatorMark::new(comparator, *layer, self.shape.registers, when, swaps, row).draw(
                    scene,
                    x,
                    [y(comparator.low), y(comparator.high)],
                );
                if self.has_changed(at, comparator) {
                    draw_change_mark(scene, x, [y(comparator.low), y(comparator.high)], row, text);
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
                let spot = area(
                    x - half,
                    y(comparator.low) - row / 2.0,
                    2.0 * half,
                    y(comparator.high) - y(comparator.low) + row,
                );
                scene.spot(spot, Target::Comparator(comparator.low));
                if self.is_hovered(comparator) {
                    scene.rect(spot, 3.0, None, Some(line(Ink::Text, 1.5)));
                }
            }
        }
        None
    }

    /// Whether the comparator is under the pointer, in this or another panel.
    fn is_hovered(&self, comparator: Comparator) -> bool {
        match self.view.hover {
            Some(Target::Comparator(low)) => low == comparator.low,
            _ => element_under(self.view)
                .is_some_and(|element| element == comparator.low || element == comparator.high),
        }
    }

    /// Whether a comparator of a completed layer decides differently since a change by hand.
    fn has_changed(&self, layer: usize, comparator: Comparator) -> bool {
        let run = self.run.filter(|run| layer < run.done());
        let elements = run.and_then(|run| self.view.recording().changed_comparators()?.at(run.start + layer));
        elements.is_some_and(|elements| elements.contains(comparator.low))
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
            scene.text(
                [names.right() - self.view.text * 0.35, at],
                [1.0, 0.5],
                mono(size, Ink::TextWeak),
                element.to_string(),
            );
        }
    }

    /// Draws the keys before and after the current layer.
    fn values(
        &self,
        scene: &mut Scene,
        columns: &LayerLayout,
        run: &RunningSort,
        size: f32,
        y: impl Fn(u32) -> f32,
    ) {
        let done = run.done();
        let last = done.saturating_sub(1);
        let sides: &[(usize, f32)] = &if done == 0 {
            vec![(0, columns.before(0))]
        } else {
            vec![(last, columns.before(last)), (done, columns.after(last))]
        };
        for &(at, x) in sides {
            for (element, &key) in (0u32..).zip(&run.keys[at]) {
                let moved = done > 0 && run.swapped[last].contains(element & !run.layers[last].stride);
                let room = area(x, y(element) - size * 0.56, columns.number, size * 1.12);
                // Along its wire, and with the comparator to the other one. Keys are not tracked across
                // sorts.
                let path = if moved && at == done {
                    let x = columns.middle_of(last, element);
                    vec![[x, y(element ^ run.layers[last].stride)], [x, y(element)]]
                } else {
                    Vec::new()
                };
                let draw = |scene: &mut Scene| {
                    draw_key(scene, &self.scale, room, key, (size, columns.digits), moved)
                };
                if key == PADDING {
                    draw(scene);
                } else {
                    scene.track(
                        TrackKey { id: TrackId::Key(key), instance: run.start },
                        room,
                        Transition::Path(path),
                        draw,
                    );
                }
            }
        }
    }

    fn headings(&self, scene: &mut Scene, columns: &LayerLayout, sizes: Area, strides: Area) {
        let text = self.view.text;
        let mut at = 0;
        while at < self.layers.len() {
            let size = self.layers[at].size;
            let last = self.layers.iter().rposition(|layer| layer.size == size).unwrap_or(at);
            let (left, right) = (columns.edges[at][0], columns.edges[last][1]);
            let lit = (at..=last).any(|at| LayerStatus::at(self.run, at) == LayerStatus::Running);
            let rect = area(left, sizes.y, right - left, sizes.height);
            let style = sans(text * 0.8, if lit { Ink::Accent } else { Ink::TextWeak });
            let long = format!("size {size}");
            let words =
                if width(style.font, style.size, &long) <= rect.width { long } else { size.to_string() };
            if width(style.font, style.size * 0.75, &words) <= rect.width {
                scene.label(rect, 0.5, style, &words);
            }
            scene.path(
                vec![[left + 1.0, sizes.bottom()], [right - 1.0, sizes.bottom()]],
                line(style.paint, if lit { 2.0 } else { 0.8 }),
            );
            at = last + 1;
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let [left, right] = columns.edges[at];
            let lit = LayerStatus::at(self.run, at) == LayerStatus::Running;
            let rect = area(left, strides.y, right - left, strides.height);
            let words = if lit && rect.width > text * 4.5 {
                format!("stride {}", layer.stride)
            } else {
                layer.stride.to_string()
            };
            let style = sans(text * 0.75, if lit { Ink::Accent } else { Ink::TextWeak });
            if width(style.font, style.size * 0.75, &words) <= rect.width {
                scene.label(rect, 0.5, style, &words);
            }
        }
    }

    /// A click on a layer moves to the position after it.
    fn layer_spots(&self, scene: &mut Scene, columns: &LayerLayout, room: Area) {
        let Some(run) = self.run else { return };
        for (at, [left, right]) in columns.edges.iter().enumerate() {
            scene.spot(area(*left, room.y, right - left, room.height), Target::Position(run.start + at + 1));
        }
    }
}

// Across the panel of a whole network: a column for each layer.

/// Maximum number of digits of a key on a wire.
const MAX_DIGITS: usize = 7;

/// Where the layers of a network are: overlapping comparators are side by side, the current layer is between
/// its keys.
pub struct LayerLayout {
    /// Left and right edge of each layer.
    pub edges: Vec<[f32; 2]>,
    /// Position of the first comparator in each layer.
    pub firsts: Vec<f32>,
    pub strides: Vec<u32>,
    /// Distance between adjacent comparators in each layer.
    pub steps: Vec<f32>,
    /// Width of a key; 0 if keys are not shown.
    pub number: f32,
    /// Width of a key including the gap beside it.
    pub padding: f32,
    /// Number of digits of a key.
    pub digits: usize,
}

impl LayerLayout {
    /// Divides a room among layers; `numbers` is the size of keys, if they are shown.
    pub fn new(
        room: Area,
        layers: &[Layer],
        run: Option<&RunningSort>,
        text: f32,
        numbers: Option<f32>,
    ) -> Self {
        const GAP: f32 = 1.6;
        let done = run.map_or(0, RunningSort::done);
        let (mut digits, mut number) = (3, 0.0);
        if let (Some(size), Some(run)) = (numbers, run) {
            let longest = |count: usize| {
                run.keys[0]
                    .iter()
                    .map(|&key| pen::digits(distance_of(key), count).chars().count())
                    .max()
                    .unwrap_or(1)
            };
            digits = if longest(3) > 5 && room.width < size * 60.0 { 2 } else { 3 };
            // Different keys must not look equal if they are compared.
            digits = (digits..=MAX_DIGITS).find(|&digits| run.distinguishes(digits)).unwrap_or(MAX_DIGITS);
            number = width(Font::Mono, size * 0.92, &"0".repeat(longest(digits))) + size * 0.5;
        }
        let padding = number + if number > 0.0 { text * 0.25 } else { 0.0 };
        let extra = if done == 0 { padding } else { 2.0 * padding };
        let width_of = |layer: &Layer, step: f32| step * (layer.stride as f32 + GAP);
        let units: f32 = layers.iter().map(|layer| width_of(layer, 1.0)).sum();
        let room_for_all = (room.width - extra).max(1.0);
        // The current layer may take more than its share, so that its comparators can be distinguished.
        let lit = done.checked_sub(1).map(|at| &layers[at]);
        let (step, lit_step) = match lit {
            Some(layer) => {
                let alone =
                    (text * 0.9).min(room_for_all * 0.35 / width_of(layer, 1.0)).max(room_for_all / units);
                let others = units - width_of(layer, 1.0);
                if others > 0.0 {
                    (((room_for_all - width_of(layer, alone)) / others).max(0.1), alone)
                } else {
                    (alone, room_for_all / units)
                }
            }
            None => (room_for_all / units, room_for_all / units),
        };
        let (mut x, mut edges, mut firsts, mut steps) = (room.x, Vec::new(), Vec::new(), Vec::new());
        for (at, layer) in layers.iter().enumerate() {
            let left = x;
            let lit = done == at + 1;
            let step = if lit { lit_step } else { step };
            let before = if lit || (done == 0 && at == 0) { padding } else { 0.0 };
            firsts.push(x + before + step * (GAP + 1.0) / 2.0);
            steps.push(step);
            x += before + width_of(layer, step) + if lit { padding } else { 0.0 };
            edges.push([left, x]);
        }
        Self {
            edges,
            firsts,
            strides: layers.iter().map(|layer| layer.stride).collect(),
            steps,
            number,
            padding,
            digits,
        }
    }

    /// Horizontal position: the comparators of a block of 2 × stride overlap, and are side by side.
    pub fn x_of(&self, at: usize, layer: Layer, low: u32) -> f32 {
        self.firsts[at] + (low % layer.stride) as f32 * self.steps[at]
    }

    pub fn middle_of(&self, at: usize, element: u32) -> f32 {
        self.firsts[at] + (element % self.strides[at]) as f32 * self.steps[at]
    }

    /// Position of the keys before a layer.
    pub fn before(&self, at: usize) -> f32 {
        self.edges[at][0]
    }

    /// Position of the keys after a layer.
    pub fn after(&self, at: usize) -> f32 {
        self.edges[at][1] - self.number
    }

    /// How far the keys have advanced.
    pub fn frontier(&self, done: usize) -> f32 {
        match done {
            0 => self.edges[0][0] + self.padding,
            done => self.edges[done - 1][1],
        }
    }
}

// Wires, comparators and keys of a network, as the whole network and its rows in focus draw them.

/// The progress of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerStatus {
    Done,
    Running,
    Pending,
}

impl LayerStatus {
    /// The state of a layer in the running sort.
    pub fn at(run: Option<&RunningSort>, layer: usize) -> Self {
        match run.map_or(0, RunningSort::done) {
            done if layer + 1 == done => Self::Running,
            done if layer < done => Self::Done,
            _ => Self::Pending,
        }
    }
}

/// Part of a wire with the key that it carries; `row` is the height of its row.
pub fn draw_wire(scene: &mut Scene, scale: &Scale, from: [f32; 2], to: [f32; 2], key: Key, row: f32) {
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

/// A comparator to draw.
#[derive(Clone, Copy, Debug)]
pub struct ComparatorMark {
    pub comparator: Comparator,
    /// Whether both elements are in the same lane.
    pub in_lane: bool,
    pub when: LayerStatus,
    pub swaps: bool,
    /// Height of a row, in points.
    pub row: f32,
}

impl ComparatorMark {
    /// A comparator of a layer, with `registers` per lane.
    pub fn new(
        comparator: Comparator,
        layer: Layer,
        registers: u32,
        when: LayerStatus,
        swaps: bool,
        row: f32,
    ) -> Self {
        Self { comparator, in_lane: layer.lane_stride(registers).is_none(), when, swaps, row }
    }

    /// Draws it between the heights of its wires.
    pub fn draw(&self, scene: &mut Scene, x: f32, [top, bottom]: [f32; 2]) {
        let row = self.row;
        let (paint, stroke) = match (self.when, self.swaps) {
            (LayerStatus::Running, true) => (Ink::Accent.into(), (row * 0.28).clamp(1.8, 4.0)),
            (LayerStatus::Running, false) => (Ink::Text.into(), (row * 0.12).clamp(0.9, 2.0)),
            (LayerStatus::Done, true) => (faint(Ink::Accent, 0.75), 1.2),
            (LayerStatus::Done, false) => (faint(Ink::TextWeak, 0.45), 0.8),
            (LayerStatus::Pending, _) => (faint(Ink::TextWeak, 0.55), 0.8),
        };
        let stroke = if self.in_lane { dashed(paint, stroke, 2.5) } else { line(paint, stroke) };
        scene.path(vec![[x, top], [x, bottom]], stroke);
        let is_running = self.when == LayerStatus::Running;
        let dot = (row * 0.16).clamp(0.8, 3.2) * if is_running { 1.25 } else { 0.8 };
        // A dot where the smaller key goes, an arrowhead where the larger goes.
        let (small, large, direction) =
            if self.comparator.ascending { (top, bottom, 1.0) } else { (bottom, top, -1.0) };
        scene.dots(vec![[x, small]], dot, Some(paint), None);
        let head = (row * 0.6).clamp(2.0, 10.0) * if is_running { 1.0 } else { 0.7 };
        scene.arrowhead([x, large + direction * dot * 0.5], [0.0, direction], head, paint);
    }
}

/// A key in a box of its colour, framed if it has just `moved`.
pub fn draw_key(
    scene: &mut Scene,
    scale: &Scale,
    room: Area,
    key: Key,
    (size, count): (f32, usize),
    moved: bool,
) {
    if key == PADDING {
        scene.rect(room, 2.0, Some(Ink::Canvas.into()), Some(dashed(Ink::TextWeak, 0.8, 2.0)));
        scene.text(room.center(), [0.5, 0.5], mono(size, Ink::TextWeak), "\u{221e}");
        return;
    }
    let magnitude = scale.magnitude(distance_of(key));
    let frame = moved.then(|| line(Ink::Accent, (size * 0.14).max(1.2)));
    scene.rect(room.inner(0.3), 2.0, Some(Ink::Scale(magnitude).into()), frame);
    scene.text(
        room.center(),
        [0.5, 0.5],
        mono(size * 0.92, Ink::OnScale(magnitude)),
        digits(distance_of(key), count),
    );
}

/// Outlines a comparator whose decision has changed.
pub fn draw_change_mark(scene: &mut Scene, x: f32, [top, bottom]: [f32; 2], row: f32, text: f32) {
    let half = (row * 0.35).clamp(2.5, text * 0.45);
    let outline = area(x - half, top - half, 2.0 * half, bottom - top + 2.0 * half);
    scene.rect(outline, half, None, Some(line(Ink::Accent, (text * 0.13).max(1.5))));
}
