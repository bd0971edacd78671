//! The panel of what a merge costs: as many steps for one candidate as for a full buffer.

use super::View;
use super::moment::layers;
use super::pen::{ROW, area, sans};
use super::scene::{Ink, Scene};
use super::tally::{Bar, bars};
use crate::step::Pass;
use crate::text::{count, significant, thousands};

/// Steps of all lanes in one merge of K keys: the layers of both sorts, and the minimum.
pub fn steps(capacity: u32) -> u64 {
    (layers(Pass::Sort, capacity).len() + 1 + layers(Pass::Resort, capacity).len()) as u64
}

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let (state, text) = (view.cursor.state(), view.text);
    let (capacity, counts) = (state.shape.capacity(), &state.counts);
    let steps = steps(capacity);
    let mut room = area(0.0, 0.0, wide, high);
    scene.label(room.take_top(text * 1.6), 0.0, sans(text, Ink::Text), &format!("One merge: {} steps of all lanes", thousands(steps)));
    // The share of a candidate, for a buffer with one, a quarter, and all of its slots taken.
    let mut fills = vec![1, capacity / 4, capacity];
    fills.retain(|fill| *fill > 0);
    fills.dedup();
    let names: Vec<String> = fills
        .iter()
        .map(|&fill| format!("{}: {} each", count(fill.into(), "candidate", "candidates"), significant(steps as f64 / f64::from(fill))))
        .collect();
    let rows: Vec<Bar<'_>> =
        fills.iter().zip(&names).map(|(&fill, name)| Bar { name, done: 1.0 / fill as f32, all: None, ink: Ink::Buffer }).collect();
    let row = text * ROW * 1.1;
    bars(
        &mut scene,
        room.take_top((row * (fills.len() + 1) as f32).min(high * 0.45)),
        text,
        "Steps for each candidate that waits in the buffer",
        &rows,
    );
    room.take_top(text * 0.5);
    // Merged at once, candidates lower the bound sooner: fewer come after them.
    let candidates = view.cursor.recording().one_by_one().partition_point(|&point| point < counts.points_seen) as u64;
    let merges = u64::from(counts.merges);
    let [at_once, full] = [candidates * steps, merges * steps];
    let names = [
        format!("one by one: {} \u{d7} {steps} = {}", thousands(candidates), thousands(at_once)),
        format!("when full: {} \u{d7} {steps} = {}", thousands(merges), thousands(full)),
    ];
    let most = at_once.max(1) as f32;
    let rows = [(at_once, Ink::Candidate), (full, Ink::Intermediate)];
    let rows: Vec<Bar<'_>> =
        rows.into_iter().zip(&names).map(|((steps, ink), name)| Bar { name, done: steps as f32 / most, all: None, ink }).collect();
    let [alone, waiting] = [candidates, counts.candidates.into()].map(thousands);
    let title = format!("Steps so far, for {alone} or {waiting} candidates");
    bars(&mut scene, room.take_top((row * 3.0).min(room.height)), text, &title, &rows);
    scene
}
