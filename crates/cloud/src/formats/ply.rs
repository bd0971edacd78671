//! PLY, ASCII and binary in both byte orders: the scalar properties of its vertices.
//!
//! Elements may come in any order; elements before the vertices are skipped, and elements after them are not
//! read.

use std::io::{self, BufRead, BufReader, Read, Seek};

use super::limits::MAX_HEADER;
use super::{
    ColumnRequest, Endian, FixedRecords, FormatError, Input, NumberType, ProgressReader, RecordPicker,
    Records, Result, Sheet, SheetColumn, join_first, number_cell, printable,
};
use crate::table::{Real, Values, with_values};

/// A file that is read in order.
type File<'p> = BufReader<ProgressReader<'p>>;

/// Names used for the element with the points.
const VERTEX: [&str; 4] = ["vertex", "vertices", "point", "points"];

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let (mut stream, header, at) = open(input)?;
    let vertex = &header.elements[at];
    let scalars = vertex.scalars();
    let columns: Vec<SheetColumn> =
        scalars.iter().map(|&at| SheetColumn::numeric(vertex.properties[at].name.clone())).collect();
    let selected = request.resolve(&columns, input)?;
    let properties: Vec<usize> = selected.iter().map(|&at| scalars[at]).collect();

    let fits = |&at: &usize| vertex.properties[at].number.fits_f32();
    let mut values = Values::new(header.encoding != Encoding::Ascii && properties.iter().all(fits));
    header.elements[..at].iter().try_for_each(|element| stream.skip(element))?;
    with_values!(&mut values, values => stream.read(vertex, &properties, values))?;
    // Data after the last element is not declared in the header.
    let behind = if at + 1 == header.elements.len() { stream.rest()? } else { 0 };
    let lists = vertex.properties.iter().filter(|property| property.count.is_some());
    let mut skipped: Vec<String> =
        lists.map(|list| printable(&format!("list `{}` was not read", list.name))).collect();
    let others = header.elements.iter().enumerate().filter(|(other, _)| *other != at);
    skipped
        .extend(others.map(|(_, other)| {
            printable(&format!("element `{}` ({}) was not read", other.name, other.count))
        }));
    if behind > 0 {
        skipped.push(format!("{behind} bytes after element `{}` were not read", printable(&vertex.name)));
    }
    let format = format!("PLY, {}", header.encoding.name());
    let decimals = header.encoding == Encoding::Ascii;
    Ok(Sheet { skipped, decimals, ..Sheet::new(input, format, columns, selected, vertex.count, values) })
}

/// Reads all properties of some vertices: by seeking in a binary file whose vertices have no lists, otherwise
/// sequentially.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let (mut stream, header, at) = open(input)?;
    let vertex = &header.elements[at];
    input.check_records(wanted, vertex.count)?;
    let scalars = vertex.scalars();
    let columns = scalars.iter().map(|&at| printable(&vertex.properties[at].name)).collect();
    header.elements[..at].iter().try_for_each(|element| stream.skip(element))?;
    if let (Encoding::Binary(endian), Some(offsets)) = (header.encoding, vertex.offsets()) {
        let cells = |raw: &[u8]| {
            offsets
                .iter()
                .map(|&(at, number)| number_cell(number.decode_one(endian, &raw[at..][..number.size()])))
                .collect()
        };
        let (start, record) = (stream.position()?, vertex.size(&offsets));
        let fixed = FixedRecords { start, record, rows: vertex.count };
        return Ok(Records { columns, rows: fixed.records(input, wanted, cells)? });
    }
    let mut picked = RecordPicker::new(wanted);
    let cells = |row: &[f64]| scalars.iter().map(|&at| number_cell(row[at])).collect();
    stream.each(vertex, &mut |index, row| Ok(picked.offer(index, || cells(row))))?;
    Ok(picked.into_records(columns))
}

