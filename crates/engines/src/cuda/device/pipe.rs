//! Copies between the program's memory and a GPU through pinned buffers. The driver would copy through such
//! buffers too, but on one thread; here all threads fill or empty one buffer while the GPU copies others.

use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice, result};
use rayon::prelude::*;

use crate::cuda::DriverResult;

/// Bytes of a buffer.
const SLOT: usize = 16 << 20;

/// Buffers in use at a time.
const SLOTS: usize = 4;

/// Bytes that a thread copies at a time.
const PIECE: usize = 1 << 20;

/// The driver copies less than this as fast.
const WORTH_PINNING: usize = 4 << 20;

/// Pinned buffers, allocated on first use.
#[derive(Default)]
pub struct Pipe(Vec<Slot>);

struct Slot {
    bytes: PinnedHostSlice<u8>,
    /// The end of the last copy that used it.
    copied: CudaEvent,
}

impl Pipe {
    /// Copies values to the beginning of a buffer on the device; complete once the stream is.
    pub fn upload<T: Pod>(
        &mut self,
        stream: &Arc<CudaStream>,
        from: &[T],
        to: &mut impl DevicePtrMut<T>,
    ) -> DriverResult {
        assert!(from.len() <= to.len(), "the buffer is too small");
        let (to, _written) = to.device_ptr_mut(stream);
        let bytes: &[u8] = bytemuck::cast_slice(from);
        if bytes.len() < WORTH_PINNING {
            // SAFETY: the buffer is as long as the values.
            return unsafe { result::memcpy_htod_async(to, bytes, stream.cu_stream()) };
        }
        let slots = self.slots(stream)?;
        for (at, piece) in bytes.chunks(SLOT).enumerate() {
            let Slot { bytes, copied } = &mut slots[at % SLOTS];
            copied.synchronize()?;
            let pinned = &mut bytes.as_mut_slice()?[..piece.len()];
            copy(piece, pinned);
            // SAFETY: the buffer is as long as the values, and the pinned bytes stay until the event.
            unsafe {
                result::memcpy_htod_async(to + (at * SLOT) as CUdeviceptr, pinned, stream.cu_stream())
            }?;
            copied.record(stream)?;
        }
        Ok(())
    }

    /// Copies the beginning of a buffer on the device, and waits for it.
    pub fn download<T: Pod>(
        &mut self,
        stream: &Arc<CudaStream>,
        from: &impl DevicePtr<T>,
        to: &mut [T],
    ) -> DriverResult {
        assert!(to.len() <= from.len(), "the buffer is too small");
        let (from, _read) = from.device_ptr(stream);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(to);
        if bytes.len() < WORTH_PINNING {
            // SAFETY: the buffer is as long as the values.
            unsafe { result::memcpy_dtoh_async(bytes, from, stream.cu_stream()) }?;
            return stream.synchronize();
        }
        let slots = self.slots(stream)?;
        let count = bytes.len().div_ceil(SLOT);
        let length = |at: usize| SLOT.min(bytes.len() - at * SLOT);
        let lengths: Vec<usize> = (0..count).map(length).collect();
        let begin = |at: usize, slot: &mut Slot| {
            let pinned = &mut slot.bytes.as_mut_slice()?[..lengths[at]];
            // SAFETY: the buffer is as long as the values, and the pinned bytes are read after the event.
            unsafe {
                result::memcpy_dtoh_async(pinned, from + (at * SLOT) as CUdeviceptr, stream.cu_stream())
            }?;
            slot.copied.record(stream)
        };
        for (at, slot) in slots.iter_mut().enumerate().take(count) {
            begin(at, slot)?;
        }
        for (at, piece) in bytes.chunks_mut(SLOT).enumerate() {
            let slot = &mut slots[at % SLOTS];
            slot.copied.synchronize()?;
            copy(&slot.bytes.as_slice()?[..piece.len()], piece);
            if at + SLOTS < count {
                begin(at + SLOTS, slot)?;
            }
        }
        Ok(())
    }

    fn slots(&mut self, stream: &Arc<CudaStream>) -> DriverResult<&mut [Slot]> {
        let context = stream.context();
        while self.0.len() < SLOTS {
            // SAFETY: the bytes are written before they are read. Not write-combined, since they are read too.
            let bytes = unsafe { context.alloc_pinned_with_flags(SLOT, 0) }?;
            self.0.push(Slot { bytes, copied: context.new_event(None)? });
        }
        Ok(&mut self.0)
    }
}

/// Copies on all threads.
fn copy(from: &[u8], to: &mut [u8]) {
    to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
}
