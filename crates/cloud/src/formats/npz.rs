//! NumPy's `.npz`: a zip archive of arrays, one of which is read.
//!
//! Each array is a [`DatasetInfo`]; a two-dimensional one is a table. If an array is damaged, another must be
//! selected by name, because the damaged one might have been the default.

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::datasets::{self, DatasetInfo, DatasetState};
use super::limits::DEFLATE;
use super::npy::{Header, read_array};
use super::{
    ColumnRequest, FormatError, Input, ProgressReader, Records, Result, Sheet, decoded, join_first, npy,
    printable,
};

/// Bytes read at a time.
const BUFFER: usize = 1 << 15;

/// Lists the arrays of an archive, from their headers.
pub(super) fn datasets(input: &Input<'_>) -> Result<Vec<DatasetInfo>> {
    decoded("zip archive", input, || Ok(Arrays::read(&mut open(input)?, input)?.datasets))
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    decoded("zip archive", input, || read_archive(input, request))
}

fn zip_error(input: &Input<'_>, why: ZipError) -> FormatError {
    match why {
        ZipError::Io(why) => input.io(why),
        ZipError::UnsupportedArchive(why) => input.unsupported(
            "zip archive",
            format!("unsupported compression ({why}); write it with numpy.savez_compressed"),
        ),
        _ => input.malformed("zip archive", "it is damaged, or was cut short"),
    }
}

/// Whether the file is a zip archive with this member.
pub fn has(input: &Input<'_>, member: &str) -> bool {
    open(input).is_ok_and(|archive| archive.index_for_name(member).is_some())
}

fn open<'a>(input: &Input<'a>) -> Result<ZipArchive<BufReader<ProgressReader<'a>>>> {
    // Small, because it is refilled at each of possibly many members.
    let file = BufReader::with_capacity(BUFFER, input.open()?.into_inner());
    ZipArchive::new(file).map_err(|why| zip_error(input, why))
}

fn read_archive(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut archive = open(input)?;
    let arrays = Arrays::read(&mut archive, input)?;
    let chosen = arrays.choose(input)?;
    let name = printable(&arrays.datasets[chosen].name);
    let mut read = || {
        let mut member = archive.by_index(arrays.indices[chosen]).map_err(|why| zip_error(input, why))?;
        let header = Header::read(&mut member, input)?;
        let mut sheet = read_array(&mut member, &header, input, request)?;
        // Reading to the end of a member verifies its checksum.
        let more = input.skip_rest(&mut member)?;
        if more > 0 {
            sheet.skipped.push(format!("{more} bytes after the array were not read"));
        }
        Ok(sheet)
    };
    let mut sheet = read().map_err(|why| within(&name, why, input))?;
    sheet.format =
        format!("NumPy archive, array `{name}`: {}", sheet.format.trim_start_matches("NumPy array, "));
    Ok(sheet)
}

/// Adds the array's name to an error about its content.
fn within(name: &str, why: FormatError, input: &Input<'_>) -> FormatError {
    match why {
        FormatError::Malformed { what, why, .. } => input.malformed(format!("array `{name}`: {what}"), why),
        why => why,
    }
}

/// Reads all columns of some records: by seeking if the array is stored, sequentially if compressed.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    decoded("zip archive", input, || {
        let mut archive = open(input)?;
        let arrays = Arrays::read(&mut archive, input)?;
        let chosen = arrays.choose(input)?;
        let mut member = archive.by_index(arrays.indices[chosen]).map_err(|why| zip_error(input, why))?;
        let start = member
            .data_start()
            .filter(|_| member.compression() == CompressionMethod::Stored && !member.encrypted());
        let header = Header::read(&mut member, input)?;
        match start {
            Some(start) => npy::records_at(start, &header, input, wanted),
            None => npy::records_in(&mut member, &header, input, wanted),
        }
    })
}

