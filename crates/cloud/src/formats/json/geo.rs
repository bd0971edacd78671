//! GeoJSON points and their properties. `coordinates` are longitude, latitude and height in WGS 84, or x, y and z where the
//! collection names a projected reference system. A feature with several points becomes one row per point with the same properties; one without geometry is NaN.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::cell::Cell;
use super::super::crs::Crs;
use super::table::{Builder, Held, Kind, POINT, Place, Step};
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
        let axes = self.builder.axes();
        self.builder.degrees = Some(true);
        let mut rows = Rows { builder: self.builder, axes, features: 0 };
        match self.geo {
            Geo::Collection => deserializer.deserialize_map(rows),
            Geo::Feature => {
                let feature = Seed(rows.builder, Part::Feature).deserialize(deserializer)?;
                rows.add(feature)
            }
            Geo::Geometry => {
                let geometry = Seed(rows.builder, Part::Geometry).deserialize(deserializer)?;
                rows.add(geometry)
            }
        }
    }
}

/// Feeds features to the builder.
struct Rows<'b, 'i, 'p> {
    builder: &'b mut Builder<'i, 'p>,
    /// The nodes of x, y and z in the builder.
    axes: [u32; 3],
    features: u64,
}

impl Rows<'_, '_, '_> {
    fn add<E: Error>(&mut self, Feature { geometry, properties }: Feature) -> Result<(), E> {
        let feature = format!("feature {}", self.features);
        self.features += 1;
        let mut counted = 0;
        let positions = match geometry {
            None => vec![[f64::NAN; 3]],
            Some(Geometry { kind, coordinates }) => match (kind.as_str(), coordinates) {
                ("Point", Coordinates::Position(position)) => vec![position],
                ("MultiPoint", Coordinates::Positions(positions)) => {
                    counted = positions.capacity() * size_of::<[f64; 3]>();
                    positions
                }
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
        for &position in &positions {
            for (node, value) in self.axes.into_iter().zip(position) {
                let absent = value.is_nan();
                // There is no column z if no point has one.
                if !absent || node != self.axes[2] {
                    let cell = if absent { Cell::Missing } else { Cell::Number(value) };
                    stop(self.builder.set(&Place::of(node), cell, "", false))?;
                }
            }
            stop(self.builder.store(&properties))?;
            stop(self.builder.end_point(Kind::Feature, 0))?;
        }
        let texts: usize = properties.iter().map(|held| held.text.len()).sum();
        let bytes = properties.capacity() * size_of::<Held>() + texts + counted;
        self.builder.input().release(bytes as u64);
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
            match name.as_str() {
                "features" => map.next_value_seed(List(&mut self))?,
                // The standard of 2008 allowed others than WGS 84.
                "crs" => self.builder.degrees = map.next_value::<Option<Named>>()?.and_then(Named::degrees).or(Some(true)),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The reference system of a collection.
#[derive(Deserialize)]
struct Named {
    properties: Option<Properties>,
}

#[derive(Deserialize)]
struct Properties {
    name: Option<String>,
    code: Option<u32>,
}

impl Named {
    fn degrees(self) -> Option<bool> {
        let Properties { name, code } = self.properties?;
        let name = name.or_else(|| code.map(|code| format!("EPSG:{code}")))?;
        Crs::of_json(&name.into()).map(|crs| crs.geographic)
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
        while let Some(feature) = seq.next_element_seed(Seed(self.0.builder, Part::Feature))? {
            self.0.add(feature)?;
        }
        Ok(())
    }
}

struct Feature {
    geometry: Option<Geometry>,
    /// The values of its properties, in file order.
    properties: Vec<Held>,
}

struct Geometry {
    kind: String,
    coordinates: Coordinates,
}

/// Deserialises a part of a document: what takes memory is counted by the builder.
struct Seed<'b, 'i, 'p, P>(&'b mut Builder<'i, 'p>, P);

/// A feature, or a geometry by itself.
enum Part {
    Feature,
    Geometry,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_, Part> {
    type Value = Feature;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Feature, D::Error> {
        match self.1 {
            Part::Feature => deserializer.deserialize_map(self),
            Part::Geometry => Ok(Feature { geometry: Seed(self.0, OfGeometry).deserialize(deserializer)?, properties: Vec::new() }),
        }
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, Part> {
    type Value = Feature;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a feature")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Feature, A::Error> {
        let mut feature = Feature { geometry: None, properties: Vec::new() };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "geometry" => feature.geometry = map.next_value_seed(Seed(self.0, OfGeometry))?,
                "properties" => feature.properties = map.next_value_seed(Seed(self.0, OfProperties))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(feature)
    }
}

/// The geometry of a feature, or null.
struct OfGeometry;

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_, OfGeometry> {
    type Value = Option<Geometry>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Geometry>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, OfGeometry> {
    type Value = Option<Geometry>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a geometry")
    }

    fn visit_unit<E>(self) -> Result<Option<Geometry>, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Geometry>, A::Error> {
        let (mut kind, mut coordinates) = (None, Coordinates::Other);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => kind = Some(map.next_value()?),
                "coordinates" => coordinates = map.next_value_seed(Seed(self.0, OfCoordinates))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("type"))?;
        Ok(Some(Geometry { kind, coordinates }))
    }
}

/// The properties of a feature, or null.
struct OfProperties;

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_, OfProperties> {
    type Value = Vec<Held>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Held>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, OfProperties> {
    type Value = Vec<Held>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of properties")
    }

    fn visit_unit<E>(self) -> Result<Vec<Held>, E> {
        Ok(Vec::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Held>, A::Error> {
        let Self(builder, _) = self;
        builder.hold();
        let point = Place::of(POINT);
        while let Some(key) = map.next_key::<String>()? {
            let place = &builder.below(&point, Step::Member(&key));
            map.next_value_seed(NodeSeed { builder, place, item: false })?;
        }
        Ok(builder.release())
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

/// The content of `coordinates`.
struct OfCoordinates;

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_, OfCoordinates> {
    type Value = Coordinates;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Coordinates, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, OfCoordinates> {
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
        while let Some(element) = seq.next_element_seed(Seed(self.0, OfCoordinates))? {
            match element {
                Coordinates::Number(value) => {
                    // A fourth coordinate has no standard meaning.
                    if let Some(axis) = position.get_mut(numbers) {
                        *axis = value;
                    }
                    numbers += 1;
                }
                Coordinates::Position(position) => {
                    let room = self.0.input().reserve_for(&mut positions, 1, "the coordinates of a feature");
                    stop(room.or_else(|why| self.0.fail(why)))?;
                    positions.push(position);
                }
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
