//! Word vectors as text: GloVe (`word v1 … vd`), word2vec and fastText (the same after a line `n d`).
//!
//! The last d fields of a line are the vector, and everything before them is the word, including spaces, `#`
//! and invalid UTF-8. The word is column 0 and the numbers are `d1` to `dN`, as in delimited text.

use std::io::{BufRead, Chain, Cursor, Read};

use super::limits::MAX_COLUMNS;
use super::{
    ColumnRequest, Input, RecordPicker, Records, Result, Sheet, SheetColumn, cell, claim_cells, columns,
    number_cell, unpacked,
};

/// Bytes sampled to determine d.
const SAMPLE: u64 = 1 << 16;
/// Number of lines sampled.
const LINES: usize = 64;
/// Minimum d without a line `n d`; with fewer numbers it is a labelled point of delimited text.
const MIN_DIMS: usize = 25;

/// Whether a text consists of word vectors: either its first line gives their number and dimension, or each
/// word is followed by many decimal numbers.
pub(super) fn sniff(head: &[u8]) -> bool {
    let Some(shape) = Shape::detect(head, head.len() < SAMPLE as usize) else { return false };
    let lines = lines(head, head.len() < SAMPLE as usize);
    let Some((first, rest)) = lines.split_first() else { return false };
    if shape.promised.is_some() {
        return shape.dims > 1
            && rest
                .iter()
                .all(|line| split(line, shape.dims).is_some_and(|(_, numbers)| all_numbers(numbers)));
    }
    let word = |line: &[u8]| split(line, shape.dims).is_some_and(|(word, _)| cell::value(word).is_none());
    // Tabs, repeated spaces and integers indicate a table.
    let single =
        |line: &&[u8]| !line.contains(&b'\t') && !line.trim_ascii().windows(2).any(|pair| pair == b"  ");
    shape.dims >= MIN_DIMS
        && lines.iter().all(single)
        && lines.iter().all(|line| split(line, shape.dims).is_some_and(|(_, numbers)| all_numbers(numbers)))
        && 2 * lines.iter().filter(|line| word(line)).count() > lines.len()
        && split(first, shape.dims).is_some_and(|(_, numbers)| numbers.contains(&b'.'))
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut vectors = WordVectors::open(input)?;
    let mut columns = vectors.columns();
    let mut selected = request.resolve(&columns, input)?;
    let mut texts = request.texts(&mut selected);
    let mut values = Vec::new();
    while vectors.advance()? {
        if columns[0].example.is_none() {
            columns[0].example = Some((0, vectors.word().chars().take(40).collect()));
        }
        if let Some(texts) = &mut texts {
            texts.push(&vectors.word(), &columns[0].name, input)?;
        }
        input.reserve(&mut values, selected.len())?;
        values.extend(selected.iter().map(|&at| vectors.numbers[at - 1]));
    }
    columns[0].texts = texts;
    let WordVectors { promised, dims, gzip, rows, .. } = vectors;
    let sizes = if promised.is_some() { ", with a first line of sizes" } else { "" };
    let format = format!("word vectors, {dims} dimensions{sizes}{}", if gzip { ", gzip" } else { "" });
    Ok(Sheet::new(input, format, columns, selected, rows, values))
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let mut vectors = WordVectors::open(input)?;
    let mut picked = RecordPicker::new(wanted);
    while vectors.rows < picked.end() && vectors.advance()? {
        if let Some(cells) = picked.found.get_mut(&(vectors.rows - 1)) {
            claim_cells(vectors.numbers.len() + 1, input)?;
            let numbers = vectors.numbers.iter().map(|&value| number_cell(value));
            *cells = std::iter::once(columns::Cell::Text(vectors.word())).chain(numbers).collect();
        }
    }
    input.check_records(wanted, vectors.rows)?;
    Ok(picked.into_records(SheetColumn::names(vectors.columns())))
}

/// The 1-based line of a record; an `n d` line counts.
pub(super) fn line_of_record(input: &Input<'_>, record: u64) -> Result<u64> {
    let mut vectors = WordVectors::open(input)?;
    while vectors.rows <= record && vectors.advance()? {}
    Ok(vectors.number)
}

