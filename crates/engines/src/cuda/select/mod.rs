//! The selectors on an NVIDIA GPU: those of [`crate::select`], over a matrix of distances in device memory or computing them on the fly.
//!
//! The matrix is made tile by tile, a tile being all distances of some queries: a query's are no more numbers than the points have.
//!
//! | file | holds |
//! |---|---|
//! | `bits.rs` | the launches of `bits` |
//! | `bits_fused.rs` | the launches of `bits-fused` |
//! | `bits_global.rs` | the launches of `bits-global` |
//! | `distances.rs` | the engine `distance-matrix`, which times the filling of the matrix alone |
//! | `expanded.rs` | the expanded form of the distances, by cuBLAS or a kernel of ours, and what it gets wrong |
//! | `interface.rs` | constants and structs shared by host and kernels |
//! | `matrix.rs` | the tile, and the launches that fill it |
//! | `merge_path.rs` | the launches of `merge-path` |
//! | `merge_queue.rs` | the launches of `merge-queue` |
//! | `multi_pass.rs` | the launches of `radix-select` and `sample-select` |
//! | `partial_bitonic.rs` | the launches of `partial-bitonic` |
//! | `search.rs` | a search: tile after tile, or without a matrix |
//! | `sort.rs` | the launches of `sort` |
//! | `thread_heap.rs` | the launches of `thread-heap` |
//! | `trace.rs` | the launches that write down how a query's neighbours are selected |
//! | `warp_select.rs` | the launches of `warp-select` and `block-select` |

mod bits;
mod bits_fused;
mod bits_global;
mod distances;
mod expanded;
mod interface;
mod matrix;
mod merge_path;
mod merge_queue;
mod multi_pass;
mod partial_bitonic;
mod search;
mod sort;
mod thread_heap;
mod trace;
mod warp_select;

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};

pub use bits::load_bits;
pub use bits_fused::load_bits_fused;
pub use bits_global::load_bits_global;
pub use distances::load_distances;
use expanded::Expanded;
use interface::Selection;
pub use interface::{pass_event, queue_event};
use matrix::Kernel;
pub use merge_path::load_merge_path;
pub use merge_queue::load_merge_queue;
pub use multi_pass::{load_radix_select, load_sample_select};
pub use partial_bitonic::load_partial_bitonic;
pub use sort::load_sort;
pub use thread_heap::load_thread_heap;
pub(super) use trace::{trace_radix_select, trace_warp_select};
pub use warp_select::{load_block_select, load_warp_select};

use super::Cuda;
use super::device::units::Unit;
use super::direct::Layout;
use crate::knn::{Build, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, Parameters, Problem, Search, Shape};
use crate::select::Kind;

/// The unit of the distances, which every selector needs.
const DISTANCES: &str = "select/distances";

/// Loads a selector for a problem's sizes.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub type LoadSelector = fn(&mut Cuda, &Shape, &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError>;

/// Where the distances come from that a selector selects from.
#[derive(Clone, Copy)]
pub enum Source {
    /// A matrix in device memory, made tile by tile.
    Matrix,
    /// The selector computes them from points in this layout; a block answers so many queries.
    OnTheFly {
        /// Of the points.
        layout: Layout,
        /// How many queries a block selects for.
        queries: usize,
    },
}

/// Finds the k smallest of each row of a tile, or the k nearest of queries.
pub trait DeviceSelector {
    /// What its parameters resolved to.
    fn parameters(&self) -> Parameters;

    /// Where its distances come from.
    fn source(&self) -> Source {
        Source::Matrix
    }

    /// How the search fills its matrix, and what of it is timed. It is asked once.
    fn frame(&mut self) -> Frame {
        Frame::of(&self.parameters())
    }

    /// Bytes of device memory that it needs for each row of a tile.
    fn row_bytes(&self) -> usize {
        0
    }

    /// Reserves that memory.
    ///
    /// # Errors
    /// The driver's.
    fn reserve(&mut self, _stream: &Arc<CudaStream>, _rows: usize) -> Result<(), DriverError> {
        Ok(())
    }

    /// Queues the selection of a tile, or of a range of queries. The build is `Timed` or `Counted`; `selection` lacks what is of one selector only.
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

/// What a search's time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    All,
    Selection,
    Distances,
}

/// How a search fills its matrix, and what of it is timed.
pub struct Frame {
    /// How the matrix is filled from which the answers are.
    kernel: Kernel,
    timed: Timed,
    /// What fills the matrix in the time that counts, if it is not `kernel`.
    expanded: Option<Expanded>,
    /// Why that is not as was asked for.
    note: Option<String>,
}

impl Frame {
    /// What the parameters that every selector has say.
    fn of(resolved: &Parameters) -> Self {
        let timed = if resolved.get("timed") == Some("selection") { Timed::Selection } else { Timed::All };
        Self { kernel: Kernel::named(resolved.get("distances").unwrap_or_default()), timed, expanded: None, note: None }
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
