//! How long picking takes in a window of 1280 × 800: `benches/pick.rs` prints it.

use std::sync::Arc;
use std::time::Instant;

use egui::{Pos2, Rect, pos2, vec2};

use crate::app::features::live::state::Target;
use crate::app::features::picking::state::eye::Eye;
use crate::app::features::picking::state::region::{Lasso, Region};
use crate::app::features::picking::state::{Sight, Within};
use crate::app::features::selection::Change;
use crate::app::features::selection::state::{Choice, Selection};
use crate::app::model::how::How;
use crate::app::model::{PlaneCamera, Scene, SpaceCamera, SpaceView};
use crate::cloud::PointCloud;
use crate::progress::Silent;

/// How long one kind of picking takes.
#[derive(Clone, Debug)]
pub struct PickTimes {
    /// Which: "rectangle in Plane".
    pub what: &'static str,
    /// Rows that the last one found.
    pub found: usize,
    /// Time of each repetition, ascending.
    pub milliseconds: Vec<f64>,
}

/// The corners of a lasso that a hand draws.
const CORNERS: usize = 200;

/// Clicks, drags from row to row, rectangles and lassos in a cloud, `times` each, at places that are spread over the pane.
///
/// Selections are timed with what the window says of them, their ranges.
pub fn measure(cloud: &Arc<PointCloud>, times: usize) -> Vec<PickTimes> {
    let rect = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0));
    let scene = Scene::of(Arc::clone(cloud), None, None, std::iter::empty());
    let sight = |eye: Eye| Sight { eye, scene: scene.clone(), record: None };
    let camera = PlaneCamera::new(rect, None, cloud, [0, 1]);
    let plane = sight(Eye::Plane(camera, [0, 1]));
    let space = sight(Eye::Space(SpaceCamera::new(rect, &SpaceView::default(), cloud), [0, 1, 2]));

    let place = |at: usize| {
        let along = |step: f64| (0.2 + 0.6 * (at as f64 * step).fract()) as f32;
        pos2(rect.width() * along(0.618_034), rect.height() * along(0.754_878))
    };
    let rectangle = |at: usize| Region::Rectangle(Rect::from_center_size(place(at), vec2(400.0, 250.0)));
    let lasso = |at: usize| {
        let corner = |corner: usize| {
            let angle = corner as f32 / CORNERS as f32 * std::f32::consts::TAU;
            place(at) + vec2(angle.cos() * 200.0, angle.sin() * 125.0) * (1.0 + 0.2 * (angle * 7.0).sin())
        };
        Region::Lasso(Lasso::new(&(0..CORNERS).map(corner).collect::<Vec<_>>()))
    };
    let click = |sight: &Sight, at: usize| usize::from(sight.nearest(place(at), f64::INFINITY, &Silent).is_some());
    let select = |sight: &Sight, region: Region| {
        let what = Choice::Within(Box::new(Within { sight: sight.clone(), region }));
        let change = Change { what, how: How::Replace, by: String::new(), cloud: Arc::clone(cloud), record: None, answered: None };
        change.apply(&Selection::default(), &Silent).map_or(0, |(selection, _)| selection.rows().len())
    };
    let snap = |at: usize| usize::from(Target { axes: [0, 1], at: camera.place(place(at)), way: None }.row(cloud, &Silent).is_some());

    let kinds: [(&'static str, &dyn Fn(usize) -> usize); 7] = [
        ("click in Plane", &|at| click(&plane, at)),
        ("drag from row to row", &snap),
        ("rectangle in Plane", &|at| select(&plane, rectangle(at))),
        ("lasso in Plane", &|at| select(&plane, lasso(at))),
        ("click in Space", &|at| click(&space, at)),
        ("rectangle in Space", &|at| select(&space, rectangle(at))),
        ("lasso in Space", &|at| select(&space, lasso(at))),
    ];
    let of_kind = |(what, pick): (&'static str, &dyn Fn(usize) -> usize)| {
        let mut found = pick(0);
        let mut milliseconds: Vec<f64> = (1..=times)
            .map(|at| {
                let began = Instant::now();
                found = pick(at);
                began.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        milliseconds.sort_by(f64::total_cmp);
        PickTimes { what, found, milliseconds }
    };
    kinds.into_iter().map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn everything_that_is_timed_finds_something() {
        for times in measure(&cloud(3_000, 3, 1), 3) {
            assert!(times.found > 0 && times.milliseconds.len() == 3, "{times:?}");
            assert!(times.found == 1 || (10..2_000).contains(&times.found), "{times:?}");
        }
    }
}
