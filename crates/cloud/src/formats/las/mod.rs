//! LAS and LAZ laser scans: x, y and z, as `raw × scale + offset` in f64, and the other fields on demand.
//!
//! Points are decoded directly from their records, whose extent is checked against the size of the file
//! first; layered files decode only the layers needed.

mod compressed;
mod fields;
mod times;

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use las::raw;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use super::blocks::{self, BlockLayout, fixed};
use super::limits::{BATCH_POINTS, MAX_POINTS_PER_BYTE};
use super::{
    ColumnRequest, ColumnStats, Crs, DeclaredCoordinates, FixedRecords, Input, RecordPicker, Records, Result,
    Sheet, SheetColumn, catch_panics, decoded, number_cell, read_bytes, whole,
};
use crate::ColumnChoice;
use crate::table::Values;
use fields::Field;

/// Points read at a time, fewer if they are long.
const BATCH: usize = 1 << 16;
/// Points that a thread decodes at a time.
const CHUNK: usize = 1 << 12;
/// Bytes of the header of LAS 1.4.
const HEADER_1_4: u16 = 375;
/// Bytes of a variable length record's header.
const VLR_HEADER: u64 = 54;

/// Bytes of an extended variable length record's header.
const EVLR_HEADER: u64 = 60;
/// User id of records that describe the coordinate system.
const PROJECTION: &[u8] = b"LASF_Projection";
/// Maximum number of records read after the points, and bytes read of one.
const EXTENDED: (u32, u64) = (1000, 1 << 20);

/// Minimum bytes per point of each format.
const MIN_RECORD: [usize; 11] = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];
/// Handles a batch of raw records, given the number of the first; returns false to stop.
type Take<'a> = dyn FnMut(u64, &[u8]) -> Result<bool> + Send + 'a;

/// All points.
const ALL: &[Range<u64>] = &[Range { start: 0, end: u64::MAX }];

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let layout = Layout::read(input)?;
    let mut columns = layout.columns();
    let declared = declare(&layout, &mut columns, input, request)?;
    let mut selected = request.resolve(&columns, input)?;
    let mut values: Vec<f64> = Vec::new();
    if matches!(request, ColumnRequest::Everything) {
        // Record only the ranges: all fields together are much larger than the coordinates.
        selected.clear();
        let mut ranges = vec![ColumnStats::default(); columns.len()];
        layout.visit(input, false, ALL, &mut |_, records| {
            layout.fields.par_iter().zip(&mut ranges).for_each(|(field, range)| {
                records.chunks_exact(layout.record).for_each(|record| range.add(field.value(record)));
            });
            Ok(true)
        })?;
        columns.iter_mut().zip(ranges).for_each(|(column, range)| column.range = Some(range));
    } else {
        if !layout.compressed {
            input.reserve_all(&mut values, layout.points, selected.len())?;
        }
        layout.visit(input, is_xyz(&selected), ALL, &mut |_, records| {
            input.reserve(&mut values, records.len() / layout.record * selected.len())?;
            layout.decode(records, &selected, &mut values);
            Ok(true)
        })?;
    }
    let crs = layout.crs.as_ref().map(|crs| format!(", {}", crs.about())).unwrap_or_default();
    let format = format!(
        "{} {}, point format {}{crs}",
        if layout.compressed { "LAZ" } else { "LAS" },
        layout.version,
        layout.point_format
    );
    let mut skipped = Vec::new();
    if layout.unused > 0 {
        skipped.push(format!("{} more descriptions of extra bytes were not read", layout.unused));
    }
    if [4, 5, 9, 10].contains(&layout.point_format) {
        skipped.push("wave packets were not read".to_owned());
    } else if layout.behind > 0 {
        skipped.push(format!("{} bytes after the points were not read", layout.behind));
    }
    if layout.compressed {
        // Ignore a damaged table: points can be read without it.
        skipped.extend(catch_panics(|| compressed::beyond(&layout, input)).ok().flatten());
    }
    Ok(Sheet { skipped, declared, ..Sheet::new(input, format, columns, selected, layout.points, values) })
}

/// Whether only x, y and z are selected.
fn is_xyz(selected: &[usize]) -> bool {
    selected.iter().all(|&at| at < 3)
}

