//! The k nearest as arrays. The numbers of queries and neighbours determine where each array is in its file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use rayon::prelude::*;

use super::{NeighborFormat, Size};
use crate::export::numpy::NpzWriter;
use crate::export::placed::PlacedArray;
use crate::knn::NONE;
use crate::run::recording::npy_head;
use crate::run::{AnswerBatch, BatchAnswers};

/// The arrays of an archive, which grow batch by batch. For k neighbours, q × k each: `indices` (i64), and
/// `squared_distances` (f32) with true distances (f64) or `inner_products` (f64). Within a radius, for a
/// single batch: `offsets` (i64, q + 1; query i has the entries from `offsets[i]` to `offsets[i + 1]`), then
/// the same as columns. If queries are rows: `query_rows` (i64).
pub struct NeighborArrays<'a> {
    npz: NpzWriter<'a>,
    /// Number of queries of all batches.
    q: usize,
}

impl<'a> NeighborArrays<'a> {
    /// Starts an archive.
    pub fn new(out: &'a mut BufWriter<File>, q: usize) -> Self {
        Self { npz: NpzWriter::new(out), q }
    }

    /// Appends a batch.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn append(&mut self, batch: AnswerBatch<'_>) -> io::Result<()> {
        let (npz, q) = (&mut self.npz, self.q);
        let (shape, distances, squared) = match batch.found {
            BatchAnswers::Nearest { k, metric, squared, .. } => (vec![q, k], metric.array(), Some(squared)),
            BatchAnswers::Products { k, .. } => (vec![q, k], "inner_products", None),
            BatchAnswers::Within { offsets, metric, squared, .. } => {
                let offset = |at: usize| offsets[at].to_le_bytes();
                npz.array("offsets", "<i8", &[q + 1], 8)?.extend(offsets.len(), offset)?;
                (vec![batch.len()], metric.column(), Some(squared))
            }
        };
        append_indices(npz.array("indices", "<i8", &shape, 8)?, batch)?;
        if let Some(squared) = squared {
            let squared_distances = npz.array("squared_distances", "<f4", &shape, 4)?;
            squared_distances.extend(squared.len(), |at| squared[at].to_le_bytes())?;
        }
        let distance = |at| batch.distance(at).to_le_bytes();
        npz.array(distances, "<f8", &shape, 8)?.extend(batch.len(), distance)?;
        let Some((cloud, rows)) = batch.queries else { return Ok(()) };
        let record = |at: usize| cloud.record(rows[at] as usize).to_le_bytes();
        npz.array("query_rows", "<i8", &[q], 8)?.extend(rows.len(), record)
    }

    /// Completes the archive.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn finish(self) -> io::Result<()> {
        self.npz.finish()
    }
}

/// Starts a file of a single matrix.
pub fn matrix<'a>(
    out: &'a mut BufWriter<File>,
    Size { q, k, .. }: Size,
    format: NeighborFormat,
) -> io::Result<PlacedArray<'a>> {
    let mut matrix = PlacedArray::new(out.get_ref(), 0);
    match format {
        NeighborFormat::Npy => matrix.write_all(&npy_head("<i8", &[q, k]))?,
        NeighborFormat::Bin => {
            matrix.write_all([q, k].map(|count| (count as u32).to_le_bytes()).as_flattened())?
        }
        _ => {}
    }
    Ok(matrix)
}

/// Appends record numbers as i64; −1 if missing.
pub fn append_indices(indices: &mut PlacedArray<'_>, batch: AnswerBatch<'_>) -> io::Result<()> {
    match batch.found {
        // Without dropped rows, a row is its record.
        BatchAnswers::Nearest { rows, .. } if batch.cloud.dropped_records().next().is_none() => indices
            .extend(rows.len(), |at| if rows[at] == NONE { -1 } else { i64::from(rows[at]) }.to_le_bytes()),
        _ => indices.extend(batch.len(), |at| batch.record(at).to_le_bytes()),
    }
}

/// Appends rows of k values to a [`matrix`].
pub fn append_rows(
    matrix: &mut PlacedArray<'_>,
    (k, format): (usize, NeighborFormat),
    count: usize,
    value: impl Fn(usize) -> [u8; 4] + Sync,
) -> io::Result<()> {
    if format == NeighborFormat::Bin {
        return matrix.extend(count, value);
    }
    // Each row is preceded by its length.
    matrix.extend(count / k * (k + 1), |slot| match (slot / (k + 1), slot % (k + 1)) {
        (_, 0) => (k as i32).to_le_bytes(),
        (row, rank) => value(row * k + rank - 1),
    })
}

/// The first record number of a batch that 32 bits cannot store.
pub fn long_index(batch: AnswerBatch<'_>) -> Option<i64> {
    let is_long = |&index: &i64| i32::try_from(index).is_err();
    (0..batch.len()).into_par_iter().map(|at| batch.record(at)).find_first(is_long)
}
