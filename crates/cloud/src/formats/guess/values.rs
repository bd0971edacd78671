//! Finds numeric columns that are labels or row ids rather than coordinates, by headings and values.

use crate::roles::{Role, has_word, is_in, lower_words};

/// Words that end headings of labels; `class_size` is not a label.
const LABELS: &str = "label labels class target species category classification cluster digit";

/// Words in headings of ids.
const IDS: &str =
    "id ids rowid uuid zip zipcode postcode fips geoid objectid fid gid uid pid ogc rownum rownumber";

/// Words that occur in ids and in measures: `row_index` is an id, `air_quality_index` is not.
const INDEX_WORDS: &str = "index idx serial";

/// Words in headings of times.
const TIMES: &str = "time times timestamp timestamps ts datetime date day epoch unix created updated zeit \
                     zeitstempel datum fecha hora tiempo heure temps ora tempo t";

/// Words before one of [`INDEX_WORDS`] that make a heading an id.
const COUNTED: &str = "row record object";

/// The role indicated by a heading's words.
struct HeadingRole {
    label: bool,
    id: bool,
    /// An id, if its values are unique.
    number: bool,
    time: bool,
}

impl HeadingRole {
    fn parse(heading: &str) -> Self {
        let words = lower_words(heading);
        let number = has_word(&words, INDEX_WORDS);
        let counts = match &words[..] {
            [_] => number,
            [counted, word] => is_in(counted, COUNTED) && is_in(word, INDEX_WORDS),
            _ => false,
        };
        let id = counts || has_word(&words, IDS);
        Self {
            label: words.last().is_some_and(|last| is_in(last, LABELS)),
            id,
            number,
            time: has_word(&words, TIMES),
        }
    }
}

/// Whether a name is a placeholder, as for the unnamed index of a data frame.
fn is_unnamed(name: &str) -> bool {
    name == "d0" || name.to_ascii_lowercase().starts_with("unnamed:")
}

/// Maximum number of classes of a label.
const MAX_CLASSES: usize = 256;

/// Maximum without a heading.
const MAX_UNHEADED_CLASSES: usize = 100;

/// Minimum number of rows for inference: any three whole numbers may be classes.
const MIN_ROWS: usize = 10;

/// Number of rows sampled.
const SAMPLE_ROWS: usize = 4096;

/// Numeric columns of a table.
pub(super) struct Columns<'a> {
    pub names: Vec<&'a str>,
    pub rows: usize,
    /// The value at a row and an index into `names`; NaN if missing.
    pub value: &'a dyn Fn(usize, usize) -> f64,
    /// Whether names are the file's headings. Generated-looking ones, such as `d3`, never count.
    pub headed: bool,
}

