//! The pictures of a lesson as [`Scene`]s: panels that all show the same moment of the same recording.
//!
//! - [`scene`], [`motion`]: a moment's drawing, hit targets and tracked things; the motion of things between
//!   two moments
//! - [`cloud`], [`warp`], [`network`], [`curves`], [`ballot`], `batches`, [`meter`], [`code`], [`account`]:
//!   one panel each
//! - [`sentence`]: the panel of the sentence, with the badge below: the invariant that holds, or the first
//!   broken one
//! - [`grid`]: how panels share the page, when each appears, and which one a step is about
//! - `focus`: a large network: its layers as stairs, and some of its rows
//! - `merge_inputs`: the two lists of a merge, as input of the curves
//! - `heatmap`: the warp's cells as a map of colours, if a lane has many registers
//! - `plane`, `legend`: the positions of points, and a lens if the circle is small; the legend of their
//!   colours
//! - [`page`](mod@page): the panels of a lesson on one page, or as a figure; recordings side by side
//! - `moment`, `cells`, `counter_table`, `pen`: data about a moment and drawing helpers that panels share;
//!   `counter_table` also has the panel of the cost of a merge
//! - [`film`]: several moments as pictures

pub mod account;
pub mod ballot;
pub(crate) mod batches;
pub(crate) mod cells;
pub mod cloud;
pub mod code;
pub(crate) mod counter_table;
pub mod curves;
pub mod film;
mod focus;
pub mod grid;
mod heatmap;
pub(crate) mod legend;
mod merge_inputs;
pub mod meter;
pub(crate) mod moment;
pub mod motion;
pub mod network;
pub mod page;
pub(crate) mod pen;
pub(crate) mod plane;
pub mod scene;
pub mod sentence;
pub mod warp;

use std::sync::Arc;

use pen::area;
use scene::Area;

use super::algorithms::{heap, radix_select, tree, warp_select};
use super::cursor::Cursor;
use crate::draw::Drawing;
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;

pub use film::Film;
pub use page::{comparison, figure, page};
pub use scene::{Scene, Target};

/// A panel of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Panel {
    /// The points, the query and the circle of `max_distance`.
    Cloud,
    /// The W lanes with R registers each, and the buffer.
    Warp,
    /// The wires and comparators of the current sort or merge.
    Network,
    /// The two lists of a merge as curves, and the result of its minimum.
    Curves,
    /// The ballot, and how a lane computes its slot.
    Ballot,
    /// The batches of points, which one is in shared memory, and the barriers.
    Batches,
    /// Of a tree: the boxes or points that the lanes have, the result and the buffer.
    Lanes,
    /// Of warp select: the lanes' distances and queues, and the warp's queue.
    Queues,
    /// Of radix select: the buckets of a pass, and how the passes narrow down the k-th.
    Buckets,
    /// Of per-thread heaps: active lanes, one lane's heap, and idle lane slots.
    Heaps,
    /// The cost of a query: by one thread, by a thread of a warp, and by a warp.
    Meter,
    /// The cost of a merge, and each candidate's share.
    Cost,
    /// The algorithm in a few lines of pseudocode.
    Code,
    /// The work so far compared with theory, and the convergence curve; for other searches, compared with
    /// their baselines.
    Account,
    /// One sentence about the last step.
    Sentence,
}

