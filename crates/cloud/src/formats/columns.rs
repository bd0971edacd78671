//! The file's other columns, on demand: one column of all records, or all columns of a few. Contains the
//! shared loops for fixed-size records ([`FixedRecords`]) and sequential ones ([`RecordPicker`]).

use crate::Values;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::limits::MAX_CATEGORIES;
use super::sheet::named;
use super::{
    ColumnKind, ColumnRequest, FileStamp, FormatError, Input, Result, Sheet, SheetColumn, cell, file_of,
    read_bytes, recognise, scan,
};
use crate::progress::Progress;

/// One column of a file with a value per record, including records that are not in the cloud:
/// [`crate::PointCloud::record`] maps a cloud's rows to records.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Numbers as f64; NaN if missing.
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
    /// Any other content, and numbers displayed as text: a date, or `06484`.
    Text(String),
    /// An empty field, or a word for a missing value: NaN, NA, null.
    Missing,
}

impl Cell {
    /// The numeric value, also of digits with a leading 0, which are displayed as text.
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
/// [`FormatError::NoColumn`] and [`FormatError::Column`] if no column or several match, or if a text column
/// has too many distinct texts; and any error of reading the file.
pub fn column(path: &Path, name: &str, progress: &dyn Progress) -> Result<ColumnData> {
    scan(path, &ColumnRequest::Column(&name.to_owned()), progress)?.into_column(name)
}

/// Reads all columns of the records with these 0-based numbers, in any order, repetitions allowed.
///
/// Binary formats with fixed-size records seek to each record; other formats are read sequentially up to the
/// last one.
///
/// # Errors
/// [`FormatError::Malformed`] if there is no such record; and any error of reading the file.
pub fn records(path: &Path, records: &[u64], progress: &dyn Progress) -> Result<Records> {
    records_indexed(path, records, &RecordIndex::default(), progress)
}

/// The 0-based numbers of the named columns, in the order of the names.
///
/// # Errors
/// [`FormatError::NoColumn`] and [`FormatError::Column`] as for [`super::read`]; and any error of reading the
/// file.
pub fn column_indices(path: &Path, names: &[String], progress: &dyn Progress) -> Result<Vec<usize>> {
    let all: Vec<SheetColumn> =
        records(path, &[], progress)?.columns.into_iter().map(SheetColumn::numeric).collect();
    named(names, &all, &file_of(path))
}

/// Like [`records`], but text is read from the nearest mark before each record that an earlier call left.
///
/// # Errors
/// The same as those of [`records`].
pub fn records_indexed(
    path: &Path,
    records: &[u64],
    marks: &RecordIndex,
    progress: &dyn Progress,
) -> Result<Records> {
    let input = Input::new(path, progress)?.with_index(marks);
    input.finish(recognise(&input).and_then(|format| (format.records)(&input, records)))
}

/// Like [`records_indexed`], for some columns, by number; columnar formats leave all other columns missing.
/// `spelled` returns numbers in text files as [`Cell::Text`] with the file's spelling: `1.50`, `0E8`; and
/// integers of NumPy arrays, Parquet and Arrow that f64 rounds.
///
/// # Errors
/// The same as those of [`records`].
pub fn records_of_columns(
    path: &Path,
    records: &[u64],
    columns: &[usize],
    spelled: bool,
    marks: &RecordIndex,
    progress: &dyn Progress,
) -> Result<Records> {
    let input = Input::new(path, progress)?.with_index(marks).with_columns(columns, spelled);
    input.finish(recognise(&input).and_then(|format| (format.records)(&input, records)))
}

/// The layout of fixed-size records in a file.
pub(super) struct FixedRecords {
    /// Byte offset of record 0.
    pub start: u64,
    /// Bytes of a record.
    pub record: usize,
    pub rows: u64,
}

impl FixedRecords {
    /// Seeks to each record and decodes its bytes into cells.
    pub fn records(
        &self,
        input: &Input<'_>,
        records: &[u64],
        cells: impl Fn(&[u8]) -> Vec<Cell>,
    ) -> Result<Vec<Vec<Cell>>> {
        input.check_records(records, self.rows)?;
        // Unbuffered: the next record is elsewhere.
        let mut file = input.open()?.into_inner();
        let mut raw = vec![0; self.record];
        let row = |&record: &u64| {
            let found = file
                .seek(SeekFrom::Start(self.start + record * self.record as u64))
                .and_then(|_| file.read_exact(&mut raw));
            found.map_err(|why| input.io(why))?;
            let cells = cells(&raw);
            claim_cells(cells.len(), input)?;
            Ok(cells)
        };
        records.iter().map(row).collect()
    }

