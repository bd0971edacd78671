//! How a problem is cut to pieces: the numbers of `Split`.

use super::interface::{CLUSTER, SPLIT_QUERIES, SPLIT_ROW_QUERIES, SPLIT_ROW_WARPS, SPLIT_ROW_WINDOW, SPLIT_WARPS, SPLIT_WINDOW};

/// Blocks along a grid's second axis, at most.
const MOST_BLOCKS: u32 = 65_535;

/// Up to so many points, every one is collected: a sample would cost more than it saves.
const ALL: u32 = 8192;
/// As many neighbours as a sampled group must be there for, so that groups with two of the nearest are few.
const GROUPS_PER_NEIGHBOUR: u64 = 4;
/// What it costs to collect a point, in distances: measured on an H200.
const HIT_COST: f64 = 400.0;
/// How much larger than its estimate a list is: where the order of the points says where they lie, more are within the
/// bound than at random.
const LIST_MARGIN: f64 = 4.0;
/// The lists of a few queries may be larger still: a list that overflows costs that query a scan by one block.
const ROOMY_LIST: u64 = 1 << 16;
const ROOMY_LISTS: u64 = 1 << 22;
/// What minima and lists of one launch may take, in bytes.
const SCRATCH: u64 = 1 << 29;
/// Blocks for every multiprocessor: eight are there at a time, and the last to end is not missed for long.
const BLOCKS: u64 = 32;
/// Blocks that a multiprocessor holds at a time.
const RESIDENT_BLOCKS: u32 = 8;

/// The plan of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// 2, 3, or 0 for any other number of dimensions.
    pub dims: u32,
    n: u32,
    /// Queries of a launch; more are answered by several.
    pub chunk: u32,
    /// Windows of the sample; 0: every point is collected.
    pub windows: u32,
    /// From one sampled cluster to the next: clusters × 2³². The sample reaches from the cloud's one end to the other,
    /// where points in order may have their nearest.
    pub spacing: u64,
    /// Groups in a window of the sample.
    pub window_groups: u32,
    /// Keys that a list holds.
    pub capacity: u32,
}

/// A launch of sample or collect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Queries of a block.
    pub block_queries: u32,
    /// Blocks along the points, and along the queries.
    pub grid: (u32, u32),
    /// Threads of a block.
    pub threads: u32,
}

impl Plan {
    /// Plans k of n points in d dimensions for q queries.
    pub fn new(n: usize, d: usize, k: usize, q: usize) -> Self {
        let dims = if d == 2 || d == 3 { d as u32 } else { 0 };
        let mut plan = Self { dims, n: n as u32, chunk: 0, windows: 0, spacing: 0, window_groups: 1, capacity: n as u32 };
        let expected = plan.sample(k as u64);
        let estimate = (LIST_MARGIN * expected) as u64 + 1024;
        let roomy = (ROOMY_LISTS / q as u64).min(ROOMY_LIST);
        plan.capacity = estimate.max(roomy).min(n as u64) as u32;
        let most = u64::from(MOST_BLOCKS) * u64::from(if dims == 0 { SPLIT_ROW_QUERIES } else { SPLIT_QUERIES });
        plan.chunk = (SCRATCH / plan.query_bytes()).min(most).clamp(1, q as u64) as u32;
        plan
    }

    /// Minima, bound, count and list of a query, in bytes.
    fn query_bytes(&self) -> u64 {
        8 * u64::from(self.capacity) + 4 * u64::from(self.groups()) + 8
    }

    /// What the stages leave to each other, in bytes.
    pub fn scratch_bytes(&self) -> u64 {
        u64::from(self.chunk) * self.query_bytes()
    }

    /// Chooses the sample, and returns how many points should then be within a bound.
    ///
    /// A sample of s points costs s distances and lets about k n / s points through, each of which costs [`HIT_COST`]
    /// distances: the sum is smallest at s = √(k n · [`HIT_COST`]).
    fn sample(&mut self, k: u64) -> f64 {
        let n = f64::from(self.n);
        if self.n <= ALL || u64::from(self.n) <= 16 * k {
            return n;
        }
        let points = (k as f64 * n * HIT_COST).sqrt().min(n / 2.0);
        let windows = (points as u32 / self.window_points()).max(1);
        let mut window_groups = 1;
        while window_groups < 32 && u64::from(windows * window_groups) < GROUPS_PER_NEIGHBOUR * k {
            window_groups *= 2;
        }
        let groups = f64::from(windows * window_groups);
        if groups < 1.2 * k as f64 {
            return n;
        }
        let clusters = windows * (self.window_points() / CLUSTER);
        (self.windows, self.window_groups) = (windows, window_groups);
        self.spacing = (u64::from(self.n / CLUSTER) << 32) / u64::from(clusters);
        // As many sampled points are within the k-th smallest of the groups' minima as fall, at random, into k of the groups.
        let sampled = -groups * (-(k as f64) / groups).ln_1p();
        // The bound is rounded up by up to 1/16.
        1.03 * sampled * n / f64::from(clusters * CLUSTER)
    }