/// The points; `None` if they are compressed without chunks.
pub(super) fn blocks(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Option<BlockLayout>> {
    let layout = Layout::read(input)?;
    let mut columns = layout.columns();
    let declared = declare(&layout, &mut columns, input, request)?;
    let buffer = if layout.compressed {
        let Ok(Some(buffer)) = catch_panics(|| compressed::chunk_bytes(&layout, input)) else {
            return Ok(None);
        };
        buffer
    } else {
        0
    };
    let (rows, record) = (layout.points, layout.record);
    let read: Box<blocks::ReadRows> = if layout.compressed {
        Box::new(move |input, rows, selected, values, appended| {
            layout.visit(input, is_xyz(selected), rows, &mut |start, records| {
                for part in blocks::parts(rows, start..start + (records.len() / record) as u64) {
                    layout.append(&records[part.start * record..part.end * record], selected, values);
                }
                appended(values)?;
                Ok(true)
            })
        })
    } else {
        let records = FixedRecords { start: layout.start, record, rows };
        let decode = move |records: &[u8], selected: &[usize], values: &mut Values| {
            layout.append(records, selected, values);
            Ok(())
        };
        fixed(records, Box::new(decode))
    };
    let (fits_f32, exceeds_f64) = (vec![false; columns.len()], vec![false; columns.len()]);
    Ok(Some(BlockLayout { rows, columns, declared, fits_f32, exceeds_f64, buffer, read }))
}

/// Applies the coordinate system: degrees become `longitude` and `latitude`, which are searched on the globe.
fn declare(
    layout: &Layout,
    columns: &mut [SheetColumn],
    input: &Input<'_>,
    request: &ColumnRequest<'_>,
) -> Result<Option<DeclaredCoordinates>> {
    let Some(crs) = &layout.crs else { return Ok(None) };
    if !layout.is_geographic() {
        if crs.geographic && matches!(request, ColumnRequest::Selected(ColumnChoice::Default)) {
            let why = "its angles are not degrees; reproject it, or choose columns: --columns x,y,z";
            return Err(input.unsupported(crs.about(), why));
        }
        return Ok(
            (!crs.geographic).then(|| DeclaredCoordinates { columns: vec![0, 1, 2], why: crs.about() })
        );
    }
    for (column, old) in columns.iter_mut().zip(["x", "y", "z"]) {
        column.alias = Some(old);
    }
    Ok(Some(DeclaredCoordinates {
        columns: vec![0, 1],
        why: format!("{} by its {}; heights are left out", crs.name, layout.crs_from),
    }))
}

/// Reads all fields of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let layout = Layout::read(input)?;
    input.check_records(wanted, layout.points)?;
    let columns = layout.fields.iter().map(|field| field.name.clone()).collect();
    let cells = |raw: &[u8]| layout.fields.iter().map(|field| number_cell(field.value(raw))).collect();
    if !layout.compressed {
        let fixed = FixedRecords { start: layout.start, record: layout.record, rows: layout.points };
        return Ok(Records { columns, rows: fixed.records(input, wanted, cells)? });
    }
    let mut picked = RecordPicker::new(wanted);
    let after = picked.end();
    let rows: Vec<Range<u64>> = picked.found.keys().map(|&record| record..record + 1).collect();
    layout.visit(input, false, &rows, &mut |start, records| {
        let end = start + (records.len() / layout.record) as u64;
        for (record, row) in picked.found.range_mut(start..end) {
            *row = cells(&records[(record - start) as usize * layout.record..][..layout.record]);
        }
        Ok(after > end)
    })?;
    Ok(picked.into_records(columns))
}

/// The location of the points and the encoding of their fields.
#[derive(Default)]
struct Layout {
    version: String,
    point_format: u8,
    compressed: bool,
    /// Byte offset of the first point.
    start: u64,
    points: u64,
    /// Number of unknown bytes after the points, if the points are not compressed.
    behind: u64,
    /// Bytes of a point's record.
    record: usize,
    /// The fields of a record, x, y and z first.
    fields: Vec<Field>,
    /// Number of extra-bytes descriptions beyond the first.
    unused: u32,
    /// The content of the VLR that describes the compression.
    laszip: Option<Vec<u8>>,
    crs: Option<Crs>,
    /// Source of the system: `GeoKeys` or `WKT`.
    crs_from: &'static str,
}

