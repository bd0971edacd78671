//! An object that has points somewhere among its members: which members there are, and the points of one.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::parts::Part;
use super::table::Builder;
use super::visit::Points;

/// More members than anybody chooses from.
const MAX_MEMBERS: usize = 1 << 16;

/// The members of an object that are arrays or objects.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The arrays.
    pub parts: Vec<Part>,
    /// What `type` says, where that is a text, as in GeoJSON.
    pub kind: Option<String>,
    /// The texts of `columns`, where that is a list of such, as pandas writes names beside `data`.
    pub names: Vec<String>,
    /// What is known of all members that are arrays or objects.
    sizes: Vec<Size>,
    /// Whether the names of all members are whole numbers, and all are arrays or objects.
    numbered: bool,
}

/// How a table lies in an object without an array of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// A member for each column: a list with a value for each row, or an object with one for each row's number.
    Columns,
    /// A member for each row's number: an object.
    Rows,
}

impl Members {
    /// Whether the object is one table, whose lists are as long or whose objects have the same keys.
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

impl<'de> DeserializeSeed<'de> for &mut Members {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Members {
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
            let Some(size) = member.size.filter(|_| self.sizes.len() < MAX_MEMBERS) else { continue };
            if name == "columns" {
                self.names = member.texts;
            }
            if !size.objects || size.table {
                let about = if size.objects { "objects" } else { "arrays" }.to_owned();
                self.parts.push(Part { name, rows: size.rows, columns: size.columns, table: size.table, about, unread: None });
            }
            self.sizes.push(size);
        }
        Ok(())
    }
}

fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a member is.
#[derive(Debug, Default)]
struct Found {
    text: Option<String>,
    size: Option<Size>,
    /// The elements, where all are texts and these were asked for.
    texts: Vec<String>,
}

/// The size of an array, from its first element, or of an object.
#[derive(Debug, Default)]
struct Size {
    rows: u64,
    columns: u64,
    /// Whether it is an array of arrays or objects.
    table: bool,
    /// Whether it is an object, or has such.
    objects: bool,
    /// Whether all that is in it is single values.
    flat: bool,
    /// The hash of an object's keys in their order, and whether all are whole numbers.
    keys: u64,
    numbered: bool,
}

/// Looks at a value; at the elements of an array or object only if it is the outer one.
struct Member {
    outer: bool,
    /// Whether its elements are wanted, if they are texts.
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
        Ok(Found { text: Some(text.to_owned()), ..Found::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found, A::Error> {
        let mut size = Size { columns: 1, flat: true, ..Size::default() };
        let mut texts = Vec::new();
        while self.outer && size.flat {
            let Some(found) = seq.next_element_seed(Self::INNER)? else { return Ok(Found { size: Some(size), texts, text: None }) };
            size.rows += 1;
            texts.extend(found.text.filter(|_| self.texts && texts.len() as u64 + 1 == size.rows && texts.len() < MAX_MEMBERS));
            if let Some(inner) = found.size {
                size.flat = false;
                // What the first element is, all are; a later one that differs is found when the points are read.
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

/// The points that are the member of this name.
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
