//! NumPy's `.npz`: a zip archive of arrays, of which one is read.
//!
//! Each array is a [`Entry`]; a two-dimensional one is a table.

use std::io::{BufReader, Read, Seek};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::FormatError;
use super::columns::Records;
use super::contain::contained;
use super::input::{Input, Watched, printable};
use super::limits::DEFLATE;
use super::npy::{self, Header, read_array};
use super::parts::{self, Entry};
use super::sheet::{Sheet, Want};

/// Lists the arrays of an archive, from their headers.
pub(super) fn parts(input: &Input<'_>) -> Result<Vec<Entry>, FormatError> {
    let list = || Ok(list(&mut open(input)?, input).into_iter().map(|(_, part)| part).collect());
    contained(list).map_err(|_| damaged(input))?
}

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    contained(|| read_archive(input, want)).map_err(|_| damaged(input))?
}

fn damaged(input: &Input<'_>) -> FormatError {
    input.malformed("zip archive", "damaged, and cannot be unpacked")
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
    ZipArchive::new(input.open()?).map_err(|why| zip_error(input, why))
}

fn read_archive(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let mut archive = open(input)?;
    let (indices, parts): (Vec<usize>, Vec<Entry>) = list(&mut archive, input).into_iter().unzip();
    let chosen = parts::choose(&parts, input)?;
    let mut member = archive.by_index(indices[chosen]).map_err(|why| zip_error(input, why))?;
    let header = Header::read(&mut member, input)?;
    let packed = member.compressed_size().min(input.size());
    if header.bytes > packed.saturating_mul(DEFLATE) {
        let why = format!("the header promises {} bytes of data, which {packed} packed bytes cannot hold", header.bytes);
        return Err(input.malformed("cut short", why));
    }
    let mut sheet = read_array(&mut member, &header, input, want)?;
    // Reading to the end of the member verifies its checksum.
    member.read(&mut [0]).map_err(|why| input.io(why))?;
    sheet.format = format!("NumPy archive, array `{}`: {}", printable(&parts[chosen].name), sheet.format.trim_start_matches("NumPy array, "));
    Ok(sheet)
}

/// Reads all columns of some records: by seeking if the array is stored, sequentially if compressed.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let read = || {
        let mut archive = open(input)?;
        let (indices, parts): (Vec<usize>, Vec<Entry>) = list(&mut archive, input).into_iter().unzip();
        let chosen = parts::choose(&parts, input)?;
        let mut member = archive.by_index(indices[chosen]).map_err(|why| zip_error(input, why))?;
        let start = member.data_start().filter(|_| member.compression() == CompressionMethod::Stored && !member.encrypted());
        let header = Header::read(&mut member, input)?;
        match start {
            Some(start) => npy::records_at(start, &header, input, wanted),
            None => npy::records_in(&mut member, &header, input, wanted),
        }
    };
    contained(read).map_err(|_| damaged(input))?
}

/// Lists the arrays of an archive with their zip indices, from their headers.
fn list(archive: &mut ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Vec<(usize, Entry)> {
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let Ok(mut member) = archive.by_index(index) else { continue };
        let name = member.name().map(|name| name.into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let part = match Header::read(&mut member, input) {
            Ok(Header { number, rows, columns, rank, .. }) => {
                let (rows, columns) = (rows as u64, columns as u64);
                Entry { name, rows, columns, table: rank == 2, about: number.name(), unread: None }
            }
            Err(why) => Entry { name, rows: 0, columns: 0, table: false, about: String::new(), unread: Some(why.reason()) },
        };
        arrays.push((index, part));
    }
    arrays
}
