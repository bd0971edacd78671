//! `warpscope info`: describes a file and its cloud, a recording, or the folder that `run --out` wrote.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::bar::Bar;
use super::flags::{FileArgs, JsonArgs, SchemaArgs};
use super::output;
use crate::cloud::formats::{self, ColumnKind, DatasetInfo, FileInfo, FileStamp, FormatError};
use crate::cloud::{
    self, AutoColumns, Axis, CloudError, ColumnChoice, Duplicates, Fingerprint, PointCloud, Source,
};
use crate::export::text;
use crate::progress::Progress;
use crate::run::compare::{RUN, SavedRun};
use crate::run::recording::{self, CloudLoadMode, RecordedRun};
use crate::run::{CloudDescription, Phase, RunFile, SchemaVersion};
use crate::{files, printable};

#[derive(Debug, clap::Args)]
#[command(mut_args(|arg| if arg.get_id() == "columns" { arg.help_heading(None::<&str>) } else { arg }))]
pub struct InfoArgs {
    /// Cloud, recording or folder of `run --out` to describe
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    input: FileArgs,
    /// Count duplicates, before and after rounding to f32
    ///
    /// This may take several times as long as reading.
    #[arg(long)]
    duplicates: bool,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    schema: SchemaArgs,
}

/// # Errors
/// When the file cannot be read or does not have the columns that were given.
pub fn run(args: &InfoArgs) -> anyhow::Result<()> {
    if args.file.is_dir() {
        return info_of_folder(&args.file, args.json.json);
    }
    if recording::split_run(&args.file).is_some() {
        return info_of_runs(&args.file, args.json.json);
    }
    let report = Report::new(
        &args.input.path(&args.file),
        &args.input.columns.clone().unwrap_or_default(),
        args.duplicates,
        &Bar::new("reading the file"),
    )?;
    if args.json.json {
        output::print_report(&report, args.schema.schema)
    } else {
        output::print(&report.text())
    }
}

/// A file and its cloud.
#[derive(Debug, Serialize)]
struct Report {
    schema_version: u32,
    #[serde(flatten)]
    file: FileDescription,
    /// The data sets of a file that can hold several.
    datasets: Vec<DatasetInfo>,
    /// The cloud of the chosen or inferred columns, if there is one.
    cloud: Option<CloudInfo>,
    /// Why the file has no cloud.
    cloud_error: Option<String>,
}

/// The description of a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FileDescription {
    Whole(FileInfo),
    /// The file has several data sets, and none was selected.
    Open {
        #[serde(serialize_with = "crate::cloud::path_as_text")]
        path: PathBuf,
    },
}

#[derive(Debug, Serialize)]
struct CloudInfo {
    points: u64,
    dims: usize,
    axes: Vec<Axis>,
    /// Rows with NaN or ±∞, which are dropped.
    nonfinite_rows: u64,
    /// Duplicates, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<Duplicates>,
    fingerprint: Fingerprint,
}

impl Report {
    fn new(
        path: &Path,
        columns: &ColumnChoice,
        duplicates: bool,
        progress: &dyn Progress,
    ) -> anyhow::Result<Self> {
        let stamp = FileStamp::now(path);
        let datasets = formats::datasets(path, progress)?;
        let several = datasets.len() > 1 && formats::file_of(path) == path;
        let new = |file, cloud, cloud_error| Self {
            schema_version: SchemaVersion::default().number(),
            file,
            datasets,
            cloud,
            cloud_error,
        };
        let file = match formats::describe(path, progress) {
            Ok(file) => FileDescription::Whole(file),
            // Lists the data sets even if the selected one cannot be read.
            Err(why @ (FormatError::Ambiguous { .. } | FormatError::Unsupported { .. })) if several => {
                return Ok(new(FileDescription::Open { path: path.to_owned() }, None, Some(why.reason())));
            }
            Err(why) => return Err(why.into()),
        };
        let source = Source::File { path: path.to_owned(), columns: columns.clone() };
        let report = match cloud::load_auto(&source, AutoColumns::Inferred, true, progress) {
            Ok((cloud, _)) => new(file, Some(CloudInfo::new(&cloud, duplicates)), None),
            // The file does not have the chosen columns.
            Err(CloudError::Format(why)) if *columns != ColumnChoice::Default => return Err(why.into()),
            Err(CloudError::Cancelled) => return Err(CloudError::Cancelled.into()),
            Err(why) => new(file, None, Some(why.to_string())),
        };
        Ok(stamp.check(Ok(report))?)
    }

