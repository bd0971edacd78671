//! Maps a schema to columns: a list of numbers becomes one column per element.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::super::FormatError;
use super::super::input::Input;
use super::super::limits::{MAX_COLUMNS, MAX_LIST_COLUMNS, MAX_PROMISED_COLUMNS};
use super::super::sheet::{ColumnKind, SheetColumn};
use super::moment::Moment;
use super::{Batches, values};

/// Bytes that a column takes beside its name.
const COLUMN: u64 = 64;
/// Maximum length of the name of a type, which holds those of all fields within, in characters.
const TYPE_NAME: usize = 100;

/// The origin of each column of a sheet.
pub(super) struct Layout {
    columns: Vec<Origin>,
    /// The names of the columns of lists.
    lists: HashMap<usize, String>,
}

struct Origin {
    name: String,
    /// Index of the field in the schema.
    root: usize,
    what: What,
    /// Whether f32 represents its numbers exactly.
    narrow: bool,
    /// Not a coordinate unless chosen.
    beside: bool,
    /// Unit and time zone, if the numbers are timestamps.
    moment: Option<Moment>,
}

enum What {
    Number,
    /// One element of a fixed-size list, with the list's length.
    Element {
        at: usize,
        of: usize,
    },
    Text,
    /// A type that is not read.
    Other(String),
}

impl Layout {
    pub fn of(file: &dyn Batches, input: &Input<'_>) -> Result<Self, FormatError> {
        let schema = file.schema();
        let lists: Vec<usize> = (0..schema.fields().len()).filter(|&root| values::is_list(schema.field(root).data_type())).collect();
        let widths = widths(file, &lists, input)?;
        let named = lists.iter().zip(&widths).map(|(&root, &width)| (schema.field(root).name().len() as u64 + COLUMN).saturating_mul(width as u64));
        let bytes = named.fold(0, u64::saturating_add);
        if bytes > MAX_LIST_COLUMNS {
            let why = format!("named after their lists they take {bytes} bytes, and the most that are read are {MAX_LIST_COLUMNS}");
            return Err(input.unsupported("columns of lists", why));
        }
        let promised = widths.iter().copied().max().filter(|&width| width > MAX_PROMISED_COLUMNS && width as u64 > input.size());
        if let Some(width) = promised {
            return Err(input.malformed("columns of lists", format!("a list has {width} elements, and the file {} bytes", input.size())));
        }
        let mut columns = Vec::new();
        for (root, field) in schema.fields().iter().enumerate() {
            let (name, kind) = (field.name(), field.data_type());
            let narrow = values::fits_f32(kind);
            if let Ok(position) = lists.binary_search(&root) {
                let of = widths[position];
                columns.extend((0..of).map(|at| Origin {
                    name: format!("{name}{at}"),
                    root,
                    what: What::Element { at, of },
                    narrow,
                    beside: position > 0,
                    moment: None,
                }));
                continue;
            }
            let what = match kind {
                kind if values::is_number(kind) => What::Number,
                kind if values::is_text(kind) => What::Text,
                kind => What::Other(shortened(kind)),
            };
            // Dates, booleans and columns beside a list of numbers are unlikely to be coordinates.
            let beside = !lists.is_empty() || kind.is_temporal() || *kind == DataType::Boolean;
            columns.push(Origin { name: name.clone(), root, what, narrow, beside, moment: Moment::of(kind) });
        }
        let lists = lists.into_iter().map(|root| (root, schema.field(root).name().clone())).collect();
        Ok(Self { columns, lists })
    }

    pub fn columns(&self) -> Vec<SheetColumn> {
        let column = |position: &Origin| {
            let column = SheetColumn { beside: position.beside, moment: position.moment, ..SheetColumn::numeric(position.name.clone()) };
            match &position.what {
                What::Number => column,
                What::Element { .. } => SheetColumn { element: true, ..column },
                What::Text => SheetColumn { kind: ColumnKind::Text, ..column },
                What::Other(kind) => SheetColumn { kind: ColumnKind::Text, example: Some((0, kind.clone())), ..column },
            }
        };
        self.columns.iter().map(column).collect()
    }

    /// Index of a column's field in the schema.
    pub fn root(&self, column: usize) -> usize {
        self.columns[column].root
    }