impl Layout {
    fn read(input: &Input<'_>) -> Result<Self> {
        let mut file = input.open()?;
        let bad = |why: String| input.malformed("LAS header", why);
        let decode = |why: las::Error| match why {
            las::Error::Io(why) => input.io(why),
            why => bad(why.to_string()),
        };
        let mut begin: [u8; 96] = input.read(&mut file)?;
        let version = format!("{}.{}", begin[24], begin[25]);
        // Headers of later versions begin like the header of 1.4.
        if begin[25] > 4 && u16::from_le_bytes([begin[94], begin[95]]) >= HEADER_1_4 {
            begin[25] = 4;
        }
        let header = raw::Header::read_from(begin.chain(&mut file)).map_err(decode)?;
        // The older count may be 0, or too small for all points.
        let points = header.large_file.map_or(0, |large| large.number_of_point_records);
        let points = if points == 0 { header.number_of_point_records.into() } else { points };
        // The two highest bits mark compression: LASzip sets one, an old draft both.
        let (point_format, compressed) =
            (header.point_data_record_format & 0x3f, header.point_data_record_format & 0xc0 != 0);
        let least = *MIN_RECORD.get(usize::from(point_format)).ok_or_else(|| {
            input.unsupported(format!("point format {point_format}"), "must be between 0 and 10")
        })?;
        let record = usize::from(header.point_data_record_length);
        if record < least {
            return Err(bad(format!(
                "a point of format {point_format} needs {least} bytes, but a record has {record}"
            )));
        }
        let start = u64::from(header.offset_to_point_data);
        if start > input.size || start < u64::from(header.header_size) {
            return Err(bad(format!("the points begin at byte {start} of {}", input.size)));
        }
        let scale = [header.x_scale_factor, header.y_scale_factor, header.z_scale_factor];
        let offset = [header.x_offset, header.y_offset, header.z_offset];
        if scale.iter().chain(&offset).any(|value| !value.is_finite()) {
            return Err(bad("a scale or offset is not finite".to_owned()));
        }
        let bytes = input.size - start;
        if !compressed && points.saturating_mul(record as u64) > bytes {
            return Err(input.malformed(
                "cut short",
                format!("the header declares {points} points, but the file has {}", bytes / record as u64),
            ));
        }
        if compressed && points / MAX_POINTS_PER_BYTE > bytes {
            return Err(bad(format!("{points} points cannot fit in {bytes} bytes")));
        }

        let mut laszip = None;
        let mut fields = fields::of_format(point_format, scale, offset);
        let mut described = 0u32;
        let (mut wkt, mut keys, mut texts) = (None, Vec::new(), Vec::new());
        let mut at = u64::from(header.header_size);
        // Seek once and read the records in sequence: a seek discards the buffer, which costs far more than
        // an empty record.
        file.seek(SeekFrom::Start(at)).map_err(|why| input.io(why))?;
        for _ in 0..header.number_of_variable_length_records {
            if at + VLR_HEADER > start {
                break;
            }
            let vlr = raw::Vlr::read_from(&mut file, false).map_err(decode)?;
            at += VLR_HEADER + vlr.data.len() as u64;
            if compressed
                && laszip.is_none()
                && vlr.user_id.starts_with(laz::LazVlr::USER_ID.as_bytes())
                && vlr.record_id == laz::LazVlr::RECORD_ID
            {
                laszip = Some(vlr.data);
            } else if vlr.user_id.starts_with(b"LASF_Spec") && vlr.record_id == 4 {
                // Use only the first description; others would give the same bytes different names.
                if described == 0 {
                    fields.extend(fields::extra(&vlr.data, least, record));
                }
                described += 1;
            } else if vlr.user_id.starts_with(PROJECTION) {
                match vlr.record_id {
                    2112 => wkt = Some(vlr.data),
                    34735 => keys = vlr.data,
                    34737 => texts = vlr.data,
                    _ => {}
                }
            }
        }
        if let Some(evlr) = header.evlr.filter(|_| wkt.is_none()) {
            wkt = wkt_after(&mut file, evlr, input)?;
        }
        // Extended records may follow the points.
        let points_end = start.saturating_add(points.saturating_mul(record as u64));
        let end = header
            .evlr
            .map(|evlr| evlr.start_of_first_evlr)
            .filter(|&first| (points_end..=input.size).contains(&first));
        let behind = if compressed { 0 } else { end.unwrap_or(input.size).saturating_sub(points_end) };
        let (mut crs_from, mut crs) =
            ("WKT", wkt.as_deref().and_then(|text| Crs::of_wkt(&String::from_utf8_lossy(text))));
        if crs.is_none() {
            (crs_from, crs) = ("GeoKeys", Crs::of_keys(&keys, &texts));
        }
        let unused = described.saturating_sub(1);
        let mut layout = Self {
            version,
            point_format,
            compressed,
            start,
            points,
            behind,
            record,
            fields,
            unused,
            laszip,
            crs,
            crs_from,
        };
        // A wrong declaration must not turn metres into degrees.
        let are_degrees = [header.min_x, header.max_x].iter().all(|x| x.abs() <= 360.0)
            && [header.min_y, header.max_y].iter().all(|y| y.abs() <= 90.0);
        if let Some(crs) = layout.crs.as_mut().filter(|crs| crs.geographic && !are_degrees) {
            crs.geographic = false;
            crs.name += ", but not in degrees";
            crs.unit.clear();
        }
        if layout.is_geographic() {
            layout
                .fields
                .iter_mut()
                .zip(["longitude", "latitude", "height"])
                .for_each(|(field, name)| name.clone_into(&mut field.name));
        }
        Ok(layout)
    }

