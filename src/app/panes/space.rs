//! Space: three axes of the cloud in perspective. Drag to orbit, with the right or middle button to pan;
//! scroll to zoom.

use egui::emath::GuiRounding as _;

use super::empty::{Pane, PaneContext, without_cloud};
use super::hover::hover_ui;
use super::points::{
    PointsView, controls_ui, dimensions_ui, joined, not_loaded_ui, overlay_ui, points_ui, zoom_factor,
};
use crate::app::features::color::bar;
use crate::app::features::color::state::ColorBy;
use crate::app::features::export::PaneData;
use crate::app::features::picking::state::PaneCamera;
use crate::app::features::picking::tool::{follow_ui, gesture_ui, hint_ui, pointing_ui};
use crate::app::features::walk::{self, paint};
use crate::app::look::focus::arrows;
use crate::app::model::camera::{axis_directions, dolly, orbit, pan, place};
use crate::app::model::{SpaceCamera, SpaceView};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::text;

/// Rotation by an arrow key, as the equivalent drag in screen points.
const KEY_STEP: f32 = 24.0;

/// Smaller clouds have no surfaces to light.
const MIN_LIT_POINTS: usize = 10_000;

/// Identifies Space's picture in the GPU cache.
const VIEW: u64 = 4;

/// Identifies its points there.
const SLOT: u64 = 3;

pub const PANE: Pane = Pane {
    kind: PaneKind::Space,
    draw: space_ui,
    data: |session| session.cloud.clone().map(PaneData::Points),
    exports: &[],
};

fn space_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let Some(scene) = context.session.scene() else {
        return without_cloud(context.session).ui(ui, context.palette);
    };
    let cloud = scene.data();
    if cloud.dims() < 3 {
        let next = "Use Plane for this cloud. Space needs three dimensions, such as a .las or .ply scan.";
        return empty_ui(
            ui,
            &format!("This cloud has {}", text::count(cloud.dims() as u64, "dimension", "dimensions")),
            next,
            context.palette,
        );
    }
    let mut view = context.state.space;
    let pane = ui.max_rect();
    let plain = if view.color_by_height { "Shaded by height" } else { "Single colour" };
    let marks = [&mut view.lines, &mut view.names];
    let axes = (&mut view.axes, ["x", "y", "z"]);
    controls_ui(ui, context, (PaneKind::Space, cloud), axes, plain, marks, |ui, state| {
        // The colouring shared by both views takes precedence; without one, height helps to see depth.
        if state.color.by == ColorBy::Nothing {
            ui.checkbox(&mut view.color_by_height, "Shade by height")
                .on_hover_text("Colour points by height (z) to show depth.");
        }
        let lit = ui.add_enabled(
            cloud.len() >= MIN_LIT_POINTS,
            egui::Checkbox::new(&mut view.eye_dome, "Eye-dome lighting"),
        );
        lit.on_hover_text("Darken points behind nearer ones to show the shape of surfaces.")
            .on_disabled_hover_text(format!(
                "Needs at least {} points.",
                text::thousands(MIN_LIT_POINTS as u64)
            ));
    });
    walk::walk_ui(ui, false, &mut context.controls());
    // Aligned like the drawn points, so that picking matches what is seen.
    let rect = ui.available_rect_before_wrap().intersect(pane).round_to_pixels(ui.pixels_per_point());
    if rect.width() < 40.0 || rect.height() < 40.0 {
        return;
    }
    let response = ui.interact(rect, ui.scope_id().with("space"), Sense::click_and_drag());
    name_widget(&response, Role::Canvas, "Space of points");
    let gesture = follow_ui(ui, &response, context.session);
    let moved = move_ui(ui, &response, &mut view, rect, gesture.is_none());

    ui.painter().rect_filled(rect, 0.0, context.palette.canvas);
    let camera = SpaceCamera::new(rect, &view, cloud);
    let mut paints = bar::paints(context.state, context.session, context.palette);
    let by_height = view.color_by_height && context.state.color.by == ColorBy::Nothing;
    let dark = context.palette.dark;
    let height = by_height.then(|| context.gpu.as_mut()?.height(cloud, view.axes[2], dark)).flatten();
    if let Some(height) = height {
        paints.data = height;
    }
    let sight = PointsView {
        view: VIEW,
        slot: SLOT,
        rect,
        axes: view.axes,
        projection: camera.projection(),
        point_size: view.point_size,
        paints: &paints,
        eye_dome: view.eye_dome && cloud.len() >= MIN_LIT_POINTS,
        visible: 1.0,
        moved,
    };
    let note = points_ui(ui, context, &scene, &sight);
    let walked = paint::shown(context.state.walk, context.session);
    let on_screen = |place: [f64; 3]| {
        camera.screen(view.axes.map(|axis| place.get(axis).copied().unwrap_or(0.0))).map(|(screen, _)| screen)
    };
    let painter = ui.painter().with_clip_rect(rect);
    let canvas = paint::Canvas {
        painter,
        screen: &on_screen,
        flat: false,
        point_size: view.point_size,
        palette: context.palette,
    };
    let walk_note = walked.and_then(|(walked, at)| paint::paint(&canvas, walked, at));
    let screen = |cloud: &PointCloud, row: usize| {
        camera.screen(place(scene.drawn(cloud), row, view.axes)).map(|(screen, _)| screen)
    };
    if context.session.only_points {
        return;
    }
    let marking = overlay_ui(ui, rect, context, &canvas, [view.lines, view.names], &screen);
    axis_cross_ui(ui, rect, &view, cloud, context);
    if let Some(note) = joined([note, walk_note, marking]) {
        ui.painter().text(
            rect.left_bottom() + vec2(6.0, -4.0),
            Align2::LEFT_BOTTOM,
            note,
            FontId::proportional(12.0),
            context.palette.text,
        );
    }

    hint_ui(ui, rect, context.session, true, context.palette);
    not_loaded_ui(ui, rect, context);
    dimensions_ui(ui, rect, 3, &scene, context.palette);

    let eyes = [(rect, PaneCamera::Space(camera, view.axes))];
    if let Some(gesture) = &gesture {
        gesture_ui(ui, &response, gesture, &eyes, context.palette, context.actions);
    }
    pointing_ui(ui, &response, &eyes, context.session, context.actions);
    hover_ui(ui, &response, rect, PaneKind::Space, context, &screen);
    if view != context.state.space {
        context.actions.send(Action::SetSpace(view));
    }
}

