//! Clouds as stored in files: taken apart, rebuilt, and compared with the file that they were read from.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Axis, BulkRanges, CloudFrame, Fingerprint, PointCloud, RecordMap, fingerprint, is_rounded};
use crate::formats::{Cell, LongDecimals, Records};
use crate::rounding::RoundingErrors;
use crate::{MAX_ROWS, Source, rounding};

/// The components of a cloud.
#[derive(Clone, Debug)]
pub struct CloudParts {
    /// n × d local coordinates, row-major: file values minus [`Axis::origin`].
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
    /// Whether `origin + local` restores the file's coordinates.
    pub fn is_faithful(&self) -> bool {
        self.exact.is_none()
    }

    /// The record of each row; `None` if they are 0, 1, 2, ….
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
        if dims == 0
            || points.is_empty()
            || points.len() % dims != 0
            || (points.len() / dims) as u64 > u64::from(MAX_ROWS)
        {
            return Err("the number of coordinates does not match the number of axes");
        }
        let rows = points.len() / dims;
        if !points.iter().all(|value| value.is_finite()) || !axes.iter().all(|axis| axis.origin.is_finite()) {
            return Err("a coordinate is not finite");
        }
        if exact
            .as_ref()
            .is_some_and(|exact| exact.len() != points.len() || !exact.iter().all(|value| value.is_finite()))
        {
            return Err("the exact coordinates do not fit the points");
        }
        let ascending = |records: &Vec<u32>| records.len() == rows && records.is_sorted_by(|a, b| a < b);
        if records.as_ref().is_some_and(|records| !ascending(records)) {
            return Err("the record numbers do not fit the points");
        }
        if fingerprint(dims, &axes, &points) != named {
            return Err("the points are not those that the fingerprint names");
        }
        let rounded = |at: usize| axes[at % dims].origin + f64::from(points[at]);
        let exact = exact.map(|values| {
            let far = values
                .iter()
                .enumerate()
                .filter(|&(at, &value)| rounding::ulps_between(value, rounded(at)).is_none())
                .count();
            RoundingErrors::new(values, far, rounded)
        });
        let records = records.map(|records| {
            let mut kept = RecordMap::default();
            records.into_iter().for_each(|record| kept.push(record));
            kept
        });
        let is_rounded = is_rounded(exact.as_ref(), &axes);
        let frame = CloudFrame { dropped, ..CloudFrame::new(axes, is_rounded, source, named) };
        Ok(Self {
            rows,
            points,
            exact,
            long_decimals: LongDecimals::default(),
            bulk: BulkRanges::new(dims),
            records,
            frame: Arc::new(frame),
        })
    }
}

// Checks on a sample of records whether a file still has the content that a cloud was read from.

impl PointCloud {
    /// Whether these rows were read from these records: each axis must equal one of the columns with its
    /// name, in all rows.
    ///
    /// A cloud reproduces its file's numbers exactly, so no tolerance is needed.
    pub fn was_read_from(&self, rows: &[u32], records: &Records) -> bool {
        let mut named: HashMap<&str, Vec<usize>> =
            self.axes().iter().map(|axis| (axis.name.as_str(), Vec::new())).collect();
        for (at, name) in records.columns.iter().enumerate() {
            if let Some(columns) = named.get_mut(name.as_str()) {
                columns.push(at);
            }
        }
        let mut before: HashMap<&str, usize> = HashMap::new();
        self.axes().iter().enumerate().all(|(axis, of)| {
            let columns = &named[of.name.as_str()];
            // Axes with the same name usually correspond to the columns in order, unless they were selected
            // by number.
            let first = before.entry(&of.name).or_default();
            let mut columns = columns.iter().cycle().skip(*first).take(columns.len());
            *first += 1;
            let is_cell = |row: u32, cell: Option<&Cell>| {
                cell.is_some_and(|cell| is_of(cell, self.coordinate(row as usize, axis)))
            };
            columns.any(|&column| {
                rows.iter().zip(&records.rows).all(|(&row, cells)| is_cell(row, cells.get(column)))
            })
        })
    }
}

