//! Picking under the pointer and inside a rectangle or a lasso. It is computed on the CPU from the points
//! themselves, so that the result does not depend on the graphics adapter or the pixel density.
//!
//! | module | role |
//! |---|---|
//! | `state` | positions and regions on screen, the tool, actions, other columns of records |
//! | `apply` | handles clicks, regions and hovering; starts reading other columns |
//! | `tool` | converts clicks, drags and hovering to actions |
//! | `lookup` | reads other columns of the points' records |

use std::sync::Arc;
use std::time::Instant;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator};

use super::live::state::SnapTarget;
use super::selection::Change;
use super::selection::state::{Selection, SelectionCriterion};
use crate::app::features::picking::state::{
    Lasso, PaneCamera, PickDistance, PickView, Region, RegionSelection,
};
use crate::app::model::select_mode::SelectMode;
use crate::app::model::{PlaneCamera, Scene, SpaceCamera, SpaceView};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::progress::{NoProgress, Progress};

pub mod apply;
pub mod lookup;
pub mod state;
pub mod tool;

// Searches over all rows, in parallel if there are many.

/// Rows per parallel chunk, between checks for cancellation.
const ROWS_PER_CHUNK: usize = 1 << 15;

/// Number of rows that one thread searches within a millisecond.
const MAX_SERIAL_ROWS: usize = 1 << 16;

/// Whether this many rows are searched within a millisecond.
pub fn is_small(rows: usize) -> bool {
    rows <= MAX_SERIAL_ROWS
}

/// The row at the least distance, the first of equals; `None` if none is reachable, or when cancelled.
pub fn nearest_row(
    rows: usize,
    far: &(dyn Fn(usize) -> Option<PickDistance> + Sync),
    progress: &dyn Progress,
) -> Option<u32> {
    nearest(rows, far, progress).map(|(_, row)| row).filter(|_| !progress.cancelled())
}

impl PickView {
    /// Whether searching the whole scene takes less than a millisecond.
    pub fn is_small(&self) -> bool {
        is_small(self.scene.data().len() + self.scene.queries().map_or(0, |queries| queries.len()))
    }

    /// The row or query under the pointer: the nearest on screen within `reach` points; in Space, the nearest
    /// to the eye among those right under the pointer. `None` also when cancelled.
    pub fn nearest(&self, pointer: Pos2, reach: f64, progress: &dyn Progress) -> Option<PickedPoint> {
        let closest = |cloud: &PointCloud| {
            nearest(cloud.len(), &*self.eye.pick_distances(cloud, pointer, reach), progress)
        };
        let of_data = closest(self.scene.data());
        if let (Some(queries), Some(record)) = (self.scene.queries(), &self.record)
            && let Some((far, row)) = closest(queries)
            && of_data.is_none_or(|(least, _)| far <= least)
            && let Some(query) = record.query_rows.iter().position(|&asked| asked == row)
        {
            return Some(PickedPoint::Query(query));
        }
        of_data.map(|(_, row)| PickedPoint::Row(row)).filter(|_| !progress.cancelled())
    }
}

impl RegionSelection {
    /// All rows in the region, ascending, including hidden ones, and all queries of a query file.
    pub fn rows_and_queries(&self, progress: &dyn Progress) -> (Vec<u32>, Vec<u32>) {
        let PickView { eye, scene, record } = &self.sight;
        let inside = |cloud: &PointCloud| {
            collect(
                cloud.len(),
                |row| eye.screen(cloud, row).is_some_and(|place| self.region.contains(place)),
                progress,
            )
        };
        let queries = match (scene.queries(), record) {
            (Some(queries), Some(record)) => {
                let rows = inside(queries);
                let asked =
                    record.query_rows.iter().enumerate().filter(|(_, row)| rows.binary_search(row).is_ok());
                asked.map(|(query, _)| query as u32).collect()
            }
            _ => Vec::new(),
        };
        (inside(scene.data()), queries)
    }
}

/// Parallel chunks of `count` rows.
fn parts(count: usize) -> impl ParallelIterator<Item = std::ops::Range<usize>> {
    let rows = move |chunk: usize| chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(count);
    (0..count.div_ceil(ROWS_PER_CHUNK)).into_par_iter().map(rows)
}