/// Orbits, or pans with another button, if dragging is allowed; zooms. Returns whether the view moved.
fn move_ui(ui: &Ui, response: &Response, view: &mut SpaceView, rect: Rect, turns: bool) -> bool {
    let before = *view;
    let by = response.drag_delta();
    if turns && response.dragged_by(egui::PointerButton::Primary) {
        orbit(view, by);
    } else if turns && response.dragged() {
        pan(view, by, rect.height());
    }
    let keys = arrows(ui, response);
    if keys != Vec2::ZERO {
        orbit(view, keys * KEY_STEP);
    }
    if response.hovered() {
        let factor = zoom_factor(ui);
        if factor != 1.0 {
            dolly(view, factor);
        }
    }
    *view != before
}

/// Shows the directions of the axes.
fn axis_cross_ui(ui: &Ui, rect: Rect, view: &SpaceView, cloud: &PointCloud, context: &PaneContext<'_>) {
    let painter = ui.painter().with_clip_rect(rect);
    let origin = rect.right_bottom() - vec2(48.0, 44.0);
    for (direction, &axis) in axis_directions(view).into_iter().zip(&view.axes) {
        painter
            .line_segment([origin, origin + direction * 26.0], Stroke::new(1.5, context.palette.text_weak));
        let name = cloud.axes().get(axis).map_or("", |axis| axis.name.as_str());
        let name: String = name.chars().take(6).collect();
        painter.text(
            origin + direction * 35.0,
            Align2::CENTER_CENTER,
            name,
            FontId::proportional(11.0),
            context.palette.text,
        );
    }
}
