//! Coordinate columns: the value of `--columns`, and notes on columns that were inferred.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;

use super::bar::Bar;
use super::usage::UsageError;
use super::{output, paths};
use crate::cloud::formats::{self, ColumnGuess, FormatError, Reason, RowBlocks};
use crate::cloud::{
    self, AutoColumns, Axis, CloudError, ColumnChoice, GlobeAxes, PointCloud, Source, TiledCloud,
};
use crate::knn::Metric;
use crate::progress::NoProgress;
use crate::run::TilePlan;
use crate::{files, memory, text};

/// Parses `--columns`.
///
/// # Errors
/// A sentence, if a column is named twice.
pub fn parse(text: &str) -> Result<ColumnChoice, String> {
    let Ok(choice) = text.parse::<ColumnChoice>();
    if let ColumnChoice::Named(names) = &choice {
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            return Err(format!("column `{twice}` given twice"));
        }
    }
    Ok(choice)
}

/// Refuses a column that is given twice in different ways: by name and number, or in another case.
///
/// # Errors
/// A duplicate, or errors of reading the file's columns.
fn check_once(source: &Source) -> anyhow::Result<()> {
    let Source::File { path, columns: ColumnChoice::Named(names) } = source else { return Ok(()) };
    let numbers: Vec<Option<usize>> = names.iter().map(|name| name.parse().ok()).collect();
    let plain: HashSet<String> = names
        .iter()
        .zip(&numbers)
        .map(|(name, number)| number.map_or_else(|| name.to_lowercase(), |at| at.to_string()))
        .collect();
    let is_mixed = numbers.iter().any(Option::is_some) && numbers.iter().any(Option::is_none);
    if plain.len() == names.len() && !is_mixed {
        return Ok(());
    }
    let mut seen = HashSet::new();
    match formats::column_indices(path, names, &NoProgress)?.iter().position(|&at| !seen.insert(at)) {
        None => Ok(()),
        Some(twice) => {
            let name = &names[twice];
            anyhow::bail!(UsageError(format!(
                "column `{name}` given twice, by different names: {}",
                path.display()
            )))
        }
    }
}

/// Reads a cloud. Without `--columns`, its coordinates are inferred; [`note_inferred`] reports them.
///
/// # Errors
/// Errors of [`cloud::load`].
fn load(source: &Source, drop_nonfinite: bool) -> Result<(PointCloud, Option<ColumnGuess>), CloudError> {
    cloud::load_auto(source, AutoColumns::Inferred, drop_nonfinite, &Bar::new("reading the cloud"))
}

/// As [`load`], for queries from a file. `inferred` is whether the data's columns were inferred.
///
/// # Errors
/// Errors of [`cloud::load_queries`].
pub fn load_queries(
    source: &Source,
    data: &PointCloud,
    inferred: bool,
    drop_nonfinite: bool,
) -> Result<PointCloud, CloudError> {
    let how = if inferred { AutoColumns::Inferred } else { AutoColumns::AllNumeric };
    cloud::load_queries_auto(source, data, how, drop_nonfinite, &Bar::new("reading the queries"))
}

/// A cloud with its coordinate columns, and how they were chosen.
pub struct LoadedCloud {
    pub cloud: Arc<PointCloud>,
    /// The columns as given; the default if they were inferred.
    pub columns: ColumnChoice,
    pub guess: Option<ColumnGuess>,
}

/// The columns that earlier answers used, if known.
#[derive(Clone, Debug)]
pub struct AnswerColumns {
    /// The file of the answers.
    pub file: PathBuf,
    pub columns: Option<Vec<String>>,
    /// The columns of queries from a file.
    pub query_columns: Option<Vec<String>>,
}

