//! Rows of a file in any order, for clouds that are larger than the memory.
//!
//! Formats with records of a fixed size, or with chunks that are decoded one by one, can be read like this.
//! Reads are positional rather than through a mapping, because a mapped file that shrinks would kill the
//! program.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::{
    ColumnGuess, ColumnKind, ColumnRequest, DeclaredCoordinates, FileStamp, FixedRecords, FormatError, Input,
    Result, Sheet, SheetColumn, recognise,
};
use crate::files::{StoreWriter, Stored};
use crate::progress::{NoProgress, Progress};
use crate::table::{Values, with_values};
use crate::{AutoColumns, Column, ColumnChoice};

/// Bytes read at a time, or one record if that is larger.
const PIECE: u64 = 1 << 20;

/// Unwanted bytes between two records that are read rather than skipped.
const GAP: u64 = 1 << 14;

/// Receives values whenever some were appended, and may remove them.
pub(super) type Appended<'a> = dyn FnMut(&mut Values) -> Result<()> + Send + 'a;

/// Appends the selected columns of rows, which are ascending ranges.
pub(super) type ReadRows =
    dyn Fn(&Input<'_>, &[Range<u64>], &[usize], &mut Values, &mut Appended<'_>) -> Result<()> + Send + Sync;

/// Appends the selected columns of whole records; the error says what is wrong with a record.
type Decode = dyn Fn(&[u8], &[usize], &mut Values) -> Result<(), String> + Send + Sync;

/// How the rows of a file are read.
pub(super) struct BlockLayout {
    pub rows: u64,
    pub columns: Vec<SheetColumn>,
    pub declared: Option<DeclaredCoordinates>,
    /// Whether f32 holds every value of a column.
    pub fits_f32: Vec<bool>,
    /// Whether f64 may round values of a column, as it does large integers.
    pub exceeds_f64: Vec<bool>,
    /// Bytes that decoding a chunk needs besides the values; 0 if records have a fixed size.
    pub buffer: u64,
    pub read: Box<ReadRows>,
}

/// The coordinates of a file, read in blocks of rows.
pub struct RowBlocks {
    stamp: FileStamp,
    layout: BlockLayout,
    /// The column of each coordinate.
    selected: Vec<usize>,
    columns: Vec<Column>,
    /// The values of all rows, once they are in a scratch file.
    stored: Option<Stored<u8>>,
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
    let mut selected = request.resolve(&layout.columns, &input)?;
    let is_number = |at: &usize| layout.columns[*at].kind == ColumnKind::Numeric;
    let is_default = *choice == ColumnChoice::Default;
    if !is_default && !selected.iter().all(is_number) {
        return Ok(None);
    }
    selected.retain(is_number);
    let sheet = Sheet {
        declared: layout.declared.clone(),
        ..Sheet::new(&input, String::new(), layout.columns.clone(), selected, layout.rows, Values::new(true))
    };
    let guess = sheet.guess();
    if is_default && guess.is_by_value() {
        return Ok(None);
    }
    let selected = match (choice, how) {
        (ColumnChoice::Named(_), _) => sheet.selected.clone(),
        (ColumnChoice::Default, AutoColumns::Inferred) => guess.coordinates.clone(),
        (ColumnChoice::Default, AutoColumns::AllNumeric) => guess.default_columns.clone(),
    };
    let columns = sheet.into_columns(&selected, false, &|_| None)?.columns;
    Ok(Some((RowBlocks { stamp: input.stamp.clone(), layout, selected, columns, stored: None }, guess)))
}

impl RowBlocks {
    pub fn rows(&self) -> u64 {
        self.layout.rows
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether f32 holds every value.
    pub fn fits_f32(&self) -> bool {
        self.selected.iter().all(|&at| self.layout.fits_f32[at])
    }

    /// Whether f64 may round values, as it does large integers.
    pub fn exceeds_f64(&self) -> bool {
        self.selected.iter().any(|&at| self.layout.exceeds_f64[at])
    }

    /// Bytes that reading needs besides the values.
    pub fn buffer(&self) -> u64 {
        if self.stored.is_some() { 0 } else { self.layout.buffer }
    }

    /// The size of all values in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        let value = if self.fits_f32() { size_of::<f32>() } else { size_of::<f64>() };
        self.rows().saturating_mul((self.columns.len() * value) as u64)
    }

    /// Decodes all rows once, into a scratch file in a folder. They are read from there afterwards, also if the
    /// file changes.
    ///
    /// # Errors
    /// As [`Self::read`], and [`FormatError::Scratch`].
    pub fn store(&mut self, folder: &Path, progress: &dyn Progress) -> Result<()> {
        let (rows, width) = (self.rows(), self.columns.len() as u64);
        let (mut store, mut count) = (StoreWriter::new(0, Some(folder))?, 0);
        let mut append = |values: &mut Values| {
            if progress.cancelled() {
                return Err(FormatError::Cancelled);
            }
            count += values.len() as u64;
            progress.update(count / width, rows);
            with_values!(values, values => {
                store.extend(bytemuck::cast_slice(values))?;
                values.clear();
            });
            Ok(())
        };
        let all = 0..rows;
        self.read_file(&[all], &mut Values::new(self.fits_f32()), &mut append)?;
        self.check_count(count, rows * width)?;
        self.stored = Some(store.finish()?);
        Ok(())
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
        self.read_ranges(&[rows])
    }

