//! The panel of what a tree's search looked at, beside other searches for the same neighbours.

use super::View;
use super::pen::{ROW, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};
use crate::lesson::recording::Index;
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, index: &Index, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = Scene::new(wide, high);
    let text = view.text;
    let mut room = area(0.0, 0.0, wide, high);
    let row = (text * ROW).min(high * 0.6 / 8.0);
    table(&mut scene, room.take_top(row * 7.6), view, index, row);
    room.take_top(row * 0.4);
    bars(&mut scene, room, view, index);
    scene
}

/// The columns are what is counted so far, what will be in the end, and what the other searches count.
fn table(scene: &mut Scene, mut room: Area, view: &View<'_>, index: &Index, row: f32) {
    let state = view.cursor.state();
    let (counts, end, lie, brute) = (state.counts, index.visits, index.as_they_lie, index.brute);
    let number = |number: u32| thousands(number.into());
    let none = || "\u{2013}".to_owned();
    // A question about the whole search must not be answered here.
    let hidden = |words: String| if view.asking { String::new() } else { words };
    let rows: [(&str, [String; 4]); 6] = [
        ("points looked at", [number(counts.points_seen), hidden(number(end.accessed)), hidden(number(lie.accessed)), number(state.shape.n)]),
        ("leaves visited", [number(counts.groups), hidden(number(end.leaves)), hidden(number(lie.leaves)), none()]),
        ("nodes visited", [number(counts.nodes), hidden(number(end.nodes)), hidden(number(lie.nodes)), none()]),
        ("boxes left out", [number(counts.left_out), hidden(number(end.left_out)), hidden(number(lie.left_out)), none()]),
        ("candidates", [number(counts.candidates), hidden(number(end.candidates)), hidden(number(lie.candidates)), hidden(number(brute.candidates))]),
        ("merges", [number(counts.merges), hidden(number(end.merges)), hidden(number(lie.merges)), hidden(number(brute.merges))]),
    ];
    let size = row / ROW;
    let shares = [0.28, 0.13, 0.19, 0.19, 0.21];
    let columns = |mut rect: Area| {
        let wide = rect.width;
        shares.map(|share| rect.take_left(wide * share))
    };
    // A gap between long words.
    let apart = |rect: Area| area(rect.x + size * 0.5, rect.y, rect.width - size * 0.5, rect.height);
    let heads = columns(room.take_top(row));
    scene.label(heads[0], 0.0, sans(size, Ink::Text), "Account");
    for (rect, words) in heads[1..].iter().zip(["so far", "in the end", "as they lie", "brute force"]) {
        scene.label(apart(*rect), 1.0, sans(size * 0.85, Ink::TextWeak), words);
    }
    scene.path(vec![[room.x, room.y + 1.0], [room.right(), room.y + 1.0]], line(Ink::Line, 1.0));
    room.take_top(row * 0.15);
    for (name, numbers) in rows {
        let rects = columns(room.take_top(row));
        scene.label(rects[0], 0.0, sans(size * 0.95, Ink::Text), name);
        for ((rect, words), ink) in rects[1..].iter().zip(numbers).zip([Ink::Text, Ink::TextWeak, Ink::TextWeak, Ink::TextWeak]) {
            scene.label(*rect, 1.0, sans(size, ink), &words);
        }
    }
}

/// Points looked at as bars; brute force's is as long as there is room.
fn bars(scene: &mut Scene, mut room: Area, view: &View<'_>, index: &Index) {
    let (state, text) = (view.cursor.state(), view.text);
    let n = state.shape.n as f32;
    let row = (text * ROW * 1.1).min(room.height / 4.0);
    scene.label(room.take_top(row), 0.0, sans(text * 0.9, Ink::Text), "Points looked at");
    let names = ["nearest first", "as they lie", "brute force"];
    let widest = names.iter().map(|name| width(Font::Sans, text * 0.8, name)).fold(0.0, f32::max) + text * 0.6;
    let lie = index.as_they_lie.accessed;
    let searches = [
        (state.counts.points_seen, index.visits.accessed, Ink::Intermediate),
        (lie, lie, Ink::Theory),
        (state.shape.n, state.shape.n, Ink::Rejected),
    ];
    for (at, (name, (done, all, ink))) in names.into_iter().zip(searches).enumerate() {
        let mut line_of = room.take_top(row);
        scene.label(line_of.take_left(widest), 0.0, sans(text * 0.8, Ink::TextWeak), name);
        let bar = line_of.inner(row * 0.16);
        let part = |points: u32| area(bar.x, bar.y, bar.width * points as f32 / n, bar.height);
        if view.asking && at == 1 {
            continue;
        }
        if !view.asking {
            scene.rect(part(all), 1.5, Some(faint(ink, 0.3)), None);
        }
        scene.rect(part(done), 1.5, Some(ink.into()), None);
    }
}
