//! Pictures stay in their size, and show what was recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::moment::{nearest, running, vote};
use super::scene::{Area, Font, Ink, Shape, Spot};
use super::*;
use crate::cloud::{self, Order, Source};
use crate::engines::lockstep::{Key, PADDING, index_of};
use crate::knn::{Metric, Problem, Queries, Setup};
use crate::lesson::lessons::{Choice, LESSONS, Search, Take, named};
use crate::lesson::picture::page::{columns, position_at};
use crate::lesson::questions::{Answer, Ask};
use crate::lesson::recording::Beside;
use crate::lesson::step::Pass;
use crate::lesson::{Recording, Step, record, record_digits, record_heaps, record_queues, record_tree};
use crate::progress::Silent;

/// Wide, small, narrow, large; with the size of text.
const SIZES: [([f32; 2], f32); 5] =
    [([600.0, 330.0], 14.0), ([280.0, 170.0], 11.0), ([300.0, 520.0], 12.0), ([1200.0, 640.0], 24.0), ([360.0, 220.0], 18.0)];

fn takes() -> impl Iterator<Item = (&'static crate::lesson::lessons::Lesson, Take)> {
    LESSONS.iter().flat_map(|lesson| lesson.record(Choice::default(), &Silent).unwrap().into_iter().map(move |take| (lesson, take)))
}

fn recorded(spec: &str, row: usize, k: usize, width: u32) -> Arc<Recording> {
    let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
    let cloud = Arc::new(cloud::load(&source, false, &Silent).unwrap());
    let setup = Setup { k, metric: Metric::L2, order: Order::File, seed: 1, exclude_self: false, drop_zero_rows: false };
    let problem = Problem::new(&cloud, &Queries::Rows(vec![row as u32]), setup).unwrap();
    Arc::new(record(Arc::new(problem), 0, width, None, spec).unwrap())
}

pub(super) fn texts(scene: &Scene) -> Vec<&str> {
    scene.shapes.iter().filter_map(|shape| if let Shape::Text { text, .. } = shape { Some(text.as_str()) } else { None }).collect()
}

pub(super) fn targets(scene: &Scene) -> BTreeSet<String> {
    scene.spots.iter().map(|spot| format!("{:?}", spot.target)).collect()
}

/// Every coordinate is finite, every character can be drawn, and nothing is outside, but for what is cut off.
pub(super) fn check(scene: &Scene, what: &str) {
    let [wide, high] = scene.size;
    // A pixel for strokes along the edge, and what letters hang over.
    let slack = 1.5;
    let mut cut = false;
    let stands = |[left, top, right, bottom]: [f32; 4], clipped: bool, shape: &Shape| {
        assert!([left, top, right, bottom].iter().all(|edge| edge.is_finite()), "{what}: {shape:?}");
        let inside = left >= -slack && top >= -slack && right <= wide + slack && bottom <= high + slack;
        assert!(clipped || inside, "{what}: {shape:?} is outside {wide} × {high}");
    };
    let around = |points: &[[f32; 2]], more: f32| {
        points.iter().fold([f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY], |[l, t, r, b], [x, y]| {
            assert!(x.is_finite() && y.is_finite(), "{what}: {x}, {y}");
            [l.min(x - more), t.min(y - more), r.max(x + more), b.max(y + more)]
        })
    };
    for shape in &scene.shapes {
        match shape {
            Shape::Clip(area) => {
                cut = area.is_some();
                if let Some(area) = area {
                    stands([area.x, area.y, area.right(), area.bottom()], false, shape);
                }
            }
            Shape::Rect { area, line, .. } => {
                assert!(area.width >= 0.0 && area.height >= 0.0, "{what}: {shape:?}");
                let more = line.map_or(0.0, |line| line.width / 2.0);
                stands([area.x - more, area.y - more, area.right() + more, area.bottom() + more], cut, shape);
            }
            Shape::Dots { centers, radius, .. } => {
                assert!(*radius > 0.0 && radius.is_finite() && !centers.is_empty(), "{what}: {shape:?}");
                stands(around(centers, *radius), cut, shape);
            }
            Shape::Path { points, line } => {
                assert!(points.len() > 1 && line.width > 0.0 && line.paint.opacity <= 1.0, "{what}: {shape:?}");
                stands(around(points, line.width / 2.0), cut, shape);
            }
            Shape::Polygon { corners, .. } => stands(around(corners, 0.0), cut, shape),
            Shape::Text { at, anchor, size, font, text, .. } => {
                assert!(*size > 0.0 && size.is_finite() && !text.is_empty(), "{what}: {shape:?}");
                assert!(text.chars().all(fonts::has), "{what}: `{text}`");
                assert!(!text.contains("NaN") && !text.contains("inf ") && !text.ends_with("inf"), "{what}: `{text}`");
                let (wide, high) = (super::pen::width(*font, *size, text), fonts::line(*font).height * size);
                let (left, top) = (at[0] - anchor[0] * wide, at[1] - anchor[1] * high);
                // The room between lines is empty.
                let air = (high - size) / 2.0;
                stands([left, top + air, left + wide, top + high - air], cut, shape);
            }
        }
    }
    for Spot { area, .. } in &scene.spots {
        assert!([area.x, area.y, area.width, area.height].iter().all(|edge| edge.is_finite()) && area.width > 0.0, "{what}: {area:?}");
    }
}

