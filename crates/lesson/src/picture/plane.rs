//! The mapping of the first two axes to a picture, and the marks drawn at points.

use super::View;
use super::cloud::draw_in;
use super::pen::{area, dashed, faint, line, sans, width};
use super::scene::{Area, Ink, Map, Point, Scene, Target, TrackId, TrackKey, Transition};
use crate::knn::{Metric, Problem};
use crate::recording::Overview;

/// The mapping from data to picture coordinates.
pub(crate) struct Plane {
    pub(crate) area: Area,
    low: [f32; 2],
    /// Picture points per data unit, for both axes.
    pub(crate) scale: f32,
    /// Width and height of the data in the picture.
    extent: [f32; 2],
    dims: usize,
}

impl Plane {
    /// Shows all of the data in a room, with a margin of some points around it.
    pub(crate) fn new(&Overview { low, high, .. }: &Overview, dims: usize, room: Area, margin: f32) -> Self {
        let extent = [f64::from(high[0]) - f64::from(low[0]), f64::from(high[1]) - f64::from(low[1])];
        let rect = room.inner((room.width.min(room.height) * 0.02).min(6.0));
        // The same scale for both axes, so that a circle stays a circle.
        let fits = |size: f32, extent: f64| {
            if extent > 0.0 {
                f64::from((size * 0.96).min(size - 2.0 * margin).max(1.0)) / extent
            } else {
                f64::INFINITY
            }
        };
        let mut scale = fits(rect.width, extent[0]).min(fits(rect.height, extent[1]));
        if !scale.is_finite() {
            scale = 1.0;
        }
        let middle = [f64::from(low[0]) + extent[0] / 2.0, f64::from(low[1]) + extent[1] / 2.0];
        let low = [
            middle[0] - f64::from(rect.width) / scale / 2.0,
            middle[1] + f64::from(rect.height) / scale / 2.0,
        ];
        Self {
            area: rect,
            low: low.map(|value| value as f32),
            scale: scale as f32,
            extent: extent.map(|size| (size * scale) as f32),
            dims,
        }
    }

    /// A part of the plane around a place, in another area of the picture, at another scale.
    pub(crate) fn around(&self, center: [f32; 2], scale: f32, area: Area) -> Self {
        let half = [area.width / scale / 2.0, area.height / scale / 2.0];
        Self {
            area,
            low: [center[0] - half[0], center[1] + half[1]],
            scale,
            extent: [area.width, area.height],
            dims: self.dims,
        }
    }

    /// The distance between neighbours if the points were on a regular lattice.
    pub(crate) fn spacing(&self, points: usize) -> f32 {
        let [wide, high] = self.extent;
        if wide == 0.0 || high == 0.0 {
            wide.max(high) / points as f32
        } else {
            (wide * high / points as f32).sqrt()
        }
    }

    /// Maps coordinates to the picture; y points up in the data.
    pub(crate) fn at(&self, coordinates: &[f32]) -> Point {
        let y = if self.dims == 1 { 0.0 } else { coordinates[1] };
        [
            self.area.x + (coordinates[0] - self.low[0]) * self.scale,
            self.area.y + (self.low[1] - y) * self.scale,
        ]
    }

    /// The same mapping, for what is dragged.
    pub(crate) fn map(&self, &Overview { low, high, .. }: &Overview, query: &[f32]) -> Map {
        let bounds = [0, 1].map(|axis| [low[axis], high[axis]]);
        Map {
            area: self.area,
            corner: self.low,
            scale: self.scale,
            bounds,
            query: [query[0], query[1]],
            lens: None,
        }
    }

    pub(crate) fn position(&self, problem: &Problem, point: u32) -> Point {
        let first = point as usize * self.dims;
        self.at(&problem.points()[first..first + self.dims])
    }

    pub(crate) fn spot(&self, scene: &mut Scene, problem: &Problem, point: u32, radius: f32) {
        let [x, y] = self.position(problem, point);
        scene.spot(area(x - radius, y - radius, 2.0 * radius, 2.0 * radius), Target::Point(point));
    }

    pub(crate) fn marked(&self, scene: &mut Scene, problem: &Problem, points: &[u32], radius: f32, ink: Ink) {
        let centers = points.iter().map(|&point| self.position(problem, point)).collect();
        scene.dots(centers, radius, Some(ink.into()), Some(line(faint(Ink::Canvas, 0.9), 0.8)));
        for &point in points {
            self.spot(scene, problem, point, radius.max(3.0));
        }
    }

