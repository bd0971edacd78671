//! What Plane and Space draw: the clouds themselves, or their projections, which have the same rows.
//!
//! Panes, picking and marks take places on the screen from here; distances, coordinates and whatever else is said of a
//! point come from the clouds themselves.

use std::sync::Arc;

use crate::app::features::projection::state::{Pictured, Projected};
use crate::cloud::PointCloud;

/// A cloud, and the one that is drawn for it: itself, or its projection.
#[derive(Clone, Debug)]
struct Drawn {
    cloud: Arc<PointCloud>,
    drawn: Arc<PointCloud>,
}

#[derive(Clone, Debug)]
pub struct Scene {
    data: Drawn,
    queries: Option<Drawn>,
    /// Pictures of what is neither: a query at a place of its own. By where the cloud is in memory.
    others: Vec<(usize, PointCloud)>,
}

/// A cloud with its picture, if it is of this cloud.
fn picture(cloud: &Arc<PointCloud>, pictured: &Pictured) -> Option<Drawn> {
    Arc::ptr_eq(cloud, &pictured.cloud).then(|| Drawn { cloud: Arc::clone(cloud), drawn: Arc::clone(&pictured.picture) })
}

fn address(cloud: &PointCloud) -> usize {
    std::ptr::from_ref(cloud).addr()
}

impl Scene {
    /// What is drawn for a cloud, a file of queries, and the clouds of queries at places of their own. A projection is shown
    /// when all of it is there.
    pub fn of<'a>(
        cloud: Arc<PointCloud>,
        queries: Option<Arc<PointCloud>>,
        projected: Option<&Projected>,
        others: impl Iterator<Item = &'a PointCloud>,
    ) -> Self {
        if let Some(projected) = projected
            && let Some(data) = picture(&cloud, &projected.data)
            && let Some(queries) = match (&queries, &projected.queries) {
                (None, _) => Some(None),
                (Some(queries), Some(pictured)) => picture(queries, pictured).map(Some),
                (Some(_), None) => None,
            }
        {
            let mut scene = Self { data, queries, others: Vec::new() };
            for cloud in others {
                if !scene.has(cloud) {
                    scene.others.push((address(cloud), projected.picture_of(cloud)));
                }
            }
            return scene;
        }
        let itself = |cloud: Arc<PointCloud>| Drawn { drawn: Arc::clone(&cloud), cloud };
        Self { data: itself(cloud), queries: queries.map(itself), others: Vec::new() }
    }

    /// The points to draw, by row of the cloud; its axes are those that can be shown.
    pub fn data(&self) -> &Arc<PointCloud> {
        &self.data.drawn
    }

    /// The file of queries, likewise, where there is one.
    pub fn queries(&self) -> Option<&Arc<PointCloud>> {
        self.queries.as_ref().map(|queries| &queries.drawn)
    }

    /// What is drawn for a cloud: the one that is searched, the file of queries, or that of a query at a place of its own.
    pub fn drawn<'a>(&'a self, cloud: &'a PointCloud) -> &'a PointCloud {
        let known = [Some(&self.data), self.queries.as_ref()].into_iter().flatten().find(|known| std::ptr::eq(&*known.cloud, cloud));
        let other = || self.others.iter().find(|(of, _)| *of == address(cloud)).map(|(_, drawn)| drawn);
        known.map(|known| &*known.drawn).or_else(other).unwrap_or(cloud)
    }

    fn has(&self, cloud: &PointCloud) -> bool {
        let data = std::ptr::eq(&*self.data.cloud, cloud);
        data || self.queries.as_ref().is_some_and(|queries| std::ptr::eq(&*queries.cloud, cloud))
    }

    /// In how many dimensions neighbours are searched.
    pub fn dims(&self) -> usize {
        self.data.cloud.dims()
    }

    /// Whether points are drawn along other directions than their axes, where lengths are not those of the file.
    pub fn is_projected(&self) -> bool {
        !Arc::ptr_eq(&self.data.cloud, &self.data.drawn)
    }
}
