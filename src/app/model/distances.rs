//! The distance between two rows, and each axis's share of it.

use super::answer_summary::distance_text;
use crate::cloud::PointCloud;
use crate::exact::RowVectors;
use crate::knn::Metric;
use crate::text;

/// Number of axes listed.
const AXES: usize = 4;

/// `Rows 3 and 8 are 1.414 apart: x 50 % (1.000), y 50 % (-1.000).` Under L2, shares are those of the squared
/// distance; parentheses hold the difference along the axis, second row minus first. `None` if the metric is
/// undefined for either row.
pub fn pair_sentence(cloud: &PointCloud, a: u32, b: u32, metric: Metric) -> Option<String> {
    let vectors = RowVectors::new(metric, cloud);
    let [from, to] = [a, b].map(|row| vectors.vector(cloud, row as usize));
    let distance = vectors.between(&from, &to);
    if distance.is_nan() {
        return None;
    }
    // Under L2, the vectors are the file's values.
    let ways: Vec<f64> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
    let [a, b] = [a, b].map(|row| text::thousands(cloud.record(row as usize)));
    let apart = format!("Rows {a} and {b} are {} apart", distance_text(metric, distance));
    if metric != Metric::L2 || distance == 0.0 || cloud.dims() < 2 {
        return Some(format!("{apart}."));
    }
    let mut axes: Vec<usize> = (0..cloud.dims()).collect();
    axes.sort_by(|&a, &b| ways[b].abs().total_cmp(&ways[a].abs()));
    let share = |&axis: &usize| {
        let part = 100.0 * ways[axis].powi(2) / distance.powi(2);
        format!("{} {} % ({})", cloud.axes()[axis].name, text::digits(part, 2), text::digits(ways[axis], 4))
    };
    let more = if axes.len() > AXES { ", …" } else { "" };
    Some(format!("{apart}: {}{more}.", axes.iter().take(AXES).map(share).collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud_of;

    #[test]
    fn distance_sentences_give_the_share_of_each_axis() {
        let plane = cloud_of(&["x", "y"], &[0.0, 0.0, 4.0, -3.0, 4.0, -3.0]);
        assert_eq!(
            pair_sentence(&plane, 0, 1, Metric::L2).as_deref(),
            Some("Rows 0 and 1 are 5.000 apart: x 64 % (4.000), y 36 % (-3.000).")
        );
        assert_eq!(pair_sentence(&plane, 1, 2, Metric::L2).as_deref(), Some("Rows 1 and 2 are 0 apart."));
        assert_eq!(pair_sentence(&plane, 0, 1, Metric::Angular), None, "the origin has no direction");
    }

    #[test]
    fn haversine_distances_are_in_km() {
        let globe = cloud_of(&["longitude", "latitude"], &[0.0, 0.0, 90.0, 0.0]);
        let said = pair_sentence(&globe, 0, 1, Metric::Haversine).expect("a distance");
        assert!(said.starts_with("Rows 0 and 1 are 10,0") && said.ends_with(" km apart."), "{said}");
    }
}
