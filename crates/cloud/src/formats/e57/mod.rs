//! E57 laser scans: x, y and z of one scan, in the frame of the file, and the other attributes of its points.
//!
//! Spherical coordinates are converted to Cartesian, and the scan's pose is applied. Invalid points, and
//! points with only a direction, are rows of NaN. Each scan of a file is a [`DatasetInfo`].

mod check;

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use ::e57::{E57Reader, PointCloud, RecordDataType, RecordName, RecordValue, Transform};

use super::datasets::{self, DatasetInfo};
use super::limits::MAX_E57_ATTRIBUTES;
use super::{
    ColumnRequest, Crs, FormatError, Input, ProgressReader, RecordPicker, Records, Result, Sheet,
    SheetColumn, decoded, number_cell, printable, whole,
};

/// Approximate memory per byte of XML.
const XML: u64 = 8;

/// Rejects a file that does not end with a whole page. The decoder would always report it as truncated.
fn check_pages(input: &Input<'_>) -> Result<()> {
    let behind = input.size % check::PAGE;
    if behind == 0 {
        return Ok(());
    }
    let why = format!(
        "{behind} bytes follow the last page of {} bytes: the file is truncated, or data was appended",
        check::PAGE
    );
    Err(input.malformed("E57", why))
}

/// Lists the scans of a file.
pub(super) fn datasets(input: &Input<'_>) -> Result<Vec<DatasetInfo>> {
    Ok(list(&decoded("E57", input, || Ok(open(input)?.pointclouds()))?))
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    decoded("E57", input, || {
        let mut file = open(input)?;
        let scans = file.pointclouds();
        let (scan, name) = choose(&scans, input)?;
        let cells = ScanColumn::list(scan, input)?;
        let columns: Vec<SheetColumn> =
            cells.iter().map(|cell| SheetColumn::numeric(cell.name.clone())).collect();
        let selected = request.resolve(&columns, input)?;
        let queued = check::claim(scan, input)?;
        let mut values = Vec::new();
        let read = visit(&mut file, scan, u64::MAX, input, |_, point| {
            let position = position_of(scan, point);
            input.reserve(&mut values, selected.len())?;
            values.extend(selected.iter().map(|&at| cells[at].value(scan, point, &position)));
            Ok(())
        })?;
        input.release(queued);
        if read != scan.records {
            return Err(input.malformed(
                "cut short",
                format!("the header declares {} points, but the file has {read}", scan.records),
            ));
        }
        let kind = if scan.has_cartesian() { "" } else { ", spherical" };
        let transformed = if scan.transform.is_some() { ", placed by its pose" } else { "" };
        let crs = file
            .coordinate_metadata()
            .and_then(Crs::of_wkt)
            .map(|crs| format!(", {}", crs.about()))
            .unwrap_or_default();
        let format = format!("E57, scan `{}`{kind}{transformed}{crs}", printable(&name));
        Ok(Sheet::new(input, format, columns, selected, scan.records, values))
    })
}

/// Reads all columns of some points, without holding others.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    decoded("E57", input, || {
        let mut file = open(input)?;
        let scans = file.pointclouds();
        let scan = choose(&scans, input)?.0;
        input.check_records(wanted, scan.records)?;
        let cells = ScanColumn::list(scan, input)?;
        let mut picked = RecordPicker::new(wanted);
        check::claim(scan, input)?;
        visit(&mut file, scan, picked.end(), input, |at, point| {
            picked.offer(at, || {
                let position = position_of(scan, point);
                cells.iter().map(|cell| number_cell(cell.value(scan, point, &position))).collect()
            });
            Ok(())
        })?;
        Ok(picked.into_records(cells.iter().map(|cell| printable(&cell.name)).collect()))
    })
}

/// Passes at most the first `end` points of a scan to `take`; returns their number.
fn visit(
    file: &mut E57Reader<NearSeekReader<'_>>,
    scan: &PointCloud,
    end: u64,
    input: &Input<'_>,
    mut take: impl FnMut(u64, &[RecordValue]) -> Result<()>,
) -> Result<u64> {
    let mut read = 0;
    for (at, point) in (0..end).zip(file.pointcloud_raw(scan).map_err(|why| error(why, input))?) {
        take(at, &point.map_err(|why| error(why, input))?)?;
        read = at + 1;
        if at % 4096 == 0 {
            input.check()?;
        }
    }
    Ok(read)
}

/// The selected scan, checked against the size of the file, and its name.
fn choose<'s>(scans: &'s [PointCloud], input: &Input<'_>) -> Result<(&'s PointCloud, String)> {
    if scans.is_empty() {
        return Err(input.malformed("no scans", "the file has no points, perhaps only images"));
    }
    let mut datasets = list(scans);
    let chosen = datasets::choose(&datasets, input)?;
    check_scan(&scans[chosen], input)?;
    Ok((&scans[chosen], datasets.swap_remove(chosen).name))
}

