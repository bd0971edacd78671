//! The points of a problem, in processing order and prepared for a metric; built once and shared between
//! problems.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use super::{DeviceId, Metric, ProblemError};
use crate::cloud::{Axis, GlobeAxes, GlobeError, Order, PointCloud};
use crate::memory;

/// The squared extent below which squared distances lose precision to f32 underflow.
const SMALLEST_SQUARED_EXTENT: f64 = f32::MIN_POSITIVE as f64 * (1u64 << 24) as f64;

/// Rows per parallel work item.
const ROWS_PER_TASK: usize = 1 << 12;

/// The settings that determine a problem's points. Equal arrangements of a cloud give identical points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointSettings {
    metric: Metric,
    order: Order,
    seed: u64,
    drop_zero_rows: bool,
}

impl PointSettings {
    /// Clears settings without effect: `seed` unless the order is shuffled, `drop_zero_rows` unless the
    /// metric compares directions.
    pub fn new(metric: Metric, order: Order, seed: u64, drop_zero_rows: bool) -> Self {
        Self {
            metric,
            order,
            seed: if order == Order::Shuffled { seed } else { 0 },
            drop_zero_rows: drop_zero_rows && metric.compares_directions(),
        }
    }

    pub fn metric(&self) -> Metric {
        self.metric
    }
}

/// Row-major coordinates, shared with the cloud if they are identical.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    OfCloud(Arc<PointCloud>),
    /// A range of another's positions.
    Part(Arc<Points>, Range<usize>),
    Own(Vec<f32>),
}

impl Rows {
    pub fn as_slice(&self) -> &[f32] {
        match self {
            Self::OfCloud(cloud) => cloud.points(),
            Self::Part(whole, range) => {
                &whole.coordinates()[range.start * whole.dims()..range.end * whole.dims()]
            }
            Self::Own(values) => values,
        }
    }

    /// A cloud's rows in the order of `rows`, or the cloud's own array if the order is unchanged.
    pub fn gather(cloud: &Arc<PointCloud>, rows: Option<&[u32]>) -> Self {
        let Some(rows) = rows else { return Self::OfCloud(Arc::clone(cloud)) };
        let dims = cloud.dims();
        let mut values = vec![0.0; rows.len() * dims];
        let tasks = values.par_chunks_mut(ROWS_PER_TASK * dims).zip(rows.par_chunks(ROWS_PER_TASK));
        tasks.for_each(|(values, rows)| {
            for (value, &row) in values.chunks_exact_mut(dims).zip(rows) {
                value.copy_from_slice(cloud.point(row as usize));
            }
        });
        Self::Own(values)
    }

    /// Positions as unit vectors, in the order of `rows`, computed in f64 from the file's coordinates and
    /// rounded once.
    pub fn on_globe(cloud: &PointCloud, globe: GlobeAxes, rows: Option<&[u32]>) -> Self {
        const DIMS: usize = 3;
        let mut values = vec![0.0; rows.map_or(cloud.len(), <[u32]>::len) * DIMS];
        values.par_chunks_mut(ROWS_PER_TASK * DIMS).enumerate().for_each(|(part, values)| {
            for (at, value) in values.chunks_exact_mut(DIMS).enumerate() {
                let at = part * ROWS_PER_TASK + at;
                let unit = globe.row_unit_vector(cloud, rows.map_or(at, |rows| rows[at] as usize));
                value.copy_from_slice(&unit.map(|value| value as f32));
            }
        });
        Self::Own(values)
    }

    /// Unit vectors of the file's coordinates, in the order of `rows`, normalised in f64 and rounded once.
    ///
    /// With `drop`, zero rows are removed from the result and from `rows`; otherwise the record number of the
    /// first one is the error.
    pub fn normalised(cloud: &PointCloud, rows: &mut Option<Vec<u32>>, drop: bool) -> Result<Self, u64> {
        let dims = cloud.dims();
        let mut order: Vec<u32> = rows.take().unwrap_or_else(|| (0..cloud.len() as u32).collect());
        let mut unit = vec![0.0; order.len() * dims];
        let zeros: Vec<usize> = (unit.par_chunks_exact_mut(dims).zip(order.par_iter()).enumerate())
            .filter_map(|(at, (unit, &row))| (!normalise(cloud, row as usize, unit)).then_some(at))
            .collect();
        if let Some(&first) = zeros.first() {
            if !drop {
                return Err(cloud.record(order[first] as usize));
            }
            let kept: Vec<usize> = (0..order.len()).filter(|at| zeros.binary_search(at).is_err()).collect();
            for (to, &from) in kept.iter().enumerate() {
                order[to] = order[from];
                unit.copy_within(from * dims..(from + 1) * dims, to * dims);
            }
            order.truncate(kept.len());
            unit.truncate(kept.len() * dims);
        }
        *rows = Some(order);
        Ok(Self::Own(unit))
    }
}