/// The arrays of an archive.
struct Arrays {
    datasets: Vec<DatasetInfo>,
    /// The index of each in the archive.
    indices: Vec<usize>,
    states: Vec<DatasetState>,
    /// The names of the other members.
    others: Vec<String>,
}

impl Arrays {
    /// Reads the headers of all arrays.
    fn read(archive: &mut ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Result<Self> {
        let mut arrays =
            Self { datasets: Vec::new(), indices: Vec::new(), states: Vec::new(), others: Vec::new() };
        let differing = check(archive, input)?;
        for index in 0..archive.len() {
            input.check()?;
            let differs = differing.get(&index);
            let listed = archive
                .name_for_index(index)
                .and_then(Result::ok)
                .and_then(|name| Some(name.strip_suffix(".npy")?.to_owned()));
            // If one copy of a name is damaged, the other may be intact.
            let either = || {
                differs.and_then(|MemberMismatch { own, listed, .. }| {
                    [own, listed].into_iter().find_map(|name| name.strip_suffix(b".npy"))
                })
            };
            let Some(name) =
                listed.or_else(|| either().map(|name| String::from_utf8_lossy(name).into_owned()))
            else {
                arrays
                    .others
                    .extend(archive.name_for_index(index).and_then(Result::ok).map(|name| name.into_owned()));
                continue;
            };
            let bad = differs
                .map_or(Ok(()), |MemberMismatch { why, .. }| Err(input.malformed("zip archive", *why)));
            let header = bad
                .and_then(|()| archive.by_index(index).map_err(|why| zip_error(input, why)))
                .and_then(|mut member| {
                    let header = Header::read(&mut member, input)?;
                    let packed = member.compressed_size();
                    let here = if member.compression() == CompressionMethod::Stored {
                        packed
                    } else {
                        packed.saturating_mul(DEFLATE)
                    };
                    if header.bytes > here {
                        let why = format!(
                            "the header declares {} bytes of data, which {packed} compressed bytes cannot \
                             hold",
                            header.bytes
                        );
                        return Err(input.malformed("cut short", why));
                    }
                    Ok(header)
                });
            let (dataset, state) = match header {
                Ok(header) => {
                    let (rows, columns) = (header.rows as u64, header.columns as u64);
                    let dataset = DatasetInfo::new(name, rows, columns, header.is_table(), header.about());
                    (dataset, DatasetState::Whole)
                }
                Err(FormatError::Cancelled) => return Err(FormatError::Cancelled),
                Err(why) => {
                    let state = match &why {
                        FormatError::Unsupported { what, .. } if what == npy::SCALAR => DatasetState::Scalar,
                        FormatError::Unsupported { what, .. }
                            if what.starts_with(npy::ELEMENTS) && what.contains(['U', 'S']) =>
                        {
                            DatasetState::Text
                        }
                        FormatError::Unsupported { .. } => DatasetState::Unread,
                        _ => DatasetState::Damaged,
                    };
                    (DatasetInfo::unread(name, why.reason()), state)
                }
            };
            arrays.datasets.push(dataset);
            arrays.indices.push(index);
            arrays.states.push(state);
        }
        Ok(arrays)
    }

    /// The named array, or the obvious one if none is damaged.
    fn choose(&self, input: &Input<'_>) -> Result<usize> {
        if self.datasets.is_empty() && !self.others.is_empty() {
            let members = join_first(self.others.len(), |at| format!("`{}`", printable(&self.others[at])));
            return Err(input.unsupported(format!("a zip archive with {members}"), "unpack it first"));
        }
        datasets::choose_array("array", &self.datasets, &self.states, input)
    }
}

// Compares the central directory of an archive with the members' local headers: damage to either must not
// hide an array, because another would be read in its place.

/// Bytes of a member's local header before its name.
const LOCAL_HEADER: usize = 30;
/// Bytes of a member's central directory entry before its name.
const CENTRAL_ENTRY: usize = 46;
/// Signatures that may follow the central directory: the end record, or that of zip64.
const END_SIGNATURES: [&[u8; 4]; 2] = [b"PK\x05\x06", b"PK\x06\x06"];
/// Encryption flags. Encrypted members are not supported.
const ENCRYPTED: u16 = 0x2041;

/// A member's properties as declared in either place.
#[derive(PartialEq)]
struct MemberHeader {
    name: Vec<u8>,
    /// Compression method and encryption flags.
    packing: (u16, u16),
}

/// A member whose central directory entry and local header differ.
struct MemberMismatch {
    /// The name in the local header.
    pub own: Vec<u8>,
    /// The name in the central directory.
    pub listed: Vec<u8>,
    pub why: &'static str,
}

/// Checks the central directory, and that members do not overlap, because members that share bytes could
/// multiply the size of the output. Returns members whose local header differs.
fn check(
    archive: &mut ZipArchive<impl Read + Seek>,
    input: &Input<'_>,
) -> Result<HashMap<usize, MemberMismatch>> {
    let bad = |why: String| input.malformed("zip archive", why);
    // Only one of several members with the same name would be visible.
    if archive.has_duplicate_names() {
        return Err(bad("several of its members have the same name".to_owned()));
    }
    let listed = central_directory(archive, input)?;
    let mut places = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|why| zip_error(input, why));
        // Its array is listed as damaged.
        let Ok(member) = member else { continue };
        let Some(start) = member.data_start() else { continue };
        places.push((member.header_start(), start.saturating_add(member.compressed_size()), index));
    }
    places.sort_unstable();
    let shown = |index: usize| printable(&String::from_utf8_lossy(&listed[index].name));
    let mut differing = HashMap::new();
    let mut file = input.open()?.into_inner();
    for (at, &(start, _, index)) in places.iter().enumerate() {
        if let Some(&(_, end, before)) = at.checked_sub(1).map(|before| &places[before])
            && end > start
        {
            return Err(bad(format!("its members `{}` and `{}` overlap", shown(before), shown(index))));
        }
        let own = local_header(&mut file, start).map_err(|why| input.io(why))?;
        let member = &listed[index];
        let why = match () {
            () if own == *member => continue,
            () if own.name != member.name => "its name differs from the central directory",
            () => "its compression differs from the central directory",
        };
        differing.insert(index, MemberMismatch { own: own.name, listed: member.name.clone(), why });
    }
    Ok(differing)
}