    /// A circle in two dimensions, an interval in one. Several are tracked by number as they shrink or grow.
    pub(crate) fn bound(
        &self,
        scene: &mut Scene,
        problem: &Problem,
        query: &[f32],
        (number, max_distance): (usize, f32),
        text: f32,
    ) {
        if max_distance.is_infinite() {
            return;
        }
        let (center, radius) = (self.at(query), max_distance.sqrt() * self.scale);
        let stroke = line(Ink::Intermediate, (text * 0.15).max(1.5));
        // A larger circle would be entirely outside the picture.
        let most = 4.0 * (self.area.width + self.area.height);
        scene.track(
            TrackKey::new(TrackId::Bound(number)),
            self.area,
            Transition::Morph,
            |scene| match problem.dims() {
                1 => {
                    let high = text * 1.2;
                    let ends = [center[0] - radius, center[0] + radius]
                        .map(|x| x.clamp(self.area.x, self.area.right()));
                    scene.fill(
                        area(ends[0], center[1] - high, ends[1] - ends[0], 2.0 * high),
                        faint(Ink::Intermediate, 0.15),
                    );
                    for x in ends {
                        scene.path(vec![[x, center[1] - high], [x, center[1] + high]], stroke);
                    }
                }
                2 if radius > 0.0 && radius < most => {
                    scene.dots(vec![center], radius, Some(faint(Ink::Intermediate, 0.1)), Some(stroke))
                }
                _ => {}
            },
        );
    }

    pub(crate) fn query(&self, scene: &mut Scene, query: &[f32], text: f32) {
        let [x, y] = self.at(query);
        let arm = text * 0.55;
        for (ink, width) in [(Ink::Canvas, text * 0.36), (Ink::Text, text * 0.18)] {
            scene.path(vec![[x - arm, y], [x + arm, y]], line(ink, width));
            scene.path(vec![[x, y - arm], [x, y + arm]], line(ink, width));
        }
    }
}

// A lens in the plane of the points: it magnifies the circle once it is too small to see into.

/// Circles of a smaller radius get a lens, relative to the text size.
const CROWDED: f32 = 2.5;

/// Minimum magnification, to be worth the area that it covers.
const WORTH: f32 = 2.0;

/// The circle's radius relative to half the side of the lens.
const REACH: f32 = 0.8;

/// The lens, as a plane of its own.
pub(super) struct Lens {
    plane: Plane,
    times: f32,
}

impl Lens {
    /// `None` if the circle is large enough, if there is none, or if there is no room.
    pub(super) fn new(plane: &Plane, view: &View<'_>) -> Option<Self> {
        let (recording, bound) = (view.recording(), view.state().max_distance);
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
        let (text, recording) = (view.text, view.recording());
        let (problem, [x, y]) = (recording.problem(), plane.at(&recording.parameters.query));
        let room = self.area();
        let edge = [x.clamp(room.x, room.right()), y.clamp(room.y, room.bottom())];
        scene.path(vec![[x, y], edge], dashed(Ink::TextWeak, 1.0, 3.0));
        let points: Vec<u32> = (0..problem.n() as u32)
            .filter(|&point| room.contains(self.plane.position(problem, point)))
            .collect();
        // Remove the spots below it.
        scene.spots.retain(|spot| !room.contains(spot.area.center()));
        let things = scene.tracked.len();
        draw_in(scene, &self.plane, view, &points, text * 0.2, None);
        // Things are tracked only in the plane, not a second time in the lens.
        scene.tracked.truncate(things);
        scene.rect(room, 0.0, None, Some(line(Ink::TextWeak, 1.2)));
        let style = sans(view.font_size(0.8), Ink::Text);
        let words = format!("\u{d7} {}", magnification(self.times));
        let note = area(room.x, room.y, width(style.font, style.size, &words) + text * 0.8, style.size * 1.4);
        scene.fill(note, faint(Ink::Canvas, 0.9));
        scene.label(note, 0.5, style, &words);
    }
}

/// The place of the lens: the corner farthest from the query, small enough not to cover the circle; `None` if
/// too small to be useful.
fn place(pane: Area, query: [f32; 2], around: f32, text: f32) -> Option<Area> {
    let gap = text * 0.5;
    let clear = around.max(text) + text * 0.5;
    let [middle_x, middle_y] = pane.center();
    let (right, below) = (query[0] < middle_x, query[1] < middle_y);
    let beside = if right { pane.right() - query[0] } else { query[0] - pane.x } - clear - gap;
    let beyond = if below { pane.bottom() - query[1] } else { query[1] - pane.y } - clear - gap;
    let side = (pane.width.min(pane.height) * 0.48).min(beside.max(beyond));
    let corner = [
        if right { pane.right() - side - gap } else { pane.x + gap },
        if below { pane.bottom() - side - gap } else { pane.y + gap },
    ];
    (side >= text * 5.0).then(|| area(corner[0], corner[1], side, side))
}

