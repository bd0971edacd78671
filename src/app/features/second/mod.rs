//! The second view of the rows.
//!
//! | module | role |
//! |---|---|
//! | `state` | its settings and what it shows |
//! | `apply` | opens, projects and searches the other file |

use std::sync::Arc;

use self::state::SecondView;
use super::picking::state::ExtraColumns;
use super::walk::state::WalkView;
use crate::app::prelude::*;

pub mod apply;
pub mod state;

/// The session as the second view draws it: its own cloud, projection and answer, and the row, selection and
/// colours of the first view.
pub fn session_of(session: &Session) -> Session {
    let second = &session.second;
    // Only what a view reads: the log and the lists of the session may be long.
    let own = Session {
        cloud: session.cloud.clone(),
        record: session.record.clone(),
        answered: session.answered.clone(),
        picked: session.picked,
        rank: session.rank,
        live: session.live.clone(),
        projected: second.projected.clone(),
        second: second.clone(),
        colored: session.colored.clone(),
        derived: session.derived.clone(),
        selection: session.selection.clone(),
        hovered: session.hovered.filter(|_| !session.has_dialog()),
        roles: session.roles.clone(),
        inferred_image_shape: session.inferred_image_shape,
        other_columns: session.other_columns.clone(),
        tool: session.tool,
        picture: session.picture.clone(),
        only_points: session.only_points,
        activity: session.activity.clone(),
        endings: session.endings.clone(),
        ..Session::default()
    };
    let Some(other) = &second.other else { return own };
    let named = |columns: &ExtraColumns| ExtraColumns { cloud: Arc::clone(other), ..columns.clone() };
    Session {
        cloud: Some(Arc::clone(other)),
        record: None,
        answered: second.answer_to(session.picked),
        picked: session.picked.filter(|picked| matches!(picked, PickedPoint::Row(_))),
        other_columns: second.columns.as_ref().map(named),
        ..own
    }
}

/// The state as the second view draws it.
pub fn state_of(state: &State) -> State {
    let SecondView { plane, projection } = state.second;
    State { plane, projection, walk: WalkView::default(), ..state.clone() }
}
