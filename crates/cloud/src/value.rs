//! The values of a file, exactly.

/// A finite value of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileValue {
    /// Of a binary format.
    Binary(f64),
    /// Of a text, or an integer that f64 does not represent: mantissa · 10^exponent.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_text() {
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
