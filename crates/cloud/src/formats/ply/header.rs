//! The header: the elements and their properties.

use std::io::{BufRead, Read};

use super::super::FormatError;
use super::super::input::Input;
use super::super::limits::MAX_HEADER;
use super::super::number::{Endian, Number};

/// The encoding of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Binary(Endian),
}

impl Encoding {
    /// The encoding's name as shown in descriptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Binary(Endian::Little) => "binary, little endian",
            Self::Binary(Endian::Big) => "binary, big endian",
        }
    }
}

/// A property of an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Property {
    Scalar { name: String, number: Number },
    List { name: String, count: Number, number: Number },
}

impl Property {
    pub fn name(&self) -> &str {
        match self {
            Self::Scalar { name, .. } | Self::List { name, .. } => name,
        }
    }
}

/// An element: a list of records of one type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

/// The parsed header of a PLY file.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Lines of the header.
    pub lines: u64,
    /// A line feed, or a carriage return in very old files.
    pub line_end: u8,
}

impl Header {
    /// Reads a header, leaving the reader at the elements.
    pub fn read(file: &mut impl BufRead, input: &Input<'_>) -> Result<Self, FormatError> {
        let start = file.fill_buf().map_err(|why| input.io(why))?;
        let line_end = if start.get(3) == Some(&b'\r') && start.get(4) != Some(&b'\n') { b'\r' } else { b'\n' };
        let mut header = Self { encoding: Encoding::Ascii, elements: Vec::new(), lines: 0, line_end };
        let mut encoding = None;
        let mut line = Vec::new();
        let mut left = MAX_HEADER;
        loop {
            line.clear();
            let count = file.take(left as u64).read_until(line_end, &mut line).map_err(|why| input.io(why))?;
            header.lines += 1;
            left -= count;
            if count == 0 {
                return Err(input.malformed("header", "there is no `end_header`"));
            }
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            let bad = |why: &str| {
                input.malformed(format!("line {}", header.lines), format!("`{}` {why}", text.trim().chars().take(60).collect::<String>()))
            };
            match words[..] {
                ["ply"] if header.lines == 1 => {}
                _ if header.lines == 1 => return Err(bad("is not `ply`")),
                [] | ["comment" | "obj_info", ..] => {}
                ["format", name, _version] => {
                    encoding = Some(match name {
                        "ascii" => Encoding::Ascii,
                        "binary_little_endian" => Encoding::Binary(Endian::Little),
                        "binary_big_endian" => Encoding::Binary(Endian::Big),
                        _ => return Err(bad("is not ascii, binary_little_endian or binary_big_endian")),
                    });
                }
                ["element", name, count] => {
                    let count = count.parse().map_err(|_| bad("has no whole number of elements"))?;
                    header.elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
                }
                ["property", "list", count, number, name] => {
                    let types = type_of(count).filter(|count| !matches!(count, Number::F32 | Number::F64)).zip(type_of(number));
                    let (count, number) = types.ok_or_else(|| bad("has types that PLY does not know"))?;
                    let element = header.elements.last_mut().ok_or_else(|| bad("belongs to no element"))?;
                    element.properties.push(Property::List { name: name.to_owned(), count, number });
                }
                ["property", number, name] => {
                    let number = type_of(number).ok_or_else(|| bad("has a type that PLY does not know"))?;
                    let element = header.elements.last_mut().ok_or_else(|| bad("belongs to no element"))?;
                    element.properties.push(Property::Scalar { name: name.to_owned(), number });
                }
                ["end_header"] => break,
                _ => return Err(bad("is not a line of a PLY header")),
            }
        }
        header.encoding = encoding.ok_or_else(|| input.malformed("header", "there is no `format`"))?;
        Ok(header)
    }
}

fn type_of(name: &str) -> Option<Number> {
    Some(match name {
        "char" | "int8" => Number::I8,
        "uchar" | "uint8" => Number::U8,
        "short" | "int16" => Number::I16,
        "ushort" | "uint16" => Number::U16,
        "int" | "int32" => Number::I32,
        "uint" | "uint32" => Number::U32,
        "float" | "float32" => Number::F32,
        "double" | "float64" => Number::F64,
        _ => return None,
    })
}
