//! The largest inner products, as files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::npz::Npz;
use super::provenance::{KEY, Provenance};
use super::table::{Table, TableFormat};
use super::{ExportError, write};
use crate::cloud::PointCloud;
use crate::knn::NONE;
use crate::knn::inner_product::Product;

/// What was found, and of whom.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    pub cloud: &'a PointCloud,
    /// q × k.
    pub products: &'a [Product],
    pub k: usize,
    /// Each query's record number in its own file; `None` for queries given by coordinates.
    pub rows: Option<&'a [u64]>,
    pub provenance: &'a Provenance,
}

impl Found<'_> {
    /// Its record number; −1 for none.
    fn index(self, product: Product) -> i64 {
        if product.row == NONE { -1 } else { self.cloud.record(product.row as usize) as i64 }
    }
}

/// `query,query_row,rank,index,inner_product`: k rows for each query, largest first.
pub fn table(found: Found<'_>) -> Table<'_> {
    let Found { products, k, .. } = found;
    let table = Table::new(products.len()).attributed(KEY, found.provenance.json()).with("query", move |row| (row / k) as u32);
    let table = match found.rows {
        Some(rows) => table.with("query_row", move |row| rows[row / k]),
        None => table,
    };
    table
        .with("rank", move |row| (row % k) as u32)
        .with("index", move |row| found.index(products[row]))
        .with("inner_product", move |row| products[row].value)
}

/// Writes a table in the format of the extension, or arrays: `indices` (q × k, i64), `inner_products` (q × k, f64) and, where queries are rows,
/// `query_rows` (i64).
///
/// # Errors
/// [`ExportError`].
pub fn inner_products(found: Found<'_>, path: &Path) -> Result<(), ExportError> {
    match TableFormat::of(path)? {
        TableFormat::Npz => write(path, |out| npz(found, out)),
        TableFormat::Csv | TableFormat::Tsv | TableFormat::Parquet | TableFormat::Arrow => table(found).write(path),
    }
}

fn npz(found: Found<'_>, out: &mut BufWriter<File>) -> io::Result<()> {
    let shape = (found.products.len() / found.k, found.k);
    let mut npz = Npz::new(out);
    npz.matrix("indices", "<i8", shape, found.products.iter().map(|&product| found.index(product).to_le_bytes()))?;
    npz.matrix("inner_products", "<f8", shape, found.products.iter().map(|product| product.value.to_le_bytes()))?;
    if let Some(rows) = found.rows {
        npz.column("query_rows", "<i8", shape.0, rows.iter().map(|&row| (row as i64).to_le_bytes()))?;
    }
    npz.finish()
}
