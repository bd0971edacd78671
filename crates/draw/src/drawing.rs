//! A picture as data: shapes whose colours are named by meaning. The window paints them; files are written
//! from them.
//!
//! Lengths are in points, y points down, later shapes are drawn on top.

use crate::palette::{Palette, Rgb, VIRIDIS, on_ramp};

/// A point of the picture: x to the right, y downwards.
pub type Point = [f32; 2];

/// An axis-aligned rectangle, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge, from the left of the picture.
    pub x: f32,
    /// Top edge, from the top of the picture.
    pub y: f32,
    /// Extent to the right, in points.
    pub width: f32,
    /// Extent downwards, in points.
    pub height: f32,
}

/// The shapes of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width and height of the picture, in points.
    pub size: [f32; 2],
    /// The smallest type that is drawn, in points.
    pub min_type: f32,
    /// Shapes from back to front.
    pub shapes: Vec<Shape>,
}

/// A drawing primitive, in points.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A rectangle with rounded corners.
    Rect {
        /// Position and size, in points.
        area: Area,
        /// Corner radius in points.
        round: f32,
        /// Fill, if it is not an outline.
        fill: Option<Paint>,
        /// Outline, centred on the edge.
        line: Option<StrokeStyle>,
    },
    /// Circles of equal size and colour.
    Dots {
        /// Centres of the circles.
        centers: Vec<Point>,
        /// Radius of each, in points.
        radius: f32,
        /// Fill, if they are not outlines.
        fill: Option<Paint>,
        /// Outline of each circle.
        line: Option<StrokeStyle>,
    },
    /// A polyline, drawn as a stroke.
    Path {
        /// Vertices in drawing order.
        points: Vec<Point>,
        /// Stroke of the line.
        line: StrokeStyle,
    },
    /// A filled convex polygon, such as an arrowhead.
    Polygon {
        /// Vertices in order around it.
        corners: Vec<Point>,
        /// Fill of the polygon.
        fill: Paint,
    },
    /// A line of text.
    Text {
        /// Position of the anchor in the picture.
        at: Point,
        /// The anchor relative to the text: 0, 0 is left and top, 1, 1 right and bottom.
        anchor: [f32; 2],
        /// Font size in points.
        size: f32,
        /// The proportional or the monospaced font.
        font: Font,
        /// Colour and opacity of the letters.
        paint: Paint,
        /// The characters, on one line.
        text: String,
    },
    /// Clips the following shapes to an area; `None` ends clipping.
    Clip(Option<Area>),
}

/// The fonts embedded in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Font {
    /// Proportional: sentences and labels.
    Sans,
    /// Monospaced: code and numbers in columns.
    Mono,
}

/// A colour and its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// Colour by meaning; see [`Ink`].
    pub ink: Ink,
    /// From 0, invisible, to 1, opaque.
    pub opacity: f32,
}

impl Paint {
    /// The paint of text in this colour, legible in every theme; faint text is secondary text.
    pub fn for_text(self) -> Self {
        Self::from(match self.ink {
            Ink::Text | Ink::TextWeak | Ink::Accent if self.opacity < 1.0 => Ink::TextWeak,
            Ink::Accent => Ink::AccentText,
            Ink::Query => Ink::QueryText,
            Ink::Candidate => Ink::CandidateText,
            Ink::Intermediate => Ink::IntermediateText,
            Ink::Buffer => Ink::BufferText,
            _ => return self,
        })
    }
}

impl From<Ink> for Paint {
    fn from(ink: Ink) -> Self {
        Self { ink, opacity: 1.0 }
    }
}

/// The style of a stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrokeStyle {
    /// Colour and opacity of the stroke.
    pub paint: Paint,
    /// Width of the stroke, in points.
    pub width: f32,
    /// Length of dashes and of the gaps between them; `None` for solid.
    pub dash: Option<f32>,
}

/// Colours by meaning; the palette maps them to RGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ink {
    Panel,
    Canvas,
    Field,
    Text,
    TextWeak,
    Line,
    Grid,
    Accent,
    OnAccent,
    /// Text on [`Self::Candidate`] and [`Self::Intermediate`]: dark in every theme.
    OnCandidate,
    /// Text in the colour of a concept, in a legible shade.
    AccentText,
    QueryText,
    CandidateText,
    IntermediateText,
    BufferText,
    Error,
    Point,
    Query,
    Neighbor,
    Candidate,
    Rejected,
    Intermediate,
    Buffer,
    Theory,
    /// A series by its number, such as a curve of a figure.
    Category(usize),
    /// A magnitude between 0 and 1, on the viridis scale.
    Scale(f32),
    /// Black or white, whichever is legible on that magnitude.
    OnScale(f32),
    /// A fixed colour.
    Rgb(Rgb),
}

