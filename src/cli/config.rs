//! Defaults of flags from a TOML file: sections are named after commands, keys after their long flags. The
//! command line wins.
//!
//! A value becomes the default of its flag, so `requires` and `conflicts_with` apply only to what was typed.
//! A default that conflicts with a typed flag is dropped.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use toml::{Table, Value};

use super::usage;
use super::usage::UsageError;
use crate::suggest::suggest;
use crate::{files, memory};

/// Environment variable with the path of the file, used if `--config` is not given.
pub const VARIABLE: &str = "WARPSCOPE_CONFIG";

/// Limit on the file's size; a larger file is not a configuration.
const MAX_BYTES: u64 = 1 << 20;

/// Memory per byte of a configuration: the parsed tree, the words and the flags' values.
const PARSED_BYTES: u64 = 128;

const CONFIG: &str = "config";
const NO_CONFIG: &str = "no-config";

/// Where defaults come from.
#[derive(Debug, PartialEq)]
pub enum ConfigSource {
    /// The file named by the environment variable, or the user's own, if either exists.
    Default,
    File(PathBuf),
    Ignored,
}

/// The defaults that a file provided.
#[derive(Debug, Default)]
pub struct Defaults {
    file: PathBuf,
    /// The section, named after the command.
    section: String,
    /// Flags with a default from the file, including their dashes.
    flags: Vec<String>,
}

impl Defaults {
    /// An addition to an error about a flag that came from the file.
    pub fn tip(&self, error: &str) -> Option<String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut words = error.split(|c: char| !is_word(c));
        let flag = words.find(|word| self.flags.iter().any(|flag| flag == word))?;
        let (key, section) = (flag.trim_start_matches('-'), &self.section);
        Some(format!("; {key} is set under [{section}] in {} (--no-config ignores it)", self.file.display()))
    }
}

/// The flags that every command accepts.
pub fn flags() -> [Arg; 2] {
    let heading = "Defaults";
    [
        Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .global(true)
            .help_heading(heading)
            .help("Configuration file to use instead of the default one"),
        Arg::new(NO_CONFIG)
            .long(NO_CONFIG)
            .action(ArgAction::SetTrue)
            .global(true)
            .help_heading(heading)
            .help("Ignore configuration files"),
    ]
}

/// Removes these flags from a command line, wherever they are before `--`; the file must be read before the
/// rest can be parsed.
///
/// # Errors
/// [`UsageError`].
pub fn extract_flags(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<(Vec<OsString>, ConfigSource), UsageError> {
    let (mut rest, mut from) = (Vec::new(), ConfigSource::Default);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        match text.strip_prefix("--") {
            Some("") => {
                rest.push(argument);
                break;
            }
            Some(NO_CONFIG) => from = ConfigSource::Ignored,
            Some(CONFIG) => {
                let file = arguments.next().filter(|file| !file.is_empty());
                from = ConfigSource::File(
                    file.ok_or_else(|| UsageError("--config <FILE>: file name missing".to_owned()))?.into(),
                );
            }
            Some(flag)
                if let Some(file) = flag.strip_prefix(CONFIG).and_then(|flag| flag.strip_prefix('=')) =>
            {
                from = ConfigSource::File(file.into())
            }
            _ => rest.push(argument),
        }
    }
    rest.extend(arguments);
    Ok((rest, from))
}

/// Adds the file's defaults to the subcommand on the command line, and returns which were added.
///
/// # Errors
/// If a named file does not exist, or the file is invalid.
pub fn with_defaults(
    command: Command,
    from: &ConfigSource,
    arguments: &[OsString],
) -> anyhow::Result<(Command, Defaults)> {
    // Opening the window on a file uses no flags, and an invalid file must not prevent it.
    let Some(name) = super::first_word(arguments)
        .and_then(|name| command.find_subcommand(name))
        .map(|found| found.get_name().to_owned())
    else {
        return Ok((command, Defaults::default()));
    };
    let Some((path, text)) = read(from)? else { return Ok((command, Defaults::default())) };
    let table: Table = text.parse().map_err(|why| malformed(&why, &text, &path))?;
    check(&command, &table).map_err(|why| anyhow!("{why}: {}", path.display()))?;
    let Some(Value::Table(section)) = table.get(&name) else { return Ok((command, Defaults::default())) };
    let typed = typed(&command, arguments);
    let mut flags = Vec::new();
    let command = command.mut_subcommand(&name, |of| {
        let of_section = section.iter().filter_map(|(key, value)| Some((flag(&of, key)?.clone(), value)));
        let defaults: Vec<(Arg, String)> = of_section
            .filter(|(argument, _)| !is_excluded(&of, argument, &typed))
            .filter_map(|(argument, value)| Some((argument, flag_text(value).ok().flatten()?)))
            .collect();
        flags.extend(
            defaults.iter().filter_map(|(argument, _)| argument.get_long()).map(|long| format!("--{long}")),
        );
        defaults.into_iter().fold(of, |of, (argument, value)| {
            of.mut_arg(argument.get_id(), |argument| argument.default_value(value))
        })
    });
    Ok((command, Defaults { file: path, section: name, flags }))
}