/// Writes a row as a unit vector; false for a zero row.
fn normalise(cloud: &PointCloud, row: usize, unit: &mut [f32]) -> bool {
    let values = (0..unit.len()).map(|axis| cloud.coordinate(row, axis));
    // Scale by the largest component: its square might overflow or underflow even in f64.
    let largest = values.clone().map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 {
        return false;
    }
    let norm = values.clone().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt();
    for (unit, value) in unit.iter_mut().zip(values) {
        *unit = (value / largest / norm) as f32;
    }
    true
}

/// The minimum and maximum of each axis.
type Extents = Vec<[f32; 2]>;

fn extents(values: &[f32], dims: usize) -> Extents {
    let none = || vec![[f32::INFINITY, f32::NEG_INFINITY]; dims];
    let of_part = |mut extents: Extents, part: &[f32]| {
        for row in part.chunks_exact(dims) {
            for (extent, &value) in extents.iter_mut().zip(row) {
                *extent = [extent[0].min(value), extent[1].max(value)];
            }
        }
        extents
    };
    // For a single query, starting threads would take longer.
    if values.len() <= ROWS_PER_TASK * dims {
        of_part(none(), values)
    } else {
        values.par_chunks(ROWS_PER_TASK * dims).fold(none, of_part).reduce(none, both)
    }
}

fn both(mut extents: Extents, more: Extents) -> Extents {
    for (extent, more) in extents.iter_mut().zip(more) {
        *extent = [extent[0].min(more[0]), extent[1].max(more[1])];
    }
    extents
}

/// Checks the memory for arranging (a row index per point and a copy of the coordinates) against free memory.
fn check_memory(cloud: &PointCloud, arrangement: PointSettings) -> Result<(), ProblemError> {
    let shuffled = arrangement.order != Order::File;
    let copied = shuffled || arrangement.metric != Metric::L2;
    let coordinates = cloud.len() * arrangement.metric.dims(cloud.dims());
    let bytes = u64::from(shuffled) * 4 * cloud.len() as u64 + u64::from(copied) * 4 * coordinates as u64;
    match memory::available() {
        Some(free) if bytes > free => {
            Err(ProblemError::Memory { needed: bytes.div_ceil(1 << 20), free: free >> 20 })
        }
        _ => Ok(()),
    }
}

/// n points in processing order.
#[derive(Debug)]
pub struct Points {
    cloud: Arc<PointCloud>,
    arrangement: PointSettings,
    coordinates: Rows,
    /// The cloud row at each position. `None` is the identity, or the rows of the points that these are a
    /// part of.
    rows: Option<Vec<u32>>,
    extents: OnceLock<Extents>,
    cache: Cache,
}

impl Points {
    /// Arranges a cloud's rows, as unit vectors if the metric requires it.
    ///
    /// # Errors
    /// [`ProblemError::Zero`], [`ProblemError::Globe`] and [`ProblemError::Memory`].
    pub fn new(cloud: &Arc<PointCloud>, arrangement: PointSettings) -> Result<Self, ProblemError> {
        check_memory(cloud, arrangement)?;
        let mut rows = arrangement.order.permutation(cloud.len(), arrangement.seed);
        let coordinates = match arrangement.metric {
            Metric::L2 => Rows::gather(cloud, rows.as_deref()),
            Metric::Angular | Metric::Cosine => {
                let normalised = Rows::normalised(cloud, &mut rows, arrangement.drop_zero_rows);
                normalised.map_err(|record| ProblemError::Zero { whose: "data", record })?
            }
            Metric::Haversine | Metric::Sky => {
                let globe = GlobeAxes::from_axes(cloud.axes())?;
                globe.check(cloud)?;
                Rows::on_globe(cloud, globe, rows.as_deref())
            }
        };
        Ok(Self::from_parts(Arc::clone(cloud), arrangement, coordinates, rows))
    }

