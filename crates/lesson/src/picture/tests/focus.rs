//! The rows of a large network that are in focus.

use std::collections::BTreeSet;

use super::super::focus::Focus;
use super::super::moment::running_sort;
use super::super::*;
use super::{recorded, targets};
use crate::Step;

#[test]
fn focus_includes_both_ends_of_a_comparator() {
    for (k, width) in [(64, 4), (64, 32), (128, 8), (512, 32), (1024, 32)] {
        let recording = recorded(&format!("uniform:n={},d=2", 2 * k), 9, k, width);
        let mut cursor = Cursor::new(recording.clone());
        let mut layers = 0;
        for position in recording.range_of_merge(1).unwrap() {
            cursor.seek(position + 1);
            let Some(Step::Layer { layer, .. }) = cursor.step().as_deref().cloned() else { continue };
            let run = running_sort(&cursor).unwrap();
            let far = [
                None,
                Some(Target::Element(k as u32 - 1)),
                Some(Target::Comparator(layer.stride)),
                Some(Target::Element(k as u32 / 3)),
            ];
            for hover in far {
                let view = View { hover, ..View::new(&cursor, 14.0) };
                let focus = Focus::new(&view, &run, 8);
                let elements: BTreeSet<u32> = focus.elements.iter().copied().collect();
                let ends: BTreeSet<u32> = focus.pairs.iter().flat_map(|pair| [pair.low, pair.high]).collect();
                assert_eq!((elements.len(), &elements), (16, &ends), "K = {k}, {layer:?}, {hover:?}");
                assert!(focus.pairs.iter().all(|pair| *pair == layer.comparator_of(pair.low)));
                if let Some(Target::Element(at) | Target::Comparator(at)) = hover {
                    assert!(elements.contains(&at), "K = {k}, {layer:?}: the hovered element is in focus");
                }
                let scene = draw(Panel::Network, &view, [700.0, 620.0]);
                let drawn: BTreeSet<String> =
                    targets(&scene).into_iter().filter(|target| target.starts_with("Comparator")).collect();
                let expected: BTreeSet<String> =
                    focus.pairs.iter().map(|pair| format!("{:?}", Target::Comparator(pair.low))).collect();
                assert_eq!(drawn, expected);
                // The bar leads to every part of the list.
                let bar = (0..k as u32).step_by(16).map(|first| format!("{:?}", Target::Element(first)));
                assert!(bar.into_iter().all(|target| targets(&scene).contains(&target)));
            }
            layers += 1;
        }
        assert!(layers > 20);
    }
}

/// A question about the next layer hides its comparators, and shows those of the last one.
#[test]
fn open_questions_hide_comparators_of_the_next_layer() {
    let recording = recorded("uniform:n=300,d=2", 9, 128, 32);
    let swap = recording.steps().iter().position(|step| *step == Step::Swap).unwrap();
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(swap + 1);
    let view = View { asking: true, ..View::new(&cursor, 14.0) };
    let scene = draw(Panel::Network, &view, [700.0, 620.0]);
    assert!(targets(&scene).iter().all(|target| !target.starts_with("Comparator")));
    assert!((0..16).all(|element| targets(&scene).contains(&format!("{:?}", Target::Element(element)))));
}
