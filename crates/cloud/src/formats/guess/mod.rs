//! Infers which columns of a file are coordinates, and what the others are.

mod values;

use std::io::Read as _;
use std::path::Path;

use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;
use strum::IntoEnumIterator as _;

use super::sheet::{conventional, positions_by_column};
use super::{ColumnKind, DeclaredCoordinates, Sheet, SheetColumn, file_of};
use crate::ColumnChoice;
use crate::headings::{Space, coordinates, position};
use crate::roles::{Role, ranges};
use crate::table::{Real, with_values};

/// Minimum number of coordinates that must remain when labels and ids are removed.
const MIN_COORDINATES: usize = 2;

/// A column and its inferred role.
#[derive(Clone, Debug, PartialEq)]
pub struct GuessedColumn {
    pub name: String,
    pub role: Role,
    /// Rows without a finite number; `None` if the column was not read.
    pub nonfinite: Option<u64>,
}

/// The inferred roles of a file's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnGuess {
    /// All columns, in the file's order.
    pub columns: Vec<GuessedColumn>,
    /// The coordinates, by column number, in axis order.
    pub coordinates: Vec<usize>,
    /// The columns of [`ColumnChoice::Default`].
    pub default_columns: Vec<usize>,
    pub reason: Reason,
    /// Whether no coordinate has a name from the file.
    pub unnamed: bool,
}

/// What determined the coordinate columns. As text it completes "searches x, y (…)".
#[derive(Clone, Debug, PartialEq, strum::Display)]
pub enum Reason {
    /// Declared by the file itself.
    #[strum(to_string = "{0}")]
    Declared(String),
    /// Rows are vectors, so there was no choice.
    #[strum(to_string = "every value of a row")]
    Elements,
    #[strum(to_string = "by name")]
    Names,
    #[strum(to_string = "by value")]
    Values,
    #[strum(to_string = "all numeric columns")]
    AllNumeric,
}

impl ColumnGuess {
    /// Whether values were needed to choose the columns.
    pub(super) fn is_by_value(&self) -> bool {
        matches!(self.reason, Reason::Values | Reason::AllNumeric)
    }

    /// Whether it differs from [`ColumnChoice::Default`].
    pub fn differs(&self) -> bool {
        self.coordinates != self.default_columns
    }

    /// The columns, by number.
    pub fn choice(&self) -> ColumnChoice {
        if self.differs() || !self.coordinates.is_sorted() {
            ColumnChoice::Named(self.coordinates.iter().map(usize::to_string).collect())
        } else {
            ColumnChoice::Default
        }
    }

    /// Numeric columns that are not coordinates, by column number.
    pub fn excluded(&self) -> impl Iterator<Item = (usize, &GuessedColumn)> {
        self.columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.role.is_numeric() && column.role != Role::Coordinate)
    }

    /// `searches x, y (by name), not id (id)`: the columns, the reason, and the other numeric columns.
    pub fn summary(&self) -> String {
        let others = self.others();
        let not = if others.is_empty() { others } else { format!(", not {others}") };
        format!("{}{not}", self.short_summary())
    }

    /// `searches x, y (by name)`: the columns and the reason.
    pub fn short_summary(&self) -> String {
        if self.coordinates.is_empty() {
            return "searches none of its columns".to_owned();
        }
        let names = listed(self.coordinates.iter().map(|&at| &*self.columns[at].name));
        format!("searches {names} ({})", self.reason)
    }

    /// `id (id), price, size (other numbers)`: the other numeric columns by role. Text columns are included
    /// if the headings did not decide and at least as many text columns as searched columns exist, because a
    /// text column may be the intended one.
    pub(super) fn others(&self) -> String {
        let texts = self.columns.iter().filter(|column| column.role == Role::Text).count();
        let texts = matches!(self.reason, Reason::AllNumeric | Reason::Values)
            && (1..=texts).contains(&self.coordinates.len());
        let of_role = |role: Role| {
            let others = self.columns.iter().filter(|column| {
                column.role == role
                    && role != Role::Coordinate
                    && (role.is_numeric() || role == Role::Text && texts)
            });
            let names = listed(others.map(|column| &*column.name));
            (!names.is_empty()).then(|| format!("{names} ({})", role.name()))
        };
        Role::iter().filter_map(of_role).collect::<Vec<_>>().join(", ")
    }

    /// Columns as typed for `--columns`: by name, or by number if there are many or a name is ambiguous.
    pub fn column_option(&self, columns: &[usize]) -> String {
        /// Beyond this count, numbers are shorter.
        const NAMED: usize = 8;
        let name = |&at: &usize| {
            let name = self.columns[at].name.as_str();
            let plain = name.starts_with(|first: char| first.is_alphabetic())
                && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            (plain
                && self.columns.iter().filter(|column| column.name.eq_ignore_ascii_case(name)).count() == 1)
                .then_some(name)
        };
        let names =
            if columns.len() > NAMED { None } else { columns.iter().map(name).collect::<Option<Vec<_>>>() };
        names.map_or_else(|| ranges(columns), |names| names.join(","))
    }

    /// Columns without missing values to select instead of the current ones, which are complete in `kept` of
    /// `rows` rows. Offered if no current column has missing values, or if most rows would be lost.
    pub fn complete_columns(&self, kept: u64, rows: u64) -> Option<String> {
        let whole: Vec<usize> =
            self.coordinates.iter().copied().filter(|&at| self.columns[at].nonfinite == Some(0)).collect();
        let all = whole == self.coordinates && self.differs();
        let offered =
            !whole.is_empty() && (all || whole.len() >= MIN_COORDINATES && kept.saturating_mul(2) < rows);
        offered.then(|| self.column_option(&whole))
    }
}

