//! Plane: two axes of the cloud at equal scale, or a map of longitude and latitude, with the query, its
//! neighbours, and the circle at the k-th distance. The second view is drawn alike.

use egui::emath::GuiRounding as _;

use super::empty::{Pane, PaneContext, without_cloud};
use super::hover::hover_ui;
use super::map::{CIRCLE_RADII, coastlines_ui, globe_circle_ui, scale_ui};
use super::points::{
    PointsView, controls_ui, dimensions_ui, joined, not_loaded_ui, overlay_ui, points_ui, zoom_factor,
};
use crate::app::features::color::bar;
use crate::app::features::export::PaneData;
use crate::app::features::live::{NOTES_HEIGHT, mark_ui};
use crate::app::features::picking::state::{PaneCamera, Tool};
use crate::app::features::picking::tool::{follow_ui, gesture_ui, hint_ui, pointing_ui};
use crate::app::features::walk::{self, paint};
use crate::app::look::focus::arrows;
use crate::app::model::camera::place;
use crate::app::model::map;
use crate::app::model::{MapAxes, PlaneCamera, PlaneView, PlaneWindow, Scene};
use crate::app::prelude::*;
use crate::cloud::{Axis, PointCloud};
use crate::draw::pen::linear_ticks;
use crate::text;

/// Room for axis labels.
const MARGIN: Vec2 = vec2(54.0, 20.0);

/// Step of an arrow key, in screen points.
const KEY_STEP: f32 = 32.0;

/// Neighbours within this radius, in screen points, get a lens.
const CROWDED_RADIUS: f32 = 36.0;

/// Ids of the pictures of the pane and its lens, and of their points on the GPU.
const IDS: [u64; 3] = [2, 3, 2];

/// The same of the second view.
const SECOND_IDS: [u64; 3] = [6, 7, 6];

pub const PANE: Pane = Pane {
    kind: PaneKind::Plane,
    draw: |ui, context| plane_ui(ui, context, PaneKind::Plane),
    data: |session| session.cloud.clone().map(PaneData::Points),
    exports: &[],
};

