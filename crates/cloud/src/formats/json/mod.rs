//! JSON: an array of points; an object that contains one or is a table; or one point per line (JSON
//! Lines); and GeoJSON points.
//!
//! A point is an array of numbers, an object of numbers and strings, or a number. Nested arrays and objects become columns
//! of their own: `embedding_0`, `embedding_1`, …, `position.x`. Numeric strings count as numbers; true is 1 and false is 0;
//! missing members are NaN. The text is parsed as a stream; only the numbers are held in memory.

mod columns;
mod geo;
mod object;
mod shape;
mod table;
mod tokens;
mod visit;

use std::io::{BufReader, Cursor, Read};

use columns::Frame;
use geo::{Features, Geo};
use object::{Chosen, Members};
use serde::de::DeserializeSeed;
use serde_json::Deserializer;
use serde_json::error::Category;
use shape::Shape;
pub(super) use shape::{begins, looks};
use table::Builder;
use tokens::Tokens;
use visit::{Point, Points};

use super::columns::Records;
use super::input::Input;
use super::parts::{self, Entry};
use super::sheet::{Sheet, Want};
use super::{FormatError, unpacked};

/// Bytes sampled to detect the structure; the first of many lines may be long.
const SAMPLE: u64 = 1 << 20;

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let mut builder = Builder::new(input, want);
    let format = fill(&mut builder, input)?;
    builder.finish(&format, want)
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let mut builder = Builder::picking(input, wanted);
    fill(&mut builder, input)?;
    builder.into_records(wanted)
}

/// Reads all points; returns a description of the container for display.
fn fill(builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<String, FormatError> {
    let (text, shape) = open(input)?;
    let mut json = Deserializer::from_reader(text);
    Ok(match shape {
        Shape::Array => {
            parts::check_single("a JSON array", input)?;
            done(Points(builder).deserialize(&mut json).and_then(|()| json.end()), builder, input)?;
            "JSON, an array".to_owned()
        }
        Shape::Object => {
            let Some(found) = members(input)? else { return lines(builder, input) };
            if let Some(geo) = found.kind.as_deref().and_then(Geo::of) {
                parts::check_single("a GeoJSON file", input)?;
                done(Features { builder, geo }.deserialize(&mut json), builder, input)?;
                return Ok("GeoJSON".to_owned());
            }
            if let Some(table) = found.table().filter(|_| input.part().is_none()) {
                done(Frame { builder, table }.deserialize(&mut json), builder, input)?;
                return Ok("JSON, an object".to_owned());
            }
            if found.parts.is_empty() {
                let why = "there is none in the object; write an array of arrays or of objects, for instance df.to_json(…, orient=\"records\")";
                return Err(input.malformed("no array of points", why));
            }
            let chosen = &found.parts[parts::choose(&found.parts, input)?];
            if chosen.columns == found.names.len() as u64 {
                builder.name_items(found.names);
            }
            let name = &chosen.name;
            done(Chosen { builder, name }.deserialize(&mut json), builder, input)?;
            format!("JSON, `{}`: an array", super::cell::name(name.as_bytes()))
        }
        Shape::Lines => return lines(builder, input),
    })
}

/// Lists the arrays of an object.
pub(super) fn parts(input: &Input<'_>) -> Result<Vec<Entry>, FormatError> {
    let found = if open(input)?.1 == Shape::Object { members(input)? } else { None };
    let several =
        |found: Members<'_, '_>| if found.table().is_none() && found.kind.as_deref().and_then(Geo::of).is_none() { found.parts } else { Vec::new() };
    Ok(found.map(several).unwrap_or_default())
}

fn lines(builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<String, FormatError> {
    parts::check_single("a file of JSON Lines", input)?;
    let mut json = Deserializer::from_reader(open(input)?.0);
    while !builder.picked_enough() && json.end().is_err() {
        done(Point(builder).deserialize(&mut json), builder, input)?;
    }
    Ok("JSON Lines".to_owned())
}

/// The members of a document's single object; `None` if more values follow it.
fn members<'i, 'p>(input: &'i Input<'p>) -> Result<Option<Members<'i, 'p>>, FormatError> {
    let mut json = Deserializer::from_reader(open(input)?.0);
    let mut found = Members::new(input);
    let result = found.deserialize(&mut json);
    if let Some(why) = found.failed.take() {
        return Err(why);
    }
    result.map_err(|why| error(why, input))?;
    Ok(json.end().is_ok().then_some(found))
}

fn open<'i, 'a>(input: &'i Input<'a>) -> Result<(impl Read + use<'i, 'a>, Shape), FormatError> {
    let (mut text, _) = unpacked::text(input)?;
    let mut sample = Vec::new();
    text.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(|why| input.io(why))?;
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") || sample.contains(&0) {
        return Err(input.malformed("not JSON", "there are NUL bytes in it; is it UTF-16? Save it as UTF-8"));
    }
    if sample.trim_ascii().is_empty() {
        return Err(input.malformed("nothing to read", "the file is blank"));
    }
    let name = input.path().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let lines = [".jsonl", ".ndjson", ".jsonlines"].iter().any(|end| name.ends_with(end));
    let shape = Shape::of(&sample, (sample.len() as u64) < SAMPLE, lines);
    // The parser reads one byte at a time.
    Ok((BufReader::with_capacity(1 << 16, Tokens::new(Cursor::new(sample).chain(text), input)), shape))
}

/// Resolves the result of parsing. The builder's error is more specific than the parser's; a builder that has everything it
/// needs also stops the parser.
fn done(result: serde_json::Result<()>, builder: &mut Builder<'_, '_>, input: &Input<'_>) -> Result<(), FormatError> {
    match builder.failed.take() {
        Some(why) => Err(why),
        None if builder.picked_enough() => Ok(()),
        None => result.map_err(|why| error(why, input)),
    }
}

fn error(why: serde_json::Error, input: &Input<'_>) -> FormatError {
    match why.classify() {
        Category::Io => input.io(why.into()),
        Category::Eof => input.malformed("cut short", format!("the file ends in the middle of its data, in line {}", why.line())),
        Category::Syntax | Category::Data => {
            let (line, column) = (why.line(), why.column());
            let text = why.to_string();
            let text = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
            // Python writes these by default.
            let hint = if text == "expected value" { "; NaN and Infinity are not JSON: write null" } else { "" };
            input.malformed(format!("line {line}, column {column}"), format!("{}{hint}", plain(text)))
        }
    }
}

/// Rewords a parser message in JSON terms.
fn plain(text: &str) -> String {
    let known = [
        ("expected ident", "a word that is none of true, false and null"),
        ("key must be a string", "the name of a member must be a text in quotes"),
        ("control character (\\u0000-\\u001F) found while parsing a string", "a text goes on beyond its line, or has a control character"),
        ("recursion limit exceeded", "arrays and objects nest more than 127 deep, which is the most that is read"),
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
    format!("{found} where there should be {expected}")
}
