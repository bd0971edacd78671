//! Every text is legible on what is drawn behind it.

use std::collections::BTreeMap;

use super::*;
use crate::cursor::Cursor;
use crate::draw::Paint;
use crate::draw::pen::width;
use crate::palette::{DARK, HIGH_CONTRAST, LIGHT, Palette, TEXT_CONTRAST};
use crate::picture::film::{Film, SIZE};
use crate::picture::page::{areas, inside};

/// Moments of a take that are drawn.
const MOMENTS: usize = 12;

/// The part of an area within a clip.
fn visible(area: Area, clip: Option<Area>) -> Area {
    let clip = clip.unwrap_or(area);
    let (x, y) = (area.x.max(clip.x), area.y.max(clip.y));
    let (right, bottom) =
        ((area.x + area.width).min(clip.x + clip.width), (area.y + area.height).min(clip.y + clip.height));
    Area { x, y, width: (right - x).max(0.0), height: (bottom - y).max(0.0) }
}

/// Each text's paint and the paints behind its middle, from back to front.
fn texts(scene: &Scene, pairs: &mut BTreeMap<String, (Paint, Vec<Paint>, String)>) {
    let mut behind: Vec<(Area, Paint)> = Vec::new();
    let mut clip = None;
    for shape in &scene.shapes {
        match shape {
            Shape::Clip(area) => clip = *area,
            Shape::Rect { area, fill: Some(fill), .. } => behind.push((visible(*area, clip), *fill)),
            Shape::Dots { centers, radius, fill: Some(fill), .. } => {
                behind.extend(centers.iter().map(|[x, y]| {
                    let side = radius * 2.0;
                    let dot = Area { x: x - radius, y: y - radius, width: side, height: side };
                    (visible(dot, clip), *fill)
                }));
            }
            Shape::Text { at: [x, y], anchor, size, font, paint, text } => {
                let wide = width(*font, *size, text);
                let middle = [x + wide * (0.5 - anchor[0]), y + size * (0.5 - anchor[1])];
                let grounds: Vec<Paint> = behind
                    .iter()
                    .filter(|(area, _)| area.contains(middle))
                    .map(|(_, paint)| *paint)
                    .collect();
                pairs.entry(format!("{paint:?} {grounds:?}")).or_insert((*paint, grounds, text.clone()));
            }
            _ => {}
        }
    }
}

fn failures(pairs: &BTreeMap<String, (Paint, Vec<Paint>, String)>, palette: &Palette) -> Vec<String> {
    let over = |below, paint: Paint| paint.ink.color(palette).mixed(below, 1.0 - paint.opacity);
    pairs
        .values()
        .filter_map(|(paint, grounds, text)| {
            let ground = grounds.iter().fold(palette.panel, |below, &paint| over(below, paint));
            let contrast = over(ground, *paint).contrast(ground);
            (contrast < TEXT_CONTRAST).then(|| format!("{contrast:.2}: '{text}', {paint:?} on {grounds:?}"))
        })
        .collect()
}

#[test]
fn all_texts_of_all_lessons_are_legible() {
    let mut pairs = BTreeMap::new();
    for lesson in &LESSONS {
        let film =
            Film::new(lesson, lesson.record(Overrides::default(), &NoProgress).unwrap(), SIZE, 1.0, LIGHT);
        for take in &film.takes {
            let mut cursor = Cursor::new(take.recording.clone());
            let range = take.range.clone();
            for at in range.clone().step_by((range.len() / MOMENTS).max(1)).chain([range.end]) {
                cursor.seek(at);
                let view = View::new(&cursor, film.text);
                for (panel, area) in areas(lesson, &view, film.size) {
                    let room = inside(area, film.text);
                    texts(&draw(panel, &view, [room.width, room.height]), &mut pairs);
                }
            }
        }
    }
    assert!(pairs.len() > 50, "{}", pairs.len());
    let failures: Vec<String> =
        [LIGHT, DARK, HIGH_CONTRAST].iter().flat_map(|palette| failures(&pairs, palette)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The colours of texts in the style of pages, on panels, views and fields.
#[test]
fn all_texts_of_pages_are_legible() {
    let style = include_str!("../../player/player.css");
    let variables = |palette| crate::draw::svg::variables(palette);
    let color = |declared: &str, name: &str| {
        let hex = declared.split(&format!(";--{name}:#")).nth(1).unwrap()[..6].to_owned();
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        crate::palette::Rgb(part(0), part(2), part(4))
    };
    let names: BTreeSet<&str> = style
        .split([';', '{'])
        .filter_map(|rule| rule.trim().strip_prefix("color: var(--")?.split(')').next())
        .collect();
    assert!(names.contains("text-weak") && names.contains("intermediate-text"), "{names:?}");
    for palette in [&LIGHT, &DARK] {
        let declared = variables(palette);
        for name in &names {
            let grounds: &[&str] =
                if *name == "on-accent" { &["accent"] } else { &["canvas", "panel", "field"] };
            for ground in grounds {
                let contrast = color(&declared, name).contrast(color(&declared, ground));
                assert!(contrast >= TEXT_CONTRAST, "{name} on {ground}: {contrast:.2}");
            }
        }
    }
}
