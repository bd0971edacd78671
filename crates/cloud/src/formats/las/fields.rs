//! The fields of a point: their location in a record, and how to decode them.

use crate::formats::{Endian, NumberType, printable};

/// One column of a scan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub name: String,
    /// Byte offset in a record.
    at: usize,
    number: NumberType,
    /// Lowest bit and width, for a bit field.
    bits: Option<(u8, u8)>,
    /// Scale and offset of a coordinate: `raw × scale + offset`.
    transform: Option<(f64, f64)>,
}

/// Bytes of an extra-bytes descriptor in the VLR `LASF_Spec` 4.
const EXTRA: usize = 192;

impl Field {
    fn new(name: &str, at: usize, number: NumberType) -> Self {
        Self { name: name.to_owned(), at, number, bits: None, transform: None }
    }

    /// Byte offset of the end of this field in a record.
    pub fn end(&self) -> usize {
        self.at + self.number.size()
    }

    /// Fast path of [`Field::value`] for x, y and z, which are most of the data read.
    pub fn coordinate(&self, record: &[u8]) -> f64 {
        let (scale, offset) = self.transform.unwrap_or((1.0, 0.0));
        NumberType::I32.decode_one(Endian::Little, &record[self.at..self.at + 4]) * scale + offset
    }

    /// Decodes the field from a record of at least [`Field::end`] bytes.
    pub fn value(&self, record: &[u8]) -> f64 {
        let bytes = &record[self.at..self.end()];
        if let Some((lowest, count)) = self.bits {
            return f64::from(bytes[0] >> lowest & ((1u16 << count) - 1) as u8);
        }
        let value = self.number.decode_one(Endian::Little, bytes);
        self.transform.map_or(value, |(scale, offset)| value * scale + offset)
    }
}

/// The fields of a point format, 0 to 10, with x, y and z first, without wave packets.
pub(super) fn of_format(format: u8, scale: [f64; 3], offset: [f64; 3]) -> Vec<Field> {
    let mut fields: Vec<Field> = (0..3)
        .map(|axis| Field {
            transform: Some((scale[axis], offset[axis])),
            ..Field::new(["x", "y", "z"][axis], 4 * axis, NumberType::I32)
        })
        .collect();
    let mut add = |name, at, number| fields.push(Field::new(name, at, number));
    add("intensity", 12, NumberType::U16);
    let (first_bits, at): (&[(&str, usize, u8, u8)], _) = if format < 6 {
        add("scan_angle", 16, NumberType::I8);
        add("user_data", 17, NumberType::U8);
        add("point_source_id", 18, NumberType::U16);
        let bits = &[
            ("return_number", 14, 0, 3),
            ("number_of_returns", 14, 3, 3),
            ("scan_direction", 14, 6, 1),
            ("edge_of_flight_line", 14, 7, 1),
            ("classification", 15, 0, 5),
            ("synthetic", 15, 5, 1),
            ("key_point", 15, 6, 1),
            ("withheld", 15, 7, 1),
        ];
        (bits, 20)
    } else {
        add("classification", 16, NumberType::U8);
        add("user_data", 17, NumberType::U8);
        add("scan_angle", 18, NumberType::I16);
        add("point_source_id", 20, NumberType::U16);
        let bits = &[
            ("return_number", 14, 0, 4),
            ("number_of_returns", 14, 4, 4),
            ("synthetic", 15, 0, 1),
            ("key_point", 15, 1, 1),
            ("withheld", 15, 2, 1),
            ("overlap", 15, 3, 1),
            ("scanner_channel", 15, 4, 2),
            ("scan_direction", 15, 6, 1),
            ("edge_of_flight_line", 15, 7, 1),
        ];
        (bits, 22)
    };
    let (time, colour, infrared) = match format {
        1 | 4 | 6 | 9 => (Some(at), None, None),
        2 => (None, Some(at), None),
        3 | 5 | 7 => (Some(at), Some(at + 8), None),
        8 | 10 => (Some(at), Some(at + 8), Some(at + 14)),
        _ => (None, None, None),
    };
    if let Some(at) = time {
        add("gps_time", at, NumberType::F64);
    }
    if let Some(at) = colour {
        ["red", "green", "blue"]
            .into_iter()
            .enumerate()
            .for_each(|(channel, name)| add(name, at + 2 * channel, NumberType::U16));
    }
    if let Some(at) = infrared {
        add("nir", at, NumberType::U16);
    }
    fields.extend(first_bits.iter().map(|&(name, at, lowest, count)| Field {
        bits: Some((lowest, count)),
        ..Field::new(name, at, NumberType::U8)
    }));
    if format >= 6
        && let Some(angle) = fields.iter_mut().find(|field| field.name == "scan_angle")
    {
        // In steps of 0.006°. Earlier formats store degrees.
        angle.transform = Some((0.006, 0.0));
    }
    fields
}

