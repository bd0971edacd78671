//! What an engine's parameters resolve to for a problem.

use super::clusters::Clustering;
use super::spheres::Method;
use crate::knn::{Parameters, Problem};

/// Clusters of the paper's experiments: with an index (p, §6.1) …
pub const CLUSTERS: usize = 512;

/// … and without.
pub const EXHAUSTIVE_CLUSTERS: usize = 2048;

/// Points in a cluster where the points are not enough for so many: those of the paper's default case, 65,536 points in 512 clusters.
pub const POINTS_IN_CLUSTER: usize = 128;

/// The most of Lloyd's iterations in the paper's experiments (a, §7).
pub const ITERATIONS: usize = 50;

/// The number of dimensions from which on distances are computed without an index (d_t, §4.4).
pub const SWITCH: usize = 16;

/// How a problem is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether all distances are computed. The number of clusters is then of those in processing order.
    pub exhaustive: bool,
    pub clustering: Clustering,
    switch: usize,
    /// Whether a GPU sorts the clusters and visits them by two kernels (§5.2).
    pub fission: bool,
    /// Warps of a GPU that a query's clusters are shared out to (§5.3); `None` until it is known how many it has room for.
    pub warps: Option<u32>,
}

impl Plan {
    /// The plan of parameters that were checked.
    pub fn new(problem: &Problem, parameters: &Parameters, always_exhaustive: bool) -> Self {
        let number = |name: &str, default: usize| parameters.number(name).map_or(default, |number| number as usize);
        let switch = number("switch", SWITCH);
        let exhaustive = always_exhaustive || problem.dims() >= switch;
        let clusters = if exhaustive { EXHAUSTIVE_CLUSTERS } else { CLUSTERS.min(problem.n().div_ceil(POINTS_IN_CLUSTER)) };
        let clustering = Clustering {
            clusters: number("clusters", clusters),
            iterations: number("iterations", ITERATIONS),
            spheres: parameters.get("spheres").and_then(Method::from_word).unwrap_or(Method::Exact),
        };
        Self { exhaustive, clustering, switch, fission: parameters.get("fission") != Some("off"), warps: parameters.number("warps") }
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> String {
        match name {
            "clusters" => self.clustering.clusters.to_string(),
            "iterations" => self.clustering.iterations.to_string(),
            "spheres" => self.clustering.spheres.word().to_owned(),
            "switch" => self.switch.to_string(),
            "warps" => self.warps.unwrap_or(1).to_string(),
            "fission" => if self.fission { "on" } else { "off" }.to_owned(),
            _ => unreachable!("{name} is not declared"),
        }
    }
}
