//! The values of an array, as numbers or as text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait};
use arrow_schema::{DataType, Field, Fields, TimeUnit};

use super::super::vector_cell::{LATITUDES, LONGITUDES};

/// Whether the type is one number per row.
pub(super) fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || kind.is_temporal() && !matches!(kind, DataType::Interval(_))
        || matches!(kind, DataType::Boolean | DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..))
}

/// Whether f32 represents all numbers of the type exactly.
pub(super) fn fits_f32(kind: &DataType) -> bool {
    match kind {
        DataType::FixedSizeList(field, _) | DataType::List(field) | DataType::LargeList(field) => fits_f32(field.data_type()),
        DataType::Boolean | DataType::Int8 | DataType::UInt8 | DataType::Int16 | DataType::UInt16 => true,
        kind => matches!(kind, DataType::Float16 | DataType::Float32),
    }
}

/// Whether the type is a list of numbers with fractions.
pub(super) fn is_floating(kind: &DataType) -> bool {
    matches!(kind, DataType::FixedSizeList(field, _) | DataType::List(field) | DataType::LargeList(field) if field.data_type().is_floating())
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
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
}

/// Whether the type is a list of lists of numbers or of points; then, whether the numbers have fractions.
pub(super) fn is_nested(kind: &DataType) -> Option<bool> {
    let (DataType::FixedSizeList(field, _) | DataType::List(field) | DataType::LargeList(field)) = kind else { return None };
    match field.data_type() {
        DataType::Struct(fields) => axes(fields).map(|_| true),
        within if is_list(within) => Some(is_floating(within)),
        within => is_nested(within),
    }
}

/// The fields of a structure that are axes of a point: longitude, latitude and height, or x, y and z. True for degrees.
pub(super) fn axes(fields: &Fields) -> Option<(bool, Vec<usize>)> {
    let named = |field: &Field, names: &[&str]| names.iter().any(|name| field.name().eq_ignore_ascii_case(name)) && is_number(field.data_type());
    let find = |names: &[&str]| fields.iter().position(|field| named(field, names));
    [(true, [LONGITUDES, LATITUDES, &["height", "altitude"]]), (false, [&["x"], &["y"], &["z"]])].into_iter().find_map(|(degrees, names)| {
        let axes: Vec<usize> = names.into_iter().map_while(find).collect();
        (axes.len() >= 2).then_some((degrees, axes))
    })
}

/// Whether the type is a list of numbers per row.
pub(super) fn is_list(kind: &DataType) -> bool {
    match kind {
        DataType::FixedSizeList(field, _) | DataType::List(field) | DataType::LargeList(field) => {
            field.data_type().is_integer() || field.data_type().is_floating()
        }
        _ => false,
    }
}

/// Copies the numbers of a primitive type; nulls leave `out` unchanged.
fn primitive<'v, T: ArrowPrimitiveType>(
    array: &dyn Array,
    out: impl Iterator<Item = &'v mut f64>,
    widen: impl Fn(T::Native) -> f64,
) -> Result<(), String> {
    let array = array.as_primitive_opt::<T>().ok_or_else(|| format!("a column of {} turned into another", T::DATA_TYPE))?;
    for (out, value) in out.zip(array.iter()) {
        if let Some(value) = value {
            *out = widen(value);
        }
    }
    Ok(())
}

