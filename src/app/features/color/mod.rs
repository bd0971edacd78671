//! Point colours: which values they show, how those are computed, and their legend.
//!
//! | module | role |
//! |---|---|
//! | `state` | the choice of values, the computed values, actions |
//! | `apply` | handles actions, selects by value, starts computations |
//! | `values` | values of axes, columns, analyses and the picked query |
//! | `counters` | values of a run's queries |
//! | `bar`, `legend` | the chooser and the legend above Plane and Space |
//! | `brush` | selection by value in the legend's histogram |

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::analysis::state::{AnalysisKind, AnalysisResults, FileComparison};
use crate::app::features::color::state::channel::Channel;
use crate::app::features::color::state::{ColorBy, ColorView};
use crate::app::jobs::task;
use crate::app::look::any_of;
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::cloud::formats::{FormatError, TimestampType};
use crate::engines::registry;
use crate::knn::{Measure, Metric};
use crate::progress::Progress;
use crate::run::RunRecord;

pub mod apply;
pub mod bar;
pub mod brush;
pub mod counters;
pub mod legend;
pub mod state;
pub mod values;

// Requests for values, and their identity.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The file lacks the column, which was chosen for another file.
    NoColumn,
    /// Another error, as a sentence.
    Message(String),
}

/// The result of a request; the inner `None` means cancelled.
pub type Outcome = Result<Channel, Option<Failure>>;

/// All inputs of the values of a choice.
#[derive(Clone, Debug)]
pub enum Request {
    Axis(Arc<PointCloud>, usize),
    Column {
        /// The cloud whose rows get the values.
        cloud: Arc<PointCloud>,
        path: PathBuf,
        /// The column's name or number.
        key: String,
        /// Its display name.
        title: String,
    },
    /// Three columns of the file that form a colour.
    FileColors {
        /// The cloud whose rows get the colours.
        cloud: Arc<PointCloud>,
        path: PathBuf,
        /// Red, green and blue, by name or by number.
        keys: [String; 3],
    },
    Distance {
        cloud: Arc<PointCloud>,
        /// The query's coordinates, in the file's units.
        place: Vec<f64>,
        metric: Metric,
    },
    Rank(QueryAnswer),
    /// A value of every query of a run.
    Counted(Arc<RunRecord>, ColorBy),
    Analysed(Arc<AnalysisResults>, AnalysisKind),
    /// A comparison with another file.
    FileComparison(Arc<FileComparison>),
    /// The bound of every query after this many points.
    Moment(Arc<RunRecord>, u32),
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Axis(a, axis), Self::Axis(b, other)) => Arc::ptr_eq(a, b) && axis == other,
            (
                Self::Column { cloud: a, path: path_a, key: key_a, .. },
                Self::Column { cloud: b, path: path_b, key: key_b, .. },
            ) => Arc::ptr_eq(a, b) && path_a == path_b && key_a == key_b,
            (
                Self::FileColors { cloud: a, path: path_a, keys: keys_a },
                Self::FileColors { cloud: b, path: path_b, keys: keys_b },
            ) => Arc::ptr_eq(a, b) && path_a == path_b && keys_a == keys_b,
            (
                Self::Distance { cloud: a, place: place_a, metric: metric_a },
                Self::Distance { cloud: b, place: place_b, metric: metric_b },
            ) => Arc::ptr_eq(a, b) && place_a == place_b && metric_a == metric_b,
            (Self::Rank(a), Self::Rank(b)) => a == b,
            (Self::Counted(a, by_a), Self::Counted(b, by_b)) => Arc::ptr_eq(a, b) && by_a == by_b,
            (Self::Analysed(a, kind_a), Self::Analysed(b, kind_b)) => Arc::ptr_eq(a, b) && kind_a == kind_b,
            (Self::FileComparison(a), Self::FileComparison(b)) => Arc::ptr_eq(a, b),
            (Self::Moment(a, moment_a), Self::Moment(b, moment_b)) => {
                Arc::ptr_eq(a, b) && moment_a == moment_b
            }
            _ => false,
        }
    }
}

