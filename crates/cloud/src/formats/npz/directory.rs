//! The list of members at the end of an archive, held against the header that each member has of its own: damage to either must
//! not hide an array, since another would be taken for the one that is meant.

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::ZipArchive;

use super::super::FormatError;
use super::super::input::{Input, printable};
use super::{BUFFER, zip_error};

/// Bytes of a member's own header before its name.
const OWN: usize = 30;
/// Bytes of a member's entry in the list before its name.
const LISTED: usize = 46;
/// What may follow the list: the record of its end, or the one of large archives.
const ENDS: [&[u8; 4]; 2] = [b"PK\x05\x06", b"PK\x06\x06"];
/// The flags of encryption, which nothing can be unpacked without.
const ENCRYPTED: u16 = 0x2041;

/// What a member is said to be, in either place.
#[derive(PartialEq)]
struct Member {
    name: Vec<u8>,
    /// The method of compression, and whether it is encrypted.
    packing: (u16, u16),
}

/// A member that the list and its own header disagree on.
pub(super) struct Differing {
    /// The name in its own header.
    pub own: Vec<u8>,
    /// The name in the list.
    pub listed: Vec<u8>,
    pub why: &'static str,
}

/// Checks the list, and that members lie side by side, since any number of them could share the same bytes. Returns those that
/// have a header of their own which says something else.
pub(super) fn check(archive: &mut ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Result<HashMap<usize, Differing>, FormatError> {
    let bad = |why: String| input.malformed("zip archive", why);
    // Of those, all but one would be hidden.
    if archive.has_duplicate_names() {
        return Err(bad("several of its members have the same name".to_owned()));
    }
    let listed = listed(archive, input)?;
    let mut places = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|why| zip_error(input, why));
        // The array in it is listed as damaged.
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
        let own = own(&mut file, start).map_err(|why| input.io(why))?;
        let member = &listed[index];
        let why = match () {
            () if own == *member => continue,
            () if own.name != member.name => "it has another name in the list at the end",
            () => "it is packed in another way in the list at the end",
        };
        differing.insert(index, Differing { own: own.name, listed: member.name.clone(), why });
    }
    Ok(differing)
}

/// The entries of the list, which must end where the record of its end begins: it may have more than that record counts.
fn listed(archive: &ZipArchive<impl Read + Seek>, input: &Input<'_>) -> Result<Vec<Member>, FormatError> {
    let mut file = BufReader::with_capacity(BUFFER, input.open()?.into_inner());
    let mut read = || {
        file.seek(SeekFrom::Start(archive.central_directory_start()))?;
        let mut members = Vec::new();
        for _ in 0..archive.len() {
            let mut head = [0; LISTED];
            file.read_exact(&mut head)?;
            let number = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
            let mut name = vec![0; number(28).into()];
            file.read_exact(&mut name)?;
            file.seek_relative(i64::from(number(30)) + i64::from(number(32)))?;
            members.push(Member { name, packing: (number(10), number(8) & ENCRYPTED) });
        }
        let mut end = [0; 4];
        file.read_exact(&mut end)?;
        Ok((members, ENDS.contains(&&end)))
    };
    let (members, ends) = read().map_err(|why| input.io(why))?;
    if ends { Ok(members) } else { Err(input.malformed("zip archive", "the list at its end is longer than the number of members there")) }
}

/// What the header at this byte says; the name may be cut short by the end of the file.
fn own(mut file: impl Read + Seek, start: u64) -> std::io::Result<Member> {
    let mut head = [0; OWN];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut head)?;
    let number = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let mut name = Vec::new();
    file.take(number(26).into()).read_to_end(&mut name)?;
    Ok(Member { name, packing: (number(8), number(6) & ENCRYPTED) })
}
