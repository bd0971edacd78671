//! The lesson: one query's search, step by step, forwards and backwards.
//!
//! [`record()`] runs the lockstep twin, [`record_tree()`] the index's, [`record_queues()`] warp select's,
//! [`record_digits()`] a selection by digits, [`record_heaps()`] threads with a query each, and records what
//! it does as a list of [`Step`]s. A [`Cursor`] selects a prefix of that list and shows the [`State`] after
//! it. Nothing is drawn or invented here: every value comes from the recorded search.
//!
//! - [`step`]: the kinds of steps
//! - [`state`]: registers, buffer and counters after a number of steps, and how a step changes them
//! - [`algorithms`]: what can be recorded, a folder an algorithm: its code and baseline, steps and state,
//!   recorder, sentences, questions and pictures, behind one trait
//! - [`work`], [`meter`]: the instructions that a step executes; one query's costs by one thread, by a thread
//!   of a warp, and by a warp
//! - [`error`]: why a lesson cannot be recorded or read
//! - [`recording`]: the list, with keyframes; the extent of the points, and which of very many are drawn
//! - [`invariants`]: what holds after each step of the kernel's search and why the next step works; the first
//!   place where it does not
//! - [`fault`]: the kernel's search with a mistake made on purpose, what that breaks, and what comes of it
//! - `from_gpu`: the same recording made by a GPU and compared with the twin's: [`record_on_gpu`]
//! - [`cursor`]: a position in the list; levels of detail
//! - [`describe`]: one sentence per step
//! - [`account`]: the work so far, beside the theory
//! - [`touched`]: what was changed by hand: the query's place, points, typed keys
//! - [`own_data`]: lessons about a cloud of the reader's own, in the order of its rows and in others
//! - [`same_moment`]: the same moment in another recording, and the comparators that decide otherwise there
//! - [`lessons`], [`story`]: what a lesson is; the lessons in the order of the story
//! - [`moments`]: selects the moments shown in a film or handout
//! - [`questions`]: questions about moments and ideas, the correct answers, and what mistakes lead to; the
//!   rounds in which they are asked
//! - `sizes`: the sizes of a search, by the names that texts have for them
//! - [`feedback`]: what a question is about in the picture, and why its answer is right
//! - [`picture`]: a moment as shapes; the window paints them, or they become files
//! - [`jsonl`], [`paper`], [`player`]: a recording as a file of steps, a lesson as HTML files to print, and
//!   as one that plays; written by `export::lesson`

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{memory, palette, progress, text};
use warpscope_cloud as cloud;
use warpscope_draw as draw;
use warpscope_engines as engines;
use warpscope_knn as knn;

pub mod account;
pub mod algorithms;
pub mod cursor;
pub mod describe;
pub mod error;
pub mod fault;
pub mod feedback;
mod from_gpu;
pub mod invariants;
pub mod jsonl;
pub mod lessons;
pub mod meter;
pub mod moments;
pub mod own_data;
pub mod paper;
pub mod picture;
pub mod player;
pub mod questions;
pub mod recording;
pub mod same_moment;
mod sizes;
pub mod state;
pub mod step;
pub mod story;
pub mod touched;
pub mod work;

pub use algorithms::heap::recorder::record_heaps;
pub use algorithms::kernel::recorder::{record, record_faulty};
pub use algorithms::radix_select::recorder::record_digits;
pub use algorithms::tree::Index;
pub use algorithms::tree::recorder::record_tree;
pub use algorithms::warp_select::recorder::record_queues;
pub use cursor::{Cursor, Level, Mark};
pub use error::LessonError;
pub use from_gpu::record_on_gpu;
pub use recording::{Parameters, Recording};
pub use state::{Shape, State};
pub use step::{Elements, Pass, Placed, Slot, Step};

#[cfg(test)]
mod tests;
