//! Turns neighbour relations into edges: directed, in either direction, or mutual.

use rayon::prelude::*;

use super::{Cancelled, KnnGraph};
use crate::knn::Metric;
use crate::memory;
use crate::progress::Progress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMode {
    /// An edge from a point to each of its neighbours.
    Directed,
    /// Edges both ways between two points if either is a neighbour of the other.
    Either,
    /// Edges both ways between two points if each is a neighbour of the other.
    Both,
}

/// Why a graph cannot be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error(transparent)]
    Memory(#[from] memory::InsufficientMemory),
}

/// A graph with a varying number of edges per point, nearest first, ties by number; symmetric unless
/// directed.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrGraph {
    /// Index of each point's first edge, and the end of the last point's edges.
    starts: Vec<u64>,
    /// The other point and the squared distance.
    edges: Vec<(u32, f32)>,
    metric: Metric,
}

impl CsrGraph {
    /// The edges of a graph with the given links. A distance is the same from either end: squares of
    /// differences are summed in the order of the dimensions, whichever point is the query. Besides the
    /// edges, this needs one byte per neighbour and sixteen per point.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn new(graph: &KnnGraph<'_>, links: LinkMode, progress: &dyn Progress) -> Result<Self, LinkError> {
        let (n, k) = (graph.len(), graph.k());
        let names = |point: usize, other: usize| graph.neighbors(point).0.contains(&(other as u32));
        // Whether the neighbour at a rank has the point as a neighbour too.
        let mut mutual = memory::filled(n * k, false)?;
        for block in graph.blocks(progress) {
            let block = block?;
            let flags = mutual[block.start * k..block.end * k].par_chunks_exact_mut(k);
            block.into_par_iter().zip(flags).for_each(|(point, flags)| {
                graph
                    .neighbors(point)
                    .0
                    .iter()
                    .zip(flags)
                    .for_each(|(&other, flag)| *flag = names(other as usize, point));
            });
        }
        // Passes a point's edges to `take`, with their start: its own edges, and reverse edges from
        // neighbours that lack them.
        let pass_edges = |point: usize, take: &mut dyn FnMut(usize, (u32, f32))| {
            let (others, squared) = graph.neighbors(point);
            for ((&other, &squared), &mutual) in others.iter().zip(squared).zip(&mutual[point * k..]) {
                if mutual || links != LinkMode::Both {
                    take(point, (other, squared));
                }
                if !mutual && links == LinkMode::Either {
                    take(other as usize, (point as u32, squared));
                }
            }
        };
        let mut starts = memory::filled(n + 1, 0_u64)?;
        (0..n).for_each(|point| pass_edges(point, &mut |from, _| starts[from + 1] += 1));
        (0..n).for_each(|point| starts[point + 1] += starts[point]);
        let mut edges = memory::filled(starts[n] as usize, (0, 0.0))?;
        let mut next: Vec<u64> = memory::filled(n, 0)?;
        next.copy_from_slice(&starts[..n]);
        for block in graph.blocks(progress) {
            for point in block? {
                pass_edges(point, &mut |from, edge| {
                    edges[next[from] as usize] = edge;
                    next[from] += 1;
                });
            }
        }
        let mut rest = &mut edges[..];
        for block in graph.blocks(progress) {
            let of_points: Vec<&mut [(u32, f32)]> = block?
                .map(|point| {
                    rest.split_off_mut(..(starts[point + 1] - starts[point]) as usize).unwrap_or_default()
                })
                .collect();
            of_points
                .into_par_iter()
                .for_each(|edges| edges.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))));
        }
        Ok(Self { starts, edges, metric: graph.metric })
    }

    /// The number of edges; both directions count.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The start of an edge.
    pub fn from(&self, edge: usize) -> usize {
        self.starts.partition_point(|&start| start <= edge as u64) - 1
    }

    /// The edges from a point.
    pub fn edges_of(&self, point: usize) -> std::ops::Range<usize> {
        self.starts[point] as usize..self.starts[point + 1] as usize
    }

    /// The end of an edge.
    pub fn to(&self, edge: usize) -> u32 {
        self.edges[edge].0
    }

    /// An edge's length, not squared: an angle under the angular metric.
    pub fn distance(&self, edge: usize) -> f64 {
        self.metric.distance(self.edges[edge].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::run::{EnginePool, LoadedSpec, RunRecord, RunSpec};

    /// The edges of a record's graph as (from, to, length).
    fn edges(record: &RunRecord, links: LinkMode) -> Vec<(usize, usize, f64)> {
        let linked = CsrGraph::new(&KnnGraph::of_run(record).unwrap(), links, &NoProgress).unwrap();
        (0..linked.edges())
            .map(|edge| (linked.from(edge), linked.to(edge) as usize, linked.distance(edge)))
            .collect()
    }

    #[test]
    fn edges_and_their_lengths_are_symmetric() {
        for metric in [Metric::L2, Metric::Angular] {
            let values = (0..180_u32).map(|at| f64::from(at * 7919 % 997) / 31.0).collect();
            let spec = RunSpec { k: 4, metric, exclude_self: true, ..crate::run::testing::spec() };
            let record = EnginePool::default()
                .answer(LoadedSpec::new(&spec, &crate::run::testing::cloud(3, values), None), &mut |_, _| {
                    true
                })
                .unwrap();
            let graph = KnnGraph::of_run(&record).unwrap();
            let names = |a: usize, b: usize| graph.neighbors(a).0.contains(&(b as u32));
            let (either, both) = (edges(&record, LinkMode::Either), edges(&record, LinkMode::Both));
            for (from, to, length) in either.iter().chain(&both) {
                // Bit for bit, although the two ends were found by different searches.
                let back = either.iter().find(|edge| (edge.0, edge.1) == (*to, *from)).unwrap();
                assert_eq!(back.2.to_bits(), length.to_bits());
            }
            for a in 0..graph.len() {
                for b in 0..graph.len() {
                    let has = |edges: &[(usize, usize, f64)]| {
                        edges.iter().filter(|edge| (edge.0, edge.1) == (a, b)).count()
                    };
                    assert_eq!(has(&either), usize::from(names(a, b) || names(b, a)), "{a} {b}");
                    assert_eq!(has(&both), usize::from(names(a, b) && names(b, a)), "{a} {b}");
                }
            }
            assert!(
                both.len() < graph.len() * graph.k() && graph.len() * graph.k() < either.len(),
                "all three differ"
            );
            let ordered = |pair: &[(usize, usize, f64)]| (pair[0].0, pair[0].2) <= (pair[1].0, pair[1].2);
            assert!(either.windows(2).all(ordered) && both.windows(2).all(ordered), "nearest first");
        }
    }
}
