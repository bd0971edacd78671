//! PLY, ASCII and binary in both byte orders: the scalar properties of its vertices.
//!
//! Elements may come in any order; those before the vertices are skipped, those after them are not read.

mod header;
mod stream;

use std::collections::HashMap;
use std::io::BufReader;

use header::{Element, Encoding, Header, Property};
use stream::{Ascii, Binary, offsets};

use super::FormatError;
use super::columns::{Cell, Even, Records, no_record, number_cell};
use super::input::{Input, Watched, printable};
use super::sheet::{Sheet, SheetColumn, Want, cut};
use crate::Values;
use crate::values::with_values;

/// Names that programs give to the element with the points.
const VERTEX: [&str; 4] = ["vertex", "vertices", "point", "points"];

pub(super) fn read(input: &Input<'_>, want: &Want<'_>) -> Result<Sheet, FormatError> {
    let (file, header, at) = open(input)?;
    let vertex = &header.elements[at];
    let scalars: Vec<usize> = (0..vertex.properties.len()).filter(|&at| matches!(vertex.properties[at], Property::Scalar { .. })).collect();
    let columns: Vec<SheetColumn> = scalars.iter().map(|&at| SheetColumn::numeric(vertex.properties[at].name().to_owned())).collect();
    let selected = want.resolve(&columns, input)?;
    let properties: Vec<usize> = selected.iter().map(|&at| scalars[at]).collect();

    let fits = |at: &usize| matches!(&vertex.properties[*at], Property::Scalar { number, .. } if number.fits_f32());
    // What follows the last element is nothing that the header tells of.
    let (mut behind, last) = (0, at + 1 == header.elements.len());
    let mut values = Values::new(header.encoding != Encoding::Ascii && properties.iter().all(fits));
    with_values!(&mut values, values => match header.encoding {
        Encoding::Ascii => {
            let mut ascii = Ascii::new(file, &header, input);
            header.elements[..at].iter().try_for_each(|element| ascii.skip(element))?;
            ascii.read(vertex, &properties, values)?;
            if last { ascii.rest().map(|count| behind = count) } else { Ok(()) }
        }
        Encoding::Binary(endian) => {
            let mut binary = Binary::new(file, endian, input);
            header.elements[..at].iter().try_for_each(|element| binary.skip(element))?;
            binary.read(vertex, &properties, values)?;
            if last { binary.rest().map(|count| behind = count) } else { Ok(()) }
        }
    })?;
    let mut skipped: Vec<String> = vertex.properties.iter().filter(|property| matches!(property, Property::List { .. })).map(list_note).collect();
    skipped.extend(header.elements.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, element)| element_note(element)));
    if behind > 0 {
        skipped.push(format!("{behind} bytes after element `{}` were not read", printable(&vertex.name)));
    }
    let format = format!("PLY, {}", header.encoding.name());
    Ok(Sheet { path: input.path().to_owned(), format, columns, selected, rows: vertex.count, values, skipped, declared: None })
}

/// Reads all properties of some vertices: by seeking in a binary file whose vertices have no lists, otherwise sequentially.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records, FormatError> {
    let (file, header, at) = open(input)?;
    let (before, vertex) = (&header.elements[..at], &header.elements[at]);
    if let Some(&missing) = wanted.iter().find(|&&record| record >= vertex.count) {
        return Err(no_record(missing, vertex.count, input.path()));
    }
    let scalars: Vec<usize> = (0..vertex.properties.len()).filter(|&at| matches!(vertex.properties[at], Property::Scalar { .. })).collect();
    let columns = scalars.iter().map(|&at| printable(vertex.properties[at].name())).collect();
    let mut found: HashMap<u64, Vec<Cell>> = wanted.iter().map(|&record| (record, Vec::new())).collect();
    let last = wanted.iter().max().copied();
    let mut take = |index: u64, row: &[f64]| {
        if let Some(cells) = found.get_mut(&index) {
            *cells = scalars.iter().map(|&at| number_cell(row[at])).collect();
        }
        Ok(last.is_some_and(|last| index < last))
    };
    match header.encoding {
        Encoding::Ascii => {
            let mut ascii = Ascii::new(file, &header, input);
            before.iter().try_for_each(|element| ascii.skip(element))?;
            ascii.each(vertex, &mut take)?;
        }
        Encoding::Binary(endian) => {
            let mut binary = Binary::new(file, endian, input);
            before.iter().try_for_each(|element| binary.skip(element))?;
            if let Some(offsets) = offsets(vertex) {
                let record = offsets.iter().map(|(_, number)| number.size()).sum();
                let cells = |raw: &[u8]| offsets.iter().map(|&(at, number)| number_cell(number.one(endian, &raw[at..at + number.size()]))).collect();
                let rows = Even { start: binary.position()?, record, rows: vertex.count }.records(input, wanted, cells)?;
                return Ok(Records { columns, rows });
            }
            binary.each(vertex, &mut take)?;
        }
    }
    Ok(Records { columns, rows: wanted.iter().map(|record| found[record].clone()).collect() })
}

/// Opens a file, parses its header, and finds the element with the points.
fn open<'a>(input: &Input<'a>) -> Result<(BufReader<Watched<'a>>, Header, usize), FormatError> {
    let mut file = input.open()?;
    let header = Header::read(&mut file, input)?;
    let at = VERTEX.iter().find_map(|name| header.elements.iter().position(|element| element.name == *name)).ok_or_else(|| {
        let elements = &header.elements;
        let names = if elements.is_empty() { "none".to_owned() } else { cut(elements.len(), |at| format!("`{}`", elements[at].name)) };
        input.malformed("header", format!("there is no element `vertex`; there are {names}"))
    })?;
    let vertex = &header.elements[at];
    if !vertex.properties.iter().any(|property| matches!(property, Property::Scalar { .. })) {
        return Err(input.malformed("header", format!("element `{}` has no properties that are numbers", vertex.name)));
    }
    Ok((file, header, at))
}

fn list_note(property: &Property) -> String {
    printable(&format!("list `{}` was not read", property.name()))
}

fn element_note(element: &Element) -> String {
    printable(&format!("element `{}` ({}) was not read", element.name, element.count))
}
