//! Keyboard focus: a ring around the focused widget, and scrolling it into view.

use egui::{Context, Event, EventFilter, Id, Key, Rect, Response, Stroke, StrokeKind, Ui, Vec2, vec2};

use super::tokens::Palette;

/// Id of the last focus movement.
const MOVED: &str = "how the focus moved";

/// Width of the ring, in screen points.
pub const RING: f32 = 2.0;

/// How the focus moved.
#[derive(Clone, Copy, PartialEq)]
struct FocusMove {
    /// Whether keys or a screen reader moved it; after a click, the position is obvious.
    by_keys: bool,
    backwards: bool,
}

/// Skips resizable edges, which only a pointer can use; called before anything is drawn in a frame.
pub fn pass_by(ctx: &Context) {
    let moved = moved(ctx);
    if !focused(ctx).is_some_and(|response| is_edge(ctx, &response)) {
        return;
    }
    let next = if moved.backwards { egui::FocusDirection::Previous } else { egui::FocusDirection::Next };
    ctx.memory_mut(|memory| memory.move_focus(next));
}

fn focused(ctx: &Context) -> Option<Response> {
    ctx.memory(|memory| memory.focused()).and_then(|id| ctx.read_response(id))
}

/// Whether it is the edge of a panel, a tile or a column: no other focusable widget is as thin.
fn is_edge(ctx: &Context, response: &Response) -> bool {
    let thin = 2.0 * ctx.global_style().interaction.resize_grab_radius_side + 0.5;
    response.sense.senses_drag() && response.rect.size().min_elem() <= thin
}

/// Draws the ring, after everything else in the frame.
pub fn ring_ui(ctx: &Context, palette: &Palette) {
    let moved = moved(ctx);
    let Some(response) = focused(ctx).filter(|_| ctx.input(|input| input.focused)) else { return };
    if is_edge(ctx, &response) {
        return ctx.request_repaint();
    }
    if moved.by_keys && response.interact_rect.is_positive() {
        let painter = ctx.layer_painter(response.layer_id);
        painter.rect_stroke(
            ring(response.interact_rect),
            4.0,
            Stroke::new(RING, palette.accent),
            StrokeKind::Outside,
        );
    }
}

/// The inner edge of the ring around a widget.
pub fn ring(widget: Rect) -> Rect {
    widget.expand(1.0)
}

fn moved(ctx: &Context) -> FocusMove {
    let id = Id::unique(MOVED);
    let before = ctx.data(|data| data.get_temp(id)).unwrap_or(FocusMove { by_keys: true, backwards: false });
    let mut moved = before;
    ctx.input(|input| {
        for event in &input.events {
            match event {
                Event::Key { key: Key::Tab, pressed: true, modifiers, .. } => {
                    moved = FocusMove { by_keys: true, backwards: modifiers.shift }
                }
                Event::Key { pressed: true, .. } | Event::AccessKitActionRequest(_) => moved.by_keys = true,
                Event::PointerButton { pressed: true, .. } | Event::Touch { .. } => moved.by_keys = false,
                _ => {}
            }
        }
    });
    if moved != before {
        ctx.data_mut(|data| data.insert_temp(id, moved));
    }
    moved
}

/// Whether the widget received focus by keys.
pub fn is_keyed(response: &Response) -> bool {
    let moved: Option<FocusMove> = response.ctx.data(|data| data.get_temp(Id::unique(MOVED)));
    response.has_focus() && moved.is_none_or(|moved| moved.by_keys)
}

/// Arrow keys pressed on a focused widget, as a direction; the widget captures them.
pub fn arrows(ui: &Ui, response: &Response) -> Vec2 {
    if !response.has_focus() {
        return Vec2::ZERO;
    }
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let ways = [
        (Key::ArrowLeft, vec2(-1.0, 0.0)),
        (Key::ArrowRight, vec2(1.0, 0.0)),
        (Key::ArrowUp, vec2(0.0, -1.0)),
        (Key::ArrowDown, vec2(0.0, 1.0)),
    ];
    ui.input(|input| {
        ways.into_iter()
            .filter(|(key, _)| input.key_pressed(*key))
            .fold(Vec2::ZERO, |sum, (_, way)| sum + way)
    })
}

/// Scrolls to a newly focused widget; called at the end of a scroll area.
pub fn follow_ui(ui: &Ui) {
    let id = ui.scope_id().with("focus followed");
    let focused = ui.memory(|memory| memory.focused());
    if ui.data(|data| data.get_temp::<Option<Id>>(id)).flatten() == focused {
        return;
    }
    ui.data_mut(|data| data.insert_temp(id, focused));
    let Some(response) = focused.and_then(|focused| ui.ctx().read_response(focused)) else { return };
    let ours = response.layer_id == ui.layer_id() && ui.min_rect().expand(1.0).contains_rect(response.rect);
    if ours && !ui.clip_rect().contains_rect(response.rect) {
        ui.scroll_to_rect(response.rect.expand(6.0), None);
    }
}