/// The entries of the central directory. It must end at the end record, whose count may be too small.
fn central_directory(archive: &ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Result<Vec<MemberHeader>> {
    let mut file = BufReader::with_capacity(BUFFER, input.open()?.into_inner());
    let mut read = || {
        file.seek(SeekFrom::Start(archive.central_directory_start()))?;
        let mut members = Vec::new();
        for _ in 0..archive.len() {
            let mut head = [0; CENTRAL_ENTRY];
            file.read_exact(&mut head)?;
            let number = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
            let mut name = vec![0; number(28).into()];
            file.read_exact(&mut name)?;
            file.seek_relative(i64::from(number(30)) + i64::from(number(32)))?;
            members.push(MemberHeader { name, packing: (number(10), number(8) & ENCRYPTED) });
        }
        let mut end = [0; 4];
        file.read_exact(&mut end)?;
        Ok((members, END_SIGNATURES.contains(&&end)))
    };
    let (members, ends) = read().map_err(|why| input.io(why))?;
    if ends {
        Ok(members)
    } else {
        Err(input.malformed("zip archive", "its central directory has more members than declared"))
    }
}

/// The local header at this byte; the name may be truncated by the end of the file.
fn local_header(mut file: impl Read + Seek, start: u64) -> std::io::Result<MemberHeader> {
    let mut head = [0; LOCAL_HEADER];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut head)?;
    let number = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let mut name = Vec::new();
    file.take(number(26).into()).read_to_end(&mut name)?;
    Ok(MemberHeader { name, packing: (number(8), number(6) & ENCRYPTED) })
}
