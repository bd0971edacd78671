//! The panel of the two lists of a merge as curves: elements run to the right, keys upwards.
//!
//! The candidates rise; the intermediate result, mirrored, falls. If both are sorted they cross at most once,
//! and the minimum rises to the crossing and falls after it: a tent. The dropped, larger keys are pale above
//! it.

use super::View;
use super::merge_inputs::{Dot, KeyLocation, KeySource, MergeInputs, Phase, is_falling, is_rising};
use super::pen::{ROW, Scale, area, dashed, digits, faint, line, mono, plain, sans, width};
use super::scene::{Area, Font, Ink, Point, Scene, Target, TrackId, TrackKey, Transition};
use crate::engines::lockstep::distance_of;
use crate::state::{Shape, Shape as Sizes};
use crate::text::{count, thousands};

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (text, shape) = (view.text, view.state().shape);
    let heading = room.take_top(text * 1.6);
    let Some(meeting) = MergeInputs::at(view.cursor, view.asking) else {
        scene.label(heading, 0.0, sans(text, Ink::Text), "Curves: only for the merges of the kernel");
        return scene;
    };
    scene.label(heading, 0.0, sans(text, Ink::Text), &title(&meeting, shape));
    legend(&mut scene, room.take_top(text * ROW), &meeting, shape, text);
    let note = room.take_bottom(text * ROW * 1.1);
    let plot = PlotLayout::new(room, shape, Scale::for_recording(view.recording()), text);
    plot.axes(&mut scene, &meeting);
    plot.blocks(&mut scene, &meeting);
    plot.lists(&mut scene, &meeting);
    plot.crossing(&mut scene, &meeting);
    if meeting.phase == Phase::Merged {
        plot.bound(&mut scene, view.state().max_distance, shape.k - 1);
    }
    let pointed = plot.spots(&mut scene, &meeting, view.hover);
    let words = pointed.map_or_else(|| says(&meeting), |element| about(&meeting, element));
    scene.label(note, 0.0, sans(text * 0.95, Ink::Text), &words);
    scene
}

/// The colour of a list.
pub fn ink(side: KeySource) -> Ink {
    match side {
        KeySource::Buffer => Ink::Buffer,
        KeySource::Result => Ink::Intermediate,
    }
}

/// A dot and a name for each kind of curve that is drawn.
fn legend(scene: &mut Scene, mut room: Area, meeting: &MergeInputs, shape: Sizes, text: f32) {
    let rising = |side, words: &str| (ink(side), words.to_owned(), 1.0);
    // A fault can leave either list out of order.
    let if_so = |is: bool, so: &'static str, otherwise| if is { so } else { otherwise };
    let entries = match &meeting.phase {
        Phase::Apart { sorted } => {
            let buffer = match sorted {
                Some(true) => Some("candidates, sorted"),
                Some(false) => Some("candidates"),
                None => None,
            };
            buffer
                .map(|words| rising(KeySource::Buffer, words))
                .into_iter()
                .chain([rising(
                    KeySource::Result,
                    if_so(is_rising(&meeting.result), "intermediate result, sorted", "intermediate result"),
                )])
                .collect()
        }
        Phase::Facing => vec![
            rising(KeySource::Buffer, if_so(is_rising(&meeting.buffer), "candidates, rising", "candidates")),
            rising(
                KeySource::Result,
                if_so(meeting.is_mirrored(shape), "intermediate result, mirrored", "intermediate result"),
            ),
        ],
        Phase::Kept => {
            vec![
                rising(KeySource::Buffer, "candidates"),
                rising(KeySource::Result, "intermediate result"),
                (Ink::TextWeak, "larger, dropped".to_owned(), PALE),
            ]
        }
        Phase::Resorting { swapped, .. } => vec![
            rising(KeySource::Buffer, "candidates"),
            rising(KeySource::Result, "intermediate result"),
            (Ink::Accent, count(swapped.count().into(), "pair swapped", "pairs swapped"), 1.0),
        ],
        Phase::Merged => vec![rising(KeySource::Result, "intermediate result")],
    };
    let size = text * 0.85;
    for (ink, words, opacity) in entries {
        let wide = width(Font::Sans, size, &words) + size * 2.0;
        if wide > room.width {
            return;
        }
        let mut entry = room.take_left(wide);
        let mark = entry.take_left(size);
        scene.dots(vec![mark.center()], size * 0.36, Some(faint(ink, opacity)), None);
        entry.take_left(size * 0.2);
        scene.label(entry, 0.0, sans(size, Ink::TextWeak), &words);
    }
}