    /// Two points that span the extents of many: a problem over these accepts the queries that a problem over
    /// all of them would.
    pub fn spanning(cloud: &Arc<PointCloud>, arrangement: PointSettings, extents: &[[f32; 2]]) -> Self {
        let corners = [0, 1].into_iter().flat_map(|end| extents.iter().map(move |extent| extent[end]));
        Self::from_parts(Arc::clone(cloud), arrangement, Rows::Own(corners.collect()), None)
    }

    fn from_parts(
        cloud: Arc<PointCloud>,
        arrangement: PointSettings,
        coordinates: Rows,
        rows: Option<Vec<u32>>,
    ) -> Self {
        Self { cloud, arrangement, coordinates, rows, extents: OnceLock::new(), cache: Cache::default() }
    }

    /// The same points, or a subset of them, reordered by current position.
    ///
    /// # Panics
    /// If `positions` is longer than n.
    pub fn rearranged(&self, positions: &[u32]) -> Self {
        assert!(positions.len() <= self.len(), "at most n positions are required");
        let dims = self.dims();
        let mut coordinates = Vec::with_capacity(positions.len() * dims);
        positions.iter().for_each(|&position| {
            coordinates.extend_from_slice(&self.coordinates()[position as usize * dims..][..dims])
        });
        let rows = positions.iter().map(|&position| self.row(position)).collect();
        Self::from_parts(Arc::clone(&self.cloud), self.arrangement, Rows::Own(coordinates), Some(rows))
    }

    /// The points of a range of positions, without a copy of their coordinates.
    ///
    /// # Panics
    /// If the range is empty or exceeds n.
    pub fn part(self: &Arc<Self>, positions: Range<usize>) -> Self {
        assert!(!positions.is_empty() && positions.end <= self.len(), "positions below n are required");
        let coordinates = Rows::Part(Arc::clone(self), positions);
        Self::from_parts(Arc::clone(&self.cloud), self.arrangement, coordinates, None)
    }

    /// Whether these are the points of this cloud in this arrangement.
    pub fn matches(&self, cloud: &Arc<PointCloud>, arrangement: PointSettings) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.arrangement == arrangement
    }

    /// The cloud that the points are rows of.
    pub fn cloud(&self) -> &Arc<PointCloud> {
        &self.cloud
    }

    pub fn arrangement(&self) -> PointSettings {
        self.arrangement
    }

    /// Number of searched dimensions, d.
    pub fn dims(&self) -> usize {
        self.arrangement.metric.dims(self.cloud.dims())
    }

    /// The number of points, n.
    pub fn len(&self) -> usize {
        self.coordinates().len() / self.dims()
    }

    /// Whether every row was dropped.
    pub fn is_empty(&self) -> bool {
        self.coordinates().is_empty()
    }

    /// n × d, row-major, in processing order.
    pub fn coordinates(&self) -> &[f32] {
        self.coordinates.as_slice()
    }

    /// The cloud row at a position in processing order.
    pub fn row(&self, position: u32) -> u32 {
        match (&self.rows, &self.coordinates) {
            (Some(rows), _) => rows[position as usize],
            (None, Rows::Part(whole, range)) => whole.row(range.start as u32 + position),
            _ => position,
        }
    }

    /// Minimum and maximum of each axis.
    pub fn extents(&self) -> &[[f32; 2]] {
        self.extents.get_or_init(|| extents(self.coordinates(), self.dims()))
    }

    /// Data that engines derived from these points.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Rejects extents, of points and queries together, whose squares overflow or underflow f32. The error
    /// names the widest column.
    pub(super) fn check_extents(&self, queries: &[f32]) -> Result<(), ProblemError> {
        let dims = self.dims();
        // Often the queries are the points.
        let all = if std::ptr::eq(queries, self.coordinates()) {
            self.extents().to_vec()
        } else {
            both(self.extents().to_vec(), extents(queries, dims))
        };
        let extents: Vec<f64> = all.iter().map(|[min, max]| f64::from(*max) - f64::from(*min)).collect();
        let widest = (0..dims).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
        let vanishes = |extent: f64| extent > 0.0 && extent * extent < SMALLEST_SQUARED_EXTENT;
        let vanish = vanishes(extents[widest]);
        let extent = format!("{:e}", extents[widest]);
        // The axes of unit vectors are not columns, and their squares cannot overflow.
        if self.arrangement.metric.is_on_sphere() {
            return if vanish { Err(GlobeError::OnePlace { extent }.into()) } else { Ok(()) };
        }
        let column = self.cloud.axes()[widest].name.clone();
        let squared: f64 = extents.iter().map(|extent| extent * extent).sum();
        // Leaves room for the rounding errors of a distance's d steps.
        if squared * (1.0 + (dims as f64 + 2.0) * 2f64.powi(-23)) >= f64::from(f32::MAX) {
            return Err(ProblemError::Overflow { column, extent });
        }
        if vanish {
            return Err(ProblemError::Underflow { column, extent });
        }
        // Use the file's values, because small ones may all have become 0 in f32.
        let own = |axis: &Axis| axis.max - axis.min;
        let widest = self.cloud.axes().iter().max_by(|a, b| own(a).total_cmp(&own(b)));
        match widest
            .filter(|axis| self.arrangement.metric == Metric::L2 && squared == 0.0 && vanishes(own(axis)))
        {
            Some(axis) => {
                Err(ProblemError::Underflow { column: axis.name.clone(), extent: format!("{:e}", own(axis)) })
            }
            None => Ok(()),
        }
    }
}

