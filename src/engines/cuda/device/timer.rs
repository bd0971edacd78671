//! Times what goes to a stream, by the device's own clock.
//!
//! All work of a search goes to one stream, so that its order needs no events; events are there to be timed.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};

/// Two events in a stream, with what is timed between them.
pub struct Timer {
    before: CudaEvent,
    after: CudaEvent,
}

impl Timer {
    /// For any stream of the context.
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        // Blocking events let the thread sleep instead of spinning while the GPU works.
        let event = || context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
        Ok(Self { before: event()?, after: event()? })
    }

    /// Begins to time what goes to the stream.
    pub fn start(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.before.record(stream)
    }

    /// Waits until the stream is through, and returns the milliseconds since [`Timer::start`].
    pub fn stop(&self, stream: &CudaStream) -> Result<f64, DriverError> {
        self.after.record(stream)?;
        stream.synchronize()?;
        Ok(f64::from(self.before.elapsed_ms(&self.after)?))
    }
}