    /// Like [`Self::records`], for a stream that is at byte offset `at` and cannot seek back.
    pub fn records_in(
        &self,
        reader: &mut impl Read,
        at: &mut u64,
        input: &Input<'_>,
        records: &[u64],
        cells: impl Fn(&[u8]) -> Vec<Cell>,
    ) -> Result<Vec<Vec<Cell>>> {
        input.check_records(records, self.rows)?;
        let mut picked = RecordPicker::new(records);
        for (record, found) in &mut picked.found {
            let start = self.start + record * self.record as u64;
            input.skip_rest(reader.by_ref().take(start - *at))?;
            *found = cells(&read_bytes(reader, self.record as u64).map_err(|why| input.io(why))?);
            claim_cells(found.len(), input)?;
            *at = start + self.record as u64;
        }
        Ok(picked.into_records(Vec::new()).rows)
    }

    /// Passes all records to `take` in batches, each with the number of its first record. `reader` is at
    /// record 0. Memory grows as bytes arrive, because the header cannot be trusted.
    pub fn visit(
        &self,
        reader: &mut impl Read,
        failed: impl Fn(io::Error) -> FormatError,
        mut take: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        /// Bytes read at a time, or one record if that is larger.
        const CHUNK: usize = 1 << 18;
        let (step, mut row) = ((CHUNK / self.record).max(1) as u64, 0);
        while row < self.rows {
            let count = step.min(self.rows - row);
            take(row, &read_bytes(reader, count * self.record as u64).map_err(&failed)?)?;
            row += count;
        }
        Ok(())
    }
}

/// The cells of requested records, collected while a file is read in order.
pub(super) struct RecordPicker<'w> {
    wanted: &'w [u64],
    /// By record number; empty until found.
    pub found: BTreeMap<u64, Vec<Cell>>,
}

impl<'w> RecordPicker<'w> {
    pub fn new(wanted: &'w [u64]) -> Self {
        Self { wanted, found: wanted.iter().map(|&record| (record, Vec::new())).collect() }
    }

    /// The number of records up to the last requested one.
    pub fn end(&self) -> u64 {
        self.found.keys().next_back().map_or(0, |last| last.saturating_add(1))
    }

    /// Stores the cells of a record if requested; returns whether more requested records may follow.
    pub fn offer(&mut self, record: u64, cells: impl FnOnce() -> Vec<Cell>) -> bool {
        if let Some(found) = self.found.get_mut(&record) {
            *found = cells();
        }
        record.saturating_add(1) < self.end()
    }

    /// All requested records, in the order requested.
    pub fn into_records(self, columns: Vec<String>) -> Records {
        Records { columns, rows: self.wanted.iter().map(|record| self.found[record].clone()).collect() }
    }
}

/// Claims memory for the cells of a record, excluding texts, which are limited by the size of the file.
pub(super) fn claim_cells(count: usize, input: &Input<'_>) -> Result<()> {
    input.claim((count as u64).saturating_mul(size_of::<Cell>() as u64), "a record")
}

/// Wraps a number as a cell; NaN is missing.
pub(super) fn number_cell(value: f64) -> Cell {
    if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
}