impl Request {
    /// The request for a choice; `Ok(None)` if nothing is chosen.
    ///
    /// # Errors
    /// What the user has to do first, as a sentence.
    pub fn for_view(view: &ColorView, session: &Session) -> Result<Option<Self>, String> {
        let Some(cloud) = session.cloud.clone() else { return Ok(None) };
        let record = || {
            session
                .record
                .clone()
                .ok_or_else(|| "Press Run: only queries of a run have this value.".to_owned())
        };
        Ok(Some(match &view.by {
            ColorBy::Nothing => return Ok(None),
            ColorBy::Axis(axis) => {
                if *axis >= cloud.dims() {
                    return Err("Choose an axis.".to_owned());
                }
                Self::Axis(cloud, *axis)
            }
            ColorBy::Column(key) => {
                let path = cloud.file().ok_or("A generated cloud has only its axes as columns.")?.to_owned();
                let title = column_title(session, key).ok_or("Choose a column.")?;
                Self::Column { path, key: key.clone(), title, cloud }
            }
            ColorBy::FileColors => {
                let path = cloud.file().ok_or("A generated cloud has no colours of its own.")?.to_owned();
                if session.file_columns().is_none() {
                    return Err("Listing the file's columns…".to_owned());
                }
                let keys = session.file_colors().ok_or("The file has no columns red, green and blue.")?;
                Self::FileColors { path, keys, cloud }
            }
            ColorBy::Distance => {
                let (of, row) =
                    session.picked_point().ok_or("Click a point: distances are to the picked query.")?;
                let place = (0..of.dims()).map(|axis| of.coordinate(row, axis)).collect();
                let asked =
                    session.answered.as_ref().map(|answered| &answered.record).or(session.record.as_ref());
                let metric = asked.map_or_else(Metric::default, |record| record.spec.metric);
                Self::Distance { cloud, place, metric }
            }
            ColorBy::Rank => Self::Rank(
                session.answered.clone().ok_or("Click a point: ranks are those of its neighbours.")?,
            ),
            ColorBy::KthDistance => Self::Counted(record()?, ColorBy::KthDistance),
            ColorBy::Analysis(kind) if kind.is_comparison() => {
                let what =
                    if *kind == AnalysisKind::Leaks { Command::FindLeaks } else { Command::CompareRows };
                let first = || format!("Press “{}” in Analysis.", what.text());
                Self::FileComparison(Arc::clone(session.file_comparison(*kind).ok_or_else(first)?))
            }
            ColorBy::Analysis(kind) => {
                let first = || format!("Press “{}” in Analysis.", AnalysisKind::START);
                let analysed = session.analysed().ok_or_else(first)?;
                if *kind == AnalysisKind::Labels && analysed.all.labels.is_none() {
                    return Err("Choose a label column in Analysis.".to_owned());
                }
                Self::Analysed(Arc::clone(analysed), *kind)
            }
            ColorBy::Measure(name) => {
                let record = record()?;
                if record.measured.column(name).is_none() {
                    let who = any_of(&registry::counting(name));
                    let what = if record.measured.is_empty() {
                        "has no counters".to_owned()
                    } else {
                        format!("does not count {}", Measure::words(name))
                    };
                    return Err(format!("{} {what}; run {who}.", record.engine));
                }
                Self::Counted(record, view.by.clone())
            }
            ColorBy::Moment => {
                let record = record()?;
                if record.convergence.queries() == 0 {
                    return Err(format!(
                        "{} records no max_distance history; run {}.",
                        record.engine,
                        any_of(&registry::with_history())
                    ));
                }
                let n = record.cloud.len() as u32;
                Self::Moment(record, view.moment.min(n))
            }
        }))
    }

