//! Turns the collected points into a sheet, or into individual records.

use std::collections::BTreeMap;

use super::{Builder, COORDINATES, ColumnValues, MAX_PADDED, PointKind};
use crate::formats::vector_cell::{Candidate, VectorColumn, VectorDetector, choose_vector, rank};
use crate::formats::{
    ColumnKind, ColumnRequest, DeclaredCoordinates, FormatError, Records, Result, Sheet, SheetColumn,
    columns, printable,
};

/// Values of a column searched for fractions.
const SEEN: usize = 1024;

impl Builder<'_, '_> {
    /// The requested records, in the order of the request.
    pub fn into_records(self, records: &[u64]) -> Result<Records> {
        let columns: Vec<String> = self.names();
        let cells =
            (columns.len() as u64).saturating_mul((records.len() * size_of::<columns::Cell>()) as u64);
        self.input.claim(cells, "the records")?;
        self.input.check_records(records, self.rows)?;
        let row = |record: &u64| {
            let mut cells = vec![columns::Cell::Missing; columns.len()];
            self.picked.get(record).into_iter().flatten().for_each(|(at, cell)| cells[*at] = cell.clone());
            cells
        };
        let rows = records.iter().map(row).collect();
        Ok(Records { columns, rows })
    }

    /// The column names; the elements of short arrays are x, y, z.
    fn names(&self) -> Vec<String> {
        let all_made_up = self.columns.iter().all(|column| column.made_up);
        let unnamed = if all_made_up { SheetColumn::unnamed(self.columns.len()) } else { Vec::new() };
        let name = |(at, column): (usize, &super::ColumnValues)| {
            unnamed.get(at).map_or(&column.name, |unnamed| &unnamed.name).clone()
        };
        let mut names: Vec<String> = self.columns.iter().enumerate().map(name).collect();
        for (vector, columns) in self.vectors().into_iter().filter(|(vector, _)| vector.place) {
            columns.into_iter().zip(vector.columns).for_each(|(at, column)| names[at] = column.name);
        }
        if self.degrees == Some(true) {
            let axes = ["longitude", "latitude", "height"];
            let prefix = if names.iter().any(|name| axes.contains(&name.to_lowercase().as_str())) {
                "geometry."
            } else {
                ""
            };
            self.axis_columns().zip(axes).for_each(|(at, axis)| names[at] = format!("{prefix}{axis}"));
        }
        names
    }

