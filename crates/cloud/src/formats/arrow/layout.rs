//! Maps a schema to columns. A list of numbers, or a point or vector in a text, becomes one column per
//! element.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, Field};
use serde_json::Value;

use super::values::TimestampType;
use super::{ALL, BatchReader, values};
use crate::formats::limits::{MAX_COLUMNS, MAX_LIST_COLUMNS, MAX_PROMISED_COLUMNS};
use crate::formats::vector_cell::{
    Candidate, POINTS, VectorColumn, VectorDetector, axes, parse, rank, unreadable,
};
use crate::formats::{ColumnKind, Crs, Input, Result, SheetColumn, printable};

/// Bytes per column besides its name.
const COLUMN: u64 = 64;
/// Maximum length in characters of a type name, which includes the types of nested fields.
const TYPE_NAME: usize = 100;

/// Number of batches, and of rows in each, searched for vectors in texts and bytes.
const SAMPLE: usize = 100;
const MAX_BATCHES: usize = 8;

/// The origin of each column of a sheet.
pub(super) struct Layout {
    columns: Vec<Origin>,
    /// Names of the list columns.
    lists: HashMap<usize, String>,
    /// Text and byte columns that contain vectors.
    vectors: Vec<VectorColumn>,
    pub candidates: Vec<Candidate>,
    /// By the index of the field.
    geometries: HashMap<usize, Geometry>,
}

struct Origin {
    name: String,
    /// Index of the field in the schema.
    root: usize,
    what: ColumnSource,
    /// Whether f32 represents its numbers exactly.
    narrow: bool,
    /// An attribute: a coordinate only if selected explicitly.
    attribute: bool,
    /// Unit and time zone, if the numbers are timestamps.
    moment: Option<TimestampType>,
}

enum ColumnSource {
    Number,
    /// One element of a fixed-size list, with the list's length.
    Element {
        at: usize,
        of: usize,
    },
    /// A field of a structure.
    Field(usize),
    /// An element of a vector in a text or in bytes, by the vector's index.
    Cell {
        vector: usize,
        at: usize,
    },
    Text,
    /// An unsupported type.
    Other(String),
}

