//! Detects how a text is delimited.

use super::super::cell::{self, Cell};
use super::decimal;

/// The delimiter between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Byte(u8),
    /// Runs of blanks and tabs.
    Spaces,
}

/// What the file's extension implies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hints {
    /// Fields are separated by tabs (`.tsv`, `.tab`).
    pub tabs: bool,
    /// A single number on the first line can only be the number of points (`.pts`).
    pub counted: bool,
}

/// How a text is delimited, detected from its beginning.
#[derive(Debug)]
pub(super) struct Dialect {
    pub separator: Separator,
    /// A line feed, or a carriage return in very old files.
    pub line_end: u8,
    /// Whether the first record is just the number of the others, as in a `.pts` file.
    pub counted: bool,
    /// Whether numbers use decimal commas.
    pub commas: bool,
    /// The last comment before the first record, without its `#`: some writers put the column names there.
    comment: Option<Vec<u8>>,
}

/// The comma comes last: it may be a decimal comma or part of a text, where the others are rare.
const CANDIDATES: [u8; 4] = [b'\t', b';', b'|', b','];
/// Number of records sampled.
const RECORDS: usize = 64;

impl Dialect {
    /// Detects the dialect from the beginning of a text, or from all of it if `whole`.
    pub fn detect(sample: &[u8], whole: bool, hints: Hints) -> Self {
        let Hints { tabs, counted } = hints;
        let line_end = if sample.contains(&b'\r') && !sample.contains(&b'\n') { b'\r' } else { b'\n' };
        let mut records = Vec::new();
        let mut comment = None;
        let mut rest = sample;
        while records.len() < RECORDS && !rest.is_empty() {
            if rest.starts_with(b"#") {
                let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(rest.len());
                if records.is_empty() {
                    comment = Some(rest[rest.iter().take_while(|&&byte| byte == b'#').count()..end].to_vec());
                }
                rest = &rest[(end + 1).min(rest.len())..];
                continue;
            }
            let (record, length) = Census::of_record(rest);
            rest = &rest[length..];
            // The sample may end within a record.
            if !record.blank && (whole || !rest.is_empty() || records.is_empty()) {
                records.push(record);
            }
        }
        if let [first, rest @ ..] = &records[..]
            && first.words == 1
            && first.digits
            && match rest {
                [] => counted,
                [second, ..] => second.words > 1 && choose(rest, tabs) == Separator::Spaces,
            }
        {
            return Self { separator: Separator::Spaces, line_end, counted: true, commas: false, comment };
        }
        Self { separator: choose(&records, tabs), line_end, counted: false, commas: false, comment }
    }

    /// Parses a field, with a decimal comma if the text has them.
    pub fn cell(&self, field: &[u8]) -> Cell {
        if self.commas { decimal::parse(field) } else { Cell::parse(field) }
    }

    /// Whether a text field would be a number in a locale with decimal commas.
    pub fn is_comma_number(&self, field: &[u8]) -> bool {
        self.separator == Separator::Byte(b';') && matches!(decimal::parse(field), Cell::Number(_))
    }

    /// The delimiter's name for messages.
    pub fn name(&self) -> &'static str {
        match self.separator {
            Separator::Byte(b'\t') => "tabs",
            Separator::Byte(b';') if self.commas => "semicolons, decimal commas",
            Separator::Byte(b';') => "semicolons",
            Separator::Byte(b'|') => "bars",
            Separator::Byte(_) => "commas",
            Separator::Spaces => "spaces",
        }
    }

    /// Column names from the comment before the first record, if it has as many fields as the record and none is a number.
    pub fn commented_names(&self, width: usize) -> Option<Vec<String>> {
        let comment = self.comment.as_ref()?;
        let fields: Vec<&[u8]> = match self.separator {
            Separator::Byte(delimiter) => comment.split(|&byte| byte == delimiter).collect(),
            Separator::Spaces => comment.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect(),
        };
        (fields.len() == width && fields.iter().all(|field| self.cell(field) == Cell::Text)).then(|| fields.into_iter().map(cell::name).collect())
    }
}

fn choose(records: &[Census], tabs: bool) -> Separator {
    let Some(first) = records.first() else { return Separator::Byte(b',') };
    let count = |record: &Census, candidate: u8| record.counts[CANDIDATES.iter().position(|&other| other == candidate).unwrap_or(0)];
    let even = |candidate: u8| count(first, candidate) > 0 && records.iter().all(|record| count(record, candidate) == count(first, candidate));
    if tabs && count(first, b'\t') > 0 {
        return Separator::Byte(b'\t');
    }
    if let Some(candidate) = CANDIDATES.into_iter().find(|&candidate| even(candidate)) {
        return Separator::Byte(candidate);
    }
    if first.words > 1 && records.iter().all(|record| record.words == first.words) {
        return Separator::Spaces;
    }
    // Every delimiter gives uneven records: the reader will report where. The most frequent one is the best guess.
    match CANDIDATES.into_iter().max_by_key(|&candidate| records.iter().map(|record| count(record, candidate)).sum::<usize>()) {
        Some(candidate) if records.iter().any(|record| count(record, candidate) > 0) => Separator::Byte(candidate),
        _ if first.words > 1 => Separator::Spaces,
        _ => Separator::Byte(b','),
    }
}

