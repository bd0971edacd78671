//! HDF5: addresses are absolute, so bytes are mutated in place. Then the checksums of the superblock, object
//! headers, their continuations, and chunk indices are recomputed.

use super::{Raw, put, u32_at, u64_at};

pub fn damage(data: &[u8], most: usize, raw: &mut Raw<'_>) -> Option<Vec<u8>> {
    if !data.starts_with(b"\x89HDF\r\n\x1a\n") || data.len() > most {
        return None;
    }
    let mut bytes = data.to_vec();
    raw(&mut bytes, data.len());
    bytes.resize(data.len(), 0);
    put(&mut bytes, 0, &data[..8]);
    repair(&mut bytes);
    Some(bytes)
}

/// Sizes of an address and of a length, as all programs write them.
const WORD: usize = 8;

fn repair(data: &mut [u8]) {
    if data.get(8).is_some_and(|version| (2..=3).contains(version)) {
        sum(data, 0, 44);
    }
    let mut continued = Vec::new();
    for at in 0..data.len().saturating_sub(8) {
        match &data[at..at + 4] {
            b"OHDR" => {
                let flags = data[at + 5];
                let mut start = at + 6;
                start += if flags & 0x20 != 0 { 16 } else { 0 };
                start += if flags & 0x10 != 0 { 4 } else { 0 };
                let width = 1 << (flags & 3);
                let Some(size) = data.get(start..start + width) else { continue };
                let size =
                    size.iter().rev().take(4).fold(0usize, |size, &byte| size << 8 | usize::from(byte));
                start += width;
                let end = start.saturating_add(size);
                continuations(data, start, end, flags & 4 != 0, &mut continued);
                sum(data, at, end);
            }
            b"FAHD" => {
                sum(data, at, at + 8 + 2 * WORD);
                let (Some(count), Some(address)) = (u64_at(data, at + 8), u64_at(data, at + 8 + WORD)) else {
                    continue;
                };
                let block = (count as usize).saturating_mul(usize::from(data[at + 6]));
                sum(
                    data,
                    address as usize,
                    (address as usize).saturating_add(6 + WORD).saturating_add(block),
                );
            }
            b"EAHD" => sum(data, at, at + 12 + 7 * WORD),
            b"BTHD" => sum(data, at, at + 16 + 2 + 2 * WORD),
            b"FRHP" => sum(data, at, at + 22 + 15 * WORD),
            _ => {}
        }
    }
    // Continuations may be nested; a few rounds reach all of them in practice.
    for (address, length) in continued.into_iter().take(64) {
        if let Some(end) = address.checked_add(length).and_then(|end| end.checked_sub(4)) {
            sum(data, address, end);
        }
    }
}

/// Collects address and length of every continuation block.
fn continuations(data: &[u8], mut at: usize, end: usize, ordered: bool, found: &mut Vec<(usize, usize)>) {
    let head = if ordered { 6 } else { 4 };
    while at + head <= end.min(data.len()) && found.len() < 64 {
        let size = usize::from(u16::from_le_bytes([data[at + 1], data[at + 2]]));
        if data[at] == 0x10
            && let (Some(address), Some(length)) = (u64_at(data, at + head), u64_at(data, at + head + WORD))
            && let (Ok(address), Ok(length)) = (usize::try_from(address), usize::try_from(length))
            && data.get(address..).is_some_and(|rest| rest.starts_with(b"OCHK"))
        {
            found.push((address, length));
            if let Some(end) = address.checked_add(length) {
                continuations(data, address + 4, end.saturating_sub(4), ordered, found);
            }
        }
        at += head + size;
    }
}

/// Writes the checksum of `data[from..to]` after it.
fn sum(data: &mut [u8], from: usize, to: usize) {
    if from < to && u32_at(data, to).is_some() {
        let sum = lookup3(&data[from..to]);
        put(data, to, &sum.to_le_bytes());
    }
}

/// Bob Jenkins' `hashlittle` with initial value 0.
fn lookup3(data: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(data.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = data;
    while rest.len() > 12 {
        let word = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        (a, b, c) = (a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)));
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut tail = [0; 12];
    tail[..rest.len()].copy_from_slice(rest);
    let word = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    (a, b, c) = (a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// Whether all checksums of an undamaged file match those computed here.
pub fn sums_are_right(data: &[u8]) -> bool {
    let mut repaired = data.to_vec();
    repair(&mut repaired);
    repaired == data
}
