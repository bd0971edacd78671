//! Delimited text: `.csv`, `.tsv`, `.txt`, space-aligned columns; also gzipped.
//!
//! A record is a line, or several if a quoted field contains line ends. Blank lines and lines that begin with
//! `#` are not records. A column is numeric if every field that is not empty (or NA, NaN, null, none) parses
//! as a number, in a single notation that fits all its numbers.

mod dialect;
mod header;
mod notation;
mod records;
mod text;

use super::cell::Cell;
use super::sheet::gather;
use super::vector_cell::{Candidate, VectorColumn, append, choose_vector};
use super::{
    CategoryBuilder, ColumnKind, ColumnRequest, Input, RecordPicker, Records, Result, Sheet, SheetColumn,
    cell, columns,
};
use crate::{ColumnChoice, Hint, LongDecimals};
use text::TextRecords;

/// Number of records after which columns that turned out to be text no longer take memory.
const DROP_TEXT_AFTER: u64 = 1024;

/// Number of records in which unread columns are checked for text, if no columns were selected.
const CHECKED_RECORDS: u64 = 100;

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let mut text = TextRecords::open(input)?;
    let mut columns = text.columns.clone();
    let (width, vectors) = (columns.len(), std::mem::take(&mut text.vectors));
    let candidates = append(&mut columns, &vectors, input)?;
    let numeric = |at: usize| text.texts.binary_search(&at).is_err();
    let (declared, note) = choose_vector(&mut columns, &candidates, numeric, input, request)?;
    let mut selected = request.resolve(&columns, input)?;
    let read = |candidate: &Candidate| selected.iter().any(|at| candidate.columns.contains(at));
    let vectors: Vec<(usize, &VectorColumn)> = candidates
        .iter()
        .zip(&vectors)
        .filter(|(candidate, _)| read(candidate))
        .map(|(candidate, vector)| (candidate.columns[0], vector))
        .collect();
    let (mut numbers, mut elements) = (Vec::new(), vec![f64::NAN; columns.len() - width]);
    let mut filled = vec![false; columns.len()];
    let (mut values, mut long_decimals): (Vec<f64>, _) = (Vec::new(), LongDecimals::default());
    let mut unread = vec![matches!(request, ColumnRequest::Selected(ColumnChoice::Default)); columns.len()];
    selected.iter().for_each(|&at| unread[at] = false);
    while text.advance(input)? {
        if text.rows <= CHECKED_RECORDS {
            let texts = (0..width).filter(|&at| unread[at] && text.cell(at) == Cell::Text);
            texts.for_each(|at| columns[at].kind = ColumnKind::Text);
        }
        for &(start, vector) in &vectors {
            if let Err(why) = vector.read(text.field(vector.at), false, &mut numbers) {
                let what = format!(
                    "line {}, record {}, column `{}`",
                    text.line(input)?,
                    text.rows - 1,
                    columns[vector.at].name
                );
                return Err(input.unusable(what, why, Some(Hint::OtherColumns)));
            }
            elements[start - width..][..numbers.len()].copy_from_slice(&numbers);
        }
        if values.capacity() - values.len() < selected.len() {
            input.reserve(&mut values, selected.len())?;
        }
        for &at in &selected {
            let column = &mut columns[at];
            let cell = match at.checked_sub(width) {
                Some(element) if elements[element].is_nan() => Cell::Missing,
                Some(element) => Cell::Number(elements[element]),
                None if column.kind == ColumnKind::Text => Cell::Missing,
                None => text.cell(at),
            };
            values.push(match cell {
                Cell::Number(number) => {
                    filled[at] = true;
                    if at < width
                        && let Some(decimal) = text.long_decimal(at, number)
                    {
                        long_decimals.push(decimal, input)?;
                    }
                    number
                }
                Cell::Missing => f64::NAN,
                Cell::Text if matches!(request, ColumnRequest::Column(_)) => return read_texts(input, at),
                Cell::Text => {
                    column.kind = ColumnKind::Text;
                    // An ambiguous comma must not silently remove a dimension.
                    column.mixed = filled[at] || text.is_doubtful(at);
                    column.example = Some((text.rows - 1, cell::excerpt(text.field(at))));
                    f64::NAN
                }
            });
        }
        if text.rows == DROP_TEXT_AFTER {
            values = drop_text(values, &mut selected, &columns, input)?;
        }
    }
    values = drop_text(values, &mut selected, &columns, input)?;
    for &at in &selected {
        // A table without records still has columns.
        if text.rows > 0 && !filled[at] {
            columns[at].kind = ColumnKind::Empty;
        }
    }
    let TextRecords { format, rows, mut skipped, .. } = text;
    skipped.extend(note);
    Ok(Sheet {
        skipped,
        declared,
        long_decimals,
        ..Sheet::new(input, format, columns, selected, rows, values)
    })
}

