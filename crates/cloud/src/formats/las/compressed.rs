//! LAZ: chunks of points, compressed record by record (formats 0 to 5) or in one layer per field (formats 6
//! to 10).
//!
//! The decoder allocates by numbers in the file: chunk table entries and layer sizes. Both are first checked
//! against the file size. Its decoder for GPS times recurses by the data, so [`super::times`] replaces it.
//! Other malformed data makes the decoder panic; the caller contains the panic.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

use laz::laszip::{ChunkTable, CompressorType, LazItemType};
use laz::record::{
    LayeredPointRecordDecompressor, RecordDecompressor as _, SequentialPointRecordDecompressor,
};
use laz::{DecompressionSelection, LasZipError, LazVlr};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use super::times::{ChunkTimeDecoder, TimeDecompressor};
use super::{Layout, Take};
use crate::formats::blocks::hull;
use crate::formats::limits::{MAX_CHUNK_BYTES, MAX_CHUNK_POINTS, MAX_POINTS_PER_BYTE};
use crate::formats::{Input, Result, catch_panics, whole};

pub(super) fn visit(
    layout: &Layout,
    xyz_only: bool,
    rows: &[Range<u64>],
    input: &Input<'_>,
    take: &mut Take<'_>,
) -> Result<()> {
    let bad = |why: &str| input.malformed("compressed points", why);
    let decode = |why: LasZipError| match why {
        LasZipError::IoError(why) => input.io(why),
        why => bad(&format!("they cannot be decoded ({why})")),
    };
    let vlr = layout
        .laszip
        .as_ref()
        .ok_or_else(|| bad("the record that describes their compression is missing"))?;
    // The VLR begins with the compressor type, which the crate does not expose.
    let is = |kind: CompressorType| vlr.starts_with(&(kind as u16).to_le_bytes());
    let (layered, chunked) = (is(CompressorType::LayeredChunked), is(CompressorType::PointWiseChunked));
    if !layered && !chunked && !is(CompressorType::PointWise) {
        return Err(bad("unknown compression"));
    }
    let vlr = LazVlr::from_buffer(vlr).map_err(decode)?;
    if vlr.items_size() != layout.record as u64 {
        return Err(bad(&format!(
            "they have {} bytes each, but {} according to the header",
            vlr.items_size(),
            layout.record
        )));
    }
    let mut file = input.open()?;
    if layout.points == 0 {
        return Ok(());
    }
    let io = |why| input.io(why);
    let chunks = chunks_in_table(&mut file, layout, input).map_err(io)?;
    if chunks.is_some_and(|count| count.saturating_mul(layout.record as u64) > input.size) {
        return Err(bad("the table has more chunks than fit in the file"));
    }
    let layers =
        if layered { Some(layers(&vlr).ok_or_else(|| bad("unknown kind of layers"))?) } else { None };
    if let Some(chunks) = ChunkList::read(&mut file, &vlr, layers, layout, input) {
        return chunks.visit(file, xyz_only, rows, input, take);
    }
    // Without a usable chunk table, points are decoded sequentially.
    file.seek(SeekFrom::Start(layout.start)).map_err(io)?;

    input.claim(layout.record as u64 * DECODER, "compressed points")?;
    let batch = layout.batch();
    let mut records = vec![0; batch * layout.record];
    let mut left = layout.points;
    let needs_table = chunked || layered;
    let table = if needs_table && vlr.uses_variable_size_chunks() {
        Some(ChunkTable::read_from(&mut file, &vlr).map_err(decode)?)
    } else {
        None
    };
    // The points of a chunk.
    let promised = |chunk: usize| match &table {
        _ if !needs_table => Ok(layout.points),
        None => Ok(u64::from(vlr.chunk_size())),
        Some(table) => table
            .as_ref()
            .get(chunk)
            .map(|entry| entry.point_count)
            .ok_or_else(|| bad("the table has too few chunks")),
    };
    let first = layout.start + if needs_table { ChunkTable::OFFSET_SIZE as u64 } else { 0 };
    file.seek(SeekFrom::Start(first)).map_err(io)?;
    let (mut chunk, mut decoder) = (0, Decoder::new(file, layers));
    while left > 0 {
        let points = promised(chunk)?;
        chunk += 1;
        if points == 0 {
            if chunk as u64 > input.size {
                return Err(bad("the chunks hold no points"));
            }
            continue;
        }
        let bytes = decoder.layer_bytes(layout.record, input.size).map_err(io)?;
        input.claim(2 * bytes, "compressed points")?;
        decoder.begin(&vlr, layout.record, xyz_only).map_err(decode)?;
        let mut left_in_chunk = points.min(left);
        while left_in_chunk > 0 {
            let count = left_in_chunk.min(batch as u64);
            let records = &mut records[..count as usize * layout.record];
            decoder.decode(records, layout.record).map_err(io)?;
            if !take(layout.points - left, records)? {
                return Ok(());
            }
            left_in_chunk -= count;
            left -= count;
            input.check()?;
        }
        input.release(2 * bytes);
    }
    Ok(())
}

