//! The content of a file after removing gzip and a byte order mark.

use std::io::{BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

use super::bounded::Bounded;
use super::input::Input;
use super::{FormatError, GZIP};

/// A byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The decompressed bytes of the file, and whether they were compressed. Reading fails at an implausible compression ratio.
pub(super) fn bytes<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool), FormatError> {
    let mut file = input.open()?;
    let gzip = file.fill_buf().map_err(|why| input.io(why))?.starts_with(GZIP);
    Ok(if gzip {
        (Box::new(BufReader::with_capacity(1 << 17, Bounded::new(MultiGzDecoder::new(file), input.size()))), true)
    } else {
        (Box::new(file), false)
    })
}

/// As [`bytes`], without a byte order mark and the lines that are passed over.
pub(super) fn text<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool), FormatError> {
    let (stream, gzip, _) = text_after(input)?;
    Ok((stream, gzip))
}

/// As [`text`], with the number of bytes before it.
pub(super) fn text_after<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool, u64), FormatError> {
    let (mut stream, gzip) = bytes(input)?;
    let mut before = 0;
    if stream.fill_buf().map_err(|why| input.io(why))?.starts_with(MARK) {
        stream.consume(MARK.len());
        before = MARK.len() as u64;
    }
    before += pass_over(&mut *stream, input)?;
    Ok((stream, gzip, before))
}

/// Passes over the first lines, without holding them; returns their bytes.
fn pass_over(stream: &mut (impl BufRead + ?Sized), input: &Input<'_>) -> Result<u64, FormatError> {
    let count = input.skipped();
    let (mut lines, mut bytes, mut end, mut in_line) = (0, 0, None, false);
    while lines < count {
        let buffer = stream.fill_buf().map_err(|why| input.io(why))?;
        // Old texts end their lines with carriage returns only.
        let end = *end.get_or_insert_with(|| if !buffer.contains(&b'\n') && buffer.contains(&b'\r') { b'\r' } else { b'\n' });
        let found = buffer.iter().position(|&byte| byte == end);
        let passed = found.map_or(buffer.len(), |at| at + 1);
        lines += u64::from(found.is_some());
        in_line = found.is_none() && (in_line || passed > 0);
        if passed == 0 {
            break;
        }
        stream.consume(passed);
        bytes += passed as u64;
    }
    if count > 0 && stream.fill_buf().map_err(|why| input.io(why))?.is_empty() {
        let there = lines + u64::from(in_line);
        return Err(input.malformed(format!("{count} lines to pass over"), format!("the file has {there}, and none is left")));
    }
    Ok(bytes)
}
