//! Feeds a [`Builder`] from serde's visitor calls. Only the current value is held in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::cell::Cell;
use super::table::{Builder, Kind, POINT, Place, Step};

/// The array of all points.
pub(super) struct Points<'b, 'i, 'p>(pub &'b mut Builder<'i, 'p>);

impl<'de> DeserializeSeed<'de> for Points<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Points<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of points")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Point(self.0))?.is_some() {
            if self.0.picked_enough() {
                return stop(Err(()));
            }
        }
        Ok(())
    }
}

/// Deserialises one point into the builder.
pub(super) struct Point<'b, 'i, 'p>(pub &'b mut Builder<'i, 'p>);

impl<'de> DeserializeSeed<'de> for Point<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let (kind, length) = deserializer.deserialize_any(NodeSeed { builder: self.0, place: &Place::of(POINT), item: false })?;
        stop(self.0.end_point(kind, length))
    }
}

/// The error that stops serde; the builder holds the reason.
pub(super) fn stop<E: Error>(result: Result<(), ()>) -> Result<(), E> {
    result.map_err(|()| E::custom("stopped"))
}

/// A nested value in a point. Deserialises to the value's kind and length.
pub(super) struct NodeSeed<'b, 'a, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    /// The value's place in the point.
    pub place: &'a Place<'a>,
    /// Whether it is an element of an array.
    pub item: bool,
}

impl NodeSeed<'_, '_, '_, '_> {
    fn set<E: Error>(self, cell: Cell, text: &str) -> Result<(Kind, usize), E> {
        stop(self.builder.set(self.place, cell, text, self.item))?;
        Ok((Kind::Scalar, 1))
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_, '_, '_, '_> {
    type Value = (Kind, usize);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Kind, usize), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_, '_, '_, '_> {
    type Value = (Kind, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        self.set(Cell::Number(value), "")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        self.set(Cell::Number(value as f64), "")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        self.set(Cell::Number(value as f64), "")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        self.set(Cell::Number(f64::from(u8::from(value))), "")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.set(Cell::Missing, "")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        stop(self.builder.set_text(self.place, text, self.item))?;
        Ok((Kind::Scalar, 1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Self { builder, place, .. } = self;
        let mut length = 0;
        loop {
            let place = &builder.below(place, Step::Item(length));
            if seq.next_element_seed(NodeSeed { builder, place, item: true })?.is_none() {
                return Ok((Kind::Array, length));
            }
            length += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { builder, place, item } = self;
        let mut length = 0;
        while let Some(key) = map.next_key::<String>()? {
            let place = &builder.below(place, Step::Member(&key));
            map.next_value_seed(NodeSeed { builder, place, item })?;
            length += 1;
        }
        Ok((Kind::Object, length))
    }
}
