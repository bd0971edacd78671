//! Follow-up to a load.

use crate::app::features::saved::state::SavedSession;
use crate::run::RunSpec;

/// What to do with a loaded cloud.
#[derive(Clone, Debug)]
pub enum PostLoadAction {
    Show,
    /// Show it, then run this spec.
    Run(RunSpec),
    /// Use it as the queries of this spec.
    RunQueries(RunSpec),
    /// Show it, then restore this session.
    Resume(Box<SavedSession>),
}
