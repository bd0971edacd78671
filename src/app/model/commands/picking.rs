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
    /// To be selected.
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
        /// Seen from here.
        eye: Eye,
        /// The pointer.
        pointer: Pos2,
        /// What for.
        purpose: Purpose,
    },
    /// All points in a region are selected.
    Within {
        /// Seen from here.
        eye: Eye,
        /// Which.
        region: Region,
        /// What becomes of what was selected.
        how: How,
    },
    /// What a drag means from now on.
    Tool(Tool),
}
