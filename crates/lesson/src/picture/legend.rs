//! The legend of the panel of the points: what each colour means, with counts.

use super::View;
use super::moment::{classify_points, nearest, vote, waiting};
use super::pen::{Scale, TextStyle, area, line, mono, sans, width};
use super::plane::Plane;
use super::scene::{Area, Font, Ink, Point, Scene, Target};
use crate::algorithms::Baseline;
use crate::engines::lockstep::{PADDING, distance_of, index_of};
use crate::knn::Problem;
use crate::state::Stage;
use crate::step::Step;
use crate::text::thousands;

/// Whether the registers hold the candidates.
pub(crate) fn is_merging(view: &View<'_>) -> bool {
    matches!(view.state().stage, Stage::Sort | Stage::Merge)
}

/// The legend's entries, with counts.
pub(super) fn legend_entries(view: &View<'_>) -> Vec<Entry> {
    view.recording().algorithm().legend(view)
}

/// The entries of the query and of the nearest points known.
pub(crate) fn base_entries(nearest: String) -> Vec<Entry> {
    vec![(Ink::Text, "query".to_owned(), true), (Ink::Neighbor, nearest, true)]
}

/// The entries of a search whose candidates wait in a buffer.
pub(crate) fn buffer_entries(view: &View<'_>) -> Vec<Entry> {
    let state = view.state();
    let mut entries = base_entries(nearest_kept(nearest(view.cursor).len() as u64, state.shape.k.into()));
    if is_merging(view) {
        entries.push((Ink::Candidate, "earlier candidates".to_owned(), true));
        return entries;
    }
    entries.push((Ink::Buffer, format!("{} in the buffer", thousands(waiting(state).len() as u64)), true));
    if let Some([accepted, rejected]) = votes(view) {
        entries.push((Ink::Candidate, format!("{accepted} accepted now"), true));
        entries.push((Ink::Rejected, format!("{rejected} rejected"), false));
    }
    entries
}

/// The legend's entry for the intermediate result.
pub(super) fn nearest_kept(known: u64, k: u64) -> String {
    format!("intermediate result: {} of {}", thousands(known), thousands(k))
}

/// How many points the last vote accepted and rejected; in warp select, how many the lanes inserted and did
/// not.
pub(crate) fn votes(view: &View<'_>) -> Option<[usize; 2]> {
    let vote = vote(view.cursor)?;
    let [_, accepted, rejected] = classify_points(&vote, view.cursor);
    let taken = vote.mask?.count_ones() as usize;
    Some([if view.state().queues().is_some() { taken } else { accepted.len() }, rejected.len()])
}

// Layout of the legend: rows with as many entries as fit the width.

/// Colour, meaning, and whether the dot is filled.
pub(crate) type Entry = (Ink, String, bool);

/// Font size of the legend relative to running text.
pub(super) const LEGEND_TYPE: f32 = 0.78;

/// Height of a line of the legend relative to its type.
pub(super) const LEGEND_LINE: f32 = 1.5;

/// Width of an entry.
pub(super) fn entry_width(words: &str, size: f32) -> f32 {
    width(Font::Sans, size, words) + size * 2.0
}

/// Row and horizontal offset of each legend entry.
fn places(entries: &[Entry], size: f32, room: f32) -> Vec<(usize, f32)> {
    let (mut row, mut x) = (0, 0.0);
    let offset = |(_, words, _): &Entry| {
        let needs = entry_width(words, size);
        if x > 0.0 && x + needs > room {
            (row, x) = (row + 1, 0.0);
        }
        let at = (row, x);
        x += needs;
        at
    };
    entries.iter().map(offset).collect()
}

/// The number of rows in a room of some width.
pub(super) fn legend_rows(entries: &[Entry], size: f32, room: f32) -> usize {
    // At least two rows, so that the plane does not move when more are needed later.
    places(entries, size, room).last().map_or(1, |(row, _)| row + 1).max(2)
}

