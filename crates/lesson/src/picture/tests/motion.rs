//! The motion between two scenes, compared with the recorded steps.

use super::check;
use crate::engines::lockstep::{PADDING, key_of};
use crate::lessons::{LESSONS, Overrides, Take, named};
use crate::picture::motion::{MAX_MOVING, Motion, MovingScene, Origin, eased, motions, offset};
use crate::picture::scene::{
    Area, Drawing, HitArea, Ink, Point, Scene, Shape, StrokeStyle, TrackId, TrackKey, Transition,
};
use crate::picture::*;
use crate::progress::NoProgress;
use crate::step::Step;

const CELL: f32 = 10.0;

fn cell(column: f32, row: f32) -> Area {
    Area { x: column * CELL, y: row * CELL, width: CELL, height: CELL }
}

/// Keys, each in a cell.
fn keys(places: &[(u32, f32, f32)]) -> Scene {
    let mut scene = Scene::new(200.0, 100.0);
    for &(point, column, row) in places {
        let area = cell(column, row);
        scene.shapes.push(Shape::Rect { area, round: 0.0, fill: Some(Ink::Field.into()), line: None });
        scene.track(TrackKey::new(TrackId::Key(key_of(1.0, point))), area, Transition::Arc, |scene| {
            scene.shapes.push(Shape::Rect { area, round: 1.0, fill: Some(Ink::Accent.into()), line: None });
        });
    }
    scene
}

fn centers(scene: &Drawing) -> Vec<Point> {
    scene
        .shapes
        .iter()
        .filter_map(|shape| if let Shape::Rect { area, .. } = shape { Some(area.center()) } else { None })
        .collect()
}

#[test]
fn swapped_keys_move_past_each_other_without_overlap() {
    let (before, after) = (
        keys(&[(1, 0.0, 0.0), (2, 4.0, 0.0), (3, 9.0, 0.0)]),
        keys(&[(2, 0.0, 0.0), (1, 4.0, 0.0), (3, 9.0, 0.0)]),
    );
    let moving = MovingScene::between(&before, &after).expect("two keys move");
    assert_eq!(centers(moving.still()).len(), 4, "three cells, and the key that stays");
    assert_eq!(centers(&moving.parts(0.0)), [[45.0, 5.0], [5.0, 5.0]], "where they were");
    assert_eq!(centers(&moving.parts(1.0)), [[5.0, 5.0], [45.0, 5.0]], "where they are");
    let [left, right] = centers(&moving.parts(0.5))[..] else { panic!("two keys") };
    assert_eq!((left[0], right[0]), (25.0, 25.0));
    assert!(left[1] - right[1] >= CELL, "{left:?} goes below {right:?}");
    assert!(MovingScene::between(&after, &after).is_none());
}

#[test]
fn only_displaced_copies_of_a_key_move() {
    let before = keys(&[(1, 0.0, 0.0), (1, 3.0, 0.0)]);
    let motions = motions(&before, &keys(&[(1, 0.0, 0.0), (1, 3.0, 5.0), (7, 3.0, 0.0)]));
    let [Motion { shapes, from: Origin::Places { offsets, .. } }] = &motions[..] else {
        panic!("{motions:?}")
    };
    assert_eq!((shapes.clone(), offsets.as_slice()), (3..4, &[[0.0, -50.0]][..]));
}

#[test]
fn redrawn_slots_do_not_move() {
    let slot = |number: u32, row: f32| {
        let mut scene = keys(&[(1, 0.0, row)]);
        scene.spots.push(HitArea { area: cell(0.0, row), target: Target::Slot(number) });
        scene
    };
    assert!(motions(&slot(4, 0.0), &slot(4, 1.5)).is_empty());
    assert_eq!(motions(&slot(4, 0.0), &slot(5, 1.5)).len(), 1);
}

