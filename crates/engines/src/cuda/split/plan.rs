//! How a problem is partitioned: the numbers of `Split`.

use crate::cuda::interface::split::{
    CLUSTER, SPLIT_QUERIES, SPLIT_ROW_QUERIES, SPLIT_ROW_WARPS, SPLIT_ROW_WINDOW, SPLIT_WARPS, SPLIT_WINDOW,
};

/// Maximum number of blocks along a grid's second axis.
const MAX_BLOCKS: u32 = 65_535;

/// Up to this many points, all are collected: a sample would cost more than it saves.
const ALL: u32 = 8192;
/// Sampled groups per neighbour, at least, so that few groups contain two of the nearest points.
const GROUPS_PER_NEIGHBOUR: u64 = 4;
/// The cost of collecting a point, in units of distances; measured on an H200.
const HIT_COST: f64 = 400.0;
/// Capacity of a list relative to its estimated length: if the points are spatially ordered, more of them are
/// within the bound than in random order.
const LIST_MARGIN: f64 = 4.0;
/// With few queries the lists may be longer still: if a query's list overflows, one block has to scan all
/// points for it.
const ROOMY_LIST: u64 = 1 << 16;
const ROOMY_LISTS: u64 = 1 << 22;
/// Limit on the bytes of minima and lists in one launch.
const SCRATCH: u64 = 1 << 29;
/// Blocks per multiprocessor: eight run at a time, and with this many the last to finish leaves little idle.
const BLOCKS: u64 = 32;
const RESIDENT_BLOCKS: u32 = 8;

/// The partition of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// 2, 3, or 0 for any other number of dimensions.
    pub dims: u32,
    n: u32,
    /// Queries per launch; more are answered by several launches.
    pub chunk: u32,
    /// Windows in the sample; 0 if every point is collected.
    pub windows: u32,
    /// Distance between sampled clusters, in clusters × 2³². The sample spans the whole cloud, since the
    /// nearest points of an ordered cloud may be anywhere in it.
    pub spacing: u64,
    /// Groups per window of the sample.
    pub window_groups: u32,
    /// Capacity of a list, in keys.
    pub capacity: u32,
}

/// Launch configuration of the sample or collect kernel; queries and threads are per block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchShape {
    pub block_queries: u32,
    /// Blocks along the points, blocks along the queries.
    pub grid: (u32, u32),
    pub threads: u32,
}

impl Plan {
    /// Plans a search for the k nearest of n points in d dimensions for q queries.
    pub fn new(n: usize, d: usize, k: usize, q: usize) -> Self {
        let dims = if d == 2 || d == 3 { d as u32 } else { 0 };
        let mut plan = Self {
            dims,
            n: n as u32,
            chunk: 0,
            windows: 0,
            spacing: 0,
            window_groups: 1,
            capacity: n as u32,
        };
        let expected = plan.sample(k as u64);
        let estimate = (LIST_MARGIN * expected) as u64 + 1024;
        let roomy = (ROOMY_LISTS / q as u64).min(ROOMY_LIST);
        plan.capacity = estimate.max(roomy).min(n as u64) as u32;
        let most =
            u64::from(MAX_BLOCKS) * u64::from(if dims == 0 { SPLIT_ROW_QUERIES } else { SPLIT_QUERIES });
        plan.chunk = (SCRATCH / plan.query_bytes()).min(most).clamp(1, q as u64) as u32;
        plan
    }

    fn query_bytes(&self) -> u64 {
        8 * u64::from(self.capacity) + 4 * u64::from(self.groups()) + 8
    }

    /// Bytes of the buffers between stages.
    pub fn scratch_bytes(&self) -> u64 {
        u64::from(self.chunk) * self.query_bytes()
    }

