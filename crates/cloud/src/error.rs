//! Why a cloud cannot be loaded, and how to fix it.

use super::{GlobeError, MAX_ROWS};
use crate::formats::FormatError;
use crate::table::Real;

/// Why a cloud could not be loaded.
///
/// Messages follow `what: why`, with the path last if there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloudError {
    /// The file could not be read, or does not have its named format.
    #[error(transparent)]
    Format(FormatError),
    /// The generator's spec is invalid.
    #[error("generator `{spec}`: {why}")]
    Generate {
        /// The spec as written.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// The coordinates are not a point in the data's space.
    #[error("query point {at}: {why}")]
    Coordinates {
        /// The coordinates, as written.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// A coordinate is NaN or infinite, and dropping such rows was not requested.
    #[error(
        "{}row {row}, column `{column}`: the value is {value}; {}: {origin}",
        at_line(*.line),
        remedies(unusable, Hint::option)
    )]
    NonFinite {
        /// 0-based number of the data record in the file.
        row: u64,
        /// 1-based line, in text files.
        line: Option<u64>,
        /// Name of the column with the bad value.
        column: String,
        /// NaN, inf or -inf.
        value: f64,
        /// All unusable values of the source.
        unusable: Box<UnusableRows>,
        /// The file or generator.
        origin: String,
    },
    /// A finite f64 value overflows f32, even after subtracting the axis's origin.
    #[error(
        "{}row {row}, column `{column}`: {value:e} does not fit a 32-bit float; rescale the column: {origin}",
        at_line(*.line)
    )]
    TooLarge {
        /// 0-based number of the data record in the file.
        row: u64,
        /// 1-based line, in text files.
        line: Option<u64>,
        /// Name of the column with the bad value.
        column: String,
        /// The value in the file.
        value: f64,
        /// The file or generator.
        origin: String,
    },
    /// The source has no rows, or none with finite values.
    #[error(
        "the cloud has no points{dropped}: {origin}",
        dropped = if *.dropped == 0 {
            String::new()
        } else {
            format!(" ({dropped} rows with NaN or infinite values were dropped)")
        }
    )]
    Empty {
        /// Rows dropped for NaN or ±∞.
        dropped: u64,
        /// The file or generator.
        origin: String,
    },
    /// More rows than [`MAX_ROWS`].
    #[error("{rows} rows: at most {MAX_ROWS} can be searched: {origin}")]
    TooMany {
        /// Rows in the source.
        rows: u64,
        /// The file or generator.
        origin: String,
    },
    /// The cloud does not fit this machine's memory.
    #[error("not enough memory for {bytes} bytes of coordinates: {origin}")]
    Memory {
        /// The size of the failed allocation.
        bytes: u64,
        /// The file or generator.
        origin: String,
    },
    /// The number of dimensions of the queries differs from the data's.
    #[error(
        "queries have {queries} dimensions, but the data has {data}: {}: {origin}",
        Hint::AsManyColumns.option()
    )]
    Dimensions {
        /// d of the queries.
        queries: usize,
        /// d of the data.
        data: usize,
        /// Path of the query file.
        origin: String,
    },
    /// Either the queries or the data have columns named as longitude and latitude, but not both.
    #[error(
        "query columns ({queries}) do not match data columns ({data}); if they do correspond, select both by \
         number: {origin}"
    )]
    OtherColumns {
        /// Names of the queries' columns.
        queries: String,
        /// Names of the data's.
        data: String,
        /// Path of the query file.
        origin: String,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

fn at_line(line: Option<u64>) -> String {
    line.map(|line| format!("line {line}, ")).unwrap_or_default()
}

impl From<FormatError> for CloudError {
    fn from(why: FormatError) -> Self {
        match why {
            FormatError::Cancelled => Self::Cancelled,
            why => Self::Format(why),
        }
    }
}

/// A remedy for an error, which each front end words itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Drop rows with NaN or ±∞.
    LeaveRowsOut,
    /// Select columns without NaN or ±∞. The wording contains the placeholder `COLUMNS`.
    WholeColumns,
    /// Select columns other than the default.
    OtherColumns,
    /// Select columns of longitude and latitude.
    GlobeColumns,
    /// Select as many columns as the data has dimensions.
    AsManyColumns,
}

impl Hint {
    /// The wording for the command line, as in the errors' `Display` messages.
    pub fn option(self) -> &'static str {
        match self {
            Self::LeaveRowsOut => "--drop-nonfinite drops such rows",
            Self::WholeColumns => "--columns COLUMNS selects columns without such values",
            Self::OtherColumns => "--columns chooses others",
            Self::GlobeColumns => "choose a longitude and a latitude with --columns",
            Self::AsManyColumns => "choose columns with --columns",
        }
    }
}

/// Remedies for rows with NaN or ±∞: other columns first, then dropping the rows, with the number that would
/// remain.
pub(super) fn remedies(unusable: &UnusableRows, words: fn(Hint) -> &'static str) -> String {
    let UnusableRows { count, rows, whole, .. } = unusable;
    let columns = whole.as_ref().map(|columns| words(Hint::WholeColumns).replace("COLUMNS", columns));
    let left = match rows - count {
        _ if *rows == 0 => String::new(),
        0 => " (all of them)".to_owned(),
        left => format!(" ({left} of {rows} remain)"),
    };
    let rows = format!("{}{left}", words(Hint::LeaveRowsOut));
    columns.into_iter().chain([rows]).collect::<Vec<_>>().join(", ")
}

