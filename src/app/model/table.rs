//! Tables of panes: the order of their rows, and which rows and columns they show. Columns are identified by
//! name, because the next table may have the same ones.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::RangeBounds as _;

use rayon::iter::{IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

use super::search::folded;
use crate::cloud::formats::Cell;

/// The sort order of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortOrder {
    pub column: String,
    pub descending: bool,
}

impl SortOrder {
    /// Cycles a column's order on each click: ascending, descending, the table's own.
    pub fn after_click(sort: Option<&Self>, column: &str) -> Option<Self> {
        let of = |descending| Some(Self { column: column.to_owned(), descending });
        match sort.filter(|sort| sort.column == column) {
            None => of(false),
            Some(Self { descending: false, .. }) => of(true),
            Some(_) => None,
        }
    }
}

/// What the user chose for a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableView {
    pub sort: Option<SortOrder>,
    /// Conditions as typed, by column.
    pub filters: BTreeMap<String, String>,
    /// Whether the fields for conditions are visible.
    pub filtering: bool,
    /// Columns that are shown although the table hides them at first, or hidden although it shows them.
    pub toggled: BTreeSet<String>,
    /// The text of the column chooser's search box.
    pub search: String,
}

impl TableView {
    pub fn shows(&self, column: &str, at_first: bool) -> bool {
        at_first != self.toggled.contains(column)
    }

    /// The columns that select or order rows.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let filters = self.filters.iter().filter(|(_, typed)| !typed.trim().is_empty());
        filters
            .map(|(column, _)| column)
            .chain(self.sort.as_ref().map(|sort| &sort.column))
            .map(String::as_str)
    }

    /// The same without what changes no row.
    #[must_use]
    pub fn of_rows(&self) -> Self {
        Self { sort: self.sort.clone(), filters: self.filters.clone(), ..Self::default() }
    }

    /// The rows that meet all conditions, in order. The sort is stable; missing cells are last.
    pub fn rows(
        &self,
        len: usize,
        columns: &[&str],
        cell: impl Fn(usize, usize) -> Cell + Sync,
        cancelled: impl Fn() -> bool + Sync,
    ) -> Vec<u32> {
        let place = |column: &str| columns.iter().position(|name| *name == column);
        let filters = self.filters.iter();
        let filters: Vec<(usize, TableFilter)> =
            filters.filter_map(|(column, typed)| Some((place(column)?, TableFilter::new(typed)?))).collect();
        let is_shown = |&row: &u32| {
            let meets =
                |(column, filter): &(usize, TableFilter)| filter.accepts(&cell(row as usize, *column));
            !cancelled() && filters.iter().all(meets)
        };
        let rows: Vec<u32> = (0..len as u32).into_par_iter().filter(is_shown).collect();
        let Some((sort, column)) = self.sort.as_ref().and_then(|sort| Some((sort, place(&sort.column)?)))
        else {
            return rows;
        };
        let key = |&row: &u32| match cell(row as usize, column) {
            Cell::Text(text) => (Cell::Text(folded(&text)), row),
            other => (other, row),
        };
        let mut keys: Vec<(Cell, u32)> = rows.par_iter().map(key).collect();
        keys.par_sort_by(|(a, row), (b, other)| compare(a, b, sort.descending).then(row.cmp(other)));
        keys.into_iter().map(|(_, row)| row).collect()
    }
}

/// Numbers before texts, missing cells last in both directions.
fn compare(a: &Cell, b: &Cell, descending: bool) -> Ordering {
    let rank = |cell: &Cell| match cell {
        Cell::Number(value) if !value.is_nan() => 0,
        Cell::Text(_) => 1,
        Cell::Number(_) | Cell::Missing => 2,
    };
    let order = match (a, b) {
        _ if rank(a).max(rank(b)) == 2 => return rank(a).cmp(&rank(b)),
        (Cell::Number(a), Cell::Number(b)) => a.total_cmp(b),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    };
    if descending { order.reverse() } else { order }
}

/// A condition on the cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum TableFilter {
    /// `> 3`, `<= 3`, `= 3`, `2..5`.
    Numbers(Bound<f64>, Bound<f64>),
    /// Texts with all words, regardless of case and accents, or the number that was typed.
    Words(Vec<String>),
}

