//! Keys and numbers in the sentences of invariants.

use super::Moment;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::text::{significant, thousands};

/// A key in words.
pub(super) fn key(key: Key) -> String {
    if key == PADDING {
        "\u{221e}".to_owned()
    } else {
        format!("{} (point {})", significant(distance_of(key).into()), thousands(index_of(key).into()))
    }
}

pub(super) fn number(number: impl Into<u64>) -> String {
    thousands(number.into())
}

pub(super) fn bound(moment: &Moment<'_>) -> String {
    let bound = moment.after.max_distance;
    if bound.is_infinite() { "max_distance, which is infinite".to_owned() } else { format!("max_distance {}", significant(bound.into())) }
}

/// A number as a rank: 1st, 2nd, 3rd, 4th, 11th.
pub(super) fn ordinal(rank: u32) -> String {
    let ending = match (rank % 10, rank % 100) {
        (1, hundred) if hundred != 11 => "st",
        (2, hundred) if hundred != 12 => "nd",
        (3, hundred) if hundred != 13 => "rd",
        _ => "th",
    };
    format!("{}{ending}", number(rank))
}
