//! Describes each step in one sentence, with its numbers.

use super::algorithms::kernel::describe::{describe_fault, describe_kernel};
use super::state::{State, lanes_in};
use super::step::Step;
use crate::engines::lockstep::{PADDING, distance_of};
use crate::text::{significant, thousands};

/// Describes a step in words. `step` has all its values (as from [`super::Recording::step`]), and `after` is
/// the state after it.
pub fn describe(step: &Step, after: &State) -> String {
    let own = after.own.as_ref().and_then(|own| own.get().describe(step, after));
    own.or_else(|| describe_fault(step, after, after.fault?)).unwrap_or_else(|| describe_kernel(step, after))
}

/// A ballot in hexadecimal notation, one digit per four lanes.
pub fn hex(mask: u32, width: u32) -> String {
    format!("0x{mask:0digits$x}", digits = width as usize / 4)
}

/// The lanes of a mask in words: `lane 3`, `lanes 3 and 17`, `lanes 0 to 7 and 12`, `all 32 lanes`.
pub fn lanes(mask: u32, width: u32) -> String {
    if mask.count_ones() == width && width > 1 {
        return format!("all {width} lanes");
    }
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for lane in lanes_in(mask).filter(|&lane| lane < width) {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == lane => *end = lane,
            _ => runs.push((lane, lane)),
        }
    }
    let words: Vec<String> = runs
        .iter()
        .flat_map(|&(start, end)| match end - start {
            0 => vec![start.to_string()],
            1 => vec![start.to_string(), end.to_string()],
            _ => vec![format!("{start} to {end}")],
        })
        .collect();
    match words.as_slice() {
        [] => "no lane".to_owned(),
        [only] if mask.count_ones() == 1 => format!("lane {only}"),
        [only] => format!("lanes {only}"),
        [first @ .., last] => format!("lanes {} and {last}", first.join(", ")),
    }
}

pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The smallest of the lanes' distances, as the end of a sentence.
pub(crate) fn smallest(distances: &[f32]) -> String {
    let nearest = distances.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    nearest.map_or_else(String::new, |(lane, &distance)| {
        format!("; the smallest is {}, in lane {lane}", significant(distance.into()))
    })
}

pub(crate) fn range(what: &str, first: u32, last: u32) -> String {
    if first == last {
        format!("{what} {}", thousands(first.into()))
    } else {
        format!("{what}s {} to {}", thousands(first.into()), thousands(last.into()))
    }
}

/// A key as a cell shows it: its squared distance, or ∞ for padding.
pub fn key(key: u64) -> String {
    if key == PADDING { "\u{221e}".to_owned() } else { significant(distance_of(key).into()) }
}
