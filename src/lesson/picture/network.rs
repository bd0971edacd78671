//! The wires and comparators of a sort or merge.

use super::View;
use super::scene::Scene;

/// Draws the part.
pub fn draw(_view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}
