//! Rows of a file in any order, for clouds that are larger than the memory.
//!
//! Only formats with records of a fixed size can be read like this. Reads are positional rather than through
//! a mapping, because a mapped file that shrinks would kill the program.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::{
    ColumnGuess, ColumnRequest, DeclaredCoordinates, FileStamp, FixedRecords, FormatError, Input, Result,
    Sheet, SheetColumn, recognise,
};
use crate::progress::Progress;
use crate::table::{Values, with_values};
use crate::{AutoColumns, Column, ColumnChoice};

/// Bytes read at a time, or one record if that is larger.
const PIECE: u64 = 1 << 20;

/// Unwanted bytes between two records that are read rather than skipped.
const GAP: u64 = 1 << 14;

/// Appends the selected columns of whole records; the error says what is wrong with a record.
type Decode = dyn Fn(&[u8], &[usize], &mut Values) -> Result<(), String> + Send + Sync;

/// A file whose records have a fixed size.
pub(super) struct BlockLayout {
    pub records: FixedRecords,
    pub columns: Vec<SheetColumn>,
    pub declared: Option<DeclaredCoordinates>,
    /// Whether f32 holds every value.
    pub fits_f32: bool,
    /// Whether f64 may round values, as it does large integers.
    pub exceeds_f64: bool,
    pub decode: Box<Decode>,
}

/// The coordinates of a file, read in blocks of rows.
pub struct RowBlocks {
    stamp: FileStamp,
    layout: BlockLayout,
    /// The column of each coordinate.
    selected: Vec<usize>,
    columns: Vec<Column>,
}

/// Opens a file for reading in blocks, with the columns that [`super::read_auto`] or [`super::read`] would
/// read. `None` if its format or its columns do not allow it.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn open_blocks(
    path: &Path,
    choice: &ColumnChoice,
    how: AutoColumns,
    progress: &dyn Progress,
) -> Result<Option<(RowBlocks, ColumnGuess)>> {
    let input = Input::new(path, progress)?;
    let request = ColumnRequest::Selected(choice);
    let layout = recognise(&input)?.blocks.map_or(Ok(None), |layout| layout(&input, &request))?;
    let Some(layout) = layout else { return Ok(None) };
    let selected = request.resolve(&layout.columns, &input)?;
    let values = Values::new(layout.fits_f32);
    let sheet = Sheet {
        declared: layout.declared.clone(),
        ..Sheet::new(&input, String::new(), layout.columns.clone(), selected, layout.records.rows, values)
    };
    let guess = sheet.guess();
    if guess.is_by_value() {
        return Ok(None);
    }
    let selected = match (choice, how) {
        (ColumnChoice::Named(_), _) => sheet.selected.clone(),
        (ColumnChoice::Default, AutoColumns::Inferred) => guess.coordinates.clone(),
        (ColumnChoice::Default, AutoColumns::AllNumeric) => guess.default_columns.clone(),
    };
    let columns = sheet.into_columns(&selected, false, &|_| None)?.columns;
    Ok(Some((RowBlocks { stamp: input.stamp.clone(), layout, selected, columns }, guess)))
}

impl RowBlocks {
    pub fn rows(&self) -> u64 {
        self.layout.records.rows
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether f32 holds every value.
    pub fn fits_f32(&self) -> bool {
        self.layout.fits_f32
    }

    /// Whether f64 may round values, as it does large integers.
    pub fn exceeds_f64(&self) -> bool {
        self.layout.exceeds_f64
    }

    /// The state of the file when it was opened.
    pub fn stamp(&self) -> &FileStamp {
        &self.stamp
    }

    /// The values of consecutive rows.
    ///
    /// # Errors
    /// [`FormatError::Changed`] if the file has changed since it was opened; I/O errors.
    pub fn read(&self, rows: Range<u64>) -> Result<Values> {
        self.checked(rows.end - rows.start, |file, values| {
            let step = (PIECE / self.record()).max(1);
            let mut raw = Vec::new();
            for first in rows.clone().step_by(step as usize) {
                let piece = first..rows.end.min(first + step);
                self.read_raw(file, piece.clone(), &mut raw)?;
                self.decode(piece.start, &raw, values)?;
            }
            Ok(())
        })
    }

    /// The values of some rows, which must ascend. Rows that are close together are read together.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn gather(&self, rows: &[u32]) -> Result<Values> {
        let record = self.record();
        let is_near = |a: &u32, b: &u32| u64::from(b - a - 1) * record <= GAP;
        self.checked(rows.len() as u64, |file, values| {
            let most = (PIECE / record).max(1) as usize;
            let mut raw = Vec::new();
            // A chunk spans at most `GAP` bytes for each of its rows.
            for near in rows.chunk_by(is_near).flat_map(|near| near.chunks(most.min(1 << 10))) {
                let first = u64::from(near[0]);
                self.read_raw(file, first..u64::from(near[near.len() - 1]) + 1, &mut raw)?;
                for run in near.chunk_by(|a, b| a + 1 == *b) {
                    let from = ((u64::from(run[0]) - first) * record) as usize;
                    self.decode(run[0].into(), &raw[from..from + run.len() * record as usize], values)?;
                }
            }
            Ok(())
        })
    }

    /// Bytes of a record.
    fn record(&self) -> u64 {
        self.layout.records.record as u64
    }

    /// Reads values from the file, which must not have changed.
    fn checked(&self, rows: u64, read: impl FnOnce(&mut File, &mut Values) -> Result<()>) -> Result<Values> {
        let mut values = Values::new(self.layout.fits_f32);
        let count = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(self.columns.len());
        let room = with_values!(&mut values, values => values.try_reserve_exact(count).is_ok());
        let done = if room {
            File::open(self.stamp.path())
                .map_err(|why| self.io(why))
                .and_then(|mut file| read(&mut file, &mut values))
        } else {
            Err(super::sheet::no_memory(count as u64, size_of::<f64>(), self.stamp.path().to_owned()))
        };
        self.stamp.check(done.map(|()| values))
    }

    fn io(&self, why: std::io::Error) -> FormatError {
        FormatError::Io { why, path: self.stamp.path().to_owned() }
    }

    /// The bytes of consecutive records.
    fn read_raw(&self, file: &mut File, rows: Range<u64>, raw: &mut Vec<u8>) -> Result<()> {
        raw.resize(((rows.end - rows.start) * self.record()) as usize, 0);
        file.seek(SeekFrom::Start(self.layout.records.start + rows.start * self.record()))
            .and_then(|_| file.read_exact(raw))
            .map_err(|why| self.io(why))
    }

    /// Appends the coordinates of records, from number `first` on.
    fn decode(&self, first: u64, raw: &[u8], values: &mut Values) -> Result<()> {
        (self.layout.decode)(raw, &self.selected, values).map_err(|why| FormatError::Malformed {
            what: format!("a record from {first} on"),
            why,
            path: self.stamp.path().to_owned(),
        })
    }
}
