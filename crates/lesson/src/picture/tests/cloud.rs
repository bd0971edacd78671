//! The panel of the points.

use super::super::moment::nearest;
use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{recorded, takes, targets, texts};
use crate::Step;
use crate::engines::lockstep::{Key, PADDING, index_of};
use crate::lessons::SearchAlgorithm;

#[test]
fn nearest_points_match_all_merged_points() {
    let recording = recorded("uniform:n=400,d=2", 9, 12, 8);
    let mut cursor = Cursor::new(recording.clone());
    let (mut merged, mut waiting) = (Vec::<Key>::new(), Vec::new());
    for position in 1..=recording.len() {
        cursor.seek(position);
        match &recording.steps()[position - 1] {
            Step::Appended { placed } => waiting.extend(placed.iter().map(|candidate| candidate.key)),
            Step::Minimum { .. } => merged.append(&mut waiting),
            _ => {}
        }
        let mut best = merged.clone();
        best.sort_unstable();
        best.truncate(12);
        assert_eq!(nearest(&cursor), best, "position {position}");
    }
}

/// Hovering a lane, slot or element shows its point.
#[test]
fn hovered_targets_are_marked_in_the_cloud() {
    let recording = recorded("uniform:n=200,d=2", 5, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let position = (0..recording.len())
        .rev()
        .find(|&at| matches!(recording.steps()[at], Step::Appended { .. }))
        .unwrap()
        + 1;
    cursor.seek(position);
    let state = cursor.state();
    let cases = [
        (Target::Point(7), 7),
        (Target::Lane(2), state.group.unwrap() + 2),
        (Target::Slot(0), index_of(state.buffer[0])),
        (Target::Element(3), index_of(state.registers[3])),
    ];
    for (target, point) in cases {
        let scene =
            draw(Panel::Cloud, &View { hover: Some(target), ..View::new(&cursor, 14.0) }, [500.0, 400.0]);
        let spot = scene.spots.iter().find(|spot| spot.target == Target::Point(point)).unwrap().area.center();
        let marked = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Dots { centers, fill: None, line: Some(line), .. } if line.paint == Ink::Text.into() => {
                Some(centers[0])
            }
            _ => None,
        });
        let [x, y] = marked.unwrap();
        assert!((x - spot[0]).abs() < 0.01 && (y - spot[1]).abs() < 0.01, "{target:?}");
        assert!(texts(&scene).iter().any(|text| text.starts_with(&format!("Point {point} "))), "{target:?}");
    }
}

/// The radius of the circle of `max_distance`, in pixels.
fn circle(scene: &Scene) -> Option<f32> {
    scene.shapes.iter().find_map(|shape| match shape {
        Shape::Dots { radius, line: Some(line), .. } if line.paint.ink == Ink::Intermediate => Some(*radius),
        _ => None,
    })
}

fn dots_of_points(scene: &Scene) -> usize {
    let count = |shape: &Shape| match shape {
        Shape::Dots { centers, fill: Some(fill), .. } if fill.ink == Ink::Point => centers.len(),
        _ => 0,
    };
    scene.shapes.iter().map(count).sum()
}

#[test]
fn circle_is_drawn_only_in_two_dimensions() {
    for (spec, circles, says) in [
        ("uniform:n=300,d=1", false, "both sides"),
        ("uniform:n=300,d=2", true, "Circle: \u{221a}max_distance"),
        ("uniform:n=300,d=5", false, "all 5 dimensions"),
    ] {
        let recording = recorded(spec, 9, 8, 8);
        let mut cursor = Cursor::new(recording.clone());
        cursor.seek(recording.len());
        let view = View::new(&cursor, 14.0);
        let scene = draw(Panel::Cloud, &view, [700.0, 500.0]);
        assert_eq!(circle(&scene).is_some(), circles, "{spec}");
        assert!(texts(&scene).iter().any(|text| text.contains(says)), "{spec}: {:?}", texts(&scene));
        // The farthest neighbour lies on it.
        if let Some(radius) = circle(&scene) {
            let spot = |point: u32| {
                scene.spots.iter().find(|spot| spot.target == Target::Point(point)).unwrap().area.center()
            };
            let query = spot(9);
            let far = nearest(&cursor).last().map(|&key| spot(index_of(key))).unwrap();
            assert!(((far[0] - query[0]).hypot(far[1] - query[1]) - radius).abs() < 0.5, "{radius}");
        }
    }
    let recording = recorded("uniform:n=300,d=5", 9, 8, 8);
    let cursor = Cursor::new(recording);
    let scene = draw(Panel::Cloud, &View::new(&cursor, 14.0), [700.0, 500.0]);
    assert!(texts(&scene).contains(&"300 points, axes 1 and 2 of 5"));
    assert_eq!(dots_of_points(&scene), 300);
}

#[test]
fn large_clouds_are_subsampled_with_a_note() {
    let recording = recorded("uniform:n=60000,d=2", 9, 8, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len());
    let view = View::new(&cursor, 14.0);
    let scene = draw(Panel::Cloud, &view, [700.0, 500.0]);
    assert!(texts(&scene).iter().any(|text| text.starts_with("20,000 of 60,000 points")));
    // The lens draws its points a second time.
    assert!(dots_of_points(&scene) > 20_000 && scene.maps[0].lens.is_some());
    let start = Cursor::new(recording.clone());
    assert_eq!(dots_of_points(&draw(Panel::Cloud, &View::new(&start, 14.0), [700.0, 500.0])), 20_000);
    assert_eq!(scene, draw(Panel::Cloud, &view, [700.0, 500.0]), "the same ones every time");
    // The neighbours are always drawn.
    let spots = targets(&scene);
    assert!(
        nearest(&cursor).iter().all(|&key| spots.contains(&format!("{:?}", Target::Point(index_of(key)))))
    );
}

/// In the lessons on selections the plane uses their terms, and a colour means the same at every moment.
#[test]
fn legends_match_the_search() {
    for (lesson, take) in takes().filter(|(lesson, _)| {
        matches!(lesson.search, SearchAlgorithm::WarpSelect | SearchAlgorithm::RadixSelect)
    }) {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 0..=take.recording.len() {
            cursor.seek(position);
            let scene = draw(Panel::Cloud, &View::new(&cursor, 14.0), [700.0, 500.0]);
            let words = texts(&scene).join(" | ");
            for foreign in ["buffer", "candidate", "max_distance", "ballot"] {
                assert!(!words.contains(foreign), "lesson {}, position {position}: {words}", lesson.number);
            }
            let Some(queues) = cursor.state().queues() else { continue };
            let waiting = queues.keys.iter().filter(|&&key| key != PADDING).count();
            assert!(
                words.contains(&format!("{waiting} in the lanes' queues")),
                "position {position}: {words}"
            );
            let dots = |shape: &Shape| match shape {
                Shape::Dots { centers, fill: Some(fill), .. } if *fill == Ink::Buffer.into() => centers.len(),
                _ => 0,
            };
            // The legend's entry adds one dot.
            assert_eq!(scene.shapes.iter().map(dots).sum::<usize>(), waiting + 1, "position {position}");
        }
    }
}
