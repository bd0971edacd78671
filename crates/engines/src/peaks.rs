//! Measures what a device does at most ([`Peaks`]), so that a search can be held against it.

mod processor;

use super::cuda;
use crate::knn::{DeviceId, EngineError, Peaks};

/// Measures a device, in a fraction of a second. `go_on` is asked now and then; `None` if it says no.
///
/// # Errors
/// Of a GPU, those of opening an engine there and of running it. A processor has none.
pub fn measure(device: DeviceId, go_on: &mut dyn FnMut() -> bool) -> Result<Option<Peaks>, EngineError> {
    match device {
        DeviceId::Cpu => Ok(processor::peaks(go_on)),
        DeviceId::Gpu(_) => cuda::peaks(device, go_on),
    }
}