/// The properties of a panel.
struct PanelInfo {
    panel: Panel,
    /// Its name in commands.
    command: &'static str,
    /// Its name for screen readers.
    name: &'static str,
    /// Draws it in a given width and height.
    draw: fn(&View<'_>, [f32; 2]) -> Scene,
}

const fn panel(
    panel: Panel,
    command: &'static str,
    name: &'static str,
    draw: fn(&View<'_>, [f32; 2]) -> Scene,
) -> PanelInfo {
    PanelInfo { panel, command, name, draw }
}

/// All panels, in reading order, which is that of [`Panel`]. The last, the sentence, is not shown alone.
const PANELS: [PanelInfo; 15] = [
    panel(Panel::Cloud, "map", "Points", cloud::draw),
    panel(Panel::Warp, "warp", "Registers and buffer", warp::draw),
    panel(Panel::Network, "network", "Network", network::draw),
    panel(Panel::Curves, "curves", "The two lists as curves", curves::draw),
    panel(Panel::Ballot, "ballot", "Ballot", ballot::draw),
    panel(Panel::Batches, "batches", "Batches", batches::draw),
    panel(Panel::Lanes, "lanes", "Lanes", tree::panel::draw),
    panel(Panel::Queues, "queues", "Queues", warp_select::panel::draw),
    panel(Panel::Buckets, "buckets", "Buckets", radix_select::panel::draw),
    panel(Panel::Heaps, "heaps", "Heaps", heap::panel::draw),
    panel(Panel::Meter, "meter", "Meter", meter::draw),
    panel(Panel::Cost, "cost", "Cost of a merge", counter_table::draw_cost),
    panel(Panel::Code, "code", "Code", code::draw),
    panel(Panel::Account, "account", "Account", |view, size| {
        view.recording().algorithm().draw_account(view, size)
    }),
    panel(Panel::Sentence, "sentence", "Sentence", sentence::draw),
];

impl Panel {
    /// All panels, in reading order.
    pub const ALL: [Self; PANELS.len()] = {
        let (mut all, mut at) = ([Self::Cloud; PANELS.len()], 0);
        while at < all.len() {
            all[at] = PANELS[at].panel;
            assert!(all[at] as usize == at, "rows are in the order of panels");
            at += 1;
        }
        all
    };

    /// The panels that can be shown alone, with their names in commands.
    pub const NAMED: [(&'static str, Self); PANELS.len() - 1] = {
        let (mut named, mut at) = ([("", Self::Cloud); PANELS.len() - 1], 0);
        while at < named.len() {
            named[at] = (PANELS[at].command, PANELS[at].panel);
            at += 1;
        }
        named
    };

    /// Its name for screen readers.
    pub(crate) fn name(self) -> &'static str {
        PANELS[self as usize].name
    }

    /// What it shows, for screen readers.
    pub(crate) fn shows(self) -> &'static str {
        match self {
            Self::Cloud => "The points, the query, and a circle around what may still be a neighbour.",
            Self::Warp => {
                "A column per lane with the keys in its registers, and the slots of the candidate buffer."
            }
            Self::Network => {
                "A line per key from left to right, and arrows between the keys that a layer compares."
            }
            Self::Curves => {
                "The keys of both lists by element: the candidates rise, the mirrored result falls."
            }
            Self::Ballot => "The lanes' votes as bits, and the slot of each candidate.",
            Self::Batches => "The batches of points, the one in shared memory, and the barriers around it.",
            Self::Lanes => "The box or point of each lane with its distance, the result, and the buffer.",
            Self::Queues => "Each lane's distance and queue, and below them the warp's queue.",
            Self::Buckets => {
                "A bar per bucket with its number of points, and a row per pass with what remains."
            }
            Self::Heaps => "The lanes at work and those that wait, and one lane's heap as a tree.",
            Self::Meter => "A table of what one query costs one thread, a thread of a warp, and a warp.",
            Self::Cost => "A table of the cost of a merge, and each candidate's share.",
            Self::Code => "The algorithm in a few lines, with the current one marked.",
            Self::Account => "Counts so far, next to theory or to other searches.",
            Self::Sentence => "What the last step did.",
        }
    }
}

/// The moment to show, and how.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The position in the recording.
    pub cursor: &'a Cursor,
    /// The target under the pointer.
    pub hover: Option<Target>,
    /// Whether a question is open: anything that would give the answer away is hidden.
    pub asking: bool,
    /// Size of running text in points; everything else scales with it.
    pub text: f32,
    /// The smallest type in points: smaller type is enlarged to it, or omitted if it does not fit.
    pub min_type: f32,
    /// The panel that fills the page; `None` for all panels of the lesson.
    pub zoom: Option<Panel>,
    /// Whether panels appear one by one, as the story needs them.
    pub reveals: bool,
    /// Whether the page has the sentence.
    pub sentence: bool,
}

impl<'a> View<'a> {
    /// A moment with running text of a size in points, without hover or question.
    pub fn new(cursor: &'a Cursor, text: f32) -> Self {
        Self {
            cursor,
            hover: None,
            asking: false,
            text,
            min_type: 0.0,
            zoom: None,
            reveals: true,
            sentence: true,
        }
    }

    /// The state at the moment.
    pub(crate) fn state(&self) -> &'a State {
        self.cursor.state()
    }

    /// The recording that it is a moment of.
    pub(crate) fn recording(&self) -> &'a Arc<Recording> {
        self.cursor.recording()
    }

    /// The last step as stored: a group without candidates lacks its distances.
    pub(crate) fn step(&self) -> Option<&'a Step> {
        self.cursor.position().checked_sub(1).map(|at| &self.recording().steps()[at])
    }

    /// A type size relative to running text, at least as large as the smallest type.
    pub(crate) fn font_size(&self, factor: f32) -> f32 {
        (self.text * factor).max(self.min_type)
    }

    /// An empty picture of a size in points, for type of this view.
    pub(crate) fn scene(&self, [wide, high]: [f32; 2]) -> Scene {
        Drawing { min_type: self.min_type, ..Drawing::new(wide, high) }.into()
    }

    /// An empty picture and its whole area.
    pub(crate) fn canvas(&self, [wide, high]: [f32; 2]) -> (Scene, Area) {
        (self.scene([wide, high]), area(0.0, 0.0, wide, high))
    }
}

/// Draws a panel in a given width and height.
pub fn draw(panel: Panel, view: &View<'_>, size: [f32; 2]) -> Scene {
    let mut scene = (PANELS[panel as usize].draw)(view, size);
    // The warp outlines its cells itself, because they have gaps for arcs.
    sentence::outline(&mut scene, view, |target| panel != Panel::Warp || matches!(target, Target::Lane(_)));
    scene.framed(panel);
    scene
}

#[cfg(test)]
mod tests;