    /// Chooses the sample and returns the expected number of points within a bound.
    ///
    /// A sample of s points costs s distances and lets about k n / s points through, each of which costs
    /// [`HIT_COST`] distances. The sum is smallest at s = √(k n · [`HIT_COST`]).
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
        // The number of sampled points within the k-th smallest group minimum is the number that, at random,
        // hit k of the groups.
        let sampled = -groups * (-(k as f64) / groups).ln_1p();
        // The bound is rounded up by at most 1/16.
        1.03 * sampled * n / f64::from(clusters * CLUSTER)
    }

    /// Groups in the sample.
    pub fn groups(&self) -> u32 {
        self.windows * self.window_groups
    }

    fn window_points(&self) -> u32 {
        if self.dims == 0 { SPLIT_ROW_WINDOW } else { SPLIT_WINDOW }
    }

    fn warps(&self) -> u32 {
        if self.dims == 0 { SPLIT_ROW_WARPS } else { SPLIT_WARPS }
    }

    /// Launch configuration of the sample kernel on a device with this many multiprocessors.
    pub fn sample_shape(&self, queries: u32, multiprocessors: u32) -> LaunchShape {
        self.shape(self.windows, queries, multiprocessors)
    }

    /// Launch configuration of the collect kernel.
    pub fn collect_shape(&self, queries: u32, multiprocessors: u32) -> LaunchShape {
        self.shape(self.n.div_ceil(self.window_points()), queries, multiprocessors)
    }

    fn shape(&self, windows: u32, queries: u32, multiprocessors: u32) -> LaunchShape {
        let along_points = windows.div_ceil(self.warps()).max(1);
        let block_queries = match self.dims {
            0 => SPLIT_ROW_QUERIES.min(queries),
            // A block reads its points once for all its queries, but if few blocks share the points, more
            // must share the queries.
            _ => SPLIT_QUERIES
                .min(queries.div_ceil((multiprocessors * RESIDENT_BLOCKS).div_ceil(along_points)))
                .max(1),
        };
        let along_queries = queries.div_ceil(block_queries);
        let most = (u64::from(multiprocessors) * BLOCKS).div_ceil(u64::from(along_queries)) as u32;
        LaunchShape {
            block_queries,
            grid: (along_points.min(most), along_queries),
            threads: self.warps() * 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sampled point is in the cloud, and none is sampled twice.
    #[test]
    fn samples_are_in_range_and_distinct() {
        for n in [8193, 10_000, 40_003, 100_000, 1_048_576, 16_777_216, 4_000_000_000] {
            for (d, k) in [(2, 1), (2, 32), (3, 100), (17, 500), (2, 1024), (128, 1024)] {
                let plan = Plan::new(n, d, k, 1);
                if plan.windows == 0 {
                    assert_eq!(plan.capacity as usize, n.min(plan.capacity as usize));
                    assert!(
                        n <= 16 * 1024 || n <= ALL as usize || n < 40_000,
                        "{n} points are collected: {plan:?}"
                    );
                    continue;
                }
                let clusters = u64::from(plan.windows * (plan.window_points() / CLUSTER));
                let last = (((clusters - 1) * plan.spacing) >> 32) * u64::from(CLUSTER);
                assert!(plan.spacing >= 1 << 32, "two clusters are one: {plan:?}");
                let (end, gap) = (n as u64 - u64::from(CLUSTER), (plan.spacing >> 32) + 2);
                assert!(
                    last <= end && last + gap * u64::from(CLUSTER) > end,
                    "the sample ends at {last} of {n}: {plan:?}"
                );
                assert!(u64::from(plan.groups()) >= k as u64, "k = {k}: {plan:?}");
                assert!(plan.capacity as usize >= k, "{plan:?}");
            }
        }
    }

    #[test]
    fn unsampled_clouds_fit_in_the_list() {
        for (n, k) in [(1, 1), (1, 1024), (8192, 32), (16_384, 1024), (1000, 1000)] {
            let plan = Plan::new(n, 2, k, 1_000_000);
            assert_eq!((plan.windows, plan.capacity as usize), (0, n));
        }
    }

    #[test]
    fn launch_shapes_cover_all_queries_and_points() {
        for n in [1, 300, 20_001, 4_194_304] {
            for q in [1, 2, 37, 300, 4096, 1_000_000, 10_000_000] {
                for d in [2, 3, 5] {
                    let plan = Plan::new(n, d, 32, q);
                    for shape in [plan.sample_shape(plan.chunk, 132), plan.collect_shape(plan.chunk, 132)] {
                        assert!(
                            shape.block_queries * shape.grid.1 >= plan.chunk
                                && shape.block_queries * (shape.grid.1 - 1) < plan.chunk,
                            "{shape:?}"
                        );
                        assert!(shape.grid.0 >= 1 && shape.grid.1 <= 65_535, "{shape:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_query_counts_are_split_into_chunks() {
        let plan = Plan::new(1 << 22, 2, 1024, 1 << 20);
        assert!(plan.chunk > 1000 && plan.scratch_bytes() <= SCRATCH, "{plan:?}");
    }
}
