//! Neighbours of any kind as tables and arrays, with added columns of the input files.

use super::provenance::{KEY, Provenance};
use super::table::Table;
use crate::cloud::joined::{JoinedColumn, JoinedColumns, JoinedValues};
use crate::knn::NONE;
use crate::run::{AnswerBatch, BatchAnswers, RunRecord};

/// Data written along with neighbours.
#[derive(Clone, Copy)]
pub struct Annotations<'a> {
    /// Columns of the files of points and queries, for tables.
    pub columns: &'a FileColumns,
    /// The provenance of the neighbours.
    pub provenance: &'a Provenance,
}

impl Provenance {
    /// The provenance of a record's neighbours.
    pub(super) fn of_run(record: &RunRecord) -> Self {
        Self::new(&record.spec, &record.cloud, record.query_cloud.as_deref())
    }
}

/// A row per neighbour: `query,query_row,rank,index` and `squared_distance,distance` (or `angle`, in radians,
/// `cosine_distance` or `distance_km`) or `inner_product`. `query_row` is the query's record number in its
/// own file, absent if the query is a point given by coordinates. Added columns of queries follow it; those
/// of neighbours come last.
pub fn table<'a>(batch: AnswerBatch<'a>, columns: &'a FileColumns, provenance: &Provenance) -> Table<'a> {
    let table = Table::new(batch.len()).attributed(KEY, provenance.json());
    let table = table.with("query", move |at| (batch.first + batch.query_of(at)) as u32);
    let table = match batch.queries {
        Some((cloud, rows)) => {
            let row = move |at: usize| rows[batch.query_of(at)];
            columns.with_queries(table.with("query_row", move |at| cloud.record(row(at) as usize)), row)
        }
        None => table,
    };
    columns
        .with_neighbors(ranked(table, batch), move |at| batch.row(at))
        .located(batch.cloud, move |at| batch.row(at))
}

/// The columns from `rank` on, and the file's coordinates, for a batch of one query. Missing neighbours have
/// no coordinates.
pub fn query_table<'a>(batch: AnswerBatch<'a>, columns: &'a FileColumns) -> Table<'a> {
    let table = Table::new(batch.len());
    let table = match batch.queries {
        Some((_, rows)) => columns.with_queries(table, move |_| rows[0]),
        None => table,
    };
    let table = columns
        .with_neighbors(ranked(table, batch), move |at| batch.row(at))
        .located(batch.cloud, move |at| batch.row(at));
    batch.cloud.axes().iter().enumerate().fold(table, |table, (axis, named)| {
        let coordinate = move |at| {
            Some(batch.row(at))
                .filter(|&row| row != NONE)
                .map(|row| batch.cloud.coordinate(row as usize, axis))
        };
        table.with(named.name.as_str(), coordinate)
    })
}

fn ranked<'a>(table: Table<'a>, batch: AnswerBatch<'a>) -> Table<'a> {
    let table = table.with("rank", move |at| batch.rank_of(at) as u32);
    let table = match batch.found {
        // A radius search has no missing neighbours.
        BatchAnswers::Within { .. } => table.with("index", move |at| batch.record(at) as u64),
        BatchAnswers::Nearest { .. } | BatchAnswers::Products { .. } => {
            table.with("index", move |at| batch.record(at))
        }
    };
    match batch.found {
        BatchAnswers::Nearest { metric, squared, .. } | BatchAnswers::Within { metric, squared, .. } => {
            let distance = move |at| batch.distance(at);
            table.with("squared_distance", move |at| squared[at]).with(metric.column(), distance)
        }
        BatchAnswers::Products { products, .. } => table.with("inner_product", move |at| products[at].value),
    }
}

/// Columns of input files to add to tables of neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileColumns {
    /// Indexed by the query's row in its own cloud; named `query_NAME`.
    pub queries: JoinedColumns,
    /// Indexed by the neighbour's row in the searched cloud.
    pub neighbors: JoinedColumns,
}

impl FileColumns {
    /// No added columns.
    pub fn none() -> &'static Self {
        const EMPTY: JoinedColumns = JoinedColumns { columns: Vec::new() };
        static NONE: FileColumns = FileColumns { queries: EMPTY, neighbors: EMPTY };
        &NONE
    }

    /// Adds the queries' columns; `row_of` gives the query's row for each row of the table.
    pub(super) fn with_queries<'a>(
        &'a self,
        table: Table<'a>,
        row_of: impl Fn(usize) -> u32 + Copy + 'a,
    ) -> Table<'a> {
        add_columns(table, "query_", &self.queries, row_of)
    }

    /// Adds the neighbours' columns, without values where `row_of` is [`NONE`].
    pub(super) fn with_neighbors<'a>(
        &'a self,
        table: Table<'a>,
        row_of: impl Fn(usize) -> u32 + Copy + 'a,
    ) -> Table<'a> {
        add_columns(table, "", &self.neighbors, row_of)
    }
}

fn add_columns<'a>(
    table: Table<'a>,
    prefix: &str,
    joined: &'a JoinedColumns,
    row_of: impl Fn(usize) -> u32 + Copy + 'a,
) -> Table<'a> {
    let row_at = move |at: usize| Some(row_of(at)).filter(|&row| row != NONE).map(|row| row as usize);
    joined.columns.iter().fold(table, |table, JoinedColumn { name, values }| {
        let name = unique_name(&table, format!("{prefix}{name}"));
        match values {
            JoinedValues::Whole(numbers) => table.with(name, move |at| {
                row_at(at)
                    .map(|row| numbers[row])
                    .filter(|number| !number.is_nan())
                    .map(|number| number as i64)
            }),
            JoinedValues::Numbers(numbers) => table
                .with(name, move |at| row_at(at).map(|row| numbers[row]).filter(|number| !number.is_nan())),
            JoinedValues::Texts(texts) => {
                table.with(name, move |at| row_at(at).and_then(|row| texts.get(row)))
            }
        }
    })
}

/// Prefixes the name with `file_` until it is unique in the table.
fn unique_name(table: &Table<'_>, mut name: String) -> String {
    while table.columns().iter().any(|column| column.name == name) {
        name.insert_str(0, "file_");
    }
    name
}
