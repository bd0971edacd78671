//! The tiles of the centre as a tree of names, without the numbers that they have in memory.

use std::collections::HashSet;

use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

use crate::app::model::pane::{PaneKind, default_layout};

/// A tile and what is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    Pane(PaneKind),
    /// One behind the other.
    Tabs {
        /// From left to right.
        children: Vec<Layout>,
        /// The place of the one in front.
        front: usize,
    },
    /// Side by side, from left to right.
    Row(Vec<Share>),
    /// From the top down.
    Column(Vec<Share>),
}

/// A tile of a row or a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its room, as a multiple of a usual tile's.
    pub share: f32,
    /// What is in it.
    pub of: Layout,
}

/// Shares that leave room for the others.
const SHARES: std::ops::RangeInclusive<f32> = 0.05..=20.0;

fn sane(share: f32) -> f32 {
    if share.is_nan() { 1.0 } else { share.clamp(*SHARES.start(), *SHARES.end()) }
}

impl Layout {
    /// What is in a tree; `None` where it is empty.
    pub fn of(tree: &Tree<PaneKind>) -> Option<Self> {
        Self::of_tile(&tree.tiles, tree.root?, &mut HashSet::new())
    }

    fn of_tile(tiles: &Tiles<PaneKind>, tile: TileId, seen: &mut HashSet<TileId>) -> Option<Self> {
        if !seen.insert(tile) {
            return None;
        }
        let mut child = |tile: &TileId| Self::of_tile(tiles, *tile, seen);
        Some(match tiles.get(tile)? {
            Tile::Pane(kind) => Self::Pane(*kind),
            Tile::Container(Container::Tabs(tabs)) => {
                let front = tabs.children.iter().position(|&child| tabs.is_active(child)).unwrap_or(0);
                Self::Tabs { children: tabs.children.iter().filter_map(child).collect(), front }
            }
            Tile::Container(Container::Linear(linear)) => {
                let shares = linear.children.iter().filter_map(|tile| Some(Share { share: linear.shares[*tile], of: child(tile)? })).collect();
                if linear.dir == LinearDir::Horizontal { Self::Row(shares) } else { Self::Column(shares) }
            }
            Tile::Container(Container::Grid(grid)) => Self::Row(grid.children().filter_map(child).map(|of| Share { share: 1.0, of }).collect()),
        })
    }

    /// The tree; the usual one where no pane is in this. A pane that is there twice is there once, and room is never nothing.
    pub fn tree(&self) -> Tree<PaneKind> {
        let mut tiles = Tiles::default();
        match self.insert(&mut tiles, &mut HashSet::new()) {
            Some(root) => Tree::new(egui::Id::unique("panes"), root, tiles),
            None => default_layout(),
        }
    }

    fn insert(&self, tiles: &mut Tiles<PaneKind>, seen: &mut HashSet<PaneKind>) -> Option<TileId> {
        match self {
            Self::Pane(kind) => seen.insert(*kind).then(|| tiles.insert_pane(*kind)),
            Self::Tabs { children, front } => {
                let children: Vec<(usize, TileId)> =
                    children.iter().enumerate().filter_map(|(at, child)| Some((at, child.insert(tiles, seen)?))).collect();
                let in_front = children.iter().find(|(at, _)| at == front).or(children.first())?.1;
                let mut tabs = Tabs::new(children.into_iter().map(|(_, tile)| tile).collect());
                tabs.set_active(in_front);
                Some(tiles.insert_container(Container::Tabs(tabs)))
            }
            Self::Row(shares) => Self::insert_linear(LinearDir::Horizontal, shares, tiles, seen),
            Self::Column(shares) => Self::insert_linear(LinearDir::Vertical, shares, tiles, seen),
        }
    }

