//! NumPy's `.npy`: one numeric array of points × coordinates or of pictures (n × height × width, optionally
//! with 1 or 3 channels last), or a structured array, which is a table with one column per field.

use std::io::Read;

use serde_json::Value;

use super::blocks::{BlockLayout, fixed};
use super::columns::Cell;
use super::limits::{MAX_COLUMNS, MAX_HEADER};
use super::sheet::positions_by_column;
use super::{
    ColumnRequest, Endian, FixedRecords, Input, NumberType, Records, Result, Sheet, SheetColumn,
    integer_cell, printable, read_bytes, whole,
};
use crate::table::{Real, Values, with_values};

/// Advice for an array of another shape.
const RESHAPE: &str = "reshape it to points × coordinates";

/// Name of an array with one value in errors.
pub(super) const SCALAR: &str = "an array of 0 dimensions";
/// Prefix of errors about elements that are not numbers.
pub(super) const ELEMENTS: &str = "elements of type ";

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let left = header.bytes_left(input)?;
    let mut sheet = read_array(&mut file, &header, input, request)?;
    if left > header.bytes {
        sheet.skipped.push(format!("{} bytes after the array were not read", left - header.bytes));
    }
    Ok(sheet)
}

/// The rows of an array in C order; `None` for others and for structured arrays.
pub(super) fn blocks(input: &Input<'_>) -> Result<Option<BlockLayout>> {
    let header = Header::read(&mut input.open()?, input)?;
    header.bytes_left(input)?;
    if header.fortran || !header.fields.is_empty() {
        return Ok(None);
    }
    let (number, endian, width) = (header.number, header.endian, header.columns);
    let records = FixedRecords { start: header.length, ..header.fixed_records() };
    let columns = header.sheet_columns(input)?;
    Ok(Some(BlockLayout {
        rows: records.rows,
        declared: None,
        fits_f32: vec![number.fits_f32(); columns.len()],
        exceeds_f64: vec![number.exceeds_f64(); columns.len()],
        columns,
        buffer: 0,
        read: fixed(
            records,
            Box::new(move |rows, selected, values| {
                with_values!(values, values => number.decode_selected(endian, rows, width, selected, values));
                Ok(())
            }),
        ),
    }))
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let header = Header::read(&mut input.open()?, input)?;
    records_at(0, &header, input, wanted)
}

/// Reads all columns of some records of the array whose header begins at a byte offset of the file.
pub(super) fn records_at(start: u64, header: &Header, input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let of_file =
        |layout: FixedRecords| FixedRecords { start: start + header.length + layout.start, ..layout };
    header.records(input, |layout, cells| of_file(layout).records(input, wanted, cells))
}

/// Reads all columns of some records of an array from its data stream, without holding others.
pub(super) fn records_in(
    reader: &mut impl Read,
    header: &Header,
    input: &Input<'_>,
    wanted: &[u64],
) -> Result<Records> {
    let mut at = 0;
    header.records(input, |layout, cells| layout.records_in(reader, &mut at, input, wanted, cells))
}

/// A field of a structured array.
#[derive(Debug)]
struct Field {
    name: String,
    /// Byte offset in a row.
    at: usize,
    /// The type; the type's code if it is not a number.
    number: Result<(NumberType, Endian), String>,
}

/// The parsed header of an array.
#[derive(Debug)]
pub(super) struct Header {
    /// The type of the elements. For a structured array, a type that can represent the numbers of all fields.
    number: NumberType,
    endian: Endian,
    /// The fields of a structured array; otherwise none.
    fields: Vec<Field>,
    /// Bytes of a row.
    stride: usize,
    fortran: bool,
    pub rows: usize,
    pub columns: usize,
    /// The lengths of its dimensions: 1 to 4 of them.
    pub shape: Vec<usize>,
    /// Bytes of the header.
    length: u64,
    /// Bytes of the data.
    pub bytes: u64,
}

