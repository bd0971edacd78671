//! Space: three axes of the cloud in perspective; drag to orbit, with the right or middle button to pan, scroll to come closer.

use egui::emath::GuiRounding as _;
use egui::{Align2, FontId, Rect, Sense, Stroke, Ui, vec2};

use crate::app::features::color::state::view::ColorBy;
use crate::app::features::export::PaneData;
use crate::app::features::picking::state::eye::Eye;
use crate::app::features::picking::tool::{follow_ui, gesture_ui, hint_ui, pointing_ui, tools_ui};
use crate::app::features::walk::{controls, paint};
use crate::app::look::focus::arrows;
use crate::app::look::widgets::empty_ui;
use crate::app::model::camera::{axis_directions, dolly, orbit, pan, place};
use crate::app::model::{Action, PaneKind, SpaceCamera, SpaceView};
use crate::app::panes::bar::{bar_ui, more_ui};
use crate::app::panes::descriptor::{Pane, PaneContext};
use crate::app::panes::empty::without_cloud;
use crate::app::panes::highlight::{hovered_ui, selection_ui};
use crate::app::panes::hover::hover_ui;
use crate::app::panes::names::names_ui;
use crate::app::panes::points::{Sight, axis_ui, dimensions_ui, marks_ui, not_loaded_ui, points_ui};
use crate::cloud::PointCloud;
use crate::text;

/// How far an arrow key turns the view, as a drag over so many points of the screen.
const KEY_STEP: f32 = 24.0;

/// Identifies Space's picture in the GPU cache.
const VIEW: u64 = 4;

pub const PANE: Pane = Pane { kind: PaneKind::Space, draw: space_ui, data: |session| session.cloud.clone().map(PaneData::Points), more: &[] };

