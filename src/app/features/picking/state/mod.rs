//! Picking, by pointer or by region: screen positions, regions, and the requests made with them.

pub mod beside;
pub mod eye;
pub mod others;
pub mod region;

use std::sync::Arc;

use egui::Pos2;

use crate::app::features::picking::state::eye::Eye;
use crate::app::features::picking::state::region::Region;
use crate::app::model::how::How;
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

/// What a drag with the first button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Move,
    /// Selects what is in a rectangle.
    Rectangle,
    /// Selects what it goes around.
    Lasso,
}

impl Tool {
    /// All, as the buttons show them.
    pub const ALL: [Self; 3] = [Self::Move, Self::Rectangle, Self::Lasso];
}

/// Why a point is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be the query.
    Query,
    Select(How),
    /// To be shown large with its neighbours; empty ground shows everything.
    Focus,
    /// To be told about.
    Hover,
}

/// What panes ask for.
#[derive(Clone, Debug)]
pub enum PickAction {
    /// The point under the pointer.
    At {
        /// The camera when the pointer was there.
        eye: Eye,
        /// In points, from the window's corner.
        pointer: Pos2,
        purpose: Purpose,
    },
    /// All points in a region are selected.
    Within {
        /// The camera when the region was drawn.
        eye: Eye,
        region: Region,
        how: How,
    },
    /// What a drag means from now on.
    Tool(Tool),
}
