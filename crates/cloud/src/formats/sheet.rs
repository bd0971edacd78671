//! The columns of a file, and the selection of those that become coordinates.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::arrow::TimestampType;
use super::cell::number;
use super::limits::{MAX_COLUMNS, MAX_NAME};
use super::{CategoryBuilder, FormatError, Input, Result, printable};
use crate::roles::Role;
use crate::suggest::suggest;
use crate::table::Real;
use crate::{Column, ColumnChoice, Coordinates, Hint, LongDecimals, Values, headings, memory};

/// The type of a column's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers, possibly missing in some rows.
    Numeric,
    /// At least one field that is not a number.
    Text,
    /// No value in any row.
    Empty,
}

/// A description of a file, for display and for choosing columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileInfo {
    /// Path of the file.
    #[serde(serialize_with = "crate::path_as_text")]
    pub path: PathBuf,
    /// The name of its format, with details: the delimiter, the element type.
    pub format: String,
    /// Number of data records.
    pub rows: u64,
    /// All columns, in the file's order.
    pub columns: Vec<ColumnInfo>,
    /// Indices of the columns that are coordinates by default.
    pub default_columns: Vec<usize>,
    /// Indices of the columns that look like coordinates, in axis order.
    pub guessed_columns: Vec<usize>,
    /// The inferred columns by name, with the reason: `searches x, y (by name), not id (id)`.
    #[serde(default)]
    pub searches: String,
    /// Content that was not read, one sentence each.
    pub skipped: Vec<String>,
}

/// Name, type and range of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// From the file, or generated.
    pub name: String,
    /// Whether the name is generated.
    #[serde(skip)]
    pub made_up: bool,
    /// The type of its content.
    pub kind: ColumnKind,
    /// Its inferred role.
    pub role: Role,
    /// The smallest finite value of a numeric column.
    pub min: Option<f64>,
    /// The largest finite value of a numeric column.
    pub max: Option<f64>,
    /// Rows in which a numeric column is empty or NaN.
    pub missing: u64,
    /// Rows in which a numeric column is infinite.
    pub infinite: u64,
    /// The first non-numeric field of a text column.
    pub example: Option<String>,
    /// The record of the example.
    #[serde(default)]
    pub example_record: Option<u64>,
    /// Unit and time zone, if the numbers are timestamps.
    #[serde(default)]
    pub moment: Option<TimestampType>,
}

/// A column of a file as found by its reader.
#[derive(Clone, Debug)]
pub(super) struct SheetColumn {
    pub name: String,
    /// Whether the name was generated, and so has no meaning.
    pub made_up: bool,
    pub kind: ColumnKind,
    /// The first non-numeric field, with its record.
    pub example: Option<(u64, String)>,
    /// Whether numbers precede the example.
    pub mixed: bool,
    /// Whether it is an attribute, such as a label, and a coordinate only if selected explicitly.
    pub attribute: bool,
    /// Whether it is an element of a vector: an array row or a list. Unless `attribute` is set, it is always
    /// a coordinate.
    pub element: bool,
    /// Alternative name for selecting the column.
    pub alias: Option<&'static str>,
    /// The content of a text column, if requested.
    pub texts: Option<CategoryBuilder>,
    /// The range of the numbers, if the reader computed it without storing them.
    pub range: Option<ColumnStats>,
    /// Unit and time zone, if the numbers are timestamps.
    pub moment: Option<TimestampType>,
}

/// Range and invalid values of a numeric column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ColumnStats {
    min: f64,
    max: f64,
    missing: u64,
    infinite: u64,
}

impl Default for ColumnStats {
    fn default() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, missing: 0, infinite: 0 }
    }
}

impl ColumnStats {
    /// Rows without a finite number.
    pub fn nonfinite(&self) -> u64 {
        self.missing + self.infinite
    }

    /// Extends the range by a number.
    pub fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        } else if value.is_nan() {
            self.missing += 1;
        } else {
            self.infinite += 1;
        }
    }
}

impl SheetColumn {
    pub fn numeric(name: String) -> Self {
        Self {
            name: shortened(name),
            made_up: false,
            kind: ColumnKind::Numeric,
            example: None,
            mixed: false,
            attribute: false,
            element: false,
            alias: None,
            texts: None,
            range: None,
            moment: None,
        }
    }

