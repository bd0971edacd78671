//! The engine `distance-matrix`: the frame with the filling of the matrix timed alone, and `bits` to answer from it.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};

use super::expanded::{Expanded, open_blas};
use super::interface::Selection;
use super::matrix::Kernel;
use super::{DeviceSelector, Frame, Timed, load_bits};
use crate::cuda::Cuda;
use crate::knn::{Build, EngineError, Parameters, Shape};
use crate::select::{
    DISTANCES_ALONE,
    distances::{EXPANDED, EXPANDED_OWN, kernel_of, resolved},
};

struct DistancesAlone {
    selector: Box<dyn DeviceSelector>,
    parameters: Parameters,
    kernel: Kernel,
    /// Until the search has it.
    expanded: Option<Expanded>,
    note: Option<String>,
}

/// Loads `distance-matrix`.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn load_distances(cuda: &mut Cuda, shape: &Shape, parameters: &Parameters) -> Result<Box<dyn DeviceSelector>, EngineError> {
    let selector = load_bits(cuda, shape, &Parameters::NONE)?;
    let (mut word, mut note, mut blas) = (kernel_of(parameters), None, None);
    if word == EXPANDED {
        match open_blas(&cuda.stream, shape.n) {
            Ok(opened) => blas = Some(opened),
            Err(why) => {
                word = EXPANDED_OWN;
                note = Some(format!("cuBLAS cannot multiply here, as {why}: a kernel of our own does"));
            }
        }
    }
    let expanded = (word == EXPANDED || word == EXPANDED_OWN).then(|| Expanded::new(cuda, blas)).transpose();
    let expanded = expanded.map_err(|why| EngineError::Unavailable { engine: DISTANCES_ALONE.id, why })?;
    Ok(Box::new(DistancesAlone { selector, parameters: resolved(word), kernel: Kernel::named(word), expanded, note }))
}

impl DeviceSelector for DistancesAlone {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn frame(&mut self) -> Frame {
        Frame { kernel: self.kernel, timed: Timed::Distances, expanded: self.expanded.take(), note: self.note.take() }
    }

    fn row_bytes(&self) -> usize {
        self.selector.row_bytes()
    }

    fn reserve(&mut self, stream: &Arc<CudaStream>, rows: usize) -> Result<(), DriverError> {
        self.selector.reserve(stream, rows)
    }

    fn launch(&mut self, stream: &Arc<CudaStream>, selection: Selection, _build: Build) -> Result<(), DriverError> {
        // What the selector would count is not asked for.
        self.selector.launch(stream, selection, Build::Timed)
    }
}
