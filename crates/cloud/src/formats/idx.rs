//! IDX, the format of MNIST and its successors: an array of big-endian numbers, preceded by its sizes.
//!
//! The first size is the number of points; an image of h × w becomes a row of h·w columns `r0c0`, `r0c1`, ….
//! If the file's name contains `images` and a file of the same name with `labels` exists next to it, its
//! values become a column `label`.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::columns::Cell;
use super::limits::{DEFLATE, MAX_COLUMNS};
use super::npy::sizes;
use super::{
    ColumnRequest, Endian, FixedRecords, FormatError, Input, NumberType, Records, Result, Sheet, SheetColumn,
    number_cell, unpacked,
};
use crate::progress::Progress;

/// Checks for two zero bytes, a known element type, and one to four sizes.
pub(super) fn sniff(head: &[u8]) -> bool {
    matches!(head, [0, 0, kind, 1..=4, 0, ..] if number(*kind).is_some())
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let (mut file, gzip) = unpacked::bytes(input)?;
    let header = Header::read(&mut file, input)?;
    header.check_row(gzip, input)?;
    let Header { number, rows, .. } = header;
    let width = header.width as usize;
    input.claim(SheetColumn::memory_of(header.width), "the names of the columns")?;
    let mut columns = header.columns(input);
    let mut skipped = Vec::new();
    let labels = companion_labels(input, rows, &mut skipped)?;
    if labels.is_some() {
        columns.push(SheetColumn::attribute("label"));
    }
    let selected = request.resolve(&columns, input)?;
    let mut values: Vec<f64> = Vec::new();
    header.fixed_records().visit(
        &mut file,
        |why| input.io(why),
        |first, bytes| {
            let points = bytes.chunks_exact(header.record());
            input.reserve(&mut values, points.len() * selected.len())?;
            let Some(labels) = labels.as_ref().filter(|_| selected.contains(&width)) else {
                number.decode_selected(Endian::Big, bytes, width, &selected, &mut values);
                return Ok(());
            };
            let mut point = Vec::new();
            for (raw, label) in points.zip(&labels[first as usize..]) {
                point.clear();
                number.decode(Endian::Big, raw, &mut point);
                point.push(*label);
                values.extend(selected.iter().map(|&at| point[at]));
            }
            Ok(())
        },
    )?;
    // Reading to the end verifies the checksum of gzip.
    if input.skip_rest(&mut file)? > 0 {
        skipped.push("data after the numbers was not read".to_owned());
    }
    let format =
        format!("IDX, {} {}{}", sizes(&header.sizes), number.name(), if gzip { ", gzip" } else { "" });
    Ok(Sheet { skipped, ..Sheet::new(input, format, columns, selected, rows, values) })
}

/// Reads all columns of some records: by seeking or, inside gzip, sequentially.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let (mut file, gzip) = unpacked::bytes(input)?;
    let header = Header::read(&mut file, input)?;
    header.check_row(gzip, input)?;
    let mut columns = SheetColumn::names(header.columns(input));
    let mut rows = header.records(file, gzip, input, wanted)?;
    if let Some(labels) =
        labels_path(input).and_then(|path| labels_of(&path, header.rows, input.progress, wanted))
    {
        columns.push("label".to_owned());
        rows.iter_mut().zip(labels).for_each(|(row, label)| row.extend(label));
    }
    Ok(Records { columns, rows })
}

/// The labels of some records, as cells, if the labels file has one for each of `rows` images.
fn labels_of(path: &Path, rows: u64, progress: &dyn Progress, wanted: &[u64]) -> Option<Vec<Vec<Cell>>> {
    let input = Input::new(path, progress).ok()?;
    let (mut file, gzip) = unpacked::bytes(&input).ok()?;
    let header =
        Header::read(&mut file, &input).ok().filter(|header| header.width == 1 && header.rows == rows)?;
    header.records(file, gzip, &input, wanted).ok()
}

struct Header {
    number: NumberType,
    sizes: Vec<u64>,
    rows: u64,
    /// Number of values per row.
    width: u64,
}

impl Header {
    fn read(file: &mut impl Read, input: &Input<'_>) -> Result<Self> {
        let [zero, nil, kind, rank] = input.read(file)?;
        if (zero, nil) != (0, 0) {
            return Err(
                input.malformed("header", "does not begin with two zero bytes; possibly another format")
            );
        }
        let number = number(kind)
            .ok_or_else(|| input.malformed("header", format!("unknown element type {kind:#04x}")))?;
        if !(1..=8).contains(&rank) {
            return Err(input.malformed("header", format!("an array of {rank} dimensions")));
        }
        let mut sizes = Vec::new();
        for _ in 0..rank {
            sizes.push(u64::from(u32::from_be_bytes(input.read(file)?)));
        }
        let width =
            sizes[1..].iter().try_fold(1u64, |width, &size| width.checked_mul(size)).unwrap_or(u64::MAX);
        if width == 0 {
            return Err(input.malformed("header", "the rows are empty"));
        }
        if width > MAX_COLUMNS as u64 {
            return Err(input.unsupported(
                format!("rows of {width} numbers"),
                format!("at most {MAX_COLUMNS} are supported"),
            ));
        }
        Ok(Self { number, rows: sizes[0], width, sizes })
    }

