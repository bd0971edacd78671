//! Collects points from a stream of values: numbers, arrays and objects, also nested.

mod finish;
mod nodes;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::formats::cell::Cell;
use crate::formats::columns::too_many_texts;
use crate::formats::limits::{MAX_COLUMNS, MAX_NESTED_NAME, MAX_PADDED};
use crate::formats::vector_cell::{CellContent, VectorDetector};
use crate::formats::{
    CategoryBuilder, ColumnKind, ColumnRequest, FormatError, Input, LongDecimal, Result, SheetColumn, cell,
    columns, vector_cell,
};
use crate::{ColumnChoice, FileValue, LongDecimals};
use nodes::Nodes;
pub(super) use nodes::{POINT, Place, Step};

/// The values of one column.
#[derive(Debug)]
struct ColumnValues {
    name: String,
    /// Whether the name is generated.
    made_up: bool,
    kind: ColumnKind,
    /// The first string, with its record.
    example: Option<Box<(u64, String)>>,
    /// Whether numbers precede the example.
    mixed: bool,
    /// Whether the column may be needed.
    selected: bool,
    /// Whether it is an element of a numeric array.
    item: bool,
    /// Node of the outermost array that contains the element.
    array: u32,
    /// The point of the first value.
    first: u64,
    values: Vec<f64>,
    filled: bool,
    /// All values as strings, if requested and at least one is a string.
    texts: Option<Box<CategoryBuilder>>,
    /// Number of points with a string.
    texted: u64,
}

impl ColumnValues {
    /// The column of the sheet, once all values are in.
    fn into_column(self, element: bool) -> SheetColumn {
        let Self { name, made_up, kind, example, mixed, texts, .. } = self;
        let example = example.map(|example| *example);
        SheetColumn {
            made_up,
            kind,
            example,
            mixed,
            element,
            texts: texts.map(|texts| *texts),
            ..SheetColumn::numeric(name)
        }
    }
}

/// A value that is stored later: the node, and the parameters of [`Builder::set`].
#[derive(Debug)]
pub(super) struct DeferredValue {
    node: u32,
    value: Cell,
    pub text: Box<str>,
    item: bool,
}

/// The end of the names of positions in GeoJSON geometries.
const COORDINATES: &str = ".coordinates";

/// Name of held values in memory errors.
const PROPERTIES: &str = "the properties of a feature";

/// The JSON type of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointKind {
    Scalar,
    Array,
    Object,
    /// One value per column.
    Row,
    /// A GeoJSON point and its properties.
    Feature,
}

impl PointKind {
    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "a single value",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Row => "a row",
            Self::Feature => "a feature",
        }
    }

    /// Plural name for descriptions of the container.
    fn plural(self) -> &'static str {
        match self {
            Self::Scalar => "numbers",
            Self::Array => "arrays",
            Self::Object => "objects",
            Self::Row => "columns",
            Self::Feature => "points",
        }
    }
}

/// Collects columns while points are parsed.
pub(super) struct Builder<'i, 'p> {
    input: &'i Input<'p>,
    nodes: Nodes,
    columns: Vec<ColumnValues>,
    /// Lower-case names and indices of the requested columns; `None` for all.
    wanted: Option<HashSet<String>>,
    /// Whether strings are requested too.
    texts: bool,
    /// The requested records: columns and their cells.
    picked: HashMap<u64, Vec<(usize, columns::Cell)>>,
    rows: u64,
    /// Number of values in the file, and number of values stored, including NaN padding.
    present: u64,
    padded: u64,
    kind: Option<PointKind>,
    /// The length of each point, if points are arrays.
    width: usize,
    /// The strings of the first point, which may be a header.
    first_texts: Vec<String>,
    /// Values that are stored later, while they are collected.
    held: Option<Vec<DeferredValue>>,
    header: bool,
    /// Texts that hold vectors, by their nodes.
    vectors: BTreeMap<u32, VectorDetector>,
    long_decimals: LongDecimals,
    numbers: Vec<f64>,
    /// In GeoJSON: the nodes of x, y and z, and whether they are longitude, latitude and height.
    axes: Vec<u32>,
    pub degrees: Option<bool>,
    /// The error that stopped reading.
    pub failed: Option<FormatError>,
}

