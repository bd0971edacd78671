//! Mutations that preserve checksums: takes a format apart, mutates one part, and reassembles a valid file
//! with wrong content. One in eight inputs is mutated as plain bytes, to attack the format itself.

mod e57;
mod hdf5;
mod las;
mod parquet;
mod zip;

pub use hdf5::sums_are_right as hdf5_sums_are_right;

use super::Target;

/// How a format is reassembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerFormat {
    /// Plain bytes.
    Plain,
    /// Members are decompressed, mutated, and compressed with new checksums.
    Zip,
    /// Magic numbers and the footer's length stay valid.
    Parquet,
    /// The same for an Arrow file.
    Arrow,
    /// Checksums of the newer structures are recomputed.
    Hdf5,
    /// The header agrees with the size of the file.
    Las,
    /// Pages get new checksums, and the header new lengths.
    E57,
    /// Like [`ContainerFormat::Zip`], after a byte that selects a file of the folder.
    Folder,
}

/// Mutates bytes in place, up to a size given by the second argument.
pub type Raw<'a> = dyn FnMut(&mut Vec<u8>, usize) + 'a;

/// A mutated copy of at most `most` bytes.
pub fn damage(target: &Target, data: &[u8], most: usize, seed: u32, raw: &mut Raw<'_>) -> Vec<u8> {
    let plain = |raw: &mut Raw<'_>| {
        let mut bytes = data.to_vec();
        raw(&mut bytes, most);
        bytes
    };
    if seed.is_multiple_of(8) {
        return plain(raw);
    }
    // Independent of the remainder used above.
    let choice = seed >> 3;
    let made = match target.structure {
        ContainerFormat::Plain => None,
        ContainerFormat::Zip => zip::damage(data, most, choice, raw),
        ContainerFormat::Folder => {
            data.split_first().filter(|(_, rest)| rest.starts_with(b"PK")).and_then(|(&which, rest)| {
                let rest = zip::damage(rest, most.saturating_sub(1), choice, raw)?;
                Some([&[which], &rest[..]].concat())
            })
        }
        ContainerFormat::Parquet => parquet::damage(data, b"PAR1", b"PAR1", most, choice, raw),
        ContainerFormat::Arrow => parquet::damage(data, b"ARROW1\0\0", b"ARROW1", most, choice, raw),
        ContainerFormat::Hdf5 => hdf5::damage(data, most, raw),
        ContainerFormat::Las => las::damage(data, most, choice, raw),
        ContainerFormat::E57 => e57::damage(data, most, choice, raw),
    };
    made.filter(|made| made.len() <= most && made != data).unwrap_or_else(|| plain(raw))
}

/// The little-endian number at an offset.
fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

fn put(data: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = data.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
        place.copy_from_slice(bytes);
    }
}
