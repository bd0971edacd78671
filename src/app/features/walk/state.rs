//! The walk through the picked query's search of an index: the current step, and descriptions of steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::app::model::answer::QueryAnswer;
use crate::app::model::draft::Draft;
use crate::cloud::GlobeAxes;
use crate::knn::walk::{Bounds, Event, RegionKind, Step};
use crate::knn::{Metric, Walk};
use crate::text;

/// View settings of the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalkView {
    /// Whether Plane and Space show it.
    pub shown: bool,
    /// The current step, from 0; `None` is the last.
    pub at: Option<usize>,
}

/// The computed walk.
#[derive(Clone, Default)]
pub enum WalkState {
    #[default]
    Hidden,
    /// There is none; a sentence says why, with a remedy.
    Missing(String),
    Working,
    /// Computing it for this answer failed; a sentence says why.
    Failed(QueryAnswer, String),
    Ready(Walkthrough),
}

impl WalkState {
    /// The same without drawing boxes, for an image of only the points.
    #[must_use]
    pub fn without_marks(&self) -> Self {
        match self {
            Self::Ready(walked) => Self::Ready(Walkthrough { drawn: false, ..walked.clone() }),
            other => other.clone(),
        }
    }
}

#[derive(Clone)]
pub struct Walkthrough {
    pub answered: QueryAnswer,
    pub walk: Arc<Walk>,
    /// False in an image drawn below the boxes.
    pub drawn: bool,
}

impl Walkthrough {
    /// The last step; a search has at least one.
    pub fn last(&self) -> usize {
        self.walk.steps.len().saturating_sub(1)
    }

    /// The step that a view shows.
    pub fn at(&self, view: WalkView) -> usize {
        view.at.map_or(self.last(), |at| at.min(self.last()))
    }

    pub fn step(&self, at: usize) -> &Step {
        &self.walk.steps[at.min(self.last())]
    }

    /// The region of a step; `None` for sorting and for the end.
    pub fn region(&self, at: usize) -> Option<usize> {
        match self.step(at).event {
            Event::Opened { region, .. } | Event::Visited { region, .. } | Event::Pruned { region, .. } => {
                Some(region)
            }
            Event::Sorted | Event::Finished => None,
        }
    }

