//! Draws the walk's boxes and spheres over the points of Plane and Space.

use egui::{Painter, Shape, StrokeKind};

use super::globe::outline;
use super::state::{WalkState, WalkView, Walkthrough};
use crate::app::prelude::*;
use crate::cloud::{GlobeAxes, PointCloud};
use crate::knn::walk::{AXES, Bounds, Event, Region, RegionKind, RegionState};
use crate::text;

/// Maximum number of regions drawn: more would be unreadable and take longer than a frame.
const MAX_REGIONS: usize = 4_000;

/// Minimum side length on screen of a leaf with a number.
const MIN_NUMBERED_SIDE: f32 = 15.0;

/// Strokes of regions by their state.
#[derive(Clone, Copy, Debug)]
pub struct RegionStrokes {
    /// The region of the current step.
    pub now: Stroke,
    pub opened: Stroke,
    pub visited: Stroke,
    /// Fill of the leaf visited in the current step; overlapping fills would be unreadable.
    pub fill: Color32,
    pub waiting: Stroke,
    pub pruned: Stroke,
}

impl RegionStrokes {
    pub fn new(palette: &Palette) -> Self {
        Self {
            now: Stroke::new(2.5, palette.selected),
            // A hue that no other mark of Plane and Space has, in any look.
            opened: Stroke::new(1.5, palette.buffer),
            visited: Stroke::new(1.5, palette.candidate),
            fill: palette.candidate.gamma_multiply(0.22),
            waiting: Stroke::new(1.0, palette.text_weak.gamma_multiply(0.75)),
            pruned: Stroke::new(1.0, palette.rejected.gamma_multiply(0.55)),
        }
    }
}

/// Maps coordinates to the screen; `None` if out of sight.
pub type Screen<'a> = &'a dyn Fn([f64; AXES]) -> Option<Pos2>;

/// The drawing target of a walk.
pub struct Canvas<'a> {
    pub painter: Painter,
    pub screen: Screen<'a>,
    /// Whether the projection has no depth, so that a box is a rectangle.
    pub flat: bool,
    /// Diameter of a data point, in screen points.
    pub point_size: f32,
    pub palette: &'a Palette,
}

/// The walk to show, and the current step.
pub fn shown(view: WalkView, session: &Session) -> Option<(&Walkthrough, usize)> {
    match &session.walked {
        // During a drag, a slightly older walk is still close to the query.
        WalkState::Ready(walked) if view.shown && walked.drawn => Some((walked, walked.at(view))),
        _ => None,
    }
}

/// Draws the boxes after a step; [`points`] are drawn later, over all other marks. Returns a note if some are
/// omitted.
pub fn paint(canvas: &Canvas<'_>, walked: &Walkthrough, at: usize) -> Option<String> {
    if !walked.has_boxes() {
        return None;
    }
    let (regions, colors) = (&walked.walk.regions, RegionStrokes::new(canvas.palette));
    let globe = walked.globe();
    let bounds = |region: &Region, stroke: Stroke, fill: Color32| match globe {
        Some(globe) => on_globe(canvas, &walked.answered.record.cloud, globe, &region.bounds, stroke),
        None => bounds(canvas, &region.bounds, stroke, fill),
    };
    let met = regions.partition_point(|region| region.seen_at as usize <= at);
    let first = met.saturating_sub(MAX_REGIONS);
    // Pruned regions below waiting ones, visited ones on top.
    for fate in [RegionState::Pruned, RegionState::Waiting, RegionState::Visited] {
        for region in regions[first..met].iter().filter(|region| region.fate(at) == Some(fate)) {
            let leaf = !matches!(region.kind, RegionKind::Node { .. });
            let stroke = match (fate, leaf) {
                (RegionState::Pruned, _) => colors.pruned,
                (RegionState::Waiting, _) => colors.waiting,
                (RegionState::Visited, false) => colors.opened,
                (RegionState::Visited, true) => colors.visited,
            };
            bounds(region, stroke, Color32::TRANSPARENT);
        }
    }
    if globe.is_none() {
        numbers(canvas, walked, at);
    }
    if let Some(region) = walked.region(at) {
        let fill = if matches!(walked.step(at).event, Event::Visited { .. }) {
            colors.fill
        } else {
            Color32::TRANSPARENT
        };
        bounds(&regions[region], colors.now, fill);
        if globe.is_none() {
            reach(canvas, walked, region);
        }
    }
    (met > MAX_REGIONS).then(|| {
        format!("the last {} of {} boxes", text::thousands(MAX_REGIONS as u64), text::thousands(met as u64))
    })
}

