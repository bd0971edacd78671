//! Detects how a text is delimited.

use std::borrow::Cow;
use std::collections::HashSet;

use super::notation::Notation;
use crate::formats::cell::{self, Cell, is_code, number, words};

/// The delimiter between two fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Separator {
    Byte(u8),
    /// Runs of blanks and tabs.
    #[default]
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
#[derive(Debug, Default)]
pub(super) struct Dialect {
    pub separator: Separator,
    /// A line feed, or a carriage return in very old files.
    pub line_end: u8,
    /// Whether the first record is a row count, as in a `.pts` file.
    pub counted: bool,
    /// How the numbers of each column are written; empty if all are plain.
    pub notations: Vec<Notation>,
    /// An additional comment mark besides `#`.
    pub mark: Option<&'static [u8]>,
    /// Length of Excel's first line, `sep=;`, with its end.
    pub preamble: usize,
    /// Byte offset of the first record, if its commas and spaces between digits are ambiguous.
    pub unclear: Option<usize>,
    /// The comments before the first record, without their marks: some writers put the column names there.
    comments: Vec<Vec<u8>>,
}

/// The comma comes last, because it may also be a decimal comma or part of a text.
const CANDIDATES: [u8; 4] = [b'\t', b';', b'|', b','];
/// Number of records sampled.
const RECORDS: usize = 64;
/// Comment marks. The first applies anywhere, the others only if the text begins with such a comment.
const MARKS: [&[u8]; 5] = [b"#", b"//", b"%", b"!", b";"];

impl Dialect {
    /// Detects the dialect from the beginning of a text, or from all of it if `whole`.
    pub fn detect(sample: &[u8], whole: bool, hints: Hints) -> Self {
        let Hints { tabs, counted } = hints;
        let line_end = if sample.contains(&b'\r') && !sample.contains(&b'\n') { b'\r' } else { b'\n' };
        let mut dialect = Self { line_end, ..Self::default() };
        let mut declared = None;
        let (mut records, mut begin): (Vec<DelimiterCounts<'_>>, usize) = (Vec::new(), 0);
        let mut rest = sample;
        if let (&[b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter], after) = first_line(sample) {
            (declared, rest) = (Some(Separator::Byte(delimiter)), after);
            dialect.preamble = sample.len() - after.len();
        }
        while records.len() < RECORDS && !rest.is_empty() {
            let (line, after) = first_line(rest);
            let begins = records.is_empty() && dialect.mark.is_none();
            if let Some(mark) =
                mark_of(line).filter(|&mark| begins || mark == MARKS[0] || dialect.mark == Some(mark))
            {
                if records.iter().all(DelimiterCounts::is_count) {
                    dialect
                        .comments
                        .push(line[line.iter().take_while(|byte| mark.contains(byte)).count()..].to_vec());
                }
                dialect.mark = dialect.mark.or((mark != MARKS[0]).then_some(mark));
                rest = after;
                continue;
            }
            if records.is_empty() {
                begin = sample.len() - rest.len();
            }
            let record = DelimiterCounts::of_record(rest);
            rest = &rest[record.text.len()..];
            // The sample may end within a record.
            if !record.blank && (whole || !rest.is_empty() || records.is_empty()) {
                records.push(record);
            }
        }
        if let [first, rest @ ..] = &records[..]
            && first.is_count()
        {
            let (separator, unclear) = choose(rest, tabs);
            let counts = match (rest, separator) {
                ([], _) => counted,
                ([second, ..], Separator::Spaces) => second.words > 1,
                // `1,5` may be a number.
                ([second, ..], Separator::Byte(delimiter)) => {
                    second.count(delimiter) > usize::from(delimiter == b',')
                }
            };
            if counts {
                let unclear = unclear.then_some(begin);
                return Self {
                    separator: if rest.is_empty() { Separator::Spaces } else { separator },
                    counted: true,
                    unclear,
                    ..dialect
                };
            }
        }
        let (separator, unclear) =
            declared.map_or_else(|| choose(&records, tabs), |separator| (separator, false));
        Self { separator, unclear: unclear.then_some(begin), ..dialect }
    }

    /// Parses a field of a column.
    pub fn cell(&self, at: usize, field: &[u8]) -> Cell {
        self.notations.get(at).copied().unwrap_or_default().cell(field)
    }

    /// A number of a column as programming languages write it.
    pub fn plain<'a>(&self, at: usize, field: &'a [u8]) -> Option<Cow<'a, str>> {
        self.notations.get(at).copied().unwrap_or_default().plain(field)
    }

    /// The delimiter's name for messages.
    pub fn name(&self) -> String {
        let separator = match self.separator {
            Separator::Byte(b'\t') => "tabs",
            Separator::Byte(b';') => "semicolons",
            Separator::Byte(b'|') => "bars",
            Separator::Byte(b',') => "commas",
            Separator::Byte(_) => "custom delimiter",
            Separator::Spaces => "spaces",
        };
        let commas = if self.notations.contains(&Notation::Comma) { ", decimal commas" } else { "" };
        format!("{separator}{commas}")
    }

    /// Column names from the last comment before the first record, if it has as many fields and none is a
    /// number. The comment may have a different delimiter than the records.
    pub fn commented_names(&self, width: usize) -> Option<Vec<String>> {
        /// Words that indicate a sentence.
        const WORDS: [&str; 8] = ["a", "and", "by", "for", "is", "of", "the", "with"];
        let names = |mut fields: Vec<&[u8]>| {
            fields.pop_if(|last| last.trim_ascii().is_empty());
            let names: Vec<String> = fields.iter().map(|field| cell::name(field)).collect();
            let is_name = |field: &&[u8]| {
                Cell::parse(field) == Cell::Text
                    && (width < 3 || !WORDS.iter().any(|word| *field == word.as_bytes()))
            };
            // `m m m` are units.
            let distinct = names.iter().collect::<HashSet<_>>().len();
            (distinct == width && names.len() == width && fields.iter().all(is_name)).then_some(names)
        };
        self.comments.iter().rev().find_map(|comment| {
            let comment = comment
                .windows(2)
                .position(|pair| pair == b": ")
                .map_or(&comment[..], |at| &comment[at + 2..]);
            let delimited =
                CANDIDATES.into_iter().map(|delimiter| comment.split(|&byte| byte == delimiter).collect());
            delimited.chain([words(comment).filter(|word| !is_bracketed(word)).collect()]).find_map(names)
        })
    }
}

