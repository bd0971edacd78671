//! `knn --radius`: all neighbours within a distance, by an engine that lists them.

use std::time::Instant;

use anyhow::{Context, anyhow, bail};

use super::report::{Report, SHOWN};
use super::{KnnArgs, out};
use crate::cli::bar::Bar;
use crate::cli::job::Job;
use crate::cli::output;
use crate::cli::usage::Usage;
use crate::engines::registry;
use crate::export::FileColumns;
use crate::export::provenance::Provenance;
use crate::export::table::TableFormat;
use crate::export::within::{self as files, Asked};
use crate::knn::{Descriptor, DeviceId, Metric, Parameters, Problem};
use crate::run::within::{self, Neighborhoods, WithinError};
use crate::run::{EngineChoice, RunSpec, build_problem};

/// What holds of a radius whatever is in the files.
pub fn check(args: &KnnArgs, radius: &str) -> anyhow::Result<()> {
    number_and_unit(radius)?;
    if let Some(device @ DeviceId::Gpu(_)) = args.engine.device.device {
        bail!(Usage(format!("--device {device}: --radius searches on the CPU; leave --device out")));
    }
    if let EngineChoice::Named(method) = &args.engine.engine {
        if registry::find(method.engine).is_some_and(|engine| engine.within.is_none()) {
            bail!(Usage(WithinError::Engine { engine: method.engine }.to_string()));
        }
        if method.parameters != Parameters::NONE {
            bail!(Usage(format!("--engine {}: a search by radius has no parameters", args.engine.engine)));
        }
    }
    Ok(())
}

/// The parts of a length such as `5km`: the number, also as it was typed, and the unit.
fn number_and_unit(text: &str) -> anyhow::Result<(f64, &str, &str)> {
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok((value, number, unit)),
        _ => bail!(Usage(format!("--radius: `{text}` is not a distance: write a number of 0 or more"))),
    }
}

/// A length such as `5km`, in the metric's unit.
pub fn length(text: &str, metric: Metric) -> anyhow::Result<f64> {
    let (value, number, unit) = number_and_unit(text)?;
    let units: &[(&str, f64)] = match metric {
        Metric::L2 => &[("", 1.0)],
        Metric::Angular => &[("", 1.0), ("rad", 1.0), ("deg", std::f64::consts::PI / 180.0)],
        Metric::Cosine => &[("", 1.0)],
        Metric::Sky => &[("", 1.0), ("deg", 1.0), ("arcmin", 1.0 / 60.0), ("arcsec", 1.0 / 3600.0), ("rad", 180.0 / std::f64::consts::PI)],
        Metric::Haversine => &[("", 1.0), ("km", 1.0), ("m", 0.001), ("mi", 1.609_344), ("nmi", 1.852)],
    };
    match units.iter().find(|(name, _)| *name == unit) {
        Some(_) if metric == Metric::Cosine && value > 2.0 => {
            bail!(Usage(format!("--radius {number}: a cosine distance, 1 − cos of the angle, is from 0 to 2")))
        }
        Some((_, factor)) => Ok(value * factor),
        None if metric == Metric::L2 => {
            bail!(Usage(format!("--radius: with the l2 metric a distance is in the cloud's own unit: write {number}, not `{text}`")))
        }
        None if metric == Metric::Cosine => {
            bail!(Usage(format!("--radius: a cosine distance, 1 − cos of the angle, is from 0 to 2 and has no unit: write {number}, not `{text}`")))
        }
        None => {
            let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
            bail!(Usage(format!("--radius: the {metric} metric has no unit `{unit}`: use {}", known.join(", "))))
        }
    }
}