#[test]
fn shapes_do_not_move_between_panels() {
    let drawn = |panel: Panel, places: &[(u32, f32, f32)], at: Point| {
        let mut scene = keys(places);
        scene.framed(panel);
        let mut page = Scene::new(400.0, 400.0);
        page.put(scene, at);
        page
    };
    let before = drawn(Panel::Warp, &[(1, 0.0, 0.0)], [10.0, 10.0]);
    assert_eq!(motions(&before, &drawn(Panel::Warp, &[(1, 2.0, 0.0)], [10.0, 10.0])).len(), 1);
    assert!(motions(&before, &drawn(Panel::Warp, &[(1, 2.0, 0.0)], [10.0, 60.0])).is_empty());
    assert!(motions(&before, &drawn(Panel::Ballot, &[(1, 2.0, 0.0)], [10.0, 10.0])).is_empty());
}

#[test]
fn moving_shapes_are_clipped_to_the_destination_panel() {
    let drawn = |column: f32| {
        let mut page = Scene::new(400.0, 400.0);
        page.put(keys(&[(1, column, 0.0)]), [10.0, 20.0]);
        page
    };
    let parts = MovingScene::between(&drawn(0.0), &drawn(3.0)).unwrap().parts(0.3);
    let clip = Area { x: 10.0, y: 20.0, width: 200.0, height: 100.0 };
    assert_eq!(
        (parts.shapes.first(), parts.shapes.last()),
        (Some(&Shape::Clip(Some(clip))), Some(&Shape::Clip(None)))
    );
}

#[test]
fn morphing_shapes_interpolate_their_lengths() {
    let curve = |points: Vec<Point>, radius: f32| {
        let line = StrokeStyle { paint: Ink::Accent.into(), width: 1.0, dash: None };
        let mut scene = Scene::new(10.0, 10.0);
        scene.track(TrackKey::new(TrackId::Curve(0)), Area::default(), Transition::Morph, |scene| {
            scene.shapes.push(Shape::Path { points, line });
            scene.shapes.push(Shape::Dots {
                centers: vec![[1.0, 1.0]],
                radius,
                fill: None,
                line: Some(line),
            });
        });
        scene
    };
    let (before, after) =
        (curve(vec![[0.0, 8.0], [2.0, 4.0]], 5.0), curve(vec![[0.0, 0.0], [4.0, 4.0]], 3.0));
    let moving = MovingScene::between(&before, &after).unwrap();
    let Shape::Path { points, .. } = &moving.at(0.5).shapes[0] else { panic!("a path") };
    assert_eq!(*points, [[0.0, 4.0], [3.0, 4.0]]);
    assert!(matches!(moving.at(0.0).shapes[1], Shape::Dots { radius, .. } if radius == 5.0));
    assert_eq!(moving.at(1.0).shapes[..2], after.shapes[..2]);
    assert!(MovingScene::between(&curve(vec![[0.0, 0.0]], 3.0), &after).is_none(), "another curve");
}

#[test]
fn speed_is_constant_along_paths_with_corners() {
    let corners = [[-10.0, 20.0], [0.0, 20.0]];
    assert_eq!(offset(&corners, 0.0, 0.0), [-10.0, 20.0]);
    assert_eq!(offset(&corners, 0.0, 0.5), [0.0, 15.0]);
    assert_eq!(offset(&corners, 0.0, 1.0), [0.0, 0.0]);
    assert_eq!((eased(-1.0), eased(0.0), eased(0.5), eased(1.0), eased(7.0)), (0.0, 0.0, 0.5, 1.0, 1.0));
}

#[test]
fn scenes_with_too_many_shapes_are_not_animated() {
    let crowd =
        |row: f32| keys(&(0..=MAX_MOVING as u32).map(|point| (point, point as f32, row)).collect::<Vec<_>>());
    assert!(MovingScene::between(&crowd(0.0), &crowd(3.0)).is_none());
}

