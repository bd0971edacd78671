//! The sentences of radix select, where they differ from those of the kernel.

use crate::algorithms::SpecificStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::radix_select::state::{BITS, Buckets, max_passes};
use crate::state::State;
use crate::step::Step;
use crate::text::{count, ordinal, significant, thousands};

/// Describes a step that only this algorithm has. `after` is the state after it.
fn describe_own(step: &RadixSelectStep, after: &State, buckets: &Buckets) -> Option<String> {
    let shape = after.shape;
    let number = |number: u32| thousands(number.into());
    // There may be fewer than k points.
    let kth = if shape.n < shape.k { "last neighbour" } else { "k-th" };
    let pass = buckets.passes.len();
    Some(match step {
        RadixSelectStep::Digits { bits } => format!(
            "The distances of all {} are computed. Their {BITS} bits after the sign, read as integers, have \
             the same order: {} digits of up to {bits} bits, the highest first.",
            count(shape.n.into(), "point", "points"),
            max_passes(*bits)
        ),
        RadixSelectStep::Counted { counts } => {
            let used = counts.iter().filter(|&&count| count > 0).count();
            let says = match used {
                1 => "all fall into one, and this pass separates nothing".to_owned(),
                _ => format!("they fall into {used} of {} buckets", counts.len()),
            };
            let what = count(
                buckets.left.into(),
                "remaining point is counted by its",
                "remaining points are counted by their",
            );
            format!(
                "Pass {}: the {what} {} digit, {}: {says}.",
                pass + 1,
                ordinal(pass as u64 + 1),
                bit_range_words(buckets, pass)
            )
        }
        RadixSelectStep::Summed { sums } => {
            let digit = sums.partition_point(|&sum| sum < buckets.rank);
            let before = digit.checked_sub(1).map_or(0, |before| sums[before]);
            format!(
                "The counts are summed from bucket 0 on. The sum first reaches {} in bucket {digit}: {} \
                 before it, {} including it.",
                number(buckets.rank),
                number(before),
                number(sums[digit])
            )
        }
        RadixSelectStep::Bucket { digit, below, inside } => {
            let found = buckets.passes[pass - 1];
            let nearer = match below {
                0 => "no point is before it".to_owned(),
                1 => "1 point before it is a neighbour".to_owned(),
                _ => {
                    format!("{} before it are neighbours", count((*below).into(), "point", "points"))
                }
            };
            let after_it = found.remaining_before - below - inside;
            let farther = match after_it {
                0 => String::new(),
                1 => ", 1 after it is not a neighbour".to_owned(),
                _ => format!(", {} after it are not neighbours", number(after_it)),
            };
            let then = if *inside == 1 {
                "The one in it is the last neighbour.".to_owned()
            } else if buckets.rank == *inside {
                format!("All {} in it are neighbours, too: nothing is left to find.", number(*inside))
            } else if pass as u32 == max_passes(buckets.bits) {
                format!(
                    "Its {} points are equally far: the first {} by position are neighbours.",
                    number(*inside),
                    number(buckets.rank)
                )
            } else {
                format!("Of the {} in it, rank {} is wanted.", number(*inside), number(buckets.rank))
            };
            format!(
                "Rank {} of {} is in bucket {digit}: {nearer}{farther}. {then}",
                number(found.rank),
                number(found.remaining_before)
            )
        }
        RadixSelectStep::Narrowed => format!(
            "The {} in the bucket {} at most half of what the pass read: they are compacted, and the next \
             pass reads only these.",
            count(buckets.left.into(), "point", "points"),
            if buckets.left == 1 { "is" } else { "are" }
        ),
        RadixSelectStep::Gathered { keys } => format!(
            "All {} are read once more: the {} before the last bucket, and {} in it, are stored with their \
             positions.",
            count(shape.n.into(), "point", "points"),
            number(buckets.below),
            number(keys.len() as u32 - buckets.below)
        ),
        RadixSelectStep::Sorted => format!(
            "The {} are sorted by distance and position, by a bitonic network. The {kth} is at {}: no other \
             keys are sorted.",
            count(after.neighbours().count() as u64, "neighbour", "neighbours"),
            last(after)
        ),
    })
}

/// Describes a step. `after` is the state after it; `None` if the sentence of the kernel applies.
pub fn describe(step: &Step, after: &State, buckets: &Buckets) -> Option<String> {
    let shape = after.shape;
    let number = |number: u32| thousands(number.into());
    // There may be fewer than k points.
    let kth = if shape.n < shape.k { "last neighbour" } else { "k-th" };
    Some(match step {
        Step::Own(SpecificStep::RadixSelect(step)) => describe_own(step, after, buckets)?,
        Step::Finished => format!(
            "The selection is done: the {kth} was known after {}. {} distances were read; a search with a \
             buffer reads each of {} once.",
            count(buckets.passes.len() as u64, "pass", "passes"),
            number(buckets.reads),
            count(shape.n.into(), "point", "points"),
        ),
        _ => return None,
    })
}

/// The bits that a pass reads, the highest first.
pub fn bit_range_words(buckets: &Buckets, pass: usize) -> String {
    let high = (BITS - 1).saturating_sub(pass as u32 * buckets.bits);
    let low = (high + 1).saturating_sub(buckets.bits);
    if high == low { format!("bit {high}") } else { format!("bits {high} to {low}") }
}

fn last(after: &State) -> String {
    after.neighbours().last().map_or_else(|| "0".to_owned(), |(_, distance)| significant(distance.into()))
}
