//! The selectors on an NVIDIA GPU: those of [`crate::select`], over a matrix of distances in device memory or
//! computing them on the fly.
//!
//! The matrix is made tile by tile, a tile being all distances of some queries: a query's are no more numbers
//! than the points have.
//!
//! | file | holds |
//! |---|---|
//! | `bits.rs` | the launches of `bits` |
//! | `distances.rs` | the engine `distance-matrix`, which times the filling alone, and the expanded form |
//! | `matrix.rs` | the tile, and the launches that fill it |
//! | `one_launch.rs` | the selectors that are one launch for each tile |
//! | `passes.rs` | the launches of `radix-select`, `sample-select` and `sort` |
//! | `search.rs` | a search: tile after tile, or without a matrix |
//! | `trace.rs` | the launches that write down how a query's neighbours are selected |

mod bits;
mod distances;
mod matrix;
mod one_launch;
mod passes;
mod search;
mod trace;

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};

pub use bits::load_bits;
use distances::Expanded;
pub use distances::load_distances;
use matrix::Kernel;
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
use crate::knn::{Build, Descriptor, DeviceId, Engine, EngineError, Parameters, Shape};

/// The unit of the distances, which every selector needs.
const DISTANCES: &str = "select/distances";

/// A selector that was loaded, or [`EngineError::Unavailable`].
pub type Loaded = Result<Box<dyn DeviceSelector>, EngineError>;

/// Loads a selector for a problem's sizes.
pub type LoadSelector = fn(&mut Cuda, &Shape, &Parameters) -> Loaded;

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

    /// Queues the selection of a tile, or of a range of queries. The build is `Timed` or `Counted`;
    /// `selection` lacks what is of one selector only.
    ///
    /// # Errors
    /// The driver's.
    fn launch(
        &mut self,
        stream: &Arc<CudaStream>,
        selection: Selection,
        build: Build,
    ) -> Result<(), DriverError>;

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
        Self {
            kernel: Kernel::named(resolved.get("distances").unwrap_or_default()),
            timed,
            expanded: None,
            note: None,
        }
    }
}

/// Opens a given GPU for a selector, which `load` loads.
///
/// # Errors
/// [`EngineError::Unavailable`], saying what is missing and how to get it.
pub fn open_selector(
    device: DeviceId,
    descriptor: &'static Descriptor,
    load: LoadSelector,
) -> Result<Box<dyn Engine>, EngineError> {
    open(descriptor, device, Unit::new(DISTANCES, 0, 0), move |cuda, problem, parameters| {
        let selector = load(cuda, &problem.shape(), parameters)?;
        Ok(Box::new(search::load(cuda, descriptor, problem, selector)?))
    })
}
