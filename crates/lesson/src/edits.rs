//! Changes that a user made to a lesson's data: the place of the query, of points, or all distances.
//!
//! Typed keys become points around a query at the origin whose squared distances are exactly the keys in
//! every engine's arithmetic. So the rest of the program treats them as ordinary points, which can also be
//! moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Result;
use crate::cloud::{Column, Coordinates, PointCloud, Source, Table, Values, query_point};
use crate::error::LessonError;
use crate::knn::{Metric, Queries};
use crate::text::{count, significant};

/// Maximum number of typed keys: a larger network is not drawn completely.
pub const MAX_KEYS: usize = 64;

/// The smallest and largest key that can be typed, besides 0.
const KEY_RANGE: [f32; 2] = [1e-12, 1e12];

/// Differences from a lesson's own data. Coordinates are relative to the axes' origins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    /// Where the query was moved.
    pub query: Option<[f32; 2]>,
    /// Where points were moved, by row.
    pub points: BTreeMap<u32, [f32; 2]>,
    /// The squared distances of all points, in processing order, instead of the lesson's points.
    pub keys: Option<Vec<f32>>,
}

/// A cloud, its queries, and the index of the query.
pub(super) type Data = (Arc<PointCloud>, Queries, usize);

impl Edits {
    /// Whether the query or a point was moved.
    pub fn is_moved(&self) -> bool {
        self.query.is_some() || !self.points.is_empty()
    }

    /// The moves in words: "query moved to (0.31, 0.72); 2 points moved". `None` if there are none.
    pub fn words(&self) -> Option<String> {
        let query = self
            .query
            .map(|at| format!("query moved to ({})", at.map(|value| significant(value.into())).join(", ")));
        let points = (!self.points.is_empty())
            .then(|| format!("{} moved", count(self.points.len() as u64, "point", "points")));
        (query.is_some() || points.is_some())
            .then(|| query.into_iter().chain(points).collect::<Vec<_>>().join("; "))
    }

    /// The source of the points for a recording, with a note and the changes.
    pub(super) fn describe(&self, source: &Source, note: Option<&str>) -> String {
        let source = match &self.keys {
            Some(keys) => describe_keys(keys),
            None => source.to_string(),
        };
        std::iter::once(source)
            .chain(note.map(str::to_owned))
            .chain(self.words())
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// The data with the moves applied. A query stays in place when its row is moved.
    ///
    /// # Errors
    /// [`LessonError::NotMovable`] unless the data are in a plane, [`LessonError::MovedRow`] for a row that
    /// does not exist, [`LessonError::NotFinite`] for a coordinate that is not finite,
    /// [`LessonError::Cloud`].
    pub(super) fn apply(
        &self,
        cloud: &Arc<PointCloud>,
        queries: &Queries,
        query: usize,
        metric: Metric,
    ) -> Result<Data> {
        if !self.is_moved() {
            return Ok((Arc::clone(cloud), queries.clone(), query));
        }
        if cloud.dims() != 2 || metric != Metric::L2 {
            return Err(LessonError::NotMovable { dims: cloud.dims(), metric });
        }
        if let Some(&row) = self.points.keys().find(|&&row| row as usize >= cloud.len()) {
            return Err(LessonError::MovedRow { row, rows: cloud.len() });
        }
        if let Some(at) =
            self.query.iter().chain(self.points.values()).find(|at| !at.iter().all(|value| value.is_finite()))
        {
            return Err(LessonError::NotFinite { at: at.map(|value| value.to_string()).join(", ") });
        }
        let file = |at: [f32; 2]| [0, 1].map(|axis| cloud.axes()[axis].origin + f64::from(at[axis]));
        let own = match queries {
            Queries::Rows(rows) => rows
                .get(query)
                .filter(|row| self.points.contains_key(row))
                .map(|&row| cloud.point(row as usize)),
            Queries::Cloud(_) => None,
        };
        let (queries, query) = match self.query.or(own.map(|at| [at[0], at[1]])) {
            Some(at) => (Queries::Cloud(Arc::new(query_point::cloud(&file(at), cloud)?)), 0),
            None => (queries.clone(), query),
        };
        if self.points.is_empty() {
            return Ok((Arc::clone(cloud), queries, query));
        }
        let mut values: Vec<f64> =
            (0..cloud.len()).flat_map(|row| [0, 1].map(|axis| cloud.coordinate(row, axis))).collect();
        for (&row, &at) in &self.points {
            values[row as usize * 2..][..2].copy_from_slice(&file(at));
        }
        let columns = cloud.axes().iter().map(|axis| Column { name: axis.name.clone() }).collect();
        let moved =
            PointCloud::from_table(Table { columns, values }, cloud.source().clone(), Some(cloud), false)?;
        Ok((Arc::new(moved), queries, query))
    }
}

/// Parses keys separated by spaces, commas or semicolons.
///
/// # Errors
/// [`LessonError::Key`] for the first that is not a squared distance.
pub fn read_keys(text: &str) -> Result<Vec<f32>> {
    let read = |part: &str| {
        let is_valid = |key: &f32| *key == 0.0 || (KEY_RANGE[0]..=KEY_RANGE[1]).contains(key);
        let key = part.parse::<f32>().ok().filter(is_valid);
        // Adding 0 turns −0, whose bits sort after all other keys, into 0.
        key.map(|key| key + 0.0).ok_or_else(|| LessonError::Key { text: part.to_owned() })
    };
    text.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|part| !part.is_empty())
        .map(read)
        .collect()
}

