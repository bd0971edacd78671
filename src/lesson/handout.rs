//! A lesson for print: one self-contained HTML file without scripts, laid out for A4.

use std::io::{self, Write};

use super::account::account;
use super::buckets::most_passes;
use super::cursor::Cursor;
use super::lessons::Take;
use super::meter::{self, Way};
use super::moments::Moments;
use super::picture::Film;
use super::picture::css;
use super::picture::svg::{self, escaped};
use super::questions::{Ask, Question};
use super::questions_select::largest;
use super::recording::{Beside, Chosen, Index, Queued};
use super::step::Step;
use crate::engines::lockstep::{Key, distance_of};
use crate::knn::theory;
use crate::palette::{DARK, LIGHT, Palette};
use crate::progress::Progress;
use crate::text::{count, significant, thousands};

/// Maximum number of sentences; the file of steps has all of them.
const MOST_SENTENCES: usize = 400;

/// The colour scheme of a handout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Follows the reader's light or dark setting; light in print.
    Readers,
    /// The palette of the film.
    Film,
}

const STYLE: &str = "body{margin:0;background:var(--canvas);color:var(--text);font:16px/1.5 Ubuntu,'Segoe UI',system-ui,sans-serif}\
main{max-width:60rem;margin:0 auto;padding:1.5rem}\
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}\
figure{margin:1.2rem 0;break-inside:avoid}figure svg{box-sizing:border-box;display:block;width:100%;height:auto;border:1px solid var(--line)}\
figcaption{margin-top:.4rem;font-size:.95em}b.step{color:var(--text-weak);font-weight:normal;margin-right:.7em}\
ul.steps{list-style:none;margin:.6rem 0;padding:0}ul.steps li{margin:.2rem 0}\
table{border-collapse:collapse;margin:.6rem 0}th,td{text-align:left;padding:.15rem 1.2rem .15rem 0;vertical-align:top}\
th{color:var(--text-weak);font-weight:normal}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
pre{background:var(--panel);padding:.8rem;white-space:pre-wrap;font:13px/1.45 Hack,monospace}\
ol.asked li{margin:.7rem 0;break-inside:avoid}summary{color:var(--accent);cursor:pointer}\
.weak{color:var(--text-weak)}.paper{display:none}\
@page{size:A4;margin:15mm}@media print{body{font-size:10.5pt}main{max-width:none;padding:0}details{display:none}\
.paper{display:block;break-before:page}h2{break-after:avoid}tr{break-inside:avoid}\
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

/// Writes a lesson: its introduction, pictures of the moments with the sentences of all steps between them, the counters
/// beside the theory, the kernel, and questions whose answers unfold on screen and are on the last page in print.
///
/// # Errors
/// I/O errors of the writer, and [`io::ErrorKind::Interrupted`] if `progress` is cancelled.
pub fn write(film: &Film, moments: &Moments, theme: Theme, progress: &dyn Progress, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let lesson = &film.lesson;
    let title = escaped(&format!("Lesson {}: {}", lesson.number, lesson.title));
    let says = |text| escaped(&lesson.says(text, film.lead().recording.shape()));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
        <title>{title}</title>\n<style>\n{}\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p><strong>{}</strong></p>\n<p>{}</p>\n<p><strong>{}</strong></p>\n",
        colors(film, theme),
        says(lesson.goal),
        says(lesson.paragraph),
        says(lesson.summary)
    )?;
    for take in &film.takes {
        about(film, take, out)?;
    }
    writeln!(out, "<h2>Step by step</h2>")?;
    steps(film, moments, progress, out)?;
    writeln!(out, "<h2>The account</h2>")?;
    for take in &film.takes {
        accounts(film, take, out)?;
    }
    writeln!(out, "<h2>{}</h2>\n<pre><code>", film.lead().recording.code().says[0])?;
    for line in film.lead().recording.code().lines {
        writeln!(out, "{}{}", "    ".repeat(line.depth), escaped(line.text))?;
    }
    writeln!(out, "</code></pre>")?;
    asked(film, out)?;
    writeln!(out, "</main>\n</body>\n</html>")
}

/// The variables of the style sheet.
fn colors(film: &Film, theme: Theme) -> String {
    let root = |palette: &Palette| format!(":root{{{}}}", css::variables(palette));
    match theme {
        Theme::Film => root(&film.palette),
        Theme::Readers => format!("{}\n@media screen and (prefers-color-scheme:dark){{{}}}", root(&LIGHT), root(&DARK)),
    }
}

fn named(film: &Film, take: &Take) -> String {
    if film.takes.len() > 1 { format!("<h3>{}</h3>\n", take.arrangement.name()) } else { String::new() }
}

