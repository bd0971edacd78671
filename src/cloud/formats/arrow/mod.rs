//! Tables of typed columns: Parquet and Arrow IPC (Feather 2), a batch of rows at a time.
//!
//! Numbers are coordinates, nulls NaN. A column of lists of numbers, as embeddings come, is as many columns as its lists have
//! numbers, and the first such column is the cloud unless others are chosen. Texts and dictionaries of texts are categories.

mod ipc;
mod layout;
mod parquet;
mod values;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use layout::Layout;

use super::FormatError;
use super::columns::Texts;
use super::contain::contained;
use super::input::{Input, printable};
use super::sheet::{ColumnKind, Sheet, Want};
use crate::cloud::Values;
use crate::cloud::values::{Real, with_values};

/// Rows that are decoded together.
const BATCH: usize = 8192;

/// A file that gives its columns in batches.
trait Batches {
    /// All columns.
    fn schema(&self) -> SchemaRef;
    /// What is known of the rows before they are read: their number, and the format for people.
    fn about(&self) -> (u64, String);
    /// Reads the columns with these ascending indices, in batches of rows.
    fn read(&self, columns: &[usize], each: &mut dyn FnMut(&RecordBatch) -> Result<bool, FormatError>) -> Result<(), FormatError>;
}

pub(super) fn read_parquet(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    contained(|| read(&parquet::File::open(input)?, input, want)).map_err(|why| input.malformed("Parquet", why))?
}

pub(super) fn read_ipc(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    contained(|| read(&ipc::File::open(input)?, input, want)).map_err(|why| input.malformed("Arrow", why))?
}

/// Numbers behind others, in their type.
fn append<T: Real>(values: &mut Vec<T>, numbers: &[f64], input: &Input<'_>) -> Result<(), FormatError> {
    input.reserve(values, numbers.len())?;
    values.extend(numbers.iter().map(|&number| T::of(number)));
    Ok(())
}

/// What an error of the decoders means.
fn error(input: &Input<'_>, what: &str, why: ArrowError) -> FormatError {
    if let ArrowError::IoError(_, why) = why {
        return input.io(why);
    }
    let why = why.to_string();
    if let Some(codec) = ["zstd", "brotli", "lzo"].into_iter().find(|codec| why.to_lowercase().contains(codec)) {
        let way_out = "write it with Snappy, LZ4 or gzip, or uncompressed, for instance df.write_parquet(…, compression='snappy')";
        return input.unsupported(format!("{codec} compression"), way_out);
    }
    input.malformed(what, why)
}

fn read(file: &dyn Batches, input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let layout = Layout::of(file, input)?;
    let mut columns = layout.columns();
    let kept: Vec<usize> = want.resolve(&columns, input)?;
    let kept: Vec<usize> = kept.into_iter().filter(|&at| columns[at].kind == ColumnKind::Numeric).collect();
    // Of texts only the one that was asked for is read whole; an example of each is enough else.
    let texts = match want {
        Want::Column(_) => want.resolve(&columns, input)?.into_iter().find(|&at| layout.is_text(at)),
        _ => None,
    };
    let mut roots: Vec<usize> = kept.iter().copied().chain(texts).map(|at| layout.root(at)).collect();
    if matches!(want, Want::Everything) {
        roots.extend((0..columns.len()).filter(|&at| layout.is_text(at)).map(|at| layout.root(at)));
    }
    roots.sort_unstable();
    roots.dedup();

    let (rows, format) = file.about();
    let mut values = Values::new(kept.iter().all(|&at| layout.fits_f32(at)));
    let (mut numbers, mut read, mut found) = (Vec::new(), 0u64, Texts::default());
    let mut each = |batch: &RecordBatch| {
        input.check()?;
        let count = batch.num_rows() * kept.len();
        numbers.clear();
        input.reserve(&mut numbers, count)?;
        numbers.resize(count, f64::NAN);
        let array = |at: usize| roots.binary_search(&layout.root(at)).map(|place| batch.column(place));
        let mut start = 0;
        for same in kept.chunk_by(|&a, &b| layout.root(a) == layout.root(b)) {
            let places = start..start + same.len();
            start = places.end;
            if let Ok(array) = array(same[0]) {
                let failed = |(row, why)| input.malformed(format!("record {}", read + row as u64), why);
                layout.numbers(array, &kept, places, &mut numbers).map_err(failed)?;
            }
        }
        with_values!(&mut values, values => append(values, &numbers, input)?);
        for (at, column) in columns.iter_mut().enumerate().filter(|(at, _)| layout.is_text(*at)) {
            let Ok(array) = array(at) else { continue };
            if column.example.is_none() {
                let first = (0..array.len()).find_map(|row| values::text(array, row).map(|text| (read + row as u64, printable(&text))));
                column.example = first;
            }
            if texts == Some(at) && !(0..array.len()).all(|row| found.push(&values::text(array, row).unwrap_or_default())) {
                let why = format!("it has more than {} different texts, too many to tell apart", super::columns::MAX_CATEGORIES);
                return Err(FormatError::Column { what: format!("column `{}`", column.name), why, path: input.path().to_owned() });
            }
        }
        read += batch.num_rows() as u64;
        input.tell(read, rows);
        Ok(true)
    };
    if roots.is_empty() {
        read = rows;
    } else {
        file.read(&roots, &mut each)?;
    }
    if let Some(at) = texts {
        columns[at].texts = Some(found);
    }
    for column in columns.iter_mut().filter(|column| column.kind == ColumnKind::Text && column.example.is_none()) {
        column.example = Some((0, "text".to_owned()));
    }
    Ok(Sheet { path: input.path().to_owned(), format, columns, kept, rows: read, values, skipped: Vec::new() })
}
