//! Transforms between cloud and pane: Plane's window and Space's orbit. Each gives the GPU a centre and one
//! matrix.

use std::sync::Arc;

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use super::map::{self, MapAxes};
use super::views::{PlaneView, PlaneWindow, SpaceView};
use crate::app::features::projection::state::{CloudProjection, ProjectedCloud};
use crate::cloud::PointCloud;

/// The transform for the GPU: `clip = matrix · (local − center, 1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Subtracted first, to keep precision when zoomed in deeply.
    pub center: [f32; 3],
    /// Column-major: `matrix[column][row]`.
    pub matrix: [[f32; 4]; 4],
}

impl Projection {
    /// The focal length in pixels, for a picture of this height; 0 without perspective.
    pub fn focal_pixels(&self, height: u32) -> f32 {
        let scale =
            |row: usize| self.matrix[..3].iter().map(|column| column[row].powi(2)).sum::<f32>().sqrt();
        let distance = scale(3);
        if distance > 0.0 { scale(1) / distance * height as f32 / 2.0 } else { 0.0 }
    }
}

/// Centre and half extent of an axis, in local coordinates; 0 for a missing axis.
fn span(cloud: &PointCloud, axis: usize) -> (f64, f64) {
    cloud
        .axes()
        .get(axis)
        .map_or((0.0, 0.0), |axis| ((axis.min + axis.max) / 2.0 - axis.origin, (axis.max - axis.min) / 2.0))
}

/// Like [`span`], without outliers.
fn bulk(cloud: &PointCloud, axis: usize) -> (f64, f64) {
    if axis >= cloud.dims() {
        return (0.0, 0.0);
    }
    let [low, high] = cloud.bulk(axis);
    ((low + high) / 2.0, (high - low) / 2.0)
}

/// Half the longest extent along some axes, in local units, without outliers.
pub fn extent(cloud: &PointCloud, axes: &[usize]) -> f64 {
    axes.iter().map(|&axis| bulk(cloud, axis).1).fold(0.0, f64::max)
}

/// A row's local coordinate along an axis; 0 for a missing axis.
pub fn along(cloud: &PointCloud, row: usize, axis: usize) -> f64 {
    component(cloud.point(row), axis)
}

fn component(point: &[f32], axis: usize) -> f64 {
    point.get(axis).map_or(0.0, |&value| f64::from(value))
}

/// Target and distance from which the whole cloud is visible.
pub fn overview(cloud: &PointCloud, axes: [usize; 3]) -> ([f64; 3], f64) {
    let (middle, unit) = units(cloud, axes);
    let spans = axes.map(|axis| span(cloud, axis));
    let target = std::array::from_fn(|axis| (spans[axis].0 - middle[axis]) / unit);
    let wider = spans.iter().map(|span| span.1 / unit).fold(0.0, f64::max);
    let distance = SpaceView::default().distance;
    (target, if wider > 0.0 { (distance * wider).clamp(MIN_DISTANCE, MAX_DISTANCE) } else { distance })
}

/// Target and distance from which a ball fills Space.
pub fn focus(cloud: &PointCloud, axes: [usize; 3], center: [f64; 3], radius: f64) -> ([f64; 3], f64) {
    let (middle, unit) = units(cloud, axes);
    let target = std::array::from_fn(|axis| (center[axis] - middle[axis]) / unit);
    (target, (radius / unit * 1.4 / (FIELD_OF_VIEW / 2.0).sin()).clamp(MIN_DISTANCE, MAX_DISTANCE))
}

/// A row's local coordinates along some axes; 0 for a missing axis.
pub fn place<const N: usize>(cloud: &PointCloud, row: usize, axes: [usize; N]) -> [f64; N] {
    let point = cloud.point(row);
    axes.map(|axis| component(point, axis))
}

/// Camera of Plane, with equal scale on both axes; on a map, with equal scale on the ground at its centre.
#[derive(Clone, Copy, Debug)]
pub struct PlaneCamera {
    /// The screen rectangle of the plot.
    pub rect: Rect,
    /// Centre and scale.
    pub window: PlaneWindow,
    /// The axes, if they are longitude and latitude.
    pub map: Option<MapAxes>,
}

