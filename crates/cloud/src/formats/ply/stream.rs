//! Reads the elements sequentially.

use std::io::{self, BufRead, Read, Seek};

use super::super::FormatError;
use super::super::input::Input;
use super::super::number::{Endian, Number};
use super::header::{Element, Header, Property};
use crate::values::Real;

/// Bytes decoded at a time, or one vertex if that is larger.
const CHUNK: usize = 1 << 18;

/// Handles a row, given its number and values; returns false to stop.
pub(super) type Take<'a> = dyn FnMut(u64, &[f64]) -> Result<bool, FormatError> + 'a;

/// Elements in ASCII, as words; line ends are white space.
pub(super) struct Ascii<'i, 'p, R> {
    reader: R,
    input: &'i Input<'p>,
    line: Vec<u8>,
    at: usize,
    number: u64,
    line_end: u8,
}

impl<'i, 'p, R: BufRead> Ascii<'i, 'p, R> {
    /// Starts after the header.
    pub fn new(reader: R, header: &Header, input: &'i Input<'p>) -> Self {
        Self { reader, input, line: Vec::new(), at: 0, number: header.lines, line_end: header.line_end }
    }

    /// Skips all rows of an element.
    pub fn skip(&mut self, element: &Element) -> Result<(), FormatError> {
        self.read(element, &[], &mut Vec::<f64>::new())
    }

    /// Reads some properties of all rows of an element.
    pub fn read<T: Real>(&mut self, element: &Element, properties: &[usize], values: &mut Vec<T>) -> Result<(), FormatError> {
        let input = self.input;
        self.each(element, &mut |_, row| {
            input.reserve(values, properties.len())?;
            values.extend(properties.iter().map(|&at| T::of(row[at])));
            Ok(true)
        })
    }

    /// Passes each row of an element to `take`; a list is represented by its length.
    pub fn each(&mut self, element: &Element, take: &mut Take<'_>) -> Result<(), FormatError> {
        let mut row = vec![0.0; element.properties.len()];
        // Rows without words could be declared in any number.
        let count = if element.properties.is_empty() { 0 } else { element.count };
        for index in 0..count {
            let context = || format!("element `{}` {index}", element.name);
            for (property, value) in element.properties.iter().zip(&mut row) {
                *value = self.value(&context, property.name())?;
                if let Property::List { .. } = property {
                    if *value < 0.0 || value.fract() != 0.0 {
                        let what = format!("line {}, {}", self.number, context());
                        return Err(self.input.malformed(what, format!("list `{}` has {value} members", property.name())));
                    }
                    for _ in 0..*value as u64 {
                        self.value(&context, property.name())?;
                    }
                }
            }
            if !take(index, &row)? {
                break;
            }
        }
        Ok(())
    }

    /// The number of bytes that are left, not counting white space.
    pub fn rest(mut self) -> Result<u64, FormatError> {
        let black = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).count() as u64;
        let mut count = black(&self.line[self.at..]);
        loop {
            let bytes = self.reader.fill_buf().map_err(|why| self.input.io(why))?;
            if bytes.is_empty() {
                return Ok(count);
            }
            count += black(bytes);
            let length = bytes.len();
            self.reader.consume(length);
        }
    }

    fn value(&mut self, context: &dyn Fn() -> String, property: &str) -> Result<f64, FormatError> {
        while self.line[self.at..].iter().all(u8::is_ascii_whitespace) {
            self.line.clear();
            self.at = 0;
            self.number += 1;
            if self.input.read_line(&mut self.reader, self.line_end, &mut self.line)? == 0 {
                return Err(self.input.malformed("cut short", format!("the file ends before {}", context())));
            }
        }
        let start = self.at + self.line[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let length = self.line[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.at = start + length;
        let word = &self.line[start..self.at];
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            let word: String = String::from_utf8_lossy(word).chars().take(40).collect();
            self.input.malformed(format!("line {}, {}", self.number, context()), format!("property `{property}` is `{word}`, which is not a number"))
        })
    }
}

/// Elements in binary, of either byte order.
pub(super) struct Binary<'i, 'p, R> {
    reader: R,
    endian: Endian,
    input: &'i Input<'p>,
}

impl<R: Seek> Binary<'_, '_, R> {
    /// Current byte offset in the file.
    pub fn position(&mut self) -> Result<u64, FormatError> {
        self.reader.stream_position().map_err(|why| self.input.io(why))
    }
}

impl<'i, 'p, R: BufRead> Binary<'i, 'p, R> {
    /// Starts after the header.
    pub fn new(reader: R, endian: Endian, input: &'i Input<'p>) -> Self {
        Self { reader, endian, input }
    }