    /// A column of text.
    pub fn text(name: &str) -> Self {
        Self { kind: ColumnKind::Text, ..Self::numeric(name.to_owned()) }
    }

    /// A numeric attribute that is not a coordinate.
    pub fn attribute(name: &str) -> Self {
        Self { attribute: true, ..Self::numeric(name.to_owned()) }
    }

    /// Approximate bytes of this many columns with short names.
    pub fn memory_of(count: u64) -> u64 {
        count.saturating_mul(2 * (size_of::<Self>() + 32) as u64)
    }

    /// The names of columns.
    pub fn names(columns: Vec<Self>) -> Vec<String> {
        columns.into_iter().map(|column| column.name).collect()
    }

    /// Numeric columns with generated names.
    pub fn unnamed(count: usize) -> Vec<Self> {
        Column::unnamed(count)
            .into_iter()
            .map(|column| Self { made_up: true, ..Self::numeric(column.name) })
            .collect()
    }

    /// A column that is one element of a vector.
    pub fn element(name: String) -> Self {
        Self { element: true, ..Self::numeric(name) }
    }

    /// The columns of pictures, named after their pixels from the upper left.
    pub fn pixels(count: usize, width: usize, channels: &[&str]) -> Vec<Self> {
        let name = |at: usize| {
            let (pixel, channel) = (at / channels.len(), channels[at % channels.len()]);
            format!("r{}c{}{channel}", pixel / width, pixel % width)
        };
        (0..count).map(|at| Self::element(name(at))).collect()
    }

    /// The columns of an array whose rows are vectors.
    pub fn elements(count: usize) -> Vec<Self> {
        Self::unnamed(count).into_iter().map(|column| Self { element: true, ..column }).collect()
    }
}

/// The name of a column, of at most [`MAX_NAME`] characters.
fn shortened(name: String) -> String {
    // A character has at least one byte.
    if name.len() <= MAX_NAME {
        printable(&name)
    } else {
        printable(&name.chars().take(MAX_NAME).collect::<String>())
    }
}

/// Coordinates that the file itself declares, such as the geometry of a GeoParquet file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeclaredCoordinates {
    /// Indices of the columns, in axis order.
    pub columns: Vec<usize>,
    /// Completes "searches COLUMNS (…)": `points in WKB, OGC:CRS84`.
    pub why: String,
}

/// The columns of a file, with the values of those that were read.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub(super) path: PathBuf,
    pub(super) format: String,
    pub(super) columns: Vec<SheetColumn>,
    /// The column index of each value in a row of `values`, ascending or in selection order.
    pub(super) selected: Vec<usize>,
    pub(super) rows: u64,
    /// rows × selected values, row-major.
    pub(super) values: Values,
    pub(super) skipped: Vec<String>,
    /// Coordinates declared by the file, which inference does not override.
    pub(super) declared: Option<DeclaredCoordinates>,
    /// Whether the file's values are decimals.
    pub(super) decimals: bool,
    /// The decimals of `columns` that `values` does not identify, in a table of [`MAX_COLUMNS`] columns.
    pub(super) long_decimals: LongDecimals,
}

/// The columns that a reader should read.
pub(super) enum ColumnRequest<'a> {
    Everything,
    Selected(&'a ColumnChoice),
    /// One column by name; if it is text, as [`SheetColumn::texts`].
    Column(&'a String),
}

impl ColumnRequest<'_> {
    /// The columns to read, before their types are known.
    pub fn resolve(&self, columns: &[SheetColumn], input: &Input<'_>) -> Result<Vec<usize>> {
        Ok(match self {
            Self::Selected(ColumnChoice::Named(names)) => named(names, columns, &input.path)?,
            Self::Selected(ColumnChoice::Default) => {
                // Also read columns that inference may choose later.
                let all = || (0..columns.len()).filter(|&at| !columns[at].attribute).collect();
                conventional(columns).map_or_else(all, |mut conventional| {
                    let headings: Vec<_> = columns
                        .iter()
                        .map(|column| (!column.made_up && !column.attribute).then_some(column.name.as_str()))
                        .collect();
                    conventional.extend(
                        headings::coordinates(&headings).map_or_else(Vec::new, |found| found.columns),
                    );
                    conventional.sort_unstable();
                    conventional.dedup();
                    conventional
                })
            }
            Self::Column(name) => named(std::slice::from_ref(*name), columns, &input.path)?,
            Self::Everything => (0..columns.len()).collect(),
        })
    }
}

