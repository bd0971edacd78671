//! Which neighbours an edge is made of: all, those of either end, or those of both.

use rayon::prelude::*;

use super::{Cancelled, KnnGraph};
use crate::knn::Metric;
use crate::progress::Progress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// From a point to each of its neighbours.
    Directed,
    /// Both ways between two points of which either is among the other's neighbours.
    Either,
    /// Both ways between two points that are among each other's neighbours.
    Both,
}

/// A symmetric graph: as many edges from each point as it happens to have, nearest first, equal ones by their number.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Where a point's edges begin, in the two below, and the next one's: one more than there are points.
    starts: Vec<u64>,
    others: Vec<u32>,
    squared_distances: Vec<f32>,
    metric: Metric,
}

impl Linked {
    /// The edges of a graph of neighbours that are so linked. A distance is the same seen from either end: squares of differences are summed
    /// in the order of the dimensions, whichever point is the query.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(graph: &KnnGraph<'_>, links: Links, progress: &dyn Progress) -> Result<Self, Cancelled> {
        let n = graph.len();
        let names = |point: usize, other: usize| graph.of(point).0.contains(&(other as u32));
        // What a point is named by and does not name itself.
        let mut from_others: Vec<Vec<(u32, f32)>> = vec![Vec::new(); n];
        if links == Links::Either {
            let one_way = graph.map(progress, |point| {
                let (others, squared) = graph.of(point);
                let edges = others.iter().copied().zip(squared.iter().copied());
                edges.filter(|&(other, _)| !names(other as usize, point)).collect::<Vec<_>>()
            })?;
            for (point, edges) in one_way.into_iter().enumerate() {
                for (other, squared) in edges {
                    from_others[other as usize].push((point as u32, squared));
                }
            }
        }
        let all = graph.map(progress, |point| {
            let edges = graph.of(point);
            let own = edges.0.iter().copied().zip(edges.1.iter().copied());
            let mut kept: Vec<(u32, f32)> = match links {
                Links::Directed | Links::Either => own.chain(from_others[point].iter().copied()).collect(),
                Links::Both => own.filter(|&(other, _)| names(other as usize, point)).collect(),
            };
            kept.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            kept
        })?;
        let mut starts = vec![0];
        starts.extend(all.iter().scan(0, |sum, edges| {
            *sum += edges.len() as u64;
            Some(*sum)
        }));
        let (others, squared_distances) = all.into_par_iter().flatten_iter().unzip();
        Ok(Self { starts, others, squared_distances, metric: graph.metric })
    }

    /// The number of edges; one between two points counts twice.
    pub fn edges(&self) -> usize {
        self.others.len()
    }

    /// The point that an edge is from.
    pub fn from(&self, edge: usize) -> usize {
        self.starts.partition_point(|&start| start <= edge as u64) - 1
    }

    /// The edges from a point.
    pub fn edges_of(&self, point: usize) -> std::ops::Range<usize> {
        self.starts[point] as usize..self.starts[point + 1] as usize
    }

    /// The point that an edge leads to.
    pub fn to(&self, edge: usize) -> u32 {
        self.others[edge]
    }

    /// An edge's length, not squared: an angle under the angular metric.
    pub fn distance(&self, edge: usize) -> f64 {
        self.metric.distance(self.squared_distances[edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::run::{Engines, RunRecord, RunSpec};

    /// The edges of a record's graph with their lengths, from and to.
    fn edges(record: &RunRecord, links: Links) -> Vec<(usize, usize, f64)> {
        let linked = Linked::of(&KnnGraph::of_run(record).unwrap(), links, &Silent).unwrap();
        (0..linked.edges()).map(|edge| (linked.from(edge), linked.to(edge) as usize, linked.distance(edge))).collect()
    }

    #[test]
    fn edges_go_both_ways_with_one_length() {
        for metric in [Metric::L2, Metric::Angular] {
            let values = (0..180_u32).map(|at| f64::from(at * 7919 % 997) / 31.0).collect();
            let spec = RunSpec { k: 4, metric, exclude_self: true, ..crate::run::testing::spec() };
            let record = Engines::default().answer(&spec, &crate::run::testing::cloud(3, values), None, &mut |_, _| true).unwrap();
            let graph = KnnGraph::of_run(&record).unwrap();
            let names = |a: usize, b: usize| graph.of(a).0.contains(&(b as u32));
            let (either, both) = (edges(&record, Links::Either), edges(&record, Links::Both));
            for (from, to, length) in either.iter().chain(&both) {
                // To the bit, though one end's search found the one and the other's the other.
                let back = either.iter().find(|edge| (edge.0, edge.1) == (*to, *from)).unwrap();
                assert_eq!(back.2.to_bits(), length.to_bits());
            }
            for a in 0..graph.len() {
                for b in 0..graph.len() {
                    let has = |edges: &[(usize, usize, f64)]| edges.iter().filter(|edge| (edge.0, edge.1) == (a, b)).count();
                    assert_eq!(has(&either), usize::from(names(a, b) || names(b, a)), "{a} {b}");
                    assert_eq!(has(&both), usize::from(names(a, b) && names(b, a)), "{a} {b}");
                }
            }
            assert!(both.len() < graph.len() * graph.k() && graph.len() * graph.k() < either.len(), "all three differ");
            let ordered = |pair: &[(usize, usize, f64)]| (pair[0].0, pair[0].2) <= (pair[1].0, pair[1].2);
            assert!(either.windows(2).all(ordered) && both.windows(2).all(ordered), "nearest first");
        }
    }
}
