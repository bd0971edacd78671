//! Checks a footer before decoding: the decoder recurses into each group of the schema and allocates memory
//! by declared sizes.

use crate::formats::Result;
use crate::formats::limits::{MAX_COLUMNS, MAX_GROUPS, MAX_NAMES, MAX_THRIFT_DEPTH};

/// What is wrong with a footer.
#[derive(Debug, PartialEq)]
pub(super) enum FooterError {
    /// It contradicts itself.
    Malformed(String),
    /// A limit is exceeded: what, and by how much.
    TooMuch(String, String),
}

/// Checks that a footer has the types the decoder expects, and that its schema exceeds neither the depth nor
/// the size limits. Returns its number of columns.
pub(super) fn check(footer: &[u8]) -> Result<u64, FooterError> {
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
    walk(footer, &FILE, &mut each).map_err(FooterError::Malformed)?;
    tree.end()
}

fn is_element(of: &'static StructSchema) -> bool {
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
    /// Elements that are columns.
    leaves: u64,
    /// Open groups: the number of remaining children, and the total length of the names of the group and
    /// those around it.
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
        // An unnamed element could have a single byte.
        let name = name.ok_or_else(|| format!("element {at} of its schema has no name"))?;
        let children = u64::try_from(children)
            .map_err(|_| format!("element {at} of its schema has {children} children"))?;
        // The root's name is not stored.
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

    fn end(self) -> Result<u64, FooterError> {
        let missing = self.groups.iter().fold(0, |sum: u64, (left, _)| sum.saturating_add(*left));
        if missing > 0 {
            return Err(FooterError::Malformed(format!(
                "its groups declare {missing} more columns than it describes"
            )));
        }
        if self.deepest > MAX_GROUPS {
            let what = format!("columns within {} groups", self.deepest);
            return Err(FooterError::TooMuch(what, format!("at most {MAX_GROUPS} are supported")));
        }
        if self.names > MAX_NAMES {
            let why = format!("they take {} bytes; at most {MAX_NAMES} are supported", self.names);
            return Err(FooterError::TooMuch("names of columns with those of their groups".to_owned(), why));
        }
        if self.leaves > MAX_COLUMNS as u64 {
            return Err(FooterError::TooMuch(
                format!("{} columns", self.leaves),
                format!("at most {MAX_COLUMNS} are supported"),
            ));
        }
        Ok(self.leaves)
    }
}

// The subset of parquet.thrift known to the decoder.

use Kind::{Binary, Bool, Byte, Double, Int, List, Struct, Unknown};

static FILE: StructSchema = StructSchema {
    name: "FileMetaData",
    fields: &[
        Int,
        List(&Struct(&ELEMENT)),
        Int,
        List(&Struct(&ROW_GROUP)),
        List(&Struct(&KEY_VALUE)),
        Binary,
        List(&Struct(&COLUMN_ORDER)),
    ],
};

static ELEMENT: StructSchema = StructSchema {
    name: "SchemaElement",
    fields: &[Int, Int, Int, Binary, Int, Int, Int, Int, Int, Struct(&LOGICAL_TYPE)],
};

static LOGICAL_TYPE: StructSchema = StructSchema {
    name: "LogicalType",
    fields: &[
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        Struct(&DECIMAL),
        NOTHING,
        Struct(&TIME),
        Struct(&TIME),
        Unknown,
        Struct(&INTEGER),
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        Struct(&VARIANT),
        Struct(&GEOGRAPHY),
        Struct(&GEOGRAPHY),
        NOTHING,
    ],
};

/// Struct without fields.
pub(super) const NOTHING: Kind = Struct(&EMPTY);
static EMPTY: StructSchema = StructSchema { name: "an empty struct", fields: &[] };
static DECIMAL: StructSchema = StructSchema { name: "DecimalType", fields: &[Int, Int] };
static TIME: StructSchema = StructSchema { name: "TimestampType", fields: &[Bool, Struct(&TIME_UNIT)] };
static TIME_UNIT: StructSchema = StructSchema { name: "TimeUnit", fields: &[NOTHING, NOTHING, NOTHING] };
static INTEGER: StructSchema = StructSchema { name: "IntType", fields: &[Byte, Bool] };
static VARIANT: StructSchema = StructSchema { name: "VariantType", fields: &[Byte] };
static GEOGRAPHY: StructSchema = StructSchema { name: "GeographyType", fields: &[Binary, Int] };
static KEY_VALUE: StructSchema = StructSchema { name: "KeyValue", fields: &[Binary, Binary] };
static COLUMN_ORDER: StructSchema =
    StructSchema { name: "ColumnOrder", fields: &[NOTHING, NOTHING, NOTHING] };

