//! Warpscope: a visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
//!
//! The map. Imports go from right to left along the arrows and no other way; `app` and `cli` may use all.
//!
//! ```text
//! cloud ──► knn ──► engines ──► run ──► export ──► app, cli
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`cloud`] | point clouds: readers, generators, processing order |
//! | [`knn`] | the problem, free of any device: metric, neighbours, counters, theory, the float64 oracle, the [`knn::Engine`] trait |
//! | [`engines`] | what answers a problem: the CUDA kernel, its CPU twin, a k-d tree |
//! | [`run`] | a spec executed into a record; the worker thread; sweeps; comparison |
//! | [`export`] | CSV, traces, PNG, neighbours; every write is atomic |
//! | [`cli`] | the command line, one file per subcommand |
//! | `app` | the window (feature `gui`) |
//!
//! [`progress`] is the one thing that all of them share.

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod cloud;
pub mod engines;
pub mod export;
pub mod knn;
pub mod progress;
pub mod run;
