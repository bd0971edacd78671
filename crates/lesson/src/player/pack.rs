//! Tables without repetition: each item once, each list of items once, lists as edits of earlier ones.
//!
//! A list is a row of integers. If the first is 0, item ids follow. Otherwise it is the distance back to a
//! similar list, and edits follow: items to keep, items to drop, the number of new items, and their ids. The
//! rest of the earlier list is kept. An id is written as its distance past the successor of the previous id
//! in the row, so new items are zeros, which compress well.

use std::collections::HashMap;
use std::hash::Hash;

use super::items::{hundredths, shape_items};
use crate::picture::Panel;
use crate::picture::motion::{Origin, motions};
use crate::picture::scene::Scene;

/// Maximum number of edits between a list and one written in full: it bounds a page's work for any moment.
const LONGEST_CHAIN: u32 = 64;

/// How far to search for where two lists agree again.
const LOOK_AHEAD: usize = 96;

/// Distinct values by number.
#[derive(Debug)]
pub struct Interner<T> {
    /// The values in order of their numbers.
    pub values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of a value; adds new values.
    pub fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u32 - 1
        })
    }
}

/// Distinct lists of ids.
#[derive(Debug, Default)]
pub struct ListInterner {
    /// The lists in written form.
    pub rows: Vec<Vec<i64>>,
    /// The count of their numbers.
    pub weight: usize,
    numbers: HashMap<Vec<u32>, u32>,
    /// The last list of each panel in each place, its number, and its distance from a full one.
    last: HashMap<(usize, Panel), (Vec<u32>, u32, u32)>,
}

impl ListInterner {
    /// The number of a list. It is written as edits of the last list of the same panel and place if that is
    /// shorter.
    pub fn number(&mut self, panel: (usize, Panel), ids: Vec<u32>) -> u32 {
        if let Some(&number) = self.numbers.get(&ids) {
            return number;
        }
        let number = self.rows.len() as u32;
        let full = || std::iter::once(0).chain(encode_ids(&ids, &mut 0)).collect::<Vec<i64>>();
        let changes = self.last.get(&panel).filter(|(_, _, chain)| *chain < LONGEST_CHAIN).map(
            |(before, base, chain)| {
                let edits = std::iter::once(i64::from(number - base)).chain(edits(before, &ids));
                (edits.collect::<Vec<i64>>(), chain + 1)
            },
        );
        let (row, chain) = changes.filter(|(row, _)| row.len() <= ids.len()).unwrap_or_else(|| (full(), 0));
        self.weight += row.len();
        self.rows.push(row);
        self.last.insert(panel, (ids.clone(), number, chain));
        self.numbers.insert(ids, number);
        number
    }
}

/// Ids in written form: the distance of each past the id that `follows` the previous one.
fn encode_ids<'a>(ids: &'a [u32], follows: &'a mut i64) -> impl Iterator<Item = i64> + 'a {
    ids.iter().map(|&id| {
        let past = i64::from(id) - *follows;
        *follows = i64::from(id) + 1;
        past
    })
}

/// The edits from one list to another.
fn edits(before: &[u32], after: &[u32]) -> Vec<i64> {
    let same = |(a, b): &(&u32, &u32)| a == b;
    let head = before.iter().zip(after).take_while(same).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(same).count();
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    let places: HashMap<u32, usize> = (head..old_end).map(|at| (before[at], at)).collect();
    // The nearest place, within a limit, from which both agree again.
    let agree = |old: usize, new: usize| {
        let ahead = (new..new_end.min(new + LOOK_AHEAD))
            .filter_map(|to| Some((*places.get(&after[to]).filter(|from| **from >= old)?, to)));
        ahead.min_by_key(|(from, to)| from - old + to - new)
    };
    let mut edits = Vec::new();
    let (mut old, mut new, mut kept, mut follows) = (head, head, head, 0);
    while old < old_end || new < new_end {
        if old < old_end && new < new_end && before[old] == after[new] {
            (old, new, kept) = (old + 1, new + 1, kept + 1);
            continue;
        }
        // Without agreement within the limit, insert without dropping.
        let (from, to) = agree(old, new).unwrap_or_else(|| match new_end.min(new + LOOK_AHEAD) {
            to if to == new_end => (old_end, new_end),
            to => (old, to),
        });
        edits.extend([kept, from - old, to - new].map(|number| number as i64));
        edits.extend(encode_ids(&after[new..to], &mut follows));
        (old, new, kept) = (from, to, 0);
    }
    edits
}

