//! k-means clustering: seeds by k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iterations (STEP §4).
//!
//! Twin of `cuda/step/kmeans.cuh`. Both devices must find the same clusters, in any order of threads. So all
//! sums are of integers: coordinates are counted in cells of the points' extent, and squared distances in
//! units of its diagonal.

use multiversion::multiversion;
use rayon::prelude::*;

use super::queue::WARP;
use crate::index::lane_keys;
use crate::knn::Problem;
use crate::lockstep::distance::{GroupedPoints, squared_distances};
use crate::lockstep::{PADDING, index_of};
use crate::progress::Progress;

/// Points per work item, and per partial sum of weights.
pub const BLOCK: usize = 1024;

/// The most bits of a point's cell or weight. Fewer are used if the sum over all points would not fit 63
/// bits.
const MAX_BITS: u32 = 40;

/// Converts coordinates and squared distances to integers.
#[derive(Clone, Debug)]
pub struct Quantizer {
    /// The least coordinate of each axis.
    pub low: Vec<f32>,
    /// Cells per unit of length; the same along all axes.
    pub cells: f64,
    /// Weight per unit of squared distance.
    pub weights: f64,
}

impl Quantizer {
    /// The scale of n points with these extents.
    pub fn new(extents: &[[f32; 2]], n: usize) -> Self {
        // A sum of n terms, each at most twice 2^bits (where squares underflow), stays below 2^63.
        let bits = MAX_BITS.min(62 - n.next_power_of_two().trailing_zeros());
        let most = (1u64 << bits) as f64;
        let lengths = extents.iter().map(|[low, high]| f64::from(*high) - f64::from(*low));
        let (widest, diagonal) = lengths.fold((0.0f64, 0.0), |(widest, diagonal), length| {
            (widest.max(length), diagonal + length * length)
        });
        // If all points are equal, every cell and weight is 0 at any scale.
        let per = |extent: f64| if extent > 0.0 { most / extent } else { 1.0 };
        Self {
            low: extents.iter().map(|extent| extent[0]).collect(),
            cells: per(widest),
            weights: per(diagonal),
        }
    }

    #[inline(always)]
    fn cell(&self, axis: usize, coordinate: f32) -> u64 {
        ((f64::from(coordinate) - f64::from(self.low[axis])) * self.cells) as u64
    }

    /// The weight of a point, given its squared distance from the nearest seed.
    #[inline(always)]
    fn weight(&self, squared_distance: f32) -> u64 {
        (f64::from(squared_distance) * self.weights) as u64
    }

    /// The mean coordinate of `count` points whose cells add up to `sum`.
    #[inline(always)]
    fn mean(&self, axis: usize, sum: u64, count: u32) -> f32 {
        (f64::from(self.low[axis]) + sum as f64 / f64::from(count) / self.cells) as f32
    }
}

/// Divides a problem's points into at most `clusters` clusters; returns each point's cluster, or `None` if
/// cancelled. No CUDA counterpart: the host launches a kernel for each step.
pub fn kmeans(
    problem: &Problem,
    clusters: usize,
    iterations: usize,
    progress: &dyn Progress,
) -> Option<Vec<u32>> {
    let (dims, rows) = (problem.dims(), problem.points());
    let scale = Quantizer::new(problem.extents(), problem.n());
    let points = GroupedPoints::new(rows, dims);
    let seeds = seeds(&points, rows, dims, &scale, clusters, progress)?;
    drop(points);
    let mut centres: Vec<f32> =
        seeds.iter().flat_map(|&seed| &rows[seed as usize * dims..][..dims]).copied().collect();
    let mut assigned = vec![u32::MAX; problem.n()];
    for iteration in 0..=iterations {
        if progress.cancelled() {
            return None;
        }
        progress.update(iteration as u64, iterations as u64);
        let grouped = GroupedPoints::new(&centres, dims);
        let parts = assigned.par_chunks_mut(BLOCK).zip(rows.par_chunks(BLOCK * dims));
        let changed: usize = parts.map(|(assigned, rows)| assign(&grouped, rows, dims, assigned)).sum();
        if changed == 0 || iteration == iterations {
            break;
        }
        let sums = sums(&scale, rows, dims, &assigned, centres.len() / dims);
        for (centre, sums) in centres.chunks_exact_mut(dims).zip(sums.chunks_exact(dims + 1)) {
            let count = sums[dims] as u32;
            // An empty cluster keeps its centre.
            if count > 0 {
                centre
                    .iter_mut()
                    .enumerate()
                    .for_each(|(axis, value)| *value = scale.mean(axis, sums[axis], count));
            }
        }
    }
    Some(assigned)
}

