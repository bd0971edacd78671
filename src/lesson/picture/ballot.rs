//! The vote, how a lane finds its slot, and the buffer as it fills.

use super::View;
use super::scene::Scene;

/// Draws the part.
pub fn draw(_view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}
