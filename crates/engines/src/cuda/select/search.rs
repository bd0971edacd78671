//! A search by a selector: computes tiles of distances and selects from each; or answers all queries at once,
//! without a matrix.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::distances::ExpandedKernels;
use super::matrix::Matrix;
use super::{DeviceSelector, MatrixPlan, Source, TimingScope};
use crate::Result;
use crate::cuda::Cuda;
use crate::cuda::DriverResult;
use crate::cuda::device::memory::{Addresses, SearchBuffers};
use crate::cuda::interface::select::{COUNTS, Selection};
use crate::cuda::search::{Chunk, GpuSearch, SearchKernels};
use crate::knn::{Descriptor, EngineError, KernelBuild, MAX_COUNTED_CHUNK, Measure, Parameters, Problem};

/// A selector and the matrix that it selects from.
pub struct SelectKernels {
    descriptor: &'static Descriptor,
    /// `None` if the selector computes the distances itself.
    matrix: Option<Matrix>,
    selector: Box<dyn DeviceSelector>,
    timed: TimingScope,
    /// The timed kernel that fills the tile first.
    expanded: Option<ExpandedKernels>,
    note: Option<String>,
}

/// Reserves memory for the points, the answer and a tile, and uploads the points.
///
/// # Errors
/// [`EngineError::Memory`] before anything is reserved, [`EngineError::Unavailable`],
/// [`EngineError::Device`].
pub fn load<'a>(
    cuda: &'a mut Cuda,
    descriptor: &'static Descriptor,
    problem: &Problem,
    mut selector: Box<dyn DeviceSelector>,
) -> Result<GpuSearch<'a, SelectKernels>> {
    let (n, d, q, k) = (problem.n(), problem.dims(), problem.q(), problem.k());
    let MatrixPlan { kernel, timed, mut expanded, note } = selector.frame();
    let counts = 4 * COUNTS as usize * q.min(MAX_COUNTED_CHUNK);
    let (memory, matrix) = match selector.source() {
        Source::OnTheFly { layout, .. } => (layout.load(cuda, problem, counts as u64)?, None),
        Source::Matrix => {
            let others = 4 * (n + q) * d + 8 * q * k;
            let matrix = Matrix::new(cuda, kernel, n, q, selector.row_bytes(), others);
            let mut matrix = matrix.map_err(|why| EngineError::Unavailable { engine: descriptor.id, why })?;
            let tile = matrix.bytes() + selector.row_bytes() * matrix.rows;
            let of_expanded = expanded.as_ref().map_or(0, |expanded| expanded.bytes(&matrix, q, k));
            let memory = SearchBuffers::with_rows(cuda, problem, (tile + counts + of_expanded) as u64)?;
            let mut reserve = || {
                matrix.reserve(&cuda.stream)?;
                selector.reserve(&cuda.stream, matrix.rows)?;
                expanded.as_mut().map_or(Ok(()), |expanded| expanded.reserve(&cuda.stream, &matrix, q, k))
            };
            let reserved = reserve();
            reserved.map_err(|error| cuda.failed(error))?;
            (memory, Some(matrix))
        }
    };
    Ok(GpuSearch::new(
        cuda,
        memory,
        None,
        SelectKernels { descriptor, matrix, selector, timed, expanded, note },
    ))
}

impl SelectKernels {
    /// Fills the tile of a selection with the timed kernel.
    fn fill(
        &mut self,
        stream: &Arc<CudaStream>,
        memory: &SearchBuffers,
        selection: &mut Selection,
        is_first: bool,
        build: KernelBuild,
    ) -> DriverResult {
        let Some(matrix) = &mut self.matrix else { return Ok(()) };
        let (first, count) = (selection.first_query as usize, selection.query_count as usize);
        selection.pitch = matrix.pitch as u64;
        selection.distances = match &mut self.expanded {
            Some(expanded) => {
                if is_first {
                    expanded.fill_norms(stream, memory)?;
                }
                let tile = matrix.tile(stream, memory, first, count);
                expanded.fill(stream, &tile, build)?;
                tile.distances
            }
            None => matrix.fill(stream, memory, first, count)?,
        };
        Ok(())
    }

