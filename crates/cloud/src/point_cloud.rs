//! The point cloud: f32 coordinates with axes, record numbers and a fingerprint.

mod frame;
mod parts;
mod record_map;
mod statistics;
mod tiled;

use std::any::Any;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelIterator as _, IntoParallelRefIterator as _,
    IntoParallelRefMutIterator as _, ParallelIterator as _,
};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};
use serde::{Deserialize, Serialize};

use super::{CloudError, Coordinates, FileValue, MAX_ROWS, Source, UnusableRows, Values, memory, rounding};
use crate::formats::{FileStamp, FormatError, LongDecimal, LongDecimals};
use crate::rounding::{AxisRange, RoundingErrors};
use crate::table::{Real, with_values};
use crate::value::{MAX_DIGITS, decimal_places};
use frame::{CloudFrame, is_rounded};
pub use parts::CloudParts;
use record_map::RecordMap;
use statistics::BulkRanges;
pub use statistics::{Duplicates, bulk};
pub use tiled::TiledCloud;

/// One dimension of a cloud, in the file's own coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Name of the column.
    pub name: String,
    /// The value subtracted before rounding to f32: `file value = origin + local value`. 0 for most data.
    pub origin: f64,
    /// The smallest value of the column.
    pub min: f64,
    /// The largest value of the column.
    pub max: f64,
}

/// Below this, f64 represents every whole number exactly.
pub const MAX_EXACT: f64 = (1_u64 << 53) as f64;

/// Identifies a cloud by its content: 128 bits of BLAKE3 over the dimensions, origins and local coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub String);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// n finite points of d dimensions, as f32 relative to an origin per axis.
///
/// A *row* of the cloud is an index `0..n`; its *record* is its 0-based number in the file, which differs if
/// earlier rows were dropped.
#[derive(Clone, Debug)]
pub struct PointCloud {
    frame: Arc<CloudFrame>,
    /// n.
    rows: usize,
    /// n × d local coordinates, row-major.
    points: Vec<f32>,
    /// Data to restore the file's coordinates, if `origin + local` does not.
    exact: Option<RoundingErrors>,
    /// Decimals that [`Self::coordinate`] does not identify.
    long_decimals: LongDecimals,
    bulk: BulkRanges,
    /// The record of each row, if it is not the row's number.
    records: Option<RecordMap>,
}

impl PointCloud {
    /// Rounds coordinates to f32, relative to their own origins or those of `frame`. f32 values without an
    /// origin are moved, not copied. Otherwise peak memory is twelve bytes per coordinate; four or eight
    /// remain in use.
    ///
    /// # Errors
    /// [`CloudError::Empty`], [`CloudError::TooMany`], [`CloudError::TooLarge`], [`CloudError::Memory`],
    /// and [`CloudError::NonFinite`] unless `drop_nonfinite`.
    ///
    /// # Panics
    /// If `frame` has a different number of dimensions.
    pub fn from_table(
        coordinates: impl Into<Coordinates>,
        source: Source,
        frame: Option<&Self>,
        drop_nonfinite: bool,
    ) -> Result<Self, CloudError> {
        let Coordinates { columns, mut values, decimals, long_decimals } = coordinates.into();
        let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        let dims = names.len();
        let rows = values.len() / dims.max(1);
        check_rows(rows as u64, &source)?;
        let records = with_values!(&mut values, values => {
            let records = finite(values, &names, drop_nonfinite, &source)?;
            values.shrink_to_fit();
            records
        });
        let n = values.len() / dims.max(1);
        let dropped = (rows - n) as u64;
        if n == 0 {
            return Err(CloudError::Empty { dropped, origin: source.to_string() });
        }

        let spans = with_values!(&values, values => rounding::spans(values, dims));
        let axes = axes_of(&spans, names, |axis| {
            frame.map_or_else(|| spans[axis].origin(), |frame| frame.axes()[axis].origin)
        });
        let (points, exact) = localise(values, &axes, records.as_ref(), &source)?;
        let fingerprint = fingerprint(dims, &axes, &points);
        let long_decimals = match &records {
            Some(records) if !long_decimals.is_empty() => {
                long_decimals.moved((dims, dims), |record, axis| Some((records.row(record)? as u64, axis)))
            }
            _ => long_decimals,
        };
        let is_rounded = is_rounded(exact.as_ref(), &axes);
        let frame =
            CloudFrame { decimals, dropped, ..CloudFrame::new(axes, is_rounded, source, fingerprint) };
        let cloud = Self {
            rows: n,
            points,
            exact,
            long_decimals,
            bulk: BulkRanges::new(dims),
            records,
            frame: Arc::new(frame),
        };
        let decimal_places = cloud.common_decimal_places();
        Ok(cloud.with_frame(|frame| frame.decimal_places = decimal_places))
    }

