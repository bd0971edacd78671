//! Dates and timestamps as text. Colours and coordinates use the file's own numbers.

use std::fmt::Debug;

use arrow_array::temporal_conversions::as_datetime;
use arrow_array::types::{Date32Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampSecondType};
use arrow_array::{Array, ArrayRef, downcast_temporal_array};
use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

/// The unit of a column that counts time since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The duration that one unit of the column stands for.
    pub unit: Unit,
    /// Whether the values are in UTC; otherwise the time zone is unknown.
    pub utc: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Days,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Moment {
    /// The unit of a data type; `None` for times of day and durations.
    pub(super) fn of(kind: &DataType) -> Option<Self> {
        let here = |unit| Some(Self { unit, utc: false });
        match kind {
            DataType::Date32 => here(Unit::Days),
            DataType::Date64 => here(Unit::Milliseconds),
            DataType::Timestamp(unit, zone) => {
                let unit = match unit {
                    TimeUnit::Second => Unit::Seconds,
                    TimeUnit::Millisecond => Unit::Milliseconds,
                    TimeUnit::Microsecond => Unit::Microseconds,
                    TimeUnit::Nanosecond => Unit::Nanoseconds,
                };
                Some(Self { unit, utc: zone.is_some() })
            }
            _ => None,
        }
    }

    /// Formats a number of the column: `2024-10-04`, `2024-10-04T12:30:00.25Z`; as a plain number
    /// beyond the calendar's range.
    ///
    /// An f64 resolves present-day timestamps to 256 ns, so nanoseconds are rounded to microseconds.
    pub fn text(self, value: f64) -> String {
        let iso = match self.unit {
            _ if value.fract() != 0.0 || !value.is_finite() => None,
            Unit::Days => as_datetime::<Date32Type>(value as i64).map(|moment| self.shown(moment)),
            Unit::Seconds => as_datetime::<TimestampSecondType>(value as i64).map(|moment| self.shown(moment)),
            Unit::Milliseconds => as_datetime::<TimestampMillisecondType>(value as i64).map(|moment| self.shown(moment)),
            Unit::Microseconds => as_datetime::<TimestampMicrosecondType>(value as i64).map(|moment| self.shown(moment)),
            Unit::Nanoseconds => as_datetime::<TimestampMicrosecondType>((value / 1e3).round() as i64).map(|moment| self.shown(moment)),
        };
        iso.unwrap_or_else(|| value.to_string())
    }

    /// In ISO 8601, which is the `Debug` format of the calendar crate.
    fn shown(self, moment: impl Debug) -> String {
        let iso = format!("{moment:?}");
        match (self.unit, iso.split_once('T')) {
            (Unit::Days, Some((day, _))) => day.to_owned(),
            _ if self.utc => iso + "Z",
            _ => iso,
        }
    }
}

/// The date or timestamp in a row, to the last digit; `None` for other types, for null, and beyond the calendar's range.
pub(super) fn text(array: &ArrayRef, row: usize) -> Option<String> {
    let moment = Moment::of(array.data_type()).filter(|_| array.is_valid(row))?;
    downcast_temporal_array!(
        array => array.value_as_datetime(row).map(|at| moment.shown(at)),
        _ => None
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dates_and_moments() {
        let moment = |unit, utc, value| Moment { unit, utc }.text(value);
        for (unit, utc, value, text) in [
            (Unit::Days, false, 20_000.0, "2024-10-04"),
            (Unit::Days, false, -1.0, "1969-12-31"),
            (Unit::Days, false, 0.5, "0.5"),
            (Unit::Seconds, true, 1_728_045_000.0, "2024-10-04T12:30:00Z"),
            (Unit::Seconds, false, 1e18, "1000000000000000000"),
            (Unit::Milliseconds, false, 1_728_045_000_250.0, "2024-10-04T12:30:00.250"),
            (Unit::Microseconds, true, 1_728_045_000_000_001.0, "2024-10-04T12:30:00.000001Z"),
            (Unit::Nanoseconds, false, 1_728_045_000_001_000_000.0, "2024-10-04T12:30:00.001"),
            (Unit::Nanoseconds, false, f64::NAN, "NaN"),
        ] {
            assert_eq!(moment(unit, utc, value), text);
        }
    }
}
