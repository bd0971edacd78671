//! Checks a file before decoding: the packets of a scan, and the XML that describes the scans.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};

use ::e57::{PointCloud, RecordValue};

use super::bits;
use crate::formats::limits::{MAX_E57_AHEAD, MAX_XML_ATTRIBUTES, MAX_XML_DEPTH, MAX_XML_NAMESPACES};
use crate::formats::{Input, Result, whole};

/// Bytes of a page, with its checksum and without.
pub(super) const PAGE: u64 = 1024;
const CONTENT: u64 = 1020;
/// Memory of a growing queue, in units of its old size: the old and the new buffer.
const REALLOCATION: u64 = 3;

/// Claims the memory of the values that the decoder buffers, and returns it. Stops at damaged packets, which
/// the decoder will report.
pub(super) fn claim(scan: &PointCloud, input: &Input<'_>) -> Result<u64> {
    let file = File::open(&input.path).map_err(|why| input.io(why))?;
    let mut pages = PagedFile { file: BufReader::new(file), at: 0, physical: 0 };
    let mut queues = Queues::new(scan);
    match queues.fill(&mut pages, scan, input) {
        Ok(()) => {}
        Err(why) if why.kind() == ErrorKind::UnexpectedEof => {}
        Err(why) => return Err(input.io(why)),
    }
    let bytes = queues.most.saturating_mul(REALLOCATION * size_of::<RecordValue>() as u64);
    input.claim(bytes, "buffered values of incomplete points")?;
    Ok(bytes)
}

/// The values read so far of each attribute.
struct Queues {
    /// Bits of a value of each attribute.
    widths: Vec<u64>,
    /// Bits of each attribute so far.
    bits: Vec<u64>,
    /// Number of complete points.
    points: u64,
    /// Maximum number of values buffered at a time.
    most: u64,
}

impl Queues {
    fn new(scan: &PointCloud) -> Self {
        let widths: Vec<u64> = scan.prototype.iter().map(|record| bits(&record.data_type)).collect();
        Self { bits: vec![0; widths.len()], widths, points: 0, most: 0 }
    }

    /// Reads packets like the decoder, until all points are complete.
    fn fill(&mut self, pages: &mut PagedFile, scan: &PointCloud, input: &Input<'_>) -> io::Result<()> {
        pages.seek(scan.file_offset);
        let section: [u8; 32] = pages.read()?;
        let data = whole(&section[16..24]);
        pages.seek(data);
        while self.points < scan.records {
            input.check().map_err(io::Error::other)?;
            let length = |low: u8, high: u8| u64::from(u16::from_le_bytes([low, high])) + 1;
            match pages.read()? {
                [0u8] => {
                    let [_, low, high, ..] = pages.read::<15>()?;
                    pages.skip(length(low, high));
                }
                [2] => {
                    let [_, low, high] = pages.read()?;
                    pages.skip(length(low, high));
                }
                [1] => {
                    let [.., low, high] = pages.read::<5>()?;
                    if usize::from(u16::from_le_bytes([low, high])) != self.bits.len() {
                        return Ok(());
                    }
                    let mut bytes = 0;
                    for bits in &mut self.bits {
                        let size = u64::from(u16::from_le_bytes(pages.read()?));
                        *bits += 8 * size;
                        bytes += size;
                    }
                    pages.skip(bytes);
                    self.take(input).map_err(io::Error::other)?;
                }
                _ => return Ok(()),
            }
            pages.at = pages.at.saturating_add(3) / 4 * 4;
        }
        Ok(())
    }

    /// Removes the points that a packet has completed.
    fn take(&mut self, input: &Input<'_>) -> Result<()> {
        // Attributes without bits never limit the number of complete points.
        let values =
            || self.bits.iter().zip(&self.widths).filter_map(|(bits, &width)| bits.checked_div(width));
        let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        if most - least > MAX_E57_AHEAD {
            let why = format!("at most {MAX_E57_AHEAD} are supported; convert it to LAS or PLY");
            return Err(input.unsupported(
                format!("{} values of an attribute before those of others", most - least),
                why,
            ));
        }
        let constant = (self.widths.iter().filter(|&&width| width == 0).count() as u64)
            .saturating_mul(least - self.points);
        let held: u64 = values().map(|count| count - self.points).sum();
        self.most = self.most.max(held.saturating_add(constant));
        self.points = least;
        Ok(())
    }
}

/// A file of pages, addressed without their checksums.
struct PagedFile {
    file: BufReader<File>,
    at: u64,
    /// Physical position in the file.
    physical: u64,
}