    fn with_frame(mut self, change: impl FnOnce(&mut CloudFrame)) -> Self {
        change(Arc::make_mut(&mut self.frame));
        self
    }

    /// The number of points, n.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Always false: a cloud has at least one point.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of dimensions, d.
    pub fn dims(&self) -> usize {
        self.frame.axes.len()
    }

    /// n × d local coordinates, row-major: file values minus [`Axis::origin`].
    pub fn points(&self) -> &[f32] {
        &self.points
    }

    /// The d local coordinates of a row.
    pub fn point(&self, row: usize) -> &[f32] {
        &self.points[row * self.dims()..][..self.dims()]
    }

    /// The file's value of a row on an axis, in f64.
    pub fn coordinate(&self, row: usize, axis: usize) -> f64 {
        let at = row * self.dims() + axis;
        let rounded = self.frame.axes[axis].origin + f64::from(self.points[at]);
        self.exact.as_ref().map_or(rounded, |exact| exact.value(at, rounded))
    }

    /// The file's value of a row on an axis, exactly.
    pub fn value(&self, row: usize, axis: usize) -> FileValue {
        let index = row * self.dims() + axis;
        self.long_decimals.get(index).unwrap_or_else(|| {
            let value = self.coordinate(row, axis);
            if self.frame.decimals { FileValue::shortest_decimal(value) } else { FileValue::Binary(value) }
        })
    }

    /// Whether two rows have the same [`FileValue`]s.
    pub fn rows_are_equal(&self, a: usize, b: usize) -> bool {
        let same = |axis| {
            (self.exact.is_none() || self.coordinate(a, axis) == self.coordinate(b, axis))
                && (self.long_decimals.is_empty() || self.value(a, axis) == self.value(b, axis))
        };
        self.point(a) == self.point(b) && (0..self.dims()).all(same)
    }

    fn common_decimal_places(&self) -> Option<u32> {
        let usable = self.frame.decimals && self.long_decimals.is_empty();
        let of_row = |places: u32, row| {
            (0..self.dims()).try_fold(places, |most, axis| decimal_places(self.coordinate(row, axis), most))
        };
        let places = (0..if usable { self.len() } else { 0 }).into_par_iter();
        places.try_fold(|| 0, of_row).try_reduce(|| 0, |a, b| Some(a.max(b))).filter(|_| usable)
    }

    /// The largest number of decimal places of any value; `None` unless values are decimals of at most
    /// [`MAX_DIGITS`] places.
    pub fn decimal_places(&self) -> Option<u32> {
        self.frame.decimal_places
    }

    /// Whether all values have at most [`MAX_DIGITS`] digits with this number of decimal places.
    pub fn fits_decimal_places(&self, places: u32) -> bool {
        let limit = 10f64.powi(MAX_DIGITS as i32 - places as i32);
        self.frame.axes.iter().all(|axis| axis.min.abs().max(axis.max.abs()) <= limit)
    }

    /// Whether f64 may round the file's values, as it does decimals and large integers.
    pub fn exceeds_f64(&self) -> bool {
        self.frame.decimals || self.has_long_decimals()
    }

    /// Whether there are decimals or integers that [`Self::coordinate`] does not identify.
    pub fn has_long_decimals(&self) -> bool {
        !self.long_decimals.is_empty()
    }

