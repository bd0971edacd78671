//! Looks through the packets of a scan before the decoder does. It reads on until there is a value of every attribute, and makes
//! all of what it read at once: attributes whose values come long before those of others would take any amount of memory.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};

use ::e57::{PointCloud, RecordValue};

use super::super::FormatError;
use super::super::input::Input;
use super::super::limits::MAX_E57_AHEAD;
use super::bits;

/// Bytes of a page, with its checksum and without.
pub(super) const PAGE: u64 = 1024;
const CONTENT: u64 = 1020;
/// Copies of a queue while it grows, in its old size and its new one.
const GROWING: u64 = 3;

/// Claims the memory of the values that the decoder holds at a time, and returns how much that is. Where the packets are damaged
/// this ends, as the decoder will, which says why.
pub(super) fn claim(scan: &PointCloud, input: &Input<'_>) -> Result<u64, FormatError> {
    let file = File::open(input.path()).map_err(|why| input.io(why))?;
    let mut pages = Pages { file: BufReader::new(file), at: 0, physical: 0 };
    let mut queues = Queues::of(scan);
    match queues.fill(&mut pages, scan, input) {
        Ok(()) => {}
        Err(why) if why.kind() == ErrorKind::UnexpectedEof => {}
        Err(why) => return Err(input.io(why)),
    }
    let bytes = queues.most.saturating_mul(GROWING * size_of::<RecordValue>() as u64);
    input.claim(bytes, "values of points whose other values follow")?;
    Ok(bytes)
}

/// The values of each attribute that were read so far.
struct Queues {
    /// Bits of a value of each attribute.
    widths: Vec<u64>,
    /// Bits of each attribute so far.
    bits: Vec<u64>,
    /// Points of which there are all values.
    points: u64,
    /// The most values held at a time.
    most: u64,
}

impl Queues {
    fn of(scan: &PointCloud) -> Self {
        let widths: Vec<u64> = scan.prototype.iter().map(|record| bits(&record.data_type)).collect();
        Self { bits: vec![0; widths.len()], widths, points: 0, most: 0 }
    }

    /// Reads packets as the decoder does, until there are all points.
    fn fill(&mut self, pages: &mut Pages, scan: &PointCloud, input: &Input<'_>) -> io::Result<()> {
        pages.seek(scan.file_offset);
        let section: [u8; 32] = pages.read()?;
        let data = section[16..24].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
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

    /// Takes the points that a packet has completed.
    fn take(&mut self, input: &Input<'_>) -> Result<(), FormatError> {
        // Of values without bits there are as many as of the others.
        let values = || self.bits.iter().zip(&self.widths).filter_map(|(bits, &width)| bits.checked_div(width));
        let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        if most - least > MAX_E57_AHEAD {
            let why = format!("the most that are read are {MAX_E57_AHEAD}; convert it to LAS or PLY");
            return Err(input.unsupported(format!("{} values of an attribute before those of others", most - least), why));
        }
        let constant = (self.widths.iter().filter(|&&width| width == 0).count() as u64).saturating_mul(least - self.points);
        let held: u64 = values().map(|count| count - self.points).sum();
        self.most = self.most.max(held.saturating_add(constant));
        self.points = least;
        Ok(())
    }
}

/// A file of pages, addressed without their checksums.
struct Pages {
    file: BufReader<File>,
    at: u64,
    /// Where the file is.
    physical: u64,
}

impl Pages {
    /// Goes to a byte of the file.
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
            // Keeps what is buffered, as packets may be small.
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
