//! `docs/reference.md` is generated from the declarations of commands, engines, metrics, formats and limits.
//! After changing one, write the page again:
//!
//! ```sh
//! WARPSCOPE_REFERENCE=write cargo test --no-default-features --lib reference
//! ```

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, ArgAction, Command};

use crate::cloud::formats::{self, limits};
use crate::engines::registry;
use crate::export::NeighborFormat;
use crate::knn::{DeviceKind, Metric};
use crate::text;

const HEAD: &str = "\
# Reference

After reading this page you know every command, flag, engine, counter, metric, format and limit. It is
generated from the code: `src/cli/reference.rs` says how. The other pages explain by task.
";

/// A Markdown table; bars in cells are escaped.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line =
        |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let rows: String = rows.into_iter().map(line).collect();
    format!("\n{}|{}\n{rows}", line(head.map(str::to_owned)), "---|".repeat(N))
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

/// Codes separated by commas, or a dash.
fn codes<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(code).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

/// A help text in one line; a paragraph without a full stop gets one.
fn one_line(help: Option<&clap::builder::StyledStr>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    let paragraphs = help.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let ends = |text: &str| text.ends_with(['.', '…', ':']);
    paragraphs.map(|text| if ends(&text) { text } else { text + "." }).collect::<Vec<_>>().join(" ")
}

/// An argument as typed: `-k, --neighbors <K>`, `<FILE>`.
fn spelling(arg: &Arg) -> String {
    let mut names: Vec<String> = arg.get_short().map(|short| format!("-{short}")).into_iter().collect();
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values = arg.get_value_names().filter(|_| takes_value).unwrap_or_default();
    let values: Vec<String> = values.iter().map(|name| format!("<{name}>")).collect();
    code(names.join(", ") + if names.is_empty() || values.is_empty() { "" } else { " " } + &values.join(" "))
}

/// What an argument does, with its values and default.
fn meaning(arg: &Arg) -> String {
    let mut meaning = one_line(arg.get_long_help().or(arg.get_help()));
    if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        return meaning;
    }
    let values = arg.get_possible_values();
    let values: Vec<&str> =
        values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name()).collect();
    // The section on engines lists these.
    let are_engines = values.contains(&registry::ENGINES[0].id.as_str());
    if !values.is_empty() && !are_engines {
        write!(meaning, " Values: {}.", codes(values)).expect("strings can be written");
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(meaning, " Default: {}.", codes(defaults)).expect("strings can be written");
    }
    meaning
}

fn command_section(command: &Command) -> String {
    let about = one_line(command.get_long_about().or(command.get_about()));
    let shown = |arg: &&Arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help";
    let rows = command.get_arguments().filter(shown).map(|arg| [spelling(arg), meaning(arg)]);
    format!("\n### {}\n\n{about}\n{}", command.get_name(), table(["argument", "meaning"], rows))
}

fn commands() -> String {
    let mut program = super::command();
    program.build();
    let global = program.get_arguments().filter(|arg| !arg.is_hide_set());
    let global = table(["argument", "meaning"], global.map(|arg| [spelling(arg), meaning(arg)]));
    let sections = program.get_subcommands().filter(|command| command.get_name() != "help");
    format!("\n## Commands\n\nOf the program and of every command:\n{global}")
        + &sections.map(command_section).collect::<String>()
}

fn engines() -> String {
    let device = |kind: &DeviceKind| match kind {
        DeviceKind::Cpu => "CPU",
        DeviceKind::Gpu => "NVIDIA GPU",
    };
    let largest_k = |k: usize| if k == usize::MAX { "any".to_owned() } else { text::thousands(k as u64) };
    let rows = registry::ENGINES.iter().map(|engine| {
        let devices: Vec<&str> = engine.runs_on.iter().map(device).collect();
        [code(engine.id), devices.join(", "), largest_k(engine.limits.k), engine.about.to_owned()]
    });
    let counters = registry::ENGINES.iter().flat_map(|engine| {
        engine
            .measures
            .iter()
            .map(move |measure| [code(engine.id), code(measure.name), measure.help.to_owned()])
    });
    let parameters = registry::ENGINES.iter().flat_map(|engine| {
        engine.parameters.iter().map(move |parameter| {
            let meaning = format!("{} Default: {}.", parameter.help, parameter.default);
            [code(engine.id), code(parameter.name), parameter.values.to_string(), meaning]
        })
    });
    format!(
        "\n## Engines\n{}\n### Counters\n\nPer query: columns of counters.csv and merges.csv, and \
         `mean_NAME` in run.json.\n{}\n### Parameters\n\nAs in `--engine ENGINE:NAME=VALUE,…`.\n{}",
        table(["engine", "runs on", "largest k", "description"], rows),
        table(["engine", "counter", "meaning"], counters),
        table(["engine", "parameter", "values", "meaning"], parameters)
    )
}

fn metrics() -> String {
    let rows = Metric::ALL
        .map(|metric| [code(metric.name()), code(metric.column()), metric.unit().unwrap_or("–").to_owned()]);
    format!("\n## Metrics\n{}", table(["metric", "column of distances", "unit"], rows))
}

fn file_formats() -> String {
    let read = formats::registry().iter().map(|format| {
        let extensions = codes(format.extensions.iter().map(|extension| format!(".{extension}")));
        [format.name.to_owned(), extensions, format.about.to_owned()]
    });
    let written = NeighborFormat::ALL.map(|format| {
        let companion =
            format.distance_extension().map_or("–".to_owned(), |extension| code(format!(".{extension}")));
        [code(format!(".{}", format.extension())), companion]
    });
    format!(
        "\n## Formats\n\nRead:\n{}\nWritten, for neighbours:\n{}",
        table(["format", "extensions", "content"], read),
        table(["extension", "companion with squared distances"], written)
    )
}

fn limits_section() -> String {
    let rows = limits::TABLE.iter().map(|limit| {
        let most = format!("{}{}", text::thousands(limit.most), limit.unit);
        [limit.format.to_owned(), limit.what.to_owned(), most, limit.why.to_owned()]
    });
    format!("\n## Limits\n{}", table(["format", "what is limited", "maximum", "beyond it, and why"], rows))
}

#[test]
fn the_reference_page_is_up_to_date() {
    let page = [HEAD.to_owned(), commands(), engines(), metrics(), file_formats(), limits_section()].concat();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    if std::env::var_os("WARPSCOPE_REFERENCE").is_some_and(|value| value == "write") {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(stored.lines().chain(std::iter::repeat(""))).find(|(new, old)| new != old);
    assert!(
        page == stored,
        "docs/reference.md differs from the program; the first line that should be new: {differs:?}; write \
         it with WARPSCOPE_REFERENCE=write cargo test --no-default-features --lib reference"
    );
}
