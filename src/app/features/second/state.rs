//! The second view of the rows: other axes or another projection of the cloud, or another file of the same
//! rows, such as another embedding.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::app::features::picking::state::ExtraColumns;
use crate::app::features::projection::state::{CloudProjection, ProjectionKind, ProjectionView};
use crate::app::model::answer::{PickedPoint, QueryAnswer};
use crate::app::model::views::PlaneView;
use crate::cloud::PointCloud;
use crate::run::{RunRecord, RunSpec};

/// Axes, window and projection, saved with the window's state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecondView {
    pub plane: PlaneView,
    pub projection: ProjectionView,
}

impl Default for SecondView {
    fn default() -> Self {
        let projection = ProjectionView { kind: ProjectionKind::Pca, ..ProjectionView::default() };
        Self { plane: PlaneView::default(), projection }
    }
}

impl SecondView {
    /// The projection of a cloud; `None` shows its axes.
    pub fn projection_of(&self, cloud: &PointCloud) -> Option<ProjectionView> {
        Some(self.projection).filter(|view| view.kind != ProjectionKind::Axes && cloud.dims() >= 3)
    }
}

/// What the second view shows.
#[derive(Clone, Debug, Default)]
pub struct SecondCloud {
    /// Another file of the same rows; `None` is the cloud itself.
    pub other: Option<Arc<PointCloud>>,
    pub projected: Option<Arc<CloudProjection>>,
    /// The picked row's search in the other file, and its answer or the reason for its failure.
    pub answered: Option<(RunSpec, Result<Arc<RunRecord>, String>)>,
    /// Other columns of the answer's rows, from the first file.
    pub columns: Option<ExtraColumns>,
}

#[derive(Clone, Debug)]
pub enum SecondAction {
    SetPlane(PlaneView),
    SetProjection(ProjectionView),
    /// Ask for another file of the same rows.
    Browse,
    Open(PathBuf),
    /// Show the cloud itself again.
    Close,
}

impl SecondCloud {
    /// The cloud drawn, given that of the first view.
    pub fn cloud<'a>(&'a self, first: Option<&'a Arc<PointCloud>>) -> Option<&'a Arc<PointCloud>> {
        self.other.as_ref().or(first)
    }

    /// The answer of the other file to the picked row.
    pub fn answer_to(&self, picked: Option<PickedPoint>) -> Option<QueryAnswer> {
        let (_, Ok(record)) = self.answered.as_ref()? else { return None };
        let answer = QueryAnswer { record: Arc::clone(record), query: 0 };
        (picked == Some(PickedPoint::Row(answer.row()))).then_some(answer)
    }
}
