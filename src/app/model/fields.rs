//! Input fields: their list, their errors, and parsers for numbers, paths and rows.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::files::absolute;
use crate::text;

/// A field that can have an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Path,
    Generator,
    Seed,
    QueryCount,
    QueryRows,
    QueryPath,
    QueryPlace,
    K,
    /// The engine, or its parameters as a whole.
    Engine,
    /// A parameter of the engine, by name.
    Parameter(&'static str),
    Warmup,
    Repeats,
    From,
    To,
    Keys,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: Field,
    /// What is wrong, and what would be valid.
    pub sentence: String,
}

impl FieldError {
    pub fn new(field: Field, sentence: impl Into<String>) -> Self {
        Self { field, sentence: sentence.into() }
    }
}

/// A typed or pasted path.
pub fn path(field: Field, text: &str, empty: &str) -> Result<PathBuf, FieldError> {
    // Paths pasted from a shell or file manager may have quotes and the file scheme.
    let text = text.trim().trim_matches('"').trim_matches('\'');
    let text = text.strip_prefix("file://").unwrap_or(text);
    if text.is_empty() {
        return Err(FieldError::new(field, empty));
    }
    // Saved sessions may be opened from another working directory.
    Ok(absolute(Path::new(text)))
}

/// A whole number. Commas, underscores and spaces may group digits; 1e6 is one million.
pub fn number(field: Field, text: &str, min: u64, max: u64) -> Result<u64, FieldError> {
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | '_' | ' ')).collect();
    let value = plain.parse::<u64>().ok().or_else(|| {
        let value = plain.parse::<f64>().ok()?;
        (value.fract() == 0.0 && (0.0..1e18).contains(&value)).then_some(value as u64)
    });
    match value {
        Some(value) if (min..=max).contains(&value) => Ok(value),
        _ => {
            let what = match (field, plain.is_empty()) {
                (_, true) => "Type".to_owned(),
                (Field::K, _) => format!("k = {}: must be", text.trim()),
                _ => format!("{}: must be", text.trim()),
            };
            let [min, max] = [min, max].map(text::thousands);
            Err(FieldError::new(field, format!("{what} a whole number from {min} to {max}.")))
        }
    }
}

/// Formats rows as `0,5,10-20`.
pub fn listed(rows: &[u64]) -> String {
    let ranges = rows.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let text = |range: &[u64]| match *range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(u64::to_string).collect(),
    };
    ranges.map(text).collect::<Vec<_>>().join(",")
}

/// Parses `0,5,10-20` into inclusive ranges.
pub fn rows(text: &str) -> Result<Vec<RangeInclusive<u64>>, FieldError> {
    const MAX_ROWS: u64 = 10_000_000;
    let wrong = |sentence: String| FieldError::new(Field::QueryRows, sentence);
    let (mut rows, mut count) = (Vec::new(), 0);
    for part in text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (Ok(from), Ok(to)) = (from.trim().parse::<u64>(), to.trim().parse::<u64>()) else {
            return Err(wrong(format!("“{part}” is not a row number; write rows as 0,5,10-20.")));
        };
        if to < from {
            return Err(wrong(format!("“{part}” runs backwards; write {to}-{from}.")));
        }
        if to - from >= MAX_ROWS || count + (to - from) >= MAX_ROWS {
            return Err(wrong(format!(
                "“{part}” exceeds {} rows; choose All instead.",
                text::thousands(MAX_ROWS)
            )));
        }
        count += to - from + 1;
        rows.push(from..=to);
    }
    if rows.is_empty() {
        return Err(wrong("Click a point, or type row numbers as 0,5,10-20.".to_owned()));
    }
    Ok(rows)
}

/// Formats ascending rows with ranges where possible; `None` if the text would be too long to read.
pub fn typed_rows(rows: impl Iterator<Item = u64>) -> Option<String> {
    const MAX_CHARS: usize = 200;
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for row in rows {
        if let Some(range) = ranges.last_mut().filter(|range| range.end() + 1 == row) {
            *range = *range.start()..=row;
        } else if ranges.len() < MAX_CHARS {
            ranges.push(row..=row);
        } else {
            return None;
        }
    }
    let text = |range: &RangeInclusive<u64>| {
        if range.start() == range.end() {
            range.start().to_string()
        } else {
            format!("{}-{}", range.start(), range.end())
        }
    };
    Some(ranges.iter().map(text).collect::<Vec<_>>().join(",")).filter(|typed| typed.len() <= MAX_CHARS)
}
