//! State of the dialog that offers to open a file without its unusable rows.

use crate::app::model::after_load::PostLoadAction;
use crate::cloud::{CloudError, Source, UnusableRow, UnusableRows};
use crate::text;

#[derive(Clone, Debug)]
pub struct UnusableDialog {
    pub source: Source,
    pub unusable: Box<UnusableRows>,
    /// The line of the first unusable row, in text files.
    line: Option<u64>,
    /// The error to report if the user declines.
    pub error: String,
    pub then: PostLoadAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusableAction {
    /// Open the file without the rows.
    Open,
    /// Do not open the file.
    Close,
}

impl UnusableDialog {
    /// A dialog for a load that continues with `then`; `None` if no row is usable, or for other errors.
    pub fn new(source: &Source, why: &CloudError, error: String, then: &PostLoadAction) -> Option<Self> {
        match (source, why) {
            (Source::File { .. }, CloudError::NonFinite { unusable, line, .. })
                if unusable.count < unusable.rows =>
            {
                Some(Self {
                    source: source.clone(),
                    unusable: unusable.clone(),
                    line: *line,
                    error,
                    then: then.clone(),
                })
            }
            _ => None,
        }
    }

    /// `27 of 140,056 rows cannot be used: open without them?`
    pub fn question(&self) -> String {
        let UnusableRows { count, rows, .. } = *self.unusable;
        let them = if count == 1 { "it" } else { "them" };
        format!(
            "{} of {} cannot be used: open without {them}?",
            text::thousands(count),
            text::count(rows, "row", "rows")
        )
    }

    /// The reasons, row by row, and the number of further rows.
    pub fn reasons(&self) -> Vec<String> {
        let reason = |(at, of): (usize, &UnusableRow)| {
            let line = self
                .line
                .filter(|_| at == 0)
                .map_or_else(String::new, |line| format!(" (line {})", text::thousands(line)));
            let value = match of.value {
                value if value.is_nan() => "missing or NaN",
                value if value > 0.0 => "∞",
                _ => "−∞",
            };
            format!("row {}{line}: {} is {value}", text::thousands(of.row), of.column)
        };
        let first = self.unusable.first.iter().enumerate().map(reason);
        let more = self.unusable.count - self.unusable.first.len() as u64;
        first.chain((more > 0).then(|| format!("and {} more", text::thousands(more)))).collect()
    }
}

/// Row numbers as ranges; a long list ends with an ellipsis.
pub fn listed(ranges: impl Iterator<Item = std::ops::Range<u64>>, most: usize) -> String {
    let one = |range: std::ops::Range<u64>| match range.end - range.start {
        1 => text::thousands(range.start),
        _ => format!("{} to {}", text::thousands(range.start), text::thousands(range.end - 1)),
    };
    let mut named: Vec<String> = ranges.take(most + 1).map(one).collect();
    if named.len() > most {
        named[most] = "…".to_owned();
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog(count: u64, rows: u64) -> Option<UnusableDialog> {
        let first = [(3, "x", f64::NAN), (5000, "y", f64::NEG_INFINITY)];
        let first =
            first.map(|(row, column, value)| UnusableRow { row, column: column.to_owned(), value }).to_vec();
        let unusable = Box::new(UnusableRows { count, rows, first, whole: None });
        let error = CloudError::NonFinite {
            row: 3,
            line: Some(5),
            column: "x".to_owned(),
            value: f64::NAN,
            unusable,
            origin: String::new(),
        };
        let source = Source::File { path: "a.csv".into(), columns: Default::default() };
        UnusableDialog::new(&source, &error, error.to_string(), &PostLoadAction::Show)
    }

    #[test]
    fn unusable_rows_are_listed_with_reasons() {
        let asked = dialog(27, 140_056).expect("a question");
        assert_eq!(asked.question(), "27 of 140,056 rows cannot be used: open without them?");
        assert_eq!(
            asked.reasons(),
            ["row 3 (line 5): x is missing or NaN", "row 5,000: y is −∞", "and 25 more"]
        );
        assert!(dialog(9, 9).is_none(), "no usable rows");
    }

    #[test]
    fn rows_are_listed_as_ranges() {
        assert_eq!(listed([3..4, 7..9, 12..5000].into_iter(), 3), "3, 7 to 8, 12 to 4,999");
        assert_eq!(listed((0..50).map(|at| 2 * at..2 * at + 1), 4), "0, 2, 4, 6, …");
    }
}
