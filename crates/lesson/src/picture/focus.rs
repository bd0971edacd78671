//! Rows of a large network in focus: sixteen elements, the comparators of the current layer between them, and
//! the positions of these elements among all.

use super::View;
use super::moment::{RunningSort, element_under};
use super::network::{ComparatorMark, LayerStatus, draw_change_mark, draw_key, draw_wire};
use super::pen::{self, ROW, Scale, area, dashed, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Paint, Scene, Target};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::network::{Comparator, Layer};
use crate::text::{count, thousands};

/// Maximum number of pairs in focus: sixteen rows.
const PAIRS: usize = 8;

/// Maximum number of stripes in the bar of all elements.
const STRIPES: usize = 64;

/// The elements in focus, ascending, and their comparators in the last layer; before the first layer there
/// are none.
#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    pub elements: Vec<u32>,
    pub pairs: Vec<Comparator>,
}

impl Focus {
    /// Picks as many pairs as fit: around the hovered element or comparator, else around a comparator whose
    /// decision changed, else the first ones. Both ends of each pair are in focus.
    pub fn new(view: &View<'_>, run: &RunningSort, most: usize) -> Self {
        let (keys, asked) = (run.keys[0].len() as u32, asked(view));
        let Some(at) = run.done().checked_sub(1) else {
            let rows = 2 * most as u32;
            let first = asked.filter(|&element| element < keys).map_or(0, |element| element - element % rows);
            return Self { elements: (first..first + rows).collect(), pairs: Vec::new() };
        };
        let layer = run.layers[at];
        let changed = view.recording().changed_comparators();
        let changed = changed.and_then(|changed| changed.at(run.start + at)?.iter().next());
        let low = layer.comparator_of(asked.filter(|&element| element < keys).or(changed).unwrap_or(0)).low;
        let all: Vec<Comparator> = layer.comparators(keys).collect();
        let number = all.partition_point(|comparator| comparator.low < low);
        let first = number - number % most;
        let pairs = all[first..first + most].to_vec();
        let mut elements: Vec<u32> = pairs.iter().flat_map(|pair| [pair.low, pair.high]).collect();
        elements.sort_unstable();
        Self { elements, pairs }
    }

    /// The focus as runs of consecutive elements: first and last of each.
    pub fn runs(&self) -> Vec<[u32; 2]> {
        self.elements.chunk_by(|a, b| a + 1 == *b).map(|run| [run[0], run[run.len() - 1]]).collect()
    }

    fn words(&self) -> String {
        let runs = self.runs().into_iter().map(|[first, last]| {
            if first == last { first.to_string() } else { format!("{first} to {last}") }
        });
        let runs: Vec<String> = runs.collect();
        // Many runs are not named one by one; the first and last element suffice.
        if runs.len() > 2 {
            format!("{} to {}", self.elements[0], self.elements[self.elements.len() - 1])
        } else {
            runs.join(" and ")
        }
    }
}

fn asked(view: &View<'_>) -> Option<u32> {
    match view.hover {
        Some(Target::Comparator(low)) => Some(low),
        _ => element_under(view),
    }
}