/// What [`check`] is there for.
#[test]
fn what_is_outside_is_found() {
    let area = |x: f32| Area { x, y: 0.0, width: 10.0, height: 10.0 };
    let rect = |x: f32| Shape::Rect { area: area(x), round: 0.0, fill: Some(Ink::Text.into()), line: None };
    let text = |text: &str| Shape::Text {
        at: [60.0, 10.0],
        anchor: [0.0, 0.5],
        size: 12.0,
        font: scene::Font::Sans,
        paint: Ink::Text.into(),
        text: text.to_owned(),
    };
    let fails = |shapes: Vec<Shape>| {
        let scene = Scene { size: [100.0, 20.0], shapes, ..Scene::default() };
        std::panic::catch_unwind(|| check(&scene, "")).is_err()
    };
    assert!(!fails(vec![rect(0.0), rect(90.0), text("short")]));
    assert!(fails(vec![rect(92.0)]) && fails(vec![rect(f32::NAN)]) && fails(vec![text("a long sentence")]) && fails(vec![text("\u{4e00}")]));
    assert!(!fails(vec![Shape::Clip(Some(area(5.0))), rect(500.0), Shape::Clip(None)]));
    assert!(fails(vec![Shape::Clip(Some(area(5.0))), Shape::Clip(None), rect(500.0)]) && fails(vec![Shape::Clip(Some(area(95.0)))]));
}

#[test]
fn every_part_of_every_step_stays_in_its_size() {
    for (lesson, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start..=take.range.end {
            cursor.seek(position);
            for (at, panel) in Panel::ALL.into_iter().enumerate() {
                // All sizes come up for all parts.
                let (size, text) = SIZES[(position + at) % SIZES.len()];
                let scene = draw(panel, &View::of(&cursor, text), size);
                assert_eq!(scene.size, size);
                check(&scene, &format!("lesson {}, {}, position {position}, {panel:?}", lesson.number, take.arrangement.name()));
            }
        }
    }
}

#[test]
fn all_shapes_of_warps_and_clouds_can_be_drawn() {
    let cases = [
        ("uniform:n=300,d=3", 10, 4, 4),
        ("uniform:n=40,d=1", 3, 100, 32),
        ("uniform:n=3,d=2", 0, 5, 8),
        ("duplicates:n=70,d=1,distinct=1", 0, 8, 8),
        ("duplicates:n=300,d=2,distinct=3", 7, 16, 16),
        ("descending:n=500,d=2", 499, 64, 16),
        ("uniform:n=2000,d=2", 5, 1024, 32),
        ("uniform:n=400,d=8", 5, 128, 4),
    ];
    for (spec, row, k, width) in cases {
        let recording = recorded(spec, row, k, width);
        let shape = recording.shape();
        let mut cursor = Cursor::new(recording.clone());
        let everything = [
            None,
            Some(Target::Lane(width - 1)),
            Some(Target::Lane(99)),
            Some(Target::Slot(shape.capacity() - 1)),
            Some(Target::Slot(1 << 20)),
            Some(Target::Element(shape.capacity() - 1)),
            Some(Target::Element(1 << 20)),
            Some(Target::Comparator(0)),
            Some(Target::Point(shape.n - 1)),
            Some(Target::Point(u32::MAX)),
            Some(Target::CodeLine(3)),
            Some(Target::CodeLine(999)),
            Some(Target::Position(1)),
        ];
        let every = (recording.len() / 60).max(1);
        for position in (0..=recording.len()).filter(|at| at % every == 0 || recording.len() - at < 12) {
            cursor.seek(position);
            for (at, panel) in Panel::ALL.into_iter().enumerate() {
                let (size, text) = SIZES[(position / every + at) % SIZES.len()];
                let hover = everything[(position / every * 7 + at) % everything.len()];
                check(&draw(panel, &View { hover, ..View::of(&cursor, text) }, size), &format!("{spec}, k = {k}, {position}, {panel:?}, {hover:?}"));
            }
        }
    }
}

#[test]
fn all_trees_can_be_drawn() {
    for (spec, row, k) in
        [("uniform:n=300,d=3", 10, 4), ("uniform:n=1200,d=1", 3, 100), ("uniform:n=3,d=2", 0, 5), ("duplicates:n=90,d=2,distinct=1", 0, 8)]
    {
        let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
        let cloud = Arc::new(cloud::load(&source, false, &Silent).unwrap());
        let setup = Setup { k, metric: Metric::L2, order: Order::File, seed: 1, exclude_self: false, drop_zero_rows: false };
        let problem = Problem::new(&cloud, &Queries::Rows(vec![row]), setup).unwrap();
        let recording = Arc::new(record_tree(Arc::new(problem), 0, 32, spec).unwrap());
        let mut cursor = Cursor::new(recording.clone());
        let hovers = [
            None,
            Some(Target::Lane(31)),
            Some(Target::Lane(99)),
            Some(Target::Slot(1 << 20)),
            Some(Target::Element(1 << 20)),
            Some(Target::Point(0)),
        ];
        for position in 0..=recording.len() {
            cursor.seek(position);
            for (at, panel) in Panel::ALL.into_iter().enumerate() {
                let (size, text) = SIZES[(position + at) % SIZES.len()];
                let (hover, asking) = (hovers[(position * 7 + at) % hovers.len()], position % 3 == 0);
                check(&draw(panel, &View { hover, asking, ..View::of(&cursor, text) }, size), &format!("{spec}, {position}, {panel:?}, {hover:?}"));
            }
        }
    }
}

