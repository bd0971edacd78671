//! Writes NumPy arrays to a zip archive.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy;
use crate::files::Mute;

/// Writer of a `.npz` archive.
pub struct Npz<W: Write + Seek>(ZipWriter<Mute<W>>);

impl<'a> Npz<&'a mut BufWriter<File>> {
    /// Starts an archive without arrays.
    pub fn new(out: &'a mut BufWriter<File>) -> Self {
        Self(ZipWriter::new(Mute::new(out)))
    }

    /// Adds a matrix of little-endian values; `dtype` is NumPy's type string and `width` their size in bytes.
    pub fn matrix<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        (rows, columns): (usize, usize),
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        self.array(name, dtype, &format!("({rows}, {columns})"), rows as u64 * columns as u64, values)
    }

    /// Begins a matrix like [`Self::matrix`], whose `width`-byte values [`Self::values`] adds, all before another array begins.
    pub fn begin_matrix(&mut self, name: &str, dtype: &str, (rows, columns): (usize, usize), width: u64) -> io::Result<()> {
        self.begin(name, dtype, &format!("({rows}, {columns})"), (rows as u64 * columns as u64).saturating_mul(width))
    }

    /// Adds a column of little-endian values; an element of `dtype` may consist of several, as text does.
    pub fn column<const WIDTH: usize>(&mut self, name: &str, dtype: &str, rows: usize, values: impl Iterator<Item = [u8; WIDTH]>) -> io::Result<()> {
        let letters: u64 = dtype.strip_prefix("<U").and_then(|count| count.parse().ok()).unwrap_or(1);
        self.array(name, dtype, &format!("({rows},)"), rows as u64 * letters, values)
    }

    /// Adds a single value, as an array without dimensions.
    pub fn scalar<const WIDTH: usize>(&mut self, name: &str, dtype: &str, value: [u8; WIDTH]) -> io::Result<()> {
        self.array(name, dtype, "()", 1, std::iter::once(value))
    }

    fn array<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &str,
        count: u64,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        self.begin(name, dtype, shape, count * WIDTH as u64)?;
        self.values(values)
    }

    fn begin(&mut self, name: &str, dtype: &str, shape: &str, bytes: u64) -> io::Result<()> {
        // Uncompressed, as by `numpy.savez`, so that readers can memory-map it; without zip64 an entry is limited to 4 GiB.
        let large = bytes > u64::from(u32::MAX) - 4096;
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&npy::header(dtype, shape))
    }

    /// Adds values to the array that was begun last.
    pub fn values<const WIDTH: usize>(&mut self, values: impl Iterator<Item = [u8; WIDTH]>) -> io::Result<()> {
        npy::append(&mut self.0, values)
    }

    /// Writes the central directory of the archive.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()?.done()
    }
}
