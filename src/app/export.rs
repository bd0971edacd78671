//! What a pane shows, as a table, a picture or a file of neighbours: the name's ending says as which.

mod apply;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::lesson::{LessonFile, RangeDraft};
use super::log::Entry;
use super::picking::Beside;
use super::runs::{Compared, Saved};
use super::session::Answered;
use super::state::PaneKind;
use crate::cloud::PointCloud;
use crate::export::table::Table;
use crate::export::{NeighborFormat, tables, write};
use crate::run::{RunFile, RunRecord};

/// Endings of tables.
const TABLES: [(&str, &str); 4] = [("csv", "CSV"), ("tsv", "TSV"), ("parquet", "Parquet"), ("npz", "npz")];

/// Endings of neighbours: tables, and the formats of benchmarks.
const NEIGHBORS: [(&str, &str); 6] = [TABLES[0], TABLES[1], TABLES[2], TABLES[3], ("ivecs", "ivecs"), ("ibin", "ibin")];

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A pane's data as a table.
    Data(PaneKind),
    /// The neighbours of all queries of the run.
    AllNeighbors,
    /// A pane as PNG.
    Picture(PaneKind),
    /// The run's time as Chrome Trace.
    Trace,
    /// The selected rows as CSV.
    Selection,
    /// The window as PNG.
    Window,
    /// Something of the lesson with this number.
    Lesson(LessonFile, u32),
    /// Runs as a recording.
    Recording(Saved),
    /// All runs, and what the window shows.
    Session,
}

impl ExportKind {
    /// Whether it is a table, of columns with types, which are written in several formats.
    pub fn is_table(self) -> bool {
        self.endings().len() >= TABLES.len()
    }

    /// What its name may end in, and how people call that; the first one is usual. None where its own rules say.
    pub fn endings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Data(PaneKind::Runs | PaneKind::Log) => &[("csv", "CSV")],
            Self::Data(PaneKind::Neighbors) | Self::AllNeighbors => &NEIGHBORS,
            Self::Data(_) | Self::Selection => &TABLES,
            Self::Picture(_) | Self::Window => &[("png", "PNG"), ("svg", "SVG")],
            Self::Trace => &[("json", "JSON")],
            Self::Lesson(..) | Self::Recording(_) | Self::Session => &[],
        }
    }

    /// Why a name does not say as what it is to be written, as a sentence.
    pub fn refuses(self, path: &Path) -> Option<String> {
        let endings: Vec<&str> = self.endings().iter().map(|(ending, _)| *ending).collect();
        let named = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let (last, others) = endings.split_last()?;
        if endings.iter().any(|ending| ending.eq_ignore_ascii_case(named)) {
            return None;
        }
        let these = if others.is_empty() { format!(".{last}") } else { format!(".{} or .{last}", others.join(", .")) };
        let wrong = if named.is_empty() { "The name has no ending".to_owned() } else { format!("It is not written as .{named}") };
        Some(format!("{wrong}; end it in {these}."))
    }

    /// All files that are written for a name.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        match (self, NeighborFormat::of(path)) {
            (Self::Data(PaneKind::Neighbors) | Self::AllNeighbors, Ok(format)) => format.files(path),
            _ => vec![path.to_owned()],
        }
    }

    /// The name itself or, where a file of it is there, the next one that is free: `plane.csv`, `plane-2.csv`, ….
    pub fn free_path(self, path: &Path) -> PathBuf {
        let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
        let (stem, extension) = (part(path.file_stem()), part(path.extension()));
        let ending = if extension.is_empty() { extension } else { format!(".{extension}") };
        let numbered = (2..10_000).map(|number| path.with_file_name(format!("{stem}-{number}{ending}")));
        let free = |path: &PathBuf| !self.files(path).iter().any(|file| file.exists());
        std::iter::once(path.to_owned()).chain(numbered).find(free).unwrap_or_else(|| path.to_owned())
    }

    /// Whether writing it takes long enough to be cancelled.
    pub fn is_cancellable(self) -> bool {
        self.is_recording() || matches!(self, Self::Lesson(..))
    }

    /// Whether it is a picture of what the window shows, and of which pane; of all of it without one.
    pub fn picture(self) -> Option<Option<PaneKind>> {
        match self {
            Self::Picture(pane) => Some(Some(pane)),
            Self::Window => Some(None),
            Self::Data(_) | Self::AllNeighbors | Self::Selection | Self::Trace | Self::Recording(_) | Self::Session | Self::Lesson(..) => None,
        }
    }

    /// Whether it is a recording, which opens elsewhere.
    pub fn is_recording(self) -> bool {
        matches!(self, Self::Recording(_) | Self::Session)
    }

    /// The dialog's title.
    pub fn title(self) -> String {
        match self {
            Self::Data(pane) => format!("Export the data of {}", pane.title()),
            Self::AllNeighbors => "Export all neighbours of the run".to_owned(),
            Self::Picture(pane) => format!("Save a picture of {}", pane.title()),
            Self::Trace => "Export the timeline as a trace".to_owned(),
            Self::Selection => "Export the selected rows".to_owned(),
            Self::Window => "Save a picture of the window".to_owned(),
            Self::Recording(which) => format!("Save a recording: {}", which.text().trim_end_matches('…').to_lowercase()),
            Self::Session => "Save the session".to_owned(),
            Self::Lesson(file, number) => format!("Lesson {number}: {}", file.text().trim_end_matches('…')),
        }
    }

    /// The file's name before anybody chose one.
    pub fn default_name(self) -> String {
        match self {
            Self::Data(pane) => format!("{}.csv", pane.file_stem()),
            Self::AllNeighbors => "neighbors.csv".to_owned(),
            Self::Picture(pane) => format!("{}.png", pane.file_stem()),
            Self::Trace => "trace.json".to_owned(),
            Self::Selection => "selection.csv".to_owned(),
            Self::Window => "warpscope.png".to_owned(),
            Self::Lesson(file, number) => file.default_name(number),
            Self::Recording(Saved::Shown) => "run.warpscope".to_owned(),
            Self::Recording(_) => "runs.warpscope".to_owned(),
            Self::Session => "session.warpscope".to_owned(),
        }
    }
}