/// A value and its device; pointers of one GPU are meaningless on another.
type Entry = (DeviceId, Arc<dyn Any + Send + Sync>);

/// Data that engines derive from points, cached with them: a copy on a device, an index. At most one value
/// per type and device.
///
/// The cache belongs to the points rather than to an engine: it is dropped with them, engines on several
/// threads share it, and one call frees everything.
#[derive(Default)]
pub struct Cache(Mutex<Vec<Entry>>);

impl Cache {
    /// The value of type `T` for a device, if there is one and `fits` accepts it.
    pub fn get<T: Any + Send + Sync>(
        &self,
        device: DeviceId,
        fits: impl FnOnce(&T) -> bool,
    ) -> Option<Arc<T>> {
        let found = self
            .lock()
            .iter()
            .find_map(|(of, value)| Arc::clone(value).downcast::<T>().ok().filter(|_| *of == device))?;
        fits(&found).then_some(found)
    }

    /// Caches a value for a device, replacing any of the same type.
    pub fn insert<T: Any + Send + Sync>(&self, device: DeviceId, value: Arc<T>) {
        let mut entries = self.lock();
        entries.retain(|(of, value)| *of != device || !value.is::<T>());
        entries.push((device, value));
    }

    /// Removes the value of type `T` for a device, so that its memory is free before a replacement is built.
    pub fn remove<T: Any + Send + Sync>(&self, device: DeviceId) {
        self.lock().retain(|(of, value)| *of != device || !value.is::<T>());
    }

    /// Removes everything; false if the cache was empty. Running searches keep references to the values they
    /// use.
    pub fn clear(&self) -> bool {
        !std::mem::take(&mut *self.lock()).is_empty()
    }

    /// Ignores poisoning, because no operation can panic halfway through a change to the list.
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cache").field(&self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Column, Source, Table};

