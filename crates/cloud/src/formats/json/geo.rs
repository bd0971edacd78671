//! GeoJSON points and their properties. `coordinates` are longitude, latitude and height in WGS 84, or x, y
//! and z if the collection names a projected reference system. A feature with several points becomes one row
//! per point with the same properties; one without geometry is NaN.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected};

use super::table::{Builder, DeferredValue, POINT, Place, PointKind, Step};
use super::visit::{Container, JsonVisitor, NodeVisitor, Seed, number, stop};
use crate::formats::Crs;
use crate::formats::cell::Cell;

/// The type of a GeoJSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeoJsonType {
    Collection,
    Feature,
    Geometry,
}

impl GeoJsonType {
    /// The document type of a `type` member.
    pub fn from_type(kind: &str) -> Option<Self> {
        match kind {
            "FeatureCollection" => Some(Self::Collection),
            "Feature" => Some(Self::Feature),
            "Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon"
            | "GeometryCollection" => Some(Self::Geometry),
            _ => None,
        }
    }
}

/// Deserialises the whole document.
pub(super) struct DocumentSeed<'b, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub geo: GeoJsonType,
}

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Coordinate columns come first, even if a property has the same name.
        let axes = self.builder.axes();
        self.builder.degrees = Some(true);
        let mut rows = FeatureSink { builder: self.builder, axes, features: 0 };
        match self.geo {
            GeoJsonType::Collection => Seed(rows).deserialize(deserializer),
            GeoJsonType::Feature => {
                let feature = Seed(Feature(rows.builder)).deserialize(deserializer)?;
                rows.add(feature)
            }
            GeoJsonType::Geometry => {
                let geometry = Seed(Geometry(rows.builder)).deserialize(deserializer)?;
                rows.add((geometry, Vec::new()))
            }
        }
    }
}

/// Feeds features to the builder.
struct FeatureSink<'b, 'i, 'p> {
    builder: &'b mut Builder<'i, 'p>,
    /// The nodes of x, y and z in the builder.
    axes: [u32; 3],
    features: u64,
}

impl FeatureSink<'_, '_, '_> {
    fn add<E: Error>(&mut self, (geometry, properties): FeatureContent) -> Result<(), E> {
        let feature = format!("feature {}", self.features);
        self.features += 1;
        let mut counted = 0;
        let positions = match geometry {
            None => vec![[f64::NAN; 3]],
            Some((kind, coordinates)) => match (kind.as_str(), coordinates) {
                ("Point", Coordinates::Position(position)) => vec![position],
                ("MultiPoint", Coordinates::Positions(positions)) => {
                    counted = positions.capacity() * size_of::<[f64; 3]>();
                    positions
                }
                ("Point" | "MultiPoint", _) => {
                    let why = self.builder.input().malformed(
                        feature,
                        format!("invalid coordinates for a {kind}: expected x, y and optionally z"),
                    );
                    return stop(self.builder.fail(why));
                }
                _ => {
                    let why = "points are read only; make its vertices or centres points first, for \
                               instance in QGIS";
                    let why = self.builder.input().unsupported(format!("{feature}, a {kind}"), why);
                    return stop(self.builder.fail(why));
                }
            },
        };
        for &position in &positions {
            for (node, value) in self.axes.into_iter().zip(position) {
                let absent = value.is_nan();
                // Omit column z if no point has a height.
                if !absent || node != self.axes[2] {
                    let cell = if absent { Cell::Missing } else { Cell::Number(value) };
                    stop(self.builder.set(&Place::from_node(node), cell, "", false))?;
                }
            }
            stop(self.builder.store(&properties))?;
            stop(self.builder.end_point(PointKind::Feature, 0))?;
        }
        let texts: usize = properties.iter().map(|held| held.text.len()).sum();
        let bytes = properties.capacity() * size_of::<DeferredValue>() + texts + counted;
        self.builder.input().release(bytes as u64);
        Ok(())
    }
}

impl JsonVisitor for FeatureSink<'_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "a collection of features";
    const ONLY: Option<Container> = Some(Container::Object);

    fn object<'de, A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "features" => map.next_value_seed(Seed(&mut self))?,
                // The 2008 standard allowed other systems besides WGS 84.
                "crs" => {
                    self.builder.degrees =
                        map.next_value::<Option<NamedCrs>>()?.and_then(NamedCrs::degrees).or(Some(true))
                }
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
struct NamedCrs {
    properties: Option<NameOrCode>,
}