impl FormatError {
    /// The message, with its hint worded for the command line or for the window.
    pub fn message(&self, words: fn(Hint) -> &'static str) -> String {
        match self {
            Self::Column { what, why, hint: Some(hint), path } => {
                format!("{what}: {why}; {}: {}", words(*hint), path.display())
            }
            other => other.to_string(),
        }
    }
}

impl GlobeError {
    /// The message, with its hint worded for the command line or for the window.
    pub fn message(&self, words: fn(Hint) -> &'static str) -> String {
        // The hint occurs exactly once in these messages.
        self.to_string().replace(Hint::GlobeColumns.option(), words(Hint::GlobeColumns))
    }
}

impl CloudError {
    /// The message, with its hint worded for the command line or for the window.
    pub fn message(&self, words: fn(Hint) -> &'static str) -> String {
        match self {
            Self::NonFinite { row, line, column, value, unusable, origin } => {
                let (line, hint) = (at_line(*line), remedies(unusable, words));
                format!("{line}row {row}, column `{column}`: the value is {value}; {hint}: {origin}")
            }
            Self::Dimensions { queries, data, origin } => {
                format!(
                    "queries have {queries} dimensions, but the data has {data}: {}: {origin}",
                    words(Hint::AsManyColumns)
                )
            }
            Self::Format(error) => error.message(words),
            other => other.to_string(),
        }
    }
}

// Rows that cannot be points.

/// Maximum number of rows listed.
const MAX_LISTED_ROWS: usize = 8;

/// Rows with coordinates that are NaN, infinite or missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnusableRows {
    /// Number of these rows.
    pub count: u64,
    /// Number of all rows of the source.
    pub rows: u64,
    /// The first of these rows, ascending.
    pub first: Vec<UnusableRow>,
    /// Columns without such values to select instead, as typed on the command line.
    pub whole: Option<String>,
}

/// A row that cannot be a point, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusableRow {
    /// 0-based number of the data record in the file.
    pub row: u64,
    /// The first column with such a value.
    pub column: String,
    /// NaN (also for missing values) or ±∞.
    pub value: f64,
}

impl UnusableRows {
    /// Adds those of later rows, from row `first` on.
    pub(super) fn extend(&mut self, later: Self, first: u64) {
        self.count += later.count;
        self.rows += later.rows;
        let left = MAX_LISTED_ROWS.saturating_sub(self.first.len());
        self.first.extend(
            later.first.into_iter().take(left).map(|bad| UnusableRow { row: first + bad.row, ..bad }),
        );
    }

    /// Finds the unusable rows among row-major values.
    pub(super) fn find<T: Real>(values: &[T], names: &[String]) -> Self {
        let mut unusable = Self { rows: (values.len() / names.len().max(1)) as u64, ..Self::default() };
        for (row, values) in values.chunks_exact(names.len().max(1)).enumerate() {
            let Some(at) = values.iter().position(|value| !value.to_f64().is_finite()) else { continue };
            unusable.count += 1;
            if unusable.first.len() < MAX_LISTED_ROWS {
                unusable.first.push(UnusableRow {
                    row: row as u64,
                    column: names[at].clone(),
                    value: values[at].to_f64(),
                });
            }
        }
        unusable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_messages_use_command_line_hints() {
        let origin = "a.csv".to_owned();
        let (what, why) = ("column `b`".to_owned(), "it is empty".to_owned());
        let errors = [
            CloudError::NonFinite {
                row: 3,
                line: Some(5),
                column: "x".to_owned(),
                value: f64::NAN,
                unusable: Box::default(),
                origin: origin.clone(),
            },
            CloudError::Dimensions { queries: 3, data: 2, origin: origin.clone() },
            CloudError::Format(FormatError::Column {
                what,
                why,
                hint: Some(Hint::OtherColumns),
                path: origin.into(),
            }),
        ];
        for error in errors {
            assert_eq!(error.message(Hint::option), error.to_string());
            let said = error.message(|_| "ask somebody");
            assert!(
                !said.contains("--") && said.contains("ask somebody") && said.ends_with(": a.csv"),
                "{said}"
            );
        }
        let error = GlobeError::Columns { columns: 3 };
        assert_eq!(error.message(Hint::option), error.to_string());
        assert!(error.message(|_| "ask somebody").ends_with("the cloud has 3: ask somebody"));
    }

    #[test]
    fn unusable_rows_are_counted_and_the_first_are_listed() {
        let names = ["x", "y"].map(str::to_owned);
        let mut values = vec![0.5f64; 40];
        (values[3], values[4], values[5]) = (f64::NAN, f64::INFINITY, f64::NAN);
        values[20..].fill(f64::NAN);
        let unusable = UnusableRows::find(&values, &names);
        assert_eq!((unusable.count, unusable.rows, unusable.first.len()), (12, 20, MAX_LISTED_ROWS));
        let told: Vec<(u64, &str)> =
            unusable.first.iter().map(|of| (of.row, of.column.as_str())).take(3).collect();
        assert_eq!(told, [(1, "y"), (2, "x"), (10, "x")]);
        assert_eq!(unusable.first[1].value, f64::INFINITY);
    }
}