    /// Refills the tile by the rule if the expanded form filled it, because answers are always selected from
    /// distances by the rule. The counted build first selects from the expanded form.
    fn fill_by_rule(
        &mut self,
        stream: &Arc<CudaStream>,
        memory: &SearchBuffers,
        selection: Selection,
        build: KernelBuild,
    ) -> DriverResult {
        let (Some(expanded), Some(matrix)) = (&mut self.expanded, &mut self.matrix) else { return Ok(()) };
        if build == KernelBuild::Counted {
            self.selector.launch(stream, expanded.selection(stream, selection), KernelBuild::Timed)?;
        }
        matrix.fill(stream, memory, selection.first_query as usize, selection.query_count as usize).map(drop)
    }
}

/// A range of queries as a kernel argument; the distances are not set.
pub fn selection(stream: &CudaStream, memory: &mut SearchBuffers, first: usize, count: usize) -> Selection {
    let Addresses { points, queries, indices, squared_distances, n, d, k, q } = memory.addresses(stream);
    let (first_query, query_count) = (first as u32, count as u32);
    Selection {
        points,
        queries,
        q,
        d,
        n,
        k,
        first_query,
        query_count,
        indices,
        squared_distances,
        ..Selection::default()
    }
}

impl SearchKernels for SelectKernels {
    fn measures(&self) -> &'static [Measure] {
        self.descriptor.measures
    }

    fn counts(&self) -> usize {
        COUNTS as usize
    }

    fn run(&mut self, cuda: &mut Cuda, memory: &mut SearchBuffers, chunk: Chunk<'_>) -> DriverResult<f64> {
        let Chunk { queries, build, counts } = chunk;
        let stream = &cuda.stream;
        // If only a part is timed, each tile is timed separately.
        let timed = self.timed;
        let (mut ms, in_tiles) = (0.0, timed != TimingScope::All || self.selector.finishes_untimed());
        if !in_tiles {
            memory.timer.start(stream)?;
        }
        let rows = self.matrix.as_ref().map_or(queries.len(), |matrix| matrix.rows);
        for first in queries.clone().step_by(rows) {
            if in_tiles && timed != TimingScope::Selection {
                memory.timer.start(stream)?;
            }
            let mut selection = selection(stream, memory, first, rows.min(queries.end - first));
            selection.counts = self.counts_at(first - queries.start, counts);
            self.fill(stream, memory, &mut selection, first == queries.start, build)?;
            if timed == TimingScope::Distances {
                ms += memory.timer.stop(stream)?;
            }
            self.fill_by_rule(stream, memory, selection, build)?;
            if timed == TimingScope::Selection {
                memory.timer.start(stream)?;
            }
            self.selector.launch(stream, selection, build)?;
            if in_tiles && timed != TimingScope::Distances {
                ms += memory.timer.stop(stream)?;
            }
            self.selector.finish(stream, selection)?;
            if let (Some(expanded), KernelBuild::Counted) = (&mut self.expanded, build) {
                expanded.count_wrong(stream, &selection)?;
            }
        }
        if in_tiles { Ok(ms) } else { memory.timer.stop(stream) }
    }

    fn parameters(&self) -> Parameters {
        self.selector.parameters()
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn first_chunk(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize {
        match self.selector.source() {
            Source::Matrix => self.chunk_unit(cuda, memory),
            // Four blocks per multiprocessor.
            Source::OnTheFly { queries, .. } => 4 * cuda.multiprocessors() as usize * queries,
        }
    }

    fn chunk_unit(&self, cuda: &Cuda, memory: &SearchBuffers) -> usize {
        match (&self.matrix, self.selector.source()) {
            (Some(matrix), _) => matrix.rows.min(memory.q),
            // One block per multiprocessor: fewer queries would take as long.
            (None, Source::OnTheFly { queries, .. }) => cuda.multiprocessors() as usize * queries,
            (None, Source::Matrix) => 1,
        }
    }

    fn chunk_ms(&self) -> f64 {
        match self.selector.source() {
            Source::Matrix => 50.0,
            // In many dimensions, enough for blocks to fill the device: half as many queries would take as
            // long.
            Source::OnTheFly { .. } => 200.0,
        }
    }

    fn first_work(&self, _memory: &SearchBuffers) -> u64 {
        match self.selector.source() {
            // The work of a tile is limited by its size.
            Source::Matrix => 2_000_000_000,
            Source::OnTheFly { .. } => 200_000_000_000,
        }
    }
}
