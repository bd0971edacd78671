//! How clouds of more than two dimensions are shown: along their own axes, or projected. Plane and Space
//! share one choice.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cloud::project::{DIRECTIONS, Projection};
use crate::cloud::{CloudError, PointCloud};
use crate::progress::Progress;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProjectionKind {
    /// Axes of the cloud itself.
    #[default]
    Axes,
    /// The first principal components.
    Pca,
    /// Random orthogonal directions, drawn from a seed.
    Random,
}

impl ProjectionKind {
    /// All kinds, in the order of the chooser.
    pub const ALL: [Self; 3] = [Self::Axes, Self::Pca, Self::Random];

    pub fn text(self) -> &'static str {
        match self {
            Self::Axes => "axes",
            Self::Pca => "principal components",
            Self::Random => "random directions",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Axes => "The cloud's axes, unprojected.",
            Self::Pca => "Principal components: orthogonal directions of largest variance.",
            Self::Random => "Random orthogonal directions, drawn from a seed.",
        }
    }
}

/// The saved choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectionView {
    pub kind: ProjectionKind,
    /// Seed of the random directions, and of the iteration that computes components in very many dimensions.
    pub seed: u64,
}

/// A cloud and its projection, row for row.
#[derive(Clone, Debug)]
pub struct ProjectedCloud {
    pub cloud: Arc<PointCloud>,
    /// Coordinates along the directions, relative to the mean.
    pub picture: Arc<PointCloud>,
}

/// A computed projection of a cloud.
#[derive(Clone, Debug)]
pub struct CloudProjection {
    pub view: ProjectionView,
    pub directions: Arc<Projection>,
    pub data: ProjectedCloud,
    /// The query file, if there is one.
    pub queries: Option<ProjectedCloud>,
}

impl CloudProjection {
    /// Projects a cloud, and a query file along the same directions.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] when `progress` asks to stop.
    pub fn new(
        view: ProjectionView,
        cloud: Arc<PointCloud>,
        queries: Option<Arc<PointCloud>>,
        progress: &dyn Progress,
    ) -> Result<Self, CloudError> {
        let directions = match view.kind {
            ProjectionKind::Random => Projection::random(&cloud, view.seed, progress)?,
            ProjectionKind::Axes | ProjectionKind::Pca => Projection::pca(&cloud, view.seed, progress)?,
        };
        let data = projected_cloud(view.kind, &directions, cloud, progress)?;
        let queries =
            queries.map(|queries| projected_cloud(view.kind, &directions, queries, progress)).transpose()?;
        Ok(Self { view, directions: Arc::new(directions), data, queries })
    }

    /// The same directions with another query file.
    ///
    /// # Errors
    /// [`CloudError::Cancelled`] when `progress` asks to stop.
    pub fn with_queries(
        &self,
        queries: Option<Arc<PointCloud>>,
        progress: &dyn Progress,
    ) -> Result<Self, CloudError> {
        let queries = queries
            .map(|queries| projected_cloud(self.view.kind, &self.directions, queries, progress))
            .transpose()?;
        Ok(Self { queries, ..self.clone() })
    }

    /// Projects a few points of another cloud with the same dimensions.
    pub fn picture_of(&self, cloud: &PointCloud) -> PointCloud {
        let places = (0..cloud.len()).map(|row| self.directions.project_point(cloud.point(row))).collect();
        cloud.with_coordinates(
            std::array::from_fn::<_, DIRECTIONS, _>(|at| direction_name(self.view.kind, at)),
            places,
        )
    }

    /// The share of the variance along a direction, in words: "PC1 24.1 %".
    pub fn explained(&self, direction: usize) -> Option<String> {
        let share = self.directions.explained.as_ref()?.get(direction)?;
        Some(format!("{} {:.1} %", direction_name(self.view.kind, direction), share * 100.0))
    }
}

/// The name of a direction, counted from 0.
fn direction_name(kind: ProjectionKind, direction: usize) -> String {
    match kind {
        ProjectionKind::Random => format!("R{}", direction + 1),
        ProjectionKind::Axes | ProjectionKind::Pca => format!("PC{}", direction + 1),
    }
}

fn projected_cloud(
    kind: ProjectionKind,
    directions: &Projection,
    cloud: Arc<PointCloud>,
    progress: &dyn Progress,
) -> Result<ProjectedCloud, CloudError> {
    let places = directions.project(&cloud, progress)?;
    let names = std::array::from_fn::<_, DIRECTIONS, _>(|at| direction_name(kind, at));
    Ok(ProjectedCloud { picture: Arc::new(cloud.with_coordinates(names, places)), cloud })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::stretched;
    use crate::progress::NoProgress;

    fn pca(cloud: &Arc<PointCloud>, queries: Option<Arc<PointCloud>>) -> CloudProjection {
        let view = ProjectionView { kind: ProjectionKind::Pca, seed: 0 };
        CloudProjection::new(view, Arc::clone(cloud), queries, &NoProgress).expect("not cancelled")
    }

    #[test]
    fn projections_cover_every_row() {
        let cloud = stretched(500, [0.1, 5.0, 0.2, 1.0]);
        let queries = stretched(20, [0.1, 5.0, 0.2, 1.0]);
        let projected = pca(&cloud, Some(Arc::clone(&queries)));
        let queries_drawn = projected.queries.as_ref().expect("a file of queries");
        for (of, drawn) in [(&cloud, &projected.data), (&queries, queries_drawn)] {
            assert_eq!(drawn.picture.len(), of.len());
            for row in 0..of.len() {
                assert_eq!(drawn.picture.point(row), projected.directions.project_point(of.point(row)));
            }
        }
        // The widest axis is the first component, relative to the mean.
        let mean = (0..500).map(|row| f64::from(cloud.point(row)[1])).sum::<f64>() / 500.0;
        let along = |row: usize| f64::from(projected.data.picture.point(row)[0]).abs();
        assert!((0..500).all(|row| (along(row) - (f64::from(cloud.point(row)[1]) - mean).abs()).abs() < 0.2));
        let axis = &projected.data.picture.axes()[0];
        assert!(axis.name == "PC1" && axis.min < -4.0 && axis.max > 4.0);
        let said = projected.explained(0).expect("they differ");
        assert!(said.starts_with("PC1 9") && said.ends_with(" %"), "{said}");
    }
}