fn open<'a>(input: &Input<'a>) -> Result<E57Reader<NearSeekReader<'a>>> {
    let mut file = NearSeekReader { file: input.open()?, at: 0 };
    // The decoder allocates memory for the XML before reading it; its offset and length are at bytes 24 and
    // 32.
    let header: [u8; 48] = input.read(&mut file)?;
    let number = |at: usize| whole(&header[at..at + 8]);
    let end = number(24).saturating_add(number(32));
    if end > input.size {
        return Err(input.malformed(
            "cut short",
            format!("the description of the scans ends at byte {end} of {}", input.size),
        ));
    }
    check_pages(input)?;
    input.claim(number(32).saturating_mul(XML), "the description of the scans")?;
    // If it cannot be read, the decoder reports why.
    if let Ok(text) = E57Reader::raw_xml(&mut file) {
        check::xml(&text).map_err(|why| input.unsupported("description of the scans", why))?;
    }
    file.seek(SeekFrom::Start(0)).map_err(|why| input.io(why))?;
    E57Reader::new(file).map_err(|why| error(why, input))
}

fn error(why: ::e57::Error, input: &Input<'_>) -> FormatError {
    if input.progress.cancelled() {
        return FormatError::Cancelled;
    }
    let text = why.to_string();
    let text = ["Invalid E57 content: ", "Failed to read E57: ", "Internal error: "]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(&text);
    match why {
        ::e57::Error::NotImplemented { desc } => {
            input.unsupported("E57", format!("{desc}; convert it to LAS or PLY"))
        }
        _ => input.malformed("E57", text),
    }
}

/// The scans as datasets with distinct names.
fn list(scans: &[PointCloud]) -> Vec<DatasetInfo> {
    let mut datasets: Vec<DatasetInfo> = Vec::new();
    let mut names = HashSet::new();
    for (at, scan) in scans.iter().enumerate() {
        let given = scan.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let taken = given.is_some_and(|name| names.contains(name));
        let name = match given {
            Some(name) if !taken => name.to_owned(),
            Some(name) => format!("{name} #{at}"),
            None => format!("scan {at}"),
        };
        names.insert(name.clone());
        let about = if scan.has_cartesian() { "Cartesian" } else { "spherical" };
        let columns = 3 + ScanColumn::attributes(scan).count() as u64;
        datasets.push(DatasetInfo::new(name, scan.records, columns, true, about));
    }
    datasets
}

/// Checks the header's declarations against the file size. Constant values have no bits, so a scan with only
/// such attributes would give points without end.
fn check_scan(scan: &PointCloud, input: &Input<'_>) -> Result<()> {
    if scan.prototype.len() > MAX_E57_ATTRIBUTES {
        let why = format!("at most {MAX_E57_ATTRIBUTES} are supported; convert it to LAS or PLY");
        return Err(input.unsupported(format!("{} attributes of a point", scan.prototype.len()), why));
    }
    let bits: u64 = scan.prototype.iter().map(|record| bits(&record.data_type)).sum();
    if bits == 0 && scan.records > 0 {
        return Err(input.unsupported("points that are all the same", "the scan stores only constants"));
    }
    if scan.records.saturating_mul(bits) > input.size.saturating_mul(8) {
        return Err(input.malformed(
            "cut short",
            format!("the file is too small for the declared {} points", scan.records),
        ));
    }
    Ok(())
}

/// Size of a value in the file, in bits.
fn bits(kind: &RecordDataType) -> u64 {
    match kind {
        RecordDataType::Single { .. } => 32,
        RecordDataType::Double { .. } => 64,
        RecordDataType::ScaledInteger { min, max, .. } | RecordDataType::Integer { min, max } => {
            let range = (i128::from(*max) - i128::from(*min)).max(0);
            u64::from(128 - range.leading_zeros())
        }
    }
}

/// A column of the sheet and the attributes it is read from.
struct ScanColumn {
    name: String,
    from: Origin,
}

/// The source of a column's values.
enum Origin {
    /// Coordinate x, y or z, as an index.
    Axis(usize),
    /// An attribute, unless its `invalid` attribute is set.
    Attribute { at: usize, invalid: Option<usize> },
}

impl ScanColumn {
    fn list(scan: &PointCloud, input: &Input<'_>) -> Result<Vec<Self>> {
        if !scan.has_cartesian() && !scan.has_spherical() {
            return Err(
                input.malformed("no coordinates", "the scan has neither Cartesian nor spherical ones")
            );
        }
        let axis = |(axis, name): (usize, &&str)| Self { name: (*name).to_owned(), from: Origin::Axis(axis) };
        Ok(["x", "y", "z"].iter().enumerate().map(axis).chain(Self::attributes(scan)).collect())
    }

