//! Detects what precedes the data (a header, units), and whether records begin with row names or end with
//! blank fields.

use std::io::BufRead;

use super::dialect::{Dialect, Separator, is_bracketed};
use super::records::Records;
use crate::formats::cell::Cell;
use crate::formats::{Input, Result};

/// Number of records that the first one is compared with.
const RECORDS: usize = 64;

/// Minimum number of columns for 0, 1, 2, … to be a header of whole numbers. A shorter row may be a grid
/// point.
const NUMBERED: usize = 4;

/// How a text begins, and additional fields in its records.
#[derive(Debug, Default)]
pub(super) struct HeaderLayout {
    /// Whether the first record contains names.
    pub named: bool,
    /// Whether the first field of each record is a row name without a name in the header.
    pub row_names: bool,
    /// Whether the second record contains units.
    pub units: bool,
    /// Number of columns.
    pub width: usize,
    /// Whether records have blank fields after the columns.
    pub trailing: bool,
    /// A note for the user about the first record.
    pub note: Option<String>,
}

/// A record of the sample.
struct Row {
    cells: Vec<Cell>,
    /// Number of fields up to the last one that is not blank.
    used: usize,
    /// Whether a field is a number without a decimal mark or exponent.
    whole: bool,
}

/// Detects the heading from the beginning of a text.
pub(super) fn detect(
    mut records: Records<impl BufRead>,
    dialect: &Dialect,
    input: &Input<'_>,
) -> Result<HeaderLayout> {
    if !records.advance(input)? || dialect.counted && !records.advance(input)? {
        return Ok(HeaderLayout::default());
    }
    let first = row(&records, dialect);
    let numbered = (0..first.used).all(|at| records.field(at).trim_ascii() == at.to_string().as_bytes());
    let mut rest: Vec<Row> = Vec::new();
    let mut second: Vec<Vec<u8>> = Vec::new();
    while rest.len() < RECORDS && records.advance(input)? {
        if !records.is_blank() {
            if rest.is_empty() {
                second = (0..records.len()).map(|at| records.field(at).to_vec()).collect();
            }
            rest.push(row(&records, dialect));
        }
    }
    let mut used = rest.iter().map(|row| row.used).max().unwrap_or(0);
    // Fields that have been blank so far may be a sparse column.
    while rest.iter().chain([&first]).any(|row| row.cells.len() > used) && records.advance(input)? {
        used = used.max(row(&records, dialect).used);
    }
    let longer = rest.first().is_some_and(|row| row.cells.len() > first.cells.len());
    let row_names = longer
        && used == first.used + 1
        && (numbered || !first.cells.iter().any(is_number))
        && has_row_names(&rest, used, dialect);
    let even = rest.iter().all(|row| row.cells.len() == first.cells.len());
    let width =
        if row_names || even || used <= first.used { used.max(first.used) } else { first.cells.len() };
    let trailing = first.cells.len() > width || rest.iter().any(|row| row.cells.len() > width);
    let skip = usize::from(row_names);
    let first = &first.cells[..(width - skip).min(first.cells.len())];
    let below: Vec<&[Cell]> = rest.iter().filter_map(|row| row.cells.get(skip..first.len() + skip)).collect();
    let mut named = row_names || is_header(first, &below) || numbered && is_numbering(first.len(), &below);
    let mut note = row_names.then(|| {
        "the header has no name for the first column, which was taken as the names of the rows".to_owned()
    });
    if numbered && !named && (2..NUMBERED).contains(&first.len()) && !rest.is_empty() {
        named = !rest.iter().any(|row| row.whole);
        let read = if named {
            "was taken as a header, since all numbers below it have decimals; if it is a point, write its \
             numbers with decimals too"
        } else {
            "was read as a point; if it numbers the columns, skip it with --skip-lines"
        };
        let numbers: Vec<String> = (0..first.len()).map(|at| at.to_string()).collect();
        note = Some(format!("the first line, `{}`, {read}", numbers.join(",")));
    }
    let units = named && is_units(&second, &rest);
    Ok(HeaderLayout { named, row_names, units, width, trailing, note })
}

fn row(records: &Records<impl BufRead>, dialect: &Dialect) -> Row {
    let mut row = Row { cells: cells(records, dialect), used: records.len().min(1), whole: false };
    for (at, cell) in row.cells.iter().enumerate() {
        let field = records.field(at).trim_ascii();
        row.used = if field.is_empty() { row.used } else { at + 1 };
        row.whole |=
            is_number(cell) && field.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
    }
    row
}