impl ColumnRequest<'_> {
    /// A text store for the first column, if requested. The first column is text, so it is removed from
    /// `selected`.
    pub fn texts(&self, selected: &mut Vec<usize>) -> Option<CategoryBuilder> {
        let texts = (matches!(self, Self::Column(_)) && *selected == [0]).then(CategoryBuilder::default);
        selected.retain(|&at| at > 0);
        texts
    }
}

impl Sheet {
    /// Whether the file has no column names and its vectors differ in length from the selection.
    pub(super) fn has_other_length(&self) -> bool {
        let vector = || self.columns.iter().filter(|column| !column.attribute);
        vector().all(|column| column.made_up) && vector().count() != self.selected.len()
    }

    /// The result of a reader: `values` has one value per row for each of `selected`.
    pub(super) fn new(
        input: &Input<'_>,
        format: String,
        columns: Vec<SheetColumn>,
        selected: Vec<usize>,
        rows: u64,
        values: impl Into<Values>,
    ) -> Self {
        Self {
            path: input.path.clone(),
            format,
            columns,
            selected,
            rows,
            values: values.into(),
            skipped: Vec::new(),
            declared: None,
            decimals: false,
            long_decimals: LongDecimals::default(),
        }
    }

    /// The types and ranges of all columns.
    pub(super) fn info(&self) -> FileInfo {
        let guess = self.guess();
        let searches = guess.summary();
        let mut columns: Vec<ColumnInfo> = self
            .columns
            .iter()
            .zip(&guess.columns)
            .map(|(column, guessed)| ColumnInfo {
                made_up: column.made_up,
                role: guessed.role,
                name: column.name.clone(),
                kind: column.kind,
                min: None,
                max: None,
                missing: 0,
                infinite: 0,
                example: column.example.as_ref().map(|(_, text)| text.clone()),
                example_record: column.example.as_ref().map(|&(record, _)| record),
                moment: column.moment,
            })
            .collect();
        let mut ranges: Vec<Option<ColumnStats>> = self.columns.iter().map(|column| column.range).collect();
        let width = self.selected.len();
        for (at, &column) in self.selected.iter().enumerate() {
            let range = ranges[column].insert(ColumnStats::default());
            (at..self.values.len()).step_by(width).for_each(|at| range.add(self.values.get(at)));
        }
        for (info, range) in
            columns.iter_mut().zip(ranges).filter(|(info, _)| info.kind == ColumnKind::Numeric)
        {
            let Some(ColumnStats { min, max, missing, infinite }) = range else { continue };
            (info.min, info.max) = if min <= max { (Some(min), Some(max)) } else { (None, None) };
            (info.missing, info.infinite) = (missing, infinite);
        }
        FileInfo {
            path: self.path.clone(),
            format: self.format.clone(),
            rows: self.rows,
            columns,
            default_columns: guess.default_columns,
            guessed_columns: guess.coordinates,
            searches,
            skipped: self.skipped.clone(),
        }
    }

    /// The index of the column with this name.
    pub(super) fn column_index(&self, name: &str) -> Result<usize> {
        Ok(named(&[name.to_owned()], &self.columns, &self.path)?[0])
    }

    /// Columns that are coordinates by name, even if they contain text; otherwise all columns that are
    /// numeric or begin with numbers. One bad value must not change the number of dimensions.
    pub(super) fn default_columns(&self) -> Vec<usize> {
        if let Some(declared) = &self.declared {
            return declared.columns.clone();
        }
        let meant =
            |column: &SheetColumn| !column.attribute && (column.kind == ColumnKind::Numeric || column.mixed);
        conventional(&self.columns)
            .unwrap_or_else(|| (0..self.columns.len()).filter(|&at| meant(&self.columns[at])).collect())
    }

    /// Extracts the selected columns in selection order. `line` finds the line of a record in text.
    ///
    /// # Errors
    /// [`FormatError::Column`] if a column does not exist, was not read or is not numeric, or if none is
    /// numeric.
    pub fn into_table(self, choice: &ColumnChoice, line: &dyn Fn(u64) -> Option<u64>) -> Result<Coordinates> {
        let (chosen, asked) = match choice {
            ColumnChoice::Default => (self.default_columns(), false),
            ColumnChoice::Named(names) => (named(names, &self.columns, &self.path)?, true),
        };
        self.into_columns(&chosen, asked, line)
    }

