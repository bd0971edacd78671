//! Drawing helpers of the panels: text that fits its area, strokes, cells, and the scale of distances.

use std::cell::RefCell;
use std::collections::HashMap;

use super::fonts;
use super::scene::{Area, Font, Ink, Line, Paint, Point, Scene, Shape, Spot, Target};
use crate::recording::Recording;
use crate::text::{significant, significant_to};

/// Line height relative to the font size.
pub const ROW: f32 = 1.3;

/// Minimum scale to which text shrinks before it is truncated.
const SHRINK: f32 = 0.72;

/// Type that is smaller than the least by no more than this is drawn as large as the least: there is as much air around it.
const STRETCH: f32 = 0.85;

/// Maximum number of cached text widths.
const REMEMBERED: usize = 1 << 12;

thread_local! {
    /// Widths at font size 1. Consecutive frames have nearly the same text, and shaping takes longer than drawing.
    static WIDTHS: RefCell<HashMap<(Font, String), f32>> = RefCell::default();
}

/// The width of a text in points.
pub fn width(font: Font, size: f32, text: &str) -> f32 {
    WIDTHS.with_borrow_mut(|widths| {
        let key = (font, text.to_owned());
        if let Some(one) = widths.get(&key) {
            return one * size;
        }
        if widths.len() >= REMEMBERED {
            widths.clear();
        }
        let one = fonts::width(text, font, 1.0);
        widths.insert(key, one);
        one * size
    })
}

/// Font, size and colour of a text.
#[derive(Clone, Copy)]
pub struct Style {
    /// Font size in points.
    pub size: f32,
    /// The proportional or the monospaced font.
    pub font: Font,
    /// Colour and opacity of the letters.
    pub paint: Paint,
}

/// A style in the proportional font.
pub fn sans(size: f32, ink: impl Into<Paint>) -> Style {
    Style { size, font: Font::Sans, paint: ink.into() }
}

/// A style in the monospaced font.
pub fn mono(size: f32, ink: impl Into<Paint>) -> Style {
    Style { size, font: Font::Mono, paint: ink.into() }
}

/// An ink with an opacity.
pub fn faint(ink: Ink, opacity: f32) -> Paint {
    Paint { ink, opacity }
}

/// A solid stroke of a width in points.
pub fn line(paint: impl Into<Paint>, width: f32) -> Line {
    Line { paint: paint.into(), width, dash: None }
}

/// A dashed stroke; `dash` is the length of dashes and gaps.
pub fn dashed(paint: impl Into<Paint>, width: f32, dash: f32) -> Line {
    Line { paint: paint.into(), width, dash: Some(dash) }
}

/// A rectangle from its top left corner and size.
pub fn area(x: f32, y: f32, width: f32, height: f32) -> Area {
    Area { x, y, width: width.max(0.0), height: height.max(0.0) }
}

impl Area {
    /// The x coordinate of the right edge.
    pub fn right(self) -> f32 {
        self.x + self.width
    }

    /// The y coordinate of the bottom edge.
    pub fn bottom(self) -> f32 {
        self.y + self.height
    }

    /// The rectangle inset by a margin on all sides.
    pub fn inner(self, margin: f32) -> Self {
        area(self.x + margin, self.y + margin, self.width - 2.0 * margin, self.height - 2.0 * margin)
    }

    /// Cuts a strip off the top and returns it.
    pub fn take_top(&mut self, height: f32) -> Self {
        let height = height.clamp(0.0, self.height);
        let strip = Self { height, ..*self };
        self.y += height;
        self.height -= height;
        strip
    }

    /// Cuts a strip off the bottom and returns it.
    pub fn take_bottom(&mut self, height: f32) -> Self {
        let height = height.clamp(0.0, self.height);
        self.height -= height;
        Self { y: self.bottom(), height, ..*self }
    }

    /// Cuts a strip off the left side and returns it.
    pub fn take_left(&mut self, width: f32) -> Self {
        let width = width.clamp(0.0, self.width);
        let strip = Self { width, ..*self };
        self.x += width;
        self.width -= width;
        strip
    }

    /// Cuts a strip off the right side and returns it.
    pub fn take_right(&mut self, width: f32) -> Self {
        let width = width.clamp(0.0, self.width);
        self.width -= width;
        Self { x: self.right(), width, ..*self }
    }
}

/// The font size at which a text fits a width, within limits and at least so large, and the text, truncated if necessary.
pub fn fit(text: &str, style: Style, least: f32, room: f32) -> (f32, String) {
    let full = width(style.font, style.size, text);
    if full <= room {
        return (style.size, text.to_owned());
    }
    let size = (style.size * (room / full).max(SHRINK)).max(least).min(style.size);
    if width(style.font, size, text) <= room * 1.001 {
        return (size, text.to_owned());
    }
    let mut cut: Vec<char> = text.chars().collect();
    while cut.pop().is_some() {
        let shorter: String = cut.iter().collect::<String>().trim_end().to_owned() + "\u{2026}";
        if width(style.font, size, &shorter) <= room {
            return (size, shorter);
        }
    }
    (size, String::new())
}

