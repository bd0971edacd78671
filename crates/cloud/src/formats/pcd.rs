//! PCD, the Point Cloud Library's format, in its three encodings: text, binary by point, or compressed by
//! field.
//!
//! A field of several numbers becomes several columns, `fpfh_0`, `fpfh_1`, …. A packed colour, `rgb` or
//! `rgba`, becomes the columns `red`, `green`, `blue` (and `alpha`), from 0 to 255. Points without a
//! measurement are rows of NaN.

use std::io::{BufRead, Read};

use super::limits::{LZF, MAX_HEADER, MAX_PCD_COLUMNS};
use super::lzf::LzfReader;
use super::{
    ColumnRequest, Endian, FixedRecords, FormatError, Input, NumberType, RecordPicker, Records, Result,
    Sheet, SheetColumn, cell, number_cell, printable, whole,
};

/// Bytes of a compressed field decoded at a time, or one point if that is larger.
const CHUNK: usize = 1 << 18;

/// Whether a text begins like a PCD header, for files without the first comment line.
pub(super) fn sniff(head: &[u8]) -> bool {
    let line = |word: &[u8]| {
        head.split(|&byte| byte == b'\n')
            .any(|line| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(b" ")))
    };
    (line(b"FIELDS") || line(b"COLUMNS")) && line(b"DATA") && line(b"WIDTH")
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let cells = PcdColumn::list(&header, input)?;
    let columns: Vec<SheetColumn> =
        cells.iter().map(|cell| SheetColumn::numeric(cell.name.clone())).collect();
    let selected = request.resolve(&columns, input)?;
    let cells: Vec<&PcdColumn> = selected.iter().map(|&at| &cells[at]).collect();
    let mut packed = 0;
    let values = match header.encoding {
        Encoding::Ascii => {
            let mut values = Vec::new();
            ascii(file, &header, &cells, input, &mut |_, point| {
                input.reserve(&mut values, point.len())?;
                values.extend_from_slice(point);
                Ok(true)
            })?;
            values
        }
        Encoding::Binary => binary(file, &header, &cells, input)?,
        Encoding::Compressed => {
            let values;
            (values, packed) = compressed(file, &header, &cells, None, input)?;
            values
        }
    };
    let grid =
        if header.height > 1 { format!(", {} × {}", header.width, header.height) } else { String::new() };
    let format = format!("PCD, {}{grid}", header.encoding.name());
    let mut sheet = Sheet::new(input, format, columns, selected, header.points, values);
    sheet.decimals = header.encoding == Encoding::Ascii;
    let behind = match header.encoding {
        // In ASCII files, lines after the points are rejected.
        Encoding::Ascii => 0,
        Encoding::Binary => input.size.saturating_sub(header.length + header.points * header.stride() as u64),
        Encoding::Compressed => input.size.saturating_sub(header.length + 8 + packed),
    };
    if behind > 0 {
        sheet.skipped.push(format!("{behind} bytes after the points were not read"));
    }
    Ok(sheet)
}

/// Reads all columns of some records: by seeking, or sequentially if seeking is impossible.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let cells = PcdColumn::list(&header, input)?;
    let columns = cells.iter().map(|cell| printable(&cell.name)).collect();
    let cells: Vec<&PcdColumn> = cells.iter().collect();
    input.check_records(wanted, header.points)?;
    let cells_of = |point: &[f64]| point.iter().map(|&value| number_cell(value)).collect();
    let mut picked = RecordPicker::new(wanted);
    match header.encoding {
        Encoding::Binary => {
            let row = |point: &[u8]| cells.iter().map(|cell| number_cell(cell.value(point))).collect();
            return Ok(Records { columns, rows: header.fixed_records().records(input, wanted, row)? });
        }
        Encoding::Ascii => {
            ascii(file, &header, &cells, input, &mut |row, point| Ok(picked.offer(row, || cells_of(point))))?
        }
        Encoding::Compressed => {
            let rows: Vec<usize> = picked.found.keys().map(|&row| row as usize).collect();
            let (values, _) = compressed(file, &header, &cells, Some(&rows), input)?;
            picked
                .found
                .values_mut()
                .zip(values.chunks_exact(cells.len()))
                .for_each(|(found, point)| *found = cells_of(point));
        }
    }
    Ok(picked.into_records(columns))
}