/// A pseudo-random number for each turn: the finaliser of SplitMix64 with a fixed seed (Steele, Lea and Flood
/// 2014).
fn random(turn: u64) -> u64 {
    let mut bits = turn.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Scales a random number to the range below `total`.
fn below(total: u64, random: u64) -> u64 {
    ((u128::from(random) * u128::from(total)) >> 64) as u64
}

/// The first seed among n points. No CUDA counterpart: the host chooses it.
pub fn first_seed(n: usize) -> u32 {
    below(n as u64, random(0)) as u32
}

/// k-means++: the first point at random, and each further one with a probability proportional to its squared
/// distance from the nearest seed. Returns fewer than requested if all points coincide with seeds. No
/// CUDA counterpart: one kernel per step.
fn seeds(
    points: &GroupedPoints<WARP>,
    rows: &[f32],
    dims: usize,
    scale: &Quantizer,
    clusters: usize,
    progress: &dyn Progress,
) -> Option<Vec<u32>> {
    let mut nearest = vec![[f32::INFINITY; WARP]; points.groups()];
    let mut seeds = vec![first_seed(points.n())];
    for turn in 1..clusters as u64 {
        if progress.cancelled() {
            return None;
        }
        let seed = *seeds.last().expect("there is a first") as usize;
        let row = &rows[seed * dims..][..dims];
        let groups = BLOCK / WARP;
        let weighed = nearest.par_chunks_mut(groups).enumerate();
        let blocks: Vec<u64> =
            weighed.map(|(block, nearest)| weigh(points, block * groups, row, scale, nearest)).collect();
        let total = blocks.iter().sum();
        if total == 0 {
            break;
        }
        let target = below(total, random(turn));
        let (block, before) = choose_seed(0, target, blocks.iter().copied());
        let (point, _) = choose_seed(
            before,
            target,
            nearest[block * groups..].iter().flatten().map(|&distance| scale.weight(distance)),
        );
        seeds.push((block * BLOCK + point) as u32);
    }
    Some(seeds)
}

/// Updates the distances to the nearest seed with a further seed; returns the sum of their weights. `nearest`
/// begins with group `first`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn weigh(
    points: &GroupedPoints<WARP>,
    first: usize,
    seed: &[f32],
    scale: &Quantizer,
    nearest: &mut [[f32; WARP]],
) -> u64 {
    let mut sum = 0;
    for (at, nearest) in nearest.iter_mut().enumerate() {
        let group = first + at;
        let [distances] = squared_distances(points.range(group..group + 1), [seed]);
        let there = (points.n() - group * WARP).min(WARP);
        for lane in 0..WARP {
            // Padding has weight 0.
            let distance = if lane < there { distances[lane] } else { 0.0 };
            nearest[lane] = if distance < nearest[lane] { distance } else { nearest[lane] };
            sum += scale.weight(nearest[lane]);
        }
    }
    sum
}

/// The first weight at which the running sum, starting from `before`, exceeds `target`, and the sum before
/// it.
fn choose_seed(mut before: u64, target: u64, weights: impl Iterator<Item = u64>) -> (usize, u64) {
    for (at, weight) in weights.enumerate() {
        if before + weight > target {
            return (at, before);
        }
        before += weight;
    }
    unreachable!("the target is below the sum of all weights")
}

/// Assigns points to the nearest centre by the distance that all engines share, or to the first of equally
/// near ones; returns the number of changes.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn assign(centres: &GroupedPoints<WARP>, rows: &[f32], dims: usize, assigned: &mut [u32]) -> usize {
    let mut changed = 0;
    for (point, assigned) in rows.chunks_exact(dims).zip(assigned) {
        // With a known number of axes the compiler unrolls the loops over them.
        let nearest = match *point {
            [x, y] => nearest_centre(centres, &[x, y]),
            [x, y, z] => nearest_centre(centres, &[x, y, z]),
            _ => nearest_centre(centres, point),
        };
        changed += usize::from(*assigned != nearest);
        *assigned = nearest;
    }
    changed
}

/// The centre with the smallest (distance, number).
#[inline(always)]
fn nearest_centre(centres: &GroupedPoints<WARP>, point: &[f32]) -> u32 {
    let mut least = [PADDING; WARP];
    for group in 0..centres.groups() {
        let mut numbers = [0; WARP];
        for (lane, number) in numbers.iter_mut().enumerate() {
            *number = (group * WARP + lane) as u32;
        }
        let [distances] = squared_distances(centres.range(group..group + 1), [point]);
        let keys = lane_keys(&distances, &numbers);
        for lane in 0..WARP {
            least[lane] = if keys[lane] < least[lane] { keys[lane] } else { least[lane] };
        }
    }
    index_of(least.into_iter().min().expect("a warp has lanes"))
}

