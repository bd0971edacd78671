//! A search by a selector: tile after tile of distances, and the selection of each; or all queries at once, without a matrix.

use std::ops::Range;

use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DriverError};

use super::expanded::Expanded;
use super::interface::{COUNTS, Selection};
use super::matrix::Matrix;
use super::{DeviceSelector, Frame, Source, Timed};
use crate::cuda::Cuda;
use crate::cuda::device::memory::Memory;
use crate::cuda::device::points::{self, Form};
use crate::knn::{Answer, Build, EngineError, MAX_COUNTED_CHUNK, Neighbors, Parameters, Problem, Search, SetupPhase};
use crate::select::Kind;

/// A problem loaded into device memory.
pub struct SelectSearch<'a> {
    cuda: &'a mut Cuda,
    kind: &'static Kind,
    memory: Memory,
    /// None where the selector computes the distances itself.
    matrix: Option<Matrix>,
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
        let source = selector.source();
        let mut matrix = match source {
            Source::Matrix => {
                let others = 4 * (n + q) * d + 8 * q * problem.k();
                let matrix = Matrix::new(cuda, kernel, n, q, selector.row_bytes(), others);
                Some(matrix.map_err(|why| EngineError::Unavailable { engine: kind.descriptor.id, why })?)
            }
            Source::OnTheFly { .. } => None,
        };
        let (form, floats, scratch) = match source {
            Source::Matrix => (Form::Rows, points::row_floats(n, d, 1), 0),
            Source::OnTheFly { layout, .. } => (layout.form(), layout.floats(), layout.scratch_floats()),
        };
        let counts = 4 * COUNTS as usize * q.min(MAX_COUNTED_CHUNK);
        let tile = matrix.as_ref().map_or(0, |matrix| matrix.bytes() + selector.row_bytes() * matrix.rows);
        let of_expanded = expanded.as_ref().zip(matrix.as_ref()).map_or(0, |(expanded, matrix)| expanded.bytes(matrix, q, problem.k()));
        let mut memory = Memory::reserve(cuda, problem, form, floats, (tile + 4 * scratch + counts + of_expanded) as u64)?;
        let stream = cuda.stream.clone();
        if let Some(matrix) = &mut matrix {
            let reserved = matrix.reserve(&stream).and_then(|()| selector.reserve(&stream, matrix.rows));
            reserved.map_err(|error| cuda.failed(error))?;
            if let Some(expanded) = &mut expanded {
                expanded.reserve(&stream, matrix, q, problem.k()).map_err(|error| cuda.failed(error))?;
            }
        }
        let upload = |cuda: &mut Cuda, points: &mut CudaSlice<f32>| match source {
            Source::Matrix => points::upload_rows(&cuda.stream, problem.points(), points),
            Source::OnTheFly { layout, .. } => {
                let mut scratch = cuda.stream.alloc_zeros::<f32>(scratch.max(1))?;
                layout.upload(cuda, problem.points(), points, &mut scratch)
            }
        };
        memory.upload(cuda, problem, upload).map_err(|error| cuda.failed(error))?;
        Ok(Self { cuda, kind, memory, matrix, selector, timed, expanded, note, counts: None, last: (0..0, Build::Timed) })
    }

    fn launch(&mut self, queries: &Range<usize>, build: Build) -> Result<f64, DriverError> {
        let stream = &self.cuda.stream.clone();
        if build == Build::Counted && self.counts.as_ref().is_none_or(|counts| counts.len() < COUNTS as usize * queries.len()) {
            // Free the old one first.
            self.counts = None;
            self.counts = Some(stream.alloc_zeros(COUNTS as usize * queries.len())?);
        }
        // Where something is left out, each tile is timed by itself.
        let timed = self.timed;
        let (mut ms, in_tiles) = (0.0, timed != Timed::All || self.selector.leaves_out());
        if !in_tiles {
            self.memory.timer.start(stream)?;
        }
        let rows = self.matrix.as_ref().map_or(queries.len(), |matrix| matrix.rows);
        for first in queries.clone().step_by(rows) {
            let count = rows.min(queries.end - first);
            if in_tiles && timed != Timed::Selection {
                self.memory.timer.start(stream)?;
            }
            let counted = ((first - queries.start) * 4 * COUNTS as usize) as u64;
            let mut selection = self.selection(first, count, counted);
            self.fill(&mut selection, first == queries.start, build)?;
            if timed == Timed::Distances {
                ms += self.memory.timer.stop(stream)?;
            }
            self.fill_by_rule(selection, build)?;
            if timed == Timed::Selection {
                self.memory.timer.start(stream)?;
            }
            self.selector.launch(stream, selection, build)?;
            if in_tiles && timed != Timed::Distances {
                ms += self.memory.timer.stop(stream)?;
            }
            self.selector.finish(stream, selection)?;
            if let (Some(expanded), Build::Counted) = (&mut self.expanded, build) {
                expanded.count_wrong(stream, &self.memory, &selection)?;
            }
        }
        if in_tiles { Ok(ms) } else { self.memory.timer.stop(stream) }
    }

    /// Fills the tile of a selection, by what fills it in the time that counts.
    fn fill(&mut self, selection: &mut Selection, is_first: bool, build: Build) -> Result<(), DriverError> {
        let (stream, Some(matrix)) = (&self.cuda.stream, &mut self.matrix) else { return Ok(()) };
        let (first, count) = (selection.first_query as usize, selection.query_count as usize);
        selection.pitch = matrix.pitch as u64;
        selection.distances = match &mut self.expanded {
            Some(expanded) => {
                if is_first {
                    expanded.fill_norms(stream, &self.memory)?;
                }
                let tile = matrix.tile(stream, &self.memory, first, count);
                expanded.fill(stream, &tile, build)?;
                tile.distances
            }
            None => matrix.fill(stream, &self.memory, first, count)?,
        };
        Ok(())
    }

    /// Answers are of distances by the rule: fills the tile by it, if another form did. The counted build selects from that one first.
    fn fill_by_rule(&mut self, selection: Selection, build: Build) -> Result<(), DriverError> {
        let (stream, Some(expanded), Some(matrix)) = (&self.cuda.stream, &mut self.expanded, &mut self.matrix) else { return Ok(()) };
        if build == Build::Counted {
            self.selector.launch(stream, expanded.selection(stream, selection), Build::Timed)?;
        }
        matrix.fill(stream, &self.memory, selection.first_query as usize, selection.query_count as usize).map(drop)
    }

    /// What a selector is told of a range of queries, whose counts lie so many bytes from the first on; the distances are not there yet.
    fn selection(&mut self, first: usize, count: usize, counted: u64) -> Selection {
        let (memory, stream) = (&mut self.memory, &self.cuda.stream);
        Selection {
            points: memory.points.floats.device_ptr(stream).0,
            queries: memory.queries.device_ptr(stream).0,
            q: memory.q as u32,
            d: memory.d as u32,
            n: memory.n as u32,
            k: memory.k as u32,
            first_query: first as u32,
            query_count: count as u32,
            indices: memory.indices.device_ptr_mut(stream).0,
            squared_distances: memory.squared_distances.device_ptr_mut(stream).0,
            counts: self.counts.as_mut().map_or(0, |counts| counts.device_ptr_mut(stream).0 + counted),
            ..Selection::default()
        }
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
        match self.selector.source() {
            Source::Matrix => self.chunk_unit(),
            // Four blocks per multiprocessor.
            Source::OnTheFly { queries, .. } => 4 * self.cuda.multiprocessors() as usize * queries,
        }
    }

    fn chunk_unit(&self) -> usize {
        match (&self.matrix, self.selector.source()) {
            (Some(matrix), _) => matrix.rows.min(self.memory.q),
            // A block per multiprocessor: fewer would take as long.
            (None, Source::OnTheFly { queries, .. }) => self.cuda.multiprocessors() as usize * queries,
            (None, Source::Matrix) => 1,
        }
    }

    fn chunk_ms(&self) -> f64 {
        match self.selector.source() {
            Source::Matrix => 50.0,
            // In many dimensions so long that blocks fill the device: half as many take as long.
            Source::OnTheFly { .. } => 200.0,
        }
    }

    fn first_work(&self) -> u64 {
        match self.selector.source() {
            // A tile is smaller.
            Source::Matrix => 2_000_000_000,
            Source::OnTheFly { .. } => 200_000_000_000,
        }
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
