//! The command line, one file per subcommand.
//!
//! stdout is for results only; notes, errors (one line each) and progress go to stderr, and progress only to
//! a terminal. Exit codes: 0 success, 1 the job failed, 2 usage error (see `usage`), 130 and 143 stopped by
//! Ctrl-C and SIGTERM. Defaults of flags may come from a file (`config`).

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
mod lists;
mod output;
mod paths;
mod pictures;
mod queries;
mod recall;
#[cfg(test)]
mod reference;
mod run;
mod stop;
mod sweep;
mod tiles;
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
use flags::LimitArgs;

use crate::engines::registry;
use crate::run::RunError;
use crate::{export, memory, text, version};

/// A visual explorer and profiler for exact k-nearest-neighbour search on NVIDIA GPUs.
///
/// Without a subcommand, opens the window, on FILE if given.
#[derive(Debug, Parser)]
#[command(
    name = "warpscope",
    version,
    long_version = long_version(),
    override_usage = USAGE,
    max_term_width = 110
)]
struct Cli {
    /// Point cloud or recording to open in the window
    file: Option<PathBuf>,
    /// Lesson to open in the window, by number or name
    #[arg(long, value_name = "LESSON")]
    lesson: Option<String>,
    /// Print only results and errors
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// clap's own usage line would suggest a file and a command together.
const USAGE: &str = "warpscope [OPTIONS] [FILE]\n       warpscope [OPTIONS] <COMMAND>";

/// Includes the commit; `-V` prints the version alone.
fn long_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(version::version);
    &VERSION
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open the window
    Gui(window::WindowArgs),
    /// Run a search; report what it found and how long it took
    Run(Box<run::RunArgs>),
    /// Find the nearest neighbours, or all within a radius
    ///
    /// Answers once, with the engine predicted to be fastest.
    Knn(Box<knn::KnnArgs>),
    /// Check engines against a float64 oracle and each other
    Verify(Box<verify::VerifyArgs>),
    /// Analyse a cloud through the neighbours of its rows
    ///
    /// Density, outliers, hubs, labels, duplicates, graphs, …
    Analyse(Box<analyse::AnalyseArgs>),
    /// Measure the recall of an approximate index's answers
    Recall(Box<recall::RecallArgs>),
    /// Run every combination of n, q, k, d and engines
    ///
    /// Writes one CSV row per run.
    Sweep(Box<sweep::SweepArgs>),
    /// Compare the timings of two saved runs
    Compare(compare::CompareArgs),
    /// Record a lesson: how a warp finds its neighbours
    Lesson(Box<lesson::LessonArgs>),
    /// Find the fastest kernel configuration for this GPU
    Tune(tune::TuneArgs),
    /// Write a generated cloud to a file
    Generate(generate::GenerateArgs),
    /// Describe a file and the cloud it contains
    Info(info::InfoArgs),
    /// List engines, their devices, and why some cannot run
    Devices(devices::DevicesArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print the manual page, or write all pages to a folder
    Man(ManArgs),
}

/// The exit code of [`usage::is_usage`], and of clap.
const USAGE_EXIT_CODE: u8 = 2;

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let (cli, from, defaults) = match parsed() {
        Ok((Cli { file: Some(file), command: Some(_), .. }, ..)) => {
            output::error(&format!(
                "the file must come after the command (see the command's --help): {}",
                file.display()
            ));
            return USAGE_EXIT_CODE.into();
        }
        Ok((Cli { lesson: Some(lesson), command: Some(_), .. }, ..)) => {
            output::error(&format!("--lesson {lesson} must come after the command, or without one"));
            return USAGE_EXIT_CODE.into();
        }
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    output::set_quiet(cli.quiet);
    // The window keeps the default panic message: it survives panics of its threads.
    if !opens_window(&cli) && std::env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|_| ()));
    }
    memory::share_arenas();
    let limits = limits(&cli);
    if let Some(bytes) = limits.and_then(|limits| limits.memory) {
        memory::set_limit(bytes);
    }
    if let Some(bytes) = limits.and_then(|limits| limits.device_memory) {
        registry::limit_device_memory(bytes);
    }
    let threads = limits.and_then(|limits| limits.threads).unwrap_or(0);
    // If the pool is not started here, its first use would panic.
    if let Err(why) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        output::error(&format!(
            "cannot start threads: {why}; is the limit of processes (ulimit -u) reached?"
        ));
        return ExitCode::FAILURE;
    }
    let window = opens_window(&cli);
    if !window {
        stop::watch();
    }
    match catch_panics(|| dispatch(cli, &from)) {
        // The window was closed by a signal.
        Ok(()) if window => stop::requested().map_or(ExitCode::SUCCESS, |signal| signal.exit_code().into()),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<output::BrokenPipe>() => ExitCode::SUCCESS,
        // A stopped job's own error would only repeat this.
        Err(_) if let Some(signal) = stop::requested() => {
            output::error(&signal.sentence());
            signal.exit_code().into()
        }
        Err(error) => print_failure(&error, &defaults),
    }
}

