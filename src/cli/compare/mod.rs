//! `warpscope compare`: two saved runs side by side, or two programs or methods that run in turn.

mod pairs;
mod program;
mod table;

use std::path::PathBuf;

use self::pairs::PairArgs;
use super::flags::JsonArgs;
use super::usage::Usage;
use super::{config, output};
use crate::run::compare::{Comparison, Gate, SavedRun, compare, percent as shown};

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "warpscope compare [OPTIONS] <A> <B>\n       warpscope compare [OPTIONS] --exe A --exe B -- run ARGUMENTS\n       warpscope compare [OPTIONS] --method A --method B -- run ARGUMENTS",
    after_help = "How differences are told from chance: docs/compare.md"
)]
pub struct CompareArgs {
    /// The first: a recording (or one of its runs: FILE.warpscope#NAME, #2), a folder that `run --out` wrote, or its timings.csv
    #[arg(required_unless_present_any = ["exe", "method"])]
    a: Option<PathBuf>,
    /// The second, whose times are divided by the first's
    #[arg(required_unless_present_any = ["exe", "method"])]
    b: Option<PathBuf>,
    #[command(flatten)]
    pairs: PairArgs,
    /// Ends with exit code 1 if the second is slower by more than this, such as 5%, beyond the interval
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_if_slower: Option<f64>,
    #[command(flatten)]
    json: JsonArgs,
}

/// `5%` as 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|percent| (0.0..=10_000.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| "it is a percentage, such as 5%".to_owned())
}

/// # Errors
/// When one of them cannot be read or run, when they have no phase in common, or when the second is slower than it may be.
pub fn run(args: &CompareArgs, from: &config::From) -> anyhow::Result<()> {
    let comparison = match (&args.a, &args.b) {
        (Some(a), Some(b)) if args.pairs.command.is_empty() => {
            let (a, b) = (SavedRun::read(a)?, SavedRun::read(b)?);
            let comparison = compare(&a, &b);
            anyhow::ensure!(!comparison.phases.is_empty(), "nothing to compare: the two have no engine and phase in common: {}", b.path.display());
            comparison
        }
        (Some(_), _) => return Err(Usage("`-- run …` goes with --exe or --method, and not with two saved runs".to_owned()).into()),
        _ => pairs::run(&args.pairs, from)?,
    };
    comparison.warnings.iter().for_each(|warning| output::note(warning));
    if args.json.json {
        output::print_json(&output::versioned(SCHEMA_VERSION, &comparison))?
    } else {
        output::print(&table::of(&comparison))?
    }
    args.fail_if_slower.map_or(Ok(()), |limit| judge(&comparison, limit))
}

fn judge(comparison: &Comparison, limit: f64) -> anyhow::Result<()> {
    match comparison.gate(limit) {
        Gate::Slower(why) => anyhow::bail!("{why}"),
        Gate::Unknown(why) => anyhow::bail!("whether the second is slower by {} % cannot be said: {why}", shown(limit)),
        Gate::Passed(open) => {
            open.iter().for_each(|open| output::note(open));
            Ok(())
        }
    }
}
