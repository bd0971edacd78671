//! A report on a few aligned lines.

use super::report::{Components, Duplicates, Hubs, Lid, Named, Report, Scores};
use super::{AnalyseArgs, output};
use crate::export::text;
use crate::run::graph::labels::Classified;
use crate::run::graph::leaks::LeaksFound;
use crate::run::stats::Spread;
use crate::text::Exact;

/// Labels up to which the confusion is shown as a table; of more, the most frequent confusions are listed.
const MOST_LABELS: usize = 16;
/// Confusions that are listed.
const MOST_CONFUSIONS: usize = 10;
/// Rows that are named on a line.
const MOST_ROWS: usize = 5;

pub fn text(report: &Report, args: &AnalyseArgs) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    let points = text::count(report.points, "point", "points");
    row("cloud", format!("{}, {points} in {}", report.cloud, text::count(report.dimensions as u64, "dimension", "dimensions")));
    if report.dropped > 0 {
        row("dropped", text::count(report.dropped, "row", "rows"));
    }
    if args.wanted.needs_graph() {
        let k = text::thousands(report.k as u64);
        row("neighbours", format!("k = {k}, {}, without the row itself, by {} on {}", report.metric, report.engine, report.device));
        if report.k as u64 >= report.points {
            row("note", format!("each row has only {}: there are no more", text::count(report.points - 1, "neighbour", "neighbours")));
        }
    }
    let heading = report.metric.heading();
    let unit = report.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    if let Some(scores) = &report.density {
        row("density", format!("{heading} to the {} neighbour: {}", text::ordinal(report.k as u64), scored(scores)));
    }
    if let Some(scores) = &report.lof {
        row("lof", scored(scores));
    }
    if let Some(hubs) = &report.hubness {
        row("hubness", hubness(hubs));
    }
    if let Some(found) = &report.lid {
        row("lid", lid(found));
    }
    if let Some(Named { of, result }) = &report.labels {
        row("labels", labels(of, result));
    }
    if let Some(found) = &report.duplicates {
        row("duplicates", duplicates(found, &unit));
    }
    if let Some(Named { of, result }) = &report.overlap {
        row("overlap", format!("share of neighbours in common with {of}: {}", spread(result)));
    }
    if let Some(found) = &report.components {
        row("components", components(found));
    }
    if let Some(Named { of, result }) = &report.leaks {
        row("leaks", leaks(of, result, &unit));
    }
    for path in &report.wrote {
        row("wrote", path.clone());
    }
    let all = text::table(&rows, &[]);
    match &report.labels {
        Some(Named { result, .. }) => format!("{all}{}", confusion(result)),
        None => all,
    }
}

fn spread(spread: &Spread) -> String {
    let number = text::significant;
    let Spread { mean, min, p05, median, p95, max, .. } = *spread;
    let ends = format!("min {}, 5 % {}, median {}, 95 % {}, max {}", number(min), number(p05), number(median), number(p95), number(max));
    format!("mean {}, {ends}", number(mean))
}

fn scored(scores: &Scores) -> String {
    let named: Vec<String> = scores
        .largest
        .iter()
        .take(MOST_ROWS)
        .map(|score| format!("row {} ({})", text::thousands(score.row), text::significant(score.value)))
        .collect();
    format!("{}; largest: {}", scores.spread.as_ref().map_or_else(String::new, spread), named.join(", "))
}

fn hubness(hubs: &Hubs) -> String {
    let of = &hubs.hubness;
    let skewness = of.skewness.map_or_else(|| "none, as all rows are neighbours equally often".to_owned(), text::significant);
    let most = format!("row {} is a neighbour of {}", text::thousands(hubs.largest_row), text::thousands(of.max.into()));
    let (hubs, antihubs) = (text::count(of.hubs, "hub", "hubs"), text::count(of.antihubs, "row is", "rows are"));
    format!("skewness {skewness}; {most}; {hubs} beyond mean + 2 standard deviations; {antihubs} nobody's neighbour")
}

