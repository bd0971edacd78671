//! Typed tables: Parquet and Arrow IPC (Feather 2), read one batch of rows at a time.
//!
//! Numbers are coordinates, nulls NaN. A column of lists of numbers (an embedding) becomes one column per
//! list element, as do points and vectors in texts; one such column is the cloud unless columns are selected
//! explicitly. Strings and dictionaries of strings are categories. Dates are numbers, but individual ones are
//! shown as dates.

mod ipc;
mod layout;
mod parquet;
mod values;

use std::ops::Range;

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};

use super::blocks::{BlockLayout, ReadRows, parts};
use super::columns::Cell;
use super::vector_cell::choose_vector;
use super::{
    CategoryBuilder, ColumnKind, ColumnRequest, DeclaredCoordinates, FormatError, Input, RecordPicker,
    Records, Result, Sheet, SheetColumn, cell, decoded, integer_cell, printable,
};
use crate::table::{Real, Values, with_values};
pub(super) use ipc::is_stream;
use layout::Layout;
pub use values::TimestampType;

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// All rows.
const ALL: &[Range<u64>] = &[Range { start: 0, end: u64::MAX }];

/// Handles a batch, given the number of its first row; returns false to stop.
type Each<'e> = dyn FnMut(u64, &RecordBatch) -> Result<bool> + 'e;