/// The error for too many columns.
fn too_many_columns(input: &Input<'_>) -> FormatError {
    input.unsupported("too many columns", format!("at most {MAX_PCD_COLUMNS} are supported"))
}

/// A column, and the bytes of a point that it is decoded from.
struct PcdColumn {
    name: String,
    /// Index of its field.
    field: usize,
    /// Index of its number among all numbers of a point.
    word: usize,
    /// Byte offset of the number in its field, and of the field in a point.
    at: usize,
    start: usize,
    number: NumberType,
    /// For a component of a packed colour, the position of its lowest bit.
    shift: Option<u32>,
}

impl PcdColumn {
    fn list(header: &Header, input: &Input<'_>) -> Result<Vec<Self>> {
        let (mut cells, mut words, mut end) = (Vec::new(), 0, 0);
        for (index, field) in header.fields.iter().enumerate() {
            let (first, start, number) = (words, end, field.number);
            (words, end) = (words + field.count, end + field.size());
            if field.name == PADDING {
                continue;
            }
            let cell = |name: &str, item: usize, shift| {
                let at = item * number.size();
                Self { name: name.to_owned(), field: index, word: first + item, at, start, number, shift }
            };
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
            // Each name is stored here and in the sheet.
            let bytes = field.name.len() as u64 + size_of::<Self>() as u64;
            input.claim(
                (2 * bytes * count as u64).saturating_add(SheetColumn::memory_of(count as u64)),
                "the names of the columns",
            )?;
            match field.count {
                _ if colours > 0 => {
                    cells.extend(colour[..colours].iter().map(|&(name, shift)| cell(name, 0, Some(shift))))
                }
                1 => cells.push(cell(&field.name, 0, None)),
                count => {
                    cells.extend((0..count).map(|item| cell(&format!("{}_{item}", field.name), item, None)))
                }
            }
        }
        if cells.is_empty() {
            return Err(input.malformed("header", "no fields except padding"));
        }
        Ok(cells)
    }

    /// Decodes the value from the bytes of a point.
    fn value(&self, point: &[u8]) -> f64 {
        self.decode(&point[self.start..])
    }

    /// Decodes the value from the bytes of its field.
    fn decode(&self, field: &[u8]) -> f64 {
        let bytes = &field[self.at..][..self.number.size()];
        match self.shift {
            Some(shift) => f64::from(whole(bytes) as u32 >> shift & 255),
            None => self.number.decode_one(Endian::Little, bytes),
        }
    }

    /// The value of a number in an ASCII file. A packed colour is written as an integer, or as the tiny float
    /// with the same bits.
    fn decode_text(&self, value: f64) -> f64 {
        match self.shift {
            None => value,
            Some(_) if value.is_nan() => value,
            Some(shift) => {
                let packed = if (1.0..=f64::from(u32::MAX)).contains(&value) {
                    value as u32
                } else {
                    (value as f32).to_bits()
                };
                f64::from(packed >> shift & 255)
            }
        }
    }
}

/// Handles a point, given its number and values; returns false to stop.
type Take<'a> = dyn FnMut(u64, &[f64]) -> Result<bool> + 'a;

fn ascii(
    mut file: impl BufRead,
    header: &Header,
    cells: &[&PcdColumn],
    input: &Input<'_>,
    take: &mut Take<'_>,
) -> Result<()> {
    let width: usize = header.fields.iter().map(|field| field.count).sum();
    let mut point = Vec::with_capacity(cells.len());
    let mut line = Vec::new();
    let mut number = header.lines;
    let mut row = 0;
    while row < header.points {
        line.clear();
        number += 1;
        if input.read_line(&mut file, b'\n', &mut line)? == 0 {
            return Err(input.malformed(
                "cut short",
                format!("the header declares {} points, but the file has {row}", header.points),
            ));
        }
        let words = cell::words(&line);
        // Counted first, because a line may be as long as the file.
        let count = words.clone().count();
        if count == 0 {
            continue;
        }
        let bad = |why: String| input.malformed(format!("line {number}, point {row}"), why);
        if count != width {
            return Err(bad(format!("expected {width} numbers, found {count}")));
        }
        let words: Vec<&[u8]> = words.collect();
        point.clear();
        for cell in cells {
            let word = words[cell.word];
            let value = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let value = value.ok_or_else(|| {
                let word: String = String::from_utf8_lossy(word).chars().take(40).collect();
                bad(format!("`{}` is `{word}`, which is not a number", cell.name))
            })?;
            point.push(cell.decode_text(value));
        }
        if !take(row, &point)? {
            return Ok(());
        }
        row += 1;
    }
    // After the last point, only white space or undeclared points follow.
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
    let why = format!(
        "the header declares {}, but the file has {points}; if they all belong there, correct POINTS, WIDTH \
         and HEIGHT",
        header.points
    );
    input.malformed("points", why)
}

