//! Values at known offsets of a file, which are converted, checksummed and written in parallel.

use std::fs::File;
use std::io::{self, Write};

use crc32fast::Hasher;
use rayon::prelude::*;

/// Bytes that a thread converts and writes at a time. They fit in its cache, and in the memory reserved for
/// buffers.
const PIECE: usize = 1 << 18;

/// A range of a file that grows at its end. It ignores the file's position, so that several ranges of a file
/// can grow in turn.
pub struct PlacedArray<'a> {
    file: &'a File,
    /// Offset of the next byte.
    end: u64,
    crc: Hasher,
}

impl<'a> PlacedArray<'a> {
    /// An empty range.
    pub fn new(file: &'a File, start: u64) -> Self {
        Self { file, end: start, crc: Hasher::new() }
    }

    /// Offset of the next byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The CRC-32 of all bytes.
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Appends the little-endian values `value(0)` to `value(count - 1)`.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn extend<const WIDTH: usize>(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> [u8; WIDTH] + Sync,
    ) -> io::Result<()> {
        let (file, start, most) = (self.file, self.end, PIECE / WIDTH);
        let write = |values: &mut Vec<[u8; WIDTH]>, piece: usize| {
            let first = piece * most;
            let values = &mut values[..most.min(count - first)];
            (first..).zip(values.iter_mut()).for_each(|(at, bytes)| *bytes = value(at));
            let bytes = values.as_flattened();
            let mut crc = Hasher::new();
            crc.update(bytes);
            write_all_at(file, bytes, start + (first * WIDTH) as u64).map(|()| crc)
        };
        let pieces: Vec<Hasher> = (0..count.div_ceil(most))
            .into_par_iter()
            .map_init(|| vec![[0; WIDTH]; most.min(count)], write)
            .collect::<io::Result<_>>()?;
        pieces.iter().for_each(|crc| self.crc.combine(crc));
        self.end += (count * WIDTH) as u64;
        Ok(())
    }
}

impl Write for PlacedArray<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all_at(self.file, bytes, self.end)?;
        self.crc.update(bytes);
        self.end += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => (bytes, offset) = (&bytes[count..], offset + count as u64),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_file_grow_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let file = File::create(&path).unwrap();
        // The first batch ends within a piece.
        let counts = [PIECE / 8 + 5, 3, 2 * PIECE / 8];
        let all: usize = counts.iter().sum();
        let (mut longs, mut shorts) =
            (PlacedArray::new(&file, 3), PlacedArray::new(&file, 3 + 8 * all as u64));
        let mut first = 0;
        for count in counts {
            longs.extend(count, |at| ((first + at) as u64).to_le_bytes()).unwrap();
            shorts.extend(count, |at| ((first + at) as u16).to_le_bytes()).unwrap();
            first += count;
        }
        shorts.write_all(b"end").unwrap();
        let mut expected: Vec<u8> = (0..all as u64).flat_map(u64::to_le_bytes).collect();
        assert_eq!(
            (longs.crc(), longs.end()),
            (crc32fast::hash(&expected), shorts.end() - 3 - 2 * all as u64)
        );
        let tail: Vec<u8> = (0..all).flat_map(|at| (at as u16).to_le_bytes()).chain(*b"end").collect();
        assert_eq!(shorts.crc(), crc32fast::hash(&tail));
        expected.extend(tail);
        let written = std::fs::read(&path).unwrap();
        assert!(written[..3] == [0; 3] && written[3..] == expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let failed = PlacedArray::new(&file, 0).extend(PIECE, |_| [0; 4]).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    }
}