    /// Axes that may have integers that f64 rounds and that reading did not find.
    pub(super) fn axes_of_large_integers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dims()).filter(|&axis| {
            let Axis { min, max, .. } = self.frame.axes[axis];
            // In columns with fractions, integers stay rounded.
            !self.frame.decimals
                && min.abs().max(max.abs()) >= MAX_EXACT
                && (0..self.len()).all(|row| self.coordinate(row, axis).fract() == 0.0)
        })
    }

    /// Stores integers that f64 rounds, by row and axis.
    #[must_use]
    pub(super) fn with_integers(self, integers: impl IntoIterator<Item = (usize, usize, FileValue)>) -> Self {
        let dims = self.dims();
        let decimal = |(row, axis, integer): (usize, usize, FileValue)| {
            LongDecimal::new(integer, (row * dims + axis) as u64)
        };
        Self { long_decimals: integers.into_iter().filter_map(decimal).collect(), ..self }
    }

    /// Whether some stored coordinates differ from the file's, relative to the origin.
    pub fn is_rounded(&self) -> bool {
        self.frame.is_rounded
    }

    /// Whether all stored coordinates are integers.
    pub fn is_whole(&self) -> bool {
        *self.frame.is_whole.get_or_init(|| self.points.par_iter().all(|value| value.trunc() == *value))
    }

    /// The dimensions, in order.
    pub fn axes(&self) -> &[Axis] {
        &self.frame.axes
    }

    /// The 0-based record number of a row in its file.
    pub fn record(&self, row: usize) -> u64 {
        self.records.as_ref().map_or(row as u64, |records| records.record(row))
    }

    /// The row with this record number; `None` if it was dropped or does not exist.
    pub fn row_of_record(&self, record: u64) -> Option<usize> {
        match &self.records {
            None => usize::try_from(record).ok().filter(|&row| row < self.len()),
            Some(records) => records.row(record),
        }
    }

    /// A copy of the cloud for display: the same rows with other coordinates and axis names. It is not
    /// searched.
    ///
    /// # Panics
    /// If the number of coordinates differs from the number of rows.
    pub fn with_coordinates<const N: usize>(&self, names: [String; N], coordinates: Vec<[f32; N]>) -> Self {
        assert_eq!(coordinates.len(), self.len(), "coordinates for every row");
        let nothing = [(f32::INFINITY, f32::NEG_INFINITY); N];
        let join = |a: [(f32, f32); N], b: [(f32, f32); N]| {
            std::array::from_fn(|at| (a[at].0.min(b[at].0), a[at].1.max(b[at].1)))
        };
        let spans = coordinates.par_chunks(1 << 14).map(|chunk| {
            chunk.iter().fold(nothing, |all, point| join(all, point.map(|value| (value, value))))
        });
        let spans = spans.reduce(|| nothing, join);
        let axis = |(name, (min, max)): (String, (f32, f32))| Axis {
            name,
            origin: 0.0,
            min: f64::from(min),
            max: f64::from(max),
        };
        let axes = names.into_iter().zip(spans).map(axis).collect();
        let frame = CloudFrame {
            dropped: self.dropped(),
            stamp: self.frame.stamp.clone(),
            copy: self.frame.copy.clone(),
            no_file: self.frame.no_file,
            ..CloudFrame::new(axes, false, self.source().clone(), self.fingerprint().clone())
        };
        Self {
            rows: coordinates.len(),
            points: coordinates.into_flattened(),
            exact: None,
            long_decimals: LongDecimals::default(),
            bulk: BulkRanges::new(N),
            records: self.records.clone(),
            frame: Arc::new(frame),
        }
    }

    /// Number of rows dropped for NaN or ±∞.
    pub fn dropped(&self) -> u64 {
        self.frame.dropped
    }

    /// The records that were dropped, as ascending ranges.
    pub fn dropped_records(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let total = self.len() as u64 + self.frame.dropped;
        self.records.iter().flat_map(move |records| records.missing(total))
    }

    /// Where the cloud came from.
    pub fn source(&self) -> &Source {
        &self.frame.source
    }

    /// Path for reading the file's other columns: the copy in a recording, or the source's own path, either
    /// with the name of a part. `None` for generated clouds and [without file](Self::without_file).
    pub fn file(&self) -> Option<&Path> {
        match (&self.frame.copy, &self.frame.source) {
            (Some((path, _)), _) => Some(path),
            (None, Source::File { path, .. }) if !self.frame.no_file => Some(path),
            (None, _) => None,
        }
    }

    /// Forbids opening the source's file.
    #[must_use]
    pub fn without_file(self) -> Self {
        self.with_frame(|frame| frame.no_file = true)
    }

    /// Records the state of the file before it was read.
    #[must_use]
    pub(super) fn with_stamp(self, stamp: Option<FileStamp>) -> Self {
        self.with_frame(|frame| frame.stamp = stamp)
    }

    /// Returns `read`, unless the file has changed since the points were read.
    ///
    /// # Errors
    /// [`FormatError::Outdated`], and the error of `read`.
    pub fn check_file<T>(&self, read: Result<T, FormatError>) -> Result<T, FormatError> {
        let Some(stamp) = &self.frame.stamp else { return read };
        stamp.check(read).map_err(|why| match why {
            FormatError::Changed { path } => FormatError::Outdated { path },
            why => why,
        })
    }

    /// Reads other columns from a copy of the file, which `guard` keeps alive.
    #[must_use]
    pub fn with_copy(self, path: PathBuf, guard: Arc<dyn Any + Send + Sync>) -> Self {
        self.with_frame(|frame| (frame.copy, frame.stamp) = (Some((path, guard)), None))
    }

    /// The hash of the content.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.frame.fingerprint
    }
}

