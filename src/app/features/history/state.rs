//! Undo and redo of selection, query, question, columns and view. Text fields have their own while focused.
//!
//! Once per frame, the window passes a snapshot. Differences to the previous frame form a step, which is
//! named after what changed. View movements in quick succession count as one step, and so does a drag of the
//! query. A drag that ends where it began is not a step.
//!
//! Reading a file with other columns is a step, too: undo reads the file again, then restores the rest.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::app::features::color::state::ColorView;
use crate::app::features::projection::state::ProjectionView;
use crate::app::features::selection::state::Selection;
use crate::app::features::selection::state::facts::SelectionStats;
use crate::app::model::answer::PickedPoint;
use crate::app::model::draft::Draft;
use crate::app::model::files::{Roles, data_file};
use crate::app::model::session::Session;
use crate::app::model::state::State;
use crate::app::model::views::{ConvergenceView, PlaneView, SpaceView};
use crate::cloud::{PointCloud, Source};
use crate::knn::{DeviceId, Metric};
use crate::run::{EngineChoice, RunRecord};
use crate::text;

/// Maximum number of steps.
const MAX_STEPS: usize = 200;

/// Maximum number of selected rows and queries in all steps: 128 MiB.
const MAX_SELECTED: usize = 1 << 25;

/// View movements within this time are merged into one step.
const ONE_MOVEMENT_SECS: f64 = 1.0;

/// The fields of the left panel that undo restores.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::app) struct Question {
    k: String,
    metric: Metric,
    exclude_self: bool,
    engine: EngineChoice,
    device: Option<DeviceId>,
}

impl Question {
    fn new(draft: &Draft) -> Self {
        let Draft { k, metric, exclude_self, engine, device, .. } = draft.clone();
        Self { k, metric, exclude_self, engine, device }
    }

    /// The fields with this question.
    pub(in crate::app) fn draft(&self, draft: &Draft) -> Draft {
        let Self { k, metric, exclude_self, engine, device } = self.clone();
        Draft { k, metric, exclude_self, engine, device, ..draft.clone() }
    }

    fn difference(&self, after: &Self) -> Option<(Kind, String)> {
        let (kind, name) = match () {
            () if self.k != after.k => (Kind::K, format!("k = {}", after.k.trim())),
            () if self.metric != after.metric => (Kind::Metric, format!("metric {}", after.metric)),
            () if self.exclude_self != after.exclude_self => {
                (Kind::Exclude, "counting the point itself".to_owned())
            }
            () if self != after => (Kind::Engine, format!("engine {}", after.engine)),
            () => return None,
        };
        Some((kind, name))
    }
}

/// The columns with which the shown file was read, and their roles.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::app) struct Columns {
    pub source: Source,
    pub roles: Roles,
}

/// The state that undo restores.
#[derive(Clone, Default)]
pub(in crate::app) struct Snapshot {
    pub selection: Selection,
    pub selected: Arc<SelectionStats>,
    /// The run whose queries are selected.
    pub record: Weak<RunRecord>,
    pub picked: Option<PickedPoint>,
    /// The query point, if it is not a row.
    pub place: Option<Arc<PointCloud>>,
    pub rank: Option<usize>,
    /// Views of Plane and Space after a pending projection is computed.
    pub views: (PlaneView, SpaceView, ConvergenceView),
    pub colors: (ColorView, ProjectionView),
    /// `None` before the first frame.
    pub question: Option<Question>,
    pub columns: Option<Arc<Columns>>,
}

/// The kind of change, used to merge steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Kind {
    Selection,
    Pick,
    Move,
    Rank,
    Plane,
    Space,
    BothViews,
    Convergence,
    Color,
    Projection,
    K,
    Metric,
    Exclude,
    Engine,
    Columns,
}

pub(in crate::app) struct Step {
    pub(in crate::app) kind: Kind,
    pub(in crate::app) name: String,
    pub(in crate::app) before: Snapshot,
    /// When the step was last extended.
    pub(in crate::app) at: f64,
    /// The drag of the query that the step belongs to.
    pub(in crate::app) movement: Option<u64>,
}

