//! `warpscope compare`: two saved runs, or two programs or methods run alternately.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

use super::bar::Bar;
use super::flags::JsonArgs;
use super::usage::UsageError;
use super::{announce, config, output, stop, values};
use crate::files::StagingDir;
use crate::run::compare::{
    Comparison, Difference, DurationStats, GateResult, MIN_PAIRS, OUTLIER_RULE, PairedTimes, SavedRun,
    compare, percent as shown,
};
use crate::run::{EngineChoice, planner};
use crate::text;

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "warpscope compare [OPTIONS] <A> <B>\n       warpscope compare [OPTIONS] --exe A --exe \
                      B -- run ARGUMENTS\n       warpscope compare [OPTIONS] --method A --method B -- run \
                      ARGUMENTS",
    after_help = "The statistics are explained in docs/compare.md"
)]
pub struct CompareArgs {
    /// First run
    ///
    /// A recording (or one of its runs: FILE.warpscope#NAME, #2), a folder that `run --out` wrote, or its
    /// timings.csv.
    #[arg(required_unless_present_any = ["exe", "method"])]
    a: Option<PathBuf>,
    /// Second run; its times are divided by the first's
    #[arg(required_unless_present_any = ["exe", "method"])]
    b: Option<PathBuf>,
    #[command(flatten)]
    pairs: PairArgs,
    /// Fail if the second is slower by more than this: 5%
    ///
    /// Exits with code 1. The whole confidence interval must be above the limit.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_if_slower: Option<f64>,
    #[command(flatten)]
    json: JsonArgs,
}

/// `5%` as 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|percent| (0.0..=10_000.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| "expected a percentage, such as 5%".to_owned())
}

/// # Errors
/// When one cannot be read or run, when they have no phase in common, or when the second is slower than
/// allowed.
pub fn run(args: &CompareArgs, from: &config::ConfigSource) -> anyhow::Result<()> {
    let comparison = match (&args.a, &args.b) {
        (Some(a), Some(b)) if args.pairs.command.is_empty() => {
            let (a, b) = (SavedRun::read(a)?, SavedRun::read(b)?);
            let comparison = compare(&a, &b);
            anyhow::ensure!(
                !comparison.phases.is_empty(),
                "nothing to compare: the two runs have no engine and phase in common: {}",
                b.path.display()
            );
            comparison
        }
        (Some(_), _) => {
            return Err(UsageError(
                "`-- run …` needs --exe or --method; it cannot be used with two saved runs".to_owned(),
            )
            .into());
        }
        _ => run_alternately(&args.pairs, from)?,
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
        GateResult::Slower(why) => anyhow::bail!("{why}"),
        GateResult::Unknown(why) => {
            anyhow::bail!("cannot decide whether the second run is slower by {} %: {why}", shown(limit))
        }
        GateResult::Passed(open) => {
            open.iter().for_each(|open| output::note(open));
            Ok(())
        }
    }
}

/// The programs or methods that run alternately, and how often.
#[derive(Debug, clap::Args)]
pub struct PairArgs {
    /// Warpscope executable to time; give two
    ///
    /// One is enough with two --method.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["a", "b"], help_heading = "In turn")]
    exe: Vec<PathBuf>,
    /// Engine to compare, spelled as for --engine; give two
    #[arg(
        long,
        value_name = "ENGINE",
        value_parser = values::engine_of_any_program(),
        hide_possible_values = true,
        conflicts_with_all = ["a", "b"],
        help_heading = "In turn"
    )]
    method: Vec<String>,
    /// Pairs of runs, in alternating order
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = number,
        conflicts_with_all = ["a", "b"],
        help_heading = "In turn"
    )]
    pairs: u32,
    /// Command that both run, after `--`: run and its arguments
    ///
    /// Unless it sets them, one warm-up and three repeats.
    #[arg(last = true, value_name = "run ARGUMENTS", help_heading = "In turn")]
    pub command: Vec<OsString>,
}

/// Flags of `run` that are set here or make no sense here.
const RESERVED_FLAGS: [&str; 6] = ["--out", "--json", "--record", "--neighbors", "--dry-run", "--profile"];

/// Defaults for a run of a pair.
const PAIR_DEFAULTS: [(&str, &str); 2] = [("--warmup", "1"), ("--repeats", "3")];

