//! Shared parts of Plane and Space: the points on the GPU, notes on incomplete pictures, and marks over the
//! points.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui_wgpu;
use egui::emath::GuiRounding as _;
use egui::{Frame, UiBuilder};

use super::bar::{bar_ui as pane_bar_ui, more_ui};
use super::empty::PaneContext;
use super::marks::{MAX_NEIGHBORS, marks_ui};
use crate::app::features::color::bar;
use crate::app::features::picking::tool::tools_ui;
use crate::app::features::projection;
use crate::app::features::second::state::SecondAction;
use crate::app::features::walk::{self, paint};
use crate::app::gpu::{Drawing, Layer, LayerColors, Points, PointsCallback, Progress};
use crate::app::look::{Paint, PointPaints};
use crate::app::model::{FailureReason, Projection, Scene, answer_summary, source_name};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::run::analysis::evenly_spaced;
use crate::text;

/// Delay after the last movement before all points are drawn again, in seconds.
const STILL_AFTER_SECS: f64 = 0.2;

/// Opacity of unselected points while others are selected.
const UNSELECTED_OPACITY: f32 = 0.35;

/// A banner over the data still shown: why other data could not be loaded.
pub fn not_loaded_ui(ui: &mut Ui, rect: Rect, context: &PaneContext<'_>) {
    let (Some(cloud), Some(FailureReason::Failed(why))) =
        (&context.session.cloud, &context.session.endings.load)
    else {
        return;
    };
    let message = format!("Loading failed; {} is still shown: {why}", source_name(cloud));
    let mut over = ui.new_child(UiBuilder::new().id_salt("not loaded").max_rect(rect.shrink(8.0)));
    let frame = Frame::NONE
        .fill(context.palette.panel)
        .stroke(Stroke::new(1.0, context.palette.error))
        .inner_margin(6);
    let message = RichText::new(message).color(context.palette.error);
    frame.show(&mut over, |ui| ui.add(Label::new(message).wrap()));
}

/// A pane's view of the cloud.
pub struct PointsView<'a, const N: usize> {
    /// Identifies the pane's picture between frames.
    pub view: u64,
    /// Identifies the pane's points and colours on the GPU.
    pub slot: u64,
    /// The pane's rectangle, in window points.
    pub rect: Rect,
    pub axes: [usize; N],
    pub projection: Projection,
    /// Diameter of a point, in screen points.
    pub point_size: f32,
    pub paints: &'a PointPaints,
    pub eye_dome: bool,
    /// Approximate fraction of the cloud that is visible.
    pub visible: f32,
    /// Whether the view moved in this frame.
    pub moved: bool,
}

