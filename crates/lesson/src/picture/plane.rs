//! Where points of the plane of the first two axes are in a picture, and what is drawn at them.

use super::pen::{area, faint, line};
use super::scene::{Area, Ink, Map, Point, Scene, Target};
use super::thing::{Id, Way, What};
use crate::knn::Problem;
use crate::overview::Overview;

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
        let fits =
            |size: f32, extent: f64| if extent > 0.0 { f64::from((size * 0.96).min(size - 2.0 * margin).max(1.0)) / extent } else { f64::INFINITY };
        let mut scale = fits(rect.width, extent[0]).min(fits(rect.height, extent[1]));
        if !scale.is_finite() {
            scale = 1.0;
        }
        let middle = [f64::from(low[0]) + extent[0] / 2.0, f64::from(low[1]) + extent[1] / 2.0];
        let low = [middle[0] - f64::from(rect.width) / scale / 2.0, middle[1] + f64::from(rect.height) / scale / 2.0];
        Self { area: rect, low: low.map(|value| value as f32), scale: scale as f32, extent: extent.map(|size| (size * scale) as f32), dims }
    }

    /// A part of the plane around a place, in another area of the picture, at another scale.
    pub(crate) fn around(&self, center: [f32; 2], scale: f32, area: Area) -> Self {
        let half = [area.width / scale / 2.0, area.height / scale / 2.0];
        Self { area, low: [center[0] - half[0], center[1] + half[1]], scale, extent: [area.width, area.height], dims: self.dims }
    }

    /// The distance between neighbours if the points were on a regular lattice.
    pub(crate) fn spacing(&self, points: usize) -> f32 {
        let [wide, high] = self.extent;
        if wide == 0.0 || high == 0.0 { wide.max(high) / points as f32 } else { (wide * high / points as f32).sqrt() }
    }

    /// Maps coordinates to the picture; y points up in the data.
    pub(crate) fn at(&self, coordinates: &[f32]) -> Point {
        let y = if self.dims == 1 { 0.0 } else { coordinates[1] };
        [self.area.x + (coordinates[0] - self.low[0]) * self.scale, self.area.y + (self.low[1] - y) * self.scale]
    }

    /// The same mapping, for what is dragged.
    pub(crate) fn map(&self, &Overview { low, high, .. }: &Overview, query: &[f32]) -> Map {
        let bounds = [0, 1].map(|axis| [low[axis], high[axis]]);
        Map { area: self.area, corner: self.low, scale: self.scale, bounds, query: [query[0], query[1]], lens: None }
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

    /// A circle in two dimensions, an interval in one; of several by number, each of which can shrink or grow.
    pub(crate) fn bound(&self, scene: &mut Scene, problem: &Problem, query: &[f32], (number, max_distance): (usize, f32), text: f32) {
        if max_distance.is_infinite() {
            return;
        }
        let (center, radius) = (self.at(query), max_distance.sqrt() * self.scale);
        let stroke = line(Ink::Intermediate, (text * 0.15).max(1.5));
        // A larger circle would be entirely outside the picture.
        let most = 4.0 * (self.area.width + self.area.height);
        scene.thing(Id::of(What::Bound(number)), self.area, Way::Becomes, |scene| match problem.dims() {
            1 => {
                let high = text * 1.2;
                let ends = [center[0] - radius, center[0] + radius].map(|x| x.clamp(self.area.x, self.area.right()));
                scene.fill(area(ends[0], center[1] - high, ends[1] - ends[0], 2.0 * high), faint(Ink::Intermediate, 0.15));
                for x in ends {
                    scene.path(vec![[x, center[1] - high], [x, center[1] + high]], stroke);
                }
            }
            2 if radius > 0.0 && radius < most => scene.dots(vec![center], radius, Some(faint(Ink::Intermediate, 0.1)), Some(stroke)),
            _ => {}
        });
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