/// Draws Plane, or the second view.
pub fn plane_ui(ui: &mut Ui, context: &mut PaneContext<'_>, kind: PaneKind) {
    let is_first = kind == PaneKind::Plane;
    let [picture_id, lens_id, slot] = if is_first { IDS } else { SECOND_IDS };
    let Some(scene) = context.session.scene() else {
        return without_cloud(context.session).ui(ui, context.palette);
    };
    let cloud = scene.data();
    let mut view = context.state.plane;
    let pane = ui.max_rect();
    let on_earth = MapAxes::of(cloud, view.axes).is_some_and(|map| map.is_earth());
    let marks = [&mut view.lines, &mut view.names];
    let axes = (&mut view.axes, ["right", "up"]);
    controls_ui(ui, context, (kind, cloud), axes, "Single colour", marks, |ui, _| {
        ui.checkbox(&mut view.lens, "Lens")
            .on_hover_text("Magnify neighbours that are too close together to tell apart.");
        if on_earth {
            ui.checkbox(&mut view.coastlines, "Coastlines").on_hover_text(
                "Draw coastlines and country borders below the points (Natural Earth, 1:50 million).",
            );
        }
    });
    walk::walk_ui(ui, true, &mut context.controls());
    if view.axes != context.state.plane.axes {
        view.window = None;
    }
    let whole = ui.available_rect_before_wrap().intersect(pane);
    let rect = Rect::from_min_max(whole.min + vec2(MARGIN.x, 2.0), whole.max - vec2(2.0, MARGIN.y));
    // Aligned like the drawn points, so that picking matches what is seen.
    let rect = rect.round_to_pixels(ui.pixels_per_point());
    if rect.width() < 40.0 || rect.height() < 40.0 {
        return;
    }
    let response = ui.interact(rect, ui.scope_id().with("plane"), Sense::click_and_drag());
    let name = if is_first { "Plane of points" } else { "Second view of points" };
    name_widget(&response, Role::Canvas, name);
    let picture = context.session.picture.as_deref();
    if let (Some(window), Some(units)) =
        (&mut view.window, picture.and_then(|picture| picture.units_per_point(rect.size().into())))
    {
        window.units_per_point = units;
    }
    let mut camera = PlaneCamera::for_view(rect, &view, cloud);
    if is_first {
        ui.data_mut(|data| data.insert_temp(shown_id(), camera));
    }
    let gesture = follow_ui(ui, &response, context.session);
    let moved = move_ui(ui, &response, &mut camera, &mut view, gesture.is_none());

    ui.painter().rect_filled(rect, 0.0, context.palette.canvas);
    axes_ui(ui, &camera, cloud, view, context);
    if view.coastlines {
        coastlines_ui(ui, &camera, context.palette);
    }
    let far = picture.is_none() && view.window.is_none() && !view.whole && camera.crops(cloud, view.axes);
    // Not during a walk, whose boxes are larger than the lens.
    let lens = (view.lens && paint::shown(context.state.walk, context.session).is_none())
        .then(|| lens(&camera, &scene, view, context))
        .flatten();
    // Neighbours too close to distinguish are labelled in the lens.
    let without_names = PlaneView { names: view.names && lens.is_none(), ..view };
    let note = cloud_ui(ui, context, [picture_id, slot], &camera, &scene, without_names, moved)
        .or_else(|| far.then(|| far_note(ui)));
    if let Some(lens) = &lens {
        lens_ui(ui, context, [lens_id, slot], &camera, lens, &scene, view);
    }
    if let Some(note) = note.filter(|_| !context.session.only_points) {
        ui.painter().text(
            rect.left_bottom() + vec2(6.0, -4.0),
            Align2::LEFT_BOTTOM,
            note,
            FontId::proportional(12.0),
            context.palette.text,
        );
    }

    // The mark covers part of the canvas. It handles drags and passes clicks on.
    let mark = (is_first && context.session.tool == Tool::Move && picture.is_none())
        .then(|| mark_ui(ui, &camera, &scene, view.axes, &mut context.controls()))
        .flatten();
    hint_ui(ui, rect, context.session, false, context.palette);
    not_loaded_ui(ui, rect, context);
    if !context.session.only_points {
        scale_ui(ui, &camera, context.palette);
        dimensions_ui(ui, rect, 2, &scene, context.palette);
    }

    let eyes = lens
        .iter()
        .chain([&camera])
        .map(|camera| {
            let of = if is_first { PaneCamera::Plane } else { PaneCamera::Second };
            (camera.rect, of(*camera, view.axes))
        })
        .collect::<Vec<_>>();
    if let Some(gesture) = &gesture {
        gesture_ui(ui, &response, gesture, &eyes, context.palette, context.actions);
    }
    pointing_ui(
        ui,
        mark.as_ref().filter(|mark| mark.hovered() || mark.clicked()).unwrap_or(&response),
        &eyes,
        context.session,
        context.actions,
    );
    let through = lens
        .filter(|lens| response.hover_pos().is_some_and(|pointer| lens.rect.contains(pointer)))
        .unwrap_or(camera);
    let screen =
        |cloud: &PointCloud, row: usize| Some(through.screen(place(scene.drawn(cloud), row, view.axes)));
    hover_ui(ui, &response, through.rect, kind, context, &screen);
    if view != context.state.plane {
        context.actions.send(Action::SetPlane(view));
    }
}

/// Id of the last frame's camera.
fn shown_id() -> Id {
    Id::unique("camera of Plane")
}

/// Width and height that Plane showed last, in local units.
pub fn shown_extent(ctx: &egui::Context) -> Option<[f64; 2]> {
    let camera = ctx.data(|data| data.get_temp::<PlaneCamera>(shown_id()))?;
    Some(
        [camera.rect.width(), camera.rect.height()]
            .map(|side| f64::from(side) * camera.window.units_per_point),
    )
}

/// A note that some distant points are out of view, and how to see them.
fn far_note(ui: &Ui) -> String {
    let keys = Command::FitView.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    format!("a few distant points are out of view: {keys} shows all")
}