    fn text(&self) -> String {
        let out = match &self.file {
            FileDescription::Whole(file) => {
                let head = format!(
                    "{}\n{}; {}\n",
                    path_text(&file.path),
                    file.format,
                    text::count(file.rows, "row", "rows")
                );
                head + &self.datasets_text() + &columns_text(file)
            }
            FileDescription::Open { path } => format!("{}\n", path_text(path)) + &self.datasets_text(),
        };
        out + &self.cloud_text()
    }

    /// The data sets of the file, if there are several.
    fn datasets_text(&self) -> String {
        if self.datasets.len() < 2 {
            return String::new();
        }
        let row = |part: &DatasetInfo| match &part.unread {
            Some(why) => vec![format!("  {}", part.name), "not read".to_owned(), why.clone()],
            None => vec![format!("  {}", part.name), part.size(), part.about.clone()],
        };
        format!(
            "\ndata sets (FILE:NAME reads one)\n{}",
            text::table(&self.datasets.iter().map(row).collect::<Vec<_>>(), &[])
        )
    }

    fn cloud_text(&self) -> String {
        let mut out = "\ncloud\n".to_owned();
        let Some(cloud) = &self.cloud else {
            return out
                + &format!("  none: {}\n", printable::line(self.cloud_error.as_deref().unwrap_or_default()));
        };
        out += &format!(
            "  {} × {}\n",
            text::count(cloud.points, "point", "points"),
            text::count(cloud.dims as u64, "dimension", "dimensions")
        );
        if cloud.nonfinite_rows > 0 {
            out += &format!(
                "  {} dropped, with NaN or infinite values\n",
                text::count(cloud.nonfinite_rows, "row", "rows")
            );
        }
        let origin = |axis: &Axis| match axis.origin {
            0.0 => "origin 0".to_owned(),
            origin => format!("origin {origin}, to keep precision in 32-bit floats"),
        };
        let axes: Vec<_> = cloud
            .axes
            .iter()
            .map(|axis| {
                vec![format!("  {}", axis.name), format!("{} … {}", axis.min, axis.max), origin(axis)]
            })
            .collect();
        out += &text::table(&axes, &[]);
        if let Some(Duplicates { before_rounding, after_rounding }) = cloud.duplicates {
            let after = text::count(after_rounding, "duplicate", "duplicates");
            out += &format!(
                "  {after} as 32-bit floats, {} as in the file (points less distinct points)\n",
                text::thousands(before_rounding)
            );
        }
        out + &format!("  fingerprint {}\n", cloud.fingerprint)
    }
}

/// A path on one line.
fn path_text(path: &Path) -> String {
    printable::line(&path.to_string_lossy()).into_owned()
}

fn columns_text(FileInfo { rows, columns, searches, skipped, .. }: &FileInfo) -> String {
    let mut out = String::new();
    let mut lines = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let what = match (column.kind, column.min, column.max) {
            (ColumnKind::Numeric, Some(min), Some(max)) => {
                let shown =
                    |value: f64| column.moment.map_or_else(|| value.to_string(), |moment| moment.text(value));
                format!("{} … {}", shown(min), shown(max))
            }
            (ColumnKind::Numeric, ..) if *rows == 0 => "no values".to_owned(),
            (ColumnKind::Numeric, ..) => "no finite values".to_owned(),
            (ColumnKind::Text, ..) => {
                let example = format!("such as {:?}", column.example.as_deref().unwrap_or_default());
                // A column that is text from the first record needs no record number.
                column
                    .example_record
                    .filter(|&record| record > 0)
                    .map_or(example.clone(), |record| format!("{example} in record {record}"))
            }
            (ColumnKind::Empty, ..) => String::new(),
        };
        let mut odd = Vec::new();
        if column.missing > 0 && column.kind == ColumnKind::Numeric {
            odd.push(format!("{} missing", text::thousands(column.missing)));
        }
        if column.infinite > 0 {
            odd.push(format!("{} infinite", text::thousands(column.infinite)));
        }
        lines.push(vec![
            format!("  {at}"),
            column.name.clone(),
            column.role.name().to_owned(),
            what,
            odd.join(", "),
        ]);
    }
    out += "\ncolumns\n";
    out += &text::table(&lines, &[0]);
    out += &format!("  {}; override with --columns\n", printable::line(searches));
    for note in skipped {
        out += &format!("  {}\n", printable::line(note));
    }
    out
}

