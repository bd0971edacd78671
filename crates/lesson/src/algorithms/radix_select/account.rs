//! The panel of what a selection by digits reads and sorts, beside the kernel's buffer and a radix sort, and how few points each pass leaves.

use std::io::{self, Write};

use crate::algorithms::radix_select::Chosen;
use crate::algorithms::radix_select::state::most_passes;
use crate::lessons::Take;
use crate::paper::tables::compared;
use crate::picture::View;
use crate::picture::pen::{ROW, area};
use crate::picture::scene::{Ink, Scene};
use crate::picture::tally::{self, Bar};
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, chosen: &Chosen, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let (state, text) = (view.cursor.state(), view.text);
    let shape = state.shape;
    let mut room = area(0.0, 0.0, wide, high);
    let row = (text * ROW).min(high * 0.6 / 6.0);
    let number = |number: u32| thousands(number.into());
    let none = || "\u{2013}".to_owned();
    let hidden = |words: String| if view.asking { String::new() } else { words };
    let most = most_passes(shape.width.ilog2());
    let (reads, found, is_sorted) = state.buckets().map_or((0, 0, false), |buckets| (buckets.reads, buckets.passes.len(), buckets.is_sorted));
    let kept = shape.k.min(shape.n);
    let rows: [tally::Row<'_, 4>; 3] = [
        ("distances read", [number(reads), hidden(number(chosen.reads)), number(shape.n), thousands(u64::from(shape.n) * u64::from(most))]),
        ("passes", [number(found as u32), hidden(number(chosen.passes)), none(), number(most)]),
        (
            "keys sorted",
            [number(if is_sorted { kept } else { 0 }), number(kept), hidden(number(chosen.buffer.merges * shape.capacity())), number(shape.n)],
        ),
    ];
    let heads = ["so far", "in the end", "a buffer", "radix sort"];
    tally::table(&mut scene, room.take_top(row * 4.4), row, &[0.3, 0.14, 0.19, 0.17, 0.2], heads, &rows);
    room.take_top(row * 0.4);
    // On a logarithmic scale: otherwise all but the first bars would be too short to be seen.
    let share = |points: u32| (1.0 + points as f32).ln() / (1.0 + shape.n as f32).ln();
    let passes = state.buckets().map_or(&[][..], |buckets| &buckets.passes);
    let words: Vec<String> = std::iter::once(format!("all: {}", number(shape.n)))
        .chain((1..).zip(passes).map(|(pass, found)| format!("pass {pass}: {}", number(found.inside))))
        .collect();
    let left = std::iter::once(shape.n).chain(passes.iter().map(|pass| pass.inside));
    let bars: Vec<Bar<'_>> = words.iter().zip(left).map(|(name, left)| Bar { name, done: share(left), all: None, ink: Ink::Candidate }).collect();
    tally::bars(&mut scene, room, text, "Points left, log scale", &bars);
    scene
}

/// What a selection by digits counts, beside a buffer and a sort.
pub(crate) fn table(chosen: &Chosen, take: &Take, out: &mut dyn Write) -> io::Result<()> {
    let shape = take.recording.shape();
    let passes = most_passes(shape.width.ilog2());
    let number = |number: u32| Some(thousands(number.into()));
    let rows = [
        ("distances read", vec![number(chosen.reads), number(shape.n), Some(thousands(u64::from(shape.n) * u64::from(passes)))]),
        ("passes over digits", vec![number(chosen.passes), None, number(passes)]),
        ("merges", vec![None, number(chosen.buffer.merges), None]),
        ("keys sorted", vec![number(shape.k.min(shape.n)), number(chosen.buffer.merges * shape.capacity()), number(shape.n)]),
    ];
    compared(&["radix selection", &format!("a buffer of {}", shape.capacity()), "a radix sort of all"], &rows, out)
}
