//! The pointer in Plane and Space: clicks pick, drags select regions, hovering looks up points.

use egui::emath::GuiRounding as _;
use egui::{Modifiers, PointerButton, Shape};

use super::state::{Lasso, PaneCamera, PickAction, Purpose, Region, Tool};
use crate::app::features::selection::state::SelectAction;
use crate::app::look::focus::is_keyed;
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;

fn command_of(tool: Tool) -> Command {
    match tool {
        Tool::Move => Command::MoveTool,
        Tool::Rectangle => Command::RectangleTool,
        Tool::Lasso => Command::LassoTool,
    }
}

/// How long the pointer must rest before its point is looked up, in seconds.
const REST_SECS: f32 = 0.08;

/// A region being drawn, in screen points.
#[derive(Clone, Debug)]
pub struct Gesture {
    start: Pos2,
    /// The path of a lasso, or the opposite corner of a rectangle.
    path: Vec<Pos2>,
    lasso: bool,
    /// Cancelled with Escape: the rest of the drag is ignored.
    cancelled: bool,
}

impl Gesture {
    /// Its closed outline, clipped to a rectangle.
    fn outline(&self, rect: Rect) -> Vec<Pos2> {
        let Some(&last) = self.path.last() else { return Vec::new() };
        let corners = if self.lasso {
            [&[self.start], &self.path[..], &[self.start]].concat()
        } else {
            vec![self.start, pos2(last.x, self.start.y), last, pos2(self.start.x, last.y), self.start]
        };
        corners.into_iter().map(|corner| rect.clamp(corner)).collect()
    }

    fn region(&self, rect: Rect) -> Option<Region> {
        let outline = self.outline(rect);
        let (first, opposite) = (outline.first()?, outline.get(2));
        if self.lasso {
            Some(Region::Lasso(Lasso::new(&outline)))
        } else {
            Some(Region::Rectangle(Rect::from_two_pos(*first, *opposite?)))
        }
    }
}

/// Tracks a drag that draws a region instead of moving the view.
pub fn follow_ui(ui: &Ui, response: &Response, session: &Session) -> Option<Gesture> {
    let id = response.id.with("gesture");
    let modifiers = ui.input(|input| input.modifiers);
    if response.drag_started_by(PointerButton::Primary)
        && !modifiers.alt
        && (session.tool != Tool::Move || modifiers.shift)
    {
        let start = ui.input(|input| input.pointer.press_origin());
        let begun = start.map(|start| Gesture {
            start,
            path: Vec::new(),
            lasso: session.tool == Tool::Lasso,
            cancelled: false,
        });
        if let Some(begun) = begun {
            ui.data_mut(|data| data.insert_temp(id, begun));
        }
    }
    let mut gesture = ui.data(|data| data.get_temp::<Gesture>(id))?;
    gesture.cancelled |= ui.input(|input| input.key_pressed(Key::Escape));
    if let Some(pointer) = response.interact_pointer_pos() {
        match gesture.path.last_mut() {
            Some(last) if !gesture.lasso => *last = pointer,
            // A spacing of half a point is as exact as a hand.
            Some(last) if last.distance(pointer) < 0.5 => {}
            _ => gesture.path.push(pointer),
        }
    }
    ui.data_mut(|data| {
        if response.dragged() {
            data.insert_temp(id, gesture.clone());
        } else {
            data.remove::<Gesture>(id);
        }
    });
    Some(gesture)
}

/// The pane or lens at a position; lenses come first.
pub fn eye_at(eyes: &[(Rect, PaneCamera)], place: Pos2) -> Option<(Rect, PaneCamera)> {
    eyes.iter().find(|(rect, _)| rect.contains(place)).copied()
}

