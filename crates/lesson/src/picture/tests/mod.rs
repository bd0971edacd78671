//! Pictures stay within their size, and show the recorded values; one file per panel.

mod account;
mod asking;
mod ballot;
mod cloud;
mod contrast;
mod curves;
mod files;
mod focus;
mod grid;
mod heaps;
mod heatmap;
mod keyed;
mod motion;
mod network;
mod page;
mod presented;
mod selections;
mod sentence;
mod staircase;
mod warp;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::scene::{Area, HitArea, Ink, Shape};
use super::*;
use crate::algorithms::Baseline;
use crate::cloud::{Order, Source};
use crate::draw::fonts;
use crate::knn::{Metric, Problem, ProblemParameters, Queries};
use crate::lessons::{LESSONS, Overrides, Take};
use crate::progress::NoProgress;
use crate::{Recording, record, record_digits, record_heaps, record_queues, record_tree};

/// Wide, small, narrow, large; with the size of text.
const SIZES: [([f32; 2], f32); 5] = [
    ([600.0, 330.0], 14.0),
    ([280.0, 170.0], 11.0),
    ([300.0, 520.0], 12.0),
    ([1200.0, 640.0], 24.0),
    ([360.0, 220.0], 18.0),
];

fn takes() -> impl Iterator<Item = (&'static crate::lessons::Lesson, Take)> {
    LESSONS.iter().flat_map(|lesson| {
        lesson.record(Overrides::default(), &NoProgress).unwrap().into_iter().map(move |take| (lesson, take))
    })
}

fn recorded(spec: &str, row: usize, k: usize, width: u32) -> Arc<Recording> {
    let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
    let cloud = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 1,
        exclude_self: false,
        drop_zero_rows: false,
    };
    let problem = Problem::new(&cloud, &Queries::Rows(vec![row as u32]), setup).unwrap();
    Arc::new(record(Arc::new(problem), 0, width, None, spec).unwrap())
}

fn texts(scene: &Scene) -> Vec<&str> {
    scene
        .shapes
        .iter()
        .filter_map(|shape| if let Shape::Text { text, .. } = shape { Some(text.as_str()) } else { None })
        .collect()
}

fn targets(scene: &Scene) -> BTreeSet<String> {
    scene.spots.iter().map(|spot| format!("{:?}", spot.target)).collect()
}

/// Every coordinate is finite, every character can be drawn, and nothing unclipped is outside.
fn check(scene: &Scene, what: &str) {
    let [wide, high] = scene.size;
    // Room for strokes along the edge and for the overhang of letters.
    let slack = 1.5;
    let mut cut = false;
    let stands = |[left, top, right, bottom]: [f32; 4], clipped: bool, shape: &Shape| {
        assert!([left, top, right, bottom].iter().all(|edge| edge.is_finite()), "{what}: {shape:?}");
        let inside = left >= -slack && top >= -slack && right <= wide + slack && bottom <= high + slack;
        assert!(clipped || inside, "{what}: {shape:?} is outside {wide} × {high}");
    };
    let around = |points: &[[f32; 2]], more: f32| {
        points.iter().fold(
            [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY],
            |[l, t, r, b], [x, y]| {
                assert!(x.is_finite() && y.is_finite(), "{what}: {x}, {y}");
                [l.min(x - more), t.min(y - more), r.max(x + more), b.max(y + more)]
            },
        )
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
                assert!(
                    points.len() > 1 && line.width > 0.0 && line.paint.opacity <= 1.0,
                    "{what}: {shape:?}"
                );
                stands(around(points, line.width / 2.0), cut, shape);
            }
            Shape::Polygon { corners, .. } => stands(around(corners, 0.0), cut, shape),
            Shape::Text { at, anchor, size, font, text, .. } => {
                assert!(*size > 0.0 && size.is_finite() && !text.is_empty(), "{what}: {shape:?}");
                assert!(text.chars().all(fonts::has_glyph), "{what}: `{text}`");
                assert!(
                    !text.contains("NaN") && !text.contains("inf ") && !text.ends_with("inf"),
                    "{what}: `{text}`"
                );
                let wide = super::pen::width(*font, *size, text);
                let high = fonts::line_metrics(*font).height * size;
                let (left, top) = (at[0] - anchor[0] * wide, at[1] - anchor[1] * high);
                // The room between lines is empty.
                let air = (high - size) / 2.0;
                stands([left, top + air, left + wide, top + high - air], cut, shape);
            }
        }
    }
    for HitArea { area, .. } in &scene.spots {
        assert!(
            [area.x, area.y, area.width, area.height].iter().all(|edge| edge.is_finite()) && area.width > 0.0,
            "{what}: {area:?}"
        );
    }
}

/// [`check`] detects violations.
#[test]
fn check_detects_shapes_outside_the_scene() {
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
        let scene = Drawing { size: [100.0, 20.0], shapes, ..Drawing::default() }.into();
        std::panic::catch_unwind(|| check(&scene, "")).is_err()
    };
    assert!(!fails(vec![rect(0.0), rect(90.0), text("short")]));
    assert!(
        fails(vec![rect(92.0)])
            && fails(vec![rect(f32::NAN)])
            && fails(vec![text("a long sentence")])
            && fails(vec![text("\u{4e00}")])
    );
    assert!(!fails(vec![Shape::Clip(Some(area(5.0))), rect(500.0), Shape::Clip(None)]));
    assert!(
        fails(vec![Shape::Clip(Some(area(5.0))), Shape::Clip(None), rect(500.0)])
            && fails(vec![Shape::Clip(Some(area(95.0)))])
    );
}

