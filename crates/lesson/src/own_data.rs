//! Lessons on the reader's own data: the processing orders, and the sample of very large clouds.

use std::sync::Arc;

use super::edits::Edits;
use super::lessons::{Arrangement, Lesson, Take};
use crate::Result;
use crate::cloud::{Column, PointCloud, Source, Table};
use crate::knn::{ProblemParameters, Queries};
use crate::memory;
use crate::text::{count, ordinal, thousands};

/// Maximum number of rows in a lesson that compares orders: farthest first, every row becomes a candidate.
pub const MAX_ROWS: usize = 1 << 16;

/// The reader's own cloud, and a query in it.
#[derive(Clone, Copy, Debug)]
pub struct UserData<'a> {
    pub cloud: &'a Arc<PointCloud>,
    pub queries: &'a Queries,
    /// Index of the query in `queries`, from 0.
    pub query: usize,
    /// The requested order, if the lesson shows one order.
    pub arrangement: Arrangement,
}

/// Memory per point while a lesson is recorded and drawn, in bytes.
const BYTES_PER_POINT: u64 = 64;

impl Lesson {
    /// The orders for a cloud from a source: the requested one, or, if the lesson compares orders, row order
    /// first.
    pub fn orders_for(&self, source: &Source, asked: Arrangement) -> Vec<Arrangement> {
        if !self.compares_orders() {
            return vec![asked];
        }
        let rows =
            if matches!(source, Source::File { .. }) { Arrangement::FileOrder } else { Arrangement::AsDrawn };
        std::iter::once(rows).chain(self.arrangements.iter().copied()).collect()
    }

    /// Whether it shows the same points in several orders.
    pub fn compares_orders(&self) -> bool {
        self.arrangements.len() > 1
    }

    /// Records the search for a query in the reader's own cloud, with changes by hand: one take per order. A
    /// lesson that compares orders uses evenly spaced rows if there are more than [`MAX_ROWS`], and its
    /// takes say so.
    ///
    /// # Errors
    /// The same as those of [`Lesson::record_edited`].
    ///
    /// # Panics
    /// If the query number is out of range.
    pub fn record_own(
        &self,
        own: UserData<'_>,
        setup: ProblemParameters,
        width: u32,
        edits: &Edits,
    ) -> Result<Vec<Take>> {
        // Recording also stores an index, a distance and a cost for each point.
        memory::check((BYTES_PER_POINT + 4 * own.cloud.dims() as u64) * own.cloud.len() as u64)?;
        let orders = self.orders_for(own.cloud.source(), own.arrangement);
        let step = own.cloud.len().div_ceil(MAX_ROWS);
        if !self.compares_orders() || step < 2 {
            let record =
                |arrangement| self.record_edited(UserData { arrangement, ..own }, setup, width, edits, None);
            return orders.into_iter().map(record).collect();
        }
        let (cloud, queries, query) = thinned(own, step)?;
        let note = format!(
            "{}, every {} of {}",
            count(cloud.len() as u64, "row", "rows"),
            ordinal(step as u64),
            thousands(own.cloud.len() as u64)
        );
        let record = |arrangement| {
            self.record_edited(
                UserData { cloud: &cloud, queries: &queries, query, arrangement },
                setup,
                width,
                edits,
                Some(&note),
            )
        };
        orders.into_iter().map(record).collect()
    }
}

