//! The radius of a radius search, as typed.

use crate::Metric;
use crate::cloud::FileValue;

/// The least power of ten of a radius: f64 reaches down to 5·10⁻³²⁴, and decimals have up to 38 digits.
const MIN_EXPONENT: i32 = -400;

/// The unit in which an angle was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AngleUnit {
    Degrees,
    Radians,
}

/// A distance in the unit of a metric: decimal / divisor, or an angle that need not have the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radius {
    /// As typed, in this unit.
    pub typed: FileValue,
    pub divisor: u32,
    /// For angles.
    pub unit: AngleUnit,
    /// Whether points at this distance are excluded.
    pub open: bool,
    /// In the metric's unit.
    pub distance: f64,
}

/// A unit of distances: its name, what one of it is in the metric's unit, and the unit of angles.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub name: &'static str,
    mantissa: i128,
    exponent: i32,
    divisor: u32,
    angle: AngleUnit,
}

impl Unit {
    const fn new(name: &'static str, mantissa: i128, exponent: i32) -> Self {
        Self { name, mantissa, exponent, divisor: 1, angle: AngleUnit::Radians }
    }

    const fn degrees(name: &'static str, divisor: u32) -> Self {
        Self { name, mantissa: 1, exponent: 0, divisor, angle: AngleUnit::Degrees }
    }

    /// The units of a metric; its own is first and has no name.
    pub fn of(metric: Metric) -> &'static [Self] {
        const PLAIN: Unit = Unit::new("", 1, 0);
        match metric {
            Metric::L2 | Metric::Cosine => &const { [PLAIN] },
            Metric::Angular => &const { [PLAIN, Unit::new("rad", 1, 0), Unit::degrees("deg", 1)] },
            Metric::Sky => {
                &const {
                    [
                        Unit::degrees("", 1),
                        Unit::degrees("deg", 1),
                        Unit::degrees("arcmin", 60),
                        Unit::degrees("arcsec", 3600),
                        Unit::new("rad", 1, 0),
                    ]
                }
            }
            Metric::Haversine => {
                &const {
                    [
                        PLAIN,
                        Unit::new("km", 1, 0),
                        Unit::new("m", 1, -3),
                        Unit::new("mi", 1_609_344, -6),
                        Unit::new("nmi", 1852, -3),
                    ]
                }
            }
        }
    }

    /// A number of this unit; `None` if it is negative, too small for f64, too long or not a number.
    pub fn radius(self, number: &str, metric: Metric) -> Option<Radius> {
        let value: f64 = number.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
        let typed = match FileValue::parse_decimal(number) {
            // Digits beyond f64 would take unlimited time.
            Some(FileValue::Decimal { mantissa, exponent }) if mantissa != 0 && exponent < MIN_EXPONENT => {
                return None;
            }
            Some(FileValue::Decimal { mantissa, exponent }) => FileValue::Decimal {
                mantissa: mantissa.checked_mul(self.mantissa)?,
                exponent: exponent.checked_add(self.exponent)?,
            },
            // More than 38 digits, such as all those of an f64.
            _ if self.mantissa == 1 && self.exponent == 0 => FileValue::Binary(value),
            _ => return None,
        };
        let factor = self.mantissa as f64 / 10f64.powi(-self.exponent) / f64::from(self.divisor);
        let own = value * factor;
        let distance = match (metric, self.angle) {
            (Metric::Angular, AngleUnit::Degrees) => own.to_radians(),
            (Metric::Sky, AngleUnit::Radians) => own.to_degrees(),
            _ => own,
        };
        Some(Radius { typed, divisor: self.divisor, unit: self.angle, open: false, distance })
    }
}

impl Radius {
    /// A radius in the metric's own unit.
    pub fn new(metric: Metric, distance: f64) -> Self {
        let unit = if metric == Metric::Sky { AngleUnit::Degrees } else { AngleUnit::Radians };
        let typed = FileValue::shortest_decimal(distance);
        Self { typed, divisor: 1, unit, open: false, distance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_units_convert_exactly() {
        let radius = |number: &str, unit: &str, metric| {
            let unit = Unit::of(metric).iter().find(|row| row.name == unit).expect("a unit");
            unit.radius(number, metric).map(|radius| (radius.typed, radius.divisor, radius.distance))
        };
        let decimal = |mantissa, exponent| FileValue::Decimal { mantissa, exponent };
        assert_eq!(radius("1.1", "m", Metric::Haversine), Some((decimal(11, -4), 1, 0.0011)));
        assert_eq!(radius("5", "mi", Metric::Haversine), Some((decimal(8_046_720, -6), 1, 8.04672)));
        assert_eq!(radius("30", "arcmin", Metric::Sky), Some((decimal(3, 1), 60, 0.5)));
        assert_eq!(radius("90", "deg", Metric::Angular), Some((decimal(9, 1), 1, 90f64.to_radians())));
        assert_eq!(radius("1e-3", "", Metric::L2), Some((decimal(1, -3), 1, 0.001)));
        let long = "0.1000000000000000055511151231257827021181583404541015625";
        assert_eq!(radius(long, "", Metric::L2), Some((FileValue::Binary(0.1), 1, 0.1)));
        assert_eq!(radius("1e-999999999", "", Metric::L2), None);
        assert_eq!([radius("-1", "", Metric::L2), radius("x", "", Metric::L2)], [None, None]);
    }
}