impl Layout {
    pub fn new(file: &dyn BatchReader, input: &Input<'_>) -> Result<Self> {
        let schema = file.schema();
        let lists: Vec<usize> = (0..schema.fields().len())
            .filter(|&root| values::is_list(schema.field(root).data_type()))
            .collect();
        let widths = widths(file, &lists, input)?;
        let named = lists.iter().zip(&widths).map(|(&root, &width)| {
            (schema.field(root).name().len() as u64 + COLUMN).saturating_mul(width as u64)
        });
        let bytes = named.fold(0, u64::saturating_add);
        if bytes > MAX_LIST_COLUMNS {
            let why = format!(
                "with their lists' names they take {bytes} bytes; the limit is \
                 {MAX_LIST_COLUMNS}"
            );
            return Err(input.unsupported("columns of lists", why));
        }
        let promised = widths
            .iter()
            .copied()
            .max()
            .filter(|&width| width > MAX_PROMISED_COLUMNS && width as u64 > input.size);
        if let Some(width) = promised {
            return Err(input.malformed(
                "columns of lists",
                format!("a list has {width} elements, and the file {} bytes", input.size),
            ));
        }
        let geo = schema.metadata().get("geo").map_or("", String::as_str);
        input.claim((geo.len() * size_of::<Value>()) as u64, "the description of geometries")?;
        let geo: Value = serde_json::from_str(geo).unwrap_or_default();
        let mut layout = Self {
            columns: Vec::new(),
            lists: HashMap::new(),
            vectors: Vec::new(),
            candidates: Vec::new(),
            geometries: HashMap::new(),
        };
        layout.geometries = schema
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(root, field)| Some((root, Geometry::from_field(field, &geo)?)))
            .collect();
        let mut points = Vec::new();
        for (root, field) in schema.fields().iter().enumerate() {
            let (name, kind) = (field.name(), field.data_type());
            let geometry = layout.geometries.get(&root);
            if let Ok(position) = lists.binary_search(&root) {
                let of = widths[position];
                let place = geometry
                    .filter(|_| (2..=3).contains(&of))
                    .map(|geometry| axes(name, of, geometry.degrees()));
                let column = |at: usize| {
                    place
                        .as_ref()
                        .map_or_else(|| SheetColumn::numeric(format!("{name}{at}")), |axes| axes[at].clone())
                };
                let rank =
                    if place.is_some() { POINTS } else { rank(name, values::is_floating(kind), false) };
                layout.append(
                    root,
                    field,
                    rank,
                    (0..of).map(|at| (column(at), ColumnSource::Element { at, of })),
                );
                layout.lists.insert(root, name.clone());
                continue;
            }
            let structure = if let DataType::Struct(fields) = kind { values::axes(fields) } else { None };
            if let Some((degrees, found)) = structure {
                let columns = axes(name, found.len(), degrees || geometry.is_some_and(Geometry::degrees));
                points.push((root, columns.into_iter().zip(found.into_iter().map(ColumnSource::Field))));
            } else if let Some(fractions) = values::is_nested(kind) {
                let why = geometry
                    .map_or_else(|| "lists of lists, not of numbers".to_owned(), |_| unreadable("geometry"));
                let (rank, why) = (rank(name, fractions, false), format!("it holds {why}"));
                layout.candidates.push(Candidate { name: name.clone(), rank, columns: Vec::new(), why });
            }
            let what = match kind {
                kind if values::is_number(kind) => ColumnSource::Number,
                kind if values::is_text(kind) => ColumnSource::Text,
                kind => ColumnSource::Other(shortened(kind)),
            };
            // Dates, booleans and the index of pandas are unlikely to be coordinates.
            let attribute =
                kind.is_temporal() || *kind == DataType::Boolean || name.starts_with("__index_level_");
            layout.columns.push(Origin {
                name: name.clone(),
                root,
                what,
                narrow: values::fits_f32(kind),
                attribute,
                moment: TimestampType::from_type(kind),
            });
        }
        points
            .into_iter()
            .for_each(|(root, columns)| layout.append(root, schema.field(root), POINTS, columns));
        layout.sample(file, input)?;
        Ok(layout)
    }

    /// Adds the columns of elements, and the vector that they form.
    fn append(
        &mut self,
        root: usize,
        field: &Field,
        rank: u8,
        columns: impl Iterator<Item = (SheetColumn, ColumnSource)>,
    ) {
        let (start, narrow) = (self.columns.len(), values::fits_f32(field.data_type()));
        let origin = |(column, what): (SheetColumn, ColumnSource)| Origin {
            name: column.name,
            root,
            what,
            narrow,
            attribute: column.attribute,
            moment: None,
        };
        self.columns.extend(columns.map(origin));
        let crs = self
            .geometries
            .get(&root)
            .and_then(|geometry| geometry.crs.as_ref())
            .map(|crs| format!(", {}", crs.name))
            .unwrap_or_default();
        let why = format!(
            "{} `{}`{crs}",
            if rank == POINTS { "points of" } else { "the list" },
            printable(field.name())
        );
        self.candidates.push(Candidate {
            name: field.name().clone(),
            rank,
            columns: (start..self.columns.len()).collect(),
            why,
        });
    }

    /// Looks for vectors in texts and bytes. Texts are skipped if a list is the vector by its name.
    fn sample(&mut self, file: &dyn BatchReader, input: &Input<'_>) -> Result<()> {
        let schema = file.schema();
        let texts = self.candidates.iter().all(|candidate| candidate.rank <= POINTS);
        let sampled = |kind: &DataType| values::is_binary(kind) || texts && values::is_text(kind);
        let roots: Vec<usize> =
            (0..schema.fields().len()).filter(|&root| sampled(schema.field(root).data_type())).collect();
        if roots.is_empty() {
            return Ok(());
        }
        let mut detectors = vec![VectorDetector::default(); roots.len()];
        let (mut numbers, mut batches) = (Vec::new(), 0);
        file.read(&roots, ALL, &mut |_, batch| {
            input.check()?;
            batches += 1;
            for (array, detector) in batch.columns().iter().zip(&mut detectors) {
                let rows = (0..array.len()).step_by((array.len() / SAMPLE).max(1));
                for bytes in rows.filter_map(|row| values::bytes(array, row)) {
                    let content = parse(bytes, values::is_binary(array.data_type()), &mut numbers);
                    detector.add(content, &numbers);
                }
            }
            Ok(batches < MAX_BATCHES && detectors.iter().any(VectorDetector::is_empty))
        })?;
        for (root, detector) in roots.into_iter().zip(detectors) {
            let (field, geometry) = (schema.field(root), self.geometries.get(&root));
            let Some(vector) =
                detector.vector(root, field.name(), geometry.and_then(|geometry| geometry.crs.as_ref()))
            else {
                continue;
            };
            let rank = if geometry.is_some_and(|geometry| geometry.primary) {
                vector.rank.max(POINTS + 1)
            } else {
                vector.rank
            };
            input.claim(SheetColumn::memory_of(vector.columns.len() as u64), "the columns")?;
            let cell = |(at, column): (usize, &SheetColumn)| {
                (column.clone(), ColumnSource::Cell { vector: self.vectors.len(), at })
            };
            let columns: Vec<_> = vector.columns.iter().enumerate().map(cell).collect();
            self.append(root, field, rank, columns.into_iter());
            self.candidates
                .last_mut()
                .into_iter()
                .for_each(|candidate| candidate.why.clone_from(&vector.why));
            self.vectors.push(vector);
        }
        Ok(())
    }

    pub fn columns(&self) -> Vec<SheetColumn> {
        let column = |position: &Origin| {
            let column = SheetColumn {
                attribute: position.attribute,
                moment: position.moment,
                ..SheetColumn::numeric(position.name.clone())
            };
            match &position.what {
                ColumnSource::Number => column,
                ColumnSource::Element { .. } | ColumnSource::Field(_) | ColumnSource::Cell { .. } => {
                    SheetColumn { element: true, ..column }
                }
                ColumnSource::Text => SheetColumn { kind: ColumnKind::Text, ..column },
                ColumnSource::Other(kind) => {
                    SheetColumn { kind: ColumnKind::Text, example: Some((0, kind.clone())), ..column }
                }
            }
        };
        self.columns.iter().map(column).collect()
    }

    /// Index of a column's field in the schema.
    pub fn root(&self, column: usize) -> usize {
        self.columns[column].root
    }

    /// Whether f32 represents its numbers exactly.
    pub fn fits_f32(&self, column: usize) -> bool {
        self.columns[column].narrow
    }

    pub fn is_text(&self, column: usize) -> bool {
        matches!(self.columns[column].what, ColumnSource::Text)
    }

    /// Whether the column has a supported type: numbers or text.
    pub fn is_read(&self, column: usize) -> bool {
        !matches!(self.columns[column].what, ColumnSource::Other(_))
    }

    /// Reads the numbers of some columns, given in ascending order, row by row; null becomes NaN. `array`
    /// returns the array at a schema index. The error is a row and the reason.
    pub fn fill<'b>(
        &self,
        array: impl Fn(usize) -> Option<&'b ArrayRef>,
        selected: &[usize],
        rows: &mut [f64],
    ) -> Result<(), (usize, String)> {
        rows.fill(f64::NAN);
        let mut start = 0;
        for same in selected.chunk_by(|&a, &b| self.root(a) == self.root(b)) {
            let positions = start..start + same.len();
            start = positions.end;
            if let Some(array) = array(self.root(same[0])) {
                self.numbers(array, selected, positions, rows)?;
            }
        }
        Ok(())
    }

    /// Writes the numbers of the columns that share an array into `rows`; nulls leave the value unchanged.
    /// `positions` is their range in `selected`. The error is a row of the array and the reason.
    fn numbers(
        &self,
        array: &ArrayRef,
        selected: &[usize],
        positions: Range<usize>,
        rows: &mut [f64],
    ) -> Result<(), (usize, String)> {
        let of = |position: usize| &self.columns[selected[position]];
        match of(positions.start).what {
            ColumnSource::Element { of: length, .. } => {
                let named = |why: String| {
                    format!("the list in column `{}` {why}", self.lists[&of(positions.start).root])
                };
                let each = |row: usize, list: &[f64]| {
                    for position in positions.clone() {
                        if let ColumnSource::Element { at, .. } = of(position).what {
                            rows[row * selected.len() + position] = list[at];
                        }
                    }
                };
                values::lists(array, length, each).map_err(|(row, why)| (row, named(why)))
            }
            ColumnSource::Number => {
                values::numbers(array, rows.iter_mut().skip(positions.start).step_by(selected.len()))
                    .map_err(|why| (0, why))?;
                // Fill columns that were selected twice.
                for row in rows.chunks_exact_mut(selected.len()) {
                    let value = row[positions.start];
                    row[positions.clone()].fill(value);
                }
                Ok(())
            }
            ColumnSource::Field(_) => {
                let points =
                    array.as_struct_opt().ok_or_else(|| (0, "a structure changed its type".to_owned()))?;
                for position in positions {
                    let ColumnSource::Field(field) = of(position).what else { continue };
                    values::numbers(
                        points.column(field),
                        rows.iter_mut().skip(position).step_by(selected.len()),
                    )
                    .map_err(|why| (0, why))?;
                    (0..array.len())
                        .filter(|&row| array.is_null(row))
                        .for_each(|row| rows[row * selected.len() + position] = f64::NAN);
                }
                Ok(())
            }
            ColumnSource::Cell { vector, .. } => {
                let (vector, binary, mut numbers) =
                    (&self.vectors[vector], values::is_binary(array.data_type()), Vec::new());
                for row in 0..array.len() {
                    let Some(bytes) = values::bytes(array, row) else { continue };
                    vector.read(bytes, binary, &mut numbers).map_err(|why| (row, why))?;
                    for position in positions.clone() {
                        if let ColumnSource::Cell { at, .. } = of(position).what {
                            rows[row * selected.len() + position] = numbers[at];
                        }
                    }
                }
                Ok(())
            }
            ColumnSource::Text | ColumnSource::Other(_) => Ok(()),
        }
    }
}

