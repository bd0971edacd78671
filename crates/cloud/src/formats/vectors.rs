//! Binary vector files of nearest-neighbour benchmarks.
//!
//! TEXMEX (`.fvecs`, `.bvecs`, `.ivecs`): each vector is its dimension as an i32, then its elements. Big-ANN (`.fbin`,
//! `.u8bin`, `.i8bin`, `.ibin`): the number of vectors and their dimension as u32, then all elements. Little-endian.

use std::io::{Cursor, Read};

use super::FormatError;
use super::columns::{Even, Records, number_cell};
use super::input::Input;
use super::limits::{MAX_COLUMNS, MAX_EMPTY_COLUMNS};
use super::number::{Endian, Number};
use super::sheet::{Sheet, SheetColumn, Want};
use crate::Values;
use crate::values::{Real, with_values};

/// A larger dimension means that the file is something else.
const MAX_DIMS: u64 = MAX_COLUMNS as u64;
/// Bytes read at a time, or one vector if that is larger.
const CHUNK: usize = 1 << 18;

pub(super) fn read_texmex(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let (file, layout) = texmex(input)?;
    layout.read(file, input, want)
}

/// Reads all elements of some TEXMEX vectors.
pub(super) fn texmex_records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    texmex(input)?.1.records(input, wanted)
}

pub(super) fn read_big_ann(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let (file, layout) = big_ann(input)?;
    layout.read(file, input, want)
}

/// Reads all elements of some Big-ANN vectors.
pub(super) fn big_ann_records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    big_ann(input)?.1.records(input, wanted)
}

fn texmex<'a>(input: &Input<'a>) -> Result<(impl Read + use<'a>, Layout), FormatError> {
    let number = match extension(input).as_str() {
        "bvecs" => Number::U8,
        "ivecs" => Number::I32,
        _ => Number::F32,
    };
    let mut file = input.open()?;
    let mut start = [0; 4];
    file.read_exact(&mut start).map_err(|why| input.io(why))?;
    let dims = checked_dims(i64::from(i32::from_le_bytes(start)), input)?;
    let record = 4 + dims * number.size() as u64;
    if !input.size().is_multiple_of(record) {
        let why = format!("{} bytes are no whole number of vectors of {dims} dimensions, {record} bytes each", input.size());
        return Err(input.malformed("cut short", why));
    }
    let layout = Layout { number, dims: dims as usize, rows: input.size() / record, start: 0, prefix: 4, name: "TEXMEX vectors" };
    // The dimension of the first vector has already been read.
    Ok((Cursor::new(start).chain(file), layout))
}

fn big_ann<'a>(input: &Input<'a>) -> Result<(impl Read + use<'a>, Layout), FormatError> {
    let number = match extension(input).as_str() {
        "u8bin" => Number::U8,
        "i8bin" => Number::I8,
        "ibin" => Number::I32,
        _ => Number::F32,
    };
    let mut file = input.open()?;
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(|why| input.io(why))?;
    let [rows, dims] = [0, 4].map(|at| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]));
    let dims = checked_dims(dims.into(), input)?;
    if rows == 0 && dims > MAX_EMPTY_COLUMNS {
        return Err(input.malformed("nothing to read", "the header says that there are 0 vectors"));
    }
    let promised = 8 + u64::from(rows) * dims * number.size() as u64;
    if promised != input.size() {
        let what = if promised > input.size() { "cut short" } else { "header" };
        return Err(input.malformed(what, format!("{rows} vectors of {dims} dimensions take {promised} bytes and there are {}", input.size())));
    }
    Ok((file, Layout { number, dims: dims as usize, rows: rows.into(), start: 8, prefix: 0, name: "Big-ANN vectors" }))
}

fn extension(input: &Input<'_>) -> String {
    input.path().extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn checked_dims(dims: i64, input: &Input<'_>) -> Result<u64, FormatError> {
    match u64::try_from(dims) {
        Ok(dims @ 1..=MAX_DIMS) => Ok(dims),
        _ => Err(input.malformed("header", format!("the dimension is {dims}, not 1 to {MAX_DIMS}; is it another format?"))),
    }
}

struct Layout {
    number: Number,
    dims: usize,
    rows: u64,
    /// Byte offset of the first vector.
    start: u64,
    /// Bytes before each vector: 4 for its dimension, or 0.
    prefix: usize,
    name: &'static str,
}

impl Layout {
    fn records(&self, input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
        let even = Even { start: self.start, record: self.prefix + self.dims * self.number.size(), rows: self.rows };
        let one = |raw: &[u8]| number_cell(self.number.one(Endian::Little, raw));
        let rows = even.records(input, wanted, |raw| raw[self.prefix..].chunks_exact(self.number.size()).map(one).collect())?;
        Ok(Records { columns: SheetColumn::elements(self.dims).into_iter().map(|column| column.name).collect(), rows })
    }

    fn read(&self, mut reader: impl Read, input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
        input.claim(SheetColumn::claimed(self.dims as u64), "the names of the columns")?;
        let columns = SheetColumn::elements(self.dims);
        let selected = want.resolve(&columns, input)?;
        let mut values = Values::new(self.number.fits_f32());
        with_values!(&mut values, values => self.read_values(&mut reader, &selected, values, input)?);
        let format = format!("{}, {} × {} {}", self.name, self.rows, self.dims, self.number.name());
        Ok(Sheet { path: input.path().to_owned(), format, columns, selected, rows: self.rows, values, skipped: Vec::new(), declared: None })
    }

    fn read_values<T: Real>(&self, reader: &mut impl Read, selected: &[usize], values: &mut Vec<T>, input: &Input<'_>) -> Result<(), FormatError> {
        let all = selected.iter().copied().eq(0..self.dims);
        let record = self.prefix + self.dims * self.number.size();
        let mut bytes = vec![0; (CHUNK / record).max(1) * record];
        input.reserve_all(values, self.rows, selected.len())?;
        let mut vector: Vec<T> = Vec::new();
        let mut row = 0;
        while row < self.rows {
            let count = (self.rows - row).min((bytes.len() / record) as u64) as usize;
            let bytes = &mut bytes[..count * record];
            reader.read_exact(bytes).map_err(|why| input.io(why))?;
            for raw in bytes.chunks_exact(record) {
                let (prefix, raw) = raw.split_at(self.prefix);
                if !prefix.is_empty() && prefix != (self.dims as u32).to_le_bytes() {
                    let found = i32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]);
                    return Err(input.malformed(format!("record {row}"), format!("its dimension is {found} and the first one's {}", self.dims)));
                }
                if all {
                    self.number.decode(Endian::Little, raw, values);
                } else {
                    vector.clear();
                    self.number.decode(Endian::Little, raw, &mut vector);
                    values.extend(selected.iter().map(|&at| vector[at]));
                }
                row += 1;
            }
        }
        Ok(())
    }
}
