//! In the panel of the points: those whose keys a merge has in the registers, as coloured as the keys and named by element.

use super::View;
use super::moment::nearest;
use super::pen::{Scale, Style, area, line, mono};
use super::plane::Plane;
use super::scene::{Ink, Point, Scene, Target};
use crate::algorithms::Baseline;
use crate::engines::lockstep::{PADDING, distance_of, index_of};
use crate::knn::Problem;
use crate::state::Stage;
use crate::step::Step;
use crate::text::thousands;

/// Points for each key of the registers at most: among more, the keys are too close together to be told apart.
const POINTS_A_KEY: u32 = 8;

/// Radius of a point that has room for a number, relative to running text.
const NUMBERED: f32 = 0.45;

/// The radius of these points, for which the map keeps a margin at every step; `None` where points are never drawn so.
pub fn room(view: &View<'_>, [wide, high]: [f32; 2]) -> Option<f32> {
    let (shape, text) = (view.cursor.state().shape, view.text);
    let is_merged_here = matches!(view.cursor.recording().baseline(), Baseline::Kernel(_));
    // The map is about square, with some lines of text around it.
    let spacing = wide.min(high - text * 5.5) / (shape.capacity() as f32).sqrt();
    (is_merged_here && shape.n <= POINTS_A_KEY * shape.capacity()).then(|| (spacing * 0.28).clamp(text * 0.13, text * 0.85))
}

/// Whether a merge is in progress, or has just been completed.
pub fn are_shown(view: &View<'_>) -> bool {
    let is_done = matches!(view.cursor.step().as_deref(), Some(Step::MaxDistance { .. }));
    is_done || matches!(view.cursor.state().stage, Stage::Sort | Stage::Merge)
}

/// Draws them. A number that another point would cover is left out.
pub fn over(scene: &mut Scene, plane: &Plane, view: &View<'_>, problem: &Problem, radius: f32) {
    let scale = Scale::of(view.cursor.recording());
    let keys: Vec<(u32, u32, f32, Point)> = (0u32..)
        .zip(&view.cursor.state().registers)
        .filter(|&(_, &key)| key != PADDING)
        .map(|(element, &key)| (element, index_of(key), scale.magnitude(distance_of(key)), plane.position(problem, index_of(key))))
        .collect();
    for (at, &(element, point, magnitude, center)) in keys.iter().enumerate() {
        let frame = (radius >= view.text * 0.3).then(|| line(Ink::Canvas, 1.0));
        scene.dots(vec![center], radius, Some(Ink::Scale(magnitude).into()), frame);
        let covers = |other: &(u32, u32, f32, Point)| (other.3[0] - center[0]).hypot(other.3[1] - center[1]) < radius;
        if radius >= view.text * NUMBERED && !keys[at + 1..].iter().any(covers) {
            let name = element.to_string();
            let size = if name.len() < 3 { radius * 1.15 } else { radius * 0.85 };
            let style = Style { paint: Ink::OnScale(magnitude).into(), ..mono(size, Ink::Text) };
            scene.text(center, [0.5, 0.5], style, name);
        }
        scene.spot(area(center[0] - radius, center[1] - radius, 2.0 * radius, 2.0 * radius), Target::Point(point));
    }
}

/// The legend: colour, meaning, and whether the dots are filled.
pub fn kinds(view: &View<'_>, radius: f32) -> Vec<(Ink, String, bool)> {
    let words = if radius >= view.text * NUMBERED { "key in a register; number: its element" } else { "key in a register" };
    let mut kinds = vec![(Ink::Text, "query".to_owned(), true), (Ink::Scale(0.6), words.to_owned(), true)];
    // After the minimum the intermediate result is in the registers, too.
    let waiting = if view.cursor.state().stage == Stage::Sort { nearest(view.cursor).len() } else { 0 };
    if waiting > 0 {
        kinds.push((Ink::Neighbor, format!("{} of the intermediate result", thousands(waiting as u64)), true));
    }
    if view.cursor.state().counts.merges > 0 {
        kinds.push((Ink::Candidate, "earlier candidates".to_owned(), true));
    }
    kinds
}