/// The described extra bytes, starting at byte `at` of each record of `length` bytes.
///
/// Omits fields past the end of the record. Arrays and untyped bytes are skipped.
pub(super) fn extra(descriptions: &[u8], mut at: usize, length: usize) -> Vec<Field> {
    use NumberType::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    const TYPES: [NumberType; 10] = [U8, I8, U16, I16, U32, I32, U64, I64, F32, F64];
    let mut fields = Vec::new();
    for raw in descriptions.chunks_exact(EXTRA) {
        let (kind, options) = (usize::from(raw[2]), raw[3]);
        let (number, count) = match kind {
            0 => (None, usize::from(options)),
            1..=30 => (Some(TYPES[(kind - 1) % 10]), (kind - 1) / 10 + 1),
            _ => break,
        };
        let size = number.map_or(count, |number| number.size() * count);
        if let Some(number) = number
            && count == 1
            && at + size <= length
        {
            let name =
                String::from_utf8_lossy(raw[4..36].split(|&byte| byte == 0).next().unwrap_or_default())
                    .trim()
                    .to_owned();
            let real = |at: usize| NumberType::F64.decode_one(Endian::Little, &raw[at..at + 8]);
            let scale = if options & 8 == 0 { 1.0 } else { real(112) };
            let offset = if options & 16 == 0 { 0.0 } else { real(136) };
            let transform = (options & 24 != 0).then_some((scale, offset));
            fields.push(Field { name: printable(&name), transform, ..Field::new("", at, number) });
        }
        at += size;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_fit_in_the_smallest_record_of_their_format() {
        for (format, least) in super::super::MIN_RECORD.into_iter().enumerate() {
            let fields = of_format(format as u8, [1.0; 3], [0.0; 3]);
            assert!(fields.iter().all(|field| field.end() <= least), "{format}: {fields:?}");
            let mut names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), fields.len(), "{format}");
        }
    }

    #[test]
    fn extra_bytes_fields_are_laid_out_consecutively() {
        let describe = |kind: u8, options: u8, name: &str| {
            let mut raw = [0; EXTRA];
            (raw[2], raw[3]) = (kind, options);
            raw[4..4 + name.len()].copy_from_slice(name.as_bytes());
            raw[112..120].copy_from_slice(&0.5f64.to_le_bytes());
            raw[136..144].copy_from_slice(&10f64.to_le_bytes());
            raw
        };
        let descriptions = [
            describe(0, 3, "bytes"),
            describe(3, 24, "height"),
            describe(13, 0, "pair"),
            describe(9, 0, "late"),
        ]
        .concat();
        let fields = extra(&descriptions, 20, 33);
        let mut record = [0; 33];
        record[23] = 4;
        record[29..33].copy_from_slice(&1.5f32.to_le_bytes());
        let values: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.value(&record))).collect();
        assert_eq!(values, [("height", 12.0), ("late", 1.5)]);
        assert_eq!(extra(&descriptions, 20, 32).len(), 1);
    }
}