/// Whether a path names a file of shapes, not of pixels.
pub fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

/// The dialog's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportDialog {
    /// What is exported.
    pub kind: ExportKind,
    /// Where to.
    pub path: String,
    /// The name that was to be offered, before a number made it free.
    pub plain: PathBuf,
    /// The name that was offered.
    pub offered: String,
    /// Why it was not written.
    pub error: Option<String>,
    /// Whether a file that is there may be written over: somebody was asked.
    pub overwrite: bool,
    /// Since when it is written.
    pub writing: Option<Instant>,
    /// How many pixels a picture has, for each of the screen's along a side.
    pub times: u8,
    /// Whether a recording holds the points too.
    pub points: bool,
    /// Which steps of a lesson, where a range is shown.
    pub range: Option<RangeDraft>,
}

impl ExportDialog {
    /// Takes another ending. What somebody typed stays otherwise; what was offered is offered anew, as another file may have
    /// needed the number in it, and this one may need one.
    pub fn end_in(&mut self, ending: &str) {
        if self.path == self.offered {
            self.plain.set_extension(ending);
            self.path = self.kind.free_path(&self.plain).display().to_string();
            self.offered.clone_from(&self.path);
        } else {
            self.path = Path::new(self.path.trim()).with_extension(ending).display().to_string();
        }
    }
}

/// A pane's data, detached from the window so that a thread can write it.
pub enum PaneData {
    /// All points: record and coordinates.
    Points(Arc<PointCloud>),
    /// Some rows: record and coordinates.
    Rows(Arc<PointCloud>, Arc<[u32]>),
    /// The picked query's neighbours, and what the file has of them beside.
    Neighbors(Answered, Option<Beside>),
    /// The neighbours of all queries.
    AllNeighbors(Arc<RunRecord>),
    /// Raw timings.
    Timings(Arc<RunRecord>),
    /// Phases and warps in time.
    Timeline(Arc<RunRecord>),
    /// The same as Chrome Trace.
    Trace(Arc<RunRecord>),
    /// Counters per query.
    Merges(Arc<RunRecord>),
    /// The convergence history per query.
    Convergence(Arc<RunRecord>),
    /// Two runs side by side.
    Comparison(Arc<Compared>),
    /// The list of runs: names, whether they are pinned, and what they are.
    Runs(Vec<(String, bool, RunFile)>),
    /// What was said.
    Log(Vec<Entry>),
}