/// Wraps a number as a cell; as text if it is an integer that f64 rounds.
pub(super) fn integer_cell(integer: Option<i128>, value: f64) -> Cell {
    match integer {
        Some(integer) if value as i128 != integer => Cell::Text(integer.to_string()),
        _ => number_cell(value),
    }
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

/// The same, keeping the file's spelling of numbers.
pub(super) fn spelled_cell(read: cell::Cell, field: &[u8]) -> Cell {
    if read == cell::Cell::Missing { Cell::Missing } else { Cell::Text(cell::text(field)) }
}

/// The error for exceeding [`MAX_CATEGORIES`].
pub(super) fn too_many_texts(column: &str, input: &Input<'_>) -> FormatError {
    let why = format!("more than {MAX_CATEGORIES} distinct texts, too many for categories");
    input.unusable(format!("column `{column}`"), why, None)
}

/// Builds a categorical column.
#[derive(Clone, Debug, Default)]
pub(super) struct CategoryBuilder {
    names: Vec<String>,
    codes: Vec<u32>,
    code_of: HashMap<String, u32>,
}

impl CategoryBuilder {
    /// Adds the text of the next record.
    ///
    /// # Errors
    /// [`FormatError::Column`] beyond [`MAX_CATEGORIES`], and those of [`Input::claim`].
    pub fn push(&mut self, text: &str, column: &str, input: &Input<'_>) -> Result<()> {
        if self.push_counted(text, input)? { Ok(()) } else { Err(too_many_texts(column, input)) }
    }

    /// Like [`Self::push`]; returns false if that would exceed [`MAX_CATEGORIES`].
    pub fn push_counted(&mut self, text: &str, input: &Input<'_>) -> Result<bool> {
        /// Bytes per text besides its characters, which are stored twice: strings, a code and a hash table
        /// entry.
        const TEXT: u64 = 128;
        input.reserve_for(&mut self.codes, 1, "the texts of a column")?;
        let code = match self.code_of.get(text) {
            Some(&code) => code,
            None => {
                input.claim(2 * text.len() as u64 + TEXT, "the texts of a column")?;
                if self.names.len() == MAX_CATEGORIES {
                    return Ok(false);
                }
                let code = self.names.len() as u32;
                self.names.push(text.to_owned());
                self.code_of.insert(text.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
        Ok(true)
    }
}

impl Sheet {
    /// Extracts the single column that the reader was asked for.
    fn into_column(mut self, name: &str) -> Result<ColumnData> {
        let at = self.column_index(name)?;
        if let Some(CategoryBuilder { names, codes, .. }) = self.columns[at].texts.take() {
            return Ok(ColumnData::Categories { names, codes });
        }
        if self.columns[at].kind == ColumnKind::Text {
            let why = "text columns are not supported in this format".to_owned();
            return Err(FormatError::Column {
                what: format!("column `{}`", self.columns[at].name),
                why,
                hint: None,
                path: self.path,
            });
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

// An index of record offsets in a text file, one per [`MARK_INTERVAL`] records read so far, so that later
// look-ups need not start at the beginning.

/// Number of records between marks.
const MARK_INTERVAL: u64 = 1 << 14;

/// Identity of a text: its file, and the number of skipped lines.
type File = (FileStamp, u64);

/// The marks of the most recently read text file.
#[derive(Debug, Default)]
pub struct RecordIndex(Mutex<FileIndex>);

/// Marks of a file, ascending: record number and byte offset.
#[derive(Debug, Default)]
pub(super) struct FileIndex {
    file: Option<File>,
    marks: Vec<(u64, u64)>,
}

impl RecordIndex {
    /// The marks of a file; empty if another file was read last.
    pub(super) fn for_input(&self, input: &Input<'_>) -> MutexGuard<'_, FileIndex> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Some((input.stamp.clone(), input.skipped));
        if known.file != file {
            *known = FileIndex { file, marks: Vec::new() };
        }
        known
    }
}

impl FileIndex {
    /// The last mark at or before a record.
    pub fn before(&self, record: u64) -> Option<(u64, u64)> {
        self.marks[..self.marks.partition_point(|&(at, _)| at <= record)].last().copied()
    }

    /// Whether a record should have a mark and does not yet.
    pub fn wants(&self, record: u64) -> bool {
        record.is_multiple_of(MARK_INTERVAL) && self.marks.last().is_none_or(|&(last, _)| last < record)
    }

    /// Adds a mark for a record, if [`Self::wants`] is true for it.
    pub fn add(&mut self, record: u64, byte: u64) {
        self.marks.push((record, byte));
    }
}
