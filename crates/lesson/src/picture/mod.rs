//! The pictures of a lesson as [`Scene`]s: panels that all show the same moment of the same recording.
//!
//! | module | holds |
//! |---|---|
//! | [`scene`] | a moment's drawing, hit targets, and what can be followed |
//! | [`cloud`], [`warp`], [`network`], [`ballot`], [`code`], [`account`], [`sentence`] | one panel each |
//! | `columns`, `wires` | of the network: where its layers are; what wires, comparators and keys are drawn with |
//! | `staircase`, `focus` | of a large network its layers as stairs, and some of its rows |
//! | [`curves`] | the panel of the two lists of a merge as curves, whose keys `meeting` collects; `curves_words` says what they show |
//! | `heatmap`, `moves` | of the warp its cells as a map of colours, where a lane has many registers; strokes for what the last step moved; `warp_words` says what the panel shows |
//! | `plane`, `kinds`, `legend` | of the cloud where its points are, what their colours mean, and the rows of that |
//! | `keyed` | the points of the cloud whose keys a merge has in the registers |
//! | [`meter`] | the panel of one query's costs in three ways |
//! | `cost` | the panel of what a merge costs |
//! | `batches` | the panel of the batches and the barriers between them |
//! | `lens` | in the cloud: what a small circle holds, magnified |
//! | [`thing`], [`motion`] | what is the same thing in two scenes, and how it gets from where it was to where it is |
//! | [`badge`] | below the sentence: the invariant that holds, or the first that is broken; what that is about, outlined |
//! | [`page`](mod@page) | the panels of a lesson on one page; recordings side by side |
//! | `moment`, `cells`, `tally`, `pen` | data about a moment and drawing helpers that several panels share |
//! | [`film`] | several moments as pictures |
//! | [`figure()`] | the panels without heading and sentence, which stand in the text around them |

pub mod account;
pub mod badge;
pub mod ballot;
pub(crate) mod batches;
pub(crate) mod cells;
pub mod cloud;
pub mod code;
mod columns;
mod cost;
pub mod curves;
mod curves_words;
mod figure;
pub mod film;
mod focus;
mod heatmap;
mod keyed;
pub(crate) mod kinds;
pub(crate) mod legend;
mod lens;
mod meeting;
pub mod meter;
pub(crate) mod moment;
pub mod motion;
mod moves;
pub mod network;
pub mod page;
pub(crate) mod pen;
pub(crate) mod plane;
pub mod scene;
pub mod sentence;
mod staircase;
pub(crate) mod tally;
pub mod thing;
pub mod warp;
mod warp_words;
mod wires;

pub use figure::figure;
pub use film::Film;
pub use page::{comparison, page};
pub use scene::{Scene, Target};

use super::algorithms::{heap, radix_select, tree, warp_select};
use super::cursor::Cursor;
use crate::draw::Drawing;

/// A panel of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Panel {
    /// The points, the query and the circle of `max_distance`.
    Cloud,
    /// The W lanes with R registers each, and the buffer.
    Warp,
    /// The wires and comparators of the current sort or merge.
    Network,
    /// The two lists of a merge as curves, and what its minimum keeps.
    Curves,
    /// The ballot, and how a lane computes its slot.
    Ballot,
    /// The batches of points, which of them is in shared memory, and the barriers between.
    Batches,
    /// Of a tree: the boxes or points that the lanes have, the result and the buffer.
    Lanes,
    /// Of warp select: the lanes' distances and queues, and the warp's queue.
    Queues,
    /// Of a selection by digits: the buckets of a pass, and how the passes close in on the k-th.
    Buckets,
    /// Of threads with a query each: who works, one lane's heap, and the lanes' idle slots.
    Heaps,
    /// What one query costs: by one thread, by a thread of a warp, and by a warp.
    Meter,
    /// What a merge costs, and each candidate's share of it.
    Cost,
    /// The algorithm in a few lines of pseudocode.
    Code,
    /// The work so far beside the theory, and the convergence curve; of other searches, beside what else finds the same.
    Account,
    /// One sentence about the last step.
    Sentence,
}

impl Panel {
    /// Those that can be shown alone, with their names in commands.
    pub const NAMED: [(&'static str, Self); 14] = [
        ("map", Self::Cloud),
        ("warp", Self::Warp),
        ("network", Self::Network),
        ("curves", Self::Curves),
        ("ballot", Self::Ballot),
        ("batches", Self::Batches),
        ("lanes", Self::Lanes),
        ("queues", Self::Queues),
        ("buckets", Self::Buckets),
        ("heaps", Self::Heaps),
        ("meter", Self::Meter),
        ("cost", Self::Cost),
        ("code", Self::Code),
        ("account", Self::Account),
    ];

    /// All panels, in reading order.
    pub const ALL: [Self; 15] = [
        Self::Cloud,
        Self::Warp,
        Self::Network,
        Self::Curves,
        Self::Ballot,
        Self::Batches,
        Self::Lanes,
        Self::Queues,
        Self::Buckets,
        Self::Heaps,
        Self::Meter,
        Self::Cost,
        Self::Code,
        Self::Account,
        Self::Sentence,
    ];
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
    /// The smallest type in points: what would be smaller is drawn as large as this, or, where it does not fit, left out.
    pub least: f32,
    /// The panel that has the page to itself; `None` for all panels of the lesson.
    pub zoom: Option<Panel>,
}

impl<'a> View<'a> {
    /// A moment with running text of a size in points, and nothing pointed at or asked.
    pub fn of(cursor: &'a Cursor, text: f32) -> Self {
        Self { cursor, hover: None, asking: false, text, least: 0.0, zoom: None }
    }

    /// A type size relative to running text, at least as large as the smallest type.
    pub(crate) fn type_of(&self, factor: f32) -> f32 {
        (self.text * factor).max(self.least)
    }

    /// An empty picture of a size in points, for type of this view.
    pub(crate) fn scene(&self, [wide, high]: [f32; 2]) -> Scene {
        Drawing { least: self.least, ..Drawing::new(wide, high) }.into()
    }
}

/// Draws a panel in a given width and height.
pub fn draw(panel: Panel, view: &View<'_>, size: [f32; 2]) -> Scene {
    let mut scene = match panel {
        Panel::Cloud => cloud::draw(view, size),
        Panel::Warp => warp::draw(view, size),
        Panel::Network => network::draw(view, size),
        Panel::Curves => curves::draw(view, size),
        Panel::Ballot => ballot::draw(view, size),
        Panel::Batches => batches::draw(view, size),
        Panel::Lanes => tree::panel::draw(view, size),
        Panel::Queues => warp_select::panel::draw(view, size),
        Panel::Buckets => radix_select::panel::draw(view, size),
        Panel::Heaps => heap::panel::draw(view, size),
        Panel::Meter => meter::draw(view, size),
        Panel::Cost => cost::draw(view, size),
        Panel::Code => code::draw(view, size),
        Panel::Account => view.cursor.recording().algorithm().draw_account(view, size),
        Panel::Sentence => sentence::draw(view, size),
    };
    // The warp marks its cells itself: they have gaps for arcs between them.
    badge::outline(&mut scene, view, |target| panel != Panel::Warp || matches!(target, Target::Lane(_)));
    scene.framed(panel);
    scene
}

#[cfg(test)]
mod tests;
