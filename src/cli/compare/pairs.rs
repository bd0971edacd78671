//! Two programs or methods in turn.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

use super::super::bar::Bar;
use super::super::usage::Usage;
use super::super::{announce, config, counts, engines, output};
use super::program::Program;
use crate::files::PartFolder;
use crate::run::compare::{Comparison, FEWEST_PAIRS, Pairs, SavedRun};
use crate::run::{EngineChoice, planner};
use crate::text;

/// What runs in turn, and how often.
#[derive(Debug, clap::Args)]
pub struct PairArgs {
    /// A warpscope to run, given twice for the two that are compared, or once, of two methods
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["a", "b"], help_heading = "In turn")]
    exe: Vec<PathBuf>,
    /// The --engine of the runs, given twice
    #[arg(long, value_name = "ENGINE", value_parser = engines::of_any_program(), hide_possible_values = true, conflicts_with_all = ["a", "b"], help_heading = "In turn")]
    method: Vec<String>,
    /// Pairs of runs: the first, the second; the second, the first; and so on
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = number, conflicts_with_all = ["a", "b"], help_heading = "In turn")]
    pairs: u32,
    /// What both do: `run` and its arguments, after `--`. One warm-up and three repeats, where they do not say otherwise
    #[arg(last = true, value_name = "run ARGUMENTS", help_heading = "In turn")]
    pub command: Vec<OsString>,
}

/// Flags of `run` that say where its results go, which is decided here.
const RESULTS: [&str; 6] = ["--out", "--json", "--record", "--neighbors", "--dry-run", "--profile"];

/// What a run makes of repeats, where the command does not say.
const SMALL: [(&str, &str); 2] = [("--warmup", "1"), ("--repeats", "3")];

/// # Errors
/// Wrong usage, or what a program fails with.
pub fn run(args: &PairArgs, from: &config::From) -> anyhow::Result<Comparison> {
    let sides = sides(args)?;
    let folder = PartFolder::private(&std::env::temp_dir()).with_context(|| format!("cannot write: {}", std::env::temp_dir().display()))?;
    let defaults = defaults(from, folder.path())?;
    let mut pairs = Pairs::default();
    let (bar, began) = (Bar::new(""), Instant::now());
    let mut stage = bar.stage();
    for pair in 0..args.pairs {
        let mut both = [None, None];
        // The first goes first in every other pair: what goes first may find the machine cooler.
        for (turn, side) in if pair % 2 == 0 { [0, 1] } else { [1, 0] }.into_iter().enumerate() {
            let done = (2 * pair + turn as u32) as f32 / (2 * args.pairs) as f32;
            stage(&format!("pair {} of {}", pair + 1, args.pairs), done);
            let out = folder.path().join(["first", "second"][side]);
            sides[side].run(&args.command, &out, defaults.as_deref())?;
            both[side] = Some(SavedRun::read(&out)?);
        }
        if let [Some(a), Some(b)] = &both {
            pairs.push(a, b)?;
        }
        if pair == 0 {
            announce(args.pairs, began.elapsed().as_secs_f64() * 1e3);
        }
    }
    let comparison = pairs.compared().context("no pairs were run")?;
    anyhow::ensure!(!comparison.phases.is_empty(), "nothing to compare: the two have no phase in common");
    Ok(comparison)
}

/// The file that the programs are to take their defaults from, where it is not the one that they take anyway: an empty one for none.
fn defaults(from: &config::From, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(match from {
        config::From::Usual => None,
        config::From::File(path) => Some(path.clone()),
        config::From::Nowhere => {
            let empty = folder.join("config.toml");
            std::fs::write(&empty, "").with_context(|| format!("cannot write: {}", empty.display()))?;
            Some(empty)
        }
    })
}

/// The fewest pairs that can be compared.
pub const FEW: u32 = FEWEST_PAIRS as u32;

/// Takes the value of `--pairs`.
///
/// # Errors
/// A sentence, where it is no number of pairs that can be compared.
pub fn number(text: &str) -> Result<u32, String> {
    counts::whole::<u32>(text)
        .ok()
        .filter(|pairs| (FEW..=counts::MOST_REPEATS as u32).contains(pairs))
        .ok_or_else(|| format!("must be between {FEW} and {}: fewer pairs give no 95 % confidence interval", counts::MOST_REPEATS))
}

/// Says how long the rest takes, by the first pair.
fn announce(pairs: u32, ms: f64) {
    let left = ms * f64::from(pairs - 1);
    if left > announce::LONG_MS {
        let more = text::count(u64::from(pairs) - 1, "more pair", "more pairs");
        let shorter = if pairs > FEW { format!("; --pairs {} shortens it", (pairs / 2).max(FEW)) } else { String::new() };
        output::note(&format!("the first pair took {}; {more}, about {}{shorter}", planner::about(ms), planner::about(left)));
    }
}

/// What stands on one side: a program, and the engine that is put into its command.
struct Side {
    program: Program,
    method: Option<String>,
}

impl Side {
    fn run(&self, command: &[OsString], out: &Path, defaults: Option<&Path>) -> anyhow::Result<()> {
        // An earlier run is not to be taken for this one.
        if out.exists() {
            std::fs::remove_dir_all(out).with_context(|| format!("cannot write: {}", out.display()))?;
        }
        let mut arguments: Vec<OsString> = command.iter().take(1).cloned().collect();
        arguments.extend(["--out".into(), out.into()]);
        for (flag, value) in SMALL.iter().filter(|(flag, _)| !has(command, flag)) {
            arguments.extend([flag.into(), value.into()]);
        }
        if let Some(method) = &self.method {
            arguments.extend(["--engine".into(), method.into()]);
        }
        arguments.extend(command.iter().skip(1).cloned());
        self.program.run(&arguments, defaults)
    }
}

/// Both sides, where the flags name two.
fn sides(args: &PairArgs) -> anyhow::Result<[Side; 2]> {
    let usage = |why: String| Err(Usage(why).into());
    if args.command.first().is_none_or(|first| first != "run") {
        return usage("what both are to run is missing: it stands behind `--`, such as `-- run --input FILE`".to_owned());
    }
    if let Some(flag) = RESULTS.iter().find(|flag| has(&args.command, flag)) {
        return usage(format!("`{flag}` of the runs is not taken: their times are read from a temporary folder"));
    }
    if !args.method.is_empty() && has(&args.command, "--engine") {
        return usage("--method sets the engine: leave out --engine".to_owned());
    }
    if args.exe.len() > 2 || ![0, 2].contains(&args.method.len()) || (args.exe.len() < 2 && args.method.is_empty()) {
        let (programs, methods) = (args.exe.len(), args.method.len());
        return usage(format!("give --exe twice or --method twice; got {programs} and {methods}"));
    }
    let own = || std::env::current_exe().context("this program does not find itself: name it by --exe");
    let programs: Vec<PathBuf> = if args.exe.is_empty() { vec![own()?] } else { args.exe.clone() };
    if args.exe.is_empty() {
        for method in &args.method {
            method.parse::<EngineChoice>().map_err(Usage)?;
        }
    }
    let side = |at: usize, name| Side {
        program: Program { path: programs[at.min(programs.len() - 1)].clone(), name },
        method: args.method.get(at).cloned(),
    };
    Ok([side(0, "the first"), side(1, "the second")])
}

/// Whether a flag is among the arguments, with its value behind it or after `=`.
fn has(command: &[OsString], flag: &str) -> bool {
    command.iter().any(|argument| {
        let argument = argument.to_string_lossy();
        argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}
