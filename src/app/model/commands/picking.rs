//! What Plane and Space ask about the pointer.

use egui::Pos2;

use crate::app::model::picking::eye::Eye;
use crate::app::model::picking::region::Region;
use crate::app::model::picking::tool::Tool;
use crate::app::model::selection::how::How;

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
