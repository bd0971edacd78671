//! The list of runs, and the comparison of two, as CSV.

use std::io::{self, Write};

use crate::printable::cell;
use crate::run::RunFile;
use crate::run::compare::Comparison;
use crate::text::Exact;

/// `name,pinned,started_unix,engine,device,n,q,d,k,metric,order,exclude_self,seed,warmup,repeats,search_ms_median,search_ms_min,`
/// `search_ms_max,distances_per_second,mean_NAME…,fingerprint`: a row for each run, with the mean of each measure that any of them
/// counted.
///
/// # Errors
/// I/O errors of the writer.
pub fn runs<'a>(runs: impl IntoIterator<Item = (&'a str, bool, &'a RunFile)>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let runs: Vec<_> = runs.into_iter().collect();
    let mut measures: Vec<&str> = Vec::new();
    for measure in runs.iter().flat_map(|(.., run)| &run.summary.measures) {
        if !measures.contains(&measure.name.as_str()) {
            measures.push(&measure.name);
        }
    }
    let mut table = csv::Writer::from_writer(out);
    const BEFORE: [&str; 19] = [
        "name",
        "pinned",
        "started_unix",
        "engine",
        "device",
        "n",
        "q",
        "d",
        "k",
        "metric",
        "order",
        "exclude_self",
        "seed",
        "warmup",
        "repeats",
        "search_ms_median",
        "search_ms_min",
        "search_ms_max",
        "distances_per_second",
    ];
    let means = measures.iter().map(|name| format!("mean_{name}"));
    table.write_record(BEFORE.map(str::to_owned).into_iter().chain(means).chain(["fingerprint".to_owned()]))?;
    for (name, pinned, run) in runs {
        let (spec, summary) = (&run.spec, &run.summary);
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| Exact(value).to_string());
        let before = [
            cell(name).into_owned(),
            pinned.to_string(),
            run.started_unix.to_string(),
            run.engine.to_string(),
            cell(&run.device.name).into_owned(),
            summary.n.to_string(),
            summary.q.to_string(),
            summary.d.to_string(),
            spec.k.to_string(),
            spec.metric.to_string(),
            spec.order.name().to_owned(),
            spec.exclude_self.to_string(),
            spec.seed.to_string(),
            spec.warmup.to_string(),
            spec.repeats.to_string(),
            number(Some(summary.search_ms_median)),
            number(Some(summary.search_ms_min)),
            number(Some(summary.search_ms_max)),
            number(summary.distances_per_second),
        ];
        let means = measures.iter().map(|name| number(summary.measure(name).map(|measure| measure.mean)));
        table.write_record(before.into_iter().chain(means).chain([run.fingerprint.to_string()]))?;
    }
    table.flush()
}

/// `what,name,a,b,difference,ratio,a_lower_quartile,a_upper_quartile,b_lower_quartile,b_upper_quartile,a_repeats,b_repeats,verdict,ratio_lower,ratio_upper,a_excluded,b_excluded`:
/// one row per phase (`phase_ms`: medians and quartiles in milliseconds), per parameter and, if both runs had the same
/// queries, for the answers (`queries` of both, and those with `other_rows` and `other_distances`).
///
/// # Errors
/// I/O errors of the writer.
pub fn comparison(comparison: &Comparison, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    /// Of a row that is no phase's.
    const VERDICT: usize = 12;
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "what",
        "name",
        "a",
        "b",
        "difference",
        "ratio",
        "a_lower_quartile",
        "a_upper_quartile",
        "b_lower_quartile",
        "b_upper_quartile",
        "a_repeats",
        "b_repeats",
        "verdict",
        "ratio_lower",
        "ratio_upper",
        "a_excluded",
        "b_excluded",
    ])?;
    for phase in &comparison.phases {
        let exact = |value: f64| Exact(value).to_string();
        table.write_record([
            "phase_ms".to_owned(),
            phase.phase.name().to_owned(),
            exact(phase.a.median),
            exact(phase.b.median),
            exact(phase.delta_ms),
            phase.ratio.map_or_else(String::new, exact),
            exact(phase.a.lower_quartile),
            exact(phase.a.upper_quartile),
            exact(phase.b.lower_quartile),
            exact(phase.b.upper_quartile),
            phase.a.repeats.to_string(),
            phase.b.repeats.to_string(),
            phase.text(),
            phase.interval.map_or_else(String::new, |of| exact(of.lower)),
            phase.interval.map_or_else(String::new, |of| exact(of.upper)),
            phase.a.excluded.to_string(),
            phase.b.excluded.to_string(),
        ])?;
    }
    let mut short = |cells: [&str; 4], verdict: &str| {
        let mut row = [""; VERDICT + 5];
        row[..4].copy_from_slice(&cells);
        row[VERDICT] = verdict;
        table.write_record(row)
    };
    for parameter in &comparison.parameters {
        short(["parameter", &cell(&parameter.name), &cell(&parameter.a), &cell(&parameter.b)], if parameter.differs() { "differs" } else { "" })?;
    }
    if let Some(answers) = &comparison.answers {
        let counts = [("queries", answers.queries), ("other_rows", answers.other_rows), ("other_distances", answers.other_distances)];
        for (name, count) in counts {
            short(["answers", name, &count.to_string(), ""], "")?;
        }
    }
    table.flush()
}
