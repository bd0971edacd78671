//! The output of a reader: selected columns and their values.

use serde::{Deserialize, Serialize};

use crate::LongDecimals;
use crate::formats::limits::MAX_COLUMNS;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// From the file's header, or generated: `x`, `y`, `z` for up to three unnamed columns, `d0`, `d1`, … for
    /// more.
    pub name: String,
}

impl Column {
    /// Generated names for `count` columns: `x`, `y`, `z` for up to three, else `d0`, `d1`, ….
    pub fn unnamed(count: usize) -> Vec<Self> {
        let name = |i: usize| if count <= 3 { ["x", "y", "z"][i].to_owned() } else { format!("d{i}") };
        (0..count).map(|i| Self { name: name(i) }).collect()
    }
}

/// The coordinates of a cloud before rounding: row-major f64, one row per data record.
///
/// Missing values are NaN; rows are neither dropped nor reordered, so that the index of a row is its record
/// number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The selected columns, in the order of a row's values.
    pub columns: Vec<Column>,
    /// rows × columns values.
    pub values: Vec<f64>,
}

/// A [`Table`] whose values are stored as f32 if that is exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// The selected columns, in the order of a row's values.
    pub columns: Vec<Column>,
    /// rows × columns values.
    pub values: Values,
    /// Whether the file's values are decimals, which `values` rounds.
    pub decimals: bool,
    /// The decimals that `values` does not identify.
    pub long_decimals: LongDecimals,
}

impl Coordinates {
    /// Binary values.
    pub fn new(columns: Vec<Column>, values: impl Into<Values>) -> Self {
        Self { columns, values: values.into(), decimals: false, long_decimals: LongDecimals::default() }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.len().max(1)
    }
}

impl From<Table> for Coordinates {
    fn from(Table { columns, values }: Table) -> Self {
        Self::new(columns, values)
    }
}

/// The selection of a file's columns as coordinates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnChoice {
    /// x,y,z or lon,lat by name if they exist, else all numeric columns.
    #[default]
    Default,
    /// Names or 0-based indices, in this order.
    Named(Vec<String>),
}

impl std::str::FromStr for ColumnChoice {
    type Err = std::convert::Infallible;

    /// Parses `lon,lat` or `0,1`. A range `0-63` (ends included) expands to its indices, as long as the total
    /// does not exceed the column limit; a longer range is treated as a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut names = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let range = part
                .split_once('-')
                .and_then(|(from, to)| Some(from.parse::<usize>().ok()?..=to.parse::<usize>().ok()?));
            match range {
                Some(range)
                    if range.start() <= range.end()
                        && range.end() - range.start() < MAX_COLUMNS.saturating_sub(names.len()) =>
                {
                    names.extend(range.map(|i| i.to_string()))
                }
                _ => names.push(part.to_owned()),
            }
        }
        Ok(if names.is_empty() { Self::Default } else { Self::Named(names) })
    }
}

// Values as read: f32 if that is exact, otherwise f64.

/// The element type of stored values.
pub(super) trait Real: Copy + Send + Sync + Default + 'static {
    /// Converts from an f64 that the type represents exactly.
    fn from_f64(value: f64) -> Self;
    /// Converts to f64, without rounding.
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }
}

/// Row-major values of a file or a generator, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Values that f32 holds exactly.
    F32(Vec<f32>),
    /// Values that may need f64.
    F64(Vec<f64>),
}

/// Runs an expression on the inner vector of a [`Values`], for either type.
macro_rules! with_values {
    ($values:expr, $vector:ident => $use:expr) => {
        match $values {
            $crate::table::Values::F32($vector) => $use,
            $crate::table::Values::F64($vector) => $use,
        }
    };
}
pub(super) use with_values;

impl Values {
    /// An empty vector of the smallest type that is exact.
    pub(super) fn new(exact_in_f32: bool) -> Self {
        if exact_in_f32 { Self::F32(Vec::new()) } else { Self::F64(Vec::new()) }
    }

    /// Number of values in all rows together.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at an index, widened to f64.
    ///
    /// # Panics
    /// If the index is out of bounds.
    pub fn get(&self, at: usize) -> f64 {
        with_values!(self, values => values[at].to_f64())
    }

    /// All values in order, widened to f64.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_range_expansion_is_limited() {
        let names = |text: &str| match text.parse() {
            Ok(ColumnChoice::Named(names)) => names,
            Ok(ColumnChoice::Default) => Vec::new(),
            Err(never) => match never {},
        };
        assert_eq!(names("lon,0-2,5-3"), ["lon", "0", "1", "2", "5-3"]);
        // A few hundred kilobytes of ranges would exhaust any memory.
        let many = names(&"0-1048575,".repeat(20));
        assert_eq!((many.len(), many[1 << 20].as_str()), ((1 << 20) + 19, "0-1048575"));
        assert_eq!(names("0-18446744073709551615"), ["0-18446744073709551615"]);
    }
}