impl Header {
    /// Reads a header, leaving the reader at the data.
    pub fn read(reader: &mut impl Read, input: &Input<'_>) -> Result<Self> {
        let io = |why| input.io(why);
        let start = read_bytes(reader, 8).map_err(io)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(input.malformed("header", "does not begin like a NumPy array"));
        }
        let width = if start[6] == 1 { 2 } else { 4 };
        let raw = read_bytes(reader, width).map_err(io)?;
        let length = whole(&raw);
        if length > MAX_HEADER as u64 {
            return Err(input.malformed("header", format!("invalid length of {length} bytes")));
        }
        let text = read_bytes(reader, length).map_err(io)?;
        let text = String::from_utf8_lossy(&text);
        let descr =
            value_of(&text, "descr").ok_or_else(|| input.malformed("header", "'descr' is missing"))?;
        let fortran = match value_of(&text, "fortran_order") {
            Some("True") => true,
            Some("False") => false,
            _ => return Err(input.malformed("header", "'fortran_order' is neither True nor False")),
        };
        let shape = value_of(&text, "shape")
            .and_then(shape)
            .ok_or_else(|| input.malformed("header", "'shape' is missing or not whole numbers"))?;
        let rows = *shape.first().ok_or_else(|| input.unsupported(SCALAR, RESHAPE))?;
        let (mut fields, mut stride) = (Vec::new(), 0);
        let (number, endian) = if descr.starts_with('[') {
            (fields, stride) = record(descr, input)?;
            let narrow = fields
                .iter()
                .all(|field| field.number.as_ref().map_or(true, |(number, _)| number.fits_f32()));
            (if narrow { NumberType::F32 } else { NumberType::F64 }, Endian::Little)
        } else {
            element(descr).ok_or_else(|| input.unsupported(format!("{ELEMENTS}{descr}"), hint(descr)))?
        };
        let columns = match shape[1..] {
            [] if !fields.is_empty() => Some(fields.len()),
            [] => Some(1),
            _ if !fields.is_empty() => {
                return Err(input.unsupported(
                    format!("a structured array of {} dimensions", shape.len()),
                    "flatten it with .ravel()",
                ));
            }
            [columns] => Some(columns),
            [_, _] | [_, _, 1 | 3] if fortran => {
                return Err(input.unsupported(
                    format!("an array of {} dimensions in Fortran order", shape.len()),
                    "save numpy.ascontiguousarray(…)",
                ));
            }
            [height, width] => height.checked_mul(width),
            [height, width, channels @ (1 | 3)] => {
                height.checked_mul(width).and_then(|pixels| pixels.checked_mul(channels))
            }
            _ => return Err(input.unsupported(format!("an array of {} dimensions", shape.len()), RESHAPE)),
        };
        let columns = columns
            .ok_or_else(|| input.malformed("shape", "its rows have more numbers than a file can hold"))?;
        if columns == 0 {
            return Err(input.malformed("shape", "the array has no columns"));
        }
        let row = if fields.is_empty() { columns.checked_mul(number.size()) } else { Some(stride) };
        let (stride, bytes) = row
            .and_then(|row| Some((row, (rows as u64).checked_mul(row as u64)?)))
            .filter(|&(_, bytes)| usize::try_from(bytes).is_ok_and(|bytes| bytes <= isize::MAX as usize / 8))
            .ok_or_else(|| {
                input.malformed("shape", format!("{rows} × {columns} numbers are more than a file can hold"))
            })?;
        // One-dimensional arrays are the same in Fortran order.
        let fortran = fortran && fields.is_empty();
        Ok(Self {
            number,
            endian,
            fields,
            stride,
            fortran,
            rows,
            columns,
            shape,
            length: 8 + width + length,
            bytes,
        })
    }

    /// The bytes of the file after the header, at least those of the data.
    fn bytes_left(&self, input: &Input<'_>) -> Result<u64> {
        let left = input.size.saturating_sub(self.length);
        if self.bytes > left {
            return Err(input.malformed(
                "cut short",
                format!("the header declares {} bytes of data, but the file has {left}", self.bytes),
            ));
        }
        Ok(left)
    }

    /// The rows of C order, from the beginning of the data.
    fn fixed_records(&self) -> FixedRecords {
        FixedRecords { start: 0, record: self.stride, rows: self.rows as u64 }
    }

    /// All columns of some records. `read` reads fixed-size records: rows, or single values in Fortran order.
    fn records(
        &self,
        input: &Input<'_>,
        mut read: impl FnMut(FixedRecords, &dyn Fn(&[u8]) -> Vec<Cell>) -> Result<Vec<Vec<Cell>>>,
    ) -> Result<Records> {
        let columns = self.names(input)?;
        if !self.fortran {
            let rows = read(self.fixed_records(), &|raw| {
                (0..self.columns).map(|at| self.cell(at, raw, input.spelled)).collect()
            })?;
            return Ok(Records { columns, rows });
        }
        let (mut rows, record) = (Vec::new(), self.number.size());
        for at in 0..self.columns {
            let start = (at * self.rows * record) as u64;
            let layout = FixedRecords { start, record, rows: self.rows as u64 };
            let cells = read(layout, &|raw| vec![self.cell(0, raw, input.spelled)])?;
            rows.resize(cells.len(), Vec::new());
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.extend(cell));
        }
        Ok(Records { columns, rows })
    }

    /// Whether the array has columns; otherwise it is a list of numbers.
    pub fn is_table(&self) -> bool {
        self.shape.len() > 1 || !self.fields.is_empty()
    }

    /// The type of its elements, for display.
    pub fn about(&self) -> String {
        if self.fields.is_empty() { self.number.name() } else { "records".to_owned() }
    }

    /// The type of a column and its bytes in a row of C order; `None` for a field that is not a number.
    fn element<'r>(&self, column: usize, row: &'r [u8]) -> Option<(NumberType, Endian, &'r [u8])> {
        let (at, (number, endian)) = match self.fields.get(column) {
            None => (column * self.number.size(), (self.number, self.endian)),
            Some(field) => (field.at, *field.number.as_ref().ok()?),
        };
        Some((number, endian, &row[at..at + number.size()]))
    }

    /// The number of a column in a row of C order; NaN for a field that is not a number.
    fn value(&self, column: usize, row: &[u8]) -> f64 {
        self.element(column, row).map_or(f64::NAN, |(number, endian, raw)| number.decode_one(endian, raw))
    }

    fn cell(&self, column: usize, row: &[u8], spelled: bool) -> Cell {
        let integer =
            || self.element(column, row).and_then(|(number, endian, raw)| number.integer(endian, raw));
        integer_cell(spelled.then(integer).flatten(), self.value(column, row))
    }

    /// The column names for the array's width.
    fn names(&self, input: &Input<'_>) -> Result<Vec<String>> {
        Ok(self.sheet_columns(input)?.into_iter().map(|column| column.name).collect())
    }

    /// The columns; those of pictures are named after their pixels, from the upper left, as in an IDX file.
    fn sheet_columns(&self, input: &Input<'_>) -> Result<Vec<SheetColumn>> {
        let columns = self.checked_width(input)?;
        if !self.fields.is_empty() {
            let column = |field: &Field| match &field.number {
                Ok(_) => SheetColumn::numeric(field.name.clone()),
                Err(code) => {
                    SheetColumn { example: Some((0, code.clone())), ..SheetColumn::text(&field.name) }
                }
            };
            return Ok(self.fields.iter().map(column).collect());
        }
        let (width, channels) = match self.shape[1..] {
            [_, width] | [_, width, 1] => (width, &[""][..]),
            [_, width, _] => (width, &["red", "green", "blue"][..]),
            _ => return Ok(SheetColumn::elements(columns)),
        };
        Ok(SheetColumn::pixels(columns, width, channels))
    }

    /// The number of columns, rejected if implausible: each needs a name, and searches do not have a million
    /// dimensions.
    fn checked_width(&self, input: &Input<'_>) -> Result<usize> {
        if self.columns > MAX_COLUMNS {
            let why = format!("at most {MAX_COLUMNS} are supported; is the array transposed?");
            return Err(input.unsupported(format!("{} columns", self.columns), why));
        }
        input.check_shape(self.rows as u64, self.columns as u64)?;
        input.claim(SheetColumn::memory_of(self.columns as u64), "the names of the columns")?;
        Ok(self.columns)
    }
}

