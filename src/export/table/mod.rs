//! Tables, defined once and written as CSV, TSV, Parquet, Arrow or `.npz`.
//!
//! Columns are typed, so that numbers are written without conversion. Infinity is `inf` in text; missing values are empty in
//! text, null in Parquet and Arrow and NaN in `.npz`.

mod appender;
mod arrow;
mod cells;
mod columns;
mod parquet;
mod text;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub use appender::Appender;
pub use cells::{Cell, Cells};

use super::{ExportError, write};
use crate::progress::Progress;

/// A table format, selected by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated text, with a header.
    Csv,
    /// Tab-separated text, with a header: the format that spreadsheets paste.
    Tsv,
    /// Parquet with Snappy compression and typed columns.
    Parquet,
    /// Arrow IPC file (Feather 2), uncompressed, with typed columns.
    Arrow,
    /// NumPy archive with one array per column.
    Npz,
}

impl TableFormat {
    /// All formats, in display order.
    pub const ALL: [Self; 5] = [Self::Csv, Self::Tsv, Self::Parquet, Self::Arrow, Self::Npz];

    /// The extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Npz => "npz",
        }
    }

    /// The format for a path's extension.
    ///
    /// # Errors
    /// [`ExportError::TableExtension`] if no format has that extension.
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension));
        found.ok_or_else(|| ExportError::TableExtension { path: path.to_owned() })
    }
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
    /// What is said of the whole, under a key.
    attribute: Option<(&'static str, String)>,
}

impl<'a> Table<'a> {
    /// A table with a number of rows and no columns yet.
    pub fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new(), progress: None, attribute: None }
    }

    /// Adds a column; `of` returns the value in a row: a u32, u64, i64, f32, f64 or text, or an [`Option`] of one.
    #[must_use]
    pub fn with<T: Cell<'a>>(mut self, name: impl Into<Cow<'a, str>>, of: impl Fn(usize) -> T + 'a) -> Self {
        let (cells, optional) = T::cells(of);
        self.columns.push(Column { name: name.into(), cells, optional });
        self
    }

    /// Says something of the whole, under a key: in Parquet and Arrow, beside the schema. The others have no place for it.
    #[must_use]
    pub fn attributed(mut self, key: &'static str, text: String) -> Self {
        self.attribute = Some((key, text));
        self
    }

    /// Has writing tell how far it is, and stop where that is asked: [`Table::write`] is [`ExportError::Cancelled`] then, and leaves nothing behind.
    #[must_use]
    pub fn watched(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Tells that so many of all cells were written.
    ///
    /// # Errors
    /// Where the work is to stop.
    fn tell(&self, cells: usize) -> io::Result<()> {
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
        let mut text = text::Text::new(delimiter, out);
        text.append(self)?;
        text.finish()
    }

    /// Writes the table to a file in the format of the extension.
    ///
    /// # Errors
    /// [`ExportError`] if the extension is unknown or writing fails.
    pub fn write(&self, path: &Path) -> Result<(), ExportError> {
        let format = TableFormat::of(path)?;
        let cancelled = || self.progress.is_some_and(|progress| progress.cancelled());
        write(path, |out| self.write_as(format, out)).map_err(|error| if cancelled() { ExportError::Cancelled } else { error })
    }

    /// Writes the table in a format.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn write_as(&self, format: TableFormat, out: &mut BufWriter<File>) -> io::Result<()> {
        match format {
            TableFormat::Csv => self.csv(out),
            TableFormat::Tsv => self.text(b'\t', out),
            TableFormat::Parquet => self.appended(Appender::parquet(out)),
            TableFormat::Arrow => self.appended(Appender::arrow_file(out)),
            TableFormat::Npz => columns::write(self, out),
        }
    }

    fn appended<W: Write + Send>(&self, mut to: Appender<W>) -> io::Result<()> {
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
