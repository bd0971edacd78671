//! A field: a number, nothing, or text.

use super::input::printable;
use super::limits::MAX_NAME;

/// The classified content of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text,
}

/// Words for "no value here", in lower case.
const MISSING: [&str; 5] = ["na", "n/a", "nan", "null", "none"];

impl Cell {
    /// Parses a field, ignoring surrounding white space.
    pub fn parse(field: &[u8]) -> Self {
        let field = field.trim_ascii();
        if field.is_empty() {
            return Self::Missing;
        }
        let Ok(text) = std::str::from_utf8(field) else { return Self::Text };
        match text.parse::<f64>() {
            Ok(number) if number.is_nan() => Self::Missing,
            Ok(number) => Self::Number(number),
            Err(_) if MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) => Self::Missing,
            Err(_) => Self::Text,
        }
    }
}

/// Whether a field consists of digits with a leading zero, as in zip codes and part numbers: people read these as names.
pub(super) fn is_code(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    digits.len() > 1 && digits[0] == b'0' && digits.iter().all(u8::is_ascii_digit)
}

/// A field as one line of UTF-8; invalid UTF-8 is read as Latin-1, in which every byte is a character.
pub(super) fn text(field: &[u8]) -> String {
    let field = field.trim_ascii();
    match std::str::from_utf8(field) {
        Ok(text) => printable(text),
        Err(_) => printable(&field.iter().map(|&byte| char::from(byte)).collect::<String>()),
    }
}

/// As [`text`], of the beginning: as much as an error or a description shows.
pub(super) fn excerpt(field: &[u8]) -> String {
    beginning(field, 40)
}

/// As [`text`], as long as the name of a column may be.
pub(super) fn name(field: &[u8]) -> String {
    beginning(field, MAX_NAME)
}

/// The first `most` characters of a field, without copying the rest.
fn beginning(field: &[u8], most: usize) -> String {
    let field = field.trim_ascii();
    match std::str::from_utf8(field) {
        Ok(text) => printable(&text.chars().take(most).collect::<String>()),
        Err(_) => printable(&field.iter().take(most).map(|&byte| char::from(byte)).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_blanks_and_the_rest() {
        for (field, cell) in [
            ("1", Cell::Number(1.0)),
            (" -2.5e3\t", Cell::Number(-2500.0)),
            ("+.5", Cell::Number(0.5)),
            ("inf", Cell::Number(f64::INFINITY)),
            ("-Infinity", Cell::Number(f64::NEG_INFINITY)),
            ("", Cell::Missing),
            ("  ", Cell::Missing),
            ("NaN", Cell::Missing),
            ("-nan", Cell::Missing),
            ("N/A", Cell::Missing),
            ("NULL", Cell::Missing),
            ("1,5", Cell::Text),
            ("0x10", Cell::Text),
            ("1 2", Cell::Text),
            ("-", Cell::Text),
        ] {
            assert_eq!(Cell::parse(field.as_bytes()), cell, "{field:?}");
        }
        assert_eq!(Cell::parse(b"\xd5akman"), Cell::Text);
    }

    #[test]
    fn digits_after_a_zero_are_a_code() {
        assert!(["007", "06484", " 00 ", "-01", "+09"].iter().all(|field| is_code(field.as_bytes())));
        assert!(["0", "-0", "0.5", "-0.25", "0e3", "00.5", "0x10", "10", "", "-", "01a", "0 1"].iter().all(|field| !is_code(field.as_bytes())));
    }

    #[test]
    fn names_that_are_not_utf8_are_latin_1() {
        assert_eq!(text(b" L\xe4nge "), "Länge");
        assert_eq!(text("Länge".as_bytes()), "Länge");
        assert_eq!(text(b"two\nlines"), "two lines");
    }
}