/// Points with these squared distances to a query at the origin, and that query. The points surround it, so
/// that consecutive keys are apart in the plane.
///
/// # Errors
/// [`LessonError::Cloud`] if there are no keys.
pub(super) fn data_from_keys(keys: &[f32]) -> Result<Data> {
    let points = keys.iter().enumerate().flat_map(|(at, &key)| point_at_distance(at, key));
    let values = Values::F32(points.collect());
    let source = Source::Generate { spec: "typed keys".to_owned(), seed: 0 };
    let cloud =
        Arc::new(PointCloud::from_table(Coordinates::new(Column::unnamed(2), values), source, None, false)?);
    let query = query_point::cloud(&[0.0, 0.0], &cloud)?;
    Ok((cloud, Queries::Cloud(Arc::new(query)), 0))
}

/// A point whose squared distance to the origin is exactly a key, in the `number`-th direction.
fn point_at_distance(number: usize, key: f32) -> [f32; 2] {
    /// π(3 − √5): spreads any number of directions well.
    const GOLDEN_ANGLE: f64 = std::f64::consts::PI * 0.763_932_022_500_210_3;
    /// About every second attempt is exact.
    const ATTEMPTS: usize = 64;
    let (sine, cosine) = (GOLDEN_ANGLE * number as f64).sin_cos();
    let radius = f64::from(key).sqrt();
    let mut x = (radius * cosine) as f32;
    for _ in 0..ATTEMPTS {
        let y = ((f64::from(key) - f64::from(x) * f64::from(x)).max(0.0).sqrt() as f32).copysign(sine as f32);
        if squared([x, y]) == key {
            return [x, y];
        }
        x = toward_zero(x);
    }
    // Close to the first axis the second coordinate is small, so its rounding does not matter.
    let mut x = radius as f32;
    while x * x > key {
        x = toward_zero(x);
    }
    [x, (key - x * x).sqrt()]
}

/// The next number of smaller magnitude.
fn toward_zero(value: f32) -> f32 {
    if value == 0.0 { value } else { f32::from_bits(value.to_bits() - 1) }
}

/// The squared distance to the origin, in every engine's arithmetic.
fn squared([x, y]: [f32; 2]) -> f32 {
    y.mul_add(y, x * x)
}

