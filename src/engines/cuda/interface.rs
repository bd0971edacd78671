//! Kernel output other than the answer: `cuda/common_interface.cuh`, as parsed by `build/interface.rs`.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

use crate::knn;

include!(concat!(env!("OUT_DIR"), "/common_interface.rs"));

// SAFETY: plain numbers in the device's layout, for which all-zero bits are valid.
unsafe impl ValidAsZeroBits for ConvergenceEntry {}
// SAFETY: as above; the layout is checked below.
unsafe impl DeviceRepr for knn::Counters {}
unsafe impl ValidAsZeroBits for knn::Counters {}
unsafe impl DeviceRepr for knn::WarpSpan {}
unsafe impl ValidAsZeroBits for knn::WarpSpan {}

// The device's structs are read as the types of `knn`, which know no device, so their layouts must match.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Counters>() == size_of::<knn::Counters>());
    assert!(offset_of!(Counters, merges) == offset_of!(knn::Counters, merges));
    assert!(offset_of!(Counters, candidates) == offset_of!(knn::Counters, candidates));
    assert!(offset_of!(Counters, groups_hit) == offset_of!(knn::Counters, groups_hit));
    assert!(size_of::<WarpSpan>() == size_of::<knn::WarpSpan>());
    assert!(
        offset_of!(WarpSpan, start_ns) == offset_of!(knn::WarpSpan, start_ns) && offset_of!(WarpSpan, stop_ns) == offset_of!(knn::WarpSpan, stop_ns)
    );
    assert!(offset_of!(WarpSpan, sm) == offset_of!(knn::WarpSpan, sm) && offset_of!(WarpSpan, warp) == offset_of!(knn::WarpSpan, warp));
    assert!(CONVERGENCE_ENTRIES as usize == knn::CONVERGENCE_ENTRIES && WARP_PHASES as usize == knn::warp::PHASES.len());
    // The order of the names in `knn::warp::PHASES`.
    assert!(warp_phase::LOAD_BATCH == 0 && warp_phase::FILTER == 1 && warp_phase::INSERT == 2);
    assert!(warp_phase::SORT == 3 && warp_phase::MERGE == 4 && warp_phase::WRITE_OUT == 5);
};

impl TallyOut {
    /// The buffers advanced to the entries of `query`.
    pub fn from(self, query: usize) -> Self {
        let after = |pointer: CUdeviceptr, bytes: usize| if pointer == 0 { 0 } else { pointer + (query * bytes) as u64 };
        Self {
            counters: after(self.counters, size_of::<Counters>()),
            convergence: after(self.convergence, CONVERGENCE_ENTRIES as usize * size_of::<ConvergenceEntry>()),
            cycles: after(self.cycles, WARP_PHASES as usize * size_of::<u64>()),
            spans: after(self.spans, size_of::<WarpSpan>()),
        }
    }
}
