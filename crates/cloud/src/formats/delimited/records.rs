//! Splits text into records and fields.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use csv_core::ReadRecordResult;

use super::dialect::{Dialect, Separator};
use crate::formats::limits::{MAX_COLUMNS, MAX_LINE};
use crate::formats::{FormatError, Input, Result, cell};

/// An iterator over the records of a text.
pub(super) enum Records<R> {
    Quoted(Box<QuotedRecords<R>>),
    Spaced {
        reader: R,
        line_end: u8,
        mark: Option<&'static [u8]>,
        line: Vec<u8>,
        fields: Vec<Range<usize>>,
        start: u64,
        next: u64,
    },
}

/// Records whose fields may be quoted.
pub(super) struct QuotedRecords<R> {
    reader: BufReader<LineFeedReader<R>>,
    parser: csv_core::Reader,
    /// An additional comment mark besides `#`, which the parser skips.
    mark: Option<&'static [u8]>,
    /// The unquoted fields of the current record, concatenated, and the end of each. Both vectors are longer
    /// than their used part.
    fields: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
    /// Byte offsets of the current record and of the next.
    start: u64,
    next: u64,
    ended: bool,
    /// Whether the parser has received the final line end.
    closed: bool,
    /// Whether the text ended within the quotes of the current record.
    unclosed: bool,
}

impl<R: BufRead> QuotedRecords<R> {
    fn advance(&mut self, input: &Input<'_>) -> Result<bool> {
        let mut length = 0;
        (self.count, self.start) = (0, self.next);
        while !self.ended {
            let at_end = match self.reader.fill_buf() {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes.map_err(|why| input.io(why))?.is_empty(),
            };
            // The last line may lack its line end. Inside open quotes, a line end belongs to the field.
            let closing = at_end && !self.closed;
            let bytes = if closing { b"\n" } else { self.reader.buffer() };
            let (result, read, written, ends) =
                self.parser.read_record(bytes, &mut self.fields[length..], &mut self.ends[self.count..]);
            if closing {
                self.closed = read > 0;
                if written > 0 {
                    (self.unclosed, self.ended) = (true, true);
                    return Ok(true);
                }
            } else {
                self.reader.consume(read);
                self.next += read as u64;
            }
            length += written;
            self.count += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if length as u64 >= MAX_LINE => {
                    return Err(input.too_long("a record"));
                }
                ReadRecordResult::OutputFull => grow(&mut self.fields, "a record of text", input)?,
                ReadRecordResult::OutputEndsFull if self.count > MAX_COLUMNS => return Err(too_wide(input)),
                ReadRecordResult::OutputEndsFull => grow(&mut self.ends, "the fields of a record", input)?,
                ReadRecordResult::Record if self.count > MAX_COLUMNS => return Err(too_wide(input)),
                ReadRecordResult::Record
                    if self.mark.is_some_and(|mark| self.fields[..self.ends[0]].starts_with(mark)) =>
                {
                    (length, self.count, self.start) = (0, 0, self.next);
                }
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => self.ended = true,
            }
        }
        Ok(false)
    }
}

/// Grows a buffer by half.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, what: &str, input: &Input<'_>) -> Result<()> {
    let more = (buffer.len() / 2).max(256);
    input.reserve_for(buffer, more, what)?;
    buffer.resize(buffer.len() + more, T::default());
    Ok(())
}

/// The error for a record of more than [`MAX_COLUMNS`] fields.
fn too_wide(input: &Input<'_>) -> FormatError {
    input.unsupported(format!("more than {MAX_COLUMNS} columns"), "not supported; is the table transposed?")
}

impl<R: BufRead> Records<R> {
    pub fn new(reader: R, dialect: &Dialect) -> Self {
        let Dialect { line_end, mark, .. } = *dialect;
        match dialect.separator {
            Separator::Byte(delimiter) => Self::Quoted(Box::new(QuotedRecords {
                reader: BufReader::with_capacity(
                    1 << 17,
                    LineFeedReader { reader, by_return: line_end == b'\r' },
                ),
                parser: csv_core::ReaderBuilder::new().delimiter(delimiter).comment(Some(b'#')).build(),
                mark,
                fields: Vec::new(),
                ends: Vec::new(),
                count: 0,
                start: 0,
                next: 0,
                ended: false,
                closed: false,
                unclosed: false,
            })),
            Separator::Spaces => Self::Spaced {
                reader,
                line_end,
                mark,
                line: Vec::new(),
                fields: Vec::new(),
                start: 0,
                next: 0,
            },
        }
    }

    /// Restarts with another text, keeping the buffers and their claims.
    pub fn restart(&mut self, reader: R, dialect: &Dialect) {
        let before = std::mem::replace(self, Self::new(reader, dialect));
        match (self, before) {
            (Self::Quoted(now), Self::Quoted(before)) => {
                (now.fields, now.ends) = (before.fields, before.ends)
            }
            (
                Self::Spaced { line, fields, .. },
                Self::Spaced { line: line_before, fields: fields_before, .. },
            ) => {
                (*line, *fields) = (line_before, fields_before);
            }
            _ => {}
        }
    }