impl PaneData {
    /// Writes it as CSV.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        if let Some(table) = self.table() {
            return table.csv(to);
        }
        match self {
            Self::Trace(record) => crate::export::trace(record, to),
            Self::Comparison(compared) => crate::export::comparison(&compared.comparison, to),
            Self::Runs(runs) => crate::export::runs(runs.iter().map(|(name, pinned, run)| (name.as_str(), *pinned, run)), to),
            Self::Log(entries) => log(entries, to),
            // Written above, as tables.
            Self::Points(_)
            | Self::Rows(..)
            | Self::Neighbors(..)
            | Self::AllNeighbors(_)
            | Self::Timings(_)
            | Self::Timeline(_)
            | Self::Merges(_)
            | Self::Convergence(_) => Ok(()),
        }
    }

    /// It as a table, where it is one of columns with types.
    pub fn table(&self) -> Option<Table<'_>> {
        match self {
            Self::Points(cloud) => Some(tables::points(cloud, None)),
            Self::Rows(cloud, rows) => Some(tables::points(cloud, Some(rows))),
            Self::Neighbors(answered, beside) => {
                let table = tables::neighbors_of_query(&answered.record, answered.query);
                Some(beside.iter().fold(table, |table, beside| beside.with(table)))
            }
            Self::AllNeighbors(record) => Some(tables::neighbors(record, 0..record.neighbors.queries())),
            Self::Timings(record) => Some(tables::timings(record)),
            Self::Timeline(record) => Some(tables::timeline(record)),
            Self::Merges(record) => Some(tables::merges(record)),
            Self::Convergence(record) => Some(tables::convergence(record)),
            Self::Trace(_) | Self::Comparison(_) | Self::Runs(_) | Self::Log(_) => None,
        }
    }

    /// Writes it as the name's ending says, which [`ExportKind::refuses`] has seen, and gives the files that were written.
    ///
    /// # Errors
    /// `cannot write: why: path`.
    pub fn save(&self, path: &Path) -> Result<Vec<PathBuf>, String> {
        let vectors = NeighborFormat::of(path).is_ok_and(|format| format.beside().is_some());
        let saved = match (self, self.table()) {
            (Self::AllNeighbors(record), _) => crate::export::neighbors(record, path),
            (Self::Neighbors(of, _), _) if vectors => crate::export::neighbors_of(&of.record, of.query..of.query + 1, path),
            (_, Some(table)) => table.write(path).map(|()| vec![path.to_owned()]),
            (_, None) => write(path, |to| self.write(to)).map(|()| vec![path.to_owned()]),
        };
        saved.map_err(|error| error.to_string())
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

/// Writes a picture as PNG; `crop` is (left, top, width, height) in pixels.
///
/// # Errors
/// `cannot write: why: path`.
pub fn write_png(path: &Path, picture: &egui::ColorImage, crop: Option<[usize; 4]>) -> Result<PathBuf, String> {
    let [width, height] = picture.size;
    let [left, top, wide, high] = crop.unwrap_or([0, 0, width, height]);
    let (left, top) = (left.min(width), top.min(height));
    let (wide, high) = (wide.min(width - left), high.min(height - top));
    if wide == 0 || high == 0 {
        return Err(format!("cannot write: the pane is not visible; show it first: {}", path.display()));
    }
    let mut pixels = Vec::with_capacity(wide * high * 3);
    for row in top..top + high {
        for pixel in &picture.pixels[row * width + left..][..wide] {
            pixels.extend_from_slice(&pixel.to_array()[..3]);
        }
    }
    write(path, |to| {
        use image::ImageEncoder as _;
        image::codecs::png::PngEncoder::new(to)
            .write_image(&pixels, wide as u32, high as u32, image::ExtendedColorType::Rgb8)
            .map_err(io::Error::other)
    })
    .map_err(|error| error.to_string())?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    fn text(data: PaneData) -> String {
        let mut bytes = Vec::new();
        data.write(&mut bytes).expect("memory");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn neighbours_read_back_as_they_were() {
        let record = record();
        let answered = Answered { record: Arc::clone(&record), query: 1 };
        let text = text(PaneData::Neighbors(answered.clone(), None));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("a header"), &["rank", "index", "squared_distance", "distance", "x", "y"][..]);
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
        assert_eq!(rows.len(), answered.neighbors().len());
        for (row, (index, squared)) in rows.iter().zip(answered.neighbors()) {
            assert_eq!(row[1].parse::<u64>(), Ok(record.cloud.record(index as usize)));
            assert_eq!(row[2].parse::<f32>(), Ok(squared));
            assert_eq!(row[4].parse::<f64>(), Ok(record.cloud.coordinate(index as usize, 0)));
        }
    }

    #[test]
    fn every_table_has_its_rows() {
        let record = record();
        let lines = |data| text(data).lines().count();
        assert_eq!(lines(PaneData::Points(Arc::clone(&record.cloud))), record.cloud.len() + 1);
        assert_eq!(lines(PaneData::Rows(Arc::clone(&record.cloud), vec![3, 8].into())), 3);
        assert_eq!(lines(PaneData::Timings(Arc::clone(&record))), record.samples.len() + 1);
        assert_eq!(lines(PaneData::Merges(Arc::clone(&record))), record.counters.len() + 1);
        assert_eq!(lines(PaneData::Convergence(Arc::clone(&record))), record.convergence.points_seen.len() + 1);
    }

    #[test]
    fn a_name_that_says_no_format_is_refused_with_those_that_there_are() {
        let why = |kind: ExportKind, name: &str| kind.refuses(Path::new(name));
        let neighbors = ExportKind::Data(PaneKind::Neighbors);
        let all = "It is not written as .txt; end it in .csv, .tsv, .parquet, .npz, .ivecs or .ibin.";
        assert_eq!(why(neighbors, "a.txt").as_deref(), Some(all));
        assert_eq!(why(ExportKind::Selection, "a").as_deref(), Some("The name has no ending; end it in .csv, .tsv, .parquet or .npz."));
        assert_eq!(why(ExportKind::Data(PaneKind::Log), "a.npz").as_deref(), Some("It is not written as .npz; end it in .csv."));
        assert_eq!(why(ExportKind::Window, "a.jpg").as_deref(), Some("It is not written as .jpg; end it in .png or .svg."));
        for name in ["a.csv", "a.TSV", "a.b.ivecs", "a.ibin"] {
            assert_eq!(why(neighbors, name), None);
        }
        // Every ending is one that the library writes, and every one that it writes is there.
        for (ending, _) in NEIGHBORS {
            assert!(NeighborFormat::of(&Path::new("a").with_extension(ending)).is_ok(), "{ending}");
        }
        assert!(NEIGHBORS.len() == NeighborFormat::ALL.len() && TABLES.len() == crate::export::table::TableFormat::ALL.len());
        assert_eq!(ExportKind::AllNeighbors.files(Path::new("a.ivecs")), [Path::new("a.ivecs"), Path::new("a.fvecs")]);
        assert_eq!(ExportKind::Selection.files(Path::new("a.csv")), [Path::new("a.csv")]);
    }

    #[test]
    fn the_name_that_is_offered_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let (at, kind) = (|name: &str| folder.path().join(name), ExportKind::Data(PaneKind::Plane));
        let path = at("plane.csv");
        assert_eq!(kind.free_path(&path), path);
        std::fs::write(&path, "").expect("a file");
        assert_eq!(kind.free_path(&path), at("plane-2.csv"));
        std::fs::write(at("plane-2.csv"), "").expect("a file");
        assert_eq!(kind.free_path(&path), at("plane-3.csv"));
        // Where two files are written, neither may be there.
        std::fs::write(at("neighbors.fvecs"), "").expect("a file");
        assert_eq!(ExportKind::AllNeighbors.free_path(&at("neighbors.ivecs")), at("neighbors-2.ivecs"));
    }

    #[test]
    fn another_ending_needs_no_number_of_the_one_before() {
        let folder = tempfile::tempdir().expect("a folder");
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
            times: 1,
            points: true,
            range: None,
        };
        for (ending, offered) in [("tsv", "plane.tsv"), ("npz", "plane-2.npz"), ("csv", "plane-3.csv")] {
            dialog.end_in(ending);
            assert_eq!(dialog.path, at(offered));
        }
        dialog.path = at("mine-2.csv");
        dialog.end_in("tsv");
        assert_eq!(dialog.path, at("mine-2.tsv"), "it is what somebody typed");
    }

    #[test]
    fn a_picture_is_cropped_and_says_when_it_cannot_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let picture = egui::ColorImage::filled([8, 6], egui::Color32::WHITE);
        let path = write_png(&folder.path().join("a.png"), &picture, Some([2, 1, 100, 3])).expect("a picture");
        assert_eq!(image::image_dimensions(path).expect("a PNG"), (6, 3));
        let error = write_png(&folder.path().join("gone").join("a.png"), &picture, None).expect_err("no such folder");
        assert!(error.starts_with("cannot write: ") && error.ends_with("a.png"), "{error}");
    }
}