// Motions in the page: rows of integers, one per panel.
//
// For each motion: its first item in the panel's list, its number of items, and its number of corners. With
// corners, the largest deviation to the left follows, then the corners as offsets from the end. Without, the
// old lengths of each item follow.

/// The motions from one scene of a panel to the next; empty if there are none.
pub fn encode_motions(before: &Scene, after: &Scene) -> Vec<i32> {
    let motions = motions(before, after);
    if motions.is_empty() {
        return Vec::new();
    }
    let (items, starts) = shape_items(&after.shapes);
    let start = |shape: usize| starts.get(shape).copied().unwrap_or(items.len());
    let mut row = Vec::new();
    for motion in motions {
        let (first, end) = (start(motion.shapes.start), start(motion.shapes.end));
        row.extend([first as i32, (end - first) as i32]);
        match &motion.from {
            Origin::Places { offsets, bow } => {
                row.extend([offsets.len() as i32, hundredths(*bow)]);
                row.extend(offsets.iter().flatten().map(|&length| hundredths(length)));
            }
            Origin::Shapes(_) => {
                let were = shape_items(&motion.from.shapes(&after.shapes[motion.shapes.clone()], 0.0)).0;
                row.push(0);
                row.extend(were.into_iter().flat_map(|item| item.numbers));
            }
        }
    }
    row
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The list of a number, read as a page reads it.
    pub fn read(rows: &[Vec<i64>], number: usize) -> Vec<u32> {
        let (row, mut follows) = (&rows[number], 0);
        let mut ids = |past: &[i64]| {
            let next = |past: &i64| {
                follows += past + 1;
                (follows - 1) as u32
            };
            past.iter().map(next).collect::<Vec<u32>>()
        };
        if row[0] == 0 {
            return ids(&row[1..]);
        }
        let before = read(rows, number - row[0] as usize);
        let (mut list, mut old, mut at) = (Vec::new(), 0, 1);
        while at < row.len() {
            let [kept, out, come] = [row[at], row[at + 1], row[at + 2]].map(|number| number as usize);
            list.extend_from_slice(&before[old..old + kept]);
            list.append(&mut ids(&row[at + 3..at + 3 + come]));
            (old, at) = (old + kept + out, at + 3 + come);
        }
        list.extend_from_slice(&before[old..]);
        list
    }

    #[test]
    fn packed_lists_round_trip() {
        let mut lists = ListInterner::default();
        let mut random = 1u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % below
        };
        let mut list: Vec<u32> = (0..200).collect();
        let mut written = Vec::new();
        for round in 0..300 {
            for _ in 0..next(12) {
                let at = next(list.len() as u32 + 1) as usize;
                match next(4) {
                    0 => list.insert(at, 1000 + next(500)),
                    1 => drop(list.drain(at..(at + 40).min(list.len()))),
                    2 => list.splice(at..at, 2000 + round * 50..2000 + round * 50 + next(50)).for_each(drop),
                    _ if at < list.len() => list[at] = next(3000),
                    _ => {}
                }
            }
            if round % 50 == 49 {
                list.clear();
            }
            written.push((lists.number((0, Panel::Warp), list.clone()), list.clone()));
        }
        for (number, list) in written {
            assert_eq!(read(&lists.rows, number as usize), list, "list {number}");
        }
    }

    #[test]
    fn small_changes_are_delta_encoded_and_repeats_reused() {
        let mut lists = ListInterner::default();
        let list: Vec<u32> = (0..500).collect();
        let mut other = list.clone();
        other[7] = 900;
        other.drain(100..160);
        assert_eq!(
            (
                lists.number((0, Panel::Warp), list.clone()),
                lists.number((0, Panel::Warp), other),
                lists.number((0, Panel::Warp), list)
            ),
            (0, 1, 0)
        );
        assert_eq!(lists.rows[1], [1, 7, 1, 1, 900, 92, 60, 0]);
        assert_eq!(lists.rows[0][..4], [0; 4]);
        assert_eq!(lists.weight, 501 + 8);
    }
}
