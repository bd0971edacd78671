//! Checks a footer before the decoder gets it, which recurses into each group of the schema, and allocates what a group
//! promises.

use super::super::super::limits::{MAX_COLUMNS, MAX_GROUPS, MAX_NAMES};
use super::thrift::{Event, Kind, Shape, walk};

/// What is wrong with a footer.
#[derive(Debug, PartialEq)]
pub(super) enum Refusal {
    /// It contradicts itself.
    Malformed(String),
    /// Something is too much: what, and how much of it.
    TooMuch(String, String),
}

/// Checks that a footer is what the decoder takes it for, and that its schema neither nests too deep nor promises too much.
/// Returns the number of its columns.
pub(super) fn check(footer: &[u8]) -> Result<u64, Refusal> {
    let (mut tree, mut element) = (Tree::default(), Element::default());
    let mut each = |event: Event| {
        match event {
            Event::Int { of, field: 5, value } if is_element(of) => element.children = value,
            Event::Binary { of, field: 4, length } if is_element(of) => element.name = Some(length as u64),
            Event::End { of } if is_element(of) => tree.add(std::mem::take(&mut element))?,
            _ => {}
        }
        Ok(())
    };
    walk(footer, &FILE, &mut each).map_err(Refusal::Malformed)?;
    tree.end()
}

fn is_element(of: &'static Shape) -> bool {
    std::ptr::eq(of, &ELEMENT)
}

/// An element of the schema.
#[derive(Default)]
struct Element {
    /// The length of its name.
    name: Option<u64>,
    children: i64,
}

/// The tree that the elements form in depth-first order.
#[derive(Default)]
struct Tree {
    elements: u64,
    /// Those that are columns.
    leaves: u64,
    /// Groups around the next element: how many children each lacks, and the length of its name with those around it.
    groups: Vec<(u64, u64)>,
    deepest: usize,
    names: u64,
}

impl Tree {
    fn add(&mut self, Element { name, children }: Element) -> Result<(), String> {
        let at = self.elements;
        self.elements += 1;
        while self.groups.pop_if(|(left, _)| *left == 0).is_some() {}
        let around = match self.groups.last_mut() {
            Some((left, around)) => {
                *left -= 1;
                *around
            }
            None if at == 0 => 0,
            None => return Err(format!("element {at} of its schema is in no group")),
        };
        // What has no name could take a single byte.
        let name = name.ok_or_else(|| format!("element {at} of its schema has no name"))?;
        let children = u64::try_from(children).map_err(|_| format!("element {at} of its schema has {children} children"))?;
        // The root's name is not kept.
        let names = if at == 0 { 0 } else { around.saturating_add(name) };
        self.deepest = self.deepest.max(self.groups.len());
        if children > 0 || at == 0 {
            self.groups.push((children, names));
        } else {
            self.leaves += 1;
            self.names = self.names.saturating_add(names);
        }
        Ok(())
    }

    fn end(self) -> Result<u64, Refusal> {
        let missing = self.groups.iter().fold(0, |sum: u64, (left, _)| sum.saturating_add(*left));
        if missing > 0 {
            return Err(Refusal::Malformed(format!("its groups promise {missing} columns more than it describes")));
        }
        if self.deepest > MAX_GROUPS {
            let what = format!("columns within {} groups", self.deepest);
            return Err(Refusal::TooMuch(what, format!("those within {MAX_GROUPS} are read at most")));
        }
        if self.names > MAX_NAMES {
            let why = format!("they take {} bytes, and the most that are read are {MAX_NAMES}", self.names);
            return Err(Refusal::TooMuch("names of columns with those of their groups".to_owned(), why));
        }
        if self.leaves > MAX_COLUMNS as u64 {
            return Err(Refusal::TooMuch(format!("{} columns", self.leaves), format!("the most that are read are {MAX_COLUMNS}")));
        }
        Ok(self.leaves)
    }
}

// What the decoder knows of parquet.thrift.

static FILE: Shape = Shape {
    name: "FileMetaData",
    fields: &[
        (1, Kind::Int),
        (2, Kind::List(&Kind::Struct(&ELEMENT))),
        (3, Kind::Int),
        (4, Kind::List(&Kind::Struct(&ROW_GROUP))),
        (5, Kind::List(&Kind::Struct(&KEY_VALUE))),
        (6, Kind::Binary),
        (7, Kind::List(&Kind::Struct(&COLUMN_ORDER))),
    ],
};

static ELEMENT: Shape = Shape {
    name: "SchemaElement",
    fields: &[
        (1, Kind::Int),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::Binary),
        (5, Kind::Int),
        (6, Kind::Int),
        (7, Kind::Int),
        (8, Kind::Int),
        (9, Kind::Int),
        (10, Kind::Struct(&LOGICAL_TYPE)),
    ],
};

