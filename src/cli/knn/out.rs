//! Output of `knn`: destination, format and added columns of the neighbours, and the report as text or JSON.

use std::io::{BufWriter, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cli::answer::{AnswerStats, Take, empty_ranks};
use crate::cli::bar::Bar;
use crate::cli::columns::SearchedColumns;
use crate::cli::flags::{GraphArgs, JsonArgs, SchemaArgs};
use crate::cli::job::Job;
use crate::cli::queries::{self, QueryChoice};
use crate::cli::usage::UsageError;
use crate::cli::{announce, output};
use crate::cloud::joined::JoinedColumns;
use crate::cloud::{PointCloud, Source};
use crate::export::answers::{Annotations, query_table, table};
use crate::export::provenance::Provenance;
use crate::export::{self, FileColumns, NeighborFormat, NeighborStream, Size, text};
use crate::knn::Goal;
use crate::run::{AnswerBatch, Arithmetic, BatchSearch, SchemaVersion, TileStats};

const WITH_QUERY: &str = "--with-query";

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct OutArgs {
    /// File to write the neighbours to; - prints them
    ///
    /// .csv, .tsv, .parquet, .arrow, .npz or, for longitude and latitude, .geojson; without --radius also
    /// .npy (row numbers only), .ivecs with .fvecs, or .ibin with .fbin.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Format of printed neighbours (-o -) [default: csv]
    ///
    /// Neighbours are printed batch by batch as they are found. The format of a file follows from its
    /// extension.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Columns of IN to add to each neighbour: name,zip_code
    ///
    /// For tables only. Values are copied from the file, text on one line. A name that the table already has
    /// gets the prefix file_.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with: Vec<String>,
    /// Columns of the queries' file to add: iata,name
    ///
    /// They become query_iata,query_name, for each neighbour. For tables only.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with_query: Vec<String>,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    schema: SchemaArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Csv,
    Tsv,
    /// Row numbers only, q × k, for numpy.load
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
    /// The same without output, for processes that send their answers to another one.
    #[must_use]
    pub fn without_output(self) -> Self {
        Self { out: None, format: None, with: Vec::new(), with_query: Vec::new(), ..self }
    }

    /// The schema of the JSON to print, if requested.
    pub fn json(&self) -> Option<SchemaVersion> {
        self.json.json.then_some(self.schema.schema)
    }

    /// The file to write, unless the neighbours go to standard output.
    pub fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// The format of printed neighbours, if they are printed.
    pub fn printed(&self) -> Option<NeighborFormat> {
        let format = self.format.unwrap_or(Format::Csv);
        (self.out.is_some() && self.file().is_none()).then(|| format.stream())
    }

    /// Whether the file stores all neighbours in whole arrays, which have to be written at once.
    pub fn is_single_batch(&self) -> bool {
        self.file().is_some_and(|file| {
            NeighborFormat::from_path(file).is_ok_and(|format| format == NeighborFormat::Npz)
        })
    }

    /// Whether the report shows the neighbours themselves.
    pub fn shows(&self, queries: usize) -> bool {
        queries == 1 && !self.json.json && self.out.is_none()
    }

    /// The flags that name columns of files, with the columns.
    pub fn columns(&self) -> [(&'static str, &[String]); 2] {
        [("--with", &self.with), (WITH_QUERY, &self.with_query)]
    }

    /// Rejects options that are invalid for any file contents.
    ///
    /// # Errors
    /// [`UsageError`].
    pub fn check(&self, goal: Goal, queries: &QueryChoice) -> anyhow::Result<()> {
        let refuse = |why: String| -> anyhow::Result<()> { bail!(UsageError(why)) };
        if self.json.json && self.printed().is_some() {
            refuse(
                "--json and --out - both print to standard output; write the neighbours to a file".to_owned(),
            )?;
        }
        if let Some(format) = self.format {
            let name = clap::ValueEnum::to_possible_value(&format)
                .map(|value| value.get_name().to_owned())
                .unwrap_or_default();
            match self.file() {
                Some(path) => refuse(format!(
                    "--format applies to `-o -` only; a file's format follows from its extension: {}",
                    path.display()
                ))?,
                None if self.out.is_none() => {
                    refuse(format!("--format {name}: add `-o -` to print the neighbours"))?
                }
                None => {}
            }
            if matches!(goal, Goal::Within(_)) && format == Format::Npy {
                refuse(
                    "--format npy: the number of neighbours within a radius varies by query; use arrow or \
                     parquet"
                        .to_owned(),
                )?;
            }
            if !format.is_text() && std::io::stdout().is_terminal() {
                refuse(format!(
                    "--format {name} is binary and standard output is a terminal; redirect it to a file or \
                     a program"
                ))?;
            }
        }
        self.columns()
            .into_iter()
            .try_for_each(|(flag, names)| self.check_columns(flag, names, goal, queries))
    }

    /// Refuses columns without a source or without a table to go to.
    fn check_columns(
        &self,
        flag: &str,
        names: &[String],
        goal: Goal,
        queries: &QueryChoice,
    ) -> anyhow::Result<()> {
        let Some(first) = names.first() else { return Ok(()) };
        if let Some(name) =
            names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name))
        {
            bail!(UsageError(format!("{flag}: `{name}` given twice")));
        }
        if flag == WITH_QUERY && matches!(queries, QueryChoice::At(_)) {
            bail!(UsageError(format!(
                "{flag} {first}: not available for a query given by coordinates; needs a query that is a row \
                 of a file"
            )));
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
            (None, None) => {
                bail!(UsageError(format!(
                    "{flag} {first}: requires neighbour output; add --out FILE or `-o -`"
                )))
            }
        };
        if table {
            return Ok(());
        }
        bail!(UsageError(format!(
            "{flag} {first}: the output format cannot have added columns; use .csv, .tsv, .parquet or .arrow"
        )))
    }

    /// Reads the columns to add to the neighbours.
    ///
    /// # Errors
    /// Unknown columns, and errors of reading the files.
    pub fn file_columns(&self, job: &Job) -> anyhow::Result<FileColumns> {
        let read = |names: &[String], cloud: &PointCloud| match cloud.source() {
            Source::File { path, .. } if !names.is_empty() => {
                JoinedColumns::read(path, names, cloud, &Bar::new("reading the added columns"))
                    .inspect(note_rounded)
            }
            _ => Ok(JoinedColumns::default()),
        };
        if let Some(queries) = &job.query_cloud {
            return Ok(FileColumns {
                queries: read(&self.with_query, queries)?,
                neighbors: read(&self.with, &job.cloud)?,
            });
        }
        // All columns are from one file, which is read once.
        let mut neighbors = read(&[&self.with[..], &self.with_query].concat(), &job.cloud)?;
        let queries = JoinedColumns { columns: neighbors.columns.split_off(self.with.len()) };
        Ok(FileColumns { queries, neighbors })
    }
}

