//! Dragging in the lesson's picture: query and points in maps, and keys in registers. Arrow keys move the
//! query too.

use egui::{CursorIcon, Id, Key, Pos2, Rect, Response, Sense, Ui, Vec2, vec2};

use super::paint::Placement;
use super::state::{DragAction, LessonAction};
use crate::app::look::focus::arrows;
use crate::app::look::tokens::Palette;
use crate::app::model::Actions;
use crate::engines::lockstep::{PADDING, distance_of, index_of};
use crate::knn::Metric;
use crate::lesson::picture::Target;
use crate::lesson::picture::scene::Map;
use crate::lesson::{Cursor, Recording};

/// Distance within which the pointer grabs the query, and a point, in screen points.
const GRAB_REACH: [f32; 2] = [11.0, 8.0];

/// The accessible name of a map.
pub const NAME: &str = "Map of the lesson: the arrow keys move the query";

/// Step of an arrow key, without and with Shift, as a fraction of the map.
const STEPS: [f32; 2] = [0.01, 0.05];

/// Vertical drag distance, in screen points, from key 0 to the lesson's largest.
const KEY_RANGE: f32 = 160.0;

/// What is being dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DragTarget {
    /// The query or a point in a map; `grip` is the vector from the pointer to its centre.
    Place {
        map: usize,
        item: MapItem,
        grip: Vec2,
    },
    Key(KeyDrag),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapItem {
    Query,
    /// A point, by row.
    Row(u32),
}

impl MapItem {
    fn moved(self, to: [f32; 2]) -> LessonAction {
        LessonAction::Drag(match self {
            Self::Query => DragAction::Query(to),
            Self::Row(row) => DragAction::Point(row, to),
        })
    }
}

/// A key that is dragged vertically, which moves its point away from the query or towards it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyDrag {
    row: u32,
    query: [f32; 2],
    /// Unit vector from the query to the point.
    direction: [f32; 2],
    squared: f32,
    /// The largest squared distance of the lesson.
    largest: f32,
    /// The pointer's y coordinate when the drag began.
    from: f32,
}

impl KeyDrag {
    /// The key of an element; `None` for padding, and if points cannot be moved.
    fn for_target(target: Target, cursor: &Cursor, from: f32) -> Option<Self> {
        let Target::Element(element) = target else { return None };
        let (recording, key) = (cursor.recording(), *cursor.state().registers.get(element as usize)?);
        let problem = recording.problem();
        if key == PADDING || problem.dims() != 2 || problem.metric() != Metric::L2 {
            return None;
        }
        let (query, first) = (&recording.parameters.query, index_of(key) as usize * 2);
        let way = [0, 1].map(|axis| problem.points()[first + axis] - query[axis]);
        let length = way[0].hypot(way[1]);
        let direction = if length > 0.0 { way.map(|part| part / length) } else { [1.0, 0.0] };
        let largest = Some(recording.span().high).filter(|high| *high > 0.0).unwrap_or(1.0);
        Some(Self {
            row: problem.row(index_of(key)),
            query: [query[0], query[1]],
            direction,
            squared: distance_of(key),
            largest,
            from,
        })
    }

    /// The point's coordinates for this pointer height.
    fn place(&self, height: f32) -> [f32; 2] {
        let squared =
            (self.squared + (self.from - height) / KEY_RANGE * self.largest).clamp(0.0, 2.0 * self.largest);
        [0, 1].map(|axis| self.query[axis] + self.direction[axis] * squared.sqrt())
    }
}

/// A map, its placement, and its recording.
pub struct PlacedMap<'a> {
    pub map: &'a Map,
    pub place: Placement,
    pub recording: &'a Recording,
}

impl PlacedMap<'_> {
    fn rect(&self) -> Rect {
        self.place.rect(self.map.area)
    }

    fn screen(&self, at: [f32; 2]) -> Pos2 {
        self.place.pos(self.map.point(at))
    }

    fn coordinates(&self, at: Pos2) -> [f32; 2] {
        self.map.coordinates(self.place.place(at))
    }

    /// What the pointer would grab, and its position: the query, or else the nearest point.
    fn under(&self, pointer: Pos2) -> Option<(MapItem, Pos2)> {
        if self.map.lens.is_some_and(|lens| lens.contains(self.place.place(pointer))) {
            return None;
        }
        let query = self.screen(self.map.query);
        if query.distance(pointer) <= GRAB_REACH[0] {
            return Some((MapItem::Query, query));
        }
        let problem = self.recording.problem();
        let screen = |point: u32| {
            let first = point as usize * 2;
            self.screen([problem.points()[first], problem.points()[first + 1]])
        };
        let near = self.recording.overview().points.iter().map(|&point| (point, screen(point)));
        let nearest = near.min_by(|(_, a), (_, b)| a.distance_sq(pointer).total_cmp(&b.distance_sq(pointer)));
        nearest
            .filter(|(_, at)| at.distance(pointer) <= GRAB_REACH[1])
            .map(|(point, at)| (MapItem::Row(problem.row(point)), at))
    }
}