/// All within a radius.
pub fn all_within(args: &KnnArgs, job: &Job, radius: f64, columns: &FileColumns) -> anyhow::Result<()> {
    let start = Instant::now();
    let spec = RunSpec { k: 1, ..job.spec.clone() };
    let problem = build_problem(&spec, &job.cloud, job.query_cloud.as_ref())?;
    let engine = engine(args, &problem)?;
    let queried = job.queried()?;
    let search = within::Search::new(&problem, &queried, engine, radius)?;
    let rows: Vec<u32> = (0..problem.q()).map(|query| problem.query_row(query)).collect();
    let queries = (!job.is_at_place()).then_some((&*queried, &rows[..]));
    let provenance = Provenance { k: None, radius: Some(radius), ..job.provenance() };
    let asked = Asked { cloud: &job.cloud, metric: spec.metric, queries, columns, provenance: &provenance };
    let (mut neighbors, mut without, mut most, mut first) = (0, 0, 0, None);
    let mut ordered = |mut found: Neighborhoods| {
        if args.self_first {
            found.put_own_first(|query| rows[query]);
        }
        let counts = || (0..found.queries()).map(|query| found.count(query));
        neighbors += found.rows.len() as u64;
        without += counts().filter(|&count| count == 0).count() as u64;
        most = counts().fold(most, u64::max);
        if args.out.shows(rows.len()) {
            first = Some(found.first(SHOWN));
        }
        found
    };
    let bar = Bar::new("searching");
    if let Some(format) = args.out.printed() {
        let mut printed = format.appender(out::stdout()).ok().context("a matrix is refused before the search")?;
        search.in_parts(&bar, |found| output::written(printed.append(&files::table(&ordered(found), asked))))?;
        return output::written(printed.finish());
    }
    match args.out.file() {
        Some(out) if TableFormat::of(out)? == TableFormat::Npz => files::arrays(&ordered(search.all(&bar)?), asked, out)?,
        Some(out) => files::in_parts(out, |append| {
            search.in_parts(&bar, |found| -> anyhow::Result<()> { Ok(append(&files::table(&ordered(found), asked))?) })
        })?,
        None => search.in_parts(&bar, |found| -> anyhow::Result<()> {
            ordered(found);
            Ok(())
        })?,
    }
    let report = Report {
        radius: Some(radius),
        neighbors,
        without: Some(without),
        most: Some(most),
        // No other engines list what is within a radius.
        index: true,
        engine: engine.id.to_string(),
        device: "CPU".to_owned(),
        ..Report::new(args, job, rows.len(), start.elapsed().as_secs_f64())
    };
    report.print(args, job, first.map(|first| files::table(&first, asked).tsv()))
}

/// The engine that was asked for, or the usual one.
fn engine(args: &KnnArgs, problem: &Problem) -> anyhow::Result<&'static Descriptor> {
    match &args.engine.engine {
        EngineChoice::Auto => Ok(within::usual(problem)),
        EngineChoice::Named(method) => registry::find(method.engine).ok_or_else(|| anyhow!("there is no engine {}", method.engine)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        for (text, metric, want) in [
            ("5km", Metric::Haversine, 5.0),
            ("500 m", Metric::Haversine, 0.5),
            ("2", Metric::Haversine, 2.0),
            ("1e-1mi", Metric::Haversine, 0.160_934_4),
            ("180deg", Metric::Angular, std::f64::consts::PI),
            ("1.5e3", Metric::L2, 1500.0),
        ] {
            assert!((length(text, metric).unwrap() - want).abs() < 1e-12, "{text}");
        }
        let refused = |text: &str, metric| length(text, metric).unwrap_err().to_string();
        assert_eq!(refused("5km", Metric::L2), "--radius: with the l2 metric a distance is in the cloud's own unit: write 5, not `5km`");
        assert_eq!(refused("5ft", Metric::Haversine), "--radius: the haversine metric has no unit `ft`: use km, m, mi, nmi");
        for text in ["-1", "nan", "inf", "", "km", "1,5"] {
            assert_eq!(refused(text, Metric::Haversine), format!("--radius: `{text}` is not a distance: write a number of 0 or more"), "{text}");
        }
    }
}