/// The scenes of a panel before and after a step.
fn scenes(take: &Take, position: usize, panel: Panel) -> [Scene; 2] {
    let mut cursor = Cursor::new(take.recording.clone());
    [position - 1, position].map(|at| {
        cursor.seek(at);
        draw(panel, &View::new(&cursor, 14.0), [620.0, 420.0])
    })
}

/// The centre of a target in a scene.
fn spot(scene: &Scene, target: Target) -> Point {
    scene
        .spots
        .iter()
        .rfind(|spot| spot.target == target)
        .unwrap_or_else(|| panic!("{target:?} is drawn"))
        .area
        .center()
}

fn is_near(a: Point, b: Point) -> bool {
    (a[0] - b[0]).abs() < 0.02 && (a[1] - b[1]).abs() < 0.02
}

/// All shapes except clips, sorted.
fn sorted(scene: &Drawing) -> Vec<String> {
    let mut shapes: Vec<String> = scene
        .shapes
        .iter()
        .filter(|shape| !matches!(shape, Shape::Clip(_)))
        .map(|shape| format!("{shape:?}"))
        .collect();
    shapes.sort_unstable();
    shapes
}

#[test]
fn motions_start_and_end_at_the_drawn_positions() {
    let mut moved = std::collections::BTreeMap::<Panel, usize>::new();
    for lesson in &LESSONS {
        let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        let mut before: Vec<Scene> = Vec::new();
        for position in take.range.start..=take.range.end {
            cursor.seek(position);
            let view = View::new(&cursor, 14.0);
            let after: Vec<Scene> =
                Panel::ALL.into_iter().map(|panel| draw(panel, &view, [620.0, 420.0])).collect();
            for ((before, after), panel) in before.iter().zip(&after).zip(Panel::ALL) {
                let Some(moving) = MovingScene::between(before, after) else { continue };
                let what = format!("lesson {}, step {position}, {panel:?}", lesson.id);
                *moved.entry(panel).or_default() += 1;
                assert_eq!(sorted(&moving.at(1.0)), sorted(after), "{what}");
                let was = centers(before);
                for shape in &moving.parts(0.0).shapes {
                    let there = match shape {
                        Shape::Rect { area, .. } => was.iter().any(|&was| is_near(was, area.center())),
                        // The circle had the same radius before.
                        Shape::Dots { radius, .. } => before.shapes.iter().any(|shape| {
                            matches!(shape, Shape::Dots { radius: was, .. } if (radius - was).abs() < 0.02)
                        }),
                        _ => true,
                    };
                    assert!(there, "{what}: {shape:?} was not there");
                }
                for time in [0.2, 0.5, 0.9] {
                    let mut page = Scene::new(620.0, 420.0);
                    page.put(moving.at(time).into(), [0.0, 0.0]);
                    check(&page, &what);
                }
            }
            before = after;
        }
    }
    for panel in
        [Panel::Cloud, Panel::Warp, Panel::Network, Panel::Ballot, Panel::Lanes, Panel::Queues, Panel::Heaps]
    {
        assert!(moved.get(&panel).is_some_and(|&steps| steps > 3), "{panel:?} moves: {moved:?}");
    }
    assert!(
        !moved.contains_key(&Panel::Code) && !moved.contains_key(&Panel::Sentence),
        "text stays: {moved:?}"
    );
}

/// The start and end of every motion between places, at the centre of the moved shapes.
fn ways(before: &Scene, after: &Scene) -> Vec<[Point; 2]> {
    let motions = motions(before, after);
    let way = |Motion { shapes, from }: &Motion| {
        let thing = after.tracked.iter().find(|thing| thing.shapes == *shapes).expect("only things move");
        let to = thing.area.center();
        let Origin::Places { offsets, .. } = from else { panic!("{from:?}") };
        [[to[0] + offsets[0][0], to[1] + offsets[0][1]], to]
    };
    motions.iter().map(way).collect()
}

