//! The fonts of pictures: the same as the window's, shaped in the same way, so that text has the same width everywhere.
//! System fonts are never used.
//!
//! Together they have arrows, ∞, √, ≤ and other mathematical symbols, but no ticks or crosses: those are paths. Arrows and ⌈
//! ⌉ ⌊ ⌋ are only in Hack.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use harfrust::{ShapeOptions, ShaperData, UnicodeBuffer};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use tiny_skia::{Path, PathBuilder};

use crate::drawing::{Font, Point};

/// Vertical metrics of a line of text at font size 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineMetrics {
    /// Distance from the top of a line to its baseline.
    pub ascent: f32,
    /// Distance from the top of a line to the top of the next.
    pub height: f32,
}

/// The CSS font families: the font inside the file first, then fallbacks for programs that ignore it.
pub fn family(font: Font) -> &'static str {
    match font {
        Font::Sans => "Ubuntu,'Ubuntu Light',Hack,'Segoe UI',system-ui,sans-serif",
        Font::Mono => "Hack,Ubuntu,monospace",
    }
}

/// The CSS font weight.
pub fn weight(font: Font) -> u16 {
    match font {
        Font::Sans => 300,
        Font::Mono => 400,
    }
}

/// Maximum number of cached text widths.
const REMEMBERED: usize = 1 << 12;

thread_local! {
    /// Widths at font size 1. Consecutive frames have nearly the same text, and shaping takes longer than drawing.
    static WIDTHS: RefCell<HashMap<(Font, String), f32>> = RefCell::default();
}

/// The width of a text in points, at a font size.
pub fn width(font: Font, size: f32, text: &str) -> f32 {
    WIDTHS.with_borrow_mut(|widths| {
        let key = (font, text.to_owned());
        if let Some(one) = widths.get(&key) {
            return one * size;
        }
        if widths.len() >= REMEMBERED {
            widths.clear();
        }
        let one = shape(text, font).1;
        widths.insert(key, one);
        one * size
    })
}

/// The vertical metrics of a font.
pub fn line(font: Font) -> LineMetrics {
    FACES[first(font)].line
}

/// The left end of a text's baseline, from its anchor (see [`crate::Shape::Text`]) and its width.
pub fn baseline_start(at: Point, anchor: [f32; 2], font: Font, size: f32, width: f32) -> Point {
    let line = line(font);
    [at[0] - anchor[0] * width, at[1] + (line.ascent - anchor[1] * line.height) * size]
}

/// Whether the fonts have a character; a missing one would be drawn as an empty box.
pub fn has(character: char) -> bool {
    FACES.iter().any(|face| face.has(character))
}

/// A positioned glyph, at font size 1.
#[derive(Clone, Copy, Debug)]
pub struct Glyph {
    face: usize,
    id: GlyphId,
    /// Offset from the start of the text, to the right and upwards.
    pub at: [f32; 2],
}

impl Glyph {
    /// The outline at font size 1, y upwards; `None` for blank glyphs.
    pub fn outline(&self) -> Option<&'static Path> {
        FACES[self.face].outline(self.id)
    }
}

/// The glyphs and the width of a text, at font size 1.
pub fn shape(text: &str, font: Font) -> (Vec<Glyph>, f32) {
    let (mut glyphs, mut pen) = (Vec::with_capacity(text.len()), 0.0);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        // Consecutive characters in one face are shaped together, for kerning.
        let face = face_of(character, font);
        let end = rest.char_indices().find(|&(_, next)| face_of(next, font) != face).map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(end);
        rest = after;
        pen = FACES[face].shape(run, face, pen, &mut glyphs);
    }
    (glyphs, pen)
}

fn first(font: Font) -> usize {
    match font {
        Font::Sans => 0,
        Font::Mono => 1,
    }
}

/// The font that has a character of a text, which may not be the text's own.
pub fn font_of(character: char, font: Font) -> Font {
    if face_of(character, font) == first(Font::Mono) { Font::Mono } else { Font::Sans }
}

/// The font's own face if it has the character, otherwise the other one if that has it.
fn face_of(character: char, font: Font) -> usize {
    let first = first(font);
    if !FACES[first].has(character) && FACES[1 - first].has(character) { 1 - first } else { first }
}

