//! A text file with its detected dialect, column names and start of data.

use std::collections::BTreeMap;
use std::io::{BufRead, Chain, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::dialect::{Dialect, Hints};
use super::header::HeaderLayout;
use super::notation::Notation;
use super::records::Records;
use super::{header, notation};
use crate::formats::cell::{self, Cell};
use crate::formats::vector_cell::{self, CellContent, VectorColumn, VectorDetector};
use crate::formats::{Input, LongDecimal, Result, SheetColumn, known_extensions, unpacked};

/// Bytes sampled to detect the delimiter and the header.
const SAMPLE: u64 = 1 << 18;

/// Memory per column, with its name and look-up entries.
const COLUMN: usize = 3 * size_of::<SheetColumn>();

/// An iterator over the data records of a text.
pub(super) struct TextRecords<R> {
    records: Records<R>,
    dialect: Dialect,
    /// Byte offset in the text at which `records` begins.
    base: u64,
    /// Byte offset in the file at which the text begins; `None` inside gzip.
    text_start: Option<u64>,
    /// For display: the delimiter, header and gzip.
    pub format: String,
    /// The columns of the text.
    pub columns: Vec<SheetColumn>,
    /// Text columns that contain vectors. The columns of their elements are appended to the text's columns.
    pub vectors: Vec<VectorColumn>,
    /// Columns with text at the beginning, ascending.
    pub texts: Vec<usize>,
    /// Content that is not data, one sentence each.
    pub skipped: Vec<String>,
    /// A note about a first line that is not part of the table.
    pub note: Option<String>,
    /// Number of data records so far, including the current one.
    pub rows: u64,
    /// The number of records declared by the first line.
    promised: Option<u64>,
    /// Whether the first line declared a count. Each further scan in the file may then begin with a count,
    /// too.
    counted: bool,
    /// Whether a record may have blank fields after its columns.
    trailing: bool,
    /// Whether the current record has not been delivered yet.
    pending: bool,
}

type Stream<'a> = Chain<Cursor<Vec<u8>>, Box<dyn BufRead + 'a>>;

impl<'a> TextRecords<Stream<'a>> {
    /// Detects the dialect and stops before the first data record.
    pub fn open(input: &Input<'a>) -> Result<Self> {
        let (mut stream, gzip, before) = unpacked::text_after(input)?;
        let mut sample = unpacked::beginning(&mut stream, SAMPLE, input)?;
        check_encoding(&sample, input)?;
        if sample.trim_ascii().is_empty() {
            return Err(input.malformed("nothing to read", "the file contains only white space"));
        }
        if is_grid(&sample) {
            return Err(input.unsupported(
                "Esri ASCII grids are not supported",
                "convert it to points, for instance with gdal_translate -of XYZ",
            ));
        }
        let name = input.path.to_string_lossy().to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let hints = Hints { tabs: name.ends_with(".tsv"), counted: name.ends_with(".pts") };
        let whole = (sample.len() as u64) < SAMPLE;
        let mut dialect = Dialect::detect(&sample, whole, hints);
        if let Some(at) = dialect.unclear {
            let line = input.skipped
                + 1
                + sample[..at].iter().filter(|&&byte| byte == dialect.line_end).count() as u64;
            let text = sample[at..].split(|&byte| byte == dialect.line_end).next().unwrap_or_default();
            let why = "commas may be within numbers or between them; write decimal points and no other \
                       marks, or separate the numbers by semicolons";
            return Err(input.malformed(format!("line {line}, `{}`", cell::excerpt(text)), why));
        }
        sample.drain(..dialect.preamble);
        if !whole {
            // Complete the last record of the sample, which may be the first if the header is long.
            input.read_line(&mut *stream, dialect.line_end, &mut sample)?;
        }
        let base = dialect.preamble as u64;
        dialect.notations = notation::detect(&sample, &dialect, input)?;
        let summary =
            !dialect.counted && header::is_summary(Records::new(&sample[..], &dialect), &dialect, input)?;
        let mut heading = if summary {
            HeaderLayout::default()
        } else {
            header::detect(Records::new(&sample[..], &dialect), &dialect, input)?
        };
        let passed = usize::from(heading.named || summary || dialect.counted) + usize::from(heading.units);
        let (detectors, begins) = vectors(Records::new(&sample[..], &dialect), &dialect, passed, input)?;
        if begins {
            // Row names are not vectors.
            heading = HeaderLayout::default();
        }
        let header = heading.named;
        let mut records = Records::new(Cursor::new(sample).chain(stream), &dialect);

        let mut skipped = Vec::new();
        if input.skipped > 0 {
            skipped.push(format!("lines skipped before the table: {}", input.skipped));
        }
        let mut found = records.advance(input)?;
        let mut promised = None;
        if found && dialect.counted {
            let count = cell::text(records.field(0));
            skipped.push(format!("the first line, `{count}`, was not read: it counts the rows"));
            promised = Some(count.parse().unwrap_or(u64::MAX));
            found = records.advance(input)?;
        }
        let mut first_line = None;
        if found && summary {
            let note = format!(
                "the first line, `{}`, was not read: it counts rows and columns, and names classes",
                records.excerpt()
            );
            skipped.push(note.clone());
            first_line = Some(note);
            found = records.advance(input)?;
        }
        match promised {
            Some(0) if !found => {
                return Err(input.malformed("nothing to read", "the first line declares 0 rows"));
            }
            Some(promised) if !found => return Err(input.miscounted("rows", 0, promised)),
            _ => {}
        }
        if !found {
            return Err(input.malformed("nothing to read", "the file contains only comments"));
        }
        if records.is_unclosed() {
            return Err(input.malformed("the first record", "unclosed quote"));
        }
        let width = if heading.width == 0 { records.len() } else { heading.width };
        let names = || {
            let first = (0..records.len()).map(|at| cell::name(records.field(at)));
            heading.row_names.then(String::new).into_iter().chain(first).take(width).collect()
        };
        if header {
            let numbers = (0..records.len())
                .filter(|&at| matches!(Cell::parse(records.field(at)), Cell::Number(_)))
                .count();
            if heading.note.is_none() && numbers > 0 {
                let which = if numbers == records.len() { "its names are" } else { "some of its names are" };
                skipped.push(format!("the first line was taken as a header, though {which} numbers"));
            }
            if !heading.row_names && width > 1 && records.field(0).trim_ascii().is_empty() {
                skipped.push(
                    "the first column has no name and is called d0; if it only numbers the rows, choose the \
                     others with --columns"
                        .to_owned(),
                );
            }
        }
        if let Some(note) = heading.note {
            skipped.push(note.clone());
            first_line = Some(note);
        }
        let end = Path::new(name).extension().unwrap_or_default().to_string_lossy();
        let numbers = !header && (0..width).all(|at| dialect.cell(at, records.field(at)) != Cell::Text);
        let usual = || if numbers { usual_names(&end, width) } else { None };
        input.claim((width * COLUMN) as u64, "the columns")?;
        let mut columns =
            named(if header { Some(names()) } else { dialect.commented_names(width).or_else(usual) }, width);
        columns.iter_mut().take(usize::from(heading.row_names)).for_each(|column| column.attribute = true);
        if heading.units && records.advance(input)? {
            skipped.push(format!(
                "the line under the header, `{}`, was not read: it holds units",
                records.excerpt()
            ));
        }
        let header_name = if header { "header" } else { "no header" };
        let format =
            format!("delimited text, {}, {header_name}{}", dialect.name(), if gzip { ", gzip" } else { "" });
        let vectors = detectors
            .iter()
            .filter_map(|(&at, detector)| detector.vector(at, &columns.get(at)?.name, None))
            .collect();
        let text_start = (!gzip).then_some(before);
        Ok(Self {
            records,
            dialect,
            base,
            text_start,
            format,
            columns,
            vectors,
            texts: detectors.into_keys().collect(),
            skipped,
            note: first_line,
            rows: 0,
            promised,
            counted: promised.is_some(),
            trailing: heading.trailing,
            pending: !header,
        })
    }

    /// Seeks to a record at a byte offset previously returned by [`Self::start`].
    pub fn go_to(&mut self, record: u64, byte: u64, input: &Input<'a>) -> Result<()> {
        let mut file = input.open()?;
        file.seek(SeekFrom::Start(byte)).map_err(|why| input.io(why))?;
        let stream: Box<dyn BufRead + 'a> = Box::new(file);
        self.records.restart(Cursor::new(Vec::new()).chain(stream), &self.dialect);
        (self.rows, self.pending, self.base) = (record, false, byte - self.text_start.unwrap_or(0));
        // The end of the current scan is unknown here.
        self.promised = None;
        Ok(())
    }
}

impl<R: BufRead> TextRecords<R> {
    /// Advances to the next data record; false at the end.
    ///
    /// # Errors
    /// [`FormatError::Malformed`] for a record with a different number of fields, and at the end if the
    /// number of records differs from the declared one.
    pub fn advance(&mut self, input: &Input<'_>) -> Result<bool> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.records.advance(input)? {
                return match self.promised.filter(|&promised| promised != self.rows) {
                    Some(promised) => Err(input.miscounted("rows", self.rows, promised)),
                    None => Ok(false),
                };
            }
            if self.records.is_unclosed() {
                let what = self.place(input)?;
                return Err(input.malformed(what, "unclosed quote"));
            }
            if self.next_scan() {
                continue;
            }
            let (fields, columns) = (self.records.len(), self.columns.len());
            if fields == columns
                || self.trailing
                    && fields > columns
                    && (columns..fields).all(|at| self.field(at).trim_ascii().is_empty())
            {
                self.rows += 1;
                return Ok(true);
            }
            if !self.records.is_blank() {
                let what = self.place(input)?;
                // Lines of prose differ in their number of words and contain no numbers.
                let is_prose = self.rows <= 1 && (0..fields).all(|at| self.cell(at) == Cell::Text);
                let hint = if is_prose { "; the file does not look like a table" } else { "" };
                return Err(input.malformed(what, format!("expected {columns} fields, found {fields}{hint}")));
            }
        }
    }

    /// Whether the current record is the row count of another scan.
    fn next_scan(&mut self) -> bool {
        let due = self.promised.map_or(self.counted, |promised| promised == self.rows);
        if !due || self.records.len() != 1 || self.columns.len() == 1 {
            return false;
        }
        let count: Option<u64> =
            std::str::from_utf8(self.records.field(0)).ok().and_then(|count| count.trim().parse().ok());
        if let (Some(promised), Some(count)) = (&mut self.promised, count) {
            *promised = promised.saturating_add(count);
        }
        count.is_some()
    }

    /// A field of the current record.
    pub fn field(&self, at: usize) -> &[u8] {
        self.records.field(at)
    }

    /// Parses a field of the current record.
    pub fn cell(&self, at: usize) -> Cell {
        self.dialect.cell(at, self.field(at))
    }

    /// The decimal of a field that is read as `value`, unless it is the shortest one with this f64.
    pub fn long_decimal(&self, at: usize, value: f64) -> Option<LongDecimal> {
        if !LongDecimal::is_possible(self.field(at), value) {
            return None;
        }
        LongDecimal::parse(&self.dialect.plain(at, self.field(at))?, value, (self.rows - 1, at))
    }

    /// Whether a column holds numbers in a notation that is contradictory or ambiguous.
    pub fn is_doubtful(&self, at: usize) -> bool {
        self.dialect.notations.get(at) == Some(&Notation::Doubtful)
    }

    /// Byte offset of the current record in the file; `None` inside gzip.
    pub fn start(&self) -> Option<u64> {
        Some(self.text_start? + self.base + self.records.start())
    }

    /// Location of the current record for errors.
    fn place(&self, input: &Input<'_>) -> Result<String> {
        Ok(format!("line {}, record {}", self.line(input)?, self.rows))
    }

    /// The 1-based line of the current record, found by reading the text again.
    pub fn line(&self, input: &Input<'_>) -> Result<u64> {
        line_of(self.base + self.records.start(), &self.dialect, input)
    }
}