/// Draws the region, and selects its points when the drag ends.
pub fn gesture_ui(
    ui: &Ui,
    response: &Response,
    gesture: &Gesture,
    eyes: &[(Rect, PaneCamera)],
    palette: &Palette,
    actions: &mut Actions,
) {
    let Some((rect, eye)) = eye_at(eyes, gesture.start).filter(|_| !gesture.cancelled) else { return };
    if response.drag_stopped() {
        if let Some(region) = gesture.region(rect) {
            let how = how(ui.input(|input| input.modifiers));
            actions.send(PickAction::Region { eye, region, how });
        }
        return;
    }
    let painter = ui.painter().with_clip_rect(rect);
    let outline = gesture.outline(rect);
    if let (false, [first, _, opposite, ..]) = (gesture.lasso, &outline[..]) {
        painter.rect_filled(Rect::from_two_pos(*first, *opposite), 0.0, palette.accent.gamma_multiply(0.12));
    }
    // A dashed line on a solid one is visible on points and background.
    painter.add(Shape::line(outline.clone(), Stroke::new(3.0, palette.canvas)));
    painter.extend(Shape::dashed_line(&outline, Stroke::new(1.5, palette.accent), 5.0, 3.0));
}

/// The meaning of modifier keys when a region is closed.
fn how(modifiers: Modifiers) -> SelectMode {
    match SelectMode::from_modifiers(modifiers) {
        // Ctrl with a region removes, rather than toggles.
        SelectMode::Toggle => SelectMode::Remove,
        how => how,
    }
}

/// Handles clicks, double clicks and hovering, and returns to the default tool.
pub fn pointing_ui(
    ui: &Ui,
    response: &Response,
    eyes: &[(Rect, PaneCamera)],
    session: &Session,
    actions: &mut Actions,
) {
    let modifiers = ui.input(|input| input.modifiers);
    // With keys, the position is the centre of the pane.
    let middle = response.rect.center();
    if is_keyed(response) {
        let stroke = Stroke::new(1.5, ui.visuals().text_color());
        for arm in [vec2(6.0, 0.0), vec2(0.0, 6.0)] {
            ui.painter().line_segment([middle - arm, middle + arm], stroke);
        }
    }
    if let Some(pointer) = response.interact_pointer_pos().or_else(|| response.clicked().then_some(middle))
        && let Some((_, eye)) = eye_at(eyes, pointer)
    {
        let how = SelectMode::from_modifiers(modifiers);
        if response.double_clicked() && how == SelectMode::Replace {
            actions.send(PickAction::At { eye, pointer, purpose: Purpose::Focus });
        } else if response.clicked() {
            let purpose = if how == SelectMode::Replace { Purpose::Query } else { Purpose::Select(how) };
            actions.send(PickAction::At { eye, pointer, purpose });
        }
    }
    let free = !session.has_dialog() && !session.activity.is_busy();
    if session.tool != Tool::Move
        && free
        && !response.dragged()
        && ui.input(|input| input.key_pressed(Key::Escape))
    {
        actions.send(PickAction::Tool(Tool::Move));
    }
    rest_ui(ui, response, eyes, actions);
}

fn rest_ui(ui: &Ui, response: &Response, eyes: &[(Rect, PaneCamera)], actions: &mut Actions) {
    // Keyed by pane, because the pointer may move from the pane to a mark on it.
    let id = ui.scope_id().with("rest");
    let asked = ui.data(|data| data.get_temp::<Pos2>(id));
    let mut forget = || {
        ui.data_mut(|data| data.remove::<Pos2>(id));
        actions.send(SelectAction::Hover(None));
    };
    let (since, down, scrolled) = ui.input(|input| {
        (
            input.pointer.time_since_last_movement(),
            input.pointer.any_down(),
            input.smooth_scroll_delta() != Vec2::ZERO,
        )
    });
    match response.hover_pos() {
        Some(pointer) if !down && !scrolled && asked == Some(pointer) => {}
        Some(pointer) if !down && !scrolled => {
            if asked.is_some() {
                forget();
            }
            if since < REST_SECS {
                ui.ctx().request_repaint_after_secs(REST_SECS - since);
            } else if let Some((_, eye)) = eye_at(eyes, pointer) {
                ui.data_mut(|data| data.insert_temp(id, pointer));
                actions.send(PickAction::At { eye, pointer, purpose: Purpose::Hover });
            }
        }
        _ if asked.is_some() => forget(),
        _ => {}
    }
}

