//! An object with points in one of its members: lists the members, and reads one.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::FormatError;
use super::super::cell;
use super::super::input::Input;
use super::super::limits::MAX_PARTS;
use super::super::parts::Entry;
use super::table::Builder;
use super::visit::Points;

/// The members of an object that are arrays or objects.
pub(super) struct Members<'i, 'p> {
    input: &'i Input<'p>,
    /// The error that stopped reading.
    pub failed: Option<FormatError>,
    /// The arrays, each of which could be the cloud.
    pub parts: Vec<Entry>,
    /// The member `type`, if it is a string, as in GeoJSON.
    pub kind: Option<String>,
    /// The strings of the member `columns`, if it is a list of strings, as pandas writes beside `data`.
    pub names: Vec<String>,
    /// Sizes of all members that are arrays or objects.
    sizes: Vec<Size>,
    /// Whether all member names are whole numbers, and all members are arrays or objects.
    numbered: bool,
}

/// The layout of an object that is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// One member per column: a list of values, or an object from row number to value.
    Columns,
    /// One member per row number, each an object.
    Rows,
}

impl<'i, 'p> Members<'i, 'p> {
    pub fn new(input: &'i Input<'p>) -> Self {
        Self { input, failed: None, parts: Vec::new(), kind: None, names: Vec::new(), sizes: Vec::new(), numbered: false }
    }

    /// Whether the object is one table: lists of equal length, or objects with equal keys.
    pub fn table(&self) -> Option<Table> {
        let (first, rest) = self.sizes.split_first()?;
        let alike = first.rows > 0 && rest.iter().all(|size| size.rows == first.rows && size.keys == first.keys && size.objects == first.objects);
        match first {
            _ if !alike => None,
            _ if !self.sizes.iter().all(|size| size.flat) => None,
            Size { objects: true, numbered: true, .. } => Some(Table::Columns),
            Size { objects: true, .. } if self.numbered => Some(Table::Rows),
            Size { objects: false, .. } if !rest.is_empty() => Some(Table::Columns),
            _ => None,
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Members<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Members<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.numbered = true;
        while let Some(name) = map.next_key::<String>()? {
            let member = map.next_value_seed(Member { outer: true, texts: name == "columns" })?;
            if name == "type" {
                self.kind = member.text;
            }
            self.numbered &= member.size.is_some() && is_number(&name);
            let Some(size) = member.size.filter(|_| self.sizes.len() < MAX_PARTS) else { continue };
            if name == "columns" {
                self.names = member.texts;
            }
            if let Err(why) = self.input.claim((name.len() + size_of::<Entry>() + size_of::<Size>()) as u64, "the members of an object") {
                self.failed = Some(why);
                return Err(A::Error::custom("stopped"));
            }
            if !size.objects || size.table {
                let about = if size.objects { "objects" } else { "arrays" }.to_owned();
                self.parts.push(Entry { name, rows: size.rows, columns: size.columns, table: size.table, about, unread: None });
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
struct Found {
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
    /// Whether it is an object or contains objects.
    objects: bool,
    /// Whether it contains only scalars.
    flat: bool,
    /// Hash of an object's keys in order, and whether all are whole numbers.
    keys: u64,
    numbered: bool,
}

/// Inspects a value, including the elements of an array or object only at the outer level.
struct Member {
    outer: bool,
    /// Whether string elements should be returned.
    texts: bool,
}

impl Member {
    const INNER: Self = Self { outer: false, texts: false };
}

impl<'de> DeserializeSeed<'de> for Member {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<Found, E> {
        Ok(Found { text: Some(cell::name(text.as_bytes())), ..Found::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found, A::Error> {
        let mut size = Size { columns: 1, flat: true, ..Size::default() };
        let mut texts = Vec::new();
        while self.outer && size.flat {
            let Some(found) = seq.next_element_seed(Self::INNER)? else { return Ok(Found { size: Some(size), texts, text: None }) };
            size.rows += 1;
            texts.extend(found.text.filter(|_| self.texts && texts.len() as u64 + 1 == size.rows && texts.len() < MAX_PARTS));
            if let Some(inner) = found.size {
                size.flat = false;
                // All elements are assumed to be like the first; differences are found when the points are read.
                if size.rows == 1 {
                    (size.columns, size.table, size.objects) = (inner.rows, true, inner.objects);
                }
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            size.rows += 1;
        }
        Ok(Found { size: Some(size), ..Found::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut size = Size { columns: 1, objects: true, flat: true, numbered: true, ..Size::default() };
        if !self.outer {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                size.rows += 1;
            }
            return Ok(Found { size: Some(size), ..Found::default() });
        }
        let mut keys = DefaultHasher::new();
        while let Some(key) = map.next_key::<String>()? {
            size.rows += 1;
            size.numbered &= is_number(&key);
            key.hash(&mut keys);
            size.flat &= map.next_value_seed(Self::INNER)?.size.is_none();
        }
        size.keys = keys.finish();
        Ok(Found { size: Some(size), ..Found::default() })
    }
}

/// Reads the points of the member with this name.
pub(super) struct Chosen<'b, 'n, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub name: &'n str,
}

impl<'de> DeserializeSeed<'de> for Chosen<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Chosen<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.name && !found {
                found = true;
                map.next_value_seed(Points(self.builder))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