/// Opacity of dropped keys.
const PALE: f32 = 0.45;

/// Where elements and keys are in the panel.
struct PlotLayout {
    /// From the smallest key to ∞.
    area: Area,
    /// Top of the finite keys.
    top: f32,
    /// Width of an element.
    step: f32,
    sizes: Sizes,
    scale: Scale,
    text: f32,
}

impl PlotLayout {
    fn new(mut room: Area, sizes: Sizes, scale: Scale, text: f32) -> Self {
        // Numbers of the intermediate result's elements above, of the candidates below.
        room.take_top(text * 1.1);
        room.take_bottom(text * 1.2);
        let ticks = scale
            .ticks()
            .into_iter()
            .map(|tick| width(Font::Sans, text * TICK, &plain(tick)))
            .fold(0.0, f32::max);
        room.take_left((ticks + text * 0.5).min(room.width * 0.3));
        room.take_right(text * 0.3);
        let top = room.y + (text * 1.2).min(room.height * 0.2);
        Self { step: room.width / sizes.capacity() as f32, area: room, top, sizes, scale, text }
    }

    fn x(&self, element: u32) -> f32 {
        self.area.x + (element as f32 + 0.5) * self.step
    }

    fn y(&self, distance: f32) -> f32 {
        if distance.is_infinite() {
            return self.area.y + self.text * 0.4;
        }
        let bottom = self.area.bottom() - self.radius();
        bottom - self.scale.magnitude(distance) * (bottom - self.top)
    }

    fn point(&self, dot: &Dot) -> Point {
        [self.x(dot.element), self.y(distance_of(dot.key))]
    }

    fn radius(&self) -> f32 {
        (self.step * 0.3).clamp(0.8, self.text * 0.36)
    }

    fn axes(&self, scene: &mut Scene, meeting: &MergeInputs) {
        let (room, text) = (self.area, self.text);
        scene.rect(area(room.x, room.y, room.width, room.height), 0.0, Some(faint(Ink::Canvas, 0.6)), None);
        for tick in self.scale.ticks() {
            let y = self.y(tick);
            scene.path(vec![[room.x, y], [room.right(), y]], line(faint(Ink::Grid, 0.7), 0.8));
            scene.text([room.x - text * 0.3, y], [1.0, 0.5], sans(text * TICK, Ink::TextWeak), plain(tick));
        }
        if meeting.dots().any(Dot::is_padding) {
            let y = self.y(f32::INFINITY);
            scene.text([room.x - text * 0.3, y], [1.0, 0.5], mono(text, Ink::TextWeak), "\u{221e}");
        }
        let mirrored = meeting.is_mirrored(self.sizes);
        let every = [1, 2, 4, 8, 16, 32, 64, 128, 256]
            .into_iter()
            .find(|&every| self.step * every as f32 >= text * 1.9)
            .unwrap_or(512);
        let numbers = mono(text * TICK, if meeting.buffer.is_empty() { Ink::TextWeak } else { Ink::Buffer });
        for element in (0..self.sizes.capacity()).step_by(every) {
            let x = self.x(element);
            scene.text([x, room.bottom() + text * 0.6], [0.5, 0.5], numbers, element.to_string());
            if mirrored {
                let other = self.sizes.capacity() - 1 - element;
                scene.text(
                    [x, room.y - text * 0.55],
                    [0.5, 0.5],
                    mono(text * TICK, Ink::Intermediate),
                    other.to_string(),
                );
            }
        }
    }

