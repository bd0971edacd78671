//! Where neighbours go: a file, standard output or nowhere, in which format, and with which columns of the files.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::cli::bar::Bar;
use crate::cli::flags::JsonArgs;
use crate::cli::job::Job;
use crate::cli::output;
use crate::cli::queries::QueryChoice;
use crate::cli::usage::Usage;
use crate::cloud::beside::Beside;
use crate::cloud::{PointCloud, Source};
use crate::export::{FileColumns, NeighborFormat};
use crate::knn::Goal;

/// The flag that a place has no columns for.
const WITH_QUERY: &str = "--with-query";

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct OutArgs {
    /// Writes the neighbours: .csv, .tsv, .parquet, .arrow, .npz, without --radius also .npy (row numbers alone), .ivecs with .fvecs or .ibin with .fbin; - prints them
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With `-o -`: as what they are printed, part by part as they are found [default: csv]. A file is written as its name ends
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Columns of IN beside each neighbour, as they are in the file: name,zip_code. Tables only, in which text stands in one line; file_ is put before a name that the table has itself
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with: Vec<String>,
    /// Columns of the file that the queries are rows of, beside each neighbour: iata,name become query_iata,query_name. Tables only
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with_query: Vec<String>,
    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Csv,
    Tsv,
    /// Row numbers alone, q × k, as numpy.load reads them
    Npy,
    /// An Arrow IPC stream of the table, in batches
    Arrow,
    Parquet,
}

impl Format {
    fn stream(self) -> NeighborFormat {
        match self {
            Self::Csv => NeighborFormat::Csv,
            Self::Tsv => NeighborFormat::Tsv,
            Self::Npy => NeighborFormat::Npy,
            Self::Arrow => NeighborFormat::Arrow,
            Self::Parquet => NeighborFormat::Parquet,
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }
}

impl OutArgs {
    /// Whether the report is JSON.
    pub fn json(&self) -> bool {
        self.json.json
    }

    /// The file to write, unless that is standard output.
    pub fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// As what neighbours are printed, where they are.
    pub fn printed(&self) -> Option<NeighborFormat> {
        let format = self.format.unwrap_or(Format::Csv);
        (self.out.is_some() && self.file().is_none()).then(|| format.stream())
    }

    /// Whether the file has arrays of all neighbours one after the other, which are written at once.
    pub fn is_at_once(&self) -> bool {
        self.file().is_some_and(|file| NeighborFormat::of(file).is_ok_and(|format| format == NeighborFormat::Npz))
    }

    /// Whether neighbours are shown beside the numbers.
    pub fn shows(&self, queries: usize) -> bool {
        queries == 1 && !self.json.json && self.out.is_none()
    }

    /// The flags that name columns of files, and what they name.
    pub fn columns(&self) -> [(&'static str, &[String]); 2] {
        [("--with", &self.with), (WITH_QUERY, &self.with_query)]
    }

    /// Refuses what makes no sense whatever the files hold.
    ///
    /// # Errors
    /// [`Usage`].
    pub fn check(&self, goal: Goal, queries: &QueryChoice) -> anyhow::Result<()> {
        let refuse = |why: String| -> anyhow::Result<()> { bail!(Usage(why)) };
        if self.json.json && self.printed().is_some() {
            refuse("--json and --out - both print to standard output: write the neighbours to a file".to_owned())?;
        }
        if let Some(format) = self.format {
            let name = clap::ValueEnum::to_possible_value(&format).map(|value| value.get_name().to_owned()).unwrap_or_default();
            match self.file() {
                Some(path) => refuse(format!("--format is for `-o -`: a file is written as its name ends: {}", path.display()))?,
                None if self.out.is_none() => refuse(format!("--format {name}: say with `-o -` that the neighbours are printed"))?,
                None => {}
            }
            if matches!(goal, Goal::Within(_)) && format == Format::Npy {
                refuse("--format npy: queries do not have equally many neighbours within a radius; take arrow or parquet".to_owned())?;
            }
            if !format.is_text() && std::io::stdout().is_terminal() {
                refuse(format!("--format {name}: it is no text, and standard output is a terminal; send it to a file or a program"))?;
            }
        }
        self.columns().into_iter().try_for_each(|(flag, names)| self.check_columns(flag, names, goal, queries))
    }

    /// Refuses columns that have nowhere to go, or come from nowhere.
    fn check_columns(&self, flag: &str, names: &[String], goal: Goal, queries: &QueryChoice) -> anyhow::Result<()> {
        let Some(first) = names.first() else { return Ok(()) };
        if let Some(name) = names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name)) {
            bail!(Usage(format!("{flag}: `{name}` is named twice")));
        }
        if flag == WITH_QUERY && matches!(queries, QueryChoice::At(_)) {
            bail!(Usage(format!("{flag} {first}: the query is a place, and so no row of a file")));
        }
        let one = match queries {
            QueryChoice::At(_) | QueryChoice::Count(1) => true,
            QueryChoice::Rows(rows) => rows.len() == 1,
            _ => false,
        };
        let table = match (self.printed(), self.file()) {
            (Some(format), _) => format != NeighborFormat::Npy,
            (None, Some(path)) => NeighborFormat::for_goal(goal, path).is_ok_and(NeighborFormat::is_table),
            (None, None) if one && !self.json.json => true,
            (None, None) => bail!(Usage(format!("{flag} {first}: columns stand beside neighbours: say with --out FILE or `-o -` where these go"))),
        };
        if table {
            return Ok(());
        }
        bail!(Usage(format!("{flag} {first}: only tables have room for further columns: .csv, .tsv, .parquet or .arrow")))
    }

    /// The columns of files that are to stand beside neighbours.
    ///
    /// # Errors
    /// That there is no such column; those of reading the files.
    pub fn file_columns(&self, job: &Job) -> anyhow::Result<FileColumns> {
        let read = |names: &[String], cloud: &PointCloud| match cloud.source() {
            Source::File { path, .. } if !names.is_empty() => {
                Beside::read(path, names, cloud, &Bar::new("reading the columns beside")).inspect(note_rounded)
            }
            _ => Ok(Beside::default()),
        };
        if let Some(queries) = &job.query_cloud {
            return Ok(FileColumns { queries: read(&self.with_query, queries)?, neighbors: read(&self.with, &job.cloud)? });
        }
        // All are of one file, which is read once.
        let mut neighbors = read(&[&self.with[..], &self.with_query].concat(), &job.cloud)?;
        let queries = Beside { columns: neighbors.columns.split_off(self.with.len()) };
        Ok(FileColumns { queries, neighbors })
    }
}

/// Says which columns have not the digits of the file.
fn note_rounded(beside: &Beside) {
    for column in beside.columns.iter().filter(|column| column.is_rounded()) {
        output::note(&format!("whole numbers of 2^53 and more are rounded to what a float64 holds: column `{}`", column.name));
    }
}