    /// Groups of the sample.
    pub fn groups(&self) -> u32 {
        self.windows * self.window_groups
    }

    fn window_points(&self) -> u32 {
        if self.dims == 0 { SPLIT_ROW_WINDOW } else { SPLIT_WINDOW }
    }

    fn warps(&self) -> u32 {
        if self.dims == 0 { SPLIT_ROW_WARPS } else { SPLIT_WARPS }
    }

    /// How the sample of `queries` is launched on a device with so many multiprocessors.
    pub fn sample_shape(&self, queries: u32, multiprocessors: u32) -> Shape {
        self.shape(self.windows, queries, multiprocessors)
    }

    /// How all points are collected for `queries`.
    pub fn collect_shape(&self, queries: u32, multiprocessors: u32) -> Shape {
        self.shape(self.n.div_ceil(self.window_points()), queries, multiprocessors)
    }

    fn shape(&self, windows: u32, queries: u32, multiprocessors: u32) -> Shape {
        let along_points = windows.div_ceil(self.warps()).max(1);
        let block_queries = match self.dims {
            0 => SPLIT_ROW_QUERIES.min(queries),
            // A block reads its points once for all its queries; but if few blocks share the points, more share the queries.
            _ => SPLIT_QUERIES.min(queries.div_ceil((multiprocessors * RESIDENT_BLOCKS).div_ceil(along_points))).max(1),
        };
        let along_queries = queries.div_ceil(block_queries);
        let most = (u64::from(multiprocessors) * BLOCKS).div_ceil(u64::from(along_queries)) as u32;
        Shape { block_queries, grid: (along_points.min(most), along_queries), threads: self.warps() * 32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sampled point is one of the cloud's, and none is sampled twice.
    #[test]
    fn samples_lie_in_the_cloud() {
        for n in [8193, 10_000, 40_003, 100_000, 1_048_576, 16_777_216, 4_000_000_000] {
            for (d, k) in [(2, 1), (2, 32), (3, 100), (17, 500), (2, 1024), (128, 1024)] {
                let plan = Plan::new(n, d, k, 1);
                if plan.windows == 0 {
                    assert_eq!(plan.capacity as usize, n.min(plan.capacity as usize));
                    assert!(n <= 16 * 1024 || n <= ALL as usize || n < 40_000, "{n} points are collected: {plan:?}");
                    continue;
                }
                let clusters = u64::from(plan.windows * (plan.window_points() / CLUSTER));
                let last = (((clusters - 1) * plan.spacing) >> 32) * u64::from(CLUSTER);
                assert!(plan.spacing >= 1 << 32, "two clusters are one: {plan:?}");
                let (end, gap) = (n as u64 - u64::from(CLUSTER), (plan.spacing >> 32) + 2);
                assert!(last <= end && last + gap * u64::from(CLUSTER) > end, "the sample ends at {last} of {n}: {plan:?}");
                assert!(u64::from(plan.groups()) >= k as u64, "k = {k}: {plan:?}");
                assert!(plan.capacity as usize >= k, "{plan:?}");
            }
        }
    }

    #[test]
    fn what_is_not_sampled_fits_the_list() {
        for (n, k) in [(1, 1), (1, 1024), (8192, 32), (16_384, 1024), (1000, 1000)] {
            let plan = Plan::new(n, 2, k, 1_000_000);
            assert_eq!((plan.windows, plan.capacity as usize), (0, n));
        }
    }

    #[test]
    fn shapes_cover_all_queries_and_points() {
        for n in [1, 300, 20_001, 4_194_304] {
            for q in [1, 2, 37, 300, 4096, 1_000_000, 10_000_000] {
                for d in [2, 3, 5] {
                    let plan = Plan::new(n, d, 32, q);
                    for shape in [plan.sample_shape(plan.chunk, 132), plan.collect_shape(plan.chunk, 132)] {
                        assert!(
                            shape.block_queries * shape.grid.1 >= plan.chunk && shape.block_queries * (shape.grid.1 - 1) < plan.chunk,
                            "{shape:?}"
                        );
                        assert!(shape.grid.0 >= 1 && shape.grid.1 <= 65_535, "{shape:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_queries_are_answered_in_chunks() {
        let plan = Plan::new(1 << 22, 2, 1024, 1 << 20);
        assert!(plan.chunk > 1000 && plan.scratch_bytes() <= SCRATCH, "{plan:?}");
    }
}