    /// Whether another request's values may be shown until these are computed: they must have the same
    /// meaning and the same points.
    pub fn continues(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Distance { cloud: a, metric: of_a, .. },
                Self::Distance { cloud: b, metric: of_b, .. },
            ) => Arc::ptr_eq(a, b) && of_a == of_b,
            (Self::Rank(a), Self::Rank(b)) => Arc::ptr_eq(&a.record.cloud, &b.record.cloud),
            (Self::Moment(a, _), Self::Moment(b, _)) => Arc::ptr_eq(a, b),
            (a, b) => a == b,
        }
    }

    /// The text of the status line, if the request may take long.
    pub fn status_text(&self) -> Option<String> {
        match self {
            Self::Column { title, .. } => Some(format!("Reading column {title}")),
            Self::FileColors { .. } => Some("Reading the file's colours".to_owned()),
            _ => None,
        }
    }

    /// Computes the channel, on any thread.
    ///
    /// # Errors
    /// The failure; [`None`] if cancelled.
    pub fn work(&self, progress: &dyn Progress) -> Result<Channel, Option<Failure>> {
        Ok(match self {
            Self::Axis(cloud, axis) => values::axis_channel(cloud, *axis).ok_or(None)?,
            Self::Column { cloud, path, key, title } => match values::read_column(cloud, path, key, progress)
            {
                Ok(values) => values::column_channel(title, &values),
                Err(FormatError::Cancelled) => return Err(None),
                Err(FormatError::NoColumn { .. }) => return Err(Some(Failure::NoColumn)),
                Err(why) => return Err(Some(Failure::Message(why.to_string()))),
            },
            Self::FileColors { cloud, path, keys } => {
                match values::read_colors(cloud, path, keys, progress) {
                    Ok(colors) => values::colors_channel(colors),
                    Err(FormatError::Cancelled) => return Err(None),
                    Err(why) => return Err(Some(Failure::Message(why.to_string()))),
                }
            }
            Self::Distance { cloud, place, metric } => values::distance_channel(cloud, place, *metric),
            Self::Rank(answered) => values::rank_channel(answered),
            Self::FileComparison(comparison) => values::comparison_channel(comparison),
            Self::Analysed(analysed, kind) => values::analysis_channel(analysed, *kind).ok_or(None)?,
            Self::Counted(record, by) => counters::counted(record, by),
            Self::Moment(record, points_seen) => counters::moment(record, *points_seen),
        })
    }
}

/// The name of the column with this key; `None` if the file is known to lack it.
pub fn column_title(session: &Session, key: &str) -> Option<String> {
    if key.is_empty() {
        return None;
    }
    session.cloud.as_ref()?;
    let Some(known) = session.file_columns().filter(|known| !known.columns.is_empty()) else {
        return Some(key.to_owned());
    };
    column_keys(known.columns.iter().map(|column| column.name.as_str()))
        .find(|(_, of)| of == key)
        .map(|(name, _)| name.to_owned())
}

/// The time unit of the column that colours points, if it is a time.
pub fn moment_of(session: &Session, by: &ColorBy) -> Option<TimestampType> {
    let ColorBy::Column(key) = by else { return None };
    let known =
        session.file_columns().filter(|known| known.columns.iter().any(|column| column.moment.is_some()))?;
    let keys = column_keys(known.columns.iter().map(|column| column.name.as_str()));
    known.columns.iter().zip(keys).find(|(_, (_, of))| of == key)?.0.moment
}

/// Column names and their keys: the name itself, or the number if the name is ambiguous or looks like a
/// number.
pub fn column_keys<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
) -> impl Iterator<Item = (&'a str, String)> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for name in names.clone() {
        *times.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    names.enumerate().map(move |(at, name)| {
        let own = times.get(&name.to_ascii_lowercase()) == Some(&1)
            && name.parse::<usize>().is_err()
            && !name.is_empty();
        (name, if own { name.to_owned() } else { at.to_string() })
    })
}

// The last computed values. One request runs at a time; when it ends, the latest one wanted is started.

/// The reason shown after the user cancelled.
pub const CANCELLED: &str = "cancelled";

#[derive(Clone, Debug)]
struct ColoringResult {
    request: Request,
    channel: Result<Arc<Channel>, Failure>,
}

#[derive(Default)]
pub struct ColoringCache {
    done: Option<ColoringResult>,
    /// Whether `done` has changed.
    changed: bool,
}

