//! The neighbours of all rows, for their graph: in memory, or in a scratch file if they do not fit.

use std::path::Path;

use super::answer::AnswerStats;
use super::columns::OpenedTiles;
use super::job::Job;
use super::{output, paths, tiles};
use crate::export::ExportError;
use crate::files;
use crate::memory;
use crate::run::EnginePool;
use crate::run::graph::{GraphError, ListWriter, StoredLists};
use crate::text;

/// Bytes per point that the results of a graph need.
#[derive(Clone, Copy, Default)]
pub struct ResultBytes {
    /// In memory.
    pub memory: u64,
    /// Where the neighbours are.
    pub stored: u64,
}

/// Searches and stores the neighbours of all rows of a job.
///
/// # Errors
/// Errors of [`writer`] and of the search.
pub fn find(
    engines: &mut EnginePool,
    (job, tiled): (&Job, Option<&OpenedTiles>),
    results: ResultBytes,
    outputs: &[&Path],
) -> anyhow::Result<(StoredLists, AnswerStats)> {
    let mut lists = writer(job, tiled.is_some(), results, outputs)?;
    let answered = tiles::answer(engines, (job, tiled), &mut |batch| Ok(lists.append(batch)?))?;
    Ok((lists.finish()?, answered))
}

/// Decides where the neighbours of all rows of a job are stored, and notes it if they do not fit into memory.
///
/// # Errors
/// If neither memory nor the disk has room for the neighbours and their results.
pub fn writer(
    job: &Job,
    is_tiled: bool,
    results: ResultBytes,
    outputs: &[&Path],
) -> anyhow::Result<ListWriter> {
    let (n, k, metric) = (job.cloud.len(), job.spec.k, job.spec.metric);
    let of_all = |bytes: u64| bytes.saturating_mul(n as u64);
    let stored = of_all((k as u64).saturating_mul(8).saturating_add(results.stored));
    let index = of_all(32 + 12 * metric.dims(job.cloud.dims()) as u64);
    let all = stored.saturating_add(of_all(results.memory)).saturating_add(index);
    // Half of the memory is left for the search.
    let is_short = memory::available().is_some_and(|free| all > free / 2);
    if !is_tiled && !is_short {
        return Ok(ListWriter::new(n, k, metric, None)?);
    }
    memory::check(of_all(results.memory)).map_err(GraphError::from)?;
    // A mapped file needs addresses.
    if let Some(free) = memory::addresses().filter(|&free| stored > free) {
        return Err(GraphError::from(memory::InsufficientMemory { needed: stored, free }).into());
    }
    let folder = paths::scratch_folder(outputs);
    if let Some(free) = files::room(&folder.join("scratch")).filter(|&free| stored > free) {
        let (needed, free) = (stored.div_ceil(1 << 20), free >> 20);
        let what = "the neighbours of all rows".to_owned();
        return Err(ExportError::DiskFull { what, needed, free, path: folder }.into());
    }
    output::note(&format!(
        "the neighbours of all rows need {}; they are stored in a scratch file: {}",
        text::bytes(stored),
        folder.display()
    ));
    Ok(ListWriter::new(n, k, metric, Some(folder))?)
}
