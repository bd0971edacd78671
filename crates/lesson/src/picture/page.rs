//! All panels of a moment on one page.

use super::grid::GridMoment;
use super::pen::{ROW, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};
use super::{Panel, View, draw};
use crate::account::account;
use crate::cursor::Cursor;
use crate::lessons::{Lesson, Take};
use crate::recording::Recording;
use crate::state::Stage;
use crate::step::Step;
use crate::text::{count, thousands};

/// Width of the gaps between panels relative to the text size.
const GAP: f32 = 0.5;

/// Height of the title block relative to the text size.
const HEADER: f32 = 3.2;

/// Height of the sentence relative to the text size: two lines and padding.
const SENTENCE: f32 = 4.2;

/// The page of a lesson: number and title, the panels it needs, and the sentence; at least 960 × 540. With
/// large type, the goal replaces the description of the data.
pub fn page(lesson: &Lesson, take: &Take, view: &View<'_>, size: [f32; 2]) -> Scene {
    let view = &legible(view, size);
    let mut page = Page::new(view, size);
    let header = page.room().take_top(view.text * HEADER);
    let below = if is_large(view.text, size) {
        lesson.fill_in(lesson.goal, take.recording.shape())
    } else {
        about(&take.recording)
    };
    page.header(header, &title(lesson), &progress(view), &below, "");
    for (panel, rect) in areas(lesson, view, size) {
        page.panel(panel, view, rect);
    }
    page.scene
}

/// A view with a minimum type size for a classroom's last row, if running text is large.
fn legible<'a>(view: &View<'a>, size: [f32; 2]) -> View<'a> {
    /// Smallest type relative to running text.
    const LEAST: f32 = 0.9;
    let least = if is_large(view.text, size) { view.text * LEAST } else { 0.0 };
    View { min_type: view.min_type.max(least), ..*view }
}

/// Whether type is large enough, relative to the page, to read from a classroom's last row.
fn is_large(text: f32, [wide, _]: [f32; 2]) -> bool {
    wide < LARGE * text
}

/// The panels of a lesson's [`page`](page()) with the areas of their backgrounds, in points; each is drawn
/// [`inside`] its area.
pub fn areas(lesson: &Lesson, view: &View<'_>, [wide, high]: [f32; 2]) -> Vec<(Panel, Area)> {
    let page = Page::new(view, [wide, high]);
    let (mut room, large) = (page.room(), is_large(view.text, [wide, high]));
    room.take_top(view.text * HEADER);
    let mut areas = Vec::new();
    if view.sentence {
        let mut below = room.take_bottom(sentence_height(view, wide));
        below.take_top(page.gap);
        areas.push((Panel::Sentence, below));
    }
    let moment = GridMoment::new(lesson, view);
    areas.extend(match view.zoom.and_then(|panel| zoomed(panel, lesson, view)) {
        Some(panel) => vec![(panel, room)],
        None if large => lesson.grid.place_subject(moment, room, page.gap),
        None => lesson.grid.place_all(moment, room, page.gap),
    });
    areas
}

/// The height of the sentence and its badge on a page, with the gap above.
pub fn sentence_height(view: &View<'_>, wide: f32) -> f32 {
    view.text * (GAP + SENTENCE) + crate::picture::sentence::badge_height(view, wide)
}

/// The panels that a lesson shows at a moment, code included, the largest first.
pub fn panels_of(lesson: &Lesson, view: &View<'_>) -> Vec<Panel> {
    largest_first(lesson, GridMoment::new(lesson, view))
}

/// The panel that the step of a moment is about.
pub fn subject(lesson: &Lesson, view: &View<'_>) -> Option<Panel> {
    let placed = lesson.grid.place_subject(GridMoment::new(lesson, view), area(0.0, 0.0, 1.0, 1.0), 0.0);
    placed.first().map(|(panel, _)| *panel)
}

fn largest_first(lesson: &Lesson, moment: GridMoment) -> Vec<Panel> {
    let mut panels = lesson.grid.place_all(moment, area(0.0, 0.0, 1600.0, 900.0), 0.0);
    panels.sort_by(|(_, a), (_, b)| (b.width * b.height).total_cmp(&(a.width * a.height)));
    panels.into_iter().map(|(panel, _)| panel).collect()
}

/// All panels that a take of a lesson has at any of its moments.
pub fn panels_ever(lesson: &Lesson, take: &Take) -> Vec<Panel> {
    let mut cursor = Cursor::new(take.recording.clone());
    let mut panels = Vec::new();
    for position in take.range.start..=take.range.end {
        cursor.seek(position);
        for panel in panels_of(lesson, &View::new(&cursor, 14.0)) {
            if !panels.contains(&panel) {
                panels.push(panel);
            }
        }
    }
    panels
}

