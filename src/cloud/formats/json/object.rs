//! An object that has points somewhere among its members: which members there are, and the points of one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::parts::Part;
use super::table::Builder;
use super::visit::Points;

/// More members than anybody chooses from.
const MAX_MEMBERS: usize = 1 << 16;

/// The members of an object that are arrays, and its `type` where that is a text, as GeoJSON has.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub parts: Vec<Part>,
    pub geo: bool,
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
        while let Some(name) = map.next_key::<String>()? {
            let member = map.next_value_seed(Member { outer: true })?;
            self.geo |= name == "type" && member.geo;
            if let Some(size) = member.size.filter(|_| self.parts.len() < MAX_MEMBERS) {
                let (rows, columns, table) = (size.rows, size.columns, size.table);
                self.parts.push(Part { name, rows, columns, table, about: if size.objects { "objects" } else { "arrays" }.to_owned(), unread: None });
            }
        }
        Ok(())
    }
}

/// What a member is.
#[derive(Debug, Default)]
struct Found {
    /// Whether it is a word of GeoJSON.
    geo: bool,
    size: Option<Size>,
}

/// The size of an array, from its first element.
#[derive(Debug, Default)]
struct Size {
    rows: u64,
    columns: u64,
    table: bool,
    objects: bool,
}

/// Looks at a value; at the elements of an array only if it is the outer one.
struct Member {
    outer: bool,
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
        Ok(Found { geo: ["FeatureCollection", "Feature", "GeometryCollection", "MultiPoint", "Topology"].contains(&text), size: None })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found, A::Error> {
        let mut size = Size { columns: 1, ..Size::default() };
        if self.outer
            && let Some(first) = seq.next_element_seed(Self { outer: false })?
        {
            size.rows = 1;
            if let Some(inner) = first.size {
                (size.columns, size.table, size.objects) = (inner.rows, true, inner.objects);
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            size.rows += 1;
        }
        Ok(Found { geo: false, size: Some(size) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut size = Size { objects: true, ..Size::default() };
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            size.rows += 1;
        }
        Ok(Found { geo: false, size: if self.outer { None } else { Some(size) } })
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
