//! Pages, and takes side by side.

use super::super::scene::{Area, HitArea};
use super::super::*;
use super::{check, takes, texts};
use crate::Step;
use crate::lessons::{Overrides, named};
use crate::picture::page::{areas, columns, points_seen, position_at};
use crate::progress::NoProgress;

#[test]
fn pages_contain_all_their_panels() {
    for (lesson, take) in takes() {
        let mut cursor = Cursor::new(take.recording.clone());
        for (at, ([wide, high], text)) in [
            ([960.0, 540.0], 12.0),
            ([1280.0, 720.0], 16.0),
            ([1920.0, 1080.0], 26.0),
            ([1024.0, 768.0], 14.0),
        ]
        .into_iter()
        .enumerate()
        {
            let step = (take.range.len() / 9).max(1);
            for position in take.range.clone().skip(at).step_by(step) {
                cursor.seek(position);
                let view = View { hover: Some(Target::Lane(3)), ..View::new(&cursor, text) };
                let scene = page(lesson, &take, &view, [wide, high]);
                check(&scene, &format!("lesson {}, {wide} × {high}", lesson.number));
                let words = texts(&scene);
                assert!(words.iter().any(|text| text.starts_with(&format!("Lesson {}: ", lesson.number))));
                let place = format!(
                    "step {} of {}",
                    crate::text::thousands(position as u64),
                    crate::text::thousands(take.recording.len() as u64)
                );
                assert!(words.iter().any(|text| text.starts_with(&place)), "{place}");
                // A large network has layers to click on instead.
                let lane = |spot: &HitArea| matches!(spot.target, Target::Lane(0) | Target::Position(_));
                let panels = areas(lesson, &view, [wide, high]);
                let shows = |panel: Panel| panels.iter().any(|(shown, _)| *shown == panel);
                let without_lanes = [
                    Panel::Sentence,
                    Panel::Cloud,
                    Panel::Account,
                    Panel::Cost,
                    Panel::Curves,
                    Panel::Batches,
                ];
                assert!(
                    panels.iter().all(|(panel, _)| without_lanes.contains(panel))
                        || scene.spots.iter().any(lane),
                    "lesson {}, position {position}",
                    lesson.id
                );
                let has_map = shows(Panel::Cloud);
                let has_points = scene.spots.iter().any(|spot| matches!(spot.target, Target::Point(_)));
                assert!(has_points || !has_map);
                assert!(
                    has_map || ["wait", "sort", "wide", "merge"].contains(&lesson.id) || text > wide / 80.0,
                    "lesson {}: only large type may omit it",
                    lesson.id
                );
            }
        }
    }
}

#[test]
fn recordings_are_compared_at_equal_point_counts() {
    let lesson = named("order").unwrap();
    let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
    for seen in [0, 31, 32, 700, 2048, 9999] {
        let cursors: Vec<Cursor> = takes
            .iter()
            .map(|take| {
                let mut cursor = Cursor::new(take.recording.clone());
                let position = position_at(&take.recording, seen);
                cursor.seek(position);
                let next = take.recording.steps().get(position);
                assert!(
                    next.is_none_or(|next| matches!(next, Step::Group { base, .. } if base + 32 > seen)),
                    "{next:?}"
                );
                assert!(
                    cursor.state().counts.points_seen <= seen
                        && cursor.state().counts.points_seen + 32 > seen.min(2048)
                );
                cursor
            })
            .collect();
        let alike = cursors
            .iter()
            .all(|cursor| cursor.state().counts.points_seen == cursors[0].state().counts.points_seen);
        assert_ne!(points_seen(&cursors.iter().collect::<Vec<_>>()).starts_with("up to "), alike, "{seen}");
        let views: Vec<_> =
            takes.iter().zip(&cursors).map(|(take, cursor)| (take, View::new(cursor, 14.0))).collect();
        let size = [1280.0, 720.0];
        let scene = comparison(lesson, &views, size);
        check(&scene, &format!("{seen} points"));
        let areas = columns(3, 14.0, size);
        assert_eq!(areas.len(), 3);
        // Each merge's spot is in the column of its take.
        for (take, column) in takes.iter().zip(&areas) {
            let inside = |area: &Area| column.contains(area.center());
            let shown = scene
                .spots
                .iter()
                .filter(|spot| inside(&spot.area) && matches!(spot.target, Target::Position(_)))
                .count();
            assert_eq!(shown, take.recording.merges());
        }
        let merges =
            texts(&scene).iter().filter(|text| text.ends_with(" merge") || text.ends_with(" merges")).count();
        assert!(merges >= 3);
    }
    assert!(comparison(lesson, &[], [960.0, 540.0]).shapes.is_empty());
}
