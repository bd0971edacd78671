//! Word vectors as text: GloVe (`word v1 … vd`), and word2vec's and fastText's (the same after a line `n d`).
//!
//! The last d fields of a line are numbers, and what stands before them is the word, whatever is in it: blanks, `#`,
//! bytes that are no UTF-8. The word is column 0, the numbers are `d1` to `dN`, as delimited text would number them.

use std::io::{BufRead, Read};

use super::cell::{self, Cell};
use super::input::Input;
use super::sheet::{Sheet, SheetColumn, Want};
use super::{FormatError, unpacked};

/// How much is looked at to find d.
const SAMPLE: u64 = 1 << 16;
/// Lines of it that are looked at.
const LINES: usize = 64;
/// Fewer numbers after a word are a labelled point of delimited text, unless the first line says `n d`.
const LEAST_DIMS: usize = 25;
/// More columns than anybody searches in; each takes memory of its own.
const MAX_DIMS: usize = 1 << 20;

/// Whether a text is of words and their vectors and nothing else: either its first line gives the size of what follows,
/// which no delimited text does, or there are many numbers with decimals after a word.
pub(super) fn looks(head: &[u8]) -> bool {
    let Some(shape) = Shape::of(head, head.len() < SAMPLE as usize) else { return false };
    let lines = lines(head, head.len() < SAMPLE as usize);
    let Some((first, rest)) = lines.split_first() else { return false };
    if shape.promised.is_some() {
        return shape.dims > 1 && rest.iter().all(|line| split(line, shape.dims).is_some_and(|(_, numbers)| all_numbers(numbers)));
    }
    let word = |line: &[u8]| split(line, shape.dims).is_some_and(|(word, _)| cell::Cell::parse(word) == Cell::Text);
    // Tabs, runs of blanks and whole numbers are of tables.
    let single = |line: &&[u8]| !line.contains(&b'\t') && !line.trim_ascii().windows(2).any(|pair| pair == b"  ");
    shape.dims >= LEAST_DIMS
        && lines.iter().all(single)
        && lines.iter().all(|line| split(line, shape.dims).is_some_and(|(_, numbers)| all_numbers(numbers)))
        && 2 * lines.iter().filter(|line| word(line)).count() > lines.len()
        && split(first, shape.dims).is_some_and(|(_, numbers)| numbers.contains(&b'.'))
}

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let (mut text, gzip) = unpacked::text(input)?;
    let mut sample = Vec::new();
    text.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(|why| input.io(why))?;
    let shape = Shape::of(&sample, (sample.len() as u64) < SAMPLE);
    let Shape { promised, dims } = shape.ok_or_else(|| input.malformed("line 1", "there are no numbers after a word"))?;
    if dims > MAX_DIMS {
        return Err(input.unsupported(format!("{dims} columns"), format!("the most that are read are {MAX_DIMS}")));
    }
    let mut text = (&sample[..]).chain(text);
    let mut columns = vec![SheetColumn::text("word")];
    columns.extend((1..=dims).map(|at| SheetColumn::numeric(format!("d{at}"))));
    let mut kept = want.resolve(&columns, input)?;
    kept.retain(|&at| at > 0);

    let (mut values, mut point) = (Vec::new(), Vec::with_capacity(dims));
    let mut line = Vec::new();
    let (mut rows, mut number) = (0, 0);
    loop {
        line.clear();
        number += 1;
        if text.read_until(b'\n', &mut line).map_err(|why| input.io(why))? == 0 {
            break;
        }
        let line = content(&line);
        if line.is_empty() || number == 1 && promised.is_some() {
            continue;
        }
        let place = || format!("line {number}, record {rows}");
        let Some((word, numbers)) = split(line, dims) else {
            let found = fields(line).count().saturating_sub(1);
            return Err(input.malformed(place(), format!("{found} numbers after the word where there should be {dims}")));
        };
        point.clear();
        for field in fields(numbers) {
            point.push(match Cell::parse(field) {
                Cell::Number(number) => number,
                Cell::Missing => f64::NAN,
                Cell::Text => {
                    let text: String = cell::text(field).chars().take(40).collect();
                    return Err(input.malformed(place(), format!("`{text}` is not a number, and {dims} should stand after the word")));
                }
            });
        }
        if rows == 0 {
            columns[0].example = Some((0, cell::text(word).chars().take(40).collect()));
        }
        input.reserve(&mut values, kept.len())?;
        values.extend(kept.iter().map(|&at| point[at - 1]));
        rows += 1;
    }
    let mut skipped = Vec::new();
    if let Some(promised) = promised.filter(|&promised| promised != rows) {
        skipped.push(format!("the first line promises {promised} words and there are {rows}"));
    }
    let format = format!("word vectors, {dims} dimensions{}{}", if promised.is_some() { ", with a first line of sizes" } else { "" }, if gzip { ", gzip" } else { "" });
    Ok(Sheet { skipped, ..Sheet::new(input, format, columns, kept, rows, values) })
}

