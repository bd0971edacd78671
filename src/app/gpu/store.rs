//! Coordinates and values of rows in GPU buffers, in drawing order. A thread (for few rows, the caller)
//! gathers them in chunks, directly into the buffers without a copy on the host. What has been uploaded is
//! always a random sample of all rows, so a picture appears at once and fills up.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use eframe::egui_wgpu::wgpu;
use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

use crate::app::model::Projection;

/// Workgroup size of the shaders. A dispatch has at most 65,535 groups.
pub const GROUP: u32 = 128;

/// Rows per buffer, limited by what one dispatch reaches. With three f32 each this is 96 MiB, which every
/// adapter can bind.
const SEGMENT: u32 = GROUP * u16::MAX as u32;

/// Rows gathered and sent at once.
const ROWS_PER_CHUNK: u32 = 1 << 18;

/// Fewer rows take less than a few milliseconds and need no thread.
const MAX_SYNC_ROWS: u32 = 1 << 17;

/// Seed of the drawing order: equal for all clouds of one size, so that coordinates and values correspond.
const SEED: u32 = 0x7669_6577;

/// Point ids have 32 bits, 0 means none, and layers share them.
const MAX_ROWS: u32 = u32::MAX / 4 - 1;

/// A buffer with a part of the rows.
pub struct Segment {
    pub buffer: wgpu::Buffer,
    /// The drawing index of the first row.
    pub first: u32,
    pub count: u32,
}

/// A fixed number of floats for each row.
pub struct RowBuffers {
    id: u64,
    rows: u32,
    resident: u32,
    uploaded: AtomicU32,
    segments: Vec<Segment>,
}

impl RowBuffers {
    /// Unique within its [`Store`], never reused.
    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of rows that fit in the adapter's memory.
    pub fn resident(&self) -> u32 {
        self.resident
    }

    /// Number of those rows uploaded so far.
    pub fn uploaded(&self) -> u32 {
        self.uploaded.load(Ordering::Acquire)
    }

    /// Whether all of those rows have been uploaded.
    pub fn is_complete(&self) -> bool {
        self.uploaded() == self.resident
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

/// Which coordinates the buffer contains.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UploadedAxes {
    /// All dimensions of the cloud, at most three: projections choose among them.
    All(usize),
    /// Chosen axes of a larger cloud.
    Chosen,
}

/// Coordinates of points on the GPU.
pub struct Points {
    buffers: Arc<RowBuffers>,
    columns: UploadedAxes,
}

impl Points {
    pub fn buffers(&self) -> &Arc<RowBuffers> {
        &self.buffers
    }

    /// Converts a projection of some axes to one of the buffer's coordinates. A missing axis is 0 everywhere.
    pub fn project(&self, projection: Projection, axes: &[usize]) -> Projection {
        let UploadedAxes::All(dims) = self.columns else { return projection };
        let Projection { center: from, matrix: by } = projection;
        let mut center = [0.0; 3];
        let mut matrix = [[0.0; 4], [0.0; 4], [0.0; 4], by[3]];
        let mut taken = [false; 3];
        for ((&axis, column), origin) in axes.iter().zip(by).zip(from) {
            if axis < dims && !taken[axis] {
                (taken[axis], center[axis]) = (true, origin);
            }
            // An axis used twice has one centre; a missing one has 0.
            let shift = if axis < dims { center[axis] - origin } else { -origin };
            for row in 0..4 {
                if axis < dims {
                    matrix[axis][row] += column[row];
                }
                matrix[3][row] += column[row] * shift;
            }
        }
        Projection { center, matrix }
    }
}

/// Allocates buffers and uploads rows into them; large clouds on background threads.
pub struct Store {
    /// Maximum number of rows per buffer.
    segment: u32,
    device: wgpu::Device,
    upload: UploadContext,
    last: AtomicU64,
    threads: Arc<Threads>,
}

/// State shared with the threads that fill buffers.
#[derive(Clone)]
struct UploadContext {
    queue: wgpu::Queue,
    wake: Arc<dyn Fn() + Send + Sync>,
    /// Weak, so that threads notice when the store is dropped.
    threads: Weak<Threads>,
}

/// The threads that fill buffers. Dropping the store stops them and waits for them, because the driver must
/// not be in use when it cleans up at the end of the program.
#[derive(Default)]
struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl Threads {
    fn add(&self, thread: JoinHandle<()>) {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A panic was already reported.
            let _ = thread.join();
        }
    }
}

/// A choice of rows, in drawing order.
#[derive(Clone)]
pub enum Rows {
    /// Rows 0..n, in the cloud's drawing order.
    All(u32),
    /// These rows, in this order.
    Some(Arc<[u32]>),
}

impl Rows {
    fn len(&self) -> u32 {
        match self {
            Self::All(n) => *n,
            Self::Some(rows) => rows.len() as u32,
        }
    }
}

impl Store {
    /// `wake` is called when more has been uploaded.
    pub fn new(device: wgpu::Device, queue: wgpu::Queue, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let threads = Arc::default();
        let upload = UploadContext { queue, wake: Arc::new(wake), threads: Arc::downgrade(&threads) };
        Self { segment: SEGMENT, device, upload, last: AtomicU64::default(), threads }
    }