/// Numbers leaves or clusters in the order of visits, if there is room.
fn numbers(canvas: &Canvas<'_>, walked: &Walkthrough, at: usize) {
    if !canvas.flat {
        return;
    }
    let visited = walked.walk.steps[..=at].iter().filter_map(|step| match step.event {
        Event::Visited { region, .. } => Some(region),
        _ => None,
    });
    let mut regions: Vec<usize> = visited.collect();
    regions.dedup();
    for (order, region) in regions.into_iter().enumerate() {
        let Some(rect) = rectangle(canvas, &walked.walk.regions[region].bounds) else { continue };
        let text = text::thousands(order as u64 + 1);
        let width = MIN_NUMBERED_SIDE.max(8.0 * text.len() as f32);
        if rect.width() >= width && rect.height() >= MIN_NUMBERED_SIDE {
            let (place, font) = (rect.left_top() + vec2(3.0, 1.0), FontId::proportional(11.0));
            canvas.painter.text(place, Align2::LEFT_TOP, text, font, canvas.palette.text);
        }
    }
}

/// A line from the query to the nearest position of a region, which shows its lower bound.
fn reach(canvas: &Canvas<'_>, walked: &Walkthrough, region: usize) {
    let query = place(walked.answered.query_cloud(), walked.answered.row() as usize);
    let nearest = nearest(&walked.walk.regions[region].bounds, query);
    if let (Some(from), Some(to)) = ((canvas.screen)(query), (canvas.screen)(nearest))
        && from.distance(to) > 1.0
    {
        canvas.painter.extend(Shape::dashed_line(
            &[from, to],
            Stroke::new(1.5, canvas.palette.query),
            4.0,
            3.0,
        ));
        canvas.painter.circle_filled(to, 3.0, canvas.palette.query);
    }
}

/// Draws the points of the visited leaf, and distinguishes those nearer than the k-th neighbour.
pub fn points(canvas: &Canvas<'_>, walked: &Walkthrough, at: usize) {
    let radius = (canvas.point_size / 2.0).max(1.0) + 1.6;
    let cloud = &walked.answered.record.cloud;
    for (row, near) in walked.points(at) {
        let Some(place) = (canvas.screen)(place(cloud, row as usize)) else { continue };
        let color = if near { canvas.palette.candidate } else { canvas.palette.rejected };
        canvas.painter.circle(place, radius, color, Stroke::new(1.0, canvas.palette.selected));
    }
}

fn place(cloud: &PointCloud, row: usize) -> [f64; AXES] {
    let mut place = [0.0; AXES];
    for (at, &value) in place.iter_mut().zip(cloud.point(row)) {
        *at = f64::from(value);
    }
    place
}

/// The position in a region nearest to the query.
fn nearest(bounds: &Bounds, query: [f64; AXES]) -> [f64; AXES] {
    match bounds {
        Bounds::Box { low, high } => {
            std::array::from_fn(|axis| query[axis].clamp(f64::from(low[axis]), f64::from(high[axis])))
        }
        Bounds::Sphere { center, radius } => {
            let away: [f64; AXES] = std::array::from_fn(|axis| query[axis] - f64::from(center[axis]));
            let distance = away.iter().map(|away| away * away).sum::<f64>().sqrt();
            let part = if distance > f64::from(*radius) { f64::from(*radius) / distance } else { 1.0 };
            std::array::from_fn(|axis| f64::from(center[axis]) + part * away[axis])
        }
    }
}

