//! The panel of the network.

use std::collections::BTreeSet;

use super::super::moment::running_sort;
use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{recorded, texts};
use crate::Step;

/// Comparators of the running layer, as they are drawn: vertical strokes that are not faint.
fn lit(scene: &Scene, ink: Ink) -> usize {
    let counts = |shape: &&Shape| match shape {
        Shape::Path { points, line } => {
            points.len() == 2 && points[0][0] == points[1][0] && line.paint == ink.into()
        }
        _ => false,
    };
    scene.shapes.iter().filter(counts).count()
}

#[test]
fn running_layer_is_highlighted() {
    let cases = [
        ("uniform:n=200,d=2", 8, 8),
        ("uniform:n=200,d=2", 32, 8),
        ("uniform:n=300,d=2", 64, 32),
        ("uniform:n=3000,d=2", 512, 32),
    ];
    for (spec, k, width) in cases {
        let recording = recorded(spec, 9, k, width);
        let capacity = recording.shape().capacity();
        let mut cursor = Cursor::new(recording.clone());
        let mut layers = 0;
        for position in 0..=recording.position_of_merge(1).unwrap() {
            cursor.seek(position);
            let view = View::new(&cursor, 14.0);
            let scene = draw(Panel::Network, &view, [700.0, 500.0]);
            let shown: BTreeSet<u32> = scene
                .spots
                .iter()
                .filter_map(|spot| if let Target::Comparator(low) = spot.target { Some(low) } else { None })
                .collect();
            let step = cursor.step();
            let Some(Step::Layer { layer, swapped, .. }) = step.as_deref() else {
                assert!(shown.is_empty() || matches!(step.as_deref(), Some(Step::MaxDistance { .. })));
                continue;
            };
            layers += 1;
            let all: BTreeSet<u32> = layer.comparators(capacity).map(|comparator| comparator.low).collect();
            if capacity <= 32 {
                assert_eq!(shown, all, "{layer:?}");
            } else {
                let said = format!("In focus: {} of {} comparators", shown.len(), capacity / 2);
                assert!(
                    shown.is_subset(&all) && texts(&scene).iter().any(|text| text.starts_with(&said)),
                    "{said}: {:?}",
                    texts(&scene)
                );
            }
            let swaps = shown.iter().filter(|low| swapped.contains(**low)).count();
            assert_eq!(
                (lit(&scene, Ink::Accent), lit(&scene, Ink::Text)),
                (swaps, shown.len() - swaps),
                "{layer:?}"
            );
            // A click on a layer goes there.
            let positions: BTreeSet<usize> = scene
                .spots
                .iter()
                .filter_map(|spot| if let Target::Position(at) = spot.target { Some(at) } else { None })
                .collect();
            assert!(positions.contains(&position));
            assert!(positions.iter().all(|&at| matches!(recording.steps()[at - 1], Step::Layer { .. })));
        }
        assert!(layers > 10);
    }
}

#[test]
fn wires_carry_the_recorded_keys() {
    let recording = recorded("uniform:n=300,d=2", 9, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let mut past = Cursor::new(recording.clone());
    for position in 0..=recording.len() {
        cursor.seek(position);
        let Some(run) = running_sort(&cursor) else { continue };
        assert_eq!(run.keys.len(), run.done() + 1);
        for (after, keys) in run.keys.iter().enumerate() {
            past.seek(run.start + after);
            assert_eq!(*keys, past.state().registers, "position {position}, {after} layers");
        }
        assert!(run.done() <= run.layers.len());
    }
}

/// Up to 32 wires are drawn in any room, 64 where they can be read.
#[test]
fn wires_are_drawn_only_if_legible() {
    let recording = recorded("uniform:n=300,d=2", 9, 64, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.steps().iter().position(|step| matches!(step, Step::Layer { .. })).unwrap() + 1);
    let comparators = |high: f32| {
        let scene = draw(Panel::Network, &View::new(&cursor, 14.0), [900.0, high]);
        scene.spots.iter().filter(|spot| matches!(spot.target, Target::Comparator(_))).count()
    };
    assert_eq!((comparators(500.0), comparators(900.0)), (8, 32));
}