/// The file and its content. The user's own file is optional.
fn read(from: &ConfigSource) -> anyhow::Result<Option<(PathBuf, String)>> {
    let named = match from {
        ConfigSource::Ignored => return Ok(None),
        ConfigSource::File(path) => Some(path.clone()),
        ConfigSource::Default => {
            std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
        }
    };
    let usual = || {
        directories::ProjectDirs::from("", "", "warpscope").map(|dirs| dirs.config_dir().join("config.toml"))
    };
    let Some(path) = named.clone().or_else(|| usual().filter(|path| path.is_file())) else { return Ok(None) };
    let text = files::read_small(&path, MAX_BYTES)
        .and_then(|text| String::from_utf8(text).map_err(io::Error::other));
    match text {
        Ok(text) => match memory::check(PARSED_BYTES * text.len() as u64) {
            Ok(()) => Ok(Some((path, text))),
            Err(short) => bail!("the configuration {short}; shorten it: {}", path.display()),
        },
        Err(why) => bail!("cannot read the configuration: {why}: {}", path.display()),
    }
}

fn malformed(why: &toml::de::Error, text: &str, path: &Path) -> anyhow::Error {
    let line = why.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    anyhow!("line {line}: {}: {}", why.message(), path.display())
}

/// Refuses unknown sections and keys, and values that their flags reject.
fn check(command: &Command, table: &Table) -> anyhow::Result<()> {
    for (name, section) in table {
        let names = || command.get_subcommands().map(Command::get_name);
        let Value::Table(section) = section else {
            bail!("`{name}` is outside any section; put it under a command's section, such as [knn]")
        };
        let Some(command) = command.find_subcommand(name) else {
            let meant = suggest(name, names()).map_or_else(
                || "sections are named after commands".to_owned(),
                |meant| format!("did you mean [{meant}]?"),
            );
            bail!("unknown section [{name}]: {meant}");
        };
        for (key, value) in section {
            check_key(command, key, value).map_err(|why| anyhow!("[{name}] {key}: {why}"))?;
        }
    }
    Ok(())
}

fn check_key(command: &Command, key: &str, value: &Value) -> anyhow::Result<()> {
    let Some(argument) = flag(command, key) else {
        let keys: Vec<&str> = command
            .get_arguments()
            .filter_map(Arg::get_long)
            .filter(|key| *key != CONFIG && *key != NO_CONFIG)
            .collect();
        match suggest(key, keys.iter().copied()) {
            Some(meant) => bail!("the command has no flag --{key}: did you mean `{meant}`?"),
            None => bail!("the command has no flag --{key}; see `warpscope {} --help`", command.get_name()),
        }
    };
    let in_required = |group: &&clap::ArgGroup| {
        group.is_required_set() && group.get_args().any(|id| id == argument.get_id())
    };
    if argument.is_required_set() || command.get_groups().any(|group| in_required(&group)) {
        bail!("a required argument cannot have a default; give it on the command line");
    }
    let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
    if is_flag != matches!(value, Value::Boolean(_)) {
        bail!("{}", if is_flag { "must be true or false" } else { "expected a value, not true or false" });
    }
    let Some(text) = flag_text(value)?.filter(|_| !is_flag) else { return Ok(()) };
    let tried = command.clone().no_binary_name(true).try_get_matches_from([format!("--{key}={text}")]);
    // Other errors, such as missing arguments, are not about this value.
    match tried {
        Err(why)
            if matches!(
                why.kind(),
                ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::WrongNumberOfValues
            ) =>
        {
            bail!("{}", usage::message(&why))
        }
        _ => Ok(()),
    }
}

/// The argument that a key names.
fn flag<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().filter(|_| key != CONFIG && key != NO_CONFIG).find(|argument| {
        let earlier = argument.get_all_aliases().unwrap_or_default();
        argument.get_long() == Some(key) || earlier.contains(&key)
    })
}

/// A value as it would be typed; `None` for a flag that is not set.
fn flag_text(value: &Value) -> anyhow::Result<Option<String>> {
    Ok(Some(match value {
        Value::Boolean(false) => return Ok(None),
        Value::Boolean(true) => "true".to_owned(),
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Array(values) => {
            let texts = values.iter().map(flag_text).collect::<anyhow::Result<Option<Vec<String>>>>()?;
            texts.unwrap_or_default().join(",")
        }
        Value::Datetime(_) | Value::Table(_) => {
            bail!("expected a string, a number, a boolean or a list of these")
        }
    }))
}

