//! The fonts of pictures: the same as the window's, shaped in the same way, so that text has the same width everywhere.
//! System fonts are never used.
//!
//! Together they have arrows, ∞, √, ≤ and other mathematical symbols, but no ticks or crosses: those are paths. Arrows and ⌈
//! ⌉ ⌊ ⌋ are only in Hack.

use std::sync::{LazyLock, OnceLock};

use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use harfrust::{ShapeOptions, ShaperData, UnicodeBuffer};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use tiny_skia::{Path, PathBuilder};

use super::scene::Font;

/// Vertical metrics of a line of text at font size 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineMetrics {
    /// Distance from the top of a line to its baseline.
    pub ascent: f32,
    /// Distance from the top of a line to the top of the next.
    pub height: f32,
}

/// The width of a text in points, at a font size.
pub fn width(text: &str, font: Font, size: f32) -> f32 {
    shape(text, font).1 * size
}

/// The vertical metrics of a font.
pub fn line(font: Font) -> LineMetrics {
    FACES[first(font)].line
}

/// Whether the fonts have a character; a missing one would be drawn as an empty box.
pub fn has(character: char) -> bool {
    FACES.iter().any(|face| face.has(character))
}

/// A positioned glyph, at font size 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    face: usize,
    id: GlyphId,
    /// Offset from the start of the text, to the right and upwards.
    pub at: [f32; 2],
}

impl Glyph {
    /// The outline at font size 1, y upwards; `None` for blank glyphs.
    pub(super) fn outline(&self) -> Option<&'static Path> {
        FACES[self.face].outline(self.id)
    }
}

/// The glyphs and the width of a text, at font size 1.
pub(super) fn shape(text: &str, font: Font) -> (Vec<Glyph>, f32) {
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
pub(super) fn font_of(character: char, font: Font) -> Font {
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
    use crate::lessons::{Choice, LESSONS};
    use crate::progress::Silent;
    use crate::{Cursor, Level, describe::describe};

    #[test]
    fn code_is_alike_wide_and_a_text_twice_as_large_twice_as_wide() {
        let code = width("0", Font::Mono, 10.0);
        assert!((width("lane ^ 4", Font::Mono, 10.0) - 8.0 * code).abs() < 1e-3);
        assert_eq!(width("", Font::Sans, 10.0), 0.0);
        let narrow = width("iiii", Font::Sans, 10.0);
        assert!(narrow > 0.0 && narrow < width("mmmm", Font::Sans, 10.0) / 2.0);
        assert!((width("iiii", Font::Sans, 20.0) - 2.0 * narrow).abs() < 1e-3);
        // Numbers in columns: digits are alike wide in sentences, too.
        let digits: Vec<f32> = ('0'..='9').map(|digit| width(&digit.to_string(), Font::Sans, 10.0)).collect();
        assert!(digits.iter().all(|digit| *digit == digits[0]), "{digits:?}");
        assert!(line(Font::Sans).ascent < line(Font::Sans).height && line(Font::Mono).height > 1.0);
    }

    #[test]
    fn what_one_font_lacks_comes_from_the_other() {
        let (glyphs, _) = shape("k \u{2264} \u{221e} a\u{221a}b\u{2190}", Font::Sans);
        assert!(glyphs.iter().all(|glyph| glyph.id != GlyphId::NOTDEF));
        assert!(!has('\u{4e00}') && !has('\u{2713}'));
    }

    /// Nothing that a lesson says becomes an empty box.
    #[test]
    fn every_character_of_every_lesson_is_there() {
        // What pictures may also use: arrows, marks, operators, superscripts.
        let mut said: String = "\u{221e}\u{2212}\u{00d7}\u{00b7}\u{2264}\u{2265}\u{2260}\u{2248}\u{221a}\u{2190}\u{2192}\u{2191}\u{2193}\u{2194}\u{21c4}\u{2026}\u{2013}\u{2014}\u{201c}\u{201d}\u{2018}\u{2019}\u{2308}\u{2309}\u{230a}\u{230b}\u{00b2}µ^&|<>=".to_owned();
        for lesson in &LESSONS {
            said += lesson.title;
            said += lesson.goal;
            said += lesson.paragraph;
            said += lesson.summary;
            for take in lesson.record(Choice { k: Some(8), ..Choice::default() }, &Silent).unwrap() {
                take.recording.code().lines.iter().for_each(|line| said += line.text);
                let mut cursor = Cursor::new(take.recording.clone());
                while cursor.position() < take.recording.len() {
                    cursor.seek(cursor.next(Level::Lane));
                    said += &describe(&cursor.step().unwrap(), cursor.state());
                }
                for question in lesson.questions(&take) {
                    said += &question.text;
                    question.slips.iter().for_each(|slip| said += &slip.says);
                    said += &question.right(take.recording.shape().width);
                    question.options.iter().chain(&question.why).for_each(|text| said += text);
                }
            }
        }
        let mut missing: Vec<char> = said.chars().filter(|&character| !has(character)).collect();
        missing.sort_unstable();
        missing.dedup();
        assert!(missing.is_empty(), "no glyph for {missing:?}");
    }
}