fn binary(mut file: impl Read, header: &Header, cells: &[&PcdColumn], input: &Input<'_>) -> Result<Vec<f64>> {
    let stride = header.stride();
    let left = input.size.saturating_sub(header.length);
    if header.points > left / stride as u64 {
        let why = format!(
            "the header declares {} points of {stride} bytes, but the file has {}",
            header.points,
            left / stride as u64
        );
        return Err(input.malformed("cut short", why));
    }
    if header.points < left / stride as u64 {
        return Err(too_many(header, left / stride as u64, input));
    }
    let mut found = Vec::new();
    header.fixed_records().visit(
        &mut file,
        |why| input.io(why),
        |_, bytes| {
            let points = bytes.chunks_exact(stride);
            input.reserve(&mut found, points.len() * cells.len())?;
            found.extend(points.flat_map(|point| cells.iter().map(|cell| cell.value(point))));
            Ok(())
        },
    )?;
    Ok(found)
}

/// Decodes the cells of all points, or of the ascending `wanted` ones; everything is decompressed, but
/// nothing else is stored. Returns the number of packed bytes as well.
fn compressed(
    mut file: impl BufRead,
    header: &Header,
    cells: &[&PcdColumn],
    wanted: Option<&[usize]>,
    input: &Input<'_>,
) -> Result<(Vec<f64>, u64)> {
    let sizes: [u8; 8] = input.read(&mut file)?;
    let (packed, unpacked) = (whole(&sizes[..4]), whole(&sizes[4..]));
    let left = input.size.saturating_sub(header.length + 8);
    if packed > left {
        return Err(input.malformed(
            "cut short",
            format!("the header declares {packed} compressed bytes, but the file has {left}"),
        ));
    }
    if header.points.checked_mul(header.stride() as u64) != Some(unpacked) {
        let why = format!(
            "{} points of {} bytes do not match the declared {unpacked} bytes",
            header.points,
            header.stride()
        );
        return Err(input.malformed("compressed points", why));
    }
    if unpacked > packed.saturating_mul(LZF) {
        return Err(input.malformed(
            "compressed points",
            format!("{unpacked} bytes cannot fit in {packed} compressed bytes"),
        ));
    }
    let fail = |why: std::io::Error| match why.kind() {
        std::io::ErrorKind::InvalidData => input.malformed("compressed points", why.to_string()),
        _ => input.io(why),
    };
    // The declared sizes were checked against the file size above.
    let (rows, width) = (header.points as usize, cells.len());
    let selected = wanted.map_or(rows, <[usize]>::len);
    let mut values = Vec::new();
    input.reserve(&mut values, selected * width)?;
    values.resize(selected * width, f64::NAN);
    let mut points = LzfReader::new(file.take(packed));
    let mut of_field: Vec<Vec<(usize, &PcdColumn)>> = vec![Vec::new(); header.fields.len()];
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
                    values[to * width + column] = cell.decode(raw);
                }
            };
            match wanted {
                None => bytes.chunks_exact(size).enumerate().for_each(|(item, raw)| put(row + item, raw)),
                Some(wanted) => {
                    let here = wanted.partition_point(|&at| at < row)
                        ..wanted.partition_point(|&at| at < row + count);
                    here.for_each(|to| put(to, &bytes[(wanted[to] - row) * size..][..size]));
                }
            }
            row += count;
        }
    }
    if points.read(&mut [0]).map_err(fail)? > 0 {
        return Err(input.malformed(
            "compressed points",
            format!("they decompress to more than the declared {unpacked} bytes"),
        ));
    }
    Ok((values, packed))
}