    /// Shades every second block; the next layers sort each block separately.
    fn blocks(&self, scene: &mut Scene, meeting: &MergeInputs) {
        let Phase::Resorting { layer, .. } = &meeting.phase else { return };
        for first in (0..self.sizes.capacity()).step_by(2 * layer.stride as usize) {
            let wide = layer.stride as f32 * self.step;
            scene.fill(
                area(self.area.x + first as f32 * self.step, self.area.y, wide, self.area.height),
                faint(Ink::Accent, 0.1),
            );
        }
    }

    fn lists(&self, scene: &mut Scene, meeting: &MergeInputs) {
        for side in [KeySource::Result, KeySource::Buffer] {
            let lost: Vec<&Dot> = meeting.lost.iter().filter(|dot| dot.side == side).collect();
            self.curve(scene, &lost, ink(side), PALE);
        }
        let keeps_order = !matches!(meeting.phase, Phase::Apart { sorted: Some(false) });
        // In key order, mirrored or not, so that the line follows its keys when they are mirrored; an
        // unsorted list goes from left to right.
        let mut result: Vec<&Dot> = meeting.result.iter().collect();
        if is_rising(&meeting.result) || is_falling(&meeting.result) {
            result.sort_by_key(|dot| dot.key);
        }
        scene.track(TrackKey::new(TrackId::Curve(0)), self.area, Transition::Morph, |scene| {
            self.line(scene, &result, Ink::Intermediate, 1.0)
        });
        self.dots(scene, &result, 1.0);
        self.curve(
            scene,
            &meeting.buffer.iter().collect::<Vec<_>>(),
            Ink::Buffer,
            if keeps_order { 1.0 } else { 0.5 },
        );
        self.bars(scene, &meeting.kept);
        match &meeting.phase {
            Phase::Resorting { layer, swapped, .. } => {
                // Lines from the old places of swapped keys; with many keys, they would hide everything.
                let moved = |dot: &&Dot| self.step >= MOVES && swapped.contains(dot.element & !layer.stride);
                for dot in meeting.kept.iter().filter(moved) {
                    let [x, y] = self.point(dot);
                    scene.path(
                        vec![[self.x(dot.element ^ layer.stride), y], [x, y]],
                        line(faint(Ink::Accent, 0.55), (self.text * 0.08).max(1.0)),
                    );
                }
                let kept: Vec<&Dot> = meeting.kept.iter().collect();
                kept.chunks(layer.stride as usize).for_each(|block| self.line(scene, block, Ink::Text, 0.6));
                self.dots(scene, &kept, 1.0);
            }
            _ => {
                for half in meeting.kept.chunk_by(|a, b| a.side == b.side) {
                    self.curve(scene, &half.iter().collect::<Vec<_>>(), ink(half[0].side), 1.0);
                }
            }
        }
    }

    /// A line through dots, dashed where it leads to ∞, and the dots.
    fn curve(&self, scene: &mut Scene, dots: &[&Dot], ink: Ink, opacity: f32) {
        self.line(scene, dots, ink, opacity);
        self.dots(scene, dots, opacity);
    }

    fn line(&self, scene: &mut Scene, dots: &[&Dot], ink: Ink, opacity: f32) {
        let thick = (self.text * 0.16).max(1.4) * if opacity < 1.0 { 0.7 } else { 1.0 };
        for run in dots.chunk_by(|a, b| a.is_padding() == b.is_padding()) {
            let points: Vec<Point> = run.iter().map(|dot| self.point(dot)).collect();
            if points.len() > 1 {
                let stroke = if run[0].is_padding() {
                    dashed(faint(Ink::TextWeak, opacity * 0.8), thick * 0.7, 4.0)
                } else {
                    line(faint(ink, opacity), thick)
                };
                scene.path(points, stroke);
            }
        }
        for pair in dots.windows(2).filter(|pair| pair[0].is_padding() != pair[1].is_padding()) {
            scene.path(
                vec![self.point(pair[0]), self.point(pair[1])],
                dashed(faint(ink, opacity * 0.6), thick * 0.7, 4.0),
            );
        }
    }

