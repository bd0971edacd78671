//! Which row of a cloud is asked for before the user picks one.

use crate::cloud::PointCloud;

/// Rows that are looked at.
const SEEN: usize = 4096;

/// Those of them that are tried, the best first.
const TRIED: usize = 16;

/// The row to begin with: near the middle of where most points are, where neighbours lie on all sides, and not one of several equal
/// rows, whose nearest neighbours are all at distance 0.
pub fn first_query(cloud: &PointCloud) -> u32 {
    let rows: Vec<usize> = cloud.spread_rows(SEEN).collect();
    let mut far = vec![0.0_f64; rows.len()];
    for axis in 0..cloud.dims() {
        let values: Vec<f32> = rows.iter().map(|&row| cloud.point(row)[axis]).collect();
        let median = median(values.clone());
        let [low, high] = cloud.bulk(axis);
        let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
        far.iter_mut().zip(values).for_each(|(far, value)| *far += ((f64::from(value) - f64::from(median)) * scale).powi(2));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| far[a].total_cmp(&far[b]).then(a.cmp(&b)));
    let mut tried: Vec<usize> = Vec::with_capacity(TRIED);
    for row in order.into_iter().map(|at| rows[at]) {
        if tried.len() == TRIED {
            break;
        }
        if tried.iter().all(|&known| cloud.point(known) != cloud.point(row)) {
            tried.push(row);
        }
    }
    let mut equal = vec![0_u32; tried.len()];
    for point in cloud.points().chunks_exact(cloud.dims()) {
        for (equal, &row) in equal.iter_mut().zip(&tried) {
            // Nearly always the first coordinate settles it.
            *equal += u32::from(point[0] == cloud.point(row)[0] && point == cloud.point(row));
        }
    }
    let alone = equal.iter().position(|&rows| rows == 1).unwrap_or(0);
    tried.get(alone).map_or(0, |&row| row as u32)
}

fn median(mut values: Vec<f32>) -> f32 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Column, Source, Table};

    fn cloud(values: Vec<f64>) -> PointCloud {
        let columns = vec![Column { name: "x".to_owned() }];
        PointCloud::from_table(Table { columns, values }, Source::Coordinates(String::new()), None, false).expect("a cloud")
    }

    #[test]
    fn it_is_in_the_middle_and_alone() {
        assert_eq!(first_query(&cloud((0..101).map(f64::from).collect())), 50);
        // Fifty equal rows in the middle, others about them.
        let values = (0..100).map(|at| if at < 50 { 10.25 } else { f64::from(at) - 64.5 }).collect();
        let row = first_query(&cloud(values)) as usize;
        assert!((50..100).contains(&row), "{row}");
    }

    #[test]
    fn where_all_rows_are_equal_it_is_one_of_them() {
        assert_eq!(first_query(&cloud(vec![2.0; 7])), 0);
        assert_eq!(first_query(&cloud(vec![2.0])), 0);
    }
}
