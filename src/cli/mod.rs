//! The command line, one file per subcommand.
//!
//! stdout is for results only; notes, errors (one line each) and progress go to stderr, and progress only to
//! a terminal. Exit codes: 0 done, 1 the job failed, 2 wrong usage, which `usage` tells apart, 130 and 143
//! stopped by Ctrl-C and by SIGTERM. Defaults of flags may come from a file (`config`).

mod analyse;
mod announce;
mod answer;
mod answers;
mod bar;
mod columns;
mod compare;
mod config;
mod devices;
mod flags;
mod generate;
mod info;
mod job;
mod knn;
mod lesson;
mod output;
mod paths;
mod pictures;
mod queries;
mod recall;
mod run;
mod stop;
mod sweep;
mod tune;
mod usage;
mod values;
mod verify;
mod window;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::run::RunError;
use crate::{export, memory, text, version};

/// A visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
///
/// Without a subcommand, the window opens, on FILE if one is named.
#[derive(Debug, Parser)]
#[command(
    name = "warpscope",
    version,
    long_version = long_version(),
    override_usage = USAGE,
    max_term_width = 110
)]
struct Cli {
    /// A cloud or a recording to open in the window
    file: Option<PathBuf>,
    /// Prints results and errors only: no notes, no progress
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// clap would have one file and one command together.
const USAGE: &str = "warpscope [OPTIONS] [FILE]\n       warpscope [OPTIONS] <COMMAND>";

/// With the commit; `-V` gives the version alone.
fn long_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(version::version);
    &VERSION
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Opens the window
    Gui(window::WindowArgs),
    /// Searches a cloud and says what it found and how long that took
    Run(Box<run::RunArgs>),
    /// Answers once, by the engine that is predicted to be fastest: the nearest neighbours, or all within a
    /// radius
    Knn(Box<knn::KnnArgs>),
    /// Compares engines with a float64 oracle and with one another
    Verify(Box<verify::VerifyArgs>),
    /// Works out what the neighbours of all rows say of a cloud: density, outliers, hubs, labels, duplicates,
    /// graphs, …
    Analyse(Box<analyse::AnalyseArgs>),
    /// Says how many true neighbours the answers of an approximate index hold
    Recall(Box<recall::RecallArgs>),
    /// Runs every combination of lists of n, q, k, d and engines, one CSV row per run
    Sweep(Box<sweep::SweepArgs>),
    /// Compares the timings of two saved runs
    Compare(compare::CompareArgs),
    /// Records a lesson: how a warp finds its neighbours, step by step
    Lesson(Box<lesson::LessonArgs>),
    /// Finds how the kernel is cut to size best on this GPU
    Tune(tune::TuneArgs),
    /// Writes a generated cloud to a file
    Generate(generate::GenerateArgs),
    /// Says what a file is, and what cloud it makes
    Info(info::InfoArgs),
    /// Lists the engines, what they run on, and why one cannot
    Devices(devices::DevicesArgs),
    /// Prints the script by which a shell completes commands and flags
    Completions(CompletionsArgs),
    /// Prints the manual page, or writes those of all commands into a folder
    Man(ManArgs),
}

/// The exit code of [`usage::is_usage`], and of clap.
const WRONG_USAGE: u8 = 2;

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let (cli, from, defaults) = match parsed() {
        Ok((Cli { file: Some(file), command: Some(_), .. }, ..)) => {
            output::error(&format!(
                "a file before the command: name it behind the command, as its --help says: {}",
                file.display()
            ));
            return WRONG_USAGE.into();
        }
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    output::set_quiet(cli.quiet);
    // The window keeps the usual words of a panic: it goes on after those of its threads.
    if !opens_window(&cli) && std::env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|_| ()));
    }
    memory::share_arenas();
    // Otherwise whoever needs them first panics.
    if let Err(why) = rayon::ThreadPoolBuilder::new().num_threads(threads(&cli).unwrap_or(0)).build_global() {
        output::error(&format!(
            "cannot start threads: {why}; is the limit of processes (ulimit -u) reached?"
        ));
        return ExitCode::FAILURE;
    }
    let window = opens_window(&cli);
    if !window {
        stop::watch();
    }
    match contained(|| dispatch(cli, &from)) {
        // A window that was closed by a signal.
        Ok(()) if window => stop::asked().map_or(ExitCode::SUCCESS, |signal| signal.exit_code().into()),
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(error) if error.is::<output::Closed>() => ExitCode::SUCCESS,
        // Whatever the work says of being stopped.
        Err(_) if let Some(signal) = stop::asked() => {
            output::error(&signal.sentence());
            signal.exit_code().into()
        }
        Err(error) => failed(&error, &defaults),
    }
}

/// The threads that were asked for; as many as the processor has where none were.
fn threads(cli: &Cli) -> Option<usize> {
    match cli.command.as_ref()? {
        Command::Run(args) => args.threads,
        Command::Knn(args) => args.threads,
        Command::Verify(args) => args.threads,
        Command::Analyse(args) => args.threads,
        Command::Recall(args) => args.threads,
        Command::Sweep(args) => args.threads,
        _ => return None,
    }
    .threads
}

/// The whole command line, for parsing, completions and manual pages.
fn command() -> clap::Command {
    Cli::command().args(config::flags())
}

/// What was typed, with the defaults of the user's file; the exit code where that has been answered or
/// refused already.
fn parsed() -> Result<(Cli, config::From, config::Defaults), ExitCode> {
    let (arguments, from) = config::take(std::env::args_os())
        .map_err(|error| failed(&error.into(), &config::Defaults::default()))?;
    let with_defaults = config::with_defaults(command(), &from, &arguments);
    let (mut command, defaults) =
        with_defaults.map_err(|error| failed(&error, &config::Defaults::default()))?;
    let matches = command.try_get_matches_from_mut(&arguments);
    let cli = matches
        .and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    let cli = cli.map_err(|error| refused(&error, &arguments))?;
    Ok((cli, from, defaults))
}

