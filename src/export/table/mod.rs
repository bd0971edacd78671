//! Tables, defined once and written as CSV, TSV, Parquet, Arrow, `.npz` or GeoJSON.
//!
//! Columns are typed, so that numbers are written without conversion. Infinity is `inf` in text. Missing
//! values are empty in text, null in Parquet and Arrow, and NaN in `.npz`.

mod arrow;
mod geojson;
mod parquet;

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::numpy::NpzWriter;
use super::{ExportError, write};
use crate::cloud::{GlobeAxes, PointCloud};
use crate::knn::NONE;
use crate::printable::cell;
use crate::progress::Progress;
use crate::text::ExactFloat;
use arrow::ArrowWriter;
use geojson::GeoJsonWriter;
use parquet::ParquetWriter;

/// A table format, selected by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated text, with a header.
    Csv,
    /// Tab-separated text with a header, as spreadsheets paste it.
    Tsv,
    /// Parquet with Snappy compression and typed columns.
    Parquet,
    /// Arrow IPC file (Feather 2), uncompressed, with typed columns.
    Arrow,
    /// NumPy archive with one array per column.
    Npz,
    /// GeoJSON; only for tables with positions on the Earth.
    GeoJson,
}

impl TableFormat {
    /// The formats of any table, in display order.
    pub const ALL: [Self; 5] = [Self::Csv, Self::Tsv, Self::Parquet, Self::Arrow, Self::Npz];

    /// The extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Npz => "npz",
            Self::GeoJson => "geojson",
        }
    }

    /// The format of any table for a path's extension.
    ///
    /// # Errors
    /// [`ExportError::TableExtension`] if no format has that extension.
    pub fn from_path(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension));
        found.ok_or_else(|| ExportError::TableExtension { path: path.to_owned() })
    }
}

/// Whether a path has the extension of GeoJSON.
pub fn is_geojson(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(TableFormat::GeoJson.extension()))
}

/// A named column with a value per row.
pub struct Column<'a> {
    /// The name in the header.
    pub name: Cow<'a, str>,
    /// The value of each row.
    pub cells: Cells<'a>,
    /// Whether values may be missing in some rows.
    pub optional: bool,
}

/// Rows of named columns. Values are computed while writing, row by row and possibly more than once.
pub struct Table<'a> {
    rows: usize,
    columns: Vec<Column<'a>>,
    progress: Option<&'a dyn Progress>,
    /// Metadata of the table, under a key.
    attribute: Option<(&'static str, String)>,
    /// Longitude and latitude of each row.
    positions: Option<ValueFn<'a, [f64; 2]>>,
}

