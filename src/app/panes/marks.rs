//! Marks of the query and its neighbours in Plane and Space, and the lines between them.

use egui::Shape;

use super::empty::PaneContext;
use crate::app::features::color::bar;
use crate::app::prelude::*;
use crate::cloud::{GlobeAxes, PointCloud};
use crate::run::analysis::evenly_spaced;
use crate::text;

/// Whether the shortest way to a neighbour on the globe crosses the edge of the map, where a straight line
/// would be wrong.
fn crosses_map_edge(globe: Option<GlobeAxes>, answered: &QueryAnswer, row: usize) -> bool {
    let (data, queries) = (&answered.record.cloud, answered.query_cloud());
    globe.is_some_and(|globe| globe.crosses_edge((queries, answered.row() as usize), (data, row)))
}

/// Maximum number of neighbours drawn individually: each takes hundreds of vertices.
pub const MAX_NEIGHBORS: usize = 2_000;

/// Number of nearest neighbours that are always drawn; those with names are among them.
const ALWAYS_DRAWN: usize = 100;

/// The ranks of the neighbours drawn: the nearest, and the others evenly.
fn drawn_ranks(count: usize) -> impl Iterator<Item = usize> {
    let nearest = count.min(ALWAYS_DRAWN);
    let others = evenly_spaced(count - nearest, MAX_NEIGHBORS - ALWAYS_DRAWN);
    (0..nearest).chain(others.map(move |at| nearest + at))
}

/// Query, neighbours, and lines between them. `screen` gives a row's position; `None` is out of sight.
/// Returns a note if not all neighbours are drawn.
pub fn marks_ui(
    ui: &Ui,
    rect: Rect,
    context: &PaneContext<'_>,
    point_size: f32,
    lines: bool,
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) -> Option<String> {
    let session = context.session;
    let palette = context.palette;
    let painter = ui.painter().with_clip_rect(rect);
    let (cloud, row) = session.picked_point()?;
    let query = screen(cloud, row);
    let radius = (point_size / 2.0).max(1.0) + 1.6;
    if let Some(answered) = &session.answered {
        let data = &answered.record.cloud;
        let rows = answered.neighbor_rows();
        let place = |rank: usize| {
            let row = *rows.get(rank)? as usize;
            Some((row, screen(data, row)?))
        };
        let places: Vec<(usize, Pos2)> = drawn_ranks(rows.len()).filter_map(place).collect();
        // From the answered query, which may lag behind a dragged one.
        if let Some(query) = session.answered_point().and_then(|(cloud, row)| screen(cloud, row))
            && lines
        {
            let stroke = Stroke::new(1.0, palette.neighbor.gamma_multiply(0.45));
            // Names are compared once instead of for each neighbour.
            let globe = if answered.record.spec.metric.is_on_sphere() {
                GlobeAxes::from_axes(data.axes()).ok()
            } else {
                None
            };
            let straight = places.iter().filter(|(row, _)| !crosses_map_edge(globe, answered, *row));
            painter.extend(straight.map(|(_, place)| Shape::line_segment([query, *place], stroke)));
        }
        for (row, place) in &places {
            // If colours encode values, neighbours keep theirs within a ring.
            let edge = match bar::color_of(context.state, session, palette, *row) {
                None => {
                    painter.circle(*place, radius, palette.neighbor, Stroke::new(1.0, palette.canvas));
                    radius
                }
                Some(own) => {
                    painter.circle(*place, radius + 1.4, own, Stroke::new(1.5, palette.neighbor));
                    radius + 2.1
                }
            };
            // Drawn over the selection's mark, which the neighbour covers.
            if session.selection.has_row(*row as u32) {
                painter.circle_stroke(*place, edge + 0.75, Stroke::new(1.5, palette.selected));
            }
        }
        if let Some((_, place)) = session.rank.and_then(place) {
            painter.circle(place, radius + 2.5, palette.neighbor, Stroke::new(2.0, palette.selected));
        }
    }
    if let Some(query) = query {
        let selected = match session.picked {
            Some(PickedPoint::Row(row)) => session.selection.has_row(row),
            Some(PickedPoint::Query(query)) => {
                session.selection.queries().binary_search(&(query as u32)).is_ok()
            }
            Some(PickedPoint::Coordinates) | None => false,
        };
        painter.circle(
            query,
            radius + 1.5,
            palette.query,
            Stroke::new(1.5, if selected { palette.selected } else { palette.canvas }),
        );
        painter.circle_stroke(query, radius + 6.0, Stroke::new(1.5, palette.query));
    }
    let found = session.answered.as_ref().map_or(0, |answered| answered.neighbor_rows().len());
    let [drawn, all] = [MAX_NEIGHBORS, found].map(|count| text::thousands(count as u64));
    (found > MAX_NEIGHBORS).then(|| format!("{drawn} of {all} neighbours are drawn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_neighbours_and_an_even_sample_of_the_others_are_drawn() {
        let drawn = |count: usize| drawn_ranks(count).collect::<Vec<_>>();
        for count in [0, 1, ALWAYS_DRAWN, MAX_NEIGHBORS] {
            assert_eq!(drawn(count), (0..count).collect::<Vec<_>>(), "all of {count}");
        }
        let some = drawn(518_861);
        assert_eq!(some.len(), MAX_NEIGHBORS);
        assert_eq!(some[..=ALWAYS_DRAWN], (0..=ALWAYS_DRAWN).collect::<Vec<_>>());
        let gaps = some[ALWAYS_DRAWN..].windows(2).map(|ranks| ranks[1] - ranks[0]);
        assert!(gaps.clone().min() == Some(273) && gaps.max() == Some(274), "even");
        assert!(some.last().is_some_and(|last| *last > 518_500));
    }
}