/// Draws the cloud, then the query file, then the selection. Returns a note if not everything is drawn.
pub fn points_ui<const N: usize>(
    ui: &Ui,
    context: &mut PaneContext<'_>,
    scene: &Scene,
    sight: &PointsView<'_, N>,
) -> Option<String> {
    let cloud = scene.data();
    let (palette, session) = (context.palette, context.session);
    let gpu = context.gpu.as_mut()?;
    let before = moving(ui, sight.view, false);
    let moving = moving(ui, sight.view, sight.moved);
    // The first frame of a movement follows a pause, so its interval is not a frame time.
    if sight.moved && before {
        gpu.pace().frame_came(ui.input(|input| input.stable_dt));
    }
    let pixels_per_point = ui.pixels_per_point();
    let rect = sight.rect.round_to_pixels(pixels_per_point);
    let size =
        [(rect.width() * pixels_per_point).round() as u32, (rect.height() * pixels_per_point).round() as u32];
    if size.contains(&0) {
        return None;
    }
    let diameter = (sight.point_size * pixels_per_point).max(1.0);
    let layer = |points: Arc<Points>, ink: LayerColors, diameter: f32, opacity: f32| {
        let projection = points.project(sight.projection, &sight.axes);
        Layer { points, projection, diameter, ink, opacity }
    };
    let selected = session.selection.rows();
    let [of_cloud, of_queries, of_selection, of_over] = [0, 1, 2, 3].map(|part| sight.slot | part << 32);

    let points = gpu.points(of_cloud, cloud, &sight.axes, None);
    let ink = gpu.ink(of_cloud, cloud, None, &sight.paints.data);
    let opacity = if selected.is_empty() { 1.0 } else { UNSELECTED_OPACITY };
    let mut layers = vec![layer(points, ink, diameter, opacity)];
    match scene.queries() {
        Some(queries) => {
            let points = gpu.points(of_queries, queries, &sight.axes, None);
            let (ink, opacity) = match &sight.paints.queries {
                Paint::Flat(color) => (LayerColors::Flat(*color), 0.75),
                paint => (gpu.ink(of_queries, queries, None, paint), 1.0),
            };
            layers.push(layer(points, ink, diameter * 1.4, opacity));
        }
        None => gpu.clear(of_queries),
    }
    // Points with values are drawn over the others. With a query file, this layer is omitted: both together
    // would exceed the limit on layers.
    match sight.paints.over.as_ref().filter(|_| scene.queries().is_none()) {
        Some((rows, paint)) if rows.last().is_some_and(|&row| (row as usize) < cloud.len()) => {
            let points = gpu.points(of_over, cloud, &sight.axes, Some(rows));
            let ink = gpu.ink(of_over, cloud, Some(rows), paint);
            layers.push(layer(points, ink, diameter, 1.0));
        }
        _ => gpu.clear(of_over),
    }
    if selected.is_empty() || selected.last().is_some_and(|&row| row as usize >= cloud.len()) {
        gpu.clear(of_selection);
    } else {
        let points = gpu.points(of_selection, cloud, &sight.axes, Some(selected));
        // If colours encode values, selected points keep theirs within a ring; otherwise they are solid, so
        // that many of them stand out.
        let (ring, ink) = match &sight.paints.data {
            Paint::Flat(_) => (palette.canvas, LayerColors::Flat(palette.selected)),
            paint => (palette.selected, gpu.ink(of_selection, cloud, Some(selected), paint)),
        };
        let outline = diameter + 3.0 * pixels_per_point.max(1.0);
        layers.push(layer(Arc::clone(&points), LayerColors::Flat(ring), outline, 1.0));
        layers.push(layer(points, ink, diameter + pixels_per_point.max(1.0), 1.0));
    }
    let note = note(gpu.pace().progress(sight.view));
    // Only Plane, which has no depth, shows density, and only if colours encode no values.
    let dense = (N == 2 && matches!(sight.paints.data, Paint::Flat(_))).then_some(palette.text_weak);
    let (eye_dome, visible) = (sight.eye_dome, sight.visible);
    let drawing = Drawing { view: sight.view, size, dense, eye_dome, layers, moving, visible };
    ui.painter().add(egui_wgpu::Callback::new_paint_callback(rect, PointsCallback(drawing)));
    note
}

/// A note on an incomplete picture.
fn note(progress: Option<Progress>) -> Option<String> {
    let progress = progress?;
    let [drawn, resident, of] =
        [progress.drawn, progress.resident, progress.total].map(|count| text::thousands(u64::from(count)));
    if progress.moving && !progress.is_complete() {
        Some(format!("drawing {drawn} of {of} while moving"))
    } else if !progress.is_complete() {
        Some(format!("drawing {drawn} of {of}…"))
    } else if progress.resident < progress.total {
        Some(format!("drawing {resident} of {of}: graphics memory is full"))
    } else {
        None
    }
}

/// Whether the view moved recently. Requests a frame for the moment when it counts as still.
fn moving(ui: &Ui, view: u64, moved: bool) -> bool {
    let id = Id::unique(("moved", view));
    let now = ui.input(|input| input.time);
    if moved {
        ui.data_mut(|data| data.insert_temp(id, now));
    }
    let since = ui.data(|data| data.get_temp::<f64>(id)).map_or(f64::INFINITY, |then| now - then);
    let moving = since < STILL_AFTER_SECS;
    if moving {
        ui.ctx().request_repaint_after_secs((STILL_AFTER_SECS - since).max(0.01) as f32);
    }
    moving
}

