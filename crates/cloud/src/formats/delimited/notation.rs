//! How the numbers of each column are written: decimal commas, separated thousands, `D` exponents.

use std::borrow::Cow;

use super::dialect::{Dialect, Separator};
use super::records::Records;
use crate::formats::cell::{Cell, number, plain_number};
use crate::formats::{Input, Result};

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Notation {
    /// A decimal point and no thousands separators, as in programming languages.
    #[default]
    Plain,
    /// With a decimal point, as [`number`] reads them.
    Point,
    /// With a decimal comma, as [`number`] reads them.
    Comma,
    /// Contradictory or ambiguous: numbers with two readings are rejected.
    Doubtful,
}

impl Notation {
    /// Parses a field of the column.
    pub fn cell(self, field: &[u8]) -> Cell {
        let plain = Cell::parse(field);
        match (self, plain) {
            (Self::Point, Cell::Text) => number(field, '.').map_or(Cell::Text, Cell::Number),
            (Self::Comma, Cell::Text) => number(field, ',').map_or(Cell::Text, Cell::Number),
            (Self::Comma, Cell::Number(value)) if value.is_finite() => {
                number(field, ',').map_or(Cell::Text, Cell::Number)
            }
            (Self::Doubtful, Cell::Number(_)) if is_ambiguous(field) => Cell::Text,
            _ => plain,
        }
    }

    /// A number of the column as programming languages write it.
    pub fn plain(self, field: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Self::Plain => std::str::from_utf8(field.trim_ascii()).ok().map(Cow::Borrowed),
            Self::Comma => plain_number(field, ',').map(Cow::Owned),
            Self::Point | Self::Doubtful => plain_number(field, '.').map(Cow::Owned),
        }
    }
}

/// Whether both decimal marks are possible and give different values, as in `1,234`.
fn is_ambiguous(field: &[u8]) -> bool {
    matches!((number(field, '.'), number(field, ',')), (Some(point), Some(comma)) if point != comma)
}

/// Statistics of a column's notation.
#[derive(Clone, Copy)]
struct NotationStats {
    numbers: usize,
    texts: usize,
    /// Whether one of the numbers is not plain.
    other: bool,
    /// Whether all of them can have a decimal point, and a decimal comma.
    point: bool,
    comma: bool,
    /// Whether one of them has two readings.
    ambiguous: bool,
}

impl NotationStats {
    const NONE: Self =
        Self { numbers: 0, texts: 0, other: false, point: true, comma: true, ambiguous: false };

    fn add(&mut self, field: &[u8], first: bool) {
        let plain = match Cell::parse(field) {
            Cell::Number(value) if value.is_finite() => Some(value),
            Cell::Text => None,
            _ => return,
        };
        let point = plain.or_else(|| number(field, '.'));
        // In most columns the first number rules out decimal commas.
        let comma = if plain.is_none() || self.comma { number(field, ',') } else { None };
        if point.is_none() && comma.is_none() {
            // The first record may be a header.
            self.texts += usize::from(!first);
            return;
        }
        self.numbers += 1;
        self.other |= plain.is_none();
        self.point &= point.is_some();
        self.comma &= comma.is_some();
        self.ambiguous |= point.is_some() && comma.is_some() && point != comma;
    }

    /// Whether some numbers are not plain. A damaged number or a repeated header does not count.
    fn is_other(&self) -> bool {
        self.other && self.numbers >= self.texts
    }

    /// The notation that all numbers fit. If two readings remain, `commas` decides: whether another column
    /// has decimal commas.
    fn notation(&self, commas: bool) -> Notation {
        let undecided = self.point && self.comma && self.ambiguous;
        match (self.point, self.comma) {
            // `1.234` is 1.234, unless points may separate thousands.
            _ if !self.other && undecided && commas => Notation::Doubtful,
            _ if !self.is_other() => Notation::Plain,
            (true, comma) if !comma || !undecided => Notation::Point,
            (point, true) if !point || commas => Notation::Comma,
            _ => Notation::Doubtful,
        }
    }
}

/// The notation of each column; empty if a quick scan shows that all numbers are plain.
pub(super) fn detect(text: &[u8], dialect: &Dialect, input: &Input<'_>) -> Result<Vec<Notation>> {
    if !is_suspicious(text, dialect.separator) {
        return Ok(Vec::new());
    }
    let mut records = Records::new(text, dialect);
    let mut columns: Vec<NotationStats> = Vec::new();
    let mut first = true;
    while records.advance(input)? {
        columns.resize(columns.len().max(records.len()), NotationStats::NONE);
        columns
            .iter_mut()
            .take(records.len())
            .enumerate()
            .for_each(|(at, column)| column.add(records.field(at), first));
        first = false;
    }
    let commas = columns.iter().any(|column| column.is_other() && column.comma && !column.point);
    Ok(columns.iter().map(|column| column.notation(commas)).collect())
}

