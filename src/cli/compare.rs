//! `warpscope compare`: two saved runs side by side.

use std::path::PathBuf;

use super::output;
use crate::export::text;
use crate::run::compare::{Comparison, SavedRun, Spread, compare};

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The first: a recording (or one of its runs: FILE.warpscope#NAME, #2), a folder that `run --out` wrote, or its timings.csv
    a: PathBuf,
    /// The second, whose times are divided by the first's
    b: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// # Errors
/// When one of them cannot be read, or they have no phase in common.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let (a, b) = (SavedRun::read(&args.a)?, SavedRun::read(&args.b)?);
    let comparison = compare(&a, &b);
    if comparison.phases.is_empty() {
        anyhow::bail!("nothing to compare: the two have no engine and phase in common: {}", args.b.display());
    }
    if args.json {
        return output::print_json(&output::versioned(SCHEMA_VERSION, &comparison));
    }
    output::print(&table(&comparison))
}

fn table(comparison: &Comparison) -> String {
    let mut rows =
        vec![["phase", "first", "middle half", "of", "second", "middle half", "of", "difference", "ratio", ""].map(str::to_owned).to_vec()];
    let half = |spread: &Spread| format!("{} to {}", text::time(spread.lower_quartile), text::time(spread.upper_quartile));
    for phase in &comparison.phases {
        let engines =
            if phase.engine_a == phase.engine_b { phase.engine_a.to_string() } else { format!("{} against {}", phase.engine_a, phase.engine_b) };
        rows.push(vec![
            format!("{} ({engines})", phase.phase.name()),
            text::time(phase.a.median),
            half(&phase.a),
            phase.a.repeats.to_string(),
            text::time(phase.b.median),
            half(&phase.b),
            phase.b.repeats.to_string(),
            text::difference(phase.delta_ms),
            phase.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{}×", text::significant(ratio))),
            phase.verdict().text().to_owned(),
        ]);
    }
    // A is the first, B the second.
    let mut out = comparison.sentence().map(|sentence| sentence + "\n").unwrap_or_default();
    out += &text::table(&rows, &[1, 3, 4, 6, 7, 8]);
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