    /// Whether f32 represents its numbers exactly.
    pub fn fits_f32(&self, column: usize) -> bool {
        self.columns[column].narrow
    }

    pub fn is_text(&self, column: usize) -> bool {
        matches!(self.columns[column].what, What::Text)
    }

    /// Whether the column has a supported type: numbers or text.
    pub fn is_read(&self, column: usize) -> bool {
        !matches!(self.columns[column].what, What::Other(_))
    }

    /// Reads the numbers of some columns, given in ascending order, row by row; null becomes NaN. `array` returns the array
    /// at an index in the schema. The error is a row and the reason.
    pub fn fill<'b>(&self, array: impl Fn(usize) -> Option<&'b ArrayRef>, selected: &[usize], rows: &mut [f64]) -> Result<(), (usize, String)> {
        rows.fill(f64::NAN);
        let mut start = 0;
        for same in selected.chunk_by(|&a, &b| self.root(a) == self.root(b)) {
            let positions = start..start + same.len();
            start = positions.end;
            if let Some(array) = array(self.root(same[0])) {
                self.numbers(array, selected, positions, rows)?;
            }
        }
        Ok(())
    }

    /// Writes the numbers of those columns that come from one array into `rows`; nulls leave the value unchanged. `positions`
    /// is their range in `selected`. The error is a row of the array and the reason.
    fn numbers(&self, array: &ArrayRef, selected: &[usize], positions: Range<usize>, rows: &mut [f64]) -> Result<(), (usize, String)> {
        let of = |position: usize| &self.columns[selected[position]];
        match of(positions.start).what {
            What::Element { of: length, .. } => {
                let named = |why: String| format!("the list in column `{}` {why}", self.lists[&of(positions.start).root]);
                let each = |row: usize, list: &[f64]| {
                    for position in positions.clone() {
                        if let What::Element { at, .. } = of(position).what {
                            rows[row * selected.len() + position] = list[at];
                        }
                    }
                };
                values::lists(array, length, each).map_err(|(row, why)| (row, named(why)))
            }
            What::Number => {
                values::numbers(array, rows.iter_mut().skip(positions.start).step_by(selected.len())).map_err(|why| (0, why))?;
                // The same column again, if it was selected twice.
                for row in rows.chunks_exact_mut(selected.len()) {
                    let value = row[positions.start];
                    row[positions.clone()].fill(value);
                }
                Ok(())
            }
            What::Text | What::Other(_) => Ok(()),
        }
    }
}

/// The name of a type, or its beginning.
fn shortened(kind: &DataType) -> String {
    struct Short(String);
    impl fmt::Write for Short {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let left = TYPE_NAME - self.0.chars().count();
            self.0.extend(text.chars().take(left));
            // Ends the writing of a type with thousands of fields.
            if text.chars().nth(left).is_some() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut short = Short(String::new());
    if write!(short, "{kind}").is_err() {
        short.0.push('…');
    }
    short.0
}

/// The length of the lists of some columns, taken from the first list that is not null.
fn widths(file: &dyn Batches, lists: &[usize], input: &Input<'_>) -> Result<Vec<usize>, FormatError> {
    let schema = file.schema();
    let mut widths: Vec<Option<usize>> = lists
        .iter()
        .map(|&root| match schema.field(root).data_type() {
            DataType::FixedSizeList(_, length) => Some(usize::try_from(*length).unwrap_or(0)),
            _ => None,
        })
        .collect();
    if widths.iter().any(Option::is_none) {
        file.read(lists, 0, &mut |_, batch| {
            input.check()?;
            for (position, width) in widths.iter_mut().enumerate().filter(|(_, width)| width.is_none()) {
                let array = batch.column(position);
                *width = (0..array.len()).find_map(|row| values::length(array, row));
            }
            Ok(widths.iter().any(Option::is_none))
        })?;
    }
    let checked = |width: Option<usize>| match width.unwrap_or(0) {
        width if width > MAX_COLUMNS => {
            Err(input.unsupported(format!("lists of {width} numbers"), format!("the most that are read are {MAX_COLUMNS}")))
        }
        width => Ok(width),
    };
    widths.into_iter().map(checked).collect()
}