    fn dots(&self, scene: &mut Scene, dots: &[&Dot], opacity: f32) {
        // Closer dots merge into a line anyway.
        if self.step < 2.5 {
            return;
        }
        let (radius, rim) = (self.radius(), line(faint(Ink::Panel, 0.9), 0.8));
        for side in [KeySource::Result, KeySource::Buffer] {
            for dot in dots.iter().filter(|dot| dot.side == side && !dot.is_padding()) {
                let [x, y] = self.point(dot);
                let place = area(x - radius, y - radius, 2.0 * radius, 2.0 * radius);
                // Keys move horizontally: their height is their value.
                let id = TrackKey::new(TrackId::Key(dot.key));
                scene.track(id, place, Transition::Path(Vec::new()), |scene| {
                    scene.dots(vec![[x, y]], radius, Some(faint(ink(side), opacity)), Some(rim));
                });
            }
        }
        let padding = dots.iter().filter(|dot| dot.is_padding()).map(|dot| self.point(dot)).collect();
        scene.dots(
            padding,
            self.radius() * 0.8,
            Some(Ink::Panel.into()),
            Some(line(faint(Ink::TextWeak, opacity), 1.0)),
        );
    }

    /// Bars from the axis up, so that the kept keys are seen as one shape.
    fn bars(&self, scene: &mut Scene, kept: &[Dot]) {
        let wide = if self.step < 6.0 { self.step } else { self.step * 0.72 };
        for dot in kept.iter().filter(|dot| !dot.is_padding()) {
            let [x, y] = self.point(dot);
            let bar = area(x - wide / 2.0, y, wide, self.area.bottom() - y);
            let id = TrackKey { id: TrackId::Key(dot.key), instance: BAR };
            scene.track(id, bar, Transition::Path(Vec::new()), |scene| {
                scene.fill(bar, faint(ink(dot.side), 0.3))
            });
        }
    }

    /// The place where the lists cross.
    fn crossing(&self, scene: &mut Scene, meeting: &MergeInputs) {
        let [at] = meeting.crossings[..] else { return };
        let x = self.area.x + at as f32 * self.step;
        if !matches!(meeting.phase, Phase::Facing | Phase::Kept) {
            return;
        }
        let text = self.text;
        scene.path(
            vec![[x, self.area.y], [x, self.area.bottom()]],
            dashed(Ink::Text, (text * 0.1).max(1.2), text * 0.35),
        );
        let words = "crossing";
        let wide = width(Font::Sans, text * 0.9, words);
        // On the side with room.
        let left = if x + wide + text > self.area.right() { x - wide - text * 0.4 } else { x + text * 0.4 };
        let tag = area(left - text * 0.2, self.area.bottom() - text * 1.4, wide + text * 0.4, text * 1.2);
        scene.rect(tag, 2.0, Some(faint(Ink::Panel, 0.85)), None);
        scene.label(tag.inner(text * 0.1), 0.5, sans(text * 0.9, Ink::Text), words);
    }

    /// The new bound: the key of the k-th element.
    fn bound(&self, scene: &mut Scene, distance: f32, element: u32) {
        if distance.is_infinite() {
            return;
        }
        let (y, text) = (self.y(distance), self.text);
        scene.path(
            vec![[self.area.x, y], [self.x(element), y]],
            dashed(Ink::Accent, (text * 0.1).max(1.2), text * 0.35),
        );
        let room = area(
            self.area.x + text * 0.4,
            y - text * 1.35,
            self.x(element) - self.area.x - text * 1.2,
            text * 1.2,
        );
        scene.label(
            room,
            0.0,
            sans(text * 0.9, Ink::Accent),
            &format!("max_distance {}", digits(distance, 3)),
        );
    }

