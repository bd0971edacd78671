//! `warpscope knn --metric inner-product`: the rows whose inner product with a query is largest.

use std::time::Instant;

use anyhow::{Context, anyhow, bail};

use super::report::{Report, SHOWN};
use super::{KnnArgs, out};
use crate::cli::bar::Bar;
use crate::cli::job::{Job, Request, check_device};
use crate::cli::output;
use crate::cli::usage::Usage;
use crate::engines::registry;
use crate::export::StreamFormat;
use crate::export::inner_product::{self as files, Found};
use crate::knn::{Descriptor, DeviceId, NONE, Parameters};
use crate::run::EngineChoice;
use crate::run::inner_product::{self, InnerProductError};

/// What holds whatever is in the files.
pub fn check(args: &KnnArgs, request: &Request) -> anyhow::Result<()> {
    if args.own.exclude_self {
        request.check_own("--exclude-self")?;
    }
    check_device(request.device, &request.engines)?;
    if args.radius.is_some() {
        bail!(Usage("--radius: an inner product is no distance; leave --radius out, or take another --metric".to_owned()));
    }
    let columns = args.out.columns().map(|(flag, names)| (flag, !names.is_empty()));
    let flags = [("--dry-run", args.dry_run), ("--graph", args.graph.file().is_some()), ("--self-first", args.self_first)];
    if let Some((flag, _)) = flags.into_iter().chain(columns).find(|&(_, given)| given) {
        bail!(Usage(format!("{flag}: it goes with distances, and not with --metric inner-product")));
    }
    if args.out.printed() == Some(StreamFormat::Npy) {
        bail!(Usage("--format npy: row numbers alone are not what an inner product is asked for; take csv, arrow or parquet".to_owned()));
    }
    if let Some(device @ DeviceId::Gpu(_)) = request.device {
        bail!(Usage(format!("--device {device}: inner products are searched on the CPU; leave --device out")));
    }
    if let EngineChoice::Named(method) = &args.engine.engine {
        if registry::find(method.engine).is_some_and(|engine| engine.inner_products.is_none()) {
            bail!(Usage(InnerProductError::Engine { engine: method.engine }.to_string()));
        }
        if method.parameters != Parameters::NONE {
            bail!(Usage(format!("--engine {}: a search by inner product has no parameters", args.engine.engine)));
        }
    }
    let most = engine(args)?.limits.k;
    if !(1..=most).contains(&request.k) {
        bail!(Usage(format!("k = {}: neighbours per query go from 1 to {most} by inner product", request.k)));
    }
    Ok(())
}

fn engine(args: &KnnArgs) -> anyhow::Result<&'static Descriptor> {
    match &args.engine.engine {
        EngineChoice::Auto => Ok(inner_product::usual()),
        EngineChoice::Named(method) => registry::find(method.engine).ok_or_else(|| anyhow!("there is no engine {}", method.engine)),
    }
}

pub fn run(args: &KnnArgs, job: &Job) -> anyhow::Result<()> {
    let start = Instant::now();
    let products = inner_product::build(&job.spec, &job.cloud, job.query_cloud.as_ref())?;
    let engine = engine(args)?;
    let found = inner_product::largest(&products, engine, &Bar::new("searching"))?;
    let seconds = start.elapsed().as_secs_f64();
    let shape = products.shape();
    let queried = job.queried()?;
    let rows: Vec<u64> = (0..shape.q).map(|query| queried.record(products.query_row(query) as usize)).collect();
    let rows = (!job.is_at_place()).then_some(&rows[..]);
    let provenance = job.provenance();
    let all = Found { cloud: &job.cloud, products: &found, k: shape.k, rows, provenance: &provenance };
    if let Some(format) = args.out.printed() {
        let mut printed = format.appender(out::stdout()).ok().context("a matrix is refused before the search")?;
        return output::written(printed.append(&files::table(all)).and_then(|()| printed.finish()));
    }
    if let Some(out) = args.out.file() {
        files::inner_products(all, out)?;
    }
    let report = Report {
        k: Some(job.spec.k),
        neighbors: found.iter().filter(|product| product.row != NONE).count() as u64,
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        ..Report::new(args, job, shape.q, seconds)
    };
    let shown = args.out.shows(report.queries).then(|| files::table(Found { products: &found[..found.len().min(SHOWN)], ..all }).tsv());
    report.print(args, job, shown)
}