/// # Errors
/// Usage errors, and failures of a program.
fn run_alternately(args: &PairArgs, from: &config::ConfigSource) -> anyhow::Result<Comparison> {
    let sides = sides(args)?;
    let folder = StagingDir::private(&std::env::temp_dir())
        .with_context(|| format!("cannot write: {}", std::env::temp_dir().display()))?;
    let defaults = defaults(from, folder.path())?;
    let mut pairs = PairedTimes::default();
    let (bar, began) = (Bar::new(""), Instant::now());
    let mut stage = bar.stage();
    for pair in 0..args.pairs {
        let mut both = [None, None];
        // The order alternates, as the first of a pair may find the machine cooler.
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
    let comparison = pairs.comparison().context("no pairs were run")?;
    anyhow::ensure!(
        !comparison.phases.is_empty(),
        "nothing to compare: the two runs have no phase in common"
    );
    Ok(comparison)
}

/// The file of defaults to pass to the programs, unless they find it themselves; an empty one for
/// `--no-config`.
fn defaults(from: &config::ConfigSource, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(match from {
        config::ConfigSource::Default => None,
        config::ConfigSource::File(path) => Some(path.clone()),
        config::ConfigSource::Ignored => {
            let empty = folder.join("config.toml");
            std::fs::write(&empty, "").with_context(|| format!("cannot write: {}", empty.display()))?;
            Some(empty)
        }
    })
}

/// The fewest pairs that can be compared.
pub const MIN_PAIR_COUNT: u32 = MIN_PAIRS as u32;

/// Parses `--pairs`.
///
/// # Errors
/// A sentence, if the number of pairs cannot be compared.
pub fn number(text: &str) -> Result<u32, String> {
    values::whole::<u32>(text)
        .ok()
        .filter(|pairs| (MIN_PAIR_COUNT..=values::MAX_REPEATS as u32).contains(pairs))
        .ok_or_else(|| {
            format!(
                "must be between {MIN_PAIR_COUNT} and {}: fewer pairs give no 95 % confidence interval",
                values::MAX_REPEATS
            )
        })
}

/// Estimates the remaining time from the first pair.
fn announce(pairs: u32, ms: f64) {
    let left = ms * f64::from(pairs - 1);
    if left > announce::LONG_MS {
        let more = text::count(u64::from(pairs) - 1, "more pair", "more pairs");
        let shorter = if pairs > MIN_PAIR_COUNT {
            format!("; reduce it with --pairs {}", (pairs / 2).max(MIN_PAIR_COUNT))
        } else {
            String::new()
        };
        output::note(&format!(
            "the first pair took {}; {more} will take about {}{shorter}",
            planner::about(ms),
            planner::about(left)
        ));
    }
}

/// One side of a comparison: a program, and the engine added to its command.
struct Contender {
    program: Program,
    method: Option<String>,
}

impl Contender {
    fn run(&self, command: &[OsString], out: &Path, defaults: Option<&Path>) -> anyhow::Result<()> {
        // A folder left by an earlier run must not be mistaken for this one's.
        if out.exists() {
            std::fs::remove_dir_all(out).with_context(|| format!("cannot write: {}", out.display()))?;
        }
        let mut arguments: Vec<OsString> = command.iter().take(1).cloned().collect();
        arguments.extend(["--out".into(), out.into()]);
        for (flag, value) in PAIR_DEFAULTS.iter().filter(|(flag, _)| !has_flag(command, flag)) {
            arguments.extend([flag.into(), value.into()]);
        }
        if let Some(method) = &self.method {
            arguments.extend(["--engine".into(), method.into()]);
        }
        arguments.extend(command.iter().skip(1).cloned());
        self.program.run(&arguments, defaults)
    }
}

/// Both sides, as the flags give them.
fn sides(args: &PairArgs) -> anyhow::Result<[Contender; 2]> {
    let usage = |why: String| Err(UsageError(why).into());
    if args.command.first().is_none_or(|first| first != "run") {
        return usage(
            "the command to run is missing; add it after `--`, such as `-- run --input FILE`".to_owned(),
        );
    }
    if let Some(flag) = RESERVED_FLAGS.iter().find(|flag| has_flag(&args.command, flag)) {
        return usage(format!("`{flag}` cannot be used in the runs; their results go to a temporary folder"));
    }
    if !args.method.is_empty() && has_flag(&args.command, "--engine") {
        return usage("--method sets the engine; drop --engine".to_owned());
    }
    if args.exe.len() > 2
        || ![0, 2].contains(&args.method.len())
        || (args.exe.len() < 2 && args.method.is_empty())
    {
        let (programs, methods) = (args.exe.len(), args.method.len());
        return usage(format!("give --exe twice or --method twice; got {programs} and {methods}"));
    }
    let own = || std::env::current_exe().context("cannot find this program's own path; pass --exe");
    let programs: Vec<PathBuf> = if args.exe.is_empty() { vec![own()?] } else { args.exe.clone() };
    if args.exe.is_empty() {
        for method in &args.method {
            method.parse::<EngineChoice>().map_err(UsageError)?;
        }
    }
    let side = |at: usize, name| Contender {
        program: Program { path: programs[at.min(programs.len() - 1)].clone(), name },
        method: args.method.get(at).cloned(),
    };
    Ok([side(0, "the first"), side(1, "the second")])
}

/// Whether a flag is among the arguments, with its value after it or after `=`.
fn has_flag(command: &[OsString], flag: &str) -> bool {
    command.iter().any(|argument| {
        let argument = argument.to_string_lossy();
        argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// A program, and its name in errors.
pub struct Program {
    pub path: PathBuf,
    pub name: &'static str,
}

/// Poll interval for the program's end; it does not affect the measurements.
const POLL: Duration = Duration::from_millis(5);

/// Time for a signal that ended the program to arrive here too.
const ECHO: Duration = Duration::from_millis(200);

/// The exit code of a usage error.
const USAGE_EXIT_CODE: i32 = 2;

impl Program {
    /// Runs the program, discarding its output. `defaults` is passed in the environment variable, which
    /// programs without `--config` ignore.
    ///
    /// # Errors
    /// The last line of its stderr, if it fails.
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
        if status.code() != Some(USAGE_EXIT_CODE) {
            std::thread::sleep(ECHO);
        }
        if stop::requested().is_some() {
            bail!("stopped");
        }
        let why = last.trim().trim_start_matches("error: ");
        let how = status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
        let why = if why.is_empty() { "no message" } else { why };
        let sentence = format!("{} program failed ({how}): {why}: {}", self.name, self.path.display());
        Err(if status.code() == Some(USAGE_EXIT_CODE) {
            UsageError(sentence).into()
        } else {
            anyhow!(sentence)
        })
    }
}

/// Waits until the program ends; kills it if this program is asked to stop.
fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop::requested().is_some() {
            // Its output files are in our temporary folder, so nothing remains.
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

/// Formats a comparison as text.
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
    let mut out = comparison.sentence().map(|sentence| sentence + "\n").unwrap_or_default();
    out += &text::table(&rows, &[1, 3, 4, 6, 7, 8]);
    // The sentence already quotes the rule if it excluded a search.
    if comparison.phases.iter().any(|phase| phase.a.excluded + phase.b.excluded > 0)
        && !out.contains(OUTLIER_RULE)
    {
        out += &format!("Excluded repeats: {OUTLIER_RULE}.\n");
    }
    if comparison.total.is_some() {
        out += "Total: upload, index, one search, download.\n";
    }
    if comparison.parameters.is_empty() {
        out += "A timings.csv does not record the job, so the two may be different jobs.\n";
    }
    match (&comparison.answers, &comparison.no_answers) {
        (Some(answers), _) => out += &format!("{}\n", answers.sentence()),
        (None, Some(why)) => out += &format!("Neighbours not compared: {why}.\n"),
        (None, None) => {}
    }
    if !comparison.differences.is_empty() {
        out += "the runs differ in:\n";
        out.extend(comparison.differences.iter().map(|difference| format!("  {difference}\n")));
    }
    out
}

fn row(name: String, difference: &Difference) -> Vec<String> {
    let half = |spread: &DurationStats| {
        format!("{} to {}", text::time(spread.lower_quartile), text::time(spread.upper_quartile))
    };
    vec![
        name,
        text::time(difference.a.median),
        half(&difference.a),
        difference.a.counted(),
        text::time(difference.b.median),
        half(&difference.b),
        difference.b.counted(),
        text::difference(difference.delta_ms),
        difference.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{}×", text::significant(ratio))),
        difference.interval.map_or_else(String::new, |interval| interval.text()),
        difference.text(),
    ]
}
