//! The launches that answer few queries, each by several warps (`cuda/step/share.cuh`).

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtrMut};

use super::search::{one_warp_each, padded};
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::launch;
use crate::cuda::device::units::Unit;
use crate::cuda::interface::step::{
    Gathering, IndexedShare, IndexedVisit, Output, Queries, Shares, StoredShare, StoredVisit,
    step_share_entry,
};
use crate::knn::EngineId;

/// Warps per multiprocessor that keep it busy with one query each.
const RESIDENT_WARPS: u32 = 16;

/// The most warps that share a query, and the fewest clusters for each: gathering their results also takes
/// time.
const MAX_WARPS: usize = 32;
const CLUSTERS_EACH: usize = 8;

/// The most keys that the warps of a launch store.
const MAX_KEYS: usize = 1 << 27;

/// Warps per query, for q queries with `clusters` clusters each: as many as fit on the device.
pub fn warps_each(q: usize, clusters: usize, multiprocessors: u32) -> u32 {
    let room = (multiprocessors * RESIDENT_WARPS) as usize / q;
    room.min(clusters / CLUSTERS_EACH).clamp(1, MAX_WARPS) as u32
}

/// The most queries per launch, if `warps` warps store K keys for each.
pub fn most_queries(warps: u32, capacity: u32) -> usize {
    MAX_KEYS / (warps as usize * capacity as usize)
}

/// The visit of a query by several warps, and their results for gather.
pub struct SharedVisit {
    visit: CudaFunction,
    gather: CudaFunction,
    /// A row of warps × K keys per query.
    results: CudaSlice<u64>,
    /// The bounds that the warps of each query share (`Shares` in `cuda/step/interface.cuh`).
    bounds: CudaSlice<u64>,
    warps: u32,
}

impl SharedVisit {
    /// Bytes of the buffers for `queries` queries at a time.
    pub fn bytes(queries: usize, warps: u32, capacity: u32) -> u64 {
        8 * queries as u64 * (u64::from(warps) * u64::from(capacity) + 1)
    }

    /// # Errors
    /// `EngineError::Unavailable` if the kernels are unavailable, `EngineError::Device`.
    pub fn load(
        cuda: &mut Cuda,
        engine: EngineId,
        exhaustive: bool,
        queries: usize,
        warps: u32,
        capacity: u32,
    ) -> Result<Self> {
        let unit = Unit::new(super::SHARE, capacity, 0);
        let mut step = |name: &str| cuda.kernel(engine, unit, &step_share_entry(name, capacity));
        let (visit, gather) =
            (step(if exhaustive { "share_stored" } else { "share_indexed" })?, step("gather")?);
        let reserve = || -> DriverResult<_> {
            // SAFETY: uninitialised memory, written before it is read.
            unsafe {
                Ok((cuda.stream.alloc(queries * (warps * capacity) as usize)?, cuda.stream.alloc(queries)?))
            }
        };
        let (results, bounds) = reserve().map_err(|error| cuda.failed(error))?;
        Ok(Self { visit, gather, results, bounds, warps })
    }

    /// Answers queries whose clusters are in order.
    ///
    /// # Safety
    /// The pointers of `visit` must be to buffers with the sizes that they state, and its queries must fit
    /// the buffers of `self`.
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn indexed(&mut self, stream: &Arc<CudaStream>, visit: IndexedVisit) -> DriverResult {
        let shares = self.begin(stream)?;
        let config =
            one_warp_each(visit.queries.count as usize * self.warps as usize, 0, visit.queries.d as usize);
        // SAFETY: guaranteed by the caller.
        unsafe { launch(stream, &self.visit, config, &IndexedShare { visit, shares }) }?;
        self.gather(stream, visit.queries, visit.output, shares)
    }

    /// Answers queries whose distances are stored.
    ///
    /// # Safety
    /// As for [`Self::indexed`].
    ///
    /// # Errors
    /// Those of the driver.
    pub unsafe fn stored(&mut self, stream: &Arc<CudaStream>, mut visit: StoredVisit) -> DriverResult {
        let shares = self.begin(stream)?;
        // Each warp only sorts its own clusters.
        let padded = padded(visit.order.count.div_ceil(self.warps) as usize);
        visit.order.padded = padded as u32;
        let config = one_warp_each(visit.queries.count as usize * self.warps as usize, padded, 0);
        // SAFETY: guaranteed by the caller.
        unsafe { launch(stream, &self.visit, config, &StoredShare { visit, shares }) }?;
        self.gather(stream, visit.queries, visit.output, shares)
    }

    fn begin(&mut self, stream: &Arc<CudaStream>) -> DriverResult<Shares> {
        stream.memset_zeros(&mut self.bounds)?;
        Ok(Shares {
            results: self.results.device_ptr_mut(stream).0,
            bounds: self.bounds.device_ptr_mut(stream).0,
            count: self.warps,
        })
    }

    fn gather(
        &self,
        stream: &Arc<CudaStream>,
        queries: Queries,
        output: Output,
        shares: Shares,
    ) -> DriverResult {
        // SAFETY: the warps of these queries were launched before, with these buffers.
        unsafe {
            launch(
                stream,
                &self.gather,
                one_warp_each(queries.count as usize, 0, 0),
                &Gathering { queries, output, shares },
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_batches_use_several_warps_per_query() {
        assert_eq!([1, 65, 100, 1000, 2112, 5000].map(|q| warps_each(q, 512, 132)), [32, 32, 21, 2, 1, 1]);
        assert_eq!([512, 100, 15, 1].map(|clusters| warps_each(1, clusters, 132)), [32, 12, 1, 1]);
    }

    #[test]
    fn sharing_buffers_are_large_enough() {
        assert_eq!(most_queries(32, 1024), 4096);
        assert_eq!(SharedVisit::bytes(2, 32, 128), 8 * (2 * 32 * 128 + 2));
    }
}