/// Draws the rows in focus beside a bar of all elements. Returns what is drawn, in words.
pub fn draw(scene: &mut Scene, mut room: Area, view: &View<'_>, run: &RunningSort, registers: u32) -> String {
    let text = view.text;
    // Wires are strokes.
    room.take_right(2.0);
    let scale = Scale::for_recording(view.recording());
    let keys = run.keys[0].len() as u32;
    // As many rows as are legible: a power of two, so that blocks of pairs do not overlap.
    let most = [PAIRS, 4, 2, 1]
        .into_iter()
        .find(|pairs| room.height / (2 * pairs) as f32 >= text * 0.72)
        .unwrap_or(1)
        .min(keys as usize / 2);
    let focus = Focus::new(view, run, most);
    let row = room.height / focus.elements.len() as f32;
    let bar = room.take_left(text * 1.2);
    let lens = room.take_left(text * 1.6);
    let y_of = |element: u32| {
        focus.elements.binary_search(&element).map_or(0.0, |at| room.y + (at as f32 + 0.5) * row)
    };
    bar_of_all(scene, bar, &run.keys[run.done()], &scale);
    for [first, last] in focus.runs() {
        let on_bar = [first, last + 1].map(|element| bar.y + bar.height * element as f32 / keys as f32);
        let in_rows = [y_of(first) - row / 2.0, y_of(last) + row / 2.0];
        for (from, to) in on_bar.into_iter().zip(in_rows) {
            scene.path(vec![[bar.right(), from], [lens.right(), to]], line(faint(Ink::TextWeak, 0.6), 0.8));
        }
        let mark = area(bar.x, on_bar[0] - 0.5, bar.width, (on_bar[1] - on_bar[0]).max(1.5) + 1.0);
        scene.rect(mark, 0.0, None, Some(line(Ink::Text, 1.4)));
    }

    let size = (row / 1.18).min(text * 0.9);
    let name = width(Font::Mono, size, &keys.to_string()) + text * 0.5;
    // Different keys must not look equal if they are compared.
    let digits = (3..=6).find(|&digits| run.distinguishes_among(&focus.elements, digits)).unwrap_or(6);
    let done = run.done();
    let moments = [done.saturating_sub(1), done].map(|moment| &run.keys[moment]);
    let written = |&element: &u32| {
        moments.map(|keys| pen::digits(distance_of(keys[element as usize]), digits).chars().count())
    };
    let longest = focus.elements.iter().flat_map(written).max().unwrap_or(1);
    let number = width(Font::Mono, size * 0.92, &"0".repeat(longest)) + text * 0.4;
    let names = area(room.x, room.y, name, room.height);
    let wires =
        area(room.x + name + number, room.y, (room.width - name - 2.0 * number).max(text), room.height);
    let last: Option<(Layer, _)> = done.checked_sub(1).map(|at| (run.layers[at], &run.swapped[at]));
    let x_of = |index: usize, layer: Layer| {
        let beside = (layer.stride as usize).min(focus.pairs.len());
        wires.x + wires.width * (0.1 + 0.8 * ((index % beside) as f32 + 0.5) / beside as f32)
    };
    for (at, &element) in focus.elements.iter().enumerate() {
        let y = y_of(element);
        // A gap where elements are left out between two rows.
        if at > 0 && focus.elements[at - 1] + 1 != element {
            scene.path(
                vec![[names.x, y - row / 2.0], [room.right(), y - row / 2.0]],
                dashed(faint(Ink::TextWeak, 0.8), 0.8, 4.0),
            );
        }
        scene.text(
            [names.right() - text * 0.35, y],
            [1.0, 0.5],
            mono(size, Ink::TextWeak),
            element.to_string(),
        );
        let key = |done: usize| run.keys[done][element as usize];
        let Some((layer, swapped)) = last else {
            draw_key(
                scene,
                &scale,
                area(names.right(), y - row * 0.46, number, row * 0.92),
                key(0),
                (size, digits),
                false,
            );
            draw_wire(scene, &scale, [wires.x, y], [room.right(), y], key(0), row);
            scene.spot(area(lens.x, y - row / 2.0, room.right() - lens.x, row), Target::Element(element));
            continue;
        };
        let moved = swapped.contains(element & !layer.stride);
        for (moment, x) in [(done - 1, names.right()), (done, wires.right())] {
            draw_key(
                scene,
                &scale,
                area(x, y - row * 0.46, number, row * 0.92),
                key(moment),
                (size, digits),
                moved,
            );
        }
        let index = focus.pairs.iter().position(|pair| pair.low == element & !layer.stride).unwrap_or(0);
        draw_wire(scene, &scale, [wires.x, y], [x_of(index, layer), y], key(done - 1), row);
        draw_wire(scene, &scale, [x_of(index, layer), y], [wires.right(), y], key(done), row);
        // No gap to the bar, so that the focus stays when the pointer moves from the bar to the rows.
        scene.spot(area(lens.x, y - row / 2.0, room.right() - lens.x, row), Target::Element(element));
    }
    bar_spots(scene, bar, keys, focus.elements.len() as u32);
    let Some((layer, swapped)) = last else {
        return format!("The keys of elements {}, of {}.", focus.words(), thousands(keys.into()));
    };
    let asked = asked(view).map(|element| layer.comparator_of(element).low);
    let changed = view.recording().changed_comparators().and_then(|changed| changed.at(run.start + done - 1));
    for (index, pair) in focus.pairs.iter().enumerate() {
        let (x, ends) = (x_of(index, layer), [y_of(pair.low), y_of(pair.high)]);
        ComparatorMark::new(*pair, layer, registers, LayerStatus::Running, swapped.contains(pair.low), row)
            .draw(scene, x, ends);
        if changed.is_some_and(|changed| changed.contains(pair.low)) {
            draw_change_mark(scene, x, ends, row, text);
        }
        let spot = area(x - text * 0.5, ends[0] - row / 2.0, text, ends[1] - ends[0] + row);
        scene.spot(spot, Target::Comparator(pair.low));
        if asked == Some(pair.low) {
            scene.rect(spot, 3.0, None, Some(line(Ink::Text, 1.5)));
        }
    }
    format!(
        "In focus: {} of {}, elements {}; {} swapped in all.",
        focus.pairs.len(),
        count(u64::from(keys) / 2, "comparator", "comparators"),
        focus.words(),
        thousands(swapped.count().into())
    )
}

