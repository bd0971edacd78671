//! Exact arithmetic on f64 values as integers of one scale: value = integer · 2^exponent.

use num_bigint::BigInt;

/// The mantissa and exponent of a finite value; the mantissa is odd or 0.
fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros();
    let mantissa = mantissa >> zeros;
    (if value < 0.0 { -mantissa } else { mantissa }, exponent + zeros as i32)
}

/// The largest exponent at which all values are integers.
pub fn common_exponent<'a>(values: impl IntoIterator<Item = &'a f64>) -> i32 {
    let exponents = values.into_iter().map(|&value| parts(value)).filter(|&(mantissa, _)| mantissa != 0);
    exponents.map(|(_, exponent)| exponent).min().unwrap_or(0)
}

/// The integer of a value at a scale.
pub fn integer(value: f64, exponent: i32) -> BigInt {
    let (mantissa, own) = parts(value);
    BigInt::from(mantissa) << (own - exponent).max(0)
}

/// Like [`integer`]; `None` if it exceeds 126 bits.
fn small_integer(value: f64, exponent: i32) -> Option<i128> {
    let (mantissa, own) = parts(value);
    if mantissa == 0 {
        return Some(0);
    }
    let shift = u32::try_from(own - exponent).unwrap_or(0);
    let bits = 64 - mantissa.unsigned_abs().leading_zeros();
    (bits + shift <= 126).then(|| i128::from(mantissa) << shift)
}

/// The squared distance of two rows at a scale; `None` if an intermediate value exceeds 128 bits.
pub fn small_squared_distance(a: &[f64], b: &[f64], exponent: i32) -> Option<u128> {
    a.iter().zip(b).try_fold(0u128, |sum, (&a, &b)| {
        let difference = small_integer(a, exponent)?.checked_sub(small_integer(b, exponent)?)?.unsigned_abs();
        sum.checked_add(difference.checked_mul(difference)?)
    })
}

/// The squared distance of two rows at a scale.
pub fn squared_distance(a: &[f64], b: &[f64], exponent: i32) -> BigInt {
    let difference = |(&a, &b): (&f64, &f64)| integer(a, exponent) - integer(b, exponent);
    a.iter().zip(b).map(difference).map(|difference| &difference * &difference).sum()
}

/// The inner product of two rows at the square of a scale.
pub fn inner_product(a: &[f64], b: &[f64], exponent: i32) -> BigInt {
    a.iter().zip(b).map(|(&a, &b)| integer(a, exponent) * integer(b, exponent)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_integers_at_the_common_exponent() {
        let values = [0.1, -3.0, 0.0, 1e300, f64::from_bits(1), 4.5e15];
        for subset in [&values[..3], &values[..4], &values[..], &values[1..3]] {
            let exponent = common_exponent(subset);
            for &value in subset {
                let (mantissa, own) = parts(value);
                assert!(own >= exponent || mantissa == 0);
                assert_eq!(mantissa as f64 * 2f64.powi(own / 2) * 2f64.powi(own - own / 2), value);
            }
        }
        assert_eq!((common_exponent(&[3.0, 8.0]), common_exponent(&[0.0])), (0, 0));
        assert_eq!(common_exponent(&[0.5, 6.0]), -1);
    }

    #[test]
    fn small_and_large_sums_agree() {
        let (a, b) = ([500_000.123, -0.25, 1e-3], [500_000.124, 7.5, 2e-3]);
        let exponent = common_exponent(a.iter().chain(&b));
        let small = small_squared_distance(&a, &b, exponent).expect("it fits");
        assert_eq!(BigInt::from(small), squared_distance(&a, &b, exponent));
        let (a, b) = ([1e30, 0.0], [0.0, 1e-30]);
        let exponent = common_exponent(a.iter().chain(&b));
        assert_eq!(small_squared_distance(&a, &b, exponent), None);
        assert!(squared_distance(&a, &b, exponent) > BigInt::from(u128::MAX));
    }
}
