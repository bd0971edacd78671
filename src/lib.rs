//! Warpscope: a visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
//!
//! Imports follow the arrows from right to left only; `app` and `cli` may use everything. The modules left of
//! `run`, and [`draw`] and [`lesson`], are separate crates.
//!
//! ```text
//! cloud ──► knn ──► engines ──► run ──► export ──► app, cli
//!            └───► lesson ◄─┘ (──► export)
//! draw ──► lesson, export
//! ```
//!
//! - [`cloud`]: point clouds: readers, generators, processing order
//! - [`knn`]: the problem, independent of any device: metric, neighbours, counters, theory, the float64
//!   oracle, the [`knn::Engine`] trait
//! - [`engines`]: CUDA kernels and their CPU twins, and CPU-only engines, listed in [`engines::ENGINES`]
//! - [`draw`]: drawings as shapes, rendered to SVG, pixels and GIF; fonts
//! - [`lesson`]: one query's search as a list of steps, a cursor over them, lessons and questions
//! - [`run`]: executes a spec into a record; the worker thread; sweeps; comparison
//! - [`export`]: CSV, traces, neighbours, lessons' pictures and handouts; all written through [`files`]
//! - [`ranks`]: several processes that answer one job
//! - [`cli`]: the command line, one file per subcommand
//! - `app`: the window (feature `gui`)
//!
//! Shared by all: [`files`] (atomic writes), [`memory`] (free memory), [`progress`], [`suggest`] (suggestions
//! for mistyped names), [`printable`], [`palette`] and [`text`] (formatting of numbers).

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod export;
pub mod ranks;
pub mod run;
pub mod version;

// Re-exported crates.
pub use warpscope_base::{files, memory, palette, printable, progress, suggest, text};
pub use warpscope_cloud as cloud;
pub use warpscope_draw as draw;
pub use warpscope_engines as engines;
pub use warpscope_exact as exact;
pub use warpscope_knn as knn;
pub use warpscope_lesson as lesson;