/// The vectors in the text columns of a sample after `passed` records, and whether the skipped records
/// contain vectors.
fn vectors(
    mut records: Records<impl BufRead>,
    dialect: &Dialect,
    mut passed: usize,
    input: &Input<'_>,
) -> Result<(BTreeMap<usize, VectorDetector>, bool)> {
    let (mut found, mut numbers, mut width, mut above) =
        (BTreeMap::<usize, VectorDetector>::new(), Vec::new(), None, Vec::new());
    while records.advance(input)? && !records.is_unclosed() {
        let first = passed > 0;
        passed = passed.saturating_sub(1);
        if !first && *width.get_or_insert(records.len()) != records.len() {
            continue;
        }
        // Hexadecimal digits may look like a number.
        let may = |at: usize, field: &[u8]| {
            dialect.cell(at, field) == Cell::Text
                || field.len() >= 42 && field.iter().all(u8::is_ascii_hexdigit)
        };
        for at in (0..records.len()).filter(|&at| may(at, records.field(at))) {
            let content = vector_cell::parse(records.field(at), false, &mut numbers);
            match content {
                CellContent::Point(_) | CellContent::List(Some(_)) if first => above.push(at),
                _ if first => {}
                content => found.entry(at).or_default().add(content, &numbers),
            }
        }
    }
    let begins = above.iter().any(|at| found.get(at).is_some_and(|detector| detector.vectors > 0));
    Ok((found, begins))
}