/// A file that delivers its columns in batches.
trait BatchReader {
    /// The schema of all columns.
    fn schema(&self) -> SchemaRef;
    /// The number of rows, and the format's name for display; known before reading.
    fn about(&self) -> (u64, String);
    /// Bytes of the largest row group or record batch, with the dictionaries that it needs.
    fn buffer(&self) -> u64;
    /// Reads the columns with these ascending indices in batches that have some of the given rows, which are
    /// ascending ranges.
    fn read(&self, columns: &[usize], rows: &[Range<u64>], each: &mut Each<'_>) -> Result<()>;
}

/// Opens a file.
type Open = for<'a, 'i> fn(&'a Input<'i>) -> Result<Box<dyn BatchReader + 'a>>;

fn open_parquet<'a>(input: &'a Input<'_>) -> Result<Box<dyn BatchReader + 'a>> {
    Ok(Box::new(parquet::File::open(input)?))
}

fn open_ipc<'a>(input: &'a Input<'_>) -> Result<Box<dyn BatchReader + 'a>> {
    Ok(Box::new(ipc::File::open(input)?))
}

pub(super) fn read_parquet(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    decoded("Parquet", input, || read(&*open_parquet(input)?, input, request))
}

pub(super) fn read_ipc(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    decoded("Arrow", input, || read(&*open_ipc(input)?, input, request))
}

/// The rows of a Parquet file.
pub(super) fn parquet_blocks(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Option<BlockLayout>> {
    blocks("Parquet", open_parquet, input, request).map(Some)
}

/// The rows of an Arrow file or stream.
pub(super) fn ipc_blocks(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Option<BlockLayout>> {
    blocks("Arrow", open_ipc, input, request).map(Some)
}

/// Reads all columns of some rows of a Parquet file.
pub(super) fn parquet_records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    decoded("Parquet", input, || read_records(&*open_parquet(input)?, input, wanted))
}

/// Reads all columns of some rows of an Arrow file or stream.
pub(super) fn ipc_records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    decoded("Arrow", input, || read_records(&*open_ipc(input)?, input, wanted))
}

/// A metadata value of a Parquet file's schema.
pub(super) fn parquet_attribute(input: &Input<'_>, name: &str) -> Result<Option<String>> {
    decoded("Parquet", input, || Ok(attribute(&*open_parquet(input)?, name)))
}

/// A metadata value of the schema of an Arrow file or stream.
pub(super) fn ipc_attribute(input: &Input<'_>, name: &str) -> Result<Option<String>> {
    decoded("Arrow", input, || Ok(attribute(&*open_ipc(input)?, name)))
}

fn attribute(file: &dyn BatchReader, name: &str) -> Option<String> {
    file.schema().metadata().get(name).cloned()
}

/// Appends numbers in their narrower type.
fn append<T: Real>(values: &mut Vec<T>, numbers: &[f64], input: &Input<'_>) -> Result<()> {
    input.reserve(values, numbers.len())?;
    values.extend(numbers.iter().map(|&number| T::from_f64(number)));
    Ok(())
}

/// Maps a decoder error to ours: the decoder's messages are not meant for users.
fn error(input: &Input<'_>, what: &str, why: ArrowError) -> FormatError {
    if let ArrowError::IoError(_, why) = why {
        return input.io(why);
    }
    let said = why.to_string();
    if matches!(why, ArrowError::NotYetImplemented(_))
        || ["NYI", "upport", "mplemented"].iter().any(|word| said.contains(word))
    {
        return input.unsupported(what, format!("not supported ({said}); write it as CSV or .npy"));
    }
    input.malformed(what, "damaged, and cannot be decoded")
}

/// The columns, the coordinates that are declared, and a note.
type Description = (Vec<SheetColumn>, Option<DeclaredCoordinates>, Option<String>);

fn described(layout: &Layout, input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Description> {
    let mut columns = layout.columns();
    let numbers: Vec<bool> =
        columns.iter().map(|column| column.kind == ColumnKind::Numeric && !column.attribute).collect();
    let (declared, note) = choose_vector(&mut columns, &layout.candidates, |at| numbers[at], input, request)?;
    Ok((columns, declared, note))
}

/// The fields of columns, ascending.
fn roots(layout: &Layout, columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut roots: Vec<usize> = columns.into_iter().map(|at| layout.root(at)).collect();
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Decodes the selected columns of a batch, whose arrays are those of `roots`.
fn decode(
    layout: &Layout,
    (start, batch): (u64, &RecordBatch),
    (roots, selected): (&[usize], &[usize]),
    numbers: &mut Vec<f64>,
    input: &Input<'_>,
) -> Result<()> {
    input.check()?;
    let count = batch.num_rows() * selected.len();
    numbers.clear();
    input.reserve(numbers, count)?;
    numbers.resize(count, 0.0);
    // List columns are flattened one at a time.
    let flat = batch.columns().iter().map(values::flattened).max().unwrap_or(0);
    input.claim(flat, "lists")?;
    let array = |root: usize| roots.binary_search(&root).ok().map(|at| batch.column(at));
    let filled = layout.fill(array, selected, numbers);
    filled.map_err(|(row, why)| input.malformed(format!("record {}", start + row as u64), why))?;
    input.release(flat);
    Ok(())
}

fn blocks(
    what: &'static str,
    open: Open,
    input: &Input<'_>,
    request: &ColumnRequest<'_>,
) -> Result<BlockLayout> {
    let (layout, (columns, declared, _), schema, rows, buffer) = decoded(what, input, || {
        let file = open(input)?;
        let layout = Layout::new(&*file, input)?;
        let description = described(&layout, input, request)?;
        Ok((layout, description, file.schema(), file.about().0, file.buffer()))
    })?;
    let fits_f32: Vec<bool> = (0..columns.len()).map(|at| layout.fits_f32(at)).collect();
    let is_floating = |at: usize| {
        let kind = schema.field(layout.root(at)).data_type();
        kind.is_floating() || values::is_floating(kind)
    };
    let exceeds_f64 = (0..columns.len()).map(|at| !fits_f32[at] && !is_floating(at)).collect();
    let read: Box<ReadRows> = Box::new(move |input, rows, selected, values, appended| {
        let (roots, width) = (roots(&layout, selected.iter().copied()), selected.len());
        decoded(what, input, || {
            let mut numbers = Vec::new();
            open(input)?.read(&roots, rows, &mut |start, batch| {
                decode(&layout, (start, batch), (&roots, selected), &mut numbers, input)?;
                for part in parts(rows, start..start + batch.num_rows() as u64) {
                    let numbers = &numbers[part.start * width..part.end * width];
                    with_values!(&mut *values, values => append(values, numbers, input)?);
                }
                appended(values)?;
                Ok(true)
            })
        })
    });
    Ok(BlockLayout { rows, columns, declared, fits_f32, exceeds_f64, buffer, read })
}

fn read(file: &dyn BatchReader, input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let layout = Layout::new(file, input)?;
    let (mut columns, declared, note) = described(&layout, input, request)?;
    let selected: Vec<usize> = request.resolve(&columns, input)?;
    let selected: Vec<usize> =
        selected.into_iter().filter(|&at| columns[at].kind == ColumnKind::Numeric).collect();
    // Only the requested text column is read completely; the others need one example each.
    let texts = match request {
        ColumnRequest::Column(_) => {
            request.resolve(&columns, input)?.into_iter().find(|&at| layout.is_text(at))
        }
        _ => None,
    };
    let all_texts = matches!(request, ColumnRequest::Everything);
    let examples = (0..columns.len()).filter(|&at| all_texts && layout.is_text(at));
    let roots = roots(&layout, selected.iter().copied().chain(texts).chain(examples));

    let (rows, format) = file.about();
    let mut values = Values::new(selected.iter().all(|&at| layout.fits_f32(at)));
    let (mut numbers, mut read, mut found) = (Vec::new(), 0u64, CategoryBuilder::default());
    let mut each = |start: u64, batch: &RecordBatch| {
        decode(&layout, (start, batch), (&roots, &selected), &mut numbers, input)?;
        let array = |root: usize| roots.binary_search(&root).ok().map(|at| batch.column(at));
        with_values!(&mut values, values => append(values, &numbers, input)?);
        for (at, column) in columns.iter_mut().enumerate().filter(|(at, _)| layout.is_text(*at)) {
            let Some(array) = array(layout.root(at)) else { continue };
            if column.example.is_none() {
                column.example = (0..array.len()).find_map(|row| {
                    Some((start + row as u64, cell::excerpt(values::text(array, row)?.as_bytes())))
                });
            }
            if texts == Some(at) {
                for row in 0..array.len() {
                    found.push(&values::text(array, row).unwrap_or_default(), &column.name, input)?;
                }
            }
        }
        read = start + batch.num_rows() as u64;
        input.progress.update(read, rows);
        Ok(true)
    };
    if roots.is_empty() {
        read = rows;
    } else {
        file.read(&roots, ALL, &mut each)?;
    }
    if let Some(at) = texts {
        columns[at].texts = Some(found);
    }
    for column in
        columns.iter_mut().filter(|column| column.kind == ColumnKind::Text && column.example.is_none())
    {
        column.example = Some((0, "text".to_owned()));
    }
    Ok(Sheet {
        skipped: note.into_iter().collect(),
        declared,
        ..Sheet::new(input, format, columns, selected, read, values)
    })
}

// Reads all columns of a few rows, decoding only the batches that contain them.

fn read_records(file: &dyn BatchReader, input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let layout = Layout::new(file, input)?;
    let columns = layout.columns();
    let rows = file.about().0;
    input.check_records(wanted, rows)?;
    let roots = roots(&layout, (0..columns.len()).filter(|&at| layout.is_read(at) && input.wants(at)));
    let mut picked = RecordPicker::new(wanted);
    picked.found.values_mut().for_each(|cells| *cells = vec![Cell::Missing; columns.len()]);
    let ascending: Vec<Range<u64>> = picked.found.keys().map(|&record| record..record + 1).collect();
    let mut found = 0;
    // Without readable columns nothing is read, so a false row count would go unnoticed.
    if !roots.is_empty() {
        file.read(&roots, &ascending, &mut |start, batch| {
            input.check()?;
            for part in parts(&ascending, start..start + batch.num_rows() as u64) {
                let (record, row) = (start + part.start as u64, batch.slice(part.start, 1));
                let cells = cells(&layout, &columns, &roots, &row, (&|at| input.wants(at), input.spelled))
                    .map_err(|why| input.malformed(format!("record {record}"), why))?;
                picked.found.insert(record, cells);
                found += 1;
            }
            Ok(true)
        })?;
        if let Some(first) = ascending.get(found) {
            let why = format!("the file declares {rows} rows, but row {} is missing", first.start);
            return Err(input.malformed("cut short", why));
        }
    }
    Ok(picked.into_records(SheetColumn::names(columns)))
}

/// The cells of a one-row batch whose arrays are those of `roots`.
fn cells(
    layout: &Layout,
    columns: &[SheetColumn],
    roots: &[usize],
    row: &RecordBatch,
    (wants, spelled): (&dyn Fn(usize) -> bool, bool),
) -> Result<Vec<Cell>, String> {
    let array = |root: usize| roots.binary_search(&root).ok().map(|at| row.column(at));
    let numeric: Vec<usize> =
        (0..columns.len()).filter(|&at| columns[at].kind == ColumnKind::Numeric && wants(at)).collect();
    let mut numbers = vec![f64::NAN; numeric.len()];
    layout.fill(array, &numeric, &mut numbers).map_err(|(_, why)| why)?;
    let mut cells = vec![Cell::Missing; columns.len()];
    for (&at, number) in numeric.iter().zip(numbers) {
        let integer = spelled.then(|| array(layout.root(at)).and_then(|array| values::integer(array, 0)));
        cells[at] = integer_cell(integer.flatten(), number);
    }
    for at in (0..columns.len()).filter(|&at| columns[at].moment.is_some()) {
        let iso = array(layout.root(at)).and_then(|array| values::date(array, 0));
        cells[at] = iso.map_or(cells[at].clone(), Cell::Text);
    }
    for at in (0..columns.len()).filter(|&at| layout.is_text(at)) {
        let text = array(layout.root(at)).and_then(|array| values::text(array, 0));
        cells[at] = text.map_or(Cell::Missing, |text| Cell::Text(printable(&text)));
    }
    Ok(cells)
}