impl Columns<'_> {
    /// The role of each column. A label has a label heading and few whole values. Without headings, a label
    /// is the first or last column if its values are exactly 0 to m or 1 to m, and the other columns have
    /// different ranges. An id has an id heading and whole values, or is an unnamed first column with a
    /// unique whole number per row. A time has a time heading, or is a first column without headings. Without
    /// headings, colours or normals may follow a position.
    pub fn roles(&self) -> Vec<Role> {
        let headed = self.headed && self.names.iter().enumerate().any(|(at, name)| !is_generated(name, at));
        let last = self.names.len().saturating_sub(1);
        let role = |column: usize| {
            let outermost = column == 0 || column == last;
            // Only candidates by heading or position are examined.
            let heading = HeadingRole::parse(self.names[column]);
            let unnamed = column == 0 && self.rows > 1 && is_unnamed(self.names[column]);
            let candidate = if headed {
                heading.label || heading.id || heading.number || unnamed
            } else {
                outermost && self.rows >= MIN_ROWS
            };
            let may_be_time = heading.time && headed || candidate && !headed && column == 0;
            if may_be_time && self.is_time(column, !headed) {
                return Role::Time;
            }
            let whole = candidate.then(|| self.distinct_integers(column)).flatten();
            let Some(values) = whole.filter(|values| !values.is_empty()) else { return Role::Coordinate };
            let present = || self.count_present(column);
            let distinct = || values.len() == present() && values.len() == self.sample_rows().count();
            if headed {
                match () {
                    () if heading.label && values.len() <= MAX_CLASSES => Role::Label,
                    () if heading.id || heading.number && values.len() == present() => Role::Id,
                    () if unnamed && values[0] >= 0 && distinct() => Role::Id,
                    () => Role::Coordinate,
                }
            } else if self.counts_rows(column)
                || column == 0
                    && values[0] >= 0
                    && distinct()
                    && (1..=last).all(|other| self.distinct_integers(other).is_none())
            {
                Role::Id
            } else if is_class(&values) && !self.is_like_others(column) {
                Role::Label
            } else {
                Role::Coordinate
            }
        };
        let mut roles: Vec<Role> = (0..self.names.len()).map(role).collect();
        if !headed && self.rows >= MIN_ROWS {
            self.find_scan_attributes(&mut roles);
        }
        roles
    }

    /// Marks the columns after a three-column position if they include colours (0 to 255) or unit vectors:
    /// normals, or the quaternions of a trajectory.
    ///
    /// Only for tables that are as narrow as scans, because pixels and hillshades are not colours.
    fn find_scan_attributes(&self, roles: &mut [Role]) {
        /// A position, a colour, a direction and a few others.
        const MAX_COLUMNS: usize = 13;
        const MAX_OTHERS: usize = 3;
        let first = usize::from(matches!(roles.first(), Some(Role::Id | Role::Time)));
        let after = first + 3;
        let varies = |column: usize| {
            self.sample_rows().any(|row| (self.value)(row, column) != (self.value)(0, column))
        };
        let is_scan = (after..first + MAX_COLUMNS).contains(&roles.len())
            && (first..after).all(|at| roles[at] == Role::Coordinate && varies(at));
        if !is_scan {
            return;
        }
        let what = |from: usize, width: usize| match () {
            () if from + width > roles.len() => None,
            () if width == 3 && self.are_colors(from) => Some(Role::Color),
            () if self.are_unit_vectors(from, width) => Some(Role::Direction),
            () => None,
        };
        if self.are_colors(first) || self.are_unit_vectors(first, 3) {
            return;
        }
        let mut found = vec![Role::Other; roles.len().saturating_sub(after)];
        let mut at = after;
        while at < roles.len() {
            match [3, 4].into_iter().find_map(|width| Some((width, what(at, width)?))) {
                Some((width, role)) => {
                    found[at - after..at - after + width].fill(role);
                    at += width;
                }
                None => at += 1,
            }
        }
        let others = found.iter().filter(|&&role| role == Role::Other).count();
        if others < found.len() && others <= MAX_OTHERS {
            roles[after..].copy_from_slice(&found);
        }
    }

    /// Whether three columns are whole numbers from 0 to 255 that cover much of that range.
    fn are_colors(&self, from: usize) -> bool {
        if from + 3 > self.names.len() {
            return false;
        }
        let mut most = 0.0f64;
        let all = self.sample_rows().flat_map(|row| (from..from + 3).map(move |column| (row, column))).all(
            |(row, column)| {
                let value = (self.value)(row, column);
                most = most.max(value);
                value.fract() == 0.0 && (0.0..=255.0).contains(&value)
            },
        );
        all && most >= 64.0
    }

    /// Whether `width` columns are a unit vector, or zero, in every row.
    fn are_unit_vectors(&self, from: usize, width: usize) -> bool {
        let length =
            |row: usize| (from..from + width).map(|column| (self.value)(row, column).powi(2)).sum::<f64>();
        let mut nonzero = 0;
        from + width <= self.names.len()
            && self.sample_rows().all(|row| {
                nonzero += usize::from(length(row) > 0.0);
                length(row) == 0.0 || (length(row) - 1.0).abs() < 0.02
            })
            && nonzero >= MIN_ROWS
    }

    /// Whether a column counts seconds, milli-, micro- or nanoseconds since 1970, or holds dates such as
    /// 20240131. `rises` requires that it never decreases.
    fn is_time(&self, column: usize, rises: bool) -> bool {
        /// From 1973 to 2096.
        const SECONDS: std::ops::Range<f64> = 1e8..4e9;
        let unit =
            |value: f64| [1.0, 1e3, 1e6, 1e9].into_iter().position(|unit| SECONDS.contains(&(value / unit)));
        let values: Vec<f64> = self.sample_rows().map(|row| (self.value)(row, column)).collect();
        let is_date = |value: f64| {
            let date = value as u32;
            value.fract() == 0.0
                && (1900..2100).contains(&(date / 10_000))
                && (1..=12).contains(&(date / 100 % 100))
                && (1..=31).contains(&(date % 100))
        };
        let first = values.first().and_then(|&first| unit(first));
        let same = first.is_some() && values.iter().all(|&value| unit(value) == first);
        (same || !rises && !values.is_empty() && values.iter().all(|&value| is_date(value)))
            && (!rises || values.is_sorted() && values.first() != values.last())
    }

    /// The sampled rows, evenly spread.
    fn sample_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let seen = self.rows.min(SAMPLE_ROWS);
        (0..seen).map(move |at| at * self.rows / seen)
    }

    /// Number of sampled rows with a value.
    fn count_present(&self, column: usize) -> usize {
        self.sample_rows().filter(|&row| !(self.value)(row, column).is_nan()).count()
    }

    /// The distinct values of the sampled rows, ascending; `None` if one is not a whole number.
    fn distinct_integers(&self, column: usize) -> Option<Vec<i64>> {
        /// Beyond this, f64 skips whole numbers.
        const EXACT: f64 = 9e15;
        let values = self.sample_rows().map(|row| (self.value)(row, column)).filter(|value| !value.is_nan());
        let whole = |value: f64| (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64);
        let mut values: Vec<i64> = values.map(whole).collect::<Option<_>>()?;
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// Whether every row's value is one more than the previous row's.
    fn counts_rows(&self, column: usize) -> bool {
        (1..self.rows).all(|row| (self.value)(row, column) == (self.value)(row - 1, column) + 1.0)
    }

    /// Whether at least half of the other columns have the same range, as pixels do.
    fn is_like_others(&self, column: usize) -> bool {
        let extent = |column: usize| {
            let values = self.sample_rows().map(|row| (self.value)(row, column));
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], value| {
                [min.min(value), max.max(value)]
            })
        };
        let own = extent(column);
        let alike = (0..self.names.len()).filter(|&other| other != column && extent(other) == own).count();
        2 * alike >= self.names.len() - 1
    }
}