fn is_number(cell: &Cell) -> bool {
    matches!(cell, Cell::Number(_))
}

fn value(cell: Option<&Cell>) -> Option<f64> {
    if let Some(&Cell::Number(number)) = cell { Some(number) } else { None }
}

/// Whether all records are one field longer than the header because they begin with row names: texts, or
/// ascending whole numbers.
fn has_row_names(rest: &[Row], used: usize, dialect: &Dialect) -> bool {
    let name = |row: &Row| row.cells[0] == Cell::Text;
    let numbers: Vec<f64> = rest.iter().filter_map(|row| value(row.cells.first())).collect();
    let begins = numbers.first().is_some_and(|&number| number == 0.0 || number == 1.0);
    let by = |fits: &dyn Fn(f64) -> bool| {
        numbers.iter().all(|number| number.fract() == 0.0)
            && numbers.windows(2).all(|pair| fits(pair[1] - pair[0]))
    };
    // With commas as delimiters, whole numbers may be parts of decimals: `1,5`.
    let counts = numbers.len() == rest.len()
        && if dialect.separator == Separator::Byte(b',') {
            used > 2 && begins && by(&|step| step == 1.0)
        } else {
            (begins || numbers.len() > 2) && by(&|step| step > 0.0)
        };
    rest.iter().all(|row| row.cells.len() == rest[0].cells.len() && row.used == used)
        && (rest.iter().all(name) || counts)
}

/// Whether the second record holds units: no numbers, and short texts above numbers.
fn is_units(second: &[Vec<u8>], rest: &[Row]) -> bool {
    let [units, below, ..] = rest else { return false };
    let mut columns = second.iter().map(|field| field.trim_ascii()).zip(units.cells.iter().zip(&below.cells));
    let fits = |(field, (unit, below)): (&[u8], (&Cell, &Cell))| {
        let marked = is_bracketed(field) || field.iter().all(|byte| b"-=:".contains(byte));
        let short = field.len() <= 16
            && field.iter().any(|&byte| byte.is_ascii_alphabetic() || !byte.is_ascii() || byte == b'%');
        *unit == Cell::Missing || *unit == Cell::Text && (marked || short && *below != Cell::Text)
    };
    // A dash may mean a missing number.
    columns.clone().all(fits)
        && columns.any(|(field, (unit, below))| field != b"-" && *unit == Cell::Text && is_number(below))
}

/// Whether the first record is a summary rather than part of the table, as in scikit-learn's files: the
/// number of rows, the number of columns before the last, and the class names for the last column. The next
/// record has that many columns, all numbers.
pub(super) fn is_summary(
    mut records: Records<impl BufRead>,
    dialect: &Dialect,
    input: &Input<'_>,
) -> Result<bool> {
    if !records.advance(input)? {
        return Ok(false);
    }
    let first = cells(&records, dialect);
    let whole = |cell: Option<&Cell>| value(cell).filter(|number| number.fract() == 0.0 && *number >= 1.0);
    let (Some(_), Some(columns)) = (whole(first.first()), whole(first.get(1))) else { return Ok(false) };
    let named = first.len() > 2 && first[2..].iter().all(|cell| *cell == Cell::Text);
    if !named || !records.advance(input)? {
        return Ok(false);
    }
    Ok(records.len() as f64 == columns + 1.0
        && cells(&records, dialect).iter().all(|cell| matches!(cell, Cell::Number(_))))
}

fn cells(records: &Records<impl BufRead>, dialect: &Dialect) -> Vec<Cell> {
    (0..records.len()).map(|at| dialect.cell(at, records.field(at))).collect()
}

/// A first record without numbers is a header, and one with only numbers is not. A mixed one may be a header
/// with years among its names, or the first of many labelled points.
fn is_header(first: &[Cell], rest: &[&[Cell]]) -> bool {
    let numbers: Vec<f64> = first.iter().filter_map(|cell| value(Some(cell))).collect();
    if numbers.is_empty() {
        return true;
    }
    // How pandas writes unnamed columns with an index: an empty field, then 0, 1, 2, ….
    if first[0] == Cell::Missing
        && numbers.len() > 1
        && (1..first.len()).all(|at| first[at] == Cell::Number((at - 1) as f64))
    {
        return true;
    }
    if !first.contains(&Cell::Text) {
        return false;
    }
    // Text above numbers is a name: the next non-missing value in the column decides.
    let next = |at: usize| rest.iter().map(|record| record[at]).find(|&cell| cell != Cell::Missing);
    if (0..first.len()).any(|at| first[at] == Cell::Text && matches!(next(at), Some(Cell::Number(_)))) {
        return true;
    }
    // Consecutive years or indices after a name, if the next record does not continue them.
    let counted = |numbers: &[f64]| {
        numbers.len() > 1
            && numbers[0].fract() == 0.0
            && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
    };
    let below: Vec<f64> =
        rest.first().into_iter().copied().flatten().filter_map(|cell| value(Some(cell))).collect();
    counted(&numbers) && !counted(&below)
}

