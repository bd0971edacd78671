//! The generators' point distributions.
//!
//! Each draws its numbers in a fixed order, so that a seed always gives the same cloud. Changing that order
//! requires a new [`super::VERSION`].

use std::collections::HashSet;
use std::f64::consts::{PI, TAU};

use super::draw::{CloudRng, sin_cos};
use super::{MAX_VALUES, Spec};
use crate::progress::Progress;

/// Appends the points of a spec to a canvas.
pub(super) type Shape = fn(&Spec, &mut CloudRng, &mut Canvas<'_>) -> Result<()>;

type Result<T> = std::result::Result<T, StopReason>;

/// Why generation stopped early.
pub(super) enum StopReason {
    Cancelled,
    /// The spec is impossible on any machine.
    Impossible(String),
    /// The allocation of this many bytes failed.
    Memory(u64),
}

/// Collects rows of d coordinates, rounded to f32.
pub(super) struct Canvas<'a> {
    dims: usize,
    rows: u64,
    done: u64,
    values: Vec<f32>,
    /// Bytes available, and claimed so far.
    free: u64,
    taken: u64,
    progress: &'a dyn Progress,
}

impl<'a> Canvas<'a> {
    /// A canvas that may use `free` bytes of memory.
    pub fn new(free: u64, progress: &'a dyn Progress) -> Self {
        Self { dims: 0, rows: 0, done: 0, values: Vec::new(), free, taken: 0, progress }
    }

    /// Counts memory before it is allocated.
    fn claim(&mut self, bytes: u64) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > self.free { Err(StopReason::Memory(self.taken)) } else { Ok(()) }
    }

    /// `count` coordinates in [0, 1), multiples of 2⁻²⁴ and so exact in f32.
    fn units(&mut self, count: usize, draw: &mut CloudRng) -> Result<Vec<f32>> {
        self.claim(count as u64 * 4)?;
        let mut units = Vec::new();
        units.try_reserve_exact(count).map_err(|_| StopReason::Memory(self.taken))?;
        while units.len() < count {
            let more = (count - units.len()).min(1 << 16);
            units.extend((0..more).map(|_| draw.unit() as f32));
            if self.progress.cancelled() {
                return Err(StopReason::Cancelled);
            }
        }
        Ok(units)
    }

    /// Reserves memory for `rows` × `dims` coordinates.
    fn open(&mut self, rows: usize, dims: usize) -> Result<()> {
        let total = (rows as u64).saturating_mul(dims as u64);
        if total > MAX_VALUES {
            return Err(StopReason::Impossible(format!(
                "{rows} points × {dims} dimensions are more than {MAX_VALUES} coordinates"
            )));
        }
        (self.rows, self.dims) = (rows as u64, dims);
        self.claim(total * 4)?;
        self.values.try_reserve_exact(total as usize).map_err(|_| StopReason::Memory(total * 4))
    }

    /// Like [`Self::open`], for a spec's n points in d dimensions; returns both.
    fn open_for(&mut self, spec: &Spec) -> Result<(usize, usize)> {
        let (n, d) = (spec.whole("n"), spec.whole("d"));
        self.open(n, d).map(|()| (n, d))
    }

    /// Appends a row, reporting progress at intervals.
    fn row(&mut self, row: impl IntoIterator<Item = f64>) -> Result<()> {
        self.values.extend(row.into_iter().map(|value| value as f32));
        self.done += 1;
        if self.done.is_multiple_of(4096) {
            self.progress.update(self.done, self.rows);
            if self.progress.cancelled() {
                return Err(StopReason::Cancelled);
            }
        }
        Ok(())
    }

    /// d, and the values in row-major order.
    pub fn finish(self) -> (usize, Vec<f32>) {
        (self.dims, self.values)
    }
}

pub(super) fn uniform(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, d) = canvas.open_for(spec)?;
    (0..n).try_for_each(|_| canvas.row((0..d).map(|_| draw.unit())))
}

pub(super) fn gaussian_mixture(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let ((n, d), clusters, spread) = (canvas.open_for(spec)?, spec.whole("clusters"), spec.real("spread"));
    if clusters as u64 * d as u64 > MAX_VALUES / 4 {
        return Err(StopReason::Impossible(format!("{clusters} clusters in {d} dimensions are too many")));
    }
    let centres = canvas.units(clusters * d, draw)?;
    (0..n).try_for_each(|_| {
        let centre = &centres[draw.below(clusters) * d..][..d];
        canvas.row(centre.iter().map(|&middle| f64::from(middle) + spread * draw.normal()))
    })
}

/// A coordinate beyond 16 bits is clamped to the nearest 16-bit value; with the default spread it is 8
/// standard deviations away.
pub(super) fn rounded_normal(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let ((n, d), spread) = (canvas.open_for(spec)?, spec.real("spread"));
    // Adding 0 turns −0 into 0, because integers have only one zero.
    (0..n).try_for_each(|_| {
        canvas.row(
            (0..d).map(|_| (spread * draw.normal()).round().clamp(i16::MIN.into(), i16::MAX.into()) + 0.0),
        )
    })
}