    /// Extracts columns by number, in this order. `asked` tells whether the user selected them.
    ///
    /// # Errors
    /// As for [`Self::into_table`].
    pub(super) fn into_columns(
        self,
        chosen: &[usize],
        asked: bool,
        line: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<Coordinates> {
        let path = self.path.clone();
        let fail = |what: String, why: String, hint: Option<Hint>| FormatError::Column {
            what,
            why,
            hint,
            path: path.clone(),
        };
        if chosen.is_empty() {
            let first = self.columns.iter().find_map(|column| Some((&column.name, column.example.as_ref()?)));
            let example = first
                .map(|(name, (record, text))| {
                    format!("; column `{name}` has `{text}` in record {record}{}", hint(text))
                })
                .unwrap_or_default();
            return Err(fail(
                "no coordinates".into(),
                format!("no column holds only numbers{example}"),
                None,
            ));
        }
        let way_out = (!asked).then_some(Hint::OtherColumns);
        let position_of = positions_by_column(&self.selected, self.columns.len());
        let mut positions = Vec::with_capacity(chosen.len());
        for &at in chosen {
            let column = &self.columns[at];
            if let Some((record, text)) = &column.example {
                let why = format!("`{text}` is not a number{}", hint(text));
                let line = line(*record).map(|line| format!("line {line}, ")).unwrap_or_default();
                return Err(fail(format!("{line}record {record}, column `{}`", column.name), why, way_out));
            }
            if !asked && column.kind == ColumnKind::Empty {
                return Err(fail(format!("column `{}`", column.name), "it is empty".into(), way_out));
            }
            positions.push(position_of[at].ok_or_else(|| {
                fail(format!("column `{}`", column.name), "it holds no numbers".into(), None)
            })?);
        }
        let columns = chosen.iter().map(|&at| Column { name: self.columns[at].name.clone() }).collect();
        let width = self.selected.len();
        let values = match self.values {
            Values::F32(values) => gather(values, width, &positions, &path)?.into(),
            Values::F64(values) => gather(values, width, &positions, &path)?.into(),
        };
        let axes = positions_by_column(chosen, self.columns.len());
        let widths = (MAX_COLUMNS, chosen.len());
        let long_decimals = self.long_decimals.moved(widths, |row, column| Some((row, axes[column]?)));
        Ok(Coordinates { columns, values, decimals: self.decimals, long_decimals })
    }
}

/// The first position of each of `count` columns in a selection.
pub(super) fn positions_by_column(selected: &[usize], count: usize) -> Vec<Option<usize>> {
    let mut positions = vec![None; count];
    selected.iter().enumerate().for_each(|(position, &at)| {
        positions[at] = positions[at].or(Some(position));
    });
    positions
}

/// Reduces rows of `width` values to those at `positions`, in position if possible.
pub(super) fn gather<T: Real>(
    mut values: Vec<T>,
    width: usize,
    positions: &[usize],
    path: &Path,
) -> Result<Vec<T>> {
    if positions.iter().copied().eq(0..width) {
        return Ok(values);
    }
    // In ascending order, values move towards the front, so none is overwritten before its last use.
    if !positions.is_sorted_by(|one, next| one < next) {
        let count = (values.len() / width.max(1)).saturating_mul(positions.len());
        let mut gathered =
            memory::room(count).ok_or_else(|| no_memory(count as u64, size_of::<f64>(), path.to_owned()))?;
        gathered.extend(
            values.chunks_exact(width).flat_map(|row| positions.iter().map(|&position| row[position])),
        );
        return Ok(gathered);
    }
    let rows = values.len() / width;
    for row in 0..rows {
        for (to, &from) in positions.iter().enumerate() {
            values[row * positions.len() + to] = values[row * width + from];
        }
    }
    values.truncate(rows * positions.len());
    Ok(values)
}

/// The error for running out of memory for a number of values of `size` bytes each.
pub(super) fn no_memory(values: u64, size: usize, path: PathBuf) -> FormatError {
    let why = format!("not enough memory for {values} values ({} bytes)", values.saturating_mul(size as u64));
    FormatError::Unsupported { what: "too large".to_owned(), why, path }
}

/// The columns that are coordinates by name, regardless of other columns: x, y, z; x, y; or longitude and
/// latitude.
pub(super) fn conventional(columns: &[SheetColumn]) -> Option<Vec<usize>> {
    const SETS: &[&[&[&str]]] = &[
        &[&["x"], &["y"], &["z"]],
        &[&["x"], &["y"]],
        &[&["lon", "longitude", "lng", "long"], &["lat", "latitude"]],
    ];
    let find = |names: &[&str]| {
        columns.iter().position(|column| {
            !column.made_up && names.iter().any(|name| column.name.eq_ignore_ascii_case(name))
        })
    };
    SETS.iter().find_map(|set| set.iter().map(|names| find(names)).collect())
}

/// Resolves a selection: by exact name, by case-insensitive name, by index.
///
/// # Errors
/// [`FormatError::NoColumn`] and [`FormatError::Column`] for a name of none or several.
pub(super) fn named(names: &[String], columns: &[SheetColumn], path: &Path) -> Result<Vec<usize>> {
    let mut exact: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut folded: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, column) in columns.iter().enumerate() {
        exact.entry(&column.name).or_default().push(at);
        folded.entry(column.name.to_ascii_lowercase()).or_default().push(at);
    }
    let aliases: HashMap<&str, Vec<usize>> =
        (0..columns.len()).filter_map(|at| Some((columns[at].alias?, vec![at]))).collect();
    let one = |name: &String| {
        // Truncate like the columns' names.
        let name = &shortened(name.clone());
        let lower = name.to_ascii_lowercase();
        let found =
            exact.get(name.as_str()).or_else(|| folded.get(&lower)).or_else(|| aliases.get(lower.as_str()));
        let (what, path) = (format!("column `{}`", printable(name)), path.to_owned());
        Err(match found.map(Vec::as_slice) {
            Some(&[at]) => return Ok(at),
            Some(several) => {
                let positions = join_first(several.len(), |at| several[at].to_string());
                let why =
                    format!("{} columns have this name; choose one by index: {positions}", several.len());
                FormatError::Column { what, why, hint: None, path }
            }
            None => match name.parse() {
                Ok(at) if at < columns.len() => return Ok(at),
                _ => {
                    let meant = suggest(name, columns.iter().map(|column| column.name.as_str()));
                    let meant = meant
                        .map_or_else(String::new, |meant| format!(" (did you mean `{}`?)", printable(meant)));
                    let why = format!(
                        "not found{meant}; available: {}",
                        join_first(columns.len(), |at| format!("{at} `{}`", columns[at].name))
                    );
                    FormatError::NoColumn { what, why, path }
                }
            },
        })
    };
    names.iter().map(one).collect()
}

