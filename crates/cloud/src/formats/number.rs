//! The element types of binary formats.

use std::io::{self, Read};

use crate::table::Real;

/// The type of a fixed-width number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// Converts exactly the bytes of one number.
macro_rules! decode_bytes {
    ($type:ty, $widen:expr, $endian:expr, $bytes:expr) => {{
        let mut raw = [0; size_of::<$type>()];
        raw.copy_from_slice($bytes);
        let widen: fn($type) -> f64 = $widen;
        widen(if $endian == Endian::Little {
            <$type>::from_le_bytes(raw)
        } else {
            <$type>::from_be_bytes(raw)
        })
    }};
}

/// Invokes a macro with the Rust type of a [`NumberType`] and its conversion to f64.
macro_rules! with_type {
    ($number:expr, $use:ident) => {
        match $number {
            NumberType::Bool => $use!(u8, |raw| f64::from(u8::from(raw != 0))),
            NumberType::I8 => $use!(i8, f64::from),
            NumberType::U8 => $use!(u8, f64::from),
            NumberType::I16 => $use!(i16, f64::from),
            NumberType::U16 => $use!(u16, f64::from),
            NumberType::I32 => $use!(i32, f64::from),
            NumberType::U32 => $use!(u32, f64::from),
            NumberType::I64 => $use!(i64, |raw| raw as f64),
            NumberType::U64 => $use!(u64, |raw| raw as f64),
            NumberType::F16 => $use!(u16, half),
            NumberType::F32 => $use!(f32, f64::from),
            NumberType::F64 => $use!(f64, |raw| raw),
        }
    };
}

impl NumberType {
    /// The type of this kind, signed (`i`), unsigned (`u`) or floating (`f`), and of this size in bytes.
    pub fn from_kind(kind: char, size: u64) -> Option<Self> {
        Some(match (kind, size) {
            ('i', 1) => Self::I8,
            ('u', 1) => Self::U8,
            ('i', 2) => Self::I16,
            ('u', 2) => Self::U16,
            ('i', 4) => Self::I32,
            ('u', 4) => Self::U32,
            ('i', 8) => Self::I64,
            ('u', 8) => Self::U64,
            ('f', 2) => Self::F16,
            ('f', 4) => Self::F32,
            ('f', 8) => Self::F64,
            _ => return None,
        })
    }

    /// Size of a number in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Lower-case name for display, such as `f32`.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Whether f32 represents every number of this type.
    pub fn fits_f32(self) -> bool {
        !matches!(self, Self::I32 | Self::U32 | Self::I64 | Self::U64 | Self::F64)
    }

    /// Whether f64 rounds some numbers of this type.
    pub fn exceeds_f64(self) -> bool {
        matches!(self, Self::I64 | Self::U64)
    }

    /// Decodes `bytes`, whose length is a multiple of the size, and appends the numbers as `T`.
    pub fn decode<T: Real>(self, endian: Endian, bytes: &[u8], out: &mut Vec<T>) {
        macro_rules! all {
            ($type:ty, $widen:expr) => {
                out.extend(
                    bytes
                        .chunks_exact(size_of::<$type>())
                        .map(|raw| T::from_f64(decode_bytes!($type, $widen, endian, raw))),
                )
            };
        }
        with_type!(self, all)
    }

    /// Appends the numbers at these positions of each row of `width`.
    pub fn decode_selected<T: Real>(
        self,
        endian: Endian,
        rows: &[u8],
        width: usize,
        selected: &[usize],
        out: &mut Vec<T>,
    ) {
        if selected.iter().copied().eq(0..width) {
            return self.decode(endian, rows, out);
        }
        let one = |row: &[u8], at: usize| {
            T::from_f64(self.decode_one(endian, &row[at * self.size()..][..self.size()]))
        };
        out.extend(
            rows.chunks_exact(width * self.size())
                .flat_map(|row| selected.iter().map(move |&at| one(row, at))),
        );
    }

    /// Decodes a 64-bit integer; `None` for other types.
    pub fn integer(self, endian: Endian, bytes: &[u8]) -> Option<i128> {
        let raw = bytes.try_into().ok()?;
        let bits = if endian == Endian::Little { u64::from_le_bytes(raw) } else { u64::from_be_bytes(raw) };
        match self {
            Self::I64 => Some((bits as i64).into()),
            Self::U64 => Some(bits.into()),
            _ => None,
        }
    }

    /// Decodes one number from exactly its size in bytes.
    pub fn decode_one(self, endian: Endian, bytes: &[u8]) -> f64 {
        macro_rules! one {
            ($type:ty, $widen:expr) => {
                decode_bytes!($type, $widen, endian, bytes)
            };
        }
        with_type!(self, one)
    }
}

/// Widens an IEEE 754 binary16.
fn half(raw: u16) -> f64 {
    let sign = if raw >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(raw >> 10 & 31), f64::from(raw & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Reads exactly `count` bytes, as declared by an untrusted header: memory grows as bytes arrive.
pub(super) fn read_bytes(reader: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count.min(1 << 18) as usize);
    reader.take(count).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < count { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// A whole number of up to eight bytes, the lowest one first.
pub(super) fn whole(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_widen_exactly() {
        for (raw, value) in [
            (0x0000, 0.0),
            (0x0001, 2f64.powi(-24)),
            (0x03ff, 1023.0 * 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0x3c00, 1.0),
            (0x3555, 0.333_251_953_125),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            assert_eq!(half(raw), value, "{raw:04x}");
        }
        assert!(half(0x7e00).is_nan());
        assert!(half(0x8000).is_sign_negative());
    }

    #[test]
    fn numbers_are_decoded_in_both_byte_orders() {
        let mut out: Vec<f64> = Vec::new();
        NumberType::I16.decode(Endian::Little, &[0xfe, 0xff, 0x01, 0x00], &mut out);
        NumberType::I16.decode(Endian::Big, &[0xff, 0xfe, 0x00, 0x01], &mut out);
        NumberType::U64.decode(Endian::Big, &[0, 0, 0, 0, 0, 0, 1, 2], &mut out);
        NumberType::Bool.decode(Endian::Little, &[0, 1, 7], &mut out);
        assert_eq!(out, [-2.0, 1.0, -2.0, 1.0, 258.0, 0.0, 1.0, 1.0]);
        assert_eq!(NumberType::F64.decode_one(Endian::Big, &1.5f64.to_be_bytes()), 1.5);
    }
}
