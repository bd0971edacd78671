//! A lens in the plane of the points: it magnifies the circle where that has become too small to see what is in it.

use super::View;
use super::cloud::draw_in;
use super::pen::{area, dashed, faint, line, sans, width};
use super::plane::Plane;
use super::scene::{Area, Ink, Scene};
use crate::knn::Metric;

/// Circles of a smaller radius get a lens, relative to the text size.
const CROWDED: f32 = 2.5;

/// What it has to magnify to be worth what it covers.
const WORTH: f32 = 2.0;

/// How much of the lens's half side the circle's radius takes.
const REACH: f32 = 0.8;

/// The lens, as a plane of its own.
pub(super) struct Lens {
    plane: Plane,
    times: f32,
}

impl Lens {
    /// `None` where the circle can be seen without one, where there is none, and where there is no room.
    pub(super) fn of(plane: &Plane, view: &View<'_>) -> Option<Self> {
        let (recording, bound) = (view.cursor.recording(), view.cursor.state().max_distance);
        let problem = recording.problem();
        if problem.dims() != 2 || problem.metric() != Metric::L2 || !bound.is_finite() || bound <= 0.0 {
            return None;
        }
        let query = [recording.parameters.query[0], recording.parameters.query[1]];
        let around = bound.sqrt() * plane.scale;
        if around >= view.text * CROWDED {
            return None;
        }
        let place = place(plane.area, plane.at(&query), around, view.text)?;
        let times = place.width / 2.0 * REACH / around;
        (times >= WORTH).then(|| Self { plane: plane.around(query, plane.scale * times, place), times })
    }

    pub(super) fn area(&self) -> Area {
        self.plane.area
    }

    /// Draws it over the plane, with a line from the query.
    pub(super) fn draw(&self, scene: &mut Scene, plane: &Plane, view: &View<'_>) {
        let (text, recording) = (view.text, view.cursor.recording());
        let (problem, [x, y]) = (recording.problem(), plane.at(&recording.parameters.query));
        let room = self.area();
        let edge = [x.clamp(room.x, room.right()), y.clamp(room.y, room.bottom())];
        scene.path(vec![[x, y], edge], dashed(Ink::TextWeak, 1.0, 3.0));
        let points: Vec<u32> = (0..problem.n() as u32).filter(|&point| room.contains(self.plane.position(problem, point))).collect();
        // Nothing beneath it is pointed at.
        scene.spots.retain(|spot| !room.contains(spot.area.center()));
        let things = scene.things.len();
        draw_in(scene, &self.plane, view, &points, text * 0.2, None);
        // What moves is in the plane itself, and only once.
        scene.things.truncate(things);
        scene.rect(room, 0.0, None, Some(line(Ink::TextWeak, 1.2)));
        let style = sans(view.type_of(0.8), Ink::Text);
        let words = format!("\u{d7} {}", magnification(self.times));
        let note = area(room.x, room.y, width(style.font, style.size, &words) + text * 0.8, style.size * 1.4);
        scene.fill(note, faint(Ink::Canvas, 0.9));
        scene.label(note, 0.5, style, &words);
    }
}

/// Where the lens is: in the corner that is farthest from the query, and so small that it does not cover the circle; `None` where
/// nothing could be seen in it.
fn place(pane: Area, query: [f32; 2], around: f32, text: f32) -> Option<Area> {
    let gap = text * 0.5;
    let clear = around.max(text) + text * 0.5;
    let [middle_x, middle_y] = pane.center();
    let (right, below) = (query[0] < middle_x, query[1] < middle_y);
    let beside = if right { pane.right() - query[0] } else { query[0] - pane.x } - clear - gap;
    let beyond = if below { pane.bottom() - query[1] } else { query[1] - pane.y } - clear - gap;
    let side = (pane.width.min(pane.height) * 0.48).min(beside.max(beyond));
    let corner = [if right { pane.right() - side - gap } else { pane.x + gap }, if below { pane.bottom() - side - gap } else { pane.y + gap }];
    (side >= text * 5.0).then(|| area(corner[0], corner[1], side, side))
}

