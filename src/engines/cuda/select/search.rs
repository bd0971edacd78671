//! A search by a selector: tile after tile of distances, and the selection of each.

use std::ops::Range;

use cudarc::driver::{CudaSlice, DevicePtrMut, DriverError};

use super::DeviceSelector;
use super::interface::{COUNTS, Selection};
use super::matrix::Matrix;
use crate::engines::cuda::Cuda;
use crate::engines::cuda::device::memory::Memory;
use crate::engines::cuda::device::points::{self, Form};
use crate::engines::select::Kind;
use crate::knn::{Answer, Build, EngineError, MAX_COUNTED_CHUNK, Neighbors, Parameters, Problem, Search, SetupPhase};

/// A problem loaded into device memory.
pub struct SelectSearch<'a> {
    cuda: &'a mut Cuda,
    kind: &'static Kind,
    memory: Memory,
    matrix: Matrix,
    selector: Box<dyn DeviceSelector>,
    /// Whether the selection alone is timed.
    selection_only: bool,
    counts: Option<CudaSlice<u32>>,
    /// Queries and build of the last search.
    last: (Range<usize>, Build),
}

impl<'a> SelectSearch<'a> {
    /// Reserves memory for the points, the answer and a tile, and uploads the points.
    ///
    /// # Errors
    /// [`EngineError::Memory`] before anything is reserved, [`EngineError::Unavailable`], [`EngineError::Device`].
    pub fn new(cuda: &'a mut Cuda, kind: &'static Kind, problem: &Problem, parameters: &Parameters) -> Result<Self, EngineError> {
        let (n, d, q) = (problem.n(), problem.dims(), problem.q());
        let mut selector = (kind.on_gpu)(cuda, &problem.shape(), parameters)?;
        let resolved = selector.parameters();
        let how = resolved.get("distances").unwrap_or("registers");
        let matrix = Matrix::new(cuda, how, n, q, selector.row_bytes());
        let mut matrix = matrix.map_err(|why| EngineError::Unavailable { engine: kind.descriptor.id, why })?;
        let counts = 4 * COUNTS as usize * q.min(MAX_COUNTED_CHUNK);
        let floats = points::row_floats(n, d, 1);
        let extra = matrix.bytes() + selector.row_bytes() * matrix.rows + counts;
        let mut memory = Memory::reserve(cuda, problem, Form::Rows, floats, extra as u64)?;
        let stream = cuda.stream.clone();
        let reserved = matrix.reserve(&stream).and_then(|()| selector.reserve(&stream, matrix.rows));
        reserved.map_err(|error| cuda.failed(error))?;
        memory
            .upload(cuda, problem, |cuda, points| points::upload_rows(&cuda.stream, problem.points(), points))
            .map_err(|error| cuda.failed(error))?;
        let selection_only = resolved.get("timed") == Some("selection");
        Ok(Self { cuda, kind, memory, matrix, selector, selection_only, counts: None, last: (0..0, Build::Timed) })
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = &self.cuda.stream.clone();
        if build == Build::Counted && self.counts.as_ref().is_none_or(|counts| counts.len() < COUNTS as usize * queries.len()) {
            // Free the old one first.
            self.counts = None;
            self.counts = Some(stream.alloc_zeros(COUNTS as usize * queries.len())?);
        }
        // Where something is left out, each tile is timed by itself.
        let (mut ms, in_tiles) = (0.0, self.selection_only || self.selector.leaves_out());
        if !in_tiles {
            self.memory.timer.start(stream)?;
        }
        for first in queries.clone().step_by(self.matrix.rows) {
            let count = self.matrix.rows.min(queries.end - first);
            if in_tiles && !self.selection_only {
                self.memory.timer.start(stream)?;
            }
            let distances = self.matrix.fill(stream, &self.memory, first, count)?;
            let counted = ((first - queries.start) * 4 * COUNTS as usize) as u64;
            let memory = &mut self.memory;
            let selection = Selection {
                distances,
                pitch: self.matrix.pitch as u64,
                n: memory.n as u32,
                k: memory.k as u32,
                first_query: first as u32,
                query_count: count as u32,
                indices: memory.indices.device_ptr_mut(stream).0,
                squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
                counts: self.counts.as_mut().map_or(0, |counts| counts.device_ptr_mut(stream).0 + counted),
                ..Selection::default()
            };
            if self.selection_only {
                self.memory.timer.start(stream)?;
            }
            self.selector.launch(stream, selection, build)?;
            if in_tiles {
                ms += self.memory.timer.stop(stream)?;
            }
            self.selector.finish(stream, selection)?;
        }
        if in_tiles { Ok(ms) } else { self.memory.timer.stop(stream) }
    }
}

impl Search for SelectSearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        vec![(SetupPhase::Upload, self.memory.upload_ms)]
    }

    fn resident(&self) -> bool {
        self.memory.resident
    }

    fn parameters(&self) -> Parameters {
        self.selector.parameters()
    }

    fn first_chunk(&self) -> usize {
        self.chunk_unit()
    }

    fn chunk_unit(&self) -> usize {
        self.matrix.rows.min(self.memory.q)
    }

    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError> {
        debug_assert!(queries.start < queries.end && queries.end <= self.memory.q);
        let build = if build == Build::Timed { build } else { Build::Counted };
        let ms = self.launch(&queries, build).map_err(|error| self.cuda.failed(error))?;
        self.last = (queries, build);
        Ok(ms)
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        self.memory.download(&self.cuda.stream, neighbors).map_err(|error| self.cuda.failed(error))
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        let (queries, build) = self.last.clone();
        let (Some(counts), Build::Counted) = (&self.counts, build) else { return Ok(()) };
        let stream = &self.cuda.stream;
        let copy = || -> Result<_, DriverError> {
            let counts = stream.clone_dtoh(&counts.slice(..COUNTS as usize * queries.len()))?;
            stream.synchronize()?;
            Ok(counts)
        };
        let counts = copy().map_err(|error| self.cuda.failed(error))?;
        let (rows, _) = counts.as_chunks::<{ COUNTS as usize }>();
        answer.measured.extend_rows(self.kind.descriptor.measures, rows);
        Ok(())
    }
}