/// The motions equal the moves recorded in the steps.
#[test]
fn key_motion_matches_the_recorded_steps() {
    let mut layers = 0;
    for id in ["sort", "wide", "merge"] {
        let take = named(id).unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start + 1..=take.range.end {
            cursor.seek(position);
            let state = cursor.state();
            // Start and end of each moved key, without padding.
            let expected: Vec<[Target; 2]> = match cursor.step().as_deref() {
                Some(Step::Layer { layer, swapped, .. }) => {
                    layers += 1;
                    swapped
                        .iter()
                        .flat_map(|low| [[low, low ^ layer.stride], [low ^ layer.stride, low]])
                        .map(|way| way.map(Target::Element))
                        .collect()
                }
                Some(Step::Minimum { taken }) => taken
                    .iter()
                    .map(|to| [Target::Slot(state.merge_partner(to)), Target::Element(to)])
                    .collect(),
                _ => continue,
            };
            let [before, after] = scenes(&take, position, Panel::Warp);
            let ways = ways(&before, &after);
            let there = |target: Target| {
                if let Target::Element(element) = target {
                    state.registers[element as usize] != PADDING
                } else {
                    true
                }
            };
            let expected: Vec<[Target; 2]> = expected.into_iter().filter(|way| there(way[1])).collect();
            assert_eq!(ways.len(), expected.len(), "lesson {id}, step {position}");
            for [from, to] in expected {
                let [from, to] = [spot(&before, from), spot(&after, to)];
                // A cell is narrower than its hit area, by the same amount at the start and at the end.
                let by = [to[0] - from[0], to[1] - from[1]];
                let is = |way: &[Point; 2]| {
                    is_near([way[1][0] - way[0][0], way[1][1] - way[0][1]], by)
                        && (way[1][0] - to[0]).abs() < 10.0
                };
                assert!(
                    ways.iter().any(is),
                    "lesson {id}, step {position}: {from:?} to {to:?} among {ways:?}"
                );
            }
        }
    }
    assert!(layers > 10, "{layers}");
}

#[test]
fn candidates_move_from_lane_to_slot() {
    let take = named("buffer").unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let mut went = 0;
    for position in take.range.start + 1..=take.range.end {
        let Step::Appended { placed } = &take.recording.steps()[position - 1] else { continue };
        let [before, after] = scenes(&take, position, Panel::Ballot);
        let ways = ways(&before, &after);
        assert_eq!(ways.len(), placed.len(), "step {position}");
        for candidate in placed {
            let (lane, slot) =
                (spot(&before, Target::Lane(candidate.lane))[0], spot(&after, Target::Slot(candidate.slot)));
            assert!(
                ways.iter().any(|[from, to]| (from[0] - lane).abs() < 0.02 && is_near(*to, slot)),
                "{candidate:?} among {ways:?}"
            );
            went += 1;
        }
    }
    assert!(went > 10, "{went}");
}

#[test]
fn circle_shrinks_to_the_new_bound() {
    let take = named("problem").unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let radii = |scene: &Drawing| -> Vec<f32> {
        scene
            .shapes
            .iter()
            .filter_map(|shape| {
                if let Shape::Dots { radius, fill: Some(fill), .. } = shape {
                    (fill.opacity < 0.2).then_some(*radius)
                } else {
                    None
                }
            })
            .collect()
    };
    let mut shrank = 0;
    for position in take.range.start + 1..=take.range.end {
        let [before, after] = scenes(&take, position, Panel::Cloud);
        let Some(moving) = MovingScene::between(&before, &after) else { continue };
        let [was, on_the_way, is] = [&*before, &moving.parts(0.5), &*after].map(|scene| radii(scene)[0]);
        assert!(was > on_the_way && on_the_way > is, "step {position}: {was}, {on_the_way}, {is}");
        shrank += 1;
    }
    assert!(shrank > 0);
}
