//! Values of the file's columns, of axes, distances and analyses.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use super::state::PointValues;
use super::state::channel::{Categories, Category, Channel, NumericValues, PointSet};
use crate::app::features::analysis::state::{AnalysisKind, AnalysisResults, FileComparison};
use crate::app::model::QueryAnswer;
use crate::cloud::formats::{self, ColumnData, FormatError};
use crate::cloud::{ColumnChoice, PointCloud, query_point};
use crate::exact::RowVectors;
use crate::knn::Metric;
use crate::palette::CATEGORIES;
use crate::progress::Progress;
use crate::text;

/// Maximum number of distinct numbers shown as categories.
const MAX_CATEGORIES: usize = 64;

/// Integers with at most this many distinct values are treated as labels rather than magnitudes, unless the
/// user chooses otherwise.
const MAX_LIKELY_LABELS: usize = 20;

/// A column's values, by row of the cloud.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// NaN if missing.
    Numbers(Vec<f64>),
    /// Distinct texts, and the index of each row's text; a missing text is "".
    Texts(Vec<String>, Vec<u32>),
}

/// Reads a column of the cloud's file, by row of the cloud.
///
/// # Errors
/// If the file cannot be read.
pub fn read_column(
    cloud: &PointCloud,
    path: &Path,
    column: &str,
    progress: &dyn Progress,
) -> Result<ColumnValues, FormatError> {
    let data = cloud.check_file(formats::column(path, column, progress))?;
    let records = match &data {
        ColumnData::Numbers(values) => values.len(),
        ColumnData::Categories { codes, .. } => codes.len(),
    };
    check_records(cloud, path, format!("column {column}"), records)?;
    let record = |row: usize| cloud.record(row) as usize;
    Ok(match data {
        ColumnData::Numbers(values) => {
            ColumnValues::Numbers((0..cloud.len()).map(|row| values[record(row)]).collect())
        }
        ColumnData::Categories { names, codes } => {
            ColumnValues::Texts(names, (0..cloud.len()).map(|row| codes[record(row)]).collect())
        }
    })
}

/// Checks that the file still has the records that the cloud was read from.
fn check_records(cloud: &PointCloud, path: &Path, what: String, records: usize) -> Result<(), FormatError> {
    let last = cloud.record(cloud.len() - 1);
    if last < records as u64 {
        return Ok(());
    }
    let why =
        format!("the file has {records} records, but the cloud was read from {}; load it again", last + 1);
    Err(FormatError::Malformed { what, why, path: path.to_owned() })
}

/// Reads red, green and blue from the cloud's file in one pass, by row of the cloud, in the file's units.
///
/// # Errors
/// If the file cannot be read.
pub fn read_colors(
    cloud: &PointCloud,
    path: &Path,
    keys: &[String; 3],
    progress: &dyn Progress,
) -> Result<Vec<[f64; 3]>, FormatError> {
    let read = cloud.check_file(formats::read(path, &ColumnChoice::Named(keys.to_vec()), progress))?;
    check_records(cloud, path, "its colours".to_owned(), read.rows())?;
    let row = |row: usize| [0, 1, 2].map(|channel| read.values.get(3 * cloud.record(row) as usize + channel));
    Ok((0..cloud.len()).map(row).collect())
}

/// Colours as a channel. Files use a maximum of 255, 65,535 or 1; the largest value tells which.
pub fn colors_channel(colors: Vec<[f64; 3]>) -> Channel {
    let most = colors.as_flattened().iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let white = if most > 255.0 {
        65_535.0
    } else if most > 1.0 {
        255.0
    } else {
        1.0
    };
    let byte = |value: f64| (255.0 * value / white).round().clamp(0.0, 255.0) as u8;
    let packed = |color: &[f64; 3]| match color.map(byte) {
        _ if !color.iter().all(|value| value.is_finite()) => f32::NAN,
        // 24 bits fit an f32 exactly.
        [red, green, blue] => u32::from_be_bytes([0, red, green, blue]) as f32,
    };
    let values: Vec<f32> = colors.iter().map(packed).collect();
    let missing = missing(&values);
    let colors = Some(Arc::new(PointValues::new(values)));
    Channel {
        colors,
        ..Channel::of_numbers(
            PointSet::Data,
            "the file's colours",
            "",
            None,
            (missing, "have no colour in the file"),
        )
    }
}

