//! In the plane of the points: the queries of the other lanes, and the point that all of them look at.

use crate::algorithms::heap::state::Heaps;
use crate::knn::Problem;
use crate::picture::View;
use crate::picture::pen::{faint, line, sans, width};
use crate::picture::plane::Plane;
use crate::picture::scene::{Font, Ink, Scene};

/// Meanings of the marks, for the legend.
pub(crate) const KINDS: [(Ink, &str, bool); 3] =
    [(Ink::Query, "queries of the lanes", true), (Ink::Candidate, "inserted", true), (Ink::Rejected, "not inserted", false)];

/// Draws lines from the point to the queries of lanes that insert it, and the queries with their lanes' numbers.
pub(crate) fn over(scene: &mut Scene, plane: &Plane, view: &View<'_>, problem: &Problem, heaps: &Heaps) {
    let text = view.text;
    let own = &view.cursor.recording().parameters.query;
    let mut places = vec![plane.at(own)];
    places.extend(heaps.others.iter().map(|&query| plane.position(problem, query)));
    if let Some(point) = heaps.point {
        let at = plane.position(problem, point);
        let inserting = heaps.inserting.unwrap_or(0);
        for (lane, &place) in places.iter().enumerate() {
            let inserts = inserting >> lane & 1 == 1;
            let stroke = if inserts { line(Ink::Candidate, text * 0.14) } else { line(faint(Ink::TextWeak, 0.35), 1.0) };
            scene.path(vec![at, place], stroke);
        }
        let radius = text * 0.42;
        match heaps.inserting {
            None => scene.dots(vec![at], radius, None, Some(line(Ink::Text, text * 0.14))),
            Some(0) => scene.dots(vec![at], radius, Some(Ink::Canvas.into()), Some(line(Ink::Rejected, text * 0.16))),
            Some(_) => scene.dots(vec![at], radius, Some(Ink::Candidate.into()), Some(line(Ink::Canvas, 1.2))),
        }
    }
    let size = text * 0.8;
    for (lane, &[x, y]) in places.iter().enumerate() {
        if lane > 0 {
            let arm = text * 0.34;
            for (ink, wide) in [(Ink::Canvas, text * 0.26), (Ink::Query, text * 0.12)] {
                scene.path(vec![[x - arm, y], [x + arm, y]], line(ink, wide));
                scene.path(vec![[x, y - arm], [x, y + arm]], line(ink, wide));
            }
        }
        let words = lane.to_string();
        let wide = width(Font::Sans, size, &words);
        // Beside the cross; to its left where the plane ends.
        let right = x + text * 0.5 + wide < plane.area.right();
        let at = if right { [x + text * 0.5, y - text * 0.6] } else { [x - text * 0.5 - wide, y - text * 0.6] };
        scene.text(at, [0.0, 0.5], sans(size, Ink::Query), words);
    }
}
