//! The boxes of a tree in the panel of the points: those of the node that is looked at, those visited, those left out; and the place in each
//! box that is nearest to the query.

use crate::algorithms::tree::TreeStep;
use crate::algorithms::tree::state::{Descent, Node};
use crate::engines::index::{Tree, WARP};
use crate::picture::View;
use crate::picture::legend::Entry;
use crate::picture::pen::{area, dashed, faint, line};
use crate::picture::plane::Plane;
use crate::picture::scene::{Area, Ink, Point, Scene};
use crate::step::Step;

/// Colours and meanings, for the legend.
pub const KINDS: [(Ink, &str, bool); 3] =
    [(Ink::Intermediate, "leaf visited", true), (Ink::Accent, "box nearer than the k-th", false), (Ink::Rejected, "box left out", false)];

/// The leaves under the boxes that were left out.
pub fn leaves_left_out<'a>(tree: &Tree, descent: &'a Descent) -> impl Iterator<Item = usize> + 'a {
    let leaves = tree.boxes(0).count();
    descent.left_out.iter().flat_map(move |&(height, number)| {
        let under = WARP.pow(height);
        number as usize * under..((number as usize + 1) * under).min(leaves)
    })
}

/// Draws what lies under the points: boxes.
pub fn under(scene: &mut Scene, plane: &Plane, view: &View<'_>, tree: &Tree, descent: &Descent) {
    let text = view.text;
    let thin = (text * 0.06).max(0.8);
    for &(height, number) in &descent.left_out {
        let rect = place(plane, tree, height, number);
        scene.rect(rect, 0.0, Some(faint(Ink::Rejected, 0.07)), Some(dashed(faint(Ink::Rejected, 0.45), thin, text * 0.2)));
    }
    for &leaf in &descent.visited {
        let now = descent.leaf.as_ref().is_some_and(|looked_at| looked_at.number == leaf);
        let (fill, stroke) = if now { (0.3, thin * 2.5) } else { (0.14, thin) };
        scene.rect(place(plane, tree, 0, leaf), 0.0, Some(faint(Ink::Intermediate, fill)), Some(line(faint(Ink::Intermediate, 0.8), stroke)));
    }
    if descent.visited.is_empty() {
        scene.rect(place(plane, tree, 0, descent.own), 0.0, Some(faint(Ink::Accent, 0.18)), Some(line(Ink::Accent, text * 0.2)));
    }
    // While points are looked at, only their leaf matters.
    let Some(node) = descent.node().filter(|_| descent.leaf.is_none()) else { return };
    let (loads, near) = (node.keys.is_empty(), node.below(view.cursor.state().last()));
    for lane in 0..WARP as u32 {
        let (height, number) = node.child(lane);
        if number as usize >= tree.boxes(height as usize).count() {
            break;
        }
        let (waits, is_near) = (node.waiting >> lane & 1 == 1, near >> lane & 1 == 1);
        if loads || is_near {
            scene.rect(place(plane, tree, height, number), 0.0, Some(faint(Ink::Accent, 0.08)), Some(line(Ink::Accent, thin * 1.6)));
        } else if waits && descent.done.is_none() {
            scene.rect(place(plane, tree, height, number), 0.0, None, Some(line(faint(Ink::TextWeak, 0.6), thin)));
        }
    }
}

/// Draws what lies over the points: the query clamped to the boxes, with lines to it, and the box that is visited next.
pub fn over(scene: &mut Scene, plane: &Plane, view: &View<'_>, tree: &Tree, descent: &Descent) {
    let Some(node) = descent.node().filter(|_| descent.leaf.is_none()) else { return };
    let (text, query) = (view.text, &view.cursor.recording().parameters.query);
    let from = plane.at(query);
    let near = node.below(view.cursor.state().last());
    match view.cursor.step().as_deref().and_then(Step::tree) {
        Some(TreeStep::Boxes { .. }) => {
            for lane in (0..WARP as u32).filter(|lane| node.waiting >> lane & 1 == 1) {
                let (ink, opacity) = if near >> lane & 1 == 1 { (Ink::Accent, 1.0) } else { (Ink::TextWeak, 0.35) };
                clamped(scene, from, plane.at(&clamp(tree, node, lane, query)), ink, opacity, text);
            }
        }
        Some(TreeStep::Child { lane }) => chosen(scene, plane, tree, node, *lane, query, Ink::Accent, text),
        // The place is not nearer than the k-th neighbour: it lies on the circle or outside.
        Some(TreeStep::LeftOut { .. }) => {
            if let Some((lane, _)) = node.nearest() {
                chosen(scene, plane, tree, node, lane, query, Ink::Text, text);
            }
        }
        _ => {}
    }
}

/// Draws a box, the place in it that is nearest to the query, and the line to it.
#[expect(clippy::too_many_arguments, reason = "what is drawn, and where")]
fn chosen(scene: &mut Scene, plane: &Plane, tree: &Tree, node: &Node, lane: u32, query: &[f32], ink: Ink, text: f32) {
    let (height, number) = node.child(lane);
    scene.rect(place(plane, tree, height, number), 0.0, Some(faint(ink, 0.18)), Some(line(ink, text * 0.2)));
    clamped(scene, plane.at(query), plane.at(&clamp(tree, node, lane, query)), ink, 1.0, text);
}

fn clamped(scene: &mut Scene, from: Point, to: Point, ink: Ink, opacity: f32, text: f32) {
    if from != to {
        scene.path(vec![from, to], line(faint(ink, 0.8 * opacity), (text * 0.08).max(1.0)));
    }
    scene.dots(vec![to], text * 0.2, Some(faint(ink, opacity)), Some(line(Ink::Canvas, 0.8)));
}

/// The query clamped to a child's box, axis by axis.
fn clamp(tree: &Tree, node: &Node, lane: u32, query: &[f32]) -> Vec<f32> {
    let (low, high, _) = tree.boxes(node.height as usize).group(node.group as usize);
    let sides = low.iter().zip(high).zip(query);
    sides.map(|((low, high), &q)| q.max(low.0[lane as usize]).min(high.0[lane as usize])).collect()
}

/// Where a box lies in the picture; a box without extent has a little.
fn place(plane: &Plane, tree: &Tree, height: u32, number: u32) -> Area {
    const LEAST: f32 = 3.0;
    let (group, lane) = (number as usize / WARP, number as usize % WARP);
    let (low, high, _) = tree.boxes(height as usize).group(group);
    let low: Vec<f32> = low.iter().map(|row| row.0[lane]).collect();
    let high: Vec<f32> = high.iter().map(|row| row.0[lane]).collect();
    let ([left, bottom], [right, top]) = (plane.at(&low), plane.at(&high));
    let more = [(LEAST - (right - left)).max(0.0) / 2.0, (LEAST - (bottom - top)).max(0.0) / 2.0];
    area(left - more[0], top - more[1], right - left + 2.0 * more[0], bottom - top + 2.0 * more[1])
}

/// The legend, with the kinds of boxes once there are some.
pub(crate) fn legend(view: &View<'_>, mut kinds: Vec<Entry>) -> Vec<Entry> {
    if view.cursor.state().descent().is_some() {
        kinds.extend(KINDS.map(|(ink, words, filled)| (ink, words.to_owned(), filled)));
    }
    kinds
}