#[derive(Deserialize)]
struct NameOrCode {
    name: Option<String>,
    code: Option<u32>,
}

impl NamedCrs {
    fn degrees(self) -> Option<bool> {
        let NameOrCode { name, code } = self.properties?;
        let name = name.or_else(|| code.map(|code| format!("EPSG:{code}")))?;
        Crs::of_json(&name.into()).map(|crs| crs.geographic)
    }
}

/// The features of a collection.
impl JsonVisitor for &mut FeatureSink<'_, '_, '_> {
    type Value = ();

    const EXPECTED: &'static str = "an array of features";
    const ONLY: Option<Container> = Some(Container::Array);

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(feature) = seq.next_element_seed(Seed(Feature(self.builder)))? {
            self.add(feature)?;
        }
        Ok(())
    }
}

/// The geometry of a feature, and the values of its properties in file order.
type FeatureContent = (Option<Shape>, Vec<DeferredValue>);

/// The type of a geometry, and its coordinates.
type Shape = (String, Coordinates);

/// A feature. The builder claims its memory.
struct Feature<'b, 'i, 'p>(&'b mut Builder<'i, 'p>);

impl JsonVisitor for Feature<'_, '_, '_> {
    type Value = FeatureContent;

    const EXPECTED: &'static str = "a feature";
    const ONLY: Option<Container> = Some(Container::Object);

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<FeatureContent, A::Error> {
        let (mut geometry, mut properties) = (None, Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "geometry" => geometry = map.next_value_seed(Seed(Geometry(self.0)))?,
                "properties" => properties = map.next_value_seed(Seed(Properties(self.0)))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok((geometry, properties))
    }
}

/// A geometry, alone or in a feature, or null.
struct Geometry<'b, 'i, 'p>(&'b mut Builder<'i, 'p>);

impl JsonVisitor for Geometry<'_, '_, '_> {
    type Value = Option<Shape>;

    const EXPECTED: &'static str = "a geometry";

    fn null() -> Option<Option<Shape>> {
        Some(None)
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Shape>, A::Error> {
        let (mut kind, mut coordinates) = (None, Coordinates::Other);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => kind = Some(map.next_value()?),
                "coordinates" => coordinates = map.next_value_seed(Seed(CoordinatesVisitor(self.0)))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("type"))?;
        Ok(Some((kind, coordinates)))
    }
}

/// The properties of a feature, or null.
struct Properties<'b, 'i, 'p>(&'b mut Builder<'i, 'p>);

impl JsonVisitor for Properties<'_, '_, '_> {
    type Value = Vec<DeferredValue>;

    const EXPECTED: &'static str = "an object of properties";

    fn null() -> Option<Vec<DeferredValue>> {
        Some(Vec::new())
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<DeferredValue>, A::Error> {
        let Self(builder) = self;
        builder.hold();
        let point = Place::from_node(POINT);
        while let Some(key) = map.next_key::<String>()? {
            let place = &builder.below(&point, Step::Member(&key));
            map.next_value_seed(Seed(NodeVisitor { builder, place, item: false }))?;
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

/// The content of `coordinates`, or a part of it.
struct CoordinatesVisitor<'b, 'i, 'p>(&'b mut Builder<'i, 'p>);

impl JsonVisitor for CoordinatesVisitor<'_, '_, '_> {
    type Value = Coordinates;

    const EXPECTED: &'static str = "coordinates";

    fn scalar<E: Error>(self, found: Unexpected<'_>) -> Result<Coordinates, E> {
        let value = if found == Unexpected::Unit { Some(f64::NAN) } else { number(&found) };
        value.map(Coordinates::Number).ok_or_else(|| E::invalid_type(found, &Self::EXPECTED))
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<Coordinates, A::Error> {
        let (mut position, mut numbers, mut positions, mut other) = ([f64::NAN; 3], 0, Vec::new(), false);
        while let Some(element) = seq.next_element_seed(Seed(CoordinatesVisitor(self.0)))? {
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
