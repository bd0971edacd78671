//! Measures the peak rates of a device ([`Peaks`]), to which the rates of a search are compared. This file
//! measures the CPU, `cuda/peaks.rs` a GPU.

use std::time::Instant;

use multiversion::multiversion;
use rayon::prelude::*;

use super::cuda;
use crate::Result;
use crate::knn::{DeviceId, Peaks};
use crate::memory;

/// Lanes of one accumulator: two AVX2 vectors, or one of AVX-512.
const LANES: usize = 16;

type Vector = [f32; LANES];

/// Multiply-adds per accumulator and round.
const STEPS: usize = 16;

/// Seconds per trial. Debug builds only run in tests, where the numbers do not matter.
const TRIAL: f64 = if cfg!(debug_assertions) { 1e-4 } else { 4e-3 };

/// Rounds of the calibration that determines the rounds of a trial.
const FEW_ROUNDS: u32 = 16;

/// Trials of each kind. The best one counts, because other programs disturb some of them.
const TRIALS: usize = 6;

/// Bytes to read: many times the size of a cache.
const MAX_BYTES: usize = if cfg!(debug_assertions) { 1 << 16 } else { 256 << 20 };

/// Bytes that a thread reads per work item.
const PIECE: usize = 64 << 10;

/// Measures a device in a fraction of a second. Calls `go_on` now and then, and returns `None` if it returns
/// `false`.
///
/// # Errors
/// On a GPU, those of opening an engine there and of running it. On the CPU, none.
pub fn measure(device: DeviceId, go_on: &mut dyn FnMut() -> bool) -> Result<Option<Peaks>> {
    match device {
        DeviceId::Cpu => Ok(measure_processor(go_on)),
        DeviceId::Gpu(_) => cuda::peaks(device, go_on),
        DeviceId::Gpus(gpus) => {
            let peaks = gpus
                .devices()
                .map(|device| cuda::peaks(device, go_on))
                .collect::<Result<Option<Vec<_>>, _>>()?;
            Ok(peaks.and_then(|peaks| peaks.into_iter().reduce(Peaks::together)))
        }
    }
}

/// Measures the CPU with all threads of the pool; `None` if cancelled by `go_on`.
fn measure_processor(go_on: &mut dyn FnMut() -> bool) -> Option<Peaks> {
    let threads = rayon::current_num_threads() as f64;
    let mut fp32_per_second = 0.0;
    for _ in 0..TRIALS {
        // The number of accumulators that hides the latency of an addition, but fits into registers, differs
        // by CPU.
        for (chains, work) in [(6, six as fn(u32) -> f32), (8, eight), (12, twelve)] {
            if !go_on() {
                return None;
            }
            let few = slowest(|| work(FEW_ROUNDS));
            let rounds = (f64::from(FEW_ROUNDS) * TRIAL / few).clamp(1.0, 1e6) as u32;
            let seconds = slowest(|| work(rounds));
            let instructions = f64::from(rounds) * (chains * STEPS * LANES) as f64 * threads;
            fp32_per_second = f64::max(fp32_per_second, instructions / seconds);
        }
    }
    let bytes = MAX_BYTES.min((memory::available().unwrap_or(u64::MAX) / 8) as usize);
    // Write the pages before reading them: untouched pages all map to the same one.
    let words: Vec<u32> = memory::room(bytes / 4).map_or_else(Vec::new, |mut words| {
        words.resize(bytes / 4, 1);
        words
    });
    let mut bytes_per_second: Option<f64> = None;
    for _ in 0..if words.is_empty() { 0 } else { TRIALS } {
        if !go_on() {
            return None;
        }
        let began = Instant::now();
        std::hint::black_box(words.par_chunks(PIECE / 4).map(sum).reduce(|| 0, u32::wrapping_add));
        let rate = size_of_val(&words[..]) as f64 / began.elapsed().as_secs_f64();
        bytes_per_second = Some(bytes_per_second.map_or(rate, |best| best.max(rate)));
    }
    Some(Peaks { fp32_per_second, bytes_per_second, launch_ms: None })
}

/// Seconds that the slowest thread of the pool needs for some work.
fn slowest<T: Send>(work: impl Fn() -> T + Sync) -> f64 {
    let took = rayon::broadcast(|_| {
        let began = Instant::now();
        std::hint::black_box(work());
        began.elapsed().as_secs_f64()
    });
    took.into_iter().fold(0.0, f64::max)
}

/// One multiply-add per lane. Passed by value, so that the compiler keeps the lanes in a register.
#[inline(always)]
fn step(mut sum: Vector) -> Vector {
    for lane in &mut sum {
        *lane = lane.mul_add(0.5, 1.0);
    }
    sum
}

/// Generates a loop over accumulators that are separate variables: an array of them would be kept in memory.
macro_rules! multiply_adds {
    ($name:ident: $($chain:ident)*) => {
        #[multiversion(
            targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon")
        )]
        fn $name(rounds: u32) -> f32 {
            $(let mut $chain: Vector = std::hint::black_box([1.0; LANES]);)*
            for _ in 0..rounds {
                for _ in 0..STEPS {
                    $($chain = step($chain);)*
                }
            }
            let mut all = 0.0;
            $(for lane in $chain { all += lane; })*
            all
        }
    };
}

multiply_adds!(six: a b c d e f);
multiply_adds!(eight: a b c d e f g h);
multiply_adds!(twelve: a b c d e f g h i j k l);

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn sum(words: &[u32]) -> u32 {
    let mut lanes = [0u32; 4 * LANES];
    for chunk in words.chunks_exact(4 * LANES) {
        for lane in 0..4 * LANES {
            lanes[lane] = lanes[lane].wrapping_add(chunk[lane]);
        }
    }
    lanes.into_iter().fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_peaks_are_measured() {
        let peaks = measure_processor(&mut || true).expect("not cancelled");
        assert!(
            peaks.are_sensible() && peaks.bytes_per_second.is_some() && peaks.launch_ms.is_none(),
            "{peaks:?}"
        );
        assert_eq!(measure_processor(&mut || false), None);
    }

    /// The sums have the expected values, so no step was optimised away.
    #[test]
    fn benchmark_loops_are_not_optimised_away() {
        // 1, 1.5, 1.75, …: after 16 steps 2 − 2⁻¹⁶, which is not yet rounded to 2.
        let each = 2.0 - 0.5f32.powi(STEPS as i32);
        let all = |lanes: usize| (0..lanes).fold(0.0f32, |all, _| all + each);
        assert_eq!([six(1), eight(1), twelve(1)], [6, 8, 12].map(|chains| all(chains * LANES)));
        assert_eq!(sum(&[3; 4 * 4 * LANES]), 3 * 16 * LANES as u32);
    }
}