#[test]
fn every_panel_fits_its_area() {
    for (lesson, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start..=take.range.end {
            cursor.seek(position);
            for (at, panel) in Panel::ALL.into_iter().enumerate() {
                // Every panel is drawn at every size.
                let (size, text) = SIZES[(position + at) % SIZES.len()];
                let scene = draw(panel, &View::new(&cursor, text), size);
                assert_eq!(scene.size, size);
                check(
                    &scene,
                    &format!(
                        "lesson {}, {}, position {position}, {panel:?}",
                        lesson.number,
                        take.arrangement.name()
                    ),
                );
            }
        }
    }
}

#[test]
fn all_warp_and_cloud_shapes_are_drawable() {
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
                check(
                    &draw(panel, &View { hover, ..View::new(&cursor, text) }, size),
                    &format!("{spec}, k = {k}, {position}, {panel:?}, {hover:?}"),
                );
            }
        }
    }
}

#[test]
fn all_trees_are_drawable() {
    for (spec, row, k) in [
        ("uniform:n=300,d=3", 10, 4),
        ("uniform:n=1200,d=1", 3, 100),
        ("uniform:n=3,d=2", 0, 5),
        ("duplicates:n=90,d=2,distinct=1", 0, 8),
    ] {
        let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
        let cloud = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
        let setup = ProblemParameters {
            k,
            metric: Metric::L2,
            order: Order::File,
            seed: 1,
            exclude_self: false,
            drop_zero_rows: false,
        };
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
                check(
                    &draw(panel, &View { hover, asking, ..View::new(&cursor, text) }, size),
                    &format!("{spec}, {position}, {panel:?}, {hover:?}"),
                );
            }
        }
    }
}

#[test]
fn all_selections_are_drawable() {
    let cases = [
        ("uniform:n=300,d=3", 10, 4, 4),
        ("uniform:n=1200,d=1", 3, 100, 32),
        ("uniform:n=3,d=2", 0, 5, 8),
        ("duplicates:n=90,d=2,distinct=1", 0, 8, 8),
        ("uniform:n=900,d=2", 4, 500, 16),
    ];
    for (spec, row, k, width) in cases {
        let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
        let cloud = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
        let setup = ProblemParameters {
            k,
            metric: Metric::L2,
            order: Order::File,
            seed: 1,
            exclude_self: false,
            drop_zero_rows: false,
        };
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
                        &draw(panel, &View { hover, asking, ..View::new(&cursor, text) }, size),
                        &format!("{spec}, {position}, {panel:?}, {hover:?}"),
                    );
                }
            }
        }
    }
}

#[test]
fn spots_refer_to_existing_targets() {
    let set = |all: &mut dyn Iterator<Item = Target>| -> BTreeSet<String> {
        all.map(|target| format!("{target:?}")).collect()
    };
    for (_, take) in takes() {
        let recording = &take.recording;
        let shape = recording.shape();
        let mut cursor = Cursor::new(recording.clone());
        for position in take.range.clone().step_by(7) {
            cursor.seek(position);
            let view = View::new(&cursor, 14.0);
            let size = [640.0, 400.0];
            let lanes = set(&mut (0..shape.width).map(Target::Lane));
            let slots = set(&mut (0..shape.capacity()).map(Target::Slot));
            let elements = set(&mut (0..shape.capacity()).map(Target::Element));
            assert_eq!(targets(&draw(Panel::Warp, &view, size)), &(&lanes | &slots) | &elements);
            let curves = targets(&draw(Panel::Curves, &view, size));
            assert!(curves.is_subset(&(&(&slots | &elements) | &set(&mut (0..shape.n).map(Target::Point)))));
            assert_eq!(curves.is_empty(), !matches!(recording.baseline(), Baseline::Kernel(_)));
            assert_eq!(targets(&draw(Panel::Ballot, &view, size)), &lanes | &slots);
            let cloud = draw(Panel::Cloud, &view, size);
            let points = set(&mut (0..shape.n).map(Target::Point));
            match cloud.maps.first().and_then(|map| map.lens) {
                None => assert_eq!(targets(&cloud), points),
                // The lens hides the targets below it.
                Some(_) => {
                    assert!(targets(&cloud).is_subset(&points) && targets(&cloud).len() * 2 > points.len())
                }
            }
            assert_eq!(targets(&draw(Panel::Lanes, &view, size)), &(&lanes | &slots) | &elements);
            assert_eq!(targets(&draw(Panel::Buckets, &view, size)), lanes);
            let queued = cursor.state().queues().map_or(0, |queues| queues.keys.len() as u32);
            let keys = &set(&mut (0..queued).map(Target::Queued)) | &elements;
            assert_eq!(
                targets(&draw(Panel::Queues, &view, size)),
                if queued == 0 { lanes } else { &lanes | &keys }
            );
            assert!(targets(&draw(Panel::Meter, &view, size)).is_empty());
            // The accounts of other searches have no curve.
            let curve =
                if matches!(recording.baseline(), Baseline::Kernel(_)) { recording.merges() } else { 0 };
            let merges =
                (0..curve).map(|merge| Target::Position(recording.position_of_merge(merge).unwrap()));
            assert_eq!(targets(&draw(Panel::Account, &view, size)), set(&mut merges.into_iter()));
            let lines = recording.code().lines.iter().enumerate().filter(|(_, line)| !line.text.is_empty());
            assert_eq!(
                targets(&draw(Panel::Code, &view, [800.0, 600.0])),
                set(&mut lines.map(|(at, _)| Target::CodeLine(at)))
            );
            // The current line is shown even if space is short.
            if let Some(step) = cursor.step() {
                let running = format!("{:?}", Target::CodeLine(recording.code().line_of(&step).unwrap()));
                assert!(targets(&draw(Panel::Code, &view, [300.0, 120.0])).contains(&running));
            }
        }
    }
}