    /// Rows of the leaf visited in a step, with whether each was nearer than the k-th neighbour.
    pub fn points(&self, at: usize) -> impl Iterator<Item = (u32, bool)> + '_ {
        let (points, near) = match &self.step(at).event {
            Event::Visited { points, near, .. } => (points.clone(), *near),
            _ => (0..0, 0),
        };
        self.walk.rows[points].iter().enumerate().map(move |(lane, &row)| (row, near >> lane & 1 == 1))
    }

    pub fn sentence(&self, at: usize) -> String {
        let step = self.step(at);
        let kth = self.kth();
        match &step.event {
            Event::Sorted => {
                let clusters = text::count(self.walk.regions.len() as u64, "cluster", "clusters");
                format!(
                    "{clusters} {} sorted by the distance to their spheres; the nearest is visited first.",
                    if self.walk.regions.len() == 1 { "is" } else { "are" }
                )
            }
            Event::Opened { region, children, near } => {
                let (part, boxes) = (self.part(*region), text::count(u64::from(*children), "box", "boxes"));
                match (*children, *near) {
                    (0, _) => format!("{part} is opened: nothing in it is left to visit."),
                    (_, 0) => {
                        format!("{part} is opened: of {boxes} not yet visited, none can hold a neighbour.")
                    }
                    (_, near) => format!(
                        "{part} is opened: of {boxes} not yet visited, {} can hold neighbours.",
                        text::thousands(u64::from(near))
                    ),
                }
            }
            Event::Visited { region, points, near, taken } => {
                let (part, count) = (self.part(*region), text::count(points.len() as u64, "point", "points"));
                // The leaf that contains the query is visited first, without a bound. A cluster is visited 32
                // points at a time.
                let own = match at {
                    0 => ", the query's own",
                    at if at > self.walk.regions[*region].settled_at as usize => " goes on",
                    _ => "",
                };
                let some = |taken: u32| {
                    if taken == 1 { "1 is retained".to_owned() } else { format!("{taken} are retained") }
                };
                let found = match (step.before.is_finite(), near.count_ones(), taken.count_ones()) {
                    (false, near, taken) if taken == near => {
                        format!("all retained, as there is no {kth} yet")
                    }
                    (false, _, taken) => format!("{}, as there is a {kth} before the last", some(taken)),
                    (true, 0, _) => {
                        format!("none is nearer than the {kth} so far ({})", self.distance(step.before))
                    }
                    (true, near, taken) => {
                        let taken = if taken < near { format!(", {}", some(taken)) } else { String::new() };
                        format!("{near} nearer than the {kth} so far ({}){taken}", self.distance(step.before))
                    }
                };
                let now = if step.after < step.before {
                    format!("; now it is at {}", self.distance(step.after))
                } else {
                    String::new()
                };
                format!("{part}{own}: {count}, {found}{now}.")
            }
            Event::Pruned { region, count } => {
                let [one, many] = self.kind();
                let (boxes, bound) =
                    (text::count(u64::from(*count), one, many), self.walk.regions[*region].bound);
                let farther = if bound > step.after { "farther" } else { "no nearer" };
                let which = if *count == 1 { "it is".to_owned() } else { "the nearest is".to_owned() };
                format!(
                    "Pruned: {boxes}; {which} {farther} ({}) than the {kth} ({}).",
                    self.distance(bound),
                    self.distance(step.after)
                )
            }
            Event::Finished => {
                let totals = step.totals;
                let looked = text::count(u64::from(totals.distance_evals), "point", "points");
                let all = text::thousands(self.answered.record.cloud.len() as u64);
                let [one, many] = self.leaf();
                let leaves = text::count(u64::from(totals.leaves), one, many);
                let end = if step.after.is_finite() {
                    format!(": the {kth} is at {}", self.distance(step.after))
                } else {
                    String::new()
                };
                format!("Done{end}. Visited {looked} of {all}, in {leaves}.")
            }
        }
    }

    /// The state after a step, as a list.
    pub fn facts(&self, at: usize) -> Vec<String> {
        let (step, totals) = (self.step(at), self.step(at).totals);
        let ([kind, kinds], [leaf, leaves]) = (self.kind(), self.leaf());
        let bound = self.region(at).map(|region| match self.walk.regions[region].bound {
            0.0 => format!("the query is in the {kind}"),
            bound => format!("the {kind} is at least {} away", self.distance(bound)),
        });
        let after = if step.after.is_finite() {
            format!("{} at {}", self.kth(), self.distance(step.after))
        } else {
            format!("no {} yet", self.kth())
        };
        let count = |count: u32, one: &str, many: &str| text::count(u64::from(count), one, many);
        let counts = [
            count(totals.distance_evals, "point visited", "points visited"),
            count(totals.leaves, leaf, leaves),
            count(totals.pruned, &format!("{kind} pruned"), &format!("{kinds} pruned")),
        ];
        bound.into_iter().chain([after]).chain(counts).collect()
    }

    /// A squared distance as a true distance with its unit.
    pub fn distance(&self, squared: f32) -> String {
        let metric = self.answered.record.spec.metric;
        let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        text::digits(metric.distance(squared), 3) + &unit
    }

    /// Whether regions can be drawn: in the coordinates of the cloud, or on the globe. With other metrics they
    /// bound unit vectors.
    pub fn has_boxes(&self) -> bool {
        self.answered.record.spec.metric == Metric::L2 || self.globe().is_some()
    }

    /// The axes on which regions of unit vectors are drawn, and the western edge of their map.
    pub fn globe(&self) -> Option<(GlobeAxes, f64)> {
        let record = &self.answered.record;
        let globe = GlobeAxes::from_axes(record.cloud.axes()).ok()?;
        record.spec.metric.is_on_sphere().then(|| (globe, globe.west_edge(record.cloud.axes())))
    }

    /// The neighbour whose distance bounds the search. If the query's own row is excluded, the search finds
    /// one row more than k, and the last one is the k-th neighbour.
    fn kth(&self) -> String {
        format!("{} neighbour", text::ordinal(self.answered.record.spec.k as u64))
    }

    /// The word for the regions' bounds, singular and plural.
    fn kind(&self) -> [&'static str; 2] {
        match self.walk.regions.first().map(|region| region.bounds) {
            Some(Bounds::Sphere { .. }) => ["sphere", "spheres"],
            _ => ["box", "boxes"],
        }
    }

    /// The word for regions with points, singular and plural.
    pub fn leaf(&self) -> [&'static str; 2] {
        match self.walk.regions.first().map(|region| region.kind) {
            Some(RegionKind::Cluster { .. }) => ["cluster", "clusters"],
            _ => ["leaf", "leaves"],
        }
    }

    /// The name of a region at the beginning of a sentence.
    fn part(&self, region: usize) -> String {
        let number = |number: u32| text::thousands(u64::from(number));
        // Only the root is opened in the same step in which it is reached.
        let region = &self.walk.regions[region];
        match region.kind {
            RegionKind::Leaf { number: leaf } => format!("Leaf {}", number(leaf)),
            RegionKind::Cluster { number: cluster } => format!("Cluster {}", number(cluster)),
            RegionKind::Node { .. } if region.seen_at == region.settled_at => "The root".to_owned(),
            RegionKind::Node { height, number: node } => format!("Node {} of height {height}", number(node)),
        }
    }
}