impl CloudInfo {
    fn new(cloud: &PointCloud, duplicates: bool) -> Self {
        Self {
            points: cloud.len() as u64,
            dims: cloud.dims(),
            axes: cloud.axes().to_vec(),
            nonfinite_rows: cloud.dropped(),
            duplicates: duplicates.then(|| cloud.duplicates()),
            fingerprint: cloud.fingerprint().clone(),
        }
    }
}

/// The version of the layout of `--json` for recordings and folders of runs.
const RUNS_SCHEMA_VERSION: u32 = 1;

/// A summary of runs.
#[derive(Debug, Serialize)]
struct RunsReport {
    #[serde(serialize_with = "crate::cloud::path_as_text")]
    path: PathBuf,
    format: &'static str,
    warpscope_version: String,
    /// Whether the recording includes the points of the clouds.
    points: bool,
    clouds: Vec<CloudDescription>,
    runs: Vec<RunReport>,
    /// Indices into `clouds`, by a key that is nearly unique.
    #[serde(skip)]
    seen: HashMap<(Fingerprint, String), Vec<usize>>,
}

#[derive(Debug, Serialize)]
struct RunReport {
    number: usize,
    name: String,
    pinned: bool,
    /// Index into the report's clouds.
    cloud: usize,
    query_cloud: Option<usize>,
    counted: bool,
    profiled: bool,
    run: RunFile,
}

/// Describes a recording, or one run of it.
///
/// # Errors
/// When it cannot be read.
fn info_of_runs(path: &Path, json: bool) -> anyhow::Result<()> {
    let Some((file, asked)) = recording::split_run(path) else {
        anyhow::bail!("not a recording: {}", path.display())
    };
    let recording = recording::read(&file, CloudLoadMode::Skip, &Bar::new("reading the recording"))?;
    let only = match &asked {
        Some(_) => Some(recording.pick(asked.as_deref(), &file)?),
        None => None,
    };
    let mut report = RunsReport::new(&file, "Warpscope recording", &recording.written_by);
    report.points = recording.points;
    for (at, recorded) in recording.runs.iter().enumerate() {
        if only.is_none_or(|only| std::ptr::eq(only, recorded)) {
            report.add(at + 1, recorded);
        }
    }
    let from = if report.points {
        ""
    } else {
        ", without points (read from the source file if it is in the recording's folder)"
    };
    let runs = text::count(report.runs.len() as u64, "run", "runs");
    report.print(&format!("of {runs}, by version {}{from}", report.warpscope_version), json)
}

/// Describes the folder of a run.
///
/// # Errors
/// When it cannot be read or was not written by `run --out`.
fn info_of_folder(dir: &Path, json: bool) -> anyhow::Result<()> {
    if !files::locate(dir, RUN).is_some_and(|run| run.is_file()) {
        anyhow::bail!(
            "cannot read: this folder has no {RUN}, so `run --out` did not write it; give a file: {}",
            dir.display()
        );
    }
    let saved = SavedRun::read(dir)?;
    let Some(run) = saved.file else {
        anyhow::bail!("cannot read: no {RUN} in the folder: {}", dir.display())
    };
    let cloud = CloudDescription {
        rows: run.summary.n,
        dropped: run.dropped_rows,
        source: run.spec.data.clone(),
        fingerprint: run.fingerprint.clone(),
        axes: run.axes.clone(),
    };
    let mut report = RunsReport::new(dir, "Warpscope run folder", &run.warpscope_version);
    report.clouds.push(cloud);
    report.runs.push(RunReport {
        number: 1,
        name: run.title(),
        pinned: false,
        cloud: 0,
        query_cloud: None,
        counted: !run.summary.measures.is_empty(),
        profiled: saved.phases.keys().any(|(_, phase)| *phase == Phase::Profiled),
        run,
    });
    report.print(
        &format!("by version {}; `warpscope compare` compares it with another run", report.warpscope_version),
        json,
    )
}

impl RunsReport {
    fn new(path: &Path, format: &'static str, version: &str) -> Self {
        Self {
            path: path.to_owned(),
            format,
            warpscope_version: version.to_owned(),
            points: false,
            clouds: Vec::new(),
            runs: Vec::new(),
            seen: HashMap::new(),
        }
    }

    fn print(&self, head: &str, json: bool) -> anyhow::Result<()> {
        if json {
            output::print_json(&output::versioned(RUNS_SCHEMA_VERSION, self))
        } else {
            output::print(&self.text(head))
        }
    }

