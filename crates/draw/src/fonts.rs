//! The fonts of pictures: the same as the window's, shaped in the same way, so that text has the same width
//! everywhere. System fonts are never used.
//!
//! Together they have arrows, ∞, √, ≤ and other mathematical symbols, but no ticks or crosses: those are
//! paths. Arrows and ⌈ ⌉ ⌊ ⌋ are only in Hack.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use harfrust::{ShapeOptions, ShaperData, UnicodeBuffer};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::tables::glyf;
use skrifa::raw::types::Tag;
use skrifa::raw::{ReadError, TableProvider as _};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use tiny_skia::{Path, PathBuilder};

use super::drawing::{Font, Point};

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
const MAX_CACHED_WIDTHS: usize = 1 << 12;

thread_local! {
    /// Widths at font size 1. Consecutive frames have nearly the same text, and shaping takes longer than
    /// drawing.
    static WIDTHS: RefCell<HashMap<(Font, String), f32>> = RefCell::default();
}

/// The width of a text in points, at a font size.
pub fn width(font: Font, size: f32, text: &str) -> f32 {
    WIDTHS.with_borrow_mut(|widths| {
        let key = (font, text.to_owned());
        if let Some(one) = widths.get(&key) {
            return one * size;
        }
        if widths.len() >= MAX_CACHED_WIDTHS {
            widths.clear();
        }
        let one = shape(text, font).1;
        widths.insert(key, one);
        one * size
    })
}

/// The vertical metrics of a font.
pub fn line_metrics(font: Font) -> LineMetrics {
    FACES[face_index(font)].line
}

/// The left end of a text's baseline, from its anchor (see [`crate::Shape::Text`]) and its width.
pub fn baseline_start(at: Point, anchor: [f32; 2], font: Font, size: f32, width: f32) -> Point {
    let line = line_metrics(font);
    [at[0] - anchor[0] * width, at[1] + (line.ascent - anchor[1] * line.height) * size]
}

/// Whether the fonts have a character; a missing one would be drawn as an empty box.
pub fn has_glyph(character: char) -> bool {
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
        let end = rest
            .char_indices()
            .find(|&(_, next)| face_of(next, font) != face)
            .map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(end);
        rest = after;
        pen = FACES[face].shape(run, face, pen, &mut glyphs);
    }
    (glyphs, pen)
}

fn face_index(font: Font) -> usize {
    match font {
        Font::Sans => 0,
        Font::Mono => 1,
    }
}

/// The font that draws a character of a text: the text's own font, or the other one.
pub fn font_of(character: char, font: Font) -> Font {
    if face_of(character, font) == face_index(Font::Mono) { Font::Mono } else { Font::Sans }
}

/// The font's own face if it has the character, otherwise the other one if that has it.
fn face_of(character: char, font: Font) -> usize {
    let first = face_index(font);
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
        let line = LineMetrics {
            ascent: metrics.ascent * unit,
            height: (metrics.ascent - metrics.descent + metrics.leading) * unit,
        };
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
        self.font
            .outline_glyphs()
            .get(id)?
            .draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), &mut pen)
            .ok()?;
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

// The fonts embedded in an SVG, so that its text looks the same everywhere. A file only has the outlines of
// the characters that it uses; the licences of both fonts allow embedding.

/// The characters that a picture uses of each font.
#[derive(Clone, Debug, Default)]
pub struct FontSubsets {
    sans: BTreeSet<char>,
    mono: BTreeSet<char>,
}

impl FontSubsets {
    /// Adds the characters of a text.
    pub fn add(&mut self, text: &str, font: Font) {
        for character in text.chars() {
            // Characters that one font lacks come from the other.
            match font_of(character, font) {
                Font::Sans => self.sans.insert(character),
                Font::Mono => self.mono.insert(character),
            };
        }
    }