/// Opens a file, parses its header, and finds the element with the points.
fn open<'i, 'p>(input: &'i Input<'p>) -> Result<(ElementReader<'i, 'p>, Header, usize)> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let elements = &header.elements;
    let at = VERTEX
        .iter()
        .find_map(|name| elements.iter().position(|element| element.name == *name))
        .ok_or_else(|| {
            let names = if elements.is_empty() {
                "none".to_owned()
            } else {
                join_first(elements.len(), |at| format!("`{}`", elements[at].name))
            };
            input.malformed("header", format!("element `vertex` not found; available: {names}"))
        })?;
    if elements[at].scalars().is_empty() {
        return Err(input.malformed(
            "header",
            format!("element `{}` has no properties that are numbers", elements[at].name),
        ));
    }
    let stream = match header.encoding {
        Encoding::Ascii => ElementReader::Ascii(AsciiReader::new(file, &header, input)),
        Encoding::Binary(endian) => ElementReader::Binary(BinaryReader { reader: file, endian, input }),
    };
    Ok((stream, header, at))
}

// The header: the elements and their properties.

/// The encoding of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Ascii,
    Binary(Endian),
}

impl Encoding {
    /// The encoding's name as shown in descriptions.
    fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Binary(Endian::Little) => "binary, little endian",
            Self::Binary(Endian::Big) => "binary, big endian",
        }
    }
}

/// A property of an element.
#[derive(Clone, Debug, PartialEq)]
struct Property {
    name: String,
    number: NumberType,
    /// For a list property, the type of its length prefix.
    count: Option<NumberType>,
}

/// An element: a list of records of one type.
#[derive(Clone, Debug, PartialEq)]
struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

impl Element {
    /// The properties that are single numbers.
    fn scalars(&self) -> Vec<usize> {
        (0..self.properties.len()).filter(|&at| self.properties[at].count.is_none()).collect()
    }

    /// Byte offset and type of each property; `None` if lists make rows differ in size.
    fn offsets(&self) -> Option<Vec<(usize, NumberType)>> {
        let mut end = 0;
        let offset = |&Property { number, count, .. }: &Property| {
            end += number.size();
            count.is_none().then_some((end - number.size(), number))
        };
        self.properties.iter().map(offset).collect()
    }

    /// Bytes of a row whose properties are at these offsets.
    fn size(&self, offsets: &[(usize, NumberType)]) -> usize {
        offsets.last().map_or(0, |(at, number)| at + number.size())
    }
}

/// The parsed header of a PLY file.
#[derive(Clone, Debug)]
struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Lines of the header.
    pub lines: u64,
    /// A line feed, or a carriage return in very old files.
    pub line_end: u8,
}

impl Header {
    /// Reads a header, leaving the reader at the elements.
    fn read(file: &mut impl BufRead, input: &Input<'_>) -> Result<Self> {
        let start = file.fill_buf().map_err(|why| input.io(why))?;
        let line_end =
            if start.get(3) == Some(&b'\r') && start.get(4) != Some(&b'\n') { b'\r' } else { b'\n' };
        let mut header = Self { encoding: Encoding::Ascii, elements: Vec::new(), lines: 0, line_end };
        let mut encoding = None;
        let mut line = Vec::new();
        let mut left = MAX_HEADER;
        loop {
            line.clear();
            let count =
                file.take(left as u64).read_until(line_end, &mut line).map_err(|why| input.io(why))?;
            header.lines += 1;
            left -= count;
            if count == 0 {
                return Err(input.malformed("header", "`end_header` is missing"));
            }
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            let bad = |why: &str| {
                input.malformed(
                    format!("line {}", header.lines),
                    format!("`{}` {why}", text.trim().chars().take(60).collect::<String>()),
                )
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
                    let count = count.parse().map_err(|_| bad("has an invalid number of elements"))?;
                    header.elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
                }
                ["property", "list", count, number, name] => {
                    let types = type_of(count)
                        .filter(|count| !matches!(count, NumberType::F32 | NumberType::F64))
                        .zip(type_of(number));
                    let (count, number) = types.ok_or_else(|| bad("has unknown types"))?;
                    let element =
                        header.elements.last_mut().ok_or_else(|| bad("precedes the first element"))?;
                    element.properties.push(Property { name: name.to_owned(), number, count: Some(count) });
                }
                ["property", number, name] => {
                    let number = type_of(number).ok_or_else(|| bad("has an unknown type"))?;
                    let element =
                        header.elements.last_mut().ok_or_else(|| bad("precedes the first element"))?;
                    element.properties.push(Property { name: name.to_owned(), number, count: None });
                }
                ["end_header"] => break,
                _ => return Err(bad("is not a line of a PLY header")),
            }
        }
        header.encoding = encoding.ok_or_else(|| input.malformed("header", "`format` is missing"))?;
        Ok(header)
    }
}