/// The first keys, in words.
fn describe_keys(keys: &[f32]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = keys.iter().take(SHOWN).map(|&key| significant(key.into())).collect();
    format!(
        "{} typed: {}{}",
        count(keys.len() as u64, "key", "keys"),
        shown.join(" "),
        if keys.len() > SHOWN { " \u{2026}" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::{LESSONS, Overrides, Take, named};
    use crate::progress::NoProgress;
    use crate::{Cursor, cloud};

    #[test]
    fn typed_keys_become_exact_distances() {
        let odd = (0..4000_u32).map(|at| (f64::from(at) * 0.37 + 1e-3) as f32);
        let wide = (0..200)
            .map(|at| 10f32.powf(at as f32 * 0.12 - 12.0))
            .filter(|key| *key >= KEY_RANGE[0] && *key <= KEY_RANGE[1]);
        for (number, key) in odd.chain(wide).chain([0.0, 5.0, 3.0, KEY_RANGE[0], KEY_RANGE[1]]).enumerate() {
            assert_eq!(squared(point_at_distance(number % MAX_KEYS, key)), key, "{key}");
        }
        // The points surround the origin.
        let places: Vec<[f32; 2]> = (0..8).map(|number| point_at_distance(number, 4.0)).collect();
        assert!(
            places.iter().any(|at| at[0] < -1.0)
                && places.iter().any(|at| at[1] < -1.0)
                && places.iter().any(|at| at[1] > 1.0)
        );
    }

    #[test]
    fn keys_are_parsed_and_invalid_ones_rejected() {
        assert_eq!(read_keys(" 5 3,8;\t0.5, 1e3 ").unwrap(), [5.0, 3.0, 8.0, 0.5, 1000.0]);
        assert_eq!(read_keys("").unwrap(), [0.0; 0]);
        assert_eq!(read_keys("-0").unwrap()[0].to_bits(), 0);
        for wrong in ["-1", "NaN", "inf", "x", "1e13", "1e-13", "1.2.3"] {
            let said = read_keys(&format!("5 {wrong} 3")).unwrap_err().to_string();
            assert!(said.starts_with(&format!("key {wrong}: must be a squared distance")), "{said}");
        }
    }

    #[test]
    fn edits_are_described() {
        let mut edits = Edits::default();
        assert_eq!(edits.words(), None);
        edits.query = Some([0.314, 0.718]);
        assert_eq!(edits.words().as_deref(), Some("query moved to (0.314, 0.718)"));
        edits.points = BTreeMap::from([(3, [0.0, 0.0]), (5, [0.0, 1.0])]);
        let source = Source::Generate { spec: "uniform:n=8".to_owned(), seed: 3 };
        assert_eq!(
            edits.describe(&source, None),
            "uniform:n=8 (seed 3); query moved to (0.314, 0.718); 2 points moved"
        );
        assert_eq!(Edits::default().describe(&source, Some("4 rows")), "uniform:n=8 (seed 3); 4 rows");
        let typed = Edits { keys: Some((0..9_u8).map(f32::from).collect()), ..Edits::default() };
        assert!(
            typed.describe(&source, None).starts_with("9 keys typed: 0 1.00 2.00")
                && typed.describe(&source, None).ends_with(" \u{2026}")
        );
    }

    fn recorded(name: &str, edits: Edits) -> Result<Take> {
        named(name)
            .unwrap()
            .record(Overrides { edits, ..Overrides::default() }, &NoProgress)
            .map(|mut takes| takes.remove(0))
    }

    #[test]
    fn moved_queries_find_their_new_neighbours() {
        let own = recorded("search", Edits::default()).unwrap().recording;
        let at = [0.2, 0.8];
        for row in [0, own.parameters.query_row] {
            let edits = Edits { query: Some(at), points: BTreeMap::from([(row, at)]), keys: None };
            let moved = recorded("search", edits).unwrap().recording;
            let mut cursor = Cursor::new(moved.clone());
            cursor.seek(moved.len());
            assert_eq!(cursor.state().neighbours().next(), Some((row, 0.0)));
            let same =
                own.problem().points().iter().zip(moved.problem().points()).filter(|(a, b)| a == b).count();
            assert_eq!(same, own.problem().points().len() - 2, "all other points stay");
            let (map, its) = (own.overview(), moved.overview());
            assert_eq!((map.low, map.high), (its.low, its.high), "nor does the map move");
        }
        // A query stays where it was when its row is moved away.
        let row = own.parameters.query_row;
        let away = recorded("search", Edits { points: BTreeMap::from([(row, at)]), ..Edits::default() })
            .unwrap()
            .recording;
        assert_eq!(away.parameters.query, own.parameters.query);
    }

    #[test]
    fn every_lesson_accepts_and_describes_a_moved_query() {
        for lesson in &LESSONS {
            let take = recorded(lesson.id, Edits { query: Some([0.4, 0.6]), ..Edits::default() }).unwrap();
            let parameters = &take.recording.parameters;
            assert_eq!(parameters.query, [0.4, 0.6]);
            assert!(parameters.data.ends_with("; query moved to (0.400, 0.600)"), "{}", parameters.data);
            assert!(!take.range.is_empty());
        }
    }

    #[test]
    fn typed_keys_are_sorted_and_merged() {
        let keys: Vec<f32> = (0..32_u8).map(|at| f32::from(at * 7 % 32)).collect();
        let take = recorded("merge", Edits { keys: Some(keys.clone()), ..Edits::default() }).unwrap();
        let recording = &take.recording;
        assert_eq!(recording.distances(0)[..8], keys[..8]);
        assert_eq!(recording.merges(), 2, "the second half is merged with the first");
        let mut cursor = Cursor::new(recording.clone());
        cursor.seek(recording.len());
        assert_eq!(
            cursor.state().neighbours().map(|(_, distance)| distance).collect::<Vec<_>>(),
            (0..16_u8).map(f32::from).collect::<Vec<_>>()
        );
    }

    #[test]
    fn edits_that_do_not_fit_the_data_are_rejected() {
        let said = |name: &str, edits: Edits| recorded(name, edits).unwrap_err().to_string();
        let keys = |count: usize| Edits { keys: Some(vec![1.0; count]), ..Edits::default() };
        assert_eq!(said("sort", keys(7)), "7 keys: lesson `sort` needs 8 with k = 8 and 8 lanes");
        assert!(
            said("search", keys(8)).starts_with("lesson `search` accepts no keys with k = 32 and 32 lanes")
        );
        let moved = |row, x| Edits { points: BTreeMap::from([(row, [x, 0.5])]), ..Edits::default() };
        assert_eq!(said("sort", moved(8, 0.5)), "cannot move row 8: must be between 0 and 7");
        assert_eq!(
            said("sort", moved(1, f32::NAN)),
            "point (NaN, 0.5): both coordinates must be finite numbers"
        );
        let solid = Arc::new(
            cloud::load(
                &Source::Generate { spec: "uniform:n=64,d=3".to_owned(), seed: 1 },
                false,
                &NoProgress,
            )
            .unwrap(),
        );
        let error =
            moved(1, 0.5).apply(&solid, &Queries::Rows(vec![0]), 0, Metric::L2).unwrap_err().to_string();
        assert!(error.ends_with("found d = 3 and metric l2"), "{error}");
    }
}
