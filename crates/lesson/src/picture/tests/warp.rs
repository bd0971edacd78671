//! The panel of the warp.

use super::super::*;
use super::{recorded, takes, texts};
use crate::Step;
use crate::algorithms::SpecificStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::engines::lockstep::PADDING;
use crate::step::SortPass;

#[test]
fn hit_testing_finds_the_drawn_target() {
    let recording = recorded("uniform:n=200,d=2", 5, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.position_of_merge(0).unwrap());
    let view = View::new(&cursor, 14.0);
    let scene = draw(Panel::Warp, &view, [800.0, 500.0]);
    let center =
        |wanted: Target| scene.spots.iter().find(|spot| spot.target == wanted).unwrap().area.center();
    // Element i of register r is in lane i / 2; the slot that changes places with it is right below it.
    let shape = recording.shape();
    for element in 0..16 {
        let ([x, y], [below_x, below_y]) =
            (center(Target::Element(element)), center(Target::Slot(shape.slot_of(element))));
        let [lane_x, lane_y] = center(Target::Lane(element / 2));
        assert!((x - below_x).abs() < 0.01 && (x - lane_x).abs() < 0.01 && lane_y < y && y < below_y);
        assert_eq!(scene.target_at([x, y]), Some(Target::Element(element)));
    }
}

#[test]
fn order_check_reports_unsorted_registers() {
    for (_, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 0..=take.recording.len() {
            cursor.seek(position);
            let step = cursor.step();
            let told = warp::order_check(cursor.state(), step.as_deref());
            let done = match step.as_deref() {
                Some(Step::Swap | Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Gathered { .. }))) => {
                    continue;
                }
                Some(Step::Layer { layer, .. }) => layer.stride == 1,
                _ => true,
            };
            assert!(told.holds || !done, "position {position}: {told:?}");
            assert_eq!(told.says == "sorted ascending", cursor.state().is_sorted());
        }
    }
    let recording = recorded("uniform:n=64,d=2", 9, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len());
    let mut state = cursor.state().clone();
    state.registers.swap(4, 5);
    let told = warp::order_check(&state, None);
    assert_eq!((told.holds, told.breaks_at), (false, Some(4)));
    assert!(told.says.ends_with("only up to element 4"));
    let minimum = Step::Minimum { taken: crate::ElementSet::default() };
    state.registers.swap(10, 11);
    assert!(!warp::order_check(&state, Some(&minimum)).holds);
    let runs = Step::Layer {
        pass: SortPass::Sort,
        layer: crate::knn::network::Layer { size: 4, stride: 1 },
        shuffle: None,
        swapped: crate::ElementSet::default(),
    };
    assert!(!warp::order_check(&state, Some(&runs)).holds);
}

#[test]
fn padding_is_drawn_as_infinity() {
    let recording = recorded("uniform:n=20,d=2", 0, 8, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len());
    let padding = cursor.state().registers.iter().filter(|&&key| key == PADDING).count();
    assert_eq!(padding, 12);
    let scene = draw(Panel::Warp, &View::new(&cursor, 14.0), [1200.0, 500.0]);
    assert_eq!(texts(&scene).iter().filter(|text| **text == "\u{221e}").count(), padding);
}
