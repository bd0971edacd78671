//! The values of a file, exactly.

/// Distinct decimals of up to this many significant digits have distinct f64 values.
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
    /// Parses a decimal, such as `-12.5e3`, to a mantissa without trailing zeros; `None` if it is not one, or
    /// has more than 38 digits.
    pub fn parse_decimal(text: &str) -> Option<Self> {
        let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
        let (mut mantissa, mut exponent) = (0i128, power.parse::<i32>().ok()?);
        let (mut zeros, mut fraction, mut empty) = (0, false, true);
        for byte in digits.bytes() {
            match byte {
                b'.' if !fraction => {
                    fraction = true;
                    continue;
                }
                b'0' => zeros += 1,
                b'1'..=b'9' => {
                    for _ in 0..if mantissa == 0 { 0 } else { zeros + 1 } {
                        mantissa = mantissa.checked_mul(10)?;
                    }
                    mantissa = mantissa.checked_add(i128::from(byte - b'0'))?;
                    zeros = 0;
                }
                _ => return None,
            }
            empty = false;
            exponent = exponent.checked_sub(i32::from(fraction))?;
        }
        let mantissa = if number.starts_with('-') { -mantissa } else { mantissa };
        let exponent = if mantissa == 0 { 0 } else { exponent.checked_add(zeros)? };
        (!empty).then_some(Self::Decimal { mantissa, exponent })
    }

    /// The shortest decimal that reads as `value`: what a text of at most 15 significant digits says.
    pub fn shortest_decimal(value: f64) -> Self {
        // At most 17 digits: always a decimal for finite values.
        Self::parse_decimal(zmij::Buffer::new().format(value)).unwrap_or(Self::Binary(value))
    }

    /// The value as an integer; `None` if it has a fraction or exceeds 128 bits.
    pub fn integer(self) -> Option<i128> {
        match self {
            Self::Binary(value) => (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128),
            Self::Decimal { mantissa, exponent } => {
                mantissa.checked_mul(10i128.checked_pow(u32::try_from(exponent).ok()?)?)
            }
        }
    }
}

/// Powers of ten.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The smallest number of decimal places, at least `least`, that represents `value`; `None` above
/// [`MAX_DIGITS`].
pub fn decimal_places(value: f64, least: u32) -> Option<u32> {
    (least..=MAX_DIGITS as u32).find(|&places| {
        let power = POWERS[places as usize];
        (value * power).round() / power == value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