/// Points, circle and marks through a camera.
fn cloud_ui(
    ui: &Ui,
    context: &mut PaneContext<'_>,
    [picture_id, slot]: [u64; 2],
    camera: &PlaneCamera,
    scene: &Scene,
    view: PlaneView,
    moved: bool,
) -> Option<String> {
    let is_lens = [IDS, SECOND_IDS].iter().any(|[_, lens, _]| *lens == picture_id);
    let size = if is_lens { view.point_size * 1.5 } else { view.point_size };
    let paints = bar::paints(context.state, context.session, context.palette);
    let sight = PointsView {
        view: picture_id,
        slot,
        rect: camera.rect,
        axes: view.axes,
        projection: camera.projection(),
        point_size: size,
        paints: &paints,
        eye_dome: false,
        visible: camera.visible(scene.data(), view.axes),
        moved,
    };
    let note = points_ui(ui, context, scene, &sight);
    let walked = paint::shown(context.state.walk, context.session);
    let on_screen =
        |place: [f64; 3]| Some(camera.screen(view.axes.map(|axis| place.get(axis).copied().unwrap_or(0.0))));
    let painter = ui.painter().with_clip_rect(camera.rect);
    let canvas =
        paint::Canvas { painter, screen: &on_screen, flat: true, point_size: size, palette: context.palette };
    let walk_note = walked.and_then(|(walked, at)| paint::paint(&canvas, walked, at));
    if context.session.only_points {
        return note;
    }
    circle_ui(ui, camera, scene, view, context);
    let screen =
        |cloud: &PointCloud, row: usize| Some(camera.screen(place(scene.drawn(cloud), row, view.axes)));
    let marking = overlay_ui(ui, camera.rect, context, &canvas, [view.lines, view.names], &screen);
    joined([note, walk_note, marking])
}

/// Pans by dragging, if allowed, and zooms; returns whether the view moved.
fn move_ui(ui: &Ui, response: &Response, camera: &mut PlaneCamera, view: &mut PlaneView, pans: bool) -> bool {
    let mut moved = false;
    if pans && response.dragged() && response.drag_delta() != Vec2::ZERO {
        camera.pan(response.drag_delta());
        moved = true;
    }
    let keys = arrows(ui, response);
    if keys != Vec2::ZERO {
        camera.pan(-keys * KEY_STEP);
        moved = true;
    }
    // Also over the query's mark, which covers the canvas.
    if let Some(pointer) = ui.input(|input| input.pointer.hover_pos()).filter(|_| response.contains_pointer())
    {
        let factor = zoom_factor(ui);
        if factor != 1.0 {
            camera.zoom(pointer, factor);
            moved = true;
        }
    }
    if moved {
        view.window = Some(camera.window);
    }
    moved
}

/// The lens's camera, centred on the query, if its neighbours are crowded on screen.
fn lens(
    camera: &PlaneCamera,
    scene: &Scene,
    view: PlaneView,
    context: &PaneContext<'_>,
) -> Option<PlaneCamera> {
    let (of, row) = context.session.picked_point()?;
    let answered = context.session.answered.as_ref()?;
    let center = place(scene.drawn(of), row, view.axes);
    let stretch = map::stretch(camera.map, center);
    let far = |row: u32| {
        let point = place(scene.data(), row as usize, view.axes);
        let [x, y] = [0, 1].map(|axis| (point[axis] - center[axis]) * stretch[axis]);
        x.hypot(y)
    };
    // The last are the farthest: unless all are crowded, few need to be compared.
    let is_crowded = |far: &f64| *far < f64::from(CROWDED_RADIUS) * camera.window.units_per_point;
    let mut distances = answered.neighbor_rows().iter().rev().map(|&row| far(row));
    let reach = distances.try_fold(0.0, |reach, far| is_crowded(&far).then(|| f64::max(reach, far)))?;
    let (query, around) = (camera.screen(center), (reach / camera.window.units_per_point) as f32);
    let rect = lens_place(camera.rect, query, around)?;
    let crowded = reach > 0.0 && around < CROWDED_RADIUS.min(rect.width() * 0.3);
    let window = PlaneWindow { center, units_per_point: reach * 2.5 / f64::from(rect.width()) };
    crowded.then_some(PlaneCamera { rect, window, map: camera.map })
}

