//! An object with points in one of its members: lists the members, and reads one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected};

use super::table::{Builder, POINT, Place, Step};
use super::visit::{Container, JsonVisitor, NodeVisitor, Point, Points, Seed, stop};
use crate::formats::limits::MAX_DATASETS;
use crate::formats::{DatasetInfo, FormatError, Input, cell};

/// The members of an object that are arrays or objects.
pub(super) struct Members<'i, 'p> {
    input: &'i Input<'p>,
    /// The error that stopped reading.
    pub failed: Option<FormatError>,
    /// The arrays, each of which could be the cloud.
    pub datasets: Vec<DatasetInfo>,
    /// The member `type`, if it is a string, as in GeoJSON.
    pub kind: Option<String>,
    /// The strings of the member `columns`, if it is a list of strings, as pandas writes with `data`.
    pub names: Vec<String>,
    /// Sizes of all members that are arrays or objects.
    sizes: Vec<Size>,
    /// Whether all member names are whole numbers, and all members are arrays or objects.
    numbered: bool,
}

/// The layout of an object that is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableLayout {
    /// One member per column: a list of values, or an object from row number to value.
    Columns,
    /// One member per row number, each an object.
    Rows,
}

impl<'i, 'p> Members<'i, 'p> {
    pub fn new(input: &'i Input<'p>) -> Self {
        Self {
            input,
            failed: None,
            datasets: Vec::new(),
            kind: None,
            names: Vec::new(),
            sizes: Vec::new(),
            numbered: false,
        }
    }

    /// Whether the object is one table: lists of equal length, or objects with equal keys.
    pub fn table(&self) -> Option<TableLayout> {
        let (first, rest) = self.sizes.split_first()?;
        let alike = first.rows > 0
            && rest.iter().all(|size| {
                size.rows == first.rows && size.keys == first.keys && size.objects == first.objects
            });
        match first {
            _ if !alike => None,
            _ if !self.sizes.iter().all(|size| size.flat) => None,
            Size { objects: true, numbered: true, .. } => Some(TableLayout::Columns),
            Size { objects: true, .. } if self.numbered => Some(TableLayout::Rows),
            Size { objects: false, .. } if !rest.is_empty() => Some(TableLayout::Columns),
            _ => None,
        }
    }
}

impl JsonVisitor for &mut Members<'_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "an object";
    const ONLY: Option<Container> = Some(Container::Object);

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.numbered = true;
        while let Some(name) = map.next_key::<String>()? {
            let member =
                map.next_value_seed(Seed(MemberInspector { outer: true, texts: name == "columns" }))?;
            if name == "type" {
                self.kind = member.text;
            }
            self.numbered &= member.size.is_some() && is_number(&name);
            let Some(size) = member.size.filter(|_| self.sizes.len() < MAX_DATASETS) else { continue };
            if name == "columns" {
                self.names = member.texts;
            }
            if let Err(why) = self.input.claim(
                (name.len() + size_of::<DatasetInfo>() + size_of::<Size>()) as u64,
                "the members of an object",
            ) {
                self.failed = Some(why);
                return Err(A::Error::custom("stopped"));
            }
            if !size.objects || size.table {
                let about = if size.objects { "objects" } else { "arrays" };
                self.datasets.push(DatasetInfo::new(name, size.rows, size.columns, size.table, about));
            }
            self.sizes.push(size);
        }
        Ok(())
    }
}

fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// A member's content, by JSON type.
#[derive(Debug, Default)]
struct Content {
    text: Option<String>,
    size: Option<Size>,
    /// The elements, if all are strings and were requested.
    texts: Vec<String>,
}

/// The size of an array, judged by its first element, or of an object.
#[derive(Debug, Default)]
struct Size {
    rows: u64,
    columns: u64,
    /// Whether it is an array of arrays or objects.
    table: bool,
    /// Whether the member is an object or contains objects.
    objects: bool,
    /// Whether the member contains only scalars.
    flat: bool,
    /// Hash of an object's keys in order, and whether all are whole numbers.
    keys: u64,
    numbered: bool,
}

