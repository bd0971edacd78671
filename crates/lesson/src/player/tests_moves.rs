//! Motions of pages read back as a browser reads them, and held against the scenes.

use super::items::of_shapes;
use super::tests::{Read, page_of};
use super::*;
use crate::cursor::Cursor;
use crate::lessons::Choice;
use crate::picture::motion::{motions, offset};
use crate::picture::page::inside;
use crate::picture::{Panel, Scene, View, draw};

/// The items that a row moves, by their place in the list, with their lengths at a part of the way.
fn at(row: &[i32], items: &[Vec<i32>], moves_all: impl Fn(usize) -> bool, part: f32) -> Vec<(usize, Vec<f32>)> {
    let (mut found, mut rest) = (Vec::new(), row);
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken.to_vec()
    };
    let mut left = row.len();
    while left > 0 {
        let [first, count, corners] = take(3)[..] else { unreachable!() };
        left -= 3;
        let range = first as usize..(first + count) as usize;
        if corners > 0 {
            let numbers = take(1 + 2 * corners as usize);
            left -= numbers.len();
            let way: Vec<[f32; 2]> = numbers[1..].chunks(2).map(|pair| [pair[0] as f32, pair[1] as f32]).collect();
            let by = offset(&way, numbers[0] as f32, part);
            for item in range {
                let moved = |(axis, &length): (usize, &i32)| length as f32 + if axis < 2 || moves_all(item) { by[axis % 2] } else { 0.0 };
                found.push((item, items[item].iter().enumerate().map(moved).collect()));
            }
        } else {
            for item in range {
                let were = take(items[item].len());
                left -= were.len();
                let between = |(&is, &was): (&i32, &i32)| is as f32 + (was - is) as f32 * (1.0 - part);
                found.push((item, items[item].iter().zip(&were).map(between).collect()));
            }
        }
    }
    found
}

fn scenes(film: &Film, cursor: &Cursor) -> Vec<(Panel, Scene)> {
    let view = View::of(cursor, film.text);
    let of = |(panel, area)| {
        let room = inside(area, film.text);
        (panel, draw(panel, &view, [room.width, room.height]))
    };
    layout::panels(film, &view).into_iter().map(of).collect()
}

#[test]
fn what_moves_in_a_page_moves_as_in_the_window_at_every_level() {
    let mut moved = 0;
    for id in ["merge", "buffer", "wait", "wide"] {
        let (film, page, _) = page_of(id, Choice::default());
        let read = Read::new(&page);
        let (take, packed) = (film.lead(), &read.data["takes"][0]);
        let rows: Vec<Vec<i32>> = serde_json::from_value(read.data["moves"].clone()).unwrap();
        let said: Vec<Vec<(usize, Vec<usize>)>> = serde_json::from_value(packed["moves"].clone()).unwrap();
        let positions: Vec<usize> = serde_json::from_value(packed["at"].clone()).unwrap();
        assert_eq!((said.len(), rows[0].len()), (positions.len(), 0));
        let mut cursor = Cursor::new(take.recording.clone());
        for level in Level::ALL {
            let mut from = 0;
            while from + 1 < positions.len() {
                cursor.seek(positions[from]);
                let before = scenes(&film, &cursor);
                let next = cursor.next(level).min(positions[positions.len() - 1]);
                cursor.seek(next);
                let to = positions.binary_search(&next).expect("a moment");
                let after = scenes(&film, &cursor);
                let entry = said[to].iter().find(|(back, _)| to - back == from).map(|(_, rows)| rows.clone()).unwrap_or_else(|| vec![0; after.len()]);
                assert_eq!(entry.len(), after.len());
                for (at_panel, ((panel, scene), &number)) in after.iter().zip(&entry).enumerate() {
                    let same = before.get(at_panel).filter(|(was, _)| was == panel);
                    let motions = same.map_or_else(Vec::new, |(_, before)| motions(before, scene));
                    let (items, starts) = of_shapes(&scene.shapes);
                    let numbers: Vec<Vec<i32>> = items.iter().map(|item| item.numbers.clone()).collect();
                    let polygon = |item: usize| matches!(items[item].kind, super::items::Kind::Line | super::items::Kind::Polygon);
                    for part in [0.0, 0.4, 1.0] {
                        let expected: Vec<(usize, Vec<i32>)> = motions
                            .iter()
                            .flat_map(|motion| {
                                let shapes = motion.from.shapes(&scene.shapes[motion.shapes.clone()], part);
                                (starts[motion.shapes.start]..).zip(of_shapes(&shapes).0).map(|(at, item)| (at, item.numbers)).collect::<Vec<_>>()
                            })
                            .collect();
                        let found = at(&rows[number], &numbers, polygon, part);
                        assert_eq!(found.len(), expected.len(), "{id}, {panel:?} at {next} from {}", positions[from]);
                        for ((at, lengths), (there, expected)) in found.iter().zip(&expected) {
                            let is_near = lengths.iter().zip(expected).all(|(a, &b)| (a - b as f32).abs() < 3.0);
                            assert!(
                                at == there && lengths.len() == expected.len() && is_near,
                                "{id}, {panel:?} at {next}, {part}: {lengths:?}, {expected:?}"
                            );
                        }
                        moved += found.len();
                    }
                }
                from = to;
            }
        }
    }
    assert!(moved > 1_000, "{moved}");
}