    fn cloud(dims: usize, values: Vec<f64>) -> Arc<PointCloud> {
        let columns = (0..dims).map(|axis| Column { name: format!("c{axis}") }).collect();
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).unwrap())
    }

    #[test]
    fn arrangements_ignore_settings_without_effect() {
        let of = PointSettings::new;
        assert_eq!(of(Metric::L2, Order::File, 1, true), of(Metric::L2, Order::File, 2, false));
        assert_ne!(of(Metric::L2, Order::Shuffled, 1, false), of(Metric::L2, Order::Shuffled, 2, false));
        assert_ne!(of(Metric::Angular, Order::File, 0, true), of(Metric::Angular, Order::File, 0, false));
        assert_ne!(of(Metric::L2, Order::File, 0, false), of(Metric::Angular, Order::File, 0, false));
    }

    #[test]
    fn large_clouds_are_gathered_and_measured_in_parallel() {
        let n = 3 * ROWS_PER_TASK + 7;
        let cloud = cloud(2, (0..2 * n).map(|at| (at * 7919 % n) as f64).collect());
        let points = Points::new(&cloud, PointSettings::new(Metric::L2, Order::Shuffled, 5, false)).unwrap();
        for position in 0..n {
            assert_eq!(
                points.coordinates()[2 * position..][..2],
                *cloud.point(points.row(position as u32) as usize)
            );
        }
        for (axis, extent) in points.extents().iter().enumerate() {
            assert_eq!(
                [f64::from(extent[0]), f64::from(extent[1])],
                [cloud.axes()[axis].min, cloud.axes()[axis].max]
            );
        }
    }

    #[test]
    fn underflowing_extents_are_refused() {
        let check = |values: Vec<f64>, metric| {
            let points =
                Points::new(&cloud(2, values), PointSettings::new(metric, Order::File, 0, false)).unwrap();
            points.check_extents(&[]).map_err(|why| why.to_string())
        };
        for (low, high, extent) in [
            (1e-46, 5e-46, "4e-46"),
            (-1e-300, 1e-300, "2e-300"),
            (0.0, 1e-40, "1e-40"),
            (0.0, 1e-20, "1e-20"),
        ] {
            let message = check(vec![0.0, low, 0.0, high], Metric::L2).unwrap_err();
            let (start, end) =
                message.split_once(", makes squared distances underflow 32-bit floats; rescale it").unwrap();
            let found =
                start.strip_prefix("column `c1`: the widest extent, ").unwrap().parse::<f64>().unwrap();
            assert!(
                end.is_empty() && (found / extent.parse::<f64>().unwrap() - 1.0).abs() < 1e-4,
                "{message}"
            );
        }
        // Equal values, tiny values next to large ones, and a single direction.
        assert_eq!(check(vec![1e-46, 1e-46, 1e-46, 1e-46], Metric::L2), Ok(()));
        assert_eq!(check(vec![0.0, 1e-46, 1.0, 5e-46], Metric::L2), Ok(()));
        assert_eq!(check(vec![1e-46, 0.0, 5e-46, 0.0], Metric::Angular), Ok(()));
        // Neighbouring values whose difference is below f32 precision, but far from underflow.
        assert_eq!(check(vec![1.0, 1.0, 1.0, 1.0 + 1e-9], Metric::L2), Ok(()));
    }

    #[test]
    fn zero_rows_are_dropped_at_any_position() {
        let cloud = cloud(2, vec![0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        let arrangement = |drop| PointSettings::new(Metric::Angular, Order::File, 0, drop);
        let points = Points::new(&cloud, arrangement(true)).unwrap();
        assert_eq!((points.len(), points.row(0), points.row(1)), (2, 1, 3));
        assert_eq!(points.coordinates(), [0.6, 0.8, 0.0, 1.0]);
        assert_eq!(
            Points::new(&cloud, arrangement(false)).unwrap_err(),
            ProblemError::Zero { whose: "data", record: 0 }
        );
    }

    #[test]
    fn the_cache_holds_one_value_per_type_and_device() {
        let (cpu, first, second) = (DeviceId::Cpu, DeviceId::Gpu(0), DeviceId::Gpu(1));
        let cache = Cache::default();
        assert!(cache.get(cpu, |_: &u32| true).is_none() && !cache.clear());
        cache.insert(cpu, Arc::new(1u32));
        cache.insert(cpu, Arc::new("a tree".to_owned()));
        cache.insert(cpu, Arc::new(2u32));
        assert_eq!(cache.get(cpu, |_: &u32| true).as_deref(), Some(&2));
        assert_eq!(cache.get(cpu, |&number: &u32| number == 1), None, "the cached value does not fit");
        cache.insert(first, Arc::new(10u32));
        assert!(cache.get(second, |_: &u32| true).is_none(), "GPUs have separate values");
        cache.insert(second, Arc::new(11u32));
        assert_eq!(
            [cpu, first, second].map(|device| *cache.get(device, |_: &u32| true).unwrap()),
            [2, 10, 11]
        );
        cache.remove::<u32>(first);
        assert!(cache.get(first, |_: &u32| true).is_none() && cache.get(second, |_: &u32| true).is_some());
        assert!(cache.get(cpu, |_: &String| true).is_some());
        assert!(cache.clear() && !cache.clear());
    }
}
