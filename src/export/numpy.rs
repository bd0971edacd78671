//! Writes NumPy arrays: one as a `.npy`, or several in a zip archive.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::placed::PlacedArray;
use crate::run::recording::npy_head;

/// Writer of a `.npz` archive. Shapes are known in advance, and so is the offset of each array: arrays can be
/// written in any order, and in parallel. Entries are not compressed, as by `numpy.savez`, so that readers
/// can memory-map them.
pub struct NpzWriter<'a> {
    file: &'a File,
    entries: Vec<Entry<'a>>,
    /// Offset of the next entry.
    end: u64,
}

impl<'a> NpzWriter<'a> {
    /// Starts an archive without arrays, in an empty file.
    pub fn new(out: &'a mut BufWriter<File>) -> Self {
        Self { file: out.get_ref(), entries: Vec::new(), end: 0 }
    }

    /// Adds a matrix of little-endian values; `dtype` is NumPy's type string.
    pub fn matrix<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        (rows, columns): (usize, usize),
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        append(self.array(name, dtype, &[rows, columns], WIDTH)?, values)
    }

    /// Adds a column of little-endian values; a text element of `dtype` consists of several values.
    pub fn column<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        rows: usize,
        values: impl Iterator<Item = [u8; WIDTH]>,
    ) -> io::Result<()> {
        let letters: usize = dtype.strip_prefix("<U").and_then(|count| count.parse().ok()).unwrap_or(1);
        append(self.array(name, dtype, &[rows], WIDTH * letters)?, values)
    }

    /// Adds a single value, as an array without dimensions.
    pub fn scalar<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        value: [u8; WIDTH],
    ) -> io::Result<()> {
        self.array(name, dtype, &[], WIDTH)?.write_all(&value)
    }

    /// The array with this name, which is added the first time, with elements of `width` bytes. It must be
    /// complete before [`Self::finish`].
    pub fn array(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        width: usize,
    ) -> io::Result<&mut PlacedArray<'a>> {
        let bytes = shape.iter().fold(width as u64, |bytes, &size| bytes.saturating_mul(size as u64));
        // Sizes of 32 bits include the header.
        self.entry(name, &npy_head(dtype, shape), bytes, bytes > IN_ZIP64 - 4096)
    }

    fn entry(
        &mut self,
        name: &str,
        head: &[u8],
        values: u64,
        is_large: bool,
    ) -> io::Result<&mut PlacedArray<'a>> {
        let name = format!("{name}.npy");
        if let Some(at) = self.entries.iter().position(|entry| entry.name == name) {
            return Ok(&mut self.entries[at].data);
        }
        let (header, at) = (self.end, self.entries.len());
        let bytes = values.saturating_add(head.len() as u64);
        let data = PlacedArray::new(self.file, header);
        let mut entry = Entry { name, header, bytes, is_large, data };
        let start = header.saturating_add(entry.local_header().len() as u64);
        entry.data = PlacedArray::new(self.file, start);
        entry.data.write_all(head)?;
        self.entries.push(entry);
        self.end = start.saturating_add(bytes);
        Ok(&mut self.entries[at].data)
    }

    /// Writes the headers of the entries and the central directory of the archive.
    pub fn finish(self) -> io::Result<()> {
        let mut directory = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let next = self.entries.get(at + 1).map_or(self.end, |next| next.header);
            if entry.data.end() != next {
                let why = format!("array {} has another size than announced", entry.name);
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            PlacedArray::new(self.file, entry.header).write_all(&entry.local_header())?;
            directory.extend(entry.central_header());
        }
        let is_large = self.entries.iter().any(|entry| entry.is_large);
        let (count, size) = (self.entries.len() as u64, directory.len() as u64);
        directory.extend(end_of_directory(is_large, count, self.end, size));
        PlacedArray::new(self.file, self.end).write_all(&directory)
    }
}

