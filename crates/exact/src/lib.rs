//! Nearest neighbours in the order of the file's own values.
//!
//! Engines compare squared distances that are rounded twice: coordinates to f32, and every step of a sum
//! (rule 1 of the kernel). This crate ranks by the real-number distances of the file's values, ties by row,
//! and decides membership of a radius.
//! [`Margin`] bounds what rounding can change. An engine finds a few more neighbours than needed; [`Refiner`]
//! ranks them in f64, and in exact arithmetic where f64 cannot separate two of them. If the margin does not
//! prove that every other point is farther, a radius search collects all points that may be nearer.
//! `docs/exact.md` explains the proof.

// Aliases, so that `crate::knn` means the same in every crate.
use warpscope_base::memory;
use warpscope_cloud as cloud;
use warpscope_knn as knn;

mod margin;
mod order;
mod product;
mod radius;
mod refine;
mod scaled;
mod sphere;
mod vectors;

pub use margin::Margin;
pub use order::{Query, RankedPoint, Ranking};
pub use product::{ProductRefiner, products_k};
pub use radius::RadiusTest;
pub use refine::{RefinedNeighbors, Refiner, nearest_of_all, refined_bytes, search_k};
pub use vectors::RowVectors;
