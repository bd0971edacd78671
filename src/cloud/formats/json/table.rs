//! Collects points from values as they come: numbers, arrays, objects, and arrays and objects in those.

use std::collections::{HashMap, HashSet};

use super::super::FormatError;
use super::super::cell::{self, Cell};
use super::super::columns::{self, Records, Texts, no_record, too_many_texts};
use super::super::input::Input;
use super::super::sheet::{ColumnKind, Sheet, SheetColumn, Want};
use crate::cloud::ColumnChoice;

/// More columns than anybody searches in; each takes memory of its own.
const MAX_COLUMNS: usize = 1 << 20;
/// What a column's name, put together from those above it, may have of characters.
const MAX_NAME: usize = 200;
/// How much more room all columns may take, once each has a value for each point, than there are values in the file.
const MOST_PADDED: u64 = 64;

/// A place in a point's value: the point itself, an element of an array, a member of an object.
#[derive(Debug, Default)]
struct Node {
    name: String,
    /// Whether the name is a number of our own.
    made_up: bool,
    column: Option<usize>,
    items: Vec<usize>,
    members: HashMap<String, usize>,
}

/// The values at one place.
#[derive(Debug)]
struct Values {
    info: SheetColumn,
    /// Whether somebody may want them.
    kept: bool,
    /// Whether it is one of the numbers of an array.
    item: bool,
    /// The point of the first value.
    first: u64,
    values: Vec<f64>,
    filled: bool,
    /// All values as texts, where they are wanted and one of them is.
    texts: Option<Texts>,
    /// How many points have one.
    texted: u64,
}

/// What a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    Array,
    Object,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "a single value",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Points under construction.
pub(super) struct Builder<'i, 'p> {
    input: &'i Input<'p>,
    nodes: Vec<Node>,
    columns: Vec<Values>,
    /// Lower-case names and numbers of the columns that are wanted, if not all are.
    wanted: Option<HashSet<String>>,
    /// Whether texts are wanted, too.
    texts: bool,
    /// The records of which all is wanted: a column and what it holds there.
    picked: HashMap<u64, Vec<(usize, columns::Cell)>>,
    rows: u64,
    /// Values that the file has, and those that are held, NaN for what is missing included.
    present: u64,
    held: u64,
    kind: Option<Kind>,
    /// The length of each point, where they are arrays.
    width: usize,
    /// The texts of the first point, which may be names.
    first_texts: Vec<String>,
    header: bool,
    /// What is wrong with what was read; reading stops there.
    pub failed: Option<FormatError>,
}

/// The node of the point itself.
pub(super) const POINT: usize = 0;

impl<'i, 'p> Builder<'i, 'p> {
    pub fn new(input: &'i Input<'p>, want: &Want<'_>) -> Self {
        let wanted = match want {
            Want::Chosen(ColumnChoice::Named(names)) => Some(names.iter().map(|name| name.to_ascii_lowercase()).collect()),
            Want::Column(name) => Some(HashSet::from([name.to_ascii_lowercase()])),
            Want::Everything | Want::Chosen(ColumnChoice::Default) => None,
        };
        Self {
            input,
            nodes: vec![Node { name: "d0".to_owned(), made_up: true, ..Node::default() }],
            columns: Vec::new(),
            wanted,
            texts: matches!(want, Want::Column(_)),
            picked: HashMap::new(),
            rows: 0,
            present: 0,
            held: 0,
            kind: None,
            width: 0,
            first_texts: Vec::new(),
            header: false,
            failed: None,
        }
    }

    /// Keeps no columns, and all of some records.
    pub fn picking(input: &'i Input<'p>, records: &[u64]) -> Self {
        let nothing = ColumnChoice::Named(Vec::new());
        let picked = records.iter().map(|&record| (record, Vec::new())).collect();
        Self { picked, ..Self::new(input, &Want::Chosen(&nothing)) }
    }

    /// Whether records are to be picked, and the last of them was read.
    pub fn picked_enough(&self) -> bool {
        !self.picked.is_empty() && self.rows > self.picked.keys().copied().max().unwrap_or(0)
    }