/// Copies the numbers of an array; nulls leave `out` unchanged. Dates and times are in their own units
/// since 1970 or midnight.
pub(super) fn numbers<'v>(array: &ArrayRef, out: impl Iterator<Item = &'v mut f64>) -> Result<(), String> {
    use arrow_array::types as t;
    let ten = |scale: i8| 10f64.powi(scale.into());
    let whole = |value: i64| value as f64;
    match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            for (out, value) in out.zip(array.iter()) {
                if let Some(value) = value {
                    *out = f64::from(u8::from(value));
                }
            }
            Ok(())
        }
        DataType::Int8 => primitive::<Int8Type>(array, out, f64::from),
        DataType::Int16 => primitive::<Int16Type>(array, out, f64::from),
        DataType::Int32 => primitive::<Int32Type>(array, out, f64::from),
        DataType::Int64 => primitive::<Int64Type>(array, out, whole),
        DataType::UInt8 => primitive::<UInt8Type>(array, out, f64::from),
        DataType::UInt16 => primitive::<UInt16Type>(array, out, f64::from),
        DataType::UInt32 => primitive::<UInt32Type>(array, out, f64::from),
        DataType::UInt64 => primitive::<UInt64Type>(array, out, |value| value as f64),
        DataType::Float16 => primitive::<Float16Type>(array, out, f64::from),
        DataType::Float32 => primitive::<Float32Type>(array, out, f64::from),
        DataType::Float64 => primitive::<Float64Type>(array, out, |value| value),
        DataType::Decimal32(_, scale) => primitive::<Decimal32Type>(array, out, |value| f64::from(value) / ten(*scale)),
        DataType::Decimal64(_, scale) => primitive::<Decimal64Type>(array, out, |value| value as f64 / ten(*scale)),
        DataType::Decimal128(_, scale) => primitive::<Decimal128Type>(array, out, |value| value as f64 / ten(*scale)),
        DataType::Date32 => primitive::<t::Date32Type>(array, out, f64::from),
        DataType::Date64 => primitive::<t::Date64Type>(array, out, whole),
        DataType::Time32(TimeUnit::Second) => primitive::<t::Time32SecondType>(array, out, f64::from),
        DataType::Time32(_) => primitive::<t::Time32MillisecondType>(array, out, f64::from),
        DataType::Time64(TimeUnit::Nanosecond) => primitive::<t::Time64NanosecondType>(array, out, whole),
        DataType::Time64(_) => primitive::<t::Time64MicrosecondType>(array, out, whole),
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<t::TimestampSecondType>(array, out, whole),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<t::TimestampMillisecondType>(array, out, whole),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<t::TimestampMicrosecondType>(array, out, whole),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<t::TimestampNanosecondType>(array, out, whole),
        DataType::Duration(TimeUnit::Second) => primitive::<t::DurationSecondType>(array, out, whole),
        DataType::Duration(TimeUnit::Millisecond) => primitive::<t::DurationMillisecondType>(array, out, whole),
        DataType::Duration(TimeUnit::Microsecond) => primitive::<t::DurationMicrosecondType>(array, out, whole),
        DataType::Duration(TimeUnit::Nanosecond) => primitive::<t::DurationNanosecondType>(array, out, whole),
        kind => Err(format!("{kind} is no number")),
    }
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
        DataType::List(_) => (array.as_list::<i32>().value_offsets()[row] as usize, array.as_list::<i32>().value_length(row) as usize),
        _ => (array.as_list::<i64>().value_offsets()[row] as usize, array.as_list::<i64>().value_length(row) as usize),
    }
}

/// The numbers of all lists, and the place of the first one among those that `range` tells.
fn inner(array: &ArrayRef) -> (ArrayRef, usize) {
    // Those of other rows may be there, too.
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

/// Bytes that [`lists`] takes for its numbers.
pub(super) fn flattened(array: &ArrayRef) -> u64 {
    if is_list(array.data_type()) { (inner(array).0.len() as u64).saturating_mul(size_of::<f64>() as u64) } else { 0 }
}

/// Passes each list of `of` numbers to `each` with its row, skipping nulls. The error is a row and the reason.
pub(super) fn lists(array: &ArrayRef, of: usize, mut each: impl FnMut(usize, &[f64])) -> Result<(), (usize, String)> {
    let (inner, first) = inner(array);
    let mut flat = vec![f64::NAN; inner.len()];
    numbers(&inner, flat.iter_mut()).map_err(|why| (0, why))?;
    for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
        let (start, length) = range(array, row);
        if length != of {
            return Err((row, format!("has {length} numbers and the first one {of}; all must be as long")));
        }
        let start = start - first;
        each(row, flat.get(start..start + length).ok_or_else(|| (row, "ends outside of its numbers".to_owned()))?);
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
    fn of_dictionary<K: ArrowDictionaryKeyType>(array: &ArrayRef, row: usize) -> Option<&[u8]> {
        let dictionary = array.as_dictionary_opt::<K>()?;
        bytes(dictionary.values(), dictionary.key(row)?)
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(row)),
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => of_dictionary::<Int8Type>(array, row),
            DataType::Int16 => of_dictionary::<Int16Type>(array, row),
            DataType::Int32 => of_dictionary::<Int32Type>(array, row),
            DataType::Int64 => of_dictionary::<Int64Type>(array, row),
            DataType::UInt8 => of_dictionary::<UInt8Type>(array, row),
            DataType::UInt16 => of_dictionary::<UInt16Type>(array, row),
            DataType::UInt32 => of_dictionary::<UInt32Type>(array, row),
            DataType::UInt64 => of_dictionary::<UInt64Type>(array, row),
            _ => None,
        },
        _ => None,
    }
}