/// The row at the least distance, the first of equals.
fn nearest(
    count: usize,
    far: &(dyn Fn(usize) -> Option<PickDistance> + Sync),
    progress: &dyn Progress,
) -> Option<(PickDistance, u32)> {
    let least = |rows: std::ops::Range<usize>| {
        let mut best: Option<(PickDistance, u32)> = None;
        for row in rows {
            if let Some(far) = far(row)
                && best.is_none_or(|(least, _)| far < least)
            {
                best = Some((far, row as u32));
            }
        }
        best
    };
    if count <= MAX_SERIAL_ROWS {
        return least(0..count);
    }
    let of_parts = parts(count).filter_map(|rows| if progress.cancelled() { None } else { least(rows) });
    of_parts.reduce_with(|a, b| if (b.0, b.1) < (a.0, a.1) { b } else { a })
}

/// The matching rows, ascending.
fn collect(count: usize, chosen: impl Fn(usize) -> bool + Sync, progress: &dyn Progress) -> Vec<u32> {
    let rows = |rows: std::ops::Range<usize>| {
        rows.filter(|&row| chosen(row)).map(|row| row as u32).collect::<Vec<u32>>()
    };
    if count <= MAX_SERIAL_ROWS {
        return rows(0..count);
    }
    let of_parts: Vec<Vec<u32>> =
        parts(count).map(|part| if progress.cancelled() { Vec::new() } else { rows(part) }).collect();
    of_parts.concat()
}

// Benchmark of picking in a window of 1280 × 800, printed by `benches/pick.rs`.

#[derive(Clone, Debug)]
pub struct PickTimes {
    /// Such as "rectangle in Plane".
    pub what: &'static str,
    /// Number of rows found by the last repetition.
    pub found: usize,
    /// Time of each repetition, ascending.
    pub milliseconds: Vec<f64>,
}

/// Number of corners of a hand-drawn lasso.
const CORNERS: usize = 200;

