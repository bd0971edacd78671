//! What a file holds, and which of its columns become coordinates.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::FormatError;
use super::input::{Input, printable};
use crate::cloud::{Column, ColumnChoice, Table};

/// What a column of a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers, or nothing in some rows.
    Numeric,
    /// Something else.
    Text,
    /// Nothing at all.
    Empty,
}

/// A file's description, for people and for choosing columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileInfo {
    /// The file.
    pub path: PathBuf,
    /// The name of its format, with details: the delimiter, the element type.
    pub format: String,
    /// Data records.
    pub rows: u64,
    /// All columns, in the file's order.
    pub columns: Vec<ColumnInfo>,
    /// Indices of the columns that are coordinates if nobody chooses.
    pub default_columns: Vec<usize>,
    /// What of the file was not read, a sentence each.
    pub skipped: Vec<String>,
}

/// A column's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// From the file, or made up.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// The smallest finite value of a numeric column.
    pub min: Option<f64>,
    /// The largest finite value of a numeric column.
    pub max: Option<f64>,
    /// Rows in which a numeric column is empty or not a number.
    pub missing: u64,
    /// Rows in which a numeric column is infinite.
    pub infinite: u64,
    /// The first thing in a text column that is not a number.
    pub example: Option<String>,
}

/// A column of a sheet.
#[derive(Clone, Debug)]
pub(super) struct SheetColumn {
    pub name: String,
    pub kind: ColumnKind,
    /// The first thing that is not a number, and its record.
    pub example: Option<(u64, String)>,
}

impl SheetColumn {
    pub fn numeric(name: String) -> Self {
        Self { name: printable(&name), kind: ColumnKind::Numeric, example: None }
    }

    /// Columns of numbers without names of their own.
    pub fn unnamed(count: usize) -> Vec<Self> {
        Column::unnamed(count).into_iter().map(|column| Self::numeric(column.name)).collect()
    }
}

/// The columns of a file, with the values of those that were kept.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub(super) path: PathBuf,
    pub(super) format: String,
    pub(super) columns: Vec<SheetColumn>,
    /// The column of each value in a row of `values`, ascending or as chosen.
    pub(super) kept: Vec<usize>,
    pub(super) rows: u64,
    /// rows × kept.
    pub(super) values: Vec<f64>,
    pub(super) skipped: Vec<String>,
}

/// Which columns a reader should keep.
pub(super) enum Want<'a> {
    Everything,
    Chosen(&'a ColumnChoice),
}

impl Want<'_> {
    /// The columns to keep, before it is known which hold numbers.
    pub fn resolve(&self, columns: &[SheetColumn], input: &Input<'_>) -> Result<Vec<usize>, FormatError> {
        Ok(match self {
            Self::Chosen(ColumnChoice::Named(names)) => named(names, columns).map_err(|(what, why)| input.column(what, why))?,
            Self::Chosen(ColumnChoice::Default) => coordinates(columns).unwrap_or_else(|| (0..columns.len()).collect()),
            Self::Everything => (0..columns.len()).collect(),
        })
    }
}

impl Sheet {
    /// Describes the file.
    pub fn info(&self) -> FileInfo {
        let mut columns: Vec<ColumnInfo> = self
            .columns
            .iter()
            .map(|column| ColumnInfo {
                name: column.name.clone(),
                kind: column.kind,
                min: None,
                max: None,
                missing: 0,
                infinite: 0,
                example: column.example.as_ref().map(|(_, text)| text.clone()),
            })
            .collect();
        let width = self.kept.len();
        for (at, &column) in self.kept.iter().enumerate() {
            let info = &mut columns[column];
            if info.kind != ColumnKind::Numeric {
                continue;
            }
            let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
            for &value in self.values[at.min(self.values.len())..].iter().step_by(width) {
                if value.is_finite() {
                    min = min.min(value);
                    max = max.max(value);
                } else if value.is_nan() {
                    info.missing += 1;
                } else {
                    info.infinite += 1;
                }
            }
            (info.min, info.max) = if min <= max { (Some(min), Some(max)) } else { (None, None) };
        }
        FileInfo {
            path: self.path.clone(),
            format: self.format.clone(),
            rows: self.rows,
            columns,
            default_columns: self.default_columns(),
            skipped: self.skipped.clone(),
        }
    }

    fn default_columns(&self) -> Vec<usize> {
        let numeric = |&column: &usize| self.columns[column].kind == ColumnKind::Numeric;
        coordinates(&self.columns).filter(|columns| columns.iter().all(numeric)).unwrap_or_else(|| (0..self.columns.len()).filter(numeric).collect())
    }