fn lid(found: &Lid) -> String {
    let all = found.all.map_or_else(|| "no row's neighbours tell".to_owned(), |all| format!("{} of all", text::significant(all)));
    let local = found.spread.as_ref().map_or_else(String::new, |of| format!("; locally {}", spread(of)));
    let undefined = text::count(found.undefined, "row's neighbours do not tell", "rows' neighbours do not tell");
    if found.undefined > 0 && found.all.is_some() { format!("{all}{local}; {undefined}") } else { format!("{all}{local}") }
}

fn percent(share: f64) -> String {
    format!("{} %", output::rounded_down(100.0 * share, 2))
}

fn labels(column: &str, of: &Classified) -> String {
    let (Some(same), Some(accuracy)) = (of.same_label, of.accuracy) else { return format!("column {column}: no row has labelled neighbours") };
    let mut line = format!(
        "column {column}, {}: {} of neighbours have the row's own; leave-one-out accuracy {} ({} of {})",
        text::count(of.labels.len() as u64, "label", "labels"),
        percent(same),
        percent(accuracy),
        text::thousands(of.correct),
        text::thousands(of.points)
    );
    if of.unlabelled > 0 {
        line += &format!("; {} no label", text::count(of.unlabelled, "row has", "rows have"));
    }
    if of.undecided > 0 {
        line += &format!("; {} no labelled neighbour", text::count(of.undecided, "labelled row has", "labelled rows have"));
    }
    line
}

/// Labels down, what was predicted across; or, of many labels, what was most often confused.
fn confusion(of: &Classified) -> String {
    if of.labels.len() <= MOST_LABELS {
        let count = of.labels.len();
        let mut cells = vec![vec![0; count]; count];
        of.confusion.iter().for_each(|cell| cells[cell.label as usize][cell.predicted as usize] = cell.points);
        let mut rows = vec![std::iter::once("label ↓ predicted →".to_owned()).chain(of.labels.iter().cloned()).collect::<Vec<String>>()];
        for (label, cells) in of.labels.iter().zip(cells) {
            rows.push(std::iter::once(label.clone()).chain(cells.into_iter().map(text::thousands)).collect());
        }
        let right: Vec<usize> = (1..=count).collect();
        return format!("\n{}", text::table(&rows, &right));
    }
    let mut wrong: Vec<_> = of.confusion.iter().filter(|cell| cell.label != cell.predicted).collect();
    if wrong.is_empty() {
        return String::new();
    }
    wrong.sort_by_key(|cell| std::cmp::Reverse(cell.points));
    let mut rows = vec![["most confused", "taken for", "rows"].map(str::to_owned).to_vec()];
    let name = |place: u32| of.labels[place as usize].clone();
    rows.extend(wrong.iter().take(MOST_CONFUSIONS).map(|cell| vec![name(cell.label), name(cell.predicted), text::thousands(cell.points)]));
    format!("\n{}", text::table(&rows, &[2]))
}

fn duplicates(found: &Duplicates, unit: &str) -> String {
    let within = if found.eps == 0.0 { "rows at distance 0".to_owned() } else { format!("rows within {}{unit}", Exact(found.eps)) };
    if found.groups == 0 {
        return format!("no {within}");
    }
    let groups = text::count(found.groups, "group", "groups");
    let rows = text::count(found.rows, "row", "rows");
    let all = format!("{groups} of {within}, {rows} in all, {} in the largest", text::thousands(found.largest.into()));
    match found.open {
        0 => all,
        open => format!("{all}; {} larger, as the k-th neighbour is still within: raise -k", text::count(open, "group may be", "groups may be")),
    }
}

fn components(found: &Components) -> String {
    let count = text::count(found.count, "component", "components");
    let single = text::count(found.single, "row", "rows");
    format!("{count} of the mutual graph; the largest has {}; {single} alone", text::count(found.largest.into(), "row", "rows"))
}

fn leaks(other: &str, found: &LeaksFound, unit: &str) -> String {
    let (leaks, rows) = (text::thousands(found.leaks), text::count(found.rows, "row", "rows"));
    let share = if found.rows > 0 { percent(found.leaks as f64 / found.rows as f64) } else { percent(0.0) };
    format!("{leaks} of {rows} of {other} ({share}) within {}{unit} of a row here, {} at 0", Exact(found.eps), text::thousands(found.equal))
}