static ROW_GROUP: StructSchema = StructSchema {
    name: "RowGroup",
    fields: &[List(&Struct(&COLUMN)), Int, Int, List(&Struct(&SORTING)), Int, Unknown, Int],
};

static SORTING: StructSchema = StructSchema { name: "SortingColumn", fields: &[Int, Bool, Bool] };

static COLUMN: StructSchema =
    StructSchema { name: "ColumnChunk", fields: &[Binary, Int, Struct(&COLUMN_DATA), Int, Int, Int, Int] };

static COLUMN_DATA: StructSchema = StructSchema {
    name: "ColumnMetaData",
    fields: &[
        Int,
        List(&Int),
        Unknown,
        Int,
        Int,
        Int,
        Int,
        Unknown,
        Int,
        Int,
        Int,
        Struct(&STATISTICS),
        List(&Struct(&PAGE_ENCODING)),
        Int,
        Int,
        Struct(&SIZES),
        Struct(&PLACES),
    ],
};

pub(super) static STATISTICS: StructSchema =
    StructSchema { name: "Statistics", fields: &[Binary, Binary, Int, Int, Binary, Binary, Bool, Bool, Int] };

static PAGE_ENCODING: StructSchema = StructSchema { name: "PageEncodingStats", fields: &[Int, Int, Int] };
static SIZES: StructSchema = StructSchema { name: "SizeStatistics", fields: &[Int, List(&Int), List(&Int)] };
static PLACES: StructSchema =
    StructSchema { name: "GeospatialStatistics", fields: &[Struct(&BOX), List(&Int)] };
static BOX: StructSchema = StructSchema {
    name: "BoundingBox",
    fields: &[Double, Double, Double, Double, Double, Double, Double, Double],
};

// Traverses a value of Thrift's compact protocol like the decoder, but without recursion or allocation.

/// The fields of a struct that the decoder knows. The decoder assumes the expected type and ignores the
/// declared one.
pub(super) struct StructSchema {
    pub name: &'static str,
    /// By number, from 1.
    pub fields: &'static [Kind],
}

impl StructSchema {
    fn kind(&self, field: i16) -> Option<Kind> {
        let at = usize::try_from(field).ok()?.checked_sub(1)?;
        self.fields.get(at).copied().filter(|kind| !matches!(kind, Unknown))
    }
}

