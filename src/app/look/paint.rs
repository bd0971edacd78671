//! How the points of a layer are coloured.

use std::sync::Arc;

use crate::app::features::color::state::{PointValues, Scale};

/// How Plane and Space draw points.
#[derive(Clone, Debug)]
pub struct Paints {
    /// Those of the cloud.
    pub data: Paint,
    /// Those of the file of queries.
    pub queries: Paint,
    /// Some rows of the cloud, ascending, over all others: those that have values, where they are few.
    pub over: Option<(Arc<[u32]>, Paint)>,
}

/// How the points of a layer are coloured.
#[derive(Clone, Debug)]
pub enum Paint {
    /// One colour for all points.
    Flat(egui::Color32),
    /// By a number each; without one, in the colour given last.
    Scaled(Arc<PointValues>, Scale, egui::Color32),
}