impl<'a> Table<'a> {
    /// A table with a number of rows and no columns yet.
    pub fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new(), progress: None, attribute: None, positions: None }
    }

    /// Adds a column; `value` returns the value in a row: a u32, u64, i64, f32, f64 or text, or an [`Option`]
    /// of one.
    #[must_use]
    pub fn with<T: Cell<'a>>(
        mut self,
        name: impl Into<Cow<'a, str>>,
        value: impl Fn(usize) -> T + 'a,
    ) -> Self {
        let (cells, optional) = T::cells(value);
        self.columns.push(Column { name: name.into(), cells, optional });
        self
    }

    /// Adds metadata under a key; only Parquet and Arrow store it, with the schema.
    #[must_use]
    pub fn attributed(mut self, key: &'static str, text: String) -> Self {
        self.attribute = Some((key, text));
        self
    }

    /// Gives rows the positions of points of a cloud, if that is in longitude and latitude; `row` returns
    /// the point of a row, [`NONE`] if it has none. Only GeoJSON stores them.
    #[must_use]
    pub fn located(mut self, cloud: &'a PointCloud, row: impl Fn(usize) -> u32 + 'a) -> Self {
        self.positions = GlobeAxes::on_earth(cloud.axes()).map(|globe| {
            let position = move |at: usize| {
                let row = Some(row(at)).filter(|&row| row != NONE)?;
                Some(globe.longitude_and_latitude([0, 1].map(|axis| cloud.coordinate(row as usize, axis))))
            };
            Box::new(position) as ValueFn<'a, [f64; 2]>
        });
        self
    }

    /// Makes writing report progress and stop on cancellation: [`Table::write`] then returns
    /// [`ExportError::Cancelled`] and leaves nothing behind.
    #[must_use]
    pub fn watched(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Reports the number of cells written.
    ///
    /// # Errors
    /// When cancelled.
    fn report(&self, cells: usize) -> io::Result<()> {
        let Some(progress) = self.progress else { return Ok(()) };
        if progress.cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        progress.update(cells as u64, (self.rows * self.columns.len()) as u64);
        Ok(())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// Writes the table as CSV with a header.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn csv(&self, out: impl Write) -> io::Result<()> {
        self.text(b',', out)
    }

    /// The table as tab-separated text with a header, for the clipboard.
    pub fn tsv(&self) -> String {
        let mut out = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.text(b'\t', &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn text(&self, delimiter: u8, out: impl Write) -> io::Result<()> {
        let mut text = TextWriter::new(delimiter, out);
        text.append(self)?;
        text.finish()
    }

    /// Writes the table to a file in the format of the extension.
    ///
    /// # Errors
    /// [`ExportError`] if the extension is unknown or writing fails.
    pub fn write(&self, path: &Path) -> Result<(), ExportError> {
        let format = if is_geojson(path) { TableFormat::GeoJson } else { TableFormat::from_path(path)? };
        if format == TableFormat::GeoJson && self.positions.is_none() {
            return Err(ExportError::NoPositions { path: path.to_owned() });
        }
        let cancelled = || self.progress.is_some_and(|progress| progress.cancelled());
        write(path, |out| self.write_as(format, out))
            .map_err(|error| if cancelled() { ExportError::Cancelled } else { error })
    }

    /// Writes the table in a format.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn write_as(&self, format: TableFormat, out: &mut BufWriter<File>) -> io::Result<()> {
        match format {
            TableFormat::Csv => self.csv(out),
            TableFormat::Tsv => self.text(b'\t', out),
            TableFormat::Parquet => self.append_to(Appender::parquet(out)),
            TableFormat::Arrow => self.append_to(Appender::arrow_file(out)),
            TableFormat::Npz => write_npz(self, out),
            TableFormat::GeoJson => self.append_to(Appender::geojson(out)),
        }
    }

    fn append_to<W: Write + Send>(&self, mut to: Appender<W>) -> io::Result<()> {
        to.append(self)?;
        to.finish()
    }

    /// Column names made unique, as columnar formats require: a second `x` is `x_2`.
    fn unique_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for column in &self.columns {
            let mut name = column.name.to_string();
            let mut count = 1;
            while names.contains(&name) {
                count += 1;
                name = format!("{}_{count}", column.name);
            }
            names.push(name);
        }
        names
    }
}

#[cfg(test)]
mod tests;

/// The value in a row, `None` if missing.
pub type ValueFn<'a, T> = Box<dyn Fn(usize) -> Option<T> + 'a>;

