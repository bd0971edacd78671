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
    ColumnGuess, ColumnKind, ColumnRequest, DeclaredCoordinates, FileStamp, FixedRecords, Input, Result,
    Sheet, SheetColumn, recognise,
};
use crate::progress::{NoProgress, Progress};
use crate::table::{Values, with_values};
use crate::{AutoColumns, Column, ColumnChoice};

/// Bytes read at a time, or one record if that is larger.
const PIECE: u64 = 1 << 20;

/// Unwanted bytes between two records that are read rather than skipped.
const GAP: u64 = 1 << 14;

/// Appends the selected columns of rows, which are ascending ranges.
pub(super) type ReadRows =
    dyn Fn(&Input<'_>, &[Range<u64>], &[usize], &mut Values) -> Result<()> + Send + Sync;

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
    /// Bytes that reading needs besides the values.
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
}

/// Opens a file for reading in blocks, with the columns that [`super::read_auto`] or [`super::read`] would
/// read. `None` if its format or its columns do not allow it.
///
/// # Errors
/// [`super::FormatError`] if the file cannot be read.
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
    Ok(Some((RowBlocks { stamp: input.stamp.clone(), layout, selected, columns }, guess)))
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
        self.layout.buffer
    }

    /// The state of the file when it was opened.
    pub fn stamp(&self) -> &FileStamp {
        &self.stamp
    }

    /// The values of consecutive rows.
    ///
    /// # Errors
    /// [`FormatError::Changed`](super::FormatError::Changed) if the file has changed since it was opened; I/O
    /// errors.
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
        let mut values = Values::new(self.fits_f32());
        let count = rows.iter().map(|rows| rows.end - rows.start).sum::<u64>();
        let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(self.columns.len());
        let room = with_values!(&mut values, values => values.try_reserve_exact(count).is_ok());
        let done = if room {
            Input::new(self.stamp.path(), &NoProgress).and_then(|input| {
                (self.layout.read)(&input, rows, &self.selected, &mut values)?;
                if values.len() == count {
                    Ok(())
                } else {
                    Err(input.malformed(
                        "the rows".to_owned(),
                        "their number differs from that declared".to_owned(),
                    ))
                }
            })
        } else {
            Err(super::sheet::no_memory(count as u64, size_of::<f64>(), self.stamp.path().to_owned()))
        };
        self.stamp.check(done.map(|()| values))
    }
}

/// Reads records of a fixed size. Records that are close together are read together.
pub(super) fn fixed(records: FixedRecords, decode: Box<Decode>) -> Box<ReadRows> {
    let FixedRecords { start, record, .. } = records;
    let most = (PIECE / record as u64).max(1);
    Box::new(move |input, rows, selected, values| {
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
