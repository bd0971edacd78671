//! The panel of what warp select counts, beside the kernel's buffer for the same points, and beside its theory.

use std::io::{self, Write};

use crate::account::account;
use crate::algorithms::warp_select::Queued;
use crate::knn::theory;
use crate::lessons::Take;
use crate::paper::tables::compared;
use crate::picture::View;
use crate::picture::pen::{ROW, area};
use crate::picture::scene::{Ink, Scene};
use crate::picture::tally::{self, Bar};
use crate::text::{significant, thousands};

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, queued: &Queued, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let (state, text) = (view.cursor.state(), view.text);
    let mut room = area(0.0, 0.0, wide, high);
    let row = (text * ROW).min(high * 0.6 / 6.0);
    let (counts, buffer, theory) = (state.counts, queued.buffer, account(state).expected_in_the_end);
    let came = state.queues().map_or(0, |queues| queues.came);
    let number = |number: u32| thousands(number.into());
    let none = || "\u{2013}".to_owned();
    let each = |came: u32, merges: u32| if merges == 0 { none() } else { significant(f64::from(came) / f64::from(merges)) };
    // The question of how many merges there will be must not be answered here.
    let hidden = |words: String| if view.asking { String::new() } else { words };
    let about = |value: f64| thousands(value.round() as u64);
    let rows: [tally::Row<'_, 4>; 4] = [
        ("points seen", [number(counts.points_seen), number(state.shape.n), number(state.shape.n), none()]),
        (
            "keys taken",
            [number(counts.candidates), hidden(number(queued.inserts)), hidden(number(buffer.candidates)), hidden(about(theory.candidates))],
        ),
        ("merges", [number(counts.merges), hidden(number(queued.merges)), hidden(number(buffer.merges)), hidden(format!("{:.1}", theory.merges))]),
        // Those of the merge in progress are counted when it is, too.
        ("came in a merge", [each(came, counts.merges), hidden(each(queued.came, queued.merges)), hidden(each(buffer.came, buffer.merges)), none()]),
    ];
    let heads = ["so far", "in the end", "a buffer", "its theory \u{2264}"];
    tally::table(&mut scene, room.take_top(row * 5.4), row, &[0.3, 0.14, 0.18, 0.17, 0.21], heads, &rows);
    room.take_top(row * 0.4);
    let most = queued.merges.max(buffer.merges).max(1) as f32;
    let share = |merges: u32| merges as f32 / most;
    let seen = |merges: u32| (!view.asking).then(|| share(merges));
    let bars = [
        Bar { name: "queues in lanes", done: if view.asking { 0.0 } else { share(counts.merges) }, all: seen(queued.merges), ink: Ink::Intermediate },
        // Of no colour of this search: what is pink here is in the lanes' queues.
        Bar { name: "a shared buffer", done: seen(buffer.merges).unwrap_or(0.0), all: seen(buffer.merges), ink: Ink::TextWeak },
    ];
    tally::bars(&mut scene, room, text, "Merges", &bars);
    scene
}

/// What warp select counts, beside a buffer for the same points.
pub(crate) fn table(queued: &Queued, take: &Take, out: &mut dyn Write) -> io::Result<()> {
    let (shape, buffer) = (take.recording.shape(), queued.buffer);
    let (n, k, capacity) = (shape.n as usize, shape.k as usize, shape.capacity() as usize);
    let number = |number: u32| Some(thousands(number.into()));
    let each = |came: u32, merges: u32| Some(significant(f64::from(came) / f64::from(merges.max(1))));
    let rows = [
        ("keys taken", vec![number(queued.inserts), number(buffer.candidates), Some(significant(theory::expected_candidates(n, k, capacity)))]),
        ("merges", vec![number(queued.merges), number(buffer.merges), Some(significant(theory::expected_merges(n, k, capacity)))]),
        ("keys that came into the intermediate result", vec![number(queued.came), number(buffer.came), None]),
        ("of these in a merge", vec![each(queued.came, queued.merges), each(buffer.came, buffer.merges), None]),
    ];
    compared(&["queues in lanes", &format!("a buffer of {capacity}"), "its theory, mean at most"], &rows, out)?;
    writeln!(out, "<p>Both searched the same points in the same order. The theory is for points in random order.</p>")
}
