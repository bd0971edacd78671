//! The lesson: one query's search, step by step, forwards and backwards.
//!
//! [`record()`] runs the lockstep twin, [`record_tree()`] the index's, [`record_queues()`] warp select's, [`record_digits()`] a selection by
//! digits, and records what it does as a list of [`Step`]s. A [`Cursor`] selects
//! a prefix of that list and shows the [`State`] after it. Nothing is drawn or invented here: every value comes
//! from the recorded search.
//!
//! | module | holds |
//! |---|---|
//! | [`step`] | the kinds of steps |
//! | [`state`] | registers, buffer and counters after a number of steps, and how a step changes them |
//! | [`descent`] | the part of the state that a tree's search has besides: nodes, leaves, what was left out |
//! | [`queues`], [`buckets`] | the parts that warp select and a selection by digits have |
//! | [`recording`] | the list, with keyframes; `recorder`, `tree_recorder`, `queue_recorder` and `bucket_recorder` make it |
//! | [`invariants`] | what holds after each step of the kernel's search and why the next step works; the first place where it does not |
//! | [`fault`] | the kernel's search with a mistake made on purpose, what that breaks, and what comes of it |
//! | `from_gpu` | the same recording made by a GPU and compared with the twin's: [`record_on_gpu`] |
//! | [`overview`] | the extent of the points, and which of very many are drawn |
//! | [`cursor`] | a position in the list; levels of detail |
//! | [`describe`] | one sentence per step; `describe_tree`, `describe_queues` and `describe_buckets` for those of a tree and of selections, `describe_faults` for what a mistake changes |
//! | [`account`] | the work so far, beside the theory |
//! | [`pseudocode`] | the kernel, the tree's traversal or a selection in a few lines, and the matching lines of `cuda/` |
//! | [`lessons`] | the lessons |
//! | [`moments`] | selects the moments shown in a film or handout |
//! | [`questions`] | questions about moments, the correct answers, and what mistakes lead to; `questions_select` for those of selections |
//! | [`picture`] | a moment as shapes; the window paints them, or they become SVG, pixels, a GIF |
//! | [`jsonl`], [`handout`] | a recording as a file of steps, a lesson as an HTML file; written by [`crate::export::lesson`] |

pub mod account;
mod bucket_recorder;
pub mod buckets;
pub mod cursor;
pub mod descent;
pub mod describe;
mod describe_buckets;
mod describe_faults;
mod describe_queues;
mod describe_tree;
pub mod fault;
mod from_gpu;
pub mod handout;
pub mod invariants;
pub mod jsonl;
pub mod lessons;
pub mod moments;
pub mod overview;
pub mod picture;
pub mod pseudocode;
pub mod questions;
mod questions_select;
mod queue_recorder;
pub mod queues;
mod recorder;
pub mod recording;
pub mod state;
pub mod step;
mod tree_recorder;

pub use bucket_recorder::record_digits;
pub use cursor::{Cursor, Level, Mark};
pub use from_gpu::record_on_gpu;
pub use queue_recorder::record_queues;
pub use recorder::{record, record_faulty};
pub use recording::{Index, LessonError, Parameters, Recording};
pub use state::{Shape, State};
pub use step::{Elements, Pass, Placed, Slot, Step};
pub use tree_recorder::record_tree;

#[cfg(test)]
mod tests;
