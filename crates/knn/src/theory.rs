//! The expected cost of a search over points in random order.
//!
//! After D. Hanák, *Meeting the challenges of k-nearest neighbour search implementation for GPU accelerators*
//! (master thesis, Charles University, Prague, 2023), §4.1.6, with a buffer of `capacity` (K) and the bound
//! at the k-th neighbour. Between two merges `max_distance` is constant, and at most K points are appended. A
//! candidate is therefore among the k + K nearest of the points so far. The point at random position i is
//! among them with probability min(1, (k + K) / i), and the sum over all positions bounds the number of
//! candidates.
//!
//! These are bounds on means: a query in file order may stay far below them or, if distances descend, reach
//! [`worst_case_merges`].

const EULER: f64 = 0.577_215_664_901_532_9;

/// Below this n, harmonic numbers are summed. From this n on, the series is exact to the last digit of an
/// f64.
const SUMMED: u64 = 64;

/// Capacity K of a query's candidate buffer and intermediate result: k rounded up to a power of two, at least
/// 32, one slot per lane.
pub fn capacity(k: usize) -> usize {
    k.next_power_of_two().max(32)
}

/// The n-th harmonic number, 1 + 1/2 + … + 1/n; 0 for n = 0.
pub fn harmonic(n: u64) -> f64 {
    if n < SUMMED {
        // Add the smallest terms first to keep their digits.
        return (1..=n).rev().map(|i| 1.0 / i as f64).sum();
    }
    let n = n as f64;
    let inverse_square = 1.0 / (n * n);
    n.ln() + EULER + 0.5 / n
        - inverse_square * (1.0 / 12.0 - inverse_square * (1.0 / 120.0 - inverse_square / 252.0))
}

/// Upper bound on the mean number of candidates per query: (k + K)(1 + Hₙ − H₍ₖ₊ₖ₎), or n if n ≤ k + K.
pub fn expected_candidates(n: usize, k: usize, capacity: usize) -> f64 {
    let certain = k.saturating_add(capacity);
    if n <= certain {
        return n as f64;
    }
    certain as f64 * (1.0 + harmonic(n as u64) - harmonic(certain as u64))
}

/// Upper bound on the mean number of merges per query: one per full buffer of [`expected_candidates`] and a
/// final one, capped at [`worst_case_merges`]. For k = K this is about 3 + 2 ln(n / 2k).
pub fn expected_merges(n: usize, k: usize, capacity: usize) -> f64 {
    let bound = 1.0 + expected_candidates(n, k, capacity) / capacity as f64;
    bound.min(worst_case_merges(n, capacity) as f64)
}

/// Merges of a query that visits its points in descending order of distance: ⌈n / K⌉, since every point is a
/// candidate.
pub fn worst_case_merges(n: usize, capacity: usize) -> u64 {
    n.div_ceil(capacity) as u64
}

/// The mean rank, among all n distances, of the k-th nearest of `seen` points drawn at random: k(n + 1) /
/// (seen + 1).
///
/// Ranks count from 1. Exact (the mean of the negative hypergeometric distribution); n if fewer than k points
/// were seen.
pub fn expected_rank(n: usize, k: usize, seen: usize) -> f64 {
    if seen < k {
        return n as f64;
    }
    (k as f64 * (n as f64 + 1.0) / (seen as f64 + 1.0)).min(n as f64)
}

