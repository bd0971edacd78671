//! What is on the screen, and from where it is seen.

use std::sync::Arc;

use crate::app::model::picking::eye::Eye;
use crate::app::model::picking::region::Region;
use crate::app::model::scene::Scene;
use crate::run::RunRecord;

/// What is on the screen, and from where it is seen.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The camera, and the pane it belongs to.
    pub eye: Eye,
    pub scene: Scene,
    /// Whose queries a file of queries holds.
    pub record: Option<Arc<RunRecord>>,
}

/// All rows of a region of the screen.
#[derive(Clone, Debug)]
pub struct Within {
    pub sight: Sight,
    pub region: Region,
}
