//! LAZ: chunks of points, compressed record by record (formats 0 to 5) or in one layer per field (formats 6 to 10).
//!
//! The decoder allocates by numbers in the file: entries of the chunk table, bytes of a layer. Both are checked against the
//! size of the file first, and what calls itself as often as the data say is decoded in [`super::gps`]. Anything else that is
//! malformed makes the decoder panic, which the caller contains.

use std::io::{self, Read, Seek, SeekFrom};

use laz::laszip::{ChunkTable, CompressorType, LazItemType};
use laz::record::{LayeredPointRecordDecompressor, RecordDecompressor, SequentialPointRecordDecompressor};
use laz::{LasZipError, LazVlr};

use super::super::FormatError;
use super::super::input::Input;
use super::chunks::{Chunks, DECODER, selection};
use super::gps::PointTime;
use super::layers::ChunkTimes;
use super::{Layout, Take};

pub(super) fn visit(layout: &Layout, xyz_only: bool, from: u64, input: &Input<'_>, take: &mut Take<'_>) -> Result<(), FormatError> {
    let bad = |why: &str| input.malformed("compressed points", why);
    let decode = |why: LasZipError| match why {
        LasZipError::IoError(why) => input.io(why),
        why => bad(&format!("they cannot be decoded ({why})")),
    };
    let vlr = layout.laszip.as_ref().ok_or_else(|| bad("there is no record that says how they are compressed"))?;
    // The VLR begins with the compressor type, which the crate does not expose.
    let is = |kind: CompressorType| vlr.starts_with(&(kind as u16).to_le_bytes());
    let (layered, chunked) = (is(CompressorType::LayeredChunked), is(CompressorType::PointWiseChunked));
    if !layered && !chunked && !is(CompressorType::PointWise) {
        return Err(bad("they are compressed in a way that is not known"));
    }
    let vlr = LazVlr::from_buffer(vlr).map_err(decode)?;
    if vlr.items_size() != layout.record as u64 {
        return Err(bad(&format!("they take {} bytes each, and {} by the header", vlr.items_size(), layout.record)));
    }
    let mut file = input.open()?;
    if layout.points == 0 {
        return Ok(());
    }
    let io = |why| input.io(why);
    let chunks = chunks_in_table(&mut file, layout, input).map_err(io)?;
    if chunks.is_some_and(|count| count.saturating_mul(layout.record as u64) > input.size()) {
        return Err(bad("the table has more chunks than the file has room for"));
    }
    let layers = if layered { Some(layers(&vlr).ok_or_else(|| bad("layers of a kind that is not known"))?) } else { None };
    if let Some(chunks) = Chunks::of(&mut file, &vlr, layers, layout, input) {
        return chunks.visit(file, xyz_only, from, input, take);
    }
    // Without a usable chunk table, points are decoded sequentially.
    file.seek(SeekFrom::Start(layout.start)).map_err(io)?;

    input.claim(layout.record as u64 * DECODER, "compressed points")?;
    let batch = layout.batch();
    let mut records = vec![0; batch * layout.record];
    let mut left = layout.points;
    let needs_table = chunked || layered;
    let table = if needs_table && vlr.uses_variable_size_chunks() { Some(ChunkTable::read_from(&mut file, &vlr).map_err(decode)?) } else { None };
    // The points of a chunk.
    let promised = |chunk: usize| match &table {
        _ if !needs_table => Ok(layout.points),
        None => Ok(u64::from(vlr.chunk_size())),
        Some(table) => table.as_ref().get(chunk).map(|entry| entry.point_count).ok_or_else(|| bad("the table has too few chunks")),
    };
    let first = layout.start + if needs_table { ChunkTable::OFFSET_SIZE as u64 } else { 0 };
    file.seek(SeekFrom::Start(first)).map_err(io)?;
    let mut chunk = 0;
    let Some(layers) = layers else {
        let mut decoder = SequentialPointRecordDecompressor::new(file);
        while left > 0 {
            let points = promised(chunk)?;
            chunk += 1;
            if points == 0 {
                empty(chunk, input)?;
                continue;
            }
            decoder.reset();
            add_fields(&mut decoder, &vlr).map_err(decode)?;
            let mut left_in_chunk = points.min(left);
            while left_in_chunk > 0 {
                let count = left_in_chunk.min(batch as u64);
                let records = &mut records[..count as usize * layout.record];
                decoder.decompress_many(records).map_err(io)?;
                if !take(layout.points - left, records)? {
                    return Ok(());
                }
                left_in_chunk -= count;
                left -= count;
                input.check()?;
            }
        }
        return Ok(());
    };

    let mut decoder = LayeredPointRecordDecompressor::new(file);
    while left > 0 {
        let points = promised(chunk)?;
        chunk += 1;
        if points == 0 {
            empty(chunk, input)?;
            continue;
        }
        let bytes = check_layers(decoder.get_mut(), layout.record as u64, layers, input.size()).map_err(io)?;
        input.claim(2 * bytes, "compressed points")?;
        let mut times = if xyz_only { None } else { Some(ChunkTimes::of(decoder.get_mut(), layout.record as u64, layers).map_err(io)?) };
        decoder.reset();
        decoder.set_fields_from(vlr.items()).map_err(decode)?;
        decoder.set_selection(selection(xyz_only));
        let mut left_in_chunk = points.min(left);
        while left_in_chunk > 0 {
            let count = left_in_chunk.min(batch as u64);
            let records = &mut records[..count as usize * layout.record];
            decoder.decompress_many(records).map_err(io)?;
            if let Some(times) = &mut times {
                times.fill(records, layout.record).map_err(io)?;
            }
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

/// What the table of chunks has beyond the number of points in the header, in words.
pub(super) fn beyond(layout: &Layout, input: &Input<'_>) -> Option<String> {
    let vlr = LazVlr::from_buffer(layout.laszip.as_ref()?).ok()?;
    let damaged = || Some("the table of chunks is damaged or cut off, and was not read; all points are there".to_owned());
    let mut file = input.open().ok()?;
    let count = match chunks_in_table(&mut file, layout, input) {
        Ok(Some(count)) => count,
        Ok(None) if table_is_cut_off(&mut file, layout, input) => return damaged(),
        Ok(None) => return None,
        Err(_) => return damaged(),
    };
    if count.saturating_mul(layout.record as u64) > input.size() {
        return None;
    }
    file.seek(SeekFrom::Start(layout.start)).ok()?;
    let Ok(table) = ChunkTable::read_from(file, &vlr) else { return damaged() };
    if vlr.uses_variable_size_chunks() {
        let points = table.as_ref().iter().fold(0, |sum: u64, chunk| sum.saturating_add(chunk.point_count));
        let more = points.checked_sub(layout.points).filter(|&more| more > 0)?;
        return Some(format!("{more} points more than the header has were not read"));
    }
    // The last one may have fewer points than the others.
    let needed = layout.points.div_ceil(u64::from(vlr.chunk_size()).max(1));
    let more = (table.as_ref().len() as u64).checked_sub(needed).filter(|&more| more > 0)?;
    Some(format!(
        "{more} chunk{} after the points that the header has {} not read",
        if more == 1 { "" } else { "s" },
        if more == 1 { "was" } else { "were" }
    ))
}

/// Fails at a chunk without points if it is one of too many.
fn empty(chunks: usize, input: &Input<'_>) -> Result<(), FormatError> {
    if chunks as u64 > input.size() { Err(input.malformed("compressed points", "the chunks hold no points")) } else { Ok(()) }
}

/// Gives a decoder of points one after the other its fields.
pub(super) fn add_fields<R: Read>(decoder: &mut SequentialPointRecordDecompressor<'_, R>, vlr: &LazVlr) -> Result<(), LasZipError> {
    for item in vlr.items() {
        if matches!(item.item_type(), LazItemType::GpsTime) && item.version() == 2 {
            decoder.add_field_decompressor(PointTime::default());
        } else {
            decoder.set_fields_from(&vec![*item])?;
        }
    }
    Ok(())
}

/// Number of chunks in the table, read where the decoder will look for it; `None` if there is no table.
fn chunks_in_table(file: &mut (impl Read + Seek), layout: &Layout, input: &Input<'_>) -> io::Result<Option<u64>> {
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
        offset = number(input.size().saturating_sub(8), 8)?;
    }
    if !found(offset) || offset.saturating_add(8) > input.size() {
        return Ok(None);
    }
    number(offset + 4, 4).map(Some)
}

/// Whether the table is said to lie beyond the end of the file.
fn table_is_cut_off(file: &mut (impl Read + Seek), layout: &Layout, input: &Input<'_>) -> bool {
    let mut raw = [0; 8];
    let read = file.seek(SeekFrom::Start(layout.start)).and_then(|_| file.read_exact(&mut raw));
    read.is_ok() && i64::from_le_bytes(raw) as i128 + 8 > i128::from(input.size())
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

/// The bytes of the layers of the chunk at the current position, which is preserved.
///
/// Fails unless they are within the file.
pub(super) fn check_layers(file: &mut (impl Read + Seek), record: u64, layers: u64, size: u64) -> io::Result<u64> {
    let start = file.stream_position()?;
    // The first point and the number of points precede the sizes.
    file.seek(SeekFrom::Start(start + record + 4))?;
    let mut sizes = vec![0; 4 * layers as usize];
    file.read_exact(&mut sizes)?;
    let total: u64 = sizes.chunks_exact(4).map(|raw| u64::from(u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]))).sum();
    if start + record + 4 + sizes.len() as u64 + total > size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    file.seek(SeekFrom::Start(start))?;
    Ok(total)
}
