//! The engine `bvh` on the CPU, and its row in the registry.

use std::sync::Arc;
use std::vec::Drain;

use multiversion::multiversion;
use rayon::prelude::*;

use super::boxes::WARP;
use super::cost;
use super::morton::SortPrecision;
use super::nearest::NearestWarp;
use super::observer::NoTrace;
use super::packet::{PacketBuffers, answer_packets, packet_length};
use super::traverse::{Visits, traverse_each};
use super::tree::{Tree, sorted};
use super::walk::{LEAF_BYTES, walk};
use crate::Result;
use crate::cpu::{self, Chunk, CpuSearch, LapTimer, Searcher, Setup};
use crate::cuda::open_bvh;
use crate::knn::walk::AXES;
use crate::knn::{
    AllowedValues, Answer, Buffer, Descriptor, DeviceId, EngineError, EngineId, Group, KernelBuild, Limits,
    Measure, Measurements, MemorySpace, Metric, Parameter, Parameters, PreparedSearch, Problem, RadiusIndex,
    SetupPhase, Shape, Walk, WarpSpan, code, warp as rules,
};
use crate::lockstep::distance::squared_distances;
use crate::lockstep::{PADDING, distance_of, index_of};
use crate::progress::Progress;

/// The registry's row for `bvh`.
pub static BVH: Descriptor = Descriptor {
    group: Group::Indexed,
    about: "A tree of boxes over points in Morton order; visits only boxes that may contain neighbours.",
    source: "docs/index.md",
    code: code![
        "cuda/index/traverse.cuh",
        "cuda/index/packet.cuh",
        "cuda/index/boxes.cuh",
        "cuda/index/morton.cuh",
        "crates/engines/src/index/traverse.rs"
    ],
    document: "docs/index.md",
    lesson: Some("pruning"),
    buffers: &[
        Buffer::new(MemorySpace::Registers, "K nearest so far, sorted", "a warp", Shape::capacity),
        Buffer::new(
            MemorySpace::Shared,
            "candidate buffer, and nodes still to visit",
            "a warp",
            Shape::capacity,
        ),
        Buffer::new(
            MemorySpace::Memory,
            "tree of boxes, over points in Morton order",
            "all queries",
            Shape::points,
        ),
    ],
    limits: Limits { k: rules::MAX_K, d: 32, n: MAX_POINTS, metrics: &Metric::ALL },
    measures: &MEASURES,
    active_threads: Some(active_threads),
    parameters: &[PACKETS],
    is_exhaustive: false,
    distances: |_, _, measured| measured.mean("distance_evals"),
    cost: cost::cost,
    walk: Some(record_walk),
    within: Some(open_within),
    ..Descriptor::new(EngineId::new("bvh"), |device| match device {
        DeviceId::Cpu => cpu::open(&BVH, "CPU, tree of boxes", None, load),
        DeviceId::Gpu(_) | DeviceId::Gpus(_) => open_bvh(device),
    })
};

const PACKETS: Parameter = Parameter {
    name: "packets",
    help: "Whether the timed search processes 32 neighbouring queries together, in two and three dimensions \
           with k up to 128.",
    values: AllowedValues::Words(&["on", "off"]),
    default: "on for GPUs with at least 60,000 queries and one query per four points, otherwise off",
};

/// The packet setting; `None` lets the engine choose.
pub fn asks_for_packets(parameters: &Parameters) -> Option<bool> {
    parameters.get(PACKETS.name).map(|value| value == "on")
}

/// Why packets were requested but are not used; `None` otherwise.
pub fn why_no_packets(asked: Option<bool>, problem: &Problem) -> Option<String> {
    let (k, d) = (problem.k(), problem.dims());
    (asked == Some(true) && packet_length(k, d).is_none()).then(|| {
        format!(
            "packets support two and three dimensions and k up to 128; with d = {d} and k = {k}, queries are \
             searched one by one"
        )
    })
}

/// The columns of `counters.csv`, in the order of [`Visits`].
pub static MEASURES: [Measure; 6] = [
    Measure::new(
        "merges",
        ["merge", "merges"],
        "Merges of the candidate buffer into the intermediate result.",
    ),
    Measure::new(
        "candidates",
        ["candidate", "candidates"],
        "Points retained: closer than the k-th so far, and added to the candidate buffer.",
    ),
    Measure::new(
        "distance_evals",
        ["distance evaluation", "distance evaluations"],
        "Points whose distance to the query was computed.",
    ),
    Measure::new("leaves", ["leaf", "leaves"], "Visited leaves of 32 points."),
    Measure::new("nodes", ["node", "nodes"], "Nodes whose children's boxes were compared with the query."),
    Measure::new(
        "pruned",
        ["pruned child", "pruned children"],
        "Nodes and leaves pruned because they cannot contain a neighbour.",
    ),
];