pub(super) fn sphere(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, d) = canvas.open_for(spec)?;
    let mut direction = vec![0.0; d];
    (0..n).try_for_each(|_| {
        draw.direction(&mut direction);
        canvas.row(direction.iter().copied())
    })
}

/// The standard definition: angle t from 1.5π to 4.5π, (t cos t, height 0…21, t sin t).
pub(super) fn swiss_roll(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, noise) = (spec.whole("n"), spec.real("noise"));
    canvas.open(n, 3)?;
    (0..n).try_for_each(|_| {
        let t = 1.5 * PI * (1.0 + 2.0 * draw.unit());
        let height = 21.0 * draw.unit();
        let (sin, cos) = sin_cos(t);
        canvas.row([t * cos, height, t * sin].map(|x| x + noise * draw.normal()))
    })
}

/// Radius √u at angle 2π·turns·√u. The density along the curve grows outwards, so that the disc is covered
/// evenly.
pub(super) fn spiral(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, turns, noise) = (spec.whole("n"), spec.real("turns"), spec.real("noise"));
    canvas.open(n, 2)?;
    (0..n).try_for_each(|_| {
        let radius = draw.unit().sqrt();
        let (sin, cos) = sin_cos(TAU * turns * radius);
        canvas.row([radius * cos, radius * sin].map(|x| x + noise * draw.normal()))
    })
}

/// Points 0…s−1 on every axis, the last axis fastest, where s^d is as close to n as possible.
pub(super) fn grid(spec: &Spec, _draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, d) = (spec.whole("n"), spec.whole("d"));
    let power = |side: u64| side.saturating_pow(d as u32);
    let mut side = 1;
    if d == 1 {
        side = n as u64;
    } else {
        while power(side + 1) <= n as u64 {
            side += 1;
        }
        if power(side + 1).abs_diff(n as u64) < power(side).abs_diff(n as u64) {
            side += 1;
        }
    }
    if side == 1 && n > 1 {
        return Err(StopReason::Impossible(format!(
            "a grid of {d} dimensions has 1 or at least 2^{d} points; ask for more or lower d"
        )));
    }
    if side > 1 << 24 {
        return Err(StopReason::Impossible(format!(
            "n={n}: 32-bit floats represent at most 2^24 grid positions per axis"
        )));
    }
    let rows = power(side) as usize;
    canvas.open(rows, d)?;
    let mut position = vec![0u64; d];
    for _ in 0..rows {
        canvas.row(position.iter().map(|&x| x as f64))?;
        for x in position.iter_mut().rev() {
            *x += 1;
            if *x < side {
                break;
            }
            *x = 0;
        }
    }
    Ok(())
}

/// Each distinct position is used ⌊n/distinct⌋ or ⌈n/distinct⌉ times, in random order.
pub(super) fn duplicates(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, d) = canvas.open_for(spec)?;
    let distinct = spec.whole("distinct").min(n);
    /// Bytes per distinct position besides its coordinates, which are stored twice: a hash table entry with
    /// its vector.
    const POSITION: u64 = 80;
    canvas.claim(distinct as u64 * (8 * d as u64 + POSITION) + 4 * n as u64)?;
    let mut positions: Vec<f32> = Vec::with_capacity(distinct * d);
    let mut taken: HashSet<Vec<u32>> = HashSet::with_capacity(distinct);
    while taken.len() < distinct {
        let position: Vec<f32> = (0..d).map(|_| draw.unit() as f32).collect();
        if taken.insert(position.iter().map(|x| (x * 2f32.powi(24)) as u32).collect()) {
            positions.extend(position);
        }
    }
    let mut order: Vec<u32> = (0..n).map(|i| (i % distinct) as u32).collect();
    draw.shuffle(&mut order);
    order
        .into_iter()
        .try_for_each(|at| canvas.row(positions[at as usize * d..][..d].iter().map(|&x| f64::from(x))))
}

/// Points in random directions from the last row, 0, at decreasing distances.
///
/// The radius decreases in even steps, but at least by the factor 1 − (d+4)·2⁻²³. Rounding d coordinates to
/// f32 and summing d squares in f32, in any order and with or without fused multiply-add, changes a squared
/// distance by less than (d+4)·2⁻²⁴ of itself; consecutive points differ by four times that, so distances
/// descend strictly however they are computed.
pub(super) fn descending(spec: &Spec, draw: &mut CloudRng, canvas: &mut Canvas<'_>) -> Result<()> {
    let (n, d) = (spec.whole("n"), spec.whole("d"));
    let least = (d as f64 + 4.0) * 2f64.powi(-23);
    // e^−30 is about 10⁻¹³; its square is well within f32.
    if n as f64 * least > 30.0 {
        let most = (30.0 / least) as u64;
        return Err(StopReason::Impossible(format!(
            "n={n}: at most {most} strictly descending distances fit 32-bit floats in {d} dimensions"
        )));
    }
    canvas.open(n, d)?;
    let mut direction = vec![0.0; d];
    let mut radius = f64::INFINITY;
    for row in 0..n - 1 {
        radius = f64::min((n - 1 - row) as f64 / (n - 1) as f64, radius * (1.0 - least));
        draw.direction(&mut direction);
        canvas.row(direction.iter().map(|x| x * radius))?;
    }
    canvas.row(std::iter::repeat_n(0.0, d))
}
