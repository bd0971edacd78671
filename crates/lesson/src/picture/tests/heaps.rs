//! The panels of per-thread heaps and the meter show the recorded values.

use std::collections::BTreeSet;

use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{check, targets, texts};
use crate::algorithms::SpecificStep;
use crate::algorithms::heap::HeapStep;
use crate::engines::lockstep::{PADDING, distance_of, index_of};
use crate::lessons::{Lesson, Overrides, Take, named};
use crate::meter::{ROWS, Strategy, words};
use crate::progress::NoProgress;
use crate::step::Step;

fn take() -> (&'static Lesson, Take) {
    let lesson = named("heap").unwrap();
    (lesson, lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0))
}

fn view(cursor: &Cursor, hover: Option<Target>) -> View<'_> {
    View { hover, ..View::new(cursor, 14.0) }
}

/// The number of frames of an ink without a fill.
fn frames(scene: &Scene, ink: Ink) -> usize {
    let is = |shape: &&Shape| {
        matches!(
            shape,
            Shape::Rect { fill: None, line: Some(line), .. } if line.paint == ink.into()
        )
    };
    scene.shapes.iter().filter(is).count()
}

#[test]
fn heap_panel_matches_the_lane() {
    let (_, take) = take();
    let mut cursor = Cursor::new(take.recording.clone());
    for position in (1..=take.recording.len()).step_by(3) {
        cursor.seek(position);
        for lane in [0, 5] {
            let scene =
                draw(Panel::Heaps, &view(&cursor, (lane > 0).then_some(Target::Lane(lane))), [900.0, 420.0]);
            let heaps = cursor.state().heaps().unwrap();
            assert!(texts(&scene).iter().any(|text| text.starts_with(&format!("Lane {lane}'s heap: "))));
            let keys = heaps.lane_keys(lane);
            let points: BTreeSet<String> = keys
                .iter()
                .filter(|&&key| key != PADDING)
                .map(|&key| format!("{:?}", Target::Point(index_of(key))))
                .collect();
            let lanes: BTreeSet<String> =
                (0..heaps.width).map(|lane| format!("{:?}", Target::Lane(lane))).collect();
            assert_eq!(targets(&scene), &points | &lanes, "position {position}");
            // Each key is written where it is drawn, and the root also among the roots.
            for &key in keys.iter().filter(|&&key| key != PADDING) {
                let words = pen::digits(distance_of(key), 3);
                assert!(texts(&scene).contains(&words.as_str()), "position {position}: {words}");
            }
            // The sinking key and the sorted keys are framed at their current positions.
            let sinks = match cursor.step().as_deref() {
                Some(Step::Own(SpecificStep::Heap(HeapStep::Branched { lanes }))) => lanes >> lane & 1 == 1,
                Some(Step::Own(SpecificStep::Heap(HeapStep::Sank { .. }))) => {
                    heaps.inserting.is_none_or(|lanes| lanes >> lane & 1 == 1)
                }
                Some(Step::Own(SpecificStep::Heap(HeapStep::Extracted { .. }))) => true,
                _ => false,
            };
            assert_eq!(
                frames(&scene, Ink::Candidate),
                usize::from(sinks),
                "position {position}, lane {lane}"
            );
            assert_eq!(frames(&scene, Ink::Neighbor), (heaps.k - heaps.end) as usize, "position {position}");
        }
    }
}

#[test]
fn idle_share_matches_the_meter() {
    let (_, take) = take();
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(take.recording.len());
    let scene = draw(Panel::Heaps, &view(&cursor, None), [900.0, 420.0]);
    let meter = take.recording.meter().unwrap();
    let idle = ROWS.iter().find(|row| row.name == "idle lanes").unwrap();
    let percent = meter.number(idle, Strategy::ThreadPerQuery, &meter.all(Strategy::ThreadPerQuery)).unwrap();
    assert!(
        texts(&scene).iter().any(|text| text.contains(&format!("idle ({percent:.0} %)"))),
        "{percent}: {:?}",
        texts(&scene)
    );
}

#[test]
fn meter_panel_shows_the_recorded_numbers() {
    let (_, take) = take();
    let kernel = named("search")
        .unwrap()
        .record(Overrides { k: Some(8), width: Some(8), ..Overrides::default() }, &NoProgress)
        .unwrap()
        .remove(0);
    for recording in [take.recording, kernel.recording] {
        let meter = recording.meter().unwrap().clone();
        let mut cursor = Cursor::new(recording.clone());
        for position in [0, 1, recording.len() / 3, recording.len()] {
            cursor.seek(position);
            let scene = draw(Panel::Meter, &view(&cursor, None), [900.0, 300.0]);
            check(&scene, "the meter");
            let shown = texts(&scene);
            for row in &ROWS {
                let at = shown.iter().position(|text| *text == row.name).unwrap();
                for (way, text) in Strategy::ALL.into_iter().zip(&shown[at + 1..]) {
                    let number = meter.number(row, way, &meter.so_far(way, cursor.state()));
                    let expected = match number {
                        None => "\u{2013}".to_owned(),
                        Some(number) if row.unit[1] == "%" => format!("{number:.0} %"),
                        Some(number) => words(number),
                    };
                    assert_eq!(**text, expected, "{}, {}, position {position}", row.name, way.name());
                }
            }
        }
    }
}

/// While a question is open, nothing later is shown.
#[test]
fn open_questions_hide_the_meter_totals() {
    let (_, take) = take();
    let cursor = Cursor::new(take.recording.clone());
    let bars = |asking: bool| {
        let scene = draw(Panel::Meter, &View { asking, ..view(&cursor, None) }, [900.0, 300.0]);
        scene.shapes.iter().filter(|shape| matches!(shape, Shape::Rect { .. })).count()
    };
    assert_eq!(bars(true), 0);
    assert!(bars(false) > 20);
}

#[test]
fn cloud_panel_uses_heap_terminology() {
    let (lesson, take) = take();
    let mut cursor = Cursor::new(take.recording.clone());
    for position in (0..=take.recording.len()).step_by(11) {
        cursor.seek(position);
        let scene = draw(Panel::Cloud, &view(&cursor, None), [500.0, 400.0]);
        let said = texts(&scene).join(" | ");
        for foreign in ["buffer", "candidate", "max_distance", "ballot", "queue "] {
            assert!(!said.contains(foreign), "position {position}: {said}");
        }
        // Every lane's number is drawn at its query, once the queries are known.
        let lanes = (0..8).filter(|lane: &u32| texts(&scene).contains(&lane.to_string().as_str())).count();
        assert_eq!(lanes, if position == 0 { 0 } else { 8 });
        check(&page(lesson, &take, &view(&cursor, None), [1280.0, 720.0]), &format!("position {position}"));
    }
}
