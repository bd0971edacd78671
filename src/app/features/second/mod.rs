//! The second view of the rows.
//!
//! | module | role |
//! |---|---|
//! | `state` | its settings and what it shows |
//! | `apply` | opens, projects and searches the other file |

use std::sync::Arc;

use self::state::SecondView;
use super::walk::state::{WalkState, WalkView};
use crate::app::prelude::*;

pub mod apply;
pub mod state;

/// The session as the second view draws it: its own cloud, projection and answer, and the row, selection and
/// colours of the first view.
pub fn session_of(session: &Session) -> Session {
    let second = &session.second;
    let own =
        Session { projected: second.projected.clone(), walked: WalkState::default(), ..session.clone() };
    let Some(other) = &second.other else { return own };
    Session {
        cloud: Some(Arc::clone(other)),
        record: None,
        answered: second.answer(),
        picked: session.picked.filter(|picked| matches!(picked, PickedPoint::Row(_))),
        other_columns: None,
        ..own
    }
}

/// The state as the second view draws it.
pub fn state_of(state: &State) -> State {
    let SecondView { plane, projection } = state.second;
    State { plane, projection, walk: WalkView::default(), ..state.clone() }
}