    /// The attributes of a point other than its coordinates.
    fn attributes(scan: &PointCloud) -> impl Iterator<Item = Self> {
        scan.prototype.iter().enumerate().filter_map(|(at, record)| {
            let (name, flag) = match &record.name {
                RecordName::Intensity => ("intensity", Some(RecordName::IsIntensityInvalid)),
                RecordName::ColorRed => ("red", Some(RecordName::IsColorInvalid)),
                RecordName::ColorGreen => ("green", Some(RecordName::IsColorInvalid)),
                RecordName::ColorBlue => ("blue", Some(RecordName::IsColorInvalid)),
                RecordName::RowIndex => ("row", None),
                RecordName::ColumnIndex => ("column", None),
                RecordName::ReturnCount => ("return_count", None),
                RecordName::ReturnIndex => ("return_index", None),
                RecordName::TimeStamp => ("time", Some(RecordName::IsTimeStampInvalid)),
                RecordName::Unknown { name, .. } => (name.as_str(), None),
                _ => return None,
            };
            let invalid = flag.and_then(|flag| index(scan, &flag));
            Some(Self { name: name.to_owned(), from: Origin::Attribute { at, invalid } })
        })
    }

    fn value(&self, scan: &PointCloud, point: &[RecordValue], position: &[f64; 3]) -> f64 {
        match self.from {
            Origin::Axis(axis) => position[axis],
            Origin::Attribute { invalid: Some(flag), .. } if number(scan, point, flag) != 0.0 => f64::NAN,
            Origin::Attribute { at, .. } => number(scan, point, at),
        }
    }
}

fn index(scan: &PointCloud, name: &RecordName) -> Option<usize> {
    scan.prototype.iter().position(|record| record.name == *name)
}

fn number(scan: &PointCloud, point: &[RecordValue], at: usize) -> f64 {
    point[at].to_f64(&scan.prototype[at].data_type).unwrap_or(f64::NAN)
}

/// A point's coordinates in the frame of the file; NaN if unknown.
fn position_of(scan: &PointCloud, point: &[RecordValue]) -> [f64; 3] {
    let value = |name: &RecordName| index(scan, name).map(|at| number(scan, point, at));
    let (names, state) = if scan.has_cartesian() {
        (
            [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ],
            RecordName::CartesianInvalidState,
        )
    } else {
        (
            [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation],
            RecordName::SphericalInvalidState,
        )
    };
    if value(&state).is_some_and(|state| state != 0.0) {
        return [f64::NAN; 3];
    }
    let [a, b, c] = names.map(|name| value(&name).unwrap_or(f64::NAN));
    let local = if scan.has_cartesian() {
        [a, b, c]
    } else {
        [a * c.cos() * b.cos(), a * c.cos() * b.sin(), a * c.sin()]
    };
    scan.transform.as_ref().map_or(local, |pose| transformed(pose, local))
}

/// Rotates a point by the quaternion (w, v), p + 2v × (v × p + w·p), and translates it.
fn transformed(Transform { rotation, translation }: &Transform, point: [f64; 3]) -> [f64; 3] {
    let axis = [rotation.x, rotation.y, rotation.z];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let inner = cross(axis, point);
    let turn = cross(axis, [0, 1, 2].map(|at| inner[at] + rotation.w * point[at]));
    let shift = [translation.x, translation.y, translation.z];
    [0, 1, 2].map(|at| point[at] + 2.0 * turn[at] + shift[at])
}

/// A file with a buffer that survives short seeks: the decoder seeks before each page of a kilobyte.
struct NearSeekReader<'a> {
    file: BufReader<ProgressReader<'a>>,
    at: u64,
}

impl Read for NearSeekReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for NearSeekReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(to) if to <= i64::MAX as u64 => {
                self.file.seek_relative(to as i64 - self.at as i64)?;
                self.at = to;
            }
            to => self.at = self.file.seek(to)?,
        }
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use ::e57::Record;

    #[test]
    fn declared_sizes_are_checked_against_the_file_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [0; 100]).unwrap();
        let input = Input::new(file.path(), &NoProgress).unwrap();
        let error = |attributes: usize, max: i64, records: u64| {
            let mut scan = PointCloud::default();
            let data_type = RecordDataType::Integer { min: 5, max };
            scan.prototype = vec![Record { name: RecordName::RowIndex, data_type }; attributes];
            scan.records = records;
            check_scan(&scan, &input).err().map(|why| why.reason()).unwrap_or_default()
        };
        // 100 bytes are 800 bits.
        assert_eq!(error(2, 6, 400), "");
        assert_eq!(error(2, 6, 401), "cut short: the file is too small for the declared 401 points");
        assert_eq!(
            error(64, i64::MAX, u64::MAX),
            format!("cut short: the file is too small for the declared {} points", u64::MAX)
        );
        // Values without bits could be repeated without end.
        assert_eq!(error(3, 5, 1), "points that are all the same: the scan stores only constants");
        assert_eq!(error(0, 5, 1), "points that are all the same: the scan stores only constants");
        assert_eq!(error(3, 5, 0), "");
        assert_eq!(
            error(65, 6, 1),
            "65 attributes of a point: at most 64 are supported; convert it to LAS or PLY"
        );
    }
}
