//! A report on a few aligned lines.

use super::report::{Named, Report};
use super::wanted::Wanted;
use crate::export::text;
use crate::run::graph::labels::Classified;
use crate::run::graph::summary;

/// Labels up to which the confusion is shown as a table; of more, the most frequent confusions are listed.
const MOST_LABELS: usize = 16;
/// Confusions that are listed.
const MOST_CONFUSIONS: usize = 10;

pub fn text(report: &Report, wanted: &Wanted) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    let points = text::count(report.points, "point", "points");
    row("cloud", format!("{}, {points} in {}", report.cloud, text::count(report.dimensions as u64, "dimension", "dimensions")));
    if report.dropped > 0 {
        row("dropped", text::count(report.dropped, "row", "rows"));
    }
    if wanted.needs_graph() {
        let k = text::thousands(report.k as u64);
        row("neighbours", format!("k = {k}, {}, without the row itself, by {} on {}", report.metric, report.engine, report.device));
        if report.k as u64 >= report.points {
            row("note", format!("each row has only {}: there are no more", text::count(report.points - 1, "neighbour", "neighbours")));
        }
    }
    let heading = report.metric.heading();
    let unit = report.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    if let Some(scores) = &report.density {
        row("density", format!("{heading} to the {} neighbour: {}", text::ordinal(report.k as u64), scores.sentence()));
    }
    if let Some(scores) = &report.lof {
        row("lof", scores.sentence());
    }
    if let Some(hubs) = &report.hubness {
        row("hubness", hubs.sentence());
    }
    if let Some(found) = &report.lid {
        row("lid", found.sentence());
    }
    if let Some(Named { of, result }) = &report.labels {
        row("labels", summary::labels(of, result));
    }
    if let Some(found) = &report.duplicates {
        row("duplicates", found.sentence(&unit));
    }
    if let Some(Named { of, result }) = &report.overlap {
        row("overlap", summary::overlap(of, result));
    }
    if let Some(found) = &report.components {
        row("components", found.sentence());
    }
    if let Some(Named { of, result }) = &report.leaks {
        row("leaks", summary::leaks(of, result, &unit));
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
