//! Measures whether the device's tensor cores accumulate as accurately as `docs/filter.md` assumes, because
//! NVIDIA does not document it.
//!
//! The filter is safe if each instruction loses at most 20 · 2⁻²² of the bound on its terms and partial sums.
//! The test sums are chosen to lose as much as any adder can: small terms that straddle the last bit kept
//! next to a large term, all with the same sign, for every possible position of this cut-off. The large term
//! is in the accumulator, at each index of the product, or cancelled. The device computes the sums, and each
//! is compared with the exact one.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};

use super::super::device::driver::error_text;
use super::super::device::kernels::KernelCache;
use super::super::device::memory::{blocks, launch, read};
use super::super::device::units::Unit;
use super::super::interface::filtered::{PROBE_COLUMNS, PROBE_DEPTH, PROBE_ENTRY, PROBE_ROWS, Probe};
use crate::cuda::DriverResult;

const ROWS: usize = PROBE_ROWS as usize;
const COLUMNS: usize = PROBE_COLUMNS as usize;
const DEPTH: usize = PROBE_DEPTH as usize;
/// Instructions per sum: 64 dimensions.
const STEPS: usize = 4;
/// Four kinds of sum for each index of a product.
const TILES: usize = 4 * DEPTH;

/// The sums to compute, in the device's layout.
struct ProbeInputs {
    rows: Vec<u16>,
    columns: Vec<u16>,
    starts: Vec<f32>,
}

/// The worst loss of the tensor cores, relative to what the filter assumes. Above 1 the filter must not be
/// used.
///
/// # Errors
/// One sentence, if the kernel is unavailable or fails.
pub fn worst_loss(kernels: &mut KernelCache, stream: &Arc<CudaStream>) -> Result<f64, String> {
    let function = kernels.function(Unit::new("filtered/filter", 0, 0), PROBE_ENTRY)?;
    let cases = ProbeInputs::new();
    let run = || -> DriverResult<Vec<f32>> {
        let (rows, columns, starts) = (
            stream.clone_htod(&cases.rows)?,
            stream.clone_htod(&cases.columns)?,
            stream.clone_htod(&cases.starts)?,
        );
        let mut sums = stream.alloc_zeros::<f32>(cases.starts.len())?;
        let arguments = Probe {
            rows: rows.device_ptr(stream).0,
            columns: columns.device_ptr(stream).0,
            starts: starts.device_ptr(stream).0,
            sums: sums.device_ptr_mut(stream).0,
            steps: STEPS as u32,
        };
        // SAFETY: `Probe` is the kernel's parameter; its pointers cover the numbers of all cases.
        unsafe { launch(stream, &function, blocks(TILES as u32, 32), &arguments) }?;
        read(stream, &sums)
    };
    Ok(cases.worst(&run().map_err(error_text)?))
}

/// Whether the filter may be used given the result of [`worst_loss`].
///
/// # Errors
/// One clause saying why not.
pub fn check_loss(loss: f64) -> Result<(), String> {
    // The comparison also rejects NaN.
    if loss <= 1.0 {
        Ok(())
    } else {
        Err(format!("this GPU's tensor cores round {loss:.1} times more coarsely than the filter allows"))
    }
}