    /// The records that were picked.
    pub fn into_records(self, records: &[u64]) -> Result<Records, FormatError> {
        let columns: Vec<String> = self.names();
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

    /// The names of the columns: those of a short array are x, y, z.
    fn names(&self) -> Vec<String> {
        let all_made_up = self.columns.iter().all(|column| column.info.made_up);
        let unnamed = if all_made_up { SheetColumn::unnamed(self.columns.len()) } else { Vec::new() };
        self.columns.iter().enumerate().map(|(at, column)| unnamed.get(at).unwrap_or(&column.info).name.clone()).collect()
    }

    fn fail(&mut self, why: FormatError) -> Result<(), ()> {
        self.failed = Some(why);
        Err(())
    }

    /// The place of an element in the array at `node`.
    pub fn item(&mut self, node: usize, at: usize) -> usize {
        if let Some(&item) = self.nodes[node].items.get(at) {
            return item;
        }
        let name = if node == POINT { format!("d{at}") } else { self.named(node, &format!("_{at}")) };
        let item = self.add(name);
        self.nodes[item].made_up = node == POINT;
        self.nodes[node].items.push(item);
        item
    }

    /// The place of a member of the object at `node`.
    pub fn member(&mut self, node: usize, key: &str) -> usize {
        if let Some(&member) = self.nodes[node].members.get(key) {
            return member;
        }
        let name = if node == POINT { key.chars().take(MAX_NAME).collect() } else { self.named(node, &format!(".{key}")) };
        let member = self.add(name);
        self.nodes[node].members.insert(key.to_owned(), member);
        member
    }

    fn named(&self, node: usize, more: &str) -> String {
        self.nodes[node].name.chars().chain(more.chars()).take(MAX_NAME).collect()
    }

    fn add(&mut self, name: String) -> usize {
        self.nodes.push(Node { name, ..Node::default() });
        self.nodes.len() - 1
    }

    /// Puts a value at its place in the current point. `item` says that it is an element of an array in the point.
    pub fn set(&mut self, node: usize, value: Cell, text: &str, item: bool) -> Result<(), ()> {
        let at = match self.nodes[node].column {
            Some(at) => at,
            None => self.new_column(node, item)?,
        };
        self.present += 1;
        let (row, first_row) = (self.rows, self.rows == 0);
        if let Some(picked) = self.picked.get_mut(&row) {
            let shown = match value {
                Cell::Number(number) => columns::Cell::Number(number),
                Cell::Missing => columns::Cell::Missing,
                Cell::Text => columns::Cell::Text(cell::text(text.as_bytes())),
            };
            picked.push((at, shown));
        }
        let column = &mut self.columns[at];
        let number = match value {
            Cell::Number(number) => {
                column.filled = true;
                number
            }
            Cell::Missing => f64::NAN,
            Cell::Text => {
                if column.info.kind != ColumnKind::Text {
                    column.info.kind = ColumnKind::Text;
                    column.info.mixed = column.filled;
                    column.info.example = Some((row, cell::text(text.as_bytes()).chars().take(40).collect()));
                    column.values = Vec::new();
                }
                if first_row {
                    self.first_texts.push(text.chars().take(MAX_NAME).collect());
                }
                f64::NAN
            }
        };
        if self.texts && column.kept && column.texted <= row {
            let texts = column.texts.get_or_insert_default();
            let shown = match value {
                Cell::Number(number) if text.is_empty() => number.to_string(),
                _ => cell::text(text.as_bytes()),
            };
            // Points that had nothing here have an empty text, as in delimited text.
            let fits = (column.texted..row).all(|_| texts.push("")) && texts.push(&shown);
            column.texted = row + 1;
            if !fits && column.info.kind == ColumnKind::Text {
                let why = too_many_texts(&column.info.name, self.input.path());
                return self.fail(why);
            }
        }
        if column.kept && column.info.kind != ColumnKind::Text {
            let place = (row - column.first) as usize;
            // Points that had nothing here, or a second value of the same name, which counts.
            let missing = (place + 1).saturating_sub(column.values.len());
            self.held += missing as u64;
            if self.held > (1 << 20) + MOST_PADDED * self.present {
                return self.too_sparse();
            }
            if let Err(why) = self.input.reserve(&mut column.values, missing) {
                return self.fail(why);
            }
            column.values.resize(column.values.len() + missing, f64::NAN);
            column.values[place] = number;
        }
        Ok(())
    }

    fn new_column(&mut self, node: usize, item: bool) -> Result<usize, ()> {
        let at = self.columns.len();
        if at >= MAX_COLUMNS {
            let why =
                self.input.unsupported(format!("more than {MAX_COLUMNS} columns"), "write a point a row; are rows and columns the other way round?");
            return self.fail(why).map(|()| at);
        }
        let Node { name, made_up, .. } = &self.nodes[node];
        let info = SheetColumn { made_up: *made_up, ..SheetColumn::numeric(name.clone()) };
        let kept = self.wanted.as_ref().is_none_or(|wanted| {
            // The first may be called x, y and z, or have names in the first array.
            let unsure = info.made_up && (at < 3 || self.rows == 0) && !wanted.is_empty();
            unsure || wanted.contains(&info.name.to_ascii_lowercase()) || wanted.contains(&at.to_string())
        });
        self.columns.push(Values { info, kept, item, first: self.rows, values: Vec::new(), filled: false, texts: None, texted: 0 });
        self.nodes[node].column = Some(at);
        Ok(at)
    }

    /// Says that the current point is complete.
    pub fn end_point(&mut self, kind: Kind, length: usize) -> Result<(), ()> {
        let record = format!("record {}", self.rows);
        match self.kind {
            None => {
                (self.kind, self.width) = (Some(kind), length);
                // Names, as in delimited text.
                if kind == Kind::Array && length > 0 && self.first_texts.len() == length && self.columns.len() == length && !self.header {
                    for (column, name) in self.columns.iter_mut().zip(self.first_texts.drain(..)) {
                        column.info = SheetColumn::numeric(name);
                        // What was taken for the first point's text was the name.
                        (column.texts, column.texted) = (None, 0);
                    }
                    self.header = true;
                    return Ok(());
                }
            }
            Some(first) if first != kind => {
                let why = format!("it is {} and the first one {}", kind.name(), first.name());
                return self.fail(self.input.malformed(record, why));
            }
            Some(Kind::Array) if length != self.width => {
                return self.fail(self.input.malformed(record, format!("fields: {length} where there should be {}", self.width)));
            }
            Some(_) => {}
        }
        self.rows += 1;
        if self.rows.is_multiple_of(1024)
            && let Err(why) = self.input.check()
        {
            return self.fail(why);
        }
        Ok(())
    }

    fn too_sparse(&mut self) -> Result<(), ()> {
        let why = format!("{} columns of {} records would be all but empty; give all objects the same fields", self.columns.len(), self.rows);
        self.fail(self.input.unsupported("objects with little in common", why))
    }

    /// The table of all points.
    pub fn finish(mut self, format: &str) -> Result<Sheet, FormatError> {
        let Some(kind) = self.kind else {
            return Err(self.input.malformed("nothing to read", "the array is empty"));
        };
        if self.columns.is_empty() {
            return Err(self.input.malformed("no coordinates", "the points are empty"));
        }
        let rows = self.rows;
        let width = self.columns.iter().filter(|column| column.kept && column.info.kind != ColumnKind::Text).count();
        if (width as u64).saturating_mul(rows) > (1 << 20) + MOST_PADDED * self.present {
            let _ = self.too_sparse();
            return Err(self.failed.unwrap_or(FormatError::Cancelled));
        }
        // Where points have arrays, those are the coordinates, and single numbers stand beside them.
        let arrays = kind == Kind::Object && self.columns.iter().any(|column| column.item);
        let names = self.names();
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.info.name = name;
            if column.info.kind == ColumnKind::Text
                && let Some(mut texts) = column.texts.take()
            {
                if !(column.texted..rows).all(|_| texts.push("")) {
                    return Err(too_many_texts(&column.info.name, self.input.path()));
                }
                column.info.texts = Some(texts);
            }
            column.info.beside = arrays && !column.item;
            if column.info.kind == ColumnKind::Numeric && rows > 0 && !column.filled {
                column.info.kind = ColumnKind::Empty;
            }
        }
        let kept: Vec<usize> =
            (0..self.columns.len()).filter(|&at| self.columns[at].kept && self.columns[at].info.kind != ColumnKind::Text).collect();
        let values = if let [only] = kept[..] {
            let Values { first, values, .. } = &mut self.columns[only];
            if *first == 0 {
                values.resize(rows as usize, f64::NAN);
                std::mem::take(values)
            } else {
                self.gather(&kept)?
            }
        } else {
            self.gather(&kept)?
        };
        let what = match kind {
            Kind::Scalar => "numbers",
            Kind::Array => "arrays",
            Kind::Object => "objects",
        };
        let names = if self.header { ", header" } else { "" };
        let columns = self.columns.into_iter().map(|column| column.info).collect();
        Ok(Sheet::new(self.input, format!("{format} of {what}{names}"), columns, kept, rows, values))
    }

    /// Rows from columns, each of which goes as it was taken.
    fn gather(&mut self, kept: &[usize]) -> Result<Vec<f64>, FormatError> {
        let (rows, width) = (self.rows as usize, kept.len());
        let mut gathered = Vec::new();
        self.input.reserve(&mut gathered, rows * width)?;
        gathered.resize(rows * width, f64::NAN);
        for (place, &at) in kept.iter().enumerate() {
            let first = self.columns[at].first as usize;
            for (row, value) in std::mem::take(&mut self.columns[at].values).into_iter().enumerate() {
                gathered[(first + row) * width + place] = value;
            }
            self.input.check()?;
        }
        Ok(gathered)
    }
}
