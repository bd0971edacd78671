//! The live query: dragged, picked or typed, and answered at once over points resident in the engines.
//! [`LiveQueryState`] holds the requests and their timing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::model::answer::{PickedPoint, QueryAnswer};
use crate::app::model::log::SHOWN_AFTER;
use crate::cloud::PointCloud;
use crate::run::LiveQueryId;
use crate::run::analysis::TheoryCurve;

/// If answers are this fast, they follow sliders and fields continuously.
const MAX_FAST_TIME: Duration = Duration::from_millis(100);

/// Maximum n × d for which answers are assumed to be fast before one is measured.
const MAX_SURELY_FAST: usize = 20_000_000;

/// The state before a drag.
#[derive(Clone, Debug)]
pub struct DragSnapshot {
    pub picked: Option<PickedPoint>,
    pub place: Option<Arc<PointCloud>>,
    pub answered: Option<QueryAnswer>,
    pub theory: Option<TheoryCurve>,
    pub rank: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct LiveQueryState {
    /// The query as a cloud of one row, if it is at arbitrary coordinates ([`PickedPoint::Coordinates`]).
    pub place: Option<Arc<PointCloud>>,
    pub before: Option<DragSnapshot>,
    /// Whether the user chose the query. It then outlasts the next run, which otherwise shows one of its own
    /// queries.
    pub chosen: bool,
    /// How often the query was grabbed, typed or picked.
    pub(in crate::app) choices: u64,
    /// Whether the last of these was a movement.
    pub(in crate::app) moved: bool,
    /// Typed coordinates, until they are applied or the query moves.
    pub typed: Option<Vec<String>>,
    /// The invalid field and its error.
    pub wrong: Option<(usize, String)>,
    /// The latest request sent.
    pub asked: LiveQueryId,
    /// The first request whose reply is still wanted.
    pub wanted: LiveQueryId,
    /// The latest request answered or cancelled.
    pub replied: LiveQueryId,
    pub since: Option<Instant>,
    /// Duration of the last answer over resident points, and its k.
    pub took: Option<(Duration, usize)>,
    /// Whether the user has dragged the query before, so that the hint is no longer shown.
    pub known: bool,
}

impl LiveQueryState {
    /// The query's point, if it is at arbitrary coordinates.
    pub fn place(&self) -> Option<&Arc<PointCloud>> {
        self.place.as_ref()
    }

    /// Whether the query is being dragged, by pointer or keys.
    pub fn is_held(&self) -> bool {
        self.before.is_some()
    }

    /// Identifies the drag that moved the query; `None` if it was picked.
    pub fn movement(&self) -> Option<u64> {
        self.moved.then_some(self.choices)
    }

    pub fn is_waiting(&self) -> bool {
        self.replied < self.asked
    }

    /// Whether a reply has taken long enough to be mentioned.
    pub fn is_slow(&self) -> bool {
        self.is_waiting() && self.since.is_some_and(|since| since.elapsed() >= SHOWN_AFTER)
    }

    /// Whether answers for this cloud are fast enough to search without being asked.
    pub fn is_short(&self, cloud: &PointCloud) -> bool {
        let numbers = cloud.len().saturating_mul(cloud.dims());
        self.took.map_or(numbers <= MAX_SURELY_FAST, |(took, _)| took <= MAX_FAST_TIME)
    }

    /// Records a new choice of the query, by movement or by picking.
    pub fn choose(&mut self, moved: bool) {
        self.choices += 1;
        self.moved = moved;
    }

    /// Ignores replies to earlier requests, because the query changed.
    pub fn ignore_earlier_replies(&mut self) {
        (self.wanted, self.replied) = (self.asked + 1, self.asked);
        (self.typed, self.wrong) = (None, None);
    }
}

/// The target of snapping, in local coordinates of the drawn cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnapTarget {
    /// The axes that Plane shows.
    pub axes: [usize; 2],
    /// Origin of the search, along `axes`.
    pub at: [f64; 2],
    /// Restricts the search to the quadrant around this direction.
    pub direction: Option<[f64; 2]>,
}

#[derive(Clone, Debug)]
pub enum LiveAction {
    /// Begin a drag.
    Grab,
    /// Move to coordinates, in the file's units.
    To(Vec<f64>),
    /// Move to a row.
    Snap(SnapTarget),
    /// End the drag.
    Release,
    /// Cancel the drag and restore the query.
    Back,
    /// Edit the coordinate fields.
    Type(Vec<String>),
    /// Move to the typed coordinates.
    Apply,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn measured_time_determines_short_queries() {
        let cloud = cloud(100, 2, 1);
        let mut live = LiveQueryState::default();
        assert!(live.is_short(&cloud), "small clouds are assumed to be fast");
        live.took = Some((Duration::from_millis(250), 32));
        assert!(!live.is_short(&cloud));
        live.took = Some((Duration::from_millis(5), 32));
        assert!(live.is_short(&cloud));
    }

    #[test]
    fn ignoring_earlier_replies_ends_the_wait() {
        let mut live = LiveQueryState {
            asked: 5,
            wanted: 3,
            replied: 3,
            typed: Some(vec!["1".to_owned()]),
            ..LiveQueryState::default()
        };
        assert!(live.is_waiting());
        live.ignore_earlier_replies();
        assert!(!live.is_waiting() && live.wanted == 6 && live.typed.is_none());
    }
}