/// Reads the array after its header. Memory grows as data arrives, since the header may be wrong.
pub(super) fn read_array(
    reader: &mut impl Read,
    header: &Header,
    input: &Input<'_>,
    request: &ColumnRequest<'_>,
) -> Result<Sheet> {
    let Header { number, rows, columns: width, .. } = *header;
    let columns = header.sheet_columns(input)?;
    let selected = request.resolve(&columns, input)?;
    let mut values = Values::new(number.fits_f32());
    with_values!(&mut values, values => {
        if header.fortran {
            read_by_column(reader, header, &selected, values, input)
        } else {
            read_by_row(reader, header, &selected, values, input)
        }
    })?;
    let order = if header.fortran { ", Fortran order" } else { "" };
    let sizes = if header.shape.len() > 2 { sizes(&header.shape) } else { sizes(&[rows, width]) };
    let format = format!("NumPy array, {sizes} {}{order}", header.about());
    Ok(Sheet::new(input, format, columns, selected, rows as u64, values))
}

/// Reads C order, row by row.
fn read_by_row<T: Real>(
    reader: &mut impl Read,
    header: &Header,
    selected: &[usize],
    values: &mut Vec<T>,
    input: &Input<'_>,
) -> Result<()> {
    if header.bytes <= input.size {
        input.reserve_all(values, header.rows as u64, selected.len())?;
    }
    header.fixed_records().visit(
        reader,
        |why| input.io(why),
        |_, bytes| {
            let rows = bytes.chunks_exact(header.stride);
            input.reserve(values, rows.len() * selected.len())?;
            if header.fields.is_empty() {
                header.number.decode_selected(header.endian, bytes, header.columns, selected, values);
            } else {
                values.extend(
                    rows.flat_map(|row| selected.iter().map(|&at| T::from_f64(header.value(at, row)))),
                );
            }
            Ok(())
        },
    )
}

