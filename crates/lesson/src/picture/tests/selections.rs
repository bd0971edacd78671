//! The panels of warp select and radix select.

use std::collections::BTreeSet;

use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{takes, texts};
use crate::Step;
use crate::algorithms::SpecificStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::engines::lockstep::{Key, PADDING};
use crate::lessons::SearchAlgorithm;

/// The panels of selections show the recorded values.
#[test]
fn queues_and_buckets_match_the_recording() {
    for (lesson, take) in takes().filter(|(lesson, _)| {
        matches!(lesson.search, SearchAlgorithm::WarpSelect | SearchAlgorithm::RadixSelect)
    }) {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 1..=take.recording.len() {
            cursor.seek(position);
            let view = View::new(&cursor, 14.0);
            let state = cursor.state();
            if let Some(queues) = state.queues() {
                let scene = draw(Panel::Queues, &view, [900.0, 520.0]);
                let shown = texts(&scene).iter().filter(|text| **text == "\u{221e}").count();
                let padding =
                    queues.keys.iter().chain(&state.registers).filter(|&&key| key == PADDING).count();
                assert_eq!(shown, padding, "lesson {}, position {position}", lesson.number);
            }
            if let Some(buckets) = state.buckets() {
                let scene = draw(Panel::Buckets, &view, [900.0, 520.0]);
                let numbers: Vec<String> = buckets
                    .counts
                    .iter()
                    .chain(&buckets.sums)
                    .map(|&number| crate::text::thousands(number.into()))
                    .collect();
                let words = texts(&scene);
                assert!(
                    numbers.iter().all(|number| words.contains(&number.as_str())),
                    "lesson {}, position {position}",
                    lesson.number
                );
            }
        }
    }
}

/// The headings of warp select's queues are true at every moment, and name what is marked.
#[test]
fn queue_headings_match_every_step() {
    let mut orders = BTreeSet::new();
    for (_, take) in takes().filter(|(lesson, _)| lesson.search == SearchAlgorithm::WarpSelect) {
        let shape = take.recording.shape();
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 1..=take.recording.len() {
            cursor.seek(position);
            let (state, step) = (cursor.state(), cursor.step());
            let Some(queues) = state.queues() else { continue };
            let scene = draw(Panel::Queues, &View::new(&cursor, 14.0), [1200.0, 520.0]);
            let starting = |start: &str| {
                texts(&scene).into_iter().find(|text| text.starts_with(start)).unwrap().to_owned()
            };
            let (lanes, warp) = (starting("The lanes' queues"), starting("The warp's queue"));
            let goes = |words: &str, keys: &[Key]| {
                if words.contains("ascending, then descending")
                    || words.contains("descending, then ascending")
                {
                    !keys.is_sorted() && !keys.is_sorted_by(|a, b| a >= b) && moment::is_bitonic(keys)
                } else if words.contains("descending") {
                    keys.is_sorted_by(|a, b| a >= b) && !keys.is_sorted()
                } else {
                    words.contains("ascending") && keys.is_sorted()
                }
            };
            if queues.is_list {
                assert!(goes(&lanes, &queues.keys), "position {position}: {lanes}");
                orders.insert(lanes.split(';').next().unwrap().to_owned());
            } else {
                let of_lane =
                    |lane: u32| queues.keys.iter().skip(lane as usize).step_by(shape.width as usize);
                assert!(
                    lanes.contains("the largest key first")
                        && (0..shape.width).all(|lane| of_lane(lane).is_sorted_by(|a, b| a >= b))
                );
            }
            let is_empty = state.registers.iter().all(|&key| key == PADDING);
            assert!(
                if is_empty { warp.ends_with("still empty") } else { goes(&warp, &state.registers) },
                "position {position}: {warp}"
            );
            // Frames around cells, by the colour of their lines.
            let frames = |ink: Ink| {
                let is = |shape: &&Shape| {
                    matches!(
                        shape,
                        Shape::Rect { fill: None, line: Some(line), .. } if line.paint == ink.into()
                    )
                };
                scene.shapes.iter().filter(is).count()
            };
            assert_eq!(
                frames(Ink::Accent),
                usize::from(warp.ends_with("marked: the k-th")),
                "position {position}: {warp}"
            );
            let green = match step.as_deref() {
                Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Exchanged { taken }))) => {
                    assert_eq!(
                        taken.count() > 0,
                        warp.ends_with("marked: came from the list") && lanes.ends_with("marked: exchanged")
                    );
                    2 * taken.count() as usize
                }
                Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::QueuesSorted)))
                    if state.last() != PADDING =>
                {
                    assert!(lanes.ends_with("marked: below the k-th"), "position {position}: {lanes}");
                    queues.keys.iter().filter(|&&key| key < state.last()).count()
                }
                _ => 0,
            };
            assert_eq!(frames(Ink::Intermediate), green, "position {position}: {lanes}, {warp}");
            let broken =
                if let Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Checked { broken }))) =
                    step.as_deref()
                {
                    broken.count_ones() as usize
                } else {
                    0
                };
            assert_eq!(
                (frames(Ink::Error), broken > 0),
                (broken, lanes.ends_with("marked: breaks the invariant")),
                "position {position}: {lanes}"
            );
            // Only taken keys are amber.
            let taken =
                if let Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed }))) =
                    step.as_deref()
                {
                    placed.len()
                } else {
                    0
                };
            assert_eq!(
                (frames(Ink::Candidate), taken > 0),
                (taken, lanes.ends_with("marked: just inserted")),
                "position {position}: {lanes}"
            );
        }
    }
    assert!(
        orders.iter().any(|order| order.contains("one list, ascending"))
            && orders.iter().any(|order| order.contains("descending")),
        "{orders:?}"
    );
}
