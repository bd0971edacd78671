//! Decomposes a cloud and builds it again, for files that store clouds as searched.

use super::{Axis, Bulk, Fingerprint, PointCloud, fingerprint};
use crate::exact::{self, Exact};
use crate::records::RecordMap;
use crate::{MAX_ROWS, Source};

/// The components of a cloud.
#[derive(Clone, Debug)]
pub struct CloudParts {
    /// n × d local coordinates, row-major: the file's minus [`Axis::origin`].
    pub points: Vec<f32>,
    /// n × d file coordinates, if `origin + local` does not restore them.
    pub exact: Option<Vec<f64>>,
    /// The dimensions, in order.
    pub axes: Vec<Axis>,
    /// The record of each row, ascending, if rows were dropped.
    pub records: Option<Vec<u32>>,
    /// Number of rows of the source that were dropped.
    pub dropped: u64,
    /// Where the cloud came from.
    pub source: Source,
    /// The expected hash of the content.
    pub fingerprint: Fingerprint,
}

impl PointCloud {
    /// Whether `origin + local` restores the file's own coordinates.
    pub fn is_faithful(&self) -> bool {
        self.exact.is_none()
    }

    /// The record of each row, unless they are 0, 1, 2, ….
    pub fn records(&self) -> Option<impl Iterator<Item = u32> + Clone + '_> {
        let records = self.records.as_ref()?;
        Some((0..self.len()).map(|row| records.record(row) as u32))
    }

    /// Builds a cloud, validating every component.
    ///
    /// # Errors
    /// A short description of the component that is inconsistent.
    pub fn from_parts(parts: CloudParts) -> Result<Self, &'static str> {
        let CloudParts { points, exact, axes, records, dropped, source, fingerprint: named } = parts;
        let dims = axes.len();
        if dims == 0 || points.is_empty() || points.len() % dims != 0 || (points.len() / dims) as u64 > u64::from(MAX_ROWS) {
            return Err("the points are not rows of its axes");
        }
        let rows = points.len() / dims;
        if !points.iter().all(|value| value.is_finite()) || !axes.iter().all(|axis| axis.origin.is_finite()) {
            return Err("a coordinate is not finite");
        }
        if exact.as_ref().is_some_and(|exact| exact.len() != points.len() || !exact.iter().all(|value| value.is_finite())) {
            return Err("the exact coordinates do not fit the points");
        }
        let ascending = |records: &Vec<u32>| records.len() == rows && records.is_sorted_by(|a, b| a < b);
        if records.as_ref().is_some_and(|records| !ascending(records)) {
            return Err("the record numbers do not fit the points");
        }
        if fingerprint(dims, &axes, &points) != named {
            return Err("the points are not those that the fingerprint names");
        }
        let stands_for = |at: usize| axes[at % dims].origin + f64::from(points[at]);
        let exact = exact.map(|values| {
            let far = values.iter().enumerate().filter(|&(at, &value)| exact::step(value, stands_for(at)).is_none()).count();
            Exact::new(values, far, stands_for)
        });
        let records = records.map(|records| {
            let mut kept = RecordMap::default();
            records.into_iter().for_each(|record| kept.push(record));
            kept
        });
        Ok(Self {
            points,
            exact,
            bulk: Bulk::new(axes.len()),
            axes,
            records,
            dropped,
            source,
            stamp: None,
            copy: None,
            no_file: false,
            fingerprint: named,
        })
    }
}
