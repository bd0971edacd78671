//! Groups of points within a distance of one another, as far as the k nearest neighbours of each show them.
//!
//! A group is a chain: each of its points is within the distance of another one, not of all (single linkage, as connected components of the
//! ε-neighbourhood graph). A point whose k-th neighbour is still within the distance may have more: its group is told as open. At distance 0 no group is: equal
//! points come in the order of rows, so that all of them have the first one among their neighbours.

use super::forest::{Forest, Sets};
use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

/// Groups of at least two points.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    pub sets: Sets,
    /// Whether a group may be larger, or one with another.
    pub open: Vec<bool>,
}

/// The groups of points within `eps` of one another.
///
/// # Errors
/// [`Cancelled`].
pub fn groups(graph: &KnnGraph<'_>, eps: f64, progress: &dyn Progress) -> Result<Groups, Cancelled> {
    let mut forest = Forest::new(graph.len());
    let mut full = Vec::new();
    graph.blocks(progress, |block| {
        for point in block {
            let within = graph.distances(point).take_while(|&distance| distance <= eps).count();
            graph.of(point).0[..within].iter().for_each(|&other| forest.join(point as u32, other));
            if within == graph.k() && within + 1 < graph.len() && eps > 0.0 {
                full.push(point);
            }
        }
    })?;
    let sets = forest.sets(2);
    let mut open = vec![false; sets.sizes.len()];
    full.into_iter().filter_map(|point| sets.of[point]).for_each(|group| open[group as usize] = true);
    Ok(Groups { sets, open })
}

impl Groups {
    /// Points that are in groups.
    pub fn points(&self) -> u64 {
        self.sets.sizes.iter().map(|&size| u64::from(size)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graph, line};
    use super::*;
    use crate::progress::Silent;

    fn found(values: &[f64], k: usize, eps: f64) -> (Vec<Option<u32>>, Vec<bool>) {
        let Groups { sets, open } = groups(&graph(&line(values, k)), eps, &Silent).unwrap();
        (sets.of, open)
    }

    #[test]
    fn groups_are_chains() {
        let values = [0.0, 10.0, 1.0, 20.0, 10.5, 2.0];
        assert_eq!(found(&values, 3, 1.0), (vec![Some(0), Some(1), Some(0), None, Some(1), Some(0)], vec![false, false]));
        assert_eq!(found(&values, 3, 0.5).0, [None, Some(0), None, None, Some(0), None]);
        assert!(found(&values, 3, 0.25).1.is_empty());
    }

    #[test]
    fn a_group_that_may_be_larger_is_open() {
        let values = [0.0, 0.1, 0.2, 0.3, 9.0, 9.1];
        assert_eq!(found(&values, 1, 0.5).1, [true, true], "with one neighbour each nobody can tell");
        assert_eq!(found(&values, 2, 0.5).1, [true, false]);
        assert_eq!(found(&values, 4, 0.5).1, [false, false]);
        // Everybody is there: nobody can be missing.
        assert_eq!(found(&[0.0, 0.1, 0.2], 2, 0.5).1, [false]);
    }

    #[test]
    fn equal_points_are_one_group_however_few_neighbours_were_asked_for() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let (of, open) = found(&values, 1, 0.0);
        assert_eq!((of, open), ((0..60).map(|i| Some(i % 3)).collect(), vec![false; 3]));
    }
}