/// The values of a column, by type.
pub enum Cells<'a> {
    U32(ValueFn<'a, u32>),
    U64(ValueFn<'a, u64>),
    I64(ValueFn<'a, i64>),
    F32(ValueFn<'a, f32>),
    F64(ValueFn<'a, f64>),
    Text(ValueFn<'a, Cow<'a, str>>),
}

/// A type of value that a table can contain.
pub trait Cell<'a>: Sized {
    /// Builds a column of such values; the flag says whether some may be missing.
    fn cells(value: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool);
}

macro_rules! cell {
    ($type:ty, $kind:ident) => {
        impl<'a> Cell<'a> for $type {
            fn cells(value: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool) {
                (Cells::$kind(Box::new(move |row| Some(value(row).into()))), false)
            }
        }

        impl<'a> Cell<'a> for Option<$type> {
            fn cells(value: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool) {
                (Cells::$kind(Box::new(move |row| value(row).map(Into::into))), true)
            }
        }
    };
}
cell!(u32, U32);
cell!(u64, U64);
cell!(i64, I64);
cell!(f32, F32);
cell!(f64, F64);
cell!(&'a str, Text);
cell!(String, Text);

/// Writes several tables with the same columns as one.
pub struct Appender<W: Write + Send>(FormatWriter<W>);

enum FormatWriter<W: Write + Send> {
    Text(Box<TextWriter<W>>),
    Parquet(Box<ParquetWriter<W>>),
    Arrow(Box<ArrowWriter<W>>),
    GeoJson(GeoJsonWriter<W>),
}

impl<W: Write + Send> Appender<W> {
    /// Comma-separated text.
    pub fn csv(out: W) -> Self {
        Self(FormatWriter::Text(Box::new(TextWriter::new(b',', out))))
    }

    /// Tab-separated text.
    pub fn tsv(out: W) -> Self {
        Self(FormatWriter::Text(Box::new(TextWriter::new(b'\t', out))))
    }

    /// Parquet; each table becomes separate row groups.
    pub fn parquet(out: W) -> Self {
        Self(FormatWriter::Parquet(Box::new(ParquetWriter::new(out))))
    }

    /// An Arrow IPC stream, readable while it is written; a batch never spans tables.
    pub fn arrow_stream(out: W) -> Self {
        Self(FormatWriter::Arrow(Box::new(ArrowWriter::stream(out))))
    }

    /// An Arrow IPC file: as the stream, with a list of its batches at the end.
    pub fn arrow_file(out: W) -> Self {
        Self(FormatWriter::Arrow(Box::new(ArrowWriter::file(out))))
    }

    /// GeoJSON; rows of a table without positions have no geometry.
    pub fn geojson(out: W) -> Self {
        Self(FormatWriter::GeoJson(GeoJsonWriter::new(out)))
    }

    /// Writes the rows of a table, which must have the same columns as those before.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        match &mut self.0 {
            FormatWriter::Text(text) => text.append(table),
            FormatWriter::Parquet(parquet) => parquet.append(table),
            FormatWriter::Arrow(arrow) => arrow.append(table),
            FormatWriter::GeoJson(features) => features.append(table),
        }
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            FormatWriter::Text(text) => text.finish(),
            FormatWriter::Parquet(parquet) => parquet.finish(),
            FormatWriter::Arrow(arrow) => arrow.finish(),
            FormatWriter::GeoJson(features) => features.finish(),
        }
    }
}

/// Rows between two checks for cancellation.
const ROWS_PER_CHECK: usize = 1 << 12;

/// Writes tables with the same columns as lines under one header. Missing values are empty. Text that a
/// spreadsheet would take for a formula is prefixed with `'`.
pub(super) struct TextWriter<W: Write> {
    /// A text that contains any of these is quoted. Programs detect a CSV file's separator, sometimes from
    /// few rows, so these include every possible separator.
    quoted: &'static [char],
    writer: csv::Writer<W>,
    headed: bool,
}

impl<W: Write> TextWriter<W> {
    pub fn new(delimiter: u8, out: W) -> Self {
        let mut builder = csv::WriterBuilder::new();
        let writer = builder.delimiter(delimiter).quote_style(csv::QuoteStyle::Never).from_writer(out);
        let quoted: &[char] = if delimiter == b'\t' {
            &['"', '\n', '\r', '\t']
        } else {
            &['"', '\n', '\r', '\t', ',', ';', '|']
        };
        Self { quoted, writer, headed: false }
    }

    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        self.rows(table).map_err(io_error)
    }

    fn rows(&mut self, table: &Table<'_>) -> csv::Result<()> {
        let (writer, characters) = (&mut self.writer, self.quoted);
        if !std::mem::replace(&mut self.headed, true) {
            for column in &table.columns {
                writer.write_field(quoted(&column.name, characters).as_bytes()).map_err(io_error)?;
            }
            writer.write_record(None::<&[u8]>).map_err(io_error)?;
        }
        let mut field = String::new();
        for row in 0..table.rows {
            if row.is_multiple_of(ROWS_PER_CHECK) {
                table.report(row * table.columns.len())?;
            }
            for column in &table.columns {
                field.clear();
                match &column.cells {
                    Cells::U32(of) => show(&mut field, of(row)),
                    Cells::U64(of) => show(&mut field, of(row)),
                    Cells::I64(of) => show(&mut field, of(row)),
                    Cells::F32(of) => show(&mut field, of(row).map(ExactFloat)),
                    Cells::F64(of) => show(&mut field, of(row).map(ExactFloat)),
                    Cells::Text(of) => {
                        show(&mut field, of(row).as_deref().map(|text| quoted(text, characters)))
                    }
                }
                writer.write_field(field.as_bytes()).map_err(io_error)?;
            }
            writer.write_record(None::<&[u8]>).map_err(io_error)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Appends a value, if there is one.
fn show(field: &mut String, value: Option<impl Display>) {
    if let Some(value) = value {
        // Writing to a string cannot fail.
        let _ = write!(field, "{value}");
    }
}

/// Quotes a text that contains any of the characters; quotation marks inside it are doubled.
fn quoted<'a>(text: &'a str, characters: &[char]) -> Cow<'a, str> {
    let text = cell(text);
    if text.contains(characters) { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) } else { text }
}