/// Whether 0, 1, 2, … number the columns, as pandas writes them for an unnamed array. Otherwise they may
/// begin a series of running numbers, combinations or permutations.
fn is_numbering(width: usize, rest: &[&[Cell]]) -> bool {
    let goes_on = |record: &&[Cell]| {
        let whole = |cell: &Cell| value(Some(cell)).filter(|number| number.fract() == 0.0);
        let Some(mut numbers) = record.iter().map(whole).collect::<Option<Vec<f64>>>() else { return false };
        let ascends = numbers.windows(2).all(|pair| pair[0] < pair[1]);
        numbers.sort_by(f64::total_cmp);
        ascends || numbers.iter().enumerate().all(|(at, &number)| number == at as f64)
    };
    width >= NUMBERED && !rest.is_empty() && !rest.iter().all(goes_on)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::with_input;
    use super::super::dialect::Hints;
    use super::*;

    fn heading(text: &str) -> HeaderLayout {
        let mut dialect = Dialect::detect(text.as_bytes(), true, Hints::default());
        let mut found = HeaderLayout::default();
        with_input(u64::MAX, |input| {
            dialect.notations = super::super::notation::detect(text.as_bytes(), &dialect, input).unwrap();
            found = detect(Records::new(text.as_bytes(), &dialect), &dialect, input).unwrap();
        });
        found
    }

    #[test]
    fn summary_lines_are_distinguished_from_headers() {
        for (text, summary) in [
            ("569,3,malignant,benign\n1,2,3,0\n4,5,6,1\n", true),
            ("3,4,one,two,three\n1,2,3,4,0\n5,6,7,8,1\n", true),
            // A different width, text below, no class names, and no data below.
            ("569,3,malignant,benign\n1,2,3\n", false),
            ("569,3,malignant,benign\n1,2,3,a\n", false),
            ("569,3\n1,2,3,4\n", false),
            ("569,3,1,2\n1,2,3,4\n", false),
            ("569,3,malignant,benign\n", false),
            ("0.5,3,a,b\n1,2,3,4\n", false),
            ("name,3,a,b\n1,2,3,4\n", false),
        ] {
            let dialect = Dialect::detect(text.as_bytes(), true, Hints::default());
            with_input(u64::MAX, |input| {
                assert_eq!(
                    is_summary(Records::new(text.as_bytes(), &dialect), &dialect, input).unwrap(),
                    summary,
                    "{text:?}"
                );
            });
        }
    }

    #[test]
    fn headers_are_distinguished_from_labelled_points() {
        for (text, header) in [
            ("a,b\n1,2\n", true),
            ("a,b\nc,d\n", true),
            ("1,2\n3,4\n", false),
            ("1,\n3,4\n", false),
            ("5.1,3.5,A\n4.9,3.0,A\n", false),
            ("5.1,3.5,A\n", false),
            ("A,5\nB,7\n", false),
            ("5,3,A\n4,2,B\n", false),
            // Rows that happen to begin with consecutive numbers.
            ("1,2,A\n2,3,B\n", false),
            (",a,2\n0,1,2\n", true),
            ("name,x,2019\nA,1.5,3\n", true),
            // The first number below a name may come late.
            ("name,x,2019\nA,,3\nB,1,4\n", true),
            ("country,2000,2001,2002\nFrance,5,7,9\n", true),
            (",0,1,2\n0,5,6,7\n", true),
            ("2\n1 2 A\n3 4 B\n", false),
            // An array as written by pandas, of integers or not.
            ("0,1,2,3\n0.5,1.5,2.5,3.5\n", true),
            ("0,1,2,3\n0,0,5,13\n0,0,0,12\n", true),
            ("0,1,2,3\n0,1,2,3\n7,,2,1\n", true),
            ("0\t1\t2\t3\t4\n5\t3\tA\t1\t2\n", true),
            ("0,1,2\n0.5,1.5,2.5\n", true),
            ("0,1\n0.5,1e-3\n,2.5\n", true),
            ("0;1;2\n0,5;1,5;2,5\n", true),
            // A grid point, and a first row that only begins like a numbering.
            ("0,1\n0,2\n", false),
            ("0,1,2\n0.5,1.5,3\n", false),
            ("0,1,2\n5,7,1\n", false),
            ("0.0,1.0\n0.5,1.5\n", false),
            ("0,1,2,3\n", false),
            ("0,1,2,4\n0.5,1,2,3\n", false),
            ("1,2,3,4\n0.5,1,2,3\n", false),
            ("0.0,1.0,2.0,3.0\n0.5,1,2,3\n", false),
            ("0,1,2,3\n4,5,6,7\n8,9,10,11\n", false),
            ("0,1,2,3\n0,1,2,4\n0,1,2,5\n", false),
            ("0,1,2,3\n0,1,3,2\n3,2,1,0\n", false),
        ] {
            assert_eq!(heading(text).named, header, "{text:?}");
        }
    }
    #[test]
    fn row_names_are_distinguished_from_extra_columns() {
        for (text, row_names, width) in [
            ("\"x\" \"y\" \"z\"\n\"1\" 2.5 5.2 7.6\n\"2\" 6.3 2.0 0.4\n", true, 4),
            ("x,y\nA,1,2\nB,3,4\n", true, 3),
            ("x;y\nA;1;2;\nB;3;4;\n", true, 3),
            ("x\ty\n0\t1.5\t2\n1\t3\t4\n", true, 3),
            ("   x    y\n4  1.5  2\n7  3.0  4\n9  3.5  1\n", true, 3),
            ("0 1\n0 0.5 2.5\n1 3.5 4.5\n", true, 3),
            ("x\n\"a\" 2.5\n\"b\" 3.5\n", true, 2),
            // Not names, not of all rows, and a number with a decimal comma.
            ("x,y\n1.5,1,2\n2.5,3,4\n", false, 2),
            ("x,y\n7,1,2\n5,3,4\n9,1,2\n", false, 2),
            ("x,y\nA,1,2\nB,3\n", false, 2),
            ("x,y\n1,5,3\n2,5,4\n4,5,1\n", false, 2),
            ("x,y\n1,2.5,3\n2,3.5,4\n", true, 3),
            ("x\n1,5\n2,5\n3,5\n", false, 1),
            ("5,6\nA,1,2\nB,3,4\n", false, 2),
        ] {
            let found = heading(text);
            assert_eq!((found.row_names, found.width), (row_names, width), "{text:?}");
        }
    }

    #[test]
    fn trailing_delimiters_do_not_add_columns() {
        for (text, width, trailing) in [
            ("x,y\n1,2,\n3,4,\n", 2, true),
            ("x,y,\n1,2,\n3,4,\n", 2, true),
            ("x,y,\n1,2\n3,4\n", 2, true),
            ("1,2,,\n3,4,,\n", 2, true),
            ("1,2,3,\n4,5,6\n", 3, true),
            ("x,y,z\n1,2,\n3,4,\n", 3, false),
            ("1,2,\n3,4,5\n", 3, false),
            ("x,y,\n1,2,3\n", 3, false),
        ] {
            let found = heading(text);
            assert_eq!((found.width, found.trailing), (width, trailing), "{text:?}");
        }
        let sparse = format!("x,y,\n{}1,2,3\n", "1,2,\n".repeat(100));
        assert_eq!(heading(&sparse).width, 3);
    }

    #[test]
    fn unit_lines_are_distinguished_from_damaged_records() {
        for (text, units) in [
            ("x,y,z\nm,m,m\n1,2,3\n", true),
            ("t,v\n[s],[m/s]\n1,2\n", true),
            ("name,x,y\n,deg,°\nA,1,2\n", true),
            ("name,x,y\n[-],m,m\nA,1,2\n", true),
            ("x,y\ndouble,double\n3,1\n", true),
            ("x,y,z\nm,-,m\n1,2,3\n", true),
            ("x,y\n-,-\n1,2\n", false),
            ("x,y\nNaN,NaN\n1,2\n", false),
            ("x y\n--- ---\n1 2\n", true),
            ("name,x,y\nA,unknown,unknown\nB,1,2\n", false),
            ("x,y\n?,?\n1,2\n", false),
            ("x,y\n1,m\n1,2\n", false),
            ("a,b\nc,d\ne,f\n", false),
            ("x,y\nm,m\n", false),
            ("1,2\nm,m\n1,2\n", false),
        ] {
            assert_eq!(heading(text).units, units, "{text:?}");
        }
    }
}
