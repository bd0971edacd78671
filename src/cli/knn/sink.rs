//! The destination of neighbours of all goals: room on the disk, notes, the file or standard output, and the report.

use std::io::BufWriter;
use std::path::Path;

use anyhow::Context as _;

use super::out::OutArgs;
use super::report::{Report, SHOWN, Tally};
use crate::cli::answer::{Answered, empty_ranks};
use crate::cli::graph::GraphArgs;
use crate::cli::job::Job;
use crate::cli::{output, queries, room};
use crate::export::answers::{Context, of_query, table};
use crate::export::{self, FileColumns, NeighborFormat, NeighborStream, Size};
use crate::knn::Goal;
use crate::run::{Batch, Batches};

/// Takes the neighbours of a job's search to their destination.
pub struct Sink<'a> {
    pub job: &'a Job,
    pub goal: Goal,
    pub size: Size,
    pub columns: FileColumns,
    pub out: &'a OutArgs,
    pub graph: &'a GraphArgs,
}

impl<'a> Sink<'a> {
    pub fn new((job, goal): (&'a Job, Goal), batches: &Batches, columns: FileColumns, out: &'a OutArgs, graph: &'a GraphArgs) -> Self {
        let size = Size { q: batches.queries(), k: batches.k(), metric: job.spec.metric };
        Self { job, goal, size, columns, out, graph }
    }

    /// Checks that the disk has room, and prints notes on the size, the rows of the queries and empty ranks; for the nearest only.
    ///
    /// # Errors
    /// As [`room::of_file`].
    pub fn announce(&self) -> anyhow::Result<()> {
        let (size, n, asked) = (self.size, self.job.cloud.len(), &self.job.spec.queries);
        if self.goal != Goal::Nearest {
            return Ok(());
        }
        match (self.out.file(), self.out.printed()) {
            (Some(file), _) => {
                room::of_file(file, size, n)?;
                queries::note_rows_left_out(asked, NeighborFormat::of(file)?, file);
            }
            (None, Some(format)) => {
                room::of_stdout(format, size, n);
                if format == NeighborFormat::Npy {
                    queries::note_rows_left_out(asked, NeighborFormat::Npy, Path::new("stdout"));
                }
            }
            (None, None) if self.graph.file().is_none() => room::of_nothing(size, n),
            (None, None) => {}
        }
        if let Some(note) = empty_ranks(&self.job.spec, n as u64) {
            output::note(&note);
        }
        Ok(())
    }

    /// Takes what a search hands over, batch by batch as it is found, and reports on it unless it was printed. `input` is how the cloud was named.
    ///
    /// # Errors
    /// Those of the search and of writing.
    pub fn fill(
        self,
        input: &Path,
        search: impl FnOnce(&mut dyn FnMut(Batch<'_>) -> anyhow::Result<()>) -> anyhow::Result<Answered>,
    ) -> anyhow::Result<()> {
        let provenance = self.job.provenance(self.goal);
        let context = Context { columns: &self.columns, provenance: &provenance };
        if let Some(format) = self.out.printed() {
            // Numbers, names of ours, and what readers have made safe: nothing that could command a terminal.
            let begin = || output::written(NeighborStream::new(format, self.size, context, BufWriter::with_capacity(1 << 16, std::io::stdout())));
            // Begun with the first neighbours: a search that is refused prints nothing.
            let mut begun = None;
            search(&mut |batch| {
                let rows = match &mut begun {
                    Some(rows) => rows,
                    none => none.insert(begin()?),
                };
                output::written(rows.append(batch))
            })?;
            let rows = begun.map_or_else(begin, Ok)?;
            return output::written(rows.finish());
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
                        let table = if nearest { of_query(head, &self.columns) } else { table(head, &self.columns, &provenance) };
                        table.tsv()
                    });
                    Ok(())
                })?);
            }
        }
        let answered = answered.context("nothing was searched")?;
        let wrote = [self.out.file(), self.graph.file().map(|path| &**path)];
        Report::new(input, (self.job, self.goal), self.size.q, tally, answered, wrote).print(self.job, self.out.json(), shown)
    }
}
