//! Damage that gets past checksums. A format is taken apart, a part of it is damaged, and it is put together
//! again: whole in form, wrong in content. One time in eight the bytes are damaged as they are, so that the
//! form is attacked too.

mod e57;
mod hdf5;
mod las;
mod parquet;
mod zip;

pub use hdf5::sums_are_right as hdf5_sums_are_right;

use super::Target;

/// How a format is put together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Bytes are bytes.
    Plain,
    /// Members are unpacked, damaged, and packed with their checksums.
    Zip,
    /// Magic numbers and the length of the footer stay valid.
    Parquet,
    /// The same of an Arrow file.
    Arrow,
    /// Checksums of the newer structures are worked out anew.
    Hdf5,
    /// The header agrees with the size of the file.
    Las,
    /// Pages get their checksums, and the header its lengths.
    E57,
    /// As [`Structure::Zip`] behind the byte that says which file of a folder it is.
    Folder,
}

/// Damages bytes in place, to a size that may be at most the second argument.
pub type Raw<'a> = dyn FnMut(&mut Vec<u8>, usize) + 'a;

/// A damaged copy of at most `most` bytes.
pub fn damage(target: &Target, data: &[u8], most: usize, seed: u32, raw: &mut Raw<'_>) -> Vec<u8> {
    let plain = |raw: &mut Raw<'_>| {
        let mut bytes = data.to_vec();
        raw(&mut bytes, most);
        bytes
    };
    if seed.is_multiple_of(8) {
        return plain(raw);
    }
    // Independent of what `seed` was divided by above.
    let choice = seed >> 3;
    let made = match target.structure {
        Structure::Plain => None,
        Structure::Zip => zip::damage(data, most, choice, raw),
        Structure::Folder => {
            data.split_first().filter(|(_, rest)| rest.starts_with(b"PK")).and_then(|(&which, rest)| {
                let rest = zip::damage(rest, most.saturating_sub(1), choice, raw)?;
                Some([&[which], &rest[..]].concat())
            })
        }
        Structure::Parquet => parquet::damage(data, b"PAR1", b"PAR1", most, choice, raw),
        Structure::Arrow => parquet::damage(data, b"ARROW1\0\0", b"ARROW1", most, choice, raw),
        Structure::Hdf5 => hdf5::damage(data, most, raw),
        Structure::Las => las::damage(data, most, choice, raw),
        Structure::E57 => e57::damage(data, most, choice, raw),
    };
    made.filter(|made| made.len() <= most && made != data).unwrap_or_else(|| plain(raw))
}

/// Number at a place, little endian.
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