/// Whether a field is in brackets, as units are.
pub(super) fn is_bracketed(field: &[u8]) -> bool {
    matches!(field.trim_ascii(), [b'[', .., b']'] | [b'(', .., b')'])
}

/// The first line without its line break, and the rest of the text.
fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(text.len());
    (&text[..end], &text[(end + 1).min(text.len())..])
}

/// The comment mark of a line. A line that could be a record, such as the point `! 1 2` or the header `;x;y`,
/// is not a comment.
fn mark_of(line: &[u8]) -> Option<&'static [u8]> {
    let mark = MARKS.into_iter().find(|mark| line.starts_with(mark))?;
    let text = &line[mark.len()..];
    let is_record = match mark {
        b"#" | b"//" => false,
        b";" if text.contains(&b';') || text.first().is_some_and(|first| *first != b' ') => true,
        _ => {
            text.first().is_some_and(|first| CANDIDATES.contains(first))
                || words(text).count() > 1 && words(text).all(is_number)
        }
    };
    (!is_record).then_some(mark)
}

fn is_number(field: &[u8]) -> bool {
    matches!(Cell::parse(field), Cell::Number(_))
}

/// The delimiter, and whether commas and spaces are ambiguous.
fn choose(records: &[DelimiterCounts<'_>], tabs: bool) -> (Separator, bool) {
    let Some(first) = records.first() else { return (Separator::Byte(b','), false) };
    if tabs && first.count(b'\t') > 0 {
        return (Separator::Byte(b'\t'), false);
    }
    let fields = |record: &DelimiterCounts<'_>, separator| {
        if let Separator::Byte(delimiter) = separator { record.count(delimiter) + 1 } else { record.words }
    };
    // The header may lack a name for the row names, or the trailing delimiter of the rows.
    let even = |separator, slack: usize| {
        let widths = || records.iter().skip(slack).map(|record| fields(record, separator));
        let lone = slack > 0 && separator == Separator::Byte(b',') && first.count(b',') == 0;
        widths().next().is_some_and(|width| {
            width > 1
                && width.abs_diff(fields(first, separator)) == slack
                && widths().all(|other| other == width)
        }) && !lone
    };
    let separators = || CANDIDATES.into_iter().map(Separator::Byte).chain([Separator::Spaces]);
    match [0, 1].into_iter().find_map(|slack| separators().find(|&separator| even(separator, slack))) {
        Some(Separator::Byte(b',')) if even(Separator::Spaces, 0) => return commas(records),
        Some(separator) => return (separator, false),
        None => {}
    }
    // Every delimiter gives uneven records, so choose the most frequent one; the reader will report where
    // they differ.
    let guess = match CANDIDATES
        .into_iter()
        .max_by_key(|&candidate| records.iter().map(|record| record.count(candidate)).sum::<usize>())
    {
        Some(candidate) if records.iter().any(|record| record.count(candidate) > 0) => {
            Separator::Byte(candidate)
        }
        _ if first.words > 1 => Separator::Spaces,
        _ => Separator::Byte(b','),
    };
    (guess, false)
}

