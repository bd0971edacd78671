//! Clusters in device memory, and the launches of k-means.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig};

use crate::cuda::DriverResult;
use crate::cuda::device::kernels::KernelCache;
use crate::cuda::device::memory::{blocks, launch, read};
use crate::cuda::device::units::Unit;
use crate::cuda::interface::step::{
    self as interface, ASSIGN_THREADS, Lloyd, SEED_THREADS, Seeding, step_entry,
};
use crate::knn::{Metric, Problem};
use crate::step::{ClusterParameters, Clusters, Quantizer, first_seed};

/// Clusters of the points on a device, cached with the points.
pub struct DeviceClusters {
    pub clustering: ClusterParameters,
    pub count: usize,
    centres: CudaSlice<f64>,
    reaches: CudaSlice<f64>,
    norms: CudaSlice<f64>,
    margins: interface::Margins,
    angular: bool,
    pub first_groups: CudaSlice<u32>,
    pub coordinates: CudaSlice<f32>,
    pub positions: CudaSlice<u32>,
}

impl DeviceClusters {
    /// Bytes needed to find and hold `clusters` clusters of n points.
    pub fn bytes(n: usize, d: usize, clusters: usize) -> u64 {
        let (n, d, clusters) = (n as u64, d as u64, clusters as u64 + 32);
        let kept = 4 * (d + 1) * (n + 32 * clusters) + (8 * d + 24) * clusters;
        let finding = 8 * n + n / 64 + (12 * d + 16) * clusters;
        kept + finding + (1 << 12)
    }

    /// Copies clusters to a device.
    ///
    /// # Errors
    /// Those of the driver, such as too little memory.
    pub fn upload(stream: &Arc<CudaStream>, clusters: &Clusters) -> DriverResult<Self> {
        let spheres = &clusters.spheres;
        let coordinates: Vec<f32> = clusters.coordinates.iter().flat_map(|row| row.0).collect();
        let margins = spheres.margins;
        Ok(Self {
            clustering: clusters.clustering,
            count: clusters.count(),
            centres: stream.clone_htod(spheres.centres.as_flattened())?,
            reaches: stream.clone_htod(spheres.reaches.as_flattened())?,
            norms: stream.clone_htod(spheres.norms.as_flattened())?,
            margins: interface::Margins {
                centre: margins.centre,
                rule: margins.rule,
                underflow: margins.underflow,
            },
            angular: spheres.metric != Metric::L2,
            first_groups: stream.clone_htod(&clusters.first_groups)?,
            coordinates: stream.clone_htod(&coordinates)?,
            positions: stream.clone_htod(clusters.positions.as_flattened())?,
        })
    }

    /// The spheres as a kernel argument.
    pub fn spheres(&self, stream: &Arc<CudaStream>) -> interface::Spheres {
        interface::Spheres {
            centres: self.centres.device_ptr(stream).0,
            reaches: self.reaches.device_ptr(stream).0,
            norms: self.norms.device_ptr(stream).0,
            margins: self.margins,
            angular: u32::from(self.angular),
            count: self.count as u32,
        }
    }
}

/// The kernels of k-means.
pub struct Clusterer {
    weigh: CudaFunction,
    choose: CudaFunction,
    assign: CudaFunction,
    move_centres: CudaFunction,
}

impl Clusterer {
    /// # Errors
    /// Why the kernels are unavailable.
    pub fn load(kernels: &mut KernelCache) -> Result<Self, String> {
        let mut step = |name: &str| kernels.function(Unit::new(super::CLUSTER, 0, 0), &step_entry(name));
        Ok(Self {
            weigh: step("weigh")?,
            choose: step("choose")?,
            assign: step("assign")?,
            move_centres: step("move")?,
        })
    }

