//! The lesson: one query's search, step by step, forwards and backwards.
//!
//! [`record()`] lets the lockstep twin search and writes down what it does: a list of [`Step`]s. A [`Cursor`] selects a
//! prefix of that list and shows the [`State`] after it; nothing is drawn here, and nothing is made up: every value comes
//! from the search that ran.
//!
//! | module | holds |
//! |---|---|
//! | [`step`] | what a step is |
//! | [`state`] | registers, buffer and counters after some steps, and what a step does to them |
//! | [`recording`] | the list, with keyframes; [`record()`] makes it |
//! | `from_gpu` | the same recording made by a GPU, and held against the twin's: [`record_on_gpu`] |
//! | [`overview`] | where the points lie, and which of very many are drawn |
//! | [`cursor`] | a place in the list; levels of detail |
//! | [`describe`] | one sentence a step |
//! | [`account`] | what was done so far, beside the theory |
//! | [`pseudocode`] | the kernel in a few lines, and where they stand in `cuda/` |
//! | [`lessons`] | the seven lessons |
//! | [`moments`] | which moments a film or a handout shows |
//! | [`questions`] | what to ask in them, and the right answers |
//! | [`picture`] | what is shown of a moment, as shapes; the window paints them, or they become SVG, pixels, a GIF |
//! | [`jsonl`], [`handout`] | a recording as a file of steps, a lesson as one of HTML; [`crate::export::lesson`] writes them |

pub mod account;
pub mod cursor;
pub mod describe;
mod from_gpu;
pub mod handout;
pub mod jsonl;
pub mod lessons;
pub mod moments;
pub mod overview;
pub mod picture;
pub mod pseudocode;
pub mod questions;
mod recorder;
pub mod recording;
pub mod state;
pub mod step;

pub use cursor::{Cursor, Level, Mark};
pub use from_gpu::record_on_gpu;
pub use recorder::record;
pub use recording::{LessonError, Parameters, Recording};
pub use state::{Shape, State};
pub use step::{Elements, Part, Placed, Slot, Step};

#[cfg(test)]
mod tests;
