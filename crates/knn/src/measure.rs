//! Per-query measures of an engine: declared columns with a name, a unit and, where known, a theoretical
//! mean.

use super::Shape;

/// A column that an engine declares.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The column's name in files.
    pub name: &'static str,
    /// The unit in the singular and the plural: `merge`, `merges`.
    pub unit: [&'static str; 2],
    /// One sentence for tooltips and help.
    pub help: &'static str,
    /// The expected mean over all queries; `None` if there is no theory.
    pub theory: Option<MeanBound>,
    /// The largest possible value for any query; `None` if unknown.
    pub worst_case: Option<fn(&Shape) -> f64>,
}

impl Measure {
    /// A measure without theory. `unit`: singular and plural.
    pub const fn new(name: &'static str, unit: [&'static str; 2], help: &'static str) -> Self {
        Self { name, unit, help, theory: None, worst_case: None }
    }

    /// A column name in words: `groups hit` for `groups_hit`.
    pub fn words(name: &str) -> String {
        name.replace('_', " ")
    }
}

/// An upper bound on the mean of a measure.
#[derive(Clone, Copy, Debug)]
pub struct MeanBound {
    /// Evaluates the bound for a problem.
    pub mean: fn(&Shape) -> f64,
    /// The assumption under which it holds: `in random order`.
    pub condition: &'static str,
    /// The publication that derives it.
    pub source: &'static str,
}

/// Measured values: one u32 per query and column. Column names are owned strings, because a recording may
/// come from an engine unknown to this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurements {
    columns: Vec<(String, Vec<u32>)>,
}

impl Measurements {
    /// Builds the table from named columns of equal length.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn new(columns: impl IntoIterator<Item = (String, Vec<u32>)>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        assert!(
            columns.windows(2).all(|pair| pair[0].1.len() == pair[1].1.len()),
            "a value for each query in each column"
        );
        Self { columns }
    }

    /// Appends one row per query to the columns of `measures`, which must be the same in every call.
    pub fn extend<const N: usize>(
        &mut self,
        measures: &[Measure; N],
        rows: impl IntoIterator<Item = [u32; N]>,
    ) {
        self.extend_rows(measures, rows);
    }

    /// Like [`Self::extend`], for a number of measures unknown at compile time. Extra values in a row are
    /// ignored.
    pub fn extend_rows<R: AsRef<[u32]>>(&mut self, measures: &[Measure], rows: impl IntoIterator<Item = R>) {
        if self.columns.is_empty() {
            self.columns = measures.iter().map(|measure| (measure.name.to_owned(), Vec::new())).collect();
        }
        for row in rows {
            for ((_, values), &value) in self.columns.iter_mut().zip(row.as_ref()) {
                values.push(value);
            }
        }
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.queries() == 0
    }

    /// The number of queries, q; 0 if nothing was counted.
    pub fn queries(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Columns in declaration order: name and one value per query.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &[u32])> + Clone {
        self.columns.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// The q values of a column; `None` if there is no such column.
    pub fn column(&self, name: &str) -> Option<&[u32]> {
        self.columns().find(|(of, _)| *of == name).map(|(_, values)| values)
    }

    /// One query's row: column name and value.
    pub fn for_query(&self, query: usize) -> impl ExactSizeIterator<Item = (&str, u32)> + Clone {
        self.columns().map(move |(name, values)| (name, values[query]))
    }

    /// Ratio of the sums of two columns over all queries; `None` if either is not counted or the divisor is
    /// 0.
    pub fn ratio(&self, of: &str, to: &str) -> Option<f64> {
        let sum = |name: &str| Some(self.column(name)?.iter().map(|&value| f64::from(value)).sum::<f64>());
        let (of, to) = (sum(of)?, sum(to)?);
        (to > 0.0).then(|| of / to)
    }

    /// A column's mean over all queries; `None` if there are no queries.
    pub fn mean(&self, name: &str) -> Option<f64> {
        let values = self.column(name).filter(|values| !values.is_empty())?;
        Some(values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn measure(name: &'static str) -> Measure {
        Measure { name, unit: ["thing", "things"], help: "", theory: None, worst_case: None }
    }

    #[test]
    fn measurements_are_stored_by_column() {
        let declared = [measure("visited"), measure("distance_evals")];
        let mut measured = Measurements::default();
        assert!(measured.is_empty() && measured.mean("visited").is_none());
        measured.extend(&declared, [[1, 10], [2, 20]]);
        measured.extend(&declared, [[6, 30]]);
        assert_eq!((measured.queries(), measured.column("distance_evals")), (3, Some(&[10, 20, 30][..])));
        assert_eq!((measured.mean("visited"), measured.mean("merges")), (Some(3.0), None));
        assert_eq!(measured.for_query(2).collect::<Vec<_>>(), [("visited", 6), ("distance_evals", 30)]);
        assert_eq!(
            Measurements::new(measured.columns().map(|(name, values)| (name.to_owned(), values.to_vec()))),
            measured
        );
    }
}
