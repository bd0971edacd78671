//! Splits text into records and fields.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use super::dialect::{Dialect, Separator};

/// An iterator over the records of a text.
pub(super) enum Records<R> {
    Quoted { reader: csv::Reader<Ended<R>>, record: csv::ByteRecord },
    Spaced { reader: R, line_end: u8, line: Vec<u8>, fields: Vec<Range<usize>>, start: u64, next: u64 },
}

impl<R: BufRead> Records<R> {
    pub fn new(reader: R, dialect: &Dialect) -> Self {
        match dialect.separator {
            Separator::Byte(delimiter) => Self::Quoted {
                reader: csv::ReaderBuilder::new()
                    .delimiter(delimiter)
                    .comment(Some(b'#'))
                    .has_headers(false)
                    // The caller compares record lengths and can give a better error.
                    .flexible(true)
                    .buffer_capacity(1 << 17)
                    .from_reader(Ended { reader, by_return: dialect.line_end == b'\r' }),
                record: csv::ByteRecord::new(),
            },
            Separator::Spaces => Self::Spaced { reader, line_end: dialect.line_end, line: Vec::new(), fields: Vec::new(), start: 0, next: 0 },
        }
    }

    /// Advances to the next record; false at the end.
    pub fn advance(&mut self) -> io::Result<bool> {
        match self {
            Self::Quoted { reader, record } => reader.read_byte_record(record).map_err(|why| match why.into_kind() {
                // Passed on unchanged, with its error kind.
                csv::ErrorKind::Io(why) => why,
                why => io::Error::other(format!("{why:?}")),
            }),
            Self::Spaced { reader, line_end, line, fields, start, next } => loop {
                line.clear();
                *start = *next;
                *next += reader.read_until(*line_end, line)? as u64;
                if *start == *next {
                    return Ok(false);
                }
                split_spaces(line, fields);
                if !fields.is_empty() && !line.starts_with(b"#") {
                    return Ok(true);
                }
            },
        }
    }

    /// Number of fields in the current record.
    pub fn len(&self) -> usize {
        match self {
            Self::Quoted { record, .. } => record.len(),
            Self::Spaced { fields, .. } => fields.len(),
        }
    }

    /// A field of the current record, without its quotes.
    pub fn field(&self, at: usize) -> &[u8] {
        match self {
            Self::Quoted { record, .. } => &record[at],
            Self::Spaced { line, fields, .. } => &line[fields[at].clone()],
        }
    }

    /// Whether the record is a blank line.
    pub fn is_blank(&self) -> bool {
        self.len() == 1 && self.field(0).trim_ascii().is_empty()
    }

    /// Byte offset of the record, or of blank and comment lines skipped before it.
    pub fn start(&self) -> u64 {
        match self {
            Self::Quoted { record, .. } => record.position().map_or(0, csv::Position::byte),
            Self::Spaced { start, .. } => *start,
        }
    }
}

/// Converts carriage returns to line feeds. The csv reader ends a comment only at a line feed, so in a text with only
/// carriage returns it would swallow the rest.
pub(super) struct Ended<R> {
    reader: R,
    by_return: bool,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if self.by_return {
            buffer[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(count)
    }
}

/// Splits a line at runs of white space; quotes protect white space.
fn split_spaces(line: &[u8], fields: &mut Vec<Range<usize>>) {
    fields.clear();
    let mut at = 0;
    while at < line.len() {
        if line[at].is_ascii_whitespace() {
            at += 1;
        } else if let Some(length) = (line[at] == b'"').then(|| line[at + 1..].iter().position(|&byte| byte == b'"')).flatten() {
            fields.push(at + 1..at + 1 + length);
            at += length + 2;
        } else {
            let length = line[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(line.len() - at);
            fields.push(at..at + length);
            at += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_and_quotes_hold() {
        let line = b"  a\t12  \"b c\" \"open d\r\n";
        let mut fields = Vec::new();
        split_spaces(line, &mut fields);
        let fields: Vec<&[u8]> = fields.into_iter().map(|range| &line[range]).collect();
        assert_eq!(fields, [&b"a"[..], b"12", b"b c", b"\"open", b"d"]);
    }
}
