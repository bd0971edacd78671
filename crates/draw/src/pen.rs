//! Helpers to draw with: text that fits its area, strokes, rectangles.

use super::drawing::{Area, Drawing, Font, Ink, Paint, Point, Shape, StrokeStyle};
pub use super::fonts::width;

/// Line height relative to the font size.
pub const ROW: f32 = 1.3;

/// Minimum scale to which text shrinks before it is truncated.
const MIN_SCALE: f32 = 0.72;

/// Type down to this fraction of the minimum is drawn at the minimum size: the space around it suffices.
const ENLARGED_FROM: f32 = 0.85;

/// Font, size and colour of a text.
#[derive(Clone, Copy)]
pub struct TextStyle {
    /// Font size in points.
    pub size: f32,
    /// The proportional or the monospaced font.
    pub font: Font,
    /// Colour and opacity of the letters.
    pub paint: Paint,
}

/// A style in the proportional font.
pub fn sans(size: f32, ink: impl Into<Paint>) -> TextStyle {
    TextStyle { size, font: Font::Sans, paint: ink.into() }
}

/// A style in the monospaced font.
pub fn mono(size: f32, ink: impl Into<Paint>) -> TextStyle {
    TextStyle { size, font: Font::Mono, paint: ink.into() }
}

/// An ink with an opacity.
pub fn faint(ink: Ink, opacity: f32) -> Paint {
    Paint { ink, opacity }
}

/// A solid stroke of a width in points.
pub fn line(paint: impl Into<Paint>, width: f32) -> StrokeStyle {
    StrokeStyle { paint: paint.into(), width, dash: None }
}