/// A text prepared for line breaking.
pub struct Words<'a> {
    font: Font,
    /// Words with their widths at font size 1.
    words: Vec<(&'a str, f32)>,
}

impl<'a> Words<'a> {
    /// Splits a text into measured words.
    pub fn new(text: &'a str, font: Font) -> Self {
        Self { font, words: text.split(' ').map(|word| (word, width(font, 1.0, word))).collect() }
    }

    /// The lines at a width; a line is longer only if a single word is.
    pub fn wrap(&self, size: f32, room: f32) -> Vec<String> {
        let space = width(self.font, 1.0, "n n") - width(self.font, 1.0, "nn");
        let mut lines: Vec<(String, f32)> = Vec::new();
        for (word, one) in &self.words {
            match lines.last_mut() {
                Some((last, wide)) if (*wide + space + one) * size <= room => {
                    last.push(' ');
                    last.push_str(word);
                    *wide += space + one;
                }
                _ => lines.push(((*word).to_owned(), *one)),
            }
        }
        lines.into_iter().map(|(line, _)| line).collect()
    }
}

/// Drawing primitives shared by the panels.
impl Scene {
    /// Adds a text unless it is empty, or was made so much smaller than the least type that it would not fit in that.
    pub fn text(&mut self, at: Point, anchor: [f32; 2], style: Style, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() && style.size >= self.least * STRETCH {
            let size = style.size.max(self.least);
            self.shapes.push(Shape::Text { at, anchor, size, font: style.font, paint: style.paint, text });
        }
    }

    /// Adds text, vertically centred in an area and aligned left (0), centre (0.5) or right (1), shrunk or truncated to
    /// fit. Returns its width.
    pub(crate) fn label(&mut self, room: Area, side: f32, style: Style, text: &str) -> f32 {
        let style = Style { size: style.size.min(room.height / ROW).max(self.least), ..style };
        let (size, text) = fit(text, style, self.least, room.width);
        let wide = width(style.font, size, &text);
        self.text([room.x + room.width * side, room.y + room.height / 2.0], [side, 0.5], Style { size, ..style }, text);
        wide
    }

    pub(crate) fn rect(&mut self, area: Area, round: f32, fill: Option<Paint>, line: Option<Line>) {
        self.shapes.push(Shape::Rect { area, round, fill, line });
    }

    pub(crate) fn fill(&mut self, area: Area, paint: impl Into<Paint>) {
        self.rect(area, 0.0, Some(paint.into()), None);
    }

    pub(crate) fn path(&mut self, points: Vec<Point>, line: Line) {
        self.shapes.push(Shape::Path { points, line });
    }

    pub(crate) fn dots(&mut self, centers: Vec<Point>, radius: f32, fill: Option<Paint>, line: Option<Line>) {
        if !centers.is_empty() {
            self.shapes.push(Shape::Dots { centers, radius, fill, line });
        }
    }

    /// Adds an arrowhead with its tip at a point, in a direction.
    pub(crate) fn head(&mut self, tip: Point, direction: Point, size: f32, paint: impl Into<Paint>) {
        let length = direction[0].hypot(direction[1]).max(1e-6);
        let [dx, dy] = [direction[0] / length * size, direction[1] / length * size];
        let back = [tip[0] - dx, tip[1] - dy];
        let corners = vec![tip, [back[0] - dy * 0.5, back[1] + dx * 0.5], [back[0] + dy * 0.5, back[1] - dx * 0.5]];
        self.shapes.push(Shape::Polygon { corners, fill: paint.into() });
    }

    /// Adds a tick or a cross, in a square.
    pub(crate) fn verdict(&mut self, at: Point, size: f32, holds: bool) {
        let point = |x: f32, y: f32| [at[0] + x * size, at[1] + y * size];
        let width = (size * 0.16).max(1.2);
        if holds {
            self.path(vec![point(0.1, 0.55), point(0.4, 0.85), point(0.9, 0.2)], line(Ink::Intermediate, width));
        } else {
            self.path(vec![point(0.15, 0.15), point(0.85, 0.85)], line(Ink::Error, width));
            self.path(vec![point(0.85, 0.15), point(0.15, 0.85)], line(Ink::Error, width));
        }
    }

    pub(crate) fn spot(&mut self, area: Area, target: Target) {
        self.spots.push(Spot { area, target });
    }
}

/// Points on a parabola over a span, from left to right.
pub fn arc(from: Point, to: Point, rise: f32) -> Vec<Point> {
    const PIECES: usize = 16;
    let point = |at: usize| {
        let t = at as f32 / PIECES as f32;
        let lift = 4.0 * t * (1.0 - t) * rise;
        [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t - lift]
    };
    (0..=PIECES).map(point).collect()
}

