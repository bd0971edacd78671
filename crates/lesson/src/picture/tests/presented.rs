//! Pages with type for a classroom's last row: no small type, no overlapping text, one large panel, and any
//! panel can be enlarged.

use super::super::page::{areas, panels_ever, panels_of, sentence_height};
use super::super::pen::width;
use super::super::scene::{Font, Shape};
use super::super::*;
use crate::lessons::{LESSONS, Lesson, Overrides, Take};
use crate::progress::NoProgress;

/// The size of the picture on a screen of 1280 × 720, above the player, and of its running text.
const SIZE: [f32; 2] = [1272.0, 642.0];
const TEXT: f32 = 24.0;

/// Minimum size of type, in points.
const LEAST: f32 = 21.6;

/// The lesson's takes at some of their moments, the first and the last among them.
fn moments(mut look: impl FnMut(&Lesson, &Take, &Cursor)) {
    for lesson in &LESSONS {
        for take in lesson.record(Overrides::default(), &NoProgress).unwrap() {
            let mut cursor = Cursor::new(take.recording.clone());
            let step = (take.range.len() / 40).max(1);
            for position in (take.range.start..take.range.end).step_by(step).chain([take.range.end]) {
                cursor.seek(position);
                look(lesson, &take, &cursor);
            }
        }
    }
}

/// Left, top, right and bottom of the letters.
fn letters(shape: &Shape) -> Option<([f32; 4], &str)> {
    let Shape::Text { at, anchor, size, font, text, .. } = shape else { return None };
    let wide = width(*font, *size, text);
    // The height of capital letters, about the middle of the line.
    let high = size * 0.7;
    let (left, middle) = (at[0] - anchor[0] * wide, at[1] + (0.5 - anchor[1]) * size * 1.2);
    Some(([left, middle - high / 2.0, left + wide, middle + high / 2.0], text))
}

#[test]
fn presentation_text_is_large_and_does_not_overlap() {
    moments(|lesson, take, cursor| {
        let scene = page(lesson, take, &View::new(cursor, TEXT), SIZE);
        let what = format!("lesson {}, step {}", lesson.id, cursor.position());
        for shape in &scene.shapes {
            if let Shape::Text { size, text, .. } = shape {
                assert!(*size >= LEAST - 1e-3, "{what}: `{text}` is {size} high");
            }
        }
        apart(&scene, LEAST, &what);
    });
}

/// Asserts that texts of a smallest size do not overlap, and that texts on one line do not touch.
fn apart(scene: &Scene, least: f32, what: &str) {
    let mut written: Vec<_> = scene.shapes.iter().filter_map(letters).collect();
    written.sort_by(|(a, _), (b, _)| a[1].total_cmp(&b[1]));
    for (at, ([left, top, right, bottom], text)) in written.iter().enumerate() {
        for ([l, t, r, b], other) in written[at + 1..].iter().take_while(|(other, _)| other[1] < *bottom) {
            let (wide, high) = (right.min(*r) - left.max(*l), bottom.min(*b) - top.max(*t));
            let line = high > (bottom - top).min(b - t) * 0.8;
            // Letters that touch can still be read; half a letter cannot, nor two numbers without a gap.
            let over = if line { wide > least * -0.08 } else { wide > least * 0.3 && high > least * 0.2 };
            assert!(!over, "{what}: `{other}` overlaps or touches `{text}` by {wide} × {high}");
        }
    }
}

#[test]
fn text_next_to_panels_does_not_overlap() {
    moments(|lesson, take, cursor| {
        for (size, text) in [([1280.0, 720.0], 16.0), ([960.0, 540.0], 12.0)] {
            let scene = page(lesson, take, &View::new(cursor, text), size);
            apart(&scene, text * 0.6, &format!("lesson {}, {size:?}, step {}", lesson.id, cursor.position()));
        }
    });
}

