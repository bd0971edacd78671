//! The content of a file after removing gzip and a byte order mark.

use std::io::{BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

use super::bounded::Bounded;
use super::input::Input;
use super::{FormatError, GZIP};

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

/// As [`bytes`], without a byte order mark.
pub(super) fn text<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool), FormatError> {
    let (mut stream, gzip) = bytes(input)?;
    if stream.fill_buf().map_err(|why| input.io(why))?.starts_with(b"\xef\xbb\xbf") {
        stream.consume(3);
    }
    Ok((stream, gzip))
}