#[derive(Clone, Debug)]
pub enum WalkAction {
    /// Show or hide the walk.
    Show(bool),
    /// Go to a step, from 0.
    Seek(usize),
    /// Apply fields that give the picked query's answer a walk, and answer it again.
    Answer(Box<Draft>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;
    use crate::knn::walk::{AXES, Region, Totals};
    use crate::run::RunRecord;

    fn region(kind: RegionKind, bound: f32, met: u32, settled: u32, visited: bool) -> Region {
        Region {
            kind,
            bounds: Bounds::Box { low: [0.0; AXES], high: [1.0; AXES] },
            bound,
            seen_at: met,
            settled_at: settled,
            visited,
        }
    }

    /// A search for 4 neighbours: the query's own leaf, the root, another leaf, and two that are pruned.
    fn walkthrough() -> Walkthrough {
        let leaf = |number| RegionKind::Leaf { number };
        let regions = vec![
            region(leaf(1), 0.0, 0, 0, true),
            region(RegionKind::Node { height: 1, number: 0 }, 0.0, 1, 1, true),
            region(leaf(0), 1.0, 1, 2, true),
            region(leaf(2), 4.0, 1, 3, false),
            region(leaf(3), 9.0, 1, 3, false),
        ];
        let totals =
            |distance_evals, leaves, pruned| Totals { distance_evals, leaves, pruned, ..Totals::default() };
        let steps = vec![
            Step {
                event: Event::Visited { region: 0, points: 0..3, near: 7, taken: 7 },
                before: f32::INFINITY,
                after: f32::INFINITY,
                totals: totals(3, 1, 0),
            },
            Step {
                event: Event::Opened { region: 1, children: 3, near: 3 },
                before: f32::INFINITY,
                after: f32::INFINITY,
                totals: totals(3, 1, 0),
            },
            Step {
                event: Event::Visited { region: 2, points: 3..5, near: 2, taken: 2 },
                before: 6.25,
                after: 4.0,
                totals: totals(5, 2, 0),
            },
            Step {
                event: Event::Pruned { region: 3, count: 2 },
                before: 4.0,
                after: 4.0,
                totals: totals(5, 2, 2),
            },
            Step { event: Event::Finished, before: 4.0, after: 2.25, totals: totals(5, 2, 2) },
        ];
        let mut run = RunRecord::clone(&record());
        run.head.spec.k = 4;
        let walk = Walk { k: 4, regions, rows: vec![7, 8, 9, 1, 2], steps };
        let answered = QueryAnswer { record: Arc::new(run), query: 0 };
        Walkthrough { answered, walk: Arc::new(walk), drawn: true }
    }

    #[test]
    fn steps_are_described_in_sentences() {
        let walked = walkthrough();
        let sentences: Vec<String> = (0..=walked.last()).map(|at| walked.sentence(at)).collect();
        assert_eq!(
            sentences,
            [
                "Leaf 1, the query's own: 3 points, all retained, as there is no 4th neighbour yet.",
                "The root is opened: of 3 boxes not yet visited, 3 can hold neighbours.",
                "Leaf 0: 2 points, 1 nearer than the 4th neighbour so far (2.50); now it is at 2.00.",
                "Pruned: 2 boxes; the nearest is no nearer (2.00) than the 4th neighbour (2.00).",
                "Done: the 4th neighbour is at 1.50. Visited 5 points of 50, in 2 leaves.",
            ]
        );
        assert_eq!(
            walked.facts(0).join(", "),
            "the query is in the box, no 4th neighbour yet, 3 points visited, 1 leaf, 0 boxes pruned"
        );
        assert_eq!(
            walked.facts(2)[..3],
            ["the box is at least 1.00 away", "4th neighbour at 2.00", "5 points visited"]
        );
        assert_eq!(walked.facts(4)[0], "4th neighbour at 1.50", "the last step has no box");
    }

    /// A search of clusters: they are sorted, one is visited in two parts, another is pruned.
    #[test]
    fn clusters_are_described_by_number() {
        let bounds = Bounds::Sphere { center: [0.0; AXES], radius: 1.0 };
        let cluster = |number, bound, settled, visited| Region {
            kind: RegionKind::Cluster { number },
            bounds,
            bound,
            seen_at: 0,
            settled_at: settled,
            visited,
        };
        let regions = vec![cluster(7, 0.0, 1, true), cluster(2, 6.25, 3, false)];
        let totals =
            |distance_evals, leaves, pruned| Totals { distance_evals, leaves, pruned, ..Totals::default() };
        let visited = |points, near| Event::Visited { region: 0, points, near, taken: near };
        let steps = vec![
            Step {
                event: Event::Sorted,
                before: f32::INFINITY,
                after: f32::INFINITY,
                totals: totals(0, 0, 0),
            },
            Step { event: visited(0..3, 7), before: f32::INFINITY, after: 4.0, totals: totals(3, 1, 0) },
            Step { event: visited(3..5, 0), before: 4.0, after: 4.0, totals: totals(5, 1, 0) },
            Step {
                event: Event::Pruned { region: 1, count: 1 },
                before: 4.0,
                after: 4.0,
                totals: totals(5, 1, 1),
            },
            Step { event: Event::Finished, before: 4.0, after: 4.0, totals: totals(5, 1, 1) },
        ];
        let mut walked = walkthrough();
        walked.walk = Arc::new(Walk { k: 4, regions, rows: vec![7, 8, 9, 1, 2], steps });
        assert_eq!(
            (0..=walked.last()).map(|at| walked.sentence(at)).collect::<Vec<_>>(),
            [
                "2 clusters are sorted by the distance to their spheres; the nearest is visited first.",
                "Cluster 7: 3 points, all retained, as there is no 4th neighbour yet; now it is at 2.00.",
                "Cluster 7 goes on: 2 points, none is nearer than the 4th neighbour so far (2.00).",
                "Pruned: 1 sphere; it is farther (2.50) than the 4th neighbour (2.00).",
                "Done: the 4th neighbour is at 2.00. Visited 5 points of 50, in 1 cluster.",
            ]
        );
        assert_eq!(
            walked.facts(2).join(", "),
            "the query is in the sphere, 4th neighbour at 2.00, 5 points visited, 1 cluster, 0 spheres \
             pruned"
        );
        assert_eq!(walked.region(0), None);
    }

    #[test]
    fn step_index_is_clamped_to_the_last_step() {
        let walked = walkthrough();
        let at = |at| walked.at(WalkView { shown: true, at });
        assert_eq!([at(None), at(Some(0)), at(Some(3)), at(Some(99))], [4, 0, 3, 4]);
        assert!(walked.answered == walked.answered.clone());
        let other = QueryAnswer { query: 1, ..walked.answered.clone() };
        assert!(walked.answered != other);
    }

    #[test]
    fn visited_leaves_list_the_points_of_their_step() {
        let walked = walkthrough();
        assert_eq!(walked.points(2).collect::<Vec<_>>(), [(1, false), (2, true)]);
        assert_eq!((walked.points(1).count(), walked.points(0).count()), (0, 3));
        assert_eq!([1, 3, 4].map(|at| walked.region(at)), [Some(1), Some(3), None]);
    }
}
