//! A table, defined once and written as CSV, TSV, Parquet or `.npz`.
//!
//! Columns have types of their own, so that no number takes a detour: text says infinity as `inf` and leaves what is missing
//! empty, Parquet has it as infinity and null, `.npz` as infinity and NaN.

mod cells;
mod columns;
mod parquet;
mod text;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub use cells::{Cell, Cells};

use super::{ExportError, write};

/// The formats of a table, by the extension of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated text, with a header.
    Csv,
    /// Tab-separated text, with a header: what spreadsheets paste.
    Tsv,
    /// Parquet with Snappy, columns by their types.
    Parquet,
    /// NumPy's archive, an array for each column.
    Npz,
}

impl TableFormat {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Csv, Self::Tsv, Self::Parquet, Self::Npz];

    /// The extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Npz => "npz",
        }
    }

    /// The format that a name asks for.
    ///
    /// # Errors
    /// [`ExportError::TableExtension`].
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension));
        found.ok_or_else(|| ExportError::TableExtension { path: path.to_owned() })
    }
}

/// A column: its name, and its value in each row.
pub struct Column<'a> {
    /// In the header.
    pub name: Cow<'a, str>,
    /// Its values.
    pub cells: Cells<'a>,
    /// Whether some rows may have none.
    pub optional: bool,
}

/// Rows of named columns. Values are asked for when they are written, by row and more than once.
pub struct Table<'a> {
    rows: usize,
    columns: Vec<Column<'a>>,
}

impl<'a> Table<'a> {
    /// A table of so many rows, still without columns.
    pub fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column, whose value in a row `of` gives: a u32, u64, i64, f32, f64 or text, or an [`Option`] of one.
    #[must_use]
    pub fn with<T: Cell<'a>>(mut self, name: impl Into<Cow<'a, str>>, of: impl Fn(usize) -> T + 'a) -> Self {
        let (cells, optional) = T::cells(of);
        self.columns.push(Column { name: name.into(), cells, optional });
        self
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// Writes it as CSV with a header.
    ///
    /// # Errors
    /// The writer's.
    pub fn csv(&self, out: impl Write) -> io::Result<()> {
        text::write(self, b',', out)
    }

    /// As a text with tabs and a header: for the clipboard.
    pub fn tsv(&self) -> String {
        let mut out = Vec::new();
        // Memory takes everything.
        let _ = text::write(self, b'\t', &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Writes it to a file, in the format that the extension names.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn write(&self, path: &Path) -> Result<(), ExportError> {
        let format = TableFormat::of(path)?;
        write(path, |out| self.write_as(format, out))
    }

    /// Writes it in a format.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_as(&self, format: TableFormat, out: &mut BufWriter<File>) -> io::Result<()> {
        match format {
            TableFormat::Csv => self.csv(out),
            TableFormat::Tsv => text::write(self, b'\t', out),
            TableFormat::Parquet => parquet::write(self, out),
            TableFormat::Npz => columns::write(self, out),
        }
    }

    /// The names, each once, as formats of columns need them: a second `x` is `x_2`.
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
