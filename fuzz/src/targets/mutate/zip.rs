//! Archives: decompresses a member, mutates it, and compresses it with a new checksum.

use std::io::{Cursor, Read};

use zip::{CompressionMethod, ZipArchive};

use super::super::seeds::zipped;
use super::Raw;

/// The largest decompressed size of a member.
const MOST: u64 = 1 << 18;

pub fn damage(data: &[u8], most: usize, choice: u32, raw: &mut Raw<'_>) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(data)).ok()?;
    let mut members = Vec::new();
    let mut method = CompressionMethod::Stored;
    for index in 0..archive.len().min(200) {
        let mut member = archive.by_index(index).ok()?;
        if member.compression() == CompressionMethod::Deflated {
            method = CompressionMethod::Deflated;
        }
        let name = member.name().ok()?.into_owned();
        let mut content = Vec::new();
        // Keep the readable part of a damaged member.
        let _ = (&mut member).take(MOST).read_to_end(&mut content);
        members.push((name, content));
    }
    if members.is_empty() {
        return None;
    }
    let at = (choice >> 4) as usize % members.len();
    match choice & 15 {
        0 => drop(members.remove(at)),
        1 => members.push((format!("{}.npy", members[at].0), members[at].1.clone())),
        2 => {
            let mut name = std::mem::take(&mut members[at].0).into_bytes();
            raw(&mut name, 40);
            members[at].0 = String::from_utf8_lossy(&name).into_owned();
        }
        3 => {
            method = if method == CompressionMethod::Stored {
                CompressionMethod::Deflated
            } else {
                CompressionMethod::Stored
            }
        }
        // Mutate the header of an array, which has most of its structure.
        4..=8 if members[at].1.len() > 128 && members[at].1.starts_with(b"\x93NUMPY") => {
            let mut head = members[at].1[..128].to_vec();
            raw(&mut head, 128);
            members[at].1.splice(..128, head);
        }
        _ => raw(&mut members[at].1, most),
    }
    let mut names = std::collections::HashSet::new();
    members.retain(|(name, _)| names.insert(name.clone()));
    Some(zipped(&members, method))
}