static LOGICAL_TYPE: Shape = Shape {
    name: "LogicalType",
    fields: &[
        (1, Kind::Struct(&EMPTY)),
        (2, Kind::Struct(&EMPTY)),
        (3, Kind::Struct(&EMPTY)),
        (4, Kind::Struct(&EMPTY)),
        (5, Kind::Struct(&DECIMAL)),
        (6, Kind::Struct(&EMPTY)),
        (7, Kind::Struct(&TIME)),
        (8, Kind::Struct(&TIME)),
        (10, Kind::Struct(&INTEGER)),
        (11, Kind::Struct(&EMPTY)),
        (12, Kind::Struct(&EMPTY)),
        (13, Kind::Struct(&EMPTY)),
        (14, Kind::Struct(&EMPTY)),
        (15, Kind::Struct(&EMPTY)),
        (16, Kind::Struct(&VARIANT)),
        (17, Kind::Struct(&GEOGRAPHY)),
        (18, Kind::Struct(&GEOGRAPHY)),
        (19, Kind::Struct(&EMPTY)),
    ],
};

pub(super) static EMPTY: Shape = Shape { name: "an empty struct", fields: &[] };
static DECIMAL: Shape = Shape { name: "DecimalType", fields: &[(1, Kind::Int), (2, Kind::Int)] };
static TIME: Shape = Shape { name: "TimestampType", fields: &[(1, Kind::Bool), (2, Kind::Struct(&TIME_UNIT))] };
static TIME_UNIT: Shape = Shape { name: "TimeUnit", fields: &[(1, Kind::Struct(&EMPTY)), (2, Kind::Struct(&EMPTY)), (3, Kind::Struct(&EMPTY))] };
static INTEGER: Shape = Shape { name: "IntType", fields: &[(1, Kind::Byte), (2, Kind::Bool)] };
static VARIANT: Shape = Shape { name: "VariantType", fields: &[(1, Kind::Byte)] };
static GEOGRAPHY: Shape = Shape { name: "GeographyType", fields: &[(1, Kind::Binary), (2, Kind::Int)] };
static KEY_VALUE: Shape = Shape { name: "KeyValue", fields: &[(1, Kind::Binary), (2, Kind::Binary)] };
static COLUMN_ORDER: Shape =
    Shape { name: "ColumnOrder", fields: &[(1, Kind::Struct(&EMPTY)), (2, Kind::Struct(&EMPTY)), (3, Kind::Struct(&EMPTY))] };

static ROW_GROUP: Shape = Shape {
    name: "RowGroup",
    fields: &[
        (1, Kind::List(&Kind::Struct(&COLUMN))),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::List(&Kind::Struct(&SORTING))),
        (5, Kind::Int),
        (7, Kind::Int),
    ],
};

static SORTING: Shape = Shape { name: "SortingColumn", fields: &[(1, Kind::Int), (2, Kind::Bool), (3, Kind::Bool)] };

static COLUMN: Shape = Shape {
    name: "ColumnChunk",
    fields: &[(1, Kind::Binary), (2, Kind::Int), (3, Kind::Struct(&COLUMN_DATA)), (4, Kind::Int), (5, Kind::Int), (6, Kind::Int), (7, Kind::Int)],
};

static COLUMN_DATA: Shape = Shape {
    name: "ColumnMetaData",
    fields: &[
        (1, Kind::Int),
        (2, Kind::List(&Kind::Int)),
        (4, Kind::Int),
        (5, Kind::Int),
        (6, Kind::Int),
        (7, Kind::Int),
        (9, Kind::Int),
        (10, Kind::Int),
        (11, Kind::Int),
        (12, Kind::Struct(&STATISTICS)),
        (13, Kind::List(&Kind::Struct(&PAGE_ENCODING))),
        (14, Kind::Int),
        (15, Kind::Int),
        (16, Kind::Struct(&SIZES)),
        (17, Kind::Struct(&PLACES)),
    ],
};

pub(super) static STATISTICS: Shape = Shape {
    name: "Statistics",
    fields: &[
        (1, Kind::Binary),
        (2, Kind::Binary),
        (3, Kind::Int),
        (4, Kind::Int),
        (5, Kind::Binary),
        (6, Kind::Binary),
        (7, Kind::Bool),
        (8, Kind::Bool),
        (9, Kind::Int),
    ],
};

static PAGE_ENCODING: Shape = Shape { name: "PageEncodingStats", fields: &[(1, Kind::Int), (2, Kind::Int), (3, Kind::Int)] };
static SIZES: Shape = Shape { name: "SizeStatistics", fields: &[(1, Kind::Int), (2, Kind::List(&Kind::Int)), (3, Kind::List(&Kind::Int))] };
static PLACES: Shape = Shape { name: "GeospatialStatistics", fields: &[(1, Kind::Struct(&BOX)), (2, Kind::List(&Kind::Int))] };
static BOX: Shape = Shape {
    name: "BoundingBox",
    fields: &[
        (1, Kind::Double),
        (2, Kind::Double),
        (3, Kind::Double),
        (4, Kind::Double),
        (5, Kind::Double),
        (6, Kind::Double),
        (7, Kind::Double),
        (8, Kind::Double),
    ],
};
