//! `warpscope compare`: two saved runs side by side, or two programs or methods that run in turn.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

use super::bar::Bar;
use super::flags::JsonArgs;
use super::usage::Usage;
use super::{announce, config, output, stop, values};
use crate::files::PartFolder;
use crate::run::compare::{
    Comparison, Difference, FEWEST_PAIRS, Gate, Pairs, RULE, SavedRun, Spread, compare, percent as shown,
};
use crate::run::{EngineChoice, planner};
use crate::text;

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "warpscope compare [OPTIONS] <A> <B>\n       warpscope compare [OPTIONS] --exe A --exe \
                      B -- run ARGUMENTS\n       warpscope compare [OPTIONS] --method A --method B -- run \
                      ARGUMENTS",
    after_help = "How differences are told from chance: docs/compare.md"
)]
pub struct CompareArgs {
    /// The first: a recording (or one of its runs: FILE.warpscope#NAME, #2), a folder that `run --out` wrote,
    /// or its timings.csv
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
/// When one of them cannot be read or run, when they have no phase in common, or when the second is slower
/// than it may be.
pub fn run(args: &CompareArgs, from: &config::From) -> anyhow::Result<()> {
    let comparison = match (&args.a, &args.b) {
        (Some(a), Some(b)) if args.pairs.command.is_empty() => {
            let (a, b) = (SavedRun::read(a)?, SavedRun::read(b)?);
            let comparison = compare(&a, &b);
            anyhow::ensure!(
                !comparison.phases.is_empty(),
                "nothing to compare: the two have no engine and phase in common: {}",
                b.path.display()
            );
            comparison
        }
        (Some(_), _) => {
            return Err(Usage(
                "`-- run …` goes with --exe or --method, and not with two saved runs".to_owned(),
            )
            .into());
        }
        _ => in_turn(&args.pairs, from)?,
    };
    comparison.warnings.iter().for_each(|warning| output::note(warning));
    if args.json.json {
        output::print_json(&output::versioned(SCHEMA_VERSION, &comparison))?
    } else {
        output::print(&table(&comparison))?
    }
    args.fail_if_slower.map_or(Ok(()), |limit| judge(&comparison, limit))
}

fn judge(comparison: &Comparison, limit: f64) -> anyhow::Result<()> {
    match comparison.gate(limit) {
        Gate::Slower(why) => anyhow::bail!("{why}"),
        Gate::Unknown(why) => {
            anyhow::bail!("whether the second is slower by {} % cannot be said: {why}", shown(limit))
        }
        Gate::Passed(open) => {
            open.iter().for_each(|open| output::note(open));
            Ok(())
        }
    }
}

/// What runs in turn, and how often.
#[derive(Debug, clap::Args)]
pub struct PairArgs {
    /// A warpscope to run, given twice for the two that are compared, or once, of two methods
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["a", "b"], help_heading = "In turn")]
    exe: Vec<PathBuf>,
    /// The --engine of the runs, given twice
    #[arg(
        long,
        value_name = "ENGINE",
        value_parser = values::engine_of_any_program(),
        hide_possible_values = true,
        conflicts_with_all = ["a", "b"],
        help_heading = "In turn"
    )]
    method: Vec<String>,
    /// Pairs of runs: the first, the second; the second, the first; and so on
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = number,
        conflicts_with_all = ["a", "b"],
        help_heading = "In turn"
    )]
    pairs: u32,
    /// What both do: `run` and its arguments, after `--`. One warm-up and three repeats, where they do not
    /// say otherwise
    #[arg(last = true, value_name = "run ARGUMENTS", help_heading = "In turn")]
    pub command: Vec<OsString>,
}

/// Flags of `run` that say where its results go, which is decided here.
const RESULTS: [&str; 6] = ["--out", "--json", "--record", "--neighbors", "--dry-run", "--profile"];

/// What a run makes of repeats, where the command does not say.
const SMALL: [(&str, &str); 2] = [("--warmup", "1"), ("--repeats", "3")];

/// # Errors
/// Wrong usage, or what a program fails with.
fn in_turn(args: &PairArgs, from: &config::From) -> anyhow::Result<Comparison> {
    let sides = sides(args)?;
    let folder = PartFolder::private(&std::env::temp_dir())
        .with_context(|| format!("cannot write: {}", std::env::temp_dir().display()))?;
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

/// The file that the programs are to take their defaults from, where it is not the one that they take anyway:
/// an empty one for none.
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
    values::whole::<u32>(text)
        .ok()
        .filter(|pairs| (FEW..=values::MOST_REPEATS as u32).contains(pairs))
        .ok_or_else(|| {
            format!(
                "must be between {FEW} and {}: fewer pairs give no 95 % confidence interval",
                values::MOST_REPEATS
            )
        })
}

