//! Random numbers and elementary functions that are bit-identical on every platform.
//!
//! IEEE 754 defines +, −, ×, ÷, √ and rounding exactly; logarithm, sine and cosine depend on the platform's
//! library, so they are implemented here. Rust never fuses or reorders floating-point operations.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, SQRT_2};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::VERSION;

/// A random number generator: ChaCha8 with a key derived from the seed and [`VERSION`].
pub(crate) struct CloudRng {
    rng: ChaCha8Rng,
    /// The polar method produces normals in pairs.
    spare: Option<f64>,
}

impl CloudRng {
    pub fn new(seed: u64) -> Self {
        // The key is built by hand, because a crate's expansion of a 64-bit seed may change between versions.
        let mut key = *b"........vvvvwarpscope cloud draw";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..12].copy_from_slice(&VERSION.to_le_bytes());
        Self { rng: ChaCha8Rng::from_seed(key), spare: None }
    }

    /// A multiple of 2⁻²⁴ in [0, 1): each is an f32, and each is equally likely.
    pub fn unit(&mut self) -> f64 {
        f64::from(self.rng.next_u32() >> 8) * 2f64.powi(-24)
    }

    /// A whole number below `bound`, by Lemire's multiply-shift; the bias is below `bound`·2⁻³².
    pub fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.rng.next_u32()) * bound as u64) >> 32) as usize
    }

    /// A multiple of 2⁻⁵² in [−1, 1).
    fn signed(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    /// A standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (self.signed(), self.signed());
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                let scale = (-2.0 * ln(s) / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Fills `direction` with a uniformly distributed unit vector.
    pub fn direction(&mut self, direction: &mut [f64]) {
        loop {
            let mut squares = 0.0;
            for x in direction.iter_mut() {
                *x = self.normal();
                squares += *x * *x;
            }
            // A vector close to 0 has too few significant bits for a direction; this almost never happens.
            if squares > 1e-12 {
                let length = squares.sqrt();
                direction.iter_mut().for_each(|x| *x /= length);
                return;
            }
        }
    }

    /// Shuffles in place (Fisher–Yates), every permutation about equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// The natural logarithm of a positive normal number, within 2 ulp.
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1)/(m + 1)), whose series falls below 2⁻⁵³ after 11 terms for m in [√½, √2].
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let squared = z * z;
    let series = (0..12).rev().fold(0.0, |sum, i| sum * squared + 1.0 / f64::from(2 * i + 1));
    2.0 * z * series + exponent as f64 * LN_2
}

/// Sine and cosine of a moderate angle in radians, bit-identical on every machine: within 10⁻¹² for |x| up to
/// 10⁴, and within 2 ulp of 1 for |x| up to π/4.
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    let quarter = (x * FRAC_2_PI).round();
    let r = x - quarter * FRAC_PI_2;
    let squared = r * r;
    // Taylor series by Horner's rule: 1 − r²/(a(a+1))·(1 − …) with a = 2, 4, … for the sine and 1, 3, … for
    // the cosine.
    let series = |first: u32| {
        (0..9)
            .rev()
            .map(|i| f64::from((first + 2 * i) * (first + 2 * i + 1)))
            .fold(1.0, |sum, den| 1.0 - squared / den * sum)
    };
    let (sin, cos) = (r * series(2), series(1));
    match (quarter as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_4;

    use super::*;

    #[test]
    fn logarithm_matches_std() {
        for i in 1..5000 {
            let x = f64::from(i) * 0.000_731;
            assert!(
                (ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(0.5),
                "ln {x}: {} and {}",
                ln(x),
                x.ln()
            );
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((ln(1e-300) - 1e-300f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn sine_and_cosine_match_std() {
        for i in -5000..5000 {
            let x = f64::from(i) * 0.013;
            let (sin, cos) = sin_cos(x);
            let most = if x.abs() < FRAC_PI_4 { 2.0 * f64::EPSILON } else { 1e-13 };
            assert!((sin - x.sin()).abs() < most && (cos - x.cos()).abs() < most, "{x}: {sin} {cos}");
        }
    }

    #[test]
    fn normal_deviates_have_the_right_moments() {
        let mut draw = CloudRng::new(1);
        let n = 200_000;
        let (mut mean, mut square, mut fourth) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = draw.normal();
            mean += x;
            square += x * x;
            fourth += x * x * x * x;
        }
        let n = f64::from(n);
        assert!((mean / n).abs() < 0.01 && (square / n - 1.0).abs() < 0.02 && (fourth / n - 3.0).abs() < 0.1);
    }
}