/// Reads Fortran order, scattering each column into the rows directly, so that there is only one copy.
fn read_by_column<T: Real>(
    reader: &mut impl Read,
    header: &Header,
    selected: &[usize],
    values: &mut Vec<T>,
    input: &Input<'_>,
) -> Result<()> {
    let Header { number, endian, rows, columns: width, .. } = *header;
    // Copies of a column that is selected twice are made at the end.
    let position_of = positions_by_column(selected, width);
    let mut decoded: Vec<T> = Vec::new();
    for (at, position) in position_of.iter().enumerate() {
        FixedRecords { start: 0, record: number.size(), rows: rows as u64 }.visit(
            reader,
            |why| input.io(why),
            |row, bytes| {
                // Reserve only once data has arrived.
                if at == 0 && row == 0 {
                    input.reserve(values, rows * selected.len())?;
                    values.resize(rows * selected.len(), T::default());
                }
                if let Some(position) = position {
                    decoded.clear();
                    number.decode(endian, bytes, &mut decoded);
                    let places = values
                        .iter_mut()
                        .skip(row as usize * selected.len() + position)
                        .step_by(selected.len());
                    places.zip(&decoded).for_each(|(place, &value)| *place = value);
                }
                Ok(())
            },
        )?;
    }
    for (position, &at) in selected.iter().enumerate() {
        if let Some(first) = position_of[at].filter(|&first| first != position) {
            values.chunks_exact_mut(selected.len()).for_each(|row| row[position] = row[first]);
        }
    }
    Ok(())
}

/// Sizes for display: `3 × 4`.
pub(super) fn sizes(sizes: &[impl ToString]) -> String {
    sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ")
}

/// The text of a value in a flat Python dictionary literal, as written by NumPy.
fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let at = [format!("'{key}':"), format!("\"{key}\":")]
        .iter()
        .find_map(|key| Some(text.find(key)? + key.len()))?;
    let rest = text[at..].trim_start();
    let mut depth = 0;
    let end = rest.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth <= 0 && (c == ',' || c == '}')
    })?;
    Some(rest[..end].trim())
}

/// Parses an element type such as `'<f4'`.
fn element(descr: &str) -> Option<(NumberType, Endian)> {
    let code = descr.trim_matches(['\'', '"']);
    let (order, kind) = code.split_at_checked(1)?;
    let endian = match order {
        "<" | "|" => Endian::Little,
        ">" => Endian::Big,
        "=" if cfg!(target_endian = "big") => Endian::Big,
        "=" => Endian::Little,
        _ => return None,
    };
    let number = match kind.as_bytes() {
        b"b1" => NumberType::Bool,
        &[kind, size] => NumberType::from_kind(kind.into(), size.wrapping_sub(b'0').into())?,
        _ => return None,
    };
    Some((number, endian))
}

