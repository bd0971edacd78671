//! PCD, the Point Cloud Library's format, in its three encodings: text, binary point by point, or compressed field by field.
//!
//! A field of several numbers becomes as many columns, `fpfh_0`, `fpfh_1`, …. A packed colour, `rgb` or `rgba`, becomes the
//! columns `red`, `green`, `blue` (and `alpha`), from 0 to 255. Points that a sensor did not see are rows of NaN.

mod header;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use header::{Encoding, Header, PADDING};

use super::FormatError;
use super::columns::{Even, Records, no_record, number_cell};
use super::input::{Input, printable};
use super::limits::{LZF, MAX_PCD_COLUMNS};
use super::lzf::Lzf;
use super::number::{Endian, Number};
use super::sheet::{Sheet, SheetColumn, Want};

/// Bytes decoded at a time, or one point if that is larger.
const CHUNK: usize = 1 << 18;

/// Whether a text begins like a PCD header, for files without the first comment line.
pub(super) fn looks(head: &[u8]) -> bool {
    let line = |word: &[u8]| head.split(|&byte| byte == b'\n').any(|line| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(b" ")));
    (line(b"FIELDS") || line(b"COLUMNS")) && line(b"DATA") && line(b"WIDTH")
}

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let cells = Cell::of(&header, input)?;
    let columns: Vec<SheetColumn> = cells.iter().map(|cell| SheetColumn::numeric(cell.name.clone())).collect();
    let selected = want.resolve(&columns, input)?;
    let cells: Vec<&Cell> = selected.iter().map(|&at| &cells[at]).collect();
    let mut packed = 0;
    let values = match header.encoding {
        Encoding::Ascii => {
            let mut values = Vec::new();
            let mut take = |_, point: &[f64]| {
                input.reserve(&mut values, point.len())?;
                values.extend_from_slice(point);
                Ok(true)
            };
            ascii(file, &header, &cells, input, &mut take)?;
            values
        }
        Encoding::Binary => binary(file, &header, &cells, input)?,
        Encoding::Compressed => {
            let values;
            (values, packed) = compressed(file, &header, &cells, None, input)?;
            values
        }
    };
    let grid = if header.height > 1 { format!(", {} × {}", header.width, header.height) } else { String::new() };
    let format = format!("PCD, {}{grid}", header.encoding.name());
    let mut sheet = Sheet::new(input, format, columns, selected, header.points, values);
    let behind = match header.encoding {
        // Lines after the points are refused.
        Encoding::Ascii => 0,
        Encoding::Binary => input.size().saturating_sub(header.length + header.points * header.stride() as u64),
        Encoding::Compressed => input.size().saturating_sub(header.length + 8 + packed),
    };
    if behind > 0 {
        sheet.skipped.push(format!("{behind} bytes after the points were not read"));
    }
    Ok(sheet)
}

/// Reads all columns of some records: by seeking, or sequentially where that is impossible.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let cells = Cell::of(&header, input)?;
    let columns = cells.iter().map(|cell| printable(&cell.name)).collect();
    let cells: Vec<&Cell> = cells.iter().collect();
    if let Some(&missing) = wanted.iter().find(|&&record| record >= header.points) {
        return Err(no_record(missing, header.points, input.path()));
    }
    let mut found: BTreeMap<u64, Vec<f64>> = wanted.iter().map(|&record| (record, Vec::new())).collect();
    match header.encoding {
        Encoding::Binary => {
            let offsets = offsets(&header, &cells);
            let even = Even { start: header.length, record: header.stride(), rows: header.points };
            let rows = even.records(input, wanted, |point| values(&cells, &offsets, point).map(number_cell).collect())?;
            return Ok(Records { columns, rows });
        }
        Encoding::Ascii => {
            let last = found.keys().next_back().copied();
            let mut take = |row, point: &[f64]| {
                if let Some(found) = found.get_mut(&row) {
                    *found = point.to_vec();
                }
                Ok(last.is_some_and(|last| row < last))
            };
            ascii(file, &header, &cells, input, &mut take)?;
        }
        Encoding::Compressed => {
            let rows: Vec<usize> = found.keys().map(|&row| row as usize).collect();
            let (values, _) = compressed(file, &header, &cells, Some(&rows), input)?;
            found.values_mut().zip(values.chunks_exact(cells.len())).for_each(|(found, point)| *found = point.to_vec());
        }
    }
    let rows = wanted.iter().map(|record| found[record].iter().map(|&value| number_cell(value)).collect()).collect();
    Ok(Records { columns, rows })
}

/// The error for more columns than are read.
fn too_many_columns(input: &Input<'_>) -> FormatError {
    input.unsupported("too many columns", format!("the most that are read are {MAX_PCD_COLUMNS}"))
}

/// A column, and the bytes of a point that it is decoded from.
struct Cell {
    name: String,
    /// Index of its field.
    field: usize,
    /// Its index among the numbers of the field.
    item: usize,
    number: Number,
    /// For a component of a packed colour, the position of its lowest bit.
    shift: Option<u32>,
}

