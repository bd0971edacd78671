//! NumPy's `.npz`: a zip archive of arrays, of which one is read.
//!
//! Each array is a [`Entry`]; a two-dimensional one is a table. An archive with a damaged array is not guessed at: which array
//! is meant could depend on the one that cannot be read, so that another must be named.

mod directory;

use std::io::{self, BufReader, Read, Seek};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::FormatError;
use super::columns::Records;
use super::contain::contained;
use super::input::{Input, Watched, printable};
use super::limits::DEFLATE;
use super::npy::{self, Header, read_array};
use super::parts::{self, Entry, State};
use super::sheet::{Sheet, Want, cut};
use directory::Differing;

/// Bytes read at a time.
const BUFFER: usize = 1 << 15;

/// Lists the arrays of an archive, from their headers.
pub(super) fn parts(input: &Input<'_>) -> Result<Vec<Entry>, FormatError> {
    let list = || Ok(Arrays::of(&mut open(input)?, input)?.parts);
    contained(list).map_err(|why| why.error("zip archive", input))?
}

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    contained(|| read_archive(input, want)).map_err(|why| why.error("zip archive", input))?
}

fn zip_error(input: &Input<'_>, why: ZipError) -> FormatError {
    match why {
        ZipError::Io(why) => input.io(why),
        ZipError::UnsupportedArchive(why) => {
            input.unsupported("zip archive", format!("it is packed in a way that is not read ({why}); write it with numpy.savez_compressed"))
        }
        _ => input.malformed("zip archive", "it is damaged, or was cut short"),
    }
}

/// Whether the file is a zip archive with this member.
pub fn has(input: &Input<'_>, member: &str) -> bool {
    open(input).is_ok_and(|archive| archive.index_for_name(member).is_some())
}

fn open<'a>(input: &Input<'a>) -> Result<ZipArchive<BufReader<Watched<'a>>>, FormatError> {
    // Small, as it is filled again at each of possibly many members.
    let file = BufReader::with_capacity(BUFFER, input.open()?.into_inner());
    ZipArchive::new(file).map_err(|why| zip_error(input, why))
}

fn read_archive(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let mut archive = open(input)?;
    let arrays = Arrays::of(&mut archive, input)?;
    let chosen = arrays.choose(input)?;
    let name = printable(&arrays.parts[chosen].name);
    let mut read = || {
        let mut member = archive.by_index(arrays.indices[chosen]).map_err(|why| zip_error(input, why))?;
        let header = Header::read(&mut member, input)?;
        let mut sheet = read_array(&mut member, &header, input, want)?;
        // Only at the end of a member is its checksum compared.
        let more = io::copy(&mut member, &mut io::sink()).map_err(|why| input.io(why))?;
        if more > 0 {
            sheet.skipped.push(format!("{more} bytes after the array were not read"));
        }
        Ok(sheet)
    };
    let mut sheet = read().map_err(|why| within(&name, why, input))?;
    sheet.format = format!("NumPy archive, array `{name}`: {}", sheet.format.trim_start_matches("NumPy array, "));
    Ok(sheet)
}

/// Names the array in an error about what it holds.
fn within(name: &str, why: FormatError, input: &Input<'_>) -> FormatError {
    match why {
        FormatError::Malformed { what, why, .. } => input.malformed(format!("array `{name}`: {what}"), why),
        why => why,
    }
}

/// Reads all columns of some records: by seeking if the array is stored, sequentially if compressed.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let read = || {
        let mut archive = open(input)?;
        let arrays = Arrays::of(&mut archive, input)?;
        let chosen = arrays.choose(input)?;
        let mut member = archive.by_index(arrays.indices[chosen]).map_err(|why| zip_error(input, why))?;
        let start = member.data_start().filter(|_| member.compression() == CompressionMethod::Stored && !member.encrypted());
        let header = Header::read(&mut member, input)?;
        match start {
            Some(start) => npy::records_at(start, &header, input, wanted),
            None => npy::records_in(&mut member, &header, input, wanted),
        }
    };
    contained(read).map_err(|why| why.error("zip archive", input))?
}

/// The arrays of an archive.
struct Arrays {
    parts: Vec<Entry>,
    /// The index of each in the archive.
    indices: Vec<usize>,
    states: Vec<State>,
    /// The names of the other members.
    others: Vec<String>,
}

impl Arrays {
    /// Reads the headers of all arrays.
    fn of(archive: &mut ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Result<Self, FormatError> {
        let mut arrays = Self { parts: Vec::new(), indices: Vec::new(), states: Vec::new(), others: Vec::new() };
        let differing = directory::check(archive, input)?;
        for index in 0..archive.len() {
            input.check()?;
            let differs = differing.get(&index);
            let listed = archive.name_for_index(index).and_then(Result::ok).and_then(|name| Some(name.strip_suffix(".npy")?.to_owned()));
            // A name that is damaged in one place is whole in the other.
            let either = || differs.and_then(|Differing { own, listed, .. }| [own, listed].into_iter().find_map(|name| name.strip_suffix(b".npy")));
            let Some(name) = listed.or_else(|| either().map(|name| String::from_utf8_lossy(name).into_owned())) else {
                arrays.others.extend(archive.name_for_index(index).and_then(Result::ok).map(|name| name.into_owned()));
                continue;
            };
            let bad = differs.map_or(Ok(()), |Differing { why, .. }| Err(input.malformed("zip archive", *why)));
            let header = bad.and_then(|()| archive.by_index(index).map_err(|why| zip_error(input, why))).and_then(|mut member| {
                let header = Header::read(&mut member, input)?;
                let packed = member.compressed_size();
                let here = if member.compression() == CompressionMethod::Stored { packed } else { packed.saturating_mul(DEFLATE) };
                if header.bytes > here {
                    let why = format!("the header promises {} bytes of data, which {packed} packed bytes cannot hold", header.bytes);
                    return Err(input.malformed("cut short", why));
                }
                Ok(header)
            });
            let (part, state) = match header {
                Ok(header) => {
                    let (rows, columns) = (header.rows as u64, header.columns as u64);
                    (Entry { name, rows, columns, table: header.is_table(), about: header.about(), unread: None }, State::Whole)
                }
                Err(FormatError::Cancelled) => return Err(FormatError::Cancelled),
                Err(why) => {
                    let state = match &why {
                        FormatError::Unsupported { what, .. } if what == npy::SCALAR => State::Scalar,
                        FormatError::Unsupported { what, .. } if what.starts_with(npy::ELEMENTS) && what.contains(['U', 'S']) => State::Text,
                        FormatError::Unsupported { .. } => State::Unread,
                        _ => State::Damaged,
                    };
                    (Entry { name, rows: 0, columns: 0, table: false, about: String::new(), unread: Some(why.reason()) }, state)
                }
            };
            arrays.parts.push(part);
            arrays.indices.push(index);
            arrays.states.push(state);
        }
        Ok(arrays)
    }

    /// The array that is named, or the obvious one if none is damaged.
    fn choose(&self, input: &Input<'_>) -> Result<usize, FormatError> {
        if self.parts.is_empty() && !self.others.is_empty() {
            let members = cut(self.others.len(), |at| format!("`{}`", printable(&self.others[at])));
            return Err(input.unsupported(format!("a zip archive with {members}"), "unpack it first"));
        }
        parts::choose_array("array", &self.parts, &self.states, input)
    }
}