/// Inspects a value. Of an array or object, only the outermost level is inspected.
struct MemberInspector {
    outer: bool,
    /// Whether string elements should be returned.
    texts: bool,
}

impl MemberInspector {
    const INNER: Self = Self { outer: false, texts: false };
}

impl JsonVisitor for MemberInspector {
    type Value = Content;

    const EXPECTED: &'static str = "a value";

    fn scalar<E>(self, found: Unexpected<'_>) -> Result<Content, E> {
        let text = if let Unexpected::Str(text) = found { Some(cell::name(text.as_bytes())) } else { None };
        Ok(Content { text, ..Content::default() })
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
        let mut size = Size { columns: 1, flat: true, ..Size::default() };
        let mut texts = Vec::new();
        while self.outer && size.flat {
            let Some(found) = seq.next_element_seed(Seed(Self::INNER))? else {
                return Ok(Content { size: Some(size), texts, text: None });
            };
            size.rows += 1;
            texts.extend(
                found
                    .text
                    .filter(|_| self.texts && texts.len() as u64 + 1 == size.rows)
                    .filter(|_| texts.len() < MAX_DATASETS),
            );
            if let Some(inner) = found.size {
                size.flat = false;
                // All elements are assumed to be like the first; differences are found when the points are
                // read.
                if size.rows == 1 {
                    (size.columns, size.table, size.objects) = (inner.rows, true, inner.objects);
                }
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            size.rows += 1;
        }
        Ok(Content { size: Some(size), ..Content::default() })
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut size = Size { columns: 1, objects: true, flat: true, numbered: true, ..Size::default() };
        if !self.outer {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                size.rows += 1;
            }
            return Ok(Content { size: Some(size), ..Content::default() });
        }
        let mut keys = DefaultHasher::new();
        while let Some(key) = map.next_key::<String>()? {
            size.rows += 1;
            size.numbered &= is_number(&key);
            key.hash(&mut keys);
            size.flat &= map.next_value_seed(Seed(Self::INNER))?.size.is_none();
        }
        size.keys = keys.finish();
        Ok(Content { size: Some(size), ..Content::default() })
    }
}

/// Reads the points of the member with this name.
pub(super) struct SelectedMember<'b, 'n, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub name: &'n str,
}

impl JsonVisitor for SelectedMember<'_, '_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "an object";
    const ONLY: Option<Container> = Some(Container::Object);

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.name && !found {
                found = true;
                map.next_value_seed(Seed(Points(self.builder)))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

// An object that is one table, as written by pandas: one member per column, or per row.

/// The whole object. Scalar members are not part of the table and are skipped.
pub(super) struct TableVisitor<'b, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub table: TableLayout,
}

impl JsonVisitor for TableVisitor<'_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "an object";
    const ONLY: Option<Container> = Some(Container::Object);

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { builder, table } = self;
        let mut rows = 0;
        while let Some(name) = map.next_key::<String>()? {
            match table {
                TableLayout::Rows => map.next_value_seed(Point(builder))?,
                TableLayout::Columns => {
                    builder.start_column();
                    map.next_value_seed(Seed(ColumnVisitor { builder, name }))?;
                    rows = rows.max(builder.row());
                }
            }
        }
        if table == TableLayout::Columns {
            builder.end_columns(rows);
        }
        Ok(())
    }
}

/// A column, if the member is a list or an object.
struct ColumnVisitor<'b, 'i, 'p> {
    builder: &'b mut Builder<'i, 'p>,
    name: String,
}

impl JsonVisitor for ColumnVisitor<'_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "a column";

    fn scalar<E>(self, _: Unexpected<'_>) -> Result<(), E> {
        Ok(())
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { builder, name } = self;
        let point = Place::from_node(POINT);
        let place = &builder.below(&point, Step::Member(&name));
        while seq.next_element_seed(Seed(NodeVisitor { builder, place, item: false }))?.is_some() {
            stop(builder.next_row())?;
        }
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { builder, name } = self;
        let point = Place::from_node(POINT);
        let place = &builder.below(&point, Step::Member(&name));
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Seed(NodeVisitor { builder, place, item: false }))?;
            stop(builder.next_row())?;
        }
        Ok(())
    }
}