/// Distinguishes decimal commas between spaces (`1,5 2,25`) from delimiters, in records with equal numbers of
/// commas and words. Tuples, such as `1,5 2,7` for two pairs, are ambiguous.
fn commas(records: &[DelimiterCounts<'_>]) -> (Separator, bool) {
    let (mut decimal, mut numeric, mut certain, mut trailing) = (true, true, false, false);
    let (mut parts, mut wholes, mut fractions) = (HashSet::new(), HashSet::new(), HashSet::new());
    for word in records.iter().flat_map(|record| words(record.text)) {
        let bare = word.strip_suffix(b",").unwrap_or(word);
        let split: Vec<&[u8]> = bare.split(|&byte| byte == b',').collect();
        trailing |= bare != word;
        parts.insert(split.len());
        numeric &= split.iter().all(|part| is_number(part));
        match split[..] {
            // A number without a comma is not a tuple; neither are `8,05` and `1,5e3`.
            [whole] => certain |= is_number(whole),
            [whole, fraction] if number(bare, ',').is_some() && !is_code(whole) => {
                certain |=
                    is_code(fraction) || fraction.len() > 4 || !fraction.iter().all(u8::is_ascii_digit);
                wholes.insert(whole.len());
                fractions.insert(fraction.len());
            }
            _ => decimal = false,
        }
    }
    // In pairs, the second numbers would vary in length like the first ones.
    certain |= records.len() > 7 && fractions.len() == 1 && wholes.len() > 1;
    let tuples = numeric && parts.len() == 1 && !parts.contains(&1);
    let all = |test: &dyn Fn(&[&[u8]]) -> bool| {
        records.iter().all(|record| test(&record.text.split(|&byte| byte == b',').collect::<Vec<_>>()))
    };
    // If the comma is the delimiter, some field of each record has several numbers, unless spaces separate
    // thousands: `1 234,5 678`.
    let jammed =
        all(&|fields| fields.iter().any(|field| words(field).count() > 1 && words(field).all(is_number)));
    let spaced = all(&|fields| fields.iter().all(|field| number(field, '.').is_some()));
    let delimits = if trailing { !decimal || !tuples } else { !jammed || !decimal && !tuples };
    let is_decimal = decimal && !trailing && !spaced && (certain || !tuples);
    (
        if is_decimal && !delimits { Separator::Spaces } else { Separator::Byte(b',') },
        !delimits && !is_decimal,
    )
}

/// How often each candidate delimiter occurs in a record, outside quotes.
#[derive(Debug)]
struct DelimiterCounts<'a> {
    /// Including the line end.
    text: &'a [u8],
    counts: [usize; CANDIDATES.len()],
    /// Number of fields separated by white space.
    words: usize,
    blank: bool,
    /// Whether the record has only digits and white space.
    digits: bool,
}

impl<'a> DelimiterCounts<'a> {
    fn count(&self, candidate: u8) -> usize {
        CANDIDATES.iter().position(|&other| other == candidate).map_or(0, |at| self.counts[at])
    }

    /// Whether it can be a row count.
    fn is_count(&self) -> bool {
        self.words == 1 && self.digits
    }

    /// Counts in the first record of a text.
    fn of_record(text: &'a [u8]) -> Self {
        let mut census = Self { text, counts: [0; CANDIDATES.len()], words: 0, blank: true, digits: true };
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
                b'\n' | b'\r' => {
                    census.text = &text[..=at];
                    return census;
                }
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
        census
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str) -> Dialect {
        Dialect::detect(text.as_bytes(), true, Hints::default())
    }

    fn separator(text: &str) -> Separator {
        detect(text).separator
    }

