//! Clouds whose rows stay in their file. A tile is a [`PointCloud`] of some rows with the frame of all.

use std::ops::Range;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::{
    Axis, BulkRanges, CloudFrame, MAX_EXACT, PointCloud, RecordMap, axes_of, check_rows, fingerprint_hasher,
    finished, hash_points, is_rounded, localise,
};
use crate::formats::{FormatError, LongDecimals, RowBlocks};
use crate::progress::Progress;
use crate::rounding::{self, AxisRange};
use crate::table::{Values, with_values};
use crate::{CloudError, Source, UnusableRows};

/// Bytes of values that are scanned together.
const SCANNED: usize = 8 << 20;

/// A file's cloud, read in tiles.
pub struct TiledCloud {
    blocks: RowBlocks,
    header: Arc<PointCloud>,
}

/// What a pass over all rows found.
struct Scan {
    spans: Vec<AxisRange>,
    is_rounded: bool,
    is_whole: bool,
    hash: blake3::Hasher,
    /// Why some values cannot be stored relative to these origins.
    too_large: Option<CloudError>,
}

impl TiledCloud {
    /// Reads all rows once, or twice if an axis needs an origin, to compute the same as loading: ranges
    /// and origins of the axes, the fingerprint, and errors. Rows cannot be dropped: `drop_nonfinite` only
    /// makes the error say so.
    ///
    /// # Errors
    /// As [`super::super::load`], and [`FormatError::Unsupported`] for integers that f64 rounds.
    pub fn scan(
        blocks: RowBlocks,
        source: Source,
        drop_nonfinite: bool,
        progress: &dyn Progress,
    ) -> Result<Self, CloudError> {
        check_rows(blocks.rows(), &source)?;
        if blocks.rows() == 0 {
            return Err(CloudError::Empty { dropped: 0, origin: source.to_string() });
        }
        let names = || blocks.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        let none = AxisRange::none();
        let mut axes = axes_of(&vec![none; names().len()], names(), |_| 0.0);
        let mut scan = Scan::new(&blocks, &axes, &source, progress).map_err(|why| match why {
            CloudError::NonFinite { row, .. } if drop_nonfinite => unsupported(
                &blocks,
                format!("row {row} is not finite"),
                "rows cannot be dropped from points that are larger than the memory; remove them from the file",
            ),
            why => why,
        })?;
        axes = axes_of(&scan.spans, names(), |axis| scan.spans[axis].origin());
        if axes.iter().any(|axis| axis.origin != 0.0) {
            scan = Scan::new(&blocks, &axes, &source, progress)?;
        }
        if let Some(why) = scan.too_large {
            return Err(why);
        }
        if blocks.exceeds_f64()
            && let Some(axis) = axes.iter().find(|axis| axis.min.abs().max(axis.max.abs()) >= MAX_EXACT)
        {
            return Err(unsupported(
                &blocks,
                format!("column `{}` has integers from 2^53 on", axis.name),
                "they are only exact for points that fit into memory; convert them to f64",
            ));
        }
        let mut frame = CloudFrame::new(axes, scan.is_rounded, source, finished(&scan.hash));
        frame.is_whole = scan.is_whole.into();
        frame.stamp = Some(blocks.stamp().clone());
        let header = PointCloud {
            rows: blocks.rows() as usize,
            points: Vec::new(),
            exact: None,
            long_decimals: LongDecimals::default(),
            bulk: BulkRanges::new(frame.axes.len()),
            records: None,
            frame: Arc::new(frame),
        };
        Ok(Self { blocks, header: Arc::new(header) })
    }

    /// The cloud without coordinates: its size, axes and source. It cannot be searched.
    pub fn header(&self) -> &Arc<PointCloud> {
        &self.header
    }

    /// [`RowBlocks::fits_f32`] and [`RowBlocks::buffer`].
    pub fn reading(&self) -> (bool, u64) {
        (self.blocks.fits_f32(), self.blocks.buffer())
    }

    /// Consecutive rows. Their records are their numbers in the whole cloud.
    ///
    /// # Errors
    /// [`FormatError::Changed`] if the file has changed; I/O errors.
    pub fn tile(&self, rows: Range<u32>) -> Result<PointCloud, CloudError> {
        let values = self.blocks.read(rows.start.into()..rows.end.into())?;
        self.cloud(values, RecordMap::run(rows.start, rows.len()))
    }

