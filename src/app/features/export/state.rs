//! Kinds of export, their formats, and the dialog's state. The file extension selects the format.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::app::features::lesson::state::files::{LessonFile, RangeDraft};
use crate::app::features::runs::state::SaveScope;
use crate::app::model::pane::{DataFormats, PaneKind};
use crate::app::model::picture::PictureDraft;
use crate::export::NeighborFormat;
use crate::export::graph::GraphFormat;

/// File extensions offered for tables, with their names.
pub const TABLES: [(&str, &str); 5] =
    [("csv", "CSV"), ("tsv", "TSV"), ("parquet", "Parquet"), ("arrow", "Arrow"), ("npz", "npz")];

/// Extensions for points, which may be on the Earth.
pub const POINTS: [(&str, &str); 6] =
    [TABLES[0], TABLES[1], TABLES[2], TABLES[3], TABLES[4], ("geojson", "GeoJSON")];

/// Extensions for neighbours: tables, a matrix of rows, and benchmark formats.
pub const NEIGHBORS: [(&str, &str); 9] = [
    POINTS[0],
    POINTS[1],
    POINTS[2],
    POINTS[3],
    POINTS[4],
    POINTS[5],
    ("npy", "npy"),
    ("ivecs", "ivecs"),
    ("ibin", "ibin"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A pane's data as a table.
    Data(PaneKind),
    AllNeighbors,
    Picture(PaneKind),
    /// The run's timeline in Chrome Trace format.
    Trace,
    Selection,
    Graph(GraphFormat),
    /// The rows of another file, each with the nearest row here.
    Leaks,
    Window,
    /// A file of the lesson with this number.
    Lesson(LessonFile, u32),
    Recording(SaveScope),
    /// All runs and the view state.
    Session,
}

impl ExportKind {
    /// Whether it is a typed table, which can be written in several formats.
    pub fn is_table(self) -> bool {
        self.endings().len() >= TABLES.len() || self == Self::Graph(GraphFormat::Edges)
    }

    /// Extensions with display names, the default first. Empty for kinds with special rules.
    pub fn endings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Data(pane) => match pane.info().formats {
                DataFormats::Csv => &[("csv", "CSV")],
                DataFormats::Table => &TABLES,
                DataFormats::Points => &POINTS,
                DataFormats::Neighbors => &NEIGHBORS,
            },
            Self::AllNeighbors => &NEIGHBORS,
            Self::Selection => &POINTS,
            Self::Leaks => &TABLES,
            Self::Picture(_) | Self::Window => &[("png", "PNG"), ("svg", "SVG")],
            Self::Trace => &[("json", "JSON")],
            // No .npz here: that extension belongs to the other forms.
            Self::Graph(GraphFormat::Edges) => &[TABLES[0], TABLES[1], TABLES[2], TABLES[3]],
            Self::Graph(GraphFormat::Csr | GraphFormat::Umap) => &[TABLES[4]],
            Self::Lesson(..) | Self::Recording(_) | Self::Session => &[],
        }
    }

    /// Why the path's extension is not accepted, as a sentence.
    pub fn refuses(self, path: &Path) -> Option<String> {
        let endings: Vec<&str> = self.endings().iter().map(|(ending, _)| *ending).collect();
        let named = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let (last, others) = endings.split_last()?;
        if endings.iter().any(|ending| ending.eq_ignore_ascii_case(named)) {
            return None;
        }
        let these = if others.is_empty() {
            format!(".{last}")
        } else {
            format!(".{} or .{last}", others.join(", ."))
        };
        let wrong = if named.is_empty() {
            "The name has no ending".to_owned()
        } else {
            format!("It is not written as .{named}")
        };
        Some(format!("{wrong}; end it in {these}."))
    }

    /// All files that are written for a path.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        match NeighborFormat::from_path(path) {
            Ok(format) if self.endings() == NEIGHBORS => format.files(path),
            _ => vec![path.to_owned()],
        }
    }

    /// The path itself, or if it exists the next free one: `plane.csv`, `plane-2.csv`, ….
    pub fn free_path(self, path: &Path) -> PathBuf {
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let (stem, extension) = (part(path.file_stem()), part(path.extension()));
        let ending = if extension.is_empty() { extension } else { format!(".{extension}") };
        let numbered = (2..10_000).map(|number| path.with_file_name(format!("{stem}-{number}{ending}")));
        let free = |path: &PathBuf| !self.files(path).iter().any(|file| file.exists());
        std::iter::once(path.to_owned()).chain(numbered).find(free).unwrap_or_else(|| path.to_owned())
    }

    /// Whether writing may take long enough to be cancelled.
    pub fn is_cancellable(self) -> bool {
        self.is_recording() || matches!(self, Self::Lesson(..) | Self::Graph(_))
    }

    /// For a picture, the pane that it shows; the inner `None` means the whole window.
    pub fn picture(self) -> Option<Option<PaneKind>> {
        match self {
            Self::Picture(pane) => Some(Some(pane)),
            Self::Window => Some(None),
            _ => None,
        }
    }

    /// Whether it is a recording, which can be opened again.
    pub fn is_recording(self) -> bool {
        matches!(self, Self::Recording(_) | Self::Session)
    }

    pub fn title(self) -> String {
        match self {
            Self::Data(pane) => format!("Export the data of {}", pane.title()),
            Self::AllNeighbors => "Export all neighbours of the run".to_owned(),
            Self::Picture(pane) => format!("Save a picture of {}", pane.title()),
            Self::Trace => "Export the timeline as a trace".to_owned(),
            Self::Selection => "Export the selected rows".to_owned(),
            Self::Graph(_) => "Export the neighbour graph".to_owned(),
            Self::Leaks => "Export the rows of the other file".to_owned(),
            Self::Window => "Save a picture of the window".to_owned(),
            Self::Recording(which) => {
                format!("Save a recording: {}", which.text().trim_end_matches('…').to_lowercase())
            }
            Self::Session => "Save the session".to_owned(),
            Self::Lesson(file, number) => format!("Lesson {number}: {}", file.text().trim_end_matches('…')),
        }
    }

    pub fn default_name(self) -> String {
        match self {
            Self::Data(pane) => format!("{}.csv", pane.info().file_stem),
            Self::AllNeighbors => "neighbors.csv".to_owned(),
            Self::Picture(pane) => format!("{}.png", pane.info().file_stem),
            Self::Trace => "trace.json".to_owned(),
            Self::Selection => "selection.csv".to_owned(),
            Self::Graph(_) => "graph.csv".to_owned(),
            Self::Leaks => "leaks.csv".to_owned(),
            Self::Window => "warpscope.png".to_owned(),
            Self::Lesson(file, number) => file.default_name(number),
            Self::Recording(SaveScope::Shown) => "run.warpscope".to_owned(),
            Self::Recording(_) => "runs.warpscope".to_owned(),
            Self::Session => "session.warpscope".to_owned(),
        }
    }
}