/// Draws all keys as stripes: each of the mean colour of its elements.
fn bar_of_all(scene: &mut Scene, bar: Area, keys: &[Key], scale: &Scale) {
    let long = keys.len().div_ceil(STRIPES);
    let high = bar.height / keys.len() as f32 * long as f32;
    for (at, stripe) in keys.chunks(long).enumerate() {
        let rect = area(bar.x, bar.y + at as f32 * high, bar.width, high);
        let magnitudes: Vec<f32> = stripe
            .iter()
            .filter(|&&key| key != PADDING)
            .map(|&key| scale.magnitude(distance_of(key)))
            .collect();
        if magnitudes.is_empty() {
            scene.path(
                vec![rect.center(), [rect.right(), rect.center()[1]]],
                dashed(faint(Ink::TextWeak, 0.7), 0.8, 2.0),
            );
            continue;
        }
        let mean = magnitudes.iter().sum::<f32>() / magnitudes.len() as f32;
        scene.fill(
            area(rect.x, rect.y, rect.width, (high + 0.4).min(bar.bottom() - rect.y)),
            Ink::Scale(mean),
        );
    }
    scene.rect(bar, 0.0, None, Some(line(Ink::Line, 1.0)));
}

/// Hovering the bar puts the elements there in focus.
fn bar_spots(scene: &mut Scene, bar: Area, keys: u32, rows: u32) {
    let high = bar.height * rows as f32 / keys as f32;
    for (at, first) in (0..keys).step_by(rows as usize).enumerate() {
        scene.spot(area(bar.x, bar.y + at as f32 * high, bar.width, high), Target::Element(first));
    }
}

// The layers of a sort as stairs: a column for each layer, grouped by size, as high as its stride. Each size
// is a flight of stairs from half the size down to 1, one step higher than the previous flight.