impl<'i, 'p> Builder<'i, 'p> {
    pub fn new(input: &'i Input<'p>, request: &ColumnRequest<'_>) -> Self {
        let wanted = match request {
            ColumnRequest::Selected(ColumnChoice::Named(names)) => {
                Some(names.iter().map(|name| name.to_ascii_lowercase()).collect())
            }
            ColumnRequest::Column(name) => Some(HashSet::from([name.to_ascii_lowercase()])),
            ColumnRequest::Everything | ColumnRequest::Selected(ColumnChoice::Default) => None,
        };
        Self {
            input,
            nodes: Nodes::new(),
            columns: Vec::new(),
            wanted,
            texts: matches!(request, ColumnRequest::Column(_)),
            picked: HashMap::new(),
            rows: 0,
            present: 0,
            padded: 0,
            kind: None,
            width: 0,
            first_texts: Vec::new(),
            held: None,
            header: false,
            vectors: BTreeMap::new(),
            long_decimals: LongDecimals::default(),
            numbers: Vec::new(),
            axes: Vec::new(),
            degrees: None,
            failed: None,
        }
    }

    /// Collects no columns, only the cells of some records.
    pub fn for_records(input: &'i Input<'p>, records: &[u64]) -> Self {
        let nothing = ColumnChoice::Named(Vec::new());
        let picked = records.iter().map(|&record| (record, Vec::new())).collect();
        Self { picked, ..Self::new(input, &ColumnRequest::Selected(&nothing)) }
    }

    /// Whether all requested records have been read.
    pub fn has_all_records(&self) -> bool {
        !self.picked.is_empty() && self.rows > self.picked.keys().copied().max().unwrap_or(0)
    }

    /// Stops reading with an error.
    pub fn fail(&mut self, why: FormatError) -> Result<(), ()> {
        self.failed = Some(why);
        Err(())
    }

    pub fn input(&self) -> &'i Input<'p> {
        self.input
    }

    /// Index of the current point.
    pub fn row(&self) -> u64 {
        self.rows
    }

    /// Sets the names of array elements.
    pub fn name_items(&mut self, names: Vec<String>) {
        self.nodes.given = names;
    }

    /// The nodes of x, y and z, which are separate from the point's members.
    pub fn axes(&mut self) -> [u32; 3] {
        let axes = ["x", "y", "z"].map(|name| self.nodes.root(name));
        self.axes = axes.to_vec();
        axes
    }

    /// Collects the values that follow instead of storing them.
    pub fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// The values since [`Self::hold`]; later ones are stored again.
    pub fn release(&mut self) -> Vec<DeferredValue> {
        self.held.take().unwrap_or_default()
    }

    /// Stores collected values in the current point.
    pub fn store(&mut self, held: &[DeferredValue]) -> Result<(), ()> {
        held.iter().try_for_each(|DeferredValue { node, value, text, item }| {
            self.set_node(*node, *value, text, *item)
        })
    }