    /// The columns of the axes, in GeoJSON.
    fn axis_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.axes.iter().filter_map(|&node| self.nodes.column(node))
    }

    /// The vectors in texts, and the columns of their elements.
    fn vectors(&self) -> Vec<(VectorColumn, Vec<usize>)> {
        let vector = |(&node, detector): (&u32, &VectorDetector)| {
            let at = self.nodes.column(node)?;
            let vector = detector.vector(at, &self.columns[at].name, None)?;
            let mut columns: Vec<usize> = self.nodes.elements(node).take(vector.columns.len()).collect();
            if vector.swapped {
                columns.swap(0, 1);
            }
            Some((vector, columns))
        };
        let geometry = |(_, mut columns, vector): (u32, Vec<usize>, Option<VectorColumn>)| {
            let vector = vector?;
            columns.truncate(vector.columns.len());
            Some((vector, columns))
        };
        self.vectors.iter().filter_map(vector).chain(self.arrays().into_iter().filter_map(geometry)).collect()
    }

    /// The arrays in the points with the columns of their elements, and the vector that they form if they are
    /// GeoJSON coordinates.
    fn arrays(&self) -> Vec<(u32, Vec<usize>, Option<VectorColumn>)> {
        let mut arrays: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, column) in self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.item && !self.vectors.contains_key(&column.array))
        {
            arrays.entry(column.array).or_default().push(at);
        }
        let geometry = |array: u32, columns: usize| {
            let name = self.nodes.name(array).0;
            let name = name.strip_suffix(COORDINATES)?;
            let at =
                self.columns.iter().position(|column| column.name.strip_prefix(name) == Some(".type"))?;
            VectorColumn::geojson(at, name, &self.columns[at].example.as_ref()?.1, columns)
        };
        let each = |(array, columns): (u32, Vec<usize>)| {
            let geometry = geometry(array, columns.len());
            (array, columns, geometry)
        };
        arrays.into_iter().map(each).collect()
    }

    /// The vectors of the points: texts and arrays.
    fn candidates(&self) -> Vec<Candidate> {
        let of_text = |(VectorColumn { at, why, rank, .. }, columns)| Candidate {
            name: self.columns[at].name.replace(".type", ""),
            rank,
            columns,
            why,
        };
        let of_array = |(array, columns, _): (u32, Vec<usize>, Option<VectorColumn>)| {
            let (name, _) = self.nodes.name(array);
            let fraction = |&at: &usize| {
                self.columns[at].values.iter().take(SEEN).any(|value| value.fract() != 0.0 && !value.is_nan())
            };
            Candidate {
                rank: rank(&name, columns.iter().any(fraction), false),
                columns,
                why: format!("the array `{}`", printable(&name)),
                name,
            }
        };
        let arrays = self.arrays().into_iter().filter(|(_, _, geometry)| geometry.is_none());
        self.vectors().into_iter().map(of_text).chain(arrays.map(of_array)).collect()
    }

    /// Builds the sheet of all points.
    pub fn finish(mut self, format: &str, request: &ColumnRequest<'_>) -> Result<Sheet> {
        let Some(kind) = self.kind else {
            return Err(self.input.malformed("nothing to read", "the array is empty"));
        };
        if self.columns.is_empty() {
            return Err(self.input.malformed("no coordinates", "the points are empty"));
        }
        let rows = self.rows;
        let width =
            self.columns.iter().filter(|column| column.selected && column.kind != ColumnKind::Text).count();
        if (width as u64).saturating_mul(rows) > (1 << 20) + MAX_PADDED * self.present {
            let _ = self.too_sparse();
            return Err(self.failed.unwrap_or(FormatError::Cancelled));
        }
        let candidates =
            if matches!(kind, PointKind::Object | PointKind::Row) { self.candidates() } else { Vec::new() };
        let axes: Vec<usize> = self.axis_columns().collect();
        let attributes =
            self.vectors().into_iter().flat_map(|(vector, columns)| columns.into_iter().zip(vector.columns));
        let attributes: Vec<usize> =
            attributes.filter(|(_, column)| column.attribute).map(|(at, _)| at).collect();
        // Rows that are arrays have no columns to infer, unless text or a header makes them a table.
        let array = kind == PointKind::Array
            && !self.header
            && self.nodes.given.is_empty()
            && self.columns.iter().all(|column| column.kind != ColumnKind::Text);
        let names = self.names();
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.name = name;
            if column.kind == ColumnKind::Text
                && let Some(mut texts) = column.texts.take()
            {
                for _ in column.texted..rows {
                    texts.push("", &column.name, self.input)?;
                }
                column.texts = Some(texts);
            } else {
                column.texts = None;
            }
            if column.kind == ColumnKind::Numeric && rows > 0 && !column.filled {
                column.kind = ColumnKind::Empty;
            }
        }
        let selected: Vec<usize> = (0..self.columns.len())
            .filter(|&at| self.columns[at].selected && self.columns[at].kind != ColumnKind::Text)
            .collect();
        let values = if let [only] = selected[..] {
            let ColumnValues { first, values, .. } = &mut self.columns[only];
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
        self.input.claim((self.columns.len() * size_of::<SheetColumn>()) as u64, "the columns")?;
        let degrees = self.degrees;
        let column = |column: super::ColumnValues| {
            let element = array || column.item && kind != PointKind::Array;
            column.into_column(element)
        };
        let long_decimals = self.long_decimals;
        let mut columns: Vec<SheetColumn> = self.columns.into_iter().map(column).collect();
        attributes.into_iter().for_each(|at| columns[at].attribute = true);
        let texts: Vec<bool> = columns.iter().map(|column| column.kind == ColumnKind::Text).collect();
        let numeric = |at: usize| !texts[at];
        let (mut declared, note) = choose_vector(&mut columns, &candidates, numeric, self.input, request)?;
        if degrees == Some(true) {
            axes.iter().zip(["x", "y", "z"]).for_each(|(&at, alias)| columns[at].alias = Some(alias));
            axes.iter().skip(2).for_each(|&height| columns[height].attribute = true);
        }
        if let Some(degrees) = degrees {
            let height = if degrees && axes.len() > 2 { "; the height is left out" } else { "" };
            let why = format!(
                "GeoJSON points, {}{height}",
                if degrees { "WGS 84" } else { "in the plane of their CRS" }
            );
            let coordinates = axes.into_iter().filter(|&at| !columns[at].attribute).collect();
            declared = Some(DeclaredCoordinates { columns: coordinates, why });
        }
        let sheet =
            Sheet::new(self.input, format!("{format} of {what}{names}"), columns, selected, rows, values);
        Ok(Sheet { declared, skipped: note.into_iter().collect(), long_decimals, ..sheet })
    }

    /// Interleaves columns into rows, freeing each column afterwards.
    fn gather(&mut self, selected: &[usize]) -> Result<Vec<f64>> {
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