/// The limits that were given, if the command has such flags.
fn limits(cli: &Cli) -> Option<LimitArgs> {
    Some(match cli.command.as_ref()? {
        Command::Run(args) => args.limits,
        Command::Knn(args) => args.limits,
        Command::Verify(args) => args.limits,
        Command::Analyse(args) => args.limits,
        Command::Recall(args) => args.limits,
        Command::Sweep(args) => args.limits,
        _ => return None,
    })
}

/// The whole command line, for parsing, completions and manual pages.
fn command() -> clap::Command {
    Cli::command().args(config::flags())
}

/// The parsed command line, with the defaults of the user's file; or the exit code, if parsing failed or help
/// was printed.
fn parsed() -> Result<(Cli, config::ConfigSource, config::Defaults), ExitCode> {
    let (arguments, from) = config::extract_flags(std::env::args_os())
        .map_err(|error| print_failure(&error.into(), &config::Defaults::default()))?;
    let with_defaults = config::with_defaults(command(), &from, &arguments);
    let (mut command, defaults) =
        with_defaults.map_err(|error| print_failure(&error, &config::Defaults::default()))?;
    let matches = command.try_get_matches_from_mut(&arguments);
    let cli = matches
        .and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    let cli = cli.map_err(|error| print_refusal(&error, &arguments))?;
    Ok((cli, from, defaults))
}

/// The first argument that is not a flag: a command or a file. [`config::extract_flags`] has removed its
/// flags, and the other flags allowed before it take no value.
fn first_word(arguments: &[OsString]) -> Option<&OsStr> {
    let arguments = arguments.iter().skip(1).map(OsString::as_os_str);
    arguments
        .take_while(|argument| *argument != "--")
        .find(|argument| !argument.as_encoded_bytes().starts_with(b"-"))
}

/// Prints why the job failed and returns the exit code.
fn print_failure(error: &anyhow::Error, defaults: &config::Defaults) -> ExitCode {
    let (mut what, is_usage) = (format!("{error:#}"), usage::is_usage(error));
    what.extend(defaults.tip(&what).filter(|_| is_usage));
    output::error(&what);
    if is_usage { USAGE_EXIT_CODE.into() } else { ExitCode::FAILURE }
}

/// Whether the interactive window opens, as opposed to a picture of it.
fn opens_window(cli: &Cli) -> bool {
    match &cli.command {
        None => true,
        Some(Command::Gui(args)) => args.opens_window(),
        Some(_) => false,
    }
}

/// Whether clap accepts a command line (program name first). For fuzzing.
#[doc(hidden)]
pub fn parses<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> bool {
    Cli::try_parse_from(arguments).is_ok()
}

/// As [`parses`], with the defaults of a file. The error says why these are refused.
#[doc(hidden)]
pub fn parses_with_defaults(
    file: std::path::PathBuf,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<bool, String> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let (command, _) = config::with_defaults(command(), &config::ConfigSource::File(file), &arguments)
        .map_err(|why| format!("{why:#}"))?;
    Ok(command.try_get_matches_from(arguments).is_ok())
}

fn dispatch(cli: Cli, from: &config::ConfigSource) -> anyhow::Result<()> {
    match &cli.command {
        None => window::open(cli.file, window::lesson_number(cli.lesson.as_deref())?),
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

/// Turns a panic into an ordinary error: one line, and exit code 1.
fn catch_panics(job: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    panic::catch_unwind(AssertUnwindSafe(job))
        .unwrap_or_else(|panic| Err(RunError::crashed(panic.as_ref()).into()))
}

/// Prints help and version as clap renders them, and errors as one line.
fn print_refusal(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        let _ = output::print(&error.render().to_string());
        return ExitCode::SUCCESS;
    }
    output::error(&usage::sentence(error, arguments));
    USAGE_EXIT_CODE.into()
}

#[derive(Debug, clap::Args)]
struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
struct ManArgs {
    /// Folder to write to: warpscope.1, warpscope-run.1, …
    ///
    /// Without it, the program's own page is printed.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints a script that completes commands, flags and their values.
///
/// # Errors
/// When nothing can be printed.
fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "warpscope", &mut script);
    output::print_rows(&String::from_utf8(script)?)
}

/// Prints the program's page, or writes the pages of all commands.
///
/// # Errors
/// When they cannot be printed or written.
fn man(args: &ManArgs) -> anyhow::Result<()> {
    let mut program = command();
    // Gives the subcommands their full names.
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
    fn panics_become_one_line_errors() {
        let message = |job: fn() -> anyhow::Result<()>| catch_panics(job).unwrap_err().to_string();
        assert_eq!(
            message(|| panic!("an index\nis out")),
            "the run failed unexpectedly: an index is out; please report this as a bug"
        );
        assert_eq!(
            message(|| panic!("{} of {}", 3, 2)),
            "the run failed unexpectedly: 3 of 2; please report this as a bug"
        );
        assert_eq!(message(|| anyhow::bail!("no such file")), "no such file");
        assert!(catch_panics(|| Ok(())).is_ok());
    }

    #[test]
    fn clap_accepts_the_command_definition() {
        command().debug_assert();
    }
}
