//! Where rows are on the screen, for Plane and Space alike.

use egui::Pos2;

use crate::app::model::camera::{PlaneCamera, SpaceCamera, place};
use crate::app::model::pane::PaneKind;
use crate::cloud::PointCloud;

/// A pane's camera and the axes that it looks along.
#[derive(Clone, Copy, Debug)]
pub enum Eye {
    /// Plane's camera, and its axes: right, up.
    Plane(PlaneCamera, [usize; 2]),
    /// Space's camera, and its axes: x, y, up.
    Space(SpaceCamera, [usize; 3]),
}

/// How far a row is from the pointer, in points of the screen, and how deep behind it; the least is meant by a click.
pub type Far = (f64, f64);

impl Eye {
    pub fn pane(&self) -> PaneKind {
        match self {
            Self::Plane(..) => PaneKind::Plane,
            Self::Space(..) => PaneKind::Space,
        }
    }

    /// Where a row is on the screen; `None` behind the eye.
    pub fn screen(&self, cloud: &PointCloud, row: usize) -> Option<Pos2> {
        match self {
            Self::Plane(camera, axes) => Some(camera.screen(place(cloud, row, *axes))),
            Self::Space(camera, axes) => camera.screen(place(cloud, row, *axes)).map(|(screen, _)| screen),
        }
    }

    /// How far rows of a cloud are from the pointer; `None` behind the eye, outside the pane, or beyond `reach`.
    pub fn far<'a>(&'a self, cloud: &'a PointCloud, pointer: Pos2, reach: f64) -> Box<dyn Fn(usize) -> Option<Far> + Sync + 'a> {
        /// Points of the screen around the pointer in which the row nearest to the eye is meant.
        const NEAR: f64 = 4.0;
        /// Points of the screen beyond the pane's edges at which a row's dot may still be seen within.
        const EDGE: f32 = 4.0;
        match self {
            Self::Plane(camera, axes) => {
                // In local coordinates, which keep their digits in a deep zoom.
                let (at, unit) = (camera.place(pointer), camera.window.units_per_point);
                let most = (reach * unit).powi(2);
                let [right, up] = [camera.rect.width(), camera.rect.height()].map(|side| f64::from(side / 2.0 + EDGE) * unit);
                let center = camera.window.center;
                Box::new(move |row| {
                    let [x, y] = place(cloud, row, *axes);
                    let squared = (x - at[0]).powi(2) + (y - at[1]).powi(2);
                    let there = squared <= most && (x - center[0]).abs() <= right && (y - center[1]).abs() <= up;
                    there.then(|| (squared.sqrt() / unit, 0.0))
                })
            }
            Self::Space(camera, axes) => {
                let seen = camera.rect().expand(EDGE);
                Box::new(move |row| {
                    let (screen, depth) = camera.screen(place(cloud, row, *axes))?;
                    let far = f64::from(screen.distance(pointer));
                    (far <= reach && seen.contains(screen)).then_some((if far <= NEAR { 0.0 } else { far }, depth))
                })
            }
        }
    }
}
