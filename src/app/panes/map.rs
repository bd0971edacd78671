//! What Plane draws on a map of longitude and latitude: coastlines, circles on the globe, and a scale in km.

use crate::app::model::coastlines::{self, Bounds};
use crate::app::model::{MapAxes, PlaneCamera, PlaneView};
use crate::app::prelude::*;
use crate::cloud::GlobeAxes;
use crate::cloud::globe::EARTH_RADIUS_KM;
use crate::draw::pen::linear_ticks;
use crate::knn::Metric;
use crate::text;

/// Coastlines are drawn down to this scale, in screen points per degree of error; nearer, they would seem
/// more exact than they are.
const MAX_ERROR_POINTS: f64 = 200.0;

/// Points of a line nearer than this to each other are left out, in screen points.
const STEP: f64 = 0.7;

/// Draws coastlines and borders, for clouds on the Earth.
pub fn coastlines_ui(ui: &Ui, camera: &PlaneCamera, palette: &Palette) {
    let Some(map) = camera.map.filter(MapAxes::is_earth) else { return };
    if coastlines::ERROR_DEGREES > MAX_ERROR_POINTS * camera.window.units_per_point {
        return;
    }
    let corners =
        [camera.rect.left_bottom(), camera.rect.right_top()].map(|at| map.degrees(camera.place(at)));
    let bounds = map.bounds();
    let seen = Bounds {
        low: [0, 1].map(|axis| corners[0][axis].max(bounds.low[axis])),
        high: [0, 1].map(|axis| corners[1][axis].min(bounds.high[axis])),
    };
    let screen = |degrees: [f64; 2]| camera.screen(map.local(degrees));
    let ends = Rect::from_two_pos(screen(bounds.low), screen(bounds.high));
    let painter = ui.painter().with_clip_rect(camera.rect.intersect(ends));
    let (coast, border) = (Stroke::new(1.0, palette.coast), Stroke::new(0.6, palette.coast));
    let [longitudes, latitudes] = map.ordered(camera.units()).map(|unit| unit * STEP);
    // A map may span any full turn.
    for turn in [-360.0, 0.0, 360.0] {
        let window =
            Bounds { low: [seen.low[0] - turn, seen.low[1]], high: [seen.high[0] - turn, seen.high[1]] };
        for line in coastlines::lines() {
            let stroke = if line.is_border { border } else { coast };
            for part in line.parts(&window, [longitudes, latitudes]) {
                let points =
                    part.into_iter().map(|[longitude, latitude]| screen([longitude + turn, latitude]));
                painter.line(points.collect(), stroke);
            }
        }
    }
    ui.painter().with_clip_rect(camera.rect).rect_stroke(ends, 0.0, border, egui::StrokeKind::Middle);
}

/// The range of corners of a circle on the globe.
const CIRCLE_CORNERS: std::ops::RangeInclusive<f64> = 180.0..=4096.0;

/// Range of radii drawn, in points: a smaller circle would blur the query's mark.
pub const CIRCLE_RADII: std::ops::Range<f64> = 3.0..1e5;

/// The circle around a query on the globe: not circular in degrees, and interrupted at the map's edges.
pub fn globe_circle_ui(
    ui: &Ui,
    camera: &PlaneCamera,
    view: PlaneView,
    answered: &QueryAnswer,
    squared: f32,
    palette: &Palette,
) {
    let (of, row, axes) = (answered.query_cloud(), answered.row() as usize, answered.record.cloud.axes());
    let Some(globe) =
        GlobeAxes::from_axes(axes).ok().filter(|_| view.axes.iter().all(|&axis| axis < axes.len()))
    else {
        return;
    };
    let center = [0, 1].map(|axis| of.coordinate(row, axis));
    let angle = Metric::Angular.distance(squared);
    let radius = angle.to_degrees() / camera.window.units_per_point;
    if !CIRCLE_RADII.contains(&radius) {
        return;
    }
    // Within a quarter point of the circle.
    let corners =
        (std::f64::consts::PI * (2.0 * radius).sqrt()).clamp(*CIRCLE_CORNERS.start(), *CIRCLE_CORNERS.end());
    let line = globe.circle(center, angle, corners as usize);
    let painter = ui.painter().with_clip_rect(camera.rect);
    for part in globe.split_at_edges(&line, globe.west_edge(axes)) {
        let on_screen =
            |place: [f64; 2]| camera.screen(view.axes.map(|axis| place[axis] - axes[axis].origin));
        painter.line(part.into_iter().map(on_screen).collect(), Stroke::new(1.5, palette.intermediate));
    }
}

/// A bar with its length in km at the map's centre, in the bottom right corner.
pub fn scale_ui(ui: &Ui, camera: &PlaneCamera, palette: &Palette) {
    /// The bar's greatest length, in screen points.
    const LENGTH: f64 = 110.0;
    const MIN_WIDTH: f32 = 400.0;
    // A note is beside it.
    let has_room = camera.rect.width() >= MIN_WIDTH;
    if !camera.map.is_some_and(|map| map.is_earth()) || !has_room {
        return;
    }
    let km_per_point = camera.window.units_per_point.to_radians() * EARTH_RADIUS_KM;
    let (ticks, _) = linear_ticks(0.0, LENGTH * km_per_point, 2);
    let Some(&km) = ticks.last().filter(|&&km| km > 0.0) else { return };
    let end = camera.rect.right_bottom() - vec2(10.0, 8.0);
    let start = end - vec2((km / km_per_point) as f32, 0.0);
    let stroke = Stroke::new(1.5, palette.text_weak);
    let painter = ui.painter().with_clip_rect(camera.rect);
    let said = if km < 1.0 {
        format!("{} m", text::significant(km * 1000.0))
    } else {
        format!("{} km", text::significant(km))
    };
    let galley = painter.layout_no_wrap(said, FontId::proportional(11.0), palette.text);
    let at = pos2((start.x + end.x - galley.size().x) / 2.0, end.y - 4.0 - galley.size().y);
    // Background, because points are below.
    let ground = Rect::from_min_size(at, galley.size()).union(Rect::from_two_pos(start, end));
    painter.rect_filled(ground.expand(3.0), 2.0, palette.canvas.gamma_multiply(0.85));
    painter.galley(at, galley, palette.text);
    painter.line(vec![start - vec2(0.0, 4.0), start, end, end - vec2(0.0, 4.0)], stroke);
}
