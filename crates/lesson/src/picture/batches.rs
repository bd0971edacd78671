//! The panel of the batches: the points in order, the batch in shared memory, how far this warp has read, and
//! the barriers.

use super::View;
use super::pen::{ROW, area, faint, line, sans};
use super::scene::{Area, Ink, Scene};
use crate::recording::Recording;
use crate::state::State;
use crate::step::Step;
use crate::text::{count, thousands};

/// Points of a batch; `None` in a search without batches.
fn size(recording: &Recording) -> Option<u32> {
    recording
        .steps()
        .iter()
        .find_map(|step| if let Step::Batch { first, end } = step { Some(end - first) } else { None })
}

/// The number of batches of a search.
pub fn number(recording: &Recording) -> u32 {
    size(recording).map_or(0, |size| recording.shape().n.div_ceil(size.max(1)))
}

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let recording = view.recording();
    let title = room.take_top(text * ROW);
    let Some(size) = size(recording) else {
        scene.label(title, 0.0, sans(text, Ink::Text), "Batches: this search has none");
        return scene;
    };
    let batches = number(recording);
    scene.label(title, 0.0, sans(text, Ink::Text), &heading(state, view.step(), size, batches));
    let note = room.take_bottom(text * ROW);
    scene.label(note, 0.0, sans(text * 0.85, Ink::TextWeak), &says(state, size));
    room.take_top(text * 0.2);
    let one = (room.height / 2.4).min(text * 3.0);
    let all = room.take_top(one);
    points(&mut scene, view, all, size);
    if let Some((first, end)) = state.batch {
        room.take_top(one * 0.4);
        groups(&mut scene, view, all, room.take_top(one), (first, end));
    }
    scene
}

fn heading(state: &State, step: Option<&Step>, size: u32, batches: u32) -> String {
    match (state.batch, step) {
        (None, _) => format!(
            "{} of {} points; none is in shared memory yet",
            count(batches.into(), "batch", "batches"),
            thousands(size.into())
        ),
        (Some(_), Some(Step::Finished)) if batches == 1 => {
            "The batch is read: the last barrier is passed".to_owned()
        }
        (Some(_), Some(Step::Finished)) => {
            format!("All {batches} batches are read: the last barrier is passed")
        }
        (Some((first, _)), Some(Step::Batch { .. })) => {
            format!(
                "Barrier: all of batch {} has arrived in shared memory, so every warp of the block may read \
                 it",
                first / size + 1
            )
        }
        (Some((first, _)), _) => {
            format!(
                "Batch {} of {batches} is in shared memory: every warp of the block reads it for its own \
                 query",
                first / size + 1
            )
        }
    }
}

fn says(state: &State, size: u32) -> String {
    match state.batch {
        Some((_, end)) if state.counts.points_seen >= end && end < state.shape.n => {
            "This warp has read its batch. It waits at a barrier until every warp has: only then does the \
             next batch overwrite it."
                .to_owned()
        }
        Some(_) => {
            "Between two barriers each warp runs at its own pace; the recording shows this one.".to_owned()
        }
        None => format!(
            "The block copies {} at a time, once for all of its warps.",
            count(size.into(), "point", "points")
        ),
    }
}

/// The points in order, with a barrier between batches: read, in shared memory, and still to come.
fn points(scene: &mut Scene, view: &View<'_>, room: Area, size: u32) {
    let (state, text) = (view.state(), view.text);
    let n = state.shape.n;
    let x = |point: u32| room.x + room.width * point as f32 / n as f32;
    for first in (0..n).step_by(size as usize) {
        let end = (first + size).min(n);
        let rect = area(x(first), room.y, x(end) - x(first), room.height).inner(1.0);
        let held = state.batch == Some((first, end));
        scene.rect(
            rect,
            2.0,
            Some(Ink::Field.into()),
            Some(line(faint(if held { Ink::Buffer } else { Ink::Line }, 1.0), if held { 2.5 } else { 1.0 })),
        );
        let read = state.counts.points_seen.clamp(first, end);
        if read > first {
            let ink = if held { Ink::Buffer } else { Ink::TextWeak };
            scene.fill(
                area(rect.x, rect.y, (x(read) - x(first) - 2.0).max(0.0), rect.height),
                faint(ink, 0.35),
            );
        }
        let words = if held {
            format!("batch {}: in shared memory", first / size + 1)
        } else {
            (first / size + 1).to_string()
        };
        let style = sans(text * 0.85, if held { Ink::Text } else { Ink::TextWeak });
        let long = super::pen::width(style.font, style.size, &words) > rect.width;
        scene.label(
            rect,
            0.5,
            style,
            if long { words.split(':').next().unwrap_or_default() } else { &words },
        );
    }
}

/// The batch in shared memory, enlarged: a cell for each group of this warp.
fn groups(scene: &mut Scene, view: &View<'_>, all: Area, room: Area, (first, end): (u32, u32)) {
    let (state, text) = (view.state(), view.text);
    let (n, width) = (state.shape.n, state.shape.width);
    let x = |point: u32| all.x + all.width * point as f32 / n as f32;
    // Lines from the batch's place among all points to its enlarged width.
    for (from, to) in [(x(first), room.x), (x(end), room.right())] {
        scene.path(vec![[from, all.bottom()], [to, room.y]], line(faint(Ink::Buffer, 0.7), 1.2));
    }
    let groups = (end - first).div_ceil(width).max(1);
    let wide = room.width / groups as f32;
    for group in 0..groups {
        let base = first + group * width;
        let cell =
            area(room.x + group as f32 * wide, room.y, wide, room.height).inner((wide * 0.04).min(1.5));
        let (fill, frame) = match state.group {
            Some(now) if now == base => (faint(Ink::Candidate, 0.45), line(Ink::Candidate, 2.0)),
            Some(now) if now > base => (faint(Ink::Buffer, 0.35), line(faint(Ink::Line, 0.8), 1.0)),
            _ => (faint(Ink::Field, 1.0), line(faint(Ink::Line, 0.8), 1.0)),
        };
        scene.rect(cell, 2.0, Some(fill), Some(frame));
        let words = format!(
            "points {} to {}",
            thousands(base.into()),
            thousands((base + width).min(end).saturating_sub(1).into())
        );
        if super::pen::width(super::scene::Font::Sans, view.font_size(0.8), &words) < cell.width {
            scene.label(cell, 0.5, sans(text * 0.8, Ink::TextWeak), &words);
        }
    }
}
