//! JSON: an array of points, an object that contains such an array or is itself a table, one point per line
//! (JSON Lines), or GeoJSON points.
//!
//! A point is an array of numbers, an object of numbers and strings, or a number. Nested arrays and objects
//! become columns of their own: `embedding_0`, `embedding_1`, …, `position.x`. Numeric strings count as
//! numbers; true is 1 and false is 0; missing members are NaN. The text is parsed as a stream; only the
//! numbers are held in memory.

mod geo;
mod object;
mod table;
mod visit;

use std::io::{self, BufReader, Cursor, Read};

use serde::de::DeserializeSeed as _;
use serde_json::Deserializer;
use serde_json::error::Category;

use super::datasets::{self, DatasetInfo};
use super::limits::MAX_LINE;
use super::{ColumnRequest, FormatError, Input, Records, Result, Sheet, unpacked};
use geo::{DocumentSeed, GeoJsonType};
use object::{Members, SelectedMember, TableVisitor};
use table::Builder;
use visit::{Point, Points, Seed};

/// Bytes sampled to detect the structure; the first of many lines may be long.
const SAMPLE: u64 = 1 << 20;

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut builder = Builder::new(input, request);
    let format = fill(&mut builder, input)?;
    builder.finish(&format, request)
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let mut builder = Builder::for_records(input, wanted);
    fill(&mut builder, input)?;
    builder.into_records(wanted)
}

