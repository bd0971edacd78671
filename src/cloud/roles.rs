//! What columns of a file are: which numeric ones are no coordinates but labels or row numbers, by their headings and their values; and
//! which three are a colour.

use super::{Column, PointCloud};

/// What a numeric column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Coordinate,
    /// A class: one of a few whole numbers.
    Label,
    /// A number that names the row.
    Name,
}

/// Words in headings of labels and of names.
const LABELS: [&str; 9] = ["label", "labels", "class", "target", "species", "category", "classification", "cluster", "digit"];

const NAMES: [&str; 9] = ["id", "ids", "index", "idx", "rowid", "uuid", "serial", "zip", "zipcode"];

/// The most classes that a label may have.
const CLASSES: usize = 256;

/// Of a column without a heading.
const FEW_CLASSES: usize = 100;

/// Rows that are looked at.
const SEEN: usize = 4096;

/// Coordinates that are left at least.
const LEAST: usize = 2;

/// The role of each axis of a cloud that was read with all of its numeric columns. A label has a heading that says so and few whole
/// values; without headings it is the first or the last column, of whole numbers 0 to m or 1 to m, all of which occur, where the other
/// columns reach elsewhere. A name has a heading that says so and whole values; without headings it is the first or the last column
/// and counts the rows. Where fewer than two coordinates would be left, all axes are coordinates. `headed` is whether the names are headings
/// of the file, which names such as `d3` are in no case.
pub fn guess(cloud: &PointCloud, headed: bool) -> Vec<Role> {
    let dims = cloud.dims();
    let headed = headed && cloud.axes().iter().enumerate().any(|(at, axis)| !is_generated(&axis.name, at));
    let role = |axis: usize| {
        let heading = &cloud.axes()[axis].name;
        let outermost = axis == 0 || axis + 1 == dims;
        let Some(values) = whole_values(cloud, axis) else { return Role::Coordinate };
        if headed {
            let says = |words: &[&str]| words_of(heading).any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)));
            match () {
                () if says(&LABELS) && values.different() <= CLASSES => Role::Label,
                () if says(&NAMES) => Role::Name,
                () => Role::Coordinate,
            }
        } else if outermost && values.count_rows {
            Role::Name
        } else if outermost && is_class(&values) && !is_like_others(cloud, axis) {
            Role::Label
        } else {
            Role::Coordinate
        }
    };
    let roles: Vec<Role> = (0..dims).map(role).collect();
    let left = roles.iter().filter(|role| **role == Role::Coordinate).count();
    if left >= LEAST { roles } else { vec![Role::Coordinate; dims] }
}

/// The words of a heading: `row_id` has two.
pub fn words_of(heading: &str) -> impl Iterator<Item = &str> {
    heading.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The columns that are a colour, red, green and blue, by their places: `red`, `diffuse_red`, or `r` alone.
pub fn colors<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<[usize; 3]> {
    const CHANNELS: [[&str; 2]; 3] = [["red", "r"], ["green", "g"], ["blue", "b"]];
    /// What is left of a heading without the word of its channel, and the places of the three that have the same rest.
    type Found = (Vec<String>, [Option<usize>; 3]);
    let mut found: Vec<Found> = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let mut words: Vec<String> = words_of(name).map(str::to_ascii_lowercase).collect();
        let alone = words.len() == 1;
        let said = |word: &String| CHANNELS.iter().position(|[long, short]| word == long || (alone && word == short));
        let Some((word, channel)) = words.iter().enumerate().find_map(|(word, text)| Some((word, said(text)?))) else { continue };
        words.remove(word);
        let place = found.iter().position(|(rest, _)| *rest == words).unwrap_or_else(|| {
            found.push((words, [None; 3]));
            found.len() - 1
        });
        found[place].1[channel].get_or_insert(at);
    }
    found.into_iter().find_map(|(_, places)| match places {
        [Some(red), Some(green), Some(blue)] => Some([red, green, blue]),
        _ => None,
    })
}

/// Whether the names may be those that a reader makes up for columns without a heading, though a file may have them too: `x`, `y` and `z`.
pub fn may_be_made_up(cloud: &PointCloud) -> bool {
    cloud.axes().iter().map(|axis| &axis.name).eq(Column::unnamed(cloud.dims()).iter().map(|column| &column.name))
}

/// Whether a reader made the name up: a letter and the column's number.
fn is_generated(name: &str, at: usize) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_lowercase()) && letters.as_str().parse() == Ok(at)
}

/// The values of a column of whole numbers.
struct Whole {
    /// Those of the rows that are looked at, ascending, none twice.
    seen: Vec<i64>,
    /// Whether each row has one more than the row before it.
    count_rows: bool,
}

impl Whole {
    fn different(&self) -> usize {
        self.seen.len()
    }
}

