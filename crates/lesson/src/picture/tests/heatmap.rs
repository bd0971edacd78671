//! Many registers per lane, as a map of colours.

use super::super::heatmap::Focus;
use super::super::pen::digits;
use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{check, recorded, texts};
use crate::Step;
use crate::engines::lockstep::{PADDING, distance_of};

fn warp<'a>(cursor: &'a Cursor, hover: Option<Target>) -> (View<'a>, Scene) {
    let view = View { hover, ..View::new(cursor, 14.0) };
    (view, draw(Panel::Warp, &view, [900.0, 620.0]))
}

#[test]
fn padding_is_hatched_and_focused_keys_are_labelled() {
    let recording = recorded("uniform:n=1500,d=2", 9, 1024, 32);
    let mut cursor = Cursor::new(recording.clone());
    let (mut some, mut none) = (0, 0);
    for position in (1..=recording.len()).rev().step_by(7) {
        cursor.seek(position);
        for hover in [None, Some(Target::Lane(31)), Some(Target::Element(40)), Some(Target::Slot(100))] {
            let (view, scene) = warp(&cursor, hover);
            check(&scene, &format!("position {position}, {hover:?}"));
            let focus = Focus::new(&view);
            match hover {
                Some(Target::Lane(lane)) => assert_eq!(focus, Focus::Lane(lane)),
                Some(Target::Element(_)) => assert_eq!(focus, Focus::Lane(1)),
                Some(Target::Slot(_)) => assert_eq!(focus, Focus::Slots(3)),
                _ => {}
            }
            let words = texts(&scene);
            for (_, _, key) in focus.keys(cursor.state()) {
                let written =
                    if key == PADDING { "\u{221e}".to_owned() } else { digits(distance_of(key), 3) };
                assert!(words.contains(&written.as_str()), "position {position}, {focus:?}: {written}");
            }
            // Cells are drawn before the text beside them.
            let [first, last] = [0, 1023].map(|element| {
                scene.spots.iter().find(|spot| spot.target == Target::Element(element)).unwrap().area
            });
            let is_register = |[x, y]: [f32; 2]| {
                (first.x..last.right()).contains(&x) && (first.y..last.bottom()).contains(&y)
            };
            let hatched = scene.shapes.iter().filter(|shape| {
                matches!(
                    shape,
                    Shape::Path { points, line }
                        if points.len() == 2
                            && line.paint.ink == Ink::TextWeak
                            && points[0][0] < points[1][0]
                            && points[0][1] > points[1][1]
                            && is_register([
                                (points[0][0] + points[1][0]) / 2.0,
                                (points[0][1] + points[1][1]) / 2.0,
                            ])
                )
            });
            let padding = cursor.state().registers.iter().filter(|&&key| key == PADDING).count();
            assert_eq!(hatched.count(), padding, "position {position}, {hover:?}");
            (some, none) = (some + usize::from(padding > 0), none + usize::from(padding == 0));
        }
    }
    assert!(some > 0 && none > 0, "{some}, {none}");
}

/// If the registers are in order, so are the colours: down each lane, and from lane to lane.
#[test]
fn sorted_registers_form_a_colour_gradient() {
    let recording = recorded("uniform:n=1500,d=2", 9, 1024, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.position_of_merge(0).unwrap());
    let (_, scene) = warp(&cursor, None);
    let mut cells: Vec<([f32; 2], f32)> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Rect { area, fill: Some(fill), round, line: None } if *round == 0.0 => match fill.ink {
                Ink::Scale(magnitude) if area.y > 60.0 => Some(([area.x, area.y], magnitude)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(cells.len(), 1024);
    cells.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]).then(a.0[1].total_cmp(&b.0[1])));
    assert!(cells.is_sorted_by(|a, b| a.1 <= b.1));
}

#[test]
fn focus_follows_the_step() {
    let recording = recorded("uniform:n=2500,d=2", 9, 700, 32);
    let mut cursor = Cursor::new(recording.clone());
    let mut seen = 0;
    for position in 1..=recording.len() {
        cursor.seek(position);
        let focus = Focus::new(&View::new(&cursor, 14.0));
        match cursor.step().as_deref() {
            Some(Step::MaxDistance { .. }) => assert_eq!(focus, Focus::Lane(699 / 32)),
            Some(Step::Appended { placed }) => {
                assert_eq!(focus, Focus::Slots(placed.last().unwrap().slot / 32))
            }
            Some(Step::Layer { swapped, .. }) if swapped.count() > 0 => {
                assert_eq!(focus, Focus::Lane(swapped.iter().next().unwrap() / 32))
            }
            _ => continue,
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}
