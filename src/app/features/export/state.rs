//! What a pane shows, as a table, a picture or a file of neighbours: the name's ending says as which.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::app::features::lesson::state::files::{LessonFile, RangeDraft};
use crate::app::features::runs::state::Saved;
use crate::app::model::pane::{PaneKind, Written};
use crate::app::model::picture::PictureDraft;
use crate::export::NeighborFormat;
use crate::export::graph::GraphForm;

/// File extensions offered for tables, with their names.
pub const TABLES: [(&str, &str); 5] =
    [("csv", "CSV"), ("tsv", "TSV"), ("parquet", "Parquet"), ("arrow", "Arrow"), ("npz", "npz")];

/// Endings of neighbours: tables, a matrix of rows, and the formats of benchmarks.
pub const NEIGHBORS: [(&str, &str); 8] = [
    TABLES[0],
    TABLES[1],
    TABLES[2],
    TABLES[3],
    TABLES[4],
    ("npy", "npy"),
    ("ivecs", "ivecs"),
    ("ibin", "ibin"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A pane's data as a table.
    Data(PaneKind),
    /// The neighbours of all queries of the run.
    AllNeighbors,
    Picture(PaneKind),
    /// The run's time as Chrome Trace.
    Trace,
    Selection,
    /// The graph of all rows' neighbours.
    Graph(GraphForm),
    /// The rows of another file, with the nearest of each here.
    Leaks,
    Window,
    /// Something of the lesson with this number.
    Lesson(LessonFile, u32),
    Recording(Saved),
    /// All runs, and what the window shows.
    Session,
}

impl ExportKind {
    /// Whether it is a table, of columns with types, which are written in several formats.
    pub fn is_table(self) -> bool {
        self.endings().len() >= TABLES.len() || self == Self::Graph(GraphForm::Edges)
    }

    /// What its name may end in, and how people call that; the first one is usual. None where its own rules
    /// say.
    pub fn endings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Data(pane) => match pane.words().written {
                Written::Csv => &[("csv", "CSV")],
                Written::Table => &TABLES,
                Written::Neighbors => &NEIGHBORS,
            },
            Self::AllNeighbors => &NEIGHBORS,
            Self::Selection | Self::Leaks => &TABLES,
            Self::Picture(_) | Self::Window => &[("png", "PNG"), ("svg", "SVG")],
            Self::Trace => &[("json", "JSON")],
            // An .npz is one of the other forms.
            Self::Graph(GraphForm::Edges) => &[TABLES[0], TABLES[1], TABLES[2], TABLES[3]],
            Self::Graph(GraphForm::Csr | GraphForm::Umap) => &[TABLES[4]],
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

    /// All files that are written for a name.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        match NeighborFormat::of(path) {
            Ok(format) if self.endings() == NEIGHBORS => format.files(path),
            _ => vec![path.to_owned()],
        }
    }

    /// The name itself or, where a file of it is there, the next one that is free: `plane.csv`,
    /// `plane-2.csv`, ….
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

    /// Whether writing it takes long enough to be cancelled.
    pub fn is_cancellable(self) -> bool {
        self.is_recording() || matches!(self, Self::Lesson(..) | Self::Graph(_))
    }

    /// Whether it is a picture of what the window shows, and of which pane; of all of it without one.
    pub fn picture(self) -> Option<Option<PaneKind>> {
        match self {
            Self::Picture(pane) => Some(Some(pane)),
            Self::Window => Some(None),
            _ => None,
        }
    }

    /// Whether it is a recording, which opens elsewhere.
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
            Self::Graph(_) => "Export the graph of neighbours".to_owned(),
            Self::Leaks => "Export the rows of the other file".to_owned(),
            Self::Window => "Save a picture of the window".to_owned(),
            Self::Recording(which) => {
                format!("Save a recording: {}", which.text().trim_end_matches('…').to_lowercase())
            }
            Self::Session => "Save the session".to_owned(),
            Self::Lesson(file, number) => format!("Lesson {number}: {}", file.text().trim_end_matches('…')),
        }
    }

    /// The file's name before anybody chose one.
    pub fn default_name(self) -> String {
        match self {
            Self::Data(pane) => format!("{}.csv", pane.words().file_stem),
            Self::AllNeighbors => "neighbors.csv".to_owned(),
            Self::Picture(pane) => format!("{}.png", pane.words().file_stem),
            Self::Trace => "trace.json".to_owned(),
            Self::Selection => "selection.csv".to_owned(),
            Self::Graph(_) => "graph.csv".to_owned(),
            Self::Leaks => "leaks.csv".to_owned(),
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

#[derive(Clone, Debug, PartialEq)]
pub struct ExportDialog {
    pub kind: ExportKind,
    pub path: String,
    /// The name that was to be offered, before a number made it free.
    pub plain: PathBuf,
    /// The name that was offered.
    pub offered: String,
    /// Why it was not written.
    pub error: Option<String>,
    /// Whether an existing file may be overwritten: the user has confirmed it.
    pub overwrite: bool,
    /// Since when it is written.
    pub writing: Option<Instant>,
    /// How a picture of a pane is laid out, and what stands in it.
    pub picture: Option<PictureDraft>,
    /// How many pixels a picture has along a side, for each that it has usually.
    pub times: u8,
    /// Whether a recording holds the points too.
    pub points: bool,
    /// Which steps of a lesson, where a range is shown.
    pub range: Option<RangeDraft>,
    /// What is said of the contents before they are written.
    pub said: Option<String>,
}

impl ExportDialog {
    /// Takes another form of the graph, with an ending that it is written with.
    pub fn take_form(&mut self, form: GraphForm) {
        self.kind = ExportKind::Graph(form);
        if self.kind.refuses(Path::new(self.path.trim())).is_some()
            && let Some((ending, _)) = self.kind.endings().first()
        {
            self.end_in(ending);
        }
    }

    /// Takes another ending. What somebody typed stays otherwise; what was offered is offered anew, as
    /// another file may have needed the number in it, and this one may need one.
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
