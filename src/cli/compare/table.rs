//! A comparison as text.

use crate::export::text;
use crate::run::compare::{Comparison, Difference, RULE, Spread};

pub fn of(comparison: &Comparison) -> String {
    let counted = if comparison.pairs.is_some() { "pairs" } else { "of" };
    let mut rows = vec![
        ["phase", "first", "middle half", counted, "second", "middle half", counted, "difference", "ratio", "95 %", ""].map(str::to_owned).to_vec(),
    ];
    for phase in &comparison.phases {
        let engines =
            if phase.engine_a == phase.engine_b { phase.engine_a.to_string() } else { format!("{} against {}", phase.engine_a, phase.engine_b) };
        rows.push(row(format!("{} ({engines})", phase.phase.name()), phase));
    }
    rows.extend(comparison.total.iter().map(|total| row("total".to_owned(), total)));
    // A is the first, B the second.
    let mut out = comparison.sentence().map(|sentence| sentence + "\n").unwrap_or_default();
    out += &text::table(&rows, &[1, 3, 4, 6, 7, 8]);
    // The sentence names the rule where it excludes a search.
    if comparison.phases.iter().any(|phase| phase.a.excluded + phase.b.excluded > 0) && !out.contains(RULE) {
        out += &format!("Excluded repeats: {RULE}.\n");
    }
    if comparison.total.is_some() {
        out += "Total: upload, index, one search, download.\n";
    }
    if comparison.parameters.is_empty() {
        out += "Whether they are the same job is not known: a timings.csv alone does not say what was asked.\n";
    }
    match (&comparison.answers, &comparison.no_answers) {
        (Some(answers), _) => out += &format!("{}\n", answers.sentence()),
        (None, Some(why)) => out += &format!("Neighbours are not compared: {why}.\n"),
        (None, None) => {}
    }
    if !comparison.differences.is_empty() {
        out += "the runs differ in\n";
        out.extend(comparison.differences.iter().map(|difference| format!("  {difference}\n")));
    }
    out
}

fn row(name: String, of: &Difference) -> Vec<String> {
    let half = |spread: &Spread| format!("{} to {}", text::time(spread.lower_quartile), text::time(spread.upper_quartile));
    vec![
        name,
        text::time(of.a.median),
        half(&of.a),
        of.a.counted(),
        text::time(of.b.median),
        half(&of.b),
        of.b.counted(),
        text::difference(of.delta_ms),
        of.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{}×", text::significant(ratio))),
        of.interval.map_or_else(String::new, |of| of.text()),
        of.text(),
    ]
}
