//! The order of distances on a sphere beyond f64: fixed-point numbers with [`BITS`] binary digits.
//!
//! Positions are numbers of degrees, so distances are transcendental: two that are equal by symmetry cannot
//! be told from two that differ by less than any precision. Cosines that agree to [`EQUAL`] digits count as
//! equal.

use std::cmp::Ordering;
use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};

use crate::cloud::FileValue;
use crate::knn::AngleUnit;
use crate::scaled::Scale;

/// Binary digits after the point.
pub const BITS: i32 = 320;

/// Digits that decide; the others cover rounding errors.
const EQUAL: i32 = 260;

/// π by Machin's formula: 16·arctan(1/5) − 4·arctan(1/239).
static PI: LazyLock<BigInt> = LazyLock::new(|| arctan_of_inverse(5) * 16 - arctan_of_inverse(239) * 4);

fn arctan_of_inverse(divisor: u32) -> BigInt {
    let mut power = (BigInt::from(1) << BITS) / divisor;
    let (mut sum, mut odd, mut sign) = (BigInt::ZERO, 1u32, 1);
    while power.sign() != Sign::NoSign {
        sum += (&power / odd) * sign;
        power /= divisor * divisor;
        (odd, sign) = (odd + 2, -sign);
    }
    sum
}

fn product(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

/// The fixed-point number of a value. Digits below 2⁻³²⁰ are rounded.
pub fn fixed(value: FileValue) -> BigInt {
    let one = FileValue::Decimal { mantissa: 1, exponent: 0 };
    let scale = Scale::common([value, one]);
    (scale.integer(value) << BITS) / scale.integer(one)
}

/// Degrees as a fixed-point number, reduced to less than a full turn.
fn degrees(value: FileValue) -> BigInt {
    fixed(value) % (BigInt::from(360) << BITS)
}

/// Sine and cosine of fixed-point degrees below a full turn, by their Taylor series.
fn sin_cos(degrees: &BigInt) -> [BigInt; 2] {
    let half: BigInt = BigInt::from(180) << BITS;
    let turn: BigInt = &half * 2;
    let reduced = if degrees > &half {
        degrees - turn
    } else if degrees < &-&half {
        degrees + turn
    } else {
        degrees.clone()
    };
    sin_cos_of_radians(&(product(&reduced, &PI) / 180))
}

/// Sine and cosine of a fixed-point angle in radians, at most π.
fn sin_cos_of_radians(angle: &BigInt) -> [BigInt; 2] {
    let mut term = BigInt::from(1) << BITS;
    let (mut sums, mut count) = ([BigInt::ZERO, BigInt::ZERO], 0u32);
    while term.sign() != Sign::NoSign {
        // Terms cycle through cos, sin, −cos, −sin.
        let sum = &mut sums[usize::from(count % 2 == 0)];
        if count % 4 < 2 {
            *sum += &term
        } else {
            *sum -= &term
        }
        count += 1;
        term = product(&term, angle) / count;
        if term == BigInt::from(-1) {
            // Shifts round down: −1 would never become 0.
            break;
        }
    }
    sums
}

/// The cosine of an angle given by a fixed-point number; below −1 if it exceeds half a turn.
pub fn cosine_of(angle: &BigInt, unit: AngleUnit) -> BigInt {
    let half = if unit == AngleUnit::Degrees { BigInt::from(180) << BITS } else { PI.clone() };
    if *angle > half {
        return BigInt::from(-2) << BITS;
    }
    let [_, cosine] = if unit == AngleUnit::Degrees { sin_cos(angle) } else { sin_cos_of_radians(angle) };
    cosine
}

/// The cosine of the angle between positions in degrees of longitude and latitude.
pub fn cosine(a: [FileValue; 2], b: [FileValue; 2]) -> BigInt {
    let [sin_a, cos_a] = sin_cos(&degrees(a[1]));
    let [sin_b, cos_b] = sin_cos(&degrees(b[1]));
    let east = (degrees(b[0]) - degrees(a[0])) % (BigInt::from(360) << BITS);
    let [_, cos_east] = sin_cos(&east);
    product(&sin_a, &sin_b) + product(&product(&cos_a, &cos_b), &cos_east)
}

/// The order of two fixed-point numbers, by the digits that decide.
pub fn compare(a: &BigInt, b: &BigInt) -> Ordering {
    let round = |number: &BigInt| (number + (BigInt::from(1) << (BITS - EQUAL - 1))) >> (BITS - EQUAL);
    round(a).cmp(&round(b))
}

/// Whether two positions are equally far from `query` by symmetry: the same latitude, and longitudes that
/// differ equally from that of the query.
pub fn are_symmetric(query: [FileValue; 2], a: [FileValue; 2], b: [FileValue; 2]) -> bool {
    let turn = FileValue::Decimal { mantissa: 360, exponent: 0 };
    let scale = Scale::common([query[0], a[0], b[0], turn]);
    let [query, a_east, b_east, turn] = [query[0], a[0], b[0], turn].map(|value| scale.integer(value));
    let east = |longitude: BigInt| (longitude - &query) % &turn;
    let (one, other) = (east(a_east), east(b_east));
    // Equal, or opposite; modulo a turn.
    let is_zero = |angle: BigInt| (angle % &turn).sign() == Sign::NoSign;
    a[1] == b[1] && (is_zero(&one - &other) || is_zero(&one + &other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_f64(fixed: &BigInt) -> f64 {
        let digits: BigInt = fixed >> (BITS - 60);
        i64::try_from(digits).expect("a small number") as f64 / 2f64.powi(60)
    }

    #[test]
    fn trigonometric_functions_match_f64() {
        assert!((as_f64(&(&*PI / 4)) - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
        for value in [0.0, 1e-30, 0.1, 45.0, 90.0, -90.0, 179.9, -181.0, 359.0, 720.5, -725.0] {
            let [sin, cos] = sin_cos(&degrees(FileValue::Binary(value))).map(|fixed| as_f64(&fixed));
            let (expected_sin, expected_cos) = value.to_radians().sin_cos();
            assert!((sin - expected_sin).abs() < 1e-14 && (cos - expected_cos).abs() < 1e-14, "{value}");
        }
    }

    #[test]
    fn nearly_equal_angles_are_distinguished() {
        let place = |place: [f64; 2]| place.map(FileValue::shortest_decimal);
        let from = |a, b| cosine(place(a), place(b));
        let one = from([0.0, 0.0], [1e-9, 0.0]);
        let other = from([0.0, 0.0], [1e-9f64.next_up(), 0.0]);
        assert_eq!((compare(&one, &other), compare(&one, &one)), (Ordering::Greater, Ordering::Equal));
        // Near the antipode, where f64 cosines have no digits left.
        let near = from([0.0, 0.0], [180.0, 1e-9]);
        let antipode = from([0.0, 0.0], [180.0, 0.0]);
        assert_eq!(compare(&near, &antipode), Ordering::Greater);
        // Equal by symmetry.
        let [east, west] = [10.0, -10.0].map(|longitude| from([0.0, 20.0], [longitude, 5.0]));
        assert_eq!(compare(&east, &west), Ordering::Equal);
        let are_symmetric = |query, a, b| are_symmetric(place(query), place(a), place(b));
        assert!(are_symmetric([0.0, 20.0], [10.0, 5.0], [-10.0, 5.0]));
        assert!(
            are_symmetric([0.1, 20.0], [0.3, 5.0], [-0.1, 5.0])
                && are_symmetric([0.0, 1.0], [-190.0, 5.0], [190.0, 5.0])
        );
        assert!(!are_symmetric([0.1, 20.0], [10.0, 5.0], [-10.0, 5.0]));
    }
}
