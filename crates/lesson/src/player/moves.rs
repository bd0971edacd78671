//! Motions as a page has them: rows of whole numbers, one a panel.
//!
//! For each motion: the first of its items in the panel's list, how many they are, and how many corners its way has. Where it has some, the largest
//! deviation to its left follows, and the corners as offsets from the end. Where it has none, the lengths that each item had follow.

use super::items::{hundredths, of_shapes};
use crate::picture::motion::{Origin, motions};
use crate::picture::scene::Scene;

/// What moves from one scene of a panel to the next; empty if nothing does.
pub fn moves(before: &Scene, after: &Scene) -> Vec<i32> {
    let motions = motions(before, after);
    if motions.is_empty() {
        return Vec::new();
    }
    let (items, starts) = of_shapes(&after.shapes);
    let start = |shape: usize| starts.get(shape).copied().unwrap_or(items.len());
    let mut row = Vec::new();
    for motion in motions {
        let (first, end) = (start(motion.shapes.start), start(motion.shapes.end));
        row.extend([first as i32, (end - first) as i32]);
        match &motion.from {
            Origin::Places { offsets, bow } => {
                row.extend([offsets.len() as i32, hundredths(*bow)]);
                row.extend(offsets.iter().flatten().map(|&length| hundredths(length)));
            }
            Origin::Shapes(_) => {
                let were = of_shapes(&motion.from.shapes(&after.shapes[motion.shapes.clone()], 0.0)).0;
                row.push(0);
                row.extend(were.into_iter().flat_map(|item| item.numbers));
            }
        }
    }
    row
}