/// The rectangle of the lens: in the corner farthest from the query, sized to avoid the neighbours; `None` if
/// it would be too small to be useful.
fn lens_place(pane: Rect, query: Pos2, around: f32) -> Option<Rect> {
    /// Distance from the pane's sides, and from the notes at its top or bottom.
    const GAP: Vec2 = vec2(8.0, NOTES_HEIGHT);
    /// Distance from the neighbours, and from the query's mark.
    const CLEARANCE: f32 = 12.0;
    const MIN_SIDE: f32 = 80.0;
    if !pane.contains(query) {
        return None;
    }
    let (right, below) = (query.x < pane.center().x, query.y < pane.center().y);
    let clear = around.max(CLEARANCE) + CLEARANCE;
    let beside = if right { pane.right() - query.x } else { query.x - pane.left() } - clear - GAP.x;
    let beyond = if below { pane.bottom() - query.y } else { query.y - pane.top() } - clear - GAP.y;
    let side = (pane.width().min(pane.height()) * 0.45).min(240.0).min(beside.max(beyond));
    let corner = pos2(
        if right { pane.right() - side - GAP.x } else { pane.left() + GAP.x },
        if below { pane.bottom() - side - GAP.y } else { pane.top() + GAP.y },
    );
    (side >= MIN_SIDE).then(|| Rect::from_min_size(corner, Vec2::splat(side)))
}

/// Draws the lens, and a line to its target.
fn lens_ui(
    ui: &Ui,
    context: &mut PaneContext<'_>,
    ids: [u64; 2],
    camera: &PlaneCamera,
    lens: &PlaneCamera,
    scene: &Scene,
    view: PlaneView,
) {
    let palette = context.palette;
    let query = camera.screen(lens.window.center);
    let stroke = Stroke::new(1.0, palette.text_weak);
    let edge = lens.rect.clamp(query);
    let away = (edge - query).normalized() * 11.0;
    let only_points = context.session.only_points;
    if !only_points {
        ui.painter().line_segment([query + away, edge], stroke);
    }
    ui.painter().rect_filled(lens.rect, 0.0, palette.canvas);
    if view.coastlines {
        coastlines_ui(ui, lens, palette);
    }
    cloud_ui(ui, context, ids, lens, scene, view, false);
    if only_points {
        return;
    }
    ui.painter().rect_stroke(lens.rect, 0.0, stroke, egui::StrokeKind::Outside);
    let times = camera.window.units_per_point / lens.window.units_per_point;
    let text = format!("× {}", text::digits(times, 2));
    let galley = ui.painter().layout_no_wrap(text, FontId::proportional(11.0), palette.text_weak);
    let at = lens.rect.left_top() + vec2(5.0, 3.0);
    // Background, because points are below.
    ui.painter().rect_filled(
        Rect::from_min_size(at, galley.size()).expand2(vec2(2.0, 0.0)),
        2.0,
        palette.canvas,
    );
    ui.painter().galley(at, galley, palette.text_weak);
}

/// The circle of radius √max_distance, which contains all neighbours; every point outside is farther. During
/// a replay, its radius is the bound at that moment.
fn circle_ui(ui: &Ui, camera: &PlaneCamera, scene: &Scene, view: PlaneView, context: &PaneContext<'_>) {
    let Some((answered, squared)) = circle_shown(view, scene, context.state, context.session) else { return };
    let (of, row) = (answered.query_cloud(), answered.row() as usize);
    if answered.record.spec.metric.is_on_sphere() {
        return globe_circle_ui(ui, camera, view, answered, squared, context.palette);
    }
    let center = camera.screen(place(scene.drawn(of), row, view.axes));
    // An ellipse where a plane of degrees is drawn as a map.
    let radii = camera.units().map(|units| f64::from(squared).sqrt() / units);
    if radii.iter().all(|radius| CIRCLE_RADII.contains(radius)) {
        let (radii, stroke) = (Vec2::from(radii.map(|radius| radius as f32)), context.palette.intermediate);
        let ellipse = egui::Shape::ellipse_stroke(center, radii, Stroke::new(1.5, stroke));
        ui.painter().with_clip_rect(camera.rect).add(ellipse);
    }
}

/// The answer whose circle to draw, with its squared radius; `None` if the plane shown has no such circle.
pub fn circle_shown<'a>(
    view: PlaneView,
    scene: &Scene,
    state: &State,
    session: &'a Session,
) -> Option<(&'a QueryAnswer, f32)> {
    let answered = session.answered.as_ref()?;
    let at_step = paint::shown(state.walk, session).map(|(walked, at)| walked.step(at).after);
    let squared = at_step.unwrap_or_else(|| bar::bound_shown(state, answered));
    let flat = scene.dims() == 2 && !scene.is_projected() && view.axes[0] != view.axes[1];
    (flat && squared.is_finite() && !answered.record.spec.metric.compares_directions())
        .then_some((answered, squared))
}