#[test]
fn all_selections_can_be_drawn() {
    let cases = [
        ("uniform:n=300,d=3", 10, 4, 4),
        ("uniform:n=1200,d=1", 3, 100, 32),
        ("uniform:n=3,d=2", 0, 5, 8),
        ("duplicates:n=90,d=2,distinct=1", 0, 8, 8),
        ("uniform:n=900,d=2", 4, 500, 16),
    ];
    for (spec, row, k, width) in cases {
        let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
        let cloud = Arc::new(cloud::load(&source, false, &Silent).unwrap());
        let setup = Setup { k, metric: Metric::L2, order: Order::File, seed: 1, exclude_self: false, drop_zero_rows: false };
        let problem = Arc::new(Problem::new(&cloud, &Queries::Rows(vec![row]), setup).unwrap());
        let all = [
            record_queues(Arc::clone(&problem), 0, width, spec).unwrap(),
            record_heaps(Arc::clone(&problem), 0, width, spec).unwrap(),
            record_digits(problem, 0, width, spec).unwrap(),
        ];
        for recording in all.map(Arc::new) {
            let mut cursor = Cursor::new(recording.clone());
            let hovers = [
                None,
                Some(Target::Lane(width - 1)),
                Some(Target::Lane(99)),
                Some(Target::Queued(1)),
                Some(Target::Queued(1 << 20)),
                Some(Target::Point(0)),
            ];
            let every = (recording.len() / 80).max(1);
            for position in (0..=recording.len()).filter(|at| at % every == 0 || recording.len() - at < 12) {
                cursor.seek(position);
                for (at, panel) in Panel::ALL.into_iter().enumerate() {
                    let (size, text) = SIZES[(position + at) % SIZES.len()];
                    let (hover, asking) = (hovers[(position * 7 + at) % hovers.len()], position % 3 == 0);
                    check(
                        &draw(panel, &View { hover, asking, ..View::of(&cursor, text) }, size),
                        &format!("{spec}, {position}, {panel:?}, {hover:?}"),
                    );
                }
            }
        }
    }
}

#[test]
fn spots_name_what_is_there() {
    let set = |all: &mut dyn Iterator<Item = Target>| -> BTreeSet<String> { all.map(|target| format!("{target:?}")).collect() };
    for (_, take) in takes() {
        let recording = &take.recording;
        let shape = recording.shape();
        let mut cursor = Cursor::new(recording.clone());
        for position in take.range.clone().step_by(7) {
            cursor.seek(position);
            let view = View::of(&cursor, 14.0);
            let size = [640.0, 400.0];
            let lanes = set(&mut (0..shape.width).map(Target::Lane));
            let slots = set(&mut (0..shape.capacity()).map(Target::Slot));
            let elements = set(&mut (0..shape.capacity()).map(Target::Element));
            assert_eq!(targets(&draw(Panel::Warp, &view, size)), &(&lanes | &slots) | &elements);
            assert_eq!(targets(&draw(Panel::Ballot, &view, size)), &lanes | &slots);
            let cloud = draw(Panel::Cloud, &view, size);
            let points = set(&mut (0..shape.n).map(Target::Point));
            match cloud.maps.first().and_then(|map| map.lens) {
                None => assert_eq!(targets(&cloud), points),
                // What it covers is not there.
                Some(_) => assert!(targets(&cloud).is_subset(&points) && targets(&cloud).len() * 2 > points.len()),
            }
            assert_eq!(targets(&draw(Panel::Lanes, &view, size)), &(&lanes | &slots) | &elements);
            assert_eq!(targets(&draw(Panel::Buckets, &view, size)), lanes);
            let queued = cursor.state().queues.as_ref().map_or(0, |queues| queues.keys.len() as u32);
            let keys = &set(&mut (0..queued).map(Target::Queued)) | &elements;
            assert_eq!(targets(&draw(Panel::Queues, &view, size)), if queued == 0 { lanes } else { &lanes | &keys });
            assert!(targets(&draw(Panel::Meter, &view, size)).is_empty());
            // The accounts of other searches have no curve.
            let curve = if matches!(recording.held_against(), Beside::Theory) { recording.merges() } else { 0 };
            let merges = (0..curve).map(|merge| Target::Position(recording.position_of_merge(merge).unwrap()));
            assert_eq!(targets(&draw(Panel::Account, &view, size)), set(&mut merges.into_iter()));
            let lines = recording.code().lines.iter().enumerate().filter(|(_, line)| !line.text.is_empty());
            assert_eq!(targets(&draw(Panel::Code, &view, [800.0, 600.0])), set(&mut lines.map(|(at, _)| Target::CodeLine(at))));
            // Where there is little room the running line still is there.
            if let Some(step) = cursor.step() {
                let running = format!("{:?}", Target::CodeLine(recording.code().line_of(&step).unwrap()));
                assert!(targets(&draw(Panel::Code, &view, [300.0, 120.0])).contains(&running));
            }
        }
    }
}

#[test]
fn what_is_pointed_at_is_what_is_drawn_there() {
    let recording = recorded("uniform:n=200,d=2", 5, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.position_of_merge(0).unwrap());
    let view = View::of(&cursor, 14.0);
    let scene = draw(Panel::Warp, &view, [800.0, 500.0]);
    let center = |wanted: Target| scene.spots.iter().find(|spot| spot.target == wanted).unwrap().area.center();
    // Element i of register r is in lane i / 2; the slot that changes places with it is right below it.
    let shape = recording.shape();
    for element in 0..16 {
        let ([x, y], [below_x, below_y]) = (center(Target::Element(element)), center(Target::Slot(shape.slot_of(element))));
        let [lane_x, lane_y] = center(Target::Lane(element / 2));
        assert!((x - below_x).abs() < 0.01 && (x - lane_x).abs() < 0.01 && lane_y < y && y < below_y);
        assert_eq!(scene.target_at([x, y]), Some(Target::Element(element)));
    }
}

