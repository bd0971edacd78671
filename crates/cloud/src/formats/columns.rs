//! The file's other columns, on demand: one column of all records, or all columns of a few.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;

use super::input::Input;
use super::limits::MAX_CATEGORIES;
use super::marks::Marks;
use super::parts::file_of;
use super::sheet::{ColumnKind, Sheet, SheetColumn, Want, named};
use super::{FormatError, cell, recognise, scan};
use crate::Values;
use crate::progress::Progress;

/// One column of a file with a value per record, including records that are not in the cloud:
/// [`crate::PointCloud::record`] maps a cloud's rows to records.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Numbers, as f64; NaN where the file has none.
    Numbers(Vec<f64>),
    /// Texts, at most [`MAX_CATEGORIES`] distinct ones.
    Categories {
        /// The distinct texts in order of first appearance; an empty field is the text "".
        names: Vec<String>,
        /// The index of each record's text in `names`.
        codes: Vec<u32>,
    },
}

/// The value of a column in one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number, to the last bit.
    Number(f64),
    /// Any other content, and numbers that people read as text: a date, or `06484`.
    Text(String),
    /// An empty field, or a word for a missing value: NaN, NA, null.
    Missing,
}

impl Cell {
    /// The numeric value, also of digits with a leading 0, which are displayed as in the file.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) if cell::is_code(text.as_bytes()) => text.parse().ok(),
            Self::Text(_) | Self::Missing => None,
        }
    }
}

/// All columns of a few records.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Records {
    /// The columns, in the file's order.
    pub columns: Vec<String>,
    /// One vector of cells per requested record, in the requested order.
    pub rows: Vec<Vec<Cell>>,
}

/// Reads one column of a file, selected by exact name, case-insensitive name, or 0-based index.
///
/// # Errors
/// [`FormatError::NoColumn`] and [`FormatError::Column`] if no column or several match, or if a text column has too many
/// distinct texts; and any error of reading the file.
pub fn column(path: &Path, name: &str, progress: &dyn Progress) -> Result<ColumnData, FormatError> {
    scan(path, &Want::Column(&name.to_owned()), progress)?.into_column(name)
}

/// Reads all columns of the records with these 0-based numbers, in any order, repetitions allowed.
///
/// Binary formats with fixed-size records seek to each record; other formats are read from the start of the file or batch up
/// to the last of them.
///
/// # Errors
/// [`FormatError::Malformed`] if there is no such record; and any error of reading the file.
pub fn records(path: &Path, records: &[u64], progress: &dyn Progress) -> Result<Records, FormatError> {
    records_by_marks(path, records, &Marks::default(), progress)
}

/// The numbers of the columns that names mean, in the order of the names.
///
/// # Errors
/// [`FormatError::NoColumn`] and [`FormatError::Column`] as for [`super::read`]; and any error of reading the file.
pub fn columns_of(path: &Path, names: &[String], progress: &dyn Progress) -> Result<Vec<usize>, FormatError> {
    let all: Vec<SheetColumn> = records(path, &[], progress)?.columns.into_iter().map(SheetColumn::numeric).collect();
    named(names, &all).map_err(|why| why.into_error(file_of(path)))
}

/// As [`records`], but text is read from the last mark before each record that an earlier call left.
///
/// # Errors
/// The same as those of [`records`].
pub fn records_by_marks(path: &Path, records: &[u64], marks: &Marks, progress: &dyn Progress) -> Result<Records, FormatError> {
    let input = Input::new(path, progress)?.with_marks(marks);
    input.finish(recognise(&input).and_then(|format| (format.records)(&input, records)))
}

/// As [`records_by_marks`], where some columns are looked at, by their numbers: formats that keep columns apart leave the others missing.
/// `spelled` leaves numbers of a text as the file spells them, as [`Cell::Text`]: `1.50`, `0E8`.
///
/// # Errors
/// The same as those of [`records`].
pub fn records_of_columns(
    path: &Path,
    records: &[u64],
    columns: &[usize],
    spelled: bool,
    marks: &Marks,
    progress: &dyn Progress,
) -> Result<Records, FormatError> {
    let input = Input::new(path, progress)?.with_marks(marks).of_columns(columns, spelled);
    input.finish(recognise(&input).and_then(|format| (format.records)(&input, records)))
}

/// The layout of fixed-size records in a file.
pub(super) struct Even {
    /// Byte offset of record 0.
    pub start: u64,
    /// Bytes of a record.
    pub record: usize,
    pub rows: u64,
}