    /// A `<style>` with the fonts; empty without text.
    pub fn style(&self) -> String {
        let mut faces = String::new();
        for (font, name, data, used) in
            [(Font::Sans, "Ubuntu", UBUNTU_LIGHT, &self.sans), (Font::Mono, "Hack", HACK_REGULAR, &self.mono)]
        {
            // On failure, the text falls back to the viewer's fonts.
            let Ok(subset) = subset(data, used) else { continue };
            if !used.is_empty() {
                let (weight, data) = (weight(font), BASE64_STANDARD.encode(subset));
                let _ = writeln!(
                    faces,
                    "@font-face{{font-family:{name};font-weight:{weight};src:url(data:font/ttf;base64,\
                     {data})}}"
                );
            }
        }
        if faces.is_empty() { faces } else { format!("<style>\n{faces}</style>\n") }
    }
}

/// Tables to copy. Kerning and ligatures are not needed: SVGs give the length of each text.
const COPIED_TABLES: [&[u8; 4]; 11] =
    [b"OS/2", b"cmap", b"cvt ", b"fpgm", b"gasp", b"head", b"hhea", b"hmtx", b"maxp", b"name", b"prep"];

/// A font reduced to the outlines of some characters. Glyphs keep their numbers.
fn subset(data: &[u8], characters: &BTreeSet<char>) -> Result<Vec<u8>, ReadError> {
    let font = FontRef::new(data)?;
    let (glyf, loca) = (font.glyf()?, font.loca(None)?);
    let charmap = font.charmap();
    let mut open: Vec<GlyphId> =
        characters.iter().filter_map(|&character| charmap.map(character)).chain([GlyphId::NOTDEF]).collect();
    let mut kept = BTreeSet::new();
    while let Some(id) = open.pop() {
        if kept.insert(id.to_u32())
            && let Some(glyf::Glyph::Composite(glyph)) = loca.get_glyf(id, &glyf)?
        {
            open.extend(glyph.components().map(|part| GlyphId::from(part.glyph)));
        }
    }
    let outlines = glyf.offset_data().as_bytes();
    let (mut shapes, mut offsets) = (Vec::new(), vec![0u32]);
    for id in 0..loca.len() {
        if kept.contains(&(id as u32))
            && let (Some(from), Some(to)) = (loca.get_raw(id), loca.get_raw(id + 1))
        {
            shapes.extend_from_slice(outlines.get(from as usize..to as usize).unwrap_or_default());
            // The short format counts pairs of bytes.
            shapes.resize(shapes.len().next_multiple_of(4), 0);
        }
        offsets.push(shapes.len() as u32);
    }
    let is_long = font.head()?.index_to_loc_format() == 1;
    let offsets: Vec<u8> = offsets
        .into_iter()
        .flat_map(
            |at| if is_long { at.to_be_bytes().to_vec() } else { ((at / 2) as u16).to_be_bytes().to_vec() },
        )
        .collect();
    // Version 3: without names of glyphs.
    let post = [0, 3, 0, 0].into_iter().chain([0; 28]).collect();
    let copied = COPIED_TABLES
        .iter()
        .filter_map(|&tag| Some((*tag, font.table_data(Tag::new(tag))?.as_bytes().to_vec())));
    let mut tables: Vec<([u8; 4], Vec<u8>)> =
        copied.chain([(*b"glyf", shapes), (*b"loca", offsets), (*b"post", post)]).collect();
    tables.sort_by_key(|(tag, _)| *tag);
    Ok(font_file(&tables))
}