/// The zoom factor of this frame from wheel or pinch; 1 without either.
pub fn zoom_factor(ui: &Ui) -> f32 {
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    (scroll * 0.004).exp() * pinch
}

/// The controls of a view: tools, projection, axes, colours, lines and names. `more` adds others.
pub fn controls_ui<const N: usize>(
    ui: &mut Ui,
    context: &mut PaneContext<'_>,
    (kind, cloud): (PaneKind, &PointCloud),
    (axes, labels): (&mut [usize; N], [&str; N]),
    plain: &str,
    [lines, names]: [&mut bool; 2],
    more: impl FnOnce(&mut Ui, &State),
) {
    let add = |ui: &mut Ui, context: &mut PaneContext<'_>, all: bool| {
        tools_ui(ui, context.session, context.palette, context.actions);
        if !all {
            return;
        }
        for (axis, label) in axes.iter_mut().zip(labels) {
            axis_ui(ui, label, cloud, axis, context.palette);
        }
        projection::bar_ui(ui, axes, &mut context.controls());
        if kind == PaneKind::Second {
            file_ui(ui, context.session, context.actions);
        } else {
            bar::bar_ui(ui, context.state, context.session, plain, context.actions);
            walk::show_ui(ui, context.state, context.actions);
        }
        more_ui(ui, |ui| {
            ui.checkbox(lines, "Lines").on_hover_text("Draw lines from the query to its neighbours.");
            ui.checkbox(names, "Names").on_hover_text(
                "Label the query and its neighbours by name, or by row number if the file has no names.",
            );
            more(ui, context.state);
        });
    };
    // The first view has the colours of both.
    if kind == PaneKind::Second && context.session.picture.is_none() {
        ui.horizontal_wrapped(|ui| add(ui, context, true));
    } else {
        pane_bar_ui(ui, context, add);
    }
}

/// The choice of the second view's file.
fn file_ui(ui: &mut Ui, session: &Session, actions: &mut Actions) {
    let browse = ui.button("Another file…").on_hover_text(Command::OpenSecond.tooltip());
    if browse.clicked() {
        actions.send(Command::OpenSecond);
    }
    // In this view, the session's cloud is the other file.
    let is_other = session.second.other.is_some();
    if is_other && ui.button("Same file").on_hover_text("Show the rows of the first view again.").clicked() {
        actions.send(SecondAction::Close);
    }
}

/// Everything over the points, from bottom to top: selection, query and neighbours, the walk's points, names,
/// hovered point. Returns a note if not everything is marked.
pub fn overlay_ui(
    ui: &Ui,
    rect: Rect,
    context: &PaneContext<'_>,
    canvas: &paint::Canvas<'_>,
    [lines, names]: [bool; 2],
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) -> Option<String> {
    let (size, walked) = (canvas.point_size, paint::shown(context.state.walk, context.session));
    let selected = selection_ui(ui, rect, context, size, screen);
    // Lines to the neighbours would give away the walk's result.
    let neighbors = marks_ui(ui, rect, context, size, lines && walked.is_none(), screen);
    if let Some((walked, at)) = walked {
        paint::points(canvas, walked, at);
    }
    if names {
        names_ui(ui, rect, context, screen);
    }
    hovered_ui(ui, rect, context, size, screen);
    joined([selected, neighbors])
}

/// Notes on an incomplete picture as one.
pub fn joined(notes: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    notes.into_iter().flatten().reduce(|notes, note| format!("{notes}; {note}"))
}

fn axis_ui(ui: &mut Ui, label: &str, cloud: &PointCloud, axis: &mut usize, palette: &Palette) {
    ui.label(palette.weak(label));
    let name = cloud.axes().get(*axis).map_or("–", |axis| axis.name.as_str());
    let combo = ComboBox::from_id_salt(label).width(60.0).height(300.0).selected_text(name);
    let response = combo.show_ui(ui, |ui| {
        for (at, column) in cloud.axes().iter().enumerate() {
            ui.selectable_value(axis, at, &column.name);
        }
    });
    name_widget(&response.response, Role::ComboBox, &format!("Axis {label}"));
}