    /// Whether x and y are degrees of longitude and latitude.
    fn is_geographic(&self) -> bool {
        self.crs.as_ref().is_some_and(|crs| crs.geographic && matches!(crs.unit.as_str(), "" | "degrees"))
    }

    fn columns(&self) -> Vec<SheetColumn> {
        self.fields.iter().map(|field| SheetColumn::numeric(field.name.clone())).collect()
    }

    /// Number of points read at a time.
    fn batch(&self) -> usize {
        (BATCH_POINTS / self.record).clamp(1, BATCH)
    }

    /// Appends the selected fields of raw records to `values`, whose capacity suffices.
    fn decode(&self, records: &[u8], selected: &[usize], values: &mut Vec<f64>) {
        let width = selected.len();
        if width == 0 {
            return;
        }
        let start = values.len();
        values.resize(start + records.len() / self.record * width, 0.0);
        let fields: Vec<&Field> = selected.iter().map(|&at| &self.fields[at]).collect();
        let chunks =
            values[start..].par_chunks_mut(CHUNK * width).zip(records.par_chunks(CHUNK * self.record));
        chunks.for_each(|(values, records)| {
            let rows = values.chunks_exact_mut(width).zip(records.chunks_exact(self.record));
            if let [0, 1, 2] = selected {
                rows.for_each(|(row, record)| {
                    row.iter_mut().zip(&fields).for_each(|(value, field)| *value = field.coordinate(record))
                });
            } else {
                rows.for_each(|(row, record)| {
                    row.iter_mut().zip(&fields).for_each(|(value, field)| *value = field.value(record))
                });
            }
        });
    }

    /// As [`Self::decode`], for values of either type.
    fn append(&self, records: &[u8], selected: &[usize], values: &mut Values) {
        if let Values::F64(values) = values {
            self.decode(records, selected, values);
        }
    }

    /// Passes raw records to `take` in batches. `xyz_only`: only x, y and z are needed. Records that are not
    /// in `rows`, which are ascending ranges, may be skipped.
    fn visit(
        &self,
        input: &Input<'_>,
        xyz_only: bool,
        rows: &[Range<u64>],
        take: &mut Take<'_>,
    ) -> Result<()> {
        if self.compressed {
            return decoded("compressed points", input, || {
                compressed::visit(self, xyz_only, rows, input, take)
            });
        }
        let mut file = input.open()?;
        file.seek(SeekFrom::Start(self.start)).map_err(|why| input.io(why))?;
        let batch = self.batch();
        let mut records = vec![0; batch * self.record];
        let mut left = self.points;
        while left > 0 {
            let count = left.min(batch as u64) as usize;
            let records = &mut records[..count * self.record];
            file.read_exact(records).map_err(|why| input.io(why))?;
            if !take(self.points - left, records)? {
                return Ok(());
            }
            left -= count as u64;
        }
        Ok(())
    }
}

/// The well-known text among the records after the points.
fn wkt_after(
    file: &mut (impl Read + Seek),
    evlr: raw::header::Evlr,
    input: &Input<'_>,
) -> Result<Option<Vec<u8>>> {
    let mut at = evlr.start_of_first_evlr;
    for _ in 0..evlr.number_of_evlrs.min(EXTENDED.0) {
        if at.saturating_add(EVLR_HEADER) > input.size {
            break;
        }
        file.seek(SeekFrom::Start(at)).map_err(|why| input.io(why))?;
        let head: [u8; EVLR_HEADER as usize] = input.read(file)?;
        let length = whole(&head[20..28]);
        at = at.saturating_add(EVLR_HEADER).saturating_add(length);
        if head[2..].starts_with(PROJECTION)
            && head[18..20] == 2112u16.to_le_bytes()
            && length <= EXTENDED.1
            && at <= input.size
        {
            return read_bytes(file, length).map(Some).map_err(|why| input.io(why));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_sizes_are_limited_in_bytes() {
        let batch = |record| Layout { record, ..Layout::default() }.batch();
        assert_eq!((batch(20), batch(256), batch(257), batch(65_535)), (BATCH, BATCH, 65_280, 256));
    }
}