/// Comparators of the running layer, as they are drawn: vertical strokes that are not faint.
fn lit(scene: &Scene, ink: Ink) -> usize {
    let counts = |shape: &&Shape| match shape {
        Shape::Path { points, line } => points.len() == 2 && points[0][0] == points[1][0] && line.paint == ink.into(),
        _ => false,
    };
    scene.shapes.iter().filter(counts).count()
}

#[test]
fn the_running_layer_is_lit() {
    let cases = [("uniform:n=200,d=2", 8, 8), ("uniform:n=200,d=2", 32, 8), ("uniform:n=300,d=2", 64, 32), ("uniform:n=3000,d=2", 512, 32)];
    for (spec, k, width) in cases {
        let recording = recorded(spec, 9, k, width);
        let capacity = recording.shape().capacity();
        let mut cursor = Cursor::new(recording.clone());
        let mut layers = 0;
        for position in 0..=recording.position_of_merge(1).unwrap() {
            cursor.seek(position);
            let view = View::of(&cursor, 14.0);
            let scene = draw(Panel::Network, &view, [700.0, 500.0]);
            let shown: BTreeSet<u32> =
                scene.spots.iter().filter_map(|spot| if let Target::Comparator(low) = spot.target { Some(low) } else { None }).collect();
            let step = cursor.step();
            let Some(Step::Layer { layer, swapped, .. }) = step.as_deref() else {
                assert!(shown.is_empty() || matches!(step.as_deref(), Some(Step::MaxDistance { .. })));
                continue;
            };
            layers += 1;
            let all: BTreeSet<u32> = layer.comparators(capacity).map(|comparator| comparator.low).collect();
            if capacity <= 64 {
                assert_eq!(shown, all, "{layer:?}");
            } else {
                let said = format!("{} of {} comparators are drawn", shown.len(), capacity / 2);
                assert!(shown.is_subset(&all) && texts(&scene).iter().any(|text| text.starts_with(&said)), "{said}: {:?}", texts(&scene));
            }
            let swaps = shown.iter().filter(|low| swapped.contains(**low)).count();
            assert_eq!((lit(&scene, Ink::Accent), lit(&scene, Ink::Text)), (swaps, shown.len() - swaps), "{layer:?}");
            // A click on a layer goes there.
            let positions: BTreeSet<usize> =
                scene.spots.iter().filter_map(|spot| if let Target::Position(at) = spot.target { Some(at) } else { None }).collect();
            assert!(positions.contains(&position));
            assert!(positions.iter().all(|&at| matches!(recording.steps()[at - 1], Step::Layer { .. })));
        }
        assert!(layers > 10);
    }
}

#[test]
fn the_sentence_is_what_describe_says() {
    for (_, take) in takes().filter(|(lesson, _)| lesson.id != "order") {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start.max(1)..=take.range.end {
            cursor.seek(position);
            // While a question is open, there is no badge below it.
            let scene = draw(Panel::Sentence, &View { asking: true, ..View::of(&cursor, 16.0) }, [900.0, 92.0]);
            let said = crate::lesson::describe::describe(&cursor.step().unwrap(), cursor.state());
            assert_eq!(texts(&scene).join(" "), said);
        }
    }
}

#[test]
fn slots_and_votes_are_the_recorded_ones() {
    let recording = recorded("uniform:n=600,d=2", 9, 16, 16);
    let mut cursor = Cursor::new(recording.clone());
    let mut checked = 0;
    for position in 1..=recording.len() {
        cursor.seek(position);
        let vote = vote(&cursor);
        match &*cursor.step().unwrap() {
            Step::Group { .. } => assert_eq!(vote.unwrap().mask, None),
            Step::Ballot { mask } => assert_eq!((vote.as_ref().unwrap().mask, vote.unwrap().asked), (Some(*mask), 0xffff)),
            Step::FilteredAgain { rest, mask } => assert_eq!((vote.as_ref().unwrap().mask, vote.unwrap().asked), (Some(*mask), *rest)),
            Step::Positions { slots } => {
                let vote = vote.unwrap();
                let told: Vec<(u32, u32)> = (0..16).filter_map(|lane| Some((lane, vote.slot(lane)?))).collect();
                assert_eq!(told, slots.iter().map(|slot| (slot.lane, slot.slot)).collect::<Vec<_>>());
                checked += 1;
            }
            Step::Appended { placed } => {
                let vote = vote.unwrap();
                assert_eq!(vote.appended as usize, placed.len());
                assert!(placed.iter().all(|candidate| vote.slot(candidate.lane) == Some(candidate.slot)));
            }
            _ => {}
        }
    }
    assert!(checked > 5);
}

