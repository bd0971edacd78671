//! What Plane and Space draw: the clouds themselves, or their projections, which have the same rows.
//!
//! Panes, picking and marks take places on the screen from here; distances, coordinates and whatever else is said of a
//! point come from the clouds themselves.

use std::sync::Arc;

use super::session::Session;
use crate::cloud::PointCloud;

/// A cloud, and the one that is drawn for it: itself, or its projection.
#[derive(Clone, Debug)]
struct Drawn {
    cloud: Arc<PointCloud>,
    drawn: Arc<PointCloud>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Scene {
    data: Drawn,
    queries: Option<Drawn>,
}

impl Scene {
    /// What a session shows; `None` without a cloud.
    pub fn of(session: &Session) -> Option<Self> {
        let cloud = session.cloud.clone()?;
        let itself = |cloud: Arc<PointCloud>| Drawn { drawn: Arc::clone(&cloud), cloud };
        let queries = session.record.as_ref().and_then(|record| record.query_cloud.clone());
        Some(Self { data: itself(cloud), queries: queries.map(itself) })
    }

    /// The points to draw, by row of the cloud; its axes are those that can be shown.
    pub fn data(&self) -> &Arc<PointCloud> {
        &self.data.drawn
    }

    /// The file of queries, likewise, where there is one.
    pub fn queries(&self) -> Option<&Arc<PointCloud>> {
        self.queries.as_ref().map(|queries| &queries.drawn)
    }

    /// What is drawn for a cloud: the one that is searched, or the file of queries.
    pub fn drawn(&self, cloud: &PointCloud) -> &Arc<PointCloud> {
        match &self.queries {
            Some(queries) if std::ptr::eq(&*queries.cloud, cloud) => &queries.drawn,
            _ => &self.data.drawn,
        }
    }

    /// In how many dimensions neighbours are searched.
    pub fn dims(&self) -> usize {
        self.data.cloud.dims()
    }

    /// Whether points are drawn along axes of their own, where lengths are those of the file.
    pub fn is_projected(&self) -> bool {
        !Arc::ptr_eq(&self.data.cloud, &self.data.drawn)
    }
}