/// The magnification with two digits.
fn magnification(times: f32) -> String {
    if times < 9.95 { format!("{times:.1}") } else { crate::text::thousands(times.round() as u64) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{Column, Order, PointCloud, Source, Table};
    use crate::cursor::Cursor;
    use crate::edits::Edits;
    use crate::knn::{ProblemParameters, Queries};
    use crate::lessons::{self, Arrangement};
    use crate::own_data::UserData;
    use crate::picture::scene::Shape;
    use crate::picture::{Panel, draw};

    #[test]
    fn lens_covers_neither_the_circle_nor_the_query() {
        let pane = area(10.0, 20.0, 400.0, 300.0);
        for x in 0..20 {
            for y in 0..20 {
                for around in [0.5, 8.0, 30.0] {
                    let query = [pane.x + x as f32 * 20.0, pane.y + y as f32 * 15.0];
                    let Some(lens) = place(pane, query, around, 14.0) else { continue };
                    assert!(
                        lens.width >= 70.0
                            && pane.contains([lens.x, lens.y])
                            && pane.contains([lens.right(), lens.bottom()])
                    );
                    let apart = [
                        query[0].clamp(lens.x, lens.right()) - query[0],
                        query[1].clamp(lens.y, lens.bottom()) - query[1],
                    ];
                    assert!(apart[0].hypot(apart[1]) > around, "{query:?}, {around}: {lens:?}");
                }
            }
        }
    }

    /// A cluster far smaller than the whole cloud, as of a city on a map of its country.
    #[test]
    fn small_circles_are_magnified_with_all_their_points() {
        let mut values: Vec<f64> = (0..600).flat_map(|i| [f64::from(i % 25), f64::from(i / 25)]).collect();
        values.extend(
            (0..200).flat_map(|i| [12.0 + f64::from(i % 14) * 1e-3, 12.0 + f64::from(i / 14) * 1e-3]),
        );
        let table =
            Table { columns: ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec(), values };
        let cloud =
            Arc::new(PointCloud::from_table(table, Source::Coordinates(String::new()), None, false).unwrap());
        let lesson = lessons::named("own-data").unwrap();
        let setup = ProblemParameters {
            k: lesson.k,
            metric: Metric::L2,
            order: Order::File,
            seed: 0,
            exclude_self: false,
            drop_zero_rows: false,
        };
        let own = UserData {
            cloud: &cloud,
            queries: &Queries::Rows(vec![700]),
            query: 0,
            arrangement: Arrangement::Shuffled,
        };
        let take = lesson.record_own(own, setup, lesson.width, &Edits::default()).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        let circles = |cursor: &Cursor| -> Vec<f32> {
            let scene = draw(Panel::Cloud, &View::new(cursor, 14.0), [500.0, 400.0]);
            let circle = |shape: &Shape| match shape {
                Shape::Dots { centers, radius, line: Some(line), .. }
                    if centers.len() == 1 && line.paint.ink == Ink::Intermediate =>
                {
                    Some(*radius)
                }
                _ => None,
            };
            scene.shapes.iter().filter_map(circle).collect()
        };
        assert!(circles(&cursor).is_empty(), "no circle yet, and no lens");
        cursor.seek(take.recording.len());
        let [small, large] = circles(&cursor)[..] else { panic!("a circle, and the same in the lens") };
        assert!(small < 14.0 * CROWDED && large > 50.0, "{small}, {large}");
        let scene = draw(Panel::Cloud, &View::new(&cursor, 14.0), [500.0, 400.0]);
        let lens = scene.maps[0].lens.expect("a lens");
        let neighbors = cursor
            .state()
            .registers
            .iter()
            .take(lesson.k)
            .map(|&key| crate::engines::lockstep::index_of(key));
        for point in neighbors {
            let seen = |spot: &crate::picture::scene::HitArea| {
                spot.target == crate::picture::Target::Point(point) && lens.contains(spot.area.center())
            };
            assert!(scene.spots.iter().any(seen), "neighbour {point} can be pointed at in the lens");
        }
    }
}