impl ProbeInputs {
    fn new() -> Self {
        let mut cases = Self {
            rows: vec![0; TILES * STEPS * ROWS * DEPTH],
            columns: vec![0; TILES * STEPS * COLUMNS * DEPTH],
            starts: vec![0.0; TILES * ROWS * COLUMNS],
        };
        for tile in 0..TILES {
            // The index of the large product in the first step, and the kind of sum: only the accumulator is
            // large, only that product, both, which cancel, or all products.
            let (place, kind) = (tile / 4, tile % 4);
            let large = |step: usize, k: usize| kind == 3 || kind != 0 && step == 0 && k == place;
            for step in 0..STEPS {
                for k in 0..DEPTH {
                    for row in 0..ROWS {
                        // 255/128 sets all bits of a BF16; the cut-off is below one of these.
                        let small = 255.0 / 128.0 * 2f32.powi(-14 - row as i32);
                        cases.rows[((tile * STEPS + step) * ROWS + row) * DEPTH + k] =
                            bf16(if large(step, k) { 1.0 } else { small });
                    }
                    for column in 0..COLUMNS {
                        let size = if large(step, k) || column & 2 == 0 { 1.0 } else { 255.0 / 128.0 };
                        let negative = match (large(step, k), kind) {
                            // Cancels the accumulator.
                            (true, 2) => true,
                            (true, 3) => (k + step) % 2 == 1 || column & 1 == 1 && k % 3 == 0,
                            (true, _) => column & 4 != 0,
                            // All of the same sign, or mixed.
                            (false, _) => column & 1 != 0 && (column & 4 == 0 || k % 2 == 0),
                        };
                        cases.columns[((tile * STEPS + step) * COLUMNS + column) * DEPTH + k] =
                            bf16(if negative { -size } else { size });
                    }
                }
            }
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let start = if kind == 1 { 0.0 } else { 1.0 };
                    cases.starts[(tile * ROWS + row) * COLUMNS + column] =
                        if kind == 0 && column & 4 != 0 { -start } else { start };
                }
            }
        }
        cases
    }

    /// A sum's initial accumulator and its terms, step by step.
    fn terms(&self, sum: usize) -> (f32, Vec<f32>) {
        let (tile, row, column) = (sum / (ROWS * COLUMNS), sum / COLUMNS % ROWS, sum % COLUMNS);
        let row = |step| &self.rows[((tile * STEPS + step) * ROWS + row) * DEPTH..][..DEPTH];
        let column = |step| &self.columns[((tile * STEPS + step) * COLUMNS + column) * DEPTH..][..DEPTH];
        let products = |step| row(step).iter().zip(column(step)).map(|(&a, &b)| float(a) * float(b));
        (self.starts[sum], (0..STEPS).flat_map(products).collect())
    }

    /// The largest loss over all sums, relative to what docs/filter.md assumes.
    fn worst(&self, sums: &[f32]) -> f64 {
        let loss = |(sum, &found): (usize, &f32)| {
            let (start, terms) = self.terms(sum);
            let all = || std::iter::once(start).chain(terms.iter().copied()).map(f64::from);
            // f64 represents these sums exactly, or nearly so.
            let (exact, most) = (all().sum::<f64>(), all().map(f64::abs).sum::<f64>());
            let granted = 1.25 * (STEPS * DEPTH) as f64 * 2f64.powi(-22) * most;
            let loss = (f64::from(found) - exact).abs() / granted;
            // NaN is not a sum.
            if loss.is_nan() { f64::INFINITY } else { loss }
        };
        sums.iter().enumerate().map(loss).fold(0.0, f64::max)
    }
}

/// The bits of a value that BF16 represents exactly.
fn bf16(value: f32) -> u16 {
    debug_assert!(value.to_bits() & 0xffff == 0, "{value} is not a BF16");
    (value.to_bits() >> 16) as u16
}

fn float(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Smaller than any term, so that 0 has an exponent.
    const TINY: f64 = 1e-30;

    /// An adder that aligns the terms of a block and the accumulator to the largest of them and truncates to
    /// `bits` bits.
    fn adder(bits: i32, block: usize) -> impl Fn(f32, &[f32]) -> f32 {
        let cut = move |value: f64, largest: f64| {
            let unit = 2f64.powi(largest.log2().floor() as i32 + 1 - bits);
            (value / unit).trunc() * unit
        };
        move |start, terms| {
            terms.chunks(block).fold(start, |acc, terms| {
                let all = || std::iter::once(acc).chain(terms.iter().copied()).map(f64::from);
                let largest = all().map(f64::abs).fold(TINY, f64::max);
                let sum = all().map(|term| cut(term, largest)).sum::<f64>();
                // The result is truncated to the same width and rounded to f32.
                cut(sum, sum.abs().max(TINY)) as f32
            })
        }
    }

    fn worst_of(add: impl Fn(f32, &[f32]) -> f32) -> f64 {
        let cases = ProbeInputs::new();
        let sums: Vec<f32> = (0..cases.starts.len())
            .map(|sum| cases.terms(sum))
            .map(|(start, terms)| add(start, &terms))
            .collect();
        cases.worst(&sums)
    }

    #[test]
    fn known_adder_designs_pass_the_probe() {
        for (bits, block) in [(24, 4), (24, 8), (24, 16), (25, 8), (26, 16)] {
            let worst = worst_of(adder(bits, block));
            assert!(worst > 0.02 && worst < 0.6, "{bits} bits, blocks of {block}: {worst}");
        }
    }

    #[test]
    fn excessive_rounding_loss_disables_the_filter() {
        assert_eq!([0.0, 0.4, 1.0].map(check_loss), [Ok(()), Ok(()), Ok(())]);
        assert_eq!(
            check_loss(1.6).unwrap_err(),
            "this GPU's tensor cores round 1.6 times more coarsely than the filter allows"
        );
        assert!(check_loss(f64::NAN).is_err() && check_loss(f64::INFINITY).is_err());
    }

    #[test]
    fn imprecise_adders_fail_the_probe() {
        for (bits, block) in [(22, 8), (22, 16), (21, 4), (16, 16), (11, 8)] {
            let worst = worst_of(adder(bits, block));
            assert!(worst > 1.0, "{bits} bits, blocks of {block}: {worst}");
        }
        assert_eq!(worst_of(|_, _| f32::NAN), f64::INFINITY);
        // An adder that drops the last step.
        assert!(worst_of(|start, terms| terms[..48].iter().fold(start, |acc, term| acc + term)) > 1.0);
    }
}
