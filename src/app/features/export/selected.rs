//! The selected rows with all that is known of them: every column of the file, what the run counted, and the value that colours them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::app::features::analysis::state::{Against, Analysed, AnalysisKind};
use crate::app::features::color::state::channel::{Channel, Whose};
use crate::app::features::picking::lookup;
use crate::app::features::picking::state::beside::Beside;
use crate::app::features::picking::state::others::Others;
use crate::cloud::{PointCloud, Source};
use crate::export::table::Table;
use crate::export::tables;
use crate::progress::Progress;
use crate::run::RunRecord;

/// Rows of a cloud, and what has values of them.
#[derive(Clone, Debug)]
pub struct Selected {
    pub cloud: Arc<PointCloud>,
    /// Ascending.
    pub rows: Arc<[u32]>,
    /// The run over this cloud.
    pub record: Option<Arc<RunRecord>>,
    /// What the neighbours of all rows say of them.
    pub analysed: Option<Arc<Analysed>>,
    /// What other files say of them.
    pub against: Vec<Arc<Against>>,
    /// By what points are coloured.
    pub channel: Option<Arc<Channel>>,
}

impl Selected {
    /// Reads what the file has of them beside their coordinates.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn beside(&self, progress: &dyn Progress) -> Result<Option<Beside>, String> {
        if !matches!(self.cloud.source(), Source::File { .. }) {
            return Ok(None);
        }
        let records = lookup::records(&self.cloud, &self.rows, progress).map_err(|why| why.to_string()).flatten()?;
        let others = Others::all(&self.cloud, records);
        Ok(Some(Beside { cloud: Arc::clone(&self.cloud), rows: self.rows.to_vec(), found: Arc::new(Ok(others)) }))
    }

    /// `row`, the coordinates, the file's other columns, of rows that the run asked for the distance of the k-th neighbour and what was counted,
    /// and the value that colours them where no other column has it.
    pub fn table<'a>(&'a self, beside: Option<&'a Beside>) -> Table<'a> {
        let rows = &*self.rows;
        let mut table = tables::points(&self.cloud, Some(rows));
        if let Some(beside) = beside {
            table = beside.with(table);
        }
        if let Some(record) = self.record.as_deref().filter(|record| record.query_cloud.is_none()) {
            let asked: HashMap<u32, usize> = record.query_rows.iter().enumerate().map(|(query, &row)| (row, query)).collect();
            let asked = Arc::new(asked);
            let (of, k) = (Arc::clone(&asked), record.neighbors.k);
            let kth = move |at: usize| {
                let &query = of.get(&rows[at])?;
                let squared = *record.neighbors.squared_distances.get((query + 1) * k - 1)?;
                squared.is_finite().then(|| record.spec.metric.distance(squared))
            };
            table = table.with(format!("k{k}_{}", record.spec.metric.column()), kth);
            for (name, values) in record.measured.columns() {
                let of = Arc::clone(&asked);
                table = table.with(name, move |at| of.get(&rows[at]).map(|&query| f64::from(values[query])));
            }
        }
        if let Some(analysed) = self.analysed.as_deref().filter(|analysed| analysed.is_of(&self.cloud)) {
            for &kind in AnalysisKind::ALL {
                if let Some(values) = analysed.values(kind) {
                    table = table.with(kind.column(), move |at| values.get(rows[at] as usize).copied().filter(|value| !value.is_nan()));
                }
            }
        }
        for against in self.against.iter().filter(|against| Arc::ptr_eq(&against.cloud, &self.cloud)) {
            table = against.with(table, move |at| rows[at]);
        }
        // What was analysed has a column of its own already.
        let is_analysed = |title: &str| self.analysed.is_some() && AnalysisKind::ALL.iter().any(|kind| kind.title() == title);
        let numbers = self.channel.as_deref().filter(|channel| channel.whose == Whose::Data && !is_analysed(&channel.title));
        match numbers.and_then(|channel| Some((channel, channel.numbers.as_ref()?))) {
            Some((channel, numbers)) if table.columns().iter().all(|column| *column.name != *channel.title) => {
                let value = move |at: usize| {
                    let value = *numbers.values.values.get(rows[at] as usize)?;
                    (!value.is_nan()).then(|| f64::from(value) + numbers.offset)
                };
                table.with(channel.title.as_str(), value)
            }
            _ => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::color::state::channel::Numbers;
    use crate::app::testing::{measured, record};
    use crate::progress::Silent;

    #[test]
    fn what_is_known_of_rows_stands_beside_them() {
        let mut record = RunRecord::clone(&record());
        record.measured = measured([3, 7, 3]);
        let mut values = vec![f32::NAN; 50];
        values[8] = 2.5;
        let channel = Channel::of_numbers(Whose::Data, "distance to the query", "", Numbers::new(values, 10.0, false), (0, ""));
        let selected = Selected {
            cloud: Arc::clone(&record.cloud),
            rows: vec![3, 8, 20].into(),
            record: Some(Arc::new(record)),
            analysed: None,
            against: Vec::new(),
            channel: Some(Arc::new(channel)),
        };
        assert!(selected.beside(&Silent).expect("nothing to read").is_none(), "it is generated");
        let csv = selected.table(None).tsv();
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split('\t').collect()).collect();
        let axes = selected.cloud.dims();
        assert_eq!(lines[0][0], "row");
        assert!(lines[0][1 + axes].starts_with('k') && lines[0][1 + axes].ends_with("_distance"), "{:?}", lines[0]);
        let merges = lines[0].iter().position(|name| *name == "merges").expect("counted");
        assert_eq!([1, 2, 3].map(|line| lines[line][merges]), ["3", "3", ""], "row 20 was not asked");
        assert_eq!((lines[0].last(), lines[1].last(), lines[2].last()), (Some(&"distance to the query"), Some(&""), Some(&"12.5")));
    }
}
