//! Which numeric columns are no coordinates but labels or numbers of rows, by their headings and their values.

use crate::cloud::roles::{Role, lower_words};

/// Words that end headings of labels: a `class_size` is none.
const LABELS: [&str; 9] = ["label", "labels", "class", "target", "species", "category", "classification", "cluster", "digit"];

/// Words in headings of ids.
const IDS: [&str; 17] = [
    "id",
    "ids",
    "rowid",
    "uuid",
    "zip",
    "zipcode",
    "postcode",
    "fips",
    "geoid",
    "objectid",
    "fid",
    "gid",
    "uid",
    "pid",
    "ogc",
    "rownum",
    "rownumber",
];

/// Words of ids and of measures: a `row_index` counts rows, an `air_quality_index` does not.
const NUMBERS: [&str; 3] = ["index", "idx", "serial"];

/// What is counted where one of these is an id in any case.
const COUNTED: [&str; 3] = ["row", "record", "object"];

/// What a heading says that a column is, by its words.
struct Heading {
    label: bool,
    id: bool,
    /// An id, if no value occurs twice.
    number: bool,
}

impl Heading {
    fn of(heading: &str) -> Self {
        let words = lower_words(heading);
        let is = |known: &[&str], word: &String| known.contains(&word.as_str());
        let number = words.iter().any(|word| is(&NUMBERS, word));
        let counts = match &words[..] {
            [_] => number,
            [counted, word] => is(&COUNTED, counted) && is(&NUMBERS, word),
            _ => false,
        };
        Self { label: words.last().is_some_and(|last| is(&LABELS, last)), id: counts || words.iter().any(|word| is(&IDS, word)), number }
    }
}

/// Whether a first column is the index of a data frame, which gets no name, or one for want of a name.
fn is_unnamed(name: &str) -> bool {
    name == "d0" || name.to_ascii_lowercase().starts_with("unnamed:")
}

/// The most classes that a label may have.
const CLASSES: usize = 256;

/// Of a column without a heading.
const FEW_CLASSES: usize = 100;

/// Values of fewer rows say nothing: any three whole numbers may be classes.
const FEW_ROWS: usize = 10;

/// Rows that are looked at.
const SEEN: usize = 4096;

/// Numeric columns of a table.
pub(super) struct Columns<'a> {
    pub names: Vec<&'a str>,
    pub rows: usize,
    /// The value of a row, and of a column by its place in `names`; NaN where there is none.
    pub value: &'a dyn Fn(usize, usize) -> f64,
    /// Whether names are headings of the file. Those that look made up, such as `d3`, say nothing in any case.
    pub headed: bool,
}

impl Columns<'_> {
    /// The role of each column. A label has a heading that says so and few whole values; without headings it is the first or the
    /// last column, of whole numbers 0 to m or 1 to m, all of which occur, where the other columns reach elsewhere. An id has a
    /// heading that says so and whole values; without headings it is the first or the last column and counts the rows, and among
    /// headings the first column without one that does.
    pub fn roles(&self) -> Vec<Role> {
        let headed = self.headed && self.names.iter().enumerate().any(|(at, name)| !is_generated(name, at));
        let last = self.names.len().saturating_sub(1);
        let role = |column: usize| {
            let outermost = column == 0 || column == last;
            // Only what its heading or its place makes a candidate is looked at.
            let says = Heading::of(self.names[column]);
            let unnamed = column == 0 && self.rows > 1 && is_unnamed(self.names[column]);
            let candidate = if headed { says.label || says.id || says.number || unnamed } else { outermost && self.rows >= FEW_ROWS };
            let Some(values) = candidate.then(|| self.whole(column)).flatten() else { return Role::Coordinate };
            if headed {
                match () {
                    () if says.label && values.len() <= CLASSES => Role::Label,
                    () if says.id || says.number && values.len() == self.told(column) => Role::Id,
                    () if unnamed && self.counts_rows(column) => Role::Id,
                    () => Role::Coordinate,
                }
            } else if self.counts_rows(column) {
                Role::Id
            } else if is_class(&values) && !self.is_like_others(column) {
                Role::Label
            } else {
                Role::Coordinate
            }
        };
        (0..self.names.len()).map(role).collect()
    }

    /// Rows that are looked at, evenly spread.
    fn spread(&self) -> impl Iterator<Item = usize> + '_ {
        let seen = self.rows.min(SEEN);
        (0..seen).map(move |at| at * self.rows / seen)
    }

    /// Those of them that have a value.
    fn told(&self, column: usize) -> usize {
        self.spread().filter(|&row| !(self.value)(row, column).is_nan()).count()
    }

    /// The different values of those rows, ascending; `None` where one is no whole number.
    fn whole(&self, column: usize) -> Option<Vec<i64>> {
        /// Beyond, an f64 skips whole numbers.
        const EXACT: f64 = 9e15;
        let values = self.spread().map(|row| (self.value)(row, column)).filter(|value| !value.is_nan());
        let whole = |value: f64| (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64);
        let mut values: Vec<i64> = values.map(whole).collect::<Option<_>>()?;
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// Whether each row has one more than the row before it, in all rows.
    fn counts_rows(&self, column: usize) -> bool {
        (1..self.rows).all(|row| (self.value)(row, column) == (self.value)(row - 1, column) + 1.0)
    }

    /// Whether at least half of the other columns have the same extent: then it is one of them.
    fn is_like_others(&self, column: usize) -> bool {
        let extent = |column: usize| {
            let values = self.spread().map(|row| (self.value)(row, column));
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], value| [min.min(value), max.max(value)])
        };
        let own = extent(column);
        let alike = (0..self.names.len()).filter(|&other| other != column && extent(other) == own).count();
        2 * alike >= self.names.len() - 1
    }
}

