//! Distances in f64 of given pairs of rows, on a device.

use super::EngineError;

/// Number of independent partial sums of a distance; faster and more accurate than one. All devices use the
/// same number, so that results are bit-identical.
pub const LANES: usize = 16;

/// Rows whose f32 values are the file's.
#[derive(Clone, Copy)]
pub struct StoredRows<'a> {
    /// n × d, row-major.
    pub points: &'a [f32],
    /// Rows that queries are chosen from; `None` for the points.
    pub queries: Option<&'a [f32]>,
    pub dims: usize,
    /// Whether distances are those of unit vectors.
    pub normalise: bool,
}

/// Rows on a device that computes distances between them.
pub trait ExactDistances {
    /// Squared L2 distances of queries, given by their rows, to the same number of candidates each. Those of
    /// candidates that are [`NONE`](super::NONE) are unspecified.
    ///
    /// # Errors
    /// Those of the device.
    fn squared(&mut self, queries: &[u32], candidates: &[u32]) -> Result<Vec<f64>, EngineError>;
}
