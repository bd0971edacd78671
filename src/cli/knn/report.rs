//! What `knn` says of an answer: to a person, or as JSON.

use std::path::{Path, PathBuf};

use crate::cli::answer::Answered;
use crate::cli::columns::Searched;
use crate::cli::job::Job;
use crate::cli::{output, queries};
use crate::export::text;
use crate::knn::Goal;
use crate::run::Batch;

/// The version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// Neighbours of a single query that are shown where they are written to no file.
pub const SHOWN: usize = 32;

/// What was found, in numbers.
#[derive(serde::Serialize)]
pub struct Report {
    schema_version: u32,
    cloud: String,
    points: usize,
    dimensions: usize,
    #[serde(flatten)]
    searched: Searched,
    queries: usize,
    metric: &'static str,
    #[serde(skip)]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    /// All neighbours of all queries.
    neighbors: u64,
    /// Queries without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<u64>,
    /// The most that a query has.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    /// Whether an index was built.
    #[serde(skip)]
    index: bool,
    engine: String,
    device: String,
    /// From the loaded cloud to the last neighbour found, with the index where one is built.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrote: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<PathBuf>,
}

/// What batches hold, counted.
#[derive(Default)]
pub struct Tally {
    neighbors: u64,
    without: u64,
    most: u64,
}

impl Tally {
    pub fn add(&mut self, batch: Batch<'_>) {
        for count in (0..batch.query_count()).map(|query| batch.count_of(query)) {
            self.neighbors += count;
            self.without += u64::from(count == 0);
            self.most = self.most.max(count);
        }
    }
}

impl Report {
    /// `wrote` are the file of neighbours and that of their graph.
    pub fn new(input: &Path, (job, goal): (&Job, Goal), queries: usize, tally: Tally, answered: Answered, wrote: [Option<&Path>; 2]) -> Self {
        let radius = if let Goal::Within(radius) = goal { Some(radius) } else { None };
        let Answered { engine, device, index, seconds } = answered;
        let [wrote, graph] = wrote.map(|path| path.map(Path::to_owned));
        Self {
            schema_version: SCHEMA_VERSION,
            cloud: input.display().to_string(),
            points: job.cloud.len(),
            dimensions: job.cloud.dims(),
            searched: job.searched.clone(),
            queries,
            metric: job.ranking.name(),
            unit: job.ranking.unit(),
            k: radius.is_none().then_some(job.spec.k),
            radius,
            neighbors: tally.neighbors,
            without: radius.map(|_| tally.without),
            most: radius.map(|_| tally.most),
            index,
            engine,
            device,
            seconds,
            wrote,
            graph,
        }
    }

    /// Prints it; `shown` is the table of a single query's neighbours.
    pub fn print(&self, job: &Job, json: bool, shown: Option<String>) -> anyhow::Result<()> {
        if json {
            return output::print_json(self);
        }
        let unit = self.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
        let asked = match (self.k, self.radius) {
            (Some(k), _) => text::count(k as u64, "nearest neighbour", "nearest neighbours"),
            (None, Some(radius)) => format!("all within {radius}{unit}"),
            (None, None) => String::new(),
        };
        let mean = self.neighbors as f64 / self.queries.max(1) as f64;
        let mut found = format!("{}, {mean:.1} a query", text::count(self.neighbors, "neighbour", "neighbours"));
        if let (Some(without), Some(most)) = (self.without, self.most) {
            found += &format!(", {} at most; {} none", text::thousands(most), text::count(without, "query has", "queries have"));
        }
        let points = text::count(self.points as u64, "point", "points");
        let mut rows = vec![
            vec!["cloud".to_owned(), format!("{}, {points} in {}", self.cloud, text::count(self.dimensions as u64, "dimension", "dimensions"))],
            vec!["columns".to_owned(), output::columns(job.cloud.axes())],
            vec![
                "queries".to_owned(),
                format!("{}: {}", text::count(self.queries as u64, "query", "queries"), queries::about(&job.spec, job.cloud.axes())),
            ],
            vec!["search".to_owned(), format!("{asked}, {}", self.metric)],
            vec!["found".to_owned(), found],
            vec![
                "time".to_owned(),
                format!("{:.3} s{}, {} on {}", self.seconds, if self.index { " with the index" } else { "" }, self.engine, self.device),
            ],
        ];
        let written: Vec<String> = self.wrote.iter().chain(&self.graph).map(|path| path.display().to_string()).collect();
        if !written.is_empty() {
            rows.push(vec!["wrote".to_owned(), written.join(", ")]);
        }
        let mut all = text::table(&rows, &[]);
        let has_shown = shown.is_some();
        if let Some(shown) = shown {
            let lines: Vec<Vec<String>> = shown.lines().take(SHOWN + 1).map(|line| line.split('\t').map(str::to_owned).collect()).collect();
            let right: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).collect();
            all += &format!("\n{}", text::table(&lines, &right));
            let more = self.neighbors.saturating_sub(SHOWN as u64);
            if more > 0 {
                all += &format!("and {} more: --out FILE writes all\n", text::thousands(more));
            }
        }
        output::print(&all)?;
        if written.is_empty() && !has_shown {
            output::note("-o FILE writes the neighbours, and -o - prints them");
        }
        Ok(())
    }
}