/// Whether a coordinate may have been read from this cell.
fn is_of(cell: &Cell, coordinate: f64) -> bool {
    match cell {
        // The coordinate may count days or fractions of seconds; the cell does not determine the unit.
        Cell::Text(text) if is_moment(text) => true,
        Cell::Number(_) | Cell::Text(_) | Cell::Missing => cell.number() == Some(coordinate),
    }
}

/// Whether a text begins with an ISO 8601 date.
fn is_moment(text: &str) -> bool {
    let mut parts = text.trim_start_matches(['+', '-']).splitn(3, '-');
    let mut digits = |least: usize| {
        parts.next().is_some_and(|part| {
            part.len() >= least && part.bytes().take(least).all(|byte| byte.is_ascii_digit())
        })
    };
    digits(4) && digits(2) && digits(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::tests::cloud;
    use crate::{Source, formats, load};

    /// Records of three towns, and their cloud with an origin that f32 alone would not restore.
    fn towns(columns: &str) -> (PointCloud, Records) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("towns.csv");
        std::fs::write(
            &path,
            "x,name,y,x\n4918340.364,Ada,0.1,1\n4918381.12375,Bor,-0.0,2\n4918350.5,Cis,1e-9,3\n",
        )
        .expect("a file");
        let cloud = load(
            &Source::File { path: path.clone(), columns: columns.parse().expect("columns") },
            false,
            &NoProgress,
        )
        .expect("a cloud");
        (cloud, formats::records(&path, &[2, 0, 1], &NoProgress).expect("records"))
    }

    #[test]
    fn changed_or_reordered_records_do_not_match() {
        for columns in ["y", "0,2", "3,2,0", "2,2", "0,3,0", "3"] {
            let (cloud, records) = towns(columns);
            assert!(cloud.was_read_from(&[2, 0, 1], &records), "{columns}");
            assert!(!cloud.was_read_from(&[2, 1, 0], &records), "{columns}: sorted anew");
            let changed = |cell: Cell| {
                let mut changed = records.clone();
                changed
                    .rows
                    .iter_mut()
                    .for_each(|row| [0, 2, 3].into_iter().for_each(|at| row[at] = cell.clone()));
                cloud.was_read_from(&[2, 0, 1], &changed)
            };
            assert!(
                !changed(Cell::Missing)
                    && !changed(Cell::Text("4918350.5 m".to_owned()))
                    && !changed(Cell::Number(0.5)),
                "{columns}"
            );
            let mut renamed = records.clone();
            renamed.columns.iter_mut().for_each(|name| *name = format!("{name} (m)"));
            assert!(!cloud.was_read_from(&[2, 0, 1], &renamed), "{columns}: no such column");
            assert!(
                cloud.was_read_from(&[], &Records { rows: Vec::new(), ..records.clone() }),
                "{columns}: nothing to differ"
            );
        }
        let (cloud, mut records) = towns("0,2");
        let Cell::Number(number) = &mut records.rows[1][0] else { panic!("a number") };
        *number = number.next_up();
        assert!(!cloud.was_read_from(&[2, 0, 1], &records), "the last bit counts");
    }

    /// Whether a column's only value may have been read from this text.
    fn is_of_text(column: &str, value: f64, text: &str) -> bool {
        let records =
            Records { columns: vec![column.to_owned()], rows: vec![vec![Cell::Text(text.to_owned())]] };
        cloud(&[column], vec![value]).was_read_from(&[0], &records)
    }

    #[test]
    fn codes_with_leading_zeros_match_their_number() {
        let is_of = |zip: &str| is_of_text("zip", 6484.0, zip);
        assert_eq!(["06484", "006484", "06485", "none"].map(is_of), [true, true, false, false]);
    }

    #[test]
    fn date_texts_match_numeric_dates() {
        for text in ["2024-10-04", "1969-12-31T23:59:59.5Z", "+12024-10-04", "-0044-03-15T00:00:00"] {
            assert!(is_moment(text), "{text}");
        }
        for text in
            ["", "-", "12.5", "2024", "2024-10", "04-10-2024", "2024-Oct-04", "Ulm-an-der-Donau", "ä-ö-ü"]
        {
            assert!(!is_moment(text), "{text}");
        }
        assert_eq!(["2024-10-04", "Friday"].map(|day| is_of_text("day", 20_000.0, day)), [true, false]);
    }
}