/// Notes which columns are rounded.
fn note_rounded(beside: &JoinedColumns) {
    for column in beside.columns.iter().filter(|column| column.is_rounded()) {
        output::note(&format!("whole numbers from 2^53 on are rounded to float64: column `{}`", column.name));
    }
}

/// Writes the neighbours of a job's search to their destination.
pub struct Sink<'a> {
    pub job: &'a Job,
    pub goal: Goal,
    pub arithmetic: Arithmetic,
    pub size: Size,
    pub columns: FileColumns,
    pub out: &'a OutArgs,
    pub graph: &'a GraphArgs,
}

impl<'a> Sink<'a> {
    pub fn new(
        (job, goal): (&'a Job, Goal),
        batches: &BatchSearch,
        columns: FileColumns,
        out: &'a OutArgs,
        graph: &'a GraphArgs,
    ) -> Self {
        let size = Size { q: batches.queries(), k: batches.k(), metric: job.spec.metric };
        Self { job, goal, arithmetic: batches.arithmetic(), size, columns, out, graph }
    }

    /// For the nearest neighbours only: checks that the disk has room, and prints notes on the size, the
    /// queries' row numbers and empty ranks.
    ///
    /// # Errors
    /// As [`announce::check_disk_space`].
    pub fn announce(&self) -> anyhow::Result<()> {
        let (size, n, asked) = (self.size, self.job.cloud.len(), &self.job.spec.queries);
        if self.goal != Goal::Nearest {
            return Ok(());
        }
        match (self.out.file(), self.out.printed()) {
            (Some(file), _) => {
                announce::check_disk_space(file, size, n)?;
                queries::note_rows_left_out(asked, NeighborFormat::from_path(file)?, file);
            }
            (None, Some(format)) => {
                announce::note_stdout_size(format, size, n);
                if format == NeighborFormat::Npy {
                    queries::note_rows_left_out(asked, NeighborFormat::Npy, Path::new("stdout"));
                }
            }
            (None, None) if self.graph.file().is_none() => announce::note_unsaved_size(size, n),
            (None, None) => {}
        }
        if let Some(note) = empty_ranks(&self.job.spec, n as u64) {
            output::note(&note);
        }
        Ok(())
    }

    /// Runs the search, writes its batches as they arrive, and prints the report unless the neighbours were
    /// printed. `input` is the cloud's path as typed.
    ///
    /// # Errors
    /// Those of the search and of writing.
    pub fn fill(
        self,
        input: &Path,
        search: impl FnOnce(&mut Take<'_>) -> anyhow::Result<AnswerStats>,
    ) -> anyhow::Result<()> {
        let arithmetic = Some(self.arithmetic.name().to_owned());
        let provenance = Provenance { arithmetic, ..self.job.provenance(self.goal) };
        let context = Annotations { columns: &self.columns, provenance: &provenance };
        if let Some(format) = self.out.printed() {
            // Safe for a terminal: only numbers, our own names, and text that readers have escaped.
            let begin = || {
                output::stdout_result(NeighborStream::new(
                    format,
                    self.size,
                    context,
                    BufWriter::with_capacity(1 << 16, std::io::stdout()),
                ))
            };
            // Opened with the first batch, so that a refused search prints nothing.
            let mut begun = None;
            search(&mut |batch| {
                let rows = match &mut begun {
                    Some(rows) => rows,
                    none => none.insert(begin()?),
                };
                output::stdout_result(rows.append(batch))
            })?;
            let rows = begun.map_or_else(begin, Ok)?;
            return output::stdout_result(rows.finish());
        }
        if let Some(file) = self.out.file() {
            export::check_positions(file, &self.job.cloud)?;
        }
        let (mut tally, mut shown, mut answered) = (Tally::default(), None, None);
        match self.out.file() {
            Some(file) => {
                export::in_batches(file, self.goal, self.size, context, |writer| -> anyhow::Result<()> {
                    answered = Some(search(&mut |batch| {
                        tally.add(batch);
                        Ok(writer.append(batch)?)
                    })?);
                    Ok(())
                })?;
            }
            None => {
                let shows = self.out.shows(self.size.q);
                answered = Some(search(&mut |batch| {
                    tally.add(batch);
                    shown = shows.then(|| {
                        let head = batch.head(SHOWN);
                        let nearest = self.goal == Goal::Nearest;
                        let table = if nearest {
                            query_table(head, &self.columns)
                        } else {
                            table(head, &self.columns, &provenance)
                        };
                        table.tsv()
                    });
                    Ok(())
                })?);
            }
        }
        let answered = answered.context("the search did not finish")?;
        let wrote = [self.out.file(), self.graph.file().map(|path| &**path)];
        Report::new(input, (self.job, self.goal, self.arithmetic), self.size.q, tally, answered, wrote).print(
            self.job,
            self.out.json(),
            shown,
        )
    }
}

/// How many neighbours of a single query are shown if they are not written to a file.
pub const SHOWN: usize = 32;

/// The result in numbers.
#[derive(serde::Serialize)]
pub struct Report {
    schema_version: u32,
    cloud: String,
    points: usize,
    dimensions: usize,
    #[serde(flatten)]
    searched: SearchedColumns,
    queries: usize,
    metric: &'static str,
    /// `file` or `f32`.
    arithmetic: &'static str,
    #[serde(skip)]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    radius_open: bool,
    /// Neighbours of all queries together.
    neighbors: u64,
    /// Number of queries without neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    empty_queries: Option<u64>,
    /// The largest number of neighbours of a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_neighbors: Option<u64>,
    /// Whether an index was built.
    #[serde(skip)]
    index: bool,
    engine: String,
    device: String,
    /// The devices that computed the f64 distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    distances_on: Option<String>,
    /// The tiles, if the points were searched in some.
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<TileStats>,
    /// The number of processes, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<usize>,
    /// From the loaded cloud to the last neighbour, including building an index.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrote: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<PathBuf>,
}

/// Counts over batches.
#[derive(Default)]
pub struct Tally {
    neighbors: u64,
    empty_queries: u64,
    max_neighbors: u64,
}

impl Tally {
    pub fn add(&mut self, batch: AnswerBatch<'_>) {
        for count in (0..batch.query_count()).map(|query| batch.count_of(query)) {
            self.neighbors += count;
            self.empty_queries += u64::from(count == 0);
            self.max_neighbors = self.max_neighbors.max(count);
        }
    }
}

impl Report {
    /// `wrote` is the file of neighbours and the file of their graph.
    pub fn new(
        input: &Path,
        (job, goal, arithmetic): (&Job, Goal, Arithmetic),
        queries: usize,
        tally: Tally,
        answered: AnswerStats,
        wrote: [Option<&Path>; 2],
    ) -> Self {
        let radius = if let Goal::Within(radius) = goal { Some(radius) } else { None };
        let radius_open = radius.is_some_and(|radius| radius.open);
        let radius = radius.map(|radius| radius.distance);
        let AnswerStats { engine, device, distances_on, index, tiles, ranks, seconds, .. } = answered;
        let [wrote, graph] = wrote.map(|path| path.map(Path::to_owned));
        Self {
            schema_version: SchemaVersion::default().number(),
            cloud: input.display().to_string(),
            points: job.cloud.len(),
            dimensions: job.cloud.dims(),
            searched: job.searched.clone(),
            queries,
            metric: job.ranking.name(),
            arithmetic: arithmetic.name(),
            unit: job.ranking.unit(),
            k: radius.is_none().then_some(job.spec.k),
            radius,
            radius_open,
            neighbors: tally.neighbors,
            empty_queries: radius.map(|_| tally.empty_queries),
            max_neighbors: radius.map(|_| tally.max_neighbors),
            index,
            engine,
            device,
            distances_on,
            tiles,
            ranks,
            seconds,
            wrote,
            graph,
        }
    }

    /// Prints the report; `shown` is the table of a single query's neighbours.
    pub fn print(&self, job: &Job, json: Option<SchemaVersion>, shown: Option<String>) -> anyhow::Result<()> {
        if let Some(schema) = json {
            return output::print_report(self, schema);
        }
        let unit = self.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
        let asked = match (self.k, self.radius) {
            (Some(k), _) => text::count(k as u64, "nearest neighbour", "nearest neighbours"),
            (None, Some(radius)) if self.radius_open => format!("all closer than {radius}{unit}"),
            (None, Some(radius)) => format!("all within {radius}{unit}"),
            (None, None) => String::new(),
        };
        let order = match self.arithmetic {
            "file" if self.distances_on.as_ref().is_some_and(|device| device != "CPU") => {
                ", by the file's values (distances computed on the GPU)"
            }
            "file" => ", by the file's values",
            _ => ", in f32",
        };
        let mean = self.neighbors as f64 / self.queries.max(1) as f64;
        let mut found =
            format!("{}, {mean:.1} a query", text::count(self.neighbors, "neighbour", "neighbours"));
        if let (Some(empty), Some(max)) = (self.empty_queries, self.max_neighbors) {
            found += &format!(
                ", {} at most; {} none",
                text::thousands(max),
                text::count(empty, "query has", "queries have")
            );
        }
        let points = text::count(self.points as u64, "point", "points");
        let mut rows = vec![
            vec![
                "cloud".to_owned(),
                format!(
                    "{}, {points} in {}",
                    self.cloud,
                    text::count(self.dimensions as u64, "dimension", "dimensions")
                ),
            ],
            vec!["columns".to_owned(), output::columns(job.cloud.axes())],
            vec![
                "queries".to_owned(),
                format!(
                    "{}: {}",
                    text::count(self.queries as u64, "query", "queries"),
                    queries::describe(&job.spec, job.cloud.axes())
                ),
            ],
            vec!["search".to_owned(), format!("{asked}, {}{order}", self.metric)],
            vec!["found".to_owned(), found],
            vec![
                "time".to_owned(),
                format!(
                    "{:.3} s{}, {} on {}",
                    self.seconds,
                    if self.index { " with the index" } else { "" },
                    self.engine,
                    self.device
                ),
            ],
        ];
        rows.extend(self.tiles.iter().map(|tiles| vec!["tiles".to_owned(), tiles.to_string()]));
        rows.extend(self.ranks.map(|ranks| vec!["ranks".to_owned(), format!("{ranks} processes")]));
        let written: Vec<String> =
            self.wrote.iter().chain(&self.graph).map(|path| path.display().to_string()).collect();
        if !written.is_empty() {
            rows.push(vec!["wrote".to_owned(), written.join(", ")]);
        }
        let mut all = text::table(&rows, &[]);
        let has_shown = shown.is_some();
        if let Some(shown) = shown {
            let lines: Vec<Vec<String>> = shown
                .lines()
                .take(SHOWN + 1)
                .map(|line| line.split('\t').map(str::to_owned).collect())
                .collect();
            let right: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).collect();
            all += &format!("\n{}", text::table(&lines, &right));
            let more = self.neighbors.saturating_sub(SHOWN as u64);
            if more > 0 {
                all += &format!("and {} more; --out FILE writes all\n", text::thousands(more));
            }
        }
        output::print(&all)?;
        if written.is_empty() && !has_shown {
            output::note("-o FILE writes the neighbours, -o - prints them");
        }
        Ok(())
    }
}