static FACES: LazyLock<[Face; 2]> = LazyLock::new(|| [Face::new(UBUNTU_LIGHT), Face::new(HACK_REGULAR)]);

struct Face {
    font: FontRef<'static>,
    shaper: ShaperData,
    /// Size of a font unit at font size 1.
    unit: f32,
    line: LineMetrics,
    outlines: Vec<OnceLock<Option<Path>>>,
}

impl Face {
    fn new(data: &'static [u8]) -> Self {
        let font = FontRef::new(data).expect("the font is embedded");
        let metrics = font.metrics(Size::unscaled(), LocationRef::default());
        let unit = 1.0 / f32::from(metrics.units_per_em);
        let line = LineMetrics { ascent: metrics.ascent * unit, height: (metrics.ascent - metrics.descent + metrics.leading) * unit };
        let outlines = (0..metrics.glyph_count).map(|_| OnceLock::new()).collect();
        Self { shaper: ShaperData::new(&font), font, unit, line, outlines }
    }

    fn has(&self, character: char) -> bool {
        self.font.charmap().map(character).is_some_and(|id| id != GlyphId::NOTDEF)
    }

    /// Appends the glyphs of a text that starts at `pen`, and returns where it ends.
    fn shape(&self, text: &str, face: usize, mut pen: f32, glyphs: &mut Vec<Glyph>) -> f32 {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        let shaped = self.shaper.shaper(&self.font).build().shape(buffer, ShapeOptions::new());
        for (info, position) in shaped.glyph_infos().iter().zip(shaped.glyph_positions()) {
            let at = [pen + position.x_offset as f32 * self.unit, position.y_offset as f32 * self.unit];
            glyphs.push(Glyph { face, id: GlyphId::new(info.glyph_id), at });
            pen += position.x_advance as f32 * self.unit;
        }
        pen
    }

    fn outline(&self, id: GlyphId) -> Option<&Path> {
        self.outlines.get(id.to_u32() as usize)?.get_or_init(|| self.draw(id)).as_ref()
    }

    fn draw(&self, id: GlyphId) -> Option<Path> {
        let mut pen = Pen { path: PathBuilder::new(), unit: self.unit };
        self.font.outline_glyphs().get(id)?.draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), &mut pen).ok()?;
        pen.path.finish()
    }
}

struct Pen {
    path: PathBuilder,
    unit: f32,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x * self.unit, y * self.unit);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x * self.unit, y * self.unit);
    }

    fn quad_to(&mut self, cx0: f32, cy0: f32, x: f32, y: f32) {
        self.path.quad_to(cx0 * self.unit, cy0 * self.unit, x * self.unit, y * self.unit);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let [cx0, cy0, cx1, cy1, x, y] = [cx0, cy0, cx1, cy1, x, y].map(|length| length * self.unit);
        self.path.cubic_to(cx0, cy0, cx1, cy1, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_alike_wide_and_a_text_twice_as_large_twice_as_wide() {
        let code = width(Font::Mono, 10.0, "0");
        assert!((width(Font::Mono, 10.0, "lane ^ 4") - 8.0 * code).abs() < 1e-3);
        assert_eq!(width(Font::Sans, 10.0, ""), 0.0);
        let narrow = width(Font::Sans, 10.0, "iiii");
        assert!(narrow > 0.0 && narrow < width(Font::Sans, 10.0, "mmmm") / 2.0);
        assert!((width(Font::Sans, 20.0, "iiii") - 2.0 * narrow).abs() < 1e-3);
        // Numbers in columns: digits are alike wide in sentences, too.
        let digits: Vec<f32> = ('0'..='9').map(|digit| width(Font::Sans, 10.0, &digit.to_string())).collect();
        assert!(digits.iter().all(|digit| *digit == digits[0]), "{digits:?}");
        assert!(line(Font::Sans).ascent < line(Font::Sans).height && line(Font::Mono).height > 1.0);
    }

    #[test]
    fn what_one_font_lacks_comes_from_the_other() {
        let (glyphs, _) = shape("k \u{2264} \u{221e} a\u{221a}b\u{2190}", Font::Sans);
        assert!(glyphs.iter().all(|glyph| glyph.id != GlyphId::NOTDEF));
        assert!(!has('\u{4e00}') && !has('\u{2713}'));
    }
}