/// An iterator over the words and their vectors.
struct WordVectors<'i, 'p> {
    input: &'i Input<'p>,
    text: Chain<Cursor<Vec<u8>>, Box<dyn BufRead + 'p>>,
    gzip: bool,
    promised: Option<u64>,
    dims: usize,
    line: Vec<u8>,
    /// The current line, 1-based.
    number: u64,
    /// The vector of the current line.
    numbers: Vec<f64>,
    /// Number of words so far, including the current one.
    rows: u64,
}

impl<'i, 'p> WordVectors<'i, 'p> {
    fn open(input: &'i Input<'p>) -> Result<Self> {
        let (mut text, gzip) = unpacked::text(input)?;
        let sample = unpacked::beginning(&mut text, SAMPLE, input)?;
        let shape = Shape::detect(&sample, (sample.len() as u64) < SAMPLE);
        let Shape { promised, dims } =
            shape.ok_or_else(|| input.malformed("line 1", "no numbers after a word"))?;
        if dims > MAX_COLUMNS {
            return Err(
                input.unsupported(format!("{dims} columns"), format!("at most {MAX_COLUMNS} are supported"))
            );
        }
        let text = Cursor::new(sample).chain(text);
        Ok(Self {
            input,
            text,
            gzip,
            promised,
            dims,
            line: Vec::new(),
            number: 0,
            numbers: Vec::with_capacity(dims),
            rows: 0,
        })
    }

    fn columns(&self) -> Vec<SheetColumn> {
        let numbers = (1..=self.dims).map(|at| SheetColumn::element(format!("d{at}")));
        std::iter::once(SheetColumn::text("word")).chain(numbers).collect()
    }

    /// Advances to the next word; false at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            self.number += 1;
            if self.input.read_line(&mut self.text, b'\n', &mut self.line)? == 0 {
                return match self.promised.filter(|&promised| promised != self.rows) {
                    Some(promised) => Err(self.input.miscounted("words", self.rows, promised)),
                    None => Ok(false),
                };
            }
            let line = content(&self.line);
            if line.is_empty() || self.number == 1 && self.promised.is_some() {
                continue;
            }
            let context = || format!("line {}, record {}", self.number, self.rows);
            let Some((_, numbers)) = split(line, self.dims) else {
                let found = fields(line).count().saturating_sub(1);
                return Err(self.input.malformed(
                    context(),
                    format!("expected {} numbers after the word, found {found}", self.dims),
                ));
            };
            self.numbers.clear();
            for field in fields(numbers) {
                self.numbers.push(cell::value(field).ok_or_else(|| {
                    let text = cell::excerpt(field);
                    let why =
                        format!("`{text}` is not a number; expected {} numbers after the word", self.dims);
                    self.input.malformed(context(), why)
                })?);
            }
            self.rows += 1;
            return Ok(true);
        }
    }

    /// The word of the current line.
    fn word(&self) -> String {
        split(content(&self.line), self.dims).map(|(word, _)| cell::text(word)).unwrap_or_default()
    }
}

/// The dimension of the vectors, and the number of words if the first line declares it.
#[derive(Debug, PartialEq)]
struct Shape {
    promised: Option<u64>,
    dims: usize,
}

impl Shape {
    /// Detects the layout from the beginning of a text, or from all of it if `whole`.
    fn detect(head: &[u8], whole: bool) -> Option<Self> {
        let lines = lines(head, whole);
        let number = |field: &[u8]| cell::value(field).is_some();
        // A word may end in a number, and a line may be damaged: the most frequent count of trailing numbers
        // wins.
        let trailing = |line: &[u8]| {
            let fields: Vec<&[u8]> = fields(line).collect();
            fields.iter().rev().take_while(|field| number(field)).count().min(fields.len().saturating_sub(1))
        };
        let (first, rest) = lines.split_first()?;
        let sizes: Vec<Option<u64>> =
            fields(first).map(|field| std::str::from_utf8(field).ok()?.parse().ok()).collect();
        if let [Some(words), Some(dims)] = sizes[..]
            && let Ok(dims) = usize::try_from(dims)
            && dims > 0
            && rest.first().is_some_and(|second| trailing(second) >= dims)
        {
            return Some(Self { promised: Some(words), dims });
        }
        let mut counts = std::collections::BTreeMap::new();
        lines.iter().for_each(|line| *counts.entry(trailing(line)).or_insert(0) += 1);
        // Of equally frequent counts choose the smallest, which comes last.
        let (dims, _) = counts.into_iter().rev().max_by_key(|&(_, count)| count)?;
        (dims > 0).then_some(Self { promised: None, dims })
    }
}