/// Every `step`-th row, in order, including the query's.
fn thinned(own: UserData<'_>, step: usize) -> Result<(Arc<PointCloud>, Queries, usize)> {
    let (cloud, row) =
        (own.cloud, if let Queries::Rows(rows) = own.queries { rows.get(own.query).copied() } else { None });
    let first = row.map_or(0, |row| row as usize % step);
    // Twelve bytes per coordinate: as in the file, and rounded.
    let count = (first..cloud.len()).step_by(step).len() * cloud.dims();
    memory::check(12 * count as u64)?;
    let mut values = Vec::with_capacity(count);
    values.extend(
        (first..cloud.len())
            .step_by(step)
            .flat_map(|row| (0..cloud.dims()).map(move |axis| cloud.coordinate(row, axis))),
    );
    let columns = cloud.axes().iter().map(|axis| Column { name: axis.name.clone() }).collect();
    let fewer =
        PointCloud::from_table(Table { columns, values }, cloud.source().clone(), Some(cloud), false)?;
    let (queries, query) = match row {
        Some(row) => (Queries::Rows(vec![(row as usize / step) as u32]), 0),
        None => (own.queries.clone(), own.query),
    };
    Ok((Arc::new(fewer), queries, query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{self, Order};
    use crate::error::LessonError;
    use crate::knn::Metric;
    use crate::lessons::named;
    use crate::progress::NoProgress;

    fn generated(spec: &str) -> Arc<PointCloud> {
        Arc::new(
            cloud::load(&Source::Generate { spec: spec.to_owned(), seed: 3 }, false, &NoProgress).unwrap(),
        )
    }

    fn setup(k: usize) -> ProblemParameters {
        ProblemParameters {
            k,
            metric: Metric::L2,
            order: Order::File,
            seed: 5,
            exclude_self: false,
            drop_zero_rows: false,
        }
    }

    /// Rows along a line that passes the query: each comes closer, so row order is among the worst.
    fn along_a_line(rows: usize) -> Arc<PointCloud> {
        let values = (0..rows).flat_map(|row| [row as f64, 0.5]).collect();
        let source = Source::File { path: "line.csv".into(), columns: cloud::ColumnChoice::default() };
        let columns = ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec();
        Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).unwrap())
    }

    #[test]
    fn file_order_is_compared_with_the_other_orders() {
        let lesson = named("order").unwrap();
        let cloud = along_a_line(4000);
        let queries = Queries::Rows(vec![3900]);
        let own = UserData { cloud: &cloud, queries: &queries, query: 0, arrangement: Arrangement::AsDrawn };
        let takes = lesson.record_own(own, setup(32), 32, &Edits::default()).unwrap();
        let names: Vec<&str> = takes.iter().map(|take| take.arrangement.name()).collect();
        assert_eq!(names, ["file-order", "shuffled", "nearest-first", "farthest-first"]);
        let merges: Vec<usize> = takes.iter().map(|take| take.recording.merges()).collect();
        assert!(merges[0] > 4 * merges[1] && merges[1] > merges[2] && merges[3] == 4000 / 32, "{merges:?}");
        // The neighbours are the same rows in every order.
        let rows = |take: &Take| {
            let mut cursor = crate::Cursor::new(take.recording.clone());
            cursor.seek(take.recording.len());
            let mut rows: Vec<u32> = cursor
                .state()
                .neighbours()
                .map(|(position, _)| take.recording.problem().row(position))
                .collect();
            rows.sort_unstable();
            rows
        };
        // Except the last, which may be one of two at the same distance.
        assert!(
            takes.iter().all(|take| rows(take).len() == 32 && rows(take)[1..31] == rows(&takes[0])[1..31])
        );
        let problem = takes[0].recording.problem();
        assert!((0..4000).all(|position| problem.row(position) == position), "the order of the file is kept");
    }

    /// Excluding the query's own row keeps k: the row is not among the points, in any order and among equal
    /// ones.
    #[test]
    fn own_row_is_excluded_on_request() {
        for (spec, metric) in
            [("uniform:n=300,d=3", Metric::Angular), ("duplicates:n=300,d=2,distinct=9", Metric::L2)]
        {
            let (cloud, queries) = (generated(spec), Queries::Rows(vec![7]));
            let own =
                UserData { cloud: &cloud, queries: &queries, query: 0, arrangement: Arrangement::AsDrawn };
            let setup = ProblemParameters { metric, exclude_self: true, ..setup(20) };
            for take in named("order").unwrap().record_own(own, setup, 8, &Edits::default()).unwrap() {
                let (recording, shape) = (&take.recording, take.recording.shape());
                assert_eq!(
                    (shape.k, shape.n, recording.problem().metric(), recording.parameters.query_row),
                    (20, 299, metric, 7)
                );
                assert!(recording.parameters.data.ends_with("without the query's own row"));
                let mut cursor = crate::Cursor::new(take.recording.clone());
                cursor.seek(recording.len());
                let found: Vec<f32> = cursor.state().neighbours().map(|(_, distance)| distance).collect();
                assert!((0..299).all(|position| recording.problem().row(position) != 7));
                // Brute force over all rows; the one at distance 0 is the query's own.
                let whole = crate::knn::Problem::new(
                    &cloud,
                    &queries,
                    ProblemParameters { exclude_self: false, ..setup },
                )
                .unwrap();
                let mut right = crate::engines::lockstep::distances_to(&whole, 0, 0..300);
                right.sort_unstable_by(f32::total_cmp);
                assert_eq!(
                    (right[0], &found[..]),
                    (0.0, &right[1..21]),
                    "{spec}, {}",
                    take.arrangement.name()
                );
            }
        }
    }

    #[test]
    fn generated_clouds_have_no_file_order() {
        let (order, own) = (named("order").unwrap(), named("own-data").unwrap());
        let cloud = generated("uniform:n=500,d=2");
        assert_eq!(order.orders_for(cloud.source(), Arrangement::AsDrawn)[0], Arrangement::AsDrawn);
        assert_eq!(own.orders_for(cloud.source(), Arrangement::Shuffled), [Arrangement::Shuffled]);
    }

    #[test]
    fn large_clouds_are_thinned_with_a_note() {
        let lesson = named("order").unwrap();
        let (rows, row) = (2 * MAX_ROWS + 7, 70_001);
        let cloud = along_a_line(rows);
        let queries = Queries::Rows(vec![row]);
        let own = UserData { cloud: &cloud, queries: &queries, query: 0, arrangement: Arrangement::AsDrawn };
        let (fewer, chosen, query) = thinned(own, 3).unwrap();
        let Queries::Rows(chosen) = chosen else { panic!("a row") };
        assert_eq!(fewer.coordinate(chosen[query] as usize, 0), f64::from(row));
        assert!(
            (1..fewer.len()).all(|at| fewer.coordinate(at, 0) == fewer.coordinate(at - 1, 0) + 3.0),
            "in their order"
        );
        assert!(fewer.len() <= MAX_ROWS && fewer.len() >= rows / 3);
        let one = Lesson { arrangements: &[Arrangement::Shuffled, Arrangement::NearestFirst], ..*lesson };
        let takes = one.record_own(own, setup(8), 32, &Edits::default()).unwrap();
        let data = &takes[0].recording.parameters.data;
        assert!(
            data.ends_with(&format!(
                "{} rows, every 3rd of {}",
                thousands(fewer.len() as u64),
                thousands(rows as u64)
            )),
            "{data}"
        );
        assert_eq!(takes[0].recording.shape().n as usize, fewer.len());
    }

    #[test]
    fn memory_shortage_is_reported_once() {
        let short = memory::InsufficientMemory { needed: 70 << 20, free: 60 << 20 };
        let why = LessonError::from(short);
        assert_eq!(
            why.to_string(),
            "the lesson needs 70 MiB of memory, but only 60 MiB is free; use fewer points"
        );
        assert!(std::error::Error::source(&why).is_none(), "it would be printed again");
    }
}
