//! The lesson: one query's search, step by step, forwards and backwards.
//!
//! [`record()`] runs the lockstep twin, [`record_tree()`] the index's, [`record_queues()`] warp select's, [`record_digits()`] a selection by
//! digits, [`record_heaps()`] threads with a query each, and records what it does as a list of [`Step`]s. A [`Cursor`] selects
//! a prefix of that list and shows the [`State`] after it. Nothing is drawn or invented here: every value comes
//! from the recorded search.
//!
//! | module | holds |
//! |---|---|
//! | [`step`] | the kinds of steps |
//! | [`state`] | registers, buffer and counters after a number of steps, and how a step changes them |
//! | [`descent`] | the part of the state that a tree's search has besides: nodes, leaves, what was left out |
//! | [`queues`], [`buckets`] | the parts that warp select and a selection by digits have |
//! | [`heaps`] | the part that threads with a query each have |
//! | [`work`], [`meter`] | the instructions that a step executes; one query's costs by one thread, by a thread of a warp, and by a warp |
//! | [`recording`] | the list, with keyframes; `recorder`, `tree_recorder`, `queue_recorder`, `bucket_recorder` and `heap_recorder` make it |
//! | [`invariants`] | what holds after each step of the kernel's search and why the next step works; the first place where it does not |
//! | [`fault`] | the kernel's search with a mistake made on purpose, what that breaks, and what comes of it |
//! | `from_gpu` | the same recording made by a GPU and compared with the twin's: [`record_on_gpu`] |
//! | [`overview`] | the extent of the points, and which of very many are drawn |
//! | [`cursor`] | a position in the list; levels of detail |
//! | [`describe`] | one sentence per step; `describe_tree`, `describe_queues`, `describe_buckets` and `describe_heaps` for those of a tree, of selections and of heaps, `describe_faults` for what a mistake changes |
//! | [`account`] | the work so far, beside the theory |
//! | [`touched`] | what was changed by hand: the query's place, points, typed keys |
//! | [`own_data`] | lessons about a cloud of the reader's own, in the order of its rows and in others |
//! | [`same_moment`], [`turned`] | the same moment in another recording, and the comparators that decide otherwise there |
//! | [`pseudocode`] | the kernel, the tree's traversal or a selection in a few lines, and the matching lines of `cuda/` |
//! | [`lessons`], [`story`] | what a lesson is; the lessons in the order of the story |
//! | [`moments`] | selects the moments shown in a film or handout |
//! | [`questions`] | questions about moments and ideas, the correct answers, and what mistakes lead to; the rounds in which they are asked |
//! | `sizes` | the sizes of a search, by the names that texts have for them |
//! | [`feedback`] | what a question is about in the picture, and why its answer is right |
//! | [`picture`] | a moment as shapes; the window paints them, or they become files |
//! | [`jsonl`], [`paper`], [`player`] | a recording as a file of steps, a lesson as HTML files to print, and as one that plays; written by `export::lesson` |

// Aliases, so that `crate::memory` or `crate::knn` mean the same in every crate.
use warpscope_base::{memory, palette, progress, text};
use warpscope_cloud as cloud;
use warpscope_draw as draw;
use warpscope_engines as engines;
use warpscope_knn as knn;

pub mod account;
mod bucket_recorder;
pub mod buckets;
pub mod cursor;
pub mod descent;
pub mod describe;
mod describe_buckets;
mod describe_faults;
mod describe_heaps;
mod describe_queues;
mod describe_tree;
pub mod fault;
pub mod feedback;
mod from_gpu;
mod heap_recorder;
pub mod heaps;
pub mod invariants;
pub mod jsonl;
pub mod lessons;
pub mod meter;
pub mod moments;
pub mod overview;
pub mod own_data;
pub mod paper;
pub mod picture;
pub mod player;
pub mod pseudocode;
pub mod questions;
mod queue_recorder;
pub mod queues;
mod recorder;
pub mod recording;
pub mod same_moment;
mod sizes;
pub mod state;
pub mod step;
pub mod story;
pub mod touched;
mod tree_recorder;
pub mod turned;
pub mod work;

pub use bucket_recorder::record_digits;
pub use cursor::{Cursor, Level, Mark};
pub use from_gpu::record_on_gpu;
pub use heap_recorder::record_heaps;
pub use queue_recorder::record_queues;
pub use recorder::{record, record_faulty};
pub use recording::{Index, LessonError, Parameters, Recording};
pub use state::{Shape, State};
pub use step::{Elements, Pass, Placed, Slot, Step};
pub use tree_recorder::record_tree;

#[cfg(test)]
mod tests;