    /// Some rows, which must ascend.
    ///
    /// # Errors
    /// As [`Self::tile`].
    pub fn gather(&self, rows: &[u32]) -> Result<PointCloud, CloudError> {
        let mut records = RecordMap::default();
        rows.iter().for_each(|&row| records.push(row));
        self.cloud(self.blocks.gather(rows)?, records)
    }

    fn cloud(&self, values: Values, records: RecordMap) -> Result<PointCloud, CloudError> {
        let header = &self.header;
        let (points, exact) = localise(values, header.axes(), Some(&records), header.source())?;
        Ok(PointCloud {
            rows: records.rows(),
            points,
            exact,
            long_decimals: LongDecimals::default(),
            bulk: BulkRanges::new(header.dims()),
            records: Some(records),
            frame: Arc::clone(&header.frame),
        })
    }
}

fn unsupported(blocks: &RowBlocks, what: String, why: &str) -> CloudError {
    let path = blocks.stamp().path().to_owned();
    FormatError::Unsupported { what, why: why.to_owned(), path }.into()
}

impl Scan {
    fn new(
        blocks: &RowBlocks,
        axes: &[Axis],
        source: &Source,
        progress: &dyn Progress,
    ) -> Result<Self, CloudError> {
        let dims = axes.len();
        let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
        let mut scan = Self {
            spans: vec![AxisRange::none(); dims],
            is_rounded: false,
            is_whole: true,
            hash: fingerprint_hasher(dims, axes),
            too_large: None,
        };
        let mut unusable = UnusableRows::default();
        let step = (SCANNED / (size_of::<f64>() * dims)).max(1);
        for first in (0..blocks.rows()).step_by(step) {
            if progress.cancelled() {
                return Err(FormatError::Cancelled.into());
            }
            progress.update(first, blocks.rows());
            let values = blocks.read(first..blocks.rows().min(first + step as u64))?;
            let (bad, spans) = with_values!(&values, values => {
                let is_finite = values.par_iter().all(|value| value.is_finite());
                let bad = (!is_finite).then(|| UnusableRows::find(values, &names));
                (bad, rounding::spans(values, dims))
            });
            if unusable.count > 0 || bad.is_some() {
                let rows = (values.len() / dims) as u64;
                unusable.extend(bad.unwrap_or(UnusableRows { rows, ..UnusableRows::default() }), first);
                continue;
            }
            scan.spans.iter_mut().zip(spans).for_each(|(span, more)| span.include(more));
            let records = RecordMap::run(first as u32, values.len() / dims);
            match localise(values, axes, Some(&records), source) {
                Ok((points, exact)) => {
                    scan.is_rounded |= is_rounded(exact.as_ref(), axes);
                    scan.is_whole &= points.par_iter().all(|value| value.trunc() == *value);
                    hash_points(&mut scan.hash, &points);
                }
                Err(why) => scan.too_large = scan.too_large.or(Some(why)),
            }
        }
        match unusable.first.first().cloned() {
            None => Ok(scan),
            Some(bad) => {
                unusable.rows = blocks.rows();
                Err(CloudError::NonFinite {
                    row: bad.row,
                    line: None,
                    column: bad.column,
                    value: bad.value,
                    unusable: Box::new(unusable),
                    origin: source.to_string(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::{AutoColumns, ColumnChoice, formats, load};

    /// A `.npy` file of f64 or f32 values in three columns.
    fn array(folder: &std::path::Path, name: &str, values: &[f64], wide: bool) -> Source {
        let (kind, bytes): (_, Vec<u8>) = if wide {
            ("<f8", values.iter().flat_map(|value| value.to_le_bytes()).collect())
        } else {
            ("<f4", values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect())
        };
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}, 3), }}", values.len() / 3);
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        let path = folder.join(name);
        std::fs::write(&path, file).unwrap();
        Source::File { path, columns: ColumnChoice::Default }
    }

    fn tiled(source: &Source, drop: bool) -> Result<TiledCloud, CloudError> {
        let Source::File { path, columns } = source else { panic!("a file") };
        let (blocks, _) =
            formats::open_blocks(path, columns, AutoColumns::AllNumeric, &NoProgress)?.expect("blocks");
        TiledCloud::scan(blocks, source.clone(), drop, &NoProgress)
    }

    #[test]
    fn tiles_have_the_frame_and_the_bits_of_the_loaded_cloud() {
        let folder = tempfile::tempdir().unwrap();
        let whole = |at: usize| (at * 7919 % 1013) as f64;
        let scan = |at: usize| [515_368.0, 4_918_340.0, -0.0][at % 3] + whole(at) * 0.001_3;
        for (name, values, wide) in [
            ("whole.npy", (0..3000).map(whole).collect::<Vec<_>>(), false),
            ("zeros.npy", (0..300).map(|at| -whole(at) * f64::from(at % 2 == 0)).collect(), false),
            ("scan.npy", (0..3000).map(scan).collect(), true),
            ("origin.npy", (0..3000).map(|at| 16_777_216.0 + 2.0 * whole(at) / 1013.0).collect(), true),
            ("far.npy", (0..3000).map(|at| 1e39 + 1e30 * whole(at)).collect(), true),
        ] {
            let source = array(folder.path(), name, &values, wide);
            let (all, tiled) = (load(&source, false, &NoProgress).unwrap(), tiled(&source, false).unwrap());
            let header = tiled.header();
            assert_eq!(
                (header.axes(), header.fingerprint(), header.len(), header.is_rounded(), header.is_whole()),
                (all.axes(), all.fingerprint(), all.len(), all.is_rounded(), all.is_whole()),
                "{name}"
            );
            let n = all.len() as u32;
            let rows: Vec<u32> = (0..n).filter(|row| row % 7 < 3 || row % 97 == 0).collect();
            let gathered = tiled.gather(&rows).unwrap();
            for tile in [tiled.tile(0..1), tiled.tile(1..n - 7), tiled.tile(n - 7..n), Ok(gathered)] {
                let tile = tile.unwrap();
                for row in 0..tile.len() {
                    let record = tile.record(row) as usize;
                    assert_eq!(tile.point(row), all.point(record), "{name}, {record}");
                    for axis in 0..3 {
                        let (one, other) = (tile.coordinate(row, axis), all.coordinate(record, axis));
                        assert_eq!(one.to_bits(), other.to_bits(), "{name}, {record}");
                    }
                }
            }
        }
    }

    #[test]
    fn unusable_values_are_refused_as_when_loading() {
        let folder = tempfile::tempdir().unwrap();
        let mut values = vec![1.5; 3 * 700_000];
        values[3 * 600_000 + 1] = f64::NAN;
        values[3 * 650_000 + 2] = f64::INFINITY;
        let source = array(folder.path(), "nan.npy", &values, true);
        let loaded = load(&source, false, &NoProgress).unwrap_err().to_string();
        assert_eq!(tiled(&source, false).err().unwrap().to_string(), loaded);
        let refused = tiled(&source, true).err().unwrap().to_string();
        assert!(refused.starts_with("row 600000 is not finite: rows cannot be dropped from"), "{refused}");
        let source = array(folder.path(), "large.npy", &[1e39, 0.0, 0.0, -1e39, 0.0, 0.0], true);
        let loaded = load(&source, false, &NoProgress).unwrap_err().to_string();
        assert_eq!(tiled(&source, false).err().unwrap().to_string(), loaded);
    }

    #[test]
    fn a_file_that_shrinks_or_changes_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let source = array(folder.path(), "a.npy", &[1.0; 3000], true);
        let Source::File { path, .. } = &source else { panic!("a file") };
        let changes: [fn(&std::path::Path); 3] = [
            |path| std::fs::File::options().write(true).open(path).unwrap().set_len(500).unwrap(),
            |path| std::fs::remove_file(path).unwrap(),
            |path| {
                let other = array(path.parent().unwrap(), "b.npy", &[2.0; 3000], true);
                let Source::File { path: other, .. } = other else { panic!("a file") };
                std::fs::rename(other, path).unwrap();
            },
        ];
        for change in changes {
            array(folder.path(), "a.npy", &[1.0; 3000], true);
            let tiled = tiled(&source, false).unwrap();
            change(path);
            for read in [tiled.tile(0..3), tiled.gather(&[1, 900])] {
                let why = read.unwrap_err().to_string();
                assert!(why.starts_with("the file changed while it was being read"), "{why}");
                assert!(why.ends_with("a.npy"), "{why}");
            }
        }
    }
}
