//! How a session looks: fields on the left, axes and cameras, colours, layout. What a file says is held against the cloud
//! before anything is drawn by it.

use serde::{Deserialize, Serialize};

use crate::app::features::analysis::state::AnalysisView;
use crate::app::features::color::state::view::ColorView;
use crate::app::features::projection::state::{ProjectionKind, ProjectionView};
use crate::app::features::runs::state::RunsView;
use crate::app::features::saved::state::layout::Layout;
use crate::app::features::saved::state::ranges::Ranges;
use crate::app::features::walk::state::WalkView;
use crate::app::model::camera;
use crate::app::model::draft::Draft;
use crate::app::model::pane::PaneKind;
use crate::app::model::roles::{LeftOut, Roles};
use crate::app::model::timeline::TimelineView;
use crate::app::model::views::{self, ConvergenceView, CountsView, PlaneView, PlaneWindow, SpaceView, TimingsView};
use crate::cloud::PointCloud;
use crate::cloud::project::DIRECTIONS;

/// See the module. What is not in a file is as at the first start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub draft: Draft,
    /// Records that are queries of the next run, where they are too many to be typed.
    pub selected_records: Ranges,
    pub plane: PlaneView,
    pub space: SpaceView,
    /// Which columns of the file say what a row is.
    pub roles: Roles,
    /// The numeric columns that are not coordinates, with the reason.
    pub left_out: Vec<LeftOut>,
    /// The note on how the file was read.
    pub note: Option<String>,
    pub color: ColorView,
    pub projection: ProjectionView,
    pub convergence: ConvergenceView,
    pub counts: CountsView,
    pub timings: TimingsView,
    pub analysis: AnalysisView,
    /// The walk through the query's search.
    pub walk: WalkView,
    pub runs: RunsView,
    /// Which part of the run's time is shown.
    pub timeline: TimelineView,
    /// Tiles of the centre; `None` leaves them as they are.
    pub layout: Option<Layout>,
    /// The pane that is shown alone where there is no room for tiles.
    pub pane: Option<PaneKind>,
    /// Whether the left and the right panel are hidden.
    pub hidden: [bool; 2],
}

impl SavedView {
    /// The fields on the left, which name what the rest is of.
    pub fn draft(&self) -> Draft {
        self.draft.clone()
    }

    /// Plane and Space as they can be shown of a cloud, projected or not.
    pub fn views(&self, cloud: &PointCloud) -> (PlaneView, SpaceView) {
        let projected = self.is_projected(cloud);
        let axes = if projected { DIRECTIONS } else { cloud.dims() };
        let (usual_plane, usual_space) = (PlaneView::default(), SpaceView::default());
        let (mut plane, mut space) = (self.plane, self.space);
        if !plane.axes.iter().all(|&axis| axis < axes) {
            (plane.axes, plane.window) = (usual_plane.axes.map(|axis| axis.min(axes - 1)), None);
        }
        if !space.axes.iter().all(|&axis| axis < axes) {
            space.axes = usual_space.axes.map(|axis| axis.min(axes - 1));
        }
        plane.window = plane.window.filter(|window| is_near(window, cloud));
        (plane.point_size, space.point_size) = (views::diameter(plane.point_size), views::diameter(space.point_size));
        camera::settle(&mut space);
        (plane, space)
    }

    /// Whether Plane and Space show a projection of the cloud.
    pub fn is_projected(&self, cloud: &PointCloud) -> bool {
        self.projection.kind != ProjectionKind::Axes && cloud.dims() >= 3
    }

    /// Records of the cloud that are queries of the next run.
    pub fn selected_records(&self, cloud: &PointCloud) -> Vec<u64> {
        match cloud.records() {
            None => self.selected_records.below(cloud.len() as u64),
            // Records reach as far as the file, which may be far beyond its rows.
            Some(records) => self.selected_records.among(records.map(u64::from)),
        }
    }
}

/// Whether a window is somewhere about the cloud: farther away there is nothing, and numbers lose their meaning.
fn is_near(window: &PlaneWindow, cloud: &PointCloud) -> bool {
    const FAR: f64 = 1e6;
    let reach = cloud.axes().iter().map(|axis| (axis.min - axis.origin).abs().max((axis.max - axis.origin).abs())).fold(f64::MIN_POSITIVE, f64::max);
    window.center.iter().all(|center| center.abs() <= reach * FAR) && (reach / 1e15..=reach * FAR).contains(&window.units_per_point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn what_cannot_be_shown_is_shown_as_at_the_first_start() {
        let cloud = cloud(20, 2, 1);
        let window = |center: f64, units_per_point: f64| Some(PlaneWindow { center: [center, 0.0], units_per_point });
        for wrong in [window(1e300, 1.0), window(0.0, -1.0), window(0.0, 0.0), window(0.0, 1e300), window(f64::NAN, 1.0)] {
            let view = SavedView { plane: PlaneView { window: wrong, ..PlaneView::default() }, ..SavedView::default() };
            assert_eq!(view.views(&cloud).0, PlaneView::default(), "{wrong:?}");
        }
        let view = SavedView {
            plane: PlaneView { axes: [7, 1], window: window(0.1, 0.01), point_size: f32::INFINITY, ..PlaneView::default() },
            space: SpaceView { axes: [0, 1, 9], distance: -1.0, pitch: 1e300, target: [1e300, 0.0, 0.0], ..SpaceView::default() },
            ..SavedView::default()
        };
        let (plane, space) = view.views(&cloud);
        assert_eq!((plane.axes, plane.window, plane.point_size), ([0, 1], None, 32.0));
        assert_eq!((space.axes, space.target), ([0, 1, 1], SpaceView::default().target));
        assert!(space.distance > 0.0 && space.pitch.abs() < 1.6, "{space:?}");
        let whole = SavedView { plane: PlaneView { axes: [1, 0], window: window(0.1, 0.01), ..PlaneView::default() }, ..SavedView::default() };
        assert_eq!(whole.views(&cloud).0, whole.plane, "what can be shown stays");
    }

    #[test]
    fn records_that_are_gone_are_no_queries() {
        use crate::cloud::Column;
        use crate::cloud::Source;
        use crate::cloud::Table;
        let table = Table { columns: vec![Column { name: "x".to_owned() }], values: vec![1.0, f64::NAN, 2.0, 3.0] };
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let cloud = PointCloud::from_table(table, source, None, true).expect("a cloud");
        let view =
            SavedView { selected_records: serde_json::from_str("[[1, 2], [3, 18446744073709551615]]").expect("ranges"), ..SavedView::default() };
        assert_eq!(view.selected_records(&cloud), [2, 3]);
    }

    #[test]
    fn a_projection_has_axes_of_its_own() {
        let view = SavedView {
            plane: PlaneView { axes: [0, 3], ..PlaneView::default() },
            projection: ProjectionView { kind: ProjectionKind::Pca, seed: 0 },
            ..SavedView::default()
        };
        assert_eq!(view.views(&cloud(9, 4, 1)).0.axes, [0, 1], "there are three directions");
        let axes = SavedView { projection: ProjectionView::default(), ..view };
        assert_eq!(axes.views(&cloud(9, 4, 1)).0.axes, [0, 3]);
    }
}
