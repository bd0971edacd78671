//! A field: a number, nothing, or text.

use super::limits::MAX_NAME;
use super::printable;

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

/// The number in a field, NaN if missing; `None` for text.
pub(super) fn value(field: &[u8]) -> Option<f64> {
    match Cell::parse(field) {
        Cell::Number(number) => Some(number),
        Cell::Missing => Some(f64::NAN),
        Cell::Text => None,
    }
}

/// The words of a line, separated by white space.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Characters between groups of digits, besides a point or comma. U+0092 is an apostrophe of Windows-1252.
const GROUPING: [char; 8] = ['\'', '’', '\u{92}', ' ', '\u{a0}', '\u{202f}', '\u{2009}', '_'];

/// Parses a number with this decimal mark, as [`plain_number`] reads it.
pub(super) fn number(field: &[u8], decimal: char) -> Option<f64> {
    plain_number(field, decimal)?.parse().ok()
}

/// A number with this decimal mark, a point or a comma, as programming languages write it. Groups of three
/// digits may be separated, also by the other mark. `D` may introduce the exponent, as in Fortran, and U+2212
/// is a minus sign.
pub(super) fn plain_number(field: &[u8], decimal: char) -> Option<String> {
    // Most texts begin with letters.
    if !matches!(field.trim_ascii().first()?, b'0'..=b'9' | b'+' | b'-' | b'.' | b',' | 0x80..) {
        return None;
    }
    let text = std::str::from_utf8(field)
        .map_or_else(|_| field.iter().map(|&byte| char::from(byte)).collect(), str::to_owned);
    let text = text.trim().replace('\u{2212}', "-");
    let mantissa = text.split(['e', 'E', 'd', 'D']).next().unwrap_or_default();
    let exponent = &text[mantissa.len()..];
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    // Without a decimal mark or a sign, `12d4` is a code.
    if exponent.starts_with(['d', 'D']) && mantissa == whole && !exponent.contains(['-', '+']) {
        return None;
    }
    let mut digits = whole.to_owned();
    let unsigned = whole.trim_start_matches(['-', '+']);
    if let Some(mark) = unsigned.chars().find(|letter| !letter.is_ascii_digit()) {
        let groups: Vec<&str> = unsigned.split(mark).collect();
        // Indian groups before the last one have two digits.
        let fits = |at: usize| {
            groups[at].len() == 3 || at + 1 < groups.len() && mark == ',' && groups[at].len() == 2
        };
        let grouped =
            (1..=3).contains(&groups[0].len()) && !groups[0].starts_with('0') && (1..groups.len()).all(fits);
        let is_address = mark == '.' && groups.len() == 4;
        let separates = GROUPING.contains(&mark) || matches!(mark, '.' | ',') && mark != decimal;
        if !separates || !grouped || is_address || !exponent.is_empty() {
            return None;
        }
        digits = whole.replace(mark, "");
    }
    Some(format!("{digits}.{fraction}{}", exponent.replace(['d', 'D'], "e")))
}

/// Whether a field consists of digits with a leading zero, as in zip codes and part numbers, which are not
/// quantities.
pub(super) fn is_code(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    digits.len() > 1 && digits[0] == b'0' && digits.iter().all(u8::is_ascii_digit)
}

/// A field as one line of UTF-8; invalid UTF-8 is read as Latin-1, in which every byte is a character.
pub(super) fn text(field: &[u8]) -> String {
    beginning(field, usize::MAX)
}

/// The beginning of [`text`], as shown in errors and descriptions.
pub(super) fn excerpt(field: &[u8]) -> String {
    beginning(field, 40)
}

/// Like [`text`], cut to the maximum length of a column name.
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
    fn fields_parse_as_numbers_missing_values_or_text() {
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
    fn decimal_and_thousands_separators_are_parsed() {
        for (field, point, comma) in [
            ("1.5", Some(1.5), None),
            ("1,5", None, Some(1.5)),
            ("-,25", None, Some(-0.25)),
            ("1.234", Some(1.234), Some(1234.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("0,234", None, Some(0.234)),
            ("1234,567", None, Some(1234.567)),
            ("1.234.567,89", None, Some(1_234_567.89)),
            ("1,234,567.89", Some(1_234_567.89), None),
            ("12,34,567.5", Some(1_234_567.5), None),
            ("1.23.456", None, None),
            ("2'600'658.31", Some(2_600_658.31), None),
            ("2’600’658,31", None, Some(2_600_658.31)),
            ("1 234", Some(1234.0), Some(1234.0)),
            ("1\u{a0}234,5", None, Some(1234.5)),
            ("1\u{202f}234\u{202f}567", Some(1_234_567.0), Some(1_234_567.0)),
            ("\u{2212}1\u{2009}234.5", Some(-1234.5), None),
            ("1_000_000", Some(1e6), Some(1e6)),
            (" +1.5D+03 ", Some(1500.0), None),
            ("1.5d3", Some(1500.0), None),
            ("1,5D-03", None, Some(0.0015)),
            ("1D+02", Some(100.0), Some(100.0)),
            ("1.5e\u{2212}3", Some(0.0015), None),
            ("12d4", None, None),
            ("1,234e2", None, Some(123.4)),
            ("1'234 567", None, None),
            ("12'34", None, None),
            ("'123", None, None),
            ("1234'567", None, None),
            ("1'-23", None, None),
            ("--1,5", None, None),
            ("1,5e3e2", None, None),
            ("1,5.2", None, None),
            ("inf", None, None),
            ("1,2,3", None, None),
            ("1.2.3", None, None),
            ("10:30", None, None),
            ("192.168.100.200", None, None),
            ("1.5e", None, None),
            ("d5", None, None),
            ("-", None, None),
            (",", None, None),
            ("", None, None),
        ] {
            assert_eq!(
                (number(field.as_bytes(), '.'), number(field.as_bytes(), ',')),
                (point, comma),
                "{field:?}"
            );
        }
        // Latin-1, in which spreadsheets write non-breaking spaces.
        assert_eq!((number(b"1\xa0234,5", ','), number(b"1\x92234", '.')), (Some(1234.5), Some(1234.0)));
    }

    #[test]
    fn integers_with_leading_zeros_are_codes() {
        assert!(["007", "06484", " 00 ", "-01", "+09"].iter().all(|field| is_code(field.as_bytes())));
        assert!(
            ["0", "-0", "0.5", "-0.25", "0e3", "00.5", "0x10", "10", "", "-", "01a", "0 1"]
                .iter()
                .all(|field| !is_code(field.as_bytes()))
        );
    }

    #[test]
    fn invalid_utf8_is_decoded_as_latin_1() {
        assert_eq!(text(b" L\xe4nge "), "Länge");
        assert_eq!(text("Länge".as_bytes()), "Länge");
        assert_eq!(text(b"two\nlines"), "two lines");
    }
}
