//! `warpscope tune`: finds the fastest policy of the kernel on this GPU.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::{output, values};
use crate::cloud::{self, Order, Source};
use crate::engines::cuda::{Cuda, Row, Trial, tune, updated_table};
use crate::export::text;
use crate::files;
use crate::knn::{Metric, Problem, ProblemParameters, Queries};
use crate::progress::NoProgress;

/// Find the fastest kernel configuration for this GPU
///
/// Tries warps, queries, windows, batches and tiles, compiled at run time by NVRTC, on uniform points, and
/// prints rows of cuda/direct/policy_table.cuh for this GPU. A program built with these rows is faster here
/// if build.rs names the GPU's architecture.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Numbers of neighbours; each is rounded up to a capacity
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "32,64,128,256,512,1024",
        value_parser = values::whole_in::<usize>(1..=1024)
    )]
    k: Vec<usize>,
    /// Numbers of dimensions to tune for
    ///
    /// The table has a row for 2, one for 3, and one for all others.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "2,3,8",
        value_parser = values::whole_in::<usize>(1..=1024)
    )]
    d: Vec<usize>,
    /// Number of points of each problem
    #[arg(
        long,
        value_name = "N",
        default_value = "1048576",
        value_parser = values::whole_in::<usize>(1..=1 << 30)
    )]
    n: usize,
    /// Numbers of queries; one problem each, equally weighted
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "65536,4096",
        value_parser = values::whole_in::<usize>(1..=1 << 24)
    )]
    queries: Vec<usize>,
    /// Timed repeats of each trial
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "3",
        value_parser = values::whole_in::<usize>(1..=1000)
    )]
    repeats: usize,
    /// Table file to update with the rows
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print every trial
    #[arg(long)]
    verbose: bool,
}

/// # Errors
/// Without a GPU or NVRTC, and when the table cannot be read or written.
pub fn run(args: &TuneArgs) -> anyhow::Result<()> {
    // Read first, so that a missing table is reported before the work.
    let read = |path: &PathBuf| {
        let text = files::read_small(path, 1 << 20)
            .and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        text.map_err(|error| anyhow::anyhow!("cannot read the table: {error}: {}", path.display()))
    };
    let table = args.write.as_ref().map(read).transpose()?;
    let mut cuda = Cuda::open()?;
    let mut rows: Vec<Row> = Vec::new();
    for &d in &args.d {
        for &k in &args.k {
            let problems: Vec<Problem> =
                args.queries.iter().map(|&q| uniform(args.n, q, d, k)).collect::<Result<_, _>>()?;
            let tuned = tune(&mut cuda, &problems, args.repeats, |trial, ratio| {
                if args.verbose {
                    // A closed pipe ends the tuner at its next result.
                    let _ = output::print(&format!("    {}\n", line(trial, ratio)));
                }
            })?;
            let before = tuned.before.outcome.as_deref().unwrap_or_default();
            output::print(&format!(
                "k = {k}, d = {d}\n  table  {}\n  best   {}",
                line(&tuned.before, 1.0),
                line(&tuned.best, tuned.best.ratio(before))
            ))?;
            rows.retain(|row| (row.capacity, row.dims) != (tuned.row.capacity, tuned.row.dims));
            rows.push(tuned.row);
            // Saved after each result, so that a later failure loses nothing.
            if let (Some(path), Some(table)) = (&args.write, &table) {
                crate::export::write(path, |file| {
                    std::io::Write::write_all(file, updated_table(table, &rows).as_bytes())
                })?;
            }
        }
    }
    output::print(&updated_table("", &rows))
}

/// Uniform points and separate uniform queries.
fn uniform(n: usize, q: usize, d: usize, k: usize) -> anyhow::Result<Problem> {
    let generated = |count, seed| Source::Generate { spec: format!("uniform:n={count},d={d}"), seed };
    let cloud = Arc::new(cloud::load(&generated(n, 0), false, &NoProgress)?);
    let queries = cloud::load_queries(&generated(q, 1), &cloud, false, &NoProgress)?;
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 0,
        exclude_self: false,
        drop_zero_rows: false,
    };
    Ok(Problem::new(&cloud, &Queries::Cloud(Arc::new(queries)), setup)?)
}

fn line(trial: &Trial, ratio: f64) -> String {
    match &trial.outcome {
        Ok(times) => format!(
            "{ratio:.3}  {}  {}",
            times.iter().map(|&ms| text::time(ms)).collect::<Vec<_>>().join(", "),
            trial.policy
        ),
        Err(why) => format!("excluded: {why}  {}", trial.policy),
    }
}