/// Grid, frame, labels in the file's units, and axis names.
fn axes_ui(ui: &Ui, camera: &PlaneCamera, cloud: &PointCloud, view: PlaneView, context: &PaneContext<'_>) {
    let (palette, rect) = (context.palette, camera.rect);
    let (inside, outside) = (ui.painter().with_clip_rect(rect), ui.painter());
    let font = FontId::proportional(11.0);
    let (low, high) = (camera.place(rect.left_bottom()), camera.place(rect.right_top()));
    let none = Axis { name: String::new(), origin: 0.0, min: 0.0, max: 0.0 };
    let axis = |at: usize| cloud.axes().get(view.axes[at]).unwrap_or(&none);
    let (x, y) = (axis(0), axis(1));
    let unit = if camera.map.is_some() { "°" } else { "" };

    let name = outside.text(
        pos2(rect.right(), rect.bottom() + 3.0),
        Align2::RIGHT_TOP,
        &x.name,
        font.clone(),
        palette.text,
    );
    let (values, decimals) =
        linear_ticks(low[0] + x.origin, high[0] + x.origin, (rect.width() / 60.0) as usize);
    let ends = camera.map.map(|map| [map.bounds().low, map.bounds().high].map(|end| map.ordered(end)));
    let is_on_map =
        |value: f64, axis: usize| ends.is_none_or(|[low, high]| (low[axis]..=high[axis]).contains(&value));
    for value in values.into_iter().filter(|&value| is_on_map(value, 0)) {
        let at = camera.screen([value - x.origin, low[1]]).x;
        inside.vline(at, rect.y_range(), Stroke::new(1.0, palette.grid));
        // Labels keep clear of the axis name.
        if at < name.left() - 26.0 {
            outside.text(
                pos2(at, rect.bottom() + 3.0),
                Align2::CENTER_TOP,
                label(value, decimals, unit),
                font.clone(),
                palette.text_weak,
            );
        }
    }

    let name = outside.text(
        pos2(rect.left() - 4.0, rect.top()),
        Align2::RIGHT_TOP,
        &y.name,
        font.clone(),
        palette.text,
    );
    let (values, decimals) =
        linear_ticks(low[1] + y.origin, high[1] + y.origin, (rect.height() / 50.0) as usize);
    for value in values.into_iter().filter(|&value| is_on_map(value, 1)) {
        let at = camera.screen([low[0], value - y.origin]).y;
        inside.hline(rect.x_range(), at, Stroke::new(1.0, palette.grid));
        if at > name.bottom() + 6.0 {
            outside.text(
                pos2(rect.left() - 4.0, at),
                Align2::RIGHT_CENTER,
                label(value, decimals, unit),
                font.clone(),
                palette.text_weak,
            );
        }
    }
    ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.0, palette.line), egui::StrokeKind::Outside);
}

fn label(value: f64, decimals: usize, unit: &str) -> String {
    if value == 0.0 { format!("0{unit}") } else { format!("{value:.decimals$}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lens_does_not_cover_the_query_area() {
        let mut seen = 0;
        for size in [vec2(300.0, 300.0), vec2(700.0, 260.0), vec2(260.0, 700.0), vec2(900.0, 600.0)] {
            let pane = Rect::from_min_size(pos2(10.0, 20.0), size);
            for (x, y) in (0..=20).flat_map(|x| (0..=20).map(move |y| (x as f32 / 20.0, y as f32 / 20.0))) {
                let query = pane.lerp_inside(vec2(x, y));
                for around in [0.0, 10.0, 35.0] {
                    let Some(lens) = lens_place(pane, query, around) else { continue };
                    seen += 1;
                    assert!(
                        pane.contains_rect(lens) && lens.width() >= 80.0,
                        "{pane:?}, {query:?}: {lens:?}"
                    );
                    assert!(
                        !lens.intersects(Rect::from_center_size(query, Vec2::splat(2.0 * around))),
                        "{pane:?}, {query:?}, {around}: {lens:?}"
                    );
                    assert!(lens.distance_to_pos(query) >= 12.0, "clear of the query's mark");
                }
            }
        }
        assert!(seen > 4000, "there is a lens nearly everywhere: {seen}");
    }
}