/// The fields of a structured type such as `[('x', '<f4'), ('', '|V4')]`, and the bytes of a row. Fields
/// without a name are padding.
fn record(descr: &str, input: &Input<'_>) -> Result<(Vec<Field>, usize)> {
    let bad = || input.malformed("header", "its 'descr' is not a list of fields");
    let items: Vec<Vec<Value>> = serde_json::from_str(&json_of(descr)).map_err(|_| bad())?;
    let (mut fields, mut at) = (Vec::new(), 0usize);
    for item in &items {
        // A field may have a title before its name.
        let name = item
            .first()
            .map(|name| name.as_array().and_then(|both| both.last()).unwrap_or(name))
            .and_then(Value::as_str)
            .ok_or_else(bad)?;
        let what = || format!("field `{}`", printable(name));
        let [_, Value::String(code)] = &item[..] else {
            let why = "it holds several numbers; write each as a field, for instance with \
                       numpy.lib.recfunctions.unstructured_to_structured";
            return Err(input.unsupported(what(), why));
        };
        let number = element(code);
        // Letters of text have four bytes each.
        let wide = if code.contains('U') { 4 } else { 1 };
        let digits =
            code.trim_start_matches(|c: char| !c.is_ascii_digit()).split('[').next().unwrap_or_default();
        let size = number
            .map(|(number, _)| number.size())
            .or_else(|| digits.parse::<usize>().ok()?.checked_mul(wide));
        let size =
            size.filter(|_| !code.contains('O')).ok_or_else(|| input.unsupported(what(), hint(code)))?;
        if !name.is_empty() {
            fields.push(Field { name: name.to_owned(), at, number: number.ok_or_else(|| code.clone()) });
        }
        at = at.checked_add(size).ok_or_else(bad)?;
    }
    if fields.is_empty() || at == 0 { Err(bad()) } else { Ok((fields, at)) }
}

/// A Python literal of lists, tuples, texts and numbers as JSON.
fn json_of(literal: &str) -> String {
    let (mut json, mut quote, mut escaped) = (String::new(), None, false);
    for c in literal.chars() {
        match c {
            _ if quote.is_some() && (escaped || c == '\\') => {
                escaped = !escaped;
                json.push(c);
            }
            _ if quote == Some(c) => {
                quote = None;
                json.push('"');
            }
            '"' if quote.is_some() => json.push_str("\\\""),
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                json.push('"');
            }
            '(' if quote.is_none() => json.push('['),
            ')' | ']' if quote.is_none() => {
                json.truncate(json.trim_end_matches([',', ' ']).len());
                json.push(']');
            }
            c => json.push(c),
        }
    }
    json
}

/// A hint for an unsupported element type.
fn hint(descr: &str) -> &'static str {
    match descr {
        _ if descr.contains('O') => {
            "they are pickled objects, which would run code; convert with .astype(float) before saving"
        }
        _ if descr.contains('c') => "store real and imaginary parts as columns",
        _ if descr.contains('U') || descr.contains('S') => "they are text; store numbers",
        _ => "convert with .astype('float64') before saving",
    }
}

/// Parses a shape: `(3, 4)`, `(3,)`, `()`.
fn shape(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    inner
        .split(',')
        .map(|part| part.trim().trim_end_matches('L'))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_keys_are_read_in_any_order() {
        let text =
            "{'shape': (3, 4L), \"fortran_order\": False, 'descr': [('x', '<f4'), ('y', '<f4')], }   \n";
        assert_eq!(value_of(text, "shape"), Some("(3, 4L)"));
        assert_eq!(value_of(text, "fortran_order"), Some("False"));
        assert_eq!(value_of(text, "descr"), Some("[('x', '<f4'), ('y', '<f4')]"));
        assert_eq!(value_of(text, "other"), None);
        assert_eq!(shape("(3, 4L)"), Some(vec![3, 4]));
        assert_eq!(shape("(3,)"), Some(vec![3]));
        assert_eq!(shape("()"), Some(vec![]));
        assert_eq!(shape("(3, -1)"), None);
    }
}
