//! Where the panels of a moment are.

use serde::Serialize;

use super::items::hundredths;
use crate::picture::page::{areas, inside};
use crate::picture::scene::Area;
use crate::picture::{Film, Panel, View};

/// Where panels are, in hundredths of a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Layout {
    /// Width and height of all.
    pub size: [i32; 2],
    /// From a panel's edge to what is drawn in it.
    pub pad: i32,
    pub panels: Vec<Place>,
}

/// A panel's place in a [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// What it is called.
    pub name: &'static str,
    /// x, y, width, height.
    pub at: [i32; 4],
}

/// The panels of a moment and their areas; the sentence is the page's own.
pub fn panels(film: &Film, view: &View<'_>) -> Vec<(Panel, Area)> {
    let mut areas = areas(&film.lesson, view, film.size);
    areas.retain(|(panel, _)| *panel != Panel::Sentence);
    areas
}

/// The layout of panels with these areas, for running text of a size.
pub fn layout(areas: &[(Panel, Area)], text: f32) -> Layout {
    let least = |of: fn(&Area) -> f32| areas.iter().map(|(_, area)| of(area)).fold(f32::INFINITY, f32::min);
    let most = |of: fn(&Area) -> f32| areas.iter().map(|(_, area)| of(area)).fold(0.0, f32::max);
    let (left, top) = (least(|area| area.x), least(|area| area.y));
    let size = [most(|area| area.x + area.width) - left, most(|area| area.y + area.height) - top].map(hundredths);
    let place =
        |&(panel, area): &(Panel, Area)| Place { name: name(panel), at: [area.x - left, area.y - top, area.width, area.height].map(hundredths) };
    let unit = Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
    Layout { size, pad: hundredths(inside(unit, text).x), panels: areas.iter().map(place).collect() }
}

/// What a panel is called where it is read out.
fn name(panel: Panel) -> &'static str {
    match panel {
        Panel::Cloud => "Points",
        Panel::Warp => "Registers and buffer",
        Panel::Network => "Network",
        Panel::Curves => "The two lists as curves",
        Panel::Ballot => "Ballot",
        Panel::Batches => "Batches",
        Panel::Lanes => "Lanes",
        Panel::Queues => "Queues",
        Panel::Buckets => "Buckets",
        Panel::Heaps => "Heaps",
        Panel::Meter => "Meter",
        Panel::Cost => "Cost of a merge",
        Panel::Code => "Code",
        Panel::Account => "Account",
        Panel::Sentence => "Sentence",
    }
}
