//! A search by a selector: tile after tile of distances, and the selection of each.

use std::ops::Range;

use cudarc::driver::{CudaSlice, DevicePtrMut, DriverError};

use super::expanded::Expanded;
use super::interface::{COUNTS, Selection};
use super::matrix::Matrix;
use super::{DeviceSelector, Frame, Timed};
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
    timed: Timed,
    /// What fills the tile first, in the time that counts.
    expanded: Option<Expanded>,
    note: Option<String>,
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
        let Frame { kernel, timed, mut expanded, note } = selector.frame();
        let matrix = Matrix::new(cuda, kernel, n, q, selector.row_bytes());
        let mut matrix = matrix.map_err(|why| EngineError::Unavailable { engine: kind.descriptor.id, why })?;
        let counts = 4 * COUNTS as usize * q.min(MAX_COUNTED_CHUNK);
        let floats = points::row_floats(n, d, 1);
        let of_expanded = expanded.as_ref().map_or(0, |expanded| expanded.bytes(&matrix, q, problem.k()));
        let extra = matrix.bytes() + selector.row_bytes() * matrix.rows + counts + of_expanded;
        let mut memory = Memory::reserve(cuda, problem, Form::Rows, floats, extra as u64)?;
        let stream = cuda.stream.clone();
        let reserved = matrix.reserve(&stream).and_then(|()| selector.reserve(&stream, matrix.rows));
        reserved.map_err(|error| cuda.failed(error))?;
        if let Some(expanded) = &mut expanded {
            expanded.reserve(&stream, &matrix, q, problem.k()).map_err(|error| cuda.failed(error))?;
        }
        memory
            .upload(cuda, problem, |cuda, points| points::upload_rows(&cuda.stream, problem.points(), points))
            .map_err(|error| cuda.failed(error))?;
        Ok(Self { cuda, kind, memory, matrix, selector, timed, expanded, note, counts: None, last: (0..0, Build::Timed) })
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = &self.cuda.stream.clone();
        if build == Build::Counted && self.counts.as_ref().is_none_or(|counts| counts.len() < COUNTS as usize * queries.len()) {
            // Free the old one first.
            self.counts = None;
            self.counts = Some(stream.alloc_zeros(COUNTS as usize * queries.len())?);
        }
        let (timed, mut part_ms) = (self.timed, 0.0);
        if timed == Timed::All {
            self.memory.timer.start(stream)?;
        }
        for first in queries.clone().step_by(self.matrix.rows) {
            let count = self.matrix.rows.min(queries.end - first);
            if timed == Timed::Distances {
                self.memory.timer.start(stream)?;
            }
            let distances = match &mut self.expanded {
                Some(expanded) => {
                    if first == queries.start {
                        expanded.fill_norms(stream, &self.memory)?;
                    }
                    let tile = self.matrix.tile(stream, &self.memory, first, count);
                    expanded.fill(stream, &tile, build)?;
                    tile.distances
                }
                None => self.matrix.fill(stream, &self.memory, first, count)?,
            };
            if timed == Timed::Distances {
                part_ms += self.memory.timer.stop(stream)?;
            }
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
            if let Some(expanded) = &mut self.expanded {
                if build == Build::Counted {
                    self.selector.launch(stream, expanded.selection(stream, selection), Build::Timed)?;
                }
                // Answers are of distances by the rule.
                self.matrix.fill(stream, &self.memory, first, count)?;
            }
            if timed == Timed::Selection {
                self.memory.timer.start(stream)?;
            }
            self.selector.launch(stream, selection, build)?;
            if timed == Timed::Selection {
                part_ms += self.memory.timer.stop(stream)?;
            }
            if let (Some(expanded), Build::Counted) = (&mut self.expanded, build) {
                expanded.count_wrong(stream, &self.memory, &selection)?;
            }
        }
        if timed == Timed::All { self.memory.timer.stop(stream) } else { Ok(part_ms) }
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

    fn note(&self) -> Option<String> {
        self.note.clone()
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
