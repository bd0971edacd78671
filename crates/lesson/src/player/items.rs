//! Scenes as flat lists of items: what the page draws, one element each, in the order in which they are drawn.

use std::sync::Arc;

use crate::draw::svg::{self, Baseline, baseline, dot_style, style, text_style};
use crate::picture::scene::{Area, Line, Paint, Point, Scene, Shape, Spot, Target};

/// What an item is, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// x, y, width, height, and the radius of its corners.
    Rect = 0,
    /// x, y of a filled dot, whose radius is half the width of its stroke.
    Dot = 1,
    /// x, y and radius of a dot with an outline.
    Ring = 2,
    /// x, y of each vertex of a line.
    Line = 3,
    /// x, y of each corner of a polygon.
    Polygon = 4,
    /// x, y where the baseline begins; the text is what it says.
    Text = 5,
    /// x, y, width, height: what follows is clipped to that; with no numbers, clipping ends.
    Clip = 6,
    /// x, y, width, height of what can be pointed at; the text is its [`code`].
    Spot = 7,
}

impl Kind {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// Whether items of the kind say something, or stand for something.
    pub fn has_text(self) -> bool {
        matches!(self, Self::Text | Self::Spot)
    }
}

/// A shape or a spot. Lengths are in hundredths of a point, as finely as SVGs have them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its CSS; empty for clips and spots.
    pub style: Arc<str>,
    /// Lengths, as [`Kind`] says.
    pub numbers: Vec<i32>,
    /// What it says, or what it stands for.
    pub text: String,
}

/// All shapes of a scene, and then its spots.
pub fn items(scene: &Scene) -> Vec<Item> {
    let mut items = of_shapes(&scene.shapes).0;
    items.reserve(scene.spots.len());
    let none: Arc<str> = "".into();
    items.extend(scene.spots.iter().map(|Spot { area, target }| Item {
        kind: Kind::Spot,
        style: none.clone(),
        numbers: corners(*area),
        text: code(*target),
    }));
    items
}

/// The items of shapes, and where those of each shape begin.
pub fn of_shapes(shapes: &[Shape]) -> (Vec<Item>, Vec<usize>) {
    let (mut items, mut starts) = (Vec::with_capacity(shapes.len()), Vec::with_capacity(shapes.len()));
    for shape in shapes {
        starts.push(items.len());
        add(shape, &mut items);
    }
    (items, starts)
}

/// A target's name in the file: a letter and a number.
pub fn code(target: Target) -> String {
    match target {
        Target::Lane(lane) => format!("L{lane}"),
        Target::Slot(slot) => format!("S{slot}"),
        Target::Element(element) => format!("E{element}"),
        Target::Queued(element) => format!("Q{element}"),
        Target::Comparator(low) => format!("C{low}"),
        Target::Point(point) => format!("P{point}"),
        Target::CodeLine(line) => format!("K{line}"),
        Target::Position(position) => format!("G{position}"),
    }
}

fn add(shape: &Shape, items: &mut Vec<Item>) {
    let css_of = |fill: Option<Paint>, line: Option<Line>| -> Arc<str> { style(fill, line, &svg::variable).into() };
    let mut put =
        |kind, style: &Arc<str>, numbers: Vec<i32>, text: &str| items.push(Item { kind, style: style.clone(), numbers, text: text.to_owned() });
    match shape {
        Shape::Rect { area, round, fill, line } => {
            let numbers = corners(*area).into_iter().chain([hundredths(*round)]).collect();
            put(Kind::Rect, &css_of(*fill, *line), numbers, "");
        }
        Shape::Dots { centers, radius, fill: Some(fill), line: None } => {
            let style = dot_style(*fill, *radius, &svg::variable).into();
            centers.iter().for_each(|center| put(Kind::Dot, &style, lengths(&[*center]), ""));
        }
        Shape::Dots { centers, radius, fill, line } => {
            let style = css_of(*fill, *line);
            for center in centers {
                let numbers = lengths(&[*center]).into_iter().chain([hundredths(*radius)]).collect();
                put(Kind::Ring, &style, numbers, "");
            }
        }
        Shape::Path { points, line } => put(Kind::Line, &css_of(None, Some(*line)), lengths(points), ""),
        Shape::Polygon { corners, fill } => put(Kind::Polygon, &css_of(Some(*fill), None), lengths(corners), ""),
        Shape::Text { at, anchor, size, font, paint, text } => {
            if let Some(Baseline { start, .. }) = baseline(*at, *anchor, *size, *font, text) {
                put(Kind::Text, &text_style(*font, *size, *paint, &svg::variable).into(), lengths(&[start]), text);
            }
        }
        Shape::Clip(area) => put(Kind::Clip, &"".into(), area.map(corners).unwrap_or_default(), ""),
    }
}

fn corners(area: Area) -> Vec<i32> {
    [area.x, area.y, area.width, area.height].map(hundredths).to_vec()
}

fn lengths(points: &[Point]) -> Vec<i32> {
    points.iter().flatten().map(|&length| hundredths(length)).collect()
}

/// A length in hundredths of a point.
pub fn hundredths(length: f32) -> i32 {
    (length * 100.0).round() as i32
}