/// Whether any byte could belong to a number that is not plain. Most texts have none.
fn is_suspicious(text: &[u8], separator: Separator) -> bool {
    let (by_comma, by_spaces) = (separator == Separator::Byte(b','), separator == Separator::Spaces);
    let odd = |pair: &[u8]| match pair[1] {
        b'\'' | b'_' | b'd' | b'D' | 0x92 | 0xa0 | 0xc2 => pair[0].is_ascii_digit(),
        b' ' => pair[0].is_ascii_digit() && !by_spaces,
        b',' => !by_comma,
        b'"' => by_comma,
        byte => byte == 0xe2,
    };
    let grouped = |part: &[u8]| matches!(part, [b'.', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'.']);
    text.starts_with(b"\"") || text.windows(2).any(odd) || text.windows(5).any(grouped)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::with_input;
    use super::super::dialect::Hints;
    use super::Notation::{Comma, Doubtful, Plain, Point};
    use super::*;

    #[test]
    fn number_notation_is_detected_from_all_values() {
        for (text, notations) in [
            ("a;b\n1,5;2\n", &[Comma, Plain][..]),
            ("1,5;2,25\n", &[Comma, Comma]),
            ("a;b\n-1234,567;1\n", &[Comma, Plain]),
            ("a|b\n,5|1\n", &[Comma, Plain]),
            ("a\tb\n1,5e3\t1\n", &[Comma, Plain]),
            ("a;b\n1,5;2.5\n", &[Comma, Plain]),
            ("a,b\n\"1,234.5\",\"1,234,567\"\n", &[Point, Point]),
            ("a;b\n1.234.567;2'000\n", &[Comma, Point]),
            ("a;b\n1.5D+03;2.5\n", &[Point, Plain]),
            ("a;b\n\u{2212}1.5;2\n", &[Point, Plain]),
            ("a;b\n1 234;2\n", &[Point, Plain]),
            // One number, or another column, decides for the others.
            ("a;b\n1,234;1\n1,25;2\n", &[Comma, Plain]),
            ("a;b\n1,234;0,125\n", &[Comma, Comma]),
            ("a;b\n1.234;0\n1.234.567;1\n", &[Comma, Plain]),
            // Text below numbers changes nothing; numbers among texts are not a column of numbers.
            ("a;b\n1,5;1\n2,5;2\n3,5;1\n4,5;2\n?;3\n", &[Comma, Plain]),
            ("a;b\n1,5;1\nred;2\nblue;3\n", &[Plain, Plain]),
            // Undecidable.
            ("a;b\n1,234;1\n-56,789;2\n", &[Doubtful, Plain]),
            ("a;b\n1,5;1.234\n", &[Comma, Doubtful]),
            ("a;b\n1.5;1\n2,5;2\n", &[Doubtful, Plain]),
            ("a;b\n1.5;1,234\n", &[Plain, Doubtful]),
            ("a;b\n1.234.567,8;1.234\n", &[Comma, Doubtful]),
            ("a,b\n\"1,234.5\",\"1,234\"\n", &[Point, Doubtful]),
            // Plain.
            ("a;b\n1;2\n", &[]),
            ("a;b\n1.234;2\n", &[]),
            ("a;b\nx, y;1,5,2\n", &[Plain, Plain]),
            ("a;b\n12d4;10:30\n", &[Plain, Plain]),
            ("name,x\n\"Berlin, Mitte\",1\n", &[Plain, Plain]),
        ] {
            let dialect = Dialect::detect(text.as_bytes(), true, Hints::default());
            with_input(u64::MAX, |input| {
                assert_eq!(detect(text.as_bytes(), &dialect, input).unwrap(), notations, "{text:?}")
            });
        }
    }

    #[test]
    fn fields_are_parsed_in_their_columns_notation() {
        for (field, comma, point, doubtful) in [
            ("1,5", Cell::Number(1.5), Cell::Text, Cell::Text),
            (" -0,25 ", Cell::Number(-0.25), Cell::Text, Cell::Text),
            ("3", Cell::Number(3.0), Cell::Number(3.0), Cell::Number(3.0)),
            ("1.5", Cell::Text, Cell::Number(1.5), Cell::Number(1.5)),
            ("1.234", Cell::Number(1234.0), Cell::Number(1.234), Cell::Text),
            ("1,234", Cell::Number(1.234), Cell::Number(1234.0), Cell::Text),
            ("inf", Cell::Number(f64::INFINITY), Cell::Number(f64::INFINITY), Cell::Number(f64::INFINITY)),
            ("NaN", Cell::Missing, Cell::Missing, Cell::Missing),
            ("", Cell::Missing, Cell::Missing, Cell::Missing),
            ("1,2,3", Cell::Text, Cell::Text, Cell::Text),
        ] {
            assert_eq!(
                [Comma, Point, Doubtful].map(|notation| notation.cell(field.as_bytes())),
                [comma, point, doubtful],
                "{field:?}"
            );
        }
    }

    #[test]
    fn plain_numbers_are_recognised_by_the_quick_scan() {
        for text in ["x,y\n1.5,-2e5\n3,4.25\n", "1.2,3.4,5.6\n", "id,d2\n1, 2\n"] {
            assert!(!is_suspicious(text.as_bytes(), Separator::Byte(b',')), "{text:?}");
        }
        assert!(!is_suspicious(b"1 2.5\n3 4\n", Separator::Spaces));
    }
}