pub(super) fn draw_legend(scene: &mut Scene, room: Area, entries: &[Entry], size: f32) {
    let row = size * LEGEND_LINE;
    for ((ink, words, filled), (at, x)) in entries.iter().zip(places(entries, size, room.width)) {
        let mut rect =
            area(room.x + x, room.y + at as f32 * row, (room.width - x).min(entry_width(words, size)), row);
        if rect.bottom() > room.bottom() + 0.5 {
            return;
        }
        let dot = rect.take_left(size);
        let (fill, stroke) =
            if *filled { (Some((*ink).into()), None) } else { (None, Some(line(*ink, size * 0.15))) };
        scene.dots(vec![dot.center()], size * 0.36, fill, stroke);
        rect.take_left(size * 0.2);
        scene.label(rect, 0.0, sans(size, Ink::TextWeak), words);
    }
}

// In the panel of the points: those whose keys a merge has in the registers, coloured like the keys and
// labelled by element.

/// Maximum number of points per key of the registers: with more, the keys would be too close together.
const POINTS_A_KEY: u32 = 8;

/// Minimum radius of a point with a number, relative to running text.
const NUMBERED: f32 = 0.45;

/// The radius of these points, for which the map reserves a margin at every step; `None` if they are never
/// drawn.
pub fn keyed_radius(view: &View<'_>, [wide, high]: [f32; 2]) -> Option<f32> {
    let (shape, text) = (view.state().shape, view.text);
    let is_merged_here = matches!(view.recording().baseline(), Baseline::Kernel(_));
    // The map is about square, with some lines of text around it.
    let spacing = wide.min(high - text * 5.5) / (shape.capacity() as f32).sqrt();
    (is_merged_here && shape.n <= POINTS_A_KEY * shape.capacity())
        .then(|| (spacing * 0.28).clamp(text * 0.13, text * 0.85))
}

/// Whether a merge is in progress, or has just been completed.
pub fn keys_are_shown(view: &View<'_>) -> bool {
    let is_done = matches!(view.step(), Some(Step::MaxDistance { .. }));
    is_done || matches!(view.state().stage, Stage::Sort | Stage::Merge)
}

/// Draws them, without numbers that another point would cover.
pub fn draw_keyed(scene: &mut Scene, plane: &Plane, view: &View<'_>, problem: &Problem, radius: f32) {
    let scale = Scale::for_recording(view.recording());
    let keys: Vec<(u32, u32, f32, Point)> = (0u32..)
        .zip(&view.state().registers)
        .filter(|&(_, &key)| key != PADDING)
        .map(|(element, &key)| {
            (
                element,
                index_of(key),
                scale.magnitude(distance_of(key)),
                plane.position(problem, index_of(key)),
            )
        })
        .collect();
    for (at, &(element, point, magnitude, center)) in keys.iter().enumerate() {
        let frame = (radius >= view.text * 0.3).then(|| line(Ink::Canvas, 1.0));
        scene.dots(vec![center], radius, Some(Ink::Scale(magnitude).into()), frame);
        let covers = |other: &(u32, u32, f32, Point)| {
            (other.3[0] - center[0]).hypot(other.3[1] - center[1]) < radius * 1.7
        };
        if radius >= view.text * NUMBERED && !keys[at + 1..].iter().any(covers) {
            let name = element.to_string();
            let size = if name.len() < 3 { radius * 1.15 } else { radius * 0.85 };
            let style = TextStyle { paint: Ink::OnScale(magnitude).into(), ..mono(size, Ink::Text) };
            scene.text(center, [0.5, 0.5], style, name);
        }
        scene.spot(
            area(center[0] - radius, center[1] - radius, 2.0 * radius, 2.0 * radius),
            Target::Point(point),
        );
    }
}

/// The legend: colour, meaning, and whether the dots are filled.
pub fn keyed_entries(view: &View<'_>, radius: f32) -> Vec<(Ink, String, bool)> {
    let words = if radius >= view.text * NUMBERED {
        "key in a register; number: its element"
    } else {
        "key in a register"
    };
    let mut entries = vec![(Ink::Text, "query".to_owned(), true), (Ink::Scale(0.6), words.to_owned(), true)];
    // After the minimum the intermediate result is in the registers, too.
    let waiting = if view.state().stage == Stage::Sort { nearest(view.cursor).len() } else { 0 };
    if waiting > 0 {
        entries.push((
            Ink::Neighbor,
            format!("{} of the intermediate result", thousands(waiting as u64)),
            true,
        ));
    }
    if view.state().counts.merges > 0 {
        entries.push((Ink::Candidate, "earlier candidates".to_owned(), true));
    }
    entries
}