    /// Bytes of a row.
    fn record(&self) -> usize {
        self.width as usize * self.number.size()
    }

    fn fixed_records(&self) -> FixedRecords {
        FixedRecords { start: 4 + 4 * self.sizes.len() as u64, record: self.record(), rows: self.rows }
    }

    /// Checks that the file is large enough for one row before creating its columns.
    fn check_row(&self, gzip: bool, input: &Input<'_>) -> Result<()> {
        input.check_shape(self.rows, self.width)?;
        let most = input.size.saturating_mul(if gzip { DEFLATE } else { 1 });
        if self.rows == 0 || self.width * self.number.size() as u64 <= most {
            return Ok(());
        }
        let why = format!("the header declares rows of {} numbers, more than the file holds", self.width);
        Err(input.malformed("cut short", why))
    }

    /// Reads the values of some records; `file` is positioned after the header.
    fn records(
        &self,
        mut file: impl Read,
        gzip: bool,
        input: &Input<'_>,
        wanted: &[u64],
    ) -> Result<Vec<Vec<Cell>>> {
        let number = self.number;
        let cells = |raw: &[u8]| {
            raw.chunks_exact(number.size())
                .map(|raw| number_cell(number.decode_one(Endian::Big, raw)))
                .collect()
        };
        if !gzip {
            return self.fixed_records().records(input, wanted, cells);
        }
        self.fixed_records().records_in(&mut file, &mut self.fixed_records().start, input, wanted, cells)
    }

    fn columns(&self, input: &Input<'_>) -> Vec<SheetColumn> {
        match self.sizes[..] {
            [_] if file_name(input).contains("label") => vec![SheetColumn::numeric("label".to_owned())],
            [_, height, width] => SheetColumn::pixels((height * width) as usize, width as usize, &[""]),
            _ => SheetColumn::elements(self.width as usize),
        }
    }
}

/// The path of the labels file, if it exists.
fn labels_path(input: &Input<'_>) -> Option<PathBuf> {
    candidates(&file_name(input))
        .into_iter()
        .map(|name| input.path.with_file_name(name))
        .find(|path| path.is_file())
}

/// Reads the labels file, if it exists and has one label per image.
fn companion_labels(input: &Input<'_>, rows: u64, skipped: &mut Vec<String>) -> Result<Option<Vec<f64>>> {
    let Some(path) = labels_path(input) else { return Ok(None) };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match read_labels(&path, rows, input.progress) {
        Err(FormatError::Cancelled) => Err(FormatError::Cancelled),
        Err(why) => {
            skipped.push(format!("the labels in {name} were not read: {}", why.reason()));
            Ok(None)
        }
        labels => labels.map(Some),
    }
}

fn read_labels(path: &Path, rows: u64, progress: &dyn Progress) -> Result<Vec<f64>> {
    let input = Input::new(path, progress)?;
    let mut file = unpacked::bytes(&input)?.0;
    let header = Header::read(&mut file, &input)?;
    if header.width != 1 || header.rows != rows {
        let why = format!("{rows} images but {} × {} labels", header.rows, header.width);
        return Err(input.malformed("label mismatch", why));
    }
    let mut values = Vec::new();
    header.fixed_records().visit(
        &mut file,
        |why| input.io(why),
        |_, bytes| {
            input.reserve(&mut values, bytes.len() / header.number.size())?;
            header.number.decode(Endian::Big, bytes, &mut values);
            Ok(())
        },
    )?;
    input.skip_rest(&mut file)?;
    Ok(values)
}

/// Possible names of the labels file: as published, compressed or not.
fn candidates(images: &str) -> Vec<PathBuf> {
    if !images.contains("images") {
        return Vec::new();
    }
    let labels = images.replace("images", "labels").replace("idx3", "idx1").replace("idx4", "idx1");
    let other = labels.strip_suffix(".gz").map_or_else(|| format!("{labels}.gz"), str::to_owned);
    vec![labels.into(), other.into()]
}

fn file_name(input: &Input<'_>) -> String {
    input.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn number(kind: u8) -> Option<NumberType> {
    Some(match kind {
        0x08 => NumberType::U8,
        0x09 => NumberType::I8,
        0x0b => NumberType::I16,
        0x0c => NumberType::I32,
        0x0d => NumberType::F32,
        0x0e => NumberType::F64,
        _ => return None,
    })
}