/// The expected `max_distance` after `seen` points, given the query's squared distances to all points in
/// ascending order: the distance at [`expected_rank`], interpolated linearly; ∞ before the k-th point.
///
/// Needs all n distances, not the k that a search returns: early bounds are much larger than the k-th
/// distance.
pub fn expected_max_distance(ascending: &[f32], k: usize, seen: usize) -> f32 {
    let n = ascending.len();
    if k == 0 || seen < k || k > n {
        return f32::INFINITY;
    }
    let rank = expected_rank(n, k, seen.min(n)) - 1.0;
    let (below, above) = (ascending[rank.floor() as usize], ascending[rank.ceil() as usize]);
    below + (above - below) * rank.fract() as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cloud::Order;

    #[test]
    fn capacities_are_powers_of_two_of_at_least_a_warp() {
        let expected = [(1, 32), (31, 32), (32, 32), (33, 64), (64, 64), (1000, 1024), (1024, 1024)];
        for (k, slots) in expected {
            assert_eq!(capacity(k), slots, "k = {k}");
        }
    }

    #[test]
    fn the_harmonic_series_matches_the_sum() {
        assert_eq!(harmonic(0), 0.0);
        assert_eq!(harmonic(1), 1.0);
        assert!((harmonic(4) - 25.0 / 12.0).abs() < 1e-15);
        let mut sum = 0.0;
        for n in 1..=100_000u64 {
            sum += 1.0 / n as f64;
            if [SUMMED - 1, SUMMED, SUMMED + 1, 1_000, 100_000].contains(&n) {
                assert!((harmonic(n) - sum).abs() < 1e-12, "n = {n}: {} and {sum}", harmonic(n));
            }
        }
    }

    #[test]
    fn all_points_are_candidates_in_small_problems() {
        assert_eq!(expected_candidates(1, 1, 32), 1.0);
        assert_eq!(expected_candidates(64, 32, 32), 64.0);
        assert_eq!(expected_merges(1, 1, 32), 1.0);
        assert_eq!(expected_merges(10, 1024, 1024), 1.0);
        assert_eq!(expected_merges(0, 1, 32), 0.0);
        assert_eq!(worst_case_merges(33, 32), 2);
    }

    #[test]
    fn expected_merges_match_the_published_formula() {
        // k = K = 32, n = 1,048,576: 1 + 2 (1 + H(2²⁰) − H(64)), about 3 + 2 ln(n / 2k).
        let merges = expected_merges(1 << 20, 32, 32);
        let approximation = 3.0 + 2.0 * ((1u32 << 20) as f64 / 64.0).ln();
        assert!((merges - approximation).abs() < 0.05, "{merges}");
    }

    /// Counts candidates and merges for a list of ranks, one point at a time.
    fn simulate(ranks: &[u32], k: usize, capacity: usize) -> (usize, usize) {
        let (mut best, mut buffer, mut bound) = (Vec::<u32>::new(), Vec::new(), u32::MAX);
        let (mut candidates, mut merges) = (0, 0);
        for (at, &rank) in ranks.iter().enumerate() {
            if rank < bound {
                buffer.push(rank);
                candidates += 1;
            }
            if buffer.len() == capacity || (at + 1 == ranks.len() && !buffer.is_empty()) {
                best.append(&mut buffer);
                best.sort_unstable();
                best.truncate(k);
                merges += 1;
                bound = if best.len() == k { best[k - 1] } else { u32::MAX };
            }
        }
        (candidates, merges)
    }

    #[test]
    fn bounds_hold_and_descending_order_attains_them() {
        const TRIALS: u64 = 40;
        for (n, k) in [(5_000, 32), (5_000, 1), (3_000, 33), (500, 100)] {
            let slots = capacity(k);
            let (mut candidates, mut merges) = (0, 0);
            for seed in 0..TRIALS {
                let ranks = Order::Shuffled.permutation(n, seed).expect("a shuffled order is a permutation");
                let (c, m) = simulate(&ranks, k, slots);
                candidates += c;
                merges += m;
            }
            let (candidates, merges) = (candidates as f64 / TRIALS as f64, merges as f64 / TRIALS as f64);
            let (most_candidates, most_merges) =
                (expected_candidates(n, k, slots), expected_merges(n, k, slots));
            assert!(
                candidates <= most_candidates && candidates > most_candidates / 4.0,
                "n = {n}, k = {k}: {candidates} of {most_candidates}"
            );
            assert!(
                merges <= most_merges && merges > most_merges / 4.0,
                "n = {n}, k = {k}: {merges} of {most_merges}"
            );

            let descending: Vec<u32> = (0..n as u32).rev().collect();
            assert_eq!(simulate(&descending, k, slots), (n, worst_case_merges(n, slots) as usize));
        }
    }

    #[test]
    fn the_expected_rank_matches_the_simulated_mean() {
        const TRIALS: u64 = 2_000;
        let (n, k, seen) = (400, 8, 50);
        let mut sum = 0.0;
        for seed in 0..TRIALS {
            let mut drawn = Order::Shuffled.permutation(n, seed).expect("a shuffled order is a permutation")
                [..seen]
                .to_vec();
            drawn.sort_unstable();
            sum += f64::from(drawn[k - 1]) + 1.0;
        }
        let (mean, expected) = (sum / TRIALS as f64, expected_rank(n, k, seen));
        // The standard error of the mean is about 0.45.
        assert!((mean - expected).abs() < 2.0, "{mean}, not {expected}");
    }

    #[test]
    fn max_distance_falls_from_infinity_to_kth_distance() {
        let ascending: Vec<f32> = (0..1000u16).map(f32::from).collect();
        assert_eq!(expected_max_distance(&ascending, 10, 9), f32::INFINITY);
        assert_eq!(expected_max_distance(&ascending, 10, 1000), 9.0);
        assert!(expected_max_distance(&ascending, 10, 10) > 900.0);
        assert_eq!(expected_max_distance(&ascending[..5], 10, 5), f32::INFINITY);
        assert_eq!(expected_max_distance(&[], 1, 1), f32::INFINITY);
    }

    proptest! {
        #[test]
        fn bounds_grow_with_n_but_never_exceed_it(n in 1usize..1_000_000, k in 1usize..1025) {
            let slots = capacity(k);
            let (candidates, merges) = (expected_candidates(n, k, slots), expected_merges(n, k, slots));
            prop_assert!(candidates <= n as f64 * (1.0 + 1e-12));
            prop_assert!(expected_candidates(n + 1, k, slots) >= candidates);
            prop_assert!(merges >= 1.0 && merges <= worst_case_merges(n, slots) as f64);
        }

        #[test]
        fn max_distance_never_increases(k in 1usize..40, seen in 1usize..300, n in 1usize..300) {
            let ascending: Vec<f32> = (0..n as u16).map(|i| f32::from(i) * 0.5).collect();
            let (seen, n) = (seen.min(n), n);
            prop_assert!(
                expected_max_distance(&ascending, k, seen) >= expected_max_distance(&ascending, k, n)
            );
        }
    }
}