/// An array in an archive.
struct Entry<'a> {
    name: String,
    /// Offset of the local header.
    header: u64,
    /// Size of the array with its header.
    bytes: u64,
    /// Whether the sizes are stored in 64 bits; otherwise they are below 4 GiB.
    is_large: bool,
    data: PlacedArray<'a>,
}

/// The largest number of 32 bits, in whose place there is one of 64 bits.
const IN_ZIP64: u64 = u32::MAX as u64;

/// The system whose file attributes entries have: MS-DOS or Unix.
const SYSTEM: u64 = if cfg!(windows) { 0 } else { 3 };

/// 1 January 1980, so that equal arrays give equal files.
const DATE: u64 = 1 << 5 | 1;

/// A regular file that its owner may write.
const ATTRIBUTES: u64 = 0o100_644 << 16;

impl Entry<'_> {
    fn local_header(&self) -> Vec<u8> {
        let zip64 = zip64_field(&self.large_sizes());
        let tail = fields(&[(zip64.len() as u64, 2)]);
        [fields(&[(0x0403_4b50, 4)]), self.common_fields(), tail, self.name.clone().into_bytes(), zip64]
            .concat()
    }

    fn central_header(&self) -> Vec<u8> {
        let mut large = self.large_sizes();
        large.extend((self.header >= IN_ZIP64).then_some(self.header));
        let zip64 = zip64_field(&large);
        let tail = fields(&[
            (zip64.len() as u64, 2),
            // The length of a comment, the number of the disk, and internal attributes.
            (0, 6),
            (ATTRIBUTES, 4),
            (self.header.min(IN_ZIP64), 4),
        ]);
        let head = fields(&[(0x0201_4b50, 4), (SYSTEM << 8 | version(self.is_large), 2)]);
        [head, self.common_fields(), tail, self.name.clone().into_bytes(), zip64].concat()
    }

    /// The fields that both headers share.
    fn common_fields(&self) -> Vec<u8> {
        let size = if self.is_large { IN_ZIP64 } else { self.bytes };
        fields(&[
            (version(self.is_large), 2),
            // Flags, compression method and time.
            (0, 6),
            (DATE, 2),
            (self.data.crc().into(), 4),
            (size, 4),
            (size, 4),
            (self.name.len() as u64, 2),
        ])
    }

    /// The sizes before and after compression, if they are stored in 64 bits.
    fn large_sizes(&self) -> Vec<u64> {
        if self.is_large { vec![self.bytes; 2] } else { Vec::new() }
    }
}

/// The version of the format that is needed to read an entry, times 10.
fn version(is_large: bool) -> u64 {
    if is_large { 45 } else { 10 }
}

/// Little-endian fields, from values and their widths in bytes.
fn fields(fields: &[(u64, usize)]) -> Vec<u8> {
    fields.iter().flat_map(|(value, width)| value.to_le_bytes().into_iter().take(*width)).collect()
}

/// The extra field of numbers that do not fit 32 bits; empty without such numbers.
fn zip64_field(numbers: &[u64]) -> Vec<u8> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let head = fields(&[(1, 2), (8 * numbers.len() as u64, 2)]);
    head.into_iter().chain(numbers.iter().flat_map(|number| number.to_le_bytes())).collect()
}