/// Reads a cloud, and notes columns that were not given: those of earlier answers, or inferred ones without
/// the column of labels.
///
/// # Errors
/// When the cloud cannot be read.
pub fn read(
    source: &Source,
    drop_nonfinite: bool,
    answered: Option<&AnswerColumns>,
    labels: Option<&str>,
) -> anyhow::Result<LoadedCloud> {
    check_once(source)?;
    let mut guess = None;
    let answered = answered.map(|answered| (&*answered.file, answered.columns.as_deref()));
    let mut cloud = load_like_answers(source, answered, |source| {
        load(source, drop_nonfinite).map(|(cloud, guessed)| {
            guess = guessed;
            cloud
        })
    })?;
    note_first_line(cloud.source());
    let mut columns =
        if let Source::File { columns, .. } = source { columns.clone() } else { ColumnChoice::Default };
    if let (Source::File { path, .. }, Some(guess)) = (source, &guess) {
        match labels.and_then(|label| without_label(guess, label)) {
            Some(others) => {
                columns = others;
                cloud =
                    load(&Source::File { path: path.clone(), columns: columns.clone() }, drop_nonfinite)?.0;
            }
            None => note_inferred(guess),
        }
    }
    Ok(LoadedCloud { cloud: Arc::new(cloud), columns, guess })
}

/// A cloud whose rows stay in its file.
pub struct OpenedTiles {
    pub tiled: Arc<TiledCloud>,
    /// Why the points are not loaded.
    pub why: String,
}

/// Opens a cloud for a search over tiles, if its format allows that and it does not fit into memory. Notes
/// columns as [`read`]. `needs_all` is a flag that needs all points in memory; it is an error if the user
/// limited the memory. A scratch file is placed with the first of `outputs`.
///
/// # Errors
/// When the cloud cannot be read.
pub fn open_tiles(
    source: &Source,
    drop_nonfinite: bool,
    metric: Metric,
    needs_all: Option<&str>,
    outputs: &[&Path],
) -> anyhow::Result<Option<(OpenedTiles, LoadedCloud)>> {
    let Source::File { path, columns } = source else { return Ok(None) };
    let bar = Bar::new("reading the cloud");
    // Errors are those of loading.
    let opened = formats::open_blocks(path, columns, AutoColumns::Inferred, &bar).ok().flatten();
    let Some((mut blocks, guess)) = opened else { return Ok(None) };
    let Some(why) = TilePlan::reason(&blocks, metric) else { return Ok(None) };
    if let Some(flag) = needs_all {
        if memory::limit().is_some() {
            bail!(
                "{flag} needs all points in memory: {why}; drop {flag} or raise --memory: {}",
                path.display()
            );
        }
        return Ok(None);
    }
    check_once(source)?;
    output::note(&format!("{why}; searching in tiles"));
    store_decoded(&mut blocks, outputs, &bar)?;
    let guess = (*columns == ColumnChoice::Default).then_some(guess);
    let chosen = guess.as_ref().map_or_else(|| columns.clone(), ColumnGuess::choice);
    let source = Source::File { path: path.clone(), columns: chosen };
    let tiled = Arc::new(TiledCloud::scan(blocks, source, drop_nonfinite, &bar)?);
    drop(bar);
    if let Some(guess) = &guess {
        note_inferred(guess);
    }
    let loaded = LoadedCloud { cloud: Arc::clone(tiled.header()), columns: columns.clone(), guess };
    Ok(Some((OpenedTiles { tiled, why }, loaded)))
}

/// Decodes a file once, into a scratch file, if its rows are in chunks: every tile would decode them again.
fn store_decoded(blocks: &mut RowBlocks, outputs: &[&Path], bar: &Bar) -> Result<(), CloudError> {
    if blocks.buffer() == 0 {
        return Ok(());
    }
    let (needed, folder) = (blocks.bytes(), paths::scratch_folder(outputs));
    // A mapped file needs addresses. Half of both is left for the search and its results.
    let room = files::room(&folder.join("scratch")).into_iter().chain(memory::addresses()).min();
    let (size, shown) = (text::bytes(needed), folder.display());
    if let Some(half) = room.map(|room| room / 2).filter(|&half| needed > half) {
        let half = text::bytes(half);
        output::note(&format!(
            "decoded rows need {size}, but a scratch file may use only {half}; decoding again per tile: {shown}"
        ));
        return Ok(());
    }
    output::note(&format!("rows are decoded once, into a scratch file of {size}: {shown}"));
    match blocks.store(&folder, bar) {
        // Other processes may have filled the disk.
        Err(FormatError::Scratch(why)) => output::note(&format!("{why}; decoding again per tile")),
        result => result?,
    }
    Ok(())
}