/// A hint for numbers in another notation.
fn hint(text: &str) -> String {
    match (number(text.as_bytes(), '.'), number(text.as_bytes(), ',')) {
        (Some(point), Some(comma)) if point != comma => {
            let (small, large) = (point.min(comma), point.max(comma));
            format!(
                " but may be {small} or {large}; write numbers with a decimal point and without separators \
                 between thousands"
            )
        }
        (Some(value), _) | (_, Some(value)) => format!(" in the notation of its column; write {value}"),
        (None, None) => String::new(),
    }
}

/// The first of `count` items, truncated if there are many.
pub(super) fn join_first(count: usize, item: impl Fn(usize) -> String) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> = (0..count.min(SHOWN)).map(item).collect();
    if count > SHOWN {
        text.push(format!("… {count} in all"));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_columns_are_gathered() {
        let (values, path) = (|| vec![1.0, 2.0, 3.0, 4.0], Path::new("a.csv"));
        assert_eq!(gather(values(), 2, &[0, 1], path).unwrap(), values());
        assert_eq!(gather(values(), 2, &[1], path).unwrap(), [2.0, 4.0]);
        assert_eq!(gather(values(), 2, &[1, 0, 1], path).unwrap(), [2.0, 1.0, 2.0, 4.0, 3.0, 4.0]);
        assert_eq!(
            gather(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, &[0, 0, 1], path).unwrap(),
            [1.0, 1.0, 2.0, 4.0, 4.0, 5.0]
        );
        let message = no_memory(1 << 61, 8, "a.csv".into()).to_string();
        assert_eq!(
            message,
            "too large: not enough memory for 2305843009213693952 values (18446744073709551615 bytes): \
             a.csv"
        );
    }
}
