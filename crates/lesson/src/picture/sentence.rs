//! The panel of one sentence about the last step, above its badge.

use super::View;
use super::moment::{distance_words, running_sort};
use super::pen::{MeasuredText, ROW, TextStyle, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene, Target};
use crate::algorithms::Baseline;
use crate::cursor::Cursor;
use crate::describe::describe;
use crate::invariants::{FirstViolation, badge};
use crate::knn::Metric;
use crate::step::{ElementSet, Step};
use crate::text::{count, thousands};

/// Minimum scale of the sentence before it is truncated.
const SMALLEST: f32 = 0.6;

/// The question that the lesson opens with, or the sentence of the last step.
pub fn sentence(cursor: &Cursor) -> String {
    let opening = cursor.recording().opening().filter(|opening| opening.range.start == cursor.position());
    opening.map_or_else(|| step_sentence(cursor), |opening| opening.question.clone())
}

/// The sentence of the last step, from [`describe`].
pub fn step_sentence(cursor: &Cursor) -> String {
    let state = cursor.state();
    match cursor.step() {
        Some(step)
            if let (Step::Finished, Some(consequences)) = (&*step, cursor.recording().consequences()) =>
        {
            format!("The search is done. {}", consequences.verdict())
        }
        Some(step) => describe(&step, state) + &changed_words(cursor) + &farthest_words(cursor),
        None => format!(
            "Before the first step: we want the {} of {}; {}.",
            count(state.shape.k.into(), "nearest", "nearest"),
            thousands(state.shape.n.into()),
            cursor.recording().algorithm().initial_words()
        ),
    }
}

/// After a change by hand: how many comparators of the running sort decide differently.
fn changed_words(cursor: &Cursor) -> String {
    let changed = cursor.recording().changed_comparators();
    let Some((changed, run)) = changed.zip(running_sort(cursor)) else { return String::new() };
    let layers = (0..run.done()).filter_map(|layer| changed.at(run.start + layer));
    match layers.map(ElementSet::count).sum::<u32>() {
        0 => String::new(),
        1 => " 1 comparator decides differently after the change.".to_owned(),
        some => {
            format!(" {} comparators decide differently after the change.", thousands(u64::from(some)))
        }
    }
}

/// At the end, for metrics other than L2: how far away the k-th neighbour is, in the metric's unit.
fn farthest_words(cursor: &Cursor) -> String {
    let (metric, last) = (cursor.recording().problem().metric(), cursor.state().neighbours().last());
    match (cursor.step().as_deref(), last) {
        (Some(Step::Finished), Some((_, squared))) if metric != Metric::L2 => {
            format!(" The farthest is at {}.", distance_words(metric, squared))
        }
        _ => String::new(),
    }
}

/// Draws the panel with the largest text that fits, up to slightly above running text.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    draw_badge(&mut scene, room.take_bottom(badge_height(view, wide)), view);
    let high = room.height;
    // An open question takes the place of the lesson's.
    let sentence = if view.asking { step_sentence(view.cursor) } else { sentence(view.cursor) };
    let words = MeasuredText::new(&sentence, Font::Sans);
    let full = view.text * if sentence.ends_with('?') { 1.5 } else { 1.2 };
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

// The badge below the sentence: the invariant that holds now, or the first that broke, with its cells
// outlined in the picture.

/// Height of the badge and the gap above it, relative to the text size.
const BADGE: f32 = 1.9;

/// Width below which there is no badge, relative to the text size: it must fit on one line.
const NARROW: f32 = 50.0;

/// The height to keep free for a badge at every step of a recording, so that nothing jumps.
pub fn badge_height(view: &View<'_>, wide: f32) -> f32 {
    let kernel = matches!(view.recording().baseline(), Baseline::Kernel(_));
    if kernel && wide >= NARROW * view.text { BADGE * view.text } else { 0.0 }
}

/// The invariant that was broken at or before a position.
pub fn broken(cursor: &Cursor) -> Option<&FirstViolation> {
    let broken = cursor.recording().consequences()?.broken.as_ref()?;
    (cursor.position() >= broken.position).then_some(broken)
}

/// The targets of the first broken invariant, at the position where it breaks.
pub fn broken_here(cursor: &Cursor) -> &[Target] {
    broken(cursor).filter(|broken| broken.position == cursor.position()).map_or(&[], |broken| &broken.targets)
}

/// Draws the badge at the left of an area, as wide as its text. While a question is open it is hidden: it may
/// give away the answer.
pub fn draw_badge(scene: &mut Scene, mut room: Area, view: &View<'_>) {
    let Some(badge) = badge(view.recording(), view.cursor.position(), view.state()) else { return };
    if view.asking || room.height < view.text {
        return;
    }
    room.take_top(view.text * 0.25);
    let text = (view.text * 0.95).min(room.height * 0.62);
    let (mark, ink) = (text * 0.9, if badge.holds { Ink::Intermediate } else { Ink::Error });
    // Room for a mark and its gap, and for margins at both ends.
    let sides = text * 2.4;
    let wide = (width(Font::Sans, text, &badge.text) + sides + 1.0).min(room.width);
    let tag = area(room.x, room.y, wide, room.height);
    scene.rect(tag.inner(0.5), room.height / 2.0, Some(faint(ink, 0.13)), Some(line(faint(ink, 0.8), 1.0)));
    scene.tick_or_cross([tag.x + text * 0.7, tag.center()[1] - mark / 2.0], mark, badge.holds);
    let mut words = tag;
    words.take_left(text * 1.9);
    words.take_right(text * 0.5);
    scene.label(
        words,
        0.0,
        TextStyle { size: text, ..sans(text, if badge.holds { Ink::Text } else { Ink::Error }) },
        &badge.text,
    );
}