/// Rejects or drops rows with NaN or ±∞; returns the remaining records if any were dropped.
fn finite<T: Real>(
    values: &mut Vec<T>,
    names: &[String],
    drop: bool,
    source: &Source,
) -> Result<Option<RecordMap>, CloudError> {
    let dims = names.len();
    let bad = values
        .par_chunks(rounding::chunk_len(dims.max(1)))
        .position_first(|chunk| chunk.iter().any(|value| !value.to_f64().is_finite()));
    let Some(chunk) = bad else { return Ok(None) };
    if !drop {
        let from = chunk * rounding::chunk_len(dims);
        let at = from + values[from..].iter().position(|value| !value.to_f64().is_finite()).unwrap_or(0);
        let (row, column, value) = ((at / dims) as u64, names[at % dims].clone(), values[at].to_f64());
        let unusable = Box::new(UnusableRows::find(values, names));
        return Err(CloudError::NonFinite {
            row,
            line: None,
            column,
            value,
            unusable,
            origin: source.to_string(),
        });
    }
    let mut kept = RecordMap::default();
    for from in 0..values.len() / dims {
        if values[from * dims..][..dims].iter().all(|value| value.to_f64().is_finite()) {
            values.copy_within(from * dims..(from + 1) * dims, kept.rows() * dims);
            kept.push(from as u32);
        }
    }
    values.truncate(kept.rows() * dims);
    Ok(Some(kept))
}

/// Local coordinates, and data to restore the originals if needed.
fn localise(
    values: Values,
    axes: &[Axis],
    records: Option<&RecordMap>,
    source: &Source,
) -> Result<(Vec<f32>, Option<RoundingErrors>), CloudError> {
    match values {
        // Without an origin, rounding is exact and no copy is needed.
        Values::F32(mut points) if axes.iter().all(|axis| axis.origin == 0.0) => {
            points.par_iter_mut().for_each(|local| *local = unsigned_zero(*local));
            Ok((points, None))
        }
        Values::F32(values) => {
            let mut wide: Vec<f64> = room(values.len(), source)?;
            wide.extend(values.into_iter().map(f64::from));
            round_to_f32(wide, axes, records, source)
        }
        Values::F64(values) => round_to_f32(values, axes, records, source),
    }
}