/// Handles drags in the maps, and returns their response to the pointer.
pub fn maps_ui(
    ui: &Ui,
    maps: &[PlacedMap<'_>],
    held: &mut Option<DragTarget>,
    actions: &mut Actions,
) -> Option<Response> {
    let mut all: Option<Response> = None;
    for (number, shown) in maps.iter().enumerate() {
        let rect = shown.rect().intersect(ui.clip_rect());
        let response =
            ui.interact(rect, Id::unique("map of the lesson").with(number), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, NAME));
        drag_ui(ui, &response, number, shown, held, actions);
        let ways = arrows(ui, &response);
        if ways != Vec2::ZERO {
            let [[left, right], [low, high]] = shown.map.bounds;
            let step = STEPS[usize::from(ui.input(|input| input.modifiers.shift))];
            let by = vec2(right - left, low - high) * ways * step;
            let [x, y] = shown.map.query;
            actions.send(LessonAction::Drag(DragAction::Hold));
            actions.send(MapItem::Query.moved(shown.map.within([x + by.x, y + by.y])));
            actions.send(LessonAction::Drag(DragAction::Release));
        }
        all = Some(match all {
            Some(others) => others | response,
            None => response,
        });
    }
    // The maps may disappear during a drag, when another lesson is opened.
    if matches!(held, Some(DragTarget::Place { map, .. }) if *map >= maps.len()) {
        *held = None;
        actions.send(LessonAction::Drag(DragAction::Release));
    }
    all
}

fn drag_ui(
    ui: &Ui,
    response: &Response,
    number: usize,
    shown: &PlacedMap<'_>,
    held: &mut Option<DragTarget>,
    actions: &mut Actions,
) {
    if response.drag_started()
        && let Some(press) = ui.input(|input| input.pointer.press_origin())
        && let Some((item, at)) = shown.under(press)
    {
        *held = Some(DragTarget::Place { map: number, item, grip: at - press });
        actions.send(LessonAction::Drag(DragAction::Hold));
    }
    let Some((item, grip)) = held.and_then(|held| match held {
        DragTarget::Place { map, item, grip } if map == number => Some((item, grip)),
        _ => None,
    }) else {
        if response.hover_pos().is_some_and(|pointer| shown.under(pointer).is_some()) {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
        return;
    };
    ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    if response.dragged()
        && (response.drag_started() || response.drag_delta() != Vec2::ZERO)
        && let Some(pointer) = response.interact_pointer_pos()
    {
        actions.send(item.moved(shown.coordinates(pointer + grip)));
    }
    end_ui(ui, response, held, actions);
}

fn end_ui(ui: &Ui, response: &Response, held: &mut Option<DragTarget>, actions: &mut Actions) {
    if !response.dragged() {
        // egui also ends a drag on Escape, which must cancel instead.
        let back = ui.input(|input| input.key_down(Key::Escape) && !input.pointer.any_released());
        actions.send(LessonAction::Drag(if back { DragAction::Back } else { DragAction::Release }));
        *held = None;
    }
}

/// Handles drags of keys; returns whether the pointer is on one that can be dragged.
pub fn keys_ui(
    ui: &Ui,
    response: &Response,
    under: impl Fn(Pos2) -> Option<Target>,
    cursor: &Cursor,
    held: &mut Option<DragTarget>,
    actions: &mut Actions,
) -> bool {
    let key = |at: Pos2| under(at).and_then(|target| KeyDrag::for_target(target, cursor, at.y));
    if response.drag_started()
        && let Some(key) = ui.input(|input| input.pointer.press_origin()).and_then(key)
    {
        *held = Some(DragTarget::Key(key));
        actions.send(LessonAction::Drag(DragAction::Hold));
    }
    let Some(DragTarget::Key(key)) = *held else {
        let on_key = response.hover_pos().and_then(key).is_some();
        if on_key {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
        }
        return on_key;
    };
    ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
    if response.dragged()
        && (response.drag_started() || response.drag_delta() != Vec2::ZERO)
        && let Some(pointer) = response.interact_pointer_pos()
    {
        actions.send(MapItem::Row(key.row).moved(key.place(pointer.y)));
    }
    end_ui(ui, response, held, actions);
    true
}

/// A hint, shown until the user has dragged something.
pub fn hint_ui(ui: &Ui, map: Rect, palette: &Palette) {
    /// Smaller maps have no room for the hint.
    const MIN_WIDTH: f32 = 220.0;
    if map.width() < MIN_WIDTH || map.height() < MIN_WIDTH {
        return;
    }
    let galley = ui.painter().layout_no_wrap(
        "Drag the query or a point".to_owned(),
        egui::FontId::proportional(12.0),
        palette.text_weak,
    );
    let at = map.left_bottom() + vec2(8.0, -8.0 - galley.size().y);
    // Background, because points are below.
    ui.painter().rect_filled(
        Rect::from_min_size(at, galley.size()).expand(3.0),
        2.0,
        palette.canvas.gamma_multiply(0.85),
    );
    ui.painter().galley(at, galley, palette.text_weak);
}
