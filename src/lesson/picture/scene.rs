//! A picture as data: shapes in the colours of what they mean. The window paints them; files are written from them.
//!
//! Lengths are in points, y goes down, shapes that come later lie on top.

use crate::palette::{Palette, Rgb, VIRIDIS, on_ramp};

/// A place.
pub type Place = [f32; 2];

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f32,
    /// Top.
    pub y: f32,
    /// To the right.
    pub width: f32,
    /// Downwards.
    pub height: f32,
}

/// Shapes, and what in them can be pointed at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width and height of the whole.
    pub size: [f32; 2],
    /// From back to front.
    pub shapes: Vec<Shape>,
    /// From back to front: the last one under the pointer is meant.
    pub spots: Vec<Spot>,
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A rectangle with round corners.
    Rect {
        /// Where.
        area: Area,
        /// The corners' radius.
        round: f32,
        /// Inside.
        fill: Option<Paint>,
        /// Around it, half of it inside.
        line: Option<Line>,
    },
    /// Circles of one kind.
    Dots {
        /// Their centres.
        centers: Vec<Place>,
        /// Of each.
        radius: f32,
        /// Inside.
        fill: Option<Paint>,
        /// Around them.
        line: Option<Line>,
    },
    /// A line through some places.
    Path {
        /// In order.
        places: Vec<Place>,
        /// How it is drawn.
        line: Line,
    },
    /// A filled convex polygon, such as the head of an arrow.
    Polygon {
        /// Its corners, in order.
        corners: Vec<Place>,
        /// Inside.
        fill: Paint,
    },
    /// A line of text.
    Text {
        /// Where its anchor is.
        at: Place,
        /// Which of its own places lies there: 0, 0 is left and top, 1, 1 right and bottom.
        anchor: [f32; 2],
        /// The font's size.
        size: f32,
        /// Which font.
        font: Font,
        /// Its colour.
        paint: Paint,
        /// What it says.
        text: String,
    },
    /// What follows is cut off outside; `None` ends that.
    Clip(Option<Area>),
}

/// The fonts that every copy of the program carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Font {
    /// Proportional: sentences and labels.
    Sans,
    /// All characters alike wide: code and numbers in columns.
    Mono,
}

/// A colour and how much of what is behind it it hides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// Which colour.
    pub ink: Ink,
    /// From 0, nothing to be seen, to 1.
    pub opacity: f32,
}

impl From<Ink> for Paint {
    fn from(ink: Ink) -> Self {
        Self { ink, opacity: 1.0 }
    }
}

/// A stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its colour.
    pub paint: Paint,
    /// How wide.
    pub width: f32,
    /// Dashes and the gaps between them, alike long.
    pub dash: Option<f32>,
}

/// Colours by what they mean; which they are, the palette says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields of Palette say it")]
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
    Error,
    Point,
    Query,
    Neighbor,
    Candidate,
    Rejected,
    Intermediate,
    Buffer,
    Theory,
    /// A magnitude between 0 and 1, in viridis.
    Scale(f32),
    /// Black or white: what reads well on that magnitude.
    OnScale(f32),
}

impl Ink {
    /// The colour in a palette.
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
            Self::Error => palette.error,
            Self::Point => palette.point,
            Self::Query => palette.query,
            Self::Neighbor => palette.neighbor,
            Self::Candidate => palette.candidate,
            Self::Rejected => palette.rejected,
            Self::Intermediate => palette.intermediate,
            Self::Buffer => palette.buffer,
            Self::Theory => palette.theory,
            Self::Scale(magnitude) => viridis(magnitude),
            Self::OnScale(magnitude) => {
                let Rgb(red, green, blue) = viridis(magnitude);
                let bright = 0.299 * f32::from(red) + 0.587 * f32::from(green) + 0.114 * f32::from(blue) > 128.0;
                if bright { Rgb(0, 0, 0) } else { Rgb(255, 255, 255) }
            }
        }
    }
}

fn viridis(magnitude: f32) -> Rgb {
    on_ramp(&VIRIDIS, magnitude)
}

/// What can be pointed at, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Where.
    pub area: Area,
    /// What.
    pub target: Target,
}