pub fn column_channel(title: &str, values: &ColumnValues) -> Channel {
    let (numbers, categories, missing) = match values {
        ColumnValues::Numbers(values) => {
            let missing = values.iter().filter(|value| !value.is_finite()).count() as u64;
            (numbers(values), number_categories(values), missing)
        }
        ColumnValues::Texts(names, codes) => {
            let empty = names.iter().position(String::is_empty).map(|at| at as u32);
            let missing = empty.map_or(0, |empty| codes.iter().filter(|&&code| code == empty).count() as u64);
            (None, text_categories(names, codes), missing)
        }
    };
    let few = categories.as_ref().is_some_and(|categories| categories.list.len() <= MAX_LIKELY_LABELS);
    let prefers_categories = few && numbers.as_ref().is_none_or(|numbers| numbers.integers);
    let channel =
        Channel::of_numbers(PointSet::Data, title, "", numbers, (missing, "have no value in this column"));
    Channel { prefers_categories, categories, ..channel }
}

/// An axis as a channel: its local coordinates, with the origin as offset.
pub fn axis_channel(cloud: &PointCloud, axis: usize) -> Option<Channel> {
    let of = cloud.axes().get(axis)?;
    let values: Vec<f32> = (0..cloud.len()).map(|row| cloud.point(row)[axis]).collect();
    let missing = missing(&values);
    let numbers = NumericValues::new(values, of.origin);
    Some(Channel::of_numbers(PointSet::Data, &of.name, "", numbers, (missing, "")))
}

/// Numbers as f32 relative to an offset, if f32 is too coarse for their differences.
fn numbers(values: &[f64]) -> Option<NumericValues> {
    let there = values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = there
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return None;
    }
    let coarse = low.abs().max(high.abs()) * f64::from(f32::EPSILON) > (high - low) / 4096.0;
    let offset = if coarse { (low + (high - low) / 2.0).floor() } else { 0.0 };
    let values =
        values.iter().map(|&value| if value.is_finite() { (value - offset) as f32 } else { f32::NAN });
    NumericValues::new(values.collect(), offset)
}

fn number_categories(values: &[f64]) -> Option<Categories> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    // 0.0 and −0.0 count as one value.
    let bits = |value: f64| (value + 0.0).to_bits();
    for &value in values.iter().filter(|value| value.is_finite()) {
        *counts.entry(bits(value)).or_insert(0) += 1;
        if counts.len() > MAX_CATEGORIES {
            return None;
        }
    }
    let mut kinds: Vec<(f64, u64)> =
        counts.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect();
    kinds.sort_by(|a, b| a.0.total_cmp(&b.0));
    if kinds.len() > CATEGORIES {
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.1));
    }
    let place: HashMap<u64, f32> =
        kinds.iter().enumerate().map(|(at, kind)| (bits(kind.0), at as f32)).collect();
    let values = values.iter().map(|&value| place.get(&bits(value)).copied().unwrap_or(f32::NAN)).collect();
    let list: Vec<Category> =
        kinds.into_iter().map(|(value, count)| Category { name: value.to_string(), count }).collect();
    (!list.is_empty()).then(|| Categories { values: Arc::new(PointValues::new(values)), list })
}

fn text_categories(names: &[String], codes: &[u32]) -> Option<Categories> {
    let mut counts = vec![0u64; names.len()];
    for &code in codes {
        counts[code as usize] += 1;
    }
    let mut kinds: Vec<usize> =
        (0..names.len()).filter(|&at| counts[at] > 0 && !names[at].is_empty()).collect();
    kinds.sort_by(|&a, &b| names[a].cmp(&names[b]));
    if kinds.len() > CATEGORIES {
        kinds.sort_by_key(|&at| std::cmp::Reverse(counts[at]));
    }
    let mut place = vec![f32::NAN; names.len()];
    for (at, &kind) in kinds.iter().enumerate() {
        place[kind] = at as f32;
    }
    let values = codes.iter().map(|&code| place[code as usize]).collect();
    let list: Vec<Category> =
        kinds.into_iter().map(|at| Category { name: names[at].clone(), count: counts[at] }).collect();
    (!list.is_empty()).then(|| Categories { values: Arc::new(PointValues::new(values)), list })
}