/// The memory for decoding some chunks; `None` if chunks cannot be decoded one by one, or are damaged.
pub(super) fn chunk_bytes(layout: &Layout, input: &Input<'_>) -> Option<u64> {
    let vlr = LazVlr::from_buffer(layout.laszip.as_ref()?).ok()?;
    let mut file = input.open().ok()?;
    let count = chunks_in_table(&mut file, layout, input).ok()??;
    if count.saturating_mul(layout.record as u64) > input.size {
        return None;
    }
    let chunks = ChunkList::read(&mut file, &vlr, layers(&vlr), layout, input)?;
    let largest = chunks.chunks.iter().map(|chunk| chunks.taken(chunk)).max()?;
    Some((largest * rayon::current_num_threads() as u64).min(MAX_CHUNK_BYTES).max(largest))
}

/// Decodes the points of chunks, one after the other.
enum Decoder<'d, R: Read + Seek> {
    Sequential(SequentialPointRecordDecompressor<'d, R>),
    Layered {
        decoder: LayeredPointRecordDecompressor<'d, R>,
        layers: u64,
        times: Option<Box<ChunkTimeDecoder>>,
    },
}

impl<'d, R: Read + Seek + 'd> Decoder<'d, R> {
    /// `layers` is the number of layers of a chunk, for layered formats.
    fn new(source: R, layers: Option<u64>) -> Self {
        match layers {
            None => Self::Sequential(SequentialPointRecordDecompressor::new(source)),
            Some(layers) => {
                Self::Layered { decoder: LayeredPointRecordDecompressor::new(source), layers, times: None }
            }
        }
    }

    /// The layer bytes of the next chunk, in a source of `size` bytes.
    fn layer_bytes(&mut self, record: usize, size: u64) -> io::Result<u64> {
        match self {
            Self::Sequential(_) => Ok(0),
            Self::Layered { decoder, layers, .. } => {
                check_layers(decoder.get_mut(), record as u64, *layers, size)
            }
        }
    }

    /// Begins a chunk with checked layers. `xyz_only`: only x, y and z are needed.
    fn begin(&mut self, vlr: &LazVlr, record: usize, xyz_only: bool) -> Result<(), LasZipError> {
        match self {
            Self::Sequential(decoder) => {
                decoder.reset();
                add_fields(decoder, vlr)
            }
            Self::Layered { decoder, layers, times } => {
                *times = if xyz_only {
                    None
                } else {
                    Some(Box::new(ChunkTimeDecoder::read(decoder.get_mut(), record as u64, *layers)?))
                };
                decoder.reset();
                decoder.set_fields_from(vlr.items())?;
                // With `xyz_only`, decode only z and the mandatory x and y. [`ChunkTimeDecoder`] decodes the
                // times.
                let base = DecompressionSelection::base().decompress_z();
                decoder.set_selection(if xyz_only {
                    base
                } else {
                    DecompressionSelection::all().skip_gps_time()
                });
                Ok(())
            }
        }
    }

    /// Decodes the next points of a chunk into records of this size.
    fn decode(&mut self, records: &mut [u8], record: usize) -> io::Result<()> {
        match self {
            Self::Sequential(decoder) => decoder.decompress_many(records),
            Self::Layered { decoder, times, .. } => {
                decoder.decompress_many(records)?;
                times.as_mut().map_or(Ok(()), |times| times.fill(records, record))
            }
        }
    }
}

