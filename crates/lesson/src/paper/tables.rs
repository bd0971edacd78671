//! What was counted, beside the theory or other searches, as tables.

use std::io::{self, Write};

use super::named;
use crate::account::account;
use crate::algorithms::radix_select::state::most_passes;
use crate::cursor::Cursor;
use crate::knn::theory;
use crate::lessons::Take;
use crate::meter::{self, Way};
use crate::picture::Film;
use crate::picture::svg::escaped;
use crate::recording::{Beside, Chosen, Index, Queued};
use crate::text::{count, significant, thousands};

/// The data of a take, and what searched them.
pub fn about(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let parameters = &take.recording.parameters;
    let shape = parameters.shape;
    let coordinates: Vec<String> = parameters.query.iter().take(8).map(|&value| significant(value.into())).collect();
    let more = if parameters.query.len() > 8 { ", …" } else { "" };
    let rows = [
        ("data", format!("{}, {}", parameters.data, count(shape.n.into(), "point", "points"))),
        ("query", format!("row {}, ({}{more})", thousands(parameters.query_row.into()), coordinates.join(", "))),
        ("neighbours", format!("k = {}", shape.k)),
        ("warp", format!("{} lanes, {} each: K = {}", shape.width, count(shape.registers.into(), "key", "keys"), parameters.capacity)),
        ("recorded on", parameters.what_ran()),
    ];
    writeln!(out, "{}<table>", named(film, take))?;
    for (what, value) in rows {
        writeln!(out, "<tr><th>{what}</th><td>{}</td></tr>", escaped(&value))?;
    }
    writeln!(out, "</table>")
}

/// What a tree's search looked at, beside other searches for the same neighbours.
fn looked_at(index: &Index, n: u32, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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

/// A table of counts beside others; `None` where there is nothing to count.
fn compared(heads: &[&str], rows: &[(&str, Vec<Option<String>>)], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let heads: String = heads.iter().map(|head| format!("<th class=\"n\">{head}</th>")).collect();
    writeln!(out, "<table>\n<tr><th></th>{heads}</tr>")?;
    for (what, numbers) in rows {
        let numbers: String = numbers.iter().map(|number| format!("<td class=\"n\">{}</td>", number.as_deref().unwrap_or("\u{2013}"))).collect();
        writeln!(out, "<tr><th>{what}</th>{numbers}</tr>")?;
    }
    writeln!(out, "</table>")
}

/// What warp select counts, beside a buffer for the same points.
fn queued(queued: &Queued, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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

/// What a selection by digits counts, beside a buffer and a sort.
fn chosen(chosen: &Chosen, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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

/// What the query costs by one thread, by a thread of a warp, and by a warp.
fn metered(take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let Some(meter) = take.recording.meter() else { return Ok(()) };
    let of = |row: &meter::Row| (row.name, Way::ALL.map(|way| meter.number(row, way, &meter.all(way)).map(meter::words)).to_vec());
    compared(&Way::ALL.map(Way::name), &meter::ROWS.iter().map(of).collect::<Vec<_>>(), out)?;
    writeln!(out, "<dl class=\"weak\">")?;
    for row in &meter::ROWS {
        writeln!(out, "<dt>{}</dt><dd>{}</dd>", row.name, escaped(row.help))?;
    }
    writeln!(out, "</dl>")
}

/// What a take's search counted.
pub fn accounts(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    match take.recording.held_against() {
        Beside::Theory => {}
        Beside::Tree(index) => return looked_at(index, take.recording.shape().n, out),
        Beside::Queues(counts) => return queued(counts, take, out),
        Beside::Digits(counts) => return chosen(counts, take, out),
        Beside::Heaps => return metered(take, out),
    }
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(take.recording.len());
    let account = account(cursor.state());
    let (counts, expected) = (account.counts, account.expected_in_the_end);
    let rows = [
        ("points", counts.points_seen.into(), String::new()),
        ("groups with a candidate", counts.groups_hit.into(), String::new()),
        ("candidates", counts.candidates.into(), significant(expected.candidates)),
        ("merges", counts.merges.into(), significant(expected.merges)),
        ("compare-exchanges", counts.compare_exchanges, significant(expected.compare_exchanges)),
        ("shuffles", counts.shuffles, significant(expected.shuffles)),
    ];
    writeln!(out, "{}<table>\n<tr><th></th><th class=\"n\">counted</th><th class=\"n\">theory, mean at most</th></tr>", named(film, take))?;
    for (what, counted, expected) in rows {
        writeln!(out, "<tr><th>{what}</th><td class=\"n\">{}</td><td class=\"n\">{expected}</td></tr>", thousands(counted))?;
    }
    let worst = count(account.worst_merges, "merge", "merges");
    writeln!(
        out,
        "</table>\n<p>These are the numbers of the whole search. The theory's are for points in random order; the worst order takes {worst}.</p>"
    )
}
