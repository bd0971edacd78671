//! Items as columns: what is alike stands together, which deflates to half of what rows do.
//!
//! Each kind has its own columns: the styles of its items, how many lengths each has, the first length of each, the second of each that has so
//! many, and so on. Lengths are written as differences from the same length of the last item of that kind and style, since many are in rows
//! and columns of the picture, too.

use std::collections::HashMap;

use serde::Serialize;

use super::items::{Item, Kind};

/// Items by columns.
#[derive(Debug, Default, Serialize)]
pub struct Columns<'a> {
    /// The kind of each item, by its number.
    kinds: Vec<u8>,
    /// The columns of each kind.
    of: [OfKind<'a>; Kind::COUNT],
}

/// What the items of a kind consist of, in their order.
#[derive(Debug, Default, Serialize)]
struct OfKind<'a> {
    /// Numbers of styles.
    styles: Vec<u32>,
    /// How many lengths each item has.
    counts: Vec<usize>,
    /// The first length of each item, the second of those that have so many, …
    lengths: Vec<Vec<i32>>,
    /// What each says or stands for; empty but for texts and spots.
    texts: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    /// The columns of items, each with the number of its style.
    pub fn of(items: &'a [(u32, Item)]) -> Self {
        let mut columns = Self::default();
        let mut last: HashMap<(Kind, u32), &[i32]> = HashMap::new();
        for (style, item) in items {
            columns.kinds.push(item.kind as u8);
            let of = &mut columns.of[item.kind as usize];
            of.styles.push(*style);
            of.counts.push(item.numbers.len());
            of.lengths.resize_with(of.lengths.len().max(item.numbers.len()), Vec::new);
            let before = last.insert((item.kind, *style), &item.numbers).unwrap_or_default();
            let from = before.iter().copied().chain(std::iter::repeat(0));
            for ((column, number), from) in of.lengths.iter_mut().zip(&item.numbers).zip(from) {
                column.push(number - from);
            }
            if item.kind.has_text() {
                of.texts.push(&item.text);
            }
        }
        columns
    }
}
