//! The workspaces: layouts of the window for exploring and for measuring. Lessons have a layout of their own.

use egui_tiles::{Container, Linear, LinearDir, Tile, Tiles, Tree};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::commands::command::Command;
use super::pane::PaneKind;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Workspace {
    /// Data, question and answer, and a large picture.
    #[default]
    Explore,
    /// Method, repeats, and what was measured.
    Measure,
}

/// Tab groups of a layout from top to bottom, with their shares of the height.
type Rows = &'static [(f32, &'static [PaneKind])];

impl Workspace {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub const fn other(self) -> Self {
        match self {
            Self::Explore => Self::Measure,
            Self::Measure => Self::Explore,
        }
    }

    /// The command that shows it.
    pub const fn command(self) -> Command {
        match self {
            Self::Explore => Command::Explore,
            Self::Measure => Command::Measure,
        }
    }

    const fn rows(self) -> Rows {
        use PaneKind::{
            Analysis, Convergence, Engines, Log, Merges, Neighbors, Plane, Points, Runs, Second, Space,
            Timeline, Timings,
        };
        match self {
            Self::Explore => &[(1.0, &[Plane, Space, Second, Neighbors, Points, Analysis, Log])],
            Self::Measure => &[
                (1.7, &[Plane, Space]),
                (1.0, &[Timings, Timeline, Merges, Convergence, Runs, Engines, Neighbors, Log]),
            ],
        }
    }

    /// The panes of its layout.
    pub fn panes(self) -> impl Iterator<Item = PaneKind> {
        self.rows().iter().flat_map(|(_, kinds)| *kinds).copied()
    }

    /// The workspace with a pane: this one, if it has it.
    pub fn with_pane(self, pane: PaneKind) -> Self {
        let has = |workspace: &&Self| workspace.panes().any(|kind| kind == pane);
        if has(&&self) { self } else { Self::ALL.iter().find(has).copied().unwrap_or(self) }
    }

    /// Its layout on the first start.
    pub fn layout(self) -> Tree<PaneKind> {
        let mut tiles = Tiles::default();
        let rows: Vec<_> = (self.rows().iter())
            .map(|(share, kinds)| {
                let panes = kinds.iter().map(|&kind| tiles.insert_pane(kind)).collect();
                (tiles.insert_tab_tile(panes), *share)
            })
            .collect();
        let root = if let [(only, _)] = rows[..] {
            only
        } else {
            let mut linear = Linear::new(LinearDir::Vertical, rows.iter().map(|(row, _)| *row).collect());
            rows.iter().for_each(|&(row, share)| linear.shares.set_share(row, share));
            tiles.insert_container(Container::Linear(linear))
        };
        Tree::new(egui::Id::unique("panes"), root, tiles)
    }
}

/// Explore's layout with the second view beside the others.
pub fn side_by_side() -> Tree<PaneKind> {
    let mut tree = Workspace::Explore.layout();
    let (Some(second), Some(tabs)) = (tree.tiles.find_pane(&PaneKind::Second), tree.root) else {
        return tree;
    };
    if let Some(Tile::Container(Container::Tabs(strip))) = tree.tiles.get_mut(tabs) {
        strip.children.retain(|&tile| tile != second);
    }
    let beside = tree.tiles.insert_tab_tile(vec![second]);
    tree.root = Some(tree.tiles.insert_horizontal_tile(vec![tabs, beside]));
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_is_in_a_workspace() {
        for &pane in PaneKind::ALL {
            let workspace = Workspace::Explore.with_pane(pane);
            assert!(workspace.layout().tiles.find_pane(&pane).is_some(), "{pane:?}");
        }
        assert_eq!(Workspace::Measure.with_pane(PaneKind::Plane), Workspace::Measure);
        assert_eq!(Workspace::Measure.with_pane(PaneKind::Analysis), Workspace::Explore);
    }
}