fn type_of(name: &str) -> Option<NumberType> {
    Some(match name {
        "char" | "int8" => NumberType::I8,
        "uchar" | "uint8" => NumberType::U8,
        "short" | "int16" => NumberType::I16,
        "ushort" | "uint16" => NumberType::U16,
        "int" | "int32" => NumberType::I32,
        "uint" | "uint32" => NumberType::U32,
        "float" | "float32" => NumberType::F32,
        "double" | "float64" => NumberType::F64,
        _ => return None,
    })
}

// Reads the elements sequentially.

/// Handles a row, given its number and values; returns false to stop.
type Take<'a> = dyn FnMut(u64, &[f64]) -> Result<bool> + 'a;

/// The elements, one after the other.
enum ElementReader<'i, 'p> {
    Ascii(AsciiReader<'i, 'p>),
    Binary(BinaryReader<'i, 'p>),
}

impl ElementReader<'_, '_> {
    /// Passes each row of an element to `take`; a list is represented by its length.
    fn each(&mut self, element: &Element, take: &mut Take<'_>) -> Result<()> {
        let mut row = Vec::with_capacity(element.properties.len());
        // A file can declare any number of rows without properties.
        let count = if element.properties.is_empty() { 0 } else { element.count };
        for index in 0..count {
            row.clear();
            for property in &element.properties {
                row.push(match self {
                    Self::Ascii(ascii) => ascii.property(element, index, property)?,
                    Self::Binary(binary) => binary.property(element, property)?,
                });
            }
            if !take(index, &row)? {
                break;
            }
        }
        Ok(())
    }

    /// Skips all rows of an element.
    fn skip(&mut self, element: &Element) -> Result<()> {
        match (self, element.offsets()) {
            (Self::Binary(binary), Some(offsets)) => {
                binary.skip(element, (element.size(&offsets) as u64).saturating_mul(element.count))
            }
            (stream, _) => stream.each(element, &mut |_, _| Ok(true)),
        }
    }

    /// Reads some properties of all rows of an element.
    fn read<T: Real>(&mut self, element: &Element, properties: &[usize], values: &mut Vec<T>) -> Result<()> {
        if let (Self::Binary(binary), Some(offsets)) = (&mut *self, element.offsets()) {
            return binary.read(element, &offsets, properties, values);
        }
        let (Self::Ascii(AsciiReader { input, .. }) | Self::Binary(BinaryReader { input, .. })) = *self;
        self.each(element, &mut |_, row| {
            input.reserve(values, properties.len())?;
            values.extend(properties.iter().map(|&at| T::from_f64(row[at])));
            Ok(true)
        })
    }

    /// Current byte offset in the file.
    fn position(&mut self) -> Result<u64> {
        let (Self::Ascii(AsciiReader { reader, input, .. })
        | Self::Binary(BinaryReader { reader, input, .. })) = self;
        reader.stream_position().map_err(|why| input.io(why))
    }

    /// The number of remaining bytes, excluding white space in text.
    fn rest(self) -> Result<u64> {
        match self {
            Self::Ascii(ascii) => ascii.rest(),
            Self::Binary(BinaryReader { reader, input, .. }) => input.skip_rest(reader),
        }
    }
}

/// Elements in ASCII, as words; line ends are white space.
struct AsciiReader<'i, 'p> {
    reader: File<'p>,
    input: &'i Input<'p>,
    line: Vec<u8>,
    at: usize,
    number: u64,
    line_end: u8,
}

impl<'i, 'p> AsciiReader<'i, 'p> {
    /// Starts after the header.
    fn new(reader: File<'p>, header: &Header, input: &'i Input<'p>) -> Self {
        Self { reader, input, line: Vec::new(), at: 0, number: header.lines, line_end: header.line_end }
    }

