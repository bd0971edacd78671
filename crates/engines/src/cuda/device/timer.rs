//! Times work on a stream, by the device's own clock.
//!
//! A search submits all its work to one stream, which orders it; events are used only for timing.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};

/// A pair of events recorded before and after the timed work.
pub struct Timer {
    before: CudaEvent,
    after: CudaEvent,
}

impl Timer {
    /// Creates the events; they work with any stream of the context.
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        // Blocking events let the thread sleep instead of spin while the GPU works.
        let event = || context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
        Ok(Self { before: event()?, after: event()? })
    }

    /// Starts timing the work submitted from here on.
    pub fn start(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.before.record(stream)
    }

    /// Waits for the stream to finish and returns the milliseconds since [`Timer::start`].
    pub fn stop(&self, stream: &CudaStream) -> Result<f64, DriverError> {
        self.after.record(stream)?;
        stream.synchronize()?;
        Ok(f64::from(self.before.elapsed_ms(&self.after)?))
    }
}