/// The first argument that is no flag: a command, or a file. Flags of defaults have been taken out, and the
/// others before it take no value.
fn first_word(arguments: &[OsString]) -> Option<&OsStr> {
    let arguments = arguments.iter().skip(1).map(OsString::as_os_str);
    arguments
        .take_while(|argument| *argument != "--")
        .find(|argument| !argument.as_encoded_bytes().starts_with(b"-"))
}

/// Says why the job failed, and with which code the program ends.
fn failed(error: &anyhow::Error, defaults: &config::Defaults) -> ExitCode {
    let (mut what, is_usage) = (format!("{error:#}"), usage::is_usage(error));
    what.extend(defaults.tip(&what).filter(|_| is_usage));
    output::error(&what);
    if is_usage { WRONG_USAGE.into() } else { ExitCode::FAILURE }
}

/// Whether it is the window that goes on until it is closed, and not a picture of it.
fn opens_window(cli: &Cli) -> bool {
    match &cli.command {
        None => true,
        Some(Command::Gui(args)) => args.opens_window(),
        Some(_) => false,
    }
}

/// Whether a command line, with the program's name first, is one; nothing is done. For fuzzing.
#[doc(hidden)]
pub fn parses<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> bool {
    Cli::try_parse_from(arguments).is_ok()
}

/// As [`parses`], with the defaults of a file. The error is why these are refused.
#[doc(hidden)]
pub fn parses_with_defaults(
    file: std::path::PathBuf,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<bool, String> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let (command, _) = config::with_defaults(command(), &config::From::File(file), &arguments)
        .map_err(|why| format!("{why:#}"))?;
    Ok(command.try_get_matches_from(arguments).is_ok())
}

fn dispatch(cli: Cli, from: &config::From) -> anyhow::Result<()> {
    match &cli.command {
        None => window::open(cli.file, None),
        Some(Command::Gui(args)) => window::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Knn(args)) => knn::run(args),
        Some(Command::Verify(args)) => verify::run(args),
        Some(Command::Analyse(args)) => analyse::run(args),
        Some(Command::Recall(args)) => recall::run(args),
        Some(Command::Sweep(args)) => sweep::run(args),
        Some(Command::Compare(args)) => compare::run(args, from),
        Some(Command::Lesson(args)) => lesson::run(args),
        Some(Command::Tune(args)) => tune::run(args),
        Some(Command::Generate(args)) => generate::run(args),
        Some(Command::Info(args)) => info::run(args),
        Some(Command::Devices(args)) => devices::run(args),
        Some(Command::Completions(args)) => completions(args),
        Some(Command::Man(args)) => man(args),
    }
}

/// Makes a panic an error like any other: one line, and exit code 1.
fn contained(job: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    panic::catch_unwind(AssertUnwindSafe(job))
        .unwrap_or_else(|panic| Err(RunError::crashed(panic.as_ref()).into()))
}

/// Help and version go out as they are; a mistake becomes one line.
fn refused(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        let _ = output::print(&error.render().to_string());
        return ExitCode::SUCCESS;
    }
    output::error(&usage::sentence(error, arguments));
    WRONG_USAGE.into()
}

#[derive(Debug, clap::Args)]
struct CompletionsArgs {
    /// For which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
struct ManArgs {
    /// Writes the pages of the program and of all commands into this folder, as warpscope.1, warpscope-run.1,
    /// …
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the script by which a shell completes commands, flags and their values.
///
/// # Errors
/// When nothing can be printed.
fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "warpscope", &mut script);
    output::print_rows(&String::from_utf8(script)?)
}

/// Prints the page of the program, or writes those of all commands.
///
/// # Errors
/// When they cannot be printed or written.
fn man(args: &ManArgs) -> anyhow::Result<()> {
    let mut program = command();
    // Gives commands their names as pages have them.
    program.build();
    let page = |man: &Man| -> anyhow::Result<Vec<u8>> {
        let mut page = Vec::new();
        man.render(&mut page)?;
        Ok(page)
    };
    let Some(dir) = &args.dir else {
        return output::print_rows(&String::from_utf8(page(&Man::new(program))?)?);
    };
    std::fs::create_dir_all(dir).map_err(|why| anyhow::anyhow!("cannot write: {why}: {}", dir.display()))?;
    let commands: Vec<clap::Command> =
        program.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    let pages: Vec<Man> = std::iter::once(program).chain(commands).map(Man::new).collect();
    for man in &pages {
        let page = page(man)?;
        export::write(&dir.join(man.get_filename()), |out| out.write_all(&page))?;
    }
    output::print(&format!(
        "wrote {} into {}\n",
        text::count(pages.len() as u64, "page", "pages"),
        dir.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_on_one_line() {
        let message = |job: fn() -> anyhow::Result<()>| contained(job).unwrap_err().to_string();
        assert_eq!(
            message(|| panic!("an index\nis out")),
            "the run failed unexpectedly: an index is out; please report this as a bug"
        );
        assert_eq!(
            message(|| panic!("{} of {}", 3, 2)),
            "the run failed unexpectedly: 3 of 2; please report this as a bug"
        );
        assert_eq!(message(|| anyhow::bail!("no such file")), "no such file");
        assert!(contained(|| Ok(())).is_ok());
    }

    #[test]
    fn the_flags_make_sense_to_clap() {
        command().debug_assert();
    }
}