/// Mean number of active lanes: a lane per point of a leaf. Only the last leaf may have fewer than 32.
fn active_threads(measured: &Measurements) -> Option<f64> {
    measured.ratio("distance_evals", "leaves")
}

/// The most points: a tile of the radix sort publishes counts of 30 bits (`cuda/index/radix_sort.cuh`).
pub const MAX_POINTS: usize = (1 << 30) - 1;

/// Queries per work item; they are neighbours on the curve.
const BLOCK: usize = 64;

/// The same for packets: enough that allocating their buffers is cheap by comparison.
const PACKED_BLOCK: usize = 32 * 32;

/// Target milliseconds of a chunk of packets: longer than usual, so that a packet's queries are close
/// together.
const CHUNK_MS: f64 = 800.0;

/// The tree over a problem's points. The search needs another `search_bytes`.
fn cached_tree(problem: &Problem, search_bytes: u64) -> Result<(Arc<Tree>, Setup)> {
    let bytes = Tree::bytes(problem.n(), problem.dims());
    cpu::prepared(problem, SetupPhase::BuildIndex, bytes, search_bytes, || Tree::new(problem))
}

/// Builds the tree, unless it is cached.
fn load<'a>(problem: &'a Problem, parameters: &Parameters) -> Result<Box<dyn PreparedSearch + 'a>> {
    // Besides the tree: a code, an output row and the visits of each query.
    let (tree, setup) = cached_tree(problem, 128 * problem.q() as u64)?;
    let asked = asks_for_packets(parameters);
    let packs = asked.unwrap_or(false) && packet_length(problem.k(), problem.dims()).is_some();
    Ok(Box::new(CpuSearch::new(problem, setup, Bvh { tree, packs, note: why_no_packets(asked, problem) })))
}

/// See [`Descriptor::walk`].
fn record_walk(problem: &Problem, query: usize, _: &Parameters, _: &dyn Progress) -> Result<Option<Walk>> {
    if problem.dims() > AXES {
        return Err(EngineError::Limit {
            engine: BVH.id,
            what: "d",
            limit: AXES as u64,
            value: problem.dims() as u64,
        });
    }
    let (tree, _) = cached_tree(problem, LEAF_BYTES * problem.n().div_ceil(WARP) as u64)?;
    Ok(Some(walk(&tree, problem, query)))
}

/// See [`Descriptor::within`].
fn open_within(problem: &Problem) -> Result<Box<dyn RadiusIndex + '_>> {
    // It has no list of k.
    BVH.limits.check(BVH.id, &Shape { k: 1, ..problem.shape() }, problem.metric())?;
    Ok(Box::new(TreeRadiusSearch(cached_tree(problem, 0)?.0)))
}

struct TreeRadiusSearch(Arc<Tree>);

impl RadiusIndex for TreeRadiusSearch {
    fn visit(&self, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
        visit_within(&self.0, query, limit, found);
    }
}

/// Calls `found` with the position and squared distance of every point that is no farther than `limit`. Boxes
/// are pruned as in the search for neighbours (`boxes.rs`): no point of a box is nearer than the box's
/// nearest point, in f32 as computed.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+fma+bmi1+bmi2+popcnt+lzcnt",
    "aarch64+neon"
))]
fn visit_within(tree: &Tree, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
    let mut waiting = vec![(tree.top(), 0)];
    while let Some((height, group)) = waiting.pop() {
        let boxes = tree.boxes(height);
        let keys = boxes.keys(group, query);
        for (lane, &key) in keys.iter().enumerate().take(boxes.in_group(group) as usize) {
            if distance_of(key) > limit {
                continue;
            }
            let child = group * WARP + lane;
            if height > 0 {
                waiting.push((height - 1, child));
                continue;
            }
            let (rows, positions) = tree.leaf(child);
            let [distances] = squared_distances(rows, [query]);
            for (&position, &distance) in positions.iter().zip(&distances).take(tree.in_leaf(child) as usize)
            {
                if distance <= limit {
                    found(position, distance);
                }
            }
        }
    }
}

/// The tree over a problem's points.
struct Bvh {
    tree: Arc<Tree>,
    /// Whether timed searches use packets. On a CPU lanes diverge, which costs more than sharing saves.
    packs: bool,
    /// Why packets were requested but are not used.
    note: Option<String>,
}