impl Cell {
    fn of(header: &Header, input: &Input<'_>) -> Result<Vec<Self>, FormatError> {
        let mut cells = Vec::new();
        for (at, field) in header.fields.iter().enumerate().filter(|(_, field)| field.name != PADDING) {
            let cell = |name: &str, item, shift| Self { name: name.to_owned(), field: at, item, number: field.number, shift };
            let colour = [("red", 16), ("green", 8), ("blue", 0), ("alpha", 24)];
            let colours = match (field.name.as_str(), field.count) {
                ("rgb", 1) if field.size() == 4 => 3,
                ("rgba", 1) if field.size() == 4 => 4,
                _ => 0,
            };
            let count = field.count.max(colours);
            if count > MAX_PCD_COLUMNS - cells.len() {
                return Err(too_many_columns(input));
            }
            // Each column has the name, here and in the sheet.
            let bytes = field.name.len() as u64 + size_of::<Self>() as u64;
            input.claim((2 * bytes * count as u64).saturating_add(SheetColumn::claimed(count as u64)), "the names of the columns")?;
            match field.count {
                _ if colours > 0 => cells.extend(colour[..colours].iter().map(|&(name, shift)| cell(name, 0, Some(shift)))),
                1 => cells.push(cell(&field.name, 0, None)),
                count => cells.extend((0..count).map(|item| cell(&format!("{}_{item}", field.name), item, None))),
            }
        }
        if cells.is_empty() {
            return Err(input.malformed("header", "there are no fields but padding"));
        }
        Ok(cells)
    }

    /// Decodes the value from the bytes of one number.
    fn decode(&self, bytes: &[u8]) -> f64 {
        match (self.shift, bytes) {
            (Some(shift), &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d]) >> shift & 255),
            _ => self.number.one(Endian::Little, bytes),
        }
    }

    /// The value of a number in an ASCII file. A packed colour is written as an integer, or as the float with the same bits,
    /// which is a tiny number.
    fn of_text(&self, value: f64) -> f64 {
        match self.shift {
            None => value,
            Some(_) if value.is_nan() => value,
            Some(shift) => {
                let packed = if (1.0..=f64::from(u32::MAX)).contains(&value) { value as u32 } else { (value as f32).to_bits() };
                f64::from(packed >> shift & 255)
            }
        }
    }
}

/// Handles a point, given its number and values; returns false to stop.
type Take<'a> = dyn FnMut(u64, &[f64]) -> Result<bool, FormatError> + 'a;

fn ascii(mut file: impl BufRead, header: &Header, cells: &[&Cell], input: &Input<'_>, take: &mut Take<'_>) -> Result<(), FormatError> {
    let mut first = Vec::with_capacity(header.fields.len());
    let mut width = 0;
    for field in &header.fields {
        first.push(width);
        width += field.count;
    }
    let mut point = Vec::with_capacity(cells.len());
    let mut line = Vec::new();
    let mut number = header.lines;
    let mut row = 0;
    while row < header.points {
        line.clear();
        number += 1;
        if input.read_line(&mut file, b'\n', &mut line)? == 0 {
            return Err(input.malformed("cut short", format!("the header promises {} points and there are {row}", header.points)));
        }
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        // Counted first, as a line may be as long as the file.
        let count = words.clone().count();
        if count == 0 {
            continue;
        }
        let bad = |why: String| input.malformed(format!("line {number}, point {row}"), why);
        if count != width {
            return Err(bad(format!("there are {count} numbers where there should be {width}")));
        }
        let words: Vec<&[u8]> = words.collect();
        point.clear();
        for cell in cells {
            let word = words[first[cell.field] + cell.item];
            let value = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let value = value.ok_or_else(|| {
                let word: String = String::from_utf8_lossy(word).chars().take(40).collect();
                bad(format!("`{}` is `{word}`, which is not a number", cell.name))
            })?;
            point.push(cell.of_text(value));
        }
        if !take(row, &point)? {
            return Ok(());
        }
        row += 1;
    }
    // The rest is white space, or points that the header does not declare.
    let mut more = 0;
    loop {
        line.clear();
        if input.read_line(&mut file, b'\n', &mut line)? == 0 {
            break;
        }
        more += u64::from(!line.trim_ascii().is_empty());
    }
    if more > 0 { Err(too_many(header, header.points + more, input)) } else { Ok(()) }
}

/// The error for more points than the header declares.
fn too_many(header: &Header, points: u64, input: &Input<'_>) -> FormatError {
    let why = format!("{points} where the header promises {}; if they all belong there, correct POINTS, WIDTH and HEIGHT", header.points);
    input.malformed("points", why)
}

