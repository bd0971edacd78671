//! The live query in the window: its marker in Plane, coordinate fields, and snapping to rows.

use egui::{CursorIcon, Event, EventFilter};

use super::picking::nearest_row;
use super::walk::state::WalkState;
use crate::app::features::live::state::{LiveAction, SnapTarget};
use crate::app::look::row_ui;
use crate::app::model::camera::place;
use crate::app::model::{PlaneCamera, Scene};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::progress::Progress;

pub mod apply;
pub mod state;

// The query's marker in Plane, movable by pointer and keys.

/// Size of the area that grabs the marker, in screen points.
const HANDLE: f32 = 26.0;

/// Step of an arrow key, without and with Shift, in screen points.
const STEP: f32 = 8.0;

const FINE_STEP: f32 = 1.0;

/// Height of the notes at the bottom of Plane.
pub const NOTES_HEIGHT: f32 = 24.0;

/// Position of a hint with this height: in the marker's half of the pane, since the lens is in the other
/// half, and clear of the marker and the notes.
fn hint_at(rect: Rect, mark: Pos2, height: f32) -> Pos2 {
    let upper = mark.y < rect.center().y;
    let edge = if upper { rect.top() + 6.0 } else { rect.bottom() - NOTES_HEIGHT - height };
    let beside = if upper { mark.y + HANDLE / 2.0 } else { mark.y - HANDLE / 2.0 - height };
    let covers = edge < mark.y + HANDLE / 2.0 && edge + height > mark.y - HANDLE / 2.0;
    pos2(rect.left() + 8.0, if covers { beside } else { edge })
}

/// The accessible name of the marker.
pub const NAME: &str = "Query, to be dragged";

/// Draws the movable marker over the canvas; returns its response if it is visible.
pub fn mark_ui(
    ui: &Ui,
    camera: &PlaneCamera,
    scene: &Scene,
    axes: [usize; 2],
    context: &mut UiContext<'_>,
) -> Option<Response> {
    let (session, palette) = (context.session, context.palette);
    let (of, row) = session.picked_point()?;
    let at = place(scene.drawn(of), row, axes);
    let mark = camera.screen(at);
    let held = session.live.is_held();
    // Tolerance for rounding at the edge.
    if !held && !camera.rect.expand(1.0).contains(mark) {
        return None;
    }
    let rect = Rect::from_center_size(camera.rect.clamp(mark), Vec2::splat(HANDLE)).intersect(camera.rect);
    let response = ui.interact(rect, ui.scope_id().with("query"), Sense::click_and_drag());
    name_widget(&response, Role::Button, NAME);
    let free = is_free(scene, axes);
    let anywhere = if free { "Drag the query anywhere" } else { "Drag the query from row to row" };
    let mut response = response.on_hover_cursor(if held { CursorIcon::Grabbing } else { CursorIcon::Grab });
    // A point under the pointer shows its own tooltip.
    if session.hovered.is_none() {
        response = response.on_hover_text(format!(
            "{anywhere}; its neighbours follow. Arrow keys move it, Shift in smaller steps; Escape puts it \
             back."
        ));
    }
    let roomy = camera.rect.width() > 240.0
        && camera.rect.height() > 160.0
        && !matches!(session.walked, WalkState::Ready(_));
    if !held && !session.live.known && session.answered.is_some() && roomy {
        let text = if free {
            "Drag the ring to put the query anywhere."
        } else {
            "Drag the ring to move the query from row to row."
        };
        let font = FontId::proportional(12.0);
        let galley = ui.painter().layout(
            text.to_owned(),
            font,
            palette.text_weak,
            (camera.rect.width() - 16.0).max(40.0),
        );
        let at = hint_at(camera.rect, mark, galley.size().y);
        // Background, because points are below.
        ui.painter().rect_filled(
            Rect::from_min_size(at, galley.size()).expand(3.0),
            2.0,
            palette.canvas.gamma_multiply(0.85),
        );
        ui.painter().galley(at, galley, palette.text_weak);
    }

    let cloud = session.cloud.clone()?;
    let moved = |to: Pos2| {
        if free {
            return LiveAction::To(coordinates(&cloud, camera, axes, camera.place(camera.rect.clamp(to))));
        }
        LiveAction::Snap(SnapTarget { axes, at: camera.place(to), direction: None })
    };
    if response.drag_started() {
        response.request_focus();
        context.actions.send(LiveAction::Grab);
    }
    if response.dragged()
        && (response.drag_started() || response.drag_delta() != Vec2::ZERO)
        && let Some(action) = response.interact_pointer_pos().map(moved)
    {
        context.actions.send(action);
    }
    // egui also ends a drag on Escape, which must cancel instead.
    let taken = response.has_focus() || response.dragged();
    let back = taken && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, Key::Escape));
    if back {
        context.actions.send(LiveAction::Back);
    } else if response.drag_stopped() {
        context.actions.send(LiveAction::Release);
    }
    if response.has_focus() || response.dragged() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            escape: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        if let Some(by) = arrows(ui) {
            let to = mark + by;
            let direction = Some([f64::from(by.x), -f64::from(by.y)]);
            let action = if free { moved(to) } else { LiveAction::Snap(SnapTarget { axes, at, direction }) };
            if !held {
                context.actions.send(LiveAction::Grab);
            }
            context.actions.send(action);
        }
    } else if held {
        // The drag ended by a click elsewhere, or because the pane was hidden.
        context.actions.send(LiveAction::Release);
    }
    Some(response)
}