/// The rectangle of a box without depth, or the largest inside a sphere's circle.
fn rectangle(canvas: &Canvas<'_>, bounds: &Bounds) -> Option<Rect> {
    match bounds {
        Bounds::Box { low, high } => Some(Rect::from_two_pos(
            (canvas.screen)(low.map(f64::from))?,
            (canvas.screen)(high.map(f64::from))?,
        )),
        Bounds::Sphere { .. } => {
            let (center, radii) = ellipse(canvas, bounds)?;
            Some(Rect::from_center_size(center, radii * std::f32::consts::SQRT_2))
        }
    }
}

/// The ellipse of a sphere without depth, by centre and radii, since axes may have different scales.
fn ellipse(canvas: &Canvas<'_>, bounds: &Bounds) -> Option<(Pos2, Vec2)> {
    let Bounds::Sphere { center, radius } = bounds else { return None };
    let place = center.map(f64::from);
    // An offset along all axes, whichever are shown.
    let beside = place.map(|at| at + f64::from(*radius));
    let (center, beside) = ((canvas.screen)(place)?, (canvas.screen)(beside)?);
    Some((center, (beside - center).abs()))
}

/// Draws a region of unit vectors on a map, whose western edge is given.
fn on_globe(
    canvas: &Canvas<'_>,
    cloud: &PointCloud,
    (globe, west): (GlobeAxes, f64),
    bounds: &Bounds,
    stroke: Stroke,
) {
    let origins = [0, 1].map(|axis| cloud.axes()[axis].origin);
    for arc in outline(bounds) {
        let arc: Vec<[f64; 2]> = arc.into_iter().map(|vector| globe.position(vector)).collect();
        for part in globe.split_at_edges(&arc, west) {
            let screen = |[x, y]: [f64; 2]| (canvas.screen)([x - origins[0], y - origins[1], 0.0]);
            let points: Option<Vec<Pos2>> = part.into_iter().map(screen).collect();
            canvas.painter.extend(points.map(|points| Shape::line(points, stroke)));
        }
    }
}

