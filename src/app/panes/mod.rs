//! The panes of the centre, one file or folder each, and their table. A new pane is a file, a row here, and
//! its texts in [`PaneKind::info`].

use crate::app::model::PaneKind;
use crate::app::panes::empty::Pane;

pub mod analysis;
pub mod bar;
pub mod convergence;
pub mod empty;
pub mod engines;
pub mod gallery;
pub mod hover;
pub mod log;
pub mod map;
pub mod marks;
pub mod merges;
pub mod neighbors;
pub mod picture;
pub mod plane;
pub mod plots;
pub mod points;
pub mod points_table;
pub mod rows;
pub mod runs;
pub mod second;
pub mod space;
pub mod tiles;
pub mod timeline;
pub mod timings;

static PANES: [&Pane; PaneKind::ALL.len()] = [
    &plane::PANE,
    &space::PANE,
    &second::PANE,
    &neighbors::PANE,
    &points_table::PANE,
    &analysis::PANE,
    &timings::PANE,
    &timeline::PANE,
    &merges::PANE,
    &convergence::PANE,
    &runs::PANE,
    &engines::PANE,
    &log::PANE,
];

/// The table row of a pane.
pub fn pane(kind: PaneKind) -> &'static Pane {
    PANES.into_iter().find(|pane| pane.kind == kind).unwrap_or(PANES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_is_listed_once() {
        for &kind in PaneKind::ALL {
            assert_eq!(PANES.iter().filter(|pane| pane.kind == kind).count(), 1, "{kind:?}");
        }
    }
}