impl TableFilter {
    /// Parses a condition; `None` without one.
    pub fn new(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        let after = |signs: &[&str]| signs.iter().find_map(|sign| number(typed.strip_prefix(sign)?));
        let end =
            |text: &str| if text.trim().is_empty() { Some(Unbounded) } else { number(text).map(Included) };
        let range = || typed.split_once("..").and_then(|(low, high)| Some((end(low)?, end(high)?)));
        let numbers = (after(&[">=", "≥"]).map(|low| (Included(low), Unbounded)))
            .or_else(|| after(&[">"]).map(|low| (Excluded(low), Unbounded)))
            .or_else(|| after(&["<=", "≤"]).map(|high| (Unbounded, Included(high))))
            .or_else(|| after(&["<"]).map(|high| (Unbounded, Excluded(high))))
            .or_else(|| after(&["="]).map(|value| (Included(value), Included(value))))
            .or_else(range);
        let words = || Self::Words(folded(typed).split_whitespace().map(str::to_owned).collect());
        (!typed.is_empty()).then(|| numbers.map_or_else(words, |(low, high)| Self::Numbers(low, high)))
    }

    pub fn accepts(&self, cell: &Cell) -> bool {
        match (self, cell) {
            (_, Cell::Missing) => false,
            (Self::Numbers(low, high), Cell::Number(value)) => (*low, *high).contains(value),
            (Self::Numbers(low, high), Cell::Text(text)) => {
                number(text).is_some_and(|value| (*low, *high).contains(&value))
            }
            (Self::Words(words), Cell::Number(value)) => number(&words.join("")) == Some(*value),
            (Self::Words(words), Cell::Text(text)) => {
                let text = folded(text);
                words.iter().all(|word| text.contains(word))
            }
        }
    }
}

/// A number as the window writes it: `1,250`, `−3.5`.
fn number(typed: &str) -> Option<f64> {
    typed.trim().replace(',', "").replace('−', "-").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_clicks_cycle_the_sort_order() {
        let up = SortOrder::after_click(None, "k").expect("sorted");
        assert!(!up.descending);
        let down = SortOrder::after_click(Some(&up), "k").expect("sorted");
        assert!(down.descending);
        assert_eq!(SortOrder::after_click(Some(&down), "k"), None);
        assert_eq!(
            SortOrder::after_click(Some(&down), "n"),
            SortOrder::after_click(None, "n"),
            "another column starts over"
        );
    }

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    fn rows(view: &TableView, cells: &[Cell]) -> Vec<u32> {
        view.rows(cells.len(), &["c"], |row, _| cells[row].clone(), || false)
    }

    #[test]
    fn sorting_is_stable_with_missing_values_last() {
        let number = Cell::Number;
        let cells =
            [number(2.0), Cell::Missing, number(1.0), text("b"), number(f64::NAN), text("Á"), number(1.0)];
        let sorted = |descending| {
            let sort = Some(SortOrder { column: "c".to_owned(), descending });
            rows(&TableView { sort, ..TableView::default() }, &cells)
        };
        assert_eq!(sorted(false), [2, 6, 0, 5, 3, 1, 4]);
        assert_eq!(sorted(true), [3, 5, 0, 2, 6, 1, 4]);
    }

    #[test]
    fn conditions_select_numbers_and_words() {
        let cells = [
            Cell::Number(-3.5),
            Cell::Number(1250.0),
            text("São Paulo, BR"),
            text("Lyon, FR"),
            text("00501"),
            Cell::Missing,
        ];
        let shown = |typed: &str| {
            let filters = [("c".to_owned(), typed.to_owned()), ("other".to_owned(), "x".to_owned())].into();
            rows(&TableView { filters, ..TableView::default() }, &cells)
        };
        for (typed, expected) in [
            ("", &[0, 1, 2, 3, 4, 5][..]),
            ("> 3", &[1, 4]),
            (">1,250", &[]),
            ("≥ 1,250", &[1]),
            ("< 0", &[0]),
            ("<= −3.5", &[0]),
            ("= 501", &[4]),
            ("-4..500", &[0]),
            ("1000..", &[1]),
            ("1250", &[1]),
            ("sao br", &[2]),
            (", fr", &[3]),
            ("> Lyon", &[]),
        ] {
            assert_eq!(shown(typed), expected, "{typed}");
        }
    }

    #[test]
    fn only_conditions_and_order_change_rows() {
        let view = TableView {
            filters: [("a".to_owned(), " ".to_owned()), ("b".to_owned(), "> 3".to_owned())].into(),
            sort: SortOrder::after_click(None, "c"),
            filtering: true,
            toggled: ["d".to_owned()].into(),
            search: "e".to_owned(),
        };
        assert_eq!(view.keys().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!((view.of_rows().toggled.len(), view.of_rows().keys().count()), (0, 2));
        assert!(view.shows("a", true) && !view.shows("a", false) && view.shows("d", false));
    }
}
