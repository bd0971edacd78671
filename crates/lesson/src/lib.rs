//! The lesson: one query's search, step by step, forwards and backwards.
//!
//! [`record()`] runs the lockstep twin, [`record_tree()`] that of the index, [`record_queues()`] that of warp
//! select, [`record_digits()`] that of radix select, and [`record_heaps()`] that of per-thread heaps. Each
//! records a list of [`Step`]s. A [`Cursor`] selects a prefix of the list and shows the [`State`] after it.
//! Every value comes from the recorded search.
//!
//! - [`step`]: the kinds of steps
//! - [`state`]: registers, buffer and counters after a number of steps, and how a step changes them
//! - [`algorithms`]: one folder per algorithm: its pseudocode and baseline, steps and state, recorder,
//!   sentences, questions and pictures, behind one trait
//! - [`work`], [`meter`]: the instructions of each step; the cost of a query by one thread, by a thread of a
//!   warp, and by a warp
//! - [`error`]: errors of recording and reading lessons
//! - [`recording`]: the list of steps with keyframes; the extent of the points and the sample that is drawn
//! - [`invariants`]: what holds after each step of the kernel's search; the first violation
//! - [`fault`]: faults injected into the kernel's search, what they break, and their effect
//! - `from_gpu`: the same recording made by a GPU and compared with the twin: [`record_on_gpu`]
//! - [`cursor`]: a position in the list; levels of detail
//! - [`describe`]: one sentence per step
//! - [`account`]: the work so far, compared with theory
//! - [`edits`]: changes by hand: a moved query, moved points, typed keys
//! - [`own_data`]: lessons on the reader's own cloud, in row order and others
//! - [`align`]: the same moment in another recording, and the comparators that decide differently there
//! - [`lessons`], [`story`]: the structure of a lesson; the lessons in order
//! - [`moments`]: selects the moments of a film or handout
//! - [`questions`]: questions about moments and ideas, with answers and misconceptions; rounds of questions
//! - `sizes`: the sizes of a search, by their names in texts
//! - [`feedback`]: a question's targets in the picture, and why its answer is right
//! - [`picture`]: a moment as shapes, for the window and for files
//! - [`jsonl`], [`mod@print`], [`player`]: a recording as a file of steps, a lesson as printable HTML, and as
//!   an interactive page; written by `export::lesson`

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{memory, palette, progress, text};
use warpscope_cloud as cloud;
use warpscope_draw as draw;
use warpscope_engines as engines;
use warpscope_knn as knn;

pub mod account;
pub mod algorithms;
pub mod align;
pub mod cursor;
pub mod describe;
pub mod edits;
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
pub mod picture;
pub mod player;
pub mod print;
pub mod questions;
pub mod recording;
mod sizes;
pub mod state;
pub mod step;
pub mod story;
pub mod work;

pub use algorithms::heap::recorder::record_heaps;
pub use algorithms::kernel::recorder::{record, record_faulty};
pub use algorithms::radix_select::recorder::record_digits;
pub use algorithms::tree::TreeBaseline;
pub use algorithms::tree::recorder::record_tree;
pub use algorithms::warp_select::recorder::record_queues;
pub use cursor::{Cursor, Level, Mark};
pub use error::LessonError;
pub use from_gpu::record_on_gpu;
pub use recording::{Parameters, Recording};
pub use state::{Shape, State};
pub use step::{AppendedCandidate, ElementSet, SlotAssignment, SortPass, Step};

pub(crate) type Result<T, E = LessonError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests;
