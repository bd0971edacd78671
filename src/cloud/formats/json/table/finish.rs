//! Turns the collected points into a sheet, or into individual records.

use super::{Builder, FormatError, Kind, MAX_PADDED, Values};
use crate::cloud::formats::columns::{self, Records, no_record, too_many_texts};
use crate::cloud::formats::sheet::{ColumnKind, Sheet, SheetColumn};

impl Builder<'_, '_> {
    /// The requested records, in the order of the request.
    pub fn into_records(self, records: &[u64]) -> Result<Records, FormatError> {
        let columns: Vec<String> = self.names();
        let cells = (columns.len() as u64).saturating_mul((records.len() * size_of::<columns::Cell>()) as u64);
        self.input.claim(cells, "the records")?;
        let row = |&record: &u64| {
            if record >= self.rows {
                return Err(no_record(record, self.rows, self.input.path()));
            }
            let mut cells = vec![columns::Cell::Missing; columns.len()];
            self.picked.get(&record).into_iter().flatten().for_each(|(at, cell)| cells[*at] = cell.clone());
            Ok(cells)
        };
        let rows = records.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Records { columns, rows })
    }

    /// The column names; the elements of short arrays are x, y, z.
    fn names(&self) -> Vec<String> {
        let all_made_up = self.columns.iter().all(|column| column.made_up);
        let unnamed = if all_made_up { SheetColumn::unnamed(self.columns.len()) } else { Vec::new() };
        let name = |(at, column): (usize, &super::Values)| unnamed.get(at).map_or(&column.name, |unnamed| &unnamed.name).clone();
        self.columns.iter().enumerate().map(name).collect()
    }

    /// Builds the sheet of all points.
    pub fn finish(mut self, format: &str) -> Result<Sheet, FormatError> {
        let Some(kind) = self.kind else {
            return Err(self.input.malformed("nothing to read", "the array is empty"));
        };
        if self.columns.is_empty() {
            return Err(self.input.malformed("no coordinates", "the points are empty"));
        }
        let rows = self.rows;
        let width = self.columns.iter().filter(|column| column.selected && column.kind != ColumnKind::Text).count();
        if (width as u64).saturating_mul(rows) > (1 << 20) + MAX_PADDED * self.present {
            let _ = self.too_sparse();
            return Err(self.failed.unwrap_or(FormatError::Cancelled));
        }
        // If points contain arrays, those are the coordinates, and scalars are further columns.
        let arrays = kind == Kind::Object && self.columns.iter().any(|column| column.item);
        let names = self.names();
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.name = name;
            if column.kind == ColumnKind::Text
                && let Some(mut texts) = column.texts.take()
            {
                for _ in column.texted..rows {
                    if !texts.push_counted("", self.input)? {
                        return Err(too_many_texts(&column.name, self.input.path()));
                    }
                }
                column.texts = Some(texts);
            } else {
                column.texts = None;
            }
            if column.kind == ColumnKind::Numeric && rows > 0 && !column.filled {
                column.kind = ColumnKind::Empty;
            }
        }
        let selected: Vec<usize> =
            (0..self.columns.len()).filter(|&at| self.columns[at].selected && self.columns[at].kind != ColumnKind::Text).collect();
        let values = if let [only] = selected[..] {
            let Values { first, values, .. } = &mut self.columns[only];
            if *first == 0 {
                self.input.reserve(values, (rows as usize).saturating_sub(values.len()))?;
                values.resize(rows as usize, f64::NAN);
                std::mem::take(values)
            } else {
                self.gather(&selected)?
            }
        } else {
            self.gather(&selected)?
        };
        let what = kind.plural();
        let names = if self.header { ", header" } else { "" };
        let columns = {
            let column = |column: super::Values| {
                let beside = arrays && !column.item;
                column.into_column(beside)
            };
            self.input.claim((self.columns.len() * size_of::<SheetColumn>()) as u64, "the columns")?;
            self.columns.into_iter().map(column).collect()
        };
        Ok(Sheet::new(self.input, format!("{format} of {what}{names}"), columns, selected, rows, values))
    }

    /// Interleaves columns into rows, freeing each column afterwards.
    fn gather(&mut self, selected: &[usize]) -> Result<Vec<f64>, FormatError> {
        let (rows, width) = (self.rows as usize, selected.len());
        let mut gathered = Vec::new();
        self.input.reserve(&mut gathered, rows * width)?;
        gathered.resize(rows * width, f64::NAN);
        for (position, &at) in selected.iter().enumerate() {
            let first = self.columns[at].first as usize;
            for (row, value) in std::mem::take(&mut self.columns[at].values).into_iter().enumerate() {
                gathered[(first + row) * width + position] = value;
            }
            self.input.check()?;
        }
        Ok(gathered)
    }
}
