//! Values that belong to the picked query: how far every point is from it, and the ranks of its neighbours.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use crate::app::features::color::state::channel::{Channel, Numbers, Whose};
use crate::app::model::Answered;
use crate::app::model::apart::Apart;
use crate::cloud::PointCloud;
use crate::knn::Metric;

/// Rows that one thread takes at a time.
const ROWS: usize = 1 << 13;

/// The distance of each row to a place given in the file's coordinates, NaN where there is none.
pub fn distances(cloud: &PointCloud, place: &[f64], metric: Metric) -> Vec<f32> {
    let apart = Apart::new(cloud, place, metric);
    let mut values = vec![0.0f32; cloud.len()];
    values.par_chunks_mut(ROWS).enumerate().for_each(|(part, values)| {
        values.iter_mut().enumerate().for_each(|(at, value)| *value = apart.to(part * ROWS + at) as f32);
    });
    values
}

/// In what distances are.
pub fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::L2 => "in the cloud's units",
        Metric::Angular => "radians",
        Metric::Cosine => "1 − cos of the angle",
        Metric::Sky => "degrees",
        Metric::Haversine => "km",
    }
}

/// Distances as a channel.
pub fn distance_channel(cloud: &PointCloud, place: &[f64], metric: Metric, middle: bool) -> Channel {
    let values = distances(cloud, place, metric);
    let missing = missing(&values);
    let title = match metric {
        Metric::L2 | Metric::Haversine | Metric::Sky => "distance to the query",
        Metric::Angular => "angle to the query",
        Metric::Cosine => "cosine distance to the query",
    };
    Channel::of_numbers(Whose::Data, title, unit(metric), Numbers::new(values, 0.0, middle), (missing, "have no direction"))
}

/// The ranks of a query's neighbours, from 0 as in files.
pub fn rank_channel(answered: &Answered) -> Channel {
    let mut values = vec![f32::NAN; answered.record.cloud.len()];
    for (rank, (row, _)) in answered.neighbors().enumerate() {
        values[row as usize] = rank as f32;
    }
    let missing = missing(&values);
    let mut few: Vec<u32> = answered.neighbors().map(|(row, _)| row).collect();
    few.sort_unstable();
    let (numbers, missing) = (Numbers::new(values, 0.0, true), (missing, "are no neighbours of the query"));
    let channel = Channel::of_numbers(Whose::Data, "rank among the neighbours", "0 is the nearest", numbers, missing);
    Channel { few: Some(few.into()), ..channel }
}

/// Rows without a value.
pub fn missing(values: &[f32]) -> u64 {
    values.par_chunks(1 << 16).map(|part| part.iter().filter(|value| value.is_nan()).count() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, record};

    #[test]
    fn distances_are_those_of_the_plain_rule() {
        // More rows than one part has, so that parts must meet.
        let cloud = cloud(ROWS + 100, 3, 5);
        let place: Vec<f64> = (0..3).map(|axis| cloud.coordinate(17, axis)).collect();
        let values = distances(&cloud, &place, Metric::L2);
        for row in [0, 17, ROWS - 1, ROWS, ROWS + 99] {
            let plain = (0..3).map(|axis| (cloud.coordinate(row, axis) - place[axis]).powi(2)).sum::<f64>().sqrt();
            assert!((f64::from(values[row]) - plain).abs() <= 1e-6 * (1.0 + plain), "row {row}");
        }
        assert_eq!(values[17], 0.0);

        let values = distances(&cloud, &place, Metric::Angular);
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        for row in [0, 17, ROWS, ROWS + 99] {
            let point: Vec<f64> = (0..3).map(|axis| cloud.coordinate(row, axis)).collect();
            let cosine = point.iter().zip(&place).map(|(a, b)| a * b).sum::<f64>() / norm(&point) / norm(&place);
            assert!((f64::from(values[row]) - cosine.clamp(-1.0, 1.0).acos()).abs() < 1e-5, "row {row}");
        }
        let channel = distance_channel(&cloud, &place, Metric::Angular, false);
        assert_eq!((channel.title.as_str(), channel.unit, channel.missing), ("angle to the query", "radians", 0));
    }

    #[test]
    fn on_the_globe_distances_are_in_km() {
        let cloud = cloud(100, 2, 5);
        // A degree of latitude, where the first column is taken as longitude.
        let place = [cloud.coordinate(3, 0), cloud.coordinate(3, 1) + 1.0];
        let channel = distance_channel(&cloud, &place, Metric::Haversine, false);
        assert_eq!((channel.title.as_str(), channel.unit, channel.missing), ("distance to the query", "km", 0));
        assert!((distances(&cloud, &place, Metric::Haversine)[3] - 111.195).abs() < 1e-3);
    }

    #[test]
    fn a_row_without_a_direction_has_no_angle() {
        use crate::cloud::Column;
        use crate::cloud::PointCloud;
        use crate::cloud::Source;
        use crate::cloud::Table;
        let columns = ["x", "y"].map(|name| Column { name: name.to_owned() }).to_vec();
        let table = Table { columns, values: vec![1.0, 0.0, 0.0, 0.0, 0.0, 2.0] };
        let cloud = PointCloud::from_table(table, Source::Generate { spec: "t".to_owned(), seed: 0 }, None, false).expect("a cloud");
        let values = distances(&cloud, &[1.0, 0.0], Metric::Angular);
        assert!(values[0] == 0.0 && values[1].is_nan() && (values[2] - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
        assert_eq!(distance_channel(&cloud, &[1.0, 0.0], Metric::Angular, false).missing, 1);
    }

    #[test]
    fn only_neighbours_have_a_rank() {
        let channel = rank_channel(&Answered { record: record(), query: 1 });
        let numbers = channel.numbers.expect("four neighbours");
        let ranked: Vec<(usize, f32)> = numbers.values.values.iter().copied().enumerate().filter(|(_, rank)| !rank.is_nan()).collect();
        assert_eq!(ranked, [(5, 0.0), (6, 1.0), (7, 2.0), (9, 3.0)]);
        assert_eq!((channel.missing, numbers.whole), (46, (0.0, 3.0)));
    }
}
