//! All points within a distance of a query: every box that may hold one is opened.
//!
//! No twin: on the CPU only.

use multiversion::multiversion;

use super::boxes::WARP;
use super::tree::Tree;
use crate::lockstep::distance::squared_distances;
use crate::lockstep::distance_of;

/// Hands the position and the squared distance of every point that is no farther than `limit` to `found`. A box is left out as in the search
/// for neighbours (`boxes.rs`): nothing in it is nearer than its nearest place, in f32 as computed.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
pub fn visit_within(tree: &Tree, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
    let mut waiting = vec![(tree.top(), 0)];
    while let Some((height, group)) = waiting.pop() {
        let boxes = tree.boxes(height);
        let keys = boxes.keys(group, query);
        for (lane, &key) in keys.iter().enumerate().take(boxes.in_group(group) as usize) {
            if distance_of(key) > limit {
                continue;
            }
            let child = group * WARP + lane;
            if height > 0 {
                waiting.push((height - 1, child));
                continue;
            }
            let (rows, positions) = tree.leaf(child);
            let [distances] = squared_distances(rows, [query]);
            for (&position, &distance) in positions.iter().zip(&distances).take(tree.in_leaf(child) as usize) {
                if distance <= limit {
                    found(position, distance);
                }
            }
        }
    }
}