/// What a field holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Bool,
    Byte,
    /// Of any width.
    Int,
    Double,
    Binary,
    Struct(&'static StructSchema),
    List(&'static Self),
    /// A field that the decoder ignores.
    Unknown,
}

/// A value in a known struct.
pub(super) enum Event {
    Int {
        of: &'static StructSchema,
        field: i16,
        value: i64,
    },
    /// A text or bytes of this length.
    Binary {
        of: &'static StructSchema,
        field: i16,
        length: usize,
    },
    End {
        of: &'static StructSchema,
    },
}

/// A container being read.
enum Frame {
    /// A struct, after the field `last`.
    Struct {
        shape: Option<&'static StructSchema>,
        last: i16,
    },
    List {
        left: u64,
        of: u8,
        kind: Option<Kind>,
    },
    /// Keys and values in turn; `left` counts both.
    Map {
        left: u64,
        of: [u8; 2],
    },
}

impl Kind {
    /// Whether the decoder reads this wire type as this kind.
    fn is(self, wire: u8) -> bool {
        match self {
            Self::Bool => matches!(wire, 1 | 2),
            Self::Byte => wire == 3,
            Self::Int => matches!(wire, 4..=6),
            Self::Double => wire == 7,
            Self::Binary => wire == 8,
            Self::List(_) => matches!(wire, 9 | 10),
            Self::Struct(_) => wire == 12,
            Self::Unknown => false,
        }
    }
}

/// Traverses a struct and calls `each` for its values. Returns the length of the struct in bytes.
///
/// The error says why the bytes must not be decoded.
pub(super) fn walk(
    bytes: &[u8],
    shape: &'static StructSchema,
    each: &mut dyn FnMut(Event) -> Result<(), String>,
) -> Result<usize, String> {
    let mut rest = ByteReader(bytes);
    // Booleans in lists consume no bytes in the decoder, so a few bytes could declare billions of them. Valid
    // files have at most as many list elements as bytes.
    let mut elements = bytes.len() as u64;
    let mut frames = vec![Frame::Struct { shape: Some(shape), last: 0 }];
    while let Some(frame) = frames.last_mut() {
        // The next value: its wire type, its expected kind, and the field of a known struct.
        let (wire, kind, field) = match frame {
            Frame::Struct { shape, last } => {
                let shape = *shape;
                let head = rest.byte()?;
                if head & 15 == 0 {
                    frames.pop();
                    if let Some(of) = shape {
                        each(Event::End { of })?;
                    }
                    continue;
                }
                let field = match head >> 4 {
                    0 => rest.int()? as i16,
                    step => last.checked_add(step.into()).ok_or("a number of a field is too large")?,
                };
                // The decoder does not number the fields of structs that it skips.
                *last = if shape.is_some() { field } else { 0 };
                let kind = shape.and_then(|shape| shape.kind(field));
                let wire = head & 15;
                if let (Some(shape), Some(kind)) = (shape, kind)
                    && !kind.is(wire)
                {
                    return Err(format!("field {field} of {} has the wrong type", shape.name));
                }
                (wire, kind, shape.filter(|_| kind.is_some()).map(|of| (of, field)))
            }
            Frame::List { left: 0, .. } | Frame::Map { left: 0, .. } => {
                frames.pop();
                continue;
            }
            Frame::List { left, of, kind } => {
                *left -= 1;
                (*of, *kind, None)
            }
            Frame::Map { left, of } => {
                *left -= 1;
                (of[usize::from(*left % 2 == 0)], None, None)
            }
        };
        let mut count = |rest: &ByteReader<'_>, count: u64| {
            if count > elements || count > rest.0.len() as u64 {
                return Err(format!(
                    "a list declares {count} elements, but only {} bytes follow",
                    rest.0.len()
                ));
            }
            elements -= count;
            Ok(count)
        };
        let inner = match wire {
            1 | 2 => None,
            3 => rest.skip(1).map(|()| None)?,
            4..=6 => {
                let value = rest.int()?;
                if let Some((of, field)) = field {
                    each(Event::Int { of, field, value })?;
                }
                None
            }
            7 => rest.skip(8).map(|()| None)?,
            8 => {
                let length = usize::try_from(rest.varint()?).unwrap_or(usize::MAX);
                rest.skip(length)?;
                if let Some((of, field)) = field {
                    each(Event::Binary { of, field, length })?;
                }
                None
            }
            9 | 10 => {
                let head = rest.byte()?;
                let left = if head >> 4 == 15 { rest.varint()? } else { u64::from(head >> 4) };
                let left = count(&rest, left)?;
                let kind = if let Some(Kind::List(kind)) = kind { Some(*kind) } else { None };
                if left > 0 && kind.is_some_and(|kind| !kind.is(head & 15)) {
                    return Err("the elements of a list have the wrong type".to_owned());
                }
                Some(Frame::List { left, of: head & 15, kind })
            }
            11 => {
                let left = rest.varint()?;
                let of = if left > 0 { rest.byte()? } else { 0 };
                Some(Frame::Map { left: count(&rest, left.saturating_mul(2))?, of: [of >> 4, of & 15] })
            }
            12 => Some(Frame::Struct {
                shape: if let Some(Kind::Struct(shape)) = kind { Some(shape) } else { None },
                last: 0,
            }),
            13 => rest.skip(16).map(|()| None)?,
            other => return Err(format!("unknown type {other}")),
        };
        if let Some(inner) = inner {
            if frames.len() == MAX_THRIFT_DEPTH {
                return Err(format!("nests more than {MAX_THRIFT_DEPTH} deep"));
            }
            frames.push(inner);
        }
    }
    Ok(bytes.len() - rest.0.len())
}

/// The remaining bytes.
pub(super) struct ByteReader<'a>(pub &'a [u8]);

impl ByteReader<'_> {
    pub fn skip(&mut self, count: usize) -> Result<(), String> {
        self.0 = self.0.get(count..).ok_or("it is cut short")?;
        Ok(())
    }

    pub fn byte(&mut self) -> Result<u8, String> {
        let byte = *self.0.first().ok_or("it is cut short")?;
        self.0 = &self.0[1..];
        Ok(byte)
    }

    pub fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is longer than 64 bits".to_owned())
    }

    /// A signed number, stored with its sign in the lowest bit.
    fn int(&mut self) -> Result<i64, String> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