    /// Advances to the next record; false at the end.
    ///
    /// # Errors
    /// [`FormatError::Unsupported`] for a record of more than [`MAX_LINE`] bytes or [`MAX_COLUMNS`] fields;
    /// I/O errors, and those of [`Input::claim`].
    pub fn advance(&mut self, input: &Input<'_>) -> Result<bool> {
        match self {
            Self::Quoted(quoted) => quoted.advance(input),
            Self::Spaced { reader, line_end, mark, line, fields, start, next } => loop {
                line.clear();
                *start = *next;
                *next += input.read_line(reader, *line_end, line)? as u64;
                if *start == *next {
                    return Ok(false);
                }
                if line.starts_with(b"#") || mark.is_some_and(|mark| line.starts_with(mark)) {
                    continue;
                }
                // A field has at least two bytes, including the space that ends it.
                input.reserve_for(
                    fields,
                    (line.len() / 2 + 1).min(MAX_COLUMNS + 1).saturating_sub(fields.len()),
                    "the fields of a record",
                )?;
                split_spaces(line, fields);
                if fields.len() > MAX_COLUMNS {
                    return Err(too_wide(input));
                }
                if !fields.is_empty() {
                    return Ok(true);
                }
            },
        }
    }

    /// Number of fields in the current record.
    pub fn len(&self) -> usize {
        match self {
            Self::Quoted(quoted) => quoted.count,
            Self::Spaced { fields, .. } => fields.len(),
        }
    }

    /// A field of the current record, without its quotes.
    pub fn field(&self, at: usize) -> &[u8] {
        match self {
            Self::Quoted(quoted) => {
                let ends = &quoted.ends[..quoted.count];
                &quoted.fields[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]]
            }
            Self::Spaced { line, fields, .. } => &line[fields[at].clone()],
        }
    }

    /// The beginning of the current record, for messages.
    pub fn excerpt(&self) -> String {
        let fields: Vec<String> = (0..self.len()).map(|at| cell::text(self.field(at))).collect();
        cell::excerpt(fields.join(",").as_bytes())
    }

    /// Whether the text ended within the quotes of the record.
    pub fn is_unclosed(&self) -> bool {
        matches!(self, Self::Quoted(quoted) if quoted.unclosed)
    }

    /// Whether the record is a blank line.
    pub fn is_blank(&self) -> bool {
        self.len() == 1 && self.field(0).trim_ascii().is_empty()
    }

    /// Byte offset of the record, or of blank and comment lines skipped before it.
    pub fn start(&self) -> u64 {
        match self {
            Self::Quoted(quoted) => quoted.start,
            Self::Spaced { start, .. } => *start,
        }
    }
}

/// Converts carriage returns to line feeds. The csv reader ends a comment only at a line feed, so in a text
/// with only carriage returns it would swallow the rest.
pub(super) struct LineFeedReader<R> {
    reader: R,
    by_return: bool,
}

impl<R: Read> Read for LineFeedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if self.by_return {
            buffer[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(count)
    }
}

/// Splits a line at runs of white space, except inside quotes. Stops after more than [`MAX_COLUMNS`] fields.
fn split_spaces(line: &[u8], fields: &mut Vec<Range<usize>>) {
    fields.clear();
    let mut at = 0;
    while at < line.len() && fields.len() <= MAX_COLUMNS {
        if line[at].is_ascii_whitespace() {
            at += 1;
        } else if let Some(length) =
            (line[at] == b'"').then(|| line[at + 1..].iter().position(|&byte| byte == b'"')).flatten()
        {
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
    use super::super::super::tests::with_input;
    use super::super::dialect::Hints;
    use super::*;

    #[test]
    fn spaces_separate_fields_except_within_quotes() {
        let line = b"  a\t12  \"b c\" \"open d\r\n";
        let mut fields = Vec::new();
        split_spaces(line, &mut fields);
        let fields: Vec<&[u8]> = fields.into_iter().map(|range| &line[range]).collect();
        assert_eq!(fields, [&b"a"[..], b"12", b"b c", b"\"open", b"d"]);
    }
    #[test]
    fn restarting_a_reader_does_not_claim_more_memory() {
        let line = [&b"1"[..]; 3000].join(&b' ');
        for separator in [Separator::Byte(b' '), Separator::Spaces] {
            with_input(1 << 17, |input| {
                let mut dialect = Dialect::detect(&line, true, Hints::default());
                dialect.separator = separator;
                let mut records = Records::new(&line[..], &dialect);
                for _ in 0..100 {
                    assert!(records.advance(input).unwrap() && records.len() == 3000 && records.start() == 0);
                    records.restart(&line[..], &dialect);
                }
            });
        }
    }
}
