//! What a search returns for each query.

/// One of the three kinds of neighbours. An engine declares which it finds ([`Descriptor::finds`](super::Descriptor::finds)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The k nearest points.
    Nearest,
    /// All points within a distance, in the metric's own unit.
    Within(f64),
    /// The k rows whose inner product with the query is largest.
    LargestProduct,
}
