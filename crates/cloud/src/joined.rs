//! Further columns of a cloud's file, joined to its points unchanged: names, codes, numbers that are not
//! coordinates.

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::PointCloud;
use super::formats::{self, Cell, FormatError, RecordIndex};
use super::point_cloud::MAX_EXACT;
use crate::printable;
use crate::progress::Progress;
use crate::suggest::by_similarity;

/// Maximum number of cells in memory at a time.
const MAX_CELLS: usize = 1 << 21;

/// Maximum number of columns listed in an error.
const MAX_LISTED: usize = 12;

/// Whether a number is a whole number that f64 rounds.
fn is_large_integer(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() >= MAX_EXACT && number.is_finite()
}

/// Columns with one value per point, by row of the cloud.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinedColumns {
    pub columns: Vec<JoinedColumn>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct JoinedColumn {
    /// The name in the file.
    pub name: String,
    pub values: JoinedValues,
}

/// Values of a column: numbers, or texts if any field is text.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinedValues {
    /// Only whole numbers below 2⁵³; NaN if missing.
    Whole(Vec<f64>),
    /// NaN if missing.
    Numbers(Vec<f64>),
    Texts(TextBuffer),
}

/// Concatenated texts; an empty one is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextBuffer {
    all: String,
    ends: Vec<usize>,
}

impl TextBuffer {
    fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    /// The text of a row; `None` if missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Some(&self.all[start..self.ends[row]]).filter(|text| !text.is_empty())
    }
}

impl JoinedColumns {
    /// Reads columns of the cloud's file by name (case-insensitively if unambiguous) or by 0-based number.
    ///
    /// # Errors
    /// [`FormatError::NoColumn`], which lists the available columns, similar names first; and any error of
    /// reading the file.
    pub fn read(
        path: &Path,
        names: &[String],
        cloud: &PointCloud,
        progress: &dyn Progress,
    ) -> Result<Self, FormatError> {
        cloud.check_file(Self::read_unchecked(path, names, cloud, progress))
    }

    fn read_unchecked(
        path: &Path,
        names: &[String],
        cloud: &PointCloud,
        progress: &dyn Progress,
    ) -> Result<Self, FormatError> {
        let marks = RecordIndex::default();
        let all = formats::records_indexed(path, &[], &marks, progress)?.columns;
        let block = (MAX_CELLS / all.len().max(1)).max(1);
        let chosen =
            names.iter().map(|name| column_index(name, &all, path)).collect::<Result<Vec<usize>, _>>()?;
        let fill = |columns: &mut [(usize, ColumnBuilder)], spelled: bool| {
            let looked_at: Vec<usize> = columns.iter().map(|(at, _)| *at).collect();
            for start in (0..cloud.len()).step_by(block) {
                let rows = start..cloud.len().min(start + block);
                for row in read_rows(path, cloud, rows, &looked_at, spelled, &marks, progress)? {
                    columns.iter_mut().for_each(|(at, column)| column.push(&row[*at]));
                }
            }
            Ok::<(), FormatError>(())
        };
        let mut columns: Vec<(usize, ColumnBuilder)> =
            chosen.iter().map(|&at| (at, ColumnBuilder::new(cloud.len()))).collect();
        fill(&mut columns, false)?;
        // Columns with both text and numbers, and numbers that f64 rounds, are read again with the file's
        // spelling, for codes such as 0E8.
        let is_mixed = |(_, column): &&mut (usize, ColumnBuilder)| {
            column.numbers && matches!(column.values, JoinedValues::Texts(_)) || column.large
        };
        let mut mixed: Vec<&mut (usize, ColumnBuilder)> = columns.iter_mut().filter(is_mixed).collect();
        if !mixed.is_empty() {
            let mut again: Vec<(usize, ColumnBuilder)> =
                mixed.iter().map(|(at, _)| (*at, ColumnBuilder::default())).collect();
            fill(&mut again, true)?;
            mixed.iter_mut().zip(again).for_each(|(old, new)| **old = new);
        }
        let named = columns
            .into_iter()
            .map(|(at, column)| JoinedColumn { name: all[at].clone(), values: column.values.narrowed() });
        Ok(Self { columns: named.collect() })
    }