// Values of the picked query: distances of all points, and ranks of its neighbours.

/// Rows per parallel chunk.
const ROWS: usize = 1 << 13;

/// Distances of all rows to a point in the file's coordinates, NaN if undefined.
pub fn distances(cloud: &PointCloud, place: &[f64], metric: Metric) -> Vec<f32> {
    let mut values = vec![f32::NAN; cloud.len()];
    let Ok(query) = query_point::cloud(place, cloud) else { return values };
    let vectors = RowVectors::new(metric, cloud);
    let from = vectors.vector(&query, 0);
    values.par_chunks_mut(ROWS).enumerate().for_each(|(part, values)| {
        let mut to = Vec::new();
        for (at, value) in values.iter_mut().enumerate() {
            vectors.write(cloud, part * ROWS + at, &mut to);
            *value = vectors.between(&from, &to) as f32;
        }
    });
    values
}

pub fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::L2 => "in the cloud's units",
        Metric::Angular => "radians",
        Metric::Cosine => "1 − cos of the angle",
        Metric::Sky => "degrees",
        Metric::Haversine => "km",
    }
}

pub fn distance_channel(cloud: &PointCloud, place: &[f64], metric: Metric) -> Channel {
    let values = distances(cloud, place, metric);
    let missing = missing(&values);
    let title = match metric {
        Metric::L2 | Metric::Haversine | Metric::Sky => "distance to the query",
        Metric::Angular => "angle to the query",
        Metric::Cosine => "cosine distance to the query",
    };
    Channel::of_numbers(
        PointSet::Data,
        title,
        unit(metric),
        NumericValues::new(values, 0.0),
        (missing, "have no direction"),
    )
}

/// The ranks of a query's neighbours, from 1 as in the window's tables.
pub fn rank_channel(answered: &QueryAnswer) -> Channel {
    let mut values = vec![f32::NAN; answered.record.cloud.len()];
    for (rank, (row, _)) in answered.neighbors().enumerate() {
        values[row as usize] = (rank + 1) as f32;
    }
    let missing = missing(&values);
    let mut sparse_rows: Vec<u32> = answered.neighbors().map(|(row, _)| row).collect();
    sparse_rows.sort_unstable();
    let (numbers, missing) = (NumericValues::new(values, 0.0), (missing, "are not neighbours of the query"));
    let title = "rank among the neighbours";
    let channel = Channel::of_numbers(PointSet::Data, title, "1 is the nearest", numbers, missing);
    Channel { sparse_rows: Some(sparse_rows.into()), ..channel }
}

/// Number of rows without a value.
pub fn missing(values: &[f32]) -> u64 {
    values.par_chunks(1 << 16).map(|part| part.iter().filter(|value| value.is_nan()).count() as u64).sum()
}

// Values of analyses: density, outliers, hubness and others.

/// A comparison with another file as a channel.
pub fn comparison_channel(comparison: &FileComparison) -> Channel {
    let (title, unit) = match &comparison.leaks {
        Some(leaking) => {
            (format!("distance to the nearest row of {}", comparison.other), unit(leaking.record.spec.metric))
        }
        None => (format!("share of neighbours in common with {}", comparison.other), ""),
    };
    let missing = comparison.values.iter().filter(|value| value.is_nan()).count() as u64;
    let values = comparison.values.iter().map(|&value| value as f32).collect();
    Channel::of_numbers(
        PointSet::Data,
        title,
        unit,
        NumericValues::new(values, 0.0),
        (missing, comparison.kind().without()),
    )
}

