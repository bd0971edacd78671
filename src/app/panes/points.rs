//! What Plane and Space share: the points on the GPU, how many are drawn, and the marks over them.

use std::sync::Arc;

use eframe::egui_wgpu;
use egui::emath::GuiRounding as _;
use egui::{ComboBox, Pos2, Rect, RichText, Shape, Stroke, Ui};

use super::PaneContext;
use crate::app::camera::Projection;
use crate::app::format;
use crate::app::gpu::{PointsCallback, Style};
use crate::app::scene::Scene;
use crate::cloud::PointCloud;

/// How long after the last movement everything is drawn again.
const STILL_AFTER_SECS: f64 = 0.2;

/// About as many points are in sight while the view moves, where there are so many.
const LEAST_IN_SIGHT: f32 = 10_000.0;

/// Draws the cloud, and the file of queries over it, into a texture named `view`; `visible` is about the part of it
/// that is in sight. Returns what to say when not all of it is drawn.
#[allow(clippy::too_many_arguments, reason = "a picture has this many sides")]
pub fn points_ui<const N: usize>(
    ui: &Ui,
    rect: Rect,
    context: &mut PaneContext<'_>,
    scene: &Scene,
    view: u64,
    axes: [usize; N],
    projection: Projection,
    style: Style,
    visible: f32,
    moved: bool,
) -> Option<String> {
    let cloud = scene.data();
    let gpu = context.handles.gpu?;
    let n = cloud.len() as u64;
    let drawn = n.min(gpu.most_points);
    let before = moving(ui, view, false);
    let moving = moving(ui, view, moved);
    // The first frame of a movement comes after a pause, whose length says nothing of how fast frames are.
    if moved && before {
        context.handles.adapt(ui.input(|input| input.stable_dt));
    }
    // Where little of the cloud is in sight, more of it is drawn, so that something is to be seen.
    let least = (LEAST_IN_SIGHT / visible.max(0.01)) as u64;
    let shown = if moving { drawn.min(u64::from(context.handles.moving_points).max(least)) } else { drawn };
    let pixels_per_point = ui.pixels_per_point();
    let rect = rect.round_to_pixels(pixels_per_point);
    let size = [(rect.width() * pixels_per_point).round() as u32, (rect.height() * pixels_per_point).round() as u32];
    if size.contains(&0) {
        return None;
    }
    let diameter = (style.size * pixels_per_point).max(1.0);
    // Where points cover each other many times over, they let the ground through, so that density shows.
    let covered = visible * shown as f32 * diameter * diameter / (size[0] * size[1]) as f32;
    let opacity = if style.magnitude.is_some() { 1.0 } else { (1.2 / covered.max(1e-6)).clamp(0.2, 1.0) };
    let style = Style { size: diameter, color: style.color.gamma_multiply(opacity), ..style };
    let mut layers = vec![(context.handles.points(N as u64, cloud, &axes), shown as u32, style)];
    if let Some(queries) = scene.queries() {
        let points = context.handles.points(N as u64 | 1 << 32, queries, &axes);
        let count = points.positions.len().min(u32::MAX as usize) as u32;
        layers.push((points, count, Style { color: context.palette.query.gamma_multiply(0.6), size: style.size * 1.4, magnitude: None }));
    }
    ui.painter().add(egui_wgpu::Callback::new_paint_callback(rect, PointsCallback { view, layers, projection, size }));
    if shown < drawn {
        Some(format!("drawing {} of {} while moving", format::count(shown), format::count(n)))
    } else if drawn < n {
        Some(format!("drawing {} of {}: the graphics adapter holds no more", format::count(drawn), format::count(n)))
    } else {
        None
    }
}

/// Whether the view moved a moment ago; asks for the frame in which it is still again.
fn moving(ui: &Ui, view: u64, moved: bool) -> bool {
    let id = egui::Id::unique(("moved", view));
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

/// A chooser of an axis; true when it changed.
pub fn axis_ui(ui: &mut Ui, label: &str, cloud: &PointCloud, axis: &mut usize, palette: &crate::app::tokens::Palette) {
    ui.label(RichText::new(label).color(palette.text_weak));
    let name = cloud.axes().get(*axis).map_or("–", |axis| axis.name.as_str());
    let combo = ComboBox::from_id_salt(label).width(60.0).height(300.0).selected_text(name);
    let response = combo.show_ui(ui, |ui| {
        for (at, column) in cloud.axes().iter().enumerate() {
            ui.selectable_value(axis, at, &column.name);
        }
    });
    let name = format!("Axis {label}");
    response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &name));
}

/// That distances are in all dimensions, where fewer are shown.
pub fn dimensions_ui(ui: &mut Ui, shown: usize, scene: &Scene, palette: &crate::app::tokens::Palette) {
    if scene.dims() > shown || scene.is_projected() {
        ui.label(RichText::new(format!("neighbours computed in all {} dimensions", scene.dims())).color(palette.text_weak).small());
    }
}

/// Query, neighbours, and lines between them, over the points. `screen` gives a row's position; `None` is out of sight.
pub fn marks_ui(ui: &Ui, rect: Rect, context: &PaneContext<'_>, point_size: f32, lines: bool, screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>) {
    let session = context.session;
    let palette = context.palette;
    let painter = ui.painter().with_clip_rect(rect);
    let Some((cloud, row)) = session.picked_point() else { return };
    let query = screen(cloud, row);
    let radius = (point_size / 2.0).max(1.0) + 1.6;
    if let Some(answered) = &session.answered {
        let data = Arc::clone(&answered.record.cloud);
        let places: Vec<(usize, Pos2)> =
            answered.neighbors().enumerate().filter_map(|(rank, (row, _))| Some((rank, screen(&data, row as usize)?))).collect();
        if let Some(query) = query
            && lines
        {
            let stroke = Stroke::new(1.0, palette.neighbor.gamma_multiply(0.45));
            painter.extend(places.iter().map(|(_, place)| Shape::line_segment([query, *place], stroke)));
        }
        for (_, place) in &places {
            painter.circle(*place, radius, palette.neighbor, Stroke::new(1.0, palette.canvas));
        }
        if let Some((_, place)) = places.iter().find(|(rank, _)| Some(*rank) == session.rank) {
            painter.circle(*place, radius + 2.5, palette.neighbor, Stroke::new(2.0, palette.selected));
        }
    }
    if let Some(query) = query {
        painter.circle(query, radius + 1.5, palette.query, Stroke::new(1.5, palette.canvas));
        painter.circle_stroke(query, radius + 6.0, Stroke::new(1.5, palette.query));
    }
}