fn whole_values(cloud: &PointCloud, axis: usize) -> Option<Whole> {
    /// Beyond, an f64 skips whole numbers.
    const EXACT: f64 = 9e15;
    let value = |row: usize| cloud.coordinate(row, axis);
    let whole = |value: f64| value.fract() == 0.0 && value.abs() < EXACT;
    let mut values = Vec::with_capacity(cloud.len().min(SEEN));
    for value in cloud.spread_rows(SEEN).map(value) {
        if !whole(value) {
            return None;
        }
        values.push(value as i64);
    }
    // Whoever counts rows is asked of all of them.
    let count_rows = cloud.len() > 2 && (1..cloud.len()).all(|row| value(row) == value(row - 1) + 1.0);
    values.sort_unstable();
    values.dedup();
    Some(Whole { seen: values, count_rows })
}

/// Whether the values are 0 to m, or 1 to m, all of which occur.
fn is_class(values: &Whole) -> bool {
    let (Some(&least), Some(&most)) = (values.seen.first(), values.seen.last()) else { return false };
    (0..=1).contains(&least) && most > least && (most - least) as usize + 1 == values.different() && values.different() <= FEW_CLASSES
}

/// Whether at least half of the other columns have the same extent: then it is one of them.
fn is_like_others(cloud: &PointCloud, axis: usize) -> bool {
    let extent = |axis: usize| [cloud.axes()[axis].min, cloud.axes()[axis].max];
    let alike = (0..cloud.dims()).filter(|&other| other != axis && extent(other) == extent(axis)).count();
    2 * alike >= cloud.dims() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Source, Table};

    fn roles(names: &[&str], rows: usize, value: impl Fn(usize, usize) -> f64) -> Vec<Role> {
        guess(&cloud(names, rows, value), true)
    }

    fn cloud(names: &[&str], rows: usize, value: impl Fn(usize, usize) -> f64) -> PointCloud {
        let columns = names.iter().map(|&name| Column { name: name.to_owned() }).collect();
        let values = (0..rows).flat_map(|row| (0..names.len()).map(move |column| (row, column))).map(|(row, column)| value(row, column)).collect();
        let source = Source::Coordinates(String::new());
        PointCloud::from_table(Table { columns, values }, source, None, false).expect("a cloud")
    }

    use Role::{Coordinate, Label, Name};

    #[test]
    fn three_columns_are_a_colour() {
        let of = |names: &[&str]| colors(names.iter().copied());
        assert_eq!(of(&["x", "y", "z", "nx", "diffuse_red", "diffuse_green", "diffuse_blue", "psz"]), Some([4, 5, 6]));
        assert_eq!(of(&["B", "G", "R", "x"]), Some([2, 1, 0]));
        assert_eq!(of(&["red", "x", "blue", "Green", "red"]), Some([0, 3, 2]), "of two the first");
        assert_eq!(of(&["ambient red", "diffuse_green", "diffuse_blue", "diffuse_red"]), Some([3, 1, 2]), "three of one kind");
        assert_eq!((of(&["red", "green"]), of(&["reduced", "greenhouse", "bluetooth"]), of(&["r_1", "g_1", "b_1"])), (None, None, None));
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
    fn numbers_that_count_the_rows_name_them() {
        let table = |row: usize, column: usize| if column == 2 { 100_001.0 + row as f64 } else { (row as f64 * 0.37).sin() };
        assert_eq!(roles(&["d0", "d1", "d2"], 50, table), [Coordinate, Coordinate, Name]);
        assert_eq!(roles(&["a", "b", "t"], 50, table), [Coordinate; 3], "with headings they have to say so");
        assert_eq!(roles(&["a", "b", "row_id"], 50, table), [Coordinate, Coordinate, Name]);
    }

    #[test]
    fn headings_say_what_a_column_is() {
        let table = |row: usize, column: usize| if column < 2 { row as f64 * 0.5 } else { (row % 3) as f64 };
        assert_eq!(roles(&["width", "height", "class"], 30, table), [Coordinate, Coordinate, Label]);
        assert_eq!(roles(&["width", "height", "depth"], 30, table), [Coordinate; 3]);
        let halves = |row: usize, _: usize| row as f64 * 0.5;
        assert_eq!(roles(&["width", "height", "class"], 30, halves), [Coordinate; 3], "a class is a whole number");
    }

    #[test]
    fn names_that_a_reader_made_up_say_nothing() {
        let table = |row: usize, column: usize| if column == 2 { (row % 3) as f64 } else { (row * (7 + column) % 50) as f64 * 0.5 };
        let unnamed = cloud(&["x", "y", "z"], 60, table);
        assert!(may_be_made_up(&unnamed));
        assert_eq!((guess(&unnamed, true), guess(&unnamed, false)), (vec![Coordinate; 3], vec![Coordinate, Coordinate, Label]));
        assert!(!may_be_made_up(&cloud(&["x", "y", "height"], 60, table)));
    }

    #[test]
    fn two_coordinates_are_left() {
        assert_eq!(roles(&["x", "id"], 30, |row, _| row as f64), [Coordinate; 2]);
    }
}