/// An analysis as a channel; `None` if it was not computed.
pub fn analysis_channel(analysed: &AnalysisResults, kind: AnalysisKind) -> Option<Channel> {
    let values = analysed.values(kind)?;
    let metric = analysed.record.spec.metric;
    let unit = if kind == AnalysisKind::Density { unit(metric) } else { "" };
    let title = match (kind, &analysed.labels) {
        (AnalysisKind::Labels, Some(column)) => format!("share of neighbours with the same {column}"),
        (AnalysisKind::Density, _) => format!(
            "{} to the {} neighbour",
            match metric {
                Metric::L2 | Metric::Haversine | Metric::Sky => "distance",
                Metric::Angular => "angle",
                Metric::Cosine => "cosine distance",
            },
            text::ordinal(analysed.record.spec.k as u64)
        ),
        (AnalysisKind::Duplicates, _) => "size of the duplicate group".to_owned(),
        (AnalysisKind::Components, _) => "component".to_owned(),
        (kind, _) => kind.title().to_owned(),
    };
    if kind == AnalysisKind::Components {
        let channel = column_channel(&title, &ColumnValues::Numbers(values));
        return Some(Channel { why_missing: kind.without(), ..channel });
    }
    let missing = values.iter().filter(|value| value.is_nan()).count() as u64;
    let values = values.into_iter().map(|value| value as f32).collect();
    Some(Channel::of_numbers(
        PointSet::Data,
        title,
        unit,
        NumericValues::new(values, 0.0),
        (missing, kind.without()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::color::state::{ColorMap, ColorView};
    use crate::app::testing::{cloud, cloud_of, file_in, folder, record};
    use crate::cloud::Source;
    use crate::progress::NoProgress;

    fn names(categories: &Option<Categories>) -> Vec<(&str, u64)> {
        categories
            .iter()
            .flat_map(|categories| &categories.list)
            .map(|category| (category.name.as_str(), category.count))
            .collect()
    }

    #[test]
    fn columns_with_few_integers_default_to_categories() {
        let channel =
            column_channel("label", &ColumnValues::Numbers(vec![3.0, 1.0, f64::NAN, 3.0, -0.0, 0.0]));
        assert_eq!(names(&channel.categories), [("0", 2), ("1", 1), ("3", 2)]);
        assert_eq!(
            (channel.missing, channel.map(None), channel.map(Some(ColorMap::Cividis))),
            (1, ColorMap::Categories, ColorMap::Cividis)
        );
        let values = &channel.categories.as_ref().expect("three").values.values;
        assert!(values[2].is_nan() && values[..2] == [2.0, 1.0] && values[3..] == [2.0, 0.0, 0.0]);
        assert_eq!(channel.numbers.as_ref().map(|numbers| numbers.whole), Some((0.0, 3.0)));

        let heights = column_channel(
            "height",
            &ColumnValues::Numbers((0..100).map(|at| f64::from(at) / 8.0).collect()),
        );
        assert!(heights.categories.is_none());
        let halves = column_channel("half", &ColumnValues::Numbers(vec![0.5, 1.5]));
        assert_eq!(
            (halves.map(None), halves.map(Some(ColorMap::Categories))),
            (ColorMap::Viridis, ColorMap::Categories)
        );
    }

    #[test]
    fn surplus_categories_are_sorted_by_frequency() {
        let texts: Vec<String> = (0..12).map(|at| format!("c{at:02}")).chain([String::new()]).collect();
        // c00 once, c01 twice, …, and three rows without text.
        let mut codes: Vec<u32> = (0..12).flat_map(|at| std::iter::repeat_n(at, at as usize + 1)).collect();
        codes.extend([12; 3]);
        let channel = column_channel("state", &ColumnValues::Texts(texts, codes.clone()));
        let list = names(&channel.categories);
        assert_eq!((list.len(), list[0], list[11]), (12, ("c11", 12), ("c00", 1)));
        assert_eq!(channel.missing, 3);
        assert_eq!([0, codes.len() - 4].map(|row| channel.text(row).expect("a text")), ["c00", "c11"]);
        let (values, scale) = channel.scaled(&ColorView::default(), false).expect("texts");
        assert!(
            values.values[codes.len() - 1].is_nan()
                && scale.map == ColorMap::Categories
                && scale.high == 11.0
        );
        let few =
            column_channel("few", &ColumnValues::Texts(vec!["b".to_owned(), "a".to_owned()], vec![0, 0, 1]));
        assert_eq!(names(&few.categories), [("a", 1), ("b", 2)], "sorted by name if each has a colour");
    }

    #[test]
    fn an_offset_preserves_values_too_fine_for_f32() {
        let times: Vec<f64> = (0..1000).map(|at| 3.0e8 + f64::from(at) / 1000.0).collect();
        let channel = column_channel("gps_time", &ColumnValues::Numbers(times));
        let numbers = channel.numbers.expect("times");
        assert!(numbers.offset > 2.9e8 && !numbers.can_be_log());
        assert!(
            (numbers.whole.0 - 3.0e8).abs() < 1e-6 && (numbers.whole.1 - 300_000_000.999).abs() < 1e-6,
            "{:?}",
            numbers.whole
        );
        let mut different = numbers.values.values.clone();
        different.dedup();
        assert_eq!(different.len(), 1000, "all values remain distinct");
    }

    #[test]
    fn axis_channels_hold_the_coordinates() {
        let cloud = cloud(30, 3, 4);
        let channel = axis_channel(&cloud, 2).expect("three axes");
        let numbers = channel.numbers.expect("coordinates");
        assert!((0..30).all(|row| {
            f64::from(numbers.values.values[row]) + numbers.offset == cloud.coordinate(row, 2)
        }));
        assert!((numbers.whole.0 - cloud.axes()[2].min).abs() < 1e-6);
        assert!(axis_channel(&cloud, 3).is_none());
    }

    #[test]
    fn colours_are_scaled_to_eight_bits() {
        let of = |colors: &[[f64; 3]]| {
            let channel = colors_channel(colors.to_vec());
            let (values, scale) = channel
                .scaled(&ColorView { map: Some(ColorMap::Cividis), ..ColorView::default() }, true)
                .expect("colours");
            assert_eq!(scale.map, ColorMap::Own, "the map chosen for numbers is ignored");
            (
                values.values.iter().map(|value| *value as u32).collect::<Vec<_>>(),
                channel.missing,
                channel.text(0),
            )
        };
        let text = Some("red 255, green 128, blue 0".to_owned());
        assert_eq!(
            of(&[[255.0, 128.0, 0.0], [0.0, 0.0, 1.0], [f64::NAN, 1.0, 1.0]]),
            (vec![0xff_8000, 1, 0], 1, text.clone())
        );
        assert_eq!(
            of(&[[65_535.0, 32_896.0, 0.0], [257.0, 0.0, 0.0]]),
            (vec![0xff_8000, 0x01_0000], 0, text.clone())
        );
        assert_eq!(of(&[[1.0, 0.502, 0.0], [0.0, 0.0, 1.0]]), (vec![0xff_8000, 0xff], 0, text));
    }

    #[test]
    fn file_colours_match_cloud_rows() {
        let folder = folder();
        let path = file_in(&folder, "a.csv", "x,y,blue,green,red\n0,1,3,2,1\nnan,2,9,9,9\n2,3,30,20,10\n");
        let source = Source::File {
            path: path.clone(),
            columns: ColumnChoice::Named(vec!["x".to_owned(), "y".to_owned()]),
        };
        let cloud = crate::cloud::load(&source, true, &NoProgress).expect("a cloud of two rows");
        let keys = ["red", "green", "blue"].map(str::to_owned);
        assert_eq!(
            read_colors(&cloud, &path, &keys, &NoProgress).expect("colours"),
            [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]
        );
        std::fs::write(&path, "x,y,blue,green,red\n0,1,3,2,1\n").expect("a file");
        let why = read_colors(&cloud, &path, &keys, &NoProgress).expect_err("it is shorter now").to_string();
        assert!(why.contains("load it again"), "{why}");
    }

    #[test]
    fn column_values_match_cloud_rows() {
        let folder = folder();
        let path = file_in(&folder, "a.csv", "x,y,kind,size\n0,1,a,10\nnan,2,b,20\n2,3,c,\n");
        let columns = ColumnChoice::Named(vec!["x".to_owned(), "y".to_owned()]);
        let source = Source::File { path: path.clone(), columns };
        let cloud = crate::cloud::load(&source, true, &NoProgress).expect("a cloud of two rows");
        let kinds = read_column(&cloud, &path, "kind", &NoProgress).expect("texts");
        let ColumnValues::Texts(names, codes) = kinds else { panic!("texts") };
        assert_eq!(codes.iter().map(|&code| names[code as usize].as_str()).collect::<Vec<_>>(), ["a", "c"]);
        let ColumnValues::Numbers(sizes) = read_column(&cloud, &path, "size", &NoProgress).expect("numbers")
        else {
            panic!("numbers")
        };
        assert!(sizes[0] == 10.0 && sizes[1].is_nan() && sizes.len() == 2);
        assert!(read_column(&cloud, &path, "colour", &NoProgress).is_err());
        std::fs::write(&path, "x,y,kind,size\n0,1,a,10\n").expect("a file");
        let why = read_column(&cloud, &path, "kind", &NoProgress).expect_err("it is shorter now").to_string();
        assert!(why.starts_with("the file has changed since its points were read; load it again"), "{why}");
        assert!(
            check_records(&cloud, &path, "column kind".to_owned(), 1)
                .is_err_and(|why| why.to_string().contains("1 records"))
        );
    }

    #[test]
    fn distances_match_the_textbook_formulas() {
        // More rows than one chunk, to test the boundary.
        let cloud = cloud(ROWS + 100, 3, 5);
        let place: Vec<f64> = (0..3).map(|axis| cloud.coordinate(17, axis)).collect();
        let values = distances(&cloud, &place, Metric::L2);
        for row in [0, 17, ROWS - 1, ROWS, ROWS + 99] {
            let plain =
                (0..3).map(|axis| (cloud.coordinate(row, axis) - place[axis]).powi(2)).sum::<f64>().sqrt();
            assert!((f64::from(values[row]) - plain).abs() <= 1e-6 * (1.0 + plain), "row {row}");
        }
        assert_eq!(values[17], 0.0);

        let values = distances(&cloud, &place, Metric::Angular);
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        for row in [0, 17, ROWS, ROWS + 99] {
            let point: Vec<f64> = (0..3).map(|axis| cloud.coordinate(row, axis)).collect();
            let cosine =
                point.iter().zip(&place).map(|(a, b)| a * b).sum::<f64>() / norm(&point) / norm(&place);
            assert!((f64::from(values[row]) - cosine.clamp(-1.0, 1.0).acos()).abs() < 1e-5, "row {row}");
        }
        let channel = distance_channel(&cloud, &place, Metric::Angular);
        assert_eq!(
            (channel.title.as_str(), channel.unit, channel.missing),
            ("angle to the query", "radians", 0)
        );
    }

    #[test]
    fn haversine_distances_are_in_km() {
        let cloud = cloud(100, 2, 5);
        // A degree of latitude; the first column is the longitude.
        let place = [cloud.coordinate(3, 0), cloud.coordinate(3, 1) + 1.0];
        let channel = distance_channel(&cloud, &place, Metric::Haversine);
        assert_eq!(
            (channel.title.as_str(), channel.unit, channel.missing),
            ("distance to the query", "km", 0)
        );
        assert!((distances(&cloud, &place, Metric::Haversine)[3] - 111.195).abs() < 1e-3);
    }

    #[test]
    fn zero_vectors_have_no_angle() {
        let cloud = cloud_of(&["x", "y"], &[1.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
        let values = distances(&cloud, &[1.0, 0.0], Metric::Angular);
        assert!(
            values[0] == 0.0 && values[1].is_nan() && (values[2] - std::f32::consts::FRAC_PI_2).abs() < 1e-6
        );
        assert_eq!(distance_channel(&cloud, &[1.0, 0.0], Metric::Angular).missing, 1);
    }

    #[test]
    fn only_neighbours_have_a_rank() {
        let channel = rank_channel(&QueryAnswer { record: record(), query: 1 });
        let numbers = channel.numbers.expect("four neighbours");
        let ranked: Vec<(usize, f32)> =
            numbers.values.values.iter().copied().enumerate().filter(|(_, rank)| !rank.is_nan()).collect();
        assert_eq!(ranked, [(5, 1.0), (6, 2.0), (7, 3.0), (9, 4.0)]);
        assert_eq!((channel.missing, numbers.whole), (46, (1.0, 4.0)));
    }
}
