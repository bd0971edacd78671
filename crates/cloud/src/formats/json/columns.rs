//! An object that is one table, as written by pandas: one member per column, or per row.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::object::Table;
use super::table::{Builder, POINT, Place, Step};
use super::visit::{NodeSeed, Point, stop};

/// The whole object. Scalar members are not part of the table and are skipped.
pub(super) struct Frame<'b, 'i, 'p> {
    pub builder: &'b mut Builder<'i, 'p>,
    pub table: Table,
}

impl<'de> DeserializeSeed<'de> for Frame<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Frame<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { builder, table } = self;
        let mut rows = 0;
        while let Some(name) = map.next_key::<String>()? {
            match table {
                Table::Rows => map.next_value_seed(Point(builder))?,
                Table::Columns => {
                    builder.start_column();
                    map.next_value_seed(Column { builder, name })?;
                    rows = rows.max(builder.row());
                }
            }
        }
        if table == Table::Columns {
            builder.end_columns(rows);
        }
        Ok(())
    }
}

/// A column, if the member is a list or an object.
struct Column<'b, 'i, 'p> {
    builder: &'b mut Builder<'i, 'p>,
    name: String,
}

impl<'de> DeserializeSeed<'de> for Column<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Column<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { builder, name } = self;
        let point = Place::of(POINT);
        let place = &builder.below(&point, Step::Member(&name));
        while seq.next_element_seed(NodeSeed { builder, place, item: false })?.is_some() {
            stop(builder.next_row())?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { builder, name } = self;
        let point = Place::of(POINT);
        let place = &builder.below(&point, Step::Member(&name));
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(NodeSeed { builder, place, item: false })?;
            stop(builder.next_row())?;
        }
        Ok(())
    }
}
