//! Binary vector files of nearest-neighbour benchmarks.
//!
//! TEXMEX (`.fvecs`, `.bvecs`, `.ivecs`): each vector is its dimension as an i32, then its elements. Big-ANN
//! (`.fbin`, `.u8bin`, `.i8bin`, `.ibin`): the number of vectors and their dimension as u32, then all
//! elements. Little-endian.

use std::io::{Cursor, Read};

use super::blocks::{BlockLayout, fixed};
use super::limits::{MAX_COLUMNS, MAX_EMPTY_COLUMNS};
use super::{
    ColumnRequest, Endian, FixedRecords, Input, NumberType, Records, Result, Sheet, SheetColumn, number_cell,
    whole,
};
use crate::table::{Real, Values, with_values};

/// A larger dimension indicates another format.
const MAX_DIMS: u64 = MAX_COLUMNS as u64;

/// Opens a TEXMEX file.
pub(super) fn texmex<'a>(input: &Input<'a>) -> Result<VectorReader<impl Read + use<'a>>> {
    let number = match input.extension().as_str() {
        "bvecs" => NumberType::U8,
        "ivecs" => NumberType::I32,
        _ => NumberType::F32,
    };
    let mut file = input.open()?;
    let start = input.read(&mut file)?;
    let dims = checked_dims(i64::from(i32::from_le_bytes(start)), input)?;
    let record = 4 + dims * number.size() as u64;
    if !input.size.is_multiple_of(record) {
        let why = format!(
            "{} bytes are not a whole number of vectors of {dims} dimensions, {record} bytes each",
            input.size
        );
        return Err(input.malformed("cut short", why));
    }
    let layout = FixedRecords { start: 0, record: record as usize, rows: input.size / record };
    // The dimension of the first vector has already been read.
    Ok(VectorReader {
        file: Cursor::new(start).chain(file),
        number,
        dims: dims as usize,
        layout,
        name: "TEXMEX vectors",
    })
}

/// Opens a Big-ANN file.
pub(super) fn big_ann<'a>(input: &Input<'a>) -> Result<VectorReader<impl Read + use<'a>>> {
    let number = match input.extension().as_str() {
        "u8bin" => NumberType::U8,
        "i8bin" => NumberType::I8,
        "ibin" => NumberType::I32,
        _ => NumberType::F32,
    };
    let mut file = input.open()?;
    let start: [u8; 8] = input.read(&mut file)?;
    let (rows, dims) = (whole(&start[..4]), checked_dims(whole(&start[4..]) as i64, input)?);
    if rows == 0 && dims > MAX_EMPTY_COLUMNS {
        return Err(input.malformed("nothing to read", "the header declares 0 vectors"));
    }
    let record = dims * number.size() as u64;
    let promised = 8 + rows * record;
    if promised != input.size {
        let what = if promised > input.size { "cut short" } else { "header" };
        return Err(input.malformed(
            what,
            format!(
                "{rows} vectors of {dims} dimensions take {promised} bytes, but the file has {}",
                input.size
            ),
        ));
    }
    let layout = FixedRecords { start: 8, record: record as usize, rows };
    Ok(VectorReader { file, number, dims: dims as usize, layout, name: "Big-ANN vectors" })
}

fn checked_dims(dims: i64, input: &Input<'_>) -> Result<u64> {
    match u64::try_from(dims) {
        Ok(dims @ 1..=MAX_DIMS) => Ok(dims),
        _ => Err(input.malformed(
            "header",
            format!("dimension {dims}: must be between 1 and {MAX_DIMS}; possibly another format"),
        )),
    }
}

/// The elements of a vector, after its dimension, if it has one; the error says that it is wrong.
fn after_prefix(row: &[u8], prefix: usize, dims: usize) -> Result<&[u8], String> {
    let (prefix, raw) = row.split_at(prefix);
    if prefix.is_empty() || prefix == (dims as u32).to_le_bytes() {
        return Ok(raw);
    }
    Err(format!("its dimension is {}, but the first one's is {dims}", whole(prefix) as i32))
}

/// A file of vectors, at the first of them.
pub(super) struct VectorReader<R> {
    file: R,
    number: NumberType,
    dims: usize,
    layout: FixedRecords,
    name: &'static str,
}

impl<R: Read> VectorReader<R> {
    /// Bytes before each vector: 4 for its dimension, or 0.
    fn prefix(&self) -> usize {
        self.layout.record - self.dims * self.number.size()
    }

    /// Reads all elements of some vectors.
    pub fn records(&self, input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
        let one = |raw: &[u8]| number_cell(self.number.decode_one(Endian::Little, raw));
        let row = |raw: &[u8]| raw[self.prefix()..].chunks_exact(self.number.size()).map(one).collect();
        let rows = self.layout.records(input, wanted, row)?;
        Ok(Records { columns: SheetColumn::names(SheetColumn::elements(self.dims)), rows })
    }

    /// The vectors, to be read from any place.
    pub fn blocks(self, input: &Input<'_>) -> Result<BlockLayout> {
        input.claim(SheetColumn::memory_of(self.dims as u64), "the names of the columns")?;
        let (number, dims, record, prefix) = (self.number, self.dims, self.layout.record, self.prefix());
        let decode = move |rows: &[u8], selected: &[usize], values: &mut Values| {
            with_values!(values, values => {
                for row in rows.chunks_exact(record) {
                    let raw = after_prefix(row, prefix, dims)?;
                    number.decode_selected(Endian::Little, raw, dims, selected, values);
                }
            });
            Ok(())
        };
        Ok(BlockLayout {
            rows: self.layout.rows,
            columns: SheetColumn::elements(dims),
            declared: None,
            fits_f32: vec![number.fits_f32(); dims],
            exceeds_f64: vec![false; dims],
            buffer: 0,
            read: fixed(self.layout, Box::new(decode)),
        })
    }

    pub fn read(mut self, input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
        input.claim(SheetColumn::memory_of(self.dims as u64), "the names of the columns")?;
        let columns = SheetColumn::elements(self.dims);
        let selected = request.resolve(&columns, input)?;
        let mut values = Values::new(self.number.fits_f32());
        with_values!(&mut values, values => self.read_values(&selected, values, input)?);
        let format = format!("{}, {} × {} {}", self.name, self.layout.rows, self.dims, self.number.name());
        Ok(Sheet::new(input, format, columns, selected, self.layout.rows, values))
    }

    fn read_values<T: Real>(
        &mut self,
        selected: &[usize],
        values: &mut Vec<T>,
        input: &Input<'_>,
    ) -> Result<()> {
        input.reserve_all(values, self.layout.rows, selected.len())?;
        let (number, dims, record, prefix) = (self.number, self.dims, self.layout.record, self.prefix());
        let decode = |bytes: &[u8], values: &mut Vec<T>| {
            number.decode_selected(Endian::Little, bytes, dims, selected, values)
        };
        self.layout.visit(
            &mut self.file,
            |why| input.io(why),
            |first, bytes| {
                if prefix == 0 {
                    decode(bytes, values);
                    return Ok(());
                }
                for (row, raw) in bytes.chunks_exact(record).enumerate() {
                    let raw = after_prefix(raw, prefix, dims)
                        .map_err(|why| input.malformed(format!("record {}", first + row as u64), why))?;
                    decode(raw, values);
                }
                Ok(())
            },
        )
    }
}
