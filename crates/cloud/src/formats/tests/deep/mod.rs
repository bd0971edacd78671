//! Files made to nest without end or to promise what they do not hold: each is refused in one sentence with
//! the number and the limit, where the decoder would overflow its stack, fill the memory or never return.

mod arrow;
mod e57;
mod hdf5;
mod json;
mod parquet;

use super::*;
