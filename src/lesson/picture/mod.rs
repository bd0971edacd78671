//! The pictures of a lesson as [`Scene`]s: panels that all show the same moment of the same recording.
//!
//! | module | holds |
//! |---|---|
//! | [`scene`] | a picture as data: shapes, inks, and hit targets |
//! | [`cloud`], [`warp`], [`network`], [`ballot`], [`code`], [`account`], [`sentence`] | one panel each |
//! | [`lanes`] | the panel of the lanes of a tree's search; its boxes are drawn by `boxes` in the cloud, its account by `looked` |
//! | [`queues`], [`buckets`] | the panels of warp select and of a selection by digits; their accounts are `beside_queues` and `beside_buckets` |
//! | [`heaps`], [`meter`] | the panel of threads with a query each, whose queries `own_queries` draws in the cloud; one query's costs in three ways |
//! | [`badge`] | below the sentence: the invariant that holds, or the first that is broken; what that is about, outlined |
//! | [`page`](mod@page) | the panels of a lesson on one page; recordings side by side |
//! | `moment`, `cells`, `tally`, `pen` | data about a moment and drawing helpers that several panels share |
//! | [`fonts`], [`embedded`], [`svg`], [`css`], [`raster`] | text metrics; fonts inside files; scenes as files, their colours in web pages, and pixels |
//! | [`film`], [`gif`] | several moments as pictures |
//! | [`figure()`] | the panels without heading and sentence, which stand in the text around them |

pub mod account;
pub mod badge;
pub mod ballot;
mod beside_buckets;
mod beside_queues;
mod boxes;
pub mod buckets;
mod cells;
pub mod cloud;
pub mod code;
pub mod css;
pub mod embedded;
mod figure;
pub mod film;
pub mod fonts;
pub mod gif;
pub mod heaps;
pub mod lanes;
mod looked;
pub mod meter;
pub(super) mod moment;
pub mod network;
mod own_queries;
pub mod page;
pub mod pen;
pub mod queues;
pub mod raster;
pub mod scene;
pub mod sentence;
pub mod svg;
mod tally;
pub mod warp;

pub use figure::figure;
pub use film::Film;
pub use page::{comparison, page};
pub use scene::{Scene, Target};

use super::cursor::Cursor;
use super::recording::Beside;

/// A panel of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Panel {
    /// The points, the query and the circle of `max_distance`.
    Cloud,
    /// The W lanes with R registers each, and the buffer.
    Warp,
    /// The wires and comparators of the current sort or merge.
    Network,
    /// The ballot, and how a lane computes its slot.
    Ballot,
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
    /// The algorithm in a few lines of pseudocode.
    Code,
    /// The work so far beside the theory, and the convergence curve; of other searches, beside what else finds the same.
    Account,
    /// One sentence about the last step.
    Sentence,
}

impl Panel {
    /// All panels, in reading order.
    pub const ALL: [Self; 12] = [
        Self::Cloud,
        Self::Warp,
        Self::Network,
        Self::Ballot,
        Self::Lanes,
        Self::Queues,
        Self::Buckets,
        Self::Heaps,
        Self::Meter,
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
}

/// Draws a panel in a given width and height.
pub fn draw(panel: Panel, view: &View<'_>, size: [f32; 2]) -> Scene {
    let mut scene = match panel {
        Panel::Cloud => cloud::draw(view, size),
        Panel::Warp => warp::draw(view, size),
        Panel::Network => network::draw(view, size),
        Panel::Ballot => ballot::draw(view, size),
        Panel::Lanes => lanes::draw(view, size),
        Panel::Queues => queues::draw(view, size),
        Panel::Buckets => buckets::draw(view, size),
        Panel::Heaps => heaps::draw(view, size),
        Panel::Meter => meter::draw(view, size),
        Panel::Code => code::draw(view, size),
        Panel::Account => match view.cursor.recording().held_against() {
            Beside::Theory => account::draw(view, size),
            Beside::Tree(index) => looked::draw(view, index, size),
            Beside::Queues(counts) => beside_queues::draw(view, counts, size),
            Beside::Digits(counts) => beside_buckets::draw(view, counts, size),
            Beside::Heaps => meter::draw(view, size),
        },
        Panel::Sentence => sentence::draw(view, size),
    };
    // The warp marks its cells itself: they have gaps for arcs between them.
    badge::outline(&mut scene, view, |target| panel != Panel::Warp || matches!(target, Target::Lane(_)));
    scene
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_heaps;
