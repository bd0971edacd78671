//! The values of an array, as numbers or as text.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions::as_datetime;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, GenericListArray, OffsetSizeTrait, downcast_dictionary_array,
    downcast_temporal_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::formats::Result;
use crate::formats::vector_cell::{LATITUDES, LONGITUDES};

/// Whether the type is one number per row.
pub(super) fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || kind.is_temporal() && !matches!(kind, DataType::Interval(_))
        || matches!(
            kind,
            DataType::Boolean | DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..)
        )
}

/// The type of the elements of a list.
fn elements(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::FixedSizeList(field, _) | DataType::List(field) | DataType::LargeList(field) => {
            Some(field.data_type())
        }
        _ => None,
    }
}

/// Whether f32 represents all numbers of the type exactly.
pub(super) fn fits_f32(kind: &DataType) -> bool {
    use DataType::{Boolean, Float16, Float32, Int8, Int16, UInt8, UInt16};
    matches!(elements(kind).unwrap_or(kind), Boolean | Int8 | UInt8 | Int16 | UInt16 | Float16 | Float32)
}

/// Whether the type is a list of numbers with fractions.
pub(super) fn is_floating(kind: &DataType) -> bool {
    elements(kind).is_some_and(DataType::is_floating)
}

/// Whether the type is one string per row.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, inner) => is_text(inner),
        _ => false,
    }
}

/// Whether the type is bytes.
pub(super) fn is_binary(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
    )
}

/// Whether the type is a list of lists of numbers or of points; then, whether the numbers have fractions.
pub(super) fn is_nested(kind: &DataType) -> Option<bool> {
    match elements(kind)? {
        DataType::Struct(fields) => axes(fields).map(|_| true),
        within if is_list(within) => Some(is_floating(within)),
        within => is_nested(within),
    }
}

/// The fields of a structure that form a point: longitude, latitude and height, or x, y and z. True for
/// degrees.
pub(super) fn axes(fields: &Fields) -> Option<(bool, Vec<usize>)> {
    let named = |field: &Field, names: &[&str]| {
        names.iter().any(|name| field.name().eq_ignore_ascii_case(name)) && is_number(field.data_type())
    };
    let find = |names: &[&str]| fields.iter().position(|field| named(field, names));
    [(true, [LONGITUDES, LATITUDES, &["height", "altitude"]]), (false, [&["x"], &["y"], &["z"]])]
        .into_iter()
        .find_map(|(degrees, names)| {
            let axes: Vec<usize> = names.into_iter().map_while(find).collect();
            (axes.len() >= 2).then_some((degrees, axes))
        })
}

/// Whether the type is a list of numbers per row.
pub(super) fn is_list(kind: &DataType) -> bool {
    elements(kind).is_some_and(|kind| kind.is_integer() || kind.is_floating())
}

/// Copies the numbers of an array that are stored as `T`; nulls leave `out` unchanged.
fn copy<'v, T: ArrowNativeType>(
    array: &ArrayRef,
    out: impl Iterator<Item = &'v mut f64>,
    widen: impl Fn(T) -> f64,
) {
    let data = array.to_data();
    for (row, (out, &value)) in out.zip(data.buffer::<T>(0)).enumerate().take(array.len()) {
        if array.is_valid(row) {
            *out = widen(value);
        }
    }
}

/// A 64-bit integer.
pub(super) fn integer(array: &ArrayRef, row: usize) -> Option<i128> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).into()),
        DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row).into()),
        _ => None,
    }
}

/// Copies the numbers of an array; nulls leave `out` unchanged. Dates and times are in their own units
/// since 1970 or midnight.
pub(super) fn numbers<'v>(array: &ArrayRef, out: impl Iterator<Item = &'v mut f64>) -> Result<(), String> {
    let ten = |scale: i8| 10f64.powi(scale.into());
    match array.data_type() {
        DataType::Boolean => {
            for (out, value) in out.zip(array.as_boolean().iter()) {
                *out = value.map_or(*out, |value| f64::from(u8::from(value)));
            }
        }
        DataType::Int8 => copy::<i8>(array, out, f64::from),
        DataType::Int16 => copy::<i16>(array, out, f64::from),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => copy::<i32>(array, out, f64::from),
        DataType::Int64
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => copy::<i64>(array, out, |value| value as f64),
        DataType::UInt8 => copy::<u8>(array, out, f64::from),
        DataType::UInt16 => copy::<u16>(array, out, f64::from),
        DataType::UInt32 => copy::<u32>(array, out, f64::from),
        DataType::UInt64 => copy::<u64>(array, out, |value| value as f64),
        DataType::Float16 => copy::<<Float16Type as ArrowPrimitiveType>::Native>(array, out, f64::from),
        DataType::Float32 => copy::<f32>(array, out, f64::from),
        DataType::Float64 => copy::<f64>(array, out, |value| value),
        DataType::Decimal32(_, scale) => copy::<i32>(array, out, |value| f64::from(value) / ten(*scale)),
        DataType::Decimal64(_, scale) => copy::<i64>(array, out, |value| value as f64 / ten(*scale)),
        DataType::Decimal128(_, scale) => copy::<i128>(array, out, |value| value as f64 / ten(*scale)),
        kind => return Err(format!("{kind} is not a number")),
    }
    Ok(())
}