    /// Reads a property of a row. For a list, skips its members and returns its length.
    fn property(&mut self, element: &Element, index: u64, property: &Property) -> Result<f64> {
        let context = || format!("element `{}` {index}", element.name);
        let value = self.value(&context, &property.name)?;
        if property.count.is_some() {
            if value < 0.0 || value.fract() != 0.0 {
                let what = format!("line {}, {}", self.number, context());
                return Err(self
                    .input
                    .malformed(what, format!("list `{}` has {value} members", property.name)));
            }
            for _ in 0..value as u64 {
                self.value(&context, &property.name)?;
            }
        }
        Ok(value)
    }

    /// The number of remaining bytes, excluding white space.
    fn rest(mut self) -> Result<u64> {
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

    fn value(&mut self, context: &dyn Fn() -> String, property: &str) -> Result<f64> {
        while self.line[self.at..].iter().all(u8::is_ascii_whitespace) {
            self.line.clear();
            self.at = 0;
            self.number += 1;
            if self.input.read_line(&mut self.reader, self.line_end, &mut self.line)? == 0 {
                return Err(self.input.malformed("cut short", format!("the file ends before {}", context())));
            }
        }
        let start =
            self.at + self.line[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let length = self.line[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.at = start + length;
        let word = &self.line[start..self.at];
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            let word: String = String::from_utf8_lossy(word).chars().take(40).collect();
            self.input.malformed(
                format!("line {}, {}", self.number, context()),
                format!("property `{property}` is `{word}`, which is not a number"),
            )
        })
    }
}

/// Elements in binary, of either byte order.
struct BinaryReader<'i, 'p> {
    reader: File<'p>,
    endian: Endian,
    input: &'i Input<'p>,
}

impl BinaryReader<'_, '_> {
    /// Reads some properties of all rows of an element without lists.
    fn read<T: Real>(
        &mut self,
        element: &Element,
        offsets: &[(usize, NumberType)],
        properties: &[usize],
        values: &mut Vec<T>,
    ) -> Result<()> {
        let Self { reader, endian, input } = self;
        let fixed = FixedRecords { start: 0, record: element.size(offsets), rows: element.count };
        if fixed.rows.saturating_mul(fixed.record as u64) <= input.size {
            input.reserve_all(values, fixed.rows, properties.len())?;
        }
        fixed.visit(
            reader,
            |why| cut_short(element, why, input),
            |_, bytes| {
                let rows = bytes.chunks_exact(fixed.record);
                input.reserve(values, rows.len() * properties.len())?;
                for row in rows {
                    values.extend(properties.iter().map(|&at| {
                        let (offset, number) = offsets[at];
                        T::from_f64(number.decode_one(*endian, &row[offset..offset + number.size()]))
                    }));
                }
                Ok(())
            },
        )
    }

    /// Reads a property of a row. For a list, skips its members and returns its length.
    fn property(&mut self, element: &Element, property: &Property) -> Result<f64> {
        let Some(count) = property.count else { return self.one(element, property.number) };
        let count = self.one(element, count)?;
        if count < 0.0 {
            return Err(self
                .input
                .malformed(format!("element `{}`", element.name), format!("a list has {count} members")));
        }
        self.skip(element, count as u64 * property.number.size() as u64)?;
        Ok(count)
    }

    fn one(&mut self, element: &Element, number: NumberType) -> Result<f64> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..number.size()];
        self.reader.read_exact(bytes).map_err(|why| cut_short(element, why, self.input))?;
        Ok(number.decode_one(self.endian, bytes))
    }

    fn skip(&mut self, element: &Element, count: u64) -> Result<()> {
        let skipped = self.input.skip_rest(self.reader.by_ref().take(count))?;
        if skipped < count {
            Err(cut_short(element, io::ErrorKind::UnexpectedEof.into(), self.input))
        } else {
            Ok(())
        }
    }
}

/// The error for a file that ends within an element.
fn cut_short(element: &Element, why: io::Error, input: &Input<'_>) -> FormatError {
    if why.kind() == io::ErrorKind::UnexpectedEof {
        input.malformed(
            "cut short",
            format!(
                "the header declares {} of element `{}`, but the file ends earlier",
                element.count, element.name
            ),
        )
    } else {
        input.io(why)
    }
}
