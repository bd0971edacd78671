//! Scenes as flat lists of items, which the page draws as one element each, in drawing order.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use crate::draw::svg::{self, Baseline, baseline, dot_style, style, text_style};
use crate::picture::scene::{Area, HitArea, Paint, Point, Scene, Shape, StrokeStyle, Target};

/// The kind of an item, by its number in the file.
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
    /// x, y of the start of the baseline; has a text.
    Text = 5,
    /// x, y, width, height of the clip area of the following items; without numbers, clipping ends.
    Clip = 6,
    /// x, y, width, height of a hit target; the text is its [`code`].
    Spot = 7,
}

impl Kind {
    /// Number of kinds of items.
    pub const COUNT: usize = 8;

    /// Whether items of the kind have a text.
    pub fn has_text(self) -> bool {
        matches!(self, Self::Text | Self::Spot)
    }
}

/// A shape or a spot. Lengths are in hundredths of a point, the precision of the SVG files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Its CSS; empty for clips and spots.
    pub style: Arc<str>,
    /// Lengths, in the order of [`Kind`].
    pub numbers: Vec<i32>,
    /// Its text, or the code of its target.
    pub text: String,
}

/// All shapes of a scene, then its spots.
pub fn items(scene: &Scene) -> Vec<Item> {
    let mut items = shape_items(&scene.shapes).0;
    items.reserve(scene.spots.len());
    let none: Arc<str> = "".into();
    items.extend(scene.spots.iter().map(|HitArea { area, target }| Item {
        kind: Kind::Spot,
        style: none.clone(),
        numbers: corners(*area),
        text: code(*target),
    }));
    items
}

/// The items of shapes, and where those of each shape begin.
pub fn shape_items(shapes: &[Shape]) -> (Vec<Item>, Vec<usize>) {
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
    let css_of = |fill: Option<Paint>, line: Option<StrokeStyle>| -> Arc<str> {
        style(fill, line, &svg::variable).into()
    };
    let mut put = |kind, style: &Arc<str>, numbers: Vec<i32>, text: &str| {
        items.push(Item { kind, style: style.clone(), numbers, text: text.to_owned() })
    };
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
        Shape::Polygon { corners, fill } => {
            put(Kind::Polygon, &css_of(Some(*fill), None), lengths(corners), "")
        }
        Shape::Text { at, anchor, size, font, paint, text } => {
            if let Some(Baseline { start, .. }) = baseline(*at, *anchor, *size, *font, text) {
                put(
                    Kind::Text,
                    &text_style(*font, *size, *paint, &svg::variable).into(),
                    lengths(&[start]),
                    text,
                );
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

// Items as columns: similar numbers are adjacent, and compress to half the size of rows.
//
// Each kind has its own columns: styles, numbers of lengths, all first lengths, all second lengths, and so
// on. Lengths are differences from the last item of that kind and style, because many items form rows and
// columns in the picture.

/// Items by columns.
#[derive(Debug, Default, Serialize)]
pub struct ItemColumns<'a> {
    /// The kind of each item, by its number.
    kinds: Vec<u8>,
    /// The columns of each kind.
    of: [KindColumns<'a>; Kind::COUNT],
}

/// The columns of the items of a kind.
#[derive(Debug, Default, Serialize)]
struct KindColumns<'a> {
    /// Numbers of styles.
    styles: Vec<u32>,
    /// Number of lengths of each item.
    counts: Vec<usize>,
    /// The first length of each item, then the second length of each item that has one, …
    lengths: Vec<Vec<i32>>,
    /// Texts; empty except for texts and spots.
    texts: Vec<&'a str>,
}

impl<'a> ItemColumns<'a> {
    /// The columns of items, each with the number of its style.
    pub fn new(items: &'a [(u32, Item)]) -> Self {
        let mut columns = Self::default();
        let mut last: HashMap<(Kind, u32), &[i32]> = HashMap::new();
        for (style, item) in items {
            columns.kinds.push(item.kind as u8);
            let of = &mut columns.of[item.kind as usize];
            of.styles.push(*style);
            of.counts.push(item.numbers.len());
            of.lengths.resize_with(of.lengths.len().max(item.numbers.len()), Vec::new);
            let before = last.insert((item.kind, *style), &item.numbers).unwrap_or_default();
            let from = before.iter().copied().chain(std::iter::repeat(0));
            for ((column, number), from) in of.lengths.iter_mut().zip(&item.numbers).zip(from) {
                column.push(number - from);
            }
            if item.kind.has_text() {
                of.texts.push(&item.text);
            }
        }
        columns
    }
}

// Hashes to verify a page's drawing: one of each panel's shapes, which a page can compute from its own
// elements. A moment's check is the hash of its panels' hashes, one per line, its sentence and its badge.

/// FNV-1a with 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawingHash(u32);

impl Default for DrawingHash {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl DrawingHash {
    /// Adds text.
    pub fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Adds a moment's sentence and badge to the check of its panels.
pub fn with_texts(panels: u32, sentence: &str, badge: Option<&str>) -> u32 {
    let mut check = DrawingHash(panels);
    check.add(sentence);
    check.add(badge.unwrap_or_default());
    check.number()
}

/// The hash of a panel: one line per element with its clip area, kind, lengths, CSS and text. Clips are not
/// elements.
pub fn panel_hash(items: &[Item]) -> u32 {
    let (mut check, mut clip, mut line) = (DrawingHash::default(), String::new(), String::new());
    for Item { kind, style, numbers, text } in items {
        if *kind == Kind::Clip {
            clip = numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
            continue;
        }
        line.clear();
        // Clipping does not affect spots.
        let clip = if *kind == Kind::Spot { "" } else { &clip };
        let _ = write!(line, "{clip}|{}|", *kind as u8);
        for (at, number) in numbers.iter().enumerate() {
            let _ = write!(line, "{}{number}", if at == 0 { "" } else { "," });
        }
        let _ = writeln!(line, "|{style}|{text}");
        check.add(&line);
    }
    check.number()
}