    fn add(&mut self, number: usize, recorded: &RecordedRun) {
        let (cloud, queries) = recorded.run.clouds();
        let cloud = self.cloud_index(cloud);
        let query_cloud = queries.map(|queries| self.cloud_index(queries));
        let (counted, profiled) = (!recorded.run.measured().is_empty(), recorded.run.profile().is_some());
        let (name, pinned, run) = (recorded.name.clone(), recorded.pinned, recorded.run.head().clone());
        self.runs.push(RunReport { number, name, pinned, cloud, query_cloud, counted, profiled, run });
    }

    fn cloud_index(&mut self, cloud: CloudDescription) -> usize {
        let alike = self.seen.entry((cloud.fingerprint.clone(), cloud.source.to_string())).or_default();
        alike.iter().copied().find(|&at| self.clouds[at] == cloud).unwrap_or_else(|| {
            self.clouds.push(cloud);
            alike.push(self.clouds.len() - 1);
            self.clouds.len() - 1
        })
    }

    fn text(&self, head: &str) -> String {
        let mut out = format!(
            "{}\n{}, {}\n\nruns\n",
            printable::line(&self.path.to_string_lossy()),
            self.format,
            printable::line(head)
        );
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
            let (points, dims) = (
                text::count(cloud.rows, "point", "points"),
                text::count(cloud.axes.len() as u64, "dimension", "dimensions"),
            );
            let dropped = if cloud.dropped > 0 {
                format!(", {} dropped", text::count(cloud.dropped, "row", "rows"))
            } else {
                String::new()
            };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    fn report(content: &str, columns: &str) -> anyhow::Result<Report> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, content).unwrap();
        Report::new(&path, &columns.parse().unwrap(), true, &NoProgress)
    }

    #[test]
    fn info_describes_columns_and_points() {
        let report = report("name,x,y,w\na,1,2,0\nb,1,2,inf\nc,,3,1\nd,4918340.364,5,1\n", "").unwrap();
        let cloud = report.cloud.as_ref().unwrap();
        let FileDescription::Whole(FileInfo { rows, .. }) = report.file else { panic!("it has one cloud") };
        assert_eq!((rows, cloud.points, cloud.dims, cloud.nonfinite_rows), (4, 3, 2, 1));
        assert_eq!(cloud.duplicates, Some(Duplicates { before_rounding: 1, after_rounding: 1 }));
        assert_eq!((cloud.axes[0].min, cloud.axes[0].max), (1.0, 4_918_340.364));
        let text = report.text();
        for part in [
            "header; 4 rows",
            "name  text           such as \"a\"",
            "x     coordinate     1 … 4918340.364",
            "w     other numbers  0 … 1",
            "1 missing",
            "1 infinite",
            "3 points × 2 dimensions",
            "1 row dropped",
            "1 duplicate as 32-bit floats, 1 as in the file",
            "fingerprint ",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(
            (&json["rows"], &json["cloud"]["duplicates"]["after_rounding"], &json["cloud_error"]),
            (&4.into(), &1.into(), &serde_json::Value::Null)
        );
        assert_eq!((&json["schema_version"], &json["columns"][3]["role"]), (&2.into(), &"other".into()));
    }

    #[test]
    fn the_first_text_value_of_a_column_is_reported() {
        let report = report("a,b\n1,1\n2,2\n3,3o\n", "").unwrap();
        let text = report.text();
        assert!(
            text.contains("such as \"3o\" in record 2")
                && text.contains("none: line 4, record 2, column `b`: `3o` is not a number"),
            "{text}"
        );
    }

    #[test]
    fn origins_are_reported() {
        let text = report("x,y\n4918340.364,1\n4918381.12375,2\n", "").unwrap().text();
        assert!(
            text.contains("origin 4918360.743875001, to keep precision in 32-bit floats")
                && text.contains("origin 0"),
            "{text}"
        );
    }

    #[test]
    fn files_without_coordinates_are_described() {
        let report = report("a,b\nx,y\n", "").unwrap();
        assert!(
            report.cloud.is_none()
                && report.text().contains("none: no coordinates: no column holds only numbers"),
            "{}",
            report.text()
        );
        assert!(
            self::report("a,b\nx,y\n", "a")
                .unwrap_err()
                .to_string()
                .contains("record 0, column `a`: `x` is not a number")
        );
        assert!(self::report("a,b\n1,2\n", "c").is_err());
    }
}