/// A dashed stroke; `dash` is the length of dashes and gaps.
pub fn dashed(paint: impl Into<Paint>, width: f32, dash: f32) -> StrokeStyle {
    StrokeStyle { paint: paint.into(), width, dash: Some(dash) }
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

/// The font size at which a text fits a width, within limits, and the text, truncated if necessary.
pub fn fit(text: &str, style: TextStyle, min_size: f32, room: f32) -> (f32, String) {
    let full = width(style.font, style.size, text);
    if full <= room {
        return (style.size, text.to_owned());
    }
    let size = (style.size * (room / full).max(MIN_SCALE)).max(min_size).min(style.size);
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
pub struct MeasuredText<'a> {
    font: Font,
    /// Words with their widths at font size 1.
    words: Vec<(&'a str, f32)>,
}

impl<'a> MeasuredText<'a> {
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

/// Adds shapes.
impl Drawing {
    /// Adds a text, unless it is empty or would not fit at the minimum type size.
    pub fn text(&mut self, at: Point, anchor: [f32; 2], style: TextStyle, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() && style.size >= self.min_type * ENLARGED_FROM {
            let size = style.size.max(self.min_type);
            let paint = style.paint.for_text();
            self.shapes.push(Shape::Text { at, anchor, size, font: style.font, paint, text });
        }
    }

    /// Adds text, vertically centred in an area and aligned left (0), centre (0.5) or right (1), shrunk or
    /// truncated to fit. Returns its width.
    pub fn label(&mut self, room: Area, side: f32, style: TextStyle, text: &str) -> f32 {
        let style = TextStyle { size: style.size.min(room.height / ROW).max(self.min_type), ..style };
        let (size, text) = fit(text, style, self.min_type, room.width);
        let wide = width(style.font, size, &text);
        self.text(
            [room.x + room.width * side, room.y + room.height / 2.0],
            [side, 0.5],
            TextStyle { size, ..style },
            text,
        );
        wide
    }

    pub fn rect(&mut self, area: Area, round: f32, fill: Option<Paint>, line: Option<StrokeStyle>) {
        self.shapes.push(Shape::Rect { area, round, fill, line });
    }

    pub fn fill(&mut self, area: Area, paint: impl Into<Paint>) {
        self.rect(area, 0.0, Some(paint.into()), None);
    }

    pub fn path(&mut self, points: Vec<Point>, line: StrokeStyle) {
        self.shapes.push(Shape::Path { points, line });
    }

    pub fn dots(&mut self, centers: Vec<Point>, radius: f32, fill: Option<Paint>, line: Option<StrokeStyle>) {
        if !centers.is_empty() {
            self.shapes.push(Shape::Dots { centers, radius, fill, line });
        }
    }

    /// Adds an arrowhead with its tip at a point, in a direction.
    pub fn arrowhead(&mut self, tip: Point, direction: Point, size: f32, paint: impl Into<Paint>) {
        let length = direction[0].hypot(direction[1]).max(1e-6);
        let [dx, dy] = [direction[0] / length * size, direction[1] / length * size];
        let back = [tip[0] - dx, tip[1] - dy];
        let corners =
            vec![tip, [back[0] - dy * 0.5, back[1] + dx * 0.5], [back[0] + dy * 0.5, back[1] - dx * 0.5]];
        self.shapes.push(Shape::Polygon { corners, fill: paint.into() });
    }

    /// Adds a tick or a cross, in a square.
    pub fn tick_or_cross(&mut self, at: Point, size: f32, holds: bool) {
        let point = |x: f32, y: f32| [at[0] + x * size, at[1] + y * size];
        let width = (size * 0.16).max(1.2);
        if holds {
            self.path(
                vec![point(0.1, 0.55), point(0.4, 0.85), point(0.9, 0.2)],
                line(Ink::Intermediate, width),
            );
        } else {
            self.path(vec![point(0.15, 0.15), point(0.85, 0.85)], line(Ink::Error, width));
            self.path(vec![point(0.85, 0.15), point(0.15, 0.85)], line(Ink::Error, width));
        }
    }
}

/// Points on a parabola over a span, from left to right.
pub fn arc(from: Point, to: Point, rise: f32) -> Vec<Point> {
    const SEGMENTS: usize = 16;
    let point = |at: usize| {
        let t = at as f32 / SEGMENTS as f32;
        let lift = 4.0 * t * (1.0 - t) * rise;
        [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t - lift]
    };
    (0..=SEGMENTS).map(point).collect()
}

// Round numbers along an axis.

/// The smallest number of at least `least` that is 1, 2 or 5 times a power of ten.
pub fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= least)
        .unwrap_or(10.0 * power)
}

/// At most `most` ticks from `min` to `max`, 1, 2 or 5 times a power of ten apart, and the decimals that
/// their labels need.
pub fn linear_ticks(min: f64, max: f64, most: usize) -> (Vec<f64>, usize) {
    let extent = max - min;
    if !extent.is_finite() || extent <= 0.0 || most == 0 {
        return (Vec::new(), 0);
    }
    let step = round_step(extent / most as f64);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((min / step).ceil(), (max / step).floor());
    // Too far from 0 for the step: adjacent ticks would be the same number.
    if last - first > 10_000.0 || first + 1.0 == first {
        return (Vec::new(), 0);
    }
    ((first as i64..=last as i64).map(|at| at as f64 * step).collect(), decimals)
}

/// At most `most` ticks between two positive ends of a logarithmic axis: 1, 2 and 5 times powers of ten, or
/// coarser.
pub fn log_ticks(min: f64, max: f64, most: usize) -> Vec<f64> {
    if !(min > 0.0 && max > min && max.is_finite()) || most == 0 {
        return Vec::new();
    }
    let (first, last) = (min.log10().floor() as i32, max.log10().ceil() as i32);
    let ticks = |factors: &[f64], every: usize| -> Vec<f64> {
        let decades = (first..=last).step_by(every);
        decades
            .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)))
            .filter(|value| (min..=max).contains(value))
            .collect()
    };
    let finest_first = [
        ticks(&[1.0, 2.0, 5.0], 1),
        ticks(&[1.0, 3.0], 1),
        ticks(&[1.0], 1),
        ticks(&[1.0], 2),
        ticks(&[1.0], 5),
    ];
    finest_first.into_iter().find(|ticks| ticks.len() <= most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_in_range() {
        assert_eq!(linear_ticks(-1.2, 1.2, 5), (vec![-1.0, -0.5, 0.0, 0.5, 1.0], 1));
        assert_eq!(linear_ticks(515_368.0, 515_401.0, 4).0, vec![515_370.0, 515_380.0, 515_390.0, 515_400.0]);
        assert_eq!(linear_ticks(0.0, 0.0, 5).0, Vec::<f64>::new());
        assert!(linear_ticks(f64::NAN, 1.0, 5).0.is_empty());
    }

    #[test]
    fn log_ticks_are_round() {
        let near = |ticks: Vec<f64>, expected: &[f64]| {
            assert_eq!(ticks.len(), expected.len(), "{ticks:?}");
            assert!(ticks.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{ticks:?}");
        };
        near(log_ticks(0.9, 60.0, 6), &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        near(log_ticks(0.9, 60.0, 3), &[1.0, 10.0]);
        near(log_ticks(1e-6, 1e6, 8), &[1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6]);
        near(log_ticks(-1.0, 10.0, 5), &[]);
    }
}
