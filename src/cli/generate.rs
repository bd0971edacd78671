//! `warpscope generate`: writes a generated cloud to a file.

use std::io::{self, Write};
use std::path::PathBuf;

use super::bar::Bar;
use super::usage::UsageError;
use super::values;
use crate::cloud::Coordinates;
use crate::cloud::generate::{self, catalogue};
use crate::export;
use crate::run::defaults;
use crate::run::recording::npy_head;

#[derive(Debug, clap::Args)]
#[command(after_help = generators())]
pub struct GenerateArgs {
    /// Generator: name:key=value,…, such as gaussian-mixture:n=1e6
    #[arg(value_name = "SPEC")]
    spec: String,
    /// File to write: .csv, .npy, .fvecs or .fbin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Seed
    ///
    /// The same spec and seed give the same points everywhere.
    #[arg(long, value_name = "NUMBER", default_value_t = defaults::SEED, value_parser = values::whole::<u64>)]
    seed: u64,
}

/// Writes the whole cloud or nothing.
///
/// # Errors
/// When the spec is invalid, the extension is unknown or the file cannot be written.
pub fn run(args: &GenerateArgs) -> anyhow::Result<()> {
    let extension = args.file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let write: fn(&Coordinates, &mut dyn Write) -> io::Result<()> = match extension.as_str() {
        "csv" => write_csv,
        "npy" => write_npy,
        "fvecs" => write_fvecs,
        "fbin" => write_fbin,
        _ => {
            let file = args.file.display();
            anyhow::bail!(UsageError(format!(
                "cannot write .{extension}; use .csv, .npy, .fvecs or .fbin: {file}"
            )))
        }
    };
    let table = generate::generate(&args.spec, args.seed, &Bar::new("generating"))?;
    export::write(&args.file, |out| write(&table, out))?;
    Ok(())
}

/// The generators with their parameters and defaults, for `--help`.
fn generators() -> String {
    let mut text = "Generators, with their defaults:\n".to_owned();
    for generator in catalogue() {
        let parameters: Vec<String> = generator
            .parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.key, parameter.default))
            .collect();
        text += &format!("  {}:{}\n      {}\n", generator.name, parameters.join(","), generator.about);
    }
    text
}

/// Writes every digit of each f32: a shorter decimal would be a different f64, and narrow columns would then
/// get an origin.
fn write_csv(table: &Coordinates, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    writeln!(out, "{}", names.join(","))?;
    table.values.iter().enumerate().try_for_each(|(at, value)| {
        let end = if (at + 1) % names.len() == 0 { "\n" } else { "," };
        write!(out, "{value}{end}")
    })
}

fn write_npy(table: &Coordinates, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&npy_head("<f4", &[table.rows(), table.columns.len()]))?;
    write_floats(table.values.iter(), out)
}

fn write_fvecs(table: &Coordinates, out: &mut dyn Write) -> io::Result<()> {
    let dims = table.columns.len();
    (0..table.rows()).try_for_each(|row| {
        out.write_all(&(dims as u32).to_le_bytes())?;
        write_floats((row * dims..(row + 1) * dims).map(|at| table.values.get(at)), out)
    })
}

fn write_fbin(table: &Coordinates, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&(table.rows() as u32).to_le_bytes())?;
    out.write_all(&(table.columns.len() as u32).to_le_bytes())?;
    write_floats(table.values.iter(), out)
}

fn write_floats(mut values: impl Iterator<Item = f64>, out: &mut dyn Write) -> io::Result<()> {
    values.try_for_each(|value| out.write_all(&(value as f32).to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{self, ColumnChoice, Source};
    use crate::progress::NoProgress;

    #[test]
    fn every_generated_format_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        for spec in ["gaussian-mixture:n=1000,d=3", "uniform:n=100,d=17", "sphere:n=1"] {
            let fingerprint =
                |source| cloud::load(&source, false, &NoProgress).unwrap().fingerprint().clone();
            let generated = fingerprint(Source::Generate { spec: spec.to_owned(), seed: 5 });
            for name in ["a.csv", "a.npy", "a.fvecs", "a.FBIN"] {
                let file = folder.path().join(name);
                run(&GenerateArgs { spec: spec.to_owned(), file: file.clone(), seed: 5 }).unwrap();
                assert_eq!(
                    fingerprint(Source::File { path: file, columns: ColumnChoice::Default }),
                    generated,
                    "{spec} {name}"
                );
            }
        }
    }

    #[test]
    fn failed_writes_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for (spec, name, part) in [
            ("uniform", "a.xls", "cannot write .xls; use .csv"),
            ("blob", "a.csv", "unknown generator `blob`; available: uniform"),
        ] {
            let args = GenerateArgs { spec: spec.to_owned(), file: folder.path().join(name), seed: 0 };
            let message = run(&args).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn help_lists_every_generator() {
        let help = generators();
        assert!(
            catalogue()
                .iter()
                .all(|generator| help.contains(generator.name) && help.contains(generator.about)),
            "{help}"
        );
        assert!(help.contains("gaussian-mixture:n=100000,d=2,clusters=20,spread=0.03"), "{help}");
    }
}