    fn insert_linear(dir: LinearDir, shares: &[Share], tiles: &mut Tiles<PaneKind>, seen: &mut HashSet<PaneKind>) -> Option<TileId> {
        let children: Vec<(TileId, f32)> = shares.iter().filter_map(|share| Some((share.of.insert(tiles, seen)?, share.share))).collect();
        if children.is_empty() {
            return None;
        }
        let mut linear = Linear::new(dir, children.iter().map(|(tile, _)| *tile).collect());
        for (tile, share) in children {
            linear.shares.set_share(tile, sane(share));
        }
        Some(tiles.insert_container(Container::Linear(linear)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::pane::{add_pane, join_tabs, single_layout};

    #[test]
    fn a_tree_comes_back_as_it_was() {
        let mut tree = default_layout();
        tree.make_active(|_, tile| matches!(tile, Tile::Pane(PaneKind::Runs)));
        for tree in [tree, single_layout(PaneKind::Log)] {
            let layout = Layout::of(&tree).expect("it has panes");
            let text = serde_json::to_string(&layout).expect("plain data");
            let back: Layout = serde_json::from_str(&text).expect("its own text");
            assert_eq!(back, layout);
            assert_eq!(Layout::of(&back.tree()).expect("it has panes"), layout);
        }
    }

    #[test]
    fn a_tree_that_makes_no_sense_is_mended() {
        let pane = |kind| Layout::Pane(kind);
        let share = |share, of| Share { share, of };
        let twice =
            Layout::Row(vec![share(-3.0, pane(PaneKind::Plane)), share(f32::INFINITY, pane(PaneKind::Plane)), share(f32::NAN, pane(PaneKind::Log))]);
        let Some(Layout::Row(shares)) = Layout::of(&twice.tree()) else { panic!("a row") };
        assert_eq!(shares.iter().map(|share| share.of.clone()).collect::<Vec<_>>(), [pane(PaneKind::Plane), pane(PaneKind::Log)]);
        assert_eq!(shares[0].share, 0.05);
        assert!(shares.iter().all(|share| SHARES.contains(&share.share)), "{shares:?}");
        let far = Layout::Tabs { children: vec![pane(PaneKind::Space), pane(PaneKind::Runs)], front: 99 };
        assert!(matches!(Layout::of(&far.tree()), Some(Layout::Tabs { front: 0, .. })));
        for empty in [Layout::Column(vec![]), Layout::Tabs { children: vec![Layout::Row(vec![])], front: 0 }] {
            assert_eq!(Layout::of(&empty.tree()), Layout::of(&default_layout()));
        }
    }

    fn without(mut tree: Tree<PaneKind>, pane: PaneKind) -> Tree<PaneKind> {
        let tile = tree.tiles.find_pane(&pane).expect("it is there");
        tree.remove_recursively(tile);
        tree
    }

    #[test]
    fn a_pane_that_a_layout_has_not_is_added_among_the_tabs_where_it_is_at_first() {
        for pane in PaneKind::ALL {
            let mut tree = without(default_layout(), *pane);
            add_pane(&mut tree, *pane);
            let tabs = |tree: &Tree<PaneKind>| match Layout::of(tree) {
                Some(Layout::Column(parts)) => parts.into_iter().map(|part| (part.share, part.of)).collect::<Vec<_>>(),
                other => panic!("{other:?}"),
            };
            for ((share, now), (usual, then)) in tabs(&tree).into_iter().zip(tabs(&default_layout())) {
                let (Layout::Tabs { children: now, .. }, Layout::Tabs { children: then, .. }) = (now, then) else { panic!("tabs") };
                assert_eq!((share, now), (usual, then), "{pane:?}");
            }
        }
    }

    #[test]
    fn a_strip_among_tabs_is_one_with_them() {
        use PaneKind::{Analysis, Log, Plane, Runs, Space};
        let panes = |kinds: &[PaneKind]| kinds.iter().map(|&kind| Layout::Pane(kind)).collect::<Vec<_>>();
        let inmost = Layout::Tabs { children: panes(&[Log, Runs]), front: 1 };
        let inner = Layout::Tabs { children: vec![Layout::Pane(Space), inmost], front: 1 };
        for (front, then) in [(0, 0), (1, 3), (2, 4)] {
            let mut tree = Layout::Tabs { children: vec![Layout::Pane(Plane), inner.clone(), Layout::Pane(Analysis)], front }.tree();
            join_tabs(&mut tree);
            assert_eq!(Layout::of(&tree), Some(Layout::Tabs { children: panes(&[Plane, Space, Log, Runs, Analysis]), front: then }), "{front}");
        }
        let mut usual = default_layout();
        join_tabs(&mut usual);
        assert_eq!(Layout::of(&usual), Layout::of(&default_layout()));
    }

    #[test]
    fn tabs_are_made_where_there_are_none() {
        use PaneKind::{Analysis, Log, Neighbors, Plane};
        let tabs = |beside| Layout::Tabs { children: vec![Layout::Pane(beside), Layout::Pane(Analysis)], front: 0 };
        let mut alone = Tree::empty(egui::Id::unique("panes"));
        alone.root = Some(alone.tiles.insert_pane(Log));
        add_pane(&mut alone, Analysis);
        assert_eq!(Layout::of(&alone), Some(tabs(Log)));

        let id = || egui::Id::unique("panes");
        let mut row = Tree::new_horizontal(id(), vec![Plane, Neighbors]);
        add_pane(&mut row, Analysis);
        let Some(Layout::Row(parts)) = Layout::of(&row) else { panic!("a row") };
        assert_eq!(parts.into_iter().map(|part| part.of).collect::<Vec<_>>(), [Layout::Pane(Plane), tabs(Neighbors)]);

        let mut grid = Tree::new_grid(id(), vec![Neighbors, Plane]);
        add_pane(&mut grid, Analysis);
        let Some(Layout::Row(parts)) = Layout::of(&grid) else { panic!("a row") };
        assert_eq!(parts.into_iter().map(|part| part.of).collect::<Vec<_>>(), [tabs(Neighbors), Layout::Pane(Plane)]);

        let mut nothing = Tree::empty(id());
        add_pane(&mut nothing, Analysis);
        assert_eq!(Layout::of(&nothing), Layout::of(&single_layout(Analysis)));
    }
}
