//! A problem's points, stored cluster by cluster, with their bounding spheres. Made on the host for both
//! devices, like the paper's pre-processing (STEP §4).

use rayon::prelude::*;

use super::bounds::{Sphere, Spheres};
use super::queue::WARP;
use super::spheres::{Method, Rows};
use crate::knn::Problem;
use crate::lockstep::Lanes;
use crate::lockstep::distance::Coordinates;

/// Groups per work item.
const GROUPS_PER_TASK: usize = 256;

/// The parameters that, together with the points, determine the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterParameters {
    /// The most clusters.
    pub clusters: usize,
    /// The most iterations of Lloyd's algorithm.
    pub iterations: usize,
    pub spheres: Method,
}

/// Clusters of points, numbered by the smallest position in each.
#[derive(Debug)]
pub struct Clusters {
    pub clustering: ClusterParameters,
    pub spheres: Spheres,
    pub dims: usize,
    /// Where each cluster's groups of 32 points begin; followed by the number of groups.
    pub first_groups: Vec<u32>,
    /// Group by group, axis by axis. A cluster's last group is padded with points at infinity.
    pub coordinates: Vec<Coordinates<WARP>>,
    /// Positions in processing order, ascending in a cluster; `u32::MAX` for padding.
    pub positions: Vec<Lanes<u32, WARP>>,
}

impl Clusters {
    /// Gathers the points of each assigned number, and renumbers the clusters.
    pub fn new(problem: &Problem, clustering: ClusterParameters, assigned: &[u32]) -> Self {
        let (dims, points, metric) = (problem.dims(), problem.points(), problem.metric());
        // A cluster is numbered when its first point is reached. Empty ones get no number.
        let mut number_of = vec![None; assigned.iter().max().map_or(0, |&most| most as usize + 1)];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (position, &cluster) in assigned.iter().enumerate() {
            let number = *number_of[cluster as usize].get_or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[number].push(position as u32);
        }
        let row = |position: u32| &points[position as usize * dims..][..dims];
        let sphere = |members: &Vec<u32>| {
            let values: Vec<f64> =
                members.iter().flat_map(|&position| row(position)).map(|&value| f64::from(value)).collect();
            let centre = clustering.spheres.centre(Rows { values: &values, dims });
            Sphere::new(metric, centre, members.iter().map(|&position| row(position)))
        };
        let spheres: Vec<Sphere> = members.par_iter().map(sphere).collect();
        let mut first_groups = vec![0];
        let mut positions = Vec::new();
        for members in members {
            for members in members.chunks(WARP) {
                let mut group = [u32::MAX; WARP];
                group[..members.len()].copy_from_slice(members);
                positions.push(group);
            }
            first_groups.push(positions.len() as u32);
        }
        let mut coordinates = vec![Coordinates([f32::INFINITY; WARP]); positions.len() * dims];
        coordinates.par_chunks_mut(dims).zip(&positions).with_min_len(GROUPS_PER_TASK).for_each(
            |(coordinates, positions)| {
                for (lane, &position) in
                    positions.iter().enumerate().filter(|(_, position)| **position != u32::MAX)
                {
                    for (axis, &value) in row(position).iter().enumerate() {
                        coordinates[axis].0[lane] = value;
                    }
                }
            },
        );
        Self {
            clustering,
            spheres: Spheres::new(metric, dims, &spheres),
            dims,
            first_groups,
            coordinates,
            positions,
        }
    }

    /// Peak bytes of clustering n points on the host.
    pub fn bytes(n: usize, dims: usize, clusters: usize) -> u64 {
        let (n, d, slots) = (n as u64, dims as u64, n as u64 + (WARP * clusters) as u64);
        // The result; numbers, members and buffers for seeding; and a cluster's coordinates in f64, in the
        // worst case of all points.
        4 * (d + 1) * slots + 16 * n + 8 * d * n + 16 * (d + 3) * clusters as u64
    }

    /// The number of clusters.
    pub fn count(&self) -> usize {
        self.spheres.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{problem, scattered};

    #[test]
    fn clusters_partition_the_points_in_order() {
        let (n, dims) = (1000, 3);
        let problem = problem(dims, scattered(n, dims), vec![0], 1);
        let assigned: Vec<u32> =
            (0..n as u32).map(|i| [7, 2, 2, 9, 4][i as usize * i as usize % 5]).collect();
        let clustering = ClusterParameters { clusters: 10, iterations: 0, spheres: Method::Ritter };
        let clusters = Clusters::new(&problem, clustering, &assigned);
        // Squares are 0, 1 and 4 modulo 5, so the clusters 7, 2 and 4 occur and no others.
        assert_eq!(clusters.count(), 3);
        let mut seen = vec![false; n];
        let mut firsts = Vec::new();
        for cluster in 0..clusters.count() {
            let groups =
                || clusters.first_groups[cluster] as usize..clusters.first_groups[cluster + 1] as usize;
            let positions: Vec<u32> =
                groups().flat_map(|group| clusters.positions[group]).filter(|&at| at != u32::MAX).collect();
            assert!(
                positions.is_sorted()
                    && positions.iter().all(|&at| assigned[at as usize] == assigned[positions[0] as usize])
            );
            positions
                .iter()
                .for_each(|&at| assert!(!std::mem::replace(&mut seen[at as usize], true), "point {at}"));
            firsts.push(positions[0]);
            for group in groups() {
                for (lane, &at) in clusters.positions[group].iter().enumerate() {
                    for axis in 0..dims {
                        let expected = if at == u32::MAX {
                            f32::INFINITY
                        } else {
                            problem.points()[at as usize * dims + axis]
                        };
                        assert_eq!(clusters.coordinates[group * dims + axis].0[lane], expected);
                    }
                }
            }
        }
        assert!(firsts.is_sorted() && seen.into_iter().all(|seen| seen));
    }
}