/// What can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A lane, or its bit of the ballot.
    Lane(u32),
    /// A slot of the buffer.
    Slot(u32),
    /// An element of the registers.
    Element(u32),
    /// The comparator of the running layer whose lower element this is.
    Comparator(u32),
    /// A data point, by its position.
    Point(u32),
    /// A line of the pseudocode, from 0.
    CodeLine(usize),
    /// A place in the recording: a merge of the convergence curve, a layer of the network.
    Position(usize),
}

impl Scene {
    /// An empty one.
    pub fn new(width: f32, height: f32) -> Self {
        Self { size: [width, height], ..Self::default() }
    }

    /// What lies at a place.
    pub fn target_at(&self, place: Place) -> Option<Target> {
        self.spots.iter().rev().find(|spot| spot.area.contains(place)).map(|spot| spot.target)
    }

    /// Puts another one, whose top left corner comes to `at`, on top.
    pub fn put(&mut self, mut part: Self, at: Place) {
        let clip = Area { x: 0.0, y: 0.0, width: part.size[0], height: part.size[1] };
        part.shapes.insert(0, Shape::Clip(Some(clip)));
        part.shapes.push(Shape::Clip(None));
        for shape in &mut part.shapes {
            shape.shift(at);
        }
        self.shapes.append(&mut part.shapes);
        self.spots.extend(part.spots.into_iter().map(|spot| Spot { area: spot.area.shifted(at), ..spot }));
    }
}

impl Shape {
    fn shift(&mut self, [x, y]: Place) {
        let shift = |place: &mut Place| *place = [place[0] + x, place[1] + y];
        match self {
            Self::Rect { area, .. } => *area = area.shifted([x, y]),
            Self::Dots { centers: places, .. } | Self::Path { places, .. } | Self::Polygon { corners: places, .. } => {
                places.iter_mut().for_each(shift);
            }
            Self::Text { at, .. } => shift(at),
            Self::Clip(area) => *area = area.map(|area| area.shifted([x, y])),
        }
    }
}

impl Area {
    /// Whether a place lies in it.
    pub fn contains(self, [x, y]: Place) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    /// The same one elsewhere.
    pub fn shifted(self, [x, y]: Place) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    /// Its middle.
    pub fn center(self) -> Place {
        [self.x + self.width / 2.0, self.y + self.height / 2.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_its_shapes_and_spots_where_it_is_put() {
        let mut part = Scene::new(10.0, 5.0);
        let area = Area { x: 1.0, y: 2.0, width: 3.0, height: 1.0 };
        part.shapes.push(Shape::Rect { area, round: 0.0, fill: Some(Ink::Text.into()), line: None });
        part.spots.push(Spot { area, target: Target::Lane(3) });
        let mut page = Scene::new(100.0, 100.0);
        page.spots.push(Spot { area: Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 }, target: Target::Point(9) });
        page.put(part, [20.0, 30.0]);
        let moved = Area { x: 21.0, y: 32.0, width: 3.0, height: 1.0 };
        assert_eq!(page.shapes[0], Shape::Clip(Some(Area { x: 20.0, y: 30.0, width: 10.0, height: 5.0 })));
        assert!(matches!(page.shapes[1], Shape::Rect { area, .. } if area == moved));
        assert_eq!(page.shapes[2], Shape::Clip(None));
        assert_eq!(page.target_at([22.0, 32.5]), Some(Target::Lane(3)), "what lies on top is meant");
        assert_eq!(page.target_at([24.5, 32.5]), Some(Target::Point(9)));
        assert_eq!(page.target_at([100.5, 32.5]), None);
    }

    #[test]
    fn magnitudes_go_through_viridis_and_what_is_written_on_them_reads() {
        assert_eq!(viridis(0.0), VIRIDIS[0]);
        assert_eq!(viridis(1.0), VIRIDIS[32]);
        assert_eq!(viridis(f32::INFINITY), VIRIDIS[32]);
        assert_eq!(viridis(2.0 / 32.0), VIRIDIS[2]);
        assert_eq!(Ink::OnScale(0.0).color(&crate::palette::LIGHT), Rgb(255, 255, 255));
        assert_eq!(Ink::OnScale(1.0).color(&crate::palette::LIGHT), Rgb(0, 0, 0));
    }
}
