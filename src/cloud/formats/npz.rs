//! NumPy's `.npz`: a zip archive of arrays, of which one is read.
//!
//! `FILE.npz:NAME` names it. Without a name it is the only two-dimensional array of numbers, or among several the one
//! with the first of [`PREFERRED`]; without any, the only one-dimensional one.

use std::io::{Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

use super::FormatError;
use super::contain::contained;
use super::input::{Input, printable};
use super::npy::{Header, read_array};
use super::sheet::{Sheet, Want, cut};

/// What people call their points, in order of preference.
const PREFERRED: [&str; 9] = ["points", "x", "data", "vectors", "embeddings", "features", "coordinates", "xyz", "arr_0"];

/// Bytes that a byte of deflate can hold, and a little more: a match of 258 bytes takes two bits or more.
const MOST_UNPACKED: u64 = 1100;

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    contained(|| read_archive(input, want)).map_err(|why| input.malformed("zip archive", format!("it cannot be unpacked ({why})")))?
}

fn read_archive(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let fail = |why: ZipError| match why {
        ZipError::Io(why) => input.io(why),
        why => input.malformed("zip archive", why.to_string()),
    };
    let mut archive = ZipArchive::new(input.open()?).map_err(fail)?;
    let arrays = list(&mut archive, input);
    let chosen = choose(&arrays, input)?;
    let mut member = archive.by_index(arrays[chosen].index).map_err(fail)?;
    let header = Header::read(&mut member, input)?;
    let packed = member.compressed_size().min(input.size());
    if header.bytes > packed.saturating_mul(MOST_UNPACKED) {
        let why = format!("the header promises {} bytes of data, which {packed} packed bytes cannot hold", header.bytes);
        return Err(input.malformed("cut short", why));
    }
    let mut sheet = read_array(&mut member, &header, input, want)?;
    // The end of the member is where its checksum is compared.
    member.read(&mut [0]).map_err(|why| input.io(why))?;
    sheet.format = format!("NumPy archive, array `{}`: {}", printable(&arrays[chosen].name), sheet.format.trim_start_matches("NumPy array, "));
    let others = arrays.iter().enumerate().filter(|(at, _)| *at != chosen).map(|(_, array)| format!("array {} was not read", array.text()));
    sheet.skipped.extend(others);
    Ok(sheet)
}

/// An array of an archive.
struct Array {
    index: usize,
    name: String,
    /// Rows, columns and rank, or why it is not read.
    shape: Result<(usize, usize, usize), String>,
}

impl Array {
    fn rank(&self) -> usize {
        self.shape.as_ref().map_or(0, |&(_, _, rank)| rank)
    }

    fn text(&self) -> String {
        let name = printable(&self.name);
        match &self.shape {
            Ok((rows, _, 1)) => format!("`{name}` ({rows})"),
            Ok((rows, columns, _)) => format!("`{name}` ({rows} × {columns})"),
            Err(_) => format!("`{name}` (not read)"),
        }
    }
}

/// The arrays of an archive, from their headers.
fn list(archive: &mut ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Vec<Array> {
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index);
        let Ok(mut member) = member else { continue };
        let name = member.name().map(|name| name.into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let shape = match Header::read(&mut member, input) {
            Ok(header) => Ok((header.rows, header.columns, header.rank)),
            Err(why) => Err(why.to_string()),
        };
        arrays.push(Array { index, name, shape });
    }
    arrays
}

fn choose(arrays: &[Array], input: &Input<'_>) -> Result<usize, FormatError> {
    let all = || cut(arrays.len(), |at| arrays[at].text());
    if let Some(name) = input.member() {
        let found = arrays.iter().position(|array| array.name == name);
        return found.ok_or_else(|| input.malformed(format!("array `{name}`"), format!("there is none; there are {}", all())));
    }
    let of_rank = |rank: usize| arrays.iter().enumerate().filter(move |(_, array)| array.rank() == rank).map(|(at, _)| at).collect::<Vec<_>>();
    for rank in [2, 1] {
        match of_rank(rank)[..] {
            [] => {}
            [only] => return Ok(only),
            ref several => {
                let preferred = PREFERRED.iter().find_map(|name| several.iter().copied().find(|&at| arrays[at].name.eq_ignore_ascii_case(name)));
                // One of several lists of numbers is hardly the cloud, whatever its name.
                return preferred
                    .filter(|_| rank == 2)
                    .ok_or_else(|| input.malformed("several arrays", format!("say which with FILE.npz:NAME; there are {}", all())));
            }
        }
    }
    Err(match arrays {
        [] => input.malformed("no arrays", "there are none in the archive"),
        // With one array, its own error says more.
        [_] => return Ok(0),
        _ => input.malformed("no arrays", format!("none holds numbers in rows and columns; there are {}", all())),
    })
}
