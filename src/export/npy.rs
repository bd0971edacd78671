//! Writes a NumPy array: the head, and values as they come.

use std::io::{self, Write};

/// Writer of a `.npy` file.
pub struct Npy<W: Write>(W);

impl<W: Write> Npy<W> {
    /// Begins a matrix of little-endian values; `dtype` is NumPy's type string.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn matrix(mut out: W, dtype: &str, (rows, columns): (usize, usize)) -> io::Result<Self> {
        out.write_all(&header(dtype, &format!("({rows}, {columns})")))?;
        Ok(Self(out))
    }

    /// Adds values, row by row.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn values<const WIDTH: usize>(&mut self, values: impl Iterator<Item = [u8; WIDTH]>) -> io::Result<()> {
        append(&mut self.0, values)
    }

    /// Writes what is still to be written.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes values in large pieces.
pub(super) fn append<const WIDTH: usize>(out: &mut impl Write, values: impl Iterator<Item = [u8; WIDTH]>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(1 << 16);
    for value in values {
        bytes.extend_from_slice(&value);
        if bytes.len() >= 1 << 16 {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// The header of a `.npy`, version 1.0, padded so that the values begin at a multiple of 64 bytes.
pub(super) fn header(dtype: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_as_numpy_writes_it() {
        let bytes = header("<f4", "(1000, 32)");
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
        assert_eq!(u16::from_le_bytes([bytes[8], bytes[9]]) as usize, bytes.len() - 10);
        assert!(bytes[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 32), }"));
        assert_eq!(bytes.last(), Some(&b'\n'));
    }
}