/// Says how long the rest takes, by the first pair.
fn announce(pairs: u32, ms: f64) {
    let left = ms * f64::from(pairs - 1);
    if left > announce::LONG_MS {
        let more = text::count(u64::from(pairs) - 1, "more pair", "more pairs");
        let shorter = if pairs > FEW {
            format!("; --pairs {} shortens it", (pairs / 2).max(FEW))
        } else {
            String::new()
        };
        output::note(&format!(
            "the first pair took {}; {more}, about {}{shorter}",
            planner::about(ms),
            planner::about(left)
        ));
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
        return usage(
            "what both are to run is missing: it stands behind `--`, such as `-- run --input FILE`"
                .to_owned(),
        );
    }
    if let Some(flag) = RESULTS.iter().find(|flag| has(&args.command, flag)) {
        return usage(format!(
            "`{flag}` of the runs is not taken: their times are read from a temporary folder"
        ));
    }
    if !args.method.is_empty() && has(&args.command, "--engine") {
        return usage("--method sets the engine: leave out --engine".to_owned());
    }
    if args.exe.len() > 2
        || ![0, 2].contains(&args.method.len())
        || (args.exe.len() < 2 && args.method.is_empty())
    {
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

/// A program, and what it is called in errors.
pub struct Program {
    pub path: PathBuf,
    pub name: &'static str,
}

/// How often it is asked whether it has ended. It is no part of what is measured.
const POLL: Duration = Duration::from_millis(5);

/// How long a signal that ended the program may take to be heard here.
const ECHO: Duration = Duration::from_millis(200);

/// The exit code of wrong usage.
const WRONG_USAGE: i32 = 2;

impl Program {
    /// Runs it without its output, and with a file of defaults unless it is to find its own. A variable names
    /// the file: programs that do not know of such files go by it.
    ///
    /// # Errors
    /// The last line of its stderr, where it fails.
    pub fn run(&self, arguments: &[OsString], defaults: Option<&Path>) -> anyhow::Result<()> {
        let mut command = Command::new(&self.path);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.envs(defaults.map(|file| (config::VARIABLE, file)));
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        let stderr = child.stderr.take();
        let reader = std::thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || stderr.map_or_else(String::new, last_line));
        let ended = wait(&mut child);
        let last =
            reader.ok().filter(|_| ended.is_ok()).and_then(|reader| reader.join().ok()).unwrap_or_default();
        let status = ended?;
        if status.success() {
            return Ok(());
        }
        if status.code() != Some(WRONG_USAGE) {
            std::thread::sleep(ECHO);
        }
        if stop::asked().is_some() {
            bail!("stopped");
        }
        let why = last.trim().trim_start_matches("error: ");
        let how = status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
        let why = if why.is_empty() { "it did not say why" } else { why };
        let sentence = format!("{} program failed ({how}): {why}: {}", self.name, self.path.display());
        Err(if status.code() == Some(WRONG_USAGE) { Usage(sentence).into() } else { anyhow!(sentence) })
    }
}

/// Until it has ended; ends it when this program is asked to stop.
fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop::asked().is_some() {
            // What it leaves lies in our temporary folder.
            let _ = child.kill();
            let _ = child.wait();
            bail!("stopped");
        }
        std::thread::sleep(POLL);
    }
}

fn last_line(stderr: ChildStderr) -> String {
    let mut last = String::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            last = line.into_owned();
        }
    }
    last
}

/// A comparison as text.
fn table(comparison: &Comparison) -> String {
    let counted = if comparison.pairs.is_some() { "pairs" } else { "of" };
    let mut rows = vec![
        [
            "phase",
            "first",
            "middle half",
            counted,
            "second",
            "middle half",
            counted,
            "difference",
            "ratio",
            "95 %",
            "",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for phase in &comparison.phases {
        let engines = if phase.engine_a == phase.engine_b {
            phase.engine_a.to_string()
        } else {
            format!("{} against {}", phase.engine_a, phase.engine_b)
        };
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
        out +=
            "Whether they are the same job is not known: a timings.csv alone does not say what was asked.\n";
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
    let half = |spread: &Spread| {
        format!("{} to {}", text::time(spread.lower_quartile), text::time(spread.upper_quartile))
    };
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
