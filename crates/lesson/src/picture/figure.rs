//! A picture for a text: the panels of a page without its heading and its sentence, which the text has.

use super::page::{areas, on_ground};
use super::pen::area;
use super::scene::{Area, Scene};
use super::{Panel, View, draw};
use crate::lessons::Lesson;

/// The panels of a take at a moment, as wide as a page of that size and lower.
pub fn figure(lesson: &Lesson, view: &View<'_>, size: [f32; 2]) -> Scene {
    let panels: Vec<(Panel, Area)> = areas(lesson, view, size).into_iter().filter(|(panel, _)| *panel != Panel::Sentence).collect();
    let gap = view.text * 0.5;
    let top = panels.iter().map(|(_, place)| place.y).fold(f32::INFINITY, f32::min) - gap;
    let bottom = panels.iter().map(|(_, place)| place.y + place.height).fold(0.0, f32::max) + gap;
    let mut scene = Scene::new(size[0], (bottom - top).max(1.0));
    for (panel, place) in panels {
        let place = area(place.x, place.y - top, place.width, place.height);
        on_ground(&mut scene, place, view.text, |size| draw(panel, view, size));
    }
    scene
}
