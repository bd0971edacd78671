//! The chunks of a LAZ file. Each is compressed independently, so several are decompressed in parallel, and those before a
//! requested point are skipped.

use std::io::{Cursor, Read, Seek, SeekFrom};

use laz::laszip::{ChunkTable, CompressorType};
use laz::record::{LayeredPointRecordDecompressor, RecordDecompressor, SequentialPointRecordDecompressor};
use laz::{DecompressionSelection, LasZipError, LazVlr};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use super::super::FormatError;
use super::super::contain::contained;
use super::super::input::Input;
use super::super::limits::{MAX_CHUNK_BYTES, MAX_CHUNK_POINTS, MAX_POINTS_PER_BYTE};
use super::compressed::{add_fields, check_layers};
use super::layers::ChunkTimes;
use super::{Layout, Take};

/// Bytes that a decoder keeps for each byte of a point, at most: the counts of all symbols, in each of four channels.
pub(super) const DECODER: u64 = 1 << 14;

/// Byte range and points of a chunk.
struct Chunk {
    start: u64,
    bytes: u64,
    points: u64,
}

/// The chunks of a file, in order.
pub(super) struct Chunks<'l> {
    chunks: Vec<Chunk>,
    vlr: &'l LazVlr,
    /// Number of layers per chunk, for layered formats.
    layers: Option<u64>,
    layout: &'l Layout,
}

impl<'l> Chunks<'l> {
    /// Reads the chunk table; `None` if there is none or it does not match the file's size and number of points.
    pub fn of(file: &mut (impl Read + Seek), vlr: &'l LazVlr, layers: Option<u64>, layout: &'l Layout, input: &Input<'_>) -> Option<Self> {
        let kind = layout.laszip.as_ref()?.first_chunk().map(|kind| u16::from_le_bytes(*kind))?;
        if kind != CompressorType::PointWiseChunked as u16 && kind != CompressorType::LayeredChunked as u16 {
            return None;
        }
        file.seek(SeekFrom::Start(layout.start)).ok()?;
        let table = ChunkTable::read_from(file, vlr).ok()?;
        let (mut chunks, mut left) = (Vec::new(), layout.points);
        let mut start = layout.start + ChunkTable::OFFSET_SIZE as u64;
        for entry in table.as_ref() {
            // In a table of fixed-size chunks, the last entry claims a full chunk.
            let (bytes, points) = (entry.byte_count, entry.point_count.min(left));
            let end = start.checked_add(bytes).filter(|&end| end <= input.size())?;
            if points > MAX_CHUNK_POINTS || points * layout.record as u64 > MAX_CHUNK_BYTES || points / MAX_POINTS_PER_BYTE > bytes {
                return None;
            }
            chunks.push(Chunk { start, bytes, points });
            (start, left) = (end, left - points);
        }
        (left == 0).then_some(Self { chunks, vlr, layers, layout })
    }

    /// Passes raw records with the number of the first to `take`, starting with the chunk that contains record `from`.
    /// `xyz_only`: only x, y and z are needed.
    pub fn visit(&self, mut file: impl Read + Seek, xyz_only: bool, from: u64, input: &Input<'_>, take: &mut Take<'_>) -> Result<(), FormatError> {
        let (mut first, mut skipped) = (0, 0);
        while let Some(chunk) = self.chunks.get(skipped).filter(|chunk| first + chunk.points <= from) {
            first += chunk.points;
            skipped += 1;
        }
        let mut left = &self.chunks[skipped..];
        while !left.is_empty() {
            input.check()?;
            let (group, bytes) = self.group(left, if from > 0 { 1 } else { rayon::current_num_threads() });
            left = &left[group.len()..];
            input.claim(bytes, "compressed points")?;
            let mut packed = Vec::new();
            for chunk in group {
                let mut bytes = vec![0; chunk.bytes as usize];
                file.seek(SeekFrom::Start(chunk.start)).and_then(|_| file.read_exact(&mut bytes)).map_err(|why| input.io(why))?;
                packed.push(bytes);
            }
            let unpack = |(chunk, packed): (&Chunk, &Vec<u8>)| contained(|| self.unpack(packed, chunk.points, xyz_only));
            let unpacked: Vec<_> = group.par_iter().zip(&packed).map(unpack).collect();
            for (chunk, records) in group.iter().zip(unpacked) {
                let records = match records {
                    Ok(Ok(records)) => records,
                    Ok(Err(LasZipError::IoError(why))) => return Err(input.io(why)),
                    Ok(Err(_)) => return Err(input.malformed("compressed points", "damaged, and cannot be decoded")),
                    Err(why) => return Err(why.error("compressed points", input)),
                };
                if !take(first, &records)? {
                    return Ok(());
                }
                first += chunk.points;
            }
            input.release(bytes);
        }
        Ok(())
    }