    /// Calls `value` with the row, the index into `columns` and the spelling of each number, and collects the
    /// results.
    ///
    /// # Errors
    /// [`FormatError`].
    pub(super) fn spelled<T: Send>(
        path: &Path,
        columns: &[usize],
        cloud: &PointCloud,
        progress: &dyn Progress,
        value: impl Fn(usize, usize, &str) -> Option<T> + Sync,
    ) -> Result<Vec<T>, FormatError> {
        let (index, mut values) = (RecordIndex::default(), Vec::new());
        let width = formats::records_indexed(path, &[], &index, progress)?.columns.len();
        let block = (MAX_CELLS / width.max(1)).max(1);
        for start in (0..cloud.len()).step_by(block) {
            let rows = start..cloud.len().min(start + block);
            let read = read_rows(path, cloud, rows, columns, true, &index, progress)?;
            values.par_extend(read.par_iter().enumerate().flat_map_iter(|(at, cells)| {
                columns.iter().enumerate().filter_map({
                    let value = &value;
                    move |(number, &column)| match &cells[column] {
                        Cell::Text(text) => value(start + at, number, text),
                        Cell::Number(_) | Cell::Missing => None,
                    }
                })
            }));
        }
        Ok(values)
    }
}

/// Reads some columns of some of a cloud's rows; `spelled` keeps the file's spelling of numbers.
fn read_rows(
    path: &Path,
    cloud: &PointCloud,
    rows: Range<usize>,
    columns: &[usize],
    spelled: bool,
    index: &RecordIndex,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Cell>>, FormatError> {
    let records: Vec<u64> = rows.map(|row| cloud.record(row)).collect();
    Ok(formats::records_of_columns(path, &records, columns, spelled, index, progress)?.rows)
}

/// A column being read.
struct ColumnBuilder {
    values: JoinedValues,
    /// Whether there were numbers, and whether any is too large for exact f64 digits.
    numbers: bool,
    large: bool,
}

impl JoinedColumn {
    /// Whether the column has whole numbers that f64 rounds.
    pub fn is_rounded(&self) -> bool {
        match &self.values {
            JoinedValues::Numbers(numbers) => numbers.iter().any(|&number| is_large_integer(number)),
            JoinedValues::Whole(_) | JoinedValues::Texts(_) => false,
        }
    }
}

/// Index of the named column.
fn column_index(name: &str, all: &[String], path: &Path) -> Result<usize, FormatError> {
    let similar = |other: &&String| other.to_lowercase() == name.to_lowercase();
    let exact = all.iter().position(|other| other == name);
    let only = || {
        (all.iter().filter(similar).count() == 1)
            .then(|| all.iter().position(|other| similar(&other)))
            .flatten()
    };
    let number = || name.parse().ok().filter(|&at: &usize| at < all.len());
    exact.or_else(only).or_else(number).ok_or_else(|| {
        let names: Vec<String> = by_similarity(name, all)
            .into_iter()
            .take(MAX_LISTED)
            .map(|name| format!("`{}`", printable::line(name)))
            .collect();
        let more =
            if all.len() > MAX_LISTED { format!(", … ({} in all)", all.len()) } else { String::new() };
        let why = format!("not found; available: {}{more}", names.join(", "));
        FormatError::NoColumn {
            what: format!("column `{}`", printable::line(name)),
            why,
            path: path.to_owned(),
        }
    })
}

impl Default for ColumnBuilder {
    fn default() -> Self {
        Self { values: JoinedValues::Numbers(Vec::new()), numbers: false, large: false }
    }
}

impl ColumnBuilder {
    fn new(rows: usize) -> Self {
        Self { values: JoinedValues::Numbers(Vec::with_capacity(rows)), ..Self::default() }
    }

    fn push(&mut self, cell: &Cell) {
        use JoinedValues::{Numbers, Texts as Spelled, Whole};
        self.numbers |= matches!(cell, Cell::Number(_));
        self.large |= matches!(cell, Cell::Number(number) if is_large_integer(*number));
        if let (Numbers(numbers) | Whole(numbers), Cell::Text(_)) = (&self.values, cell) {
            let mut texts = TextBuffer::default();
            for &number in numbers {
                texts.push(&if number.is_nan() { String::new() } else { number.to_string() });
            }
            self.values = Spelled(texts);
        }
        match (&mut self.values, cell) {
            (Numbers(numbers) | Whole(numbers), cell) => {
                numbers.push(if let Cell::Number(number) = cell { *number } else { f64::NAN })
            }
            (Spelled(texts), Cell::Number(number)) => texts.push(&number.to_string()),
            (Spelled(texts), Cell::Text(text)) => texts.push(text),
            (Spelled(texts), Cell::Missing) => texts.push(""),
        }
    }
}

impl JoinedValues {
    /// Marks numbers as whole if they are.
    fn narrowed(self) -> Self {
        match self {
            Self::Numbers(numbers)
                if numbers
                    .iter()
                    .all(|number| number.is_nan() || number.fract() == 0.0 && number.abs() < MAX_EXACT) =>
            {
                Self::Whole(numbers)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::{ColumnChoice, Source, load};

    fn read(text: &str, names: &[&str]) -> Result<JoinedColumns, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let cloud = load(
            &Source::File { path: path.clone(), columns: ColumnChoice::Named(vec!["x".to_owned()]) },
            true,
            &NoProgress,
        )
        .unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        JoinedColumns::read(&path, &names, &cloud, &NoProgress).map_err(|why| why.reason())
    }

    #[test]
    fn joined_values_match_the_rows_of_the_file() {
        let file = "x,Name,zip,size,share\n0,ab,1001,7,0.5\n,dropped,9,9,9\n1,,02138,,2\n2,\"c,d\",,8,\n";
        let beside = read(file, &["Name", "zip", "SIZE", "share"]).unwrap();
        let [name, zip, size, share] = &beside.columns[..] else { panic!("{beside:?}") };
        let texts = |column: &JoinedColumn| match &column.values {
            JoinedValues::Texts(texts) => [0, 1, 2].map(|row| texts.get(row).map(str::to_owned)),
            other => panic!("{other:?}"),
        };
        assert_eq!(texts(name), [Some("ab".to_owned()), None, Some("c,d".to_owned())]);
        assert_eq!(
            texts(zip),
            [Some("1001".to_owned()), Some("02138".to_owned()), None],
            "a number before the first code"
        );
        assert_eq!(size.name, "size", "spelled as in the file");
        let JoinedValues::Whole(sizes) = &size.values else { panic!("{size:?}") };
        assert!(sizes[0] == 7.0 && sizes[1].is_nan() && sizes[2] == 8.0);
        let ids = read("x,id\n0,9007199254740993\n1,7\n", &["id"]).unwrap();
        let JoinedValues::Texts(texts) = &ids.columns[0].values else { panic!("{ids:?}") };
        assert_eq!(
            [0, 1].map(|row| texts.get(row)),
            [Some("9007199254740993"), Some("7")],
            "an f64 would end in 992"
        );
        let codes = read("x,code\n0,0E0\n1,1.50\n2,KJFK\n3,\n4,+7\n", &["code"]).unwrap();
        let JoinedValues::Texts(texts) = &codes.columns[0].values else { panic!("{codes:?}") };
        assert_eq!(
            [0, 1, 2, 3, 4].map(|row| texts.get(row)),
            [Some("0E0"), Some("1.50"), Some("KJFK"), None, Some("+7")],
            "spelled as in the file"
        );
        assert!(
            matches!(
                &share.values,
                JoinedValues::Numbers(shares) if shares[..2] == [0.5, 2.0] && shares[2].is_nan()
            ),
            "{share:?}"
        );
    }

    #[test]
    fn unknown_column_errors_list_available_names() {
        let why = read("x,country,county,zip_code\n0,a,b,c\n", &["zipcode"]).unwrap_err();
        assert!(why.starts_with("column `zipcode`: not found; available: `zip_code`, "), "{why}");
        assert!(read("x,a,A\n0,1,2\n", &["A"]).is_ok() && read("x,name,Name\n0,1,2\n", &["NAME"]).is_err());
    }
}
