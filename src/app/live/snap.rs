//! Which row a query goes to that moves from row to row: the one that is drawn nearest to the pointer, or the next in the
//! direction of an arrow key. Where rows are many they are searched on a thread, so that the window goes on: one search after
//! the other, each for where the pointer is by then.

use super::LiveAction;
use crate::app::App;
use crate::app::camera::place;
use crate::app::log::About;
use crate::app::picking::{is_small, nearest_row};
use crate::app::scene::Scene;
use crate::app::session::Picked;
use crate::app::task::Task;
use crate::cloud::PointCloud;
use crate::progress::{Progress, Silent};

/// What is looked for, in local coordinates of what is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The axes that Plane shows.
    pub axes: [usize; 2],
    /// From here.
    pub at: [f64; 2],
    /// Only within the quarter about this direction.
    pub way: Option<[f64; 2]>,
}

impl Target {
    /// The nearest row; `None` where there is none that way, or when cancelled.
    pub(in crate::app) fn row(&self, drawn: &PointCloud, progress: &dyn Progress) -> Option<u32> {
        let far = |row: usize| {
            let [x, y] = place(drawn, row, self.axes);
            let away = [x - self.at[0], y - self.at[1]];
            let wanted = self.way.is_none_or(|way| {
                let along = away[0] * way[0] + away[1] * way[1];
                along > 0.0 && (away[0] * way[1] - away[1] * way[0]).abs() <= along
            });
            wanted.then(|| (away[0] * away[0] + away[1] * away[1], 0.0))
        };
        nearest_row(drawn.len(), &far, progress)
    }
}

/// A search for the row that the query goes to.
pub struct Snapping {
    task: Task<Option<u32>>,
    /// What is looked for after it.
    next: Option<Target>,
    /// Whether the query is let go once it is there.
    lets_go: bool,
}

impl App {
    /// The held query goes to a row.
    pub(super) fn snap(&mut self, target: Target) {
        let Some(scene) = self.session.scene() else { return };
        if let Some(snapping) = &mut self.handles.snapping {
            snapping.next = Some(target);
        } else if is_small(scene.data().len()) {
            let row = target.row(scene.data(), &Silent);
            self.snapped(row);
        } else {
            self.search_row(scene, target, false);
        }
    }

    fn search_row(&mut self, scene: Scene, target: Target, lets_go: bool) {
        let wake = self.handles.ctx.clone();
        let work = move |progress: &dyn Progress| target.row(scene.data(), progress);
        match Task::start("snap", move || wake.request_repaint(), work) {
            Ok(task) => self.handles.snapping = Some(Snapping { task, next: None, lets_go }),
            Err(error) => self.session.log.error(About::Query, format!("cannot move the query: {error}")),
        }
    }

    fn snapped(&mut self, row: Option<u32>) {
        let Some(picked) = row.map(Picked::Row).filter(|picked| self.session.picked != Some(*picked)) else { return };
        (self.session.picked, self.session.rank) = (Some(picked), None);
        self.session.live.chosen = true;
        self.ask();
    }

    /// Whether the query has still to go somewhere before it can be let go; then it is let go there.
    pub(super) fn lets_go_later(&mut self) -> bool {
        self.handles.snapping.as_mut().map(|snapping| snapping.lets_go = true).is_some()
    }

    /// Takes in what the thread found.
    pub(in crate::app) fn poll_snapping(&mut self) {
        // Put back, or another query by now: it goes nowhere.
        if !self.session.live.is_held() {
            self.handles.snapping = None;
        }
        let Some(result) = self.handles.snapping.as_ref().and_then(|snapping| snapping.task.try_finish()) else { return };
        let Some(Snapping { next, lets_go, .. }) = self.handles.snapping.take() else { return };
        match result {
            Ok(row) => self.snapped(row),
            Err(()) => self.session.log.error(About::Query, "cannot move the query: the thread stopped without an answer"),
        }
        match (next, self.session.scene()) {
            (Some(target), Some(scene)) => self.search_row(scene, target, lets_go),
            _ if lets_go => self.live_action(LiveAction::Release),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn arrow_keys_go_to_the_row_that_way() {
        let cloud = cloud(300, 3, 2);
        let axes = [0, 2];
        let at = place(&cloud, 5, axes);
        let to = |way: Option<[f64; 2]>| Target { axes, at, way }.row(&cloud, &Silent);
        let right = place(&cloud, to(Some([8.0, 0.0])).expect("there are rows to the right") as usize, axes);
        assert!(right[0] > at[0] && (right[1] - at[1]).abs() <= right[0] - at[0]);
        assert!(place(&cloud, to(Some([0.0, 8.0])).expect("there are rows above") as usize, axes)[1] > at[1]);
        assert_eq!(to(None), Some(5));
        let far_right = Target { axes, at: [9.0, 0.0], way: Some([1.0, 0.0]) };
        assert_eq!(far_right.row(&cloud, &Silent), None, "there is nothing that way");
    }
}
