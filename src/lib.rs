//! Warpscope: a visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
//!
//! The map. Imports go from right to left along the arrows and no other way; `app` and `cli` may use all.
//!
//! ```text
//! cloud ──► knn ──► engines ──► run ──► export ──► app, cli
//!            └───► lesson ◄─┘ (──► export)
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`cloud`] | point clouds: readers, generators, processing order |
//! | [`knn`] | the problem, free of any device: metric, neighbours, counters, theory, the float64 oracle, the [`knn::Engine`] trait |
//! | [`engines`] | what answers a problem: the CUDA kernel, its CPU twin, a k-d tree |
//! | [`lesson`] | one query's search as a list of steps, a cursor over them, lessons and questions |
//! | [`run`] | a spec executed into a record; the worker thread; sweeps; comparison |
//! | [`export`] | CSV, traces, neighbours, lessons' pictures and handouts; all through [`files`] |
//! | [`cli`] | the command line, one file per subcommand |
//! | `app` | the window (feature `gui`) |
//!
//! [`files`] (written completely or not at all), [`memory`] (how much there is), [`progress`], [`nearest`] (which of some names was meant) and [`text`] (numbers as people read them) are what all of them share.

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod cloud;
pub mod engines;
pub mod export;
pub mod files;
pub mod knn;
pub mod lesson;
pub mod memory;
pub mod nearest;
pub mod palette;
pub mod printable;
pub mod progress;
pub mod run;
pub mod text;