/// Maps squared distances to magnitudes, over the range of all candidates of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f32,
    high: f32,
    log: bool,
}

impl Scale {
    /// Logarithmic if most distances are small fractions of the largest.
    pub fn of(recording: &Recording) -> Self {
        const MOST: f32 = 0.2;
        const DECADES: f32 = 1e-6;
        let span = recording.span();
        let log = span.middle < span.high * MOST;
        Self { low: if log { span.low.max(span.high * DECADES) } else { 0.0 }, high: span.high, log }
    }

    /// The magnitude of a distance, between 0 and 1.
    pub fn magnitude(&self, distance: f32) -> f32 {
        let along = if self.log { (distance / self.low).ln() / (self.high / self.low).ln() } else { (distance - self.low) / (self.high - self.low) };
        if along.is_nan() { 0.0 } else { along.clamp(0.0, 1.0) }
    }

    /// Round values in the range, ascending.
    pub fn ticks(&self) -> Vec<f32> {
        if self.low >= self.high {
            return vec![self.high];
        }
        let ticks = if self.log { round_in(self.low, self.high) } else { steps_in(self.low, self.high, 4) };
        if ticks.is_empty() { vec![self.low, self.high] } else { ticks }
    }

    /// Draws a colour bar with ticks, in an area two lines of text high.
    pub fn legend(&self, scene: &mut Scene, room: Area, text: f32) {
        const PIECES: usize = 32;
        let label = if self.log { "squared distance, log" } else { "squared distance" };
        let mut room = room;
        let style = sans(text * 0.8, Ink::TextWeak);
        let wide = width(style.font, style.size, label);
        if wide + text * 8.0 < room.width {
            let rect = room.take_left(wide + text * 0.6);
            scene.label(rect, 0.0, style, label);
        }
        let bar = area(room.x + text, room.y + room.height * 0.08, room.width - 2.0 * text, room.height * 0.38);
        for piece in 0..PIECES {
            let left = bar.x + bar.width * piece as f32 / PIECES as f32;
            // Slightly wider than its share, to avoid visible seams.
            let wide = (bar.width / PIECES as f32 + 0.5).min(bar.right() - left);
            scene.fill(area(left, bar.y, wide, bar.height), Ink::Scale((piece as f32 + 0.5) / PIECES as f32));
        }
        let style = sans((text * 0.75).min(room.height * 0.42), Ink::TextWeak);
        let mut end = f32::NEG_INFINITY;
        for tick in self.ticks() {
            let (x, words) = (bar.x + bar.width * self.magnitude(tick), plain(tick));
            let wide = width(style.font, style.size, &words);
            let left = (x - wide / 2.0).clamp(room.x, (room.right() - wide).max(room.x));
            scene.path(vec![[x, bar.y], [x, bar.bottom() + 2.0]], line(faint(Ink::Text, 0.6), 1.0));
            if left > end + text * 0.4 && left + wide <= room.right() + 0.5 {
                scene.text([left, room.bottom()], [0.0, 1.0], style, words);
                end = left + wide;
            }
        }
    }
}

/// Powers of ten between two values, with their multiples by 2 and 5 if they are few.
pub fn round_in(low: f32, high: f32) -> Vec<f32> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all = |factors: &[f64]| -> Vec<f32> {
        let values = (first..=last).flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power)) as f32));
        values.filter(|value| (low..=high).contains(value)).collect()
    };
    let tens = all(&[1.0]);
    if tens.len() >= 3 { tens } else { all(&[1.0, 2.0, 5.0]) }
}

/// About this many multiples of a round step between two values.
pub fn steps_in(low: f32, high: f32, about: usize) -> Vec<f32> {
    let (low, high) = (f64::from(low), f64::from(high));
    let rough = (high - low) / about as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough * 0.99).unwrap_or(power * 10.0);
    let first = (low / step).ceil() as i64;
    (first..).map(|at| at as f64 * step).take_while(|value| *value <= high * (1.0 + 1e-9)).map(|value| value as f32).collect()
}

/// A round value without trailing zeros.
pub fn plain(value: f32) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    if value >= 1000.0 {
        return significant(value.into());
    }
    let words = format!("{value:.6}");
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A squared distance with so many digits, at least two.
pub fn digits(distance: f32, digits: usize) -> String {
    if distance.is_infinite() {
        return "\u{221e}".to_owned();
    }
    if distance == 0.0 {
        return "0".to_owned();
    }
    if digits >= 3 {
        return significant_to(distance.into(), digits);
    }
    let rounded: f64 = format!("{distance:.1e}").parse().unwrap_or(f64::from(distance));
    let magnitude = rounded.abs().log10().floor() as i32;
    if (-4..2).contains(&magnitude) {
        format!("{rounded:.*}", (1 - magnitude) as usize)
    } else if (2..5).contains(&magnitude) {
        format!("{rounded:.0}")
    } else {
        format!("{distance:.0e}")
    }
}