/// What a column is whose values nobody read.
pub(super) fn by_heading(heading: &str) -> Role {
    match Heading::of(heading) {
        Heading { label: true, .. } => Role::Label,
        Heading { id: true, .. } => Role::Id,
        _ => Role::Other,
    }
}

/// Whether a reader made the name up: a letter and the column's number.
fn is_generated(name: &str, at: usize) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_lowercase()) && letters.as_str().parse() == Ok(at)
}

/// Whether the values are 0 to m, or 1 to m, all of which occur.
fn is_class(values: &[i64]) -> bool {
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else { return false };
    (0..=1).contains(&least) && most > least && (most - least) as usize + 1 == values.len() && values.len() <= FEW_CLASSES
}

#[cfg(test)]
mod tests {
    use super::Role::{Coordinate, Id, Label};
    use super::*;

    fn roles(names: &[&str], rows: usize, value: impl Fn(usize, usize) -> f64) -> Vec<Role> {
        Columns { names: names.to_vec(), rows, value: &value, headed: true }.roles()
    }

    #[test]
    fn a_label_without_a_heading_is_the_last_column() {
        // Pixels of 0 to 16, and a digit.
        let names = ["d0", "d1", "d2", "d3"];
        let digits = roles(&names, 200, |row, column| if column == 3 { (row % 10) as f64 } else { ((row * 7 + column) % 17) as f64 });
        assert_eq!(digits, [Coordinate, Coordinate, Coordinate, Label]);
        let pixels = roles(&names, 200, |row, column| ((row * 7 + column) % 17) as f64);
        assert_eq!(pixels, [Coordinate; 4], "the last is like the others");
        let binary = roles(&names, 200, |row, column| ((row >> column) % 2) as f64);
        assert_eq!(binary, [Coordinate; 4]);
    }

    #[test]
    fn numbers_that_count_the_rows_are_ids() {
        let table = |row: usize, column: usize| if column == 2 { 100_001.0 + row as f64 } else { (row as f64 * 0.37).sin() };
        assert_eq!(roles(&["d0", "d1", "d2"], 50, table), [Coordinate, Coordinate, Id]);
        assert_eq!(roles(&["a", "b", "t"], 50, table), [Coordinate; 3], "with headings they have to say so");
        assert_eq!(roles(&["d0", "d1", "d2"], 9, table), [Coordinate; 3], "of few rows it is chance");
    }

    #[test]
    fn headings_say_what_a_column_is() {
        let third = |row: usize, column: usize| if column < 2 { row as f64 * 0.5 } else { (row % 3) as f64 };
        let halves = |row: usize, _: usize| row as f64 * 0.5;
        let with_holes = |row: usize, column: usize| if row.is_multiple_of(2) { f64::NAN } else { third(row, column) };
        let counting = |row: usize, column: usize| if column < 2 { row as f64 * 0.5 } else { (row * 7) as f64 };
        type Value<'a> = &'a dyn Fn(usize, usize) -> f64;
        for (name, value, role) in [
            ("class", &third as Value<'_>, Label),
            ("depth", &third, Coordinate),
            ("class", &halves, Coordinate),
            ("row_id", &third, Id),
            ("userId", &third, Id),
            ("ID", &third, Id),
            ("zip_code", &with_holes, Id),
            ("id", &halves, Coordinate),
            ("humid", &third, Coordinate),
            ("class_size", &third, Coordinate),
            ("target_price", &third, Coordinate),
            ("crop_class", &third, Label),
            ("species_id", &third, Id),
            ("air_quality_index", &third, Coordinate),
            ("index", &third, Id),
            ("row_index", &third, Id),
            ("part_index", &counting, Id),
            ("serial_number", &counting, Id),
        ] {
            assert_eq!(roles(&["width", "height", name], 30, value), [Coordinate, Coordinate, role], "{name}");
        }
    }

    #[test]
    fn the_index_of_a_data_frame_is_an_id() {
        let table = |row: usize, column: usize| if column == 0 { row as f64 } else { (row * (7 + column) % 5) as f64 };
        for first in ["d0", "Unnamed: 0"] {
            assert_eq!(roles(&[first, "a", "b"], 4, table), [Id, Coordinate, Coordinate], "{first}");
            assert_eq!(roles(&[first, "a", "b"], 4, |row, column| table(3 - row, column)), [Coordinate; 3], "{first} counts no rows");
        }
        assert_eq!(roles(&["time", "a", "b"], 4, table), [Coordinate; 3], "it has a name");
    }

    #[test]
    fn names_that_a_reader_made_up_say_nothing() {
        let table = |row: usize, column: usize| if column == 2 { (row % 3) as f64 } else { (row * (7 + column) % 50) as f64 * 0.5 };
        let of = |headed| Columns { names: vec!["x", "y", "z"], rows: 60, value: &table, headed }.roles();
        assert_eq!((of(true), of(false)), (vec![Coordinate; 3], vec![Coordinate, Coordinate, Label]));
    }
}
