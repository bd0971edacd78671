//! Decimal commas, as written by spreadsheets in locales that separate fields with semicolons.

use std::io::BufRead;

use super::super::FormatError;
use super::super::cell::Cell;
use super::super::input::Input;
use super::records::Records;

/// Whether the numbers of a text use decimal commas: at least one unambiguously does, and none has a point.
pub(super) fn detect(mut records: Records<impl BufRead>, input: &Input<'_>) -> Result<bool, FormatError> {
    let mut found = false;
    while records.advance(input)? {
        for at in 0..records.len() {
            let field = records.field(at);
            match Cell::parse(field) {
                Cell::Number(_) if field.contains(&b'.') => return Ok(false),
                Cell::Text if matches!(parse(field), Cell::Number(_)) => found |= is_certain(field),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Parses a field with a decimal comma. A point would be a thousands separator or an error: such a field is text.
pub(super) fn parse(field: &[u8]) -> Cell {
    if field.contains(&b'.') {
        return Cell::Text;
    }
    match field.iter().position(|&byte| byte == b',') {
        None => Cell::parse(field),
        Some(at) => {
            let mut pointed = field.to_vec();
            pointed[at] = b'.';
            Cell::parse(&pointed)
        }
    }
}

/// Whether the comma of a number cannot be a thousands separator, as that of `1,234` can.
fn is_certain(field: &[u8]) -> bool {
    let digits = field.trim_ascii();
    let digits = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
    let at = digits.iter().position(|&byte| byte == b',').unwrap_or(0);
    let (whole, decimals) = (&digits[..at], &digits[(at + 1).min(digits.len())..]);
    !(decimals.len() == 3 && decimals.iter().all(u8::is_ascii_digit) && (1..=3).contains(&whole.len()) && whole[0] != b'0')
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::with_input;
    use super::super::dialect::{Dialect, Hints};
    use super::*;

    #[test]
    fn commas_are_decimals_where_one_is_and_no_point() {
        for (text, commas) in [
            ("a;b\n1,5;2\n", true),
            ("1,5;2,25\n", true),
            ("a;b\n1,234;0,125\n", true),
            ("a;b\n-1234,567;1\n", true),
            ("a;b\n,5;1\n", true),
            ("a;b\n1,5e3;1\n", true),
            // Thousands, as far as anybody knows.
            ("a;b\n1,234;-56,789\n", false),
            ("a;b\n1,5;2.5\n", false),
            ("a;b\n1;2\n", false),
            ("a;b\nx, y;1,5,2\n", false),
        ] {
            let dialect = Dialect::detect(text.as_bytes(), true, Hints::default());
            with_input(u64::MAX, |input| assert_eq!(detect(Records::new(text.as_bytes(), &dialect), input).unwrap(), commas, "{text:?}"));
        }
    }

    #[test]
    fn a_field_is_read_with_its_comma() {
        for (field, cell) in [
            ("1,5", Cell::Number(1.5)),
            (" -0,25 ", Cell::Number(-0.25)),
            ("3", Cell::Number(3.0)),
            ("NaN", Cell::Missing),
            ("", Cell::Missing),
            ("1.234,5", Cell::Text),
            ("1.5", Cell::Text),
            ("1,2,3", Cell::Text),
            ("Berlin, Mitte", Cell::Text),
        ] {
            assert_eq!(parse(field.as_bytes()), cell, "{field:?}");
        }
    }
}