#[test]
fn wires_carry_the_recorded_keys() {
    let recording = recorded("uniform:n=300,d=2", 9, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let mut past = Cursor::new(recording.clone());
    for position in 0..=recording.len() {
        cursor.seek(position);
        let Some(run) = running(&cursor) else { continue };
        assert_eq!(run.keys.len(), run.done() + 1);
        for (after, keys) in run.keys.iter().enumerate() {
            past.seek(run.start + after);
            assert_eq!(*keys, past.state().registers, "position {position}, {after} layers");
        }
        assert!(run.done() <= run.layers.len());
    }
}

#[test]
fn the_nearest_so_far_are_those_of_all_merged_points() {
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

#[test]
fn invariants_hold_when_they_should_and_breaks_are_named() {
    for (_, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 0..=take.recording.len() {
            cursor.seek(position);
            let step = cursor.step();
            let told = warp::invariant(cursor.state(), step.as_deref());
            let done = match step.as_deref() {
                Some(Step::Swap | Step::Gathered { .. }) => continue,
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
    let told = warp::invariant(&state, None);
    assert_eq!((told.holds, told.breaks_at), (false, Some(4)));
    assert!(told.says.ends_with("only up to element 4"));
    let minimum = Step::Minimum { taken: crate::lesson::Elements::default() };
    state.registers.swap(10, 11);
    assert!(!warp::invariant(&state, Some(&minimum)).holds);
    let runs = Step::Layer {
        pass: Pass::Sort,
        layer: crate::knn::network::Layer { size: 4, stride: 1 },
        shuffle: None,
        swapped: crate::lesson::Elements::default(),
    };
    assert!(!warp::invariant(&state, Some(&runs)).holds);
}

/// Whoever points at a lane, a slot or an element sees which point that is.
#[test]
fn what_is_pointed_at_is_marked_in_the_cloud() {
    let recording = recorded("uniform:n=200,d=2", 5, 16, 8);
    let mut cursor = Cursor::new(recording.clone());
    let position = (0..recording.len()).rev().find(|&at| matches!(recording.steps()[at], Step::Appended { .. })).unwrap() + 1;
    cursor.seek(position);
    let state = cursor.state();
    let cases = [
        (Target::Point(7), 7),
        (Target::Lane(2), state.group.unwrap() + 2),
        (Target::Slot(0), index_of(state.buffer[0])),
        (Target::Element(3), index_of(state.registers[3])),
    ];
    for (target, point) in cases {
        let scene = draw(Panel::Cloud, &View { hover: Some(target), ..View::of(&cursor, 14.0) }, [500.0, 400.0]);
        let spot = scene.spots.iter().find(|spot| spot.target == Target::Point(point)).unwrap().area.center();
        let marked = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Dots { centers, fill: None, line: Some(line), .. } if line.paint == Ink::Text.into() => Some(centers[0]),
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
fn the_circle_is_there_where_the_plane_is_the_space() {
    for (spec, circles, says) in [
        ("uniform:n=300,d=1", false, "both sides"),
        ("uniform:n=300,d=2", true, "radius \u{221a}max_distance"),
        ("uniform:n=300,d=5", false, "all 5 dimensions"),
    ] {
        let recording = recorded(spec, 9, 8, 8);
        let mut cursor = Cursor::new(recording.clone());
        cursor.seek(recording.len());
        let view = View::of(&cursor, 14.0);
        let scene = draw(Panel::Cloud, &view, [700.0, 500.0]);
        assert_eq!(circle(&scene).is_some(), circles, "{spec}");
        assert!(texts(&scene).iter().any(|text| text.contains(says)), "{spec}: {:?}", texts(&scene));
        // The farthest neighbour lies on it.
        if let Some(radius) = circle(&scene) {
            let spot = |point: u32| scene.spots.iter().find(|spot| spot.target == Target::Point(point)).unwrap().area.center();
            let query = spot(9);
            let far = nearest(&cursor).last().map(|&key| spot(index_of(key))).unwrap();
            assert!(((far[0] - query[0]).hypot(far[1] - query[1]) - radius).abs() < 0.5, "{radius}");
        }
    }
    let recording = recorded("uniform:n=300,d=5", 9, 8, 8);
    let cursor = Cursor::new(recording);
    let scene = draw(Panel::Cloud, &View::of(&cursor, 14.0), [700.0, 500.0]);
    assert!(texts(&scene).contains(&"300 points, axes 1 and 2 of 5"));
    assert_eq!(dots_of_points(&scene), 300);
}

#[test]
fn too_many_points_are_drawn_in_part_and_that_is_said() {
    let recording = recorded("uniform:n=60000,d=2", 9, 8, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len());
    let view = View::of(&cursor, 14.0);
    let scene = draw(Panel::Cloud, &view, [700.0, 500.0]);
    assert!(texts(&scene).iter().any(|text| text.starts_with("20,000 of 60,000 points")));
    assert_eq!(dots_of_points(&scene), 20_000);
    assert_eq!(scene, draw(Panel::Cloud, &view, [700.0, 500.0]), "the same ones every time");
    // The neighbours are drawn, whatever else is not.
    let spots = targets(&scene);
    assert!(nearest(&cursor).iter().all(|&key| spots.contains(&format!("{:?}", Target::Point(index_of(key))))));
}

#[test]
fn padding_is_seen_to_be_empty() {
    let recording = recorded("uniform:n=20,d=2", 0, 8, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len());
    let padding = cursor.state().registers.iter().filter(|&&key| key == PADDING).count();
    assert_eq!(padding, 12);
    let scene = draw(Panel::Warp, &View::of(&cursor, 14.0), [1200.0, 500.0]);
    assert_eq!(texts(&scene).iter().filter(|text| **text == "\u{221e}").count(), padding);
}

#[test]
fn the_account_is_the_states() {
    let recording = recorded("uniform:n=2000,d=2", 9, 32, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len() * 2 / 3);
    let counts = cursor.state().counts;
    let scene = draw(Panel::Account, &View::of(&cursor, 14.0), [500.0, 400.0]);
    let words = texts(&scene);
    for (name, value) in [
        ("points seen", u64::from(counts.points_seen)),
        ("candidates", counts.candidates.into()),
        ("merges", counts.merges.into()),
        ("compare-exchanges", counts.compare_exchanges),
        ("shuffles", counts.shuffles),
    ] {
        let at = words.iter().position(|text| *text == name).unwrap();
        assert_eq!(words[at + 1], crate::text::thousands(value), "{name}");
    }
    // One dot a merge: those that are done are full.
    let dots = |full: bool| {
        let is = |shape: &&Shape| matches!(shape, Shape::Dots { fill: Some(fill), .. } if (fill.ink == Ink::Buffer) == full);
        scene.shapes.iter().filter(is).count()
    };
    assert_eq!((dots(true), dots(false)), (counts.merges as usize, recording.merges() - counts.merges as usize));
}

#[test]
fn pages_hold_their_parts() {
    for (lesson, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for (at, ([wide, high], text)) in
            [([960.0, 540.0], 12.0), ([1280.0, 720.0], 16.0), ([1920.0, 1080.0], 26.0), ([1024.0, 768.0], 14.0)].into_iter().enumerate()
        {
            let step = (take.range.len() / 9).max(1);
            for position in take.range.clone().skip(at).step_by(step) {
                cursor.seek(position);
                let view = View { hover: Some(Target::Lane(3)), ..View::of(&cursor, text) };
                let scene = page(lesson, &take, &view, [wide, high]);
                check(&scene, &format!("lesson {}, {wide} × {high}", lesson.number));
                let words = texts(&scene);
                assert!(words.iter().any(|text| text.starts_with(&format!("Lesson {}: ", lesson.number))));
                let place = format!("step {} of {}", crate::text::thousands(position as u64), crate::text::thousands(take.recording.len() as u64));
                assert!(words.iter().any(|text| text.starts_with(&place)), "{place}");
                // A network that is shown large has layers to go to instead.
                let lane = |spot: &Spot| matches!(spot.target, Target::Lane(0) | Target::Position(_));
                assert!(lesson.id == "problem" || scene.spots.iter().any(lane), "lesson {}, position {position}", lesson.id);
                assert_eq!(
                    scene.spots.iter().any(|spot| matches!(spot.target, Target::Point(_))),
                    !matches!(lesson.id, "sort" | "wide" | "merge" | "wait")
                );
            }
        }
    }
}

#[test]
fn recordings_are_compared_where_as_many_points_were_seen() {
    let lesson = named("order").unwrap();
    let takes = lesson.record(Choice::default(), &Silent).unwrap();
    for seen in [0, 31, 32, 700, 2048, 9999] {
        let cursors: Vec<Cursor> = takes
            .iter()
            .map(|take| {
                let mut cursor = Cursor::new(take.recording.clone());
                let position = position_at(&take.recording, seen);
                cursor.seek(position + 1);
                assert!(cursor.position() == position || cursor.state().counts.points_seen > seen);
                cursor.seek(position);
                assert!(cursor.state().counts.points_seen <= seen && cursor.state().counts.points_seen + 32 > seen.min(2048));
                cursor
            })
            .collect();
        let views: Vec<_> = takes.iter().zip(&cursors).map(|(take, cursor)| (take, View::of(cursor, 14.0))).collect();
        let size = [1280.0, 720.0];
        let scene = comparison(lesson, &views, size);
        check(&scene, &format!("{seen} points"));
        let areas = columns(3, 14.0, size);
        assert_eq!(areas.len(), 3);
        // Each merge's spot lies in the column of its take.
        for (take, column) in takes.iter().zip(&areas) {
            let inside = |area: &Area| column.contains(area.center());
            let shown = scene.spots.iter().filter(|spot| inside(&spot.area) && matches!(spot.target, Target::Position(_))).count();
            assert_eq!(shown, take.recording.merges());
        }
        let merges = texts(&scene).iter().filter(|text| text.ends_with(" merge") || text.ends_with(" merges")).count();
        assert!(merges >= 3);
    }
    assert!(comparison(lesson, &[], [960.0, 540.0]).shapes.is_empty());
}

/// The numbers of the ballot's lanes, from the left, with their sizes, on a page as large as a projector's.
fn distances_on(lesson: &crate::lesson::lessons::Lesson, take: &Take, position: usize, text: f32) -> Vec<(String, f32)> {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(position);
    let scene = page(lesson, take, &View { asking: true, ..View::of(&cursor, text) }, [1280.0, 720.0]);
    let is_number = |text: &str| text.contains('.') && text.parse::<f32>().is_ok();
    // Nothing else on such a page is a number in the fixed font: the warp's 32 keys are bars.
    let mut numbers: Vec<([f32; 4], String, f32)> = Vec::new();
    for shape in &scene.shapes {
        if let Shape::Text { at, anchor, size, font: Font::Mono, text, .. } = shape
            && is_number(text)
        {
            let (wide, left) = (pen::width(Font::Mono, *size, text), at[0] - anchor[0] * pen::width(Font::Mono, *size, text));
            let letters = [left, at[1] - size * 0.36, left + wide, at[1] + size * 0.36];
            for (other, ..) in &numbers {
                let apart = letters[0] >= other[2] || other[0] >= letters[2] || letters[1] >= other[3] || other[1] >= letters[3];
                assert!(apart, "lesson {}, position {position}, text {text}: numbers overlap", lesson.number);
            }
            numbers.push((letters, text.clone(), *size));
        }
    }
    numbers.sort_by(|a, b| (a.0[0] + a.0[2]).total_cmp(&(b.0[0] + b.0[2])));
    numbers.into_iter().map(|(_, words, size)| (words, size)).collect()
}

/// What a class sees is enough to say who votes.
#[test]
fn votes_can_be_told_from_the_picture() {
    let mut asked = 0;
    for (lesson, take) in takes() {
        let width = take.recording.shape().width as usize;
        for question in lesson.questions(&take).iter().filter(|question| question.ask == Ask::Votes) {
            // Of larger type not all of a page finds room.
            for (text, least) in [(16.0, 9.6), (18.0, 10.8), (22.0, 8.0)] {
                let numbers = distances_on(lesson, &take, question.at, text);
                assert_eq!(numbers.len(), width, "lesson {}, position {}, text {text}: {numbers:?}", lesson.number, question.at);
                assert!(numbers.iter().all(|(_, size)| *size >= least), "lesson {}, text {text}: {numbers:?}", lesson.number);
                let bound: f32 = question.text.split(' ').nth(2).unwrap().trim_end_matches('.').parse().unwrap();
                let votes =
                    (0u32..).zip(&numbers).fold(0, |mask, (lane, (number, _))| mask | u32::from(number.parse::<f32>().unwrap() < bound) << lane);
                assert_eq!(question.answer, Answer::Lanes(votes), "lesson {}: {} {numbers:?}", lesson.number, question.text);
                asked += 1;
            }
        }
    }
    assert!(asked > 15, "{asked}");
}

/// Whoever is asked how many merges there will be finds neither them nor what they cost.
#[test]
fn the_end_is_hidden_from_those_who_are_asked() {
    let lesson = named("order").unwrap();
    let takes = lesson.record(Choice::default(), &Silent).unwrap();
    let cursor = Cursor::new(takes[0].recording.clone());
    let expected = crate::lesson::account::account(cursor.state()).expected_in_the_end;
    let tells = |asking: bool| {
        let view = View { asking, ..View::of(&cursor, 16.0) };
        let scene = comparison(lesson, &[(&takes[0], view)], [1280.0, 720.0]);
        let said = texts(&scene).join(" | ");
        [format!("{:.1}", expected.merges), crate::text::thousands(expected.shuffles.round() as u64), "in the end".to_owned()]
            .map(|words| said.contains(&words))
    };
    assert_eq!((tells(false), tells(true)), ([true; 3], [false; 3]));
}

/// Whoever is asked how many merges of the lanes' queues there will be does not find their number.
#[test]
fn merges_of_queues_are_hidden_from_those_who_are_asked() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == Search::Queues).unwrap();
    let take = lesson.record(Choice::default(), &Silent).unwrap().remove(0);
    let cursor = Cursor::new(take.recording.clone());
    let Beside::Queues(queued) = take.recording.held_against() else { panic!("it is held against a buffer") };
    let tells = |asking: bool| {
        let scene = page(lesson, &take, &View { asking, ..View::of(&cursor, 16.0) }, [1280.0, 720.0]);
        let words: BTreeSet<String> = texts(&scene).into_iter().map(str::to_owned).collect();
        // Numbers that no lane has.
        [queued.inserts, queued.buffer.candidates].map(|number| words.contains(&number.to_string()))
    };
    assert_eq!((tells(false), tells(true)), ([true; 2], [false; 2]));
}

/// What a selection's panels show is what was recorded.
#[test]
fn queues_and_buckets_are_the_recorded_ones() {
    for (lesson, take) in takes().filter(|(lesson, _)| matches!(lesson.search, Search::Queues | Search::Digits)) {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 1..=take.recording.len() {
            cursor.seek(position);
            let view = View::of(&cursor, 14.0);
            let state = cursor.state();
            if let Some(queues) = &state.queues {
                let scene = draw(Panel::Queues, &view, [900.0, 520.0]);
                let shown = texts(&scene).iter().filter(|text| **text == "\u{221e}").count();
                let padding = queues.keys.iter().chain(&state.registers).filter(|&&key| key == PADDING).count();
                assert_eq!(shown, padding, "lesson {}, position {position}", lesson.number);
            }
            if let Some(buckets) = &state.buckets {
                let scene = draw(Panel::Buckets, &view, [900.0, 520.0]);
                let numbers: Vec<String> = buckets.counts.iter().chain(&buckets.sums).map(|&number| crate::text::thousands(number.into())).collect();
                let words = texts(&scene);
                assert!(numbers.iter().all(|number| words.contains(&number.as_str())), "lesson {}, position {position}", lesson.number);
            }
        }
    }
}

/// Whoever is asked how many leaves will be visited finds neither their number nor that of another order.
#[test]
fn what_a_tree_will_visit_is_hidden_from_those_who_are_asked() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == Search::Tree).unwrap();
    let take = lesson.record(Choice::default(), &Silent).unwrap().remove(0);
    let (cursor, index) = (Cursor::new(take.recording.clone()), take.recording.index().unwrap());
    let tells = |asking: bool| {
        let scene = page(lesson, &take, &View { asking, ..View::of(&cursor, 16.0) }, [1280.0, 720.0]);
        let words: BTreeSet<String> = texts(&scene).into_iter().map(str::to_owned).collect();
        // Numbers that no lane has.
        [index.visits.accessed, index.visits.left_out, index.as_they_lie.accessed].map(|number| words.contains(&number.to_string()))
    };
    assert_eq!((tells(false), tells(true)), ([true; 3], [false; 3]));
}

/// The headings of warp select's queues say of every moment what is true of it, and what is marked is said to be.
#[test]
fn headings_of_queues_are_true_at_every_step() {
    let mut orders = BTreeSet::new();
    for (_, take) in takes().filter(|(lesson, _)| lesson.search == Search::Queues) {
        let shape = take.recording.shape();
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 1..=take.recording.len() {
            cursor.seek(position);
            let (state, step) = (cursor.state(), cursor.step());
            let Some(queues) = &state.queues else { continue };
            let scene = draw(Panel::Queues, &View::of(&cursor, 14.0), [1200.0, 520.0]);
            let starting = |start: &str| texts(&scene).into_iter().find(|text| text.starts_with(start)).unwrap().to_owned();
            let (lanes, warp) = (starting("The lanes' queues"), starting("The warp's queue"));
            let goes = |words: &str, keys: &[Key]| {
                if words.contains("ascending, then descending") || words.contains("descending, then ascending") {
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
                let of_lane = |lane: u32| queues.keys.iter().skip(lane as usize).step_by(shape.width as usize);
                assert!(lanes.contains("the largest key first") && (0..shape.width).all(|lane| of_lane(lane).is_sorted_by(|a, b| a >= b)));
            }
            let is_empty = state.registers.iter().all(|&key| key == PADDING);
            assert!(if is_empty { warp.ends_with("nothing in it yet") } else { goes(&warp, &state.registers) }, "position {position}: {warp}");
            // Frames around cells, by the colour of their lines.
            let frames = |ink: Ink| {
                let is = |shape: &&Shape| matches!(shape, Shape::Rect { fill: None, line: Some(line), .. } if line.paint == ink.into());
                scene.shapes.iter().filter(is).count()
            };
            assert_eq!(frames(Ink::Accent), usize::from(warp.ends_with("marked: the k-th")), "position {position}: {warp}");
            let green = match step.as_deref() {
                Some(Step::Exchanged { taken }) => {
                    assert_eq!(taken.count() > 0, warp.ends_with("marked: came from the list") && lanes.ends_with("marked: exchanged"));
                    2 * taken.count() as usize
                }
                Some(Step::QueuesSorted) if state.last() != PADDING => {
                    assert!(lanes.ends_with("marked: below the k-th"), "position {position}: {lanes}");
                    queues.keys.iter().filter(|&&key| key < state.last()).count()
                }
                _ => 0,
            };
            assert_eq!(frames(Ink::Intermediate), green, "position {position}: {lanes}, {warp}");
            let broken = if let Some(Step::Checked { broken }) = step.as_deref() { broken.count_ones() as usize } else { 0 };
            assert_eq!((frames(Ink::Error), broken > 0), (broken, lanes.ends_with("marked: breaks the invariant")), "position {position}: {lanes}");
            // Taken keys, and nothing else, are amber.
            let taken = if let Some(Step::Inserted { placed }) = step.as_deref() { placed.len() } else { 0 };
            assert_eq!((frames(Ink::Candidate), taken > 0), (taken, lanes.ends_with("marked: just taken")), "position {position}: {lanes}");
        }
    }
    assert!(
        orders.iter().any(|order| order.contains("one list, ascending")) && orders.iter().any(|order| order.contains("descending")),
        "{orders:?}"
    );
}

/// A merge brings what it brought once it is done: no average counts the keys of one that is not.
#[test]
fn the_average_of_merges_is_of_those_that_are_done() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == Search::Queues).unwrap();
    let take = lesson.record(Choice::default(), &Silent).unwrap().remove(0);
    let mut cursor = Cursor::new(take.recording.clone());
    let (mut merges, mut came, mut coming) = (0, 0, 0);
    for position in 1..=take.recording.len() {
        cursor.seek(position);
        match cursor.step().as_deref() {
            Some(Step::Exchanged { taken }) => coming = taken.count(),
            Some(Step::MaxDistance { .. }) => (merges, came) = (merges + 1, came + coming),
            _ => {}
        }
        let scene = draw(Panel::Account, &View::of(&cursor, 14.0), [500.0, 400.0]);
        let words = texts(&scene);
        let after = |name: &str| words[words.iter().position(|text| *text == name).unwrap() + 1].to_owned();
        let average = if merges == 0 { "\u{2013}".to_owned() } else { crate::text::significant(f64::from(came) / f64::from(merges)) };
        assert_eq!((after("merges"), after("came in a merge")), (merges.to_string(), average), "position {position}");
    }
    assert!(merges > 2);
}

/// In the lessons of selections the plane's words are of their own search, and a colour means the same at every moment.
#[test]
fn legends_are_of_the_search_that_is_shown() {
    for (lesson, take) in takes().filter(|(lesson, _)| matches!(lesson.search, Search::Queues | Search::Digits)) {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in 0..=take.recording.len() {
            cursor.seek(position);
            let scene = draw(Panel::Cloud, &View::of(&cursor, 14.0), [700.0, 500.0]);
            let words = texts(&scene).join(" | ");
            for foreign in ["buffer", "candidate", "max_distance", "ballot"] {
                assert!(!words.contains(foreign), "lesson {}, position {position}: {words}", lesson.number);
            }
            let Some(queues) = &cursor.state().queues else { continue };
            let waiting = queues.keys.iter().filter(|&&key| key != PADDING).count();
            assert!(words.contains(&format!("{waiting} in the lanes' queues")), "position {position}: {words}");
            let dots = |shape: &Shape| match shape {
                Shape::Dots { centers, fill: Some(fill), .. } if *fill == Ink::Buffer.into() => centers.len(),
                _ => 0,
            };
            // The entry of the legend is one more.
            assert_eq!(scene.shapes.iter().map(dots).sum::<usize>(), waiting + 1, "position {position}");
        }
    }
}

/// A bit that is set is read on its colour in every look.
#[test]
fn what_is_written_on_a_bit_has_contrast() {
    use crate::palette::{DARK, HIGH_CONTRAST, LIGHT, Rgb};
    let luminance = |Rgb(red, green, blue): Rgb| {
        let [red, green, blue] = [red, green, blue].map(|part| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    for palette in [&LIGHT, &DARK, &HIGH_CONTRAST] {
        for ink in [Ink::Candidate, Ink::Accent, Ink::Error] {
            let [below, above] = [ink, ballot::on(ink)].map(|ink| luminance(ink.color(palette)) + 0.05);
            let contrast = (above / below).max(below / above);
            assert!(contrast >= 4.5, "{ink:?}: {contrast:.2}");
        }
    }
}