    /// Divides points into at most the given number of clusters; returns each point's cluster, equal to the
    /// twin's result.
    ///
    /// # Safety
    /// `rows` must be the address of the problem's points, row by row.
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn kmeans(
        &self,
        stream: &Arc<CudaStream>,
        problem: &Problem,
        rows: CUdeviceptr,
        clustering: ClusterParameters,
    ) -> DriverResult<Vec<u32>> {
        let (n, d) = (problem.n(), problem.dims());
        let scale = Quantizer::new(problem.extents(), n);
        let low = stream.clone_htod(&scale.low)?;
        let scale =
            interface::Scale { low: low.device_ptr(stream).0, cells: scale.cells, weights: scale.weights };
        // SAFETY: guaranteed by the caller.
        let seeds = unsafe { self.seeds(stream, rows, scale, [n, d], clustering.clusters) }?;
        let points = problem.points();
        let centres: Vec<f32> =
            seeds.iter().flat_map(|&seed| &points[seed as usize * d..][..d]).copied().collect();
        let clusters = seeds.len();

        let mut centres = stream.clone_htod(&centres)?;
        let mut assigned = stream.clone_htod(&vec![u32::MAX; n])?;
        let mut sums = stream.alloc_zeros::<u64>(clusters * (d + 1))?;
        let mut changed = stream.alloc_zeros::<u32>(1)?;
        for iteration in 0..=clustering.iterations {
            stream.memset_zeros(&mut sums)?;
            stream.memset_zeros(&mut changed)?;
            let lloyd = Lloyd {
                rows,
                scale,
                centres: centres.device_ptr_mut(stream).0,
                assigned: assigned.device_ptr_mut(stream).0,
                sums: sums.device_ptr_mut(stream).0,
                changed: changed.device_ptr_mut(stream).0,
                n: n as u32,
                d: d as u32,
                clusters: clusters as u32,
            };
            // SAFETY: `Lloyd` is the kernels' parameter, and its buffers have the sizes that it states.
            unsafe { launch(stream, &self.assign, threads(n, ASSIGN_THREADS), &lloyd) }?;
            if read(stream, &changed)? == [0] || iteration == clustering.iterations {
                break;
            }
            // SAFETY: as above.
            unsafe { launch(stream, &self.move_centres, threads(clusters * d, ASSIGN_THREADS), &lloyd) }?;
        }
        read(stream, &assigned)
    }

    /// The positions of the seeds among n points in d dimensions.
    ///
    /// # Safety
    /// `rows` must be the address of n rows of d numbers, and `scale.low` that of d numbers.
    unsafe fn seeds(
        &self,
        stream: &Arc<CudaStream>,
        rows: CUdeviceptr,
        scale: interface::Scale,
        [n, d]: [usize; 2],
        clusters: usize,
    ) -> DriverResult<Vec<u32>> {
        let sums_of = n.div_ceil(SEED_THREADS as usize);
        let mut seeds = vec![0; clusters];
        seeds[0] = first_seed(n);
        let mut seeds = stream.clone_htod(&seeds)?;
        // SAFETY: uninitialised memory, written before it is read.
        let (mut nearest, mut sums) = unsafe { (stream.alloc::<f32>(n)?, stream.alloc::<u64>(sums_of)?) };
        for turn in 1..clusters {
            let seeding = Seeding {
                rows,
                scale,
                nearest: nearest.device_ptr_mut(stream).0,
                sums: sums.device_ptr_mut(stream).0,
                seeds: seeds.device_ptr_mut(stream).0,
                turn: turn as u32,
                n: n as u32,
                d: d as u32,
                blocks: sums_of as u32,
            };
            // SAFETY: `Seeding` is the kernels' parameter, and its buffers have the sizes that it states.
            unsafe {
                launch(stream, &self.weigh, threads(n, SEED_THREADS), &seeding)?;
                launch(stream, &self.choose, blocks(1, SEED_THREADS), &seeding)?;
            }
        }
        let seeds = read(stream, &seeds)?;
        // Once all points coincide with seeds, the remaining turns choose no seed.
        let count = seeds.iter().position(|&seed| seed == u32::MAX).unwrap_or(clusters);
        Ok(seeds[..count].to_vec())
    }
}

/// A launch of at least `count` threads, in blocks of `block`.
fn threads(count: usize, block: u32) -> LaunchConfig {
    blocks(count.div_ceil(block as usize) as u32, block)
}