/// Also with other numbers of lanes and neighbours than the lessons' own, wherever they are supported.
#[test]
fn text_does_not_overlap_with_other_sizes() {
    let mut pages = 0;
    for (lesson, k, width) in LESSONS.iter().flat_map(|lesson| {
        [(8, 4), (5, 8), (16, 16), (32, 32), (100, 32)].map(|(k, width)| (lesson, k, width))
    }) {
        let overrides = Overrides { k: Some(k), width: Some(width), ..Overrides::default() };
        let Ok(takes) = lesson.record(overrides, &NoProgress) else { continue };
        for take in takes {
            let mut cursor = Cursor::new(take.recording.clone());
            for position in take.range.clone().step_by((take.range.len() / 20).max(1)) {
                cursor.seek(position);
                for (size, text) in [([1280.0, 720.0], 16.0), (SIZE, TEXT)] {
                    let what = format!("lesson {}, k {k}, W {width}, {size:?}, step {position}", lesson.id);
                    apart(&page(lesson, &take, &View::new(&cursor, text), size), text * 0.6, &what);
                    pages += 1;
                }
            }
        }
    }
    assert!(pages > 1000, "{pages}");
}

/// A question below a lower page takes the sentence's place.
#[test]
fn panels_keep_their_places_without_the_sentence() {
    moments(|lesson, _, cursor| {
        let view = View::new(cursor, TEXT);
        let lower = [SIZE[0], SIZE[1] - sentence_height(&view, SIZE[0])];
        let without = areas(lesson, &View { sentence: false, ..view }, lower);
        for ((panel, area), (other, lower)) in areas(lesson, &view, SIZE)[1..].iter().zip(&without) {
            let far =
                [area.x - lower.x, area.y - lower.y, area.width - lower.width, area.height - lower.height];
            assert!(
                panel == other && far.iter().all(|far| far.abs() < 0.01),
                "{panel:?}: {area:?}, {lower:?}"
            );
        }
    });
}

#[test]
fn one_panel_dominates_the_page() {
    moments(|lesson, _, cursor| {
        let areas = areas(lesson, &View::new(cursor, TEXT), SIZE);
        let sizes: Vec<f32> = areas
            .iter()
            .filter(|(panel, _)| *panel != Panel::Sentence)
            .map(|(_, area)| area.width * area.height)
            .collect();
        let largest = sizes.iter().copied().fold(0.0, f32::max);
        assert!(
            largest >= sizes.iter().sum::<f32>() * 0.595,
            "lesson {}, step {}: {sizes:?}",
            lesson.id,
            cursor.position()
        );
    });
}

/// The sentence and the title stay; the panel takes the space of all others.
#[test]
fn any_panel_can_be_zoomed() {
    moments(|lesson, take, cursor| {
        let view = View::new(cursor, TEXT);
        let ever = panels_ever(lesson, take);
        for panel in panels_of(lesson, &view) {
            assert!(ever.contains(&panel));
            let alone = View { zoom: Some(panel), ..view };
            let areas = areas(lesson, &alone, SIZE);
            assert_eq!(
                areas.iter().map(|(panel, _)| *panel).collect::<Vec<_>>(),
                [Panel::Sentence, panel],
                "lesson {}",
                lesson.id
            );
            assert!(areas[1].1.width > SIZE[0] * 0.97 && areas[1].1.bottom() < areas[0].1.y);
        }
        let absent =
            Panel::ALL.into_iter().find(|panel| !ever.contains(panel)).expect("no lesson has all panels");
        let shown = super::super::page::areas(lesson, &View { zoom: Some(absent), ..view }, SIZE)[1].0;
        assert_eq!(shown, panels_of(lesson, &view)[0], "the panel in its place, or else the largest");
    });
}

/// The minimum applies only to presented pages; without large type, nothing is omitted.
#[test]
fn minimum_size_applies_only_to_large_type() {
    let lesson = crate::lessons::named("search").unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(120);
    let smallest = |text: f32, size: [f32; 2]| {
        let scene = page(lesson, &take, &View::new(&cursor, text), size);
        let sizes = scene.shapes.iter().filter_map(|shape| {
            if let Shape::Text { size, font: Font::Sans, .. } = shape { Some(*size) } else { None }
        });
        sizes.fold(f32::INFINITY, f32::min) / text
    };
    assert!(smallest(13.0, [1280.0, 720.0]) < 0.8 && smallest(TEXT, SIZE) >= 0.9 - 1e-3);
}
