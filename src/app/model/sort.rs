//! Tables in the order of a column.

use std::cmp::Ordering;

/// The column that a table is sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By its name, which the next table may have too.
    pub column: String,
    pub descending: bool,
}

impl Sort {
    /// What a click on a column's head asks for: ascending, descending, then the table's own order again.
    pub fn after_click(sort: Option<&Self>, column: &str) -> Option<Self> {
        let of = |descending| Some(Self { column: column.to_owned(), descending });
        match sort.filter(|sort| sort.column == column) {
            None => of(false),
            Some(Self { descending: false, .. }) => of(true),
            Some(_) => None,
        }
    }
}

/// What a row is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKey {
    Number(f64),
    Text(String),
    /// Nothing: it comes last in either direction.
    Missing,
}

impl SortKey {
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_lowercase())
    }

    fn is_missing(&self) -> bool {
        matches!(self, Self::Missing) || matches!(self, Self::Number(value) if value.is_nan())
    }

    /// Numbers before texts.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), _) => Ordering::Less,
            (_, Self::Number(_)) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }
}

/// The places of the rows in sorted order; equal ones stay in the table's own.
pub fn sorted(keys: &[SortKey], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&keys[a], &keys[b]);
        match (a.is_missing(), b.is_missing()) {
            (true, true) => Ordering::Equal,
            (false, false) if descending => b.compare(a),
            (false, false) => a.compare(b),
            (missing, other) => missing.cmp(&other),
        }
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_sorts_up_then_down_then_not_at_all() {
        let up = Sort::after_click(None, "k").expect("sorted");
        assert!(!up.descending);
        let down = Sort::after_click(Some(&up), "k").expect("sorted");
        assert!(down.descending);
        assert_eq!(Sort::after_click(Some(&down), "k"), None);
        assert_eq!(Sort::after_click(Some(&down), "n"), Sort::after_click(None, "n"), "another column begins anew");
    }

    #[test]
    fn rows_without_a_value_come_last_and_equal_ones_stay_in_order() {
        let number = SortKey::Number;
        let keys = [number(2.0), SortKey::Missing, number(1.0), SortKey::text("b"), number(f64::NAN), SortKey::text("A"), number(1.0)];
        assert_eq!(sorted(&keys, false), [2, 6, 0, 5, 3, 1, 4]);
        assert_eq!(sorted(&keys, true), [3, 5, 0, 2, 6, 1, 4]);
    }
}
