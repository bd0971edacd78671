//! Hostile files with endless nesting or false sizes: each is rejected in one sentence with the number and
//! the limit, where the decoder would overflow its stack, exhaust memory or never return.

mod arrow;
mod e57;
mod hdf5;
mod json;
mod parquet;

use super::*;