pub fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportDialog {
    pub kind: ExportKind,
    pub path: String,
    /// The default path before numbering made it free.
    pub plain: PathBuf,
    /// The path offered.
    pub offered: String,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// Whether an existing file may be overwritten: the user has confirmed it.
    pub overwrite: bool,
    /// When writing began.
    pub writing: Option<Instant>,
    pub picture: Option<PictureDraft>,
    /// Factor on the number of pixels per side.
    pub times: u8,
    /// Whether a recording includes the points.
    pub points: bool,
    /// A lesson's range of steps, for files that show a range.
    pub range: Option<RangeDraft>,
    /// A note on the contents.
    pub note: Option<String>,
}

impl ExportDialog {
    /// Selects another form of the graph, with a valid extension.
    pub fn take_form(&mut self, form: GraphFormat) {
        self.kind = ExportKind::Graph(form);
        if self.kind.refuses(Path::new(self.path.trim())).is_some()
            && let Some((ending, _)) = self.kind.endings().first()
        {
            self.end_in(ending);
        }
    }

    /// The path, with the ending of the offered one if it has none.
    pub fn with_ending(&self, path: &Path) -> PathBuf {
        match Path::new(&self.offered).extension().filter(|_| path.file_name().is_some()) {
            Some(ending) if path.extension().is_none() && !path.is_dir() => path.with_added_extension(ending),
            _ => path.to_owned(),
        }
    }

    /// Changes the extension. The rest of a typed path is kept. An offered path is numbered again, because
    /// other files may exist with this extension.
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
