//! The live query: dragged in Plane, picked, or typed as a place, and answered at once over points that stay
//! in the engines. [`Live`] is what is asked, and what is known of how long that takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::model::answer::{Answered, Picked};
use crate::app::model::log::NOTICED;
use crate::cloud::PointCloud;
use crate::run::AskId;
use crate::run::analysis::TheoryCurve;

/// A question that is answered within this follows sliders and fields as they move.
const SHORT: Duration = Duration::from_millis(100);

/// n × d up to which a question is taken to be short before any was answered.
const SURELY_SHORT: usize = 20_000_000;

/// The query before it was taken up.
#[derive(Clone, Debug)]
pub struct Before {
    pub picked: Option<Picked>,
    pub place: Option<Arc<PointCloud>>,
    pub answered: Option<Answered>,
    pub theory: Option<TheoryCurve>,
    pub rank: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The query, as a cloud of one row, where it is a place ([`Picked::Coordinates`]).
    pub place: Option<Arc<PointCloud>>,
    pub before: Option<Before>,
    /// Whether the user chose the query, rather than a run that shows one of its own: then it outlasts the
    /// next run.
    pub chosen: bool,
    /// How often the query was taken hold of, typed or picked.
    pub(in crate::app) choices: u64,
    /// Whether the last of these moved it.
    pub(in crate::app) moved: bool,
    /// What is typed as its coordinates, until that is applied or the query moves.
    pub typed: Option<Vec<String>>,
    /// Which of the fields is wrong, and why.
    pub wrong: Option<(usize, String)>,
    /// The most recent request that was sent.
    pub asked: AskId,
    /// The first request whose reply is still of interest.
    pub wanted: AskId,
    /// The newest request that was replied to or given up.
    pub replied: AskId,
    pub since: Option<Instant>,
    /// How long the last reply took, where the points were there.
    pub took: Option<Duration>,
    /// Whether the user has dragged the query before, so that the hint is no longer shown.
    pub known: bool,
}

impl Live {
    /// The place that is the query, if it is one.
    pub fn place(&self) -> Option<&Arc<PointCloud>> {
        self.place.as_ref()
    }

    /// Whether the query is held, by the pointer or by keys.
    pub fn is_held(&self) -> bool {
        self.before.is_some()
    }

    /// Names the movement that brought the query to where it is: from when it was taken hold of until it was
    /// let go. `None` where it was picked.
    pub fn movement(&self) -> Option<u64> {
        self.moved.then_some(self.choices)
    }

    /// Whether a reply is yet to come.
    pub fn is_waiting(&self) -> bool {
        self.replied < self.asked
    }

    /// Whether a reply has been waited for so long that it should be said.
    pub fn is_slow(&self) -> bool {
        self.is_waiting() && self.since.is_some_and(|since| since.elapsed() >= NOTICED)
    }

    /// How long the last reply took.
    pub fn took(&self) -> Option<Duration> {
        self.took
    }

    /// Whether a question about this cloud is answered so soon that it need not be asked for.
    pub fn is_short(&self, cloud: &PointCloud) -> bool {
        self.took.map_or(cloud.len().saturating_mul(cloud.dims()) <= SURELY_SHORT, |took| took <= SHORT)
    }

    /// The query is chosen anew, by moving it or by picking it.
    pub fn choose(&mut self, moved: bool) {
        self.choices += 1;
        self.moved = moved;
    }

    /// The query is another one: replies to what was asked before are of no interest.
    pub fn settle(&mut self) {
        (self.wanted, self.replied) = (self.asked + 1, self.asked);
        (self.typed, self.wrong) = (None, None);
    }
}

/// What is looked for, in local coordinates of what is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The axes that Plane shows.
    pub axes: [usize; 2],
    /// Where to search from, along `axes`.
    pub at: [f64; 2],
    /// Only within the quarter about this direction.
    pub way: Option<[f64; 2]>,
}

/// What panes ask of the live query.
#[derive(Clone, Debug)]
pub enum LiveAction {
    /// It is taken hold of.
    Grab,
    /// It is moved to a place, in the file's own units.
    To(Vec<f64>),
    /// It is moved to a row of the cloud.
    Snap(Target),
    /// It stays where it is.
    Release,
    /// It goes back to where it was taken up.
    Back,
    /// The fields of its coordinates, as they are typed.
    Type(Vec<String>),
    /// It is moved to the place that is typed.
    Apply,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn what_is_short_is_measured_once_it_can_be() {
        let cloud = cloud(100, 2, 1);
        let mut live = Live::default();
        assert!(live.is_short(&cloud), "so few points");
        live.took = Some(Duration::from_millis(250));
        assert!(!live.is_short(&cloud));
        live.took = Some(Duration::from_millis(5));
        assert!(live.is_short(&cloud));
    }

    #[test]
    fn a_settled_query_waits_for_nobody() {
        let mut live =
            Live { asked: 5, wanted: 3, replied: 3, typed: Some(vec!["1".to_owned()]), ..Live::default() };
        assert!(live.is_waiting());
        live.settle();
        assert!(!live.is_waiting() && live.wanted == 6 && live.typed.is_none());
    }
}