/// A geometry that the file declares, by the metadata of GeoParquet or an extension type of GeoArrow.
struct Geometry {
    crs: Option<Crs>,
    primary: bool,
}

impl Geometry {
    fn from_field(field: &Field, geo: &Value) -> Option<Self> {
        if let Some(column) = geo.get("columns").and_then(|columns| columns.get(field.name())) {
            let crs = column.get("crs").map_or_else(|| Crs::of_json(&"OGC:CRS84".into()), Crs::of_json);
            return Some(Self {
                crs,
                primary: geo.get("primary_column").and_then(Value::as_str) == Some(field.name()),
            });
        }
        let metadata = |key: &str| field.metadata().get(key).map(String::as_str);
        let extension = metadata("ARROW:extension:name")
            .is_some_and(|name| name.starts_with("geoarrow.") || name == "ogc.wkb");
        let about = || serde_json::from_str::<Value>(metadata("ARROW:extension:metadata")?).ok();
        extension.then(|| Self {
            crs: about().as_ref().and_then(|about| Crs::of_json(about.get("crs")?)),
            primary: false,
        })
    }

    fn degrees(&self) -> bool {
        self.crs.as_ref().is_some_and(|crs| crs.geographic)
    }
}

/// The name of a type, or its beginning.
fn shortened(kind: &DataType) -> String {
    struct TruncatingWriter(String);
    impl fmt::Write for TruncatingWriter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let left = TYPE_NAME - self.0.chars().count();
            self.0.extend(text.chars().take(left));
            // Stops formatting a type with thousands of fields.
            if text.chars().nth(left).is_some() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut short = TruncatingWriter(String::new());
    if write!(short, "{kind}").is_err() {
        short.0.push('…');
    }
    short.0
}

/// The length of the lists of some columns, taken from the first list that is not null.
fn widths(file: &dyn BatchReader, lists: &[usize], input: &Input<'_>) -> Result<Vec<usize>> {
    let schema = file.schema();
    let mut widths: Vec<Option<usize>> = lists
        .iter()
        .map(|&root| match schema.field(root).data_type() {
            DataType::FixedSizeList(_, length) => Some(usize::try_from(*length).unwrap_or(0)),
            _ => None,
        })
        .collect();
    if widths.iter().any(Option::is_none) {
        file.read(lists, ALL, &mut |_, batch| {
            input.check()?;
            for (position, width) in widths.iter_mut().enumerate().filter(|(_, width)| width.is_none()) {
                let array = batch.column(position);
                *width = (0..array.len()).find_map(|row| values::length(array, row));
            }
            Ok(widths.iter().any(Option::is_none))
        })?;
    }
    let checked = |width: Option<usize>| match width.unwrap_or(0) {
        width if width > MAX_COLUMNS => Err(input.unsupported(
            format!("lists of {width} numbers"),
            format!("at most {MAX_COLUMNS} are supported"),
        )),
        width => Ok(width),
    };
    widths.into_iter().map(checked).collect()
}