impl PlaneCamera {
    /// A camera with this window; without one, it fits the cloud's bulk.
    pub fn new(rect: Rect, window: Option<PlaneWindow>, cloud: &PointCloud, axes: [usize; 2]) -> Self {
        Self::for_view(rect, &PlaneView { axes, window, ..PlaneView::default() }, cloud)
    }

    pub fn for_view(rect: Rect, view: &PlaneView, cloud: &PointCloud) -> Self {
        let window = view.window.filter(|window| {
            window.units_per_point.is_normal() && window.center.iter().all(|c| c.is_finite())
        });
        let map = MapAxes::of(cloud, view.axes);
        let fitting = || {
            let within = if view.whole { span } else { bulk };
            fit(rect, view.axes.map(|axis| within(cloud, axis)), map)
        };
        Self { rect, window: window.unwrap_or_else(fitting), map }
    }

    /// Local units per screen point along both axes.
    pub fn units(&self) -> [f64; 2] {
        map::stretch(self.map, self.window.center).map(|stretch| self.window.units_per_point / stretch)
    }

    /// The screen position of local coordinates.
    pub fn screen(&self, place: [f64; 2]) -> Pos2 {
        let units = self.units();
        let [x, y] = [0, 1].map(|axis| (place[axis] - self.window.center[axis]) / units[axis]);
        pos2(self.rect.center().x + x as f32, self.rect.center().y - y as f32)
    }

    /// The local coordinates at a screen position.
    pub fn place(&self, screen: Pos2) -> [f64; 2] {
        let (from_center, units) = (screen - self.rect.center(), self.units());
        [
            self.window.center[0] + f64::from(from_center.x) * units[0],
            self.window.center[1] - f64::from(from_center.y) * units[1],
        ]
    }

    /// Whether the cloud extends beyond the pane.
    pub fn crops(&self, cloud: &PointCloud, axes: [usize; 2]) -> bool {
        let (size, units) = ([self.rect.width(), self.rect.height()], self.units());
        (0..2).any(|at| {
            let (middle, half) = span(cloud, axes[at]);
            let reach = f64::from(size[at]) / 2.0 * units[at];
            (middle - self.window.center[at]).abs() + half > reach
        })
    }

    /// Approximate fraction of an evenly spread cloud that is visible.
    pub fn visible(&self, cloud: &PointCloud, axes: [usize; 2]) -> f32 {
        let (size, units) = ([self.rect.width(), self.rect.height()], self.units());
        let seen = |at: usize| {
            let extent = 2.0 * bulk(cloud, axes[at]).1;
            if extent > 0.0 { (f64::from(size[at]) * units[at] / extent).min(1.0) } else { 1.0 }
        };
        (seen(0) * seen(1)) as f32
    }

    /// Pans by a pointer movement.
    pub fn pan(&mut self, by: Vec2) {
        let units = self.units();
        self.window.center[0] -= f64::from(by.x) * units[0];
        self.window.center[1] += f64::from(by.y) * units[1];
    }

    /// Zooms about a fixed screen position.
    pub fn zoom(&mut self, about: Pos2, factor: f32) {
        let before = self.place(about);
        let units = self.window.units_per_point / f64::from(factor);
        if !(1e-30..1e30).contains(&units) {
            return;
        }
        self.window.units_per_point = units;
        // Twice, because the centre's latitude scales the longitudes.
        for _ in 0..2 {
            let after = self.place(about);
            for axis in 0..2 {
                self.window.center[axis] += before[axis] - after[axis];
            }
        }
    }

    pub fn projection(&self) -> Projection {
        let scale = |points: f32, units: f64| (2.0 / (f64::from(points) * units)) as f32;
        let units = self.units();
        let (x, y) = (scale(self.rect.width(), units[0]), scale(self.rect.height(), units[1]));
        Projection {
            center: [self.window.center[0] as f32, self.window.center[1] as f32, 0.0],
            // All points have the same depth, so later points cover earlier ones.
            matrix: [[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0]],
        }
    }
}