pub fn tools_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    // Allocated as one item, which wraps as a whole.
    let width = Tool::ALL.len() as f32 * 28.0;
    ui.allocate_ui_with_layout(
        vec2(width, ui.spacing().interact_size.y),
        Layout::left_to_right(Align::Center),
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for tool in Tool::ALL {
                let command = command_of(tool);
                let (rect, response) =
                    ui.allocate_exact_size(vec2(26.0, ui.spacing().interact_size.y), Sense::click());
                let chosen = session.tool == tool;
                response
                    .widget_info(|| egui::WidgetInfo::selected(Role::Button, true, chosen, command.text()));
                let visuals = ui.style().interact_selectable(&response, chosen);
                if chosen || response.hovered() || response.has_focus() {
                    ui.painter().rect(
                        rect,
                        visuals.corner_radius,
                        visuals.weak_bg_fill,
                        visuals.bg_stroke,
                        egui::StrokeKind::Inside,
                    );
                }
                icon(ui, tool, rect, if chosen { visuals.fg_stroke.color } else { palette.text });
                let keys =
                    command.shortcut().map(|shortcut| keys_text(ui.ctx(), &shortcut)).unwrap_or_default();
                if response
                    .on_hover_text(format!("{}: {} {keys}", command.text(), command.tooltip()))
                    .clicked()
                {
                    actions.send(command);
                }
            }
        },
    );
}

fn icon(ui: &Ui, tool: Tool, rect: Rect, color: Color32) {
    let at = Rect::from_center_size(rect.center(), vec2(14.0, 12.0)).round_to_pixels(ui.pixels_per_point());
    let (painter, stroke) = (ui.painter(), Stroke::new(1.5, color));
    match tool {
        Tool::Move => {
            let (c, x, y) = (at.center(), 6.5, 6.5);
            for (tip, side) in [
                (vec2(x, 0.0), vec2(0.0, 2.5)),
                (vec2(-x, 0.0), vec2(0.0, 2.5)),
                (vec2(0.0, y), vec2(2.5, 0.0)),
                (vec2(0.0, -y), vec2(2.5, 0.0)),
            ] {
                painter.line_segment([c, c + tip], stroke);
                let back = c + tip * 0.6;
                painter.add(Shape::convex_polygon(
                    vec![c + tip * 1.1, back + side, back - side],
                    color,
                    Stroke::NONE,
                ));
            }
        }
        Tool::Rectangle => {
            let corners = [at.left_top(), at.right_top(), at.right_bottom(), at.left_bottom(), at.left_top()];
            painter.extend(Shape::dashed_line(&corners, stroke, 3.0, 2.0));
        }
        Tool::Lasso => {
            let place = |part: f32| {
                let angle = part * std::f32::consts::TAU + 2.0;
                at.center() + vec2(angle.cos() * 7.0, angle.sin() * 4.5 - 1.5)
            };
            painter.add(Shape::closed_line((0..24).map(|step| place(step as f32 / 24.0)).collect(), stroke));
            painter.line_segment([place(0.0), at.left_bottom() + vec2(1.0, 2.0)], stroke);
        }
    }
}

/// A hint while a region tool is selected.
pub fn hint_ui(ui: &Ui, rect: Rect, session: &Session, space: bool, palette: &Palette) {
    let behind = if space { " to select points, including hidden ones" } else { " to select points" };
    let what = match session.tool {
        Tool::Move => return,
        Tool::Rectangle => "Drag a rectangle",
        Tool::Lasso => "Draw an outline",
    };
    let text = format!(
        "{what}{behind}. Shift adds, Ctrl removes, Alt moves the view, Escape returns to the move tool"
    );
    let galley =
        ui.painter().layout(text, FontId::proportional(12.0), palette.text, (rect.width() - 16.0).max(40.0));
    let place = Align2::LEFT_TOP.anchor_size(rect.left_top() + vec2(8.0, 6.0), galley.size());
    ui.painter().rect_filled(place.expand(3.0), 2.0, palette.canvas.gamma_multiply(0.85));
    ui.painter().galley(place.min, galley, palette.text);
}