#[derive(Default)]
pub struct History {
    pub now: Snapshot,
    pub done: VecDeque<Step>,
    pub undone: Vec<Step>,
    /// Whether the next difference is not an undo step: a run arrived, or the cloud was replaced.
    quiet: bool,
    /// The step that reads the file with other columns, and whether it is undone rather than redone.
    pub reading: Option<(bool, Step)>,
}

/// The last term of a composed selection's description.
fn last(by: &str) -> &str {
    by.rsplit_once(" + ")
        .into_iter()
        .chain(by.rsplit_once(" − "))
        .map(|(_, last)| last)
        .min_by_key(|last| last.len())
        .unwrap_or(by)
}

impl Snapshot {
    /// A snapshot; `views` are Plane and Space after pending projections.
    pub fn new(
        state: &State,
        session: &Session,
        (plane, space): (PlaneView, SpaceView),
        before: &Self,
    ) -> Self {
        let columns = session.cloud.as_ref().map(|cloud| {
            let (source, roles) = (cloud.source(), &session.roles);
            let same = before.columns.as_ref().filter(|of| of.source == *source && of.roles == *roles);
            same.cloned()
                .unwrap_or_else(|| Arc::new(Columns { source: source.clone(), roles: roles.clone() }))
        });
        Self {
            question: Some(Question::new(&state.draft)),
            columns,
            selection: session.selection.clone(),
            selected: Arc::clone(&session.selected),
            record: session.record.as_ref().map(Arc::downgrade).unwrap_or_default(),
            picked: session.picked,
            place: session.live.place().cloned(),
            rank: session.rank,
            views: (plane, space, state.convergence),
            colors: (state.color.clone(), state.projection),
        }
    }

    /// The first kind of change found, and the step's name.
    fn difference(&self, after: &Self) -> Option<(Kind, String)> {
        let (plane, space) = (self.views.0 != after.views.0, self.views.1 != after.views.1);
        if let (Some(from), Some(to)) = (&self.columns, &after.columns)
            && from != to
            && data_file(&from.source).is_some_and(|file| data_file(&to.source) == Some(file))
        {
            return Some((Kind::Columns, "columns".to_owned()));
        }
        if let (Some(from), Some(to)) = (&self.question, &after.question)
            && let Some(changed) = from.difference(to)
        {
            return Some(changed);
        }
        if self.selection != after.selection {
            let name = if after.selection.is_empty() {
                "clearing the selection".to_owned()
            } else {
                last(after.selection.by()).to_owned()
            };
            return Some((Kind::Selection, name));
        }
        let place = |snapshot: &Self| snapshot.place.as_ref().map(Arc::as_ptr);
        if self.picked != after.picked || place(self) != place(after) {
            let name = match after.picked {
                Some(PickedPoint::Row(_)) => "picking a row".to_owned(),
                Some(PickedPoint::Query(query)) => format!("picking query {}", text::thousands(query as u64)),
                Some(PickedPoint::Coordinates) => "moving the query".to_owned(),
                None => "picking nothing".to_owned(),
            };
            let kind = if after.picked == Some(PickedPoint::Coordinates) { Kind::Move } else { Kind::Pick };
            return Some((kind, name));
        }
        let (kind, name) = match (plane, space) {
            (true, true) => (Kind::BothViews, "view of Plane and Space"),
            (true, false) => (Kind::Plane, "view of Plane"),
            (false, true) => (Kind::Space, "view of Space"),
            (false, false) if self.views.2 != after.views.2 => (Kind::Convergence, "scale of Convergence"),
            (false, false) if self.colors.0 != after.colors.0 => (Kind::Color, "colours"),
            (false, false) if self.colors.1 != after.colors.1 => (Kind::Projection, "projection"),
            (false, false) if self.rank != after.rank => (Kind::Rank, "choosing a neighbour"),
            (false, false) => return None,
        };
        Some((kind, name.to_owned()))
    }
}