/// Reports points in the chunk table that exceed the header's count.
pub(super) fn beyond(layout: &Layout, input: &Input<'_>) -> Option<String> {
    let vlr = LazVlr::from_buffer(layout.laszip.as_ref()?).ok()?;
    let damaged =
        || Some("the chunk table is damaged or truncated and was not used; all points were read".to_owned());
    let mut file = input.open().ok()?;
    let count = match chunks_in_table(&mut file, layout, input) {
        Ok(Some(count)) => count,
        Ok(None) if table_is_cut_off(&mut file, layout, input) => return damaged(),
        Ok(None) => return None,
        Err(_) => return damaged(),
    };
    if count.saturating_mul(layout.record as u64) > input.size {
        return None;
    }
    file.seek(SeekFrom::Start(layout.start)).ok()?;
    let Ok(table) = ChunkTable::read_from(file, &vlr) else { return damaged() };
    if vlr.uses_variable_size_chunks() {
        let points = table.as_ref().iter().fold(0, |sum: u64, chunk| sum.saturating_add(chunk.point_count));
        let more = points.checked_sub(layout.points).filter(|&more| more > 0)?;
        return Some(format!("{more} points beyond the header's count were not read"));
    }
    // The last chunk may have fewer points than the others.
    let needed = layout.points.div_ceil(u64::from(vlr.chunk_size()).max(1));
    let more = (table.as_ref().len() as u64).checked_sub(needed).filter(|&more| more > 0)?;
    Some(format!(
        "{more} chunk{} beyond the header's points {} not read",
        if more == 1 { "" } else { "s" },
        if more == 1 { "was" } else { "were" }
    ))
}

/// Adds the fields to a sequential decoder.
pub(super) fn add_fields<R: Read>(
    decoder: &mut SequentialPointRecordDecompressor<'_, R>,
    vlr: &LazVlr,
) -> Result<(), LasZipError> {
    for item in vlr.items() {
        if matches!(item.item_type(), LazItemType::GpsTime) && item.version() == 2 {
            decoder.add_field_decompressor(TimeDecompressor::default());
        } else {
            decoder.set_fields_from(&vec![*item])?;
        }
    }
    Ok(())
}

/// Number of chunks in the table, read from the same offset as by the decoder; `None` if there is no table.
fn chunks_in_table(
    file: &mut (impl Read + Seek),
    layout: &Layout,
    input: &Input<'_>,
) -> io::Result<Option<u64>> {
    let mut number = |at: u64, bytes: usize| {
        let mut raw = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut raw[..bytes])?;
        Ok::<_, io::Error>(u64::from_le_bytes(raw))
    };
    let found = |offset: u64| offset as i64 > layout.start as i64;
    let mut offset = number(layout.start, 8)?;
    if !found(offset) {
        // A writer that could not seek stores the offset at the end of the file.
        offset = number(input.size.saturating_sub(8), 8)?;
    }
    if !found(offset) || offset.saturating_add(8) > input.size {
        return Ok(None);
    }
    number(offset + 4, 4).map(Some)
}

/// Whether the table offset is beyond the end of the file.
fn table_is_cut_off(file: &mut (impl Read + Seek), layout: &Layout, input: &Input<'_>) -> bool {
    let mut raw = [0; 8];
    let read = file.seek(SeekFrom::Start(layout.start)).and_then(|_| file.read_exact(&mut raw));
    read.is_ok() && i64::from_le_bytes(raw) as i128 + 8 > i128::from(input.size)
}

/// Number of layers per chunk; their sizes follow the chunk's first point.
fn layers(vlr: &LazVlr) -> Option<u64> {
    let of_item = |item: &laz::LazItem| match item.item_type() {
        LazItemType::Point14 => Some(9),
        LazItemType::RGB14 | LazItemType::WavePacket14 => Some(1),
        LazItemType::RGBNIR14 => Some(2),
        LazItemType::Byte14(count) => Some(u64::from(count)),
        _ => None,
    };
    vlr.items().iter().map(of_item).sum()
}