impl Ink {
    /// Looks the colour up in a palette.
    pub fn color(self, palette: &Palette) -> Rgb {
        match self {
            Self::Panel => palette.panel,
            Self::Canvas => palette.canvas,
            Self::Field => palette.field,
            Self::Text => palette.text,
            Self::TextWeak => palette.text_weak,
            Self::Line => palette.line,
            Self::Grid => palette.grid,
            Self::Accent => palette.accent,
            Self::OnAccent => palette.on_accent,
            Self::OnCandidate => {
                if palette.dark {
                    palette.canvas
                } else {
                    palette.text
                }
            }
            Self::AccentText => palette.legible(palette.accent),
            Self::QueryText => palette.legible(palette.query),
            Self::CandidateText => palette.legible(palette.candidate),
            Self::IntermediateText => palette.legible(palette.intermediate),
            Self::BufferText => palette.legible(palette.buffer),
            Self::Error => palette.error,
            Self::Point => palette.point,
            Self::Query => palette.query,
            Self::Neighbor => palette.neighbor,
            Self::Candidate => palette.candidate,
            Self::Rejected => palette.rejected,
            Self::Intermediate => palette.intermediate,
            Self::Buffer => palette.buffer,
            Self::Theory => palette.theory,
            Self::Rgb(rgb) => rgb,
            Self::Category(number) => palette.categories[number % palette.categories.len()],
            Self::Scale(magnitude) => on_scale(magnitude, palette),
            Self::OnScale(magnitude) => {
                let (ground, black, white) = (on_scale(magnitude, palette), Rgb(0, 0, 0), Rgb(255, 255, 255));
                if ground.contrast(black) > ground.contrast(white) { black } else { white }
            }
        }
    }
}

/// The colour of a magnitude. On a dark background, the scale begins at the minimum contrast.
fn on_scale(magnitude: f32, palette: &Palette) -> Rgb {
    /// The magnitude at which the scale has a contrast of 3 to the background.
    const DARKEST: f32 = 0.35;
    let from = if palette.dark { DARKEST } else { 0.0 };
    on_ramp(&VIRIDIS, from + (1.0 - from) * magnitude.clamp(0.0, 1.0))
}

impl Drawing {
    /// A drawing without shapes, of a size in points.
    pub fn new(width: f32, height: f32) -> Self {
        Self { size: [width, height], ..Self::default() }
    }

    /// Draws another drawing on top, clipped to its size, with its top left corner at `at`. Returns the index
    /// of its first shape here.
    pub fn put(&mut self, drawing: Self, at: Point) -> usize {
        let clip = Area { x: 0.0, y: 0.0, width: drawing.size[0], height: drawing.size[1] };
        self.shapes.push(Shape::Clip(Some(clip.shifted(at))));
        let first = self.shapes.len();
        self.shapes.extend(drawing.shapes.into_iter().map(|shape| shape.shifted(at)));
        self.shapes.push(Shape::Clip(None));
        first
    }
}

impl Shape {
    /// Moves the shape by an offset.
    pub fn shift(&mut self, [x, y]: Point) {
        let shift = |point: &mut Point| *point = [point[0] + x, point[1] + y];
        match self {
            Self::Rect { area, .. } => *area = area.shifted([x, y]),
            Self::Dots { centers: points, .. }
            | Self::Path { points, .. }
            | Self::Polygon { corners: points, .. } => {
                points.iter_mut().for_each(shift);
            }
            Self::Text { at, .. } => shift(at),
            Self::Clip(area) => *area = area.map(|area| area.shifted([x, y])),
        }
    }

    /// The shape moved by an offset.
    #[must_use]
    pub fn shifted(mut self, by: Point) -> Self {
        self.shift(by);
        self
    }
}

impl Area {
    /// Whether a point is within it.
    pub fn contains(self, [x, y]: Point) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    /// The rectangle moved by an offset.
    pub fn shifted(self, [x, y]: Point) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    /// The point in its middle.
    pub fn center(self) -> Point {
        [self.x + self.width / 2.0, self.y + self.height / 2.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{DARK, HIGH_CONTRAST, LIGHT};

    #[test]
    fn magnitudes_use_viridis_with_legible_labels() {
        let light = |magnitude| Ink::Scale(magnitude).color(&LIGHT);
        assert_eq!(light(0.0), VIRIDIS[0]);
        assert_eq!(light(1.0), VIRIDIS[32]);
        assert_eq!(light(f32::INFINITY), VIRIDIS[32]);
        assert_eq!(light(2.0 / 32.0), VIRIDIS[2]);
        for dark in [DARK, HIGH_CONTRAST] {
            assert!(
                Ink::Scale(0.0).color(&dark).contrast(dark.canvas) >= 3.0,
                "the nearest keys can be seen"
            );
            assert_eq!(Ink::Scale(1.0).color(&dark), VIRIDIS[32]);
        }
        assert_eq!(Ink::OnScale(0.0).color(&LIGHT), Rgb(255, 255, 255));
        assert_eq!(Ink::OnScale(1.0).color(&LIGHT), Rgb(0, 0, 0));
    }
}
