//! What a file has of points beside their coordinates.

use std::sync::Arc;

use crate::app::features::picking::state::others::Others;
use crate::cloud::PointCloud;
use crate::cloud::formats::Cell;
use crate::export::table::Table;

/// The other columns of some rows, or why they cannot be had.
pub type Found = Result<Others, String>;

/// What the file has of some rows beside their coordinates.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The cloud that `rows` index.
    pub cloud: Arc<PointCloud>,
    pub rows: Vec<u32>,
    /// In the same order.
    pub found: Arc<Found>,
}

impl Beside {
    /// Whether it is of these rows.
    pub fn is_of(&self, cloud: &Arc<PointCloud>, rows: &[u32]) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.rows == rows
    }

    /// What was found, if anything was.
    pub fn others(&self) -> Option<&Others> {
        self.found.as_ref().as_ref().ok()
    }

    /// A table of these rows, with these columns too: of numbers, where these rows have nothing else.
    pub fn with<'a>(&'a self, table: Table<'a>) -> Table<'a> {
        let number = |cell: &Cell| if let Cell::Number(value) = cell { Some(*value) } else { None };
        let text = |cell: &Cell| match cell {
            Cell::Number(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text.clone()),
            Cell::Missing => None,
        };
        let columns = self.others().map_or(&[][..], |others| &others.columns).iter().enumerate();
        columns.fold(table, |table, (column, name)| {
            let cells = (0..self.rows.len()).filter_map(|place| self.cell(place, column));
            if cells.clone().all(|cell| !matches!(cell, Cell::Text(_))) {
                table.with(name, move |place| self.cell(place, column).and_then(number))
            } else {
                table.with(name, move |place| self.cell(place, column).and_then(text))
            }
        })
    }

    /// What one of these columns has for one of the rows.
    pub fn cell(&self, place: usize, column: usize) -> Option<&Cell> {
        self.others()?.rows.get(place)?.get(column)
    }
}