/// Benchmarks clicks, drags from row to row, rectangles and lassos in a cloud, `times` each, at positions
/// spread over the pane.
///
/// The time of a selection includes computing the ranges that the window shows.
pub fn measure(cloud: &Arc<PointCloud>, times: usize) -> Vec<PickTimes> {
    let rect = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0));
    let scene = Scene::new(Arc::clone(cloud), None, None, std::iter::empty());
    let sight = |eye: PaneCamera| PickView { eye, scene: scene.clone(), record: None };
    let camera = PlaneCamera::new(rect, None, cloud, [0, 1]);
    let plane = sight(PaneCamera::Plane(camera, [0, 1]));
    let space = sight(PaneCamera::Space(SpaceCamera::new(rect, &SpaceView::default(), cloud), [0, 1, 2]));

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
    let click = |sight: &PickView, at: usize| {
        usize::from(sight.nearest(place(at), f64::INFINITY, &NoProgress).is_some())
    };
    let select = |sight: &PickView, region: Region| {
        let what = SelectionCriterion::Region(Box::new(RegionSelection { sight: sight.clone(), region }));
        let change = Change {
            what,
            how: SelectMode::Replace,
            by: String::new(),
            cloud: Arc::clone(cloud),
            record: None,
            answered: None,
        };
        change.apply(&Selection::default(), &NoProgress).map_or(0, |(selection, _)| selection.rows().len())
    };
    let snap = |at: usize| {
        let target = SnapTarget { axes: [0, 1], at: camera.place(place(at)), direction: None };
        usize::from(target.row(cloud, &NoProgress).is_some())
    };

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
    use crate::app::model::PlaneWindow;
    use crate::app::testing::cloud;

    fn rect() -> Rect {
        Rect::from_min_size(pos2(100.0, 50.0), vec2(400.0, 300.0))
    }

    fn sight(cloud: Arc<PointCloud>, space: bool) -> PickView {
        let eye = if space {
            PaneCamera::Space(SpaceCamera::new(rect(), &SpaceView::default(), &cloud), [0, 1, 2])
        } else {
            PaneCamera::Plane(PlaneCamera::new(rect(), None, &cloud, [0, 1]), [0, 1])
        };
        PickView { eye, scene: Scene::new(cloud, None, None, std::iter::empty()), record: None }
    }

    #[test]
    fn parallel_search_matches_a_linear_scan() {
        // More than MAX_SERIAL_ROWS, so that the search is parallel.
        let cloud = cloud(MAX_SERIAL_ROWS + 40_000, 3, 11);
        for space in [false, true] {
            let sight = sight(Arc::clone(&cloud), space);
            for pointer in [pos2(300.0, 200.0), pos2(210.0, 111.0), pos2(420.0, 290.0)] {
                let far = sight.eye.pick_distances(&cloud, pointer, 24.0);
                let mut all: Vec<(PickDistance, u32)> =
                    (0..cloud.len()).filter_map(|row| Some((far(row)?, row as u32))).collect();
                all.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
                let expected = all.first().map(|&(_, row)| PickedPoint::Row(row));
                assert_eq!(sight.nearest(pointer, 24.0, &NoProgress), expected, "space: {space}");
            }
            let region = Region::Rectangle(Rect::from_min_size(pos2(222.0, 133.0), vec2(81.0, 47.0)));
            let (rows, queries) = RegionSelection { sight: sight.clone(), region: region.clone() }
                .rows_and_queries(&NoProgress);
            let inside = |row: &u32| {
                sight.eye.screen(&cloud, *row as usize).is_some_and(|place| region.contains(place))
            };
            assert_eq!(rows, (0..cloud.len() as u32).filter(inside).collect::<Vec<_>>());
            assert!(rows.len() > 500 && queries.is_empty());
        }
    }

    #[test]
    fn space_clicks_pick_front_points_and_regions_pick_all() {
        let cloud = cloud(5_000, 3, 4);
        let sight = sight(Arc::clone(&cloud), true);
        let PaneCamera::Space(camera, axes) = sight.eye else { panic!("Space's") };
        let pointer = pos2(300.0, 200.0);
        let place = |row: u32| {
            camera.screen(crate::app::model::camera::place(&cloud, row as usize, axes)).expect("in view")
        };
        let under: Vec<u32> = (0..5_000).filter(|&row| place(row).0.distance(pointer) <= 4.0).collect();
        assert!(under.len() > 1, "several are under the pointer");
        let Some(PickedPoint::Row(picked)) = sight.nearest(pointer, 24.0, &NoProgress) else {
            panic!("a row")
        };
        assert!(under.iter().all(|&row| place(picked).1 <= place(row).1));
        let region = Region::Rectangle(Rect::from_center_size(pointer, vec2(8.0, 8.0)));
        let (rows, _) = RegionSelection { sight, region }.rows_and_queries(&NoProgress);
        assert!(under.iter().all(|row| rows.contains(row)), "including hidden ones");
    }

    #[test]
    fn points_out_of_reach_are_not_picked() {
        let sight = sight(cloud(3, 2, 1), false);
        let far = (0..3)
            .filter_map(|row| sight.eye.screen(sight.scene.data(), row))
            .map(|place| place.distance(pos2(100.0, 50.0)));
        let least = f64::from(far.fold(f32::INFINITY, f32::min));
        assert_eq!(sight.nearest(pos2(100.0, 50.0), least - 0.1, &NoProgress), None);
        assert!(sight.nearest(pos2(100.0, 50.0), least + 0.1, &NoProgress).is_some());
        assert!(sight.nearest(pos2(100.0, 50.0), f64::INFINITY, &NoProgress).is_some());
    }

    #[test]
    fn points_outside_the_pane_are_not_picked() {
        let cloud = cloud(400, 3, 9);
        let whole = PlaneCamera::new(rect(), None, &cloud, [0, 1]);
        let window = PlaneWindow { units_per_point: whole.window.units_per_point / 4.0, ..whole.window };
        let close = SpaceView { distance: 0.7, ..SpaceView::default() };
        let eyes = [
            PaneCamera::Plane(PlaneCamera { window, ..whole }, [0, 1]),
            PaneCamera::Space(SpaceCamera::new(rect(), &close, &cloud), [0, 1, 2]),
        ];
        for eye in eyes {
            let sight = PickView { eye, ..sight(Arc::clone(&cloud), false) };
            // Near the corners, most of the search radius is outside the pane.
            for pointer in
                [rect().left_top(), rect().right_top(), rect().right_bottom(), rect().left_bottom()]
            {
                let Some(PickedPoint::Row(row)) = sight.nearest(pointer, f64::INFINITY, &NoProgress) else {
                    panic!("a row")
                };
                let place = eye.screen(&cloud, row as usize).expect("in front of the eye");
                assert!(
                    rect().expand(4.5).contains(place),
                    "{place:?} from {pointer:?} in {}",
                    eye.pane().title()
                );
            }
        }
    }

    #[test]
    fn pick_benchmarks_find_rows() {
        for times in measure(&cloud(3_000, 3, 1), 3) {
            assert!(times.found > 0 && times.milliseconds.len() == 3, "{times:?}");
            assert!(times.found == 1 || (10..2_000).contains(&times.found), "{times:?}");
        }
    }
}
