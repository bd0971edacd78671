//! Visitors for the positions of a JSON text. Only the current value is held in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::table::{Builder, POINT, Place, PointKind, Step};
use crate::formats::cell::Cell;

/// The values accepted at a position of the text, and their conversion. Any other value is an error.
pub(super) trait JsonVisitor: Sized {
    type Value;

    /// Completes "expected ".
    const EXPECTED: &'static str;

    /// The only accepted container, if any.
    const ONLY: Option<Container> = None;

    /// The meaning of null, if it is accepted.
    fn null() -> Option<Self::Value> {
        None
    }

    /// Accepts null, a boolean, a number or a text.
    fn scalar<E: Error>(self, found: Unexpected<'_>) -> Result<Self::Value, E> {
        let null = if found == Unexpected::Unit { Self::null() } else { None };
        null.ok_or_else(|| E::invalid_type(found, &Self::EXPECTED))
    }

    fn array<'de, A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    fn object<'de, A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// A JSON container.
pub(super) enum Container {
    Array,
    Object,
}

/// Forwards the parser's calls to an [`JsonVisitor`].
pub(super) struct Seed<T>(pub T);

impl<'de, T: JsonVisitor> DeserializeSeed<'de> for Seed<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        match T::ONLY {
            None => deserializer.deserialize_any(self),
            Some(Container::Array) => deserializer.deserialize_seq(self),
            Some(Container::Object) => deserializer.deserialize_map(self),
        }
    }
}

impl<'de, T: JsonVisitor> Visitor<'de> for Seed<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Bool(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Float(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Signed(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Unsigned(value))
    }

    fn visit_unit<E: Error>(self) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Unit)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T::Value, E> {
        self.0.scalar(Unexpected::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T::Value, A::Error> {
        self.0.array(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T::Value, A::Error> {
        self.0.object(map)
    }
}

/// A number of any kind.
pub(super) fn number(found: &Unexpected<'_>) -> Option<f64> {
    match *found {
        Unexpected::Float(value) => Some(value),
        Unexpected::Signed(value) => Some(value as f64),
        Unexpected::Unsigned(value) => Some(value as f64),
        _ => None,
    }
}

/// The digits of an integer; empty for other numbers.
fn spelling(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        _ => String::new(),
    }
}

/// The error that stops the parser; the builder holds the reason.
pub(super) fn stop<E: Error>(result: Result<(), ()>) -> Result<(), E> {
    result.map_err(|()| E::custom("stopped"))
}

/// The array of all points.
pub(super) struct Points<'b, 'i, 'p>(pub &'b mut Builder<'i, 'p>);

impl JsonVisitor for Points<'_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "an array of points";
    const ONLY: Option<Container> = Some(Container::Array);

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Point(self.0))?.is_some() {
            if self.0.has_all_records() {
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
        let (kind, length) =
            Seed(NodeVisitor { builder: self.0, place: &Place::from_node(POINT), item: false })
                .deserialize(deserializer)?;
        stop(self.0.end_point(kind, length))
    }
}

/// A nested value in a point. Deserialises to the value's kind and length.
pub(super) struct NodeVisitor<'b, 'a, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    /// The value's place in the point.
    pub place: &'a Place<'a>,
    /// Whether it is an element of an array.
    pub item: bool,
}

impl JsonVisitor for NodeVisitor<'_, '_, '_, '_> {
    type Value = (PointKind, usize);

    const EXPECTED: &'static str = "a value";

    fn scalar<E: Error>(self, found: Unexpected<'_>) -> Result<Self::Value, E> {
        let Self { builder, place, item } = self;
        stop(match (number(&found), found) {
            (Some(value), found) if value.abs() >= 2f64.powi(53) => {
                builder.set(place, Cell::Number(value), &spelling(&found), item)
            }
            (Some(value), _) => builder.set(place, Cell::Number(value), "", item),
            (_, Unexpected::Bool(value)) => {
                builder.set(place, Cell::Number(f64::from(u8::from(value))), "", item)
            }
            (_, Unexpected::Str(text)) => builder.set_text(place, text, item),
            _ => builder.set(place, Cell::Missing, "", item),
        })?;
        Ok((PointKind::Scalar, 1))
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Self { builder, place, .. } = self;
        let mut length = 0;
        loop {
            let place = &builder.below(place, Step::Item(length));
            if seq.next_element_seed(Seed(NodeVisitor { builder, place, item: true }))?.is_none() {
                return Ok((PointKind::Array, length));
            }
            length += 1;
        }
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { builder, place, item } = self;
        let mut length = 0;
        while let Some(key) = map.next_key::<String>()? {
            let place = &builder.below(place, Step::Member(&key));
            map.next_value_seed(Seed(NodeVisitor { builder, place, item }))?;
            length += 1;
        }
        Ok((PointKind::Object, length))
    }
}