    /// The place one step below another.
    pub fn below<'a>(&self, above: &'a Place<'a>, step: Step<'a>) -> Place<'a> {
        self.nodes.below(above, step)
    }

    /// Stores an error, which stops reading.
    fn or_fail<T>(&mut self, result: Result<T>) -> Result<T, ()> {
        result.map_err(|why| self.failed = Some(why))
    }

    /// Returns to the first point to read the next column of a column-oriented table.
    pub fn start_column(&mut self) {
        self.rows = 0;
    }

    /// Advances to the next point of a column.
    pub fn next_row(&mut self) -> Result<(), ()> {
        self.rows += 1;
        self.look_up()
    }

    /// Marks all columns as complete, with `rows` values each.
    pub fn end_columns(&mut self, rows: u64) {
        (self.kind, self.rows) = (Some(PointKind::Row), rows);
    }

    /// Checks for cancellation at intervals.
    fn look_up(&mut self) -> Result<(), ()> {
        if self.rows.is_multiple_of(1024) { self.or_fail(self.input.check()) } else { Ok(()) }
    }

    /// Stores a value of the current point. `item`: the value is an element of an array in the point.
    pub fn set(&mut self, place: &Place<'_>, value: Cell, text: &str, item: bool) -> Result<(), ()> {
        let node = self.nodes.node(place, self.input);
        let node = self.or_fail(node)?;
        if let Some(held) = &mut self.held {
            let room = self
                .input
                .reserve_for(held, 1, PROPERTIES)
                .and_then(|()| self.input.claim(text.len() as u64, PROPERTIES));
            self.or_fail(room)?;
            self.held.get_or_insert_default().push(DeferredValue { node, value, text: text.into(), item });
            return Ok(());
        }
        self.set_node(node, value, text, item)
    }

    /// Stores a text, and the numbers of a vector in it as the elements of an array.
    pub fn set_text(&mut self, place: &Place<'_>, text: &str, item: bool) -> Result<(), ()> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let content = vector_cell::parse(text.as_bytes(), false, &mut numbers);
        // Hexadecimal digits may look like a number.
        let result = self.set(
            place,
            if !content.is_plain() { Cell::Text } else { Cell::parse(text.as_bytes()) },
            text,
            item,
        );
        let result = if item || self.held.is_some() {
            result
        } else {
            result.and_then(|()| self.set_vector(place, content, &numbers))
        };
        self.numbers = numbers;
        result
    }

    fn set_vector(&mut self, place: &Place<'_>, content: CellContent, numbers: &[f64]) -> Result<(), ()> {
        let node = place.get();
        if !self.vectors.contains_key(&node) {
            // The first text of the column contains a vector.
            let first =
                |at: usize| self.columns[at].example.as_ref().is_some_and(|example| example.0 == self.rows);
            if content.is_plain() || !self.nodes.column(node).is_some_and(first) {
                return Ok(());
            }
            let room = self.input.claim(2 * size_of::<VectorDetector>() as u64, "the columns");
            self.or_fail(room)?;
        }
        let detector = self.vectors.entry(node).or_default();
        let point = matches!(content, CellContent::Point(_));
        detector.add(content, numbers);
        if !point && detector.length != numbers.len() {
            return Ok(());
        }
        for (at, &number) in numbers.iter().enumerate() {
            let cell = if number.is_nan() { Cell::Missing } else { Cell::Number(number) };
            self.set(&self.below(place, Step::Item(at)), cell, "", true)?;
        }
        Ok(())
    }

    fn set_node(&mut self, node: u32, value: Cell, text: &str, item: bool) -> Result<(), ()> {
        let at = match self.nodes.column(node) {
            Some(at) => at,
            None => self.new_column(node, item)?,
        };
        self.present += 1;
        let (row, first_row) = (self.rows, self.rows == 0);
        if let Some(picked) = self.picked.get_mut(&row) {
            let room = self
                .input
                .reserve_for(picked, 1, "a record")
                .and_then(|()| self.input.claim(text.len() as u64, "a record"));
            room.map_err(|why| self.failed = Some(why))?;
            picked.push((at, columns::cell_as(value, text.as_bytes())));
        }
        let column = &mut self.columns[at];
        let number = match value {
            Cell::Number(number) => {
                column.filled = true;
                let decimal = LongDecimal::parse(text, number, (row, at)).or_else(|| {
                    // A repeated name overwrites its earlier value.
                    let before = column.values.get(row.checked_sub(column.first)? as usize);
                    before.filter(|before| !before.is_nan())?;
                    let index = row * MAX_COLUMNS as u64 + at as u64;
                    LongDecimal::new(FileValue::shortest_decimal(number), index)
                });
                if let Some(decimal) = decimal.filter(|_| column.selected) {
                    self.long_decimals.push(decimal, self.input).map_err(|why| self.failed = Some(why))?;
                }
                number
            }
            Cell::Missing => f64::NAN,
            Cell::Text => {
                if column.kind != ColumnKind::Text {
                    column.kind = ColumnKind::Text;
                    column.mixed = column.filled;
                    column.example = Some(Box::new((row, cell::excerpt(text.as_bytes()))));
                    self.input.release((column.values.capacity() * size_of::<f64>()) as u64);
                    column.values = Vec::new();
                }
                // One text more than there are columns is enough to rule out a header.
                if first_row && self.first_texts.len() <= at {
                    self.first_texts.push(text.chars().take(MAX_NESTED_NAME).collect());
                }
                f64::NAN
            }
        };
        if self.texts && column.selected && column.texted <= row {
            let texts = column.texts.get_or_insert_default();
            let input = self.input;
            let mut push = |text: &str| texts.push_counted(text, input);
            let shown = match value {
                Cell::Number(number) if text.is_empty() => number.to_string(),
                _ => cell::text(text.as_bytes()),
            };
            // Points without a value get an empty string, as in delimited text.
            let fits = (column.texted..row)
                .try_fold(true, |fits, _| Ok(fits && push("")?))
                .and_then(|fits| Ok(fits && push(&shown)?));
            column.texted = row + 1;
            let fits = fits.and_then(|fits| {
                if fits || column.kind != ColumnKind::Text {
                    Ok(())
                } else {
                    Err(too_many_texts(&column.name, input))
                }
            });
            fits.map_err(|why| self.failed = Some(why))?;
        }
        if column.selected && column.kind != ColumnKind::Text {
            let index = (row - column.first) as usize;
            // Pads points without a value; a repeated name overwrites its earlier value.
            let missing = (index + 1).saturating_sub(column.values.len());
            self.padded += missing as u64;
            if self.padded > (1 << 20) + MAX_PADDED * self.present {
                return self.too_sparse();
            }
            self.input.reserve(&mut column.values, missing).map_err(|why| self.failed = Some(why))?;
            column.values.resize(column.values.len() + missing, f64::NAN);
            column.values[index] = number;
        }
        Ok(())
    }

    fn new_column(&mut self, node: u32, item: bool) -> Result<usize, ()> {
        let at = self.columns.len();
        if at >= MAX_COLUMNS {
            let why = self.input.unsupported(
                format!("more than {MAX_COLUMNS} columns"),
                "write one point per row; is the table transposed?",
            );
            return self.fail(why).map(|()| at);
        }
        let (name, made_up) = self.nodes.name(node);
        let array = self.nodes.array(node);
        let room = self
            .input
            .reserve_for(&mut self.columns, 1, "the columns")
            .and_then(|()| self.input.claim(name.len() as u64, "the columns"));
        self.or_fail(room)?;
        let selected = self.wanted.as_ref().is_none_or(|wanted| {
            // The first columns may still get the names x, y and z, or names from a header in the first
            // array.
            let unsure = made_up && (at < 3 || self.rows == 0) && !wanted.is_empty();
            // The axes of positions are named at the end.
            let axis = self.axes.contains(&node)
                || self.vectors.get(&array).is_some_and(|detector| detector.length <= 3)
                || name.contains(COORDINATES);
            unsure
                || axis && !wanted.is_empty()
                || wanted.contains(&name.to_ascii_lowercase())
                || wanted.contains(&at.to_string())
        });
        self.columns.push(ColumnValues {
            name,
            made_up,
            kind: ColumnKind::Numeric,
            example: None,
            mixed: false,
            selected,
            item,
            array,
            first: self.rows,
            values: Vec::new(),
            filled: false,
            texts: None,
            texted: 0,
        });
        self.nodes.set_column(node, at);
        Ok(at)
    }

    /// Completes the current point.
    pub fn end_point(&mut self, kind: PointKind, length: usize) -> Result<(), ()> {
        let record = format!("record {}", self.rows);
        match self.kind {
            None => {
                (self.kind, self.width) = (Some(kind), length);
                // A header, as in delimited text.
                if kind == PointKind::Array
                    && length > 0
                    && self.first_texts.len() == length
                    && self.columns.len() == length
                    && !self.header
                {
                    for (column, name) in self.columns.iter_mut().zip(self.first_texts.drain(..)) {
                        (column.name, column.made_up, column.kind, column.example, column.mixed) =
                            (name, false, ColumnKind::Numeric, None, false);
                        // The string collected for the first point was the column's name.
                        (column.texts, column.texted) = (None, 0);
                    }
                    self.header = true;
                    return Ok(());
                }
            }
            Some(first) if first != kind => {
                let why = format!("it is {}, but the first one is {}", kind.name(), first.name());
                return self.fail(self.input.malformed(record, why));
            }
            Some(PointKind::Array) if length != self.width => {
                return self.fail(
                    self.input.malformed(record, format!("expected {} fields, found {length}", self.width)),
                );
            }
            Some(_) => {}
        }
        self.rows += 1;
        self.look_up()
    }

    fn too_sparse(&mut self) -> Result<(), ()> {
        let why = format!(
            "{} columns of {} records would be almost empty; give all objects the same fields",
            self.columns.len(),
            self.rows
        );
        self.fail(self.input.unsupported("objects with few common fields", why))
    }
}