/// The window that shows two intervals, each given by centre and half length, with a margin.
fn fit(rect: Rect, [(x, half_x), (y, half_y)]: [(f64, f64); 2], map: Option<MapAxes>) -> PlaneWindow {
    let center = [x, y];
    let units = units_to_show([half_x, half_y], center, rect.size(), map) * 1.06;
    PlaneWindow { center, units_per_point: if units > 0.0 { units } else { 0.01 } }
}

/// The smallest `units_per_point` at which a pane of a size shows so far from a centre in both directions.
pub fn units_to_show(half: [f64; 2], center: [f64; 2], size: Vec2, map: Option<MapAxes>) -> f64 {
    let stretch = map::stretch(map, center);
    let along = |axis: usize, points: f32| 2.0 * half[axis] * stretch[axis] / f64::from(points.max(1.0));
    along(0, size.x).max(along(1, size.y))
}

/// Camera of Space: a perspective orbit about a target. The unit of length is half the extent of the widest
/// axis, without outliers, so axes keep their true proportions.
#[derive(Clone, Copy, Debug)]
pub struct SpaceCamera {
    rect: Rect,
    middle: [f64; 3],
    unit: f64,
    /// Row-major: `clip = m · (position in units, 1)`.
    matrix: [[f64; 4]; 4],
}

/// Vertical field of view, in radians.
const FIELD_OF_VIEW: f64 = 0.7;

const NEAR: f64 = 0.001;

const FAR: f64 = 100.0;

/// Bounds of the distance from the target.
const MIN_DISTANCE: f64 = 0.004;

const MAX_DISTANCE: f64 = 50.0;

impl SpaceCamera {
    pub fn new(rect: Rect, view: &SpaceView, cloud: &PointCloud) -> Self {
        let (middle, unit) = units(cloud, view.axes);
        let (right, up, back) = frame(view);
        let eye: [f64; 3] = std::array::from_fn(|axis| view.target[axis] + back[axis] * view.distance);
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let view_rows = [right, up, back].map(|axis| [axis[0], axis[1], axis[2], -dot(axis, eye)]);
        // The field of view spans the shorter side of the pane.
        let aspect = f64::from(rect.width().max(1.0)) / f64::from(rect.height().max(1.0));
        let focal = 1.0 / (FIELD_OF_VIEW / 2.0).tan() * aspect.min(1.0);
        let depth = FAR / (NEAR - FAR);
        let matrix = [
            view_rows[0].map(|value| value * focal / aspect),
            view_rows[1].map(|value| value * focal),
            std::array::from_fn(|column| {
                depth * view_rows[2][column] + if column == 3 { depth * NEAR } else { 0.0 }
            }),
            view_rows[2].map(|value| -value),
        ];
        Self { rect, middle, unit, matrix }
    }

    /// The screen rectangle of the plot.
    pub fn rect(&self) -> Rect {
        self.rect
    }

    pub fn projection(&self) -> Projection {
        let matrix = std::array::from_fn(|column| {
            std::array::from_fn(|row| {
                (self.matrix[row][column] / if column < 3 { self.unit } else { 1.0 }) as f32
            })
        });
        Projection { center: self.middle.map(|value| value as f32), matrix }
    }

    /// Screen position and depth of local coordinates; `None` behind the eye.
    pub fn screen(&self, place: [f64; 3]) -> Option<(Pos2, f64)> {
        // Expanded by hand, with only the matrix rows needed, because a click computes this for every row.
        let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] - self.middle[axis]) / self.unit);
        let clip = |row: [f64; 4]| row[0] * x + row[1] * y + row[2] * z + row[3];
        let depth = clip(self.matrix[3]);
        if depth <= NEAR {
            return None;
        }
        let center = self.rect.center();
        let right = clip(self.matrix[0]) / depth * f64::from(self.rect.width()) / 2.0;
        let up = clip(self.matrix[1]) / depth * f64::from(self.rect.height()) / 2.0;
        Some((pos2(center.x + right as f32, center.y - up as f32), depth))
    }
}