/// Whether the query may be anywhere: only if Plane shows all dimensions.
fn is_free(scene: &Scene, axes: [usize; 2]) -> bool {
    scene.dims() == 2 && axes[0] != axes[1] && !scene.is_projected()
}

/// The movement by arrow keys in this frame, if any.
fn arrows(ui: &Ui) -> Option<Vec2> {
    let direction = |key: Key| match key {
        Key::ArrowLeft => Some(vec2(-1.0, 0.0)),
        Key::ArrowRight => Some(vec2(1.0, 0.0)),
        Key::ArrowUp => Some(vec2(0.0, -1.0)),
        Key::ArrowDown => Some(vec2(0.0, 1.0)),
        _ => None,
    };
    ui.input(|input| {
        let pressed = input.events.iter().filter_map(|event| match event {
            Event::Key { key, pressed: true, modifiers, .. } if !modifiers.command && !modifiers.alt => {
                direction(*key).map(|direction| direction * if modifiers.shift { FINE_STEP } else { STEP })
            }
            _ => None,
        });
        pressed.reduce(|sum, by| sum + by)
    })
}

/// Local coordinates in the file's units, rounded to the screen's resolution.
fn coordinates(cloud: &PointCloud, camera: &PlaneCamera, axes: [usize; 2], at: [f64; 2]) -> Vec<f64> {
    let decimals = (1.0 - camera.window.units_per_point.log10()).ceil().clamp(0.0, 17.0) as usize;
    let mut coordinates = vec![0.0; cloud.dims()];
    for (&axis, local) in axes.iter().zip(at) {
        let value = cloud.axes()[axis].origin + local;
        coordinates[axis] = format!("{value:.decimals$}").parse().unwrap_or(value);
    }
    coordinates
}

// The query's coordinates as editable fields in the right panel.

/// Maximum number of dimensions with fields.
const MAX_FIELDS: usize = 3;

/// A coordinate with as many digits as it needs: as f32 if that is exact.
fn typed(value: f64) -> String {
    let short = value as f32;
    if f64::from(short) == value { short.to_string() } else { value.to_string() }
}

