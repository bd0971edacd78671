//! Detects whether the first record is a header.

use std::io::BufRead;

use super::super::FormatError;
use super::super::cell::Cell;
use super::super::input::Input;
use super::dialect::Dialect;
use super::records::Records;

/// Number of records that the first one is compared with.
const RECORDS: usize = 64;

/// Minimum number of columns for 0, 1, 2, … to be a header: with fewer, it is just as likely the corner of a grid.
const NUMBERED: usize = 4;

/// Whether the first record contains names.
pub(super) fn detect(mut records: Records<impl BufRead>, dialect: &Dialect, input: &Input<'_>) -> Result<bool, FormatError> {
    if !records.advance(input)? || dialect.counted && !records.advance(input)? {
        return Ok(false);
    }
    let first = cells(&records, dialect);
    let numbered = (0..first.len()).all(|at| records.field(at).trim_ascii() == at.to_string().as_bytes());
    let mut rest = Vec::new();
    while rest.len() < RECORDS && records.advance(input)? {
        if records.len() == first.len() {
            rest.push(cells(&records, dialect));
        }
    }
    Ok(is_header(&first, &rest) || numbered && is_numbering(first.len(), &rest))
}

/// Whether the first record is none of the table but counts it, as scikit-learn begins its own files: the rows, the columns before the last,
/// and the names of the classes that the last one has by number. The next record has that many columns, of numbers alone.
pub(super) fn is_summary(mut records: Records<impl BufRead>, dialect: &Dialect, input: &Input<'_>) -> Result<bool, FormatError> {
    if !records.advance(input)? {
        return Ok(false);
    }
    let first = cells(&records, dialect);
    let whole = |cell: Option<&Cell>| match cell {
        Some(&Cell::Number(number)) if number.fract() == 0.0 && number >= 1.0 => Some(number),
        _ => None,
    };
    let (Some(_), Some(columns)) = (whole(first.first()), whole(first.get(1))) else { return Ok(false) };
    let named = first.len() > 2 && first[2..].iter().all(|cell| *cell == Cell::Text);
    if !named || !records.advance(input)? {
        return Ok(false);
    }
    Ok(records.len() as f64 == columns + 1.0 && cells(&records, dialect).iter().all(|cell| matches!(cell, Cell::Number(_))))
}

fn cells(records: &Records<impl BufRead>, dialect: &Dialect) -> Vec<Cell> {
    (0..records.len()).map(|at| dialect.cell(records.field(at))).collect()
}

/// A first record without numbers is a header, and one of only numbers is not. With both, it may be a header with years
/// among its names, or the first of many labelled points.
fn is_header(first: &[Cell], rest: &[Vec<Cell>]) -> bool {
    let numbers: Vec<f64> = first.iter().filter_map(|cell| if let Cell::Number(number) = cell { Some(*number) } else { None }).collect();
    if numbers.is_empty() {
        return true;
    }
    // How pandas writes unnamed columns with an index: an empty field, then 0, 1, 2, ….
    if first[0] == Cell::Missing && numbers.len() > 1 && (1..first.len()).all(|at| first[at] == Cell::Number((at - 1) as f64)) {
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
    // Consecutive years or indices beside a name, which the next record does not continue.
    let counted = |numbers: &[f64]| numbers.len() > 1 && numbers[0].fract() == 0.0 && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    let below: Vec<f64> =
        rest.first().into_iter().flatten().filter_map(|cell| if let Cell::Number(number) = cell { Some(*number) } else { None }).collect();
    counted(&numbers) && !counted(&below)
}

/// Whether 0, 1, 2, … number the columns, as pandas writes them for an array without names, rather than being the first of a
/// series of running numbers, combinations or permutations.
fn is_numbering(width: usize, rest: &[Vec<Cell>]) -> bool {
    let goes_on = |record: &Vec<Cell>| {
        let whole = |cell: &Cell| if let Cell::Number(number) = cell { Some(*number).filter(|number| number.fract() == 0.0) } else { None };
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

    #[test]
    fn a_first_line_that_counts_the_table_is_told_from_a_header() {
        for (text, summary) in [
            ("569,3,malignant,benign\n1,2,3,0\n4,5,6,1\n", true),
            ("3,4,one,two,three\n1,2,3,4,0\n5,6,7,8,1\n", true),
            // Another width, text below, no names, and nothing below.
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
                assert_eq!(is_summary(Records::new(text.as_bytes(), &dialect), &dialect, input).unwrap(), summary, "{text:?}");
            });
        }
    }

    #[test]
    fn names_and_labelled_points_are_told_apart() {
        for (text, header) in [
            ("a,b\n1,2\n", true),
            ("a,b\nc,d\n", true),
            ("1,2\n3,4\n", false),
            ("1,\n3,4\n", false),
            ("5.1,3.5,A\n4.9,3.0,A\n", false),
            ("5.1,3.5,A\n", false),
            ("A,5\nB,7\n", false),
            ("5,3,A\n4,2,B\n", false),
            // Rows that begin with consecutive numbers by habit.
            ("1,2,A\n2,3,B\n", false),
            (",a,2\n0,1,2\n", true),
            ("name,x,2019\nA,1.5,3\n", true),
            // The first number below a name may come late.
            ("name,x,2019\nA,,3\nB,1,4\n", true),
            ("country,2000,2001,2002\nFrance,5,7,9\n", true),
            (",0,1,2\n0,5,6,7\n", true),
            ("2\n1 2 A\n3 4 B\n", false),
            // An array as pandas writes it, of integers or not.
            ("0,1,2,3\n0.5,1.5,2.5,3.5\n", true),
            ("0,1,2,3\n0,0,5,13\n0,0,0,12\n", true),
            ("0,1,2,3\n0,1,2,3\n7,,2,1\n", true),
            ("0\t1\t2\t3\t4\n5\t3\tA\t1\t2\n", true),
            // A point of a grid, and what only begins in this way.
            ("0,1\n0,2\n", false),
            ("0,1,2\n0.5,1.5,2.5\n", false),
            ("0,1,2,3\n", false),
            ("0,1,2,4\n0.5,1,2,3\n", false),
            ("1,2,3,4\n0.5,1,2,3\n", false),
            ("0.0,1.0,2.0,3.0\n0.5,1,2,3\n", false),
            ("0,1,2,3\n4,5,6,7\n8,9,10,11\n", false),
            ("0,1,2,3\n0,1,2,4\n0,1,2,5\n", false),
            ("0,1,2,3\n0,1,3,2\n3,2,1,0\n", false),
        ] {
            let dialect = Dialect::detect(text.as_bytes(), true, Hints::default());
            with_input(u64::MAX, |input| assert_eq!(detect(Records::new(text.as_bytes(), &dialect), &dialect, input).unwrap(), header, "{text:?}"));
        }
    }
}