fn binary(mut file: impl Read, header: &Header, cells: &[&Cell], input: &Input<'_>) -> Result<Vec<f64>, FormatError> {
    let stride = header.stride();
    let left = input.size().saturating_sub(header.length);
    if header.points > left / stride as u64 {
        let why = format!("the header promises {} points of {stride} bytes and there are {}", header.points, left / stride as u64);
        return Err(input.malformed("cut short", why));
    }
    if header.points < left / stride as u64 {
        return Err(too_many(header, left / stride as u64, input));
    }
    if header.points == 0 {
        return Ok(Vec::new());
    }
    let offsets = offsets(header, cells);
    let mut bytes = vec![0; (CHUNK / stride).max(1) * stride];
    let mut found = Vec::new();
    let mut left = header.points;
    while left > 0 {
        let count = left.min((bytes.len() / stride) as u64);
        let bytes = &mut bytes[..count as usize * stride];
        file.read_exact(bytes).map_err(|why| input.io(why))?;
        input.reserve(&mut found, count as usize * cells.len())?;
        for point in bytes.chunks_exact(stride) {
            found.extend(values(cells, &offsets, point));
        }
        left -= count;
    }
    Ok(found)
}

/// Byte offset of each cell in a point.
fn offsets(header: &Header, cells: &[&Cell]) -> Vec<usize> {
    let mut end = 0;
    let begin = |field: &header::Field| {
        end += field.size();
        end - field.size()
    };
    let first: Vec<usize> = header.fields.iter().map(begin).collect();
    cells.iter().map(|cell| first[cell.field] + cell.item * cell.number.size()).collect()
}

/// Decodes cells at these byte offsets of a point.
fn values(cells: &[&Cell], offsets: &[usize], point: &[u8]) -> impl Iterator<Item = f64> {
    cells.iter().zip(offsets).map(|(cell, &at)| cell.decode(&point[at..at + cell.number.size()]))
}

/// Decodes the cells of all points, or of the ascending `wanted` ones; everything is decompressed, but
/// nothing else is stored. Returns the number of packed bytes as well.
fn compressed(
    mut file: impl BufRead,
    header: &Header,
    cells: &[&Cell],
    wanted: Option<&[usize]>,
    input: &Input<'_>,
) -> Result<(Vec<f64>, u64), FormatError> {
    let mut sizes = [0; 8];
    file.read_exact(&mut sizes).map_err(|why| input.io(why))?;
    let [packed, unpacked] = [0, 4].map(|at| u64::from(u32::from_le_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]])));
    let left = input.size().saturating_sub(header.length + 8);
    if packed > left {
        return Err(input.malformed("cut short", format!("the header promises {packed} compressed bytes and there are {left}")));
    }
    if header.points.checked_mul(header.stride() as u64) != Some(unpacked) {
        let why = format!("{} points of {} bytes are not the {unpacked} bytes that it promises", header.points, header.stride());
        return Err(input.malformed("compressed points", why));
    }
    if unpacked > packed.saturating_mul(LZF) {
        return Err(input.malformed("compressed points", format!("{unpacked} bytes cannot be in {packed} compressed ones")));
    }
    let fail = |why: std::io::Error| match why.kind() {
        std::io::ErrorKind::InvalidData => input.malformed("compressed points", why.to_string()),
        _ => input.io(why),
    };
    // The declared sizes were checked against the size of the file above.
    let (rows, width) = (header.points as usize, cells.len());
    let selected = wanted.map_or(rows, <[usize]>::len);
    let mut values = Vec::new();
    input.reserve(&mut values, selected * width)?;
    values.resize(selected * width, f64::NAN);
    let mut points = Lzf::new(file.take(packed));
    let mut of_field: Vec<Vec<(usize, &Cell)>> = vec![Vec::new(); header.fields.len()];
    cells.iter().enumerate().for_each(|(column, cell)| of_field[cell.field].push((column, cell)));
    let mut bytes = Vec::new();
    for (field, cells) in header.fields.iter().zip(of_field) {
        input.check()?;
        let size = field.size();
        if size == 0 {
            continue;
        }
        bytes.resize((CHUNK / size).clamp(1, rows.max(1)) * size, 0);
        let mut row = 0;
        while row < rows {
            let count = (rows - row).min(bytes.len() / size);
            let bytes = &mut bytes[..count * size];
            points.read_exact(bytes).map_err(fail)?;
            let mut put = |to: usize, raw: &[u8]| {
                for &(column, cell) in &cells {
                    let at = cell.item * cell.number.size();
                    values[to * width + column] = cell.decode(&raw[at..at + cell.number.size()]);
                }
            };
            match wanted {
                None => bytes.chunks_exact(size).enumerate().for_each(|(item, raw)| put(row + item, raw)),
                Some(wanted) => {
                    let here = wanted.partition_point(|&at| at < row)..wanted.partition_point(|&at| at < row + count);
                    here.for_each(|to| put(to, &bytes[(wanted[to] - row) * size..][..size]));
                }
            }
            row += count;
        }
    }
    if points.read(&mut [0]).map_err(fail)? > 0 {
        return Err(input.malformed("compressed points", format!("they unpack to more than the {unpacked} bytes that are promised")));
    }
    Ok((values, packed))
}
