//! Exports of panes, selections, pictures and runs.
//!
//! | module | role |
//! |---|---|
//! | `state` | kinds of export, and the dialog's state |
//! | `apply` | opens the dialog, starts exports, reports results |
//! | `controls` | the dialog |

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::analysis::state::{AnalysisKind, AnalysisResults, FileComparison, LeakResult};
use super::color::state::channel::{Channel, ColoringState, PointSet};
use super::picking::lookup;
use super::picking::state::{ExtraCells, ExtraColumns};
use super::runs::state::RunComparison;
use crate::app::model::log::Entry;
use crate::app::model::{QueryAnswer, Session};
use crate::cloud::{PointCloud, Source};
use crate::exact::RowVectors;
use crate::export::table::Table;
use crate::export::{NeighborFormat, tables, write};
use crate::progress::Progress;
use crate::run::{RunFile, RunRecord};

pub mod apply;
pub mod controls;
pub mod state;

/// A pane's data, independent of the window so that a thread can write it.
pub enum PaneData {
    /// Record numbers and coordinates of all points.
    Points(Arc<PointCloud>),
    /// Selected rows with all known values.
    Rows(Box<SelectionExport>),
    /// The picked query's neighbours, with the file's other columns.
    Neighbors(QueryAnswer, Option<ExtraColumns>),
    AllNeighbors(Arc<RunRecord>),
    /// The analysis of all rows, and comparisons.
    Analysis(Arc<AnalysisResults>, Vec<Arc<FileComparison>>),
    /// Comparisons with other files.
    FileComparisons(Vec<Arc<FileComparison>>),
    /// The rows of another file, each with the nearest row here.
    Leaks(Arc<FileComparison>),
    Timings(Arc<RunRecord>),
    /// Phases and warps over time.
    Timeline(Arc<RunRecord>),
    /// The same in Chrome Trace format.
    Trace(Arc<RunRecord>),
    Merges(Arc<RunRecord>),
    Convergence(Arc<RunRecord>),
    Comparison(Arc<RunComparison>),
    /// The list of runs: name, whether pinned, contents.
    Runs(Vec<(String, bool, RunFile)>),
    Log(Vec<Entry>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedFiles {
    pub paths: Vec<PathBuf>,
    /// Number of rows of a table.
    pub rows: Option<usize>,
    /// What could not be included, and why, as a sentence for the log.
    pub left_out: Option<String>,
}

impl From<Vec<PathBuf>> for ExportedFiles {
    fn from(paths: Vec<PathBuf>) -> Self {
        Self { paths, ..Self::default() }
    }
}

impl PaneData {
    /// Writes the data as CSV.
    ///
    /// # Errors
    /// If writing to `to` fails.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        if let Some(table) = self.table() {
            return table.csv(to);
        }
        match self {
            Self::Trace(record) => crate::export::trace(record, to),
            Self::Comparison(compared) => crate::export::comparison(&compared.comparison, to),
            Self::Runs(runs) => {
                crate::export::runs(runs.iter().map(|(name, pinned, run)| (name.as_str(), *pinned, run)), to)
            }
            Self::Log(entries) => log(entries, to),
            // Tables were written above, unless they are empty.
            _ => Ok(()),
        }
    }

