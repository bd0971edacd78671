//! What a lesson shows, as [`Scene`]s: parts that are all of the same moment of the same recording.
//!
//! | module | holds |
//! |---|---|
//! | [`scene`] | a picture as data: shapes, inks, and what can be pointed at |
//! | [`cloud`], [`warp`], [`network`], [`ballot`], [`code`], [`account`], [`sentence`] | a part each |
//! | [`page`](mod@page) | the parts of a lesson on one page; recordings side by side |
//! | `moment`, `cells`, `pen` | what several parts want to know of a moment, and draw with |
//! | [`fonts`], [`svg`], [`raster`] | texts measured; scenes as files and pixels |
//! | [`film`], [`gif`] | several moments as pictures |

pub mod account;
pub mod ballot;
mod cells;
pub mod cloud;
pub mod code;
pub mod film;
pub mod fonts;
pub mod gif;
mod moment;
pub mod network;
pub mod page;
mod pen;
pub mod raster;
pub mod scene;
pub mod sentence;
pub mod svg;
pub mod warp;

pub use film::Film;
pub use page::{comparison, page};
pub use scene::{Scene, Target};

use super::cursor::Cursor;

/// A part of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The points, the query and the circle of `max_distance`.
    Cloud,
    /// W lanes of R registers, and the buffer.
    Warp,
    /// The wires and comparators of the running sort or merge.
    Network,
    /// The vote, and how a lane finds its slot.
    Ballot,
    /// The kernel in a few lines.
    Code,
    /// What was done so far beside the theory, and the convergence curve.
    Account,
    /// One sentence that says what just happened.
    Sentence,
}

impl Part {
    /// All, in reading order.
    pub const ALL: [Self; 7] = [Self::Cloud, Self::Warp, Self::Network, Self::Ballot, Self::Code, Self::Account, Self::Sentence];
}

/// The moment that is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Where in the recording.
    pub cursor: &'a Cursor,
    /// What the pointer is on.
    pub hover: Option<Target>,
    /// Whether it is being asked what comes next: nothing is told that the answer could be read from.
    pub asking: bool,
    /// The size of running text, in points; everything else follows.
    pub text: f32,
}

/// A part of the picture, in a given width and height.
pub fn draw(part: Part, view: &View<'_>, size: [f32; 2]) -> Scene {
    match part {
        Part::Cloud => cloud::draw(view, size),
        Part::Warp => warp::draw(view, size),
        Part::Network => network::draw(view, size),
        Part::Ballot => ballot::draw(view, size),
        Part::Code => code::draw(view, size),
        Part::Account => account::draw(view, size),
        Part::Sentence => sentence::draw(view, size),
    }
}

#[cfg(test)]
mod tests;