/// Notes that the first line of a file was skipped.
fn note_first_line(source: &Source) {
    if let Source::File { path, .. } = source
        && let Some(note) = formats::note(path, &NoProgress)
    {
        output::note(&format!("{note}: {}", path.display()));
    }
}

/// The inferred columns without that of the labels, which would affect the distances; `None` if it is not
/// among them.
fn without_label(guess: &ColumnGuess, label: &str) -> Option<ColumnChoice> {
    let is_label = |at: usize| guess.columns[at].name.eq_ignore_ascii_case(label) || label.parse() == Ok(at);
    let others: Vec<String> =
        guess.coordinates.iter().filter(|&&at| !is_label(at)).map(usize::to_string).collect();
    if others.is_empty() || others.len() == guess.coordinates.len() {
        return None;
    }
    output::note(&format!(
        "column `{label}` has the labels and is not used as a coordinate; include it with --columns"
    ));
    Some(ColumnChoice::Named(others))
}

/// The searched columns, for JSON.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SearchedColumns {
    /// In axis order.
    pub columns: Vec<String>,
    /// How they were chosen: `by name`, or `--columns`.
    pub columns_by: String,
}

impl SearchedColumns {
    pub fn new(cloud: &PointCloud, guess: Option<&ColumnGuess>) -> Self {
        let columns = cloud.axes().iter().map(|axis| axis.name.clone()).collect();
        let named = matches!(cloud.source(), Source::File { .. });
        let by = || if named { "--columns" } else { "the generator" }.to_owned();
        Self { columns, columns_by: guess.map_or_else(by, |guess| guess.reason.to_string()) }
    }
}

/// Notes which columns are searched and why; even with `--quiet` if names or values decided.
fn note_inferred(guess: &ColumnGuess) {
    output::note_choice(
        &format!("{}; override with --columns", guess.summary()),
        guess.reason != Reason::Elements,
    );
}

/// Notes how the columns of queries are matched if their names differ from the cloud's.
pub fn note_query_columns(queries: &[Axis], cloud: &[Axis], file: &Path) {
    let names = |axes: &[Axis]| axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    let (theirs, own) = (names(queries), names(cloud));
    let is_globe = |names: &[String]| GlobeAxes::is_named(names.iter().map(String::as_str));
    let same = theirs.iter().zip(&own).all(|(a, b)| a.eq_ignore_ascii_case(b));
    let both_globes = is_globe(&theirs) && is_globe(&own);
    if !same && !both_globes {
        output::note(&format!(
            "query columns {} are used as {}: {}",
            output::names(&theirs),
            output::names(&own),
            file.display()
        ));
    }
}

/// Loads a file whose columns were not given. Uses the columns of earlier answers if the file has them and
/// they differ from the default, and notes that; otherwise uses the default columns.
///
/// # Errors
/// When the default columns cannot be loaded.
pub fn load_like_answers(
    source: &Source,
    answers: Option<(&Path, Option<&[String]>)>,
    mut load: impl FnMut(&Source) -> Result<PointCloud, CloudError>,
) -> Result<PointCloud, CloudError> {
    let usual = load(source);
    let (Source::File { path, columns: ColumnChoice::Default }, Some((file, Some(names)))) =
        (source, answers)
    else {
        return usual;
    };
    if usual.as_ref().is_ok_and(|cloud| cloud.axes().iter().map(|axis| &axis.name).eq(names)) {
        return usual;
    }
    let theirs = load(&Source::File { path: path.clone(), columns: ColumnChoice::Named(names.to_vec()) });
    if theirs.is_ok() {
        let (file, path, names) = (file.display(), path.display(), output::names(names));
        output::note(&format!("using columns {names} of {path}, as in {file}; override with --columns"));
    }
    theirs.or(usual)
}