/// The layers of a sort, and how far it is.
pub struct Stairs<'a> {
    pub layers: &'a [Layer],
    /// Keys per lane, R: strides below it stay inside a lane.
    pub registers: u32,
    pub run: Option<&'a RunningSort>,
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
            let lit = (at..at + flight.len()).any(|at| LayerStatus::at(self.run, at) == LayerStatus::Running);
            let below = area(x, sizes.y, wide * flight.len() as f32, sizes.height);
            self.size(
                scene,
                below,
                area(room.x, sizes.y, room.width, sizes.height),
                flight[0].size,
                lit,
                wide,
            );
            for layer in flight {
                let steps = (layer.stride.ilog2() + 1) as f32;
                let column = area(x, room.bottom() - steps * high, wide, steps * high);
                self.step(scene, column, *layer, LayerStatus::at(self.run, at));
                if LayerStatus::at(self.run, at) == LayerStatus::Running {
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

    /// Labels the height of each step, and cuts the labels' area off `room`.
    fn strides(&self, scene: &mut Scene, room: &mut Area, rows: u32, high: f32) {
        let size = (self.text * 0.72).min(high * 1.05);
        let names = room.take_left(width(Font::Sans, self.text * 0.72, "stride 512") + self.text * 0.4);
        let every = [1, 2, 4].into_iter().find(|&every| high * every as f32 >= self.text * 0.62).unwrap_or(8);
        for row in 0..rows {
            let y = room.bottom() - (row + 1) as f32 * high;
            scene.path(vec![[room.x, y], [room.right(), y]], line(faint(Ink::Grid, 0.6), 0.7));
            // From the top, whose label includes the word.
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
            let x = flight.center()[0]
                .clamp(sizes.x + needed(&words) / 2.0, sizes.right() - needed(&words) / 2.0);
            scene.text([x, flight.center()[1] + 1.0], [0.5, 0.5], style, words);
        }
        scene.path(
            vec![[flight.x + 0.5, flight.y + 1.0], [flight.right() - 0.5, flight.y + 1.0]],
            line(style.paint, if lit { 2.0 } else { 0.8 }),
        );
    }

    fn step(&self, scene: &mut Scene, column: Area, layer: Layer, when: LayerStatus) {
        let body = column.inner((column.width * 0.08).min(1.5));
        let (fill, stroke): (Paint, Paint) = match (when, self.shuffles(layer)) {
            (LayerStatus::Running, true) => (Ink::Accent.into(), Ink::Text.into()),
            (LayerStatus::Running, false) => (faint(Ink::Accent, 0.6), Ink::Text.into()),
            (LayerStatus::Done, true) => (faint(Ink::Accent, 0.6), faint(Ink::Accent, 0.7)),
            (LayerStatus::Done, false) => (faint(Ink::Accent, 0.2), faint(Ink::Accent, 0.9)),
            (LayerStatus::Pending, true) => (faint(Ink::Field, 1.0), faint(Ink::TextWeak, 0.7)),
            (LayerStatus::Pending, false) => (faint(Ink::Field, 0.3), faint(Ink::TextWeak, 0.7)),
        };
        let thick = if when == LayerStatus::Running { 1.8 } else { 0.9 };
        let stroke = if self.shuffles(layer) { line(stroke, thick) } else { dashed(stroke, thick, 2.0) };
        scene.rect(body, 1.5, Some(fill), Some(stroke));
    }

    fn shuffles(&self, layer: Layer) -> bool {
        layer.lane_stride(self.registers).is_some()
    }

    /// Labels the current layer with where its keys go.
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

    /// The number of layers of each kind.
    fn legend(&self, scene: &mut Scene, mut room: Area) {
        let shuffles = self.layers.iter().filter(|layer| self.shuffles(**layer)).count();
        let style = sans(self.text * 0.8, Ink::TextWeak);
        let kinds = [
            (shuffles, "shuffles between lanes", "shuffle between lanes"),
            (self.layers.len() - shuffles, "inside lanes", "inside lanes"),
        ];
        for (at, (layers, one, many)) in kinds.into_iter().enumerate().filter(|(_, (layers, ..))| *layers > 0)
        {
            let words = format!(
                "{} {}",
                count(layers as u64, "layer", "layers"),
                if layers == 1 { one } else { many }
            );
            let wide = width(style.font, style.size, &words) + style.size * 2.4;
            let mut entry = room.take_left(wide);
            let mark = entry.take_left(style.size).inner(1.0);
            let mark = area(mark.x, mark.center()[1] - mark.width / 2.0, mark.width, mark.width);
            let (fill, stroke) =
                [(0.6, line(faint(Ink::Accent, 0.7), 0.9)), (0.2, dashed(faint(Ink::Accent, 0.9), 0.9, 2.0))]
                    [at];
            scene.rect(mark, 1.0, Some(faint(Ink::Accent, fill)), Some(stroke));
            entry.take_left(style.size * 0.4);
            scene.label(entry, 0.0, style, &words);
        }
    }
}