impl History {
    /// Takes a snapshot at time `now`, in seconds; `movement` identifies the drag that moved the query, if
    /// any.
    pub fn watch(&mut self, after: Snapshot, movement: Option<u64>, now: f64) {
        let quiet = std::mem::take(&mut self.quiet);
        let Some((mut kind, mut name)) = self.now.difference(&after) else {
            self.now = after;
            return;
        };
        if kind == Kind::Pick && movement.is_some() {
            (kind, name) = (Kind::Move, "moving the query".to_owned());
        }
        let before = std::mem::replace(&mut self.now, after);
        if quiet && kind != Kind::Columns {
            return;
        }
        self.undone.clear();
        let goes_on = |step: &Step| match kind {
            Kind::Move => step.movement == movement,
            Kind::Plane | Kind::Space | Kind::BothViews | Kind::Color | Kind::K | Kind::Engine => {
                now - step.at < ONE_MOVEMENT_SECS
            }
            _ => false,
        };
        if let Some(step) = self.done.back_mut().filter(|step| step.kind == kind && goes_on(step)) {
            (step.at, step.name) = (now, name);
            if step.before.difference(&self.now).is_none() {
                self.done.pop_back();
            }
            return;
        }
        self.done.push_back(Step { kind, name, before, at: now, movement });
        while self.done.len() > MAX_STEPS || (self.done.len() > 1 && self.numbers() > MAX_SELECTED) {
            self.done.pop_front();
        }
    }

    /// Number of selected rows and queries in all steps; neighbouring steps that share a selection count it
    /// once.
    fn numbers(&self) -> usize {
        let of = |selection: &Selection| selection.rows().len() + selection.queries().len();
        let selections: Vec<&Selection> = self.done.iter().map(|step| &step.before.selection).collect();
        let shared = |pair: &[&Selection]| Arc::ptr_eq(pair[0].rows(), pair[1].rows());
        let of_pairs =
            selections.windows(2).map(|pair| if shared(pair) { 0 } else { of(pair[0]) }).sum::<usize>();
        of_pairs + selections.last().map_or(0, |last| of(last))
    }

    /// Adds a step to those that can be undone, or else redone. It is complete: nothing is merged into it.
    pub fn put(&mut self, undoes: bool, step: Step) {
        let step = Step { at: f64::NEG_INFINITY, ..step };
        if undoes {
            self.done.push_back(step);
        } else {
            self.undone.push(step);
        }
    }

    /// Excludes the next change from undo: a run has arrived, or rows were found again.
    pub fn skip(&mut self) {
        self.quiet = true;
    }

    /// Clears the history, because the cloud was replaced.
    pub fn clear(&mut self) {
        (self.done, self.undone) = (VecDeque::new(), Vec::new());
        self.quiet = true;
    }

    pub fn undo_name(&self) -> Option<&str> {
        self.done.back().map(|step| step.name.as_str())
    }

