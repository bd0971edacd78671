//! The content of a file after removing gzip and a byte order mark.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::limits::DEFLATE;
use super::registry::GZIP;
use super::{Input, Result};

/// A byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The decompressed bytes of the file, and whether they were compressed. Reading fails at an implausible
/// compression ratio.
pub(super) fn bytes<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool)> {
    let mut file = input.open()?;
    let gzip = file.fill_buf().map_err(|why| input.io(why))?.starts_with(GZIP);
    Ok(if gzip {
        (
            Box::new(BufReader::with_capacity(
                1 << 17,
                BoundedReader::new(MultiGzDecoder::new(file), input.size),
            )),
            true,
        )
    } else {
        (Box::new(file), false)
    })
}

/// A text without its byte order mark.
pub(super) fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// At most `most` bytes from the start of a stream.
pub(super) fn beginning(stream: impl Read, most: u64, input: &Input<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most).read_to_end(&mut bytes).map_err(|why| input.io(why))?;
    Ok(bytes)
}

/// Like [`bytes`], without a byte order mark and skipped lines.
pub(super) fn text<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool)> {
    let (stream, gzip, _) = text_after(input)?;
    Ok((stream, gzip))
}

/// Like [`text`], with the number of bytes before it.
pub(super) fn text_after<'a>(input: &Input<'a>) -> Result<(Box<dyn BufRead + 'a>, bool, u64)> {
    let (mut stream, gzip) = bytes(input)?;
    let mut before = 0;
    if stream.fill_buf().map_err(|why| input.io(why))?.starts_with(MARK) {
        stream.consume(MARK.len());
        before = MARK.len() as u64;
    }
    before += pass_over(&mut *stream, input)?;
    Ok((stream, gzip, before))
}

/// Skips the first lines without holding them; returns their bytes.
fn pass_over(stream: &mut (impl BufRead + ?Sized), input: &Input<'_>) -> Result<u64> {
    let count = input.skipped;
    let (mut lines, mut bytes, mut end, mut in_line) = (0, 0, None, false);
    while lines < count {
        let buffer = stream.fill_buf().map_err(|why| input.io(why))?;
        // Old texts end lines with carriage returns only.
        let end = *end.get_or_insert_with(|| {
            if !buffer.contains(&b'\n') && buffer.contains(&b'\r') { b'\r' } else { b'\n' }
        });
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
        return Err(input.malformed(format!("skip-lines={count}"), format!("the file has only {there}")));
    }
    Ok(bytes)
}

// Limits decompressed text to the maximum compression ratio.

/// A reader that fails after a number of bytes.
struct BoundedReader<R> {
    inner: R,
    most: u64,
    done: u64,
}

impl<R> BoundedReader<R> {
    /// Limits the decompressed data of a file of `size` bytes.
    pub fn new(inner: R, size: u64) -> Self {
        Self { inner, most: size.saturating_mul(DEFLATE), done: 0 }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.done += count as u64;
        if self.done > self.most {
            let why = format!(
                "gzip unpacks to more than {} bytes, {DEFLATE} times its size, the maximum of deflate",
                self.most
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_stops_at_the_maximum_deflate_ratio() {
        let read = |length: u64, size| {
            io::copy(&mut BoundedReader::new(io::repeat(0).take(length), size), &mut io::sink())
        };
        assert_eq!(read(DEFLATE << 10, 1 << 10).unwrap(), DEFLATE << 10);
        assert!(
            read((DEFLATE << 10) + 1, 1 << 10)
                .unwrap_err()
                .to_string()
                .contains("unpacks to more than 1056768 bytes")
        );
    }
}