/// The role of a column by its heading alone.
pub(super) fn role_by_heading(heading: &str) -> Role {
    match HeadingRole::parse(heading) {
        HeadingRole { label: true, .. } => Role::Label,
        HeadingRole { id: true, .. } => Role::Id,
        _ => Role::Other,
    }
}

/// Whether a reader generated the name: a letter and the column's number.
fn is_generated(name: &str, at: usize) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_lowercase()) && letters.as_str().parse() == Ok(at)
}

/// Whether the values are exactly 0 to m or 1 to m.
fn is_class(values: &[i64]) -> bool {
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else { return false };
    (0..=1).contains(&least)
        && most > least
        && (most - least) as usize + 1 == values.len()
        && values.len() <= MAX_UNHEADED_CLASSES
}

#[cfg(test)]
mod tests {
    use super::Role::{Coordinate, Id, Label};
    use super::*;

    fn roles(names: &[&str], rows: usize, value: impl Fn(usize, usize) -> f64) -> Vec<Role> {
        Columns { names: names.to_vec(), rows, value: &value, headed: true }.roles()
    }

    #[test]
    fn a_trailing_column_of_digits_is_a_label() {
        // Pixels from 0 to 16, and a digit.
        let names = ["d0", "d1", "d2", "d3"];
        let digits = roles(&names, 200, |row, column| {
            if column == 3 { (row % 10) as f64 } else { ((row * 7 + column) % 17) as f64 }
        });
        assert_eq!(digits, [Coordinate, Coordinate, Coordinate, Label]);
        let pixels = roles(&names, 200, |row, column| ((row * 7 + column) % 17) as f64);
        assert_eq!(pixels, [Coordinate; 4], "the last column resembles the others");
        let binary = roles(&names, 200, |row, column| ((row >> column) % 2) as f64);
        assert_eq!(binary, [Coordinate; 4]);
    }

    #[test]
    fn consecutive_row_numbers_are_ids() {
        let table = |row: usize, column: usize| {
            if column == 2 { 100_001.0 + row as f64 } else { (row as f64 * 0.37).sin() }
        };
        assert_eq!(roles(&["d0", "d1", "d2"], 50, table), [Coordinate, Coordinate, Id]);
        assert_eq!(
            roles(&["a", "b", "t"], 50, table),
            [Coordinate; 3],
            "with headings, an id needs an id heading"
        );
        assert_eq!(roles(&["d0", "d1", "d2"], 9, table), [Coordinate; 3], "too few rows to infer");
    }