fn bounds(canvas: &Canvas<'_>, bounds: &Bounds, stroke: Stroke, fill: Color32) {
    match bounds {
        Bounds::Box { .. } if canvas.flat => {
            if let Some(rect) =
                rectangle(canvas, bounds).filter(|rect| rect.intersects(canvas.painter.clip_rect()))
            {
                // A minimum size keeps boxes around collinear or single points visible.
                let rect = Rect::from_center_size(rect.center(), rect.size().max(Vec2::splat(2.0)));
                canvas.painter.rect(rect, 0.0, fill, stroke, StrokeKind::Middle);
            }
        }
        Bounds::Box { low, high } => {
            let corner = |at: usize| {
                (canvas.screen)(std::array::from_fn(|axis| {
                    f64::from(if at >> axis & 1 == 1 { high[axis] } else { low[axis] })
                }))
            };
            let corners: [Option<Pos2>; 8] = std::array::from_fn(corner);
            // Edges connect corners that differ in one axis.
            let edges = (0..8)
                .flat_map(|from| (0..AXES).map(move |axis| (from, from | 1 << axis)))
                .filter(|(from, to)| from != to);
            let segments = edges
                .filter_map(|(from, to)| Some(Shape::line_segment([corners[from]?, corners[to]?], stroke)));
            canvas.painter.extend(segments);
        }
        Bounds::Sphere { .. } if canvas.flat => {
            if let Some((center, radii)) = ellipse(canvas, bounds).filter(|(center, radii)| {
                Rect::from_center_size(*center, *radii * 2.0).intersects(canvas.painter.clip_rect())
            }) {
                // A minimum size keeps spheres around a single position visible.
                canvas.painter.add(egui::epaint::EllipseShape {
                    center,
                    radius: radii.max(Vec2::splat(1.0)),
                    fill,
                    stroke,
                    angle: 0.0,
                });
            }
        }
        Bounds::Sphere { center, radius } => {
            // A great circle perpendicular to each axis.
            const STEPS: usize = 48;
            for axis in 0..AXES {
                let on_circle = |step: usize| {
                    let (sin, cos) = (step as f64 / STEPS as f64 * std::f64::consts::TAU).sin_cos();
                    let mut place = center.map(f64::from);
                    place[(axis + 1) % AXES] += f64::from(*radius) * cos;
                    place[(axis + 2) % AXES] += f64::from(*radius) * sin;
                    (canvas.screen)(place)
                };
                let points: Vec<Pos2> = (0..=STEPS).filter_map(on_circle).collect();
                if points.len() == STEPS + 1 {
                    canvas.painter.add(Shape::line(points, stroke));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_are_clamped_to_the_region() {
        let cube = Bounds::Box { low: [0.0; AXES], high: [1.0, 2.0, 0.0] };
        assert_eq!(nearest(&cube, [-1.0, 1.0, 0.0]), [0.0, 1.0, 0.0]);
        assert_eq!(nearest(&cube, [0.5, 0.5, 0.0]), [0.5, 0.5, 0.0]);
        let sphere = Bounds::Sphere { center: [1.0, 0.0, 0.0], radius: 2.0 };
        assert_eq!(nearest(&sphere, [5.0, 0.0, 0.0]), [3.0, 0.0, 0.0]);
        assert_eq!(nearest(&sphere, [2.0, 1.0, 0.0]), [2.0, 1.0, 0.0]);
    }

    #[test]
    fn boxes_and_spheres_are_drawn_at_their_bounds() {
        let ctx = egui::Context::default();
        let drawn = |bounds: Bounds, flat: bool| {
            let mut areas = Vec::new();
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let screen = |place: [f64; AXES]| {
                    Some(Pos2::new(100.0 + 10.0 * place[0] as f32, 100.0 - 10.0 * place[1] as f32))
                };
                let painter = ui.painter().clone();
                let canvas =
                    Canvas { painter, screen: &screen, flat, point_size: 2.0, palette: &Palette::LIGHT };
                let before = ui.ctx().graphics(|graphics| {
                    graphics.get(ui.layer_id()).map_or(0, |list| list.all_entries().count())
                });
                super::bounds(&canvas, &bounds, Stroke::new(1.0, Color32::BLACK), Color32::TRANSPARENT);
                ui.ctx().graphics(|graphics| {
                    let entries = graphics
                        .get(ui.layer_id())
                        .into_iter()
                        .flat_map(|list| list.all_entries())
                        .skip(before);
                    areas.extend(entries.map(|entry| entry.shape.visual_bounding_rect()));
                });
            });
            output.textures_delta.clear();
            areas.into_iter().reduce(Rect::union).expect("something is drawn")
        };
        let cube = Bounds::Box { low: [1.0, 2.0, 0.0], high: [3.0, 6.0, 4.0] };
        for flat in [true, false] {
            let area = drawn(cube, flat);
            assert!(
                (area.center() - Pos2::new(120.0, 60.0)).length() < 1.0
                    && (area.size() - vec2(20.0, 40.0)).length() < 4.0,
                "{area:?}"
            );
        }
        let area = drawn(Bounds::Sphere { center: [2.0, 2.0, 0.0], radius: 3.0 }, true);
        assert!(
            (area.center() - Pos2::new(120.0, 80.0)).length() < 1.0
                && (area.size() - vec2(60.0, 60.0)).length() < 4.0,
            "{area:?}"
        );
    }
}