/// Fields for the query's coordinates in the file's units; returns false if the cloud has too many
/// dimensions.
pub fn place_ui(ui: &mut Ui, cloud: &PointCloud, context: &mut UiContext<'_>) -> bool {
    let (session, palette) = (context.session, context.palette);
    if cloud.dims() > MAX_FIELDS {
        return false;
    }
    let live = &session.live;
    let mut fields = live.typed.clone().filter(|typed| typed.len() == cloud.dims()).unwrap_or_else(|| {
        let value = |axis| session.picked_point().map(|(of, row)| typed(of.coordinate(row, axis)));
        (0..cloud.dims()).map(|axis| value(axis).unwrap_or_default()).collect()
    });
    let (before, mut entered) = (fields.clone(), false);
    for (axis, (field, column)) in fields.iter_mut().zip(cloud.axes()).enumerate() {
        let response = row_ui(ui, &column.name, palette, |ui, label| {
            let width = ui.available_width();
            let edit = TextEdit::singleline(field)
                .id_salt(("query at", axis))
                .hint_text("anywhere")
                .desired_width(width);
            ui.add(edit)
                .labelled_by(label)
                .on_hover_text("Type coordinates in the file's units and press Enter.")
        });
        entered |= response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if let Some((_, why)) = live.wrong.as_ref().filter(|(wrong, _)| *wrong == axis) {
            ui.label(RichText::new(why).color(palette.error).small());
        }
    }
    if fields != before {
        context.actions.send(LiveAction::Type(fields));
    }
    if live.typed.is_some() && live.wrong.is_none() {
        ui.label(palette.small("Press Enter to search from there."));
    }
    if entered {
        context.actions.send(LiveAction::Apply);
    }
    true
}

impl SnapTarget {
    /// The nearest matching row; `None` if there is none, or when cancelled.
    pub fn row(&self, drawn: &PointCloud, progress: &dyn Progress) -> Option<u32> {
        let far = |row: usize| {
            let [x, y] = place(drawn, row, self.axes);
            let away = [x - self.at[0], y - self.at[1]];
            let wanted = self.direction.is_none_or(|direction| {
                let along = away[0] * direction[0] + away[1] * direction[1];
                along > 0.0 && (away[0] * direction[1] - away[1] * direction[0]).abs() <= along
            });
            wanted.then(|| (away[0] * away[0] + away[1] * away[1], 0.0))
        };
        nearest_row(drawn.len(), &far, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::PlaneWindow;
    use crate::app::testing::cloud;
    use crate::progress::NoProgress;

    #[test]
    fn the_hint_avoids_the_query_mark_lens_and_notes() {
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0));
        for y in 0..=300 {
            let (mark, height) = (pos2(100.0, y as f32), 14.0);
            let at = hint_at(rect, mark, height);
            assert!(rect.contains(at) && rect.contains(at + vec2(0.0, height)), "{y}: {at:?}");
            assert!(at.y >= mark.y + HANDLE / 2.0 || at.y + height <= mark.y - HANDLE / 2.0, "{y}: {at:?}");
            assert_eq!(at.y < 150.0, mark.y < 150.0, "{y}: the lens is in the other half");
            assert!(at.y + height <= 300.0 - NOTES_HEIGHT, "{y}: the notes are below it: {at:?}");
        }
    }

    #[test]
    fn coordinates_are_rounded_to_screen_resolution() {
        let cloud = cloud(10, 2, 1);
        let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 400.0));
        let camera = |units_per_point| PlaneCamera {
            rect,
            window: PlaneWindow { center: [0.0; 2], units_per_point },
            map: None,
        };
        assert_eq!(coordinates(&cloud, &camera(0.005), [1, 0], [0.123_456_789, -7.0]), [-7.0, 0.1235]);
        assert_eq!(coordinates(&cloud, &camera(25.0), [0, 1], [123.456, 5.5]), [123.0, 6.0]);
    }

    #[test]
    fn arrow_keys_move_to_the_next_row_in_that_direction() {
        let cloud = cloud(300, 3, 2);
        let axes = [0, 2];
        let at = place(&cloud, 5, axes);
        let to = |direction: Option<[f64; 2]>| SnapTarget { axes, at, direction }.row(&cloud, &NoProgress);
        let right = place(&cloud, to(Some([8.0, 0.0])).expect("there are rows to the right") as usize, axes);
        assert!(right[0] > at[0] && (right[1] - at[1]).abs() <= right[0] - at[0]);
        assert!(place(&cloud, to(Some([0.0, 8.0])).expect("there are rows above") as usize, axes)[1] > at[1]);
        assert_eq!(to(None), Some(5));
        let far_right = SnapTarget { axes, at: [9.0, 0.0], direction: Some([1.0, 0.0]) };
        assert_eq!(far_right.row(&cloud, &NoProgress), None, "no row in that direction");
    }
}
