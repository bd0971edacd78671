//! The points, the query, and the circle of `max_distance`.

use super::View;
use super::scene::Scene;

/// Draws the part.
pub fn draw(_view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}
