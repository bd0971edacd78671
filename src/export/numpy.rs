//! Writes NumPy arrays: one as a `.npy`, or several in a zip archive.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::files::LatchingWriter;
use crate::run::recording::npy_head;

/// Writer of a `.npz` archive.
pub struct NpzWriter<W: Write + Seek>(ZipWriter<LatchingWriter<W>>);

impl<'a> NpzWriter<&'a mut BufWriter<File>> {
    /// Starts an archive without arrays.
    pub fn new(out: &'a mut BufWriter<File>) -> Self {
        Self(ZipWriter::new(LatchingWriter::new(out)))
    }

    /// Adds a matrix of little-endian values; `dtype` is NumPy's type string.
    pub fn matrix<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        (rows, columns): (usize, usize),
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        self.array(name, dtype, &[rows, columns], rows as u64 * columns as u64, values)
    }

    /// Begins a matrix as [`Self::matrix`] does. [`Self::values`] then adds its `width`-byte values, before
    /// another array begins.
    pub fn begin_matrix(
        &mut self,
        name: &str,
        dtype: &str,
        (rows, columns): (usize, usize),
        width: u64,
    ) -> io::Result<()> {
        self.begin(name, dtype, &[rows, columns], (rows as u64 * columns as u64).saturating_mul(width))
    }

    /// Adds a column of little-endian values; a text element of `dtype` consists of several values.
    pub fn column<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        rows: usize,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        let letters: u64 = dtype.strip_prefix("<U").and_then(|count| count.parse().ok()).unwrap_or(1);
        self.array(name, dtype, &[rows], rows as u64 * letters, values)
    }

    /// Adds a single value, as an array without dimensions.
    pub fn scalar<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        value: [u8; WIDTH],
    ) -> io::Result<()> {
        self.array(name, dtype, &[], 1, std::iter::once(value))
    }

    fn array<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        count: u64,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        self.begin(name, dtype, shape, count * WIDTH as u64)?;
        self.values(values)
    }

    fn begin(&mut self, name: &str, dtype: &str, shape: &[usize], bytes: u64) -> io::Result<()> {
        // Uncompressed, as by `numpy.savez`, so that readers can memory-map it; without zip64 an entry is
        // limited to 4 GiB.
        let large = bytes > u64::from(u32::MAX) - 4096;
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&npy_head(dtype, shape))
    }

    /// Adds values to the current array.
    pub fn values<const WIDTH: usize>(
        &mut self,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        append(&mut self.0, values)
    }

    /// Writes the central directory of the archive.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()?.done()
    }
}

/// Writer of a `.npy` file.
pub struct NpyWriter<W: Write>(W);

impl<W: Write> NpyWriter<W> {
    /// Begins a matrix of little-endian values; `dtype` is NumPy's type string.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn matrix(mut out: W, dtype: &str, (rows, columns): (usize, usize)) -> io::Result<Self> {
        out.write_all(&npy_head(dtype, &[rows, columns]))?;
        Ok(Self(out))
    }

    /// Adds values, row by row.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn values<const WIDTH: usize>(
        &mut self,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        append(&mut self.0, values)
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes values in large chunks.
pub(super) fn append<const WIDTH: usize>(
    out: &mut impl Write,
    values: impl Iterator<Item = [u8; WIDTH]>,
) -> io::Result<()> {
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
