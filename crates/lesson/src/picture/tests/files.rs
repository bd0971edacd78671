//! Written files: every page compared with another renderer, and every character.

use warpscope_draw::testing::count_differing;

use crate::describe::describe;
use crate::draw::fonts;
use crate::draw::svg::svg;
use crate::lessons::{LESSONS, Overrides};
use crate::palette::DARK;
use crate::picture::film::{Film, SIZE};
use crate::progress::NoProgress;
use crate::{Cursor, Level};

/// Covers the pages of all lessons, not only shapes made for a test.
#[test]
fn svg_pages_match_the_raster() {
    for lesson in &LESSONS {
        let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
        let film = Film::new(lesson, takes, SIZE, 1.0, DARK);
        let at = film.lead().range.end;
        let ours = film.image(at).unwrap();
        let far = count_differing(&svg(&film.scene(at), &film.palette), &ours, 1.0);
        assert!(
            far < ours.as_raw().len() / 50,
            "lesson {}: {far} of {} values differ",
            lesson.number,
            ours.as_raw().len()
        );
    }
}

/// No text of a lesson has a missing glyph.
#[test]
fn every_character_of_the_lessons_has_a_glyph() {
    // Other characters that pictures may use: arrows, marks, operators, superscripts.
    let mut said: String = "\u{221e}\u{2212}\u{00d7}\u{00b7}\u{2264}\u{2265}\u{2260}\u{2248}\u{221a}\
                            \u{2190}\u{2192}\u{2191}\u{2193}\u{2194}\u{21c4}\
                            \u{2026}\u{2013}\u{2014}\u{201c}\u{201d}\u{2018}\u{2019}\
                            \u{2308}\u{2309}\u{230a}\u{230b}\u{00b2}µ^&|<>="
        .to_owned();
    for lesson in &LESSONS {
        said += lesson.title;
        said += lesson.goal;
        said += lesson.paragraph;
        said += lesson.summary;
        for take in lesson.record(Overrides { k: Some(8), ..Overrides::default() }, &NoProgress).unwrap() {
            take.recording.code().lines.iter().for_each(|line| said += line.text);
            let mut cursor = Cursor::new(take.recording.clone());
            while cursor.position() < take.recording.len() {
                cursor.seek(cursor.next(Level::Lane));
                said += &describe(&cursor.step().unwrap(), cursor.state());
            }
            for question in lesson.questions(&take) {
                said += &question.text;
                question.misconceptions.iter().for_each(|misconception| said += &misconception.explanation);
                said += &question.right(take.recording.shape().width);
                question.options.iter().chain(&question.why).for_each(|text| said += text);
            }
        }
    }
    let mut missing: Vec<char> = said.chars().filter(|&character| !fonts::has_glyph(character)).collect();
    missing.sort_unstable();
    missing.dedup();
    assert!(missing.is_empty(), "no glyph for {missing:?}");
}