impl ColoringCache {
    /// Stores a result.
    pub fn take(&mut self, request: Request, outcome: task::Outcome<Outcome>) {
        let channel = match outcome {
            Ok(Ok(channel)) => Ok(Arc::new(channel)),
            Ok(Err(Some(why))) => Err(why),
            Ok(Err(None)) => Err(Failure::Message(CANCELLED.to_owned())),
            Err(stopped) => Err(Failure::Message(format!("cannot colour: {stopped}"))),
        };
        (self.done, self.changed) = (Some(ColoringResult { request, channel }), true);
    }

    /// Drops values with another meaning than the wanted ones; returns whether there is news since the last
    /// call. If the wanted request continues the previous one, its values stay until the new ones are
    /// computed, so that colours follow a drag.
    pub fn settle(&mut self, wanted: Option<&Request>) -> bool {
        if self.done.as_ref().is_some_and(|done| wanted.is_none_or(|wanted| !wanted.continues(&done.request)))
        {
            (self.done, self.changed) = (None, true);
        }
        std::mem::take(&mut self.changed)
    }

    pub fn has(&self, wanted: &Request) -> bool {
        self.done.as_ref().is_some_and(|done| done.request == *wanted)
    }

    /// The latest values or the failure; `None` while they are computed.
    pub fn channel(&self) -> Option<Result<Arc<Channel>, Failure>> {
        self.done.as_ref().map(|done| done.channel.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud, record};

    fn session() -> Session {
        let record = record();
        Session { cloud: Some(Arc::clone(&record.cloud)), record: Some(record), ..Session::default() }
    }

    fn by(by: ColorBy) -> ColorView {
        ColorView { by, ..ColorView::default() }
    }

    #[test]
    fn a_new_run_requests_new_colours() {
        let mut session = session();
        let before =
            Request::for_view(&by(ColorBy::measure("merges")), &session).expect("a run").expect("a choice");
        assert_eq!(Request::for_view(&by(ColorBy::measure("merges")), &session), Ok(Some(before.clone())));
        session.record = Some(Arc::new(RunRecord::clone(session.record.as_ref().expect("a run"))));
        let after =
            Request::for_view(&by(ColorBy::measure("merges")), &session).expect("a run").expect("a choice");
        assert!(
            before != after && !after.continues(&before),
            "colours of the old run are not shown for the new one"
        );
        let moment = |moment| {
            Request::for_view(&ColorView { moment, ..by(ColorBy::Moment) }, &session)
                .expect("a run")
                .expect("a choice")
        };
        assert!(moment(10) != moment(11) && moment(11).continues(&moment(10)));
        assert_eq!(moment(50), moment(90), "there are 50 points");
    }

    #[test]
    fn errors_name_the_missing_input() {
        let mut session = session();
        let why = |view: &ColorView, session: &Session| {
            Request::for_view(view, session).expect_err("something is missing")
        };
        assert!(why(&by(ColorBy::Distance), &session).contains("Click a point"));
        assert!(why(&by(ColorBy::Rank), &session).contains("Click a point"));
        assert!(why(&by(ColorBy::Axis(2)), &session).contains("axis"));
        assert!(why(&by(ColorBy::Column("a".to_owned())), &session).contains("generated"));
        let mut uncounted = RunRecord::clone(session.record.as_ref().expect("a run"));
        (uncounted.measured, uncounted.convergence) = Default::default();
        session.record = Some(Arc::new(uncounted));
        assert!(
            why(&by(ColorBy::measure("merges")), &session)
                .contains("run cuda, lockstep, bvh, step or step-exhaustive")
        );
        assert!(why(&by(ColorBy::Moment), &session).contains("run cuda or lockstep"));
        session.record = None;
        assert!(why(&by(ColorBy::KthDistance), &session).contains("Press Run"));
        session.cloud = Some(cloud(5, 2, 1));
        assert_eq!(Request::for_view(&by(ColorBy::Nothing), &session), Ok(None));
    }

    #[test]
    fn ambiguous_columns_are_identified_by_number() {
        let keys: Vec<String> =
            column_keys(["x", "a", "A", "7", ""].into_iter()).map(|(_, key)| key).collect();
        assert_eq!(keys, ["x", "1", "2", "3", "4"]);
    }
}