    pub fn redo_name(&self) -> Option<&str> {
        self.undone.last().map(|step| step.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::PlaneWindow;

    fn moved(x: f64) -> Snapshot {
        let window = Some(PlaneWindow { center: [x, 0.0], units_per_point: 1.0 });
        Snapshot {
            views: (
                PlaneView { window, ..PlaneView::default() },
                SpaceView::default(),
                ConvergenceView::default(),
            ),
            ..Snapshot::default()
        }
    }

    fn selected(rows: Vec<u32>, by: &str) -> Snapshot {
        Snapshot { selection: Selection::of_rows(rows, None, by), ..moved(9.0) }
    }

    #[test]
    fn a_continuous_movement_is_one_undo_step() {
        let mut history = History::default();
        for frame in 1..=30 {
            history.watch(moved(f64::from(frame)), None, f64::from(frame) * 0.1);
        }
        assert_eq!((history.done.len(), history.undo_name()), (1, Some("view of Plane")));
        assert!(history.done[0].before.views.0.window.is_none(), "undo restores the start of the movement");
        history.watch(moved(31.0), None, 10.0);
        assert_eq!(history.done.len(), 2);
        history.watch(moved(31.0), None, 10.1);
        assert_eq!(history.done.len(), 2, "nothing changed");
    }

    #[test]
    fn undo_steps_are_named_after_the_change() {
        let mut history = History::default();
        history.watch(moved(9.0), None, 0.0);
        history.watch(selected(vec![1], "rectangle in Plane"), None, 0.1);
        assert_eq!(history.undo_name(), Some("rectangle in Plane"));
        history.watch(selected(vec![1, 2], "rectangle in Plane + lasso in Space"), None, 0.2);
        assert_eq!(history.undo_name(), Some("lasso in Space"));
        history.watch(selected(vec![2], "a + b − click in Plane"), None, 0.2);
        assert_eq!(history.undo_name(), Some("click in Plane"));
        history.watch(moved(9.0), None, 0.3);
        assert_eq!((history.undo_name(), history.done.len()), (Some("clearing the selection"), 5));
        history.skip();
        history.watch(Snapshot { picked: Some(PickedPoint::Row(4)), ..moved(9.0) }, None, 0.4);
        assert_eq!(history.done.len(), 5, "skipped changes are not steps");
        history.watch(Snapshot { picked: Some(PickedPoint::Row(5)), ..moved(9.0) }, None, 0.5);
        assert_eq!(history.undo_name(), Some("picking a row"));
        history.clear();
        assert_eq!((history.undo_name(), history.redo_name()), (None, None));
    }

    #[test]
    fn dragging_a_query_is_one_undo_step() {
        let at = |row: u32| Snapshot { picked: Some(PickedPoint::Row(row)), ..moved(9.0) };
        let mut history = History::default();
        history.skip();
        history.watch(at(1), None, 0.0);
        for (frame, row) in [5, 7, 6, 9].into_iter().enumerate() {
            history.watch(at(row), Some(1), 3.0 * frame as f64);
        }
        assert_eq!((history.done.len(), history.undo_name()), (1, Some("moving the query")));
        assert_eq!(
            history.done[0].before.picked,
            Some(PickedPoint::Row(1)),
            "undo restores the start of the drag"
        );
        history.watch(at(3), Some(2), 9.1);
        assert_eq!(history.done.len(), 2, "a second drag is another step");
        history.watch(at(9), Some(2), 9.2);
        assert_eq!(history.done.len(), 1, "a drag that ends at its start is not a step");
        history.watch(at(4), None, 9.3);
        assert_eq!((history.done.len(), history.undo_name()), (2, Some("picking a row")));
    }

    #[test]
    fn typing_k_is_one_undo_step() {
        let typed = |k: &str| {
            let draft = Draft { k: k.to_owned(), ..Draft::default() };
            Snapshot { question: Some(Question::new(&draft)), ..Snapshot::default() }
        };
        let mut history = History::default();
        history.watch(typed("32"), None, 0.0);
        assert!(history.undo_name().is_none(), "the first frame changes nothing");
        for (frame, k) in ["", "6", "64"].into_iter().enumerate() {
            history.watch(typed(k), None, 0.2 * frame as f64);
        }
        assert_eq!((history.done.len(), history.undo_name()), (1, Some("k = 64")));
        let before = history.done[0].before.question.as_ref().expect("a question");
        assert_eq!(before.draft(&Draft::default()).k, "32");
    }

    #[test]
    fn other_columns_of_the_same_file_are_an_undo_step() {
        let read = |path: &str, columns: &str| {
            let source = Source::File { path: path.into(), columns: columns.parse().expect("columns") };
            let columns = Columns { source, roles: Roles::default() };
            Snapshot { columns: Some(Arc::new(columns)), ..Snapshot::default() }
        };
        let mut history = History::default();
        history.watch(read("/a.csv", "x,y"), None, 0.0);
        history.clear();
        history.watch(read("/b.csv", "x,y"), None, 1.0);
        assert!(history.undo_name().is_none(), "another file is not a step");
        history.clear();
        history.watch(read("/b.csv", "x,z"), None, 2.0);
        assert_eq!((history.undo_name(), history.done.len()), (Some("columns"), 1));
        history.clear();
        assert_eq!((history.undo_name(), history.redo_name()), (None, None));
    }

    #[test]
    fn history_is_bounded() {
        let mut history = History::default();
        for step in 0..500 {
            history.watch(selected(vec![step], "a"), None, 0.0);
        }
        assert_eq!(history.done.len(), MAX_STEPS);
        for step in 0..4 {
            history.watch(
                selected((step..step + (MAX_SELECTED / 2) as u32 + 9).collect(), "many"),
                None,
                0.0,
            );
        }
        assert!(history.numbers() <= MAX_SELECTED && !history.done.is_empty());
    }
}