    #[test]
    fn headings_determine_column_roles() {
        let third = |row: usize, column: usize| if column < 2 { row as f64 * 0.5 } else { (row % 3) as f64 };
        let halves = |row: usize, _: usize| row as f64 * 0.5;
        let with_holes =
            |row: usize, column: usize| if row.is_multiple_of(2) { f64::NAN } else { third(row, column) };
        let counting =
            |row: usize, column: usize| if column < 2 { row as f64 * 0.5 } else { (row * 7) as f64 };
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
            assert_eq!(
                roles(&["width", "height", name], 30, value),
                [Coordinate, Coordinate, role],
                "{name}"
            );
        }
    }

    #[test]
    fn data_frame_indices_are_ids() {
        let table = |row: usize, column: usize| {
            if column == 0 { row as f64 } else { (row * (7 + column) % 5) as f64 }
        };
        for first in ["d0", "Unnamed: 0"] {
            assert_eq!(roles(&[first, "a", "b"], 4, table), [Id, Coordinate, Coordinate], "{first}");
            assert_eq!(
                roles(&[first, "a", "b"], 4, |row, column| table(3 - row, column)),
                [Id, Coordinate, Coordinate],
                "a filtered frame"
            );
            assert_eq!(
                roles(&[first, "a", "b"], 4, |row, column| table(row / 2, column)),
                [Coordinate; 3],
                "{first} repeats"
            );
        }
        assert_eq!(roles(&["time", "a", "b"], 4, table), [Coordinate; 3], "the index column is named");
    }

    #[test]
    fn time_columns_are_confirmed_by_their_values() {
        let since = |start: f64, step: f64| {
            move |row: usize, column: usize| {
                if column == 1 { start - row as f64 * step } else { row as f64 * 0.5 }
            }
        };
        for heading in ["timestamp", "Time", "created_at", "unixTime", "Datum", "t"] {
            assert_eq!(
                roles(&["a", heading, "b"], 30, since(1_700_000_000_123.0, 250.0)),
                [Coordinate, Role::Time, Coordinate],
                "{heading}"
            );
        }
        assert_eq!(
            roles(&["a", "date", "b"], 20, since(20_240_130.0, 1.0)),
            [Coordinate, Role::Time, Coordinate]
        );
        assert_eq!(
            roles(&["a", "date", "b"], 60, since(20_240_130.0, 1.0)),
            [Coordinate; 3],
            "20240099 is not a date"
        );
        assert_eq!(
            roles(&["a", "time", "b"], 30, since(2.5, 0.1)),
            [Coordinate; 3],
            "elapsed seconds may be an axis"
        );
        assert_eq!(roles(&["a", "population", "b"], 30, since(1_700_000_000.0, 250.0)), [Coordinate; 3]);
    }

    #[test]
    fn unnamed_column_roles_are_inferred_from_values() {
        use super::Role::{Color, Direction, Other, Time};
        let place = |row: usize, column: usize| (row as f64 * 0.37 + column as f64).sin() * 10.0;
        let color = |row: usize, column: usize| ((row * 37 + column * 91) % 256) as f64;
        let normal = |row: usize, column: usize| [0.6, 0.0, -0.8, 0.0][(row + column) % 4];
        let names = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"];
        let of = |width: usize, value: &dyn Fn(usize, usize) -> f64| roles(&names[..width], 40, value);
        let xyz = |rest: &[Role]| [vec![Coordinate; 3], rest.to_vec()].concat();
        assert_eq!(
            of(6, &|row, column| if column < 3 { place(row, column) } else { color(row, column) }),
            xyz(&[Color; 3])
        );
        let with_intensity = |row, column| match column {
            0..3 => place(row, column),
            3 => row as f64 * 0.25,
            _ => color(row, column),
        };
        assert_eq!(of(7, &with_intensity), xyz(&[Other, Color, Color, Color]));
        let trajectory = |row, column| match column {
            0 => 1_311_868_164.36 + row as f64 * 0.033,
            1..4 => place(row, column),
            _ => normal(row, column),
        };
        assert_eq!(of(8, &trajectory), [vec![Time], xyz(&[Direction; 4])].concat());
        let filtered = |row, column| if column == 0 { ((row * 37) % 101) as f64 } else { place(row, column) };
        assert_eq!(of(4, &filtered), [Id, Coordinate, Coordinate, Coordinate]);
        assert_eq!(of(6, &place), [Coordinate; 6]);
        assert_eq!(of(6, &color), [Coordinate; 6], "pixels");
        let wide: Vec<String> = (0..40).map(|at| format!("d{at}")).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        let pixels = |row: usize, column: usize| if column < 4 { 0.0 } else { color(row, column) };
        assert_eq!(roles(&wide, 40, pixels), [Coordinate; 40], "the corner of a picture is dark");
        let hillshade = |row: usize, column: usize| {
            if (3..6).contains(&column) { color(row, column) } else { place(row, column) }
        };
        assert_eq!(roles(&wide[..12], 40, hillshade), [Coordinate; 12], "too many others for a scan");
        let gaps = |row: usize, column: usize| if column == 0 { f64::NAN } else { place(row, column) };
        assert_eq!(of(3, &gaps), [Coordinate; 3], "all sampled values are missing");
    }

    #[test]
    fn generated_column_names_are_ignored() {
        let table = |row: usize, column: usize| {
            if column == 2 { (row % 3) as f64 } else { (row * (7 + column) % 50) as f64 * 0.5 }
        };
        let of = |headed| Columns { names: vec!["x", "y", "z"], rows: 60, value: &table, headed }.roles();
        assert_eq!((of(true), of(false)), (vec![Coordinate; 3], vec![Coordinate, Coordinate, Label]));
    }
}