/// The length of the list in a row; `None` for null.
pub(super) fn length(array: &ArrayRef, row: usize) -> Option<usize> {
    array.is_valid(row).then(|| range(array, row).1)
}

/// The offset of a row's list in the values array, and its length.
fn range(array: &ArrayRef, row: usize) -> (usize, usize) {
    match array.data_type() {
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            (lists.value_offset_at(row), lists.value_length() as usize)
        }
        DataType::List(_) => (
            array.as_list::<i32>().value_offsets()[row] as usize,
            array.as_list::<i32>().value_length(row) as usize,
        ),
        _ => (
            array.as_list::<i64>().value_offsets()[row] as usize,
            array.as_list::<i64>().value_length(row) as usize,
        ),
    }
}

/// The numbers of all lists, and the index of the first one in the range of `range`.
fn inner(array: &ArrayRef) -> (ArrayRef, usize) {
    // The values may include other rows.
    fn within<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> (ArrayRef, usize) {
        let offsets = lists.value_offsets();
        let [start, end] = [offsets[0], offsets[offsets.len() - 1]].map(O::as_usize);
        (lists.values().slice(start, end - start), start)
    }
    match array.data_type() {
        DataType::FixedSizeList(..) => (Arc::clone(array.as_fixed_size_list().values()), 0),
        DataType::List(_) => within(array.as_list::<i32>()),
        _ => within(array.as_list::<i64>()),
    }
}

/// Bytes that [`lists`] needs for its numbers.
pub(super) fn flattened(array: &ArrayRef) -> u64 {
    if is_list(array.data_type()) {
        (inner(array).0.len() as u64).saturating_mul(size_of::<f64>() as u64)
    } else {
        0
    }
}

/// Passes each list of `of` numbers to `each` with its row, skipping nulls. The error is a row and the
/// reason.
pub(super) fn lists(
    array: &ArrayRef,
    of: usize,
    mut each: impl FnMut(usize, &[f64]),
) -> Result<(), (usize, String)> {
    let (inner, first) = inner(array);
    let mut flat = vec![f64::NAN; inner.len()];
    numbers(&inner, flat.iter_mut()).map_err(|why| (0, why))?;
    for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
        let (start, length) = range(array, row);
        if length != of {
            return Err((
                row,
                format!("has {length} numbers, but the first list has {of}; all must have the same length"),
            ));
        }
        let start = start - first;
        each(
            row,
            flat.get(start..start + length).ok_or_else(|| (row, "extends past its numbers".to_owned()))?,
        );
    }
    Ok(())
}

/// The string in a row; `None` for null.
pub(super) fn text(array: &ArrayRef, row: usize) -> Option<String> {
    bytes(array, row).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The string or the bytes in a row; `None` for null.
pub(super) fn bytes(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(row)),
        DataType::Dictionary(..) => downcast_dictionary_array!(
            array => bytes(array.values(), array.key(row)?),
            _ => None
        ),
        _ => None,
    }
}

// Formats dates and timestamps. Colours and coordinates use the file's own numbers.

/// The unit of a column that counts time since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimestampType {
    /// The duration of one unit of the column.
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

impl TimestampType {
    /// The unit of a data type; `None` for times of day and durations.
    pub(super) fn from_type(kind: &DataType) -> Option<Self> {
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

    /// Formats a number of the column: `2024-10-04`, `2024-10-04T12:30:00.25Z`. Outside the calendar's range
    /// it stays a plain number.
    ///
    /// An f64 resolves present-day timestamps to 256 ns, so nanoseconds are rounded to microseconds.
    pub fn text(self, value: f64) -> String {
        // The whole calendar range fits in microseconds.
        let (count, micros) = match self.unit {
            Unit::Days => (value, 86_400_000_000),
            Unit::Seconds => (value, 1_000_000),
            Unit::Milliseconds => (value, 1000),
            Unit::Microseconds => (value, 1),
            Unit::Nanoseconds => ((value / 1e3).round(), 1),
        };
        let whole = value.is_finite() && value.fract() == 0.0;
        let micros = (count as i64).checked_mul(micros).filter(|_| whole);
        let moment = micros.and_then(as_datetime::<TimestampMicrosecondType>);
        moment.map_or_else(|| value.to_string(), |moment| self.shown(moment))
    }

    /// ISO 8601, the `Debug` format of the calendar crate.
    fn shown(self, moment: impl Debug) -> String {
        let iso = format!("{moment:?}");
        match (self.unit, iso.split_once('T')) {
            (Unit::Days, Some((day, _))) => day.to_owned(),
            _ if self.utc => iso + "Z",
            _ => iso,
        }
    }
}

/// The exact date or timestamp in a row; `None` for other types, null, and values outside the calendar's
/// range.
pub(super) fn date(array: &ArrayRef, row: usize) -> Option<String> {
    let moment = TimestampType::from_type(array.data_type()).filter(|_| array.is_valid(row))?;
    downcast_temporal_array!(
        array => array.value_as_datetime(row).map(|at| moment.shown(at)),
        _ => None
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_format_as_iso_dates() {
        let moment = |unit, utc, value| TimestampType { unit, utc }.text(value);
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
