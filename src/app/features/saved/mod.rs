//! Builds a saved session from the window's state, and restores parts of it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::app::features::saved::state::{
    Layout, Ranges, SCHEMA_VERSION, SavedCloud, SavedQuery, SavedSelection, SavedSession, SavedSet, SavedView,
};
use crate::app::prelude::*;

pub mod apply;
pub mod state;

impl SavedSession {
    /// The session that a window shows.
    pub fn new(state: &State, session: &Session) -> Self {
        let saved_unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let cloud = session.cloud.as_ref().map(|cloud| SavedCloud {
            source: cloud.source().clone(),
            drop_nonfinite: cloud.dropped() > 0,
            fingerprint: cloud.fingerprint().clone(),
            file: session
                .loaded_file
                .as_ref()
                .filter(|(of, _)| of == cloud.fingerprint())
                .map(|(_, file)| *file),
        });
        let query = match (session.picked, session.picked_point()) {
            (Some(PickedPoint::Row(row)), _) => Some(SavedQuery::Row(row)),
            (Some(PickedPoint::Query(query)), _) => Some(SavedQuery::Query(query)),
            (Some(PickedPoint::Coordinates), Some((place, row))) => Some(SavedQuery::Coordinates(
                (0..place.dims()).map(|axis| place.coordinate(row, axis)).collect(),
            )),
            (Some(PickedPoint::Coordinates) | None, _) => None,
        };
        let numbers = |numbers: &[u32]| Ranges::from_numbers(numbers.iter().map(|&number| number.into()));
        let selection = &session.selection;
        let selection = (!selection.is_empty()).then(|| SavedSelection {
            rows: numbers(selection.rows()),
            queries: numbers(selection.queries()),
            by: selection.by().to_owned(),
        });
        let sets = session
            .sets
            .list()
            .iter()
            .map(|set| SavedSet { name: set.name.clone(), rows: numbers(&set.rows) })
            .collect();
        let runs = &session.runs;
        let name = |id| runs.get(id).map(|listed| listed.name.clone());
        Self {
            schema_version: SCHEMA_VERSION,
            saved_unix,
            points: session.file.as_ref().is_none_or(|file| file.points),
            cloud,
            shown: session
                .record
                .as_ref()
                .and_then(|record| runs.of_record(record))
                .map(|listed| listed.name.clone()),
            compared: runs.chosen.map(|chosen| chosen.and_then(name)),
            query,
            rank: session.rank,
            selection,
            sets,
            view: SavedView::new(state, session),
        }
    }
}

impl SavedView {
    /// The views of a window.
    pub fn new(state: &State, session: &Session) -> Self {
        Self {
            draft: state.draft.clone(),
            selected_records: Ranges::from_numbers(state.draft.selected_rows.iter().copied()),
            plane: state.plane,
            space: state.space,
            roles: session.roles.clone(),
            left_out: session.left_out.clone(),
            note: session.note.clone(),
            color: state.color.clone(),
            projection: state.projection,
            convergence: state.convergence,
            counts: state.counts.clone(),
            timings: state.timings,
            analysis: state.analysis.clone(),
            walk: state.walk,
            runs: state.runs.clone(),
            timeline: session.timeline.clone(),
            workspace: Some(state.workspace),
            layout: Layout::from_tree(&state.tree),
            pane: Some(state.pane),
            hidden: [!state.show_problem, !state.show_selection],
        }
    }

    /// Restores what does not depend on a cloud.
    pub fn restore(&self, state: &mut State) {
        (state.convergence, state.counts, state.runs) =
            (self.convergence, self.counts.clone(), self.runs.clone());
        (state.timings, state.analysis) = (self.timings, self.analysis.clone());
        if let Some(layout) = &self.layout {
            // Versions without workspaces had all panes in one layout.
            state.switch_to(self.workspace.unwrap_or(Workspace::Measure));
            state.tree = layout.tree(state.workspace);
        }
        state.pane = self.pane.unwrap_or(state.pane);
        [state.show_problem, state.show_selection] = self.hidden.map(|hidden| !hidden);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::app::features::selection::state::Selection;
    use crate::app::model::FileState;
    use crate::app::testing::record;

    fn saved() -> SavedSession {
        let record = record();
        let mut session = Session {
            cloud: Some(Arc::clone(&record.cloud)),
            picked: Some(PickedPoint::Row(8)),
            rank: Some(2),
            ..Session::default()
        };
        session.selection = Selection::of_rows(vec![3, 4, 5, 9], Some(&record), "lasso in Plane");
        session.sets.keep(&session.selection.rows, "far away").expect("rows");
        let id = session.runs.add(None, true, crate::run::LoadedRun::Whole(Arc::clone(&record)), None);
        session.runs.chosen = [None, Some(id)];
        session.record = Some(record);
        SavedSession::new(&State::default(), &session)
    }

    #[test]
    fn files_modified_just_before_reading_are_not_trusted() {
        let at = |secs| UNIX_EPOCH + Duration::from_secs(secs);
        let file = FileState { bytes: 1, modified: Duration::from_secs(100) };
        assert_eq!([99, 100, 102, 103].map(|secs| file.is_before(at(secs))), [false, false, false, true]);
    }

    #[test]
    fn sessions_round_trip() {
        let saved = saved();
        assert_eq!(
            (saved.query.clone(), saved.rank, saved.shown.is_some()),
            (Some(SavedQuery::Row(8)), Some(2), true)
        );
        assert_eq!(
            saved.sets.iter().map(|set| (set.name.as_str(), set.rows.below(9))).collect::<Vec<_>>(),
            [("far away", vec![3, 4, 5])]
        );
        assert_eq!(saved.compared, [None, saved.shown.clone()]);
        assert_eq!(SavedSession::read(&saved.text().expect("plain data")), Ok(saved));
    }

    #[test]
    fn missing_fields_use_defaults_and_invalid_files_are_rejected() {
        let least =
            SavedSession::read(br#"{"schema_version": 1, "saved_unix": 0, "points": true, "later": 1}"#)
                .expect("missing and unknown fields are allowed");
        assert_eq!((least.query, least.view), (None, SavedView::default()));
        let why = |text: &str| SavedSession::read(text.as_bytes()).expect_err("no session");
        assert!(why("{").contains("EOF"));
        assert!(why("[]").contains("expected"), "{}", why("[]"));
        assert!(why(r#"{"schema_version": 2}"#).starts_with("saved by a newer Warpscope"));
    }
}