/// Reads one column as text, including any numbers before its first text.
fn read_texts(input: &Input<'_>, at: usize) -> Result<Sheet> {
    let mut text = TextRecords::open(input)?;
    let mut texts = CategoryBuilder::default();
    while text.advance(input)? {
        texts.push(&cell::text(text.field(at)), &text.columns[at].name, input)?;
    }
    let TextRecords { format, mut columns, rows, skipped, .. } = text;
    columns[at].kind = ColumnKind::Text;
    columns[at].texts = Some(texts);
    Ok(Sheet { skipped, ..Sheet::new(input, format, columns, Vec::new(), rows, Vec::<f64>::new()) })
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let mut text = TextRecords::open(input)?;
    let mut marks = input.marks.map(|marks| marks.for_input(input));
    let (mut columns, vectors) = (std::mem::take(&mut text.columns), std::mem::take(&mut text.vectors));
    let width = columns.len();
    text.columns = columns.clone();
    append(&mut columns, &vectors, input)?;
    let mut numbers = Vec::new();
    let mut picked = RecordPicker::new(wanted);
    for (&record, cells) in &mut picked.found {
        // Skip ahead to the last known mark before the record.
        if let Some((mark, byte)) =
            marks.as_ref().and_then(|marks| marks.before(record)).filter(|&(mark, _)| mark > text.rows)
        {
            text.go_to(mark, byte, input)?;
        }
        while text.rows <= record && text.advance(input)? {
            if let (Some(marks), Some(byte)) = (&mut marks, text.start())
                && marks.wants(text.rows - 1)
            {
                marks.add(text.rows - 1, byte);
            }
        }
        if text.rows == record + 1 {
            columns::claim_cells(columns.len(), input)?;
            let cell = if input.spelled { columns::spelled_cell } else { columns::cell_as };
            *cells = (0..width).map(|at| cell(text.cell(at), text.field(at))).collect();
            for vector in &vectors {
                if vector.read(text.field(vector.at), false, &mut numbers).is_err() {
                    numbers.clear();
                    numbers.resize(vector.columns.len(), f64::NAN);
                }
                cells.extend(numbers.iter().map(|&number| columns::number_cell(number)));
            }
        }
    }
    input.check_records(wanted, text.rows)?;
    Ok(picked.into_records(SheetColumn::names(columns)))
}

/// A note about a first line that is not part of the table.
pub(super) fn note(input: &Input<'_>) -> Result<Option<String>> {
    Ok(TextRecords::open(input)?.note)
}

/// The 1-based line on which a record begins.
pub(super) fn line_of_record(input: &Input<'_>, record: u64) -> Result<u64> {
    let mut text = TextRecords::open(input)?;
    while text.rows <= record && text.advance(input)? {}
    text.line(input)
}

/// Removes the values of columns that turned out to be text.
fn drop_text(
    values: Vec<f64>,
    selected: &mut Vec<usize>,
    columns: &[SheetColumn],
    input: &Input<'_>,
) -> Result<Vec<f64>> {
    let numeric: Vec<usize> =
        (0..selected.len()).filter(|&at| columns[selected[at]].kind != ColumnKind::Text).collect();
    let values = gather(values, selected.len(), &numeric, &input.path)?;
    *selected = numeric.into_iter().map(|at| selected[at]).collect();
    Ok(values)
}