/// The ids of the arguments typed after the subcommand.
fn typed(command: &Command, arguments: &[OsString]) -> HashSet<String> {
    let matches = command.clone().ignore_errors(true).try_get_matches_from(arguments).ok();
    let Some((_, of)) = matches.as_ref().and_then(clap::ArgMatches::subcommand) else {
        return HashSet::new();
    };
    let by_hand = |id: &&clap::Id| of.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    of.ids().filter(by_hand).map(|id| id.as_str().to_owned()).collect()
}

/// Whether an argument conflicts with one that was typed.
fn is_excluded(command: &Command, argument: &Arg, typed: &HashSet<String>) -> bool {
    let id = argument.get_id();
    let others = || {
        command
            .get_arguments()
            .filter(|other| other.get_id() != id && typed.contains(other.get_id().as_str()))
    };
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|conflict| conflict.get_id() == other.get_id())
    };
    let one_of = |other: &Arg| {
        let mut groups = command.get_groups().cloned();
        groups.any(|mut group| {
            !group.is_multiple()
                && group.get_args().any(|of| of == id)
                && group.get_args().any(|of| of == other.get_id())
        })
    };
    others().any(|other| excludes(argument, other) || excludes(other, argument) || one_of(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn config_flags_are_extracted_from_any_position() {
        let file = || ConfigSource::File("a.toml".into());
        for (line, rest, from) in [
            ("w run --k 3", "w run --k 3", ConfigSource::Default),
            ("w --config a.toml run", "w run", file()),
            ("w run --config=a.toml --k 3", "w run --k 3", file()),
            ("w --no-config run", "w run", ConfigSource::Ignored),
            ("w compare -- run --config a.toml", "w compare -- run --config a.toml", ConfigSource::Default),
        ] {
            assert_eq!(extract_flags(words(line)).unwrap(), (words(rest), from), "{line}");
        }
        assert!(extract_flags(words("w run --config")).is_err());
    }

    #[test]
    fn errors_caused_by_defaults_name_the_file() {
        let defaults = Defaults {
            file: "w.toml".into(),
            section: "knn".to_owned(),
            flags: vec!["--exclude-self".to_owned(), "--k".to_owned()],
        };
        let tip = defaults.tip(
            "--exclude-self: not available for a query given by coordinates; needs a query that is a row of \
             the cloud",
        );
        assert_eq!(
            tip.as_deref(),
            Some("; exclude-self is set under [knn] in w.toml (--no-config ignores it)")
        );
        assert_eq!(
            [defaults.tip("--keys: too few"), Defaults::default().tip("--k: too large")],
            [None, None]
        );
    }

    fn refused(text: &str) -> String {
        check(&super::super::command(), &text.parse().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn invalid_defaults_are_rejected_with_section_and_key() {
        for (text, why) in [
            ("k = 3", "`k` is outside any section; put it under a command's section, such as [knn]"),
            ("[rnu]", "unknown section [rnu]: did you mean [run]?"),
            ("[search]", "unknown section [search]: sections are named after commands"),
            ("[run]\nrepeat = 3", "[run] repeat: the command has no flag --repeat: did you mean `repeats`?"),
            ("[run]\nfast = 3", "[run] fast: the command has no flag --fast; see `warpscope run --help`"),
            (
                "[run]\ninput = \"a.csv\"",
                "[run] input: a required argument cannot have a default; give it on the command line",
            ),
            ("[run]\nprofile = 1", "[run] profile: must be true or false"),
            ("[run]\nk = true", "[run] k: expected a value, not true or false"),
            ("[run]\nk = 1979-05-27", "[run] k: expected a string, a number, a boolean or a list of these"),
            (
                "[run]\nk = \"many\"",
                "[run] k: invalid value 'many' for '--k <NUMBER>': expected a whole number, such as 1000 or \
                 1e6",
            ),
        ] {
            assert_eq!(refused(text), why, "{text}");
        }
        assert!(
            refused("[knn]\nmetric = \"euclidean\"")
                .starts_with("[knn] metric: invalid value 'euclidean' for '--metric <METRIC>': use l2")
        );
    }

    #[test]
    fn every_value_type_is_accepted() {
        let text = "[knn]\nk = 10\nengine = \"kdtree\"\nexclude-self = true\n[sweep]\nk = [8, 16]\nengine = \
                    [\"lockstep\", \"kdtree\"]\n[lesson]\nscale = 1.5\n";
        check(&super::super::command(), &text.parse().unwrap()).unwrap();
    }
}
