//! What is on the screen, and from where it is seen.

use std::sync::Arc;

use crate::app::model::picking::eye::Eye;
use crate::app::model::picking::region::Region;
use crate::app::model::scene::Scene;
use crate::run::RunRecord;

/// What is on the screen, and from where it is seen.
#[derive(Clone, Debug)]
pub struct Sight {
    /// From where.
    pub eye: Eye,
    /// What is drawn.
    pub scene: Scene,
    /// Whose queries a file of queries holds.
    pub record: Option<Arc<RunRecord>>,
}

/// All rows of a region of the screen.
#[derive(Clone, Debug)]
pub struct Within {
    /// What is seen.
    pub sight: Sight,
    /// Where.
    pub region: Region,
}