fn space_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let Some(scene) = context.session.scene() else {
        return without_cloud(context.session).ui(ui, context.palette);
    };
    let cloud = scene.data();
    if cloud.dims() < 3 {
        let next = "Plane shows this cloud; Space needs three columns, for example of a .las or .ply file.";
        return empty_ui(ui, &format!("This cloud has {}", text::count(cloud.dims() as u64, "dimension", "dimensions")), next, context.palette);
    }
    let mut view = context.state.space;
    let pane = ui.max_rect();
    bar_ui(ui, context, |ui, context, all| {
        tools_ui(ui, context.session, context.palette, context.actions);
        if all {
            for (at, label) in ["x", "y", "z"].into_iter().enumerate() {
                axis_ui(ui, label, cloud, &mut view.axes[at], context.palette);
            }
            crate::app::features::projection::bar_ui(ui, &view.axes, context.state, context.session, context.palette, context.actions);
            let plain = if view.color_by_height { "Shaded by height" } else { "Single colour" };
            crate::app::features::color::bar::bar_ui(ui, context.state, context.session, plain, context.actions);
            controls::show_ui(ui, context.state, context.actions);
            more_ui(ui, |ui| {
                ui.checkbox(&mut view.lines, "Lines").on_hover_text("Draw lines from the query to its neighbours.");
                ui.checkbox(&mut view.names, "Names")
                    .on_hover_text("Label the query and its neighbours by name, or by row where the file has no names.");
                // What is chosen for both views comes first; without it, height is a help to see depth.
                if context.state.color.by == ColorBy::Nothing {
                    ui.checkbox(&mut view.color_by_height, "Shade by height")
                        .on_hover_text("Colour points by height (the z axis), which shows depth.");
                }
            });
        }
    });
    controls::walk_ui(ui, context.state, context.session, false, context.palette, context.actions);
    // As the points are drawn, so that they are picked where they are seen.
    let rect = ui.available_rect_before_wrap().intersect(pane).round_to_pixels(ui.pixels_per_point());
    if rect.width() < 40.0 || rect.height() < 40.0 {
        return;
    }
    let response = ui.interact(rect, ui.scope_id().with("space"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Space of points"));
    let gesture = follow_ui(ui, &response, context.session);
    let moved = move_ui(ui, &response, &mut view, rect, gesture.is_none());

    ui.painter().rect_filled(rect, 0.0, context.palette.canvas);
    let camera = SpaceCamera::new(rect, &view, cloud);
    let mut paints = crate::app::features::color::bar::paints(context.state, context.session, context.palette);
    let by_height = view.color_by_height && context.state.color.by == ColorBy::Nothing;
    let dark = context.palette.dark;
    let height = by_height.then(|| context.gpu.as_mut()?.height(cloud, view.axes[2], dark)).flatten();
    if let Some(height) = height {
        paints.data = height;
    }
    let sight = Sight {
        view: VIEW,
        rect,
        axes: view.axes,
        projection: camera.projection(),
        point_size: view.point_size,
        paints: &paints,
        visible: 1.0,
        moved,
    };
    let note = points_ui(ui, context, &scene, &sight);
    let walked = paint::shown(context.state.walk, context.session);
    let on_screen = |place: [f64; 3]| camera.screen(view.axes.map(|axis| place.get(axis).copied().unwrap_or(0.0))).map(|(screen, _)| screen);
    let painter = ui.painter().with_clip_rect(rect);
    let canvas = paint::Canvas { painter, screen: &on_screen, flat: false, point_size: view.point_size, palette: context.palette };
    let walk_note = walked.and_then(|(walked, at)| paint::paint(&canvas, walked, at));
    let screen = |cloud: &PointCloud, row: usize| camera.screen(place(scene.drawn(cloud), row, view.axes)).map(|(screen, _)| screen);
    if context.session.only_points {
        return;
    }
    let marking = selection_ui(ui, rect, context, view.point_size, &screen);
    marks_ui(ui, rect, context, view.point_size, view.lines && walked.is_none(), &screen);
    if let Some((walked, at)) = walked {
        paint::points(&canvas, walked, at);
    }
    if view.names {
        names_ui(ui, rect, context, &screen);
    }
    hovered_ui(ui, rect, context, view.point_size, &screen);
    cross_ui(ui, rect, &view, cloud, context);
    if let Some(note) = note.or(walk_note).or(marking) {
        ui.painter().text(rect.left_bottom() + vec2(6.0, -4.0), Align2::LEFT_BOTTOM, note, FontId::proportional(12.0), context.palette.text);
    }

    hint_ui(ui, rect, context.session, true, context.palette);
    not_loaded_ui(ui, rect, context);
    dimensions_ui(ui, rect, 3, &scene, context.palette);

    let eyes = [(rect, Eye::Space(camera, view.axes))];
    if let Some(gesture) = &gesture {
        gesture_ui(ui, &response, gesture, &eyes, context.palette, context.actions);
    }
    pointing_ui(ui, &response, &eyes, context.session, context.actions);
    hover_ui(ui, &response, rect, PaneKind::Space, context, &screen);
    if view != context.state.space {
        context.actions.send(Action::SetSpace(view));
    }
}

/// Orbits, and with another button pans, where a drag does that; comes closer; true when the picture moved.
fn move_ui(ui: &Ui, response: &egui::Response, view: &mut SpaceView, rect: Rect, turns: bool) -> bool {
    let before = *view;
    let by = response.drag_delta();
    if turns && response.dragged_by(egui::PointerButton::Primary) {
        orbit(view, by);
    } else if turns && response.dragged() {
        pan(view, by, rect.height());
    }
    let keys = arrows(ui, response);
    if keys != egui::Vec2::ZERO {
        orbit(view, keys * KEY_STEP);
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = (scroll * 0.004).exp() * pinch;
        if factor != 1.0 {
            dolly(view, factor);
        }
    }
    *view != before
}

/// Which way the axes point.
fn cross_ui(ui: &Ui, rect: Rect, view: &SpaceView, cloud: &PointCloud, context: &PaneContext<'_>) {
    let painter = ui.painter().with_clip_rect(rect);
    let origin = rect.right_bottom() - vec2(48.0, 44.0);
    for (direction, &axis) in axis_directions(view).into_iter().zip(&view.axes) {
        painter.line_segment([origin, origin + direction * 26.0], Stroke::new(1.5, context.palette.text_weak));
        let name = cloud.axes().get(axis).map_or("", |axis| axis.name.as_str());
        let name: String = name.chars().take(6).collect();
        painter.text(origin + direction * 35.0, Align2::CENTER_CENTER, name, FontId::proportional(11.0), context.palette.text);
    }
}