/// A list of names, abbreviated to the first ones and the last.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    match &names.collect::<Vec<_>>()[..] {
        [first @ .., last] if first.len() >= SHOWN => format!("{}, … {last}", first[..SHOWN - 1].join(", ")),
        all => all.join(", "),
    }
}

impl Sheet {
    /// Infers the columns' roles from their headings and the values read.
    pub(super) fn guess(&self) -> ColumnGuess {
        let usual = self.default_columns();
        let nonfinite = self.nonfinite();
        let found: Vec<Role> =
            (0..self.columns.len()).map(|at| self.content_role(at, nonfinite[at])).collect();
        let mut is_held = vec![false; self.columns.len()];
        self.selected.iter().for_each(|&at| is_held[at] = true);
        // One bad value must not change the selection.
        let may = |column: &SheetColumn, role| {
            !column.made_up && !column.attribute && (role == Role::Coordinate || column.mixed)
        };
        let headings = |texts: bool| {
            let is_text = |column: &SheetColumn| {
                texts && column.kind == ColumnKind::Text && !column.made_up && !column.attribute
            };
            let columns = self.columns.iter().zip(&found).enumerate();
            let heading = |(at, (column, &role))| {
                (is_held[at] && may(column, role) || is_text(column)).then_some(column.name.as_str())
            };
            coordinates(&columns.map(heading).collect::<Vec<_>>())
        };
        let named = || {
            let numbers = headings(false).map(|found| found.columns);
            // Texts with degrees, minutes and seconds are still a position; do not search other numbers
            // instead.
            let texts =
                || headings(true).filter(|found| found.space != Space::Flat).map(|found| found.columns);
            numbers.or_else(|| conventional(&self.columns)).or_else(texts)
        };
        let elements: Vec<usize> = (0..self.columns.len())
            .filter(|&at| self.columns[at].element && !self.columns[at].attribute)
            .collect();
        let numeric: Vec<usize> =
            usual.iter().copied().filter(|&at| found[at] != Role::MostlyEmpty).collect();
        let read = |columns: &mut dyn Iterator<Item = usize>| {
            columns.filter(|&at| found[at] == Role::Coordinate && nonfinite[at].is_some()).collect::<Vec<_>>()
        };
        let mut roles = found.clone();
        let (taken, reason) = if let Some(DeclaredCoordinates { columns, why }) = &self.declared {
            (columns.clone(), Reason::Declared(why.clone()))
        } else if !elements.is_empty() {
            (elements, Reason::Elements)
        } else if let Some(named) = named() {
            self.find_labels_and_ids(&read(&mut (0..roles.len())), &mut roles);
            (named, Reason::Names)
        } else {
            self.find_labels_and_ids(&read(&mut numeric.iter().copied()), &mut roles);
            // Includes columns with a stray text. That is an error and must not silently drop a dimension.
            let coordinates: Vec<usize> = numeric
                .iter()
                .copied()
                .filter(|&at| matches!(roles[at], Role::Coordinate | Role::Text))
                .collect();
            // Without headings, a column that looks like a label may be a coordinate.
            let least = if self.is_headed() { 0 } else { MIN_COORDINATES };
            if coordinates.len() >= least && coordinates != usual {
                (coordinates, Reason::Values)
            } else {
                roles.clone_from(&found);
                (if numeric.is_empty() { usual.clone() } else { numeric }, Reason::AllNumeric)
            }
        };
        // Keep the file's order if the columns are the same.
        let mut ascending = taken.clone();
        ascending.sort_unstable();
        let taken = if ascending == usual { ascending } else { taken };
        let mut is_taken = vec![false; roles.len()];
        taken.iter().for_each(|&at| is_taken[at] = true);
        for (at, role) in roles.iter_mut().enumerate() {
            *role = match *role {
                _ if is_taken[at] => Role::Coordinate,
                // The values were not read, so use the heading.
                Role::Coordinate if !is_held[at] && !self.columns[at].made_up => {
                    values::role_by_heading(&self.columns[at].name)
                }
                Role::Coordinate => Role::Other,
                told => told,
            };
        }
        let columns = self.columns.iter().zip(roles).zip(nonfinite);
        let columns = columns
            .map(|((column, role), nonfinite)| GuessedColumn { name: column.name.clone(), role, nonfinite })
            .collect();
        let unnamed = taken.iter().all(|&at| self.columns[at].made_up);
        ColumnGuess { columns, coordinates: taken, default_columns: usual, reason, unnamed }
    }