/// How often each candidate delimiter occurs in a record, outside quotes.
#[derive(Debug)]
struct Census {
    counts: [usize; CANDIDATES.len()],
    /// Number of fields separated by white space.
    words: usize,
    blank: bool,
    /// Whether the record has only digits and white space.
    digits: bool,
}

impl Census {
    /// Counts in the first record of a text; also returns its length, including the line end.
    fn of_record(text: &[u8]) -> (Self, usize) {
        let mut census = Self { counts: [0; CANDIDATES.len()], words: 0, blank: true, digits: true };
        let (mut quoted, mut field_start, mut in_word) = (false, true, false);
        for (at, &byte) in text.iter().enumerate() {
            census.blank &= byte.is_ascii_whitespace();
            census.digits &= byte.is_ascii_whitespace() || byte.is_ascii_digit();
            if quoted {
                // A doubled quote closes and reopens, which has the same effect.
                quoted = byte != b'"';
                field_start = !quoted;
                continue;
            }
            match byte {
                b'\n' | b'\r' => return (census, at + 1),
                b'"' if field_start => {
                    quoted = true;
                    census.words += usize::from(!in_word);
                    in_word = true;
                }
                _ => {
                    let candidate = CANDIDATES.iter().position(|&candidate| candidate == byte);
                    if let Some(candidate) = candidate {
                        census.counts[candidate] += 1;
                    }
                    let space = byte.is_ascii_whitespace();
                    census.words += usize::from(!space && !in_word);
                    in_word = !space;
                    field_start = candidate.is_some() || space;
                }
            }
        }
        (census, text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separator(text: &str) -> Separator {
        Dialect::detect(text.as_bytes(), true, Hints::default()).separator
    }

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a\tb\n1\t2", b'\t'),
            ("a;b\r\n1,5;2,5\r\n", b';'),
            ("a|b\n1|2\n", b'|'),
            ("a, b\n1, 2\n", b','),
            ("name,x\n\"one; two; three\",1\n\"a\nb\",2\n", b','),
            ("a,b\n1,2,3\n4\n", b','),
            ("\n\n# x;y;z\na,b\n1,2\n", b','),
            ("1\n2\n", b','),
            // Quotes inside a field are no quotes; the comma is uneven but the best there is.
            ("he said \"1, 2\",3\nx,4\n", b','),
        ] {
            let want = Separator::Byte(delimiter);
            assert_eq!(separator(text), want, "{text:?}");
        }
        assert_eq!(separator("  1  2 3\n 4 5\t6\n"), Separator::Spaces);
        assert_eq!(separator("x y z\n1 2 3\n"), Separator::Spaces);
        assert_eq!(Dialect::detect(b"a,b\tc\n1\t2\n", true, Hints { tabs: true, ..Hints::default() }).separator, Separator::Byte(b'\t'));
    }

    #[test]
    fn a_count_may_stand_first() {
        let dialect = |text: &str| Dialect::detect(text.as_bytes(), true, Hints::default());
        assert!(dialect("2\n1 2 3\n4 5 6\n").counted);
        assert!(Dialect::detect(b"2\n", true, Hints { counted: true, ..Hints::default() }).counted && !dialect("2\n").counted);
        assert!(!dialect("2 1\n1 2\n").counted && !dialect("2\n1\n").counted && !dialect("name\n1 2\n").counted && !dialect("2\n1,2\n").counted);
    }

    #[test]
    fn a_cut_record_does_not_count() {
        assert_eq!(Dialect::detect(b"1;2,0\n3;4,0\n5;", false, Hints::default()).separator, Separator::Byte(b';'));
    }

    #[test]
    fn names_may_stand_in_a_comment() {
        let dialect = Dialect::detect(b"# made by hand\n# lon lat\n1 2\n", true, Hints::default());
        assert_eq!(dialect.commented_names(2), Some(vec!["lon".to_owned(), "lat".to_owned()]));
        assert_eq!(dialect.commented_names(3), None);
        assert_eq!(Dialect::detect(b"# 7 8\n1 2\n", true, Hints::default()).commented_names(2), None);
    }
}