/// A note in the bottom right corner that distances are in all dimensions, if fewer are shown.
pub fn dimensions_ui(ui: &mut Ui, rect: Rect, shown: usize, scene: &Scene, palette: &Palette) {
    if scene.dims() <= shown && !scene.is_projected() {
        return;
    }
    let text = format!("neighbours computed in all {} dimensions", scene.dims());
    let galley = ui.painter().layout_no_wrap(
        text.clone(),
        egui::TextStyle::Small.resolve(ui.style()),
        palette.text_weak,
    );
    let place = Align2::RIGHT_BOTTOM.anchor_size(rect.right_bottom() - vec2(6.0, 4.0), galley.size());
    if rect.contains_rect(place) {
        ui.painter().rect_filled(place.expand2(vec2(3.0, 1.0)), 2.0, palette.canvas.gamma_multiply(0.85));
        ui.put(place, Label::new(palette.small(text)).extend().selectable(false));
    }
}

// Marks of selected and hovered points.

/// Maximum number of marks drawn individually.
const MAX_MARKS: usize = 4_000;

/// Marks selected queries of a query file; `screen` gives a row's position. Returns a note if not all are
/// marked.
fn selection_ui(
    ui: &Ui,
    rect: Rect,
    context: &PaneContext<'_>,
    point_size: f32,
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) -> Option<String> {
    let session = context.session;
    let painter = ui.painter().with_clip_rect(rect);
    let radius = (point_size / 2.0).max(1.0) + 1.2;
    let mark = |place: Pos2| {
        if rect.contains(place) {
            painter.circle(
                place,
                radius,
                context.palette.selected,
                Stroke::new(0.75, context.palette.canvas),
            );
        }
    };
    // Selected rows are a layer of the points; these queries are not rows.
    let mut marked = 0;
    if let Some((record, cloud)) =
        session.record.as_ref().and_then(|record| Some((record, record.query_cloud.as_ref()?)))
    {
        let queries = session.selection.queries();
        marked = queries.len();
        let asked = |at: usize| record.query_rows.get(queries[at] as usize).copied();
        evenly_spaced(queries.len(), MAX_MARKS)
            .filter_map(asked)
            .filter_map(|row| screen(cloud, row as usize))
            .for_each(mark);
    }
    (marked > MAX_MARKS).then(|| {
        format!(
            "marking {} of {} selected queries",
            text::thousands(MAX_MARKS as u64),
            text::thousands(marked as u64)
        )
    })
}

/// A ring around the point hovered here or in another pane.
fn hovered_ui(
    ui: &Ui,
    rect: Rect,
    context: &PaneContext<'_>,
    point_size: f32,
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) {
    let Some((cloud, row)) = context.session.hovered.and_then(|hovered| context.session.point(hovered.what))
    else {
        return;
    };
    let Some(place) = screen(cloud, row) else { return };
    let painter = ui.painter().with_clip_rect(rect);
    let radius = (point_size / 2.0).max(1.0) + 4.5;
    painter.circle_stroke(place, radius, Stroke::new(3.5, context.palette.canvas));
    painter.circle_stroke(place, radius, Stroke::new(1.5, context.palette.accent));
}

// Names of the query and its neighbours next to their points, with distances if these have a unit. Where
// names overlap, the nearer neighbour's is kept; names at one position are listed together.

/// Maximum number of names to place.
const MAX_NAMES: usize = 80;

/// Maximum number of names listed at one position.
const MAX_NAMES_PER_POSITION: usize = 3;

/// Distance between a point and its name.
const GAP: f32 = 7.0;

/// The same for the query.
const WIDE_GAP: f32 = 14.0;