    /// The data as a typed table, if possible.
    pub fn table(&self) -> Option<Table<'_>> {
        match self {
            Self::Points(cloud) => Some(tables::points(cloud, None)),
            Self::Rows(selected) => Some(selected.table(None)),
            Self::Neighbors(answered, other_columns) => {
                let table = tables::neighbors_of_query(&answered.record, answered.query);
                Some(other_columns.iter().fold(table, |table, columns| columns.with(table)))
            }
            Self::AllNeighbors(record) => Some(tables::neighbors(record, 0..record.neighbors.queries())),
            Self::Analysis(of, comparisons) => {
                let (rows, cloud) = (&of.record.query_rows, &of.record.cloud);
                let record = |point| cloud.record(rows[point] as usize);
                let table = crate::export::graph::analysis(rows.len(), record, &of.all);
                Some(comparisons.iter().fold(table, |table, other| other.with(table, move |at| rows[at])))
            }
            Self::FileComparisons(comparisons) => {
                let cloud = &comparisons.first()?.cloud;
                let table = Table::new(cloud.len()).with("row", |row| cloud.record(row));
                Some(comparisons.iter().fold(table, |table, other| other.with(table, |row| row as u32)))
            }
            Self::Leaks(comparison) => {
                let LeakResult { theirs, record } = comparison.leaks.as_ref()?;
                Some(crate::export::graph::leaks(
                    theirs,
                    record.query_cloud.as_ref()?,
                    &record.query_rows,
                    &record.cloud,
                ))
            }
            Self::Timings(record) => Some(tables::timings(record)),
            Self::Timeline(record) => Some(tables::timeline(record)),
            Self::Merges(record) => Some(tables::counters(record)),
            Self::Convergence(record) => Some(tables::convergence(record)),
            Self::Trace(_) | Self::Comparison(_) | Self::Runs(_) | Self::Log(_) => None,
        }
    }

    /// Writes the data in the format of the extension, which the caller has checked with
    /// `ExportKind::refuses`.
    ///
    /// # Errors
    /// `cannot write: why: path`.
    pub fn save(&self, path: &Path, progress: &dyn Progress) -> Result<ExportedFiles, String> {
        if let Self::Rows(selected) = self {
            // The points can be written even if the file is gone.
            let (other_columns, left_out) = match selected.read_other_columns(progress) {
                Ok(other_columns) => (other_columns, None),
                Err(why) => (
                    None,
                    Some(format!(
                        "rows written without the file’s other columns: it cannot be read again: {why}"
                    )),
                ),
            };
            selected.table(other_columns.as_ref()).write(path).map_err(|error| error.to_string())?;
            let rows = Some(selected.rows.len());
            return Ok(ExportedFiles { paths: vec![path.to_owned()], rows, left_out });
        }
        let vectors = NeighborFormat::from_path(path).is_ok_and(|format| !format.has_query_rows());
        let table = self.table();
        let rows = table.as_ref().map(Table::rows);
        let saved = match (self, table) {
            (Self::AllNeighbors(record), _) => crate::export::neighbors(record, path),
            (Self::Neighbors(of, _), _) if vectors => {
                crate::export::neighbors_of(&of.record, of.query..of.query + 1, path)
            }
            (_, Some(table)) => table.write(path).map(|()| vec![path.to_owned()]),
            (_, None) => write(path, |to| self.write(to)).map(|()| vec![path.to_owned()]),
        };
        saved.map(|paths| ExportedFiles { paths, rows, left_out: None }).map_err(|error| error.to_string())
    }
}

fn log(entries: &[Entry], to: &mut impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(to);
    table.write_record(["time_utc", "level", "text"])?;
    for entry in entries {
        table.write_record([&entry.time(), entry.level.text(), &entry.text])?;
    }
    table.flush()
}

/// Writes a PNG; `dpi` sets its printed size.
///
/// # Errors
/// `cannot write: why: path`.
pub fn write_png(path: &Path, picture: &egui::ColorImage, dpi: Option<f32>) -> Result<PathBuf, String> {
    let [width, height] = picture.size;
    let pixels: Vec<u8> =
        picture.pixels.iter().flat_map(|pixel| pixel.to_array().into_iter().take(3)).collect();
    write(path, |to| {
        let mut encoder = png::Encoder::new(to, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_pixel_dims(dpi.map(|dpi| {
            let per_metre = (dpi / 0.0254).round() as u32;
            png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit: png::Unit::Meter }
        }));
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish().map_err(io::Error::from)
    })
    .map_err(|error| error.to_string())?;
    Ok(path.to_owned())
}

// Export of selected rows with all known values: the file's columns, counters, analyses, and the colouring
// value.

/// Rows of a cloud, with the sources of their values.
#[derive(Clone, Debug)]
pub struct SelectionExport {
    pub cloud: Arc<PointCloud>,
    /// Ascending.
    pub rows: Arc<[u32]>,
    pub record: Option<Arc<RunRecord>>,
    pub analysed: Option<Arc<AnalysisResults>>,
    /// Comparisons with other files.
    pub comparisons: Vec<Arc<FileComparison>>,
    /// The channel that colours points.
    pub channel: Option<Arc<Channel>>,
    /// The query of a radius selection.
    pub center: Option<QueryAnswer>,
}

impl SelectionExport {
    /// Rows of the shown cloud with all that is known of them; `None` without rows.
    pub fn new(session: &Session, rows: Arc<[u32]>) -> Option<Self> {
        let cloud = session.cloud.clone().filter(|_| !rows.is_empty())?;
        let channel = match &session.colored {
            ColoringState::Ready(channel) => Some(Arc::clone(channel)),
            _ => None,
        };
        Some(Self {
            record: session.record.clone().filter(|record| Arc::ptr_eq(&record.cloud, &cloud)),
            analysed: session.analysed().cloned(),
            comparisons: session.file_comparisons().cloned().collect(),
            center: session.selection.center.clone().filter(|of| Arc::ptr_eq(&of.record.cloud, &cloud)),
            channel,
            cloud,
            rows,
        })
    }

