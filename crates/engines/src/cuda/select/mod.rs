//! The selectors on an NVIDIA GPU: those of [`crate::select`], over a matrix of distances in device memory or
//! computing them on the fly.
//!
//! The matrix is computed in tiles, each with all distances of some queries. A query has as many distances as
//! there are points, so a tile of one query always fits.
//!
//! | file | holds |
//! |---|---|
//! | `bits.rs` | the launches of `bits` |
//! | `distances.rs` | the engine `distance-matrix`, which times the filling alone, and the expanded form |
//! | `matrix.rs` | the tile, and the launches that fill it |
//! | `one_launch.rs` | the selectors with one launch per tile |
//! | `passes.rs` | the launches of `radix-select`, `sample-select` and `sort` |
//! | `search.rs` | the search, tile by tile, or without a matrix |
//! | `trace.rs` | the launches that record the selection of a query's neighbours |

mod bits;
mod distances;
mod matrix;
mod one_launch;
mod passes;
mod search;
mod trace;

use std::sync::Arc;

use cudarc::driver::CudaStream;

pub use bits::load_bits;
use distances::ExpandedKernels;
pub use distances::load_distances;
use matrix::DistanceKernel;
pub use one_launch::{
    load_bits_fused, load_bits_global, load_block_select, load_merge_path, load_merge_queue,
    load_partial_bitonic, load_thread_heap, load_warp_select,
};
pub use passes::{load_radix_select, load_sample_select, load_sort};
pub(super) use trace::{trace_radix_select, trace_warp_select};

use super::Cuda;
use super::device::units::Unit;
use super::direct::Layout;
use super::interface::select::Selection;
use super::search::open;
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::{Descriptor, DeviceId, Engine, KernelBuild, Parameters, Shape};

/// The unit of the distances, which every selector needs.
const DISTANCES: &str = "select/distances";

/// A loaded selector, or `EngineError::Unavailable`.
pub type Loaded = Result<Box<dyn DeviceSelector>>;

/// Loads a selector for a problem's shape.
pub type LoadSelector = fn(&mut Cuda, &Shape, &Parameters) -> Loaded;

/// Where a selector's distances come from.
#[derive(Clone, Copy)]
pub enum Source {
    /// A matrix in device memory, computed in tiles.
    Matrix,
    /// The selector computes them from points in this layout.
    OnTheFly {
        layout: Layout,
        /// Queries per block.
        queries: usize,
    },
}

/// Finds the k smallest of each row of a tile, or the k nearest of queries.
pub trait DeviceSelector: Send {
    /// The resolved parameters.
    fn parameters(&self) -> Parameters;

    /// Where its distances come from.
    fn source(&self) -> Source {
        Source::Matrix
    }

    /// How the search fills its matrix, and what it times. Called once.
    fn frame(&mut self) -> MatrixPlan {
        MatrixPlan::from_parameters(&self.parameters())
    }

    /// Bytes of device memory that it needs for each row of a tile.
    fn row_bytes(&self) -> usize {
        0
    }

    /// Reserves that memory.
    ///
    /// # Errors
    /// Those of the driver.
    fn reserve(&mut self, _stream: &Arc<CudaStream>, _rows: usize) -> DriverResult {
        Ok(())
    }

    /// Queues the selection of a tile, or of a range of queries. The build is `Timed` or `Counted`; fields of
    /// `selection` that are specific to a selector are not set.
    ///
    /// # Errors
    /// Those of the driver.
    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: KernelBuild) -> DriverResult;

    /// Whether [`DeviceSelector::finish`] does work for each tile.
    fn finishes_untimed(&self) -> bool {
        false
    }

    /// Queues the untimed work for a tile that was launched.
    ///
    /// # Errors
    /// Those of the driver.
    fn finish(&mut self, _stream: &Arc<CudaStream>, _selection: Selection) -> DriverResult {
        Ok(())
    }
}

/// What a search's time includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingScope {
    All,
    Selection,
    Distances,
}

/// How a search fills its matrix, and what it times.
pub struct MatrixPlan {
    /// The kernel that fills the matrix from which the answer is selected.
    kernel: DistanceKernel,
    timed: TimingScope,
    /// The timed kernel, if it is not `kernel`.
    expanded: Option<ExpandedKernels>,
    /// Why the timed kernel is not the requested one.
    note: Option<String>,
}

impl MatrixPlan {
    /// From the parameters that all selectors share.
    fn from_parameters(resolved: &Parameters) -> Self {
        let timed = if resolved.get("timed") == Some("selection") {
            TimingScope::Selection
        } else {
            TimingScope::All
        };
        Self {
            kernel: DistanceKernel::named(resolved.get("distances").unwrap_or_default()),
            timed,
            expanded: None,
            note: None,
        }
    }
}

/// Opens a given GPU for a selector; `load` loads the selector.
///
/// # Errors
/// `EngineError::Unavailable`, which says what is missing and how to get it.
pub fn open_selector(
    device: DeviceId,
    descriptor: &'static Descriptor,
    load: LoadSelector,
) -> Result<Box<dyn Engine>> {
    open(descriptor, device, Unit::new(DISTANCES, 0, 0), move |cuda, problem, parameters| {
        let selector = load(cuda, &problem.shape(), parameters)?;
        Ok(Box::new(search::load(cuda, descriptor, problem, selector)?))
    })
}
