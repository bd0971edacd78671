//! The fonts of a picture inside its SVG, so that its text looks the same where they are not installed. A file has the outlines of
//! the characters that it uses only; the licences of both fonts let documents carry them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use skrifa::raw::tables::glyf::Glyph;
use skrifa::raw::types::Tag;
use skrifa::raw::{ReadError, TableProvider as _};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};

use crate::drawing::Font;
use crate::fonts;

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
            // What one font lacks comes from the other.
            match fonts::font_of(character, font) {
                Font::Sans => self.sans.insert(character),
                Font::Mono => self.mono.insert(character),
            };
        }
    }

    /// A `<style>` with the fonts; empty without text.
    pub fn style(&self) -> String {
        let mut faces = String::new();
        for (font, name, data, used) in [(Font::Sans, "Ubuntu", UBUNTU_LIGHT, &self.sans), (Font::Mono, "Hack", HACK_REGULAR, &self.mono)] {
            // Without it, the text still has the fonts of the program that reads it.
            let Ok(subset) = subset(data, used) else { continue };
            if !used.is_empty() {
                let (weight, data) = (fonts::weight(font), BASE64_STANDARD.encode(subset));
                let _ = writeln!(faces, "@font-face{{font-family:{name};font-weight:{weight};src:url(data:font/ttf;base64,{data})}}");
            }
        }
        if faces.is_empty() { faces } else { format!("<style>\n{faces}</style>\n") }
    }
}

/// Tables to copy. Kerning and ligatures are not needed: SVGs give the length of each text.
const COPIED: [&[u8; 4]; 11] = [b"OS/2", b"cmap", b"cvt ", b"fpgm", b"gasp", b"head", b"hhea", b"hmtx", b"maxp", b"name", b"prep"];

/// A font with the outlines of some characters, each glyph under the number that it has.
fn subset(data: &[u8], characters: &BTreeSet<char>) -> Result<Vec<u8>, ReadError> {
    let font = FontRef::new(data)?;
    let (glyf, loca) = (font.glyf()?, font.loca(None)?);
    let charmap = font.charmap();
    let mut open: Vec<GlyphId> = characters.iter().filter_map(|&character| charmap.map(character)).chain([GlyphId::NOTDEF]).collect();
    let mut kept = BTreeSet::new();
    while let Some(id) = open.pop() {
        if kept.insert(id.to_u32())
            && let Some(Glyph::Composite(glyph)) = loca.get_glyf(id, &glyf)?
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
    let offsets: Vec<u8> =
        offsets.into_iter().flat_map(|at| if is_long { at.to_be_bytes().to_vec() } else { ((at / 2) as u16).to_be_bytes().to_vec() }).collect();
    // Version 3: without names of glyphs.
    let post = [0, 3, 0, 0].into_iter().chain([0; 28]).collect();
    let copied = COPIED.iter().filter_map(|&tag| Some((*tag, font.table_data(Tag::new(tag))?.as_bytes().to_vec())));
    let mut tables: Vec<([u8; 4], Vec<u8>)> = copied.chain([(*b"glyf", shapes), (*b"loca", offsets), (*b"post", post)]).collect();
    tables.sort_by_key(|(tag, _)| *tag);
    Ok(file_of(&tables))
}

/// A font's file of its tables.
fn file_of(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.ilog2() as u16;
    let range = 16 << power;
    let mut file = vec![0, 1, 0, 0];
    file.extend([count, range, power, count * 16 - range].iter().flat_map(|number| number.to_be_bytes()));
    let mut at = 12 + 16 * tables.len();
    for (tag, data) in tables {
        file.extend_from_slice(tag);
        file.extend([checksum(data), at as u32, data.len() as u32].iter().flat_map(|number| number.to_be_bytes()));
        at += data.len().next_multiple_of(4);
    }
    for (_, data) in tables {
        file.extend_from_slice(data);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

fn checksum(data: &[u8]) -> u32 {
    let word = |part: &[u8]| part.iter().enumerate().fold(0u32, |sum, (at, &byte)| sum | u32::from(byte) << (24 - 8 * at));
    data.chunks(4).map(word).fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use skrifa::instance::{LocationRef, Size};
    use skrifa::outline::{DrawSettings, OutlinePen};

    use super::*;

    #[derive(Default)]
    struct Path(String);

    impl OutlinePen for Path {
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
        let mut path = Path::default();
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        font.outline_glyphs().get(id).expect("an outline").draw(settings, &mut path).expect("it can be drawn");
        path.0
    }

    #[test]
    fn a_subset_of_a_font_draws_its_letters_as_the_whole_and_no_others() {
        for font in [UBUNTU_LIGHT, HACK_REGULAR] {
            // With one that is made of others.
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
    fn a_picture_has_the_fonts_of_what_it_says() {
        assert_eq!(FontSubsets::default().style(), "");
        let mut subsets = FontSubsets::default();
        subsets.add("abc", Font::Sans);
        assert!(subsets.style().contains("font-family:Ubuntu;font-weight:300;") && !subsets.style().contains("Hack"));
        // Only the font of code has an arrow.
        subsets.add("a→b", Font::Sans);
        assert!(subsets.style().contains("font-family:Hack;font-weight:400;"));
    }
}
