//! The lanes and their registers, and the buffer.

use super::View;
use super::scene::Scene;

/// Draws the part.
pub fn draw(_view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}