fn all_numbers(text: &[u8]) -> bool {
    fields(text).all(|field| cell::value(field).is_some())
}

/// The complete non-blank lines at the beginning.
fn lines(head: &[u8], whole: bool) -> Vec<&[u8]> {
    let head = unpacked::unmarked(head);
    let end =
        if whole { head.len() } else { head.iter().rposition(|&byte| byte == b'\n').unwrap_or(head.len()) };
    head[..end]
        .split(|&byte| byte == b'\n')
        .map(content)
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect()
}

/// A line without trailing white space.
fn content(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// The fields between spaces and tabs. Other white space may be part of a word.
fn fields(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty())
}

/// Splits a line into the word and the last `dims` fields; `None` if there are no fields left for the word.
fn split(line: &[u8], dims: usize) -> Option<(&[u8], &[u8])> {
    let mut at = line.len();
    for _ in 0..dims {
        at = line[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t'))? + 1;
        at = line[..at].iter().rposition(|byte| matches!(byte, b' ' | b'\t'))? + 1;
    }
    // An empty word is valid if a space follows it.
    Some((line[..at].trim_ascii_end(), &line[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Option<(Option<u64>, usize)> {
        Shape::detect(text.as_bytes(), true).map(|shape| (shape.promised, shape.dims))
    }

    #[test]
    fn dimensions_are_detected() {
        assert_eq!(shape("the 1 2 3\n, 4 5 6\n"), Some((None, 3)));
        assert_eq!(shape("2008 1 2 3\nyear 4 5 6\n"), Some((None, 3)));
        assert_eq!(shape("a 1 2 3\nb 1 2\nc 1 2 3\n"), Some((None, 3)));
        assert_eq!(shape("a b 1 2\n. . . 3 4 \r\n"), Some((None, 2)));
        assert_eq!(shape("2 3\nthe 1 2 3\n1 4 5 6\n"), Some((Some(2), 3)));
        assert_eq!(shape("the one\n"), None);
        assert_eq!(shape(""), None);
        assert_eq!(split(b" 1 2", 2), Some((&b""[..], &b"1 2"[..])));
        assert_eq!(split(b"1 2", 2), None);
        assert_eq!(split(b"at b@c.d  1 2", 2), Some((&b"at b@c.d"[..], &b"1 2"[..])));
    }

    #[test]
    fn tables_are_not_read_as_word_vectors() {
        let vector = (0..30).map(|at| format!("0.{at}")).collect::<Vec<_>>().join(" ");
        assert!(sniff(format!("the {vector}\nof {vector}\n").as_bytes()));
        assert!(sniff(format!("# {vector}\n2008 {vector}\na b {vector}\n").as_bytes()));
        assert!(sniff(b"2 3\nthe 1 2 3\nof 4 5 6\n"));
        for text in [
            format!("{vector}\n{vector}\n"),
            format!("the\t{}\n", vector.replace(' ', "\t")),
            format!("the  {vector}\n"),
            format!("the {}\n", vector.replace("0.", "1")),
            format!("1 {vector}\n2 {vector}\n"),
            "A 1.5 2.5\nB 3.5 4.5\n".to_owned(),
            "2 2\n1 2\n3 4\n".to_owned(),
            "2 1\n1 2\n".to_owned(),
            "3\nx 1 2\n".to_owned(),
            "x y\n1 2\n".to_owned(),
        ] {
            assert!(!sniff(text.as_bytes()), "{text:?}");
        }
    }
}
