//! Tables of points on the Earth as GeoJSON (RFC 7946): a feature per row, whose columns are its properties.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Cells, ROWS_PER_CHECK, Table};

const HEAD: &str = "{\"type\":\"FeatureCollection\",\"features\":[\n";

/// Writes tables with the same columns as one collection, a feature per line.
pub(super) struct GeoJsonWriter<W: Write> {
    out: W,
    begun: bool,
}

impl<W: Write> GeoJsonWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out, begun: false }
    }

    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        let names = table.unique_names();
        for row in 0..table.rows {
            if row.is_multiple_of(ROWS_PER_CHECK) {
                table.report(row * table.columns.len())?;
            }
            let before = if std::mem::replace(&mut self.begun, true) { ",\n" } else { HEAD };
            self.out.write_all(before.as_bytes())?;
            let position = table.positions.as_ref().and_then(|position| position(row));
            let geometry = position.map(|coordinates| Geometry { kind: "Point", coordinates });
            let properties = Properties { table, names: &names, row };
            serde_json::to_writer(&mut self.out, &Feature { kind: "Feature", geometry, properties })?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        if !self.begun {
            self.out.write_all(HEAD.as_bytes())?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

#[derive(serde::Serialize)]
struct Feature<'a, 't> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// `null` for a row without a position, such as a missing neighbour.
    geometry: Option<Geometry>,
    properties: Properties<'a, 't>,
}

#[derive(serde::Serialize)]
struct Geometry {
    #[serde(rename = "type")]
    kind: &'static str,
    coordinates: [f64; 2],
}

/// The columns of a row. JSON has no infinity, so it is `null`, like a missing value.
struct Properties<'a, 't> {
    table: &'a Table<'t>,
    names: &'a [String],
    row: usize,
}

impl Serialize for Properties<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (row, mut map) = (self.row, serializer.serialize_map(Some(self.names.len()))?);
        for (name, column) in self.names.iter().zip(&self.table.columns) {
            match &column.cells {
                Cells::U32(of) => map.serialize_entry(name, &of(row))?,
                Cells::U64(of) => map.serialize_entry(name, &of(row))?,
                Cells::I64(of) => map.serialize_entry(name, &of(row))?,
                Cells::F32(of) => map.serialize_entry(name, &of(row))?,
                Cells::F64(of) => map.serialize_entry(name, &of(row))?,
                Cells::Text(of) => map.serialize_entry(name, &of(row))?,
            }
        }
        map.end()
    }
}
