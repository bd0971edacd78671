//! What is selected and what the pointer rests on, over the points.

use egui::{Pos2, Rect, Stroke, Ui};

use crate::app::panes::descriptor::PaneContext;
use crate::cloud::PointCloud;
use crate::run::analysis::spread;
use crate::text;

/// Marks that are drawn one by one.
const MOST: usize = 4_000;

/// Marks selected queries of a file of their own; `screen` gives a row's position. Returns what to say where not all are marked.
pub fn selection_ui(
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
            painter.circle(place, radius, context.palette.selected, Stroke::new(0.75, context.palette.canvas));
        }
    };
    // Rows of the cloud are the drawer's, all of them; here are queries that are no rows.
    let mut marked = 0;
    if let Some((record, cloud)) = session.record.as_ref().and_then(|record| Some((record, record.query_cloud.as_ref()?))) {
        let queries = session.selection.queries();
        marked = queries.len();
        let asked = |at: usize| record.query_rows.get(queries[at] as usize).copied();
        spread(queries.len(), MOST).filter_map(asked).filter_map(|row| screen(cloud, row as usize)).for_each(mark);
    }
    (marked > MOST).then(|| format!("marking {} of {} selected queries", text::thousands(MOST as u64), text::thousands(marked as u64)))
}

/// A ring around what the pointer rests on, here or in another pane.
pub fn hovered_ui(ui: &Ui, rect: Rect, context: &PaneContext<'_>, point_size: f32, screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>) {
    let Some((cloud, row)) = context.session.hovered.and_then(|hovered| context.session.point(hovered.what)) else { return };
    let Some(place) = screen(cloud, row) else { return };
    let painter = ui.painter().with_clip_rect(rect);
    let radius = (point_size / 2.0).max(1.0) + 4.5;
    painter.circle_stroke(place, radius, Stroke::new(3.5, context.palette.canvas));
    painter.circle_stroke(place, radius, Stroke::new(1.5, context.palette.accent));
}