    /// Adds the spots; frames the hovered one and returns its element.
    fn spots(&self, scene: &mut Scene, meeting: &MergeInputs, hover: Option<Target>) -> Option<u32> {
        let half = (self.step * 0.5).clamp(1.0, self.text * 0.8);
        let mut pointed = None;
        for dot in meeting.dots() {
            let [x, y] = self.point(dot);
            if let Some(target) = dot.target() {
                scene.spot(area(x - half, y - half, 2.0 * half, 2.0 * half), target);
            }
            if hover.is_some_and(|hover| dot.is_under(hover)) {
                pointed = Some(dot.element);
                scene.dots(vec![[x, y]], self.radius() * 1.5, None, Some(line(Ink::Text, 1.8)));
            }
        }
        pointed
    }
}

/// The bar of a key, tracked separately from its dot.
const BAR: usize = 1;

/// Minimum width of an element, in points, at which lines from old places are drawn.
const MOVES: f32 = 6.0;

/// Size of numbers at the axes, relative to running text.
const TICK: f32 = 0.75;

impl Dot {
    fn target(&self) -> Option<Target> {
        match self.place {
            KeyLocation::Element(element) => Some(Target::Element(element)),
            KeyLocation::Slot(slot) => Some(Target::Slot(slot)),
            KeyLocation::Gone(point) => (point != u32::MAX).then_some(Target::Point(point)),
        }
    }

    fn is_under(&self, hover: Target) -> bool {
        let point = crate::engines::lockstep::index_of(self.key);
        self.target() == Some(hover) || (!self.is_padding() && hover == Target::Point(point))
    }
}

// The texts of the curves.

/// The heading of a moment of a merge.
pub fn title(meeting: &MergeInputs, shape: Shape) -> String {
    let keys = thousands(shape.capacity().into());
    match &meeting.phase {
        Phase::Apart { sorted: None } => {
            format!("The intermediate result, {keys} keys, before the next merge")
        }
        Phase::Apart { .. } => format!("Candidates and intermediate result: two lists of {keys} keys"),
        Phase::Facing if !meeting.is_mirrored(shape) => {
            "Candidate i against element i of the intermediate result".to_owned()
        }
        Phase::Facing => format!(
            "Candidate i against element {} \u{2212} i of the intermediate result",
            thousands((shape.capacity() - 1).into())
        ),
        Phase::Kept if is_tent(meeting) => "The minimum: a tent".to_owned(),
        Phase::Kept => "The minimum: not a tent".to_owned(),
        Phase::Resorting { done, all, layer, .. } => {
            format!("Re-sort: layer {done} of {all}, stride {}", thousands(layer.stride.into()))
        }
        Phase::Merged if is_rising(&meeting.result) => "The merge is done: one rising list".to_owned(),
        Phase::Merged => "The merge is done: the intermediate result is not in order".to_owned(),
    }
}

