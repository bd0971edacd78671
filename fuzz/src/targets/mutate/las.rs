//! LAS and LAZ: mutates the header, its records, the points or the chunks separately, and then adapts the
//! header.

use super::{Raw, put, u32_at, u64_at};

/// Bytes per point of formats 0 to 10.
const RECORD: [u16; 11] = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];

/// Size of the shortest header, that of version 1.0.
const HEADER: usize = 227;

pub fn damage(data: &[u8], most: usize, choice: u32, raw: &mut Raw<'_>) -> Option<Vec<u8>> {
    let size = usize::from(u16::from_le_bytes(*data.get(94..)?.first_chunk()?));
    let start = u32_at(data, 96)? as usize;
    if !data.starts_with(b"LASF") || size < HEADER || size > start || start > data.len() || data.len() > most
    {
        return None;
    }
    let mut bytes = data.to_vec();
    // Variable-length records and points may grow; everything else is at fixed offsets.
    match choice % 4 {
        0 => within(&mut bytes, 0, size, raw),
        1 => within(&mut bytes, size, start, raw),
        2 => within(&mut bytes, start, data.len(), raw),
        _ => {
            let mut tail = bytes.split_off(start);
            raw(&mut tail, most - start);
            bytes.extend(tail);
        }
    }
    put(&mut bytes, 0, b"LASF");
    let choice = choice / 4;
    if !choice.is_multiple_of(4) {
        put(&mut bytes, 94, &data[94..100]);
    }
    let format = bytes[104] & 0x3f;
    let compressed = bytes[104] & 0xc0 != 0;
    if choice & 4 == 0
        && let Some(&length) = RECORD.get(usize::from(format))
        && u16::from_le_bytes([bytes[105], bytes[106]]) < length
    {
        put(&mut bytes, 105, &length.to_le_bytes());
    }
    if choice & 8 == 0 && !compressed {
        let length = usize::from(u16::from_le_bytes([bytes[105], bytes[106]])).max(1);
        let count = bytes.len().saturating_sub(start) / length;
        put(&mut bytes, 107, &(count as u32).to_le_bytes());
        if format >= 6 && size >= 255 {
            put(&mut bytes, 247, &(count as u64).to_le_bytes());
        }
    }
    // The chunk table is at the end; its offset precedes the points.
    if choice & 16 == 0
        && compressed
        && u64_at(&bytes, start).is_some_and(|table| table >= bytes.len() as u64)
    {
        put(&mut bytes, start, &u64_at(data, start).unwrap_or_default().to_le_bytes());
    }
    Some(bytes)
}

/// Mutates a range without moving what follows.
fn within(bytes: &mut [u8], from: usize, to: usize, raw: &mut Raw<'_>) {
    let mut part = bytes[from..to].to_vec();
    let size = part.len();
    if size > 0 {
        raw(&mut part, size);
        part.resize(size, 0);
        put(bytes, from, &part);
    }
}
