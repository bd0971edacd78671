//! Surfaces of clouds in space: the light that falls on them, from normals of the k nearest neighbours.
//!
//! A point's normal is the direction in which the point and its neighbours vary least: the eigenvector of the
//! smallest eigenvalue of their covariance matrix (Hoppe, DeRose, Duchamp, McDonald and Stuetzle 1992, section
//! 3.1).

use super::{Cancelled, KnnGraph};
use crate::cloud::PointCloud;
use crate::progress::Progress;

/// Towards the light: from the north-west (−x, +y), 45° above the horizon, as in hill shading of maps.
const LIGHT: [f64; 3] = [-0.5, 0.5, std::f64::consts::FRAC_1_SQRT_2];

/// A symmetric matrix.
type Matrix = [[f64; 3]; 3];

/// Each point's shade, from 0 (unlit) to 1 (facing the light): the cosine of the angle between its upward
/// normal and the light. `None` if the point and its neighbours lie on a line, or if the cloud does not have
/// three dimensions.
///
/// # Errors
/// [`Cancelled`].
pub fn shades(
    graph: &KnnGraph<'_>,
    cloud: &PointCloud,
    progress: &dyn Progress,
) -> Result<Vec<Option<f64>>, Cancelled> {
    let place = |point: usize| [0, 1, 2].map(|axis| cloud.coordinate(graph.row(point) as usize, axis));
    graph.map(progress, |point| {
        if cloud.dims() != 3 {
            return None;
        }
        let others = graph.neighbors(point).0.iter().map(|&other| other as usize);
        let places: Vec<[f64; 3]> = std::iter::once(point).chain(others).map(place).collect();
        normal(&places).map(|normal| (0..3).map(|axis| normal[axis] * LIGHT[axis]).sum::<f64>().max(0.0))
    })
}

/// The upward unit normal of points; `None` if they lie on a line.
fn normal(places: &[[f64; 3]]) -> Option<[f64; 3]> {
    /// Below this ratio to the largest variance, a variance is rounding.
    const NEGLIGIBLE: f64 = 1e-9;
    let count = places.len() as f64;
    let mean = [0, 1, 2].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / count);
    let mut covariance: Matrix = [[0.0; 3]; 3];
    for place in places {
        for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
            covariance[row][column] += (place[row] - mean[row]) * (place[column] - mean[column]);
        }
    }
    let (variances, directions) = eigenvectors(covariance);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| variances[a].total_cmp(&variances[b]));
    let [least, middle, most] = order;
    if variances[middle] <= NEGLIGIBLE * variances[most] {
        return None;
    }
    let direction = [0, 1, 2].map(|axis| directions[axis][least]);
    Some(if direction[2] < 0.0 { direction.map(|part| -part) } else { direction })
}

/// The eigenvalues of a symmetric matrix and, in columns, its eigenvectors, by Jacobi's rotations.
fn eigenvectors(mut matrix: Matrix) -> ([f64; 3], Matrix) {
    /// The method converges quadratically; this is far more than it takes.
    const SWEEPS: usize = 12;
    let mut vectors: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if matrix[p][q] == 0.0 {
                continue;
            }
            // The rotation that makes this element 0.
            let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
            let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
            for row in 0..3 {
                (matrix[row][p], matrix[row][q]) = turn(matrix[row][p], matrix[row][q]);
                (vectors[row][p], vectors[row][q]) = turn(vectors[row][p], vectors[row][q]);
            }
            let (upper, lower) = matrix.split_at_mut(q);
            for (a, b) in upper[p].iter_mut().zip(&mut lower[0]) {
                (*a, *b) = turn(*a, *b);
            }
        }
    }
    ([matrix[0][0], matrix[1][1], matrix[2][2]], vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a plane through two directions, around a place far from the origin.
    fn plane(u: [f64; 3], v: [f64; 3]) -> Vec<[f64; 3]> {
        let far = [515_000.0, 4_918_000.0, 2_300.0];
        let point = |a: i32, b: i32| {
            [0, 1, 2].map(|axis| far[axis] + 0.01 * (f64::from(a) * u[axis] + f64::from(b) * v[axis]))
        };
        (0..25).map(|at| point(at % 5, at / 5)).collect()
    }

    #[test]
    fn normals_are_perpendicular_to_the_surface_and_point_up() {
        for (u, v) in [
            ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            ([1.0, 0.0, 1.0], [0.0, 1.0, 0.5]),
            ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            ([2.0, -1.0, 0.3], [0.1, 0.2, -1.0]),
        ] {
            let normal = normal(&plane(u, v)).expect("a plane");
            let dot = |a: [f64; 3]| (0..3).map(|axis| a[axis] * normal[axis]).sum::<f64>();
            assert!(dot(u).abs() < 1e-6 && dot(v).abs() < 1e-6, "{normal:?}");
            assert!((dot(normal) - 1.0).abs() < 1e-9 && normal[2] >= 0.0, "{normal:?}");
        }
    }

    #[test]
    fn points_on_a_line_have_no_normal() {
        let line: Vec<[f64; 3]> = (0..9).map(|at| [f64::from(at), 2.0 * f64::from(at), 1.0]).collect();
        assert_eq!(normal(&line), None);
        assert_eq!(normal(&[[1.0; 3]; 4]), None);
    }
}
