//! What controls show, and where they send actions.

use super::tokens::Palette;
use crate::app::model::{Actions, Session, State};

/// What controls read, their colours, and the actions that they cause.
pub struct UiContext<'a> {
    pub state: &'a State,
    pub session: &'a Session,
    pub palette: &'a Palette,
    pub actions: &'a mut Actions,
}