/// The records after the central directory of `count` entries, which has `size` bytes from `start` on.
fn end_of_directory(is_large: bool, count: u64, start: u64, size: u64) -> Vec<u8> {
    let mut records = Vec::new();
    let is_zip64 = start.max(size) > IN_ZIP64;
    if is_zip64 {
        let version = version(is_large);
        records.extend(fields(&[
            (0x0606_4b50, 4),
            // Bytes that follow.
            (44, 8),
            (version, 2),
            (version, 2),
            // The numbers of two disks.
            (0, 8),
            (count, 8),
            (count, 8),
            (size, 8),
            (start, 8),
            (0x0706_4b50, 4),
            (0, 4),
            (start + size, 8),
            // The number of disks.
            (1, 4),
        ]));
    }
    let size = if is_zip64 { IN_ZIP64 } else { size };
    records.extend(fields(&[
        (0x0605_4b50, 4),
        (0, 4),
        (count, 2),
        (count, 2),
        (size, 4),
        (start.min(IN_ZIP64), 4),
        // The length of a comment.
        (0, 2),
    ]));
    records
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

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipArchive, ZipWriter};

    use super::*;

    /// An archive written to a file, as its bytes.
    fn written(fill: impl FnOnce(&mut NpzWriter<'_>)) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut out = BufWriter::new(File::create(&path).unwrap());
        let mut npz = NpzWriter::new(&mut out);
        fill(&mut npz);
        npz.finish().unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn archives_have_the_bytes_that_the_zip_crate_writes() {
        let arrays: [(&str, &str, &[usize], usize); 3] =
            [("indices", "<i8", &[300, 7], 8), ("empty", "<f4", &[0, 7], 4), ("one", "|S3", &[], 3)];
        let values = |shape: &[usize], width: usize| -> Vec<[u8; 1]> {
            (0..shape.iter().product::<usize>() * width).map(|at| [(at * at % 251) as u8]).collect()
        };
        for is_large in [false, true] {
            let ours = written(|npz| {
                for (name, dtype, shape, width) in arrays {
                    let (head, values) = (npy_head(dtype, shape), values(shape, width));
                    let array = npz.entry(name, &head, values.len() as u64, is_large).unwrap();
                    // In two batches.
                    let (first, second) = values.split_at(values.len() / 2);
                    array.extend(first.len(), |at| first[at]).unwrap();
                    array.extend(second.len(), |at| second[at]).unwrap();
                }
            });
            let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
            for (name, dtype, shape, width) in arrays {
                let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                zip.start_file(format!("{name}.npy"), stored.large_file(is_large)).unwrap();
                zip.write_all(&npy_head(dtype, shape)).unwrap();
                zip.write_all(values(shape, width).as_flattened()).unwrap();
            }
            assert!(ours == zip.finish().unwrap().into_inner(), "large: {is_large}");
        }
    }

    #[test]
    fn archives_beyond_4_gib_have_a_zip64_directory() {
        let mut file = tempfile::tempfile().unwrap();
        let mut out = BufWriter::new(file.try_clone().unwrap());
        let mut npz = NpzWriter::new(&mut out);
        // The values are a hole of the file.
        let (gaps, tail) = ([5_000_000_000u64, 1000], [1, 2, 3]);
        for (name, bytes) in ["large", "middle"].into_iter().zip(gaps) {
            let end = npz.array(name, "|u1", &[bytes as usize], 1).unwrap().end() + bytes;
            let hole = PlacedArray::new(npz.file, end);
            npz.entries.last_mut().unwrap().data = hole;
        }
        npz.array("tail", "|u1", &[3], 1).unwrap().write_all(&tail).unwrap();
        npz.finish().unwrap();
        file.rewind().unwrap();
        let mut archive = ZipArchive::new(file).unwrap();
        for (name, values) in [("large", gaps[0]), ("middle", gaps[1])] {
            let entry = archive.by_name(&format!("{name}.npy")).unwrap();
            let sizes = (entry.size() - values, entry.compressed_size(), entry.header_start());
            assert_eq!(sizes, (128, values + 128, if name == "large" { 0 } else { 5_000_000_187 }));
        }
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut archive.by_name("tail.npy").unwrap(), &mut bytes).unwrap();
        assert_eq!(bytes[128..], tail);
    }

    #[test]
    fn incomplete_arrays_are_refused() {
        let mut out = BufWriter::new(tempfile::tempfile().unwrap());
        let mut npz = NpzWriter::new(&mut out);
        npz.matrix("short", "<i8", (2, 3), [[0; 8]; 5].into_iter()).unwrap();
        let why = npz.finish().unwrap_err().to_string();
        assert_eq!(why, "array short.npy has another size than announced");
    }
}
