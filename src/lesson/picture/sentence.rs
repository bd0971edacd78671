//! One sentence that says what just happened.

use super::View;
use super::scene::Scene;

/// Draws the part.
pub fn draw(_view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}