/// Whether a text begins like an Esri grid, which stores heights but no coordinates.
fn is_grid(sample: &[u8]) -> bool {
    let mut words = cell::words(sample).map(<[u8]>::to_ascii_lowercase);
    words.next().as_deref() == Some(b"ncols")
        && words.next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        && words.next().as_deref() == Some(b"nrows")
}

/// Rejects texts with NUL bytes, which indicate UTF-16.
fn check_encoding(sample: &[u8], input: &Input<'_>) -> Result<()> {
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") {
        return Err(input.unsupported("UTF-16 text is not supported", "save it as UTF-8"));
    }
    if sample.contains(&0) {
        return Err(
            input.malformed("not text", format!("the file contains NUL bytes; {}", known_extensions()))
        );
    }
    Ok(())
}

/// Names unnamed columns: like [`crate::Column::unnamed`] if all are unnamed, otherwise by index.
fn named(names: Option<Vec<String>>, width: usize) -> Vec<SheetColumn> {
    match names {
        None => SheetColumn::unnamed(width),
        Some(names) => {
            let name = |(at, name): (usize, String)| {
                SheetColumn::numeric(if name.is_empty() { format!("d{at}") } else { name })
            };
            names.into_iter().enumerate().map(name).collect()
        }
    }
}

/// Conventional names of scanner columns, which begin with x, y and z. Only `.pts` has a convention for the
/// rest.
fn usual_names(extension: &str, width: usize) -> Option<Vec<String>> {
    let rest: &[&str] = match (extension, width) {
        ("pts", 4) => &["intensity"],
        ("pts", 6) => &["red", "green", "blue"],
        ("pts", 7) => &["intensity", "red", "green", "blue"],
        ("pts" | "xyz" | "asc", 4..) => &[],
        _ => return None,
    };
    let name = |at: usize| {
        ["x", "y", "z"]
            .get(at)
            .or_else(|| rest.get(at.wrapping_sub(3)))
            .map_or_else(|| format!("d{at}"), |&name| name.to_owned())
    };
    Some((0..width).map(name).collect())
}

/// The 1-based line of the record at a byte offset, or after it if blank lines and comments precede the
/// record.
///
/// With two-byte line ends, the reader reports the offset of the second byte, so find the line with content
/// after that offset.
fn line_of(start: u64, dialect: &Dialect, input: &Input<'_>) -> Result<u64> {
    let (mut stream, _) = unpacked::text(input)?;
    let mut before = 0;
    let mut line = input.skipped;
    let mut text = Vec::new();
    loop {
        text.clear();
        let count = input.read_line(&mut *stream, dialect.line_end, &mut text)?;
        line += 1;
        let content = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
        let comment = text.starts_with(b"#") || dialect.mark.is_some_and(|mark| text.starts_with(mark));
        if count == 0 || content > 0 && before + content as u64 > start && !comment {
            return Ok(line);
        }
        before += count as u64;
    }
}
