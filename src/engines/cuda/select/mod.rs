//! The selectors on an NVIDIA GPU: those of [`crate::engines::select`], over a matrix of distances in device memory.
//!
//! The matrix is made tile by tile, a tile being all distances of some queries: a query's are no more numbers than the points have.
//!
//! | file | holds |
//! |---|---|
//! | `bits.rs` | the launches of `bits` |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `matrix.rs` | the tile, and the launches that fill it |
//! | `multi_pass.rs` | the launches of `radix-select` and `sample-select` |
//! | `search.rs` | a search: tile after tile |
//! | `sort.rs` | the launches of `sort` |
//! | `warp_select.rs` | the launches of `warp-select` and `block-select` |

mod bits;
mod interface;
mod matrix;
mod multi_pass;
mod search;
mod sort;
mod warp_select;

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};

pub use bits::load_bits;
use interface::Selection;
pub use multi_pass::{load_radix_select, load_sample_select};
pub use sort::load_sort;
pub use warp_select::{load_block_select, load_warp_select};

use super::Cuda;
use super::device::units::Unit;
use crate::engines::select::Kind;
use crate::knn::{Build, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Parameters, Problem, Search, Shape};

/// The unit of the distances, which every selector needs.
const DISTANCES: &str = "select/distances";

/// Loads a selector for a problem's sizes.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub type LoadSelector = fn(&mut Cuda, &Shape, &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError>;

/// Finds the k smallest of each row of a tile.
pub trait DeviceSelector {
    /// What its parameters resolved to.
    fn parameters(&self) -> Parameters;

    /// Bytes of device memory that it needs for each row of a tile.
    fn row_bytes(&self) -> usize;

    /// Reserves that memory.
    ///
    /// # Errors
    /// The driver's.
    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError>;

    /// Queues the selection of a tile. The build is `Timed` or `Counted`; `selection` lacks what is of one selector only.
    ///
    /// # Errors
    /// The driver's.
    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, build: Build) -> Result<(), DriverError>;

    /// Whether something of each tile is left to [`DeviceSelector::finish`].
    fn leaves_out(&self) -> bool {
        false
    }

    /// Queues what is not timed of a tile that was launched.
    ///
    /// # Errors
    /// The driver's.
    fn finish(&mut self, _stream: &Arc<CudaStream>, _selection: Selection) -> Result<(), DriverError> {
        Ok(())
    }
}

/// A selector as an engine.
pub struct CudaSelect {
    cuda: Cuda,
    kind: &'static Kind,
}

impl CudaSelect {
    /// Opens a given GPU for a selector.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what is missing and how to get it.
    pub fn open_on(device: DeviceId, kind: &'static Kind) -> Result<Self, EngineError> {
        Ok(Self { cuda: Cuda::open_with(kind.descriptor.id, device, Unit::new(DISTANCES, 0, 0))?, kind })
    }
}

impl Engine for CudaSelect {
    fn descriptor(&self) -> &'static Descriptor {
        self.kind.descriptor
    }

    fn device_id(&self) -> DeviceId {
        self.cuda.device_id
    }

    fn is_lost(&self) -> bool {
        self.cuda.is_lost()
    }

    fn device(&self) -> DeviceInfo {
        self.cuda.device()
    }

    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        Ok(Box::new(search::SelectSearch::new(&mut self.cuda, self.kind, problem, parameters)?))
    }
}
