//! Delimited text: `.csv`, `.tsv`, `.txt`, columns between spaces; also inside gzip.
//!
//! A record is a line, or several where a quoted field holds line ends. Blank lines and lines that begin with `#` are no
//! records. A column holds numbers when every field that is not empty (nor NA, NaN, null, none) parses as one.

mod dialect;
mod header;
mod records;

use std::io::{BufRead, Chain, Cursor, Read};

use dialect::Dialect;
use records::Records;

use super::cell::{self, Cell};
use super::input::Input;
use super::sheet::{ColumnKind, Sheet, SheetColumn, Want, gather, no_memory};
use super::{FormatError, unpacked};

/// How much is looked at to find the delimiter and the header.
const SAMPLE: u64 = 1 << 18;
/// More columns than anybody searches in; each takes memory of its own.
const MAX_COLUMNS: usize = 1 << 20;
/// After so many records, columns that turned out as text no longer take memory.
const SETTLED: u64 = 1024;

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    read_records(Text::open(input)?, input, want)
}

/// The 1-based line on which a record begins.
pub(super) fn line_of_record(input: &Input<'_>, record: u64) -> Result<u64, FormatError> {
    let Text { mut records, dialect, header, .. } = Text::open(input)?;
    let io = |why| input.io(why);
    records.advance().map_err(io)?;
    if dialect.counted {
        records.advance().map_err(io)?;
    }
    let width = records.len();
    let mut left = record + u64::from(header);
    while left > 0 && records.advance().map_err(io)? {
        // A line of blanks is a record to the splitter, and none to the reader.
        left -= u64::from(records.len() == width);
    }
    line_of(records.start(), dialect.line_end, input)
}

/// A text that was looked at.
struct Text<R> {
    records: Records<R>,
    dialect: Dialect,
    header: bool,
    gzip: bool,
}

impl<'a> Text<Chain<Cursor<Vec<u8>>, Box<dyn BufRead + 'a>>> {
    fn open(input: &Input<'a>) -> Result<Self, FormatError> {
        let (mut stream, gzip) = unpacked::text(input)?;
        let mut sample = Vec::new();
        stream.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(|why| input.io(why))?;
        check_encoding(&sample, input)?;
        if sample.trim_ascii().is_empty() {
            return Err(input.malformed("nothing to read", "the file is blank"));
        }
        let name = input.path().to_string_lossy().to_lowercase();
        let tabs = name.strip_suffix(".gz").unwrap_or(&name).ends_with(".tsv");
        let dialect = Dialect::detect(&sample, (sample.len() as u64) < SAMPLE, tabs);
        let header = header::detect(Records::new(&sample[..], &dialect), &dialect).map_err(|why| input.io(why))?;
        Ok(Self { records: Records::new(Cursor::new(sample).chain(stream), &dialect), dialect, header, gzip })
    }
}

/// Text is bytes without NUL; UTF-16 is full of them.
fn check_encoding(sample: &[u8], input: &Input<'_>) -> Result<(), FormatError> {
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") {
        return Err(input.unsupported("UTF-16 text is not read", "save it as UTF-8"));
    }
    if sample.contains(&0) {
        return Err(input.malformed("not text", format!("there are NUL bytes in it; {}", super::known_extensions())));
    }
    Ok(())
}

