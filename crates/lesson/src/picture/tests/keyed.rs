//! The points of the map whose keys a merge has in the registers.

use super::super::page::areas;
use super::super::scene::{HitArea, Shape};
use super::super::*;
use super::{check, recorded};
use crate::Step;
use crate::engines::lockstep::{PADDING, index_of};
use crate::lessons::{Overrides, named};
use crate::progress::NoProgress;

/// The numbers in the map, with the targets below them.
fn numbered(scene: &Scene) -> Vec<(u32, Vec<Target>)> {
    let numbers = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text { at, anchor: [0.5, 0.5], text, .. } => Some((*at, text.parse::<u32>().ok()?)),
        _ => None,
    });
    // Other targets may overlap a number; it is in the centre of its own.
    let is_at = |spot: &&HitArea, at: [f32; 2]| {
        let [x, y] = spot.area.center();
        (x - at[0]).hypot(y - at[1]) < 0.01
    };
    let points = |at: [f32; 2]| {
        scene.spots.iter().filter(move |spot| is_at(spot, at)).map(|spot| spot.target).collect()
    };
    numbers.map(|(at, element)| (element, points(at))).collect()
}

#[test]
fn points_are_labelled_with_their_element_number() {
    let recording = recorded("uniform:n=64,d=2", 9, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let mut seen = 0;
    for position in 0..=recording.len() {
        cursor.seek(position);
        let scene = draw(Panel::Cloud, &View::new(&cursor, 14.0), [600.0, 500.0]);
        check(&scene, &format!("position {position}"));
        let merges = matches!(
            cursor.step().as_deref(),
            Some(Step::Swap | Step::Layer { .. } | Step::Minimum { .. } | Step::MaxDistance { .. })
        );
        let numbers = numbered(&scene);
        assert_eq!(!numbers.is_empty(), merges, "position {position}");
        for (element, targets) in numbers {
            let key = cursor.state().registers[element as usize];
            assert!(
                key != PADDING && targets.contains(&Target::Point(index_of(key))),
                "position {position}, element {element}"
            );
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen}");
}

/// The map of a lesson does not move when a merge begins or ends.
#[test]
fn map_stays_fixed_during_merges() {
    let recording = recorded("uniform:n=64,d=2", 9, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let map = |cursor: &Cursor| draw(Panel::Cloud, &View::new(cursor, 14.0), [600.0, 500.0]).maps[0];
    let first = map(&cursor);
    for position in 1..=recording.len() {
        cursor.seek(position);
        assert_eq!(map(&cursor), first, "position {position}");
    }
}

/// The lessons on sorting and merging end with a map to drag points on beside the network; with large type, it
/// is one key press away.
#[test]
fn sorting_lessons_include_a_map() {
    for id in ["sort", "wide", "merge"] {
        let lesson = named(id).unwrap();
        let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start + 1..=take.range.end {
            cursor.seek(position);
            let end = position == take.range.end;
            for text in [12.0, 24.0].into_iter().filter(|text| end || *text > 16.0) {
                let view = View::new(&cursor, text);
                let zoomed = View { zoom: (text > 16.0).then_some(Panel::Cloud), ..view };
                let maps = page(lesson, &take, &zoomed, [1280.0, 720.0]).maps.len();
                assert_eq!(maps, 1, "{id}, position {position}, text {text}");
            }
            let expected = match id {
                "merge" if end => Panel::Cloud,
                "merge" => Panel::Curves,
                _ => Panel::Network,
            };
            let areas = areas(lesson, &View::new(&cursor, 24.0), [1280.0, 720.0]);
            assert_eq!(areas[1].0, expected, "{id}, position {position}");
        }
    }
}
