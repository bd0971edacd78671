//! Reads all columns of a few rows, decoding only the batches that contain them.

use std::collections::HashMap;

use arrow_array::RecordBatch;

use super::super::FormatError;
use super::super::columns::{Cell, Records, no_record, number_cell};
use super::super::input::{Input, printable};
use super::super::sheet::{ColumnKind, SheetColumn};
use super::layout::Layout;
use super::{Batches, moment, values};

pub(super) fn read(file: &dyn Batches, input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let layout = Layout::of(file, input)?;
    let columns = layout.columns();
    let rows = file.about().0;
    if let Some(&missing) = wanted.iter().find(|&&record| record >= rows) {
        return Err(no_record(missing, rows, input.path()));
    }
    let mut roots: Vec<usize> = (0..columns.len()).filter(|&at| layout.is_read(at) && input.wants(at)).map(|at| layout.root(at)).collect();
    roots.sort_unstable();
    roots.dedup();
    let mut ascending = wanted.to_vec();
    ascending.sort_unstable();
    ascending.dedup();
    let mut found: HashMap<u64, Vec<Cell>> = HashMap::new();
    let mut left = &ascending[..];
    // Without readable columns nothing has to be read, and the file may declare rows that it does not have.
    while let [first, ..] = *left
        && !roots.is_empty()
    {
        let before = left.len();
        file.read(&roots, first, &mut |start, batch| {
            input.check()?;
            while let [record, rest @ ..] = left
                && *record < start + batch.num_rows() as u64
            {
                let row = batch.slice((record - start) as usize, 1);
                let cells =
                    cells(&layout, &columns, &roots, &row, &|at| input.wants(at)).map_err(|why| input.malformed(format!("record {record}"), why))?;
                found.insert(*record, cells);
                left = rest;
            }
            Ok(left.len() == before)
        })?;
        if left.len() == before {
            return Err(input.malformed("cut short", format!("{rows} rows are promised, and row {first} is not there")));
        }
    }
    let nothing = || vec![Cell::Missing; columns.len()];
    let rows = wanted.iter().map(|record| found.get(record).cloned().unwrap_or_else(nothing)).collect();
    Ok(Records { columns: columns.into_iter().map(|column| column.name).collect(), rows })
}

/// The cells of a one-row batch whose arrays are those of `roots`.
fn cells(layout: &Layout, columns: &[SheetColumn], roots: &[usize], row: &RecordBatch, wants: &dyn Fn(usize) -> bool) -> Result<Vec<Cell>, String> {
    let array = |root: usize| roots.binary_search(&root).ok().map(|at| row.column(at));
    let numeric: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].kind == ColumnKind::Numeric && wants(at)).collect();
    let mut numbers = vec![f64::NAN; numeric.len()];
    layout.fill(array, &numeric, &mut numbers).map_err(|(_, why)| why)?;
    let mut cells = vec![Cell::Missing; columns.len()];
    for (&at, number) in numeric.iter().zip(numbers) {
        cells[at] = number_cell(number);
    }
    for at in (0..columns.len()).filter(|&at| columns[at].moment.is_some()) {
        let iso = array(layout.root(at)).and_then(|array| moment::text(array, 0));
        cells[at] = iso.map_or(cells[at].clone(), Cell::Text);
    }
    for at in (0..columns.len()).filter(|&at| layout.is_text(at)) {
        let text = array(layout.root(at)).and_then(|array| values::text(array, 0));
        cells[at] = text.map_or(Cell::Missing, |text| Cell::Text(printable(&text)));
    }
    Ok(cells)
}