/// Reads all points; returns a description of the container for display.
fn fill(builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<String> {
    let (text, shape) = open(input)?;
    let mut json = Deserializer::from_reader(text);
    Ok(match shape {
        Shape::Array => {
            datasets::check_single("a JSON array", input)?;
            done(Seed(Points(builder)).deserialize(&mut json).and_then(|()| json.end()), builder, input)?;
            "JSON, an array".to_owned()
        }
        Shape::Object => {
            let Some(found) = members(input)? else { return lines(builder, input) };
            if let Some(geo) = found.kind.as_deref().and_then(GeoJsonType::from_type) {
                datasets::check_single("a GeoJSON file", input)?;
                done(DocumentSeed { builder, geo }.deserialize(&mut json), builder, input)?;
                return Ok("GeoJSON".to_owned());
            }
            if let Some(table) = found.table().filter(|_| input.dataset().is_none()) {
                done(Seed(TableVisitor { builder, table }).deserialize(&mut json), builder, input)?;
                return Ok("JSON, an object".to_owned());
            }
            if found.datasets.is_empty() {
                let why = "the object has none; write an array of arrays or of objects, for \
                           instance df.to_json(…, orient=\"records\")";
                return Err(input.malformed("no array of points", why));
            }
            let chosen = &found.datasets[datasets::choose(&found.datasets, input)?];
            if chosen.columns == found.names.len() as u64 {
                builder.name_items(found.names);
            }
            let name = &chosen.name;
            done(Seed(SelectedMember { builder, name }).deserialize(&mut json), builder, input)?;
            format!("JSON, `{}`: an array", super::cell::name(name.as_bytes()))
        }
        Shape::Lines => return lines(builder, input),
    })
}

/// Lists the arrays of an object.
pub(super) fn datasets(input: &Input<'_>) -> Result<Vec<DatasetInfo>> {
    let found = if open(input)?.1 == Shape::Object { members(input)? } else { None };
    let several = |found: Members<'_, '_>| {
        if found.table().is_none() && found.kind.as_deref().and_then(GeoJsonType::from_type).is_none() {
            found.datasets
        } else {
            Vec::new()
        }
    };
    Ok(found.map(several).unwrap_or_default())
}

fn lines(builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<String> {
    datasets::check_single("a file of JSON Lines", input)?;
    let mut json = Deserializer::from_reader(open(input)?.0);
    while !builder.has_all_records() && json.end().is_err() {
        done(Point(builder).deserialize(&mut json), builder, input)?;
    }
    Ok("JSON Lines".to_owned())
}

/// The members of a document's single object; `None` if more values follow it.
fn members<'i, 'p>(input: &'i Input<'p>) -> Result<Option<Members<'i, 'p>>> {
    let mut json = Deserializer::from_reader(open(input)?.0);
    let mut found = Members::new(input);
    let result = Seed(&mut found).deserialize(&mut json);
    if let Some(why) = found.failed.take() {
        return Err(why);
    }
    result.map_err(|why| error(why, input))?;
    Ok(json.end().is_ok().then_some(found))
}

fn open<'i, 'a>(input: &'i Input<'a>) -> Result<(impl Read + use<'i, 'a>, Shape)> {
    let (mut text, _) = unpacked::text(input)?;
    let sample = unpacked::beginning(&mut text, SAMPLE, input)?;
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") || sample.contains(&0) {
        return Err(
            input.malformed("not JSON", "the file contains NUL bytes; is it UTF-16? Save it as UTF-8")
        );
    }
    if sample.trim_ascii().is_empty() {
        return Err(input.malformed("nothing to read", "the file contains only white space"));
    }
    let name = input.path.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let lines = [".jsonl", ".ndjson", ".jsonlines"].iter().any(|end| name.ends_with(end));
    let shape = Shape::detect(&sample, (sample.len() as u64) < SAMPLE, lines);
    // The parser reads one byte at a time.
    Ok((BufReader::with_capacity(1 << 16, TokenLimiter::new(Cursor::new(sample).chain(text), input)), shape))
}

/// Resolves the result of parsing. The builder's error is more specific than the parser's. The builder also
/// stops the parser once it has everything it needs.
fn done(result: serde_json::Result<()>, builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<()> {
    match builder.failed.take() {
        Some(why) => Err(why),
        None if builder.has_all_records() => Ok(()),
        None => result.map_err(|why| error(why, input)),
    }
}

fn error(why: serde_json::Error, input: &Input<'_>) -> FormatError {
    match why.classify() {
        Category::Io => input.io(why.into()),
        Category::Eof => input.malformed(
            "cut short",
            format!("the file ends in the middle of its data, in line {}", why.line()),
        ),
        Category::Syntax | Category::Data => {
            let (line, column) = (why.line(), why.column());
            let text = why.to_string();
            let text = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
            // Python writes NaN and Infinity by default.
            let hint =
                if text == "expected value" { "; NaN and Infinity are not JSON: write null" } else { "" };
            input.malformed(format!("line {line}, column {column}"), format!("{}{hint}", plain(text)))
        }
    }
}

/// Rewords a parser message in JSON terms.
fn plain(text: &str) -> String {
    let known = [
        ("expected ident", "unknown word; expected true, false or null"),
        ("key must be a string", "object keys must be strings in quotes"),
        (
            "control character (\\u0000-\\u001F) found while parsing a string",
            "a string contains a line break or a control character",
        ),
        (
            "recursion limit exceeded",
            "arrays and objects nest more than 127 levels deep, the supported maximum",
        ),
        ("invalid unicode code point", "bytes that are not UTF-8; save it as UTF-8"),
    ];
    if let Some((_, plain)) = known.iter().find(|(said, _)| *said == text) {
        return (*plain).to_owned();
    }
    let other = text.strip_prefix("invalid type: ").and_then(|text| text.split_once(", expected "));
    let Some((found, expected)) = other else { return text.to_owned() };
    let found = match found.split_once(' ') {
        None if found == "map" => "an object".to_owned(),
        None if found == "sequence" => "an array".to_owned(),
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
        _ => found.to_owned(),
    };
    format!("expected {expected}, found {found}")
}

// Detects the structure of a JSON text from its beginning.

/// How points are arranged in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One array, whose elements are points.
    Array,
    /// One object, with the points somewhere inside.
    Object,
    /// One value per point, in sequence: JSON Lines.
    Lines,
}

impl Shape {
    /// Detects the structure from the beginning of a text, or all of it if `whole`. `lines`: the
    /// extension implies JSON Lines.
    pub fn detect(head: &[u8], whole: bool, lines: bool) -> Self {
        let head = head.trim_ascii_start();
        let array = head.first() == Some(&b'[');
        let nested = array && matches!(head[1..].trim_ascii_start().first(), Some(b'[' | b'{'));
        let after = end_of_value(head).map(|end| head[end..].trim_ascii_start());
        match after {
            // Another value follows the first.
            Some([_, ..]) => Self::Lines,
            _ if !matches!(head.first(), Some(b'[' | b'{')) => Self::Lines,
            // Either a single point, or numbers that are each a point.
            Some([]) if whole => match array {
                true if lines && !nested => Self::Lines,
                true => Self::Array,
                false if lines => Self::Lines,
                false => Self::Object,
            },
            _ if nested => Self::Array,
            _ if lines => Self::Lines,
            _ if array => Self::Array,
            _ => Self::Object,
        }
    }
}

/// Whether a text begins like JSON and unlike any other text format.
pub(super) fn sniff(head: &[u8]) -> bool {
    let head = unpacked::unmarked(head).trim_ascii_start();
    let Some((first, rest)) = head.split_first() else { return false };
    let next = rest.trim_ascii_start().first().copied().unwrap_or(0);
    match first {
        b'[' => matches!(next, b'[' | b'{' | b'-' | b'"' | b'n') || next.is_ascii_digit(),
        b'{' => next == b'"',
        _ => false,
    }
}

/// Whether a text is a valid prefix of JSON: one value, or several arrays or objects.
pub(super) fn is_json_prefix(head: &[u8]) -> bool {
    let text = unpacked::unmarked(head);
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    sniff(head)
        && match values.next() {
            Some(Ok(_)) => {
                matches!(text[values.byte_offset()..].trim_ascii_start().first(), None | Some(b'[' | b'{'))
            }
            Some(Err(why)) => why.is_eof(),
            None => false,
        }
}

/// The length of the first array or object, if it ends within this text.
fn end_of_value(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, &byte) in text.iter().enumerate() {
        if quoted {
            (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

// Limits the length of strings and numbers before they reach the parser, which holds each token in memory.

/// Length up to which a token needs no claim, in bytes.
const UNCLAIMED: u64 = 1 << 16;
/// Copies of a token in memory: the parser's unescape buffer, with up to twice the capacity, and the name or
/// text.
const COPIES: u64 = 4;

/// A reader that fails at a text or number of more than [`MAX_LINE`] bytes, and claims the memory of long
/// ones.
struct TokenLimiter<'i, 'p, R> {
    inner: R,
    input: &'i Input<'p>,
    quoted: bool,
    escaped: bool,
    /// Length of the current text, or of digits that began before the last read.
    length: u64,
    /// Length of the longest token claimed.
    counted: u64,
}

impl<'i, 'p, R> TokenLimiter<'i, 'p, R> {
    pub fn new(inner: R, input: &'i Input<'p>) -> Self {
        Self { inner, input, quoted: false, escaped: false, length: 0, counted: UNCLAIMED }
    }

    fn count(&mut self) -> io::Result<()> {
        if self.length > self.counted {
            if self.length > MAX_LINE {
                return Err(io::Error::other(self.input.too_long("a text")));
            }
            self.input.claim(COPIES * (self.length - self.counted), "a text").map_err(io::Error::other)?;
            self.counted = self.length;
        }
        Ok(())
    }
}

impl<R: Read> Read for TokenLimiter<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let bytes = &buffer[..count];
        if !self.quoted && bytes.iter().all(u8::is_ascii_digit) {
            self.length += count as u64;
            return self.count().map(|()| count);
        }
        let mut start = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'"' {
                if self.quoted {
                    self.length += (at - start) as u64;
                    self.count()?;
                }
                (self.quoted, self.length, start) = (!self.quoted, 0, at);
            } else if byte == b'\\' {
                self.escaped = self.quoted;
            }
        }
        self.length = if self.quoted { self.length + (count - start) as u64 } else { 0 };
        self.count().map(|()| count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FormatError;
    use super::super::tests::with_input;
    use super::*;

    #[test]
    fn json_shapes_are_detected() {
        for (text, lines, shape) in [
            ("[[1,2],[3,4]]", false, Shape::Array),
            (" [ {\"a\":1} ]\n", false, Shape::Array),
            ("[[1,2],[3,4]]", true, Shape::Array),
            ("[1,2,3]", false, Shape::Array),
            ("[1,2,3]", true, Shape::Lines),
            ("[1,2]\n[3,4]\n", false, Shape::Lines),
            ("{\"a\":\"}\\\"\"}\n{\"a\":2}", false, Shape::Lines),
            ("{\"a\":[[1]]}\n", false, Shape::Object),
            ("{\"a\":1}\n", true, Shape::Lines),
            ("1\n2\n", false, Shape::Lines),
        ] {
            assert_eq!(Shape::detect(text.as_bytes(), true, lines), shape, "{text:?}");
        }
        // Only the beginning of a long text is available.
        assert_eq!(Shape::detect(b"[1,2,3,", false, true), Shape::Lines);
        assert_eq!(Shape::detect(b"[1,2,3,", false, false), Shape::Array);
        assert_eq!(Shape::detect(b"[[1,2,3,", false, true), Shape::Array);
        assert_eq!(Shape::detect(b"{\"a\":[[", false, false), Shape::Object);
    }

    #[test]
    fn tables_that_begin_with_a_bracket_are_not_json() {
        for text in ["[[1,2],[3", "[1,2]\n[3,4]\n", "{\"a\":1}", " [\n {\"x\": 1"] {
            assert!(is_json_prefix(text.as_bytes()), "{text:?}");
        }
        for text in ["[1,2],3\n", "[1,2] x\n", "[-a,b\n", "1,2\n"] {
            assert!(!is_json_prefix(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn json_is_recognised_by_its_first_characters() {
        for text in ["[[1", " [ -1", "{\"a\"", "[\n  {", "\u{feff}[1"] {
            assert!(sniff(text.as_bytes()), "{text:?}");
        }
        for text in ["[x] 1", "{1,2}", "1 2", "[#", "{}", ""] {
            assert!(!sniff(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn memory_is_claimed_for_long_tokens_only() {
        let read = |free: u64, parts: &[(&str, usize)]| {
            let mut text = Vec::new();
            parts.iter().for_each(|(part, times)| text.extend(part.repeat(*times).into_bytes()));
            let mut result = Ok(0);
            with_input(free, |input| {
                result = io::copy(&mut TokenLimiter::new(&text[..], input), &mut io::sink())
                    .map_err(|why| input.io(why));
            });
            result
        };
        let long = 1 << 20;
        for token in [&[("[\"", 1), ("a", long)][..], &[("[\"", 1), ("\\\"", long)], &[("[", 1), ("1", long)]]
        {
            assert!(matches!(read(1 << 20, token), Err(FormatError::Memory { .. })), "{:?}", token[0]);
            assert!(read(1 << 24, token).is_ok());
        }
        // Many short tokens need no claim.
        for tokens in [&[("\"a\\\\\",", long)][..], &[("1,", long)], &[("[]", long)]] {
            assert!(read(0, tokens).is_ok());
        }
    }
}