/// The size of the layers of the chunk at the current position, which is preserved, in bytes.
///
/// Fails unless they are within the file.
pub(super) fn check_layers(
    file: &mut (impl Read + Seek),
    record: u64,
    layers: u64,
    size: u64,
) -> io::Result<u64> {
    let start = file.stream_position()?;
    // The first point and the number of points precede the sizes.
    file.seek(SeekFrom::Start(start + record + 4))?;
    let mut sizes = vec![0; 4 * layers as usize];
    file.read_exact(&mut sizes)?;
    let total: u64 = sizes.chunks_exact(4).map(whole).sum();
    if start + record + 4 + sizes.len() as u64 + total > size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    file.seek(SeekFrom::Start(start))?;
    Ok(total)
}

// The chunks of a LAZ file. Each is compressed independently, so several are decompressed in parallel, and
// those before a requested point are skipped.

/// Maximum decoder memory per byte of a point: symbol counts in each of four channels.
const DECODER: u64 = 1 << 14;

/// Byte range and points of a chunk.
struct Chunk {
    start: u64,
    bytes: u64,
    /// Number of the first point.
    first: u64,
    points: u64,
}

/// The chunks of a file, in order.
struct ChunkList<'l> {
    chunks: Vec<Chunk>,
    vlr: &'l LazVlr,
    /// Number of layers per chunk, for layered formats.
    layers: Option<u64>,
    layout: &'l Layout,
}

impl<'l> ChunkList<'l> {
    /// Reads the chunk table; `None` if the table is missing or does not match the file's size and number of
    /// points.
    pub fn read(
        file: &mut (impl Read + Seek),
        vlr: &'l LazVlr,
        layers: Option<u64>,
        layout: &'l Layout,
        input: &Input<'_>,
    ) -> Option<Self> {
        let kind = layout.laszip.as_ref()?.first_chunk().map(|kind| u16::from_le_bytes(*kind))?;
        if kind != CompressorType::PointWiseChunked as u16 && kind != CompressorType::LayeredChunked as u16 {
            return None;
        }
        file.seek(SeekFrom::Start(layout.start)).ok()?;
        let table = ChunkTable::read_from(file, vlr).ok()?;
        let (mut chunks, mut left) = (Vec::new(), layout.points);
        let mut start = layout.start + ChunkTable::OFFSET_SIZE as u64;
        for entry in table.as_ref() {
            // In a table of fixed-size chunks, the last entry declares a full chunk.
            let (bytes, points) = (entry.byte_count, entry.point_count.min(left));
            let end = start.checked_add(bytes).filter(|&end| end <= input.size)?;
            if points > MAX_CHUNK_POINTS
                || points * layout.record as u64 > MAX_CHUNK_BYTES
                || points / MAX_POINTS_PER_BYTE > bytes
            {
                return None;
            }
            chunks.push(Chunk { start, bytes, first: layout.points - left, points });
            (start, left) = (end, left - points);
        }
        (left == 0).then_some(Self { chunks, vlr, layers, layout })
    }

    /// Passes raw records of the chunks that have some of `rows`, with the number of the first, to `take`.
    /// `xyz_only`: only x, y and z are needed.
    pub fn visit(
        &self,
        mut file: impl Read + Seek,
        xyz_only: bool,
        rows: &[Range<u64>],
        input: &Input<'_>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let has_rows = |chunk: &&Chunk| hull(rows, chunk.first..chunk.first + chunk.points).is_some();
        let chunks: Vec<&Chunk> = self.chunks.iter().filter(has_rows).collect();
        let mut left = &chunks[..];
        while !left.is_empty() {
            input.check()?;
            let (group, bytes) = self.group(left, rayon::current_num_threads());
            left = &left[group.len()..];
            input.claim(bytes, "compressed points")?;
            let mut packed = Vec::new();
            for chunk in group {
                let mut bytes = vec![0; chunk.bytes as usize];
                file.seek(SeekFrom::Start(chunk.start))
                    .and_then(|_| file.read_exact(&mut bytes))
                    .map_err(|why| input.io(why))?;
                packed.push(bytes);
            }
            let unpack = |(chunk, packed): (&&Chunk, &Vec<u8>)| {
                catch_panics(|| self.unpack(packed, chunk.points, xyz_only))
            };
            let unpacked: Vec<_> = group.par_iter().zip(&packed).map(unpack).collect();
            for (chunk, records) in group.iter().zip(unpacked) {
                let records = match records {
                    Ok(Ok(records)) => records,
                    Ok(Err(LasZipError::IoError(why))) => return Err(input.io(why)),
                    Ok(Err(_)) => {
                        return Err(input.malformed("compressed points", "damaged, and cannot be decoded"));
                    }
                    Err(why) => return Err(why.error("compressed points", input)),
                };
                if !take(chunk.first, &records)? {
                    return Ok(());
                }
            }
            input.release(bytes);
        }
        Ok(())
    }

