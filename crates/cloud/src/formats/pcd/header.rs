//! The header: the fields of a point, and the number of points.

use std::io::{BufRead, Read};

use super::super::input::Input;
use super::super::limits::{MAX_HEADER, MAX_PCD_COLUMNS};
use super::super::number::Number;
use super::super::{FormatError, cell};
use super::too_many_columns;

/// The encoding of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Binary,
    Compressed,
}

impl Encoding {
    /// The encoding's name as shown in descriptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Binary => "binary",
            Self::Compressed => "binary, compressed",
        }
    }
}

/// The name of bytes that only align the next field.
pub(super) const PADDING: &str = "_";

/// A field of one or more numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    /// The field's name, or [`PADDING`].
    pub name: String,
    pub number: Number,
    pub count: usize,
}

impl Field {
    /// Bytes of the field per point.
    pub fn size(&self) -> usize {
        self.count * self.number.size()
    }
}

/// The parsed header of a PCD file.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub fields: Vec<Field>,
    pub width: u64,
    pub height: u64,
    pub points: u64,
    /// Bytes of the header.
    pub length: u64,
    /// Lines of the header.
    pub lines: u64,
}

impl Header {
    /// Reads a header up to and including its DATA line, leaving the reader at the points.
    ///
    /// The version is ignored and may be missing, as may entries with usual values: type F, four bytes, count one.
    pub fn read(file: &mut impl BufRead, input: &Input<'_>) -> Result<Self, FormatError> {
        let (mut names, mut sizes, mut types, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut width, mut height, mut points) = (None, None, None);
        let (mut lines, mut length) = (0, 0);
        let mut line = Vec::new();
        let encoding = loop {
            line.clear();
            let count = file.take((MAX_HEADER - length) as u64).read_until(b'\n', &mut line).map_err(|why| input.io(why))?;
            lines += 1;
            length += count;
            if count == 0 {
                return Err(input.malformed("header", "there is no line `DATA`"));
            }
            let text = String::from_utf8_lossy(&line);
            let bad = |why: &str| input.malformed(format!("line {lines}"), format!("`{}` {why}", text.trim().chars().take(60).collect::<String>()));
            let whole = |word: &str| word.parse::<u64>().map_err(|_| bad("is not a whole number"));
            let mut words = text.split_ascii_whitespace();
            match (words.next(), words) {
                (Some("FIELDS" | "COLUMNS"), words) => names = words.map(|name| cell::name(name.as_bytes())).collect(),
                (Some("SIZE"), words) => sizes = words.map(whole).collect::<Result<_, _>>()?,
                (Some("TYPE"), words) => types = words.map(str::to_owned).collect(),
                (Some("COUNT"), words) => counts = words.map(whole).collect::<Result<_, _>>()?,
                (Some("WIDTH"), mut words) => width = words.next().map(whole).transpose()?,
                (Some("HEIGHT"), mut words) => height = words.next().map(whole).transpose()?,
                (Some("POINTS"), mut words) => points = words.next().map(whole).transpose()?,
                (Some("DATA"), mut words) => {
                    break match words.next() {
                        Some("ascii") => Encoding::Ascii,
                        Some("binary") => Encoding::Binary,
                        Some("binary_compressed") => Encoding::Compressed,
                        _ => return Err(bad("is not ascii, binary or binary_compressed")),
                    };
                }
                (Some("VERSION" | "VIEWPOINT"), _) | (None, _) => {}
                (Some(word), _) if word.starts_with('#') => {}
                _ => return Err(bad("is not a line of a PCD header")),
            }
        };
        if names.is_empty() {
            return Err(input.malformed("header", "there is no line `FIELDS`"));
        }
        if names.len() > MAX_PCD_COLUMNS {
            return Err(too_many_columns(input));
        }
        let agree = |what: &str, count: usize| {
            let why = || format!("there are {} fields and {count} in `{what}`", names.len());
            if count == 0 || count == names.len() { Ok(()) } else { Err(input.malformed("header", why())) }
        };
        agree("SIZE", sizes.len())?;
        agree("TYPE", types.len())?;
        agree("COUNT", counts.len())?;
        let field = |(at, name): (usize, String)| {
            let (kind, size) = (types.get(at).map_or("F", String::as_str), sizes.get(at).copied().unwrap_or(4));
            let number = number(kind, size)
                .ok_or_else(|| input.malformed("header", format!("field `{name}` is {kind} of {size} bytes, which PCD does not know")))?;
            let count = counts.get(at).copied().unwrap_or(1);
            // The largest real features have a few thousand numbers; padding may be empty.
            let least = usize::from(name != PADDING);
            let count = usize::try_from(count).ok().filter(|count| (least..=MAX_PCD_COLUMNS).contains(count));
            let count = count.ok_or_else(|| input.malformed("header", format!("field `{name}` is there {} times", counts[at])))?;
            Ok(Field { name, number, count })
        };
        let fields: Vec<Field> = names.into_iter().enumerate().map(field).collect::<Result<_, FormatError>>()?;
        let (width, height) = (width.or(points), height.unwrap_or(1));
        let width = width.ok_or_else(|| input.malformed("header", "there is neither `WIDTH` nor `POINTS`"))?;
        let grid = width.checked_mul(height);
        let points = points.or(grid).unwrap_or(u64::MAX);
        if grid != Some(points) {
            return Err(input.malformed("header", format!("{width} × {height} points are not {points}")));
        }
        Ok(Self { encoding, fields, width, height, points, length: length as u64, lines })
    }

    /// Bytes of a point.
    pub fn stride(&self) -> usize {
        self.fields.iter().map(Field::size).sum()
    }
}

fn number(kind: &str, size: u64) -> Option<Number> {
    Some(match (kind, size) {
        ("I", 1) => Number::I8,
        ("I", 2) => Number::I16,
        ("I", 4) => Number::I32,
        ("I", 8) => Number::I64,
        ("U", 1) => Number::U8,
        ("U", 2) => Number::U16,
        ("U", 4) => Number::U32,
        ("U", 8) => Number::U64,
        ("F", 4) => Number::F32,
        ("F", 8) => Number::F64,
        _ => return None,
    })
}