impl PagedFile {
    /// Seeks to a byte of the file.
    fn seek(&mut self, physical: u64) {
        self.at = physical - physical / PAGE * (PAGE - CONTENT);
    }

    fn skip(&mut self, bytes: u64) {
        self.at = self.at.saturating_add(bytes);
    }

    fn read<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        let mut done = 0;
        while done < N {
            let here = (self.at / CONTENT).saturating_mul(PAGE).saturating_add(self.at % CONTENT);
            // Keeps the buffer, because packets may be small.
            self.file.seek_relative(here.wrapping_sub(self.physical).cast_signed())?;
            let count = (N - done).min((CONTENT - self.at % CONTENT) as usize);
            self.file.read_exact(&mut bytes[done..done + count])?;
            done += count;
            self.at += count as u64;
            self.physical = here + count as u64;
        }
        Ok(bytes)
    }
}

// Checks XML before parsing: the decoder's parser takes time cubic in nested namespaces and quadratic in the
// attributes of an element.

/// Checks nesting and attributes. Invalid XML is left to the parser.
///
/// The error names the exceeded limit.
pub(super) fn xml(xml: &[u8]) -> Result<(), String> {
    let (mut rest, mut depth, mut deepest) = (xml, 0usize, 0);
    // Namespaces declared by each open element, outermost first.
    let mut declared: Vec<usize> = Vec::new();
    while let Some(at) = rest.iter().position(|&byte| byte == b'<') {
        rest = &rest[at..];
        let end = match rest {
            [b'<', b'!', b'-', b'-', ..] => after(rest, 4, b"-->"),
            [b'<', b'!', b'[', ..] => after(rest, 3, b"]]>"),
            [b'<', b'?', ..] => after(rest, 2, b"?>"),
            // A document type, which the parser rejects.
            [b'<', b'!', ..] => None,
            [b'<', b'/', ..] => {
                depth = depth.saturating_sub(1);
                declared.truncate(depth);
                after(rest, 2, b">")
            }
            _ => {
                let tag = Tag::parse(rest);
                if tag.attributes > MAX_XML_ATTRIBUTES {
                    return Err(format!(
                        "an element has more than {MAX_XML_ATTRIBUTES} attributes, the supported \
                         maximum"
                    ));
                }
                deepest = deepest.max(depth + 1);
                if depth < MAX_XML_DEPTH {
                    declared.push(tag.namespaces);
                    let namespaces: usize = declared.iter().sum();
                    if namespaces > MAX_XML_NAMESPACES {
                        return Err(format!(
                            "nested elements declare {namespaces} namespaces; at most {MAX_XML_NAMESPACES} \
                             are supported"
                        ));
                    }
                }
                depth += 1;
                if tag.empty {
                    depth -= 1;
                    declared.truncate(depth);
                }
                tag.end
            }
        };
        let Some(end) = end else { break };
        rest = &rest[end..];
    }
    if deepest > MAX_XML_DEPTH {
        Err(format!("elements nest {deepest} levels deep; at most {MAX_XML_DEPTH} are supported"))
    } else {
        Ok(())
    }
}

/// The position after the first `end`, from `start` on.
fn after(text: &[u8], start: usize, end: &[u8]) -> Option<usize> {
    text[start..].windows(end.len()).position(|window| window == end).map(|at| start + at + end.len())
}

/// The tag that begins an element.
#[derive(Default)]
struct Tag {
    attributes: usize,
    /// The attributes that declare a namespace.
    namespaces: usize,
    /// Whether it also ends the element.
    empty: bool,
    /// The position after the tag, if it is complete.
    end: Option<usize>,
}

impl Tag {
    /// Reads a tag. Stops early if it has too many attributes.
    fn parse(text: &[u8]) -> Self {
        // Search for a name only between the previous value and `=`, so that each byte is read once.
        let (mut tag, mut quote, mut name) = (Self::default(), None, 0);
        for (at, &byte) in text.iter().enumerate() {
            match (quote, byte) {
                (Some(open), _) if byte == open => (quote, name) = (None, at + 1),
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => {
                    tag.attributes += 1;
                    if tag.attributes > MAX_XML_ATTRIBUTES {
                        break;
                    }
                    let word = text[name..at].trim_ascii().rsplit(u8::is_ascii_whitespace).next();
                    tag.namespaces += usize::from(word.is_some_and(|word| word.starts_with(b"xmlns")));
                    name = at + 1;
                }
                (None, b'>') => {
                    (tag.empty, tag.end) = (text[at - 1] == b'/', Some(at + 1));
                    break;
                }
                _ => {}
            }
        }
        tag
    }
}
