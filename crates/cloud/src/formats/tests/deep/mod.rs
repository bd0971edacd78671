//! Hostile files with endless nesting or false sizes: each is rejected with a one-line error that gives the
//! number and the limit. The decoder alone would overflow its stack, exhaust memory or never return.

mod arrow;
mod e57;
mod hdf5;
mod json;
mod parquet;

use super::*;
