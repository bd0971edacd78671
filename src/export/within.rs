//! All neighbours within a radius, as files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::beside::FileColumns;
use super::neighbors::streamed;
use super::npz::Npz;
use super::provenance::{KEY, Provenance};
use super::table::{Appender, Table, TableFormat};
use super::{ExportError, write};
use crate::cloud::PointCloud;
use crate::knn::Metric;
use crate::run::within::Neighborhoods;

/// What the files say beside rows and distances.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub cloud: &'a PointCloud,
    pub metric: Metric,
    /// The cloud that the queries are rows of, and each query's row; `None` for queries given by coordinates.
    pub queries: Option<(&'a PointCloud, &'a [u32])>,
    /// What tables have of the files.
    pub columns: &'a FileColumns,
    pub provenance: &'a Provenance,
}

/// `query,query_row,rank,index,squared_distance` and the true distance: a row for each neighbour.
pub fn table<'a>(found: &'a Neighborhoods, asked: Asked<'a>) -> Table<'a> {
    let query = |row: usize| found.offsets.partition_point(|&start| start <= row as u64) - 1;
    let table = Table::new(found.rows.len()).attributed(KEY, asked.provenance.json()).with("query", move |row| (found.start + query(row)) as u32);
    let table = match asked.queries {
        Some((cloud, rows)) => {
            let table = table.with("query_row", move |row| cloud.record(rows[found.start + query(row)] as usize));
            asked.columns.with_queries(table, move |row| rows[found.start + query(row)])
        }
        None => table,
    };
    let table = table
        .with("rank", move |row| (row as u64 - found.offsets[query(row)]) as u32)
        .with("index", move |row| asked.cloud.record(found.rows[row] as usize))
        .with("squared_distance", |row| found.squared_distances[row])
        .with(asked.metric.column(), move |row| asked.metric.distance(found.squared_distances[row]));
    asked.columns.with_neighbors(table, |row| found.rows[row])
}

/// Writes the tables that `fill` passes on as one, in the format of the extension, while they are found.
///
/// # Errors
/// Those of `fill`, and [`ExportError`].
pub fn in_parts<E: From<ExportError>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn FnMut(&Table<'_>) -> Result<(), ExportError>) -> Result<(), E>,
) -> Result<(), E> {
    let format = TableFormat::of(path)?;
    streamed(path, |out| {
        let mut to = match format {
            TableFormat::Tsv => Appender::tsv(out),
            TableFormat::Parquet => Appender::parquet(out),
            TableFormat::Arrow => Appender::arrow_file(out),
            TableFormat::Csv | TableFormat::Npz => Appender::csv(out),
        };
        fill(&mut |table| to.append(table).map_err(ExportError::io(path)))?;
        Ok(to.finish().map_err(ExportError::io(path))?)
    })
}

/// Writes arrays: `offsets` (i64, one more than there are queries; a query's neighbours are from its own to the next), `indices` (i64),
/// `squared_distances` (f32), the true distances (f64) and, where queries are rows, `query_rows` (i64).
///
/// # Errors
/// [`ExportError`].
pub fn arrays(found: &Neighborhoods, asked: Asked<'_>, path: &Path) -> Result<(), ExportError> {
    write(path, |out| npz(found, asked, out))
}

fn npz(found: &Neighborhoods, asked: Asked<'_>, out: &mut BufWriter<File>) -> io::Result<()> {
    let (q, count) = (found.queries(), found.rows.len());
    let mut npz = Npz::new(out);
    npz.column("offsets", "<i8", q + 1, found.offsets.iter().map(|&offset| (offset as i64).to_le_bytes()))?;
    npz.column("indices", "<i8", count, found.rows.iter().map(|&row| (asked.cloud.record(row as usize) as i64).to_le_bytes()))?;
    npz.column("squared_distances", "<f4", count, found.squared_distances.iter().map(|distance| distance.to_le_bytes()))?;
    let distances = found.squared_distances.iter().map(|&squared| asked.metric.distance(squared).to_le_bytes());
    npz.column(asked.metric.column(), "<f8", count, distances)?;
    if let Some((cloud, rows)) = asked.queries {
        npz.column("query_rows", "<i8", q, rows.iter().map(|&row| (cloud.record(row as usize) as i64).to_le_bytes()))?;
    }
    npz.finish()
}