/// One sentence about the picture; it is also true of faulty searches.
pub fn says(meeting: &MergeInputs) -> String {
    let both = |of: &[Dot]| !of.is_empty() && of.iter().all(Dot::is_padding);
    match &meeting.phase {
        Phase::Apart { .. } if both(&meeting.result) => {
            "There is no intermediate result yet: its keys are all \u{221e}.".to_owned()
        }
        Phase::Apart { sorted } => match (is_rising(&meeting.result), sorted) {
            (true, None) => RISES.to_owned(),
            (true, Some(true)) => "Both lists rise.".to_owned(),
            (true, Some(false)) => {
                "The intermediate result rises; the candidates are not in order yet.".to_owned()
            }
            (false, Some(true)) => "The candidates rise. The intermediate result is not in order.".to_owned(),
            (false, _) => "The intermediate result is not in order.".to_owned(),
        },
        Phase::Merged if is_rising(&meeting.result) => RISES.to_owned(),
        Phase::Merged => {
            "The intermediate result is not in order: a smaller key is right of a larger one.".to_owned()
        }
        Phase::Facing => match meeting.crossings[..] {
            [] if are_below(&meeting.buffer, &meeting.result) => {
                "They do not cross: no key of the intermediate result is smaller than any candidate."
                    .to_owned()
            }
            [] if are_below(&meeting.result, &meeting.buffer) => {
                "They do not cross: all keys of the intermediate result are smaller.".to_owned()
            }
            [] => "They do not cross, though both have some of the smallest keys.".to_owned(),
            [at] if is_rising(&meeting.buffer) && is_falling(&meeting.result) => {
                format!("One rises, the other falls: they cross once, between elements {} and {at}.", at - 1)
            }
            [at] => format!(
                "They cross between elements {} and {at}: not one rising and one falling list.",
                at - 1
            ),
            _ => {
                format!("They cross {} times: not one rising and one falling list.", meeting.crossings.len())
            }
        },
        Phase::Kept => match (is_tent(meeting), &meeting.crossings[..]) {
            (true, [at]) => format!(
                "It rises up to element {}, then falls: it is bitonic. Pale: the larger keys, dropped.",
                at - 1
            ),
            (true, _) if meeting.kept.iter().all(|dot| dot.side == KeySource::Buffer) => {
                "All candidates stay: they rise. Pale: the intermediate result, dropped.".to_owned()
            }
            (true, _) => "All of the intermediate result stays: mirrored, it falls. Pale: the candidates, \
                          dropped."
                .to_owned(),
            (false, _) => "Not a tent: it does not rise to one crossing and fall after it.".to_owned(),
        },
        Phase::Resorting { layer, .. } if !meeting.blocks_are_in_order(layer.stride as usize) => {
            format!("Blocks of {} are not bitonic, or not in order.", thousands(layer.stride.into()))
        }
        Phase::Resorting { layer, .. } if layer.stride == 1 => {
            "Every key is in its place: one rising line.".to_owned()
        }
        Phase::Resorting { layer, .. } => {
            format!(
                "Every block of {} is bitonic, and no key in it is larger than any in the next.",
                thousands(layer.stride.into())
            )
        }
    }
}

const RISES: &str = "The intermediate result rises: its smallest key is on the left.";

/// Whether the kept keys rise on the left, from the candidates, and fall on the right, from the intermediate
/// result.
fn is_tent(meeting: &MergeInputs) -> bool {
    let (left, right) =
        meeting.kept.split_at(meeting.kept.iter().take_while(|dot| dot.side == KeySource::Buffer).count());
    right.iter().all(|dot| dot.side == KeySource::Result) && is_rising(left) && is_falling(right)
}

/// Whether each key of a list is at most as large as each key of the other.
fn are_below(list: &[Dot], other: &[Dot]) -> bool {
    list.iter().map(|dot| dot.key).max() <= other.iter().map(|dot| dot.key).min()
}

/// The keys at an element, in words.
pub fn about(meeting: &MergeInputs, element: u32) -> String {
    let at = |dots: &[Dot]| {
        dots.iter().find(|dot| dot.element == element).map(|dot| (digits(distance_of(dot.key), 3), dot.side))
    };
    let name = |side| if side == KeySource::Buffer { "buffer" } else { "result" };
    match (at(&meeting.kept), at(&meeting.lost), at(&meeting.buffer), at(&meeting.result)) {
        (Some((kept, side)), Some((lost, _)), ..) => {
            format!("Element {element}: {kept}, of the {}, is kept; {lost} is dropped.", name(side))
        }
        (Some((kept, side)), ..) => {
            format!("Element {element}: {kept}, which comes from the {}.", name(side))
        }
        (_, _, Some((own, _)), Some((other, _))) => {
            format!("Element {element}: buffer {own}, result {other}.")
        }
        (_, _, own, other) => own.or(other).map_or_else(String::new, |(key, side)| {
            format!("Element {element} of the {}: {key}.", name(side))
        }),
    }
}
