//! Stands in for `knn::theory` until that lands.

/// The bound on the mean candidates in random order.
pub fn expected_candidates(n: usize, k: usize, capacity: usize) -> f64 {
    let first = k + capacity;
    if n <= first { n as f64 } else { first as f64 * (1.0 + (first + 1..=n).map(|i| 1.0 / i as f64).sum::<f64>()) }
}

/// The bound on the mean merges in random order.
pub fn expected_merges(n: usize, k: usize, capacity: usize) -> f64 {
    1.0 + expected_candidates(n, k, capacity) / capacity as f64
}