// The header: the fields of a point, and the number of points.

/// The encoding of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
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

/// The field name of padding.
const PADDING: &str = "_";

/// A field of one or more numbers.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    /// The field's name, or [`PADDING`].
    pub name: String,
    pub number: NumberType,
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
struct Header {
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
    /// The version is ignored and may be missing, as may entries with usual values: type F, four bytes, count
    /// one.
    pub fn read(file: &mut impl BufRead, input: &Input<'_>) -> Result<Self> {
        let (mut names, mut sizes, mut types, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut width, mut height, mut points) = (None, None, None);
        let (mut lines, mut length) = (0, 0);
        let mut line = Vec::new();
        let encoding = loop {
            line.clear();
            let count = file
                .take((MAX_HEADER - length) as u64)
                .read_until(b'\n', &mut line)
                .map_err(|why| input.io(why))?;
            lines += 1;
            length += count;
            if count == 0 {
                return Err(input.malformed("header", "line `DATA` is missing"));
            }
            let text = String::from_utf8_lossy(&line);
            let bad = |why: &str| {
                input.malformed(
                    format!("line {lines}"),
                    format!("`{}` {why}", text.trim().chars().take(60).collect::<String>()),
                )
            };
            let whole = |word: &str| word.parse::<u64>().map_err(|_| bad("is not a whole number"));
            let mut words = text.split_ascii_whitespace();
            match (words.next(), words) {
                (Some("FIELDS" | "COLUMNS"), words) => {
                    names = words.map(|name| cell::name(name.as_bytes())).collect()
                }
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
            return Err(input.malformed("header", "line `FIELDS` is missing"));
        }
        if names.len() > MAX_PCD_COLUMNS {
            return Err(too_many_columns(input));
        }
        let agree = |what: &str, count: usize| {
            let why = || format!("{} fields but {count} values in `{what}`", names.len());
            if count == 0 || count == names.len() { Ok(()) } else { Err(input.malformed("header", why())) }
        };
        agree("SIZE", sizes.len())?;
        agree("TYPE", types.len())?;
        agree("COUNT", counts.len())?;
        let field = |(at, name): (usize, String)| {
            let (kind, size) =
                (types.get(at).map_or("F", String::as_str), sizes.get(at).copied().unwrap_or(4));
            // PCD has no floats of two bytes.
            let known = if matches!(kind, "I" | "U" | "F") && (kind, size) != ("F", 2) {
                kind.to_lowercase().chars().next()
            } else {
                None
            };
            let number = known.and_then(|kind| NumberType::from_kind(kind, size));
            let why = || {
                input.malformed(
                    "header",
                    format!("field `{name}` is {kind} of {size} bytes, which is not a PCD type"),
                )
            };
            let number = number.ok_or_else(why)?;
            let count = counts.get(at).copied().unwrap_or(1);
            // The largest real features have a few thousand numbers; padding may be empty.
            let least = usize::from(name != PADDING);
            let count = usize::try_from(count).ok().filter(|count| (least..=MAX_PCD_COLUMNS).contains(count));
            let count = count.ok_or_else(|| {
                input.malformed("header", format!("field `{name}` has invalid count {}", counts[at]))
            })?;
            Ok(Field { name, number, count })
        };
        let fields: Vec<Field> = names.into_iter().enumerate().map(field).collect::<Result<_>>()?;
        let (width, height) = (width.or(points), height.unwrap_or(1));
        let width = width.ok_or_else(|| input.malformed("header", "`WIDTH` and `POINTS` are missing"))?;
        let grid = width.checked_mul(height);
        let points = points.or(grid).unwrap_or(u64::MAX);
        if grid != Some(points) {
            return Err(
                input.malformed("header", format!("{width} × {height} points do not match POINTS {points}"))
            );
        }
        Ok(Self { encoding, fields, width, height, points, length: length as u64, lines })
    }

    /// The points in binary.
    fn fixed_records(&self) -> FixedRecords {
        FixedRecords { start: self.length, record: self.stride(), rows: self.points }
    }

    /// Bytes of a point.
    pub fn stride(&self) -> usize {
        self.fields.iter().map(Field::size).sum()
    }
}
