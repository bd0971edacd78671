//! `warpscope info` of runs: what a recording holds, or the folder that `run --out` wrote.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::bar::Bar;
use super::output;
use crate::cloud::Fingerprint;
use crate::export::text;
use crate::files;
use crate::printable;
use crate::run::compare::{RUN, SavedRun};
use crate::run::recording::{self, Points, Recorded};
use crate::run::{CloudFile, Phase, RunFile};

/// The version of what `info --json` prints, of files and recordings.
pub const SCHEMA_VERSION: u32 = 1;

/// Runs in a few lines.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(serialize_with = "crate::cloud::path_as_text")]
    path: std::path::PathBuf,
    format: &'static str,
    warpscope_version: String,
    /// Whether the clouds' points are in it.
    points: bool,
    clouds: Vec<CloudFile>,
    runs: Vec<RunReport>,
    /// Places in `clouds`, by what tells most of them apart.
    #[serde(skip)]
    seen: HashMap<(Fingerprint, String), Vec<usize>>,
}

#[derive(Debug, Serialize)]
struct RunReport {
    number: usize,
    name: String,
    pinned: bool,
    /// Its place in the report's clouds.
    cloud: usize,
    query_cloud: Option<usize>,
    counted: bool,
    profiled: bool,
    run: RunFile,
}

/// Describes a recording, or one run of it.
///
/// # Errors
/// When it is not read.
pub fn info(path: &Path, json: bool) -> anyhow::Result<()> {
    let Some((file, asked)) = recording::split_run(path) else { anyhow::bail!("not a recording: {}", path.display()) };
    let recording = recording::read(&file, Points::Leave, &Bar::new("reading the recording"))?;
    let only = match &asked {
        Some(_) => Some(recording.pick(asked.as_deref(), &file)?),
        None => None,
    };
    let mut report = Report {
        path: file.clone(),
        format: "Warpscope recording",
        warpscope_version: recording.written_by.clone(),
        points: recording.points,
        clouds: vec![],
        runs: vec![],
        seen: HashMap::new(),
    };
    for (at, recorded) in recording.runs.iter().enumerate() {
        if only.is_none_or(|only| std::ptr::eq(only, recorded)) {
            report.add(at + 1, recorded);
        }
    }
    let from = if report.points { "" } else { ", without points (read from the source file if it is in the recording's folder)" };
    let head = format!("of {}, by version {}{from}", text::count(report.runs.len() as u64, "run", "runs"), report.warpscope_version);
    if json { output::print_json(&output::versioned(SCHEMA_VERSION, &report)) } else { output::print(&report.text(&head)) }
}

/// Describes the folder of a run.
///
/// # Errors
/// When it is not read, and when it is another folder.
pub fn info_of_folder(dir: &Path, json: bool) -> anyhow::Result<()> {
    if !files::place(dir, RUN).is_some_and(|run| run.is_file()) {
        anyhow::bail!("cannot read: it is a folder, and no `run --out` wrote it, as there is no {RUN} in it; name a file: {}", dir.display());
    }
    let saved = SavedRun::read(dir)?;
    let Some(run) = saved.file else { anyhow::bail!("cannot read: there is no {RUN} in it: {}", dir.display()) };
    let cloud = CloudFile {
        rows: run.summary.n,
        dropped: run.dropped_rows,
        source: run.spec.data.clone(),
        fingerprint: run.fingerprint.clone(),
        axes: run.axes.clone(),
    };
    let report = Report {
        path: dir.to_owned(),
        format: "Warpscope run folder",
        warpscope_version: run.warpscope_version.clone(),
        points: false,
        clouds: vec![cloud],
        runs: vec![RunReport {
            number: 1,
            name: run.title(),
            pinned: false,
            cloud: 0,
            query_cloud: None,
            counted: !run.summary.measures.is_empty(),
            profiled: saved.phases.keys().any(|(_, phase)| *phase == Phase::Profiled),
            run,
        }],
        seen: HashMap::new(),
    };
    let head = format!("by version {}; `compare` sets it beside another run", report.warpscope_version);
    if json { output::print_json(&output::versioned(SCHEMA_VERSION, &report)) } else { output::print(&report.text(&head)) }
}

impl Report {
    fn add(&mut self, number: usize, recorded: &Recorded) {
        let (cloud, queries) = recorded.run.clouds();
        let cloud = self.place(cloud);
        let query_cloud = queries.map(|queries| self.place(queries));
        let (counted, profiled) = (!recorded.run.measured().is_empty(), recorded.run.profile().is_some());
        let (name, pinned, run) = (recorded.name.clone(), recorded.pinned, recorded.run.head().clone());
        self.runs.push(RunReport { number, name, pinned, cloud, query_cloud, counted, profiled, run });
    }

    fn place(&mut self, cloud: CloudFile) -> usize {
        let alike = self.seen.entry((cloud.fingerprint.clone(), cloud.source.to_string())).or_default();
        alike.iter().copied().find(|&at| self.clouds[at] == cloud).unwrap_or_else(|| {
            self.clouds.push(cloud);
            alike.push(self.clouds.len() - 1);
            self.clouds.len() - 1
        })
    }

    fn text(&self, head: &str) -> String {
        let mut out = format!("{}\n{}, {}\n\nruns\n", printable::line(&self.path.to_string_lossy()), self.format, printable::line(head));
        let head = ["#", "name", "search, median", "least to most", "of", "rate", "device", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for report in &self.runs {
            let (run, summary) = (&report.run, &report.run.summary);
            let mut also = Vec::new();
            also.extend(report.pinned.then_some("pinned"));
            also.extend(report.counted.then_some("counters"));
            also.extend(report.profiled.then_some("profile"));
            rows.push(vec![
                report.number.to_string(),
                report.name.clone(),
                text::time(summary.search_ms_median),
                format!("{} to {}", text::time(summary.search_ms_min), text::time(summary.search_ms_max)),
                run.spec.repeats.to_string(),
                summary.distances_per_second.map_or_else(|| "–".to_owned(), text::rate),
                run.device.name.clone(),
                also.join(", "),
            ]);
        }
        out += &text::table(&rows, &[0, 2, 4, 5]);
        out += "\nclouds\n";
        for cloud in &self.clouds {
            let (points, dims) = (text::count(cloud.rows, "point", "points"), text::count(cloud.axes.len() as u64, "dimension", "dimensions"));
            let dropped = if cloud.dropped > 0 { format!(", {} left out", text::count(cloud.dropped, "row", "rows")) } else { String::new() };
            out += &format!(
                "  {}: {points} × {dims}{dropped}; {}; fingerprint {}\n",
                printable::line(&cloud.source.to_string()),
                output::columns(&cloud.axes),
                printable::line(&cloud.fingerprint.0)
            );
        }
        out
    }
}
