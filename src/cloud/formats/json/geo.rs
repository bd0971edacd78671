//! GeoJSON points and their properties. `x`, `y` and `z` come from `coordinates`: longitude, latitude and height by the
//! standard. A feature with several points becomes one row per point with the same properties; one without geometry is NaN.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::cell::Cell;
use super::table::{Builder, Kind};
use super::visit::{NodeSeed, stop};

/// The type of a GeoJSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Geo {
    Collection,
    Feature,
    Geometry,
}

impl Geo {
    /// The document type of a `type` member.
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            "FeatureCollection" => Some(Self::Collection),
            "Feature" => Some(Self::Feature),
            "Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" | "GeometryCollection" => Some(Self::Geometry),
            _ => None,
        }
    }
}

/// Deserialises the whole document.
pub(super) struct Features<'b, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub geo: Geo,
}

impl<'de> DeserializeSeed<'de> for Features<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Coordinate columns come first, even if a property has the same name.
        let axes = ["x", "y", "z"].map(|name| self.builder.top_level(name));
        let mut rows = Rows { builder: self.builder, axes, features: 0 };
        match self.geo {
            Geo::Collection => deserializer.deserialize_map(rows),
            Geo::Feature => rows.add(Feature::deserialize(deserializer)?),
            Geo::Geometry => rows.add(Feature { geometry: Some(Geometry::deserialize(deserializer)?), properties: None }),
        }
    }
}

/// Feeds features to the builder.
struct Rows<'b, 'i, 'p> {
    builder: &'b mut Builder<'i, 'p>,
    /// The nodes of x, y and z in the builder.
    axes: [usize; 3],
    features: u64,
}

impl Rows<'_, '_, '_> {
    fn add<E: Error>(&mut self, Feature { geometry, properties }: Feature) -> Result<(), E> {
        let feature = format!("feature {}", self.features);
        self.features += 1;
        let positions = match geometry {
            None => vec![[f64::NAN; 3]],
            Some(Geometry { kind, coordinates }) => match (kind.as_str(), coordinates.0) {
                ("Point", Coordinates::Position(position)) => vec![position],
                ("MultiPoint", Coordinates::Positions(positions)) => positions,
                ("Point" | "MultiPoint", _) => {
                    let why = self.builder.input().malformed(feature, format!("its coordinates are not those of a {kind}: x, y and maybe z"));
                    return stop(self.builder.fail(why));
                }
                _ => {
                    let why = "points are read only; make its vertices or centres points first, for instance in QGIS";
                    let why = self.builder.input().unsupported(format!("{feature}, a {kind}"), why);
                    return stop(self.builder.fail(why));
                }
            },
        };
        for position in positions {
            for (node, value) in self.axes.into_iter().zip(position) {
                let absent = value.is_nan();
                // There is no column z if no point has one.
                if !absent || node != self.axes[2] {
                    let cell = if absent { Cell::Missing } else { Cell::Number(value) };
                    stop(self.builder.set(node, cell, "", false))?;
                }
            }
            for (name, value) in properties.iter().flat_map(|properties| &properties.0) {
                let node = self.builder.member(super::table::POINT, name);
                // The builder holds the actual error; the value has no line number.
                NodeSeed { builder: self.builder, node, item: false }.deserialize(value).map_err(|_| E::custom("stopped"))?;
            }
            stop(self.builder.end_point(Kind::Feature, 0))?;
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a collection of features")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == "features" {
                map.next_value_seed(List(&mut self))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Deserialises the features of a collection.
struct List<'r, 'b, 'i, 'p>(&'r mut Rows<'b, 'i, 'p>);

impl<'de> DeserializeSeed<'de> for List<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(feature) = seq.next_element()? {
            self.0.add(feature)?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a feature")]
struct Feature {
    #[serde(default)]
    geometry: Option<Geometry>,
    #[serde(default)]
    properties: Option<Properties>,
}

#[derive(Deserialize)]
#[serde(expecting = "a geometry")]
struct Geometry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    coordinates: Found,
}

/// Names and values, in file order.
struct Properties(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Properties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of properties")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Properties(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The content of `coordinates`, by nesting depth.
enum Coordinates {
    Number(f64),
    Position([f64; 3]),
    Positions(Vec<[f64; 3]>),
    /// A line, a polygon or something else.
    Other,
}

struct Found(Coordinates);

impl Default for Found {
    fn default() -> Self {
        Self(Coordinates::Other)
    }
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Numbers).map(Self)
    }
}

struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = Coordinates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("coordinates")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Coordinates, E> {
        Ok(Coordinates::Number(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Coordinates, E> {
        Ok(Coordinates::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Coordinates, E> {
        Ok(Coordinates::Number(value as f64))
    }

    fn visit_unit<E>(self) -> Result<Coordinates, E> {
        Ok(Coordinates::Number(f64::NAN))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Coordinates, A::Error> {
        let (mut position, mut numbers, mut positions, mut other) = ([f64::NAN; 3], 0, Vec::new(), false);
        while let Some(Found(element)) = seq.next_element()? {
            match element {
                Coordinates::Number(value) => {
                    // A fourth coordinate has no standard meaning.
                    if let Some(axis) = position.get_mut(numbers) {
                        *axis = value;
                    }
                    numbers += 1;
                }
                Coordinates::Position(position) => positions.push(position),
                Coordinates::Positions(_) | Coordinates::Other => other = true,
            }
        }
        Ok(match (numbers, other) {
            (0, false) => Coordinates::Positions(positions),
            (2.., false) if positions.is_empty() => Coordinates::Position(position),
            _ => Coordinates::Other,
        })
    }
}
