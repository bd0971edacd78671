//! How far two rows are from each other, and what of it lies along which axis.

use crate::app::model::apart::Apart;
use crate::app::model::telling::distance_text;
use crate::cloud::PointCloud;
use crate::knn::Metric;
use crate::text;

/// Axes whose share is said.
const AXES: usize = 4;

/// `Rows 3 and 8 are 1.414 apart: x 50 % (1.000), y 50 % (-1.000).` Under L2 the shares are those of the squared distance, with the way from the first row to
/// the second along the axis. `None` where the metric tells no distance, as of a row without a direction.
pub fn between(cloud: &PointCloud, a: u32, b: u32, metric: Metric) -> Option<String> {
    let place = |row: u32| (0..cloud.dims()).map(|axis| cloud.coordinate(row as usize, axis)).collect::<Vec<f64>>();
    let ways: Vec<f64> = place(b).iter().zip(place(a)).map(|(to, from)| to - from).collect();
    let distance = Apart::new(cloud, &place(a), metric).to(b as usize);
    if distance.is_nan() {
        return None;
    }
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
    use crate::cloud::{Column, Source, Table};

    fn cloud(columns: &[&str], values: &[f64]) -> PointCloud {
        let columns = columns.iter().map(|&name| Column { name: name.to_owned() }).collect();
        PointCloud::from_table(Table { columns, values: values.to_vec() }, Source::Coordinates(String::new()), None, false).expect("a cloud")
    }

    #[test]
    fn each_axis_has_its_share() {
        let plane = cloud(&["x", "y"], &[0.0, 0.0, 4.0, -3.0, 4.0, -3.0]);
        assert_eq!(between(&plane, 0, 1, Metric::L2).as_deref(), Some("Rows 0 and 1 are 5.000 apart: x 64 % (4.000), y 36 % (-3.000)."));
        assert_eq!(between(&plane, 1, 2, Metric::L2).as_deref(), Some("Rows 1 and 2 are 0 apart."));
        assert_eq!(between(&plane, 0, 1, Metric::Angular), None, "the origin has no direction");
    }

    #[test]
    fn on_the_globe_it_is_in_km() {
        let globe = cloud(&["longitude", "latitude"], &[0.0, 0.0, 90.0, 0.0]);
        let said = between(&globe, 0, 1, Metric::Haversine).expect("a distance");
        assert!(said.starts_with("Rows 0 and 1 are 10,0") && said.ends_with(" km apart."), "{said}");
    }
}