    #[test]
    fn delimiters_are_detected() {
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
            // Quotes inside a field have no meaning; the comma is uneven but the best choice.
            ("he said \"1, 2\",3\nx,4\n", b','),
        ] {
            let want = Separator::Byte(delimiter);
            assert_eq!(separator(text), want, "{text:?}");
        }
        assert_eq!(separator("  1  2 3\n 4 5\t6\n"), Separator::Spaces);
        assert_eq!(separator("x y z\n1 2 3\n"), Separator::Spaces);
        assert_eq!(
            Dialect::detect(b"a,b\tc\n1\t2\n", true, Hints { tabs: true, ..Hints::default() }).separator,
            Separator::Byte(b'\t')
        );
    }

    #[test]
    fn a_leading_row_count_is_detected() {
        assert!(detect("2\n1 2 3\n4 5 6\n").counted);
        assert!(
            Dialect::detect(b"2\n", true, Hints { counted: true, ..Hints::default() }).counted
                && !detect("2\n").counted
        );
        let cloud = detect("//X;Y;Z\n2\n1;2;3\n4;5;6\n");
        assert!(
            cloud.counted && cloud.separator == Separator::Byte(b';') && cloud.commented_names(3).is_some()
        );
        assert!(
            detect("2\n1,2,3\n4,5,6\n").counted && !detect("2\n1,5\n2,5\n").counted,
            "1,5 may be a number"
        );
        assert!(
            !detect("2 1\n1 2\n").counted
                && !detect("2\n1\n").counted
                && !detect("name\n1 2\n").counted
                && !detect("2\n1,2\n").counted
        );
    }

    #[test]
    fn truncated_records_are_ignored() {
        assert_eq!(
            Dialect::detect(b"1;2,0\n3;4,0\n5;", false, Hints::default()).separator,
            Separator::Byte(b';')
        );
    }

    #[test]
    fn column_names_are_found_in_comments() {
        let dialect = detect("# made by hand\n# lon lat\n1 2\n");
        assert_eq!(dialect.commented_names(2), Some(vec!["lon".to_owned(), "lat".to_owned()]));
        assert_eq!(dialect.commented_names(4), None);
        for (text, names) in [
            ("# 7 8\n1 2\n", None),
            ("# ground truth\n# t x y\n1 2 3\n", Some("t|x|y")),
            ("# t x y\n# file 7 made by hand\n1 2 3\n", Some("t|x|y")),
            ("# x y\n# m m\n1 2\n", Some("x|y")),
            ("# x [m] y [m]\n# [m] [m]\n1 2\n", Some("x|y")),
            ("# x, y\n1 2\n", Some("x|y")),
            ("# x y\n1,2\n", Some("x|y")),
            ("# x,y,\n1,2\n", Some("x|y")),
            ("# made by hand\n1 2 3\n", None),
            ("# columns: lon lat\n1 2\n", Some("lon|lat")),
            ("% x y\n1 2\n", Some("x|y")),
            ("%% made by hand\n%\n% x;y\n1;2\n", Some("x|y")),
            ("// x\ty\n1\t2\n", Some("x|y")),
            ("! x y\n1 2\n", Some("x|y")),
            ("; x y\n1 2\n", Some("x|y")),
            // A header, and a point with a label.
            (";x\n1;2\n", None),
            ("%,x\n1,2\n", None),
            ("! 1 2\n. 3 4\n", None),
        ] {
            let width = names.map_or(2, |names: &str| names.split('|').count());
            let found = detect(text).commented_names(width).map(|names| names.join("|"));
            assert_eq!(found.as_deref(), names, "{text:?}");
        }
    }

    #[test]
    fn commas_in_space_separated_text_are_decimal_or_ambiguous() {
        for text in [
            "2,5341 5,2754 7,6099\n6,3476 2,0417 1,4577\n",
            "2,53412 5,2754\n6,3476 2,1417\n",
            "1,5 8,05\n2,5 3,1\n",
            &"1,5 12,5\n8,4 3,1\n".repeat(4),
            "1,5e3 2,5\n",
            "1,5 2\n3,5 7\n",
            "A 1,5 2,5\nB 3,5 7,5\n",
            "x y\n1,2 3,4\n",
            "1.234,5 2,5 3\n",
        ] {
            let found = detect(text);
            assert!(found.separator == Separator::Spaces && found.unclear.is_none(), "{text:?}");
        }
        for text in [
            "1,2 3,4\n5,6 7,8\n",
            &"1,2 3,4\n5,6 7,8\n".repeat(9),
            "1,5 12,5\n",
            "1.5,2.5 3.5,4.5\n",
            "1,2,3 4,5,6\n",
            "1,234 5,678\n",
            "1,5, 2,5\n",
            "123 456,789 120\n",
        ] {
            assert!(detect(text).unclear.is_some(), "{text:?}");
        }
        for text in [
            "x, y, z\n1, 2, 3\n",
            "1, 2, 3\n",
            "1.5, 2.5,\n",
            "2024-01-01 10:30:00,1.5,2.5\n",
            "2020 01 01,5\n",
            "Sample 1,25\nSample 2,30\n",
            "New York,1\nLos Angeles,2\n",
            "x y,z w\n1 2,3 4\n",
            "1 234.5,2 345.5\n",
        ] {
            let found = detect(text);
            assert!(found.separator == Separator::Byte(b',') && found.unclear.is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_declared_delimiter_is_used() {
        for (text, separator) in [
            ("sep=;\r\nx;y\r\n1,5;2,5\r\n", Separator::Byte(b';')),
            ("sep=,\n1;2,3\n", Separator::Byte(b',')),
            ("SEP=\t\n1,5\t2,5\n", Separator::Byte(b'\t')),
            ("sep=:\n1:2\n", Separator::Byte(b':')),
        ] {
            let found = detect(text);
            assert_eq!(found.separator, separator, "{text:?}");
            assert!(found.preamble > 0, "{text:?}");
        }
    }
}
