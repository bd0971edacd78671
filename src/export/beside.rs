//! Columns of files beside those that a table of neighbours has itself.

use super::table::Table;
use crate::cloud::beside::{Beside, BesideColumn, BesideValues};
use crate::knn::NONE;

/// What tables of neighbours have of the files: of each query, and of each neighbour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileColumns {
    /// By the query's row in its own cloud; named `query_NAME`.
    pub queries: Beside,
    /// By the neighbour's row in the cloud that is searched.
    pub neighbors: Beside,
}

impl FileColumns {
    /// For tables that have their own columns only.
    pub fn none() -> &'static Self {
        const EMPTY: Beside = Beside { columns: Vec::new() };
        static NONE: FileColumns = FileColumns { queries: EMPTY, neighbors: EMPTY };
        &NONE
    }

    /// Adds the queries' columns: in each row of the table, the values of the query whose row is `row_of`.
    pub(super) fn with_queries<'a>(&'a self, table: Table<'a>, row_of: impl Fn(usize) -> u32 + Copy + 'a) -> Table<'a> {
        added(table, "query_", &self.queries, row_of)
    }

    /// Adds the neighbours' columns; without values where `row_of` is [`NONE`].
    pub(super) fn with_neighbors<'a>(&'a self, table: Table<'a>, row_of: impl Fn(usize) -> u32 + Copy + 'a) -> Table<'a> {
        added(table, "", &self.neighbors, row_of)
    }
}

fn added<'a>(table: Table<'a>, prefix: &str, beside: &'a Beside, row_of: impl Fn(usize) -> u32 + Copy + 'a) -> Table<'a> {
    let there = move |at: usize| Some(row_of(at)).filter(|&row| row != NONE).map(|row| row as usize);
    beside.columns.iter().fold(table, |table, BesideColumn { name, values }| {
        let name = untaken(&table, format!("{prefix}{name}"));
        match values {
            BesideValues::Whole(numbers) => {
                table.with(name, move |at| there(at).map(|row| numbers[row]).filter(|number| !number.is_nan()).map(|number| number as i64))
            }
            BesideValues::Numbers(numbers) => table.with(name, move |at| there(at).map(|row| numbers[row]).filter(|number| !number.is_nan())),
            BesideValues::Texts(texts) => table.with(name, move |at| there(at).and_then(|row| texts.of(row))),
        }
    })
}

/// The name with `file_` before it until no column of the table has it.
fn untaken(table: &Table<'_>, mut name: String) -> String {
    while table.columns().iter().any(|column| column.name == name) {
        name.insert_str(0, "file_");
    }
    name
}