    /// Reads the file's other columns of the rows.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn read_other_columns(&self, progress: &dyn Progress) -> Result<Option<ExtraColumns>, String> {
        if !matches!(self.cloud.source(), Source::File { .. }) {
            return Ok(None);
        }
        let records =
            lookup::records(&self.cloud, &self.rows, progress).map_err(|why| why.to_string()).flatten()?;
        let others = ExtraCells::all(&self.cloud, records);
        Ok(Some(ExtraColumns {
            cloud: Arc::clone(&self.cloud),
            rows: self.rows.to_vec(),
            found: Arc::new(Ok(others)),
        }))
    }

    /// Columns: `row`, coordinates, the distance to the query of a radius selection, the file's other columns,
    /// k-th distance and counters of rows that were queries, and the colouring value unless another column
    /// contains it.
    pub fn table<'a>(&'a self, other_columns: Option<&'a ExtraColumns>) -> Table<'a> {
        let rows = &*self.rows;
        let mut table = tables::points(&self.cloud, Some(rows));
        if let Some(center) = &self.center {
            let metric = center.record.spec.metric;
            let vectors = RowVectors::new(metric, &self.cloud);
            let from = vectors.vector(center.query_cloud(), center.row() as usize);
            table = table.with(metric.column(), move |at| {
                vectors.between(&from, &vectors.vector(&self.cloud, rows[at] as usize))
            });
        }
        if let Some(other_columns) = other_columns {
            table = other_columns.with(table);
        }
        if let Some(record) = self.record.as_deref().filter(|record| record.query_cloud.is_none()) {
            let asked: HashMap<u32, usize> =
                record.query_rows.iter().enumerate().map(|(query, &row)| (row, query)).collect();
            let asked = Arc::new(asked);
            let (of, k) = (Arc::clone(&asked), record.neighbors.k);
            let kth = move |at: usize| {
                let &query = of.get(&rows[at])?;
                let squared = *record.neighbors.squared_distances.get((query + 1) * k - 1)?;
                squared.is_finite().then(|| record.spec.metric.distance(squared))
            };
            table = table.with(format!("k{k}_{}", record.spec.metric.column()), kth);
            for (name, values) in record.measured.columns() {
                let of = Arc::clone(&asked);
                table = table.with(name, move |at| of.get(&rows[at]).map(|&query| f64::from(values[query])));
            }
        }
        if let Some(analysed) =
            self.analysed.as_deref().filter(|analysed| Arc::ptr_eq(&analysed.record.cloud, &self.cloud))
        {
            for &kind in AnalysisKind::ALL {
                if let Some(values) = analysed.values(kind) {
                    table = table.with(kind.column(), move |at| {
                        values.get(rows[at] as usize).copied().filter(|value| !value.is_nan())
                    });
                }
            }
        }
        for comparison in self.comparisons.iter().filter(|other| Arc::ptr_eq(&other.cloud, &self.cloud)) {
            table = comparison.with(table, move |at| rows[at]);
        }
        // Analyses already have columns in the table.
        let is_analysed = |title: &str| {
            self.analysed.is_some() && AnalysisKind::ALL.iter().any(|kind| kind.title() == title)
        };
        let numbers = self
            .channel
            .as_deref()
            .filter(|channel| channel.points == PointSet::Data && !is_analysed(&channel.title));
        match numbers.and_then(|channel| Some((channel, channel.numbers.as_ref()?))) {
            Some((channel, numbers))
                if table.columns().iter().all(|column| *column.name != *channel.title) =>
            {
                let value = move |at: usize| {
                    let value = *numbers.values.values.get(rows[at] as usize)?;
                    (!value.is_nan()).then(|| f64::from(value) + numbers.offset)
                };
                table.with(channel.title.as_str(), value)
            }
            _ => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::color::state::channel::NumericValues;
    use crate::app::features::export::state::{ExportDialog, ExportKind, NEIGHBORS, TABLES};
    use crate::app::features::selection::state::Selection;
    use crate::app::model::PaneKind;
    use crate::app::testing::{folder, measured, record};
    use crate::progress::NoProgress;

    fn text(data: PaneData) -> String {
        let mut bytes = Vec::new();
        data.write(&mut bytes).expect("memory");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn neighbours_round_trip_through_csv() {
        let record = record();
        let answered = QueryAnswer { record: Arc::clone(&record), query: 1 };
        let text = text(PaneData::Neighbors(answered.clone(), None));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(
            reader.headers().expect("a header"),
            &["rank", "index", "squared_distance", "distance", "x", "y"][..]
        );
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
        assert_eq!(rows.len(), answered.neighbors().len());
        for (row, (index, squared)) in rows.iter().zip(answered.neighbors()) {
            assert_eq!(row[1].parse::<u64>(), Ok(record.cloud.record(index as usize)));
            assert_eq!(row[2].parse::<f32>(), Ok(squared));
            assert_eq!(row[4].parse::<f64>(), Ok(record.cloud.coordinate(index as usize, 0)));
        }
    }

    #[test]
    fn tables_have_one_line_per_row() {
        let record = record();
        let lines = |data| text(data).lines().count();
        assert_eq!(lines(PaneData::Points(Arc::clone(&record.cloud))), record.cloud.len() + 1);
        let selected = SelectionExport {
            cloud: Arc::clone(&record.cloud),
            rows: vec![3, 8].into(),
            record: None,
            analysed: None,
            comparisons: Vec::new(),
            channel: None,
            center: None,
        };
        assert_eq!(lines(PaneData::Rows(Box::new(selected))), 3);
        assert_eq!(lines(PaneData::Timings(Arc::clone(&record))), record.samples.len() + 1);
        assert_eq!(lines(PaneData::Merges(Arc::clone(&record))), record.measured.queries() + 1);
        assert_eq!(
            lines(PaneData::Convergence(Arc::clone(&record))),
            record.convergence.points_seen.len() + 1
        );
    }

    #[test]
    fn unknown_extension_errors_list_supported_extensions() {
        let why = |kind: ExportKind, name: &str| kind.refuses(Path::new(name));
        let neighbors = ExportKind::Data(PaneKind::Neighbors);
        let all = "It is not written as .txt; end it in .csv, .tsv, .parquet, .arrow, .npz, .geojson, .npy, \
                   .ivecs or .ibin.";
        assert_eq!(why(neighbors, "a.txt").as_deref(), Some(all));
        assert_eq!(
            why(ExportKind::Selection, "a").as_deref(),
            Some("The name has no ending; end it in .csv, .tsv, .parquet, .arrow, .npz or .geojson.")
        );
        assert_eq!(
            why(ExportKind::Data(PaneKind::Log), "a.npz").as_deref(),
            Some("It is not written as .npz; end it in .csv.")
        );
        assert_eq!(
            why(ExportKind::Window, "a.jpg").as_deref(),
            Some("It is not written as .jpg; end it in .png or .svg.")
        );
        for name in ["a.csv", "a.TSV", "a.b.ivecs", "a.ibin"] {
            assert_eq!(why(neighbors, name), None);
        }
        // Every extension offered is one that the library writes, and vice versa.
        for (ending, _) in NEIGHBORS {
            assert!(NeighborFormat::from_path(&Path::new("a").with_extension(ending)).is_ok(), "{ending}");
        }
        assert!(
            NEIGHBORS.len() == NeighborFormat::ALL.len()
                && TABLES.len() == crate::export::table::TableFormat::ALL.len()
        );
        assert_eq!(
            ExportKind::AllNeighbors.files(Path::new("a.ivecs")),
            [Path::new("a.ivecs"), Path::new("a.fvecs")]
        );
        assert_eq!(ExportKind::Selection.files(Path::new("a.csv")), [Path::new("a.csv")]);
    }

    #[test]
    fn suggested_file_names_are_unused() {
        let folder = folder();
        let (at, kind) = (|name: &str| folder.path().join(name), ExportKind::Data(PaneKind::Plane));
        let path = at("plane.csv");
        assert_eq!(kind.free_path(&path), path);
        std::fs::write(&path, "").expect("a file");
        assert_eq!(kind.free_path(&path), at("plane-2.csv"));
        std::fs::write(at("plane-2.csv"), "").expect("a file");
        assert_eq!(kind.free_path(&path), at("plane-3.csv"));
        // If a format writes two files, both names must be free.
        std::fs::write(at("neighbors.fvecs"), "").expect("a file");
        assert_eq!(ExportKind::AllNeighbors.free_path(&at("neighbors.ivecs")), at("neighbors-2.ivecs"));
    }

    #[test]
    fn changing_the_extension_suggests_a_free_name() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for taken in ["plane.csv", "plane-2.csv", "plane.npz"] {
            std::fs::write(at(taken), "").expect("a file");
        }
        let mut dialog = ExportDialog {
            kind: ExportKind::Data(PaneKind::Plane),
            path: at("plane-3.csv"),
            plain: at("plane.csv").into(),
            offered: at("plane-3.csv"),
            error: None,
            overwrite: false,
            writing: None,
            picture: None,
            times: 1,
            points: true,
            range: None,
            note: None,
        };
        for (ending, offered) in [("tsv", "plane.tsv"), ("npz", "plane-2.npz"), ("csv", "plane-3.csv")] {
            dialog.end_in(ending);
            assert_eq!(dialog.path, at(offered));
        }
        assert_eq!(dialog.with_ending(Path::new("/x/mine")), Path::new("/x/mine.csv"));
        assert_eq!(dialog.with_ending(Path::new("mine.txt")), Path::new("mine.txt"), "refused, not renamed");
        dialog.path = at("mine-2.csv");
        dialog.end_in("tsv");
        assert_eq!(dialog.path, at("mine-2.tsv"), "typed names are kept");
    }

    #[test]
    fn png_records_its_resolution_and_reports_write_errors() {
        let folder = folder();
        let picture = egui::ColorImage::filled([8, 6], egui::Color32::from_rgb(1, 2, 3));
        let path = write_png(&folder.path().join("a.png"), &picture, Some(300.0)).expect("a picture");
        let file = std::io::BufReader::new(std::fs::File::open(&path).expect("a file"));
        let read = png::Decoder::new(file).read_info().expect("a PNG");
        let size = read.info().pixel_dims.expect("its size");
        assert_eq!((size.xppu, size.yppu, read.info().size()), (11_811, 11_811, (8, 6)));
        assert_eq!(image::open(path).expect("a PNG").into_rgb8().get_pixel(7, 5).0, [1, 2, 3]);
        let error =
            write_png(&folder.path().join("gone").join("a.png"), &picture, None).expect_err("no such folder");
        assert!(error.starts_with("cannot write: ") && error.ends_with("a.png"), "{error}");
    }

    #[test]
    fn radius_selections_include_the_distance_to_their_query() {
        let record = record();
        let center = QueryAnswer { record: Arc::clone(&record), query: 1 };
        let rows: Arc<[u32]> = center.neighbors().map(|(row, _)| row).collect();
        let selection =
            Selection { rows: Arc::clone(&rows), center: Some(center.clone()), ..Selection::default() };
        let session = Session { cloud: Some(Arc::clone(&record.cloud)), selection, ..Session::default() };
        let csv = SelectionExport::new(&session, rows).expect("rows").table(None).tsv();
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines[0], ["row", "x", "y", "distance"]);
        let place = |row: usize| [0, 1].map(|axis| record.cloud.coordinate(row, axis));
        let [x, y] = place(center.row() as usize);
        for (line, (row, _)) in lines[1..].iter().zip(center.neighbors()) {
            let [to_x, to_y] = place(row as usize);
            let distance: f64 = line[3].parse().expect("a number");
            assert!((distance - (to_x - x).hypot(to_y - y)).abs() < 1e-12, "{line:?}");
        }
        let without =
            SelectionExport::new(&Session { cloud: session.cloud.clone(), ..Session::default() }, [3].into());
        assert!(!without.expect("a row").table(None).tsv().contains("distance"));
    }

    #[test]
    fn selection_tables_include_measures_and_colour_values() {
        let mut record = RunRecord::clone(&record());
        record.measured = measured([3, 7, 3]);
        let mut values = vec![f32::NAN; 50];
        values[8] = 2.5;
        let channel = Channel::of_numbers(
            PointSet::Data,
            "distance to the query",
            "",
            NumericValues::new(values, 10.0),
            (0, ""),
        );
        let selected = SelectionExport {
            cloud: Arc::clone(&record.cloud),
            rows: vec![3, 8, 20].into(),
            record: Some(Arc::new(record)),
            analysed: None,
            comparisons: Vec::new(),
            channel: Some(Arc::new(channel)),
            center: None,
        };
        assert!(
            selected.read_other_columns(&NoProgress).expect("nothing to read").is_none(),
            "generated clouds have no file"
        );
        let csv = selected.table(None).tsv();
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split('\t').collect()).collect();
        let axes = selected.cloud.dims();
        assert_eq!(lines[0][0], "row");
        assert!(
            lines[0][1 + axes].starts_with('k') && lines[0][1 + axes].ends_with("_distance"),
            "{:?}",
            lines[0]
        );
        let merges = lines[0].iter().position(|name| *name == "merges").expect("counted");
        assert_eq!([1, 2, 3].map(|line| lines[line][merges]), ["3", "3", ""], "row 20 was not a query");
        assert_eq!(
            (lines[0].last(), lines[1].last(), lines[2].last()),
            (Some(&"distance to the query"), Some(&""), Some(&"12.5"))
        );
    }
}