    /// Makes buffers smaller, as on an adapter with a lower limit on bindings.
    #[cfg(test)]
    pub fn in_segments_of(&mut self, segment: u32) {
        self.segment = segment;
    }

    /// Uploads coordinates of rows of a cloud with `dims` dimensions: all if there are at most three, else
    /// those that `place` chooses. `place` gives 0 for missing ones.
    pub fn points(
        &self,
        rows: &Rows,
        dims: usize,
        place: impl Fn(u32) -> [f32; 3] + Send + Sync + 'static,
    ) -> Points {
        Points {
            buffers: self.store(rows, place),
            columns: if dims <= 3 { UploadedAxes::All(dims) } else { UploadedAxes::Chosen },
        }
    }

    pub fn values(&self, rows: &Rows, value: impl Fn(u32) -> f32 + Send + Sync + 'static) -> Arc<RowBuffers> {
        self.store(rows, move |row| [value(row)])
    }

    fn store<const W: usize>(
        &self,
        rows: &Rows,
        number: impl Fn(u32) -> [f32; W] + Send + Sync + 'static,
    ) -> Arc<RowBuffers> {
        let n = rows.len();
        let segments = self.segments(n.min(MAX_ROWS), W);
        let resident = segments.iter().map(|segment| segment.count).sum();
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let buffers = Arc::new(RowBuffers { id, rows: n, resident, uploaded: AtomicU32::new(0), segments });
        let fill = {
            let (upload, buffers, rows) = (self.upload.clone(), Arc::clone(&buffers), rows.clone());
            move || upload.fill(&buffers, &rows, &number)
        };
        if resident <= MAX_SYNC_ROWS {
            fill();
        } else {
            let fill = Arc::new(fill);
            let theirs = Arc::clone(&fill);
            // If no thread can be spawned, upload on this one.
            match std::thread::Builder::new().name("warpscope-upload".to_owned()).spawn(move || theirs()) {
                Ok(thread) => self.threads.add(thread),
                Err(_) => fill(),
            }
        }
        buffers
    }

    /// Buffers for as many rows as fit in the adapter's memory.
    fn segments(&self, rows: u32, width: usize) -> Vec<Segment> {
        let mut segments = Vec::new();
        let most =
            (self.device.limits().max_buffer_size / (width as u64 * 4)).min(u64::from(self.segment)) as u32;
        for first in (0..rows).step_by(most as usize) {
            let count = most.min(rows - first);
            let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("rows"),
                size: u64::from(count) * width as u64 * 4,
                usage: wgpu::BufferUsages::VERTEX | self.storage() | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            if pollster::block_on(scope.pop()).is_some() {
                break;
            }
            segments.push(Segment { buffer, first, count });
        }
        segments
    }

    /// Adapters without compute shaders have no storage buffers.
    fn storage(&self) -> wgpu::BufferUsages {
        if self.device.limits().max_storage_buffers_per_shader_stage > 0 {
            wgpu::BufferUsages::STORAGE
        } else {
            wgpu::BufferUsages::empty()
        }
    }
}

impl UploadContext {
    fn fill<const W: usize>(
        &self,
        buffers: &Arc<RowBuffers>,
        rows: &Rows,
        number: &(impl Fn(u32) -> [f32; W] + Sync),
    ) {
        let n = rows.len();
        let order = Permutation::new(n, SEED);
        let mut piece: Vec<f32> = Vec::new();
        for segment in &buffers.segments {
            for begin in (0..segment.count).step_by(ROWS_PER_CHUNK as usize) {
                // The buffers are no longer used.
                if Arc::strong_count(buffers) == 1 || self.threads.strong_count() == 0 {
                    return;
                }
                let count = ROWS_PER_CHUNK.min(segment.count - begin) as usize;
                let first = segment.first + begin;
                piece.resize(count * W, 0.0);
                piece.par_chunks_mut(4096 * W).enumerate().for_each(|(part, numbers)| {
                    for (at, to) in numbers.chunks_exact_mut(W).enumerate() {
                        let drawn = order.row(first + (part * 4096 + at) as u32);
                        let row = match rows {
                            Rows::All(_) => drawn,
                            Rows::Some(rows) => rows[drawn as usize],
                        };
                        to.copy_from_slice(&number(row));
                    }
                });
                self.queue.write_buffer(
                    &segment.buffer,
                    u64::from(begin) * W as u64 * 4,
                    bytemuck::cast_slice(&piece),
                );
                if buffers.resident > MAX_SYNC_ROWS {
                    // Flushes pending writes, to limit their number.
                    self.queue.submit([]);
                }
                buffers.uploaded.store(first + count as u32, Ordering::Release);
                if buffers.resident > MAX_SYNC_ROWS {
                    (self.wake)();
                }
            }
        }
    }
}

// A computed random order of rows: the row of a drawing index takes a few dozen instructions and no memory.
// Every prefix is a random sample of the cloud.

/// Two rounds per half are visibly not random, eight look random.
const ROUNDS: u32 = 8;