/// The 1-based line of a record.
pub(super) fn line_of_record(input: &Input<'_>, record: u64) -> Result<u64, FormatError> {
    let (mut text, _) = unpacked::text(input)?;
    let mut sample = Vec::new();
    text.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(|why| input.io(why))?;
    let sized = Shape::of(&sample, (sample.len() as u64) < SAMPLE).is_some_and(|shape| shape.promised.is_some());
    let mut left = record + u64::from(sized);
    let (mut line, mut number) = (Vec::new(), 0);
    let mut text = (&sample[..]).chain(text);
    loop {
        line.clear();
        number += 1;
        let count = text.read_until(b'\n', &mut line).map_err(|why| input.io(why))?;
        if count == 0 || !content(&line).is_empty() && left == 0 {
            return Ok(number);
        }
        left -= u64::from(!content(&line).is_empty());
    }
}

/// How many numbers a word has, and how many words the first line promises, if it does.
#[derive(Debug, PartialEq)]
struct Shape {
    promised: Option<u64>,
    dims: usize,
}

impl Shape {
    /// From the beginning of a text, or all of it if `whole`.
    fn of(head: &[u8], whole: bool) -> Option<Self> {
        let lines = lines(head, whole);
        let number = |field: &[u8]| Cell::parse(field) != Cell::Text;
        // The word itself may end in a number, and a line may be damaged: most lines tell how many are the vector.
        let trailing = |line: &[u8]| {
            let fields: Vec<&[u8]> = fields(line).collect();
            fields.iter().rev().take_while(|field| number(field)).count().min(fields.len().saturating_sub(1))
        };
        let (first, rest) = lines.split_first()?;
        let sizes: Vec<Option<u64>> = fields(first).map(|field| std::str::from_utf8(field).ok()?.parse().ok()).collect();
        if let [Some(words), Some(dims)] = sizes[..]
            && let Ok(dims) = usize::try_from(dims)
            && dims > 0
            && rest.first().is_some_and(|second| trailing(second) >= dims)
        {
            return Some(Self { promised: Some(words), dims });
        }
        let mut counts = std::collections::BTreeMap::new();
        lines.iter().for_each(|line| *counts.entry(trailing(line)).or_insert(0) += 1);
        // Of equally many the fewer, which come last.
        let (dims, _) = counts.into_iter().rev().max_by_key(|&(_, count)| count)?;
        (dims > 0).then_some(Self { promised: None, dims })
    }
}

fn all_numbers(text: &[u8]) -> bool {
    fields(text).all(|field| Cell::parse(field) != Cell::Text)
}

/// The first lines that are not blank, whole ones only.
fn lines(head: &[u8], whole: bool) -> Vec<&[u8]> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let end = if whole { head.len() } else { head.iter().rposition(|&byte| byte == b'\n').unwrap_or(head.len()) };
    head[..end].split(|&byte| byte == b'\n').map(content).filter(|line| !line.is_empty()).take(LINES).collect()
}

/// A line without its end and the blanks there.
fn content(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// What stands between blanks and tabs. Other white space may be part of a word.
fn fields(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty())
}

/// The word and the last `dims` fields of a line; `None` when there are no more fields than that.
fn split(line: &[u8], dims: usize) -> Option<(&[u8], &[u8])> {
    let mut at = line.len();
    for _ in 0..dims {
        at = line[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t'))? + 1;
        at = line[..at].iter().rposition(|byte| matches!(byte, b' ' | b'\t'))? + 1;
    }
    // An empty word is one all the same, when there is the blank that follows it.
    Some((line[..at].trim_ascii_end(), &line[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Option<(Option<u64>, usize)> {
        Shape::of(text.as_bytes(), true).map(|shape| (shape.promised, shape.dims))
    }

    #[test]
    fn the_number_of_dimensions_is_found() {
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
    fn tables_are_no_word_vectors() {
        let vector = (0..30).map(|at| format!("0.{at}")).collect::<Vec<_>>().join(" ");
        assert!(looks(format!("the {vector}\nof {vector}\n").as_bytes()));
        assert!(looks(format!("# {vector}\n2008 {vector}\na b {vector}\n").as_bytes()));
        assert!(looks(b"2 3\nthe 1 2 3\nof 4 5 6\n"));
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
            assert!(!looks(text.as_bytes()), "{text:?}");
        }
    }
}
