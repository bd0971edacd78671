//! Exact arithmetic on the values of files, as integers of one scale: value = integer · 2^two · 10^ten.

use num_bigint::BigInt;

use crate::cloud::FileValue;

/// A value as mantissa · 2^two · 10^ten.
#[derive(Clone, Copy)]
struct ScaledMantissa {
    mantissa: i128,
    two: i32,
    ten: i32,
}

/// `None` for zero, which has any scale.
fn parts(value: FileValue) -> Option<ScaledMantissa> {
    match value {
        FileValue::Decimal { mantissa, exponent } => {
            (mantissa != 0).then_some(ScaledMantissa { mantissa, two: 0, ten: exponent })
        }
        FileValue::Binary(value) => {
            let bits = value.to_bits();
            let exponent = (bits >> 52 & 0x7ff) as i32;
            let fraction = (bits & ((1 << 52) - 1)) as i64;
            let (mantissa, exponent) =
                if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
            if mantissa == 0 {
                return None;
            }
            let zeros = mantissa.trailing_zeros();
            let mantissa = i128::from(mantissa >> zeros);
            let mantissa = if value < 0.0 { -mantissa } else { mantissa };
            Some(ScaledMantissa { mantissa, two: exponent + zeros as i32, ten: 0 })
        }
    }
}

/// The unit of integers that represent values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    two: i32,
    ten: i32,
}

impl Scale {
    /// The largest unit that divides all values.
    pub fn common(values: impl IntoIterator<Item = FileValue>) -> Self {
        let all = values.into_iter().filter_map(parts);
        let smallest = all.map(|parts| (parts.two, parts.ten)).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        let (two, ten) = smallest.unwrap_or((0, 0));
        Self { two, ten }
    }

    /// The integer of a value.
    pub fn integer(self, value: FileValue) -> BigInt {
        let Some(parts) = parts(value) else { return BigInt::ZERO };
        let ten = u32::try_from(parts.ten - self.ten).unwrap_or(0);
        (BigInt::from(parts.mantissa) * BigInt::from(10).pow(ten)) << (parts.two - self.two).max(0)
    }

    /// Like [`Self::integer`]; `None` if it exceeds 126 bits.
    fn small_integer(self, value: FileValue) -> Option<i128> {
        let Some(parts) = parts(value) else { return Some(0) };
        let ten = u32::try_from(parts.ten - self.ten).unwrap_or(0);
        let integer = parts.mantissa.checked_mul(10i128.checked_pow(ten)?)?;
        let shift = u32::try_from(parts.two - self.two).unwrap_or(0);
        let bits = 128 - integer.unsigned_abs().leading_zeros();
        (bits + shift <= 126).then(|| integer << shift)
    }

    /// The squared distance of two rows in squared units; `None` if an intermediate value exceeds 128 bits.
    pub fn small_squared_distance(self, a: &[FileValue], b: &[FileValue]) -> Option<u128> {
        a.iter().zip(b).try_fold(0u128, |sum, (&a, &b)| {
            let difference = self.small_integer(a)?.checked_sub(self.small_integer(b)?)?.unsigned_abs();
            sum.checked_add(difference.checked_mul(difference)?)
        })
    }

    /// The distance of two rows, from exact differences; `None` if one exceeds 128 bits.
    pub fn distance(self, a: &[FileValue], b: &[FileValue]) -> Option<f64> {
        let unit = 2f64.powi(self.two) * 10f64.powi(self.ten);
        let sum = a.iter().zip(b).try_fold(0.0, |sum, (&a, &b)| {
            let difference = self.small_integer(a)?.checked_sub(self.small_integer(b)?)?;
            Some(sum + (difference as f64 * unit).powi(2))
        });
        sum.map(f64::sqrt)
    }

    /// The squared distance of two rows in squared units.
    pub fn squared_distance(self, a: &[FileValue], b: &[FileValue]) -> BigInt {
        let difference = |(&a, &b): (&FileValue, &FileValue)| self.integer(a) - self.integer(b);
        a.iter().zip(b).map(difference).map(|difference| &difference * &difference).sum()
    }

    /// The inner product of two rows in squared units.
    pub fn inner_product(self, a: &[FileValue], b: &[FileValue]) -> BigInt {
        a.iter().zip(b).map(|(&a, &b)| self.integer(a) * self.integer(b)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary<const N: usize>(values: [f64; N]) -> [FileValue; N] {
        values.map(FileValue::Binary)
    }

    fn decimal<const N: usize>(values: [f64; N]) -> [FileValue; N] {
        values.map(FileValue::shortest_decimal)
    }

    #[test]
    fn values_are_multiples_of_the_common_unit() {
        let scale = Scale::common(binary([0.5, 6.0, 0.0]));
        assert_eq!(
            binary([0.5, 6.0, 0.0, -1.5]).map(|value| scale.integer(value)),
            [1, 12, 0, -3].map(BigInt::from)
        );
        let scale = Scale::common(decimal([0.3, -12.0, 2.25]));
        assert_eq!(
            decimal([0.3, -12.0, 2.25]).map(|value| scale.integer(value)),
            [30, -1200, 225].map(BigInt::from)
        );
        // Mixed: 1/4 and 0.1 are multiples of 1/40.
        let scale = Scale::common([FileValue::Binary(0.25), FileValue::shortest_decimal(0.1)]);
        assert_eq!(scale.integer(FileValue::Binary(0.25)), BigInt::from(10));
        assert_eq!(scale.integer(FileValue::shortest_decimal(0.1)), BigInt::from(4));
        assert_eq!(scale.integer(FileValue::Binary(1.0)), BigInt::from(40));
        let [large, tiny] = binary([1e300, f64::from_bits(1)]);
        let scale = Scale::common([large, tiny]);
        assert_eq!((scale.integer(tiny), scale.integer(large).bits()), (BigInt::from(1), 996 + 1 + 1074));
    }

    #[test]
    fn u128_and_big_integer_sums_agree() {
        for of in [binary, decimal] {
            let (a, b) = (of([500_000.123, -0.25, 1e-3]), of([500_000.124, 7.5, 2e-3]));
            let scale = Scale::common(a.into_iter().chain(b));
            let small = scale.small_squared_distance(&a, &b).expect("it fits");
            assert_eq!(BigInt::from(small), scale.squared_distance(&a, &b));
        }
        let (a, b) = (binary([1e30, 0.0]), binary([0.0, 1e-30]));
        let scale = Scale::common(a.into_iter().chain(b));
        assert_eq!(scale.small_squared_distance(&a, &b), None);
        assert!(scale.squared_distance(&a, &b) > BigInt::from(u128::MAX));
    }
}