/// The bounding box of a target's spots: for a lane, its whole column.
fn extent(scene: &Scene, target: Target) -> Option<Area> {
    let areas = scene.spots.iter().filter(|spot| spot.target == target).map(|spot| spot.area);
    areas.reduce(|a, b| {
        let (x, y) = (a.x.min(b.x), a.y.min(b.y));
        area(x, y, a.right().max(b.right()) - x, a.bottom().max(b.bottom()) - y)
    })
}

/// Outlines the targets of the first broken invariant at the step that breaks it, if they belong to the
/// panel.
pub fn outline(scene: &mut Scene, view: &View<'_>, concerns: impl Fn(Target) -> bool) {
    for cell in broken_here(view.cursor)
        .iter()
        .filter(|target| concerns(**target))
        .filter_map(|target| extent(scene, *target))
        .collect::<Vec<_>>()
    {
        let stroke = (cell.width.min(cell.height) * 0.1).clamp(0.8, 2.5);
        scene.rect(cell.inner(stroke / 2.0), 2.5, None, Some(line(Ink::Error, stroke)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FAULTS;
    use crate::lessons::{self, Overrides, Take};
    use crate::picture::scene::Shape;
    use crate::picture::{Panel, draw};
    use crate::progress::NoProgress;

    /// The warp and the sentence; not the ballot, which has red slots when the buffer overflows.
    fn scene(take: &Take, position: usize, asking: bool) -> Scene {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(position);
        let view = View { asking, ..View::new(&cursor, 16.0) };
        let mut scene = draw(Panel::Warp, &view, [800.0, 400.0]);
        scene.put(draw(Panel::Sentence, &view, [1200.0, 100.0]), [0.0, 400.0]);
        scene
    }

    fn says(scene: &Scene, words: &str) -> bool {
        scene.shapes.iter().any(|shape| matches!(shape, Shape::Text { text, .. } if text.contains(words)))
    }

    /// Crosses are two strokes, outlines rectangles; text is not counted.
    fn is_red(scene: &Scene) -> bool {
        scene.shapes.iter().any(|shape| match shape {
            Shape::Path { line, .. } | Shape::Rect { line: Some(line), .. } => line.paint.ink == Ink::Error,
            _ => false,
        })
    }

    #[test]
    fn correct_searches_show_no_red() {
        for lesson in ["sort", "merge", "buffer"] {
            let take =
                lessons::named(lesson).unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
            for position in take.range.clone() {
                assert!(!is_red(&scene(&take, position, false)), "{lesson}, step {position}");
            }
        }
    }

    #[test]
    fn broken_invariants_are_marked_red_and_stay_in_the_text() {
        for row in &FAULTS {
            let lesson = lessons::named(row.lesson).unwrap().with_data_for(row.fault);
            let sound = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
            let take = lesson.with_fault(&sound, row.fault).unwrap();
            let broken = take.recording.consequences().unwrap().broken.clone().unwrap();
            let there = scene(&take, broken.position, false);
            // Long sentences are cut off.
            let start: String = broken.sentence.chars().take(40).collect();
            assert!(is_red(&there) && says(&there, &start), "{}", row.id);
            assert!(!is_red(&scene(&take, broken.position - 1, false)), "{}: not before", row.id);
            let since = format!("Since step {}: ", broken.position);
            assert!(says(&scene(&take, broken.position + 1, false), &since), "{}", row.id);
            assert!(
                !says(&scene(&take, broken.position, true), &start),
                "{}: a question shows no badge",
                row.id
            );
            let end = scene(&take, take.recording.len(), false);
            let verdict: String = take.recording.consequences().unwrap().verdict().chars().take(20).collect();
            assert!(says(&end, &verdict), "{}", row.id);
        }
    }

    /// The sentence does not jump where a step has no badge.
    #[test]
    fn space_for_the_badge_is_always_reserved() {
        let take =
            lessons::named("buffer").unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
        let mut cursor = Cursor::new(take.recording.clone());
        for (position, badges) in [(0, 0.0), (2, 0.0), (3, 1.0)] {
            cursor.seek(position);
            let view = View::new(&cursor, 16.0);
            assert_eq!(badge_height(&view, 1000.0), BADGE * 16.0);
            let drawn = crate::picture::draw(Panel::Sentence, &view, [1000.0, 90.0]);
            let tags = drawn.shapes.iter().filter(|shape| matches!(shape, Shape::Rect { .. })).count();
            assert_eq!(tags as f32, badges, "step {position}");
        }
    }
}