    /// The memory for decoding a chunk.
    fn taken(&self, chunk: &Chunk) -> u64 {
        2 * chunk.bytes + self.layout.record as u64 * (chunk.points + DECODER)
    }

    /// The chunks decoded at a time, at least one, and their memory.
    fn group<'c>(&self, chunks: &'c [&'c Chunk], threads: usize) -> (&'c [&'c Chunk], u64) {
        let (mut count, mut sum) = (0, 0);
        for chunk in &chunks[..threads.min(chunks.len())] {
            if count > 0 && sum + self.taken(chunk) > MAX_CHUNK_BYTES {
                break;
            }
            count += 1;
            sum += self.taken(chunk);
        }
        (&chunks[..count], sum)
    }

    fn unpack(&self, packed: &[u8], points: u64, xyz_only: bool) -> Result<Vec<u8>, LasZipError> {
        let record = self.layout.record;
        let mut records = vec![0; points as usize * record];
        if !records.is_empty() {
            let mut decoder = Decoder::new(Cursor::new(packed), self.layers);
            decoder.layer_bytes(record, packed.len() as u64)?;
            decoder.begin(self.vlr, record, xyz_only)?;
            decoder.decode(&mut records, record)?;
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use laz::LazVlrBuilder;
    use laz::laszip::ChunkTableEntry;
    use std::io::Write as _;

    /// A layout of points that take this many bytes each.
    fn layout(points: u64, record: usize) -> Layout {
        let laszip = Some((CompressorType::PointWiseChunked as u16).to_le_bytes().to_vec());
        Layout { point_format: 1, compressed: true, points, record, laszip, ..Layout::default() }
    }

    #[test]
    fn large_chunks_are_decoded_one_at_a_time() {
        let vlr = LazVlrBuilder::default().with_point_format(1, 0).unwrap().build();
        let taken = |points: u64, record: usize| {
            let layout = layout(16 * points, record);
            let chunks =
                (0..16).map(|at| Chunk { start: 100 * at, bytes: 100, first: at * points, points }).collect();
            let chunks = ChunkList { chunks, vlr: &vlr, layers: None, layout: &layout };
            let all: Vec<&Chunk> = chunks.chunks.iter().collect();
            let (group, bytes) = chunks.group(&all, 8);
            (group.len(), bytes)
        };
        assert_eq!(taken(MAX_CHUNK_POINTS, 1 << 10), (1, 200 + (1 << 10) * (MAX_CHUNK_POINTS + DECODER)));
        assert_eq!(taken(50_000, 28), (8, 8 * (200 + 28 * (50_000 + DECODER))));
    }

    #[test]
    fn oversized_chunks_disable_parallel_decoding() {
        let vlr =
            LazVlrBuilder::default().with_point_format(1, 0).unwrap().with_variable_chunk_size().build();
        let mut table = ChunkTable::with_capacity(1);
        table.push(ChunkTableEntry { point_count: MAX_CHUNK_POINTS, byte_count: 10_000 });
        let mut content = vec![0; 10_008];
        content[..8].copy_from_slice(&10_008u64.to_le_bytes());
        table.write_to(&mut content, &vlr).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        let input = Input::new(file.path(), &NoProgress).unwrap();
        // Records of 65,535 bytes, or of 1024.
        let found = |record: usize| {
            ChunkList::read(&mut Cursor::new(&content), &vlr, None, &layout(MAX_CHUNK_POINTS, record), &input)
                .is_some()
        };
        assert_eq!((found(65_535), found(1 << 10)), (false, true));
    }
}