/// Draws the names, nearest first. `screen` gives a row's position; `None` is out of sight.
fn names_ui(
    ui: &Ui,
    rect: Rect,
    context: &PaneContext<'_>,
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) {
    let session = context.session;
    let Some(answered) = &session.answered else { return };
    let data = &answered.record.cloud;
    let rows = answered.rows_to_look_up();
    let names = session
        .listed_columns()
        .map(|columns| answer_summary::names(columns, &session.roles))
        .unwrap_or_default();
    let metric = answered.record.spec.metric;
    let far: HashMap<u32, f32> =
        metric.unit().map(|_| answered.neighbors().take(rows.len()).collect()).unwrap_or_default();
    let painter = ui.painter().with_clip_rect(rect);
    // Names must not cover the points themselves.
    let around = |place: Pos2| Rect::from_center_size(place, Vec2::splat(8.0));
    let places: Vec<(u32, Option<Pos2>)> =
        rows.iter().map(|&row| (row, screen(data, row as usize))).collect();
    let mut taken: Vec<Rect> = places
        .iter()
        .take(MAX_NEIGHBORS)
        .filter_map(|(_, place)| place.filter(|place| rect.contains(*place)).map(around))
        .collect();
    // The query first: it comes last in `rows_to_look_up` if it is not its own neighbour.
    let own =
        places.iter().position(|(row, _)| answered.record.query_cloud.is_none() && *row == answered.row());
    let others = (0..places.len()).filter(|at| Some(*at) != own);
    let called = |at: usize| {
        names
            .get(at)
            .cloned()
            .flatten()
            .unwrap_or_else(|| text::thousands(data.record(places[at].0 as usize)))
    };
    let in_one_place = |a: Pos2, b: Pos2| a.distance(b) < 0.5;
    let mut named: Vec<Pos2> = Vec::new();
    for at in own.into_iter().chain(others).take(MAX_NAMES) {
        let (_, place) = &places[at];
        let Some(place) = place.filter(|place| rect.contains(*place)) else { continue };
        if named.iter().any(|&other| in_one_place(other, place)) {
            continue;
        }
        named.push(place);
        let here: Vec<usize> = (0..places.len().min(MAX_NEIGHBORS))
            .filter(|&other| other != at && places[other].1.is_some_and(|other| in_one_place(other, place)))
            .collect();
        let further = here.iter().copied().take(MAX_NAMES_PER_POSITION - 1);
        let all: Vec<String> = std::iter::once(at).chain(further).map(called).collect();
        let more = (here.len() + 1).saturating_sub(MAX_NAMES_PER_POSITION);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let distance_of = |at: usize| {
            far.get(&places[at].0).map(|&far| answer_summary::distance_text(metric, metric.distance(far)))
        };
        // Points that only appear to coincide have different distances, so none is shown.
        let distance = distance_of(at).filter(|distance| {
            Some(at) != own && here.iter().all(|&other| distance_of(other).as_ref() == Some(distance))
        });
        let distance = distance.map_or_else(String::new, |distance| format!(" {distance}"));
        let name = format!("{}{more}{distance}", all.join(", "));
        let galley = painter.layout_no_wrap(name, FontId::proportional(12.0), context.palette.text);
        // The query's mark is wider than a point.
        let (gap, size) = (if Some(at) == own { WIDE_GAP } else { GAP }, galley.size());
        let corners = [
            place + vec2(gap, -size.y / 2.0),
            place + vec2(-gap - size.x, -size.y / 2.0),
            place + vec2(-size.x / 2.0, -gap - size.y),
            place + vec2(-size.x / 2.0, gap),
        ];
        let free = |corner: &&Pos2| {
            let room = Rect::from_min_size(**corner, size);
            rect.contains_rect(room) && !taken.iter().any(|other| other.intersects(room))
        };
        if let Some(&corner) = corners.iter().find(free) {
            let room = Rect::from_min_size(corner, size);
            taken.push(room);
            painter.rect_filled(
                room.expand2(vec2(2.0, 0.0)),
                2.0,
                context.palette.canvas.gamma_multiply(0.75),
            );
            painter.galley(corner, galley, context.palette.text);
        }
    }
}