/// A permutation of 0..n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    n: u32,
    a: u32,
    b: u32,
    seed: u32,
}

impl Permutation {
    /// The permutation of `n` numbers with this seed.
    pub fn new(n: u32, seed: u32) -> Self {
        let a = (f64::from(n).sqrt().ceil() as u32).max(1);
        Self { n, a, b: n.div_ceil(a).max(1), seed }
    }

    /// The row drawn at an index below n.
    pub fn row(&self, index: u32) -> u32 {
        debug_assert!(index < self.n);
        let mut at = index;
        loop {
            at = self.forward(at);
            if at < self.n {
                return at;
            }
        }
    }

    /// The index at which a row below n is drawn.
    #[cfg(test)]
    pub fn index(&self, row: u32) -> u32 {
        debug_assert!(row < self.n);
        let mut at = row;
        loop {
            at = self.backward(at);
            if at < self.n {
                return at;
            }
        }
    }

    fn forward(&self, at: u32) -> u32 {
        let (mut left, mut right) = (at % self.a, at / self.a);
        for round in 0..ROUNDS {
            if round % 2 == 0 {
                left = add(left, self.noise(right, round, self.a), self.a);
            } else {
                right = add(right, self.noise(left, round, self.b), self.b);
            }
        }
        right * self.a + left
    }

    #[cfg(test)]
    fn backward(&self, at: u32) -> u32 {
        let (mut left, mut right) = (at % self.a, at / self.a);
        for round in (0..ROUNDS).rev() {
            if round % 2 == 0 {
                left = add(left, self.a - self.noise(right, round, self.a), self.a);
            } else {
                right = add(right, self.b - self.noise(left, round, self.b), self.b);
            }
        }
        right * self.a + left
    }

    /// A number below `limit`. The mixing is Wellons's `lowbias32`.
    fn noise(&self, half: u32, round: u32, limit: u32) -> u32 {
        let mut x = half ^ self.seed.wrapping_add((round + 1).wrapping_mul(0x9E37_79B9));
        x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
        x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
        x ^= x >> 16;
        ((u64::from(x) * u64::from(limit)) >> 32) as u32
    }
}

/// Adds modulo `limit`: `one` is below the limit, `other` at most equal to it. Both are at most 65,536.
fn add(one: u32, other: u32, limit: u32) -> u32 {
    let sum = one + other;
    if sum >= limit { sum - limit } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_bijective_and_invertible() {
        for n in [1, 2, 3, 5, 31, 32, 33, 97, 100, 101, 1_000, 4_096, 65_537, 200_003] {
            for seed in [0, 7] {
                let permutation = Permutation::new(n, seed);
                let mut seen = vec![false; n as usize];
                for index in 0..n {
                    let row = permutation.row(index);
                    assert!(!std::mem::replace(&mut seen[row as usize], true), "row {row} of {n} came twice");
                    assert_eq!(permutation.index(row), index);
                }
            }
        }
    }

    #[test]
    fn permutations_support_the_largest_cloud() {
        let n = crate::cloud::MAX_ROWS;
        let permutation = Permutation::new(n, 1);
        for index in (0..n).step_by(1 << 20).chain([n - 1]) {
            let row = permutation.row(index);
            assert!(row < n);
            assert_eq!(permutation.index(row), index);
        }
    }

    /// χ² of a prefix over 64 equal ranges of rows, and over rows modulo 64: with 63 degrees of freedom, 130
    /// is exceeded once in a million tries. Sampling without replacement is slightly more even, so there is a
    /// minimum too.
    #[test]
    fn permutation_prefixes_are_uniform() {
        const BINS: usize = 64;
        let n: u32 = 640_000;
        for seed in [1, 2, 3] {
            let permutation = Permutation::new(n, seed);
            for prefix in [1_000u32, 10_000, 50_000, 100_000] {
                let (mut ranges, mut residues) = ([0u32; BINS], [0u32; BINS]);
                for index in 0..prefix {
                    let row = permutation.row(index);
                    ranges[row as usize / (n as usize / BINS)] += 1;
                    residues[row as usize % BINS] += 1;
                }
                let expected = f64::from(prefix) / BINS as f64;
                for counts in [ranges, residues] {
                    let chi: f64 =
                        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
                    assert!((25.0..130.0).contains(&chi), "χ² of the first {prefix} is {chi:.1}");
                }
            }
        }
    }

    /// Rows drawn in sequence are independent: their correlation is that of independent numbers, whose
    /// standard deviation is 1/√n.
    #[test]
    fn consecutive_rows_are_uncorrelated() {
        let n: u32 = 100_000;
        let permutation = Permutation::new(n, 5);
        let rows: Vec<f64> =
            (0..n).map(|index| f64::from(permutation.row(index)) / f64::from(n) - 0.5).collect();
        for lag in [1, 2, 3, 16, 317] {
            let sum: f64 = rows.iter().zip(&rows[lag..]).map(|(one, other)| one * other).sum();
            let correlation = sum / f64::from(n) * 12.0;
            assert!(correlation.abs() < 5.0 / f64::from(n).sqrt(), "lag {lag}: {correlation}");
        }
    }
}
