//! The chunks of a LAZ file. Each is compressed independently, so several are decompressed in parallel, and those before a
//! requested point are skipped.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use laz::laszip::{ChunkTable, CompressorType};
use laz::record::{LayeredPointRecordDecompressor, RecordDecompressor, SequentialPointRecordDecompressor};
use laz::{DecompressionSelection, LasZipError, LazVlr};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use super::super::FormatError;
use super::super::contain::contained;
use super::super::input::Input;
use super::super::limits::{MAX_CHUNK_POINTS, MAX_POINTS_PER_BYTE};
use super::compressed::check_layers;
use super::{Layout, Take};

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
            if points > MAX_CHUNK_POINTS || points / MAX_POINTS_PER_BYTE > bytes {
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
        for group in self.chunks[skipped..].chunks(if from > 0 { 1 } else { rayon::current_num_threads() }) {
            input.check()?;
            let mut packed = Vec::new();
            for chunk in group {
                let mut bytes = vec![0; chunk.bytes as usize];
                file.seek(SeekFrom::Start(chunk.start)).and_then(|_| file.read_exact(&mut bytes)).map_err(|why| input.io(why))?;
                packed.push(bytes);
            }
            let unpack = |(chunk, packed): (&Chunk, &Vec<u8>)| contained(|| self.unpack(packed, chunk.points, xyz_only));
            let unpacked: Vec<_> = group.par_iter().zip(&packed).map(unpack).collect();
            for (chunk, records) in group.iter().zip(unpacked) {
                let damaged = || input.malformed("compressed points", "damaged, and cannot be decoded");
                let records = match records {
                    Ok(Ok(records)) => records,
                    Ok(Err(LasZipError::IoError(why))) => return Err(input.io(why)),
                    Ok(Err(_)) | Err(_) => return Err(damaged()),
                };
                if !take(first, &records)? {
                    return Ok(());
                }
                first += chunk.points;
            }
        }
        Ok(())
    }

    fn unpack(&self, packed: &[u8], points: u64, xyz_only: bool) -> Result<Vec<u8>, LasZipError> {
        let records = vec![0; points as usize * self.layout.record];
        if records.is_empty() {
            return Ok(records);
        }
        let mut source = Cursor::new(packed);
        let Some(layers) = self.layers else {
            return decode(SequentialPointRecordDecompressor::new(source), self.vlr, DecompressionSelection::all(), records);
        };
        check_layers(&mut source, self.layout.record as u64, layers, packed.len() as u64)?;
        decode(LayeredPointRecordDecompressor::new(source), self.vlr, selection(xyz_only), records)
    }
}

/// The layers to decode: with `xyz_only`, z and the mandatory x and y only.
pub(super) fn selection(xyz_only: bool) -> DecompressionSelection {
    DecompressionSelection(if xyz_only { DecompressionSelection::Z } else { DecompressionSelection::ALL })
}

fn decode<R>(
    mut decoder: impl RecordDecompressor<R>,
    vlr: &LazVlr,
    selection: DecompressionSelection,
    mut records: Vec<u8>,
) -> Result<Vec<u8>, LasZipError> {
    decoder.set_fields_from(vlr.items())?;
    decoder.set_selection(selection);
    decoder.decompress_many(&mut records).map_err(|why: io::Error| LasZipError::IoError(why))?;
    Ok(records)
}
