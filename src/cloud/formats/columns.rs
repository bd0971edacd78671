//! The file's other columns, read when somebody asks: one column of all records, or all columns of a few.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;

use super::input::Input;
use super::marks::Marks;
use super::sheet::{ColumnKind, Sheet, Want};
use super::{FormatError, cell, recognise};
use crate::cloud::Values;
use crate::progress::Progress;

/// The most different texts that a column may have as categories.
pub const MAX_CATEGORIES: usize = 1 << 16;

/// One column of a file, a value for each of its records, those that are no points included:
/// [`crate::cloud::PointCloud::record`] says which record a row of a cloud is.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Numbers, as f64; NaN where the file has none.
    Numbers(Vec<f64>),
    /// Texts, at most [`MAX_CATEGORIES`] different ones.
    Categories {
        /// Each text once, in the order in which they first appear; an empty field is the text "".
        names: Vec<String>,
        /// The place of each record's text among the names.
        codes: Vec<u32>,
    },
}

/// What a column holds in one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number, to the last bit.
    Number(f64),
    /// Anything else that is there, and what people read otherwise than as a number: a date, or `06484`.
    Text(String),
    /// Nothing, or a word that says so: NaN, NA, null.
    Missing,
}

impl Cell {
    /// The number that stands there, also as digits after a 0, which are shown as the file has them.
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
    /// A cell for each column, for each record that was asked for, in the order in which it was.
    pub rows: Vec<Vec<Cell>>,
}

/// Reads one column of a file, by name, by name without regard to case, or by 0-based index.
///
/// # Errors
/// [`FormatError::NoColumn`] and [`FormatError::Column`] when no column or several have the name, or when a text column has
/// too many different texts; and whatever keeps the file from being read.
pub fn column(path: &Path, name: &str, progress: &dyn Progress) -> Result<ColumnData, FormatError> {
    let input = Input::new(path, progress)?;
    let format = recognise(&input)?;
    (format.read)(&input, &Want::Column(&name.to_owned()))?.into_column(name)
}

/// Reads all columns of the records with these 0-based numbers, in any order, also twice.
///
/// Binary formats of even records are read where the records lie; others from the beginning, or that of a batch, to the last
/// of them.
///
/// # Errors
/// [`FormatError::Malformed`] when there is no such record; and whatever keeps the file from being read.
pub fn records(path: &Path, records: &[u64], progress: &dyn Progress) -> Result<Records, FormatError> {
    records_by_marks(path, records, &Marks::default(), progress)
}

/// As [`records`], from the last of the marks on that an earlier call left in a text.
///
/// # Errors
/// As [`records`].
pub fn records_by_marks(path: &Path, records: &[u64], marks: &Marks, progress: &dyn Progress) -> Result<Records, FormatError> {
    let input = Input::new(path, progress)?.with_marks(marks);
    let format = recognise(&input)?;
    (format.records)(&input, records)
}

/// Where records of even length lie in a file.
pub(super) struct Even {
    /// The first byte.
    pub start: u64,
    /// Bytes of a record.
    pub record: usize,
    pub rows: u64,
}

impl Even {
    /// Reads some records where they lie, and makes cells of their bytes.
    pub fn records(&self, input: &Input<'_>, records: &[u64], cells: impl Fn(&[u8]) -> Vec<Cell>) -> Result<Vec<Vec<Cell>>, FormatError> {
        // Without a buffer: the next record is somewhere else.
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
            Ok(cells(&raw))
        };
        records.iter().map(row).collect()
    }
}

/// What it means that a record is not there.
pub(super) fn no_record(record: u64, rows: u64, path: &Path) -> FormatError {
    FormatError::Malformed { what: format!("record {record}"), why: format!("there are {rows} records"), path: path.to_owned() }
}

/// A number as a cell.
pub(super) fn number_cell(value: f64) -> Cell {
    if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
}

/// A field of a text as a cell.
pub(super) fn cell_of(field: &[u8]) -> Cell {
    cell_as(cell::Cell::parse(field), field)
}

/// A field of a text as the cell that it was read as.
pub(super) fn cell_as(read: cell::Cell, field: &[u8]) -> Cell {
    match read {
        cell::Cell::Number(number) if !cell::is_code(field) => Cell::Number(number),
        cell::Cell::Missing => Cell::Missing,
        cell::Cell::Number(_) | cell::Cell::Text => Cell::Text(cell::text(field)),
    }
}

/// What it means that a text was one too many.
pub(super) fn too_many_texts(column: &str, path: &Path) -> FormatError {
    let why = format!("it has more than {MAX_CATEGORIES} different texts, too many to tell apart");
    FormatError::Column { what: format!("column `{column}`"), why, hint: None, path: path.to_owned() }
}

/// Collects the texts of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    names: Vec<String>,
    codes: Vec<u32>,
    code_of: HashMap<String, u32>,
}

impl Texts {
    /// Adds a record's text; false when that would be one text too many.
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
    /// The one column that a reader was asked for.
    fn into_column(mut self, name: &str) -> Result<ColumnData, FormatError> {
        let at = self.place(name)?;
        if let Some(Texts { names, codes, .. }) = self.columns[at].texts.take() {
            return Ok(ColumnData::Categories { names, codes });
        }
        if self.columns[at].kind == ColumnKind::Text {
            let why = "it holds text, which is not read from this format".to_owned();
            return Err(FormatError::Column { what: format!("column `{}`", self.columns[at].name), why, hint: None, path: self.path });
        }
        let Some(place) = self.kept.iter().position(|&kept| kept == at) else {
            return Ok(ColumnData::Numbers(vec![f64::NAN; self.rows as usize]));
        };
        let width = self.kept.len();
        Ok(ColumnData::Numbers(match self.values {
            Values::F64(values) if width == 1 => values,
            values => (place..values.len()).step_by(width).map(|at| values.get(at)).collect(),
        }))
    }
}