/// How many times larger, in two digits.
fn magnification(times: f32) -> String {
    if times < 9.95 { format!("{times:.1}") } else { crate::text::thousands(times.round() as u64) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{Column, Order, PointCloud, Source, Table};
    use crate::cursor::Cursor;
    use crate::knn::{Queries, Setup};
    use crate::lessons::{self, Arrangement};
    use crate::own_data::Own;
    use crate::picture::scene::Shape;
    use crate::picture::{Panel, draw};
    use crate::touched::Touched;

    #[test]
    fn the_lens_covers_neither_the_circle_nor_the_query() {
        let pane = area(10.0, 20.0, 400.0, 300.0);
        for x in 0..20 {
            for y in 0..20 {
                for around in [0.5, 8.0, 30.0] {
                    let query = [pane.x + x as f32 * 20.0, pane.y + y as f32 * 15.0];
                    let Some(lens) = place(pane, query, around, 14.0) else { continue };
                    assert!(lens.width >= 70.0 && pane.contains([lens.x, lens.y]) && pane.contains([lens.right(), lens.bottom()]));
                    let apart = [query[0].clamp(lens.x, lens.right()) - query[0], query[1].clamp(lens.y, lens.bottom()) - query[1]];
                    assert!(apart[0].hypot(apart[1]) > around, "{query:?}, {around}: {lens:?}");
                }
            }
        }
    }

    /// A cluster far smaller than the whole cloud, as of a city on a map of its country.
    #[test]
    fn a_small_circle_is_magnified_with_all_points_in_it() {
        let mut values: Vec<f64> = (0..600).flat_map(|i| [f64::from(i % 25), f64::from(i / 25)]).collect();
        values.extend((0..200).flat_map(|i| [12.0 + f64::from(i % 14) * 1e-3, 12.0 + f64::from(i / 14) * 1e-3]));
        let table = Table { columns: ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec(), values };
        let cloud = Arc::new(PointCloud::from_table(table, Source::Coordinates(String::new()), None, false).unwrap());
        let lesson = lessons::named("yours").unwrap();
        let setup = Setup { k: lesson.k, metric: Metric::L2, order: Order::File, seed: 0, exclude_self: false, drop_zero_rows: false };
        let own = Own { cloud: &cloud, queries: &Queries::Rows(vec![700]), query: 0, arrangement: Arrangement::Shuffled };
        let take = lesson.record_own(own, setup, lesson.width, &Touched::default()).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        let circles = |cursor: &Cursor| -> Vec<f32> {
            let scene = draw(Panel::Cloud, &View::of(cursor, 14.0), [500.0, 400.0]);
            let circle = |shape: &Shape| match shape {
                Shape::Dots { centers, radius, line: Some(line), .. } if centers.len() == 1 && line.paint.ink == Ink::Intermediate => Some(*radius),
                _ => None,
            };
            scene.shapes.iter().filter_map(circle).collect()
        };
        assert!(circles(&cursor).is_empty(), "no circle yet, and no lens");
        cursor.seek(take.recording.len());
        let [small, large] = circles(&cursor)[..] else { panic!("a circle, and the same in the lens") };
        assert!(small < 14.0 * CROWDED && large > 50.0, "{small}, {large}");
        let scene = draw(Panel::Cloud, &View::of(&cursor, 14.0), [500.0, 400.0]);
        let lens = scene.maps[0].lens.expect("a lens");
        let neighbors = cursor.state().registers.iter().take(lesson.k).map(|&key| crate::engines::lockstep::index_of(key));
        for point in neighbors {
            let seen = |spot: &super::super::scene::Spot| spot.target == super::super::Target::Point(point) && lens.contains(spot.area.center());
            assert!(scene.spots.iter().any(seen), "neighbour {point} can be pointed at in the lens");
        }
    }
}