    /// The role of a column by its content alone. Numbers are coordinates unless most are missing.
    fn content_role(&self, at: usize, nonfinite: Option<u64>) -> Role {
        match self.columns[at].kind {
            ColumnKind::Text => Role::Text,
            ColumnKind::Empty => Role::Empty,
            ColumnKind::Numeric if nonfinite.is_some_and(|count| count.saturating_mul(2) > self.rows) => {
                Role::MostlyEmpty
            }
            ColumnKind::Numeric => Role::Coordinate,
        }
    }

    /// Finds labels and ids among columns whose values are available.
    fn find_labels_and_ids(&self, columns: &[usize], roles: &mut [Role]) {
        let width = self.selected.len();
        let position_of = positions_by_column(&self.selected, self.columns.len());
        let held: Vec<(usize, usize)> =
            columns.iter().filter_map(|&at| Some((at, position_of[at]?))).collect();
        let value = |row: usize, column: usize| self.values.get(row * width + held[column].1);
        let names = held.iter().map(|&(at, _)| self.columns[at].name.as_str()).collect();
        let rows = self.values.len() / width.max(1);
        let told = values::Columns { names, rows, value: &value, headed: self.is_headed() }.roles();
        held.iter().zip(told).for_each(|(&(at, _), role)| roles[at] = role);
    }

    /// Whether names are the file's own headings, or follow a convention.
    fn is_headed(&self) -> bool {
        /// Extensions of scan files, whose first columns are positions.
        const SCANS: [&str; 3] = ["pts", "xyz", "asc"];
        if self.columns.iter().any(|column| !column.made_up) {
            return true;
        }
        let file = file_of(&self.path);
        let name = file.to_string_lossy().to_ascii_lowercase();
        let ending =
            name.strip_suffix(".gz").unwrap_or(&name).rsplit('.').next().unwrap_or_default().to_owned();
        SCANS.contains(&ending.as_str()) || begins_with_a_comment(&file)
    }

    /// Number of rows without a finite number, per column; `None` if not read.
    fn nonfinite(&self) -> Vec<Option<u64>> {
        let mut nonfinite: Vec<Option<u64>> =
            self.columns.iter().map(|column| column.range.map(|range| range.nonfinite())).collect();
        let counted = with_values!(&self.values, values => count_nonfinite(values, self.selected.len()));
        self.selected.iter().zip(counted).for_each(|(&at, count)| nonfinite[at] = Some(count));
        nonfinite
    }
}

/// Whether headings name coordinates. `numeric` is whether a column may be one.
pub(super) fn name_coordinates(columns: &[SheetColumn], numeric: impl Fn(usize) -> bool) -> bool {
    let may = |at: usize| !columns[at].made_up && !columns[at].element && numeric(at);
    let headings: Vec<Option<&str>> =
        columns.iter().enumerate().map(|(at, column)| may(at).then_some(column.name.as_str())).collect();
    conventional(columns).is_some() || position(&headings).is_some()
}

/// Number of non-finite values per column, in row-major values.
fn count_nonfinite<T: Real>(values: &[T], width: usize) -> Vec<u64> {
    /// Values scanned at a time.
    const CHUNK: usize = 1 << 16;
    let chunk = (CHUNK / width.max(1)).max(1) * width.max(1);
    let of_chunk = |values: &[T]| {
        let mut nonfinite = vec![0; width];
        // Most chunks contain only finite values and need no counting by column.
        if values.iter().any(|value| !value.to_f64().is_finite()) {
            for row in values.chunks_exact(width) {
                row.iter()
                    .zip(&mut nonfinite)
                    .filter(|(value, _)| !value.to_f64().is_finite())
                    .for_each(|(_, count)| *count += 1);
            }
        }
        nonfinite
    };
    let add = |mut sum: Vec<u64>, more: Vec<u64>| {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sum
    };
    values.par_chunks(chunk).map(of_chunk).reduce(|| vec![0; width], add)
}

/// Whether a text begins with a comment, which may contain names.
fn begins_with_a_comment(file: &Path) -> bool {
    let mut begin = [0; 64];
    let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)).unwrap_or(0);
    begin[..read].trim_ascii_start().first().is_some_and(|first| b"#/%;".contains(first))
}
