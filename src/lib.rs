//! Warpscope: a visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
//!
//! Imports go from right to left along the arrows and no other way; `app` and `cli` may use all. What is on
//! the left of `run`, [`draw`] and [`lesson`] are crates of their own.
//!
//! ```text
//! cloud ──► knn ──► engines ──► run ──► export ──► app, cli
//!            └───► lesson ◄─┘ (──► export)
//! draw ──► lesson, export
//! ```
//!
//! - [`cloud`]: point clouds: readers, generators, processing order
//! - [`knn`]: the problem, free of any device: metric, neighbours, counters, theory, the float64 oracle, the
//!   [`knn::Engine`] trait
//! - [`engines`]: what answers a problem: CUDA kernels and their CPU twins, and engines of the CPU alone,
//!   listed in [`engines::ENGINES`]
//! - [`draw`]: drawings as shapes, and the SVG, pixels and GIF that they become; fonts
//! - [`lesson`]: one query's search as a list of steps, a cursor over them, lessons and questions
//! - [`run`]: a spec executed into a record; the worker thread; sweeps; comparison
//! - [`export`]: CSV, traces, neighbours, lessons' pictures and handouts; all through [`files`]
//! - [`cli`]: the command line, one file per subcommand
//! - `app`: the window (feature `gui`)
//!
//! [`files`] (written completely or not at all), [`memory`] (how much is free), [`progress`], [`nearest`]
//! (which name was meant), [`printable`], [`palette`] and [`text`] (numbers for people) are shared by all.

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod export;
pub mod run;
pub mod version;

// Crates of their own, under one roof.
pub use warpscope_base::{files, memory, nearest, palette, printable, progress, text};
pub use warpscope_cloud as cloud;
pub use warpscope_draw as draw;
pub use warpscope_engines as engines;
pub use warpscope_knn as knn;
pub use warpscope_lesson as lesson;
