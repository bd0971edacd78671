//! What of a file's records stands beside points: the columns that are no axes, and of these as many as there is room for.

use std::collections::HashSet;

use crate::cloud::PointCloud;
use crate::cloud::formats::{Cell, Records};

/// Cells and names that are kept of a file: more than a hundred columns of as many neighbours as there can be.
pub const MOST: usize = 1 << 17;

/// The columns that are no axes, of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Others {
    /// Their names, in the file's order; the first of them, where all would be more than [`MOST`].
    pub columns: Vec<String>,
    /// A cell for each of these, for each row.
    pub rows: Vec<Vec<Cell>>,
    /// How many the file has.
    pub total: usize,
}

impl Others {
    /// What records of a cloud's file have beside its axes, no more than [`MOST`].
    pub fn of(cloud: &PointCloud, records: Records) -> Self {
        Self::first(cloud, records, MOST)
    }

    /// The same of all columns.
    pub fn all(cloud: &PointCloud, records: Records) -> Self {
        Self::first(cloud, records, usize::MAX)
    }

    fn first(cloud: &PointCloud, records: Records, most: usize) -> Self {
        let axes: HashSet<&str> = cloud.axes().iter().map(|axis| axis.name.as_str()).collect();
        let mut others: Vec<usize> = (0..records.columns.len()).filter(|&at| !axes.contains(records.columns[at].as_str())).collect();
        let total = others.len();
        others.truncate(most / (records.rows.len() + 1));
        let columns = others.iter().map(|&at| records.columns[at].clone()).collect();
        // Rows of their own: what is left of one in place would keep the room of its coordinates.
        let row = |mut cells: Vec<Cell>| others.iter().map(|&at| std::mem::replace(&mut cells[at], Cell::Missing)).collect();
        Self { columns, rows: records.rows.into_iter().map(row).collect(), total }
    }

    /// Cells and names that it takes.
    pub fn size(&self) -> usize {
        self.columns.len() * (self.rows.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Column, Source, Table};

    #[test]
    fn axes_are_not_kept_nor_more_than_there_is_room_for() {
        let (axes, total, rows) = (3000, 3000, 1024);
        let name = |at: usize| Column { name: format!("c{at}") };
        let table = Table { columns: (0..axes).map(|at| name(2 * at)).collect(), values: vec![0.5; axes] };
        let cloud = PointCloud::from_table(table, Source::Coordinates("0.5".to_owned()), None, false).expect("a cloud");
        let columns: Vec<String> = (0..axes + total).map(|at| name(at).name).collect();
        let row = |row: usize| (0..columns.len()).map(|at| Cell::Number((row * 10_000 + at) as f64)).collect();
        let others = Others::of(&cloud, Records { columns: columns.clone(), rows: (0..rows).map(row).collect() });
        assert_eq!((others.total, others.columns.len()), (total, 127));
        assert!(others.size() <= MOST && others.rows.len() == rows);
        assert!(others.rows.iter().all(|row| row.capacity() == 127), "without the room of the axes");
        assert_eq!((&*others.columns[126], &others.rows[1023][126]), ("c253", &Cell::Number(10_230_253.0)));
        let one = Others::of(&cloud, Records { columns: columns.clone(), rows: vec![row(7)] });
        assert_eq!((one.columns.len(), one.size(), &one.rows[0][2999]), (total, 2 * total, &Cell::Number(75_999.0)));
    }
}