    /// The values of some rows, which must ascend. A chunk is decoded once for all rows in it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn gather(&self, rows: &[u32]) -> Result<Values> {
        let run = |run: &[u32]| u64::from(run[0])..u64::from(run[0]) + run.len() as u64;
        self.read_ranges(&rows.chunk_by(|a, b| a + 1 == *b).map(run).collect::<Vec<_>>())
    }

    fn read_ranges(&self, rows: &[Range<u64>]) -> Result<Values> {
        let (mut values, width) = (Values::new(self.fits_f32()), self.columns.len());
        let count = rows.iter().map(|rows| rows.end - rows.start).sum::<u64>();
        let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width);
        let room = with_values!(&mut values, values => values.try_reserve_exact(count).is_ok());
        if !room {
            let path = self.stamp.path().to_owned();
            return Err(super::sheet::no_memory(count as u64, size_of::<f64>(), path));
        }
        let Some(stored) = &self.stored else {
            self.read_file(rows, &mut values, &mut |_| Ok(()))?;
            return self.check_count(values.len() as u64, count as u64).map(|()| values);
        };
        for rows in rows {
            let range = rows.start as usize * width..rows.end as usize * width;
            with_values!(&mut values, values => {
                values.extend_from_slice(&bytemuck::cast_slice(stored)[range]);
            });
        }
        Ok(values)
    }

    /// Reads rows from the file rather than from a scratch file.
    fn read_file(&self, rows: &[Range<u64>], values: &mut Values, appended: &mut Appended<'_>) -> Result<()> {
        let read = Input::new(self.stamp.path(), &NoProgress)
            .and_then(|input| (self.layout.read)(&input, rows, &self.selected, values, appended));
        self.stamp.check(read)
    }

    fn check_count(&self, found: u64, declared: u64) -> Result<()> {
        if found == declared {
            return Ok(());
        }
        Err(FormatError::Malformed {
            what: "the rows".to_owned(),
            why: format!("found {found} values, expected {declared}"),
            path: self.stamp.path().to_owned(),
        })
    }
}

/// Reads records of a fixed size. Records that are close together are read together.
pub(super) fn fixed(records: FixedRecords, decode: Box<Decode>) -> Box<ReadRows> {
    let FixedRecords { start, record, .. } = records;
    let most = (PIECE / record as u64).max(1);
    Box::new(move |input, rows, selected, values, appended| {
        let mut file = File::open(&input.path).map_err(|why| input.io(why))?;
        let split = |rows: &Range<u64>| {
            let end = rows.end;
            rows.clone().step_by(most as usize).map(move |first| first..end.min(first + most))
        };
        let mut pieces = rows.iter().flat_map(split).peekable();
        let (mut near, mut raw) = (Vec::new(), Vec::new());
        while let Some(piece) = pieces.next() {
            let (first, mut end) = (piece.start, piece.end);
            near.clear();
            near.push(piece);
            let is_near = |end: u64, next: &Range<u64>| {
                (next.start - end) * record as u64 <= GAP && next.end - first <= most
            };
            while let Some(next) = pieces.next_if(|next| is_near(end, next)) {
                end = next.end;
                near.push(next);
            }
            let byte = |row: u64| (row - first) as usize * record;
            raw.resize(byte(end), 0);
            file.seek(SeekFrom::Start(start + first * record as u64))
                .and_then(|_| file.read_exact(&mut raw))
                .map_err(|why| input.io(why))?;
            for run in &near {
                decode(&raw[byte(run.start)..byte(run.end)], selected, values)
                    .map_err(|why| input.malformed(format!("a record from {} on", run.start), why))?;
            }
            appended(values)?;
        }
        Ok(())
    })
}

/// From the first to the last row of a chunk that is among ascending ranges.
pub(super) fn hull(rows: &[Range<u64>], chunk: Range<u64>) -> Option<Range<u64>> {
    let first = rows.get(rows.partition_point(|rows| rows.end <= chunk.start))?;
    let last = &rows[..rows.partition_point(|rows| rows.start < chunk.end)].last()?;
    let hull = first.start.max(chunk.start)..last.end.min(chunk.end);
    (hull.start < hull.end).then_some(hull)
}

/// The parts of a chunk that are among ascending ranges, counted from its first row.
pub(super) fn parts(rows: &[Range<u64>], chunk: Range<u64>) -> impl Iterator<Item = Range<usize>> {
    let from = rows.partition_point(|rows| rows.end <= chunk.start);
    let (start, end) = (chunk.start, chunk.end);
    rows[from..]
        .iter()
        .take_while(move |rows| rows.start < end)
        .map(move |rows| (rows.start.max(start) - start) as usize..(rows.end.min(end) - start) as usize)
}