/// Unwraps an I/O error, such as a closed pipe.
fn io_error(why: csv::Error) -> io::Error {
    let shown = why.to_string();
    match why.into_kind() {
        csv::ErrorKind::Io(why) => why,
        _ => io::Error::other(shown),
    }
}

/// Writes one array per column. Integer columns with missing values become f64, with NaN.
fn write_npz(table: &Table<'_>, out: &mut BufWriter<File>) -> io::Result<()> {
    let mut npz = NpzWriter::new(out);
    let count = table.rows;
    let rows = || 0..count;
    for (at, (column, name)) in table.columns.iter().zip(table.unique_names()).enumerate() {
        table.report(at * count)?;
        let name = &*name;
        let float = |value: Option<f64>| value.unwrap_or(f64::NAN).to_le_bytes();
        match &column.cells {
            Cells::U32(of) if column.optional => {
                npz.column(name, "<f8", count, rows().map(|row| float(of(row).map(f64::from))))?
            }
            Cells::U64(of) if column.optional => {
                npz.column(name, "<f8", count, rows().map(|row| float(of(row).map(|value| value as f64))))?
            }
            Cells::I64(of) if column.optional => {
                npz.column(name, "<f8", count, rows().map(|row| float(of(row).map(|value| value as f64))))?
            }
            Cells::U32(of) => {
                npz.column(name, "<u4", count, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?
            }
            Cells::U64(of) => {
                npz.column(name, "<u8", count, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?
            }
            Cells::I64(of) => {
                npz.column(name, "<i8", count, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?
            }
            Cells::F32(of) => {
                npz.column(name, "<f4", count, rows().map(|row| of(row).unwrap_or(f32::NAN).to_le_bytes()))?
            }
            Cells::F64(of) => npz.column(name, "<f8", count, rows().map(|row| float(of(row))))?,
            Cells::Text(of) => {
                // NumPy strings have a fixed length, in UTF-32.
                let length = rows()
                    .map(|row| of(row).map_or(0, |text| text.chars().count()))
                    .max()
                    .unwrap_or(0)
                    .max(1);
                let padded = |row: usize| {
                    of(row)
                        .unwrap_or_default()
                        .chars()
                        .chain(std::iter::repeat('\0'))
                        .take(length)
                        .collect::<Vec<_>>()
                };
                let letters = rows().flat_map(padded).map(|letter| u32::from(letter).to_le_bytes());
                npz.column(name, &format!("<U{length}"), count, letters)?;
            }
        }
    }
    npz.finish()
}
