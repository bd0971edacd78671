//! NumPy arrays of the types that recordings use.

use std::io::{self, Read};

/// A number type in recordings, little-endian on every machine.
pub(super) trait Element: bytemuck::Pod {
    /// NumPy's type string.
    const DESCR: &'static str;

    /// Converts from or to little-endian.
    fn swapped(self) -> Self;
}

macro_rules! element {
    ($($type:ty, $descr:literal, $swap:expr;)*) => {
        $(impl Element for $type {
            const DESCR: &'static str = $descr;

            fn swapped(self) -> Self {
                let swap: fn(Self) -> Self = $swap;
                if cfg!(target_endian = "little") { self } else { swap(self) }
            }
        })*
    };
}

element! {
    u8, "|u1", |value| value;
    u32, "<u4", u32::swap_bytes;
    u64, "<u8", u64::swap_bytes;
    f32, "<f4", |value| f32::from_bits(value.to_bits().swap_bytes());
    f64, "<f8", |value| f64::from_bits(value.to_bits().swap_bytes());
}

/// Bytes to read or write at a time; a multiple of every element's size.
pub(super) const CHUNK: usize = 1 << 17;

/// The header of an array, version 1.0, as `numpy.save` writes it; values begin at a multiple of 64 bytes.
pub fn head(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// The number of elements of a shape, unless it overflows.
pub(super) fn count<T: Element>(shape: &[usize]) -> Option<usize> {
    let count = shape.iter().try_fold(1usize, |all, &size| all.checked_mul(size))?;
    count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize)?;
    Some(count)
}

/// Reads an array of exactly this shape. Memory grows with the data read, so that a false shape does no harm.
///
/// # Errors
/// Errors of the reader, [`io::ErrorKind::InvalidData`] for another array, and
/// [`io::ErrorKind::OutOfMemory`].
pub(super) fn read<T: Element>(from: &mut impl Read, shape: &[usize]) -> io::Result<Vec<T>> {
    let other = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let count = count::<T>(shape).ok_or_else(|| other("it exceeds the address space"))?;
    let expected = head(T::DESCR, shape);
    let mut found = vec![0; expected.len()];
    from.read_exact(&mut found)?;
    if found != expected {
        return Err(other(&format!("expected type {} and shape {shape:?}", T::DESCR)));
    }
    let mut values: Vec<T> = Vec::new();
    while values.len() < count {
        let start = values.len();
        let more = (CHUNK / size_of::<T>()).min(count - start);
        values.try_reserve(more).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        values.resize(start + more, T::zeroed());
        from.read_exact(bytemuck::cast_slice_mut(&mut values[start..]))?;
        values[start..].iter_mut().for_each(|value| *value = value.swapped());
    }
    // Reading to the end makes zip compare the checksum.
    match from.read(&mut [0])? {
        0 => Ok(values),
        _ => Err(other("it has trailing data")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npy_headers_match_numpy() {
        let bytes = head("<f4", &[1000, 32]);
        assert_eq!(
            (bytes.len() % 64, &bytes[..8], bytes.last()),
            (0, &b"\x93NUMPY\x01\x00"[..], Some(&b'\n'))
        );
        assert_eq!(u16::from_le_bytes([bytes[8], bytes[9]]) as usize, bytes.len() - 10);
        assert!(bytes[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 32), }"));
        assert!(
            head("<u4", &[7])[10..].starts_with(b"{'descr': '<u4', 'fortran_order': False, 'shape': (7,), }")
        );
    }

    #[test]
    fn npy_arrays_with_wrong_type_or_shape_are_rejected() {
        let bytes = [head("<u4", &[2]), vec![1, 0, 0, 0, 2, 0, 0, 0]].concat();
        assert_eq!(read::<u32>(&mut &bytes[..], &[2]).unwrap(), [1, 2]);
        assert!(read::<u32>(&mut &bytes[..], &[3]).is_err());
        assert!(read::<f32>(&mut &bytes[..], &[2]).is_err());
        assert!(read::<u32>(&mut &bytes[..bytes.len() - 1], &[2]).is_err());
        assert!(read::<u32>(&mut &[bytes, vec![0]].concat()[..], &[2]).is_err());
        let huge = head("<u4", &[usize::MAX / 8]);
        assert!(read::<u32>(&mut &huge[..], &[usize::MAX / 8]).is_err(), "memory grows with the data read");
    }
}
