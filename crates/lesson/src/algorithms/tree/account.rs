//! The panel of what a tree's search looked at, beside other searches for the same neighbours.

use std::io::{self, Write};

use crate::algorithms::tree::Index;
use crate::picture::View;
use crate::picture::pen::{ROW, area};
use crate::picture::scene::{Area, Ink, Scene};
use crate::picture::tally::{self, Bar};
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, index: &Index, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let text = view.text;
    let mut room = area(0.0, 0.0, wide, high);
    let row = (text * ROW).min(high * 0.6 / 8.0);
    table(&mut scene, room.take_top(row * 7.6), view, index, row);
    room.take_top(row * 0.4);
    bars(&mut scene, room, view, index);
    scene
}

/// The columns are what is counted so far, what will be in the end, and what the other searches count.
fn table(scene: &mut Scene, room: Area, view: &View<'_>, index: &Index, row: f32) {
    let state = view.cursor.state();
    let (counts, end, lie, brute) = (state.counts, index.visits, index.as_they_lie, index.brute);
    let [nodes, left_out] = state.descent().map_or([0; 2], |descent| [descent.nodes, descent.left_out.len() as u32]);
    let number = |number: u32| thousands(number.into());
    let none = || "\u{2013}".to_owned();
    // A question about the whole search must not be answered here.
    let hidden = |words: String| if view.asking { String::new() } else { words };
    let rows: [tally::Row<'_, 4>; 6] = [
        ("points looked at", [number(counts.points_seen), hidden(number(end.accessed)), hidden(number(lie.accessed)), number(state.shape.n)]),
        ("leaves visited", [number(counts.groups), hidden(number(end.leaves)), hidden(number(lie.leaves)), none()]),
        ("nodes visited", [number(nodes), hidden(number(end.nodes)), hidden(number(lie.nodes)), none()]),
        ("boxes left out", [number(left_out), hidden(number(end.left_out)), hidden(number(lie.left_out)), none()]),
        ("candidates", [number(counts.candidates), hidden(number(end.candidates)), hidden(number(lie.candidates)), hidden(number(brute.candidates))]),
        ("merges", [number(counts.merges), hidden(number(end.merges)), hidden(number(lie.merges)), hidden(number(brute.merges))]),
    ];
    tally::table(scene, room, row, &[0.28, 0.13, 0.19, 0.19, 0.21], ["so far", "in the end", "as they lie", "brute force"], &rows);
}

/// Points looked at as bars; brute force's is as long as there is room.
fn bars(scene: &mut Scene, room: Area, view: &View<'_>, index: &Index) {
    let state = view.cursor.state();
    let share = |points: u32| points as f32 / state.shape.n as f32;
    let hidden = |points: u32| (!view.asking).then(|| share(points));
    let lie = index.as_they_lie.accessed;
    let searches = [
        Bar { name: "nearest first", done: share(state.counts.points_seen), all: hidden(index.visits.accessed), ink: Ink::Intermediate },
        Bar { name: "as they lie", done: hidden(lie).unwrap_or(0.0), all: hidden(lie), ink: Ink::Theory },
        Bar { name: "brute force", done: 1.0, all: hidden(state.shape.n), ink: Ink::Rejected },
    ];
    tally::bars(scene, room, view.text, "Points looked at", &searches);
}

/// What a tree's search looked at, beside other searches for the same neighbours.
pub(crate) fn write_table(index: &Index, n: u32, out: &mut dyn Write) -> io::Result<()> {
    let (here, lie, brute) = (index.visits, index.as_they_lie, index.brute);
    let rows = [
        ("points looked at", here.accessed, lie.accessed, Some(n)),
        ("leaves visited", here.leaves, lie.leaves, None),
        ("nodes visited", here.nodes, lie.nodes, None),
        ("boxes left out", here.left_out, lie.left_out, None),
        ("candidates", here.candidates, lie.candidates, Some(brute.candidates)),
        ("merges", here.merges, lie.merges, Some(brute.merges)),
    ];
    let heads = ["", "the nearest box first", "boxes as they lie", "brute force"].map(|head| format!("<th class=\"n\">{head}</th>"));
    writeln!(out, "<table>\n<tr>{}</tr>", heads.concat())?;
    for (what, here, lie, brute) in rows {
        let number =
            |number: Option<u32>| format!("<td class=\"n\">{}</td>", number.map_or_else(|| "\u{2013}".to_owned(), |number| thousands(number.into())));
        writeln!(out, "<tr><th>{what}</th>{}{}{}</tr>", number(Some(here)), number(Some(lie)), number(brute))?;
    }
    writeln!(out, "</table>")
}