/// Centre of the cloud without outliers, and the half extent of its widest axis.
fn units(cloud: &PointCloud, axes: [usize; 3]) -> ([f64; 3], f64) {
    let spans = axes.map(|axis| bulk(cloud, axis));
    let unit = spans.iter().map(|span| span.1).fold(0.0, f64::max);
    (spans.map(|span| span.0), if unit > 0.0 { unit } else { 1.0 })
}

/// The right, up and back vectors of a view; z is up.
fn frame(view: &SpaceView) -> ([f64; 3], [f64; 3], [f64; 3]) {
    let (sin_yaw, cos_yaw) = view.yaw.sin_cos();
    let (sin_pitch, cos_pitch) = view.pitch.sin_cos();
    let right = [cos_yaw, sin_yaw, 0.0];
    let back = [sin_yaw * cos_pitch, -cos_yaw * cos_pitch, sin_pitch];
    let up = [-sin_yaw * sin_pitch, cos_yaw * sin_pitch, cos_pitch];
    (right, up, back)
}

/// Orbits by a pointer movement.
pub fn orbit(view: &mut SpaceView, by: Vec2) {
    let limit = std::f64::consts::FRAC_PI_2 - 0.01;
    view.yaw = (view.yaw - f64::from(by.x) * 0.008).rem_euclid(std::f64::consts::TAU);
    view.pitch = (view.pitch + f64::from(by.y) * 0.008).clamp(-limit, limit);
}

/// Pans the target by a pointer movement.
pub fn pan(view: &mut SpaceView, by: Vec2, height: f32) {
    let (right, up, _) = frame(view);
    let scale = 2.0 * (FIELD_OF_VIEW / 2.0).tan() * view.distance / f64::from(height.max(1.0));
    for axis in 0..3 {
        view.target[axis] += (-f64::from(by.x) * right[axis] + f64::from(by.y) * up[axis]) * scale;
    }
}

/// Scales the distance to the target by 1 / `factor`.
pub fn dolly(view: &mut SpaceView, factor: f32) {
    view.distance = (view.distance / f64::from(factor)).clamp(MIN_DISTANCE, MAX_DISTANCE);
}

/// Clamps a saved view to what the pointer can reach.
pub fn clamp_view(view: &mut SpaceView) {
    const FAR: f64 = 1e6;
    let limit = std::f64::consts::FRAC_PI_2 - 0.01;
    let usual = SpaceView::default();
    let near = |value: f64, usual: f64| if value.abs() <= FAR { value } else { usual };
    view.yaw = near(view.yaw, usual.yaw);
    view.pitch = near(view.pitch, usual.pitch).clamp(-limit, limit);
    view.distance = near(view.distance, usual.distance).clamp(MIN_DISTANCE, MAX_DISTANCE);
    if view.target.iter().any(|&at| near(at, f64::NAN).is_nan()) {
        view.target = usual.target;
    }
}

/// Directions of the three axes on screen, (right, up) each, for the axis cross in the corner.
pub fn axis_directions(view: &SpaceView) -> [Vec2; 3] {
    let (right, up, _) = frame(view);
    std::array::from_fn(|axis| vec2(right[axis] as f32, -up[axis] as f32))
}

// What Plane and Space draw: the clouds themselves, or their projections, row for row.

/// A cloud and what is drawn for it: itself or its projection.
#[derive(Clone, Debug)]
struct DrawnCloud {
    cloud: Arc<PointCloud>,
    drawn: Arc<PointCloud>,
}

#[derive(Clone, Debug)]
pub struct Scene {
    data: DrawnCloud,
    queries: Option<DrawnCloud>,
    /// Projections of other query clouds, for queries that are not rows; keyed by the cloud's address in
    /// memory.
    others: Vec<(usize, PointCloud)>,
}

/// A cloud with its projection, if `pictured` belongs to this cloud.
fn picture(cloud: &Arc<PointCloud>, pictured: &ProjectedCloud) -> Option<DrawnCloud> {
    Arc::ptr_eq(cloud, &pictured.cloud)
        .then(|| DrawnCloud { cloud: Arc::clone(cloud), drawn: Arc::clone(&pictured.picture) })
}

