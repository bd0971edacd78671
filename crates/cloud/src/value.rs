//! The values of a file, exactly.

/// Two decimals of at most this many significant digits have different f64 values.
pub const MAX_DIGITS: usize = 15;

/// A finite value of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileValue {
    /// Of a binary format.
    Binary(f64),
    /// Of a text, or an integer that f64 rounds: mantissa · 10^exponent.
    Decimal { mantissa: i128, exponent: i32 },
}

impl FileValue {
    /// Parses a decimal, such as `-12.5e3`; `None` if it is not one, or has more than 38 digits.
    pub fn parse_decimal(text: &str) -> Option<Self> {
        let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = [whole, fraction].concat().parse().ok()?;
        let power: i32 = power.parse().ok()?;
        Some(Self::Decimal { mantissa, exponent: power.checked_sub(i32::try_from(fraction.len()).ok()?)? })
    }

    /// The shortest decimal that reads as `value`: what a text of at most 15 significant digits says.
    pub fn shortest_decimal(value: f64) -> Self {
        // At most 17 digits: always a decimal for finite values.
        Self::parse_decimal(&format!("{value:e}")).unwrap_or(Self::Binary(value))
    }

    /// Whether two decimals are the same number; a whole number counts as one.
    pub fn is_same_decimal(self, other: Self) -> bool {
        self.without_trailing_zeros() == other.without_trailing_zeros()
    }

    fn without_trailing_zeros(self) -> (i128, i32) {
        let (mut mantissa, mut exponent) = match self {
            Self::Binary(value) => (value as i128, 0),
            Self::Decimal { mantissa, exponent } => (mantissa, exponent),
        };
        while mantissa % 10 == 0 && mantissa != 0 {
            (mantissa, exponent) = (mantissa / 10, exponent + 1);
        }
        (mantissa, if mantissa == 0 { 0 } else { exponent })
    }
}

/// Powers of ten that f64 represents.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The smallest number of decimal places, from `least` on, of a decimal whose f64 is `value`; `None` if it is
/// more than [`MAX_DIGITS`].
pub fn decimal_places(value: f64, least: u32) -> Option<u32> {
    (least..=MAX_DIGITS as u32).find(|&places| {
        let power = POWERS[places as usize];
        (value * power).round() / power == value
    })
}

/// Whether `value` is not the f64 of any decimal with at most [`MAX_DIGITS`] significant digits.
pub fn exceeds_max_digits(value: f64) -> bool {
    if value == 0.0 {
        return false;
    }
    let places = MAX_DIGITS as i32 - 1 - value.abs().log10().floor() as i32;
    let Some(&power) = POWERS.get(places.unsigned_abs() as usize) else {
        return format!("{value:e}")
            .split('e')
            .next()
            .is_some_and(|digits| digits.bytes().filter(u8::is_ascii_digit).count() > MAX_DIGITS);
    };
    // The quotient or product of two numbers that f64 represents is rounded once, as a decimal is.
    let nearest = if places >= 0 { (value * power).round() / power } else { (value / power).round() * power };
    nearest != value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_more_than_15_digits_are_detected() {
        for value in
            [0.1, -500_000.123, 1.0, 999.999_999_999_999, 1e15, 123_456_789_012_345e30, 5e-324, 1e-30]
        {
            assert!(!exceeds_max_digits(value), "{value}");
        }
        for value in
            [0.1 + 0.2, 1.0 / 3.0, 9_007_199_254_740_993.0, 1e40 / 3.0, -1e-30 / 3.0, 123.456_789_012_345_6]
        {
            assert!(exceeds_max_digits(value), "{value}");
        }
    }

    #[test]
    fn decimal_places_are_counted() {
        for (value, expected) in [(0.0, 0), (-7.0, 0), (0.3, 1), (5_428_000.123, 3), (1e-15, 15), (2.5e3, 0)]
        {
            assert_eq!(decimal_places(value, 0), Some(expected), "{value}");
            assert_eq!(decimal_places(value, 15), Some(15));
        }
        assert_eq!((decimal_places(1e-16, 0), decimal_places(1.0 / 3.0, 0)), (None, None));
    }

    #[test]
    fn trailing_zeros_do_not_change_a_decimal() {
        let decimal = |text| FileValue::parse_decimal(text).unwrap();
        assert!(decimal("0.3000").is_same_decimal(decimal("3e-1")));
        assert!(decimal("0.0").is_same_decimal(FileValue::Binary(0.0)));
        assert!(!decimal("0.30000000000000001").is_same_decimal(decimal("0.3")));
    }

    #[test]
    fn decimals_match_the_shortest_representation() {
        let decimal = |mantissa, exponent| FileValue::Decimal { mantissa, exponent };
        for (value, expected) in [
            (0.3, decimal(3, -1)),
            (-12.25, decimal(-1225, -2)),
            (500_000.123, decimal(500_000_123, -3)),
            (1e300, decimal(1, 300)),
            (5e-324, decimal(5, -324)),
            (0.0, decimal(0, 0)),
        ] {
            let FileValue::Decimal { mantissa, exponent } = FileValue::shortest_decimal(value) else {
                panic!("a decimal")
            };
            assert_eq!(format!("{mantissa}e{exponent}").parse::<f64>().unwrap(), value);
            assert_eq!(expected, decimal(mantissa, exponent));
        }
    }
}
