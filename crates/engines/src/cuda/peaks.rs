//! Measures the peak rates of a GPU: FP32 instructions, memory bandwidth, launches. The kernels are in
//! `cuda/peaks/peaks.cu`.
//!
//! Each rate is the best of several launches of a few milliseconds, timed by events, after the clocks have
//! risen.

use cudarc::driver::{CudaFunction, DevicePtr, DevicePtrMut};

use super::device::memory::{Timer, blocks, launch};
use super::device::units::Unit;
use super::interface::peaks::{Arithmetic, CHAINS, READS, Reads, STEPS, THREADS, peaks_entry};
use super::{Cuda, DIRECT};
use crate::Result;
use crate::cuda::DriverResult;
use crate::knn::{DeviceId, Peaks};

/// Blocks per multiprocessor. For arithmetic, the number that is always resident; for reads several times as
/// many, so that the last blocks leave little of the GPU idle.
const BLOCKS: [u32; 2] = [4, 32];

/// Milliseconds of arithmetic before measuring, because an idle GPU's clocks are low.
const WARM_UP_MS: f64 = 20.0;

/// Milliseconds that a launch of arithmetic should take.
const LAUNCH_MS: f64 = 4.0;

/// Launches of each kind. The best one counts.
const TRIALS: usize = 5;

/// Empty launches. The median counts.
const LAUNCHES: usize = 51;

/// Bytes to read: many times the size of a cache.
const MAX_BYTES: usize = 1 << 30;

/// Measures a GPU in about 50 ms and with up to a gigabyte of its memory. Calls `go_on` before every launch,
/// and returns `None` if it returns `false`.
///
/// # Errors
/// `EngineError::Unavailable`, `EngineError::MemoryRefused`, `EngineError::Device`.
pub fn peaks(device: DeviceId, go_on: &mut dyn FnMut() -> bool) -> Result<Option<Peaks>> {
    let unit = Unit::new("peaks/peaks", 0, 0);
    let mut cuda = Cuda::open_with(DIRECT.id, device, unit)?;
    let mut kernel = |what: &str| cuda.kernel(DIRECT.id, unit, &peaks_entry(what));
    let kernels = [kernel("arithmetic")?, kernel("reads")?, kernel("launch")?];
    measure(&cuda, &kernels, go_on).map_err(|error| cuda.failed(error))
}

fn measure(
    cuda: &Cuda,
    [arithmetic, reads, empty]: &[CudaFunction; 3],
    go_on: &mut dyn FnMut() -> bool,
) -> DriverResult<Option<Peaks>> {
    let (stream, timer, multiprocessors) = (&cuda.stream, Timer::new(&cuda.context)?, cuda.multiprocessors());
    let [few, many] = BLOCKS.map(|blocks| blocks * multiprocessors);
    let mut sum = stream.alloc_zeros::<f32>(1)?;
    let sum = sum.device_ptr_mut(stream).0;

    let multiply_adds = |rounds: u32| -> DriverResult<f64> {
        let work = Arithmetic { sum, factor: 0.5, addend: 1.0, rounds };
        timer.start(stream)?;
        // SAFETY: `Arithmetic` is the kernel's parameter; its pointer is to a number of this function.
        unsafe { launch(stream, arithmetic, blocks(few, THREADS), &work) }?;
        timer.stop(stream)
    };
    let (mut rounds, mut warm_ms) = (64, 0.0);
    while warm_ms < WARM_UP_MS {
        if !go_on() {
            return Ok(None);
        }
        let took_ms = multiply_adds(rounds)?.max(1e-3);
        warm_ms += took_ms;
        rounds = (f64::from(rounds) * (LAUNCH_MS / took_ms).clamp(0.25, 64.0)).max(1.0) as u32;
    }
    let instructions = f64::from(rounds) * f64::from(CHAINS * STEPS) * f64::from(few) * f64::from(THREADS);

    let grid = many as usize * THREADS as usize * READS as usize;
    let free = cuda.free()? as usize;
    let count = MAX_BYTES.min(free / 4) / 16 / grid * grid;
    // At least one number, so that there is an address even if nothing is read.
    let words = stream.alloc_zeros::<f32>((4 * count).max(1))?;
    let words = words.device_ptr(stream).0;
    let read = || -> DriverResult<f64> {
        let work = Reads { words, sum, count: count as u64 };
        timer.start(stream)?;
        // SAFETY: `Reads` is the kernel's parameter; its pointers are to buffers of this function with the
        // sizes that it states.
        unsafe { launch(stream, reads, blocks(many, THREADS), &work) }?;
        timer.stop(stream)
    };

    let (mut arithmetic_ms, mut read_ms, mut launch_ms) =
        (f64::INFINITY, f64::INFINITY, Vec::with_capacity(LAUNCHES));
    for _ in 0..TRIALS {
        if !go_on() {
            return Ok(None);
        }
        arithmetic_ms = arithmetic_ms.min(multiply_adds(rounds)?);
        read_ms = read_ms.min(read()?);
    }
    for _ in 0..LAUNCHES {
        timer.start(stream)?;
        // SAFETY: the kernel has no parameters and touches no memory.
        unsafe { stream.launch_builder(empty).launch(blocks(1, THREADS)) }?;
        launch_ms.push(timer.stop(stream)?);
    }
    launch_ms.sort_by(f64::total_cmp);
    Ok(Some(Peaks {
        fp32_per_second: instructions / (arithmetic_ms / 1e3),
        bytes_per_second: (count > 0).then(|| (16 * count) as f64 / (read_ms / 1e3)),
        launch_ms: Some(launch_ms[LAUNCHES / 2]),
    }))
}