    /// The chunks that are decoded at a time, at least one, and the bytes that they take.
    fn group<'c>(&self, chunks: &'c [Chunk], threads: usize) -> (&'c [Chunk], u64) {
        let record = self.layout.record as u64;
        let taken = |chunk: &Chunk| 2 * chunk.bytes + record * (chunk.points + DECODER);
        let (mut count, mut sum) = (0, 0);
        for chunk in &chunks[..threads.min(chunks.len())] {
            if count > 0 && sum + taken(chunk) > MAX_CHUNK_BYTES {
                break;
            }
            count += 1;
            sum += taken(chunk);
        }
        (&chunks[..count], sum)
    }

    fn unpack(&self, packed: &[u8], points: u64, xyz_only: bool) -> Result<Vec<u8>, LasZipError> {
        let mut records = vec![0; points as usize * self.layout.record];
        if records.is_empty() {
            return Ok(records);
        }
        let mut source = Cursor::new(packed);
        let Some(layers) = self.layers else {
            let mut decoder = SequentialPointRecordDecompressor::new(source);
            add_fields(&mut decoder, self.vlr)?;
            decoder.decompress_many(&mut records)?;
            return Ok(records);
        };
        let record = self.layout.record;
        check_layers(&mut source, record as u64, layers, packed.len() as u64)?;
        let times = if xyz_only { None } else { Some(ChunkTimes::of(&mut source, record as u64, layers)?) };
        let mut decoder = LayeredPointRecordDecompressor::new(source);
        decoder.set_fields_from(self.vlr.items())?;
        decoder.set_selection(selection(xyz_only));
        decoder.decompress_many(&mut records)?;
        times.map_or(Ok(()), |mut times| times.fill(&mut records, record))?;
        Ok(records)
    }
}

/// The layers to decode: with `xyz_only`, z and the mandatory x and y only. Times are decoded by [`ChunkTimes`].
pub(super) fn selection(xyz_only: bool) -> DecompressionSelection {
    if xyz_only { DecompressionSelection::base().decompress_z() } else { DecompressionSelection::all().skip_gps_time() }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use laz::LazVlrBuilder;
    use laz::laszip::ChunkTableEntry;

    use super::*;
    use crate::progress::Silent;

    /// A layout of points that take this many bytes each.
    fn layout(points: u64, record: usize) -> Layout {
        let laszip = Some((CompressorType::PointWiseChunked as u16).to_le_bytes().to_vec());
        let (version, fields) = (String::new(), Vec::new());
        Layout { version, point_format: 1, compressed: true, start: 0, points, behind: 0, record, fields, unused: 0, laszip, crs: None, crs_from: "" }
    }

    #[test]
    fn chunks_of_a_quarter_of_a_gigabyte_are_taken_one_at_a_time() {
        let vlr = LazVlrBuilder::default().with_point_format(1, 0).unwrap().build();
        let taken = |points: u64, record: usize| {
            let layout = layout(16 * points, record);
            let chunks = (0..16).map(|at| Chunk { start: 100 * at, bytes: 100, points }).collect();
            let chunks = Chunks { chunks, vlr: &vlr, layers: None, layout: &layout };
            let (group, bytes) = chunks.group(&chunks.chunks, 8);
            (group.len(), bytes)
        };
        assert_eq!(taken(MAX_CHUNK_POINTS, 1 << 10), (1, 200 + (1 << 10) * (MAX_CHUNK_POINTS + DECODER)));
        assert_eq!(taken(50_000, 28), (8, 8 * (200 + 28 * (50_000 + DECODER))));
    }

    #[test]
    fn a_chunk_that_promises_17_gigabytes_is_read_piece_by_piece() {
        let vlr = LazVlrBuilder::default().with_point_format(1, 0).unwrap().with_variable_chunk_size().build();
        let mut table = ChunkTable::with_capacity(1);
        table.push(ChunkTableEntry { point_count: MAX_CHUNK_POINTS, byte_count: 10_000 });
        let mut content = vec![0; 10_008];
        content[..8].copy_from_slice(&10_008u64.to_le_bytes());
        table.write_to(&mut content, &vlr).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        let input = Input::new(file.path(), &Silent).unwrap();
        // Of 65,535 bytes each, or of 1024.
        let found = |record: usize| Chunks::of(&mut Cursor::new(&content), &vlr, None, &layout(MAX_CHUNK_POINTS, record), &input).is_some();
        assert_eq!((found(65_535), found(1 << 10)), (false, true));
    }
}