fn round_to_f32(
    values: Vec<f64>,
    axes: &[Axis],
    records: Option<&RecordMap>,
    source: &Source,
) -> Result<(Vec<f32>, Option<RoundingErrors>), CloudError> {
    let dims = axes.len();
    let mut points: Vec<f32> = room(values.len(), source)?;
    points.resize(values.len(), 0.0f32);
    let chunk = rounding::chunk_len(dims);
    let chunks = points.par_chunks_mut(chunk).zip(values.par_chunks(chunk)).map(|(points, values)| {
        let (mut faithful, mut finite, mut far) = (true, true, 0);
        for (point, row) in points.chunks_exact_mut(dims).zip(values.chunks_exact(dims)) {
            for ((local, &value), axis) in point.iter_mut().zip(row).zip(axes) {
                *local = unsigned_zero((value - axis.origin) as f32);
                let rounded = axis.origin + f64::from(*local);
                faithful &= rounded == value;
                finite &= local.is_finite();
                far += usize::from(rounding::ulps_between(value, rounded).is_none());
            }
        }
        (faithful, finite, far)
    });
    let (faithful, finite, far) =
        chunks.reduce(|| (true, true, 0), |one, other| (one.0 & other.0, one.1 & other.1, one.2 + other.2));
    if !finite && let Some(at) = points.iter().position(|local| !local.is_finite()) {
        let row = records.map_or((at / dims) as u64, |kept| kept.record(at / dims));
        let (column, value) = (axes[at % dims].name.clone(), values[at]);
        return Err(CloudError::TooLarge { row, line: None, column, value, origin: source.to_string() });
    }
    let exact = (!faithful)
        .then(|| RoundingErrors::new(values, far, |at| axes[at % dims].origin + f64::from(points[at])));
    Ok((points, exact))
}

/// Normalises -0.0 to 0.0, because equal points must have equal fingerprints.
fn unsigned_zero(local: f32) -> f32 {
    local + 0.0
}

fn check_rows(rows: u64, source: &Source) -> Result<(), CloudError> {
    if rows > u64::from(MAX_ROWS) {
        Err(CloudError::TooMany { rows, origin: source.to_string() })
    } else {
        Ok(())
    }
}

/// An empty vector with capacity for a number of coordinates.
fn room<T>(count: usize, source: &Source) -> Result<Vec<T>, CloudError> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    memory::room(count).ok_or_else(|| CloudError::Memory { bytes, origin: source.to_string() })
}

/// The axes of these ranges.
fn axes_of(spans: &[AxisRange], names: Vec<String>, origin: impl Fn(usize) -> f64) -> Vec<Axis> {
    let axis = |(at, (span, name)): (usize, (&AxisRange, String))| Axis {
        name,
        origin: origin(at),
        min: span.min,
        max: span.max,
    };
    spans.iter().zip(names).enumerate().map(axis).collect()
}

fn fingerprint(dims: usize, axes: &[Axis], points: &[f32]) -> Fingerprint {
    let mut hash = fingerprint_hasher(dims, axes);
    hash_points(&mut hash, points);
    finished(&hash)
}

fn fingerprint_hasher(dims: usize, axes: &[Axis]) -> blake3::Hasher {
    let mut hash = blake3::Hasher::new();
    hash.update(&(dims as u64).to_le_bytes());
    for axis in axes {
        hash.update(&axis.origin.to_le_bytes());
    }
    hash
}

fn hash_points(hash: &mut blake3::Hasher, points: &[f32]) {
    // Little-endian on every machine, so that fingerprints are portable.
    if cfg!(target_endian = "little") {
        hash.update_rayon(bytemuck::cast_slice(points));
    } else {
        for chunk in points.chunks(4096) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
            hash.update(&bytes);
        }
    }
}

fn finished(hash: &blake3::Hasher) -> Fingerprint {
    Fingerprint(hash.finalize().to_hex()[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_clouds_are_refused_with_their_size() {
        let source = Source::Generate { spec: "uniform".to_owned(), seed: 0 };
        assert!(check_rows(4_294_963_199, &source).is_ok());
        let message = check_rows(4_294_963_200, &source).unwrap_err().to_string();
        assert_eq!(message, "4294963200 rows: at most 4294963199 can be searched: uniform (seed 0)");
        assert!(room::<f32>(3, &source).unwrap().capacity() >= 3);
        let message = room::<f32>(1 << 61, &source).unwrap_err().to_string();
        assert_eq!(
            message,
            "not enough memory for 9223372036854775808 bytes of coordinates: uniform (seed 0)"
        );
    }
}