fn about(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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

/// Writes every sentence of the level, with pictures in between. With several takes, only the pictures' own sentences.
fn steps(film: &Film, moments: &Moments, progress: &dyn Progress, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let steps: Vec<usize> = if film.takes.len() == 1 { moments.all.clone() } else { moments.positions.clone() };
    // Every picture has a sentence.
    let listed_steps: Vec<usize> =
        steps.iter().enumerate().filter(|(number, at)| *number < MOST_SENTENCES || moments.positions.contains(at)).map(|(_, &at)| at).collect();
    let left_out = steps.len() - listed_steps.len();
    let mut listed = false;
    for &at in &listed_steps {
        if progress.cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let pictured = moments.positions.binary_search(&at);
        if listed && pictured.is_ok() {
            writeln!(out, "</ul>")?;
            listed = false;
        }
        let step = format!("<b class=\"step\">Step {}</b>", thousands(at as u64));
        if let Ok(number) = pictured {
            let text = escaped(&film.sentence(at));
            let picture = svg::element(&film.scene(at), &format!("step{at}-"), &css::variable);
            writeln!(
                out,
                "<figure id=\"step-{at}\">\n<div role=\"img\" aria-label=\"Picture after step {at}\">\n{picture}</div>\n<figcaption>{step}{text}</figcaption>\n</figure>"
            )?;
            progress.update(number as u64 + 1, moments.positions.len() as u64);
        } else {
            let begin = if listed { "" } else { "<ul class=\"steps\">\n" };
            listed = true;
            writeln!(out, "{begin}<li>{step}{}</li>", escaped(&film.sentence(at)))?;
        }
    }
    if listed {
        writeln!(out, "</ul>")?;
    }
    if left_out > 0 {
        let more = count(left_out as u64, "sentence is", "sentences are");
        writeln!(out, "<p class=\"weak\">{more} left out here; the file of steps has all of them.</p>")?;
    }
    Ok(())
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
        ("keys that came into the result", vec![number(queued.came), number(buffer.came), None]),
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

fn accounts(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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

fn asked(film: &Film, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let questions: Vec<(&Take, Question)> =
        film.takes.iter().flat_map(|take| film.lesson.questions(take).into_iter().map(move |question| (take, question))).collect();
    if questions.is_empty() {
        return Ok(());
    }
    let answer = |take: &Take, question: &Question| escaped(&question.right(take.recording.shape().width));
    writeln!(out, "<h2>Questions</h2>\n<ol class=\"asked\">")?;
    for (take, question) in &questions {
        let order = if film.takes.len() > 1 { format!("Points {}. ", take.arrangement.name()) } else { String::new() };
        let text = format!("{order}After step {}. {}{}", thousands(question.at as u64), question.text, given(take, question));
        writeln!(out, "<li>{}\n<details><summary>Answer</summary><p>{}</p></details></li>", escaped(&text), answer(take, question))?;
    }
    writeln!(out, "</ol>\n<section class=\"paper\">\n<h2>Answers</h2>\n<ol>")?;
    for (take, question) in &questions {
        writeln!(out, "<li>{}</li>", answer(take, question))?;
    }
    writeln!(out, "</ol>\n</section>")
}

/// Data that is visible on screen but not in print: the distances that lanes vote on, the keys in their queues, the counts of buckets.
fn given(take: &Take, question: &Question) -> String {
    let before = || {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(question.at);
        cursor.state().clone()
    };
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match (question.ask, question.at.checked_sub(1).map(|at| take.recording.step(at)).as_deref()) {
        (Ask::Votes, Some(Step::Group { distances, .. })) => from_lane_0("Distances", distances),
        (Ask::Votes, Some(Step::Leaf { keys, .. })) => from_lane_0("Distances", &distances_of(keys)),
        (Ask::Child, _) => {
            let state = before();
            let Some(node) = state.descent.as_ref().and_then(|descent| descent.way.last()) else { return String::new() };
            let left = |(lane, &key): (u32, _)| if node.waiting >> lane & 1 == 1 { distance_of(key) } else { f32::INFINITY };
            from_lane_0("Distances", &(0..).zip(&node.keys).map(left).collect::<Vec<_>>())
        }
        (Ask::Takes, Some(Step::Group { distances, .. })) => {
            let keys = before().queues.as_ref().map(largest).unwrap_or_default();
            from_lane_0("Distances", distances) + &from_lane_0("Largest keys of the queues", &distances_of(&keys))
        }
        (Ask::Inserts | Ask::Waits, Some(Step::OwnDistances { distances, .. })) => {
            let roots = before().heaps.map_or_else(Vec::new, |heaps| (0..heaps.width).map(|lane| heaps.root(lane)).collect());
            from_lane_0("Distances", distances) + &from_lane_0("Roots of the heaps", &distances_of(&roots))
        }
        (Ask::Breaks, _) => from_lane_0("Largest keys of the queues", &distances_of(&before().queues.as_ref().map(largest).unwrap_or_default())),
        (Ask::Bucket | Ask::Left, _) => {
            before().buckets.map_or_else(String::new, |buckets| format!(" Counts from bucket 0 on: {}.", numbers(&buckets.counts)))
        }
        _ => String::new(),
    }
}

fn distances_of(keys: &[Key]) -> Vec<f32> {
    keys.iter().map(|&key| distance_of(key)).collect()
}

fn from_lane_0(what: &str, distances: &[f32]) -> String {
    let words = |&distance: &f32| if distance.is_finite() { significant(distance.into()) } else { "none".to_owned() };
    format!(" {what} from lane 0 on: {}.", distances.iter().map(words).collect::<Vec<_>>().join(", "))
}
