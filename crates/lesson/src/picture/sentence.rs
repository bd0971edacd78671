//! The panel of one sentence about the last step, above its badge.

use super::moment::{measured, running};
use super::pen::{ROW, Words, area, sans};
use super::scene::{Font, Ink, Scene};
use super::{View, badge};
use crate::cursor::Cursor;
use crate::describe::describe;
use crate::knn::Metric;
use crate::step::{Elements, Step};
use crate::text::{count, thousands};

/// Minimum scale of the sentence before it is truncated.
const SMALLEST: f32 = 0.6;

/// The sentence of the last step, as by [`describe`].
pub fn sentence(cursor: &Cursor) -> String {
    let state = cursor.state();
    match cursor.step() {
        Some(step) if let (Step::Finished, Some(consequences)) = (&*step, cursor.recording().consequences()) => {
            format!("The search is done. {}", consequences.verdict())
        }
        Some(step) => describe(&step, state) + &turned_words(cursor) + &farthest_words(cursor),
        None => format!(
            "Before the first step: the {} of {} are asked for, {}.",
            count(state.shape.k.into(), "nearest", "nearest"),
            thousands(state.shape.n.into()),
            cursor.recording().algorithm().start()
        ),
    }
}

/// After a change by hand: how many comparators of the sort that is running decided otherwise than before it.
fn turned_words(cursor: &Cursor) -> String {
    let Some((turned, run)) = cursor.recording().turned().zip(running(cursor)) else { return String::new() };
    match (0..run.done()).filter_map(|layer| turned.at(run.start + layer)).map(Elements::count).sum::<u32>() {
        0 => String::new(),
        1 => " 1 comparator decided otherwise than before the change.".to_owned(),
        some => format!(" {} comparators decided otherwise than before the change.", thousands(u64::from(some))),
    }
}

/// In the end, by another metric than L2: how far away the k-th neighbour is, in the metric's unit.
fn farthest_words(cursor: &Cursor) -> String {
    let (metric, last) = (cursor.recording().problem().metric(), cursor.state().neighbours().last());
    match (cursor.step().as_deref(), last) {
        (Some(Step::Finished), Some((_, squared))) if metric != Metric::L2 => format!(" The farthest is at {}.", measured(metric, squared)),
        _ => String::new(),
    }
}

/// Draws the panel, with the text as large as fits, up to slightly above running text.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let mut room = area(0.0, 0.0, wide, high);
    badge::draw(&mut scene, room.take_bottom(badge::height(view, wide)), view);
    let high = room.height;
    let sentence = sentence(view.cursor);
    let words = Words::new(&sentence, Font::Sans);
    let full = view.text * 1.2;
    let steps = (0..=16).map(|step| full * (1.0 - (1.0 - SMALLEST) * step as f32 / 16.0));
    let fits = steps.clone().find(|&size| words.wrap(size, wide).len() as f32 * size * ROW <= high);
    let size = fits.unwrap_or(full * SMALLEST);
    let style = sans(size, Ink::Text);
    let mut lines = words.wrap(size, wide);
    let most = ((high / (size * ROW)) as usize).max(1);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('\u{2026}');
        }
    }
    room.take_top(((high - lines.len() as f32 * size * ROW) / 2.0).max(0.0));
    for line in lines {
        let rect = room.take_top(size * ROW);
        scene.label(rect, 0.0, style, &line);
    }
    scene
}