/// For each cluster, the sums of its points' cells, axis by axis, then the number of points. No CUDA
/// counterpart: atomic additions in CUDA.
fn sums(scale: &Quantizer, rows: &[f32], dims: usize, assigned: &[u32], clusters: usize) -> Vec<u64> {
    let none = || vec![0u64; clusters * (dims + 1)];
    let add = |mut sums: Vec<u64>, (assigned, rows): (&[u32], &[f32])| {
        for (&cluster, row) in assigned.iter().zip(rows.chunks_exact(dims)) {
            let sums = &mut sums[cluster as usize * (dims + 1)..][..dims + 1];
            for (axis, &value) in row.iter().enumerate() {
                sums[axis] += scale.cell(axis, value);
            }
            sums[dims] += 1;
        }
        sums
    };
    let parts = assigned.par_chunks(BLOCK).zip(rows.par_chunks(BLOCK * dims)).with_min_len(16);
    parts.fold(none, add).reduce(none, |mut a, b| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::testing::{problem, scattered};

    #[test]
    fn kmeans_is_deterministic_for_any_thread_count() {
        let problem = problem(3, scattered(5000, 3), vec![0], 1);
        let all = kmeans(&problem, 40, 50, &NoProgress).unwrap();
        let alone = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap()
            .install(|| kmeans(&problem, 40, 50, &NoProgress).unwrap());
        assert_eq!(all, alone);
        assert_eq!(all.iter().copied().max(), Some(39), "each seed lies in its own cluster");
    }

    /// Four distant piles: k-means++ puts a seed into each.
    #[test]
    fn separated_groups_become_clusters() {
        let values = (0..400)
            .flat_map(|i| [f64::from(i % 2) * 1000.0 + f64::from(i % 7), f64::from(i / 2 % 2) * 1000.0])
            .collect();
        let assigned = kmeans(&problem(2, values, vec![0], 1), 4, 50, &NoProgress).unwrap();
        for (i, &cluster) in assigned.iter().enumerate() {
            assert_eq!(cluster, assigned[i % 4], "point {i}");
        }
        assert!((0..4).all(|cluster| assigned[..4].contains(&cluster)));
    }

    #[test]
    fn clusters_never_outnumber_distinct_points() {
        assert!(
            kmeans(&problem(2, vec![7.0; 2000], vec![0], 1), 30, 50, &NoProgress)
                .unwrap()
                .iter()
                .all(|&cluster| cluster == 0)
        );
        let assigned = kmeans(
            &problem(1, (0..1000).map(|i| f64::from(i % 3)).collect(), vec![0], 1),
            30,
            50,
            &NoProgress,
        )
        .unwrap();
        assert_eq!(assigned.iter().copied().max(), Some(2));
    }

    /// Lloyd's iterations never increase the sum of squared distances.
    #[test]
    fn iterations_reduce_the_squared_distances() {
        let (n, dims) = (3000, 2);
        let values = scattered(n, dims);
        let problem = problem(dims, values.clone(), vec![0], 1);
        let spread = |assigned: &[u32]| -> f64 {
            let mut sums = vec![0.0; 32 * (dims + 1)];
            for (row, &cluster) in values.chunks(dims).zip(assigned) {
                (0..dims).for_each(|axis| sums[cluster as usize * (dims + 1) + axis] += row[axis]);
                sums[cluster as usize * (dims + 1) + dims] += 1.0;
            }
            let of = |row: &[f64], cluster: u32| {
                let sums = &sums[cluster as usize * (dims + 1)..][..dims + 1];
                (0..dims).map(|axis| (row[axis] - sums[axis] / sums[dims]).powi(2)).sum::<f64>()
            };
            values.chunks(dims).zip(assigned).map(|(row, &cluster)| of(row, cluster)).sum()
        };
        let spreads =
            [0, 1, 5, 50].map(|iterations| spread(&kmeans(&problem, 32, iterations, &NoProgress).unwrap()));
        assert!(spreads.iter().rev().is_sorted() && spreads[3] < 0.95 * spreads[0], "{spreads:?}");
    }

    #[test]
    fn fixed_point_means_are_accurate() {
        let scale = Quantizer::new(&[[-5.0, 3.0], [2.0, 2.0]], 1000);
        let values = [-5.0f32, 3.0, 0.25, -1.5];
        let sum = values.iter().map(|&value| scale.cell(0, value)).sum();
        assert!((f64::from(scale.mean(0, sum, 4)) - (-3.25 / 4.0)).abs() < 1e-6);
        assert_eq!(scale.mean(1, 3 * scale.cell(1, 2.0), 3), 2.0);
    }
}