impl Even {
    /// Seeks to each record and decodes its bytes into cells.
    pub fn records(&self, input: &Input<'_>, records: &[u64], cells: impl Fn(&[u8]) -> Vec<Cell>) -> Result<Vec<Vec<Cell>>, FormatError> {
        // Unbuffered: the next record is elsewhere.
        let mut file = input.open()?.into_inner();
        let mut raw = vec![0; self.record];
        let row = |&record: &u64| {
            if record >= self.rows {
                return Err(no_record(record, self.rows, input.path()));
            }
            let mut read = || {
                file.seek(SeekFrom::Start(self.start + record * self.record as u64))?;
                file.read_exact(&mut raw)
            };
            read().map_err(|why| input.io(why))?;
            let cells = cells(&raw);
            claim_cells(cells.len(), input)?;
            Ok(cells)
        };
        records.iter().map(row).collect()
    }
}

/// Counts the cells of a record. The texts in them are parts of the file.
pub(super) fn claim_cells(count: usize, input: &Input<'_>) -> Result<(), FormatError> {
    input.claim((count as u64).saturating_mul(size_of::<Cell>() as u64), "a record")
}

/// The error for a record number past the end.
pub(super) fn no_record(record: u64, rows: u64, path: &Path) -> FormatError {
    FormatError::Malformed { what: format!("record {record}"), why: format!("there are {rows} records"), path: path.to_owned() }
}

/// Wraps a number as a cell; NaN is missing.
pub(super) fn number_cell(value: f64) -> Cell {
    if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
}

/// Parses a text field as a cell.
pub(super) fn cell_of(field: &[u8]) -> Cell {
    cell_as(cell::Cell::parse(field), field)
}

/// Builds the cell for a text field that was already classified.
pub(super) fn cell_as(read: cell::Cell, field: &[u8]) -> Cell {
    match read {
        cell::Cell::Number(number) if !cell::is_code(field) => Cell::Number(number),
        cell::Cell::Missing => Cell::Missing,
        cell::Cell::Number(_) | cell::Cell::Text => Cell::Text(cell::text(field)),
    }
}

/// The same with a number as the file spells it.
pub(super) fn spelled_cell(read: cell::Cell, field: &[u8]) -> Cell {
    if read == cell::Cell::Missing { Cell::Missing } else { Cell::Text(cell::text(field)) }
}

/// The error for exceeding [`MAX_CATEGORIES`].
pub(super) fn too_many_texts(column: &str, path: &Path) -> FormatError {
    let why = format!("it has more than {MAX_CATEGORIES} different texts, too many to tell apart");
    FormatError::Column { what: format!("column `{column}`"), why, hint: None, path: path.to_owned() }
}

/// Builds a categorical column.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    names: Vec<String>,
    codes: Vec<u32>,
    code_of: HashMap<String, u32>,
}

impl Texts {
    /// Adds a record's text; false if that would exceed [`MAX_CATEGORIES`].
    ///
    /// # Errors
    /// Those of [`Input::claim`].
    pub fn push_counted(&mut self, text: &str, input: &Input<'_>) -> Result<bool, FormatError> {
        /// Bytes of a text beside its characters, which are there twice: strings, a code, and room in a hash table.
        const TEXT: u64 = 128;
        input.reserve_for(&mut self.codes, 1, "the texts of a column")?;
        if !self.code_of.contains_key(text) {
            input.claim(2 * text.len() as u64 + TEXT, "the texts of a column")?;
        }
        Ok(self.push(text))
    }

    /// As [`Self::push_counted`], without counting memory.
    #[must_use]
    pub fn push(&mut self, text: &str) -> bool {
        let code = match self.code_of.get(text) {
            Some(&code) => code,
            None if self.names.len() == MAX_CATEGORIES => return false,
            None => {
                let code = self.names.len() as u32;
                self.names.push(text.to_owned());
                self.code_of.insert(text.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
        true
    }
}

impl Sheet {
    /// Extracts the single column that the reader was asked for.
    fn into_column(mut self, name: &str) -> Result<ColumnData, FormatError> {
        let at = self.column_index(name)?;
        if let Some(Texts { names, codes, .. }) = self.columns[at].texts.take() {
            return Ok(ColumnData::Categories { names, codes });
        }
        if self.columns[at].kind == ColumnKind::Text {
            let why = "it holds text, which is not read from this format".to_owned();
            return Err(FormatError::Column { what: format!("column `{}`", self.columns[at].name), why, hint: None, path: self.path });
        }
        let Some(position) = self.selected.iter().position(|&selected| selected == at) else {
            return Ok(ColumnData::Numbers(vec![f64::NAN; self.rows as usize]));
        };
        let width = self.selected.len();
        Ok(ColumnData::Numbers(match self.values {
            Values::F64(values) if width == 1 => values,
            values => (position..values.len()).step_by(width).map(|at| values.get(at)).collect(),
        }))
    }
}