fn read_records(text: Text<impl BufRead>, input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let Text { mut records, dialect, header, gzip } = text;
    let mut skipped = Vec::new();
    let mut found = records.advance().map_err(|why| input.io(why))?;
    if found && dialect.counted {
        skipped.push(format!("the first line, `{}`, was not read: it counts the rows", cell::text(records.field(0))));
        found = records.advance().map_err(|why| input.io(why))?;
    }
    if !found {
        return Err(input.malformed("nothing to read", "there are only comments"));
    }
    let width = records.len();
    if width > MAX_COLUMNS {
        return Err(input.unsupported(format!("{width} columns"), format!("the most that are read are {MAX_COLUMNS}; is the table transposed?")));
    }
    let names = || (0..width).map(|at| cell::text(records.field(at))).collect();
    if header && (0..width).any(|at| matches!(Cell::parse(records.field(at)), Cell::Number(_))) {
        skipped.push("the first line was taken as a header, though some of its names are numbers".to_owned());
    }
    let mut columns = named(if header { Some(names()) } else { dialect.commented_names(width) }, width);
    let mut kept = want.resolve(&columns, input)?;
    let mut filled = vec![false; width];
    let mut values: Vec<f64> = Vec::new();
    let mut rows = 0u64;
    let mut more = !header || records.advance().map_err(|why| input.io(why))?;
    while more {
        if records.len() == width {
            if values.capacity() - values.len() < kept.len() {
                input.reserve(&mut values, kept.len())?;
            }
            for &at in &kept {
                let column = &mut columns[at];
                let cell = if column.kind == ColumnKind::Text { Cell::Missing } else { Cell::parse(records.field(at)) };
                values.push(match cell {
                    Cell::Number(number) => {
                        filled[at] = true;
                        number
                    }
                    Cell::Missing => f64::NAN,
                    Cell::Text => {
                        column.kind = ColumnKind::Text;
                        column.mixed = filled[at];
                        column.example = Some((rows, cell::text(records.field(at)).chars().take(40).collect()));
                        f64::NAN
                    }
                });
            }
            rows += 1;
            if rows == SETTLED {
                values = drop_text(values, &mut kept, &columns).map_err(|count| no_memory(count, input.path().to_owned()))?;
            }
        } else if !records.is_blank() {
            let what = format!("line {}, record {rows}", line_of(records.start(), dialect.line_end, input)?);
            return Err(input.malformed(what, format!("fields: {} where there should be {width}", records.len())));
        }
        more = records.advance().map_err(|why| input.io(why))?;
    }
    values = drop_text(values, &mut kept, &columns).map_err(|count| no_memory(count, input.path().to_owned()))?;
    for &at in &kept {
        // A table without records still has its columns.
        if rows > 0 && !filled[at] {
            columns[at].kind = ColumnKind::Empty;
        }
    }
    let format = format!("delimited text, {}, {}{}", dialect.name(), if header { "header" } else { "no header" }, if gzip { ", gzip" } else { "" });
    Ok(Sheet { path: input.path().to_owned(), format, columns, kept, rows, values, skipped })
}

/// Names what has no name: all columns as [`crate::cloud::Column::unnamed`] does, single ones by their index.
fn named(names: Option<Vec<String>>, width: usize) -> Vec<SheetColumn> {
    match names {
        None => SheetColumn::unnamed(width),
        Some(names) => {
            let name = |(at, name): (usize, String)| {
                // CloudCompare writes its header as a comment of its own kind.
                let name = if at == 0 { name.trim_start_matches('/').trim_start().to_owned() } else { name };
                SheetColumn::numeric(if name.is_empty() { format!("d{at}") } else { name })
            };
            names.into_iter().enumerate().map(name).collect()
        }
    }
}

fn drop_text(values: Vec<f64>, kept: &mut Vec<usize>, columns: &[SheetColumn]) -> Result<Vec<f64>, u64> {
    let places: Vec<usize> = (0..kept.len()).filter(|&place| columns[kept[place]].kind != ColumnKind::Text).collect();
    let values = gather(values, kept.len(), &places)?;
    *kept = places.into_iter().map(|place| kept[place]).collect();
    Ok(values)
}

/// The 1-based line of the record that begins at or, with blank lines and comments between, after a byte of the text.
fn line_of(start: u64, line_end: u8, input: &Input<'_>) -> Result<u64, FormatError> {
    let (mut stream, _) = unpacked::text(input)?;
    let mut before = 0;
    let mut line = 0;
    let mut text = Vec::new();
    loop {
        text.clear();
        let count = stream.read_until(line_end, &mut text).map_err(|why| input.io(why))?;
        line += 1;
        before += count as u64;
        let skipped = text.trim_ascii().is_empty() || text.starts_with(b"#");
        if count == 0 || before > start && !skipped {
            return Ok(line);
        }
    }
}
