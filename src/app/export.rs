//! What a pane shows, as CSV or PNG. Files are written beside their goal and renamed, so that none is ever half there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::log::Entry;
use super::session::Answered;
use super::state::PaneKind;
use crate::cloud::PointCloud;
use crate::knn::Convergence;
use crate::run::RunRecord;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A pane's data as CSV.
    Data(PaneKind),
    /// A pane as PNG.
    Picture(PaneKind),
    /// The window as PNG.
    Window,
}

impl ExportKind {
    /// The dialog's title.
    pub fn title(self) -> String {
        match self {
            Self::Data(pane) => format!("Export the data of {}", pane.title()),
            Self::Picture(pane) => format!("Save a picture of {}", pane.title()),
            Self::Window => "Save a picture of the window".to_owned(),
        }
    }

    /// The file's name before anybody chose one.
    pub fn default_name(self) -> String {
        match self {
            Self::Data(pane) => format!("{}.csv", pane.file_stem()),
            Self::Picture(pane) => format!("{}.png", pane.file_stem()),
            Self::Window => "warpscope.png".to_owned(),
        }
    }
}

/// The dialog's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportDialog {
    /// What is exported.
    pub kind: ExportKind,
    /// Where to.
    pub path: String,
    /// Why it was not written.
    pub error: Option<String>,
}

/// A pane's data, detached from the window so that a thread can write it.
pub enum PaneData {
    /// All points: record and coordinates.
    Points(Arc<PointCloud>),
    /// The picked query's neighbours.
    Neighbors(Answered),
    /// Raw timings.
    Timings(Arc<RunRecord>),
    /// Counters per query.
    Merges(Arc<RunRecord>),
    /// The convergence history per query.
    Convergence(Arc<RunRecord>),
    /// What was said.
    Log(Vec<Entry>),
}

impl PaneData {
    /// Writes it as CSV.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Points(cloud) => points(cloud, to),
            Self::Neighbors(answered) => neighbors(answered, to),
            Self::Timings(record) => timings(record, to),
            Self::Merges(record) => merges(record, to),
            Self::Convergence(record) => convergence(record, to),
            Self::Log(entries) => log(entries, to),
        }
    }
}

/// A column name or a sentence, quoted where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Shortest digits that read back as the same number; infinity is `inf`.
fn axes_header(cloud: &PointCloud) -> String {
    cloud.axes().iter().map(|axis| quoted(&axis.name)).collect::<Vec<_>>().join(",")
}

fn coordinates(cloud: &PointCloud, row: usize) -> String {
    (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis).to_string()).collect::<Vec<_>>().join(",")
}

fn points(cloud: &PointCloud, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "row,{}", axes_header(cloud))?;
    (0..cloud.len()).try_for_each(|row| writeln!(to, "{},{}", cloud.record(row), coordinates(cloud, row)))
}

fn neighbors(answered: &Answered, to: &mut dyn Write) -> io::Result<()> {
    let (record, cloud) = (&answered.record, &answered.record.cloud);
    let distance = if record.spec.metric == crate::knn::Metric::Angular { "angle" } else { "distance" };
    writeln!(to, "query,rank,index,squared_distance,{distance},{}", axes_header(cloud))?;
    let query = answered.query_cloud().record(answered.row() as usize);
    for (rank, (row, squared)) in answered.neighbors().enumerate() {
        let (index, far) = (cloud.record(row as usize), record.spec.metric.distance(squared));
        writeln!(to, "{query},{rank},{index},{squared},{far},{}", coordinates(cloud, row as usize))?;
    }
    Ok(())
}

fn timings(record: &RunRecord, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "engine,phase,repeat,chunk,start_ms,duration_ms")?;
    for sample in &record.samples {
        writeln!(to, "{},{},{},{},{},{}", record.engine, sample.phase.name(), sample.repeat, sample.chunk, sample.start_ms, sample.duration_ms)?;
    }
    Ok(())
}

fn query_record(record: &RunRecord, query: usize) -> u64 {
    record.query_cloud.as_ref().unwrap_or(&record.cloud).record(record.query_rows[query] as usize)
}

fn merges(record: &RunRecord, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "query,row,merges,candidates,groups_hit")?;
    for (query, counters) in record.counters.iter().enumerate() {
        let row = query_record(record, query);
        writeln!(to, "{query},{row},{},{},{}", counters.merges, counters.candidates, counters.groups_hit)?;
    }
    Ok(())
}

fn convergence(record: &RunRecord, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "query,merge,points_seen,max_squared_distance")?;
    for query in 0..record.convergence.queries() {
        let (seen, distances) = record.convergence.of(query);
        for (entry, (points_seen, distance)) in seen.iter().zip(distances).enumerate() {
            let merge = Convergence::merge_of_entry(entry, seen.len(), record.counters[query].merges);
            writeln!(to, "{query},{merge},{points_seen},{distance}")?;
        }
    }
    Ok(())
}

fn log(entries: &[Entry], to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "time_utc,level,text")?;
    entries.iter().try_for_each(|entry| writeln!(to, "{},{},{}", entry.time(), entry.level.text(), quoted(&entry.text)))
}

/// Writes a file under a temporary name beside its goal, then renames it.
///
/// # Errors
/// `cannot write: why: path`.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<PathBuf, String> {
    let failed = |why: io::Error| format!("cannot write: {why}: {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut buffered = io::BufWriter::new(file);
    write(&mut buffered).map_err(failed)?;
    let file = buffered.into_inner().map_err(|error| failed(error.into_error()))?;
    // Temporary files are for their owner only; what is exported is like any other file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed)?;
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(path.to_owned())
}

/// Writes a picture as PNG; `crop` is (left, top, width, height) in pixels.
///
/// # Errors
/// As [`write_file`].
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
    write_file(path, |to| {
        use image::ImageEncoder as _;
        image::codecs::png::PngEncoder::new(to)
            .write_image(&pixels, wide as u32, high as u32, image::ExtendedColorType::Rgb8)
            .map_err(io::Error::other)
    })
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
        let text = text(PaneData::Neighbors(answered.clone()));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("a header"), &["query", "rank", "index", "squared_distance", "distance", "x", "y"][..]);
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
        assert_eq!(rows.len(), answered.neighbors().len());
        for (row, (index, squared)) in rows.iter().zip(answered.neighbors()) {
            assert_eq!(row[2].parse::<u64>(), Ok(record.cloud.record(index as usize)));
            assert_eq!(row[3].parse::<f32>(), Ok(squared));
            assert_eq!(row[5].parse::<f64>(), Ok(record.cloud.coordinate(index as usize, 0)));
        }
    }

    #[test]
    fn every_table_has_its_rows() {
        let record = record();
        let lines = |data| text(data).lines().count();
        assert_eq!(lines(PaneData::Points(Arc::clone(&record.cloud))), record.cloud.len() + 1);
        assert_eq!(lines(PaneData::Timings(Arc::clone(&record))), record.samples.len() + 1);
        assert_eq!(lines(PaneData::Merges(Arc::clone(&record))), record.counters.len() + 1);
        assert_eq!(lines(PaneData::Convergence(Arc::clone(&record))), record.convergence.points_seen.len() + 1);
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
