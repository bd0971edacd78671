//! The table of all points: the cells of visible rows, and rows in the order of a view.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::app::features::picking::state::ExtraColumns;
use crate::app::model::table::TableView;
use crate::cloud::formats::Cell;

/// A column of the file by row of the cloud, or why it cannot be read.
pub type WholeColumn = Arc<Result<Vec<Cell>, String>>;

#[derive(Clone, Debug, Default)]
pub struct PointsTable {
    /// Visible positions in the table.
    pub visible: Range<usize>,
    /// The file's other columns of the rows around them.
    pub page: Option<ExtraColumns>,
    /// Columns of the file that order or select rows.
    pub whole: BTreeMap<String, WholeColumn>,
    /// Rows that meet the conditions of a view, in its order.
    pub ordered: Option<(TableView, Arc<Vec<u32>>)>,
}

impl PointsTable {
    /// The rows to list; `None` for all in the file's order.
    pub fn items(&self) -> Option<&Arc<Vec<u32>>> {
        self.ordered.as_ref().map(|(_, rows)| rows)
    }

    /// A note while the rows are those of another view.
    pub fn wait(&self, view: &TableView) -> Option<String> {
        let wanted = view.keys().next().map(|_| view.of_rows());
        let is_waiting = wanted.as_ref() != self.ordered.as_ref().map(|(view, _)| view);
        is_waiting.then(|| "sorting…".to_owned())
    }

    /// The visible rows in pages, so that scrolling by a row reads nothing.
    pub fn wanted(&self, len: usize) -> Vec<u32> {
        const PAGE: usize = 64;
        let len = self.items().map_or(len, |rows| rows.len());
        let from = self.visible.start / PAGE * PAGE;
        let to = self.visible.end.max(1).next_multiple_of(PAGE).min(len);
        (from..to).map(|at| self.items().map_or(at as u32, |rows| rows[at])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::table::SortOrder;

    #[test]
    fn cells_are_read_in_pages() {
        let mut table = PointsTable { visible: 70..90, ..PointsTable::default() };
        assert_eq!(table.wanted(1000), (64..128).collect::<Vec<_>>());
        assert_eq!(table.wanted(100).len(), 36);
        let view = TableView { sort: SortOrder::after_click(None, "x"), ..TableView::default() };
        assert!(table.wait(&view).is_some() && table.wait(&TableView::default()).is_none());
        table.ordered = Some((view.clone(), Arc::new((0..80).rev().collect())));
        assert_eq!(table.wanted(1000), (0..16).rev().collect::<Vec<_>>());
        assert!(table.wait(&view).is_none());
    }
}
