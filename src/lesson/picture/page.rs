//! All parts of a moment on one page.

use super::View;
use super::scene::{Area, Scene};
use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::recording::Recording;

/// The page of a lesson: its number and title, the parts that it needs, and the sentence; 960 × 540 or more.
pub fn page(_lesson: &Lesson, _take: &Take, _view: &View<'_>, [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}

/// Several recordings of a lesson side by side, each at its own moment (see [`position_at`]). A [`super::Target::Position`]
/// is one of the take in whose column (see [`columns`]) it lies.
pub fn comparison(_lesson: &Lesson, _takes: &[(&Take, View<'_>)], [width, height]: [f32; 2]) -> Scene {
    Scene::new(width, height)
}

/// Where the columns of a [`comparison`] of so many takes lie.
pub fn columns(_takes: usize, _text: f32, _size: [f32; 2]) -> Vec<Area> {
    Vec::new()
}

/// The last position at which no more than so many points were seen: that at which takes are compared.
pub fn position_at(_recording: &Recording, _points_seen: u32) -> usize {
    0
}