fn address(cloud: &PointCloud) -> usize {
    std::ptr::from_ref(cloud).addr()
}

impl Scene {
    /// The scene of a cloud, a query file, and the clouds of queries that are not rows. Projections are used
    /// only if they exist for both the cloud and the query file.
    pub fn new<'a>(
        cloud: Arc<PointCloud>,
        queries: Option<Arc<PointCloud>>,
        projected: Option<&CloudProjection>,
        others: impl Iterator<Item = &'a PointCloud>,
    ) -> Self {
        if let Some(projected) = projected
            && let Some(data) = picture(&cloud, &projected.data)
            && let Some(queries) = match (&queries, &projected.queries) {
                (None, _) => Some(None),
                (Some(queries), Some(pictured)) => picture(queries, pictured).map(Some),
                (Some(_), None) => None,
            }
        {
            let mut scene = Self { data, queries, others: Vec::new() };
            for cloud in others {
                if !scene.has(cloud) {
                    scene.others.push((address(cloud), projected.picture_of(cloud)));
                }
            }
            return scene;
        }
        let itself = |cloud: Arc<PointCloud>| DrawnCloud { drawn: Arc::clone(&cloud), cloud };
        Self { data: itself(cloud), queries: queries.map(itself), others: Vec::new() }
    }

    /// The points to draw, row for row. A view can show their axes.
    pub fn data(&self) -> &Arc<PointCloud> {
        &self.data.drawn
    }

    /// The points to draw for the query file, if there is one.
    pub fn queries(&self) -> Option<&Arc<PointCloud>> {
        self.queries.as_ref().map(|queries| &queries.drawn)
    }

    /// What is drawn for a cloud: the data, the query file, or the cloud of a query at arbitrary coordinates.
    pub fn drawn<'a>(&'a self, cloud: &'a PointCloud) -> &'a PointCloud {
        let known = [Some(&self.data), self.queries.as_ref()]
            .into_iter()
            .flatten()
            .find(|known| std::ptr::eq(&*known.cloud, cloud));
        let other = || self.others.iter().find(|(of, _)| *of == address(cloud)).map(|(_, drawn)| drawn);
        known.map(|known| &*known.drawn).or_else(other).unwrap_or(cloud)
    }

    fn has(&self, cloud: &PointCloud) -> bool {
        let data = std::ptr::eq(&*self.data.cloud, cloud);
        data || self.queries.as_ref().is_some_and(|queries| std::ptr::eq(&*queries.cloud, cloud))
    }

    /// Number of dimensions searched.
    pub fn dims(&self) -> usize {
        self.data.cloud.dims()
    }

    /// Whether a projection is drawn. If so, lengths on screen differ from those in the file.
    pub fn is_projected(&self) -> bool {
        !Arc::ptr_eq(&self.data.cloud, &self.data.drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, cloud_of};

    fn rect() -> Rect {
        Rect::from_min_size(pos2(100.0, 50.0), vec2(400.0, 300.0))
    }

    #[test]
    fn plane_fits_the_cloud_and_follows_the_pointer() {
        let cloud = cloud(200, 2, 1);
        let mut camera = PlaneCamera::new(rect(), None, &cloud, [0, 1]);
        for row in 0..cloud.len() {
            let point = cloud.point(row);
            assert!(rect().contains(camera.screen([f64::from(point[0]), f64::from(point[1])])));
        }
        let pointer = pos2(180.0, 90.0);
        let place = camera.place(pointer);
        camera.zoom(pointer, 3.0);
        assert!((camera.screen(place) - pointer).length() < 1e-3, "zooming keeps what is under the pointer");
        camera.pan(vec2(10.0, -7.0));
        assert!(
            (camera.screen(place) - (pointer + vec2(10.0, -7.0))).length() < 1e-3,
            "panning moves it along"
        );
    }

    #[test]
    fn maps_are_true_to_the_ground_at_their_centre() {
        for names in [["lon", "lat"], ["lat", "lon"]] {
            let oslo = if names[0] == "lon" { [10.0, 60.0] } else { [60.0, 10.0] };
            let values: Vec<f64> =
                [[-1.0, -1.0], [1.0, 1.0]].iter().flat_map(|by| [oslo[0] + by[0], oslo[1] + by[1]]).collect();
            let cloud = cloud_of(&names, &values);
            let mut camera = PlaneCamera::new(rect(), None, &cloud, [0, 1]);
            let [across, up] = camera.units();
            let aspect = if names[0] == "lon" { up / across } else { across / up };
            assert!((aspect - 0.5).abs() < 1e-6, "{aspect}");
            let reach = 1.0 / camera.window.units_per_point * if names[0] == "lon" { 1.0 } else { 0.5 };
            assert!(reach < 150.0 && camera.crops(&cloud, [0, 1]) == (reach > 150.0), "fits: {reach}");

            let pointer = pos2(180.0, 90.0);
            let place = camera.place(pointer);
            camera.zoom(pointer, 0.2);
            assert!(
                (camera.screen(place) - pointer).length() < 0.5,
                "zooming keeps what is under the pointer"
            );
        }
        let plane = cloud_of(&["x", "y"], &[9.0, 59.0, 11.0, 61.0]);
        let [across, up] = PlaneCamera::new(rect(), None, &plane, [0, 1]).units();
        assert_eq!(across, up);
    }

    #[test]
    fn gpu_projection_matches_screen_positions() {
        let cloud = cloud(100, 3, 2);
        let view = SpaceView::default();
        let camera = SpaceCamera::new(rect(), &view, &cloud);
        let Projection { center, matrix } = camera.projection();
        for row in 0..cloud.len() {
            let point = cloud.point(row);
            let local: [f32; 4] =
                std::array::from_fn(|axis| if axis < 3 { point[axis] - center[axis] } else { 1.0 });
            let clip: [f32; 4] = std::array::from_fn(|r| (0..4).map(|c| matrix[c][r] * local[c]).sum());
            let (screen, depth) = camera
                .screen([f64::from(point[0]), f64::from(point[1]), f64::from(point[2])])
                .expect("the cloud is in front of the eye");
            let gpu = pos2(
                rect().center().x + clip[0] / clip[3] * 200.0,
                rect().center().y - clip[1] / clip[3] * 150.0,
            );
            assert!((gpu - screen).length() < 0.01);
            assert!((f64::from(clip[3]) - depth).abs() < 1e-4);
            assert!((0.0..1.0).contains(&(clip[2] / clip[3])), "within the depth range");
        }
    }

    #[test]
    fn the_focal_length_is_that_of_the_field_of_view() {
        let (cloud, rect) = (cloud(100, 3, 2), rect());
        let height = rect.height() as u32;
        // The shorter side spans the field of view.
        let expected = 0.5 * rect.width().min(rect.height()) / (FIELD_OF_VIEW as f32 / 2.0).tan();
        for view in [SpaceView::default(), SpaceView { distance: 0.1, yaw: 2.0, ..SpaceView::default() }] {
            let focal = SpaceCamera::new(rect, &view, &cloud).projection().focal_pixels(height);
            assert!((focal - expected).abs() < 0.01 * expected, "{focal}, not {expected}");
        }
        let plane = PlaneCamera::new(rect, None, &cloud, [0, 1]).projection();
        assert_eq!(plane.focal_pixels(height), 0.0, "Plane has no perspective");
    }

    #[test]
    fn depth_increases_with_distance() {
        let cloud = cloud(50, 3, 3);
        let camera =
            SpaceCamera::new(rect(), &SpaceView { yaw: 0.0, pitch: 0.0, ..SpaceView::default() }, &cloud);
        // With yaw 0 the eye is at -y.
        let near = camera.screen([0.0, -0.5, 0.0]).expect("in view").1;
        let far = camera.screen([0.0, 0.5, 0.0]).expect("in view").1;
        assert!(near < far);
    }
}
