//! What the picked query and its neighbours are called, beside their points, and how far they are where that has a unit. Where names would
//! cover one another the nearer's stays; those in one place are listed together.

use std::collections::HashMap;

use egui::{FontId, Pos2, Rect, Ui, Vec2, vec2};

use crate::app::model::telling;
use crate::app::panes::descriptor::PaneContext;
use crate::cloud::PointCloud;
use crate::text;

/// Names that are looked for room for.
const MOST: usize = 80;

/// Names that are listed in one place; of more it is said how many.
const TOGETHER: usize = 3;

/// From a point to its name.
const GAP: f32 = 7.0;

/// The same of the query.
const WIDE_GAP: f32 = 14.0;

/// Names over the points, nearest first. `screen` gives a row's position; `None` is out of sight.
pub fn names_ui(ui: &Ui, rect: Rect, context: &PaneContext<'_>, screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>) {
    let session = context.session;
    let Some(answered) = &session.answered else { return };
    let data = &answered.record.cloud;
    let rows = answered.rows_to_tell();
    let names = session.listed_beside().map(|beside| telling::names(beside, &session.roles)).unwrap_or_default();
    let metric = answered.record.spec.metric;
    let far: HashMap<u32, f32> = metric.unit().map(|_| answered.neighbors().collect()).unwrap_or_default();
    let painter = ui.painter().with_clip_rect(rect);
    // The points themselves are not covered either.
    let around = |place: Pos2| Rect::from_center_size(place, Vec2::splat(8.0));
    let places: Vec<(u32, Option<Pos2>)> = rows.iter().map(|&row| (row, screen(data, row as usize))).collect();
    let mut taken: Vec<Rect> = places.iter().filter_map(|(_, place)| place.filter(|place| rect.contains(*place)).map(around)).collect();
    // The query first, which is last where it is none of its own neighbours.
    let own = places.iter().position(|(row, _)| answered.record.query_cloud.is_none() && *row == answered.row());
    let others = (0..places.len()).filter(|at| Some(*at) != own);
    let called = |at: usize| names.get(at).cloned().flatten().unwrap_or_else(|| text::thousands(data.record(places[at].0 as usize)));
    let in_one_place = |a: Pos2, b: Pos2| a.distance(b) < 0.5;
    let mut named: Vec<Pos2> = Vec::new();
    for at in own.into_iter().chain(others).take(MOST) {
        let (_, place) = &places[at];
        let Some(place) = place.filter(|place| rect.contains(*place)) else { continue };
        if named.iter().any(|&other| in_one_place(other, place)) {
            continue;
        }
        named.push(place);
        let here: Vec<usize> =
            (0..places.len()).filter(|&other| other != at && places[other].1.is_some_and(|other| in_one_place(other, place))).collect();
        let all: Vec<String> = std::iter::once(at).chain(here.iter().copied().take(TOGETHER - 1)).map(called).collect();
        let more = (here.len() + 1).saturating_sub(TOGETHER);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let distance_of = |at: usize| far.get(&places[at].0).map(|&far| telling::distance_text(metric, metric.distance(far)));
        // Of places that only look like one, none.
        let distance = distance_of(at).filter(|distance| Some(at) != own && here.iter().all(|&other| distance_of(other).as_ref() == Some(distance)));
        let distance = distance.map_or_else(String::new, |distance| format!(" {distance}"));
        let name = format!("{}{more}{distance}", all.join(", "));
        let galley = painter.layout_no_wrap(name, FontId::proportional(12.0), context.palette.text);
        // The query's marker is wider than a point.
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
            painter.rect_filled(room.expand2(vec2(2.0, 0.0)), 2.0, context.palette.canvas.gamma_multiply(0.75));
            painter.galley(corner, galley, context.palette.text);
        }
    }
}