/// Assembles a font file from its tables.
fn font_file(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.ilog2() as u16;
    let range = 16 << power;
    let mut file = vec![0, 1, 0, 0];
    file.extend([count, range, power, count * 16 - range].iter().flat_map(|number| number.to_be_bytes()));
    let mut at = 12 + 16 * tables.len();
    for (tag, data) in tables {
        file.extend_from_slice(tag);
        file.extend(
            [checksum(data), at as u32, data.len() as u32].iter().flat_map(|number| number.to_be_bytes()),
        );
        at += data.len().next_multiple_of(4);
    }
    for (_, data) in tables {
        file.extend_from_slice(data);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

fn checksum(data: &[u8]) -> u32 {
    let word = |part: &[u8]| {
        part.iter().enumerate().fold(0u32, |sum, (at, &byte)| sum | u32::from(byte) << (24 - 8 * at))
    };
    data.chunks(4).map(word).fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use skrifa::instance::{LocationRef, Size};
    use skrifa::outline::{DrawSettings, OutlinePen};

    use super::*;

    #[test]
    fn code_is_monospaced_and_widths_scale_with_size() {
        let code = width(Font::Mono, 10.0, "0");
        assert!((width(Font::Mono, 10.0, "lane ^ 4") - 8.0 * code).abs() < 1e-3);
        assert_eq!(width(Font::Sans, 10.0, ""), 0.0);
        let narrow = width(Font::Sans, 10.0, "iiii");
        assert!(narrow > 0.0 && narrow < width(Font::Sans, 10.0, "mmmm") / 2.0);
        assert!((width(Font::Sans, 20.0, "iiii") - 2.0 * narrow).abs() < 1e-3);
        // Digits have equal widths in the proportional font too, so that numbers align in columns.
        let digits: Vec<f32> = ('0'..='9').map(|digit| width(Font::Sans, 10.0, &digit.to_string())).collect();
        assert!(digits.iter().all(|digit| *digit == digits[0]), "{digits:?}");
        let [sans, mono] = [Font::Sans, Font::Mono].map(line_metrics);
        assert!(sans.ascent < sans.height && mono.height > 1.0);
    }

    #[test]
    fn missing_glyphs_fall_back_to_the_other_font() {
        let (glyphs, _) = shape("k \u{2264} \u{221e} a\u{221a}b\u{2190}", Font::Sans);
        assert!(glyphs.iter().all(|glyph| glyph.id != GlyphId::NOTDEF));
        assert!(!has_glyph('\u{4e00}') && !has_glyph('\u{2713}'));
    }

    #[derive(Default)]
    struct SvgPathPen(String);

    impl OutlinePen for SvgPathPen {
        fn move_to(&mut self, x: f32, y: f32) {
            let _ = write!(self.0, "M{x} {y}");
        }

        fn line_to(&mut self, x: f32, y: f32) {
            let _ = write!(self.0, "L{x} {y}");
        }

        fn quad_to(&mut self, a: f32, b: f32, x: f32, y: f32) {
            let _ = write!(self.0, "Q{a} {b} {x} {y}");
        }

        fn curve_to(&mut self, a: f32, b: f32, c: f32, d: f32, x: f32, y: f32) {
            let _ = write!(self.0, "C{a} {b} {c} {d} {x} {y}");
        }

        fn close(&mut self) {
            self.0 += "Z";
        }
    }

    fn outline(font: &[u8], character: char) -> String {
        let font = FontRef::new(font).expect("a font");
        let id = font.charmap().map(character).expect("a glyph");
        let mut path = SvgPathPen::default();
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        font.outline_glyphs()
            .get(id)
            .expect("an outline")
            .draw(settings, &mut path)
            .expect("it can be drawn");
        path.0
    }

    #[test]
    fn font_subsets_contain_only_the_requested_glyphs() {
        for font in [UBUNTU_LIGHT, HACK_REGULAR] {
            // Including a composite glyph.
            let part = subset(font, &"Aaéü7µ".chars().collect()).expect("it can be read");
            for character in "Aaéü7µ".chars() {
                assert!(!outline(font, character).is_empty());
                assert_eq!(outline(&part, character), outline(font, character), "{character}");
            }
            assert_eq!(outline(&part, 'B'), "");
            assert!(part.len() < font.len() / 8, "{} of {} bytes", part.len(), font.len());
        }
    }

    #[test]
    fn style_embeds_only_the_fonts_in_use() {
        assert_eq!(FontSubsets::default().style(), "");
        let mut subsets = FontSubsets::default();
        subsets.add("abc", Font::Sans);
        assert!(
            subsets.style().contains("font-family:Ubuntu;font-weight:300;")
                && !subsets.style().contains("Hack")
        );
        // Only the monospaced font has an arrow.
        subsets.add("a→b", Font::Sans);
        assert!(subsets.style().contains("font-family:Hack;font-weight:400;"));
    }
}