/// The destination of a query's answer.
struct AnswerRow<'a> {
    indices: &'a mut [u32],
    squared_distances: &'a mut [f32],
    /// `None` in the timed build.
    visits: Option<&'a mut Visits>,
    /// `None` except in the profiled build.
    span: Option<&'a mut WarpSpan>,
}

impl Searcher for Bvh {
    type Visits = Visits;

    fn queries_per_thread(&self) -> usize {
        BLOCK
    }

    fn search(&mut self, chunk: Chunk<'_, Visits>) {
        let Chunk { problem, queries, build, found } = chunk;
        let (tree, dims, k) = (&*self.tree, problem.dims(), problem.k());
        let coordinates = &problem.queries()[queries.start * dims..queries.end * dims];
        let entries = queries.start * k..queries.end * k;
        found.restart(queries.len(), build);
        let indices = found.neighbors.indices[entries.clone()].chunks_exact_mut(k);
        let distances = found.neighbors.squared_distances[entries].chunks_exact_mut(k);
        let spans = found.spans.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
        let visits = found.visits.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
        let rows = indices.zip(distances).zip(visits).zip(spans);
        let mut rows: Vec<Option<AnswerRow<'_>>> = rows
            .map(|(((indices, squared_distances), visits), span)| {
                Some(AnswerRow { indices, squared_distances, visits, span })
            })
            .collect();
        // Neighbours on the curve visit the same leaves, which are then cached.
        let order = sorted(&tree.frame, coordinates, dims, SortPrecision::Fine);
        let mut rows: Vec<AnswerRow<'_>> = order
            .iter()
            .map(|&(_, row)| rows[row as usize].take().expect("a query is searched once"))
            .collect();

        let search = |(order, rows): (&[(u64, u32)], &mut [AnswerRow<'_>])| {
            let (mut nearest, mut laps) = (NearestWarp::new(k, NoTrace), LapTimer::start());
            traverse_each(tree, coordinates, dims, order, &mut nearest, &mut |at, nearest, visits| {
                let row = &mut rows[at];
                if let Some(place) = &mut row.visits {
                    **place = visits;
                }
                if let Some(span) = &mut row.span {
                    **span = laps.lap();
                }
                for ((neighbour, index), distance) in
                    nearest.warp.neighbours().zip(&mut *row.indices).zip(&mut *row.squared_distances)
                {
                    (*index, *distance) = neighbour;
                }
            });
        };
        let length = packet_length(k, dims).filter(|_| build == KernelBuild::Timed && self.packs);
        if let Some(length) = length {
            // A packet is searched as one, so its visits cannot be attributed to single queries and are not
            // counted.
            let search = |(order, rows): (&[(u64, u32)], &mut [AnswerRow<'_>])| {
                let mut packets = PacketBuffers::new(k, length);
                answer_packets(tree, coordinates, dims, order, &mut packets, &mut |at, keys| {
                    let AnswerRow { indices, squared_distances, .. } = &mut rows[at];
                    let padding = std::iter::repeat(&PADDING);
                    for ((index, distance), &key) in
                        indices.iter_mut().zip(squared_distances.iter_mut()).zip(keys.iter().chain(padding))
                    {
                        (*index, *distance) = (index_of(key), distance_of(key));
                    }
                });
            };
            order.par_chunks(PACKED_BLOCK).zip(rows.par_chunks_mut(PACKED_BLOCK)).for_each(search);
        } else if queries.len() == 1 {
            // Run a single work item on this thread: the pool may be busy with another run.
            search((&order, &mut rows));
        } else {
            order.par_chunks(BLOCK).zip(rows.par_chunks_mut(BLOCK)).for_each(search);
        }
    }

    fn collect(&self, visits: Drain<'_, Visits>, answer: &mut Answer) -> Result<()> {
        answer.measured.extend(&MEASURES, visits.map(bytemuck::cast));
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        Parameters::from_iter([(PACKETS.name, if self.packs { "on" } else { "off" })])
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn chunk_ms(&self) -> f64 {
        if self.packs { CHUNK_MS } else { 50.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::Neighbors;
    use crate::progress::NoProgress;
    use crate::testing::problem;

    fn search(problem: &Problem) -> (Neighbors, Answer) {
        crate::testing::search(&BVH, problem, &Parameters::NONE)
    }

    /// The timed answer, by packets, and the counted one, query by query.
    fn by_packets_and_alone(problem: &Problem) -> [Neighbors; 2] {
        let mut engine = BVH.open_on(DeviceId::Cpu).unwrap();
        let mut search = engine.load(problem, &Parameters::from_iter([(PACKETS.name, "on")]), false).unwrap();
        assert_eq!((search.parameters().get(PACKETS.name), search.note()), (Some("on"), None));
        [KernelBuild::Timed, KernelBuild::Counted].map(|build| {
            let mut found = Neighbors::default();
            search.search(0..problem.q(), build).unwrap();
            search.download(&mut found).unwrap();
            found
        })
    }

    #[test]
    fn packets_match_single_queries() {
        for (dims, n, k, distinct) in [
            (2, 5000, 1, 65_521),
            (2, 5000, 20, 65_521),
            (3, 5000, 100, 65_521),
            (2, 3000, 33, 7),
            (3, 3000, 8, 2),
            (2, 20, 40, 65_521),
            (3, 33, 32, 1),
        ] {
            let values = (0..dims * n)
                .map(|at| f64::from((at as u32).wrapping_mul(2_654_435_761) % 65_521 % distinct))
                .collect();
            let problem = problem(dims, values, (0..n as u32).collect(), k);
            let [packed, single] = by_packets_and_alone(&problem);
            for query in 0..n {
                assert_eq!(
                    packed.for_query(query),
                    single.for_query(query),
                    "{n} points, d = {dims}, k = {k}, query {query}"
                );
            }
        }
    }

    /// On a lattice, many points are at the k-th distance, and some leaves contain no nearer point.
    #[test]
    fn packets_match_single_queries_on_a_lattice() {
        let side = 16u32;
        let n = side.pow(3);
        // Each point once, in shuffled order.
        let places = (0..n).map(|at| at.wrapping_mul(2_654_435_761) % n);
        let values: Vec<f64> =
            places.flat_map(|at| [at % side, at / side % side, at / side / side].map(f64::from)).collect();
        for k in [5, 17, 40] {
            let problem = problem(3, values.clone(), (0..n).collect(), k);
            let [packed, single] = by_packets_and_alone(&problem);
            assert_eq!(packed, single, "k = {k}");
        }
    }

    /// Packets whose queries are in several distant clusters are searched in parts.
    #[test]
    fn packets_match_single_queries_across_distant_clusters() {
        for (dims, k) in [(2, 5), (2, 20), (2, 40), (2, 100), (3, 10), (3, 30), (3, 128)] {
            // Clusters of nine points each, so that every packet has parts from several of them.
            let n = 9 * 200;
            let place = |at: usize, axis: usize| {
                f64::from((at as u32 / 9).wrapping_mul([2_654_435_761, 40_503, 7919][axis]) % 1000) * 1000.0
            };
            let values = (0..n)
                .flat_map(|at| {
                    (0..dims)
                        .map(move |axis| place(at, axis) + f64::from((at * (axis + 3) % 9) as u32) * 0.125)
                })
                .collect();
            let problem = problem(dims, values, (0..n as u32).collect(), k);
            let [packed, single] = by_packets_and_alone(&problem);
            assert_eq!(packed, single, "d = {dims}, k = {k}");
        }
    }

    #[test]
    fn unsupported_packets_are_disabled_with_a_note() {
        let problem = problem(4, vec![1.0; 40], vec![0], 3);
        let mut engine = BVH.open_on(DeviceId::Cpu).unwrap();
        let search = engine.load(&problem, &Parameters::from_iter([(PACKETS.name, "on")]), false).unwrap();
        let why = "packets support two and three dimensions and k up to 128; with d = 4 and k = 3, queries \
                   are searched one by one";
        assert_eq!(
            (search.parameters().get(PACKETS.name), search.note().as_deref()),
            (Some("off"), Some(why))
        );
    }

    #[test]
    fn equal_points_do_not_force_a_full_scan() {
        let n = 50_000;
        let problem = problem(2, vec![3.0; 2 * n], vec![0, 25_000, 49_999], 40);
        let (found, answer) = search(&problem);
        for query in 0..3 {
            assert!(
                found.for_query(query).0.iter().copied().eq(0..40),
                "all points are equally far, so the first positions win"
            );
            let leaves = answer.measured.column("leaves").unwrap()[query];
            assert!(leaves <= 3, "query {query} visited {leaves} of {} leaves", n / WARP);
        }
    }

    #[test]
    fn points_on_a_line_are_pruned() {
        let n = 32_768;
        let values = (0..n).flat_map(|i| [f64::from(i), 0.0, 0.0]).collect();
        let (found, answer) = search(&problem(3, values, vec![16_384], 8));
        assert_eq!(found.for_query(0).0, [16_384, 16_383, 16_385, 16_382, 16_386, 16_381, 16_387, 16_380]);
        assert!(answer.measured.column("leaves").unwrap()[0] <= 3);
    }

    /// The root's children and those of all visited nodes were either visited or pruned.
    #[test]
    fn children_are_visited_or_pruned_exactly_once() {
        let n = 32 * 32 * 32;
        let values = (0..2 * n).map(|at| f64::from(at as u32 * 7919 % 65_521)).collect();
        let problem = problem(2, values, (0..n as u32).step_by(997).collect(), 20);
        let (_, answer) = search(&problem);
        for query in 0..problem.q() {
            let of = |name: &str| answer.measured.column(name).unwrap()[query];
            let (nodes, leaves) = (of("nodes"), of("leaves"));
            // All nodes are full. The first leaf is not counted as a child unless its node was visited.
            let met = nodes * WARP as u32;
            assert!([met, met + 1].contains(&(nodes - 1 + leaves + of("pruned"))), "query {query}");
            assert_eq!(of("distance_evals"), leaves * WARP as u32);
            assert!((20..=of("distance_evals")).contains(&of("candidates")) && of("merges") >= 1);
        }
    }

    #[test]
    fn walks_match_the_search_counters() {
        use crate::knn::walk::{Bounds, Event, RegionState};
        for (dims, n, k) in [(1, 700, 5), (2, 20_000, 32), (3, 3000, 70), (2, 20, 32), (2, 64, 200)] {
            let values =
                (0..dims * n).map(|at| f64::from((at as u32).wrapping_mul(2_654_435_761) % 65_521)).collect();
            let rows = vec![0, n as u32 / 3, n as u32 - 1];
            let problem = problem(dims, values, rows.clone(), k);
            let (found, answer) = search(&problem);
            for query in 0..rows.len() {
                let walk =
                    (BVH.walk.unwrap())(&problem, query, &Parameters::NONE, &NoProgress).unwrap().unwrap();
                let totals = walk.steps.last().unwrap().totals;
                let told = [
                    totals.merges,
                    totals.candidates,
                    totals.distance_evals,
                    totals.leaves,
                    totals.nodes,
                    totals.pruned,
                ];
                assert_eq!(
                    told.to_vec(),
                    answer.measured.for_query(query).map(|(_, value)| value).collect::<Vec<_>>(),
                    "{n} points, query {query}"
                );
                assert_eq!(walk.steps.last().unwrap().after, found.for_query(query).1[k - 1]);
                assert!(
                    walk.steps
                        .windows(2)
                        .all(|pair| pair[0].after == pair[1].before && pair[0].after >= pair[1].after)
                );
                assert!(
                    matches!(&walk.steps[0].event, Event::Visited { region: 0, .. })
                        && walk.steps.last().unwrap().event == Event::Finished
                );
                // Every neighbour is in a visited leaf, and every point of a leaf is inside the leaf's box.
                let end = walk.steps.len() - 1;
                let count =
                    |fate| walk.regions.iter().filter(|region| region.fate(end) == Some(fate)).count() as u32;
                assert_eq!(
                    (count(RegionState::Visited), count(RegionState::Pruned)),
                    (totals.leaves + totals.nodes, totals.pruned)
                );
                let there: std::collections::HashSet<u32> = walk.rows.iter().copied().collect();
                assert!(
                    found
                        .for_query(query)
                        .0
                        .iter()
                        .take_while(|&&row| row != u32::MAX)
                        .all(|row| there.contains(row))
                );
                for step in &walk.steps {
                    let Event::Visited { region, points, near, taken } = &step.event else { continue };
                    let Bounds::Box { low, high } = walk.regions[*region].bounds else {
                        panic!("a leaf is a box")
                    };
                    for &row in &walk.rows[points.clone()] {
                        let point = &problem.points()[row as usize * dims..][..dims];
                        assert!(
                            point
                                .iter()
                                .enumerate()
                                .all(|(axis, value)| (low[axis]..=high[axis]).contains(value))
                        );
                    }
                    assert_eq!(taken & !near, 0);
                }
            }
        }
        let four = problem(4, vec![1.0; 40], vec![0], 3);
        assert_eq!(
            (BVH.walk.unwrap())(&four, 0, &Parameters::NONE, &NoProgress).unwrap_err().to_string(),
            "d = 4: the bvh engine supports at most 3"
        );
    }

    #[test]
    fn a_single_point_forms_a_tree() {
        let (found, answer) = search(&problem(1, vec![5.0], vec![0], 3));
        assert_eq!(
            found.for_query(0),
            (&[0, u32::MAX, u32::MAX][..], &[0.0, f32::INFINITY, f32::INFINITY][..])
        );
        assert_eq!(
            answer.measured.for_query(0).map(|(_, value)| value).collect::<Vec<_>>(),
            [1, 1, 1, 1, 1, 0]
        );
    }
}