    /// The number of bytes that are left.
    pub fn rest(mut self) -> Result<u64, FormatError> {
        io::copy(&mut self.reader, &mut io::sink()).map_err(|why| self.input.io(why))
    }

    /// Skips all rows of an element.
    pub fn skip(&mut self, element: &Element) -> Result<(), FormatError> {
        match stride(element) {
            Some(stride) => self.skip_bytes(element, stride.saturating_mul(element.count)),
            None => (0..element.count).try_for_each(|_| self.row(element, &mut Vec::new())),
        }
    }

    /// Reads some properties of all rows of an element.
    pub fn read<T: Real>(&mut self, element: &Element, properties: &[usize], values: &mut Vec<T>) -> Result<(), FormatError> {
        let (Some(stride), Some(offsets)) = (stride(element), offsets(element)) else {
            let input = self.input;
            return self.each(element, &mut |_, row| {
                input.reserve(values, properties.len())?;
                values.extend(properties.iter().map(|&at| T::of(row[at])));
                Ok(true)
            });
        };
        let stride = stride as usize;
        let mut bytes = vec![0; (CHUNK / stride).max(1) * stride];
        if element.count.saturating_mul(stride as u64) <= self.input.size() {
            self.input.reserve_all(values, element.count, properties.len())?;
        }
        let mut left = element.count;
        while left > 0 {
            let count = left.min((bytes.len() / stride) as u64) as usize;
            let bytes = &mut bytes[..count * stride];
            self.reader.read_exact(bytes).map_err(|why| self.cut(element, why))?;
            self.input.reserve(values, count * properties.len())?;
            for row in bytes.chunks_exact(stride) {
                values.extend(properties.iter().map(|&at| {
                    let (offset, number) = offsets[at];
                    T::of(number.one(self.endian, &row[offset..offset + number.size()]))
                }));
            }
            left -= count as u64;
        }
        Ok(())
    }

    /// Passes each row of an element to `take`; a list is represented by its length.
    pub fn each(&mut self, element: &Element, take: &mut Take<'_>) -> Result<(), FormatError> {
        let mut row = Vec::with_capacity(element.properties.len());
        for index in 0..element.count {
            row.clear();
            self.row(element, &mut row)?;
            if !take(index, &row)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads one row of an element with lists, each represented by its length.
    fn row(&mut self, element: &Element, row: &mut Vec<f64>) -> Result<(), FormatError> {
        for property in &element.properties {
            match property {
                Property::Scalar { number, .. } => row.push(self.one(element, *number)?),
                Property::List { count, number, .. } => {
                    let count = self.one(element, *count)?;
                    if count < 0.0 {
                        return Err(self.input.malformed(format!("element `{}`", element.name), format!("a list has {count} members")));
                    }
                    row.push(count);
                    self.skip_bytes(element, count as u64 * number.size() as u64)?;
                }
            }
        }
        Ok(())
    }

    fn one(&mut self, element: &Element, number: Number) -> Result<f64, FormatError> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..number.size()];
        self.reader.read_exact(bytes).map_err(|why| self.cut(element, why))?;
        Ok(number.one(self.endian, bytes))
    }

    fn skip_bytes(&mut self, element: &Element, count: u64) -> Result<(), FormatError> {
        let skipped = io::copy(&mut self.reader.by_ref().take(count), &mut io::sink()).map_err(|why| self.input.io(why))?;
        if skipped < count { Err(self.cut(element, io::ErrorKind::UnexpectedEof.into())) } else { Ok(()) }
    }

    fn cut(&self, element: &Element, why: io::Error) -> FormatError {
        if why.kind() == io::ErrorKind::UnexpectedEof {
            self.input.malformed("cut short", format!("the header promises {} of element `{}` and the file ends before", element.count, element.name))
        } else {
            self.input.io(why)
        }
    }
}

/// Byte offset and type of each property; `None` if lists make rows differ in size.
pub(super) fn offsets(element: &Element) -> Option<Vec<(usize, Number)>> {
    let mut end = 0;
    let offset = |property: &Property| match property {
        Property::Scalar { number, .. } => {
            end += number.size();
            Some((end - number.size(), *number))
        }
        Property::List { .. } => None,
    };
    element.properties.iter().map(offset).collect()
}

/// Bytes per row; `None` if lists make rows differ in size.
fn stride(element: &Element) -> Option<u64> {
    element.properties.iter().map(|property| if let Property::Scalar { number, .. } = property { Some(number.size() as u64) } else { None }).sum()
}