/// The panel to enlarge: the requested one, also before the story needs it, or the largest if the moment does
/// not have it, because panels such as ballot and network alternate.
fn zoomed(panel: Panel, lesson: &Lesson, view: &View<'_>) -> Option<Panel> {
    let all = largest_first(lesson, GridMoment::new(lesson, view).complete());
    if all.contains(&panel) { Some(panel) } else { panels_of(lesson, view).first().copied() }
}

/// The drawing area inside a panel's background, for running text of a size.
pub fn inside(area: Area, text: f32) -> Area {
    area.inner(text * 0.55)
}

/// Page width, relative to the text size, below which type counts as large.
const LARGE: f32 = 72.0;

/// Several recordings of a lesson side by side, each at its own moment (see [`position_at`]). A
/// [`super::Target::Position`] refers to the take in whose column (see [`columns`]) it lies.
pub fn comparison(lesson: &Lesson, takes: &[(&Take, View<'_>)], [wide, high]: [f32; 2]) -> Scene {
    let Some((first, view)) = takes.first() else { return Scene::new(wide, high) };
    let (text, large) = (view.text, is_large(view.text, [wide, high]));
    let mut page = Page::new(&legible(view, [wide, high]), [wide, high]);
    let shape = first.recording.shape();
    let account = account(view.state());
    let theory = format!(
        "Theory: at most {:.1} merges on average in random order, n / K = {} in the worst",
        account.expected_at_end.merges,
        thousands(account.worst_merges)
    );
    let header = page.room().take_top(text * HEADER);
    let seen = points_seen(&takes.iter().map(|(_, view)| view.cursor).collect::<Vec<_>>());
    let place = format!("{seen} of {} points seen", thousands(shape.n.into()));
    let below = if large { lesson.fill_in(lesson.goal, shape) } else { about(&first.recording) };
    page.header(header, &title(lesson), &place, &below, if view.asking || large { "" } else { &theory });
    // Shared axes make the curves comparable. While a question is open, they ignore later bounds.
    let known = |view: &View<'_>| if view.asking { view.state().counts.merges as usize } else { usize::MAX };
    let bounds = super::account::bounds(
        takes
            .iter()
            .flat_map(|(take, view)| take.recording.convergence().take(known(view)).map(|(_, bound)| bound)),
    );
    for (number, ((take, view), column)) in
        takes.iter().zip(columns(takes.len(), text, [wide, high])).enumerate()
    {
        let view = &legible(view, [wide, high]);
        let mut room = column;
        let mut heading = room.take_top(text * 1.9);
        page.scene.rect(heading, text * 0.3, Some(Ink::Field.into()), None);
        heading = heading.inner(text * 0.3);
        let merges = count(view.state().counts.merges.into(), "merge", "merges");
        let right = heading.take_right(width(Font::Sans, text * 1.1, &merges) + 1.0);
        page.scene.label(right, 1.0, sans(text * 1.1, Ink::Accent), &merges);
        page.scene.label(
            heading,
            0.0,
            sans(text * 1.1, Ink::Text),
            &take.arrangement.name().replace('-', " "),
        );
        room.take_top(page.gap);
        let first = page.scene.tracked.len();
        // With large type, the numbers above are enough.
        if !large {
            let sentence = room.take_bottom(text * (SENTENCE + 1.6));
            room.take_bottom(page.gap);
            page.panel(Panel::Sentence, view, sentence);
        }
        let above = room.take_top((room.height - page.gap) / 2.0);
        room.take_top(page.gap);
        page.panel(Panel::Cloud, view, above);
        page.ground(room, |size| super::account::draw_on(view, size, Some(bounds)));
        page.scene.tracked[first..]
            .iter_mut()
            .filter_map(|thing| thing.frame.as_mut())
            .for_each(|frame| frame.column = number);
    }
    page.scene
}

/// The columns of a [`comparison`] of a number of takes.
pub fn columns(takes: usize, text: f32, [wide, high]: [f32; 2]) -> Vec<Area> {
    let gap = text * GAP;
    let mut room = area(0.0, 0.0, wide, high).inner(gap);
    room.take_top(text * HEADER);
    std::iter::repeat_n(1.0 / takes.max(1) as f32, takes).map(strips(room, takes, gap, false)).collect()
}

/// The points that compared recordings have seen: one in the middle of a group is ahead of the others.
pub fn points_seen(cursors: &[&Cursor]) -> String {
    let seen = cursors.iter().map(|cursor| cursor.state().counts.points_seen);
    let most = seen.clone().max().unwrap_or(0);
    format!("{}{}", if seen.clone().all(|seen| seen == most) { "" } else { "up to " }, thousands(most.into()))
}

/// The last position before a group that goes beyond `points_seen` points, at which takes are compared.
pub fn position_at(recording: &Recording, points_seen: u32) -> usize {
    let shape = recording.shape();
    let later = |step: &Step| {
        matches!(
            step,
            Step::Group { base, .. } if base.saturating_add(shape.width).min(shape.n) > points_seen
        )
    };
    recording.steps().iter().position(later).unwrap_or(recording.len())
}

fn title(lesson: &Lesson) -> String {
    format!("Lesson {}: {}", lesson.number, lesson.title)
}

/// The position in the recording, in words.
pub fn progress(view: &View<'_>) -> String {
    let (recording, state) = (view.recording(), view.state());
    let (done, all) = (state.counts.merges, recording.merges() as u64);
    if view.asking {
        return format!("after step {}", thousands(view.cursor.position() as u64));
    }
    let [round, _] = recording.round_names();
    let merge = match state.stage {
        Stage::Full | Stage::Sort | Stage::Merge if state.buckets().is_none() => {
            format!("in merge {}", thousands(u64::from(done) + 1))
        }
        _ if done == 0 => format!("before {round} 1"),
        _ => format!("after {round} {}", thousands(done.into())),
    };
    format!(
        "step {} of {} \u{b7} {merge} of {}",
        thousands(view.cursor.position() as u64),
        thousands(recording.len() as u64),
        thousands(all)
    )
}

/// The problem and the device, in words.
pub fn about(recording: &Recording) -> String {
    let parameters = &recording.parameters;
    let shape = parameters.shape;
    let sizes = recording.algorithm().sizes();
    format!(
        "{}, k = {}, {} lanes{sizes} \u{b7} {} \u{b7} recorded on {}",
        count(shape.n.into(), "point", "points"),
        thousands(shape.k.into()),
        shape.width,
        parameters.data,
        parameters.recorder_name()
    )
}

/// A page under construction.
struct Page {
    scene: Scene,
    text: f32,
    gap: f32,
}

impl Page {
    fn new(view: &View<'_>, size: [f32; 2]) -> Self {
        Self { scene: view.scene(size), text: view.text, gap: view.text * GAP }
    }

    fn room(&self) -> Area {
        area(0.0, 0.0, self.scene.size[0], self.scene.size[1]).inner(self.gap)
    }

    /// Draws a large line and a small one, each with text on the right.
    fn header(&mut self, mut room: Area, title: &str, place: &str, about: &str, more: &str) {
        let text = self.text;
        let small = (text * 0.85).max(self.scene.min_type);
        let sides =
            [(title, place, text * 1.4, text * 1.05, Ink::Text), (about, more, small, small, Ink::TextWeak)];
        for (left, right, large, small, ink) in sides {
            let mut row = room.take_top(large * ROW);
            let there = width(Font::Sans, small, right).min(row.width * 0.55);
            let end = row.take_right(there + 0.5);
            self.scene.label(end, 1.0, sans(small, ink), right);
            row.take_right(text);
            self.scene.label(row, 0.0, sans(large, ink), left);
        }
    }

    /// Draws a panel on its own background.
    fn panel(&mut self, panel: Panel, view: &View<'_>, rect: Area) {
        self.ground(rect, |size| draw(panel, view, size));
    }

    fn ground(&mut self, rect: Area, draw: impl FnOnce([f32; 2]) -> Scene) {
        on_ground(&mut self.scene, rect, self.text, draw);
    }
}

/// Draws a panel on its background, for running text of a size.
pub(crate) fn on_ground(scene: &mut Scene, rect: Area, text: f32, draw: impl FnOnce([f32; 2]) -> Scene) {
    scene.rect(rect.inner(0.5), text * 0.4, Some(Ink::Panel.into()), Some(line(faint(Ink::Line, 0.6), 1.0)));
    let inside = inside(rect, text);
    if inside.width > 1.0 && inside.height > 1.0 {
        scene.put(draw([inside.width, inside.height]), [inside.x, inside.y]);
    }
}

/// Cuts strips off an area, one after the other, each with its share of the area without gaps.
pub(crate) fn strips(mut rest: Area, count: usize, gap: f32, down: bool) -> impl FnMut(f32) -> Area {
    let whole = if down { rest.height } else { rest.width } - gap * count.saturating_sub(1) as f32;
    let mut cut = move |size: f32| if down { rest.take_top(size) } else { rest.take_left(size) };
    move |share| {
        let strip = cut(whole.max(0.0) * share);
        cut(gap);
        strip
    }
}

// A figure for a document: the panels of a page without its heading and sentence, which the document has.

/// The panels of a take at a moment, as wide as a page of that size and lower.
pub fn figure(lesson: &Lesson, view: &View<'_>, size: [f32; 2]) -> Scene {
    let panels: Vec<(Panel, Area)> =
        areas(lesson, view, size).into_iter().filter(|(panel, _)| *panel != Panel::Sentence).collect();
    let gap = view.text * 0.5;
    let top = panels.iter().map(|(_, place)| place.y).fold(f32::INFINITY, f32::min) - gap;
    let bottom = panels.iter().map(|(_, place)| place.y + place.height).fold(0.0, f32::max) + gap;
    let mut scene = Scene::new(size[0], (bottom - top).max(1.0));
    for (panel, place) in panels {
        let place = area(place.x, place.y - top, place.width, place.height);
        on_ground(&mut scene, place, view.text, |size| draw(panel, view, size));
    }
    scene
}