    /// Takes the chosen columns out, in the order of the choice.
    ///
    /// # Errors
    /// [`FormatError::Column`] when a column is not there, was not kept or is not numeric, or when none is.
    pub fn into_table(mut self, choice: &ColumnChoice) -> Result<Table, FormatError> {
        let fail = |what: String, why: String| FormatError::Column { what, why, path: self.path.clone() };
        let chosen = match choice {
            ColumnChoice::Default => self.default_columns(),
            ColumnChoice::Named(names) => named(names, &self.columns).map_err(|(what, why)| fail(what, why))?,
        };
        if chosen.is_empty() {
            let first = self.columns.iter().find_map(|column| Some((&column.name, column.example.as_ref()?)));
            let example =
                first.map(|(name, (record, text))| format!("; column `{name}` has `{text}` in record {record}{}", hint(text))).unwrap_or_default();
            return Err(fail("no coordinates".into(), format!("no column holds only numbers{example}")));
        }
        let mut places = Vec::with_capacity(chosen.len());
        for &at in &chosen {
            let column = &self.columns[at];
            if let Some((record, text)) = &column.example {
                return Err(fail(format!("column `{}`", column.name), format!("record {record} has `{text}`, which is not a number{}", hint(text))));
            }
            let place = self.kept.iter().position(|&kept| kept == at);
            places.push(place.ok_or_else(|| fail(format!("column `{}`", column.name), "it holds no numbers".into()))?);
        }
        let columns = chosen.iter().map(|&at| Column { name: self.columns[at].name.clone() }).collect();
        let values = gather(std::mem::take(&mut self.values), self.kept.len(), &places);
        Ok(Table { columns, values })
    }
}

/// Rows of `width` values become rows of the values at `places`; in place where that can be.
pub(super) fn gather(mut values: Vec<f64>, width: usize, places: &[usize]) -> Vec<f64> {
    if places.iter().copied().eq(0..width) {
        return values;
    }
    if !places.is_sorted() || places.len() > width {
        return values.chunks_exact(width).flat_map(|row| places.iter().map(|&place| row[place])).collect();
    }
    let rows = values.len() / width;
    for row in 0..rows {
        for (to, &from) in places.iter().enumerate() {
            values[row * places.len() + to] = values[row * width + from];
        }
    }
    values.truncate(rows * places.len());
    values
}

/// The columns that are coordinates by name: x, y, z, or x, y, or longitude and latitude, in this order.
fn coordinates(columns: &[SheetColumn]) -> Option<Vec<usize>> {
    const SETS: &[&[&[&str]]] = &[&[&["x"], &["y"], &["z"]], &[&["x"], &["y"]], &[&["lon", "longitude", "lng", "long"], &["lat", "latitude"]]];
    let find = |names: &[&str]| columns.iter().position(|column| names.iter().any(|name| column.name.eq_ignore_ascii_case(name)));
    SETS.iter().find_map(|set| set.iter().map(|names| find(names)).collect())
}

/// The columns of a choice: by name, by name without regard to case, by index. The error is what and why.
fn named(names: &[String], columns: &[SheetColumn]) -> Result<Vec<usize>, (String, String)> {
    let one = |name: &String| {
        let matching = |same: &dyn Fn(&str) -> bool| columns.iter().enumerate().filter(|(_, column)| same(&column.name)).map(|(at, _)| at).collect();
        let mut found: Vec<usize> = matching(&|other| other == name);
        if found.is_empty() {
            found = matching(&|other| other.eq_ignore_ascii_case(name));
        }
        if found.is_empty() {
            found.extend(name.parse::<usize>().ok().filter(|&at| at < columns.len()));
        }
        match found[..] {
            [at] => Ok(at),
            [] => Err((format!("column `{name}`"), format!("there is none; there are {}", list(columns)))),
            _ => Err((format!("column `{name}`"), format!("there are {}; choose by index: {found:?}", found.len()))),
        }
    };
    names.iter().map(one).collect()
}

/// What to do about a number in another notation.
fn hint(text: &str) -> &'static str {
    let number = |text: String| text.parse::<f64>().is_ok();
    if text.matches(',').count() == 1 && number(text.replace(',', ".")) {
        " (decimals are written with a point)"
    } else if number(text.replace([',', ' ', '\'', '_'], "")) {
        " (digits are not grouped)"
    } else {
        ""
    }
}

/// `0 lon, 1 lat, …`, cut where it gets long.
fn list(columns: &[SheetColumn]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> = columns.iter().take(SHOWN).enumerate().map(|(at, column)| format!("{at} `{}`", column.name)).collect();
    if columns.len() > SHOWN {
        text.push(format!("… {} in all", columns.len()));
    }
    text.join(", ")
}
