//! Distinguishes usage errors from failed jobs, and words both as one line with a remedy.
//!
//! A usage error does not depend on the files' contents or on the machine. clap reports most of them; the
//! rest is here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::cloud::CloudError;
use crate::draw::raster::SizeError;
use crate::export::figure::FigureError;
use crate::knn::ProblemError;
use crate::lesson::LessonError;
use crate::lesson::moments::MomentError;
use crate::run::presets::PresetError;
use crate::run::{BatchError, RunError};
use crate::suggest::suggest;

/// Flags that make no sense, alone or together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A clap error for a value, with our own reason.
pub fn invalid(command: &Command, argument: Option<&Arg>, value: &OsStr, why: &str) -> clap::Error {
    let name = argument.map_or_else(String::new, ToString::to_string);
    let what = format!("invalid value '{}' for '{name}': {why}", value.to_string_lossy());
    clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n")).with_cmd(command)
}

/// Whether an error is wrong usage.
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<UsageError>()
        || error.is::<PresetError>()
        || error.is::<FigureError>()
        || error.is::<SizeError>()
        || error.downcast_ref().is_some_and(is_problem_usage)
        || error.downcast_ref().is_some_and(is_cloud_usage)
        || error.downcast_ref().is_some_and(is_run_usage)
        || error.downcast_ref().is_some_and(is_batches_usage)
        || error.downcast_ref().is_some_and(is_lesson_usage)
        || error.downcast_ref().is_some_and(is_moments_usage)
}

fn is_problem_usage(why: &ProblemError) -> bool {
    matches!(
        why,
        ProblemError::K { .. }
            | ProblemError::NoNeighbours
            | ProblemError::NoQueries
            | ProblemError::Origin { .. }
    )
}

fn is_cloud_usage(why: &CloudError) -> bool {
    matches!(why, CloudError::Generate { .. })
}

fn is_run_usage(why: &RunError) -> bool {
    match why {
        RunError::Problem(why) => is_problem_usage(why),
        RunError::Cloud(why) => is_cloud_usage(why),
        _ => false,
    }
}

fn is_batches_usage(why: &BatchError) -> bool {
    matches!(why, BatchError::Run(why) if is_run_usage(why))
}

fn is_lesson_usage(why: &LessonError) -> bool {
    match why {
        LessonError::Width { .. }
        | LessonError::K { .. }
        | LessonError::Name { .. }
        | LessonError::GpuWidth { .. }
        | LessonError::TreeWidth { .. }
        | LessonError::Key { .. }
        | LessonError::KeyCount { .. }
        | LessonError::NoKeys { .. }
        | LessonError::NotFinite { .. } => true,
        LessonError::Cloud(why) => is_cloud_usage(why),
        LessonError::Problem(why) => is_problem_usage(why),
        _ => false,
    }
}

/// Whether a step exists depends on the search, so an unknown step is not listed here. `lesson` and `gui`
/// make it a usage error if no file is searched.
fn is_moments_usage(why: &MomentError) -> bool {
    matches!(why, MomentError::Backwards { .. } | MomentError::None { .. })
}

/// Why a command line is refused. `arguments` begin with the program's name.
pub fn sentence(error: &clap::Error, arguments: &[OsString]) -> String {
    if let Some(word) = super::first_word(arguments)
        .and_then(|word| word.to_str())
        .filter(|_| error.kind() == ErrorKind::UnknownArgument)
        && let Some(sentence) = unknown_command(word)
    {
        return sentence;
    }
    let mut what = message(error);
    if let Some(tip) = remedy(error, arguments) {
        what += &format!("; tip: {tip}");
    } else if error.kind() == ErrorKind::UnknownArgument && !what.contains("; tip:") {
        let command =
            command_of(arguments).map_or_else(String::new, |command| format!(" {}", command.get_name()));
        what += &format!("; see `warpscope{command} --help`");
    }
    what
}

/// Names that other programs use for our flags.
const FOREIGN_FLAGS: [(&str, &str); 12] = [
    ("-n", "k"),
    ("--neighbors", "k"),
    ("--neighbours", "k"),
    ("--n-neighbors", "k"),
    ("--n_neighbors", "k"),
    ("--eps", "radius"),
    ("-r", "radius"),
    ("--distance", "metric"),
    ("--output", "out"),
    ("-j", "threads"),
    ("--jobs", "threads"),
    ("--n-jobs", "threads"),
];

fn command_of(arguments: &[OsString]) -> Option<clap::Command> {
    let command = super::command();
    super::first_word(arguments).and_then(|name| command.find_subcommand(name)).cloned()
}

/// clap's message, without usage and help.
pub fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let what = text.split("\n\nUsage:").next().unwrap_or(&text);
    let what = what.split("\n\nFor more information").next().unwrap_or(what);
    // Drop the tip about passing a flag as a file name.
    let what: String = what
        .lines()
        .filter(|line| !line.starts_with("  tip: to pass '"))
        .map(|line| format!("{line}\n"))
        .collect();
    // clap puts these parts on lines of their own; on one line they need a separator.
    what.trim_start_matches("error: ")
        .trim_end()
        .replace("\n\n  tip:", "; tip:")
        .replace("\n  [possible", " [possible")
}

/// The error for a first word that looks like a command but is neither a command nor a file.
fn unknown_command(word: &str) -> Option<String> {
    let is_word = word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let names = names();
    if !is_word || names.iter().any(|name| name == word) || Path::new(word).exists() {
        return None;
    }
    Some(match mistyped_command(word) {
        Some(sentence) => sentence,
        None => format!("unknown command `{word}`; available: {}", names.join(", ")),
    })
}

/// The error for a word that resembles a command's name.
pub fn mistyped_command(word: &str) -> Option<String> {
    let names = names();
    suggest(word, names.iter().map(String::as_str))
        .map(|meant| format!("unknown command `{word}`: did you mean `{meant}`?"))
}

fn names() -> Vec<String> {
    super::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// A remedy, if the flag belongs to another command or a file was given without its flag.
fn remedy(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(written)) =
        error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)
    else {
        return None;
    };
    if written == "--generate" {
        return Some("this command reads a file; `warpscope generate SPEC FILE` writes one".to_owned());
    }
    let command = command_of(arguments)?;
    let takes = |flag: &str| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
    if ["-o", "--out", "--output"].contains(&written.as_str()) && command.get_name() == "generate" {
        return Some("the file comes after the spec: `warpscope generate SPEC FILE`".to_owned());
    }
    if let Some((_, ours)) = FOREIGN_FLAGS.iter().find(|(other, ours)| other == written && takes(ours)) {
        return Some(format!("use --{ours}"));
    }
    if written.starts_with('-') || !takes("input") {
        return None;
    }
    let is_spec =
        takes("generate") && written.contains(':') && written.contains('=') && !Path::new(written).exists();
    Some(if is_spec { format!("pass --generate {written}") } else { format!("pass --input {written}") })
}
