//! LAS and LAZ laser scans: x, y and z, as `raw × scale + offset` in f64.
//!
//! The points are read from their records directly: a record is checked against the size of the file before anything is
//! made of it, and no more of a point is decoded than its place.

mod compressed;

use std::io::{Read, Seek, SeekFrom};

use las::raw;

use super::FormatError;
use super::contain::contained;
use super::input::Input;
use super::sheet::{Sheet, SheetColumn, Want};

/// Points that are decoded at a time.
const BATCH: usize = 8192;
/// A variable length record's own header.
const VLR_HEADER: u64 = 54;
/// More points than this in a byte of compressed data are a lie, or one point over and over: a point that differs from the
/// one before it takes bits, and real scans have less than one in a byte.
const MAX_POINTS_PER_BYTE: u64 = 64;

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let columns: Vec<SheetColumn> = ["x", "y", "z"].map(|name| SheetColumn::numeric(name.to_owned())).into();
    let kept = want.resolve(&columns, input)?;
    let layout = Layout::read(input)?;
    let values = if layout.compressed {
        contained(|| compressed::read(&layout, &kept, input))
            .map_err(|why| input.malformed("compressed points", format!("they cannot be decoded ({why})")))??
    } else {
        read_plain(&layout, &kept, input)?
    };
    let format = format!("{} {}, point format {}", if layout.compressed { "LAZ" } else { "LAS" }, layout.version, layout.point_format);
    let skipped = vec!["everything but x, y and z of a point was not read".to_owned()];
    Ok(Sheet { path: input.path().to_owned(), format, columns, kept, rows: layout.points, values, skipped })
}

/// Where the points are and what their numbers mean.
struct Layout {
    version: String,
    point_format: u8,
    compressed: bool,
    /// The first byte of the points.
    start: u64,
    points: u64,
    /// Bytes of a point.
    record: usize,
    scale: [f64; 3],
    offset: [f64; 3],
    /// The content of the VLR that says how points are compressed.
    laszip: Option<Vec<u8>>,
}

impl Layout {
    fn read(input: &Input<'_>) -> Result<Self, FormatError> {
        let mut file = input.open()?;
        let bad = |why: String| input.malformed("LAS header", why);
        let decode = |why: las::Error| match why {
            las::Error::Io(why) => input.io(why),
            why => bad(why.to_string()),
        };
        let header = raw::Header::read_from(&mut file).map_err(decode)?;
        let large = header.large_file.map_or(0, |large| large.number_of_point_records);
        let points = if header.number_of_point_records == 0 { large } else { header.number_of_point_records.into() };
        // The two highest bits say "compressed": one in LASzip's own files, both in an old draft.
        let (point_format, compressed) = (header.point_data_record_format & 0x3f, header.point_data_record_format & 0xc0 != 0);
        let least = *[20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67]
            .get(usize::from(point_format))
            .ok_or_else(|| input.unsupported(format!("point format {point_format}"), "there are 0 to 10"))?;
        let record = usize::from(header.point_data_record_length);
        if record < least {
            return Err(bad(format!("a point of format {point_format} takes {least} bytes, not {record}")));
        }
        let start = u64::from(header.offset_to_point_data);
        if start > input.size() || start < u64::from(header.header_size) {
            return Err(bad(format!("the points begin at byte {start} of {}", input.size())));
        }
        let scale = [header.x_scale_factor, header.y_scale_factor, header.z_scale_factor];
        let offset = [header.x_offset, header.y_offset, header.z_offset];
        if scale.iter().chain(&offset).any(|value| !value.is_finite()) {
            return Err(bad("a scale or offset is not finite".to_owned()));
        }
        let bytes = input.size() - start;
        if !compressed && points.saturating_mul(record as u64) > bytes {
            return Err(input.malformed("cut short", format!("the header promises {points} points and there are {}", bytes / record as u64)));
        }
        if compressed && points / MAX_POINTS_PER_BYTE > bytes {
            return Err(bad(format!("{points} points cannot be in {bytes} bytes")));
        }

        let mut laszip = None;
        let mut at = u64::from(header.header_size);
        for _ in 0..header.number_of_variable_length_records {
            if !compressed || laszip.is_some() || at + VLR_HEADER > start {
                break;
            }
            file.seek(SeekFrom::Start(at)).map_err(|why| input.io(why))?;
            let vlr = raw::Vlr::read_from(&mut file, false).map_err(decode)?;
            at += VLR_HEADER + vlr.data.len() as u64;
            if vlr.user_id.starts_with(laz::LazVlr::USER_ID.as_bytes()) && vlr.record_id == laz::LazVlr::RECORD_ID {
                laszip = Some(vlr.data);
            }
        }
        let version = format!("{}.{}", header.version.major, header.version.minor);
        Ok(Self { version, point_format, compressed, start, points, record, scale, offset, laszip })
    }

    /// Appends the kept coordinates of raw records.
    fn place(&self, records: &[u8], kept: &[usize], values: &mut Vec<f64>, input: &Input<'_>) -> Result<(), FormatError> {
        input.reserve(values, records.len() / self.record * kept.len())?;
        for record in records.chunks_exact(self.record) {
            for &axis in kept {
                let mut raw = [0; 4];
                raw.copy_from_slice(&record[4 * axis..4 * axis + 4]);
                values.push(f64::from(i32::from_le_bytes(raw)) * self.scale[axis] + self.offset[axis]);
            }
        }
        Ok(())
    }
}

fn read_plain(layout: &Layout, kept: &[usize], input: &Input<'_>) -> Result<Vec<f64>, FormatError> {
    let mut file = input.open()?;
    file.seek(SeekFrom::Start(layout.start)).map_err(|why| input.io(why))?;
    let mut values = Vec::new();
    let mut records = vec![0; BATCH * layout.record];
    let mut left = layout.points;
    while left > 0 {
        let count = left.min(BATCH as u64) as usize;
        let records = &mut records[..count * layout.record];
        file.read_exact(records).map_err(|why| input.io(why))?;
        layout.place(records, kept, &mut values, input)?;
        left -= count as u64;
    }
    Ok(values)
}
